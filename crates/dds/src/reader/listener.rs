//! What an application wants to be told about a reader.

use super::DataReader;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus, StatusMask,
};
use crate::type_support::TopicSupport;

/// Told of what happens to a reader, on a thread that delivers data: in threaded driving one of the
/// participant's, else the one that polls. Never called by two threads at once.
/// A closure is told of data.
///
/// A panic ends only the call that it happens in, and is counted in
/// [`listener_panics`](crate::ParticipantCounters::listener_panics).
///
/// A listener may call anything, and may wait in a write; nothing more is delivered meanwhile, but
/// acknowledgements are taken. So a write that waits for room waits in vain if a reader of the same
/// participant is the one to acknowledge: what a listener writes to its own participant in one call must
/// find room at once, or be written by another thread.
pub trait DataReaderListener<T: TopicSupport>: Send + 'static {
    /// Samples have come. Called for each sample, but only once for those of one datagram where
    /// KEEP_ALL keeps them from pushing each other out, without limits or with such of 8192 samples and more (best effort: 65,536). Not
    /// while the reader [hands them out](DataReader::take_each).
    fn on_data_available(&mut self, reader: &DataReader<T>) {
        let _ = reader;
    }

    /// A writer matched or left.
    fn on_subscription_matched(&mut self, reader: &DataReader<T>, status: MatchedStatus) {
        let _ = (reader, status);
    }

    /// A writer offers less than the reader asks for; the status says of what.
    fn on_requested_incompatible_qos(
        &mut self,
        reader: &DataReader<T>,
        status: IncompatibleQosStatus,
    ) {
        let _ = (reader, status);
    }

    /// A writer fell silent or is back.
    fn on_liveliness_changed(&mut self, reader: &DataReader<T>, status: LivelinessChangedStatus) {
        let _ = (reader, status);
    }

    /// A period of DEADLINE passed without a sample of an instance.
    fn on_requested_deadline_missed(
        &mut self,
        reader: &DataReader<T>,
        status: DeadlineMissedStatus,
    ) {
        let _ = (reader, status);
    }

    /// Samples were lost on the way.
    fn on_sample_lost(&mut self, reader: &DataReader<T>, status: CountStatus) {
        let _ = (reader, status);
    }

    /// Samples found no room.
    fn on_sample_rejected(&mut self, reader: &DataReader<T>, status: SampleRejectedStatus) {
        let _ = (reader, status);
    }
}

impl<T, F> DataReaderListener<T> for F
where
    T: TopicSupport,
    F: FnMut(&DataReader<T>) + Send + 'static,
{
    fn on_data_available(&mut self, reader: &DataReader<T>) {
        self(reader);
    }
}

/// Calls the listener for each changed status, data last.
pub(super) fn dispatch<T: TopicSupport>(
    listener: &mut impl DataReaderListener<T>,
    reader: &DataReader<T>,
    news: StatusMask,
) {
    let has = |mask| news.intersects(mask);
    if has(StatusMask::SUBSCRIPTION_MATCHED) {
        listener.on_subscription_matched(reader, reader.subscription_matched_status());
    }
    if has(StatusMask::REQUESTED_INCOMPATIBLE_QOS) {
        let status = reader.requested_incompatible_qos_status();
        listener.on_requested_incompatible_qos(reader, status);
    }
    if has(StatusMask::LIVELINESS_CHANGED) {
        listener.on_liveliness_changed(reader, reader.liveliness_changed_status());
    }
    if has(StatusMask::REQUESTED_DEADLINE_MISSED) {
        let status = reader.requested_deadline_missed_status();
        listener.on_requested_deadline_missed(reader, status);
    }
    if has(StatusMask::SAMPLE_LOST) {
        listener.on_sample_lost(reader, reader.sample_lost_status());
    }
    if has(StatusMask::SAMPLE_REJECTED) {
        listener.on_sample_rejected(reader, reader.sample_rejected_status());
    }
    if has(StatusMask::DATA_AVAILABLE) {
        listener.on_data_available(reader);
    }
}
