//! Samples and keys, byte for byte as Eclipse Cyclone DDS writes them.

use crate::fixtures::kinds;
use crate::fixtures::types::{Primitives, appendable, final_, mutable, primitives};
use crate::fixtures::{hex, samples};
use tickwire_cdr::{
    KeyScratch, Representation, Topic, dynamic, from_payload_into, key_from_payload_into, key_hash,
    key_to_payload, to_payload,
};

const BOTH: [(Representation, &str); 2] =
    [(Representation::Xcdr1, "1"), (Representation::Xcdr2, "2")];

fn check<T: Topic + PartialEq + std::fmt::Debug>(name: &str, value: &T) {
    for (representation, version) in BOTH {
        let mut payload = Vec::new();
        to_payload(value, representation, &mut payload).unwrap();
        let little = samples(name, &format!("xcdr{version}"));
        assert_eq!(hex(&payload[..2]), hex(&little[..2]), "{name} {version}");
        assert_eq!(
            hex(&payload[4..]),
            hex(&padded(&little[4..])),
            "{name} {version}"
        );
        for what in [format!("xcdr{version}"), format!("xcdr{version}_be")] {
            let mut sample = T::initial();
            from_payload_into(&samples(name, &what), &mut sample).unwrap();
            assert_eq!(&sample, value, "{name} {what}");
        }
        if T::HAS_KEY {
            let mut key = Vec::new();
            key_to_payload(value, representation, &mut key).unwrap();
            let expected = samples(name, &format!("key{version}"));
            assert_eq!(
                hex(&key[4..]),
                hex(&padded(&expected)),
                "{name} key {version}"
            );
            let mut instance = T::initial();
            key_from_payload_into(&key, &mut instance).unwrap();
            let mut again = Vec::new();
            key_to_payload(&instance, representation, &mut again).unwrap();
            assert_eq!(key, again, "{name} key {version}");
        }
    }
}

fn padded(body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    body
}

#[test]
fn key_hashes_agree() {
    fn check<T: Topic>(name: &str, value: &T, representation: Representation) {
        let version = if representation == Representation::Xcdr1 {
            1
        } else {
            2
        };
        let hash = key_hash(value, representation, &mut KeyScratch::default()).unwrap();
        let expected = samples(name, &format!("hash{version}"));
        assert_eq!(hex(&hash.0), hex(&expected), "{name} {version}");
    }
    for (representation, _) in BOTH {
        check("book_final", &final_::book(), representation);
        check("book_appendable", &appendable::book(), representation);
        check("keyed_final", &final_::keyed(), representation);
    }
    check(
        "keyed_appendable",
        &appendable::keyed(),
        Representation::Xcdr1,
    );
    check("book_mutable", &mutable::book(), Representation::Xcdr2);
}

#[test]
fn primitives_agree() {
    let value: Primitives = primitives();
    check("primitives", &value);
}

#[test]
fn final_types_agree() {
    check("book_final", &final_::book());
    check("keyed_final", &final_::keyed());
}

#[test]
fn appendable_types_agree() {
    check("book_appendable", &appendable::book());
    check("keyed_appendable", &appendable::keyed());
}

#[test]
fn mutable_types_agree() {
    check("book_mutable", &mutable::book());
    check("keyed_mutable", &mutable::keyed());
}

/// One representation of a value of kinds.rs, its key and key hash, where there are fixtures.
fn check_kind<T: Topic + PartialEq + std::fmt::Debug>(
    name: &str,
    value: &T,
    representation: Representation,
) {
    let (what, hash_of) = match representation {
        Representation::Xcdr1 => ("xcdr1", "hash1"),
        Representation::Xcdr2 => ("xcdr2", "hash2"),
    };
    let mut expected = samples(name, what);
    let mut sample = T::initial();
    from_payload_into(&expected, &mut sample).unwrap();
    if name == "loose" {
        // The key member is said to be indispensable: later versions of the peer do so no longer.
        expected[8 + 3] &= 0x7f;
    }
    let mut payload = Vec::new();
    to_payload(value, representation, &mut payload).unwrap();
    assert_eq!(hex(&payload), hex(&expected), "{name} {what}");
    assert_eq!(&sample, value, "{name} {what}");
    let hash = key_hash(value, representation, &mut KeyScratch::default()).unwrap();
    let expected = samples(name, hash_of);
    assert_eq!(hex(&hash.0), hex(&expected), "{name} {hash_of}");
    let mut key = Vec::new();
    key_to_payload(value, representation, &mut key).unwrap();
    let mut instance = T::initial();
    key_from_payload_into(&key, &mut instance).unwrap();
    let hash = key_hash(&instance, representation, &mut KeyScratch::default()).unwrap();
    assert_eq!(hex(&hash.0), hex(&expected), "{name} {hash_of}");
}

#[test]
fn all_kinds_of_types_agree() {
    check_kind("everything", &kinds::everything(), Representation::Xcdr2);
    check_kind("loose", &kinds::loose(), Representation::Xcdr2);
    for (representation, _) in BOTH {
        check_kind("plain", &kinds::plain(), representation);
        check_kind("hashed", &kinds::hashed(), representation);
        check_kind("outer", &kinds::outer(), representation);
    }
}

/// Keys of appendable types in XCDR2 as Cyclone DDS 0.10.2 writes them: without a DHEADER.
#[test]
fn keys_of_appendable_types_may_lack_their_length() {
    #[derive(Topic, PartialEq, Debug)]
    #[topic(appendable, crate = tickwire_cdr)]
    struct Shape {
        #[topic(key, bound = 128)]
        color: String,
        x: i32,
    }
    let good = b"\x00\x09\x00\x02\x06\x00\x00\x00BLUE1\0\0\0";
    let mut shape = Shape {
        color: String::new(),
        x: 7,
    };
    key_from_payload_into(good, &mut shape).unwrap();
    assert_eq!((&*shape.color, shape.x), ("BLUE1", 7));

    let mut whole = Vec::new();
    key_to_payload(&shape, Representation::Xcdr2, &mut whole).unwrap();
    assert_eq!(
        dynamic::mended_key(Shape::DESCRIPTION, good),
        Some(whole.clone())
    );
    assert_eq!(dynamic::mended_key(Shape::DESCRIPTION, &whole), None);

    let too_long = b"\x00\x09\x00\x00\x06\x00\x00\x00BLUE1\0\0\0\0\0\0\0";
    let too_short = b"\x00\x09\x00\x02\x0a\x00\x00\x00BLUE1\0\0\0";
    let final_ = b"\x00\x07\x00\x02\x06\x00\x00\x00BLUE1\0\0\0";
    for bad in [&too_long[..], too_short, final_] {
        key_from_payload_into(bad, &mut shape).unwrap_err();
        assert_eq!(dynamic::mended_key(Shape::DESCRIPTION, bad), None);
    }
}
