//! Publishers: what several writers have in common.

use std::sync::Arc;

use crate::DataWriter;
use crate::endpoints;
use crate::error::EndpointError;
use crate::lifeline::Lifeline;
use crate::outgoing::SuspendedPublications;
use crate::qos::{DataWriterQos, GroupQos};
use crate::topic::Topic;
use crate::type_support::TopicSupport;

/// The QoS of a [`Publisher`].
pub type PublisherQos = GroupQos;

/// Makes writers that share PARTITION, PRESENTATION and GROUP_DATA. Clones are the same publisher.
#[derive(Clone)]
pub struct Publisher {
    lifeline: Arc<Lifeline>,
    qos: PublisherQos,
}

impl Publisher {
    pub(crate) fn new(lifeline: Arc<Lifeline>, qos: PublisherQos) -> Self {
        Self { lifeline, qos }
    }

    /// A writer.
    ///
    /// # Errors
    /// When two policies contradict each other, one is not implemented, or the QoS is too long to
    /// announce.
    pub fn writer<T: TopicSupport>(
        &self,
        topic: &Topic<T>,
        qos: DataWriterQos,
    ) -> Result<DataWriter<T>, EndpointError> {
        let qos = qos.with(|policies| self.qos.apply(policies));
        endpoints::writer(&self.lifeline, topic, &qos)
    }

    /// Says that many samples are about to be written, and holds back what the calling thread writes
    /// until the result is dropped (DDS 1.4 §2.2.2.4.1.10): samples that go the same way then share
    /// datagrams, and one system call sends up to 32 of these.
    ///
    /// ```
    /// # let participant = tickwire::DomainParticipant::new(0)?;
    /// # let publisher = participant.publisher(tickwire::PublisherQos::default());
    /// let suspended = publisher.suspend_publications();
    /// // ... many writes, to one or several topics ...
    /// suspended.resume_publications();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The first sample waits for the last, so this pays for samples that are at hand together, not
    /// for those that have yet to come. What is held back leaves earlier when it reaches 64 KiB, when
    /// the thread waits in this library for anything (also for room in a writer), and when a writer
    /// ends. A reader that has samples of other threads from the same writer waits for these.
    ///
    /// It covers all writers of the participant, and may be nested: publications resume with the
    /// last. While those of one participant are suspended, the thread's writes in another one leave
    /// at once.
    pub fn suspend_publications(&self) -> SuspendedPublications {
        SuspendedPublications::new(&self.lifeline)
    }
}
