//! Values of settings as QoS policies. Knows neither files nor where a value comes from.

use std::time::Duration;

use tickwire::qos::{
    DestinationOrder, Durability, EndpointQos, History, LivelinessKind, Ownership,
    PresentationScope, ReliabilityKind, RepresentationId, ResourceLimits, TypeConsistencyKind,
};
use tickwire::store::{StoreOptions, StoreVariable, SyncPolicy};
use tickwire::{
    DomainParticipantBuilder, Driving, ParticipantLimits, ReceiveTimestamps, TcpListen, Transport,
};

use crate::catalogue;
use crate::resolve::Effective;
use crate::value::{Peer, Value};

/// Obeys settings of a writer or a reader, or of its publisher, subscriber or topic.
pub(crate) fn apply_all(qos: &mut EndpointQos, effective: &Effective<'_>) {
    // From the last key to the first: `history.kind` says whether there is a `history.depth`.
    for (_, said) in effective.values().rev() {
        apply(qos, said.setting.key, &said.value);
    }
}

fn apply(qos: &mut EndpointQos, key: &str, value: &Value) {
    match value {
        Value::Choice(number) => choose(qos, key, *number),
        Value::Duration(duration) => {
            let to = match key {
                "deadline" => &mut qos.deadline,
                "latency_budget" => &mut qos.latency_budget,
                "lifespan" => &mut qos.lifespan,
                "time_based_filter" => &mut qos.time_based_filter,
                "liveliness.lease_duration" => &mut qos.liveliness.lease_duration,
                "reliability.max_blocking_time" => &mut qos.reliability.max_blocking_time,
                "durability_service.service_cleanup_delay" => {
                    &mut qos.durability_service.cleanup_delay
                }
                _ => return,
            };
            *to = *duration;
        }
        Value::Integer(number) => integer(qos, key, *number),
        Value::Limit(limit) => {
            if let Some(to) = limit_of(qos, key) {
                *to = *limit;
            }
        }
        Value::Bool(yes) => {
            let types = &mut qos.type_consistency;
            let to = match key {
                "presentation.coherent_access" => &mut qos.presentation.coherent_access,
                "presentation.ordered_access" => &mut qos.presentation.ordered_access,
                "type_consistency.ignore_sequence_bounds" => &mut types.ignore_sequence_bounds,
                "type_consistency.ignore_string_bounds" => &mut types.ignore_string_bounds,
                "type_consistency.ignore_member_names" => &mut types.ignore_member_names,
                "type_consistency.prevent_type_widening" => &mut types.prevent_type_widening,
                "type_consistency.force_type_validation" => &mut types.force_type_validation,
                _ => return,
            };
            *to = *yes;
        }
        Value::Octets(octets) => {
            let to = match key {
                "user_data" => &mut qos.user_data,
                "topic_data" => &mut qos.topic_data,
                "group_data" => &mut qos.group_data,
                _ => return,
            };
            to.clone_from(octets);
        }
        Value::Names(names) if key == "partition" => qos.partition.clone_from(names),
        Value::Choices(numbers) if key == "representation" => {
            let ids = numbers
                .iter()
                .filter_map(|number| i16::try_from(*number).ok());
            qos.data_representation = ids.map(RepresentationId).collect();
        }
        _ => {}
    }
}

/// The policies whose values are words.
fn choose(qos: &mut EndpointQos, key: &str, number: u32) {
    fn set<T>(to: &mut T, value: Option<T>) {
        if let Some(value) = value {
            *to = value;
        }
    }
    match key {
        "durability" => set(&mut qos.durability, Durability::from_wire(number)),
        "ownership" => set(&mut qos.ownership, Ownership::from_wire(number)),
        "destination_order" => set(
            &mut qos.destination_order,
            DestinationOrder::from_wire(number),
        ),
        "reliability.kind" => set(
            &mut qos.reliability.kind,
            ReliabilityKind::from_wire(number),
        ),
        "liveliness.kind" => set(&mut qos.liveliness.kind, LivelinessKind::from_wire(number)),
        "presentation.access_scope" => set(
            &mut qos.presentation.access_scope,
            PresentationScope::from_wire(number),
        ),
        "type_consistency.kind" => set(
            &mut qos.type_consistency.kind,
            TypeConsistencyKind::from_wire(number),
        ),
        "history.kind" => keep(&mut qos.history, number),
        "durability_service.history_kind" => keep(&mut qos.durability_service.history, number),
        _ => {}
    }
}

