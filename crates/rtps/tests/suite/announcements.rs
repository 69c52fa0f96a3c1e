//! Announcements as another implementation sends them are understood.

use std::time::Duration;

use tickwire_cdr::ByteOrder;
use tickwire_cdr::xtypes::{TypeInformation, TypeObjects};
use tickwire_rtps::discovery::{BuiltinEndpoints, EndpointData, ParticipantData, Role};
use tickwire_rtps::qos::{Durability, History, RepresentationId};
use tickwire_rtps::wire::{
    Context, Data, EntityId, MessageReader, SerializedPayload, Submessage, VendorId,
};

const CYCLONE: VendorId = VendorId([0x01, 0x10]);

/// The first DATA of a datagram, which is well formed to its end, and its payload.
fn first_data(datagram: &[u8]) -> (Context<'_>, Data<'_>, &[u8]) {
    let submessages: Result<Vec<_>, _> = MessageReader::new(datagram).expect("RTPS").collect();
    let data = submessages
        .expect("well formed")
        .into_iter()
        .find_map(|(context, submessage)| match submessage {
            Submessage::Data(data) => Some((context, data)),
            _ => None,
        });
    let (context, data) = data.expect("each datagram has one");
    match data.payload {
        SerializedPayload::Data(payload) => (context, data, payload),
        other => panic!("not a value: {other:?}"),
    }
}

fn endpoint(datagram: &[u8], role: Role) -> EndpointData {
    let (context, data, payload) = first_data(datagram);
    let endpoint = EndpointData::read(role, payload, data.inline_qos.key_hash());
    let endpoint = endpoint.expect("complete");
    assert_eq!(endpoint.guid.prefix, context.source_prefix);
    assert!(context.source_timestamp.is_some());
    assert_eq!(endpoint.type_name, "Quote");
    assert_eq!(endpoint.qos.durability, Durability::TransientLocal);
    assert_eq!(endpoint.qos.history, History::KeepAll);
    assert!(endpoint.qos.is_reliable() && endpoint.guid.entity.is_keyed());
    let information = TypeInformation::parse(&endpoint.type_information, ByteOrder::Little);
    let information = information.expect("well formed");
    assert!(information.minimal.is_some() && information.complete.is_some());
    endpoint
}

#[test]
fn a_participant_is_understood() {
    let datagram = include_bytes!("../golden/cyclone-participant.rtps");
    let (context, data, payload) = first_data(datagram);
    assert_eq!(context.vendor, CYCLONE);
    assert_eq!(data.writer, EntityId::SPDP_WRITER);
    let participant = ParticipantData::read(payload).expect("complete");
    assert_eq!(participant.guid_prefix, context.source_prefix);
    assert_eq!(participant.vendor, CYCLONE);
    assert_eq!(participant.domain_id, Some(0));
    assert_eq!(participant.lease_duration, Duration::from_secs(10));
    let address = participant.metatraffic_unicast[0].to_udp().expect("UDP");
    assert!(address.ip().is_loopback());
    let services = BuiltinEndpoints::MESSAGE_READER.and(BuiltinEndpoints::TYPE_LOOKUP_REPLY_WRITER);
    assert!(participant.builtin_endpoints.contains(services));
    let pid = ("__Pid".to_string(), "6780".to_string());
    assert!(participant.properties.contains(&pid));
}

#[test]
fn a_writer_and_a_reader_are_understood() {
    let writer = endpoint(
        include_bytes!("../golden/cyclone-writer.rtps"),
        Role::Writer,
    );
    assert_eq!(writer.topic_name, "FromCyclone");
    let mut reader = endpoint(
        include_bytes!("../golden/cyclone-reader.rtps"),
        Role::Reader,
    );
    assert_eq!(reader.topic_name, "ToCyclone");
    let accepted = &reader.qos.data_representation;
    assert!(accepted.contains(&RepresentationId::XCDR1));
    reader.topic_name = writer.topic_name.clone();
    let verdict = writer.verdict(&reader, &TypeObjects::new());
    let verdict = verdict.expect("one topic");
    assert!(verdict.is_match(), "{verdict}");
}
