//! FAST 1.1 §8: members of other types than their fields. Each test names the section and the codes.

use tickwire_fast::{
    Binding, Code, CompactString, Decimal, Decoder, Encoder, FastMessage, Message, Mode, Templates,
    Value,
};

const XML: &str = r#"<templates>
  <template name="T" id="1">
    <uInt64 name="U" presence="optional"/><int64 name="I" presence="optional"/>
    <decimal name="D" presence="optional"/><string name="S" presence="optional"/>
    <string name="N" charset="unicode" presence="optional"/><byteVector name="B" presence="optional"/>
    <decimal name="Cents" presence="optional"><exponent><constant value="-2"/></exponent><mantissa/></decimal>
    <uInt32 name="Small" presence="optional"/>
  </template>
  <template name="List" id="2"><sequence name="Rows"><sequence name="Cells"><uInt32 name="X"/></sequence><int32 name="Y"/></sequence></template>
  <template name="Tree" id="3"><uInt32 name="Depth"/><sequence name="Below"><templateRef/></sequence></template>
</templates>"#;

/// A struct with one optional member of one type for a field of template T.
macro_rules! member_of_t {
    ($name:ident, $field:literal, $type:ty) => {
        #[derive(Clone, Debug, Default, PartialEq, FastMessage)]
        #[fast(template = "T")]
        struct $name {
            #[fast(rename = $field)]
            value: Option<$type>,
        }
    };
}

fn templates() -> Templates {
    Templates::parse(XML, Mode::Strict).unwrap()
}

/// The member's value after a message with this value of the field, or the code.
fn decoded<T: FastMessage>(field: &str, value: Value<'_>) -> Result<T, Code> {
    let templates = templates();
    let mut message = Message::new();
    let template = templates.by_name("T").unwrap();
    message.build(template).set(field, value).unwrap();
    let mut bytes = Vec::new();
    Encoder::new(&templates)
        .encode(&message, &mut bytes)
        .unwrap();
    let mut binding = Binding::<T>::new(&templates).unwrap();
    let mut read = T::default();
    match Decoder::new(&templates).decode_into(&bytes, &mut binding, &mut read) {
        Ok(len) => {
            assert_eq!(len, bytes.len());
            Ok(read)
        }
        Err(error) => {
            // The message was read to its end, and the next can follow.
            assert_eq!(error.offset, bytes.len());
            assert_eq!(error.template.as_deref(), Some("T"));
            assert_eq!(error.field.as_deref(), Some(field));
            Err(error.code)
        }
    }
}

/// Checks that a struct is encoded with this value of the field, or refused with this code and nothing written.
fn assert_encoded<T: FastMessage>(value: &T, field: &str, expected: Result<Value<'_>, Code>) {
    let templates = templates();
    let mut binding = Binding::<T>::new(&templates).unwrap();
    let mut encoder = Encoder::new(&templates);
    let mut bytes = vec![7];
    match (
        encoder.encode_from(&mut binding, value, &mut bytes),
        expected,
    ) {
        (Ok(()), Ok(expected)) => {
            let mut message = Message::new();
            Decoder::new(&templates)
                .decode(&bytes[1..], &mut message)
                .unwrap();
            assert_eq!(message.get(field), Some(expected));
        }
        (Err(error), Err(code)) => {
            assert_eq!((error.code, error.field.as_deref()), (code, Some(field)));
            assert_eq!(bytes, [7]);
        }
        (done, expected) => panic!("{done:?}, not {expected:?}"),
    }
}

fn decimal(mantissa: i64, exponent: i8) -> Decimal {
    Decimal::new(mantissa, exponent).unwrap()
}

member_of_t!(UnsignedAsU8, "U", u8);
member_of_t!(UnsignedAsI64, "U", i64);
member_of_t!(SignedAsU32, "I", u32);
member_of_t!(SmallAsI64, "Small", i64);

/// R4, §8.2.1: integers of other widths and signs, as long as nothing is lost.
#[test]
fn integers_to_integers() {
    let narrow = |value| decoded::<UnsignedAsU8>("U", Value::Unsigned(value)).map(|t| t.value);
    assert_eq!(narrow(255), Ok(Some(255)));
    assert_eq!(narrow(256), Err(Code::R4));
    let signed = |value| decoded::<UnsignedAsI64>("U", Value::Unsigned(value)).map(|t| t.value);
    assert_eq!(signed(i64::MAX as u64), Ok(Some(i64::MAX)));
    assert_eq!(signed(1 << 63), Err(Code::R4));
    let unsigned = |value| decoded::<SignedAsU32>("I", Value::Signed(value)).map(|t| t.value);
    assert_eq!(unsigned(7), Ok(Some(7)));
    assert_eq!(unsigned(-1), Err(Code::R4));

    let small = |value| SmallAsI64 { value: Some(value) };
    assert_encoded(
        &small(4_294_967_295),
        "Small",
        Ok(Value::Unsigned(4_294_967_295)),
    );
    assert_encoded(&small(4_294_967_296), "Small", Err(Code::R4));
    assert_encoded(&small(-1), "Small", Err(Code::R4));
    let widest = UnsignedAsI64 { value: Some(-1) };
    assert_encoded(&widest, "U", Err(Code::R4));
}

