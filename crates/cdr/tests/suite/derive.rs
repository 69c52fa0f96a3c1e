//! What the derive writes: names, ids, descriptions, keys.

use std::collections::BTreeMap;

use crate::fixtures::types::{Decimal as Price, Level, appendable, final_, mutable};
use tickwire_cdr::{
    Decode, DecodeErrorKind, Describe, Encode, EncodeErrorKind, Extensibility, KeyScratch,
    Representation, Topic, Type, WChar, WString, from_payload_into, key_from_payload_into,
    key_hash, key_to_payload, to_payload,
};

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "market::Side", crate = tickwire_cdr, bit_bound = 8)]
enum Side {
    Buy = 1,
    #[topic(rename = "SELL")]
    Sell = 2,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(final, crate = tickwire_cdr)]
struct Decimal {
    mantissa: i64,
    exponent: i8,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "market::Quote", crate = tickwire_cdr)]
struct Quote {
    #[topic(key, id = 7)]
    symbol: String,
    #[topic(key, id = 3)]
    venue: u16,
    #[topic(rename = "type")]
    kind: Option<Side>,
    price: Decimal,
    levels: Vec<Decimal>,
    #[topic(id = 8)]
    flags: [u8; 40],
}

fn quote() -> Quote {
    Quote {
        symbol: "ESZ6".into(),
        venue: 0x0102,
        kind: Some(Side::Sell),
        price: Decimal {
            mantissa: 607_525,
            exponent: -2,
        },
        levels: vec![
            Decimal {
                mantissa: -1,
                exponent: 0,
            },
            Decimal {
                mantissa: 5,
                exponent: 1,
            },
        ],
        flags: [9; 40],
    }
}

fn empty() -> Quote {
    Decode::initial()
}

#[test]
fn description_tells_what_the_attributes_said() {
    let description = Quote::description();
    assert_eq!(&*description.name, "market::Quote");
    assert_eq!(description.extensibility, Extensibility::Appendable);
    let members: Vec<_> = description
        .members
        .iter()
        .map(|member| (&*member.name, member.id, member.key, member.optional))
        .collect();
    assert_eq!(
        members,
        [
            ("symbol", 7, true, false),
            ("venue", 3, true, false),
            ("type", 4, false, true),
            ("price", 5, false, false),
            ("levels", 6, false, false),
            ("flags", 7 + 1, false, false),
        ]
    );
    let Type::Enum(side) = Side::TYPE else {
        panic!("{:?}", Side::TYPE)
    };
    assert_eq!(
        (&*side.literals[1].name, side.literals[1].value),
        ("SELL", 2)
    );
    assert_eq!(side.bit_bound, 8);
}

#[test]
fn samples_and_keys_return_as_they_were() {
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let (mut payload, mut key) = (Vec::new(), Vec::new());
        to_payload(&quote(), representation, &mut payload).unwrap();
        key_to_payload(&quote(), representation, &mut key).unwrap();
        assert_eq!(payload.len() % 4, 0);
        let (mut sample, mut instance) = (empty(), empty());
        from_payload_into(&payload, &mut sample).unwrap();
        key_from_payload_into(&key, &mut instance).unwrap();
        assert_eq!(sample, quote());
        assert_eq!(
            instance,
            Quote {
                symbol: "ESZ6".into(),
                venue: 0x0102,
                ..empty()
            }
        );
    }
}

#[test]
fn key_hash_orders_members_by_id() {
    let mut scratch = KeyScratch::default();
    key_hash(&quote(), Representation::Xcdr2, &mut scratch).unwrap();
    assert_eq!(scratch.key(), b"\x01\x02\0\0\0\0\0\x05ESZ6\0");
}

#[test]
fn errors_name_the_innermost_member() {
    let mut payload = Vec::new();
    to_payload(&quote(), Representation::Xcdr2, &mut payload).unwrap();
    let error = from_payload_into(&payload[..40], &mut empty()).unwrap_err();
    assert_eq!(
        (error.kind, error.member),
        (DecodeErrorKind::UnexpectedEnd, "")
    );

    let mut bad = quote();
    bad.symbol.push('\0');
    let error = to_payload(&bad, Representation::Xcdr2, &mut payload).unwrap_err();
    assert_eq!(error.member, "Quote.symbol");
}

#[derive(Topic, Debug, PartialEq)]
#[topic(final, crate = tickwire_cdr)]
struct Bounded {
    #[topic(key, bound = 11)]
    name: String,
    #[topic(octet, bound = 3)]
    bytes: Option<Vec<u8>>,
}

