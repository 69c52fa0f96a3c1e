//! Subscribers: what several readers have in common.

use std::sync::Arc;

use crate::DataReader;
use crate::content_filter::TopicDescription;
use crate::endpoints;
use crate::error::EndpointError;
use crate::lifeline::Lifeline;
use crate::qos::{DataReaderQos, GroupQos};
use crate::type_support::TopicSupport;

/// The QoS of a [`Subscriber`].
pub type SubscriberQos = GroupQos;

/// Makes readers that share PARTITION, PRESENTATION and GROUP_DATA. Clones are the same subscriber.
#[derive(Clone)]
pub struct Subscriber {
    lifeline: Arc<Lifeline>,
    qos: SubscriberQos,
}

impl Subscriber {
    pub(crate) fn new(lifeline: Arc<Lifeline>, qos: SubscriberQos) -> Self {
        Self { lifeline, qos }
    }

    /// A reader.
    ///
    /// # Errors
    /// When two policies contradict each other, one is not implemented, or the QoS is too long to
    /// announce.
    pub fn reader<T: TopicSupport>(
        &self,
        topic: &impl TopicDescription<T>,
        qos: DataReaderQos,
    ) -> Result<DataReader<T>, EndpointError> {
        let qos = qos.with(|policies| self.qos.apply(policies));
        endpoints::reader(&self.lifeline, topic, &qos)
    }
}