member_of_t!(UnsignedAsDecimal, "U", Decimal);
member_of_t!(SignedAsDecimal, "I", Decimal);

/// R1, §8.2.2: an integer is a decimal if a mantissa can hold it.
#[test]
fn integers_to_decimals() {
    let read = |value| decoded::<UnsignedAsDecimal>("U", Value::Unsigned(value)).map(|t| t.value);
    assert_eq!(read(1200), Ok(Some(decimal(1200, 0))));
    assert_eq!(
        read(u64::MAX / 10 * 10),
        Ok(Some(decimal(1_844_674_407_370_955_161, 1)))
    );
    assert_eq!(read(u64::MAX), Err(Code::R1));

    // R5, §8.3.1, on the way out: the member is a decimal, the field an integer.
    let give = |mantissa, exponent| SignedAsDecimal {
        value: Some(decimal(mantissa, exponent)),
    };
    assert_encoded(&give(-1200, -2), "I", Ok(Value::Signed(-12)));
    assert_encoded(&give(5, 2), "I", Ok(Value::Signed(500)));
    assert_encoded(&give(0, -63), "I", Ok(Value::Signed(0)));
    assert_encoded(&give(-1201, -2), "I", Err(Code::R5));
    assert_encoded(&give(1, -63), "I", Err(Code::R5));
    assert_encoded(&give(1, 63), "I", Err(Code::R4));
    assert_encoded(&give(1, 19), "I", Err(Code::R4));
}

member_of_t!(DecimalAsI32, "D", i32);
member_of_t!(DecimalAsU64, "D", u64);
member_of_t!(CentsAsDecimal, "Cents", Decimal);
member_of_t!(CentsAsU64, "Cents", u64);

/// R5 and R4, §8.3.1: a decimal is an integer if it has no fraction and the type has room.
#[test]
fn decimals_to_integers() {
    let read = |mantissa, exponent| {
        decoded::<DecimalAsI32>("D", Value::Decimal(decimal(mantissa, exponent))).map(|t| t.value)
    };
    assert_eq!(read(-5, 2), Ok(Some(-500)));
    assert_eq!(read(1500, -2), Ok(Some(15)));
    assert_eq!(read(0, 63), Ok(Some(0)));
    assert_eq!(read(1501, -2), Err(Code::R5));
    assert_eq!(read(i64::MIN, -63), Err(Code::R5));
    assert_eq!(read(3, 9), Err(Code::R4));
    assert_eq!(read(i64::MAX, 63), Err(Code::R4));
    let negative = decoded::<DecimalAsU64>("D", Value::Decimal(decimal(-1, 0)));
    assert_eq!(negative, Err(Code::R4));
}

/// D3: the template fixes the exponent, and the value has digits below it or no room above.
#[test]
fn decimals_with_a_fixed_exponent() {
    let give = |mantissa, exponent| CentsAsDecimal {
        value: Some(decimal(mantissa, exponent)),
    };
    assert_encoded(&give(15, -1), "Cents", Ok(Value::Decimal(decimal(150, -2))));
    assert_encoded(&give(15, -3), "Cents", Err(Code::D3));
    let whole = |value| CentsAsU64 { value: Some(value) };
    assert_encoded(&whole(3), "Cents", Ok(Value::Decimal(decimal(300, -2))));
    assert_encoded(&whole(i64::MAX as u64), "Cents", Err(Code::D3));
    assert_encoded(&whole(u64::MAX), "Cents", Err(Code::R1));
}

member_of_t!(StringAsI16, "S", i16);
member_of_t!(StringAsU16, "S", u16);
member_of_t!(StringAsDecimal, "N", Decimal);
member_of_t!(UnsignedAsString, "U", String);
member_of_t!(SignedAsString, "I", CompactString);
member_of_t!(DecimalAsString, "D", String);

