using System;

namespace Tickwire
{
    /// <summary>What several writers have in common: PARTITION, PRESENTATION, GROUP_DATA.</summary>
    public sealed class Publisher : Entity
    {
        internal Publisher(DomainParticipant participant, Qos qos) : base(Create(participant, qos), participant) { }

        static IntPtr Create(DomainParticipant participant, Qos qos)
        {
            IntPtr made;
            TickwireException.Check(Native.tw_publisher_create(participant.Raw, Of(qos), out made));
            GC.KeepAlive(participant);
            GC.KeepAlive(qos);
            return made;
        }

        /// <summary>A writer of this publisher's.</summary>
        public DataWriter<T> CreateWriter<T>(Topic<T> topic, Qos qos = null)
        {
            return new DataWriter<T>(this, topic, qos);
        }

        /// <summary>Begins a coherent set: readers with coherent access see what all writers of the publisher write in it
        /// together, or not at all. Needs <c>publisher.presentation.coherent_access</c>.</summary>
        public void BeginCoherent() { Check(Native.tw_publisher_begin_coherent(Raw)); }

        /// <summary>Ends it. Sets may be nested; the outermost counts.</summary>
        public void EndCoherent() { Check(Native.tw_publisher_end_coherent(Raw)); }

        /// <summary>Holds back what this thread writes until <see cref="Resume"/>, on the same thread, so that samples share
        /// datagrams.</summary>
        public void Suspend() { Check(Native.tw_publisher_suspend(Raw)); }

        /// <summary>Sends what was held back.</summary>
        public void Resume() { Check(Native.tw_publisher_resume(Raw)); }

        /// <summary>Sends what waits for company.</summary>
        public void Flush() { Check(Native.tw_publisher_flush(Raw)); }
    }

    /// <summary>What several readers have in common: PARTITION, PRESENTATION, GROUP_DATA.</summary>
    public sealed class Subscriber : Entity
    {
        internal Subscriber(DomainParticipant participant, Qos qos) : base(Create(participant, qos), participant) { }

        static IntPtr Create(DomainParticipant participant, Qos qos)
        {
            IntPtr made;
            TickwireException.Check(Native.tw_subscriber_create(participant.Raw, Of(qos), out made));
            GC.KeepAlive(participant);
            GC.KeepAlive(qos);
            return made;
        }

        /// <summary>A reader of this subscriber's.</summary>
        public DataReader<T> CreateReader<T>(Topic<T> topic, Qos qos = null)
        {
            return new DataReader<T>(this, topic, qos);
        }

        /// <summary>From here to <see cref="EndAccess"/> no further coherent set of GROUP scope appears in any reader.</summary>
        public void BeginAccess() { Check(Native.tw_subscriber_begin_access(Raw)); }

        /// <summary>Ends it. May be nested.</summary>
        public void EndAccess() { Check(Native.tw_subscriber_end_access(Raw)); }
    }
}
