//! Structs whose fields lie where their types are not aligned are encoded as the same structs that are not packed.

use proptest::prelude::*;
use tickwire_cdr::{
    KeyScratch, Representation, Topic, from_payload_into, key_from_payload_into, key_hash,
    key_to_payload, to_payload,
};

#[derive(Topic, Clone, Copy, Debug, PartialEq)]
#[topic(crate = tickwire_cdr, bit_bound = 8)]
enum Side {
    Buy,
    Sell,
}

/// The types of the test, of structs with one more attribute.
macro_rules! types {
    ($module:ident $(#[$repr:meta])?) => {
        mod $module {
            use super::Side;
            use tickwire_cdr::Topic;

            /// In which the last member is not aligned to its own size.
            #[derive(Topic, Clone, Copy, Debug, Default, PartialEq)]
            #[topic(final, nested, crate = tickwire_cdr)]
            $(#[$repr])?
            pub(super) struct Item {
                pub(super) count: i32,
                pub(super) price: f64,
            }

            #[derive(Topic, Clone, Copy, Debug, PartialEq)]
            #[topic(nested, crate = tickwire_cdr)]
            $(#[$repr])?
            pub(super) struct Growing {
                pub(super) flag: bool,
                pub(super) items: [Item; 2],
            }

            types!(@whole $($repr)?; Final final);
            types!(@whole $($repr)?; Appendable appendable);
            types!(@whole $($repr)?; Mutable mutable);

            #[derive(Topic, Clone, Debug, PartialEq)]
            #[topic(crate = tickwire_cdr)]
            pub(super) struct Sequences {
                pub(super) items: Vec<Item>,
                pub(super) growing: Vec<Growing>,
                pub(super) all: Vec<Mutable>,
            }
        }
    };
    (@whole $($repr:meta)?; $name:ident $extensibility:ident) => {
        #[derive(Topic, Clone, Copy, Debug, PartialEq)]
        #[topic($extensibility, crate = tickwire_cdr)]
        $(#[$repr])?
        pub(super) struct $name {
            pub(super) first: u8,
            #[topic(key, id = 20)]
            pub(super) late: u64,
            #[topic(key, id = 10)]
            pub(super) early: u16,
            pub(super) side: Side,
            #[topic(octet)]
            pub(super) bytes: [u8; 3],
            pub(super) maybe: Option<f64>,
            pub(super) growing: Growing,
            pub(super) item: Option<Item>,
            #[topic(default = 0.5)]
            pub(super) last: f64,
        }

        impl $name {
            pub(super) fn of(number: u64, price: f64) -> Self {
                let item = Item { count: -3, price };
                Self {
                    first: 1,
                    late: number,
                    early: 0x0102,
                    side: if number % 2 == 0 { Side::Buy } else { Side::Sell },
                    bytes: [7, 8, 9],
                    maybe: (number % 3 > 0).then_some(price),
                    growing: Growing { flag: true, items: [item, Item::default()] },
                    item: (number % 5 > 1).then_some(item),
                    last: -price,
                }
            }
        }
    };
}

types!(plain);
types!(packed #[repr(C, packed)]);
types!(packed_to_four #[repr(C, packed(4))]);

const BOTH: [Representation; 2] = [Representation::Xcdr1, Representation::Xcdr2];

/// That all payloads of two values are the same, and that each is read from them as it was.
fn are_encoded_alike<A: Topic + PartialEq, B: Topic + PartialEq>(a: &A, b: &B) -> bool {
    fn encoded<T: Topic + PartialEq>(value: &T) -> Option<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        for representation in BOTH {
            let (mut payload, mut key) = (Vec::new(), Vec::new());
            to_payload(value, representation, &mut payload).ok()?;
            let mut read = T::initial();
            from_payload_into(&payload, &mut read).ok()?;
            key_to_payload(value, representation, &mut key).ok()?;
            let mut known = T::initial();
            key_from_payload_into(&key, &mut known).ok()?;
            let mut again = Vec::new();
            key_to_payload(&known, representation, &mut again).ok()?;
            let mut scratch = KeyScratch::default();
            let hash = key_hash(value, representation, &mut scratch).ok()?;
            if read != *value || again != key {
                return None;
            }
            all.extend([payload, key, format!("{hash:?}").into_bytes()]);
        }
        Some(all)
    }
    let (a, b) = (encoded(a), encoded(b));
    a.is_some() && a == b
}

proptest! {
    #[test]
    fn packed_structs_are_encoded_as_others(number: u64, price: f64, count in 0..5_u64) {
        macro_rules! check {
            ($module:ident) => {
                let alike = [
                    are_encoded_alike(&plain::Final::of(number, price), &$module::Final::of(number, price)),
                    are_encoded_alike(&plain::Appendable::of(number, price), &$module::Appendable::of(number, price)),
                    are_encoded_alike(&plain::Mutable::of(number, price), &$module::Mutable::of(number, price)),
                    are_encoded_alike(&sequences!(plain), &sequences!($module)),
                ];
                prop_assert_eq!(alike, [true; 4]);
            };
        }
        macro_rules! sequences {
            ($module:ident) => {
                $module::Sequences {
                    items: (0..count).map(|count| $module::Item { count: count as i32, price }).collect(),
                    growing: (0..count).map(|it| $module::Mutable::of(it, price).growing).collect(),
                    all: (0..count).map(|it| $module::Mutable::of(it, price)).collect(),
                }
            };
        }
        check!(packed);
        check!(packed_to_four);
    }
}

#[test]
fn they_have_what_writers_leave_out() {
    /// What writers had before.
    #[derive(Topic)]
    #[topic(crate = tickwire_cdr)]
    struct Less {
        first: u8,
    }

    /// What a default names is not what the derive has of that name.
    fn value() -> f64 {
        0.5
    }

    #[derive(Topic, Clone, Copy, Debug, PartialEq)]
    #[topic(crate = tickwire_cdr)]
    #[repr(C, packed(2))]
    struct More {
        first: u8,
        #[topic(default = value())]
        price: f64,
        size: u32,
        maybe: Option<u32>,
    }

    let mut more = More {
        first: 1,
        price: 2.0,
        size: 3,
        maybe: Some(4),
    };
    let mut payload = Vec::new();
    to_payload(&Less { first: 9 }, Representation::Xcdr2, &mut payload).expect("an encoding");
    from_payload_into(&payload, &mut more).expect("a value");
    let expected = More {
        first: 9,
        price: 0.5,
        size: 0,
        maybe: None,
    };
    assert_eq!(more, expected);
}
