//! A decimal is to peers the struct that they would write themselves.

use tickwire_base::Decimal;
use tickwire_cdr::dynamic::{Omissions, from_json};
use tickwire_cdr::{
    DecodeErrorKind, Describe, Representation, Topic, from_payload_into, to_payload,
};

#[derive(Topic, Debug, PartialEq)]
#[topic(crate = tickwire_cdr)]
struct Trade {
    price: Decimal,
    change: Option<Decimal>,
    levels: Vec<Decimal>,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "Decimal", final, crate = tickwire_cdr)]
struct ByHand {
    mantissa: i64,
    exponent: i32,
}

#[derive(Topic, Debug, PartialEq)]
#[topic(name = "Trade", crate = tickwire_cdr)]
struct TradeByHand {
    price: ByHand,
    change: Option<ByHand>,
    levels: Vec<ByHand>,
}

fn by_hand(mantissa: i64, exponent: i32) -> ByHand {
    ByHand { mantissa, exponent }
}

#[test]
fn a_decimal_is_a_struct_of_mantissa_and_exponent() {
    assert_eq!(Trade::TYPE, TradeByHand::TYPE);
    let decimal = |mantissa, exponent| Decimal::new(mantissa, exponent).unwrap();
    let trade = Trade {
        price: decimal(607_525, -2),
        change: Some(decimal(-1, 0)),
        levels: vec![decimal(5, 63), decimal(i64::MIN, -63)],
    };
    let expected = TradeByHand {
        price: by_hand(607_525, -2),
        change: Some(by_hand(-1, 0)),
        levels: vec![by_hand(5, 63), by_hand(i64::MIN, -63)],
    };
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let (mut payload, mut peers) = (Vec::new(), Vec::new());
        to_payload(&trade, representation, &mut payload).unwrap();
        to_payload(&expected, representation, &mut peers).unwrap();
        assert_eq!(payload, peers);
        let mut read = Trade {
            price: Decimal::default(),
            change: None,
            levels: Vec::new(),
        };
        from_payload_into(&payload, &mut read).unwrap();
        assert_eq!(read, trade);
    }
}

#[test]
fn an_exponent_that_no_decimal_has_is_refused() {
    for exponent in [64, -64, i32::MIN] {
        let sent = TradeByHand {
            price: by_hand(1, exponent),
            change: None,
            levels: Vec::new(),
        };
        let mut payload = Vec::new();
        to_payload(&sent, Representation::Xcdr2, &mut payload).unwrap();
        let mut read = Trade {
            price: Decimal::default(),
            change: None,
            levels: Vec::new(),
        };
        let error = from_payload_into(&payload, &mut read).unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::InvalidExponent(exponent));
        assert_eq!(error.member, "Trade.price");
    }
}

fn decoded(payload: &[u8]) -> Decimal {
    let mut trade = Trade {
        price: Decimal::default(),
        change: None,
        levels: vec![],
    };
    from_payload_into(payload, &mut trade).unwrap();
    trade.price
}

#[test]
fn numbers_and_text_are_decimals() {
    let with = |price: &str| {
        let mut payload = Vec::new();
        let json = format!("{{\"price\":{price}}}");
        let (ty, by) = (Trade::DESCRIPTION, Representation::Xcdr2);
        from_json(ty, &json, Omissions::Defaulted, by, &mut payload)
            .map(|()| decoded(&payload))
            .map_err(|error| error.to_string())
    };
    let decimal = |mantissa, exponent| Ok(Decimal::new(mantissa, exponent).unwrap());
    assert_eq!(with("101"), decimal(101, 0));
    assert_eq!(with("-101.25"), decimal(-10125, -2));
    assert_eq!(with("1e3"), decimal(1000, 0));
    assert_eq!(with(r#""101.50""#), decimal(10150, -2));
    assert_eq!(with(r#"{"mantissa":5,"exponent":1}"#), decimal(5, 1));
    assert_eq!(
        with(r#""dear""#),
        Err("price: \"dear\" is no struct Decimal".into())
    );
    let wrong = with("true").expect_err("no decimal");
    assert_eq!(wrong, "price: expected struct Decimal, found a boolean");
}
