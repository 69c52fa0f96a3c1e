//! What a reader's QoS means for its machine and its cache.

use tickwire_rtps::qos::{
    DestinationOrder, Durability, EndpointQos, History, Ownership, PresentationScope,
};
use tickwire_rtps::reader::ReaderConfig;
use tickwire_rtps::wire::Guid;

use super::cache::{CachePolicy, Order};
use super::lifecycle::Lifecycle;

/// How the machine is to receive.
pub(super) fn reader_config(guid: Guid, policies: &EndpointQos) -> ReaderConfig {
    let presentation = &policies.presentation;
    ReaderConfig {
        reliable: policies.is_reliable(),
        coherent: presentation.coherent_access,
        originals: policies.durability >= Durability::TransientLocal,
        places: presentation.access_scope == PresentationScope::Group,
        ..ReaderConfig::new(guid)
    }
}

/// Whether samples never make room for each other, and a listener that takes what it is told of leaves room for all that
/// are delivered together.
pub(super) fn keeps_all(policies: &EndpointQos) -> bool {
    let limits = policies.resource_limits;
    let limits = [limits.max_samples, limits.max_samples_per_instance];
    // What a reliable one has no room for it gets again.
    let together = match policies.is_reliable() {
        true => TOGETHER,
        false => MAX_TOGETHER,
    };
    let has_room = limits.into_iter().flatten().all(|limit| limit >= together);
    policies.history == History::KeepAll && has_room
}

/// More samples than a datagram has, or what is taken from a log at once: 128 KiB of DATA submessages of 24 bytes.
const TOGETHER: u32 = 8192;

/// More than a message by TCP has, of 1 MiB.
const MAX_TOGETHER: u32 = 1 << 16;

/// What decides on what the cache keeps.
pub(super) fn cache_policy(policies: &EndpointQos, lifecycle: Lifecycle) -> CachePolicy {
    let limit = |limit: Option<u32>| {
        limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        })
    };
    let limits = policies.resource_limits;
    CachePolicy {
        depth: match policies.history {
            History::KeepLast(depth) => Some(limit(Some(depth)).max(1)),
            History::KeepAll => None,
        },
        max_samples: limit(limits.max_samples),
        max_instances: limit(limits.max_instances),
        max_samples_per_instance: limit(limits.max_samples_per_instance),
        by_source_timestamp: policies.destination_order == DestinationOrder::BySourceTimestamp,
        exclusive: policies.ownership == Ownership::Exclusive,
        order: order(policies),
        minimum_separation: policies.time_based_filter,
        keeps_filtered: policies.is_reliable(),
        lifecycle,
    }
}

fn order(policies: &EndpointQos) -> Order {
    let presentation = &policies.presentation;
    match presentation.access_scope {
        _ if !presentation.ordered_access => Order::Arrival,
        PresentationScope::Instance => Order::Instance,
        _ if policies.destination_order == DestinationOrder::BySourceTimestamp => Order::Source,
        // Each writer's samples come in the order of writing.
        PresentationScope::Topic | PresentationScope::Group => Order::Arrival,
    }
}
