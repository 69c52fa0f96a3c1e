// Tickwire's package for .NET: reliable topics, one each way of each of the lab's.

using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using Tickwire;

namespace Lab
{
    /// <summary>A participant, and what is heard while somebody runs.</summary>
    abstract class TickwirePeer : IPeer
    {
        protected readonly Options Options;
        protected readonly DomainParticipant Participant;
        readonly object gate = new object();
        readonly bool isShared;
        Func<IContent, bool> take;
        ulong heard;

        protected TickwirePeer(Options options)
        {
            Options = options;
            isShared = options.System.Contains("shm");
            using (Qos qos = Settled())
                Participant = new DomainParticipant((uint)(options.FirstPort / 20 % 100), qos);
        }

        Qos Settled()
        {
            var qos = new Qos();
            qos["participant.name"] = "lab";
            qos["participant.interface"] = Options.Here.ToString();
            qos["participant.transports"] = isShared ? "udp,multicast,shm" : "udp,multicast";
            return qos;
        }

        bool Streams { get { return Options.Job == Job.Send || Options.Job == Job.Receive; } }

        /// <summary>As Tickwire's other programs have it.</summary>
        protected Qos EndpointQos()
        {
            var qos = new Qos { Reader = { Reliability = Reliability.Reliable } };
            if (Streams)
            {
                qos.Writer.History = History.KeepAll;
                qos.Writer.MaxBlockingTime = TimeSpan.FromMilliseconds(Options.Patience);
                qos.Reader.History = History.KeepAll;
                return qos;
            }
            bool lags = Options.Responders == Responders.One;
            qos.Writer.HistoryDepth = lags ? 200 : 1;
            qos.Reader.HistoryDepth = lags ? 200 : 16;
            return qos;
        }

        /// <summary>The name of the topic that this side writes, or reads.</summary>
        protected string Name(string topic, bool writes)
        {
            return topic + (Options.IsPassive == writes ? " back" : " there");
        }

        protected void Meet<T>(DataWriter<T> writer, DataReader<T> reader)
        {
            // Who sends waits until this hears, and may have ended before this learns of his reader.
            if (Options.Job == Job.Receive && !Options.Demand.HasValue) return;
            int count = Options.IsPassive ? Options.Publishers : Options.Subscribers;
            TimeSpan patience = TimeSpan.FromMilliseconds(Options.Patience);
            if (!writer.WaitForMatched(count, patience) || !reader.WaitForMatched(count, patience))
                throw new IOException("not all have come");
        }

        public abstract void Meet();
        public abstract void Send(ulong number, ulong time);
        public abstract void Echo();

        /// <summary>Takes what is there, of each reader, and gives it to <see cref="Hear"/> until that says that it is
        /// enough.</summary>
        protected abstract void Drain();

        /// <summary>Messages are looked at on the thread that delivers them.</summary>
        public void Run(Idle idle, Func<IContent, bool> take)
        {
            lock (gate)
            {
                this.take = take;
                ulong before = heard;
                Drain();
                for (int patience = idle.First; this.take != null; patience = idle.Between)
                {
                    if (heard == before && !Monitor.Wait(gate, patience) && heard == before) break;
                    before = heard;
                }
                this.take = null;
            }
        }

        /// <summary>Somebody may wait for what has come to a reader, which is drained.</summary>
        protected void OnData(Action drain)
        {
            lock (gate)
            {
                if (take != null) drain();
            }
        }

        /// <summary>Whether more are wanted.</summary>
        protected bool IsHeard { get { return take != null; } }

        protected void Hear(IContent content)
        {
            ++heard;
            if (!take(content)) return;
            take = null;
            Monitor.PulseAll(gate);
        }

        public virtual ulong? EncodedBytes { get { return null; } }

        public SortedDictionary<string, string> Settings
        {
            get
            {
                return new SortedDictionary<string, string>
                {
                    { "HISTORY", Streams ? "KEEP_ALL" : "KEEP_LAST" },
                    { "RELIABILITY", "RELIABLE" },
                    { "shared memory", isShared ? "on" : "off" },
                };
            }
        }

        public void Dispose() { Participant.Dispose(); }
    }

    /// <summary>Topics of bytes: what a program has serialized itself.</summary>
    sealed class TickwireRaw : TickwirePeer
    {
        readonly IContent content;
        readonly MemoryStream packed = new MemoryStream();
        readonly Dictionary<string, DataWriter<byte[]>> writers = new Dictionary<string, DataWriter<byte[]>>();
        readonly List<DataReader<byte[]>> readers = new List<DataReader<byte[]>>();
        byte[] buffer = new byte[1 << 16];
        ulong messages, bytes;

        public TickwireRaw(Options options, IContent content) : base(options)
        {
            this.content = content;
            using (Qos qos = EndpointQos())
            {
                foreach (string topic in content.Topics)
                {
                    var there = Participant.CreateBytesTopic(Name(topic, true), "lab::Raw", "bytes");
                    var back = Participant.CreateBytesTopic(Name(topic, false), "lab::Raw", "bytes");
                    writers[topic] = Participant.CreateWriter(there, qos);
                    var reader = Participant.CreateReader(back, qos);
                    readers.Add(reader);
                    Action drain = () => Drain(reader);
                    reader.DataAvailable += _ => OnData(drain);
                }
            }
        }

        public override void Meet()
        {
            for (int at = 0; at < readers.Count; ++at) Meet(writers[content.Topics[at]], readers[at]);
        }

        public override void Send(ulong number, ulong time)
        {
            packed.SetLength(0);
            content.Write(packed, number, time);
            Send(content.Topic(number));
        }

        public override void Echo()
        {
            packed.SetLength(0);
            content.WriteEcho(packed);
            Send(content.TopicRead);
        }

        void Send(string topic)
        {
            ++messages;
            bytes += (ulong)packed.Position;
            writers[topic].WriteRaw(new ArraySegment<byte>(packed.GetBuffer(), 0, (int)packed.Position));
        }

        protected override void Drain()
        {
            readers.ForEach(Drain);
        }

        void Drain(DataReader<byte[]> reader)
        {
            while (IsHeard)
            {
                using (RawSamples samples = reader.TakeRaw(1))
                {
                    if (samples.Count == 0) break;
                    RawSample sample = samples[0];
                    if (!sample.Info.ValidData) continue;
                    if (sample.Length > buffer.Length) buffer = new byte[2 * sample.Length];
                    content.Read(buffer, 0, sample.CopyTo(buffer, 0));
                }
                Hear(content);
            }
        }

        public override ulong? EncodedBytes { get { return messages > 0 ? bytes / messages : (ulong?)null; } }
    }
}
