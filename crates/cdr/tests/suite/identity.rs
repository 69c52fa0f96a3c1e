//! Any value returns from its encoding as it was, and no bytes make decoding panic or take memory
//! out of proportion.

use crate::fixtures::types::{Decimal, Level, Side, appendable, final_, mutable};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tickwire_cdr::{
    KeyScratch, Representation, Topic, from_payload_into, key_from_payload_into, key_hash,
    to_payload,
};

fn text() -> impl Strategy<Value = String> + Clone {
    vec(
        prop_oneof![Just('a'), Just('é'), Just('\u{1f4c8}'), Just(' ')],
        0..9,
    )
    .prop_map(|chars| chars.into_iter().collect())
}

fn decimal() -> impl Strategy<Value = Decimal> + Clone {
    (any::<i64>(), any::<i8>()).prop_map(|(mantissa, exponent)| Decimal { mantissa, exponent })
}

fn side() -> impl Strategy<Value = Side> + Clone {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

/// The books of the three extensibilities have the same members but are different types.
macro_rules! book {
    ($module:ident) => {{
        let entry = (side(), decimal(), option::of(any::<u32>()), text()).prop_map(
            |(side, price, size, note)| $module::Entry {
                side,
                price,
                size,
                note,
            },
        );
        let head = (
            text(),
            any::<i32>(),
            option::of(any::<f32>()),
            option::of(decimal()),
        );
        let numbers = (
            vec(any::<i64>(), 0..5),
            vec(any::<u8>(), 0..5),
            vec(any::<i16>(), 0..5),
        );
        let lists = (
            vec(entry.clone(), 0..5),
            vec(text(), 0..5),
            vec(side(), 0..5),
        );
        let rest = (
            any::<[u16; 3]>(),
            [decimal(), decimal()],
            any::<u64>(),
            any::<bool>(),
        );
        let tail = (option::of(text()), entry);
        (head, numbers, lists, rest, tail).prop_map(|(head, numbers, lists, rest, tail)| {
            $module::Book {
                symbol: head.0,
                venue: head.1,
                level: if head.1 % 2 == 0 {
                    Level::Low
                } else {
                    Level::High
                },
                last: head.2.map(f64::from),
                bid: head.3,
                entries: lists.0,
                names: lists.1,
                ticks: numbers.0,
                raw: numbers.1,
                shorts: numbers.2,
                fixed: rest.0,
                pair: rest.1,
                sides: lists.2,
                text: tail.0,
                best: tail.1,
                last64: rest.2,
                end: rest.3,
            }
        })
    }};
}

/// `previous` is what the reused value held before: it must leave no trace.
fn returns<T: Topic + PartialEq + std::fmt::Debug>(value: &T, previous: &T) {
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let (mut payload, mut again) = (Vec::new(), Vec::new());
        to_payload(value, representation, &mut payload).unwrap();
        let mut reused = T::initial();
        to_payload(previous, representation, &mut again).unwrap();
        from_payload_into(&again, &mut reused).unwrap();
        from_payload_into(&payload, &mut reused).unwrap();
        assert_eq!(&reused, value);
        for end in 0..payload.len() {
            let _ = from_payload_into(&payload[..end], &mut reused);
        }
    }
}

fn survives<T: Topic>(bytes: &[u8]) {
    for kind in [0x00, 0x01, 0x02, 0x03, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b] {
        let payload = [&[0, kind, 0, 0], bytes].concat();
        let mut value = T::initial();
        let _ = from_payload_into(&payload, &mut value);
        let _ = key_from_payload_into(&payload, &mut value);
        let _ = key_hash(&value, Representation::Xcdr2, &mut KeyScratch::default());
    }
}

/// Small numbers are what lengths, ids and headers are made of.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(
        prop_oneof![3 => Just(0_u8), 3 => 0..20_u8, 1 => any::<u8>()],
        0..200,
    )
}

proptest! {
    #[test]
    fn final_values_return((value, previous) in (book!(final_), book!(final_))) {
        returns(&value, &previous);
    }

    #[test]
    fn appendable_values_return((value, previous) in (book!(appendable), book!(appendable))) {
        returns(&value, &previous);
    }

    #[test]
    fn mutable_values_return((value, previous) in (book!(mutable), book!(mutable))) {
        returns(&value, &previous);
    }

    #[test]
    fn arbitrary_bytes_are_survived(bytes in bytes()) {
        survives::<final_::Book>(&bytes);
        survives::<appendable::Book>(&bytes);
        survives::<mutable::Book>(&bytes);
        survives::<final_::Keyed>(&bytes);
        survives::<mutable::Keyed>(&bytes);
    }

    #[test]
    fn damaged_payloads_are_survived(
        value in book!(mutable),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            let mut payload = Vec::new();
            to_payload(&value, representation, &mut payload).unwrap();
            for (at, byte) in &damage {
                let at = at.index(payload.len());
                payload[at] = *byte;
            }
            survives::<mutable::Book>(&payload[4..]);
        }
    }
}

/// Four bytes announce a struct of which every member is absent.
#[test]
fn a_short_payload_cannot_take_much_memory() {
    #[derive(Topic)]
    #[topic(crate = tickwire_cdr)]
    struct Wide {
        values: [u64; 1000],
    }
    #[derive(Topic)]
    #[topic(crate = tickwire_cdr)]
    struct Many {
        wide: Vec<Wide>,
    }

    let elements = 1000_u32;
    let mut payload = vec![0, 9, 0, 0];
    payload.extend((elements * 4 + 8).to_le_bytes());
    payload.extend((elements * 4 + 4).to_le_bytes());
    payload.extend(elements.to_le_bytes());
    payload.resize(payload.len() + 4 * 1000, 0);
    let mut many = Many { wide: Vec::new() };
    let error = from_payload_into(&payload, &mut many).unwrap_err();
    assert_eq!(error.kind, tickwire_cdr::DecodeErrorKind::TooLarge);
    assert_eq!((error.member, many.wide.capacity()), ("Many.wide", 0));
}
