//! Publishers: what several writers have in common.

use std::sync::Arc;

use crate::DataWriter;
use crate::endpoints;
use crate::error::EndpointError;
use crate::lifeline::Lifeline;
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
}