#[test]
fn bounds_are_kept_and_shorten_keys() {
    let value = |name: &str, bytes: &[u8]| Bounded {
        name: name.into(),
        bytes: Some(bytes.into()),
    };
    let mut payload = Vec::new();
    let mut check = |value: &Bounded| {
        payload.clear();
        to_payload(value, Representation::Xcdr2, &mut payload).map_err(|e| (e.kind, e.member))
    };
    assert_eq!(check(&value("elevenchars", &[1, 2, 3])), Ok(()));
    let over = |bound| EncodeErrorKind::OverBound { bound };
    assert_eq!(
        check(&value("twelve chars", &[])),
        Err((over(11), "Bounded.name"))
    );
    assert_eq!(check(&value("", &[1; 4])), Err((over(3), "Bounded.bytes")));
    assert!(payload.is_empty());

    let hash = key_hash(
        &value("ESZ6", &[]),
        Representation::Xcdr2,
        &mut KeyScratch::default(),
    )
    .unwrap();
    assert_eq!(hash.0, *b"\0\0\0\x05ESZ6\0\0\0\0\0\0\0\0");

    let long = [&[0, 7, 0, 0, 13, 0, 0, 0][..], b"twelve chars\0", &[0]].concat();
    let error = from_payload_into(&long, &mut Bounded::initial()).unwrap_err();
    assert_eq!(
        (error.kind, error.member),
        (DecodeErrorKind::InvalidLength(12), "Bounded.name")
    );
}

/// The derive and the description must agree on how a type is laid out.
#[test]
fn constants_agree_with_descriptions() {
    fn check<T: Encode + Decode>() {
        assert_eq!(T::PRIMITIVE, T::TYPE.is_primitive(), "{:?}", T::TYPE);
        assert_eq!(T::LENGTH_CODE, T::TYPE.length_code(), "{:?}", T::TYPE);
    }
    check::<bool>();
    check::<char>();
    check::<u8>();
    check::<i16>();
    check::<f32>();
    check::<u64>();
    check::<String>();
    check::<Vec<bool>>();
    check::<Vec<i16>>();
    check::<Vec<f32>>();
    check::<Vec<f64>>();
    check::<Vec<String>>();
    check::<Vec<Level>>();
    check::<[u32; 3]>();
    check::<[Price; 3]>();
    check::<Level>();
    check::<Side>();
    check::<final_::Book>();
    check::<appendable::Book>();
    check::<mutable::Book>();
}

/// A data reader that reuses its samples does not allocate.
#[test]
fn a_warm_value_is_filled_in_place() {
    let mut payload = Vec::new();
    to_payload(&mutable::book(), Representation::Xcdr2, &mut payload).unwrap();
    let mut book = mutable::Book::initial();
    from_payload_into(&payload, &mut book).unwrap();
    let places = |book: &mutable::Book| {
        let texts = [
            &book.symbol,
            &book.names[1],
            book.text.as_ref().unwrap(),
            &book.best.note,
        ];
        let mut places: Vec<*const u8> = texts.iter().map(|text| text.as_ptr()).collect();
        places.push(book.raw.as_ptr());
        places.push(book.ticks.as_ptr().cast());
        places.push(book.entries.as_ptr().cast());
        places.push(book.entries[0].note.as_ptr());
        places
    };
    let before = places(&book);
    from_payload_into(&payload, &mut book).unwrap();
    assert_eq!(places(&book), before);
    assert_eq!(book, mutable::book());
}

/// Two versions of a type: the newer one has members that the older one did not.
macro_rules! versions {
    ($old:ident $new:ident $extensibility:ident) => {
        #[derive(Topic)]
        #[topic(name = "market::Versions", $extensibility, crate = tickwire_cdr)]
        struct $old {
            id: u32,
        }

        #[derive(Topic, Debug, PartialEq)]
        #[topic(name = "market::Versions", $extensibility, crate = tickwire_cdr)]
        struct $new {
            id: u32,
            #[topic(default = 7)]
            lots: i64,
            #[topic(default = "XETR".into())]
            venue: String,
            action: Action,
            more: u8,
        }
    };
}

#[derive(Topic, Debug, PartialEq)]
#[topic(crate = tickwire_cdr)]
enum Action {
    New,
    #[topic(default)]
    Change,
}

versions!(OldAppendable NewAppendable appendable);
versions!(OldMutable NewMutable mutable);

#[test]
fn the_default_literal_is_told_to_peers() {
    let Type::Enum(action) = <Action as Describe>::TYPE else {
        panic!("it is an enum");
    };
    let literals = action.literals.iter();
    let literals: Vec<_> = literals
        .map(|literal| (&*literal.name, literal.value))
        .collect();
    assert_eq!(literals, [("Change", 1), ("New", 0)]);
}

