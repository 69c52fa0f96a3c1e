using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Tickwire.Cdr;

namespace Tickwire
{
    /// <summary>Writes samples of a topic.</summary>
    public sealed unsafe class DataWriter<T> : ListeningObject
    {
        const int Sample = 0;
        const int Key = 1;

        readonly CdrVersion _version;
        Action<DataWriter<T>, MatchedStatus> _matched;
        Action<DataWriter<T>, IncompatibleQosStatus> _incompatible;
        Action<DataWriter<T>, DeadlineMissedStatus> _deadline;
        Action<DataWriter<T>, CountStatus> _liveliness;

        internal DataWriter(Entity parent, Topic<T> topic, Qos qos) : base(Create(parent, topic, qos), parent)
        {
            Topic = topic;
            _version = topic.Support.Extensibility == Extensibility.Final ? CdrVersion.Xcdr1 : CdrVersion.Xcdr2;
            if (qos != null)
            {
                // Of several, a writer takes the first.
                string representation = qos.Get("writer.representation", topic.Name).ToLowerInvariant();
                int first = representation.IndexOf("xcdr", StringComparison.Ordinal);
                if (first >= 0 && first + 4 < representation.Length)
                    _version = representation[first + 4] == '1' ? CdrVersion.Xcdr1 : CdrVersion.Xcdr2;
            }
        }

        static IntPtr Create(Entity parent, Topic<T> topic, Qos qos)
        {
            IntPtr made;
            if (topic == null)
                throw new ArgumentNullException("topic");
            TickwireException.Check(Native.tw_writer_create(parent.Raw, topic.Raw, Of(qos), out made));
            GC.KeepAlive(parent);
            GC.KeepAlive(topic);
            GC.KeepAlive(qos);
            return made;
        }

        /// <summary>The topic.</summary>
        public Topic<T> Topic { get; private set; }

        /// <summary>The encoding that samples have.</summary>
        public CdrVersion Version { get { return _version; } }

        /// <summary>Its name on the network.</summary>
        public EntityGuid Guid
        {
            get
            {
                EntityGuid guid;
                Check(Native.tw_get_guid(Raw, out guid));
                return guid;
            }
        }

        /// <summary>Writes a sample; from here to the system call that sends it everything runs on the calling thread.</summary>
        /// <exception cref="CdrException">The value cannot be written.</exception>
        /// <exception cref="TickwireException">A reliable keep_all writer found no room in time, or another failure.</exception>
        public void Write(T sample)
        {
            Write(sample, null);
        }

        /// <summary>The same, with the time when it was made.</summary>
        public void Write(T sample, DateTime timestamp)
        {
            long time = Instant.Of(timestamp);
            Write(sample, &time);
        }

        void Write(T sample, long* timestamp)
        {
            if (Topic.Support.IsPlain)
            {
                WriteBytes((byte[])(object)sample, timestamp);
                return;
            }
            CdrWriter writer = Scratch.Writer();
            try
            {
                Topic.Support.ToPayload(sample, _version, writer);
                Check(Native.tw_writer_write(Raw, (byte*)writer.Data, (UIntPtr)writer.Size, timestamp));
            }
            finally
            {
                Scratch.Return(writer);
            }
        }

        void WriteBytes(byte[] bytes, long* timestamp)
        {
            if (bytes == null)
                throw new ArgumentNullException("sample");
            fixed (byte* at = bytes)
                Check(Native.tw_writer_write(Raw, at, (UIntPtr)bytes.Length, timestamp));
        }

        /// <summary>Writes a sample that is serialized already: a payload with its first four bytes, or plain bytes if the topic
        /// is one of bytes. It is not looked into but for these and the key.</summary>
        public void WriteRaw(ArraySegment<byte> data)
        {
            if (data.Array == null)
                throw new ArgumentNullException("data");
            fixed (byte* at = data.Array)
                Check(Native.tw_writer_write(Raw, at + data.Offset, (UIntPtr)data.Count, null));
        }

#if NETCOREAPP || NETSTANDARD2_1
        /// <summary>The same.</summary>
        public void WriteRaw(ReadOnlySpan<byte> data)
        {
            fixed (byte* at = data)
                Check(Native.tw_writer_write(Raw, at, (UIntPtr)data.Length, null));
        }
#endif

        /// <summary>Lends bytes to be written to, for topics of bytes alone: memory that readers on this machine see, if
        /// <c>writer.max_loan</c> says so and one is free. One thread at a time uses a loan, and may hand it over.</summary>
        public WriterLoan Loan(int length)
        {
            IntPtr data;
            IntPtr loan;
            if (length < 0)
                throw new ArgumentOutOfRangeException("length");
            Check(Native.tw_writer_loan(Raw, (UIntPtr)length, out data, out loan));
            return new WriterLoan(this, data, length, loan);
        }

