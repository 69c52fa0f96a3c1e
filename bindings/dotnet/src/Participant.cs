using System;
using System.Collections.Generic;
using System.Threading;

namespace Tickwire
{
    /// <summary>Who takes part in a domain, on this machine's loopback interface unless its QoS names others.</summary>
    public sealed class DomainParticipant : Entity
    {
        /// <summary>Joins a domain; without one, that which the QoS names, or 0.</summary>
        public DomainParticipant(uint? domain = null, Qos qos = null) : base(Create(domain, qos), null)
        {
            AtExit.Add(this);
        }

        static IntPtr Create(uint? domain, Qos qos)
        {
            IntPtr made;
            TickwireException.Check(Native.tw_participant_create(domain ?? uint.MaxValue, Of(qos), out made));
            GC.KeepAlive(qos);
            return made;
        }

        /// <summary>The version of the library.</summary>
        public static string Version { get { return Utf8.Text(Native.tw_version()); } }

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

        /// <summary>Says that all writers whose liveliness is manual_by_participant live.</summary>
        public void AssertLiveliness() { Check(Native.tw_assert_liveliness(Raw)); }

        /// <summary>Does what is to be done for a participant whose <c>participant.driving</c> is polled: waits for data or a
        /// deadline, at most 50 ms, takes in what has come, and raises events.</summary>
        public bool Poll(TimeSpan timeout) { return WaitInTurns(Native.tw_participant_poll, timeout); }

        /// <summary>A line for each writer and reader of one topic: by which way samples go from one to the other, or why they
        /// do not match and what to change. For people: the text may change.</summary>
        public string Explain()
        {
            string text = Utf8.Text((byte[] buffer, UIntPtr capacity, out UIntPtr length) =>
                Native.tw_participant_explain(Raw, buffer, capacity, out length));
            GC.KeepAlive(this);
            return text;
        }

        /// <summary>A topic of a class that was made of IDL.</summary>
        public Topic<T> CreateTopic<T>(string name) where T : ITopicType<T>, new()
        {
            return new Topic<T>(this, name, new T().Support);
        }

        /// <summary>A topic whose samples are bytes: of a struct of that name with one member, a sequence of octets.</summary>
        public Topic<byte[]> CreateBytesTopic(string name, string typeName = "Bytes", string member = "value")
        {
            return new Topic<byte[]>(this, name, new BytesSupport(typeName, member));
        }

        /// <summary>What several writers have in common.</summary>
        public Publisher CreatePublisher(Qos qos = null) { return new Publisher(this, qos); }

        /// <summary>What several readers have in common.</summary>
        public Subscriber CreateSubscriber(Qos qos = null) { return new Subscriber(this, qos); }

        /// <summary>A writer; by default reliable, and the last sample of each instance is kept.</summary>
        public DataWriter<T> CreateWriter<T>(Topic<T> topic, Qos qos = null)
        {
            return new DataWriter<T>(this, topic, qos);
        }

        /// <summary>A reader; by default best effort, and the last sample of each instance is kept.</summary>
        public DataReader<T> CreateReader<T>(Topic<T> topic, Qos qos = null)
        {
            return new DataReader<T>(this, topic, qos);
        }

        readonly Dictionary<string, TopicEvents> _events = new Dictionary<string, TopicEvents>();

        /// Of the topics of this name, another of which is made for them if there are none.
        internal TopicEvents EventsOf(string name, Func<IntPtr> make)
        {
            lock (_events)
            {
                TopicEvents events;
                if (!_events.TryGetValue(name, out events))
                    _events[name] = events = new TopicEvents(this, make());
                return events;
            }
        }

        /// <summary>What has happened so far, by the names of tickwire.h.</summary>
        public IDictionary<string, ulong> Counters
        {
            get { return Tickwire.Counters.Of(this, Native.tw_participant_get_counters, Tickwire.Counters.Participant); }
        }
    }

    /// What is open when the program ends ends before the runtime does, whose code the library's threads may be in.
    static class AtExit
    {
        static readonly List<WeakReference> Open = new List<WeakReference>();
        static bool _known;
        /// That on which the program ends.
        static volatile Thread _by;

        /// Other threads may use what is gone then. The runtime ends them where they are; what they would throw before would
        /// end the program as if it had failed. Handlers go on, as they are waited for, and so does who waits in vain: he may be
        /// waited for, too.
        internal static void Pause()
        {
            Thread by = _by;
            if (by != null && by != Thread.CurrentThread && !Callbacks.IsInHandler)
                Thread.Sleep(LongestPause);
        }

        static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(5);
        static readonly TimeSpan TimeForCalls = TimeSpan.FromMilliseconds(50);

        /// Waits in the library that are under way, and those that this thread is in, as a poll that raises an event is.
        static int _waits;
        [ThreadStatic] static int _own;

        internal static bool HasBegun { get { return _by != null; } }

        internal static void BeginWait()
        {
            _own++;
            Interlocked.Increment(ref _waits);
        }

        internal static void EndWait()
        {
            _own--;
            Interlocked.Decrement(ref _waits);
        }

        internal static void Add(DomainParticipant participant)
        {
            lock (Open)
            {
                if (!_known)
                    AppDomain.CurrentDomain.ProcessExit += delegate { End(); };
                _known = true;
                Open.RemoveAll(each => !each.IsAlive);
                Open.Add(new WeakReference(participant));
            }
        }

        static void End()
        {
            WeakReference[] all;
            bool isLate = false;
            _by = Thread.CurrentThread;
            lock (Open)
                all = Open.ToArray();
            foreach (WeakReference each in all)
            {
                DomainParticipant participant = each.Target as DomainParticipant;
                if (participant == null)
                    continue;
                isLate |= participant.IsOpen;
                participant.Dispose();
            }
            // Threads that are in a call come to its end, and to the next: Mono fails now and then where it ends one within.
            // Waits end as what they wait for is gone, and calls that do not wait take less than this.
            Until(() => Volatile.Read(ref _waits) <= _own);
            if (isLate)
                Thread.Sleep(TimeForCalls);
            // What such a thread has kept ends with its call.
            Until(() => Volatile.Read(ref Callbacks.Contexts) == 0);
        }

        static void Until(Func<bool> holds)
        {
            for (int waited = 0; !holds() && waited < LongestPause.TotalMilliseconds; waited++)
                Thread.Sleep(1);
        }
    }
}
