//! What the derive writes: names, ids, descriptions, keys.

use tickwire_cdr::{
    DecodeErrorKind, Describe, Extensibility, Representation, Topic, Type, from_payload_into,
    key_from_payload_into, key_hash, key_to_payload, to_payload,
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
    tickwire_cdr::Decode::initial()
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
    let mut scratch = Vec::new();
    key_hash(&quote(), Representation::Xcdr2, &mut scratch).unwrap();
    assert_eq!(scratch, b"\x01\x02\0\0\0\0\0\x05ESZ6\0");
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