#[test]
fn what_the_writer_left_out_is_the_default() {
    let mut payload = Vec::new();
    to_payload(
        &OldAppendable { id: 5 },
        Representation::Xcdr2,
        &mut payload,
    )
    .expect("it fits");
    let mut value = NewAppendable {
        id: 1,
        lots: 1,
        venue: "other".into(),
        action: Action::New,
        more: 1,
    };
    from_payload_into(&payload, &mut value).expect("it is a shorter version");
    let expected = NewAppendable {
        id: 5,
        ..NewAppendable::initial()
    };
    assert_eq!(value, expected);
    assert_eq!(
        (value.lots, value.venue.as_str(), value.more),
        (7, "XETR", 0)
    );
    assert_eq!(value.action, Action::Change);

    let mut payload = Vec::new();
    to_payload(&OldMutable { id: 5 }, Representation::Xcdr2, &mut payload).expect("it fits");
    let mut value = NewMutable {
        id: 1,
        lots: 1,
        venue: "other".into(),
        action: Action::New,
        more: 1,
    };
    from_payload_into(&payload, &mut value).expect("it has fewer members");
    let expected = NewMutable {
        id: 5,
        ..NewMutable::initial()
    };
    assert_eq!(value, expected);
}

#[derive(Topic)]
#[topic(crate = tickwire_cdr)]
#[allow(dead_code, reason = "only its description is used")]
struct Octets {
    #[topic(octet)]
    frames: Vec<Vec<u8>>,
    #[topic(octet, bound = 4)]
    few: Vec<Vec<u8>>,
    #[topic(octet, bound(4, 2))]
    short: Vec<Vec<u8>>,
    #[topic(octet)]
    grid: [[u8; 3]; 2],
}

#[test]
fn octets_can_be_deep_in_a_member() {
    let types = Octets::DESCRIPTION.members.iter();
    let types: Vec<String> = types.map(|member| format!("{}", member.ty)).collect();
    assert_eq!(
        types,
        [
            "sequence<sequence<octet>>",
            "sequence<sequence<octet>, 4>",
            "sequence<sequence<octet, 2>, 4>",
            "octet[2][3]",
        ]
    );
}

#[derive(Topic, Debug, Default, PartialEq)]
#[topic(crate = tickwire_cdr)]
#[allow(clippy::box_collection, reason = "the box is @external")]
struct Entries {
    #[topic(map_key(octet), map_value(octet))]
    bytes: BTreeMap<u8, u8>,
    #[topic(bound = 2, map_key(bound = 4), map_value(octet, bound = 3))]
    blobs: BTreeMap<String, Vec<u8>>,
    #[topic(bound(0, 2), map_value(map_key(bound = 1), map_value(bound(0, 2))))]
    nested: Vec<BTreeMap<i32, BTreeMap<WString, [String; 1]>>>,
    #[topic(bound = 4)]
    apart: Box<String>,
}

/// The same without bounds.
#[derive(Topic, Default)]
#[topic(name = "Entries", crate = tickwire_cdr)]
#[allow(clippy::box_collection, reason = "the box is @external")]
struct FreeEntries {
    bytes: BTreeMap<u8, u8>,
    blobs: BTreeMap<String, Vec<u8>>,
    nested: Vec<BTreeMap<i32, BTreeMap<WString, [String; 1]>>>,
    apart: Box<String>,
}

#[test]
fn what_is_in_a_map_can_be_octets_and_have_bounds() {
    let types = Entries::DESCRIPTION.members.iter();
    let types: Vec<String> = types.map(|member| format!("{}", member.ty)).collect();
    assert_eq!(
        types,
        [
            "map<octet, octet>",
            "map<string<4>, sequence<octet, 3>, 2>",
            "sequence<map<int32, map<wstring<1>, string<2>[1]>, 2>>",
            "string<4>",
        ]
    );
}

