//! What an application wants to be told about a writer.

use super::DataWriter;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, MatchedStatus, StatusMask,
};
use crate::type_support::TopicSupport;

/// Told of what happens to a writer, on a thread that delivers data: in threaded driving one of the
/// participant's, else the one that polls. Never called by two threads at once.
/// A closure is told of matches.
///
/// A panic ends only the call that it happens in, and is counted in
/// [`listener_panics`](crate::ParticipantCounters::listener_panics).
pub trait DataWriterListener<T: TopicSupport>: Send + 'static {
    /// A reader matched or left.
    fn on_publication_matched(&mut self, writer: &DataWriter<T>, status: MatchedStatus) {
        let _ = (writer, status);
    }

    /// A period of DEADLINE passed without a write of an instance.
    fn on_offered_deadline_missed(&mut self, writer: &DataWriter<T>, status: DeadlineMissedStatus) {
        let _ = (writer, status);
    }

    /// The writer was not shown to live within its lease.
    fn on_liveliness_lost(&mut self, writer: &DataWriter<T>, status: CountStatus) {
        let _ = (writer, status);
    }

    /// A reader asks for more than the writer offers; the status says of what.
    fn on_offered_incompatible_qos(
        &mut self,
        writer: &DataWriter<T>,
        status: IncompatibleQosStatus,
    ) {
        let _ = (writer, status);
    }
}

impl<T, F> DataWriterListener<T> for F
where
    T: TopicSupport,
    F: FnMut(&DataWriter<T>, MatchedStatus) + Send + 'static,
{
    fn on_publication_matched(&mut self, writer: &DataWriter<T>, status: MatchedStatus) {
        self(writer, status);
    }
}

/// Calls the listener for each changed status.
pub(super) fn dispatch<T: TopicSupport>(
    listener: &mut impl DataWriterListener<T>,
    writer: &DataWriter<T>,
    news: StatusMask,
) {
    if news.intersects(StatusMask::PUBLICATION_MATCHED) {
        let status = writer.publication_matched_status();
        listener.on_publication_matched(writer, status);
    }
    if news.intersects(StatusMask::OFFERED_DEADLINE_MISSED) {
        let status = writer.offered_deadline_missed_status();
        listener.on_offered_deadline_missed(writer, status);
    }
    if news.intersects(StatusMask::LIVELINESS_LOST) {
        listener.on_liveliness_lost(writer, writer.liveliness_lost_status());
    }
    if news.intersects(StatusMask::OFFERED_INCOMPATIBLE_QOS) {
        let status = writer.offered_incompatible_qos_status();
        listener.on_offered_incompatible_qos(writer, status);
    }
}
