//! Values of generated types go through the encoding, and are what their IDL says.

use std::collections::BTreeMap;

use tickwire::cdr::{
    Encode, Extensibility, Representation, Topic, WChar, WString, from_payload_into, to_payload,
};
use tickwire_idl_conformance::{cyclone, kinds, market_data, raw_buffer, ros};

/// Writes and reads a value in both representations.
fn round_trip<T: Topic + Encode + Default + PartialEq + std::fmt::Debug>(value: &T) {
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let mut payload = Vec::new();
        to_payload(value, representation, &mut payload).expect("the value can be written");
        let mut read = T::default();
        from_payload_into(&payload, &mut read).expect("the value can be read");
        assert_eq!(read, *value);
    }
}

#[test]
fn market_data_is_as_the_article_has_it() {
    use market_data::middleware_news_brief::{
        MarketData, MarketDataEntry, QuoteRequest, RelatedSym,
    };
    assert_eq!(MarketData::TYPE_NAME, "MiddlewareNewsBrief::MarketData");
    for (has_key, members, expected) in [
        (
            MarketDataEntry::HAS_KEY,
            MarketDataEntry::DESCRIPTION.members.len(),
            19,
        ),
        (
            MarketData::HAS_KEY,
            MarketData::DESCRIPTION.members.len(),
            10,
        ),
        (
            RelatedSym::HAS_KEY,
            RelatedSym::DESCRIPTION.members.len(),
            7,
        ),
        (
            QuoteRequest::HAS_KEY,
            QuoteRequest::DESCRIPTION.members.len(),
            10,
        ),
    ] {
        assert!(has_key);
        assert_eq!(members, expected);
    }
    let entry = MarketDataEntry {
        security_id: 7,
        md_entry_px: 1.25,
        trade_condition: "open".into(),
        ..MarketDataEntry::default()
    };
    round_trip(&MarketData {
        is_echo: true,
        counter: 3,
        security_id: 7,
        md_entries: vec![entry.clone(), entry],
        ..MarketData::default()
    });
    round_trip(&QuoteRequest {
        related: vec![RelatedSym {
            order_quantity: u64::MAX,
            ..RelatedSym::default()
        }],
        ..QuoteRequest::default()
    });
}

#[test]
fn a_buffer_is_octets() {
    use raw_buffer::middleware_news_brief::{RAW_BUFFER_TOPIC_NAME, RawBuffer};
    assert_eq!(RAW_BUFFER_TOPIC_NAME, RawBuffer::TYPE_NAME);
    let ty = RawBuffer::DESCRIPTION.members[0].ty.to_string();
    assert_eq!(ty, "sequence<octet>");
    round_trip(&RawBuffer { buffer: vec![1, 2] });
}

#[test]
fn keys_are_declared_by_pragmas() {
    use cyclone::hello_world_data::{Msg, Plain};
    let keys = Msg::DESCRIPTION.members.iter().filter(|member| member.key);
    let keys: Vec<&str> = keys.map(|member| &*member.name).collect();
    assert_eq!(keys, ["userID"]);
    const { assert!(!Plain::HAS_KEY) };
}

#[test]
fn defaults_of_ros_are_kept() {
    use ros::sensor_msgs::msg::BatteryState;
    let state = BatteryState::default();
    assert_eq!(
        (state.level, state.location.as_str(), state.present),
        (-1, "unknown", true)
    );
    assert_eq!(state.voltage, 11.1);
    assert_eq!(BatteryState::TYPE_NAME, "sensor_msgs::msg::BatteryState");
    round_trip(&state);
}

