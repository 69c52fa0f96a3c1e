//! What a local endpoint needs to know of a remote one, from what was announced.

use alloc::vec::Vec;
use core::net::IpAddr;

use tickwire_base::Locator;

use super::attachment::{Attachment, Choice};
use super::{EndpointData, ParticipantData};
use crate::qos::Durability;
use crate::reader::WriterProxy;
use crate::wire::VendorId;
use crate::writer::ReaderProxy;

/// A reader as a local writer must see it.
pub(super) fn reader_proxy(
    reader: &EndpointData,
    (owner, source): (&ParticipantData, Option<IpAddr>),
    attachment: &Attachment,
) -> ReaderProxy {
    let multicast = or_default(&reader.multicast_locators, &owner.default_multicast);
    ReaderProxy {
        guid: reader.guid,
        reliable: reader.qos.is_reliable(),
        wants_history: reader.qos.durability >= Durability::TransientLocal,
        has_matched: false,
        speaks_first: false,
        introduced_at: Vec::new(),
        expects_inline_qos: reader.expects_inline_qos,
        // Only the owner of the writer knows the type that the expression is about.
        filter: None,
        unicast: unicast(reader, owner, attachment, source),
        multicast: groups(multicast, attachment),
        detour: None,
    }
}

/// A writer as a local reader must see it.
pub(super) fn writer_proxy(
    writer: &EndpointData,
    reader: &EndpointData,
    (owner, source): (&ParticipantData, Option<IpAddr>),
    attachment: &Attachment,
) -> WriterProxy {
    let keeps_history = writer.qos.durability >= Durability::TransientLocal;
    // Ours says by a GAP where the reader begins, which loses nothing that is sent meanwhile.
    let says_where_to_begin = owner.vendor == VendorId::TICKWIRE;
    WriterProxy {
        guid: writer.guid,
        reliable: writer.qos.is_reliable(),
        speaks_first: false,
        skip_history: keeps_history
            && reader.qos.durability == Durability::Volatile
            && !says_where_to_begin,
        unicast: unicast(writer, owner, attachment, source),
    }
}

/// Where to reach the discovery of a participant that was heard from `source`: alone if it can be,
/// else where it listens to a group.
pub(super) fn metatraffic(
    participant: &ParticipantData,
    attachment: &Attachment,
    source: Option<IpAddr>,
) -> Choice {
    let mut choice = attachment.choose(&participant.metatraffic_unicast, source);
    if choice.locators.is_empty() {
        choice.locators = groups(&participant.metatraffic_multicast, attachment);
    }
    choice
}

/// Where to reach an endpoint alone, of what it or its participant announces.
fn unicast(
    endpoint: &EndpointData,
    owner: &ParticipantData,
    attachment: &Attachment,
    source: Option<IpAddr>,
) -> Vec<Locator> {
    let announced = or_default(&endpoint.unicast_locators, &owner.default_unicast);
    attachment.choose(announced, source).locators
}

fn groups(announced: &[Locator], attachment: &Attachment) -> Vec<Locator> {
    let is_group = |locator: &&Locator| attachment.has_multicast && locator.is_multicast();
    let groups = announced.iter().filter(is_group);
    groups.copied().collect()
}

/// What an endpoint announces replaces what its participant does (RTPS 2.5 §8.5.4.2).
fn or_default<'a>(own: &'a [Locator], default: &'a [Locator]) -> &'a [Locator] {
    match own {
        [] => default,
        own => own,
    }
}