/// D11 and R4, §8.1.1: blanks around, a minus if the type has one, digits.
#[test]
fn strings_to_integers() {
    let signed = |text: &str| decoded::<StringAsI16>("S", Value::Text(text)).map(|t| t.value);
    assert_eq!(signed(" -4711\r\n"), Ok(Some(-4711)));
    assert_eq!(signed("-0"), Ok(Some(0)));
    assert_eq!(signed("007"), Ok(Some(7)));
    assert_eq!(signed("32768"), Err(Code::R4));
    assert_eq!(signed(&"9".repeat(60)), Err(Code::R4));
    for text in ["", " ", "-", "+1", "1.0", "4 7", "0x1"] {
        assert_eq!(signed(text), Err(Code::D11), "{text:?}");
    }
    let unsigned = |text: &str| decoded::<StringAsU16>("S", Value::Text(text)).map(|t| t.value);
    assert_eq!(unsigned("65535"), Ok(Some(65535)));
    assert_eq!(unsigned("-1"), Err(Code::D11));

    let give = |text: &str| UnsignedAsString {
        value: Some(text.to_owned()),
    };
    assert_encoded(
        &give("18446744073709551615"),
        "U",
        Ok(Value::Unsigned(u64::MAX)),
    );
    assert_encoded(&give("18446744073709551616"), "U", Err(Code::R4));
    assert_encoded(&give("many"), "U", Err(Code::D11));
}

/// D11 and R1, §8.1.2.
#[test]
fn strings_to_decimals() {
    let read = |text: &str| decoded::<StringAsDecimal>("N", Value::Text(text)).map(|t| t.value);
    assert_eq!(read("\t-.5 "), Ok(Some(decimal(-5, -1))));
    assert_eq!(read("1.10"), Ok(Some(decimal(110, -2))));
    assert_eq!(read("1e3"), Err(Code::D11));
    assert_eq!(read("\u{a0}1"), Err(Code::D11));
    assert_eq!(read("9223372036854775809"), Err(Code::R1));
    assert_eq!(read(&format!("0.{}1", "0".repeat(63))), Err(Code::R1));
}

/// §8.2.3 and §8.3.2: digits, a minus, and a point only where there is a fraction.
#[test]
fn numbers_to_strings() {
    let unsigned = decoded::<UnsignedAsString>("U", Value::Unsigned(u64::MAX)).unwrap();
    assert_eq!(unsigned.value.as_deref(), Some("18446744073709551615"));
    let signed = decoded::<SignedAsString>("I", Value::Signed(-12)).unwrap();
    assert_eq!(signed.value.as_deref(), Some("-12"));
    for (mantissa, exponent, text) in [
        (1250, -2, "12.50"),
        (1200, -2, "12"),
        (-5, -1, "-0.5"),
        (12, 3, "12000"),
        (0, -4, "0"),
    ] {
        let value = Value::Decimal(decimal(mantissa, exponent));
        let read = decoded::<DecimalAsString>("D", value).unwrap();
        assert_eq!(read.value.as_deref(), Some(text));
    }
    let give = StringAsI16 { value: Some(-5) };
    assert_encoded(&give, "S", Ok(Value::Text("-5")));
    let give = StringAsDecimal {
        value: Some(decimal(5, -1)),
    };
    assert_encoded(&give, "N", Ok(Value::Text("0.5")));
}

member_of_t!(BytesAsString, "B", String);
member_of_t!(StringAsBytes, "S", Vec<u8>);
member_of_t!(AsciiAsString, "S", String);

/// D11, §8.1.3 and §8.4: bytes are pairs of hexadecimal digits in a string.
#[test]
fn byte_vectors_and_strings() {
    let read = decoded::<BytesAsString>("B", Value::Bytes(&[0x0f, 0xa0])).unwrap();
    assert_eq!(read.value.as_deref(), Some("0fa0"));
    let read = |text: &str| decoded::<StringAsBytes>("S", Value::Text(text)).map(|t| t.value);
    assert_eq!(read(" 0F\ta 0 "), Ok(Some(vec![0x0f, 0xa0])));
    assert_eq!(read(""), Ok(Some(Vec::new())));
    assert_eq!(read("0fa"), Err(Code::D11));
    assert_eq!(read("0g"), Err(Code::D11));

    let give = |text: &str| BytesAsString {
        value: Some(text.to_owned()),
    };
    assert_encoded(&give("0F a0"), "B", Ok(Value::Bytes(&[0x0f, 0xa0])));
    assert_encoded(&give("zz"), "B", Err(Code::D11));
    let give = StringAsBytes {
        value: Some(vec![0xff]),
    };
    assert_encoded(&give, "S", Ok(Value::Text("ff")));
}

