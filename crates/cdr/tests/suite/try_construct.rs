//! Values that a reader's type cannot hold: what becomes of them, and that what is behind them is read as if nothing were
//! wrong.

use std::collections::BTreeMap;

use tickwire_cdr::{
    Decode, DecodeErrorKind, Extensibility, KeyScratch, Representation, Topic, TryConstruct, Type,
    WString, dynamic, from_payload_into, key_hash, to_payload, xtypes,
};

/// What a newer program writes.
mod new {
    use super::*;

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(crate = tickwire_cdr)]
    pub(super) enum Side {
        Buy,
        Sell,
        Cross,
    }

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(discriminator = Side, crate = tickwire_cdr)]
    pub(super) enum Price {
        #[topic(case = Side::Buy)]
        Bid(i64),
        #[topic(case = Side::Sell)]
        Ask(String),
        #[topic(case = Side::Cross)]
        Both([u8; 3]),
    }

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(final, crate = tickwire_cdr)]
    pub(super) struct Leg {
        pub(super) side: Side,
        pub(super) text: String,
        pub(super) last: u8,
    }

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(name = "Order", crate = tickwire_cdr)]
    pub(super) struct Order {
        pub(super) side: Side,
        pub(super) text: String,
        pub(super) wide: WString,
        pub(super) legs: Vec<Leg>,
        pub(super) marks: BTreeMap<u32, Side>,
        pub(super) price: Price,
        pub(super) maybe: Option<Leg>,
        pub(super) pair: [Leg; 2],
        pub(super) behind: u32,
    }
}

/// What an older one reads.
mod old {
    use super::*;

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(crate = tickwire_cdr)]
    pub(super) enum Side {
        Buy,
        #[topic(default)]
        Sell,
    }

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(discriminator = Side, crate = tickwire_cdr)]
    pub(super) enum Price {
        #[topic(case = Side::Buy)]
        Bid(i64),
        #[topic(case = Side::Sell, bound = 4, try_construct = trim)]
        Ask(String),
    }

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(final, crate = tickwire_cdr)]
    pub(super) struct Leg {
        pub(super) side: Side,
        #[topic(bound = 4)]
        pub(super) text: String,
        pub(super) last: u8,
    }

    #[derive(Topic, Clone, Debug, PartialEq)]
    #[topic(name = "Order", crate = tickwire_cdr)]
    pub(super) struct Order {
        #[topic(try_construct = use_default, default = Side::Buy)]
        pub(super) side: Side,
        #[topic(bound = 4, try_construct = trim)]
        pub(super) text: String,
        #[topic(bound = 3, try_construct = trim)]
        pub(super) wide: WString,
        #[topic(bound = 2, try_construct = trim)]
        pub(super) legs: Vec<Leg>,
        #[topic(bound = 2, try_construct = use_default)]
        pub(super) marks: BTreeMap<u32, Side>,
        #[topic(try_construct = use_default)]
        pub(super) price: Price,
        #[topic(try_construct = use_default)]
        pub(super) maybe: Option<Leg>,
        #[topic(try_construct = use_default)]
        pub(super) pair: [Leg; 2],
        pub(super) behind: u32,
    }
}

fn leg(side: new::Side, text: &str) -> new::Leg {
    let text = text.to_owned();
    new::Leg {
        side,
        text,
        last: 9,
    }
}

/// An order of which an older program can hold all.
fn small() -> new::Order {
    new::Order {
        side: new::Side::Buy,
        text: "a".into(),
        wide: WString("a".into()),
        legs: vec![leg(new::Side::Sell, "abcd")],
        marks: BTreeMap::from([(1, new::Side::Sell)]),
        price: new::Price::Ask("abcd".into()),
        maybe: Some(leg(new::Side::Buy, "")),
        pair: [leg(new::Side::Buy, "x"), leg(new::Side::Sell, "")],
        behind: 0x0102_0304,
    }
}

/// What the older program reads, in the memory that a value has, and what is told of it as JSON.
fn read(order: &new::Order, representation: Representation) -> Result<old::Order, DecodeErrorKind> {
    let mut payload = Vec::new();
    to_payload(order, representation, &mut payload).expect("it fits");
    let mut value = old::Order {
        text: "before".into(),
        legs: vec![Decode::initial(); 3],
        marks: BTreeMap::from([(7, old::Side::Buy)]),
        price: old::Price::Bid(7),
        ..old::Order::initial()
    };
    let told = json::<old::Order>(&payload);
    match from_payload_into(&payload, &mut value) {
        Ok(()) => {
            // What a type cannot hold is told as if its writer had not known of it.
            let mut again = Vec::new();
            let told = told.expect("it is a value");
            dynamic::from_json(
                old::Order::DESCRIPTION,
                &told,
                dynamic::Omissions::Defaulted,
                representation,
                &mut again,
            )
            .unwrap_or_else(|error| panic!("{error}: {told}"));
            let mut dynamic = old::Order::initial();
            from_payload_into(&again, &mut dynamic).expect("it is one");
            // Descriptions do not tell defaults.
            let side = value.side.clone();
            assert_eq!(old::Order { side, ..dynamic }, value, "{told}");
            Ok(value)
        }
        Err(error) => {
            told.expect_err("it is none");
            Err(error.kind)
        }
    }
}

