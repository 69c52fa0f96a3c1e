//! Announcements survive the round trip; announcements from outside never panic.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use proptest::prelude::*;
use tickwire_base::{Duration, Locator, LocatorKind};

use super::*;
use crate::qos::{
    DestinationOrder, Durability, DurabilityService, EndpointQos, History, LivelinessKind,
    Ownership, Presentation, PresentationScope, ReliabilityKind, RepresentationId, ResourceLimits,
    TypeConsistency, TypeConsistencyKind,
};
use crate::wire::{EntityId, Guid, GuidPrefix, ParameterId, VendorId};

const PREFIX: GuidPrefix = GuidPrefix([3; 12]);

fn participant() -> ParticipantData {
    let mut data = ParticipantData::new(PREFIX);
    data.domain_id = Some(17);
    data.domain_tag = "test bench".to_string();
    data.builtin_endpoints =
        BuiltinEndpoints::PARTICIPANT_ANNOUNCER.and(BuiltinEndpoints::MESSAGE_READER);
    let unicast = |port| Locator::udp_v4(Ipv4Addr::LOCALHOST, port);
    data.metatraffic_unicast = vec![unicast(7410), unicast(7412)];
    data.metatraffic_multicast = vec![Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7400)];
    data.default_unicast = vec![unicast(7411)];
    data.lease_duration = Duration::from_millis(12_345);
    data.entity_name = "probe".to_string();
    data.properties = vec![("host".to_string(), "a".to_string())];
    data.user_data = vec![1, 2, 3, 4, 5];
    data.shared_memory = Some(SharedMemoryAddress {
        version: 1,
        machine: [4; 16],
        meeting: [5; 16],
    });
    data
}

/// A writer and a reader in which no policy has its default.
fn endpoint(role: Role) -> EndpointData {
    let entity = match role {
        Role::Writer => EntityId::user_writer(1, true),
        Role::Reader => EntityId::user_reader(2, true),
    };
    let guid = Guid::new(PREFIX, entity);
    let mut data = EndpointData::new(role, guid, "Quote".to_string(), "Md::Quote".to_string());
    data.unicast_locators = vec![Locator {
        kind: LocatorKind(16),
        port: 1 << 20,
        address: [9; 16],
    }];
    data.multicast_locators = vec![Locator::udp_v4(Ipv4Addr::new(239, 1, 2, 3), 7401)];
    data.type_information = vec![1, 2, 3, 4, 5, 6, 7, 8];
    data.entity_name = "nice".to_string();
    data.expects_inline_qos = role == Role::Reader;
    let qos = &mut data.qos;
    qos.durability = Durability::TransientLocal;
    qos.presentation = Presentation {
        access_scope: PresentationScope::Topic,
        coherent_access: true,
        ordered_access: true,
    };
    qos.deadline = Duration::new(3, 999_999_999);
    qos.latency_budget = Duration::from_nanos(1);
    qos.ownership = Ownership::Exclusive;
    qos.liveliness.kind = LivelinessKind::ManualByTopic;
    qos.liveliness.lease_duration = Duration::from_millis(700);
    qos.reliability.max_blocking_time = Duration::MAX;
    qos.destination_order = DestinationOrder::BySourceTimestamp;
    qos.partition = vec!["a".to_string(), "feed-*".to_string(), String::new()];
    qos.history = History::KeepAll;
    qos.resource_limits.max_samples = Some(9);
    qos.data_representation = vec![RepresentationId::XCDR2, RepresentationId(77)];
    qos.user_data = vec![1];
    qos.topic_data = vec![2, 2];
    qos.group_data = vec![3, 3, 3];
    data.group = Some(Guid::new(PREFIX, EntityId::user_publisher(3)));
    role_policies(&mut data);
    data
}

/// Changes the policies that only one role has.
fn role_policies(data: &mut EndpointData) {
    let qos = &mut data.qos;
    match data.role {
        Role::Writer => {
            qos.reliability.kind = ReliabilityKind::BestEffort;
            qos.ownership_strength = -5;
            qos.transport_priority = 7;
            qos.lifespan = Duration::from_secs(60);
            qos.durability_service = DurabilityService {
                cleanup_delay: Duration::from_secs(1),
                history: History::KeepLast(4),
                resource_limits: ResourceLimits {
                    max_samples: None,
                    max_instances: Some(1),
                    max_samples_per_instance: Some(2),
                },
            };
        }
        Role::Reader => {
            qos.reliability.kind = ReliabilityKind::Reliable;
            qos.time_based_filter = Duration::from_millis(3);
            qos.type_consistency = TypeConsistency {
                kind: TypeConsistencyKind::DisallowTypeCoercion,
                ignore_sequence_bounds: false,
                ..TypeConsistency::default()
            };
        }
    }
}

