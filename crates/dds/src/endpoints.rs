//! Making writers and readers.

use std::sync::Arc;

use tickwire_rtps::discovery::{EndpointData, Role};
use tickwire_rtps::qos::EndpointQos;
use tickwire_rtps::wire::{EntityId, Guid};

use crate::content_filter::{FilterShared, TopicDescription};
use crate::core::Core;
use crate::enabling::Enabling;
use crate::error::{EnableError, EndpointError, SetQosError, UnimplementedQos};
use crate::lifeline::Lifeline;
use crate::publisher::PublisherGroup;
use crate::qos::{DataReaderQos, DataWriterQos, GroupQos, offered_representation};
use crate::reader::endpoint::ReaderEndpoint;
use crate::reader::shared::ReaderShared;
use crate::subscriber::{Subscriber, SubscriberGroup, SubscriberShared};
use crate::topic::Topic;
use crate::type_support::TopicSupport;
use crate::writer::durable::Durable;
use crate::writer::endpoint::WriterEndpoint;
use crate::{DataReader, DataWriter};

/// What makes an endpoint: the participant, or a publisher or subscriber of it.
pub(crate) enum Factory<'a, G> {
    Participant,
    Group(&'a Arc<G>, &'a Arc<Enabling>),
}

impl<'a, G> Factory<'a, G> {
    fn parts(&self, core: &'a Core) -> (Option<&'a Arc<G>>, &'a Arc<Enabling>) {
        match *self {
            Self::Participant => (None, &core.enabling),
            Self::Group(group, enabling) => (Some(group), enabling),
        }
    }
}

pub(crate) fn writer<T: TopicSupport>(
    lifeline: &Arc<Lifeline>,
    topic: &Topic<T>,
    qos: &DataWriterQos,
    factory: Factory<'_, PublisherGroup>,
) -> Result<DataWriter<T>, EndpointError> {
    let core = &lifeline.core;
    let (group, factory) = factory.parts(core);
    let policies = qos.resolved(T::extensibility(topic.ty()));
    check(Role::Writer, &policies)?;
    let wanted = policies.offered_representation();
    let representation =
        offered_representation(&policies).ok_or(EndpointError::Representation { wanted })?;
    let entity = EntityId::user_writer(core.next_entity_key()?, T::has_key(topic.ty()));
    let guid = Guid::new(core.prefix, entity);
    let description = T::description(topic.ty());
    let mut announced = announcement(Role::Writer, guid, topic, policies);
    let log = Durable::open(core, &announced, description).map_err(EndpointError::Store)?;
    let endpoint = WriterEndpoint::new(
        Arc::clone(core),
        &announced,
        qos,
        representation,
        description,
        log,
    );
    let mut endpoint = endpoint.map_err(EndpointError::Store)?;
    if let Some(group) = group {
        endpoint = endpoint.in_group(group);
    }
    let endpoint = Arc::new(endpoint);
    if let Some(group) = group {
        group.add(&endpoint);
    }
    announced.group = group.and_then(|group| group.announced());
    core.draft(announced);
    let (own, own_topic) = (Arc::clone(&endpoint), topic.clone());
    let start = move || {
        let added = own.core.add_writer(&own, T::description(own_topic.ty()));
        added.map_err(EnableError::Endpoint)?;
        own.start();
        Ok(())
    };
    let enabling = Enabling::new(Some(factory), true, Box::new(start));
    // From here on it is withdrawn with the writer.
    let writer = DataWriter::new(
        endpoint,
        topic.clone(),
        qos.clone(),
        Arc::clone(&enabling),
        Arc::clone(lifeline),
    );
    begin(&enabling)?;
    Ok(writer)
}

