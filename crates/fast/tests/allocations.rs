//! Decoding and encoding allocate nothing once they have seen the largest message.

#![allow(
    unsafe_code,
    reason = "a counting allocator implements an unsafe trait"
)]

#[path = "common/counting.rs"]
mod counting;
#[path = "common/market.rs"]
mod market;

use counting::allocations;
use market::MarketData;
use tickwire_fast::{Binding, Decoder, Encoder, Message, Mode, Templates};

/// Messages with 0 to 4 entries, with and without each of the optional fields.
fn packets(templates: &Templates) -> Vec<Vec<u8>> {
    let mut encoder = Encoder::new(templates);
    let mut binding = Binding::<MarketData>::new(templates).unwrap();
    let text = |number: usize| Some("abcdefghij".repeat(number % 4));
    let packet = |number: usize| {
        let entry = |index: usize| market::Entry {
            security_id_source: 9,
            md_entry_type: "x".repeat((number + index) % 5),
            md_entry_size: (number.is_multiple_of(2)).then_some(3),
            trade_condition: text(number + index).filter(|_| index.is_multiple_of(2)),
            quote_condition: text(number).filter(|_| number.is_multiple_of(3)),
            ..market::Entry::default()
        };
        let message = MarketData {
            application_version: "1.0".into(),
            message_type: "X".into(),
            sender_comp_id: "Test Exchange".into(),
            entries: (0..number % 5).map(entry).collect(),
            ..MarketData::default()
        };
        let mut bytes = Vec::new();
        encoder.reset();
        encoder
            .encode_from(&mut binding, &message, &mut bytes)
            .unwrap();
        bytes
    };
    (0..60).map(packet).collect()
}

#[test]
fn none_after_warm_up() {
    let templates = Templates::parse(include_str!("market.xml"), Mode::Strict).unwrap();
    let packets = packets(&templates);
    let mut decoder = Decoder::new(&templates);
    let mut encoder = Encoder::new(&templates);
    let mut binding = Binding::<MarketData>::new(&templates).unwrap();
    let (mut message, mut value, mut bytes) = (Message::new(), MarketData::default(), Vec::new());
    let mut round = || {
        for packet in &packets {
            decoder.reset();
            decoder.decode(packet, &mut message).unwrap();
            decoder.reset();
            decoder
                .decode_into(packet, &mut binding, &mut value)
                .unwrap();
            for _ in 0..2 {
                bytes.clear();
                encoder.reset();
                encoder.encode(&message, &mut bytes).unwrap();
                assert_eq!(bytes, *packet);
                bytes.clear();
                encoder.reset();
                encoder
                    .encode_from(&mut binding, &value, &mut bytes)
                    .unwrap();
                assert_eq!(bytes, *packet);
            }
        }
    };
    // Strings wander between elements; each must have been given to the longest value once.
    for _ in 0..50 {
        round();
    }
    assert_eq!(allocations(|| (0..10).for_each(|_| round())), 0);
    assert_ne!(allocations(|| drop(vec![1])), 0, "the counter counts");
}