#[test]
fn a_participant_survives_the_round_trip() {
    for data in [participant(), ParticipantData::new(PREFIX)] {
        let mut payload = Vec::new();
        data.write(&mut payload).expect("short names");
        assert_eq!(payload.len() % 4, 0);
        assert_eq!(ParticipantData::read(&payload), Ok(data));
    }
}

#[test]
fn shared_memory_is_believed_of_our_own_alone_and_when_it_is_whole() {
    let of = |data: &ParticipantData| {
        let mut payload = Vec::new();
        data.write(&mut payload).expect("short enough");
        let read = ParticipantData::read(&payload).expect("well-formed");
        read.shared_memory
    };
    let ours = participant();
    assert_eq!(of(&ours), ours.shared_memory);
    let others = ParticipantData {
        vendor: VendorId([1, 1]),
        ..ours
    };
    assert_eq!(of(&others), None);
    let who = [&[0x50, 0, 16, 0][..], &[3; 12], &[0, 0, 1, 0xc1]].concat();
    let vendor = [0x16, 0, 4, 0, 0x01, 0x54, 0, 0];
    let cut = [&[0x54, 0x80, 32, 0][..], &[1; 32]].concat();
    let read = ParticipantData::read(&list([0, 3], &[&who, &vendor, &cut, &[1, 0, 0, 0]]));
    assert_eq!(read.expect("the rest is sound").shared_memory, None);
}

#[test]
fn a_group_that_is_said_to_be_unknown_is_none() {
    let written = |group| {
        let mut payload = Vec::new();
        let mut data = endpoint(Role::Writer);
        data.group = Some(group);
        data.write(&mut payload).expect("short names");
        payload
    };
    let of_group = written(Guid::new(GuidPrefix::UNKNOWN, EntityId::user_publisher(3)));
    let unknown = written(Guid::UNKNOWN);
    let group = |payload: &[u8]| {
        let data = EndpointData::read(Role::Writer, payload, None);
        data.expect("complete").group
    };
    assert_eq!(
        group(&of_group),
        Some(Guid::new(PREFIX, EntityId::user_publisher(3)))
    );
    assert_eq!(group(&unknown), None);
}

#[test]
fn an_endpoint_survives_the_round_trip() {
    for role in [Role::Writer, Role::Reader] {
        let data = endpoint(role);
        let mut payload = Vec::new();
        data.write(&mut payload).expect("short names");
        assert_eq!(EndpointData::read(role, &payload, None), Ok(data));
    }
}

#[test]
fn who_is_exclusive_says_a_strength() {
    for (role, ownership, says) in [
        (Role::Writer, Ownership::Exclusive, true),
        (Role::Reader, Ownership::Exclusive, true),
        (Role::Writer, Ownership::Shared, false),
        (Role::Reader, Ownership::Shared, false),
    ] {
        let mut data = endpoint(role);
        data.qos.ownership = ownership;
        data.qos.ownership_strength = 0;
        let mut payload = Vec::new();
        data.write(&mut payload).expect("short names");
        let mut parameters = payload.windows(8);
        let strength = [0x06, 0, 4, 0, 0, 0, 0, 0];
        assert_eq!(parameters.any(|bytes| bytes == strength), says, "{role:?}");
    }
}

/// A list of parameters given as they stand on the wire.
fn list(encapsulation: [u8; 2], parameters: &[&[u8]]) -> Vec<u8> {
    [&encapsulation[..], &[0, 0], &parameters.concat()].concat()
}

#[test]
fn absent_policies_have_the_defaults_of_their_role() {
    let payload = list(
        [0, 2],
        &[
            &[0x00, 0x05, 0, 8, 0, 0, 0, 2, b'T', 0, 0, 0],
            &[0x00, 0x07, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0],
            &[0x00, 0x07, 0, 8, 0, 0, 0, 2, b'X', 0, 0, 0],
            &[0, 1, 0, 0],
        ],
    );
    let key = Guid::new(PREFIX, EntityId::user_writer(1, true)).to_bytes();
    let writer = EndpointData::read(Role::Writer, &payload, Some(key)).expect("complete");
    assert_eq!(writer.qos, EndpointQos::writer());
    assert_eq!(writer.guid.prefix, PREFIX);
    assert_eq!(writer.type_name, "X");
    let reader = EndpointData::read(Role::Reader, &payload, Some(key)).expect("complete");
    assert!(writer.qos.is_reliable() && !reader.qos.is_reliable());
    assert_eq!(
        EndpointData::read(Role::Writer, &payload, None),
        Err(DiscoveryDataError::Missing(ParameterId::ENDPOINT_GUID))
    );
}

