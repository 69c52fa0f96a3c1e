using System;
using System.Collections;
using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Tickwire.Cdr
{
    /// <summary>Where payloads are written: memory that grows, and serves any number of payloads, each of which replaces the one
    /// before. One thread at a time uses it. What is not of <c>Begin</c>, <c>End</c> and <c>ToArray</c> is what generated code is
    /// put together from.</summary>
    public sealed unsafe partial class CdrWriter : IDisposable
    {
        byte* _data;
        int _size;
        int _capacity;
        /// What <see cref="Room"/> has made room for.
        byte* _at;
        /// Where alignment counts from.
        int _origin;
        /// The largest alignment of this version.
        int _maxAlign = 4;
        /// Structs that are open.
        int _depth;
        /// Whether numbers are in the other byte order than this machine's.
        bool _swap;
        CdrVersion _version;

        /// <summary>The first failure.</summary>
        public CdrStatus Status { get; private set; }

        /// <summary>After a failure, the innermost member concerned; else null.</summary>
        public string Member { get; private set; }

        /// <summary>Whether payloads are written in big-endian, which few need.</summary>
        public bool BigEndian { get; set; }

        /// <summary>How many bytes are written.</summary>
        public int Size { get { return _size; } }

        internal IntPtr Data { get { return (IntPtr)_data; } }

        /// <summary>The payload, copied.</summary>
        public byte[] ToArray()
        {
            byte[] copy = new byte[_size];
            if (_size > 0)
                Marshal.Copy((IntPtr)_data, copy, 0, _size);
            GC.KeepAlive(this);
            return copy;
        }

        /// <summary>Frees the memory.</summary>
        public void Dispose()
        {
            Free();
            GC.SuppressFinalize(this);
        }

        /// <summary>Frees the memory.</summary>
        ~CdrWriter()
        {
            Free();
        }

        void Free()
        {
            Marshal.FreeHGlobal((IntPtr)_data);
            _data = null;
            _size = 0;
            _capacity = 0;
        }

        /// <summary>Begins a payload in place of the one before (RTPS 2.5 section 10.2).</summary>
        public bool Begin(CdrVersion version, Extensibility extensibility)
        {
            bool first = version == CdrVersion.Xcdr1;
            _size = 0;
            _origin = 0;
            _depth = 0;
            _swap = BigEndian == BitConverter.IsLittleEndian;
            _version = first ? CdrVersion.Xcdr1 : CdrVersion.Xcdr2;
            _maxAlign = first ? 8 : 4;
            Status = CdrStatus.Ok;
            Member = null;
            if (!Room(1, 4))
                return false;
            int kind = first
                ? (extensibility == Extensibility.Mutable ? 0x02 : 0x00)
                : (extensibility == Extensibility.Final ? 0x06 : extensibility == Extensibility.Appendable ? 0x08 : 0x0a);
            _at[0] = 0;
            _at[1] = (byte)(kind | (BigEndian ? 0 : 1));
            _at[2] = 0;
            _at[3] = 0;
            _origin = _size;
            return true;
        }

        /// <summary>Ends a payload: pads it to a multiple of four, and tells by how much.</summary>
        public CdrStatus End(bool written)
        {
            int padding = -_size & 3;
            if (written && Room(4, 0))
                _data[3] = (byte)padding;
            if (Status != CdrStatus.Ok)
                _size = 0;
            return Status;
        }

        /// <summary>Notes a failure, unless there was one; false, so that it can be returned.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool Refuse(CdrStatus status)
        {
            if (Status == CdrStatus.Ok)
                Status = status;
            return false;
        }

        /// <summary>Notes which member could not be written, unless an inner one is noted; false.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool Unwritten(string member)
        {
            if (Member == null)
                Member = member;
            return false;
        }

        /// <summary>Notes which member could not be written, and why; false.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool Refuse(CdrStatus status, string member)
        {
            Refuse(status);
            return Unwritten(member);
        }

        /// <summary>Makes room for the next <paramref name="size"/> bytes, aligned. What is put is put there.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool Room(int alignment, int size)
        {
            int align = alignment < _maxAlign ? alignment : _maxAlign;
            int padding = (_origin - _size) & (align - 1);
            if ((uint)(_capacity - _size) < (uint)padding + (uint)size && !Grow((uint)padding + (uint)size))
                return false;
            byte* at = _data + _size;
            if (padding > 0)
            {
                // As one word where there is room for one, which most often there is.
                if (_capacity - _size >= 8)
                    *(ulong*)at = 0;
                else
                    for (int i = 0; i < padding; i++)
                        at[i] = 0;
            }
            _size += padding + size;
            _at = at + padding;
            return true;
        }

        bool Grow(uint more)
        {
            long needed = (long)_size + more;
            long capacity = Math.Max(128, (long)_capacity * 2);
            if (needed > int.MaxValue)
                return Refuse(CdrStatus.NoMemory);
            capacity = Math.Min(Math.Max(capacity, needed), int.MaxValue);
            // Throws where there is no memory; what there was stays.
            _data = (byte*)(_data == null
                ? Marshal.AllocHGlobal((IntPtr)capacity)
                : Marshal.ReAllocHGlobal((IntPtr)_data, (IntPtr)capacity));
            _capacity = (int)capacity;
            return true;
        }

        // -- Structs, members and collections --

        /// Fills in the number of bytes after the word at <paramref name="at"/>.
        bool FillLength(int at)
        {
            _at = _data + at;
            PutUInt32(0, (uint)(_size - at - 4));
            return true;
        }

        /// Leaves room for a length.
        bool OpenLength(ref CdrMark mark)
        {
            if (!WriteUInt32(0))
                return false;
            mark.At = _size - 4;
            mark.Delimited = true;
            return true;
        }

        /// <summary>Begins a struct or union.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool OpenStruct(Extensibility extensibility, out CdrMark mark)
        {
            mark = new CdrMark { Origin = _origin };
            if (++_depth > CdrLimits.MaxDepth)
                return Refuse(CdrStatus.Depth);
            if (extensibility == Extensibility.Final || _version == CdrVersion.Xcdr1)
                return true;
            return OpenLength(ref mark);
        }

        /// <summary>Ends a struct or union.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool CloseStruct(Extensibility extensibility, ref CdrMark mark)
        {
            _depth--;
            if (mark.Delimited)
                return FillLength(mark.At);
            if (extensibility != Extensibility.Mutable)
                return true;
            if (!Room(4, 4))
                return false;
            PutUInt16(0, CdrLimits.ListMustUnderstand | CdrLimits.ListEnd);
            PutUInt16(2, 0);
            return true;
        }

        /// The extended parameter header of XCDR1 (XTypes 1.3 section 7.4.1.2.1).
        bool OpenListMember(uint id, bool mustUnderstand, out CdrMark mark)
        {
            mark = new CdrMark();
            if (!Room(4, 12))
                return false;
            PutUInt16(0, CdrLimits.ListMustUnderstand | CdrLimits.ListExtended);
            PutUInt16(2, 8);
            PutUInt32(4, (mustUnderstand ? 1u << 30 : 0) | id);
            PutUInt32(8, 0);
            mark.At = _size - 4;
            mark.Origin = _origin;
            mark.Delimited = true;
            _origin = _size;
            return true;
        }

        /// <summary>Begins a member of a mutable struct. <paramref name="code"/> says how the length is told (XTypes 1.3 section
        /// 7.4.3.4.2).</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool OpenMember(uint id, bool mustUnderstand, uint code, out CdrMark mark)
        {
            if (_version == CdrVersion.Xcdr1)
                return OpenListMember(id, mustUnderstand, out mark);
            mark = new CdrMark { Origin = _origin };
            if (!WriteUInt32((mustUnderstand ? 1u << 31 : 0) | code << 28 | id))
                return false;
            return code != 4 || OpenLength(ref mark);
        }

        /// <summary>Ends a member of a mutable struct.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool CloseMember(ref CdrMark mark)
        {
            if (!mark.Delimited)
                return true;
            // Lengths in lists of XCDR1 are multiples of 4, as RTPS and some peers want.
            if (_version == CdrVersion.Xcdr1 && !Room(4, 0))
                return false;
            _origin = mark.Origin;
            return FillLength(mark.At);
        }

        /// <summary>Begins an optional member that is there, of a struct that is not mutable.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool OpenOptional(uint id, bool mustUnderstand, out CdrMark mark)
        {
            if (_version == CdrVersion.Xcdr1)
                return OpenListMember(id, mustUnderstand, out mark);
            mark = new CdrMark { Origin = _origin };
            return WriteBoolean(true);
        }

        /// <summary>Ends such a member.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool CloseOptional(ref CdrMark mark)
        {
            if (!mark.Delimited)
                return true;
            _origin = mark.Origin;
            return FillLength(mark.At);
        }

        /// <summary>Says that an optional member is not there.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool WriteAbsent(uint id, bool mustUnderstand)
        {
            CdrMark mark;
            if (_version == CdrVersion.Xcdr2)
                return WriteBoolean(false);
            if (!OpenListMember(id, mustUnderstand, out mark))
                return false;
            _origin = mark.Origin;
            return true;
        }

        /// <summary>Begins a sequence or a map.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool OpenSequence(ICollection elements, uint bound, bool primitive, out CdrMark mark)
        {
            mark = new CdrMark { Origin = _origin };
            if (elements == null)
                return Refuse(CdrStatus.Null);
            int length = elements.Count;
            if (bound != 0 && (uint)length > bound)
                return Refuse(CdrStatus.Length);
            if (!primitive && _version == CdrVersion.Xcdr2 && !OpenLength(ref mark))
                return false;
            return WriteUInt32((uint)length);
        }

        /// <summary>Begins an array of what is not primitive.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool OpenArray(out CdrMark mark)
        {
            mark = new CdrMark { Origin = _origin };
            return _version == CdrVersion.Xcdr1 || OpenLength(ref mark);
        }

        /// <summary>Ends a sequence, map or array.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public bool CloseElements(ref CdrMark mark)
        {
            return !mark.Delimited || FillLength(mark.At);
        }
    }
}