        /// <summary>Ends the instance of a sample, of which only the key counts.</summary>
        public void DisposeInstance(T key)
        {
            CdrWriter writer = Encoded(key);
            try
            {
                Check(Native.tw_writer_dispose(
                    Raw, (byte*)writer.Data, (UIntPtr)writer.Size, Key, IntPtr.Zero, null));
            }
            finally
            {
                Scratch.Return(writer);
            }
        }

        /// <summary>Says that this writer has nothing more to say about an instance, and disposes of it unless the QoS says not
        /// to.</summary>
        public void UnregisterInstance(T key)
        {
            CdrWriter writer = Encoded(key);
            try
            {
                Check(Native.tw_writer_unregister(
                    Raw, (byte*)writer.Data, (UIntPtr)writer.Size, Key, IntPtr.Zero, null));
            }
            finally
            {
                Scratch.Return(writer);
            }
        }

        /// <summary>The name of a sample's instance. Instances need no registration before they are written.</summary>
        public InstanceHandle RegisterInstance(T key)
        {
            CdrWriter writer = Encoded(key);
            try
            {
                InstanceHandle instance;
                Check(Native.tw_writer_register(
                    Raw, (byte*)writer.Data, (UIntPtr)writer.Size, Key, out instance));
                return instance;
            }
            finally
            {
                Scratch.Return(writer);
            }
        }

        CdrWriter Encoded(T key)
        {
            if (!Topic.Support.HasKey)
                throw new InvalidOperationException(Topic.Support.TypeName + " has no key");
            CdrWriter writer = Scratch.Writer();
            try
            {
                Topic.Support.ToPayload(key, _version, writer, true);
                return writer;
            }
            catch
            {
                Scratch.Return(writer);
                throw;
            }
        }

        /// <summary>Waits until at least so many readers match and each reliable one has been heard from; false if it did not
        /// happen in time.</summary>
        public bool WaitForMatched(int count, TimeSpan timeout)
        {
            uint least = checked((uint)count);
            return Wait((of, part) => Native.tw_writer_wait_for_matched(of, least, part), timeout);
        }

        /// <summary>Waits until every matched reliable reader has acknowledged everything written so far.</summary>
        public bool WaitForAcknowledgments(TimeSpan timeout)
        {
            return Wait(Native.tw_writer_wait_for_acknowledgments, timeout);
        }

        /// <summary>Says that the writer lives, if its liveliness is manual. A write says the same.</summary>
        public void AssertLiveliness() { Check(Native.tw_assert_liveliness(Raw)); }

        /// <summary>The readers that match now.</summary>
        public MatchedReader[] MatchedReaders
        {
            get
            {
                MatchedReader[] readers = new MatchedReader[16];
                for (;;)
                {
                    UIntPtr count;
                    Check(Native.tw_writer_matched_readers(Raw, readers, (UIntPtr)readers.Length, out count));
                    int there = (int)count;
                    bool fits = there <= readers.Length;
                    Array.Resize(ref readers, there);
                    if (fits)
                        return readers;
                }
            }
        }

        /// <summary>What has happened so far, by the names of tickwire.h.</summary>
        public IDictionary<string, ulong> Counters
        {
            get { return Tickwire.Counters.Of(this, Native.tw_writer_get_counters, Tickwire.Counters.Writer); }
        }

        // -- Statuses: reading one clears its change. --

        /// <summary>Readers that match.</summary>
        public MatchedStatus PublicationMatchedStatus
        {
            get
            {
                MatchedStatus status;
                Check(Native.tw_writer_publication_matched(Raw, out status));
                return status;
            }
        }

        /// <summary>Readers that do not match, and why.</summary>
        public IncompatibleQosStatus OfferedIncompatibleQosStatus
        {
            get
            {
                Native.IncompatibleQos status;
                Check(Native.tw_writer_offered_incompatible_qos(Raw, out status));
                return new IncompatibleQosStatus(&status);
            }
        }

        /// <summary>Deadlines that this writer has missed.</summary>
        public DeadlineMissedStatus OfferedDeadlineMissedStatus
        {
            get
            {
                DeadlineMissedStatus status;
                Check(Native.tw_writer_offered_deadline_missed(Raw, out status));
                return status;
            }
        }

        /// <summary>How often this writer was not shown to live in time.</summary>
        public CountStatus LivelinessLostStatus
        {
            get
            {
                CountStatus status;
                Check(Native.tw_writer_liveliness_lost(Raw, out status));
                return status;
            }
        }