#[test]
fn big_endian_announcements_are_read() {
    let guid = Guid::new(PREFIX, EntityId::PARTICIPANT).to_bytes();
    let payload = list(
        [0, 2],
        &[
            &[0x00, 0x50, 0, 16],
            &guid,
            &[0x00, 0x0f, 0, 4, 0, 0, 0, 9],
            &[0x00, 0x02, 0, 8, 0, 0, 0, 5, 0x80, 0, 0, 0],
            &[0x00, 0x16, 0, 4, 1, 0x10, 0, 0],
            &[0x80, 0x19, 0, 4, 1, 2, 3, 4],
            &[0, 1, 0, 0],
        ],
    );
    let data = ParticipantData::read(&payload).expect("well formed");
    assert_eq!(data.guid_prefix, PREFIX);
    assert_eq!(data.domain_id, Some(9));
    assert_eq!(data.lease_duration, Duration::from_millis(5500));
    assert_eq!(data.vendor, VendorId([1, 0x10]));
}

#[test]
fn what_must_be_understood_is_refused() {
    let payload = list([0, 3], &[&[0x99, 0x40, 0, 0], &[1, 0, 0, 0]]);
    assert_eq!(
        ParticipantData::read(&payload),
        Err(DiscoveryDataError::NotUnderstood(ParameterId(0x4099)))
    );
    let cdr = list([0, 1], &[&[1, 0, 0, 0]]);
    assert_eq!(
        ParticipantData::read(&cdr),
        Err(DiscoveryDataError::Encapsulation([0, 1]))
    );
}

#[test]
fn a_key_names_who_goes() {
    let mut payload = Vec::new();
    ParticipantData::write_key(&mut payload, PREFIX);
    assert_eq!(ParticipantData::read_key(&payload), Ok(PREFIX));
    let guid = endpoint(Role::Reader).guid;
    payload.clear();
    EndpointData::write_end(&mut payload, guid, None);
    assert_eq!(EndpointData::read_key(&payload), Ok(guid));
    assert_eq!(EndpointData::read_last_change(&payload), None);
}

#[test]
fn the_end_of_a_writer_has_the_number_of_its_last_change() {
    let guid = endpoint(Role::Writer).guid;
    for (said, read) in [(0, Some(0)), (7, Some(7)), (-1, None), (i64::MAX, None)] {
        let mut payload = Vec::new();
        EndpointData::write_end(&mut payload, guid, Some(SequenceNumber(said)));
        assert_eq!(EndpointData::read_key(&payload), Ok(guid));
        let read = read.map(SequenceNumber);
        assert_eq!(EndpointData::read_last_change(&payload), read);
        payload.truncate(payload.len() - 6);
        assert_eq!(EndpointData::read_last_change(&payload), None);
    }
}

#[test]
fn old_numbers_and_infinities_are_understood() {
    let mut payload = Vec::new();
    endpoint(Role::Writer).write(&mut payload).expect("short");
    let at = payload
        .windows(4)
        .position(|window| window == [0x1a, 0, 12, 0])
        .expect("RELIABILITY is always there");
    payload[at + 4] = 3;
    payload[at + 8..at + 16].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f]);
    let read = EndpointData::read(Role::Writer, &payload, None).expect("well formed");
    assert!(read.qos.is_reliable());
    assert_eq!(read.qos.reliability.max_blocking_time, Duration::MAX);
}

fn read_all(payload: &[u8]) {
    let _ = ParticipantData::read(payload);
    let _ = ParticipantData::read_key(payload);
    for role in [Role::Writer, Role::Reader] {
        let _ = EndpointData::read(role, payload, None);
    }
    let _ = EndpointData::read_key(payload);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        mut payload in prop::collection::vec(any::<u8>(), 4..200),
        little_endian in any::<bool>(),
    ) {
        read_all(&payload);
        payload[..2].copy_from_slice(&[0, 2 + u8::from(little_endian)]);
        read_all(&payload);
    }

    #[test]
    fn mutated_announcements_never_panic(
        role in prop_oneof![Just(Role::Writer), Just(Role::Reader)],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        participant().write(&mut one).expect("short names");
        endpoint(role).write(&mut other).expect("short names");
        for payload in [&mut one, &mut other] {
            for (index, value) in &changes {
                let index = index.index(payload.len());
                payload[index] = *value;
            }
            read_all(payload);
            read_all(&payload[..cut.index(payload.len())]);
        }
    }
}