#[test]
fn every_kind_goes_through_the_encoding() {
    use kinds::trading::{
        ByBool, ByChar, BySide, BySmall, Choice, Hashed, Instrument, Level, Node, Order, Phases,
        QUIET, Side,
    };
    let level = Level {
        price: 101.25,
        size: 4,
    };
    let leaf = Node {
        value: 1,
        ..Node::default()
    };
    let tree = Node {
        value: 2,
        children: vec![leaf.clone(), leaf.clone()],
        next: Some(Box::new(leaf)),
    };
    let order = Order {
        symbol: "ESZ6".into(),
        side: Side::Sell,
        phases: Phases(Phases::OPEN.0 | QUIET.0),
        matrix: [[1, 2, 3], [4, 5, 6]],
        names: ["a".into(), "seven77".into()],
        words: vec!["abc".into()],
        frames: vec![vec![1], vec![], vec![2, 3]],
        digest: [9; 16],
        grid: [[1, 2], [3, 4]],
        levels: BTreeMap::from([("best".into(), level.clone())]),
        counts: BTreeMap::from([(-1, vec![5, 6])]),
        title: WString::from("größe"),
        letter: WChar(0x20ac),
        code: 'é',
        live: true,
        ratio: 0.5,
        tiny: -8,
        price: Some(1.0),
        blob: Some(vec![1; 8]),
        far: Box::new(12),
        by_side: BySide::Asks(vec![level.clone(); 6]),
        by_bool: ByBool::Yes(77),
        by_char: ByChar::Line(-3),
        by_small: BySmall::Last(Box::new(Choice::Text("eight888".into()))),
        instrument: Instrument {
            number: -1,
            choice: Some(Choice::Level(level)),
            tree: Some(Box::new(tree)),
            ..Instrument::default()
        },
        hashed: Hashed { price: 3, color: 4 },
        r#type: "limit".into(),
        self_: "same".into(),
        ..Order::default()
    };
    assert_eq!((order.venue, order.other_side), (7, Side::Sell));
    round_trip(&order);
    round_trip(&kinds::other::inner::Level {
        outer: kinds::other::Level {
            level: Level::default(),
            order,
        },
    });
    let mut unlabelled = Order::default();
    assert_eq!(unlabelled.by_side, BySide::None);
    unlabelled.by_char = ByChar::None;
    round_trip(&unlabelled);
}

#[test]
fn bounds_are_kept() {
    use kinds::trading::Order;
    let long = Order {
        names: ["eight888".into(), String::new()],
        ..Order::default()
    };
    let error =
        to_payload(&long, Representation::Xcdr2, &mut Vec::new()).expect_err("it is too long");
    assert!(error.to_string().contains("names"), "{error}");
}

#[test]
fn bits_lie_where_the_text_says_and_nothing_is_cut_off() {
    use kinds::trading::{Bits, Packed, Phase};
    let phase = Phase {
        number: 5,
        is_open: true,
    };
    let packed = Packed {
        number: 2,
        is_open: true,
        level: -3,
        wide: 0xab_cdef_0123,
        raw: 7,
    };
    let value = Bits {
        phase,
        packed,
        more: vec![packed, Packed::default()],
        by_name: BTreeMap::from([("one".into(), packed)]),
        last: Some(phase),
    };
    round_trip(&value);
    let mut payload = Vec::new();
    to_payload(&value, Representation::Xcdr1, &mut payload).expect("the value can be written");
    assert_eq!(payload[4], 0b1101);
    // Behind four bits without a name; aligned to eight.
    let expected = 0b1010_u64 | 0b11101 << 8 | 0xab_cdef_0123 << 13 | 7 << 53;
    assert_eq!(payload[12..20], expected.to_le_bytes());
    let cut = Bits {
        packed: Packed {
            level: 16,
            ..packed
        },
        ..value
    };
    let error =
        to_payload(&cut, Representation::Xcdr2, &mut Vec::new()).expect_err("it has four bits");
    assert_eq!(error.to_string(), "Packed.level: more than 5 bits can say");
}

#[test]
fn descriptions_are_as_the_text_says() {
    use kinds::trading::{Hashed, Instrument, Level, Order};
    let ids = |ty: &tickwire::cdr::TypeDescription| -> Vec<u32> {
        ty.members.iter().map(|member| member.id).collect()
    };
    assert_eq!(Level::EXTENSIBILITY, Extensibility::Final);
    assert!(Level::DESCRIPTION.nested);
    assert_eq!(Order::EXTENSIBILITY, Extensibility::Appendable);
    assert_eq!(Instrument::EXTENSIBILITY, Extensibility::Mutable);
    // The hash of "color" is an example of XTypes 1.3 §7.3.1.2.1.1.
    assert_eq!(ids(Hashed::DESCRIPTION)[1], 0x0fa5_dd70);
    let expected: Vec<u32> = (0..).take(Order::DESCRIPTION.members.len()).collect();
    assert_eq!(ids(Order::DESCRIPTION), expected);
    let types: Vec<String> = Order::DESCRIPTION
        .members
        .iter()
        .map(|member| format!("{} {}", member.ty, &*member.name))
        .collect();
    for expected in [
        "string<12> symbol",
        "int32[2][3] matrix",
        "string<7>[2] names",
        "sequence<sequence<octet>, 4> frames",
        "octet[16] digest",
        "octet[2][2] grid",
        "map<int32, sequence<int16>, 5> counts",
        "wstring<9> title",
        "string self",
        "string struct",
    ] {
        assert!(
            types.iter().any(|ty| ty == expected),
            "{expected}: {types:#?}"
        );
    }
}