/// R3, §8.1.4: a member is Unicode, the field may be ASCII.
#[test]
fn unicode_to_ascii() {
    let give = |text: &str| AsciiAsString {
        value: Some(text.to_owned()),
    };
    assert_encoded(&give("plain"), "S", Ok(Value::Text("plain")));
    assert_encoded(&give("größer"), "S", Err(Code::R3));
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct List {
    rows: Vec<Row>,
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct Row {
    cells: Vec<Cell>,
    y: u8,
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct Cell {
    x: i64,
}

/// What does not convert is told with the innermost element, also behind a sequence that has ended.
#[test]
fn the_element_is_named() {
    let templates = templates();
    let mut message = Message::new();
    let list = templates.by_name("List").unwrap();
    let row = |row: &mut tickwire_fast::Builder<'_>, y: i64| {
        let cells = [1_u64, 2, 3];
        row.sequence("Cells", cells, |cell, x| cell.set("X", x).map(drop))?;
        row.set("Y", y).map(drop)
    };
    message
        .build(list)
        .sequence("Rows", [1, 256, -1], row)
        .unwrap();
    let mut bytes = Vec::new();
    Encoder::new(&templates)
        .encode(&message, &mut bytes)
        .unwrap();
    let mut binding = Binding::<List>::new(&templates).unwrap();
    let mut read = List::default();
    let mut decoder = Decoder::new(&templates);
    let error = decoder
        .decode_into(&bytes, &mut binding, &mut read)
        .unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref(), error.element),
        (Code::R4, Some("Rows.Y"), Some(1))
    );
    // The next message begins anew.
    message.build(list).sequence("Rows", [9], row).unwrap();
    bytes.clear();
    Encoder::new(&templates)
        .encode(&message, &mut bytes)
        .unwrap();
    assert_eq!(
        decoder.decode_into(&bytes, &mut binding, &mut read),
        Ok(bytes.len())
    );
    assert_eq!(read.rows[0].y, 9);

    let wrong = List {
        rows: vec![
            Row::default(),
            Row {
                cells: vec![Cell { x: 0 }, Cell { x: -1 }],
                y: 0,
            },
        ],
    };
    let error = Encoder::new(&templates)
        .encode_from(&mut binding, &wrong, &mut bytes)
        .unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref(), error.element),
        (Code::R4, Some("Rows.Cells.X"), Some(1))
    );
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
struct Tree {
    depth: u32,
}

/// §6.4: a message at a dynamic reference may be of the same template; it is not the one that the struct takes.
#[test]
fn messages_within_the_message_are_left_out() {
    let templates = templates();
    let tree = templates.by_name("Tree").unwrap();
    let mut message = Message::new();
    let below = |element: &mut tickwire_fast::Builder<'_>, ()| {
        let leaf = |inner: &mut tickwire_fast::Builder<'_>| {
            inner.set("Depth", 2_u64)?;
            inner.sequence("Below", [(); 0], |_, ()| Ok(())).map(drop)
        };
        element.template(tree, leaf).map(drop)
    };
    message
        .build(tree)
        .set("Depth", 1_u64)
        .unwrap()
        .sequence("Below", [()], below)
        .unwrap();
    let mut bytes = Vec::new();
    Encoder::new(&templates)
        .encode(&message, &mut bytes)
        .unwrap();
    let mut binding = Binding::<Tree>::new(&templates).unwrap();
    let mut read = Tree::default();
    let len = Decoder::new(&templates).decode_into(&bytes, &mut binding, &mut read);
    assert_eq!((len, read.depth), (Ok(bytes.len()), 1));
}

/// R4: an integer beyond a boolean, an enumeration or a set does not convert, and the encoder goes on.
#[test]
fn integers_that_mean_nothing_to_their_field_do_not_convert() {
    #[derive(Debug, Default, FastMessage)]
    struct Meant {
        flag: u8,
        side: u32,
        flags: u32,
    }
    let xml = r#"<template name="Meant" id="1"><boolean name="Flag"/>
        <enum name="Side"><element name="Buy"/><element name="Sell"/></enum>
        <set name="Flags"><element name="A"/><element name="B"/></set></template>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let mut binding = Binding::<Meant>::new(&templates).unwrap();
    let mut encoder = Encoder::new(&templates);
    let mut bytes = Vec::new();
    for (value, refused) in [
        ((2, 0, 0), "Flag"),
        ((1, 2, 0), "Side"),
        ((1, 1, 4), "Flags"),
    ] {
        let (flag, side, flags) = value;
        let value = Meant { flag, side, flags };
        let error = encoder.encode_from(&mut binding, &value, &mut bytes);
        let error = error.unwrap_err();
        assert_eq!(
            (error.code, error.field.as_deref()),
            (Code::R4, Some(refused))
        );
    }
    let value = Meant {
        flag: 1,
        side: 1,
        flags: 3,
    };
    encoder
        .encode_from(&mut binding, &value, &mut bytes)
        .unwrap();
    assert_eq!(bytes, [0xc0, 0x81, 0x81, 0x81, 0x83]);
}
