//! A sample says which sample it answers, whole or in fragments, sent at once or again (DDS-RPC 1.0 §7.8.2).

use crate::common::{World, keep_all, number, payload, reader_config};
use tickwire_base::{Duration, Timestamp};
use tickwire_rtps::wire::{
    EntityId, Guid, GuidPrefix, InlineQos, ParameterId, ParameterListWriter, SequenceNumber,
};
use tickwire_rtps::writer::WriterConfig;
use tickwire_rtps::{Change, SampleIdentity};
use tickwire_simnet::Link;

fn question(of: i64) -> SampleIdentity {
    SampleIdentity {
        writer: Guid::new(GuidPrefix([3; 12]), EntityId::user_writer(9, false)),
        sequence_number: number(of),
    }
}

/// What a reader is told that samples answer, which were written so by a writer that does or does not say it.
fn told(relates: bool, loss: u32) -> Vec<Option<SampleIdentity>> {
    let link = Link {
        loss,
        ..Link::PERFECT
    };
    let mut world = World::new(5, link);
    let writer = world.add_writer(WriterConfig {
        relates,
        max_message_len: 1024,
        ..keep_all()
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, true);
    for (id, len) in [(1, 40), (2, 4000), (3, 40), (4, 900), (5, 20_000)] {
        let change = Change {
            source_timestamp: Some(Timestamp::from_nanos(id)),
            related: (id != 3).then(|| question(100 + id)),
            ..Change::default()
        };
        let written = world.write_payload(writer, change, &payload(id, len));
        written.expect("there is room");
    }
    world.settle(Duration::from_secs(30));
    let samples = world.readers[reader].cache.samples.iter();
    samples.map(|sample| sample.related).collect()
}

#[test]
fn a_reply_names_its_request() {
    let expected = [Some(101), Some(102), None, Some(104), Some(105)];
    let expected = expected.map(|of| of.map(question));
    assert_eq!(told(true, 0), expected);
    assert_eq!(told(true, 300), expected);
    assert_eq!(told(false, 0), [None; 5]);
}

/// Inline QoS with these parameters.
fn list(parameters: &[(ParameterId, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut list = ParameterListWriter::new(&mut bytes);
    for (id, value) in parameters {
        list.parameter(*id, value).expect("it is short");
    }
    list.finish();
    bytes
}

fn read(bytes: &[u8]) -> Option<SampleIdentity> {
    let qos = InlineQos {
        bytes,
        little_endian: true,
    };
    qos.related_sample()
}

#[test]
fn it_is_read_by_either_id_and_impossible_ones_are_none() {
    let identity = question(7);
    let mut bytes = Vec::new();
    let mut both = ParameterListWriter::new(&mut bytes);
    both.related_sample(&identity);
    both.finish();
    assert_eq!(bytes.len(), 2 * 28 + 4);
    assert_eq!(read(&bytes), Some(identity));

    let mut value = Vec::from(identity.writer.to_bytes());
    value.extend([0, 0, 0, 0, 7, 0, 0, 0]);
    for id in [
        ParameterId::RELATED_SAMPLE_IDENTITY,
        ParameterId::LEGACY_RELATED_SAMPLE_IDENTITY,
    ] {
        assert_eq!(read(&list(&[(id, &value)])), Some(identity));
        assert_eq!(read(&list(&[(id, &value[..20])])), None);
        let mut unknown = value.clone();
        unknown[16..].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        assert_eq!(read(&list(&[(id, &unknown)])), None);
        unknown[16..].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(read(&list(&[(id, &unknown)])), None);
    }
    assert_eq!(read(&[]), None);
    assert_eq!(SequenceNumber::UNKNOWN.0, -1 << 32);
}
