//! Types that changed still understand each other as their extensibility promises
//! (XTypes 1.3 §7.2.4).

use tickwire_cdr::{Decode, DecodeErrorKind, Representation, Topic, from_payload_into, to_payload};

#[derive(Topic, Debug, PartialEq)]
#[topic(crate = tickwire_cdr)]
struct Short {
    id: u32,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(crate = tickwire_cdr)]
struct Long {
    id: u32,
    price: f64,
    venue: Option<String>,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(mutable, crate = tickwire_cdr)]
struct Old {
    a: u16,
    b: String,
    c: Option<u64>,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(mutable, crate = tickwire_cdr)]
struct New {
    #[topic(id = 1)]
    b: String,
    #[topic(id = 7)]
    extra: Vec<u32>,
    #[topic(id = 0)]
    a: u16,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(mutable, crate = tickwire_cdr)]
struct Strict {
    #[topic(id = 9, must_understand)]
    limit: u8,
    #[topic(id = 0)]
    a: u16,
}

const BOTH: [Representation; 2] = [Representation::Xcdr1, Representation::Xcdr2];

fn sent<T: Topic, U: Topic>(value: &T, representation: Representation, into: &mut U) {
    let mut payload = Vec::new();
    to_payload(value, representation, &mut payload).unwrap();
    from_payload_into(&payload, into).unwrap();
}

#[test]
fn appendable_types_ignore_and_fill_in_later_members() {
    for representation in BOTH {
        let mut long = Long {
            id: 0,
            price: 5.0,
            venue: Some("stale".into()),
        };
        sent(&Short { id: 7 }, representation, &mut long);
        assert_eq!(
            long,
            Long {
                id: 7,
                price: 0.0,
                venue: None
            }
        );
        let mut short = Short { id: 0 };
        sent(
            &Long {
                id: 8,
                price: 1.0,
                venue: None,
            },
            representation,
            &mut short,
        );
        assert_eq!(short, Short { id: 8 });
    }
}

#[test]
fn mutable_types_go_by_member_id() {
    for representation in BOTH {
        let mut new = New {
            b: "stale".into(),
            extra: vec![1],
            a: 0,
        };
        sent(
            &Old {
                a: 5,
                b: "five".into(),
                c: Some(1),
            },
            representation,
            &mut new,
        );
        assert_eq!(
            new,
            New {
                b: "five".into(),
                extra: vec![],
                a: 5
            }
        );
        let mut old = Old {
            a: 0,
            b: String::new(),
            c: Some(9),
        };
        sent(
            &New {
                b: "x".into(),
                extra: vec![1, 2],
                a: 3,
            },
            representation,
            &mut old,
        );
        assert_eq!(
            old,
            Old {
                a: 3,
                b: "x".into(),
                c: None
            }
        );
    }
}

#[test]
fn unknown_indispensable_members_reject_the_sample() {
    for representation in BOTH {
        let mut payload = Vec::new();
        to_payload(&Strict { limit: 1, a: 2 }, representation, &mut payload).unwrap();
        let error = from_payload_into(&payload, &mut Old::initial()).unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::MustUnderstand { id: 9 });
    }
}

#[test]
fn another_extensibility_is_refused() {
    let mut payload = Vec::new();
    to_payload(&Short { id: 7 }, Representation::Xcdr2, &mut payload).unwrap();
    let error = from_payload_into(&payload, &mut Old::initial()).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::WrongExtensibility);
}

/// Every length code of a member header, and the short parameter header, none of which all are
/// written by this crate for these members.
#[test]
fn every_form_of_member_header_is_read() {
    let emheader = |code: u32, id: u32| (code << 28 | id).to_le_bytes();
    let mut xcdr2 = vec![0, 0x0b, 0, 0, 0, 0, 0, 0];
    for (code, value) in [
        (4, &[2, 0, 0, 0, 5, 0, 0, 0][..]),
        (5, &[4, 0, 0, 0, b'a', b'b', b'c', 0]),
        (6, &[2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]),
        (7, &[1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]),
        (3, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (0, &[9]),
    ] {
        let id = match code {
            4 => 0,
            5 => 1,
            6 => 7,
            _ => 100 + code,
        };
        xcdr2.extend(emheader(code, id));
        xcdr2.extend(value);
    }
    let length = u32::try_from(xcdr2.len() - 8).unwrap();
    xcdr2[4..8].copy_from_slice(&length.to_le_bytes());
    let mut new = New::initial();
    from_payload_into(&xcdr2, &mut new).unwrap();
    assert_eq!(
        new,
        New {
            b: "abc".into(),
            extra: vec![1, 2],
            a: 5
        }
    );

    let xcdr1 = [
        &[0, 2, 0, 0][..],
        &[0x00, 0x00, 0, 4, 0, 5, 0, 0],
        &[0x00, 0x63, 0, 3, 1, 2, 3, 0],
        &[0x00, 0x01, 0, 8, 0, 0, 0, 4, b'a', b'b', b'c', 0],
        &[0x3f, 0x02, 0, 0],
    ];
    let mut old = Old::initial();
    from_payload_into(&xcdr1.concat(), &mut old).unwrap();
    assert_eq!(
        old,
        Old {
            a: 5,
            b: "abc".into(),
            c: None
        }
    );
}