fn json<T: Topic>(payload: &[u8]) -> Result<String, dynamic::Error> {
    let mut text = String::new();
    dynamic::to_json(T::DESCRIPTION, payload, dynamic::Form::Sample, &mut text)?;
    Ok(text)
}

const BOTH: [Representation; 2] = [Representation::Xcdr1, Representation::Xcdr2];

#[test]
fn what_a_type_can_hold_is_read_as_it_is() {
    for representation in BOTH {
        let value = read(&small(), representation).expect("all fits");
        assert_eq!((value.side, value.text.as_str()), (old::Side::Buy, "a"));
        assert_eq!(value.legs.len(), 1);
        assert_eq!(value.price, old::Price::Ask("abcd".into()));
        assert_eq!(value.maybe.map(|leg| leg.last), Some(9));
        assert_eq!(
            (value.pair[0].text.as_str(), value.behind),
            ("x", 0x0102_0304)
        );
    }
}

#[test]
fn what_is_tried_becomes_a_default_or_its_beginning() {
    let order = new::Order {
        side: new::Side::Cross,
        text: "abc\u{e9}\u{e9}".into(),
        wide: WString("ab\u{1f4c8}c".into()),
        legs: (0..4).map(|_| leg(new::Side::Buy, "abcd")).collect(),
        marks: (0..3).map(|key| (key, new::Side::Buy)).collect(),
        price: new::Price::Ask("abcdef".into()),
        maybe: Some(leg(new::Side::Buy, "abcde")),
        pair: [leg(new::Side::Buy, "x"), leg(new::Side::Cross, "")],
        ..small()
    };
    for representation in BOTH {
        let value = read(&order, representation).expect("all of that is tried");
        assert_eq!(value.side, old::Side::Buy);
        assert_eq!((value.text.as_str(), value.wide.0.as_str()), ("abc", "ab"));
        assert_eq!(value.legs.len(), 2);
        assert!(value.marks.is_empty());
        assert_eq!(value.price, old::Price::Ask("abcd".into()));
        assert_eq!(value.maybe, None);
        assert_eq!(value.pair, <[old::Leg; 2]>::initial());
        assert_eq!(value.behind, 0x0102_0304);
    }
}

#[test]
fn what_is_in_a_trimmed_one_is_not_tried() {
    for at in 0..3 {
        let mut order = small();
        order.legs = vec![leg(new::Side::Buy, ""); 3];
        order.legs[at].side = new::Side::Cross;
        for representation in BOTH {
            let error = read(&order, representation);
            assert_eq!(error, Err(DecodeErrorKind::UnknownLiteral(2)));
        }
    }
}

#[test]
fn a_union_is_passed_over_where_its_end_is_known() {
    let order = new::Order {
        price: new::Price::Both([1, 2, 3]),
        ..small()
    };
    let value = read(&order, Representation::Xcdr2).expect("it tells its length");
    assert_eq!(value.price, old::Price::initial());
    assert_eq!(
        (value.pair[0].text.as_str(), value.behind),
        ("x", 0x0102_0304)
    );
    let error = read(&order, Representation::Xcdr1);
    assert_eq!(error, Err(DecodeErrorKind::UnknownLiteral(2)));
}

#[test]
fn no_bytes_become_a_value_that_are_none() {
    let mut payload = Vec::new();
    to_payload(&small(), Representation::Xcdr2, &mut payload).expect("it fits");
    let at = payload.windows(4).position(|bytes| bytes == b"abcd");
    payload[at.expect("a leg's text")] = 0xff;
    let mut value = old::Order::initial();
    let error = from_payload_into(&payload, &mut value).expect_err("it is not UTF-8");
    assert_eq!(error.kind, DecodeErrorKind::InvalidUtf8);
}

#[test]
fn peers_are_told() {
    let tried = |of: &tickwire_cdr::TypeDescription| -> Vec<TryConstruct> {
        let members = of.members.iter();
        members.map(|member| member.try_construct).collect()
    };
    let expected = tried(old::Order::DESCRIPTION);
    assert_eq!(
        expected[..3],
        [
            TryConstruct::UseDefault,
            TryConstruct::Trim,
            TryConstruct::Trim
        ]
    );
    let Type::Union(price) = &old::Order::DESCRIPTION.members[5].ty else {
        panic!("a union");
    };
    assert_eq!(price.cases[1].member.try_construct, TryConstruct::Trim);
    let mut objects = xtypes::TypeObjects::new();
    let told = objects.add(Flags::DESCRIPTION).expect("it has objects");
    let complete = told.complete.expect("one").id;
    for id in [complete, told.minimal.expect("one").id] {
        let object = objects.get(id).expect("it is there");
        // Ids of members are before their flags; TRY_CONSTRUCT1 is the first of these, TRY_CONSTRUCT2 the second (XTypes
        // 1.3 §7.3.4.5.2).
        for (member, flags) in [(0x00a1_a2a3_u32, 1), (0x00b1_b2b3, 2), (0x00c1_c2c3, 3)] {
            let [a, b, c, d] = member.to_le_bytes();
            let expected = [a, b, c, d, flags, 0];
            assert!(
                object.windows(6).any(|bytes| bytes == expected),
                "{object:x?}"
            );
        }
    }
    let learnt = objects.describe(complete);
    assert_eq!(&learnt.expect("all is known"), Flags::DESCRIPTION);
}

