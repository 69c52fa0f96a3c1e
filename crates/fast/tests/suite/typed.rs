//! Structs take messages by name, and what does not fit is refused when they are bound.

use tickwire_fast::{
    BindError, Binding, Code, Decimal, Decoder, Encoder, FastMessage, FieldType, Message, Mode,
    Templates, session,
};

const XML: &str = r#"<templates>
  <template name="Book" id="1">
    <uInt32 name="SeqNum"/><int64 name="Time" presence="optional"/>
    <sequence name="MDLevels" presence="optional">
      <decimal name="Px"/><string name="Note" presence="optional" charset="unicode"/>
      <sequence name="Orders"><uInt64 name="OrderID"/></sequence>
    </sequence>
    <group name="Extra" presence="optional"><byteVector name="Raw"/><uInt32 name="Size"><copy/></uInt32></group>
    <uInt32 name="Unused" presence="optional"/>
  </template>
  <template name="Other" id="2"><uInt32 name="SeqNum"/></template>
</templates>"#;

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct Book {
    // Another order than the template's.
    extra: Option<Extra>,
    seq_num: u64,
    time: Option<i64>,
    #[fast(rename = "MDLevels")]
    levels: Option<Vec<Level>>,
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct Level {
    orders: Vec<Order>,
    px: Decimal,
    note: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct Order {
    order_id: u64,
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct Extra {
    raw: Vec<u8>,
    size: i64,
}

fn level(px: i64, note: Option<&str>, orders: &[u64]) -> Level {
    Level {
        px: Decimal::new(px, -2).unwrap(),
        note: note.map(str::to_owned),
        orders: orders.iter().map(|id| Order { order_id: *id }).collect(),
    }
}

#[test]
fn structs_round_trip_and_leave_nothing_behind() {
    let templates = Templates::parse(XML, Mode::Strict).unwrap();
    let mut binding = Binding::<Book>::new(&templates).unwrap();
    let (mut encoder, mut decoder) = (Encoder::new(&templates), Decoder::new(&templates));
    let full = Book {
        seq_num: 7,
        time: Some(-1),
        levels: Some(vec![
            level(150, Some("é"), &[1, 2, 3]),
            level(151, None, &[]),
            level(152, Some(""), &[u64::MAX]),
        ]),
        extra: Some(Extra {
            raw: vec![0, 0x80],
            size: 9,
        }),
    };
    let shorter = Book {
        levels: Some(vec![level(1, Some("x"), &[4])]),
        ..Book::default()
    };
    let none = Book {
        seq_num: 8,
        ..Book::default()
    };
    let mut value = Book::default();
    for book in [&full, &shorter, &none, &full, &none, &shorter, &full] {
        let mut bytes = Vec::new();
        encoder.encode_from(&mut binding, book, &mut bytes).unwrap();
        assert_eq!(
            decoder.decode_into(&bytes, &mut binding, &mut value),
            Ok(bytes.len())
        );
        assert_eq!(value, *book);
    }
}

#[test]
fn another_template_is_refused_before_it_is_decoded() {
    let templates = Templates::parse(XML, Mode::Strict).unwrap();
    let mut binding = Binding::<Book>::new(&templates).unwrap();
    let mut decoder = Decoder::new(&templates);
    let mut value = Book {
        seq_num: 5,
        ..Book::default()
    };
    let other = [0xc0, 0x82, 0x85];
    assert_eq!(
        decoder
            .next_template(&other)
            .map(|template| template.name()),
        Some("Other")
    );
    let error = decoder
        .decode_into(&other, &mut binding, &mut value)
        .unwrap_err();
    assert_eq!(
        (error.code, error.template.as_deref()),
        (Code::D1, Some("Other"))
    );
    assert_eq!(value.seq_num, 5);
    assert_eq!(decoder.decode(&other, &mut Message::new()), Ok(3));
    // So is the session's reset message: it has nothing for a struct.
    let reset = [0xc0, 0xf8];
    assert!(decoder.next_template(&reset).is_none());
    let error = decoder
        .decode_into(&reset, &mut binding, &mut value)
        .unwrap_err();
    assert_eq!((error.code, error.offset), (Code::D1, 0));
    assert_eq!(error.unknown_template, Some(session::RESET));
    assert_eq!(value.seq_num, 5);
    assert_eq!(decoder.decode(&reset, &mut ()), Ok(2));
}

#[derive(Default, FastMessage)]
#[fast(template = "Book")]
struct Nested {
    seq_num: Extra,
}

#[derive(Default, FastMessage)]
#[fast(template = "Book")]
struct Opaque {
    seq_num: Vec<u8>,
}

#[derive(Default, FastMessage)]
struct Raw {
    raw: u32,
}

#[derive(Default, FastMessage)]
#[fast(template = "Book")]
struct FromBytes {
    extra: Option<Raw>,
}

#[derive(Default, FastMessage)]
#[fast(template = "Book")]
struct Mandatory {
    time: i64,
}

#[derive(Default, FastMessage)]
#[fast(template = "Book")]
struct Misnamed {
    sequence_number: u32,
}

#[derive(Default, FastMessage)]
struct Nowhere {}

#[test]
fn what_does_not_fit_is_refused_at_binding() {
    let templates = Templates::parse(XML, Mode::Strict).unwrap();
    // D1
    let error = Binding::<Nested>::new(&templates).map(|_| ()).unwrap_err();
    assert_eq!(error, BindError::Type("SeqNum".into(), FieldType::UInt32));
    // D10, §8: a byte vector is made of strings and becomes one, no more.
    let error = Binding::<Opaque>::new(&templates).map(|_| ()).unwrap_err();
    assert_eq!(error, BindError::Bytes("SeqNum".into()));
    let error = Binding::<FromBytes>::new(&templates)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error, BindError::Bytes("Extra.Raw".into()));
    assert_eq!(
        Binding::<Mandatory>::new(&templates).map(|_| ()),
        Err(BindError::Optional("Time".into()))
    );
    assert_eq!(
        Binding::<Misnamed>::new(&templates).map(|_| ()),
        Err(BindError::NoField("sequence_number"))
    );
    assert_eq!(
        Binding::<Nowhere>::new(&templates).map(|_| ()),
        Err(BindError::NoTemplate("Nowhere"))
    );
}
