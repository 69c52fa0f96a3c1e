//! Members that are in values, and in no sample: payloads and descriptions are those of the same types without them.

use proptest::prelude::*;
use tickwire_cdr::{
    Decode, Representation, Topic, from_payload_into, key_from_payload_into, key_to_payload,
    to_payload,
};

/// What only its program knows: it has no encoding.
#[derive(Debug, PartialEq)]
struct Handle(u16);

/// The types of the test with members that do not travel, and without.
macro_rules! types {
    ($name:ident $kind:ident) => {
        mod $name {
            use super::*;

            #[derive(Topic, Clone, Debug, PartialEq)]
            #[topic(name = "Level", $kind, crate = tickwire_cdr)]
            pub(super) struct Level {
                pub(super) price: f64,
                #[topic(non_serialized, default = 7)]
                pub(super) value: i32,
                pub(super) size: u32,
            }

            #[derive(Topic, Debug, PartialEq)]
            #[topic(name = "Book", $kind, crate = tickwire_cdr)]
            pub(super) struct Book {
                #[topic(key)]
                pub(super) security: u32,
                #[topic(non_serialized)]
                pub(super) note: String,
                #[topic(non_serialized, default = Handle(3))]
                pub(super) handle: Handle,
                pub(super) levels: Vec<Level>,
                #[topic(non_serialized)]
                pub(super) best: Option<Level>,
                pub(super) text: String,
            }

            #[derive(Topic, Clone, Debug, PartialEq)]
            #[topic(name = "Level", $kind, crate = tickwire_cdr)]
            pub(super) struct BareLevel {
                pub(super) price: f64,
                #[topic(id = 2)]
                pub(super) size: u32,
            }

            #[derive(Topic, Debug, PartialEq)]
            #[topic(name = "Book", $kind, crate = tickwire_cdr)]
            pub(super) struct BareBook {
                #[topic(key)]
                pub(super) security: u32,
                #[topic(id = 3)]
                pub(super) levels: Vec<BareLevel>,
                #[topic(id = 5)]
                pub(super) text: String,
            }

            #[test]
            fn peers_are_told_of_the_same_type() {
                assert_eq!(Book::DESCRIPTION, BareBook::DESCRIPTION);
            }

            proptest! {
                #[test]
                fn samples_have_what_is_serialized_alone(
                    security: u32,
                    sizes in prop::collection::vec(any::<(u32, i32)>(), 0..5),
                    text in "[a-z]{0,9}",
                ) {
                    let levels = sizes.iter().map(|(size, value)| Level {
                        price: f64::from(*size) / 4.0,
                        value: *value,
                        size: *size,
                    });
                    let bare_levels = sizes.iter().map(|(size, _)| BareLevel {
                        price: f64::from(*size) / 4.0,
                        size: *size,
                    });
                    let book = Book {
                        security,
                        note: "written by its program".into(),
                        handle: Handle(4),
                        levels: levels.clone().collect(),
                        best: levels.clone().next(),
                        text: text.clone(),
                    };
                    let bare = BareBook { security, levels: bare_levels.collect(), text: text.clone() };
                    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
                        let (mut payload, mut expected) = (Vec::new(), Vec::new());
                        to_payload(&book, representation, &mut payload).expect("it fits");
                        to_payload(&bare, representation, &mut expected).expect("it fits");
                        prop_assert_eq!(&payload, &expected);
                        // A value that is read into keeps nothing of what samples do not have.
                        let mut read = Book {
                            note: "of an older sample".into(),
                            handle: Handle(5),
                            levels: vec![Level { price: 1.0, value: 2, size: 3 }; 2],
                            best: Some(Level::initial()),
                            ..Book::initial()
                        };
                        from_payload_into(&payload, &mut read).expect("it is one");
                        let expected = Book {
                            security,
                            note: String::new(),
                            handle: Handle(3),
                            levels: levels.clone().map(|level| Level { value: 7, ..level }).collect(),
                            best: None,
                            text: text.clone(),
                        };
                        prop_assert_eq!(read, expected);
                    }
                }
            }

            #[test]
            fn a_key_leaves_them_as_they_are() {
                let book = Book { security: 9, ..Book::initial() };
                let mut payload = Vec::new();
                key_to_payload(&book, Representation::Xcdr2, &mut payload).expect("it fits");
                let mut read = Book { note: "kept".into(), ..Book::initial() };
                key_from_payload_into(&payload, &mut read).expect("it is one");
                assert_eq!((read.security, read.note.as_str()), (9, "kept"));
            }
        }
    };
}

types!(closed final);
types!(open appendable);
types!(flowing mutable);
