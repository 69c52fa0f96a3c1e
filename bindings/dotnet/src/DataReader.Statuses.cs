using System;

namespace Tickwire
{
    // Statuses: reading one clears its change.
    public sealed unsafe partial class DataReader<T>
    {
        Action<DataReader<T>, MatchedStatus> _matched;
        Action<DataReader<T>, IncompatibleQosStatus> _incompatible;
        Action<DataReader<T>, LivelinessChangedStatus> _liveliness;
        Action<DataReader<T>, DeadlineMissedStatus> _deadline;
        Action<DataReader<T>, CountStatus> _lost;
        Action<DataReader<T>, SampleRejectedStatus> _rejected;

        /// <summary>Writers that match.</summary>
        public MatchedStatus SubscriptionMatchedStatus
        {
            get
            {
                MatchedStatus status;
                Check(Native.tw_reader_subscription_matched(Raw, out status));
                return status;
            }
        }

        /// <summary>Writers that do not match, and why.</summary>
        public IncompatibleQosStatus RequestedIncompatibleQosStatus
        {
            get
            {
                Native.IncompatibleQos status;
                Check(Native.tw_reader_requested_incompatible_qos(Raw, out status));
                return new IncompatibleQosStatus(&status);
            }
        }

        /// <summary>Deadlines that writers have missed.</summary>
        public DeadlineMissedStatus RequestedDeadlineMissedStatus
        {
            get
            {
                DeadlineMissedStatus status;
                Check(Native.tw_reader_requested_deadline_missed(Raw, out status));
                return status;
            }
        }

        /// <summary>Writers that live, and that do not.</summary>
        public LivelinessChangedStatus LivelinessChangedStatus
        {
            get
            {
                LivelinessChangedStatus status;
                Check(Native.tw_reader_liveliness_changed(Raw, out status));
                return status;
            }
        }

        /// <summary>Samples that will never come.</summary>
        public CountStatus SampleLostStatus
        {
            get
            {
                CountStatus status;
                Check(Native.tw_reader_sample_lost(Raw, out status));
                return status;
            }
        }

        /// <summary>Samples that found no room.</summary>
        public SampleRejectedStatus SampleRejectedStatus
        {
            get
            {
                SampleRejectedStatus status;
                Check(Native.tw_reader_sample_rejected(Raw, out status));
                return status;
            }
        }

        /// <summary>A writer matches, or no longer.</summary>
        public event Action<DataReader<T>, MatchedStatus> SubscriptionMatched
        {
            add { Change(Statuses.SubscriptionMatched, ref _matched, value, true); }
            remove { Change(Statuses.SubscriptionMatched, ref _matched, value, false); }
        }

        /// <summary>A writer does not match.</summary>
        public event Action<DataReader<T>, IncompatibleQosStatus> RequestedIncompatibleQos
        {
            add { Change(Statuses.RequestedIncompatibleQos, ref _incompatible, value, true); }
            remove { Change(Statuses.RequestedIncompatibleQos, ref _incompatible, value, false); }
        }

        /// <summary>A writer is shown to live, or no longer.</summary>
        public event Action<DataReader<T>, LivelinessChangedStatus> LivelinessChanged
        {
            add { Change(Statuses.LivelinessChanged, ref _liveliness, value, true); }
            remove { Change(Statuses.LivelinessChanged, ref _liveliness, value, false); }
        }

        /// <summary>An instance has had no sample in time.</summary>
        public event Action<DataReader<T>, DeadlineMissedStatus> RequestedDeadlineMissed
        {
            add { Change(Statuses.RequestedDeadlineMissed, ref _deadline, value, true); }
            remove { Change(Statuses.RequestedDeadlineMissed, ref _deadline, value, false); }
        }

        /// <summary>A sample will never come.</summary>
        public event Action<DataReader<T>, CountStatus> SampleLost
        {
            add { Change(Statuses.SampleLost, ref _lost, value, true); }
            remove { Change(Statuses.SampleLost, ref _lost, value, false); }
        }

        /// <summary>A sample has found no room.</summary>
        public event Action<DataReader<T>, SampleRejectedStatus> SampleRejected
        {
            add { Change(Statuses.SampleRejected, ref _rejected, value, true); }
            remove { Change(Statuses.SampleRejected, ref _rejected, value, false); }
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

        internal override void OnLivelinessChanged(LivelinessChangedStatus status)
        {
            var handlers = _liveliness;
            if (handlers != null)
                handlers(this, status);
        }

        internal override void OnDeadlineMissed(DeadlineMissedStatus status)
        {
            var handlers = _deadline;
            if (handlers != null)
                handlers(this, status);
        }

        internal override void OnSampleLost(CountStatus status)
        {
            var handlers = _lost;
            if (handlers != null)
                handlers(this, status);
        }

        internal override void OnSampleRejected(SampleRejectedStatus status)
        {
            var handlers = _rejected;
            if (handlers != null)
                handlers(this, status);
        }
    }
}
