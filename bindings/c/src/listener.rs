//! Listeners: functions of the caller in the place of the traits that the DDS calls.

use dds::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus,
};
use dds::{
    AnyDataReader, AnyDataWriter, DataReader, DataReaderListener, DataWriter, DataWriterListener,
    DomainParticipantListener, PublisherListener, StatusMask, SubscriberListener, TopicListener,
    TopicSupport,
};

use crate::border::{Callbacks, Listener};
use crate::guid;
use crate::handle::Handle;

/// The statuses for which there is a function.
pub(crate) fn handled(callbacks: &Callbacks) -> StatusMask {
    let all = [
        (
            callbacks.on_data_available.is_some(),
            StatusMask::DATA_AVAILABLE,
        ),
        (
            callbacks.on_data_on_readers.is_some(),
            StatusMask::DATA_ON_READERS,
        ),
        (
            callbacks.on_subscription_matched.is_some(),
            StatusMask::SUBSCRIPTION_MATCHED,
        ),
        (
            callbacks.on_requested_incompatible_qos.is_some(),
            StatusMask::REQUESTED_INCOMPATIBLE_QOS,
        ),
        (
            callbacks.on_liveliness_changed.is_some(),
            StatusMask::LIVELINESS_CHANGED,
        ),
        (
            callbacks.on_requested_deadline_missed.is_some(),
            StatusMask::REQUESTED_DEADLINE_MISSED,
        ),
        (callbacks.on_sample_lost.is_some(), StatusMask::SAMPLE_LOST),
        (
            callbacks.on_sample_rejected.is_some(),
            StatusMask::SAMPLE_REJECTED,
        ),
        (
            callbacks.on_publication_matched.is_some(),
            StatusMask::PUBLICATION_MATCHED,
        ),
        (
            callbacks.on_offered_incompatible_qos.is_some(),
            StatusMask::OFFERED_INCOMPATIBLE_QOS,
        ),
        (
            callbacks.on_offered_deadline_missed.is_some(),
            StatusMask::OFFERED_DEADLINE_MISSED,
        ),
        (
            callbacks.on_liveliness_lost.is_some(),
            StatusMask::LIVELINESS_LOST,
        ),
        (
            callbacks.on_inconsistent_topic.is_some(),
            StatusMask::INCONSISTENT_TOPIC,
        ),
    ];
    let handled = all.into_iter().filter(|(is_handled, _)| *is_handled);
    handled.fold(StatusMask::NONE, |handled, (_, status)| handled | status)
}

/// The listener of one writer or reader.
pub(crate) struct Own {
    pub(crate) listener: Listener,
    pub(crate) entity: Handle,
}

macro_rules! tell {
    ($self:ident, $callback:ident, $status:expr) => {
        $self.listener.tell(
            $self.listener.callbacks.$callback,
            $self.entity,
            &$status.into(),
        )
    };
}

impl<T: TopicSupport> DataReaderListener<T> for Own {
    fn on_data_available(&mut self, _: &DataReader<T>) {
        let callback = self.listener.callbacks.on_data_available;
        self.listener.tell_of_data(callback, self.entity);
    }

    fn on_subscription_matched(&mut self, _: &DataReader<T>, status: MatchedStatus) {
        tell!(self, on_subscription_matched, status);
    }

    fn on_requested_incompatible_qos(&mut self, _: &DataReader<T>, status: IncompatibleQosStatus) {
        tell!(self, on_requested_incompatible_qos, status);
    }

    fn on_liveliness_changed(&mut self, _: &DataReader<T>, status: LivelinessChangedStatus) {
        tell!(self, on_liveliness_changed, status);
    }

    fn on_requested_deadline_missed(&mut self, _: &DataReader<T>, status: DeadlineMissedStatus) {
        tell!(self, on_requested_deadline_missed, status);
    }

    fn on_sample_lost(&mut self, _: &DataReader<T>, status: CountStatus) {
        tell!(self, on_sample_lost, status);
    }

    fn on_sample_rejected(&mut self, _: &DataReader<T>, status: SampleRejectedStatus) {
        tell!(self, on_sample_rejected, status);
    }
}

impl<T: TopicSupport> DataWriterListener<T> for Own {
    fn on_publication_matched(&mut self, _: &DataWriter<T>, status: MatchedStatus) {
        tell!(self, on_publication_matched, status);
    }

    fn on_offered_deadline_missed(&mut self, _: &DataWriter<T>, status: DeadlineMissedStatus) {
        tell!(self, on_offered_deadline_missed, status);
    }

