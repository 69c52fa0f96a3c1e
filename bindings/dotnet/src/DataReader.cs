using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Tickwire.Cdr;

namespace Tickwire
{
    /// <summary>Gets the samples of a topic.</summary>
    public sealed unsafe partial class DataReader<T> : ListeningObject
    {
        internal DataReader(Entity parent, Topic<T> topic, Qos qos) : base(Create(parent, topic, qos), parent)
        {
            Topic = topic;
        }

        static IntPtr Create(Entity parent, Topic<T> topic, Qos qos)
        {
            IntPtr made;
            if (topic == null)
                throw new ArgumentNullException("topic");
            TickwireException.Check(Native.tw_reader_create(parent.Raw, topic.Raw, Of(qos), out made));
            GC.KeepAlive(parent);
            GC.KeepAlive(topic);
            GC.KeepAlive(qos);
            return made;
        }

        /// <summary>The topic.</summary>
        public Topic<T> Topic { get; private set; }

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

        // -- Samples --

        /// <summary>Removes samples from the reader and returns them: at most <paramref name="max"/>, or all if that is 0; in
        /// these states; of one instance, or of all.</summary>
        public List<Sample<T>> Take(
            int max = 0, SampleStates states = SampleStates.Any, InstanceHandle? instance = null)
        {
            Native.Samples samples;
            InstanceHandle of = instance ?? default(InstanceHandle);
            Check(Native.tw_reader_take(Raw, Max(max), (uint)states, instance == null ? null : &of, &samples));
            return Decoded(&samples);
        }

        /// <summary>The same, but leaves the samples in the reader, marked as read.</summary>
        public List<Sample<T>> Read(
            int max = 0, SampleStates states = SampleStates.Any, InstanceHandle? instance = null)
        {
            Native.Samples samples;
            InstanceHandle of = instance ?? default(InstanceHandle);
            Check(Native.tw_reader_read(Raw, Max(max), (uint)states, instance == null ? null : &of, &samples));
            return Decoded(&samples);
        }

        /// <summary>As <see cref="Take(int, SampleStates, InstanceHandle?)"/>, of the first instance behind
        /// <paramref name="previous"/> that has such samples, or of all instances if that is null.</summary>
        public List<Sample<T>> TakeNextInstance(
            InstanceHandle? previous, int max = 0, SampleStates states = SampleStates.Any)
        {
            Native.Samples samples;
            InstanceHandle of = previous ?? default(InstanceHandle);
            Check(Native.tw_reader_take_next_instance(
                Raw, Max(max), (uint)states, previous == null ? null : &of, &samples));
            return Decoded(&samples);
        }

        /// <summary>The same, but leaves the samples in the reader, marked as read.</summary>
        public List<Sample<T>> ReadNextInstance(
            InstanceHandle? previous, int max = 0, SampleStates states = SampleStates.Any)
        {
            Native.Samples samples;
            InstanceHandle of = previous ?? default(InstanceHandle);
            Check(Native.tw_reader_read_next_instance(
                Raw, Max(max), (uint)states, previous == null ? null : &of, &samples));
            return Decoded(&samples);
        }

        /// <summary>Takes the samples that a condition of this reader is after.</summary>
        public List<Sample<T>> Take(ReadCondition condition, int max = 0)
        {
            Native.Samples samples;
            Check(Native.tw_reader_take_by(Raw, Max(max), Of(condition), &samples));
            GC.KeepAlive(condition);
            return Decoded(&samples);
        }

        /// <summary>The same, but leaves the samples in the reader, marked as read.</summary>
        public List<Sample<T>> Read(ReadCondition condition, int max = 0)
        {
            Native.Samples samples;
            Check(Native.tw_reader_read_by(Raw, Max(max), Of(condition), &samples));
            GC.KeepAlive(condition);
            return Decoded(&samples);
        }

        /// <summary>Takes the next sample into a value that there is, whose strings and lists are used again where they are the
        /// same or have room, so that nothing is allocated; false if there is none. Of one without a value the key members are
        /// read. Not for topics of bytes.</summary>
        /// <exception cref="CdrException">What the writer has sent is no value of the type; it is gone, and
        /// <paramref name="into"/> is some mixture.</exception>
        public bool TryTake(T into, out SampleInfo info)
        {
            Native.Samples samples;
            Check(Native.tw_reader_take(Raw, (UIntPtr)1, 0, null, &samples));
            if (samples.Count == UIntPtr.Zero)
            {
                info = default(SampleInfo);
                return false;
            }
            CdrReader reader = Scratch.Reader();
            try
            {
                Native.Sample* sample = samples.First;
                info = sample->Info;
                bool key = !info.ValidData;
                bool nothing = key && sample->Length == UIntPtr.Zero;
                if (!nothing && !Topic.Support.ReadPayload(reader, sample->Data, Size(sample), into, key))
                    throw Topic.Support.Failure(reader);
                return true;
            }
            finally
            {
                Scratch.Return(reader);
                Native.tw_samples_return(&samples);
            }
        }

