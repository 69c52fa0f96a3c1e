//! Bitsets, optional members of mutable types, unions with a default, nested keys and wide characters: the
//! bytes of Fast DDS, and its type objects of bitsets. The types are those of marks.idl.

use tickwire_cdr::dynamic::{Form, Omissions, from_json, to_json};
use tickwire_cdr::xtypes::TypeObjects;
use tickwire_cdr::{
    Bitfield, BitsetDescription, Extensibility, KeyScratch, Member, Representation, Shared, Topic,
    Type, TypeDescription, WChar, WString, from_payload_into, key_hash, to_payload,
};

use crate::fixtures::{hex, samples};

#[derive(Topic, Debug, Clone, Copy, PartialEq)]
#[topic(name = "marks::Side", crate = tickwire_cdr)]
enum Side {
    #[topic(rename = "BUY")]
    Buy = 1,
    #[topic(rename = "SELL")]
    Sell = 2,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "marks::Choice", final, crate = tickwire_cdr)]
enum Choice {
    #[topic(case = 1, rename = "limit")]
    Limit(f64),
    #[topic(case(2, 3), rename = "text")]
    Text(String),
    #[topic(default = -5, octet, rename = "fallback")]
    Fallback(u8),
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "marks::Part", final, nested, crate = tickwire_cdr)]
struct Part {
    #[topic(key)]
    a: i32,
    b: i32,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "marks::Inner", final, nested, crate = tickwire_cdr)]
struct Inner {
    #[topic(key, rename = "part_")]
    part: Part,
    #[topic(key, bound = 8)]
    name: String,
    c: f64,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "marks::Loose", mutable, crate = tickwire_cdr)]
struct Loose {
    #[topic(id = 3)]
    maybe: Option<i32>,
    #[topic(id = 5)]
    text: Option<String>,
    #[topic(id = 7, rename = "choice_")]
    choice: Choice,
    #[topic(id = 9)]
    other: Option<Choice>,
    #[topic(id = 11)]
    wide: WString,
    #[topic(id = 13)]
    letter: WChar,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "marks::Nested", crate = tickwire_cdr)]
struct Nested {
    #[topic(key, rename = "inner_")]
    inner: Inner,
    value: i32,
    #[topic(key, rename = "side_")]
    side: Side,
    #[topic(bound = 6)]
    wide: WString,
    maybe: Option<i32>,
}

fn loose() -> Loose {
    Loose {
        maybe: Some(-7),
        text: None,
        choice: Choice::Text("two".into()),
        other: Some(Choice::Fallback(4)),
        wide: "株価".into(),
        letter: WChar(0x682a),
    }
}

fn nested() -> Nested {
    Nested {
        inner: Inner {
            part: Part { a: 1, b: 2 },
            name: "abc".into(),
            c: 0.5,
        },
        value: 3,
        side: Side::Sell,
        wide: "ab".into(),
        maybe: Some(8),
    }
}

/// Programs have no bitsets of their own, but read and write those of peers.
fn flat() -> TypeDescription {
    let bitset = |name: &str, fields: &[(&str, u16, u8, Type)]| {
        let fields = fields.iter().map(|(name, position, bits, ty)| Bitfield {
            name: (*name).into(),
            position: *position,
            bits: *bits,
            ty: ty.clone(),
        });
        Type::Bitset(Shared::from(BitsetDescription {
            name: name.into(),
            fields: fields.collect::<Vec<_>>().into(),
        }))
    };
    let status = bitset(
        "marks::Status",
        &[
            ("phase", 0, 3, Type::U8),
            ("is_open", 3, 1, Type::Bool),
            ("change", 6, 10, Type::I16),
        ],
    );
    let big = bitset(
        "marks::Big",
        &[
            ("low", 0, 12, Type::U16),
            ("middle", 12, 20, Type::U32),
            ("high", 32, 8, Type::U8),
        ],
    );
    let element = Shared::from(status.clone());
    let all = Type::Sequence {
        element: element.clone(),
        bound: 0,
    };
    let pair = Type::Array { element, length: 2 };
    let members = vec![
        Member::new("status_", 0, status),
        Member::new("big_", 1, big),
        Member::new("all", 2, all),
        Member::new("pair", 3, pair),
        Member::new("tail", 4, Type::Byte),
    ];
    TypeDescription::new("marks::Flat", Extensibility::Final, members).unwrap()
}