fn keep(history: &mut History, number: u32) {
    *history = match (number, *history) {
        (KEEP_ALL, _) => History::KeepAll,
        (_, History::KeepAll) => History::default(),
        (_, keep_last) => keep_last,
    };
}

fn integer(qos: &mut EndpointQos, key: &str, number: i64) {
    let small = i32::try_from(number).unwrap_or_default();
    let depth = |history: &mut History| {
        if let (History::KeepLast(depth), Ok(number)) = (history, u32::try_from(number)) {
            *depth = number;
        }
    };
    match key {
        "history.depth" => depth(&mut qos.history),
        "durability_service.history_depth" => depth(&mut qos.durability_service.history),
        "ownership_strength" => qos.ownership_strength = small,
        "transport_priority" => qos.transport_priority = small,
        _ => {}
    }
}

fn limit_of<'q>(qos: &'q mut EndpointQos, key: &str) -> Option<&'q mut Option<u32>> {
    let (policy, part) = key.split_once('.')?;
    let limits: &mut ResourceLimits = match policy {
        "resource_limits" => &mut qos.resource_limits,
        "durability_service" => &mut qos.durability_service.resource_limits,
        _ => return None,
    };
    Some(match part {
        "max_samples" => &mut limits.max_samples,
        "max_instances" => &mut limits.max_instances,
        "max_samples_per_instance" => &mut limits.max_samples_per_instance,
        _ => return None,
    })
}

/// Obeys a setting of a participant.
pub(crate) fn build(
    builder: DomainParticipantBuilder,
    key: &str,
    value: &Value,
) -> DomainParticipantBuilder {
    match (key, value) {
        ("domain_tag", Value::Text(tag)) => builder.domain_tag(tag),
        ("name", Value::Text(name)) => builder.name(name),
        ("interface", Value::Text(interface)) => builder.interface(interface),
        ("peers", Value::Peers(peers)) => peers.iter().fold(builder, |builder, peer| match peer {
            Peer::Machine(address) => builder.peer(*address),
            Peer::Port(address) => builder.peer_at(*address),
            Peer::Named(name) => builder.peer_named(name),
        }),
        ("rendezvous", Value::Names(references)) => references
            .iter()
            .fold(builder, |builder, reference| builder.rendezvous(reference)),
        ("transports", Value::Choices(numbers)) if numbers.is_empty() => builder,
        ("transports", Value::Choices(numbers)) => builder.transports(transports(numbers)),
        ("tcp_listen", Value::Bool(false)) => builder.tcp_listen(TcpListen::Off),
        ("tcp_port", Value::Integer(port)) => match u16::try_from(*port) {
            Ok(port) if port != 0 => builder.tcp_listen(TcpListen::Port(port)),
            _ => builder,
        },
        ("multicast", Value::Bool(multicast)) => builder.multicast(*multicast),
        ("multicast_ttl", Value::Integer(ttl)) => {
            builder.multicast_ttl(u8::try_from(*ttl).unwrap_or_default())
        }
        ("receive_buffer", Value::Size(bytes)) => builder.receive_buffer_bytes(*bytes),
        ("lease_duration", Value::Duration(duration)) => builder.lease_duration(*duration),
        ("announce_period", Value::Duration(Duration::ZERO)) => builder,
        ("announce_period", Value::Duration(period)) => builder.announce_period(*period),
        ("max_fragment_bytes", Value::Size(bytes)) => builder.max_fragment_bytes(*bytes),
        ("driving", Value::Choice(POLLED)) => builder.driving(Driving::Polled),
        ("driving", Value::Choice(_)) => builder.driving(Driving::Threaded),
        ("busy_poll", Value::Duration(duration)) => builder.busy_poll(*duration),
        ("socket_busy_poll", Value::Duration(Duration::ZERO)) => builder,
        ("socket_busy_poll", Value::Duration(duration)) => builder.socket_busy_poll(*duration),
        ("receive_timestamps", Value::Choice(number)) => {
            builder.receive_timestamps(match *number {
                SOFTWARE => ReceiveTimestamps::Software,
                HARDWARE => ReceiveTimestamps::Hardware,
                _ => ReceiveTimestamps::Off,
            })
        }
        ("latency_histograms", Value::Bool(count)) => builder.latency_histograms(*count),
        ("thread_cores", Value::Cores(cores)) => builder.thread_cores((**cores).clone()),
        ("trusts_lenders", Value::Bool(trusts)) => builder.trusts_lenders(*trusts),
        ("announce_types", Value::Bool(announce)) => builder.announce_types(*announce),
        ("announce_process", Value::Bool(announce)) => builder.announce_process(*announce),
        ("store", Value::Text(store)) => match StoreVariable::parse(Some(store.into())) {
            StoreVariable::Unset => builder,
            StoreVariable::Off => builder.store(None),
            StoreVariable::Directory(path) => builder.store(StoreOptions::below(&path)),
        },
        ("store_transient" | "store_persistent", Value::Text(path)) if path.is_empty() => builder,
        ("store_transient", Value::Text(path)) => {
            builder.store_options(|store| store.transient = Some(path.into()))
        }
        ("store_persistent", Value::Text(path)) => {
            builder.store_options(|store| store.persistent = Some(path.into()))
        }
        ("store_sync", Value::Duration(delay)) => builder.store_options(|store| {
            store.sync = match *delay {
                Duration::ZERO => SyncPolicy::EachWrite,
                Duration::MAX => SyncPolicy::Never,
                delay => SyncPolicy::Interval(delay),
            };
        }),
        ("user_data", Value::Octets(octets)) => builder.user_data(octets.as_slice()),
        (AUTOENABLE, Value::Bool(autoenable)) => builder.autoenable_created_entities(*autoenable),
        (key, Value::Integer(_) | Value::Size(_)) => match key.strip_prefix("limits.") {
            Some(key) => builder.limits(|limits| limit(limits, key, value)),
            None => builder,
        },
        _ => builder,
    }
}

