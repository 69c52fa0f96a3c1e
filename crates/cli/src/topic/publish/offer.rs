//! What the writer of `tickwire topic pub` offers: what the profile says, else what all readers of the
//! topic ask for.

use std::sync::Arc;

use tickwire::cdr::{Extensibility, Representation, TypeDescription};
use tickwire::qos::{DestinationOrder, Durability, Ownership, RepresentationId};
use tickwire::{
    DataWriter, DataWriterQos, DomainParticipant, DynamicType, EndpointData, PublisherQos,
    Serialized,
};

use super::Arguments;
use crate::failure::{Failure, Result};
use crate::topic::ahead::Ahead;
use crate::topic::subscription::partitions;

impl Arguments {
    /// A writer that is made before anybody is there to read.
    pub(super) fn writer_ahead(
        &self,
        participant: &DomainParticipant,
        ty: &TypeDescription,
    ) -> Result<AheadWriter> {
        let qos = self.qos(ty, &[]);
        let endpoint = self.make(participant, ty, &qos, &[])?;
        Ok(Ahead {
            guid: endpoint.guid(),
            endpoint,
            ty: ty.clone(),
            qos,
        })
    }

    /// The writer that was made ahead, if it does for the readers, or one in its place that is made to match them.
    pub(super) fn writer(
        &self,
        participant: &DomainParticipant,
        ty: &TypeDescription,
        readers: &[Arc<EndpointData>],
        ahead: Option<AheadWriter>,
    ) -> Result<DataWriter<Serialized>> {
        let qos = self.qos(ty, readers);
        match ahead.filter(|ahead| ahead.serves(&participant.discovery(), ty, &qos)) {
            Some(ahead) => Ok(ahead.endpoint),
            None => self.make(participant, ty, &qos, readers),
        }
    }

    /// Offers what the profile says, else what all readers ask for.
    fn qos(&self, ty: &TypeDescription, readers: &[Arc<EndpointData>]) -> DataWriterQos {
        let requested = || readers.iter().map(|data| &data.qos);
        // What was published stays when the command ends.
        let mut qos = DataWriterQos::default()
            .reliable(self.timeout)
            .keep_all()
            .autodispose_unregistered_instances(false);
        let durability = requested().map(|qos| qos.durability).max();
        qos = qos.with(|qos| qos.durability = durability.unwrap_or(Durability::Volatile));
        if let Some(deadline) = requested().map(|qos| qos.deadline).min() {
            qos = qos.deadline(deadline);
        }
        if requested().any(|qos| qos.destination_order == DestinationOrder::BySourceTimestamp) {
            qos = qos.by_source_timestamp();
        }
        if !readers.is_empty() && requested().all(|qos| qos.ownership == Ownership::Exclusive) {
            qos = qos.exclusive(0);
        }
        qos = self.network.profile.adjust_writer(qos, &self.name);
        // An empty list leaves it open.
        if qos.policies().data_representation.is_empty() {
            qos = qos.representation([id(representation(ty, readers))]);
        }
        qos
    }

    fn make(
        &self,
        participant: &DomainParticipant,
        ty: &TypeDescription,
        qos: &DataWriterQos,
        readers: &[Arc<EndpointData>],
    ) -> Result<DataWriter<Serialized>> {
        let publisher = PublisherQos::default().partition(partitions(readers));
        let publisher = (self.network.profile).adjust_publisher(publisher, &self.name);
        // Whatever the profile says, the writer takes part at once.
        let publisher = publisher.autoenable_created_entities(true);
        let publisher = participant.publisher(publisher);
        let ty = DynamicType::described(ty.clone());
        let topic = participant.topic_of::<Serialized>(&self.name, ty);
        let topic = topic.map_err(Failure::new)?;
        publisher.writer(&topic, qos.clone()).map_err(Failure::new)
    }
}

/// A writer that was made before anybody was there to read.
pub(super) type AheadWriter = Ahead<DataWriter<Serialized>, DataWriterQos>;

/// How samples are to be encoded: the first representation that the writer offers.
pub(super) fn offered(writer: &DataWriter<Serialized>) -> Representation {
    let qos = writer.qos();
    match qos.policies().data_representation.first() {
        Some(&RepresentationId::XCDR2) => Representation::Xcdr2,
        _ => Representation::Xcdr1,
    }
}

/// What all readers understand; else what is usual for the type.
fn representation(ty: &TypeDescription, readers: &[Arc<EndpointData>]) -> Representation {
    let (one, two) = (Representation::Xcdr1, Representation::Xcdr2);
    let by_preference = match ty.extensibility {
        Extensibility::Final => [one, two],
        Extensibility::Appendable | Extensibility::Mutable => [two, one],
    };
    let is_understood = |representation: &Representation| {
        let id = id(*representation);
        readers
            .iter()
            .all(|reader| match &*reader.qos.data_representation {
                [] => id == RepresentationId::XCDR1,
                list => list.contains(&id),
            })
    };
    let [usual, _] = by_preference;
    let understood = by_preference.into_iter().find(is_understood);
    understood.unwrap_or(usual)
}

fn id(representation: Representation) -> RepresentationId {
    match representation {
        Representation::Xcdr1 => RepresentationId::XCDR1,
        Representation::Xcdr2 => RepresentationId::XCDR2,
    }
}