        /// <summary>A reader matches, or no longer.</summary>
        public event Action<DataWriter<T>, MatchedStatus> PublicationMatched
        {
            add { Change(Statuses.PublicationMatched, ref _matched, value, true); }
            remove { Change(Statuses.PublicationMatched, ref _matched, value, false); }
        }

        /// <summary>A reader does not match.</summary>
        public event Action<DataWriter<T>, IncompatibleQosStatus> OfferedIncompatibleQos
        {
            add { Change(Statuses.OfferedIncompatibleQos, ref _incompatible, value, true); }
            remove { Change(Statuses.OfferedIncompatibleQos, ref _incompatible, value, false); }
        }

        /// <summary>This writer has missed a deadline.</summary>
        public event Action<DataWriter<T>, DeadlineMissedStatus> OfferedDeadlineMissed
        {
            add { Change(Statuses.OfferedDeadlineMissed, ref _deadline, value, true); }
            remove { Change(Statuses.OfferedDeadlineMissed, ref _deadline, value, false); }
        }

        /// <summary>This writer was not shown to live in time.</summary>
        public event Action<DataWriter<T>, CountStatus> LivelinessLost
        {
            add { Change(Statuses.LivelinessLost, ref _liveliness, value, true); }
            remove { Change(Statuses.LivelinessLost, ref _liveliness, value, false); }
        }

        internal override void OnMatched(MatchedStatus status)
        {
            var handlers = _matched;
            if (handlers != null)
                handlers(this, status);
        }

        internal override void OnIncompatibleQos(IncompatibleQosStatus status)
        {
            var handlers = _incompatible;
            if (handlers != null)
                handlers(this, status);
        }

        internal override void OnDeadlineMissed(DeadlineMissedStatus status)
        {
            var handlers = _deadline;
            if (handlers != null)
                handlers(this, status);
        }

        internal override void OnLivelinessLost(CountStatus status)
        {
            var handlers = _liveliness;
            if (handlers != null)
                handlers(this, status);
        }
    }

    /// <summary>Memory to write a sample into. What is not written is given back when it is disposed of, or collected. It keeps
    /// its writer, which does not end before, and cannot be written once that is disposed of.</summary>
    public sealed unsafe class WriterLoan : IDisposable
    {
        readonly object _gate = new object();
        readonly TickwireObject _writer;
        readonly IntPtr _data;
        readonly LoanHandle _handle;
        /// Who copies again and again would not let the gate go.
        int _ended;

        internal WriterLoan(TickwireObject writer, IntPtr data, int length, IntPtr loan)
        {
            _writer = writer;
            _data = data;
            _handle = new LoanHandle(loan);
            Length = length;
        }

        /// <summary>How many bytes there are. They hold whatever was there before.</summary>
        public int Length { get; private set; }

        /// <summary>Where they are, until the loan is written, disposed of or collected: not to be written to by one thread while
        /// another one does that.</summary>
        public IntPtr Pointer
        {
            get
            {
                if (Volatile.Read(ref _ended) != 0)
                    throw new ObjectDisposedException("WriterLoan");
                return _data;
            }
        }

#if NETCOREAPP || NETSTANDARD2_1
        /// <summary>The same, of the same life.</summary>
        public Span<byte> Span { get { return new Span<byte>((void*)Pointer, Length); } }
#endif

        /// <summary>Copies bytes into it.</summary>
        public void CopyFrom(byte[] source, int sourceOffset, int offset, int count)
        {
            if (offset < 0 || count < 0 || offset > Length - count)
                throw new ArgumentOutOfRangeException("offset");
            lock (_gate)
                System.Runtime.InteropServices.Marshal.Copy(source, sourceOffset, Pointer + offset, count);
            GC.KeepAlive(this);
        }

        /// <summary>Writes the first bytes of it, which ends it.</summary>
        public void Write(int length)
        {
            if (length < 0 || length > Length)
                throw new ArgumentOutOfRangeException("length");
            IntPtr loan;
            if (Interlocked.Exchange(ref _ended, 1) != 0)
                throw new ObjectDisposedException("WriterLoan");
            lock (_gate)
            {
                loan = _handle.DangerousGetHandle();
                _handle.SetHandleAsInvalid();
            }
            _writer.Check(Native.tw_loan_write(loan, (UIntPtr)length, null));
        }

        /// <summary>Ends it without writing it.</summary>
        public void Dispose()
        {
            if (Interlocked.Exchange(ref _ended, 1) != 0)
                return;
            lock (_gate)
                _handle.Dispose();
        }

        sealed class LoanHandle : ObjectHandle
        {
            internal LoanHandle(IntPtr loan) : base(loan) { }

            internal override void End(IntPtr ended)
            {
                Native.tw_loan_discard(ended);
            }
        }
    }
}