/// The transports of their words' numbers.
pub(crate) fn transports(numbers: &[u32]) -> impl Iterator<Item = Transport> {
    let all = Transport::ALL.into_iter();
    all.filter(|transport| numbers.contains(&catalogue::transport(*transport)))
}

/// Obeys a bound on what others may have a participant keep and send.
fn limit(limits: &mut ParticipantLimits, key: &str, value: &Value) {
    let number = match value {
        Value::Integer(number) => usize::try_from(*number).unwrap_or_default(),
        Value::Size(bytes) => *bytes,
        _ => return,
    };
    let (discovery, reader) = (&mut limits.discovery, &mut limits.reader);
    let limit = match key {
        "max_participants" => &mut discovery.max_participants,
        "max_endpoints_per_participant" => &mut discovery.max_endpoints_per_participant,
        "max_endpoints" => &mut discovery.max_endpoints,
        "max_announcement_bytes" => &mut discovery.max_announcement_bytes,
        "max_bytes_per_participant" => &mut discovery.max_bytes_per_participant,
        "max_bytes" => &mut discovery.max_bytes,
        "max_types_per_participant" => &mut discovery.max_types_per_participant,
        "max_types" => &mut discovery.max_types,
        "max_type_bytes_per_participant" => &mut discovery.max_type_bytes_per_participant,
        "max_type_bytes" => &mut discovery.max_type_bytes,
        "max_amplification" => &mut discovery.max_amplification,
        "max_held" => &mut reader.max_held,
        "max_held_bytes" => &mut reader.max_held_bytes,
        "max_partial" => &mut reader.max_partial,
        "max_partial_bytes" => &mut reader.max_partial_bytes,
        "max_set" => &mut reader.max_set,
        "max_set_bytes" => &mut reader.max_set_bytes,
        "max_jump" => {
            reader.max_jump = number as u64;
            return;
        }
        "max_filters" => &mut limits.filters.max_filters,
        "max_filter_comparisons" => &mut limits.filters.max_comparisons,
        _ => return,
    };
    *limit = number;
}

/// ENTITY_FACTORY, of participants, publishers and subscribers.
pub(crate) const AUTOENABLE: &str = "entity_factory.autoenable_created_entities";
/// The number of its word.
const KEEP_ALL: u32 = 1;
/// The number of its word.
const POLLED: u32 = 1;
// The numbers of the words for timestamps.
const SOFTWARE: u32 = 1;
const HARDWARE: u32 = 2;
