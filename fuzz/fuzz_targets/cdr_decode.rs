//! Any bytes as a payload: decoded into derived types of every kind, printed by their descriptions,
//! and what decodes must encode again to a payload that decodes to the same value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_cdr::{KeyScratch, Representation, Topic, dynamic};

#[derive(Topic, Clone, Copy, Debug, Default, PartialEq)]
#[topic(crate = tickwire_cdr)]
enum Side {
    #[default]
    Buy,
    Sell,
    Cross = 7,
}

macro_rules! shapes {
    ($module:ident, $extensibility:ident) => {
        mod $module {
            use super::Side;
            use tickwire_cdr::Topic;

            #[derive(Topic, Clone, Debug, Default, PartialEq)]
            #[topic(crate = tickwire_cdr, $extensibility)]
            pub(super) struct Entry {
                price: i64,
                text: String,
                size: Option<i32>,
                side: Side,
                flags: [u16; 3],
            }

            #[derive(Topic, Clone, Debug, Default, PartialEq)]
            #[topic(crate = tickwire_cdr, $extensibility)]
            pub(super) struct Book {
                #[topic(key)]
                id: u32,
                #[topic(key)]
                venue: String,
                entries: Vec<Entry>,
                last: Option<Entry>,
                blob: Vec<u8>,
                numbers: Vec<u64>,
                names: Vec<String>,
                ok: bool,
            }
        }
    };
}

shapes!(in_final, final);
shapes!(in_appendable, appendable);
shapes!(in_mutable, mutable);

fn check<T: Topic + Default + PartialEq + core::fmt::Debug>(payload: &[u8]) {
    let mut text = String::new();
    let _ = dynamic::to_json(T::description(), payload, dynamic::Form::Sample, &mut text);
    let mut scratch = KeyScratch::default();
    let _ = dynamic::key_hash(
        T::description(),
        payload,
        dynamic::Form::Key,
        Representation::Xcdr2,
        &mut scratch,
    );
    let mut value = T::default();
    let _ = tickwire_cdr::key_from_payload_into(payload, &mut value);
    if tickwire_cdr::from_payload_into(payload, &mut value).is_err() {
        return;
    }
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let mut bytes = Vec::new();
        tickwire_cdr::to_payload(&value, representation, &mut bytes)
            .expect("a decoded value encodes");
        let by_description = dynamic::key_hash(
            T::description(),
            &bytes,
            dynamic::Form::Sample,
            representation,
            &mut scratch,
        );
        let by_type = tickwire_cdr::key_hash(&value, representation, &mut scratch);
        assert_eq!(by_description, Ok(by_type.expect("a decoded key encodes")));
        let mut again = T::default();
        tickwire_cdr::from_payload_into(&bytes, &mut again).expect("our own payload decodes");
        assert_eq!(value, again);
    }
}

fuzz_target!(|payload: &[u8]| {
    check::<in_final::Book>(payload);
    check::<in_appendable::Book>(payload);
    check::<in_mutable::Book>(payload);
});
