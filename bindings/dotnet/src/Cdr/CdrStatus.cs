using System;
using System.ComponentModel;

namespace Tickwire.Cdr
{
    /// <summary>What became of writing or reading a payload.</summary>
    public enum CdrStatus
    {
        /// <summary>It is done.</summary>
        Ok = 0,
        /// <summary>The payload would have more than 2 GiB.</summary>
        NoMemory = -1,
        /// <summary>Read: the bytes end inside a value.</summary>
        End = -3,
        /// <summary>A string, sequence or array is longer than its bound, or than the bytes that there are; or an array is of
        /// another shape.</summary>
        Length = -4,
        /// <summary>A string is not UTF-8, a wide string not UTF-16, or there is a NUL in it; or a char is above 255.</summary>
        Text = -5,
        /// <summary>Read: a boolean that is neither 0 nor 1.</summary>
        Boolean = -6,
        /// <summary>No literal of the enum has this value.</summary>
        Literal = -7,
        /// <summary>Written: a member that is not optional is null.</summary>
        Null = -8,
        /// <summary>Structs nest more than 65 deep.</summary>
        Depth = -9,
        /// <summary>Read: an encapsulation that is not known, such as XML.</summary>
        Encapsulation = -10,
        /// <summary>Read: the writer's type is of another extensibility (@final, @appendable, @mutable).</summary>
        Extensibility = -11,
        /// <summary>Read: an unknown member without which the sample must not be understood.</summary>
        MustUnderstand = -12,
        /// <summary>Read: the header of a member is malformed.</summary>
        Header = -13,
        /// <summary>Read: the value would take far more memory than its payload's length justifies.</summary>
        TooLarge = -14
    }

    /// <summary>The version of the encoding.</summary>
    public enum CdrVersion
    {
        /// <summary>What all DDS implementations read. Alignment to 8 bytes.</summary>
        Xcdr1 = 1,
        /// <summary>Appendable and mutable types carry their length. Alignment to 4 bytes at most.</summary>
        Xcdr2 = 2
    }

    /// <summary>How a type may change (XTypes 1.3 section 7.2.2.4.4.2).</summary>
    public enum Extensibility
    {
        /// <summary>Not at all.</summary>
        Final = 0,
        /// <summary>At its end.</summary>
        Appendable = 1,
        /// <summary>Members come and go.</summary>
        Mutable = 2
    }

    /// <summary>A value that cannot be written, or bytes that are no value of the type.</summary>
    public sealed class CdrException : Exception
    {
        internal CdrException(string type, CdrStatus status, string member, int position)
            : base(Explain(type, status, member, position))
        {
            Status = status;
            Member = member;
        }

        /// <summary>What is wrong.</summary>
        public CdrStatus Status { get; private set; }

        /// <summary>The innermost member concerned, such as "market::Quote.symbol"; null where it is none.</summary>
        public string Member { get; private set; }

        static string Explain(string type, CdrStatus status, string member, int position)
        {
            string place = member ?? type;
            return position < 0
                ? place + ": " + Text(status)
                : place + ", byte " + position + " of the payload: " + Text(status);
        }

        static string Text(CdrStatus status)
        {
            switch (status)
            {
                case CdrStatus.NoMemory: return "the payload would have more than 2 GiB";
                case CdrStatus.End: return "the bytes end inside a value";
                case CdrStatus.Length: return "longer than its bound, or than the bytes that there are, or an array of another shape";
                case CdrStatus.Text: return "a string is not UTF-8, or not UTF-16, or contains NUL, or a char is above 255";
                case CdrStatus.Boolean: return "a boolean is neither 0 nor 1";
                case CdrStatus.Literal: return "no literal of the enum has this value";
                case CdrStatus.Null: return "null, though it is not optional";
                case CdrStatus.Depth: return "structs nest too deeply";
                case CdrStatus.Encapsulation: return "unknown encapsulation";
                case CdrStatus.Extensibility: return "the writer's type is of another extensibility";
                case CdrStatus.MustUnderstand: return "unknown indispensable member";
                case CdrStatus.Header: return "malformed member header";
                case CdrStatus.TooLarge: return "the value is too large for its payload";
                default: return "unknown status";
            }
        }
    }

    /// <summary>For generated code: a struct, sequence or array that is being read.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public struct CdrScope
    {
        internal int Outer;
        internal bool Delimited;
        /// Whether missing members at the end are a shorter version of the type, and no failure.
        internal bool MayEnd;
    }

    /// <summary>For generated code: a member with a header that is being read.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public struct CdrMember
    {
        /// <summary>Its id.</summary>
        public uint Id;
        internal bool MustUnderstand;
        internal bool Delimited;
        internal int Outer;
        internal int Origin;
    }

    /// <summary>For generated code: where a length is to be written, once it is known.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public struct CdrMark
    {
        internal int At;
        internal int Origin;
        internal bool Delimited;
    }

    static class CdrLimits
    {
        internal const int MaxDepth = 65;
        internal const int MemoryPerByte = 256;
        internal const int MemoryAtLeast = 65536;
        internal const int ListExtended = 0x3f01;
        internal const int ListEnd = 0x3f02;
        internal const int ListMustUnderstand = 0x4000;
    }
}