    fn on_liveliness_lost(&mut self, _: &DataWriter<T>, status: CountStatus) {
        tell!(self, on_liveliness_lost, status);
    }

    fn on_offered_incompatible_qos(&mut self, _: &DataWriter<T>, status: IncompatibleQosStatus) {
        tell!(self, on_offered_incompatible_qos, status);
    }
}

/// The listener of a publisher, a subscriber or a participant, which is told whose a status is by GUID; what the
/// caller has not made, or has deleted, is passed over.
pub(crate) struct OfGroup {
    pub(crate) listener: Listener,
    /// Who is told of topics.
    pub(crate) participant: Handle,
}

macro_rules! tell_of {
    ($self:ident, $callback:ident, $endpoint:ident, $status:expr) => {
        if let Some(entity) = guid::endpoint($endpoint.guid()) {
            $self
                .listener
                .tell($self.listener.callbacks.$callback, entity, &$status.into());
        }
    };
}

impl PublisherListener for OfGroup {
    fn on_publication_matched(&mut self, writer: &AnyDataWriter, status: MatchedStatus) {
        tell_of!(self, on_publication_matched, writer, status);
    }

    fn on_offered_deadline_missed(&mut self, writer: &AnyDataWriter, status: DeadlineMissedStatus) {
        tell_of!(self, on_offered_deadline_missed, writer, status);
    }

    fn on_liveliness_lost(&mut self, writer: &AnyDataWriter, status: CountStatus) {
        tell_of!(self, on_liveliness_lost, writer, status);
    }

    fn on_offered_incompatible_qos(
        &mut self,
        writer: &AnyDataWriter,
        status: IncompatibleQosStatus,
    ) {
        tell_of!(self, on_offered_incompatible_qos, writer, status);
    }
}

impl SubscriberListener for OfGroup {
    fn on_data_on_readers(&mut self, reader: &AnyDataReader) {
        if let Some(reader) = guid::endpoint(reader.guid()) {
            let callback = self.listener.callbacks.on_data_on_readers;
            self.listener.tell_of_data(callback, reader);
        }
    }

    fn on_data_available(&mut self, reader: &AnyDataReader) {
        if let Some(reader) = guid::endpoint(reader.guid()) {
            let callback = self.listener.callbacks.on_data_available;
            self.listener.tell_of_data(callback, reader);
        }
    }

    fn on_subscription_matched(&mut self, reader: &AnyDataReader, status: MatchedStatus) {
        tell_of!(self, on_subscription_matched, reader, status);
    }

    fn on_requested_incompatible_qos(
        &mut self,
        reader: &AnyDataReader,
        status: IncompatibleQosStatus,
    ) {
        tell_of!(self, on_requested_incompatible_qos, reader, status);
    }

    fn on_liveliness_changed(&mut self, reader: &AnyDataReader, status: LivelinessChangedStatus) {
        tell_of!(self, on_liveliness_changed, reader, status);
    }

    fn on_requested_deadline_missed(
        &mut self,
        reader: &AnyDataReader,
        status: DeadlineMissedStatus,
    ) {
        tell_of!(self, on_requested_deadline_missed, reader, status);
    }

    fn on_sample_lost(&mut self, reader: &AnyDataReader, status: CountStatus) {
        tell_of!(self, on_sample_lost, reader, status);
    }

    fn on_sample_rejected(&mut self, reader: &AnyDataReader, status: SampleRejectedStatus) {
        tell_of!(self, on_sample_rejected, reader, status);
    }
}

impl DomainParticipantListener for OfGroup {
    fn on_inconsistent_topic(&mut self, topic_name: &str, status: CountStatus) {
        if let Some(topic) = crate::topic::of_name(self.participant, topic_name) {
            let callback = self.listener.callbacks.on_inconsistent_topic;
            self.listener.tell(callback, topic, &status.into());
        }
    }
}

/// Takes the place of a listener whose entity is deleted, so that the context of that is freed. Unlike taking it
/// away, this does not wait until it has returned.
pub(crate) struct Nobody;

impl<T: TopicSupport> DataWriterListener<T> for Nobody {}
impl<T: TopicSupport> TopicListener<T> for Nobody {
    fn on_inconsistent_topic(&mut self, _: &dds::Topic<T>, _: CountStatus) {}
}
impl PublisherListener for Nobody {}
impl SubscriberListener for Nobody {}
impl DomainParticipantListener for Nobody {}
