using System;
using System.Runtime.InteropServices;
using Tickwire.Cdr;

namespace Tickwire
{
    /// <summary>States of samples, of which masks are put together. A mask without any bit of a group accepts all of that
    /// group.</summary>
    [Flags]
    public enum SampleStates : uint
    {
        /// <summary>All.</summary>
        Any = 0,
        /// <summary>Samples: returned by a read before.</summary>
        Read = 1,
        /// <summary>Samples: not returned before.</summary>
        NotRead = 2,
        /// <summary>The instance looks new to the reader, or back to life.</summary>
        New = 4,
        /// <summary>The instance is known.</summary>
        NotNew = 8,
        /// <summary>The instance lives.</summary>
        Alive = 16,
        /// <summary>The instance was disposed of.</summary>
        Disposed = 32,
        /// <summary>The instance has no writers.</summary>
        NoWriters = 64
    }

    /// <summary>A sample's circumstances, as they were when it was returned.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct SampleInfo
    {
        uint _states;
        int _validData;
        long _source;
        long _reception;
        long _kernel;
        long _sequenceNumber;
        InstanceHandle _instance;
        EntityGuid _writer;
        uint _disposedGenerations;
        uint _noWritersGenerations;
        uint _sampleRank;
        uint _generationRank;
        uint _absoluteGenerationRank;
        int _inPlace;

        /// <summary>One bit of each group.</summary>
        public SampleStates States { get { return (SampleStates)_states; } }

        /// <summary>Whether there is a value. If not, it tells of a change of the instance's state.</summary>
        public bool ValidData { get { return _validData != 0; } }

        /// <summary>When the writer made it, by the writer's clock; null if it has not told.</summary>
        public DateTime? SourceTimestamp { get { return Instant.Of(_source); } }

        /// <summary>The same in nanoseconds since 1970; <c>long.MinValue</c> if it has not told.</summary>
        public long SourceNanoseconds { get { return _source; } }

        /// <summary>When it arrived, by this machine's clock.</summary>
        public DateTime ReceptionTimestamp { get { return Instant.Of(_reception) ?? default(DateTime); } }

        /// <summary>The same in nanoseconds since 1970.</summary>
        public long ReceptionNanoseconds { get { return _reception; } }

        /// <summary>When the kernel had it, if <c>participant.receive_timestamps</c> asks for that and it came by UDP.</summary>
        public DateTime? KernelTimestamp { get { return Instant.Of(_kernel); } }

        /// <summary>Its place in the writer's history.</summary>
        public long SequenceNumber { get { return _sequenceNumber; } }

        /// <summary>The instance.</summary>
        public InstanceHandle Instance { get { return _instance; } }

        /// <summary>The writer.</summary>
        public EntityGuid Writer { get { return _writer; } }

        /// <summary>How often the instance had come back from disposal when it arrived.</summary>
        public uint DisposedGenerationCount { get { return _disposedGenerations; } }

        /// <summary>How often the instance had found a writer again when it arrived.</summary>
        public uint NoWritersGenerationCount { get { return _noWritersGenerations; } }

        /// <summary>Samples of the instance that follow.</summary>
        public uint SampleRank { get { return _sampleRank; } }

        /// <summary>Generations between it and the last of these.</summary>
        public uint GenerationRank { get { return _generationRank; } }

        /// <summary>Generations between it and the last one received.</summary>
        public uint AbsoluteGenerationRank { get { return _absoluteGenerationRank; } }

        /// <summary>Whether the data lie where the writer wrote them, on loan.</summary>
        public bool InPlace { get { return _inPlace != 0; } }
    }

    /// <summary>A sample.</summary>
    public sealed class Sample<T>
    {
        readonly T _value;
        readonly CdrException _failure;

        internal Sample(T value, CdrException failure, SampleInfo info)
        {
            _value = value;
            _failure = failure;
            Info = info;
        }

        /// <summary>Its circumstances.</summary>
        public SampleInfo Info { get; private set; }

        /// <summary>Whether there is a value. If not, it tells of a change of the instance's state.</summary>
        public bool ValidData { get { return Info.ValidData; } }

