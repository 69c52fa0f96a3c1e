//! What an application wants to be told about all writers of a publisher, all readers of a
//! subscriber, or all of a participant.

use std::sync::{Arc, Weak};

use crate::core::Core;
use crate::listeners::News;
use crate::reader::AnyDataReader;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus, StatusMask,
};
use crate::writer::AnyDataWriter;

/// Told of what happens to writers that have no listener of their own for it, as a
/// [`DataWriterListener`](crate::DataWriterListener) is.
pub trait PublisherListener: Send + 'static {
    /// A reader matched or left.
    fn on_publication_matched(&mut self, writer: &AnyDataWriter, status: MatchedStatus) {
        let _ = (writer, status);
    }

    /// A period of DEADLINE passed without a write of an instance.
    fn on_offered_deadline_missed(&mut self, writer: &AnyDataWriter, status: DeadlineMissedStatus) {
        let _ = (writer, status);
    }

    /// The writer was not shown to live within its lease.
    fn on_liveliness_lost(&mut self, writer: &AnyDataWriter, status: CountStatus) {
        let _ = (writer, status);
    }

    /// A reader asks for more than the writer offers; the status says of what.
    fn on_offered_incompatible_qos(
        &mut self,
        writer: &AnyDataWriter,
        status: IncompatibleQosStatus,
    ) {
        let _ = (writer, status);
    }
}

/// Told of what happens to readers that have no listener of their own for it, as a
/// [`DataReaderListener`](crate::DataReaderListener) is.
pub trait SubscriberListener: Send + 'static {
    /// A reader has samples. Only told if set for [`StatusMask::DATA_ON_READERS`], and then in
    /// place of the reader's own listener.
    fn on_data_on_readers(&mut self, reader: &AnyDataReader) {
        let _ = reader;
    }

    /// Samples have come.
    fn on_data_available(&mut self, reader: &AnyDataReader) {
        let _ = reader;
    }

    /// A writer matched or left.
    fn on_subscription_matched(&mut self, reader: &AnyDataReader, status: MatchedStatus) {
        let _ = (reader, status);
    }

    /// A writer offers less than the reader asks for; the status says of what.
    fn on_requested_incompatible_qos(
        &mut self,
        reader: &AnyDataReader,
        status: IncompatibleQosStatus,
    ) {
        let _ = (reader, status);
    }

    /// A writer fell silent or is back.
    fn on_liveliness_changed(&mut self, reader: &AnyDataReader, status: LivelinessChangedStatus) {
        let _ = (reader, status);
    }

    /// A period of DEADLINE passed without a sample of an instance.
    fn on_requested_deadline_missed(
        &mut self,
        reader: &AnyDataReader,
        status: DeadlineMissedStatus,
    ) {
        let _ = (reader, status);
    }

    /// Samples were lost on the way.
    fn on_sample_lost(&mut self, reader: &AnyDataReader, status: CountStatus) {
        let _ = (reader, status);
    }

    /// Samples found no room.
    fn on_sample_rejected(&mut self, reader: &AnyDataReader, status: SampleRejectedStatus) {
        let _ = (reader, status);
    }
}

/// Told of what happens in a participant and concerns nobody else.
pub trait DomainParticipantListener: PublisherListener + SubscriberListener {
    /// Another endpoint has given a topic of this participant another type.
    fn on_inconsistent_topic(&mut self, topic_name: &str, status: CountStatus) {
        let _ = (topic_name, status);
    }
}

/// Tells a publisher's listener.
pub(crate) fn listeners_of_writers(
    core: Weak<Core>,
    mut listener: impl PublisherListener,
) -> impl FnMut(News) + Send + 'static {
    move |news| {
        if let (Some(core), News::Endpoint(guid, mask)) = (core.upgrade(), news) {
            let routes = core.directory.snapshot();
            if let Some(writer) = routes.writers.get(&guid.entity) {
                tell_of_writer(&mut listener, &AnyDataWriter(Arc::clone(writer)), mask);
            }
        }
    }
}

/// Tells a subscriber's listener.
pub(crate) fn listeners_of_readers(
    core: Weak<Core>,
    mut listener: impl SubscriberListener,
) -> impl FnMut(News) + Send + 'static {
    move |news| {
        if let (Some(core), News::Endpoint(guid, mask)) = (core.upgrade(), news) {
            let routes = core.directory.snapshot();
            if let Some(reader) = routes.readers.get(&guid.entity) {
                tell_of_reader(&mut listener, &AnyDataReader(Arc::clone(reader)), mask);
            }
        }
    }
}

/// Tells a participant's listener.
pub(crate) fn listeners_of_all(
    core: Weak<Core>,
    mut listener: impl DomainParticipantListener,
) -> impl FnMut(News) + Send + 'static {
    move |news| {
        let Some(core) = core.upgrade() else {
            return;
        };
        let (guid, mask) = match news {
            News::Endpoint(guid, mask) => (guid, mask),
            News::InconsistentTopic(topic) => {
                let status = core.topics.inconsistent_status(&topic);
                return listener.on_inconsistent_topic(&topic, status);
            }
        };
        let routes = core.directory.snapshot();
        if let Some(writer) = routes.writers.get(&guid.entity) {
            tell_of_writer(&mut listener, &AnyDataWriter(Arc::clone(writer)), mask);
        } else if let Some(reader) = routes.readers.get(&guid.entity) {
            tell_of_reader(&mut listener, &AnyDataReader(Arc::clone(reader)), mask);
        }
    }
}

fn tell_of_writer(listener: &mut impl PublisherListener, writer: &AnyDataWriter, news: StatusMask) {
    let has = |mask| news.intersects(mask);
    if has(StatusMask::PUBLICATION_MATCHED) {
        listener.on_publication_matched(writer, writer.publication_matched_status());
    }
    if has(StatusMask::OFFERED_DEADLINE_MISSED) {
        listener.on_offered_deadline_missed(writer, writer.offered_deadline_missed_status());
    }
    if has(StatusMask::LIVELINESS_LOST) {
        listener.on_liveliness_lost(writer, writer.liveliness_lost_status());
    }
    if has(StatusMask::OFFERED_INCOMPATIBLE_QOS) {
        listener.on_offered_incompatible_qos(writer, writer.offered_incompatible_qos_status());
    }
}

fn tell_of_reader(
    listener: &mut impl SubscriberListener,
    reader: &AnyDataReader,
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
    if has(StatusMask::DATA_ON_READERS) {
        listener.on_data_on_readers(reader);
    }
    if has(StatusMask::DATA_AVAILABLE) {
        listener.on_data_available(reader);
    }
}
