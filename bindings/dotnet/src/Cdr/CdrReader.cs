using System;
using System.ComponentModel;

namespace Tickwire.Cdr
{
    /// <summary>Takes values from the front of a payload. Whatever bytes that has, reading it ends with a value or a status:
    /// nothing outside of the payload is read, and the memory that is taken is in proportion to it. For generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public sealed unsafe partial class CdrReader
    {
        /// The payload without its first four bytes, which tell the encoding.
        byte* _bytes;
        /// Bytes that were read.
        int _position;
        /// The end of the innermost struct, sequence or member that told its length.
        int _limit;
        /// What <see cref="Take"/> has found.
        byte* _at;
        /// Where alignment counts from.
        int _origin;
        /// The largest alignment of this version.
        int _maxAlign;
        /// Memory that may still be taken.
        long _allowance;
        /// Structs that are entered.
        int _depth;
        /// Members that are tried, within each other.
        int _tries;
        /// Whether the innermost of them has a value that its type cannot hold.
        bool _failed;
        /// Whether numbers are in the other byte order than this machine's.
        bool _swap;
        CdrVersion _version;

        /// <summary>The first failure.</summary>
        public CdrStatus Status { get; private set; }

        /// <summary>After a failure, the innermost member concerned; else null.</summary>
        public string Member { get; private set; }

        /// <summary>Bytes of the payload that were read, its first four among them.</summary>
        public int Position { get { return _position + 4; } }

        /// Looks at the first four bytes of a payload of a type of this extensibility. The memory is to stay until it is read.
        internal bool Begin(byte* payload, int size, Extensibility extensibility)
        {
            _bytes = null;
            _position = 0;
            _limit = 0;
            _origin = 0;
            _depth = 0;
            _tries = 0;
            _failed = false;
            _allowance = 0;
            _version = CdrVersion.Xcdr1;
            _maxAlign = 8;
            Status = CdrStatus.Ok;
            Member = null;
            if (size < 4)
                return Reject(CdrStatus.End);
            if (payload[0] != 0)
                return Reject(CdrStatus.Encapsulation);
            Extensibility told;
            switch (payload[1] & 0xfe)
            {
                case 0x00:
                    told = extensibility == Extensibility.Appendable ? Extensibility.Appendable : Extensibility.Final;
                    break;
                case 0x02: told = Extensibility.Mutable; break;
                case 0x06: told = Extensibility.Final; break;
                case 0x08: told = Extensibility.Appendable; break;
                case 0x0a: told = Extensibility.Mutable; break;
                default: return Reject(CdrStatus.Encapsulation);
            }
            if (payload[1] >= 0x06)
            {
                _version = CdrVersion.Xcdr2;
                _maxAlign = 4;
            }
            int padding = payload[3] & 3;
            if (size - 4 < padding)
                return Reject(CdrStatus.End);
            if (told != extensibility)
                return Reject(CdrStatus.Extensibility);
            _bytes = payload + 4;
            _limit = size - 4 - padding;
            _swap = ((payload[1] & 1) == 0) == BitConverter.IsLittleEndian;
            _allowance = (long)_limit * CdrLimits.MemoryPerByte + CdrLimits.MemoryAtLeast;
            return true;
        }

        /// <summary>Notes a failure, unless there was one; false, so that it can be returned.</summary>
        public bool Reject(CdrStatus status)
        {
            if (Status == CdrStatus.Ok)
                Status = status;
            return false;
        }

        /// <summary>Begins to try a member (XTypes 1.3 §7.2.2.7): a value in it that its type cannot hold is noted from here
        /// on, and read to its end. What it returns is for <see cref="EndTry"/>.</summary>
        public bool BeginTry()
        {
            bool outer = _failed;
            _tries++;
            _failed = false;
            return outer;
        }

        /// <summary>Ends it. True if there was such a value: what was read is to be something else.</summary>
        public bool EndTry(bool outer)
        {
            bool failed = _failed;
            _tries--;
            _failed = outer;
            return failed;
        }

        /// <summary>A value that its type cannot hold has been read: a failure, unless a member is being tried.</summary>
        public bool NotConstructed(CdrStatus status)
        {
            if (_tries == 0)
                return Reject(status);
            _failed = true;
            return true;
        }

        /// <summary>Notes which member could not be read, unless an inner one is noted; false.</summary>
        public bool Unread(string member)
        {
            if (Member == null)
                Member = member;
            return false;
        }

        /// <summary>Notes which member could not be read, and why; false.</summary>
        public bool Reject(CdrStatus status, string member)
        {
            Reject(status);
            return Unread(member);
        }

        /// <summary>Passes to the next <paramref name="size"/> bytes, aligned, from which is got what is got; false if there are
        /// not as many.</summary>
        public bool Peek(int alignment, int size)
        {
            int align = alignment < _maxAlign ? alignment : _maxAlign;
            int at = _position + ((_origin - _position) & (align - 1));
            if (at > _limit || _limit - at < size)
                return false;
            _position = at + size;
            _at = _bytes + at;
            return true;
        }

        /// <summary>The same; it is a failure if there are not as many.</summary>
        public bool Take(int alignment, int size)
        {
            return Peek(alignment, size) || Reject(CdrStatus.End);
        }

        /// <summary>Takes memory from what a payload may occupy: a few bytes can announce a lot.</summary>
        public bool Charge(int count, int size)
        {
            long all = (long)count * size;
            if (all > _allowance)
                return Reject(CdrStatus.TooLarge);
            _allowance -= all;
            return true;
        }

        // -- Structs, members and collections --

        /// Narrows the limit by a length.
        bool Narrow(uint length)
        {
            if (length > (uint)(_limit - _position))
                return Reject(CdrStatus.End);
            _limit = _position + (int)length;
            return true;
        }

        bool EnterLength()
        {
            uint length;
            return ReadUInt32(out length) && Narrow(length);
        }

        /// <summary>Begins a struct or union.</summary>
        public bool EnterStruct(Extensibility extensibility, out CdrScope scope)
        {
            scope = new CdrScope();
            scope.Outer = _limit;
            scope.Delimited = extensibility != Extensibility.Final && _version == CdrVersion.Xcdr2;
            // XCDR1 does not delimit appendable structs: only the outermost one can tell that it is short.
            scope.MayEnd = extensibility != Extensibility.Final && (scope.Delimited || _position == 0);
            if (++_depth > CdrLimits.MaxDepth)
                return Reject(CdrStatus.Depth);
            return !scope.Delimited || EnterLength();
        }

        /// <summary>Ends what was entered, and skips what is not known of it.</summary>
        public void Leave(ref CdrScope scope)
        {
            if (scope.Delimited)
            {
                _position = _limit;
                _limit = scope.Outer;
            }
        }

        /// <summary>Ends a struct or union.</summary>
        public void LeaveStruct(ref CdrScope scope)
        {
            _depth--;
            Leave(ref scope);
        }

        /// <summary>Whether another member follows. An older version of an appendable type has fewer.</summary>
        public bool HasMember(ref CdrScope scope)
        {
            return !scope.MayEnd || _position < _limit;
        }

        /// Parameter headers of XCDR1, short and extended; false also at the end of the list.
        bool ReadListHeader(ref CdrMember member, out uint length)
        {
            length = 0;
            if (!Take(4, 4))
                return false;
            uint first = GetUInt16(0);
            uint second = GetUInt16(2);
            member.MustUnderstand = (first & CdrLimits.ListMustUnderstand) != 0;
            member.Id = first & 0x3fff;
            length = second;
            if (member.Id == CdrLimits.ListEnd)
                return false;
            if (member.Id == CdrLimits.ListExtended)
            {
                if (second < 8)
                    return Reject(CdrStatus.Header);
                if (!Take(4, 8))
                    return false;
                uint word = GetUInt32(0);
                member.MustUnderstand = (word >> 30 & 1) != 0;
                member.Id = word & 0x0fffffff;
                length = GetUInt32(4);
            }
            return true;
        }

        /// The header of a member of XCDR2 (XTypes 1.3 section 7.4.3.4.2).
        bool ReadMemberHeader(ref CdrMember member, out uint length)
        {
            uint word;
            uint count;
            length = 0;
            if (!ReadUInt32(out word))
                return false;
            member.MustUnderstand = word >> 31 != 0;
            member.Id = word & 0x0fffffff;
            uint code = word >> 28 & 7;
            if (code < 4)
            {
                length = 1u << (int)code;
                return true;
            }
            int position = _position;
            if (!ReadUInt32(out count))
                return false;
            if (code == 4)
            {
                length = count;
                return true;
            }
            // The length is the first word of the value, too.
            _position = position;
            ulong unit = code == 5 ? 1u : code == 6 ? 4u : 8u;
            ulong bytes = count * unit + 4;
            if (bytes > (ulong)(_limit - _position))
                return Reject(CdrStatus.End);
            length = (uint)bytes;
            return true;
        }

        /// Begins the value after a header.
        bool EnterMember(ref CdrMember member, uint length)
        {
            member.Delimited = true;
            member.Outer = _limit;
            member.Origin = _origin;
            if (!Narrow(length))
                return false;
            if (_version == CdrVersion.Xcdr1)
                _origin = _position;
            return true;
        }

        /// <summary>Ends a member.</summary>
        public void LeaveMember(ref CdrMember member)
        {
            if (member.Delimited)
            {
                _position = _limit;
                _limit = member.Outer;
                _origin = member.Origin;
            }
        }

        /// <summary>Begins the next member of a mutable struct; false at the end, and on a failure.</summary>
        public bool NextMember(ref CdrScope scope, out CdrMember member)
        {
            return NextMember(ref scope, out member, null);
        }

        /// The same; members of these ids are there though they have no bytes.
        internal bool NextMember(ref CdrScope scope, out CdrMember member, uint[] empty)
        {
            member = new CdrMember();
            for (;;)
            {
                uint length;
                if (scope.Delimited && _position == _limit)
                    return false;
                if (_version == CdrVersion.Xcdr1)
                {
                    if (!ReadListHeader(ref member, out length))
                        return false;
                }
                else if (!ReadMemberHeader(ref member, out length))
                {
                    return false;
                }
                // An empty value is an optional member that is absent.
                if (length > 0 || (empty != null && Array.IndexOf(empty, member.Id) >= 0))
                    return EnterMember(ref member, length);
            }
        }

        /// <summary>Refuses the sample if a member that the type does not have was marked as indispensable.</summary>
        public bool SkipUnknown(ref CdrMember member)
        {
            return !member.MustUnderstand || Reject(CdrStatus.MustUnderstand);
        }

        /// <summary>Begins an optional member of a struct that is not mutable, if it is <paramref name="present"/>.</summary>
        public bool EnterOptional(ref CdrScope scope, uint id, out CdrMember member, out bool present)
        {
            uint length;
            member = new CdrMember();
            present = false;
            if (!HasMember(ref scope))
                return true;
            if (_version == CdrVersion.Xcdr2)
                return ReadBoolean(out present);
            if (!ReadListHeader(ref member, out length) || member.Id != id)
                return Reject(CdrStatus.Header);
            present = length > 0;
            return !present || EnterMember(ref member, length);
        }

        /// <summary>Begins the discriminator of a mutable union.</summary>
        public bool EnterDiscriminator(ref CdrScope scope, out CdrMember member)
        {
            if (!NextMember(ref scope, out member) || member.Id != 0)
                return Reject(CdrStatus.Header);
            return true;
        }

        /// <summary>Passes over the members that are left of a mutable union.</summary>
        public bool SkipMembers(ref CdrScope scope)
        {
            CdrMember member;
            while (NextMember(ref scope, out member))
            {
                if (!SkipUnknown(ref member))
                    return false;
                LeaveMember(ref member);
            }
            return Status == CdrStatus.Ok;
        }

        /// <summary>Passes over a union whose discriminator its type does not have: a failure, unless a member is being tried
        /// and it is known where the union ends, as that of a mutable one is, or that of an appendable one in XCDR2.</summary>
        public bool SkipUnion(Extensibility extensibility, ref CdrScope scope)
        {
            if (_tries == 0 || !(scope.Delimited || extensibility == Extensibility.Mutable))
                return Reject(CdrStatus.Literal);
            _failed = true;
            if (!scope.Delimited && !SkipMembers(ref scope))
                return false;
            LeaveStruct(ref scope);
            return true;
        }

        /// <summary>Begins a sequence or map whose elements take at least <paramref name="least"/> bytes each, and
        /// <paramref name="size"/> in memory.</summary>
        public bool EnterSequence(uint bound, bool primitive, int least, int size, out CdrScope scope, out int length)
        {
            uint told;
            scope = new CdrScope();
            length = 0;
            scope.Outer = _limit;
            scope.Delimited = !primitive && _version == CdrVersion.Xcdr2;
            if (scope.Delimited && !EnterLength())
                return false;
            if (!ReadUInt32(out told))
                return false;
            if (told > (uint)(_limit - _position) / (uint)least)
                return Reject(CdrStatus.Length);
            if (bound != 0 && told > bound && !NotConstructed(CdrStatus.Length))
                return false;
            length = (int)told;
            return Charge(length, size);
        }

        /// <summary>Begins an array of <paramref name="count"/> elements that are not primitive.</summary>
        public bool EnterArray(int count, out CdrScope scope)
        {
            scope = new CdrScope();
            scope.Outer = _limit;
            scope.Delimited = _version == CdrVersion.Xcdr2;
            if (scope.Delimited && !EnterLength())
                return false;
            return count <= _limit - _position || Reject(CdrStatus.End);
        }
    }
}
