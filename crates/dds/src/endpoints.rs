//! Making writers and readers.

use std::sync::Arc;

use tickwire_rtps::discovery::{EndpointData, Role};
use tickwire_rtps::qos::EndpointQos;
use tickwire_rtps::wire::{EntityId, Guid};

use crate::content_filter::TopicDescription;
use crate::core::{Announcement, Core};
use crate::error::{EndpointError, SetQosError, UnimplementedQos};
use crate::lifeline::Lifeline;
use crate::publisher::PublisherGroup;
use crate::qos::{DataReaderQos, DataWriterQos, GroupQos, offered_representation};
use crate::reader::endpoint::{ReaderEndpoint, ReaderShared};
use crate::subscriber::SubscriberGroup;
use crate::topic::Topic;
use crate::type_support::TopicSupport;
use crate::writer::durable::Durable;
use crate::writer::endpoint::WriterEndpoint;
use crate::{DataReader, DataWriter};

pub(crate) fn writer<T: TopicSupport>(
    lifeline: &Arc<Lifeline>,
    topic: &Topic<T>,
    qos: &DataWriterQos,
    group: Option<&Arc<PublisherGroup>>,
) -> Result<DataWriter<T>, EndpointError> {
    let core = &lifeline.core;
    let policies = qos.resolved(T::extensibility(topic.ty()));
    check(Role::Writer, &policies)?;
    let wanted = policies.offered_representation();
    let representation =
        offered_representation(&policies).ok_or(EndpointError::Representation { wanted })?;
    let entity = EntityId::user_writer(core.next_entity_key()?, T::has_key(topic.ty()));
    let guid = Guid::new(core.prefix, entity);
    let description = T::description(topic.ty());
    let mut endpoint = WriterEndpoint::new(
        Arc::clone(core),
        guid,
        topic.name().to_owned(),
        qos,
        &policies,
        representation,
        description,
    );
    if let Some(group) = group {
        endpoint = endpoint.in_group(group);
    }
    let mut announced = announcement(Role::Writer, guid, topic, policies);
    let durable = Durable::open(core, &announced).map_err(EndpointError::Store)?;
    if let Some(durable) = durable {
        endpoint = endpoint.with_log(durable).map_err(EndpointError::Store)?;
    }
    let endpoint = Arc::new(endpoint);
    if let Some(group) = group {
        group.add(&endpoint);
    }
    announced.data.group = group.and_then(|group| group.announced());
    // Acknowledgements come to the thread that no listener can hold up.
    announced.data.unicast_locators = vec![core.network.metatraffic_unicast()];
    core.add_writer(&endpoint, announced)?;
    endpoint.start();
    Ok(DataWriter::new(
        endpoint,
        topic.clone(),
        qos.clone(),
        Arc::clone(lifeline),
    ))
}

pub(crate) fn reader<T: TopicSupport>(
    lifeline: &Arc<Lifeline>,
    wanted: &impl TopicDescription<T>,
    qos: &DataReaderQos,
    group: Option<&Arc<SubscriberGroup>>,
) -> Result<DataReader<T>, EndpointError> {
    let topic = wanted.topic();
    let (filter, content_filter) = wanted.filter().unzip();
    let core = &lifeline.core;
    let policies = qos.resolved();
    check(Role::Reader, &policies)?;
    let entity = EntityId::user_reader(core.next_entity_key()?, T::has_key(topic.ty()));
    let guid = Guid::new(core.prefix, entity);
    let ty = topic.ty().clone();
    let name = topic.name().to_owned();
    let mut shared = ReaderShared::new(Arc::clone(core), guid, name, ty, filter, &policies);
    if let Some(group) = group {
        shared = shared.in_group(group);
    }
    let shared = Arc::new(shared);
    if let Some(group) = group {
        group.add(Arc::clone(&shared) as Arc<dyn ReaderEndpoint>);
    }
    let mut announced = announcement(Role::Reader, guid, topic, policies);
    announced.data.content_filter = content_filter;
    core.add_reader(Arc::clone(&shared) as Arc<dyn ReaderEndpoint>, announced)?;
    Ok(DataReader::new(
        shared,
        topic.clone(),
        qos.clone(),
        Arc::clone(lifeline),
    ))
}

/// Takes over those policies of an endpoint that may change, has it announced anew, and has them
/// `apply`.
///
/// `wanted` keeps what the endpoint has of its publisher or subscriber.
pub(crate) fn change(
    core: &Core,
    role: Role,
    guid: Guid,
    mut wanted: EndpointQos,
    apply: impl FnOnce(&EndpointQos),
) -> Result<(), SetQosError> {
    let change = |current: &mut EndpointQos| {
        wanted.presentation = current.presentation;
        wanted.partition.clone_from(&current.partition);
        wanted.group_data.clone_from(&current.group_data);
        wanted
            .check_consistency()
            .map_err(SetQosError::InconsistentQos)?;
        if let Some(unimplemented) = UnimplementedQos::find(role, &wanted) {
            return Err(SetQosError::UnimplementedQos(unimplemented));
        }
        if let Some(policy) = current.immutable_difference(&wanted) {
            return Err(SetQosError::Immutable(policy));
        }
        *current = wanted;
        Ok(())
    };
    core.change_policies(guid, change, apply)
}

/// Gives endpoints another partition and other data of their publisher or subscriber.
pub(crate) fn change_group(
    core: &Core,
    endpoints: &[Guid],
    qos: &GroupQos,
) -> Result<(), SetQosError> {
    core.change_all(endpoints, |policies| qos.apply(policies))
        .map_err(SetQosError::Announcement)
}

fn check(role: Role, policies: &EndpointQos) -> Result<(), EndpointError> {
    policies
        .check_consistency()
        .map_err(EndpointError::InconsistentQos)?;
    match UnimplementedQos::find(role, policies) {
        Some(unimplemented) => Err(EndpointError::UnimplementedQos(unimplemented)),
        None => Ok(()),
    }
}

fn announcement<T: TopicSupport>(
    role: Role,
    guid: Guid,
    topic: &Topic<T>,
    policies: EndpointQos,
) -> Announcement<'_> {
    let (name, ty) = (topic.name().to_owned(), topic.type_name().to_owned());
    Announcement {
        data: EndpointData {
            qos: policies,
            extensibility: Some(T::extensibility(topic.ty())),
            ..EndpointData::new(role, guid, name, ty)
        },
        ty: T::description(topic.ty()),
    }
}