        /// <summary>The value; null if there is none.</summary>
        /// <exception cref="CdrException">What the writer has sent is no value of the type.</exception>
        public T Data { get { return ValidData ? Key : default(T); } }

        /// <summary>The value, of which the key members are known alone if there is none.</summary>
        /// <exception cref="CdrException">What the writer has sent is no value of the type.</exception>
        public T Key
        {
            get
            {
                if (_failure != null)
                    throw _failure;
                return _value;
            }
        }
    }

    /// <summary>Samples as they came, on loan from a reader, which needs their memory: dispose of them soon.</summary>
    public sealed unsafe class RawSamples : IDisposable
    {
        Native.Samples _samples;
        /// Who looks again and again would not let the gate go.
        volatile bool _ends;

        internal RawSamples(Native.Samples samples)
        {
            _samples = samples;
            Count = checked((int)samples.Count);
        }

        /// <summary>Gives the samples back.</summary>
        ~RawSamples()
        {
            Return();
        }

        /// <summary>How many there are.</summary>
        public int Count { get; private set; }

        /// <summary>One of them.</summary>
        public RawSample this[int index]
        {
            get
            {
                if (index < 0 || index >= Count)
                    throw new ArgumentOutOfRangeException("index");
                return new RawSample(this, index);
            }
        }

        /// Who looks at samples has it: they are not given back meanwhile.
        internal readonly object Gate = new object();

        internal Native.Sample* At(int index)
        {
            if (_ends || _samples.Held == IntPtr.Zero)
                throw new ObjectDisposedException("RawSamples");
            return _samples.First + index;
        }

        /// <summary>Gives the samples back, whose data are gone then.</summary>
        public void Dispose()
        {
            Return();
            GC.SuppressFinalize(this);
        }

        void Return()
        {
            _ends = true;
            lock (Gate)
            {
                if (_samples.Held == IntPtr.Zero)
                    return;
                fixed (Native.Samples* samples = &_samples)
                    Native.tw_samples_return(samples);
                _samples = default(Native.Samples);
            }
        }
    }

    /// <summary>A sample as it came: a payload with its first four bytes, or plain bytes if the topic is one of bytes.</summary>
    public unsafe struct RawSample
    {
        readonly RawSamples _of;
        readonly int _index;

        internal RawSample(RawSamples of, int index)
        {
            _of = of;
            _index = index;
        }

        /// <summary>Its circumstances.</summary>
        public SampleInfo Info
        {
            get
            {
                lock (_of.Gate)
                    return _of.At(_index)->Info;
            }
        }

        /// <summary>How many bytes there are.</summary>
        public int Length
        {
            get
            {
                lock (_of.Gate)
                    return checked((int)_of.At(_index)->Length);
            }
        }

        /// <summary>Where they are, until the samples are disposed of: not to be read by one thread while another one does
        /// that.</summary>
        public IntPtr Pointer
        {
            get
            {
                lock (_of.Gate)
                    return (IntPtr)_of.At(_index)->Data;
            }
        }

#if NETCOREAPP || NETSTANDARD2_1
        /// <summary>The bytes, with the life of <see cref="Pointer"/>.</summary>
        public ReadOnlySpan<byte> Span
        {
            get
            {
                lock (_of.Gate)
                {
                    Native.Sample* sample = _of.At(_index);
                    return new ReadOnlySpan<byte>(sample->Data, checked((int)sample->Length));
                }
            }
        }
#endif

        /// <summary>Copies the bytes, and says how many there are.</summary>
        public int CopyTo(byte[] to, int offset)
        {
            if (to == null)
                throw new ArgumentNullException("to");
            lock (_of.Gate)
            {
                Native.Sample* sample = _of.At(_index);
                int length = checked((int)sample->Length);
                if (offset < 0 || length > to.Length - offset)
                    throw new ArgumentException("there are " + length + " bytes", "to");
                if (length > 0)
                    Marshal.Copy((IntPtr)sample->Data, to, offset, length);
                return length;
            }
        }

        /// <summary>The bytes, copied.</summary>
        public byte[] ToArray()
        {
            lock (_of.Gate)
            {
                byte[] copy = new byte[Length];
                CopyTo(copy, 0);
                return copy;
            }
        }
    }
}