        /// <summary>Takes samples as they came, on loan: without copies.</summary>
        public RawSamples TakeRaw(int max = 0, SampleStates states = SampleStates.Any)
        {
            Native.Samples samples;
            Check(Native.tw_reader_take(Raw, Max(max), (uint)states, null, &samples));
            return new RawSamples(samples);
        }

        static UIntPtr Max(int max)
        {
            if (max < 0)
                throw new ArgumentOutOfRangeException("max");
            return (UIntPtr)max;
        }

        static int Size(Native.Sample* sample)
        {
            return checked((int)sample->Length);
        }

        /// Decodes samples and gives them back.
        List<Sample<T>> Decoded(Native.Samples* samples)
        {
            CdrReader reader = Scratch.Reader();
            try
            {
                int count = (int)samples->Count;
                List<Sample<T>> all = new List<Sample<T>>(count);
                for (int i = 0; i < count; i++)
                    all.Add(Decoded(reader, samples->First + i));
                return all;
            }
            finally
            {
                Scratch.Return(reader);
                Native.tw_samples_return(samples);
            }
        }

        Sample<T> Decoded(CdrReader reader, Native.Sample* sample)
        {
            TopicSupport<T> support = Topic.Support;
            int size = Size(sample);
            bool key = !sample->Info.ValidData;
            if (key && size == 0)
                return new Sample<T>(default(T), null, sample->Info);
            if (support.IsPlain)
            {
                byte[] bytes = new byte[size];
                if (size > 0)
                    System.Runtime.InteropServices.Marshal.Copy((IntPtr)sample->Data, bytes, 0, size);
                return new Sample<T>((T)(object)bytes, null, sample->Info);
            }
            T value = support.Create();
            if (support.ReadPayload(reader, sample->Data, size, value, key))
                return new Sample<T>(value, null, sample->Info);
            return new Sample<T>(value, support.Failure(reader), sample->Info);
        }

        // -- Instances --

        /// <summary>The instance of a key; null if the reader does not know it.</summary>
        public InstanceHandle? LookupInstance(T key)
        {
            CdrWriter writer = Scratch.Writer();
            try
            {
                InstanceHandle instance;
                Topic.Support.ToPayload(key, CdrVersion.Xcdr2, writer, true);
                int result = Native.tw_reader_lookup_instance(
                    Raw, (byte*)writer.Data, (UIntPtr)writer.Size, 1, out instance);
                GC.KeepAlive(this);
                if ((Result)result == Result.NotFound)
                    return null;
                Check(result);
                return instance;
            }
            finally
            {
                Scratch.Return(writer);
            }
        }

        /// <summary>The key of an instance, in a value whose other members are as at first.</summary>
        public T KeyValue(InstanceHandle instance)
        {
            byte[] payload = new byte[256];
            for (;;)
            {
                UIntPtr length;
                int result;
                fixed (byte* at = payload)
                    result = Native.tw_reader_key_value(Raw, &instance, at, (UIntPtr)payload.Length, out length);
                if ((Result)result == Result.TooSmall)
                {
                    payload = new byte[checked((int)length)];
                    continue;
                }
                Check(result);
                Array.Resize(ref payload, (int)length);
                return Topic.Support.FromPayload(payload, true);
            }
        }

        /// <summary>The writers that match now.</summary>
        public MatchedWriter[] MatchedWriters
        {
            get
            {
                MatchedWriter[] writers = new MatchedWriter[16];
                for (;;)
                {
                    UIntPtr count;
                    Check(Native.tw_reader_matched_writers(Raw, writers, (UIntPtr)writers.Length, out count));
                    int there = (int)count;
                    bool fits = there <= writers.Length;
                    Array.Resize(ref writers, there);
                    if (fits)
                        return writers;
                }
            }
        }

        /// <summary>What has happened so far, by the names of tickwire.h.</summary>
        public IDictionary<string, ulong> Counters
        {
            get { return Tickwire.Counters.Of(this, Native.tw_reader_get_counters, Tickwire.Counters.Reader); }
        }

        // -- Conditions --

        /// <summary>Holds while the reader has samples in these states.</summary>
        public ReadCondition CreateReadCondition(SampleStates states = SampleStates.Any)
        {
            IntPtr made;
            Check(Native.tw_reader_read_condition(Raw, (uint)states, out made));
            return new ReadCondition(made, this);
        }

        /// <summary>Holds while the reader has samples in these states for which an expression is true, as in
        /// <see cref="Topic{T}.Filter"/>; it may end in ORDER BY, which taking by it obeys.</summary>
        public ReadCondition CreateQueryCondition(SampleStates states, string expression, params string[] parameters)
        {
            IntPtr made;
            using (Texts texts = new Texts(parameters))
                Check(Native.tw_reader_query_condition(
                    Raw, (uint)states, Utf8.Of(expression, "expression"), texts.All, texts.Count, out made));
            return new ReadCondition(made, this);
        }
    }
}
