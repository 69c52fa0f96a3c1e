using System;
using System.ComponentModel;
using Tickwire.Cdr;

namespace Tickwire
{
    /// <summary>A type of topics; <c>tickwire idl gen --lang csharp</c> makes classes that are such.</summary>
    public interface ITopicType<T>
    {
        /// <summary>What reads and writes it.</summary>
        TopicSupport<T> Support { get; }
    }

    /// <summary>What reads and writes the samples of a type. Nothing of it is found by reflection.</summary>
    public abstract class TopicSupport<T>
    {
        /// <summary>The name in IDL, such as "market::Quote".</summary>
        public abstract string TypeName { get; }

        /// <summary>Whether there are instances.</summary>
        public abstract bool HasKey { get; }

        /// <summary>How the type may change.</summary>
        public abstract Extensibility Extensibility { get; }

        /// <summary>The type in IDL with all that it needs.</summary>
        public abstract string Idl { get; }

        /// Whether samples are the bytes themselves.
        internal virtual bool IsPlain { get { return false; } }

        /// <summary>A new value.</summary>
        public abstract T Create();

        /// <summary>For generated code: writes a value; false where it cannot.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public abstract bool Write(T value, CdrWriter w);

        /// <summary>For generated code: reads into a value; false where it cannot.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public abstract bool Read(T value, CdrReader r);

        /// <summary>The same of the key alone.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public abstract bool WriteKey(T value, CdrWriter w);

        /// <summary>The same of the key alone.</summary>
        [EditorBrowsable(EditorBrowsableState.Never)]
        public abstract bool ReadKey(T value, CdrReader r);

        /// <summary>Writes the payload of a sample, with the four bytes that tell its encoding, in place of what the writer had;
        /// or that of its key alone.</summary>
        /// <exception cref="CdrException">The value cannot be written.</exception>
        public void ToPayload(T value, CdrVersion version, CdrWriter to, bool key = false)
        {
            bool written = to.Begin(version, Extensibility) && (key ? WriteKey(value, to) : Write(value, to));
            if (to.End(written) != CdrStatus.Ok)
                throw new CdrException(TypeName, to.Status, to.Member, -1);
        }

        /// <summary>The payload of a sample, or that of its key alone.</summary>
        /// <exception cref="CdrException">The value cannot be written.</exception>
        public byte[] ToPayload(T value, CdrVersion version, bool key = false)
        {
            using (CdrWriter writer = new CdrWriter())
            {
                ToPayload(value, version, writer, key);
                return writer.ToArray();
            }
        }

        /// <summary>Reads a payload, in XCDR1 or XCDR2 and either byte order, into a value; of one of the key alone other members
        /// stay as they are. After a failure the value is some mixture of what it was and what was read.</summary>
        /// <exception cref="CdrException">The bytes are no such value.</exception>
        public unsafe void FromPayload(byte[] payload, T into, bool key = false)
        {
            CdrReader reader = new CdrReader();
            bool read;
            fixed (byte* at = payload)
                read = ReadPayload(reader, at, payload.Length, into, key);
            if (!read)
                throw Failure(reader);
        }

        /// <summary>The value in a payload.</summary>
        /// <exception cref="CdrException">The bytes are no such value.</exception>
        public T FromPayload(byte[] payload, bool key = false)
        {
            T value = Create();
            FromPayload(payload, value, key);
            return value;
        }

        internal unsafe bool ReadPayload(CdrReader reader, byte* payload, int size, T into, bool key)
        {
            return reader.Begin(payload, size, Extensibility) && (key ? ReadKey(into, reader) : Read(into, reader));
        }

        internal CdrException Failure(CdrReader reader)
        {
            return new CdrException(TypeName, reader.Status, reader.Member, reader.Position);
        }
    }
}
