//! What a local endpoint needs to know of a remote one, from what was announced.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};

use tickwire_base::Locator;

use super::{DiscoveryConfig, EndpointData, ParticipantData};
use crate::qos::Durability;
use crate::reader::WriterProxy;
use crate::wire::VendorId;
use crate::writer::ReaderProxy;

/// A reader as a local writer must see it.
pub(super) fn reader_proxy(
    reader: &EndpointData,
    owner: &ParticipantData,
    config: &DiscoveryConfig,
) -> ReaderProxy {
    let multicast = or_default(&reader.multicast_locators, &owner.default_multicast);
    ReaderProxy {
        guid: reader.guid,
        reliable: reader.qos.is_reliable(),
        wants_history: reader.qos.durability >= Durability::TransientLocal,
        expects_inline_qos: reader.expects_inline_qos,
        // Only the owner of the writer knows the type that the expression is about.
        filter: None,
        unicast: unicast(reader, owner, config),
        multicast: groups(multicast),
    }
}

/// A writer as a local reader must see it.
pub(super) fn writer_proxy(
    writer: &EndpointData,
    reader: &EndpointData,
    owner: &ParticipantData,
    config: &DiscoveryConfig,
) -> WriterProxy {
    let keeps_history = writer.qos.durability >= Durability::TransientLocal;
    // Ours says by a GAP where the reader begins, which loses nothing that is sent meanwhile.
    let says_where_to_begin = owner.vendor == VendorId::TICKWIRE;
    WriterProxy {
        guid: writer.guid,
        reliable: writer.qos.is_reliable(),
        skip_history: keeps_history
            && reader.qos.durability == Durability::Volatile
            && !says_where_to_begin,
        unicast: unicast(writer, owner, config),
    }
}

fn unicast(
    endpoint: &EndpointData,
    owner: &ParticipantData,
    config: &DiscoveryConfig,
) -> Vec<Locator> {
    let announced = or_default(&endpoint.unicast_locators, &owner.default_unicast);
    reachable(announced, &config.networks)
}

/// Where to reach the discovery of a participant: alone if it can be, else where it listens to a
/// group.
pub(super) fn metatraffic(participant: &ParticipantData, config: &DiscoveryConfig) -> Vec<Locator> {
    match reachable(&participant.metatraffic_unicast, &config.networks) {
        unicast if unicast.is_empty() => groups(&participant.metatraffic_multicast),
        unicast => unicast,
    }
}

fn groups(announced: &[Locator]) -> Vec<Locator> {
    let groups = announced.iter().filter(|locator| locator.is_multicast());
    groups.copied().collect()
}

/// What an endpoint announces replaces what its participant does (RTPS 2.5 §8.5.4.2).
fn or_default<'a>(own: &'a [Locator], default: &'a [Locator]) -> &'a [Locator] {
    match own {
        [] => default,
        own => own,
    }
}

/// Of the announced addresses those that we can use: UDP, and on one of our networks if any is.
/// Other transports and vendors' own kinds are left out, and more than [`MAX_ADDRESSES`], lest who
/// announces many has us send to many.
pub(super) fn reachable(announced: &[Locator], networks: &[(Ipv4Addr, u8)]) -> Vec<Locator> {
    let udp = || {
        announced
            .iter()
            .filter(|locator| locator.to_udp().is_some() && !locator.is_multicast())
            .copied()
    };
    let near: Vec<_> = udp()
        .filter(|locator| networks.iter().any(|network| is_on(locator, network)))
        .collect();
    let mut chosen = match near.is_empty() {
        true => udp().collect(),
        false => near,
    };
    chosen.truncate(MAX_ADDRESSES);
    chosen
}

fn is_on(locator: &Locator, &(network, prefix_len): &(Ipv4Addr, u8)) -> bool {
    let Some(IpAddr::V4(address)) = locator.to_udp().map(|address| address.ip()) else {
        return false;
    };
    let host_len = 32_u32.saturating_sub(u32::from(prefix_len));
    let mask = u32::MAX.checked_shl(host_len).unwrap_or(0);
    (address.to_bits() ^ network.to_bits()) & mask == 0
}

const MAX_ADDRESSES: usize = 8;