pub(crate) fn reader<T: TopicSupport>(
    lifeline: &Arc<Lifeline>,
    wanted: &impl TopicDescription<T>,
    qos: &DataReaderQos,
    factory: Factory<'_, SubscriberGroup>,
) -> Result<DataReader<T>, EndpointError> {
    let topic = wanted.topic();
    // Held until the reader is known, lest a change of the filter pass it by.
    let mut filtered = wanted.filter().map(FilterShared::lock);
    let (filter, content_filter) = filtered.as_ref().map(|own| own.for_reader()).unzip();
    let core = &lifeline.core;
    let (group, factory) = factory.parts(core);
    let policies = qos.resolved();
    check(Role::Reader, &policies)?;
    let entity = EntityId::user_reader(core.next_entity_key()?, T::has_key(topic.ty()));
    let guid = Guid::new(core.prefix, entity);
    let ty = topic.ty().clone();
    let name = topic.name().to_owned();
    let mut shared = ReaderShared::new(
        Arc::clone(core),
        guid,
        name,
        ty,
        filter,
        &policies,
        qos.lifecycle,
    );
    if let Some(group) = group {
        shared = shared.in_group(group);
    }
    let shared = Arc::new(shared);
    if let Some(group) = group {
        group.add(Arc::clone(&shared) as Arc<dyn ReaderEndpoint>);
    }
    if let Some(filtered) = &mut filtered {
        filtered.add(&shared);
    }
    core.draft(EndpointData {
        content_filter,
        ..announcement(Role::Reader, guid, topic, policies)
    });
    let (own, own_topic) = (Arc::clone(&shared), topic.clone());
    let start = move || {
        let endpoint = Arc::clone(&own) as Arc<dyn ReaderEndpoint>;
        let added = own
            .core
            .add_reader(endpoint, T::description(own_topic.ty()));
        added.map_err(EnableError::Endpoint)
    };
    let enabling = Enabling::new(Some(factory), true, Box::new(start));
    // From here on it is withdrawn with the reader.
    let reader = DataReader::new(
        shared,
        topic.clone(),
        qos.clone(),
        Arc::clone(&enabling),
        Arc::clone(lifeline),
    );
    begin(&enabling)?;
    Ok(reader)
}

/// A reader of the built-in subscriber, which its participant feeds and nobody hears of.
pub(crate) fn fed_reader<T: TopicSupport>(
    lifeline: &Arc<Lifeline>,
    topic: Topic<T>,
    qos: DataReaderQos,
    subscriber: &Subscriber,
) -> DataReader<T> {
    let core = &lifeline.core;
    let SubscriberShared {
        group, enabling, ..
    } = subscriber.shared();
    let qos = qos.with(|policies| subscriber.qos().apply(policies));
    let policies = qos.resolved();
    let guid = Guid::new(core.prefix, core.builtin.next_entity());
    let shared = ReaderShared::new(
        Arc::clone(core),
        guid,
        topic.name().to_owned(),
        topic.ty().clone(),
        None,
        &policies,
        qos.lifecycle,
    );
    let shared = Arc::new(shared.in_group(group));
    group.add(Arc::clone(&shared) as Arc<dyn ReaderEndpoint>);
    // For its QoS; it stays a draft.
    core.draft(announcement(Role::Reader, guid, &topic, policies));
    core.add_fed_reader(Arc::clone(&shared) as Arc<dyn ReaderEndpoint>);
    let enabling = Enabling::new(Some(enabling), true, Box::new(|| Ok(())));
    // There is nothing to do that could fail.
    let _ = enabling.begin();
    DataReader::new(shared, topic, qos, enabling, Arc::clone(lifeline))
}

/// Enables a new endpoint if its factory says so.
fn begin(enabling: &Enabling) -> Result<(), EndpointError> {
    match enabling.begin() {
        Err(EnableError::Endpoint(error)) => Err(error),
        // Its factory is enabled, and no thread is needed.
        Ok(()) | Err(_) => Ok(()),
    }
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
    core.change_all(endpoints, |data| qos.apply(&mut data.qos), || {})
        .map_err(SetQosError::Announcement)
}

pub(crate) fn check(role: Role, policies: &EndpointQos) -> Result<(), EndpointError> {
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
) -> EndpointData {
    let (name, ty) = (topic.name().to_owned(), topic.type_name().to_owned());
    EndpointData {
        qos: policies,
        extensibility: Some(T::extensibility(topic.ty())),
        ..EndpointData::new(role, guid, name, ty)
    }
}