#[derive(Topic)]
#[topic(crate = tickwire_cdr)]
struct Flags {
    #[topic(id = 0x00a1_a2a3)]
    _discard: u8,
    #[topic(id = 0x00b1_b2b3, try_construct = use_default)]
    _default: old::Side,
    #[topic(id = 0x00c1_c2c3, bound = 3, try_construct = trim)]
    _trim: String,
}

/// Within each other as deep as types may be, each of them tried.
#[derive(Topic, Clone, Debug, PartialEq, Default)]
#[topic(mutable, crate = tickwire_cdr)]
struct Nest {
    #[topic(try_construct = use_default)]
    inner: Option<Box<Self>>,
    #[topic(bound = 1, try_construct = use_default)]
    text: String,
}

#[derive(Topic, Clone, Debug, PartialEq, Default)]
#[topic(name = "Nest", mutable, crate = tickwire_cdr)]
struct Free {
    inner: Option<Box<Self>>,
    text: String,
}

#[test]
fn what_is_tried_within_each_other_takes_no_longer() {
    let mut value = Free::default();
    for _ in 0..50 {
        value = Free {
            inner: Some(Box::new(value)),
            text: "long".into(),
        };
    }
    let mut payload = Vec::new();
    to_payload(&value, Representation::Xcdr2, &mut payload).expect("it fits");
    let mut read = Nest::default();
    from_payload_into(&payload, &mut read).expect("each is tried");
    let mut depth = 0;
    let mut innermost = &read;
    while let Some(inner) = &innermost.inner {
        assert_eq!(innermost.text, "");
        innermost = inner;
        depth += 1;
    }
    assert_eq!(depth, 50);
    let told = json::<Nest>(&payload).expect("each is tried");
    assert_eq!(told.matches("inner").count(), 50);
    assert!(!told.contains("long"));
    assert_eq!(Nest::EXTENSIBILITY, Extensibility::Mutable);
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "Marked", final, crate = tickwire_cdr)]
struct NewMarked {
    marks: Vec<i32>,
    #[topic(key)]
    id: u32,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "Marked", final, crate = tickwire_cdr)]
struct Marked {
    #[topic(bound = 2, try_construct = trim)]
    marks: Vec<i32>,
    #[topic(key)]
    id: u32,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "Priced", crate = tickwire_cdr)]
struct NewPriced {
    price: new::Price,
    #[topic(key)]
    id: u32,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "Priced", crate = tickwire_cdr)]
struct Priced {
    #[topic(try_construct = use_default)]
    price: old::Price,
    #[topic(key)]
    id: u32,
}

/// Who knows the type by its description alone finds the key behind what the type cannot hold, as who reads the sample does.
fn has_its_key<New: Topic, Old: Topic>(sample: &New, representation: Representation) {
    let mut payload = Vec::new();
    to_payload(sample, representation, &mut payload).expect("a payload");
    let mut read = Old::initial();
    from_payload_into(&payload, &mut read).expect("a value");
    let scratch = &mut KeyScratch::default();
    let expected = key_hash(&read, Representation::Xcdr2, scratch).expect("a hash");
    let (form, hashed) = (dynamic::Form::Sample, Representation::Xcdr2);
    let found = dynamic::key_hash(Old::description(), &payload, form, hashed, scratch);
    assert_eq!(found.expect("a hash"), expected);
    let mut key = Vec::new();
    dynamic::key_payload(Old::description(), &payload, &mut key).expect("a key");
}

#[test]
fn a_key_is_found_behind_what_the_type_cannot_hold() {
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let marks = vec![1, 2, 3];
        has_its_key::<_, Marked>(&NewMarked { marks, id: 5 }, representation);
    }
    let price = new::Price::Both([200; 3]);
    has_its_key::<_, Priced>(&NewPriced { price, id: 5 }, Representation::Xcdr2);
}

#[test]
fn a_key_that_is_said_to_be_tried_is_not() {
    let mut description = NewMarked::description().clone();
    let mut members = description.members.to_vec();
    for member in &mut members {
        member.try_construct = TryConstruct::UseDefault;
    }
    description.members = members.into();
    let mut objects = xtypes::TypeObjects::new();
    let told = objects.add(&description).expect("type objects");
    let id = told.complete.expect("a complete one").id;
    let learned = objects.describe(id).expect("a description");
    let tried = learned.members.iter().map(|member| member.try_construct);
    let expected = [TryConstruct::UseDefault, TryConstruct::Discard];
    assert_eq!(tried.collect::<Vec<_>>(), expected);
}