const BOTH: [(Representation, &str); 2] = [
    (Representation::Xcdr1, "xcdr1"),
    (Representation::Xcdr2, "xcdr2"),
];

#[test]
fn bitsets_have_the_bytes_of_fast_dds() {
    let status =
        |phase, open, change| format!(r#"{{"phase":{phase},"is_open":{open},"change":{change}}}"#);
    let (one, other) = (status(5, true, -2), status(1, false, 511));
    let json = format!(
        r#"{{"status_":{one},"big_":{{"low":2748,"middle":74565,"high":127}},"all":[{one},{other}],"pair":[{other},{one}],"tail":9}}"#
    );
    for (representation, what) in BOTH {
        let (mut payload, mut again) = (Vec::new(), String::new());
        let refused = Omissions::Refused;
        from_json(&flat(), &json, refused, representation, &mut payload).unwrap();
        let theirs = samples("marks_flat", what);
        assert_eq!(hex(&unpadded(payload)), hex(&theirs), "{what}");
        to_json(&flat(), &theirs, Form::Sample, &mut again).unwrap();
        assert_eq!(again, json);
    }
}

/// What Fast DDS writes, with the lengths of wide strings in bytes (XTypes 1.3 §7.4.3.5.3), as Cyclone DDS
/// has them: it counts characters, which for these is the half.
fn mended(mut theirs: Vec<u8>, wide: &str) -> Vec<u8> {
    let units: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let count = u32::try_from(units.len() / 2).unwrap();
    let counted = [&count.to_le_bytes()[..], &units].concat();
    let at = theirs
        .windows(counted.len())
        .position(|bytes| bytes == counted);
    let at = at.expect("the wide string");
    theirs[at..at + 4].copy_from_slice(&(2 * count).to_le_bytes());
    theirs
}

/// Without the padding at the end, which Fast DDS adds when it sends.
fn unpadded(mut payload: Vec<u8>) -> Vec<u8> {
    let padding = usize::from(std::mem::take(&mut payload[3]) & 3);
    payload.truncate(payload.len() - padding);
    payload
}

fn is_read<T: Topic + PartialEq + std::fmt::Debug>(name: &str, value: &T, wide: &str) {
    for (_, what) in BOTH {
        let theirs = mended(samples(name, what), wide);
        let mut read = T::initial();
        from_payload_into(&theirs, &mut read).unwrap();
        assert_eq!(&read, value, "{name} {what}");
    }
}

/// Fast DDS writes other headers of members, which are as right: short ones in XCDR1 where we write long
/// ones, and the length of a wide string apart from its header in XCDR2.
#[test]
fn a_mutable_type_of_fast_dds_is_read() {
    is_read("marks_loose", &loose(), "株価");
}

#[test]
fn nested_keys_have_the_bytes_and_the_hash_of_fast_dds() {
    is_read("marks_nested", &nested(), "ab");
    let mut payload = Vec::new();
    to_payload(&nested(), Representation::Xcdr2, &mut payload).unwrap();
    let theirs = mended(samples("marks_nested", "xcdr2"), "ab");
    assert_eq!(hex(&unpadded(payload)), hex(&theirs));
    let hash = key_hash(&nested(), Representation::Xcdr2, &mut KeyScratch::default());
    assert_eq!(
        hex(&hash.unwrap().0),
        hex(&samples("marks_nested", "keyhash"))
    );
}

/// Of other types they differ from those of Cyclone DDS, too: Fast DDS says nothing of try-construct for
/// elements and of an enum's extensibility and default, and numbers the members of a union from 1.
#[test]
fn type_objects_of_bitsets_have_the_hashes_of_fast_dds() {
    let information = TypeObjects::new().add(&flat()).unwrap();
    for (what, of) in [
        ("minimal", information.minimal),
        ("complete", information.complete),
    ] {
        let dependencies = of.unwrap().dependencies;
        let known: Vec<_> = dependencies.iter().map(|(id, _)| hex(&id.hash)).collect();
        for name in ["marks_status", "marks_big"] {
            let theirs = hex(&samples(name, what));
            assert!(known.contains(&theirs), "{name} {what}: {theirs}");
        }
    }
}