#[test]
fn bounds_of_what_is_in_a_map_are_kept() {
    let blobs = |key: &str, len: usize| FreeEntries {
        blobs: BTreeMap::from([(key.into(), vec![1; len])]),
        ..FreeEntries::default()
    };
    let nested = |key: &str, text: &str| {
        let inner = BTreeMap::from([(WString::from(key), [text.into()])]);
        FreeEntries {
            nested: vec![BTreeMap::from([(1, inner)])],
            ..FreeEntries::default()
        }
    };
    let many = FreeEntries {
        nested: vec![BTreeMap::from([1, 2, 3].map(|key| (key, BTreeMap::new())))],
        ..FreeEntries::default()
    };
    let apart = FreeEntries {
        apart: Box::new("12345".into()),
        ..FreeEntries::default()
    };
    for (value, wrong) in [
        (blobs("four", 3), None),
        (blobs("five5", 3), Some((4, 5, "Entries.blobs"))),
        (blobs("four", 4), Some((3, 4, "Entries.blobs"))),
        (nested("k", "ab"), None),
        (nested("kk", "ab"), Some((1, 2, "Entries.nested"))),
        (nested("k", "abc"), Some((2, 3, "Entries.nested"))),
        (many, Some((2, 3, "Entries.nested"))),
        (apart, Some((4, 5, "Entries.apart"))),
    ] {
        let mut payload = Vec::new();
        to_payload(&value, Representation::Xcdr2, &mut payload).unwrap();
        let mut read = Entries::default();
        let result = from_payload_into(&payload, &mut read).map_err(|e| (e.kind, e.member));
        let expected = wrong.map(|(_, len, member)| (DecodeErrorKind::InvalidLength(len), member));
        assert_eq!(result.err(), expected);

        let FreeEntries {
            bytes,
            blobs,
            nested,
            apart,
        } = value;
        let value = Entries {
            bytes,
            blobs,
            nested,
            apart,
        };
        if wrong.is_none() {
            assert_eq!(read, value);
        }
        let result = to_payload(&value, Representation::Xcdr2, &mut payload);
        let expected =
            wrong.map(|(bound, _, member)| (EncodeErrorKind::OverBound { bound }, member));
        assert_eq!(result.map_err(|e| (e.kind, e.member)).err(), expected);
    }
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(discriminator = u8, octet, final, crate = tickwire_cdr)]
enum ByOctet {
    #[topic(case(1, 200))]
    Number(i32),
    #[topic(default, octet)]
    Byte(u8),
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(discriminator = WChar, final, crate = tickwire_cdr)]
enum ByWide {
    #[topic(case = WChar(0x20ac))]
    Price(f64),
    #[topic(default)]
    Text(String),
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(final, crate = tickwire_cdr)]
struct Discriminated {
    by_octet: ByOctet,
    by_wide: ByWide,
}

#[test]
fn octets_and_wide_characters_can_discriminate() {
    let discriminator = |ty: &Type| match ty {
        Type::Union(of) => of.discriminator.clone(),
        other => panic!("{other} is no union"),
    };
    assert_eq!(discriminator(&ByOctet::TYPE), Type::Byte);
    assert_eq!(discriminator(&ByWide::TYPE), Type::WChar);
    for (value, bytes) in [
        (
            Discriminated {
                by_octet: ByOctet::Number(2),
                by_wide: ByWide::Price(0.0),
            },
            &[
                1, 0, 0, 0, 2, 0, 0, 0, 0xac, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ][..],
        ),
        (
            Discriminated {
                by_octet: ByOctet::Byte(2),
                by_wide: ByWide::Text(String::new()),
            },
            &[0, 2, 0, 0, 1, 0, 0, 0, 0][..],
        ),
    ] {
        let mut payload = Vec::new();
        to_payload(&value, Representation::Xcdr2, &mut payload).unwrap();
        assert_eq!(payload[4..][..bytes.len()], *bytes);
        let mut read = Discriminated::initial();
        from_payload_into(&payload, &mut read).unwrap();
        assert_eq!(read, value);
    }
}

/// Unions whose members do not have the same ids.
macro_rules! choices {
    ($topic:ident $choice:ident $variant:ident $id:literal) => {
        #[derive(Topic, Clone, Debug, PartialEq)]
        #[topic(name = "market::Choice", mutable, crate = tickwire_cdr)]
        enum $choice {
            #[topic(case = 1, id = $id, initial = 7)]
            $variant(i32),
            #[topic(case = 2, initial = "none".into())]
            Text(String),
        }

        #[derive(Topic, Debug, PartialEq)]
        #[topic(name = "market::Chosen", crate = tickwire_cdr)]
        struct $topic {
            choice: $choice,
        }
    };
}

choices!(OldChosen OldChoice Old 3);
choices!(NewChosen NewChoice New 4);

#[test]
fn a_member_of_a_union_that_is_left_out_is_what_it_is_initially() {
    assert_eq!(NewChoice::initial(), NewChoice::New(7));
    let old = OldChosen {
        choice: OldChoice::Old(1),
    };
    let mut payload = Vec::new();
    to_payload(&old, Representation::Xcdr2, &mut payload).expect("it fits");
    for before in [NewChoice::New(2), NewChoice::Text(String::new())] {
        let mut value = NewChosen { choice: before };
        from_payload_into(&payload, &mut value).expect("the member is unknown");
        assert_eq!(value.choice, NewChoice::New(7));
    }
}
