//! FAST 1.2: defined types, enumerations, sets, booleans, timestamps. Each test names the section of the extension.

use tickwire_fast::{
    BuildError, Code, Decoder, Encoder, Epoch, FieldType, Message, Mode, Operator, Templates,
    TimeUnit, Value, json,
};

const NAMESPACE: &str = r#"xmlns="http://www.fixprotocol.org/ns/fast/td/1.2""#;

fn parse(body: &str) -> Templates {
    let xml = format!("<templates {NAMESPACE}>\n{body}</templates>");
    Templates::parse(&xml, Mode::Strict).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(mode: Mode, body: &str) -> (Code, u32, u32, String) {
    let xml = format!("<templates {NAMESPACE}>\n{body}</templates>");
    let error = Templates::parse(&xml, mode).unwrap_err();
    (error.code, error.line, error.column, error.detail.into())
}

/// Decodes one message, checks that it encodes to the same bytes, and gives its JSON.
fn both_ways(templates: &Templates, bytes: &[u8]) -> Result<String, Code> {
    let mut message = Message::new();
    let len = Decoder::new(templates)
        .decode(bytes, &mut message)
        .map_err(|error| error.code)?;
    assert_eq!(len, bytes.len());
    let mut out = Vec::new();
    Encoder::new(templates).encode(&message, &mut out).unwrap();
    assert_eq!(out, bytes);
    let mut text = String::new();
    json::write(&message, &mut text).unwrap();
    Ok(text)
}

/// "New Type Definition Syntax": a type has a name, `field` uses it, and what is nearest to the use counts.
#[test]
fn defined_types() {
    let templates = parse(
        r#"<define name="Copied"><uInt32><copy/></uInt32></define>
        <define name="Alias"><type name="Copied"/></define>
        <define name="Price"><decimal><exponent><constant value="-2"/></exponent></decimal></define>
        <define name="Pair"><group><uInt32 name="X"/><field name="Y"><type name="Copied"/></field></group></define>
        <template name="T" id="1">
          <field name="A" id="7"><type name="Copied"/></field>
          <field name="B"><type name="Alias"><default value="5"/></type></field>
          <field name="C"><type name="Alias"/><constant value="6"/></field>
          <field name="D" presence="optional"><string charset="unicode"/></field>
          <field name="E"><type name="Price"/></field>
          <field name="F"><type name="Price"/><default value="1.5"/></field>
          <field name="G"><type name="Pair"/></field>
        </template>"#,
    );
    let template = templates.by_name("T").unwrap();
    let fields: Vec<_> = template
        .fields()
        .map(|field| {
            (
                field.name(),
                field.field_type(),
                field.operator(),
                field.is_optional(),
            )
        })
        .collect();
    let unsigned = FieldType::UInt32;
    assert_eq!(
        fields,
        [
            ("A", unsigned, Operator::Copy, false),
            ("B", unsigned, Operator::Default, false),
            ("C", unsigned, Operator::Constant, false),
            ("D", FieldType::Unicode, Operator::None, true),
            ("E", FieldType::Decimal, Operator::None, false),
            ("F", FieldType::Decimal, Operator::Default, false),
            ("G", FieldType::Group, Operator::None, false),
        ]
    );
    assert_eq!(template.field("A").unwrap().id(), Some("7"));
    let bytes = [0xe0, 0x81, 0x83, 0x80, 0x01, 0x96, 0xc0, 0x88, 0x89];
    assert_eq!(
        both_ways(&templates, &bytes).unwrap(),
        r#"{"template":"T","A":3,"B":5,"C":6,"E":1.50,"F":1.5,"G":{"X":8,"Y":9}}"#
    );
}

#[test]
fn types_that_are_not_there_or_never_end() {
    let field = |inner: &str| {
        format!(r#"<template name="T" id="1"><field name="A">{inner}</field></template>"#)
    };
    for (body, detail) in [
        (field(r#"<type name="X"/>"#), "no type is called X"),
        (field("<copy/>"), "field without a type"),
        (field("<uInt32/><int32/>"), "field with two types"),
        (
            r#"<define name="X"><uInt32/></define><define name="X"><int32/></define>"#.to_owned(),
            "two types are called X",
        ),
        (r#"<define name="X"/>"#.to_owned(), "define without a type"),
        (
            r#"<define name="X"><type name="Y"/></define><define name="Y"><type name="X"/></define>"#.to_owned()
                + &field(r#"<type name="X"/>"#),
            "a type through more than 16 names",
        ),
        (
            r#"<define name="X"><group><field name="B"><type name="X"/></field></group></define>"#.to_owned()
                + &field(r#"<type name="X"/>"#),
            "more than 64 levels",
        ),
        (field("<enum/>"), "enum without elements"),
        (
            field(r#"<enum><element name="B"/><element name="B"/></enum>"#),
            "two elements are called B",
        ),
        (
            field(r#"<enum><element name="B" value="7"/></enum>"#),
            "element has no attribute value",
        ),
        (field(r#"<set><uInt32/></set>"#), "uInt32 among elements"),
        (
            field(&format!("<set>{}</set>", (0..65).map(|n| format!("<element name=\"{n}\"/>")).collect::<String>())),
            "a set of more than 64 elements",
        ),
        (field(r#"<timestamp unit="week"/>"#), "unit \"week\" of a timestamp"),
        (field("<uInt3/>"), "uInt3 outside a bit group"),
    ] {
        let (code, line, _, told) = refused(Mode::Strict, &body);
        assert_eq!((code, line, &*told), (Code::S1, 2, detail), "{body}");
    }
}

/// "Enumeration": the integer is the element's number, one larger if nullable; others are D2.
#[test]
fn enumerations_are_numbers_of_their_elements() {
    let templates = parse(
        r#"<define name="Unit"><enum><element name="0" id="Seconds"/><element name="3" id="Milliseconds"/>
             <element name="10" id="Minutes"/></enum></define>
        <template name="T" id="1">
          <field name="A"><type name="Unit"><default value="3"/></type></field>
          <field name="B" presence="optional"><type name="Unit"/></field>
          <enum name="C"><element name="x"/><element name="y"/><copy value="y"/></enum>
        </template>"#,
    );
    let template = templates.by_name("T").unwrap();
    let unit = template.field("B").unwrap().enumeration().unwrap();
    let names: Vec<_> = unit
        .iter()
        .map(|e| (&*e.name, e.id.as_deref(), e.value))
        .collect();
    assert_eq!(
        names,
        [
            ("0", Some("Seconds"), 0),
            ("3", Some("Milliseconds"), 1),
            ("10", Some("Minutes"), 2)
        ]
    );
    assert_eq!(template.field("B").unwrap().type_name(), "enum");
    assert_eq!(template.field("B").unwrap().field_type(), FieldType::UInt32);
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0x83]).unwrap(),
        r#"{"template":"T","A":"3","B":"10","C":"y"}"#
    );
    assert_eq!(
        both_ways(&templates, &[0xf0, 0x81, 0x82, 0x80, 0x80]).unwrap(),
        r#"{"template":"T","A":"10","C":"x"}"#
    );
    // No element has the integer.
    assert_eq!(
        both_ways(&templates, &[0xe0, 0x81, 0x83, 0x80]),
        Err(Code::D2)
    );
    assert_eq!(both_ways(&templates, &[0xc0, 0x81, 0x84]), Err(Code::D2));

    let mut message = Message::new();
    let mut t = message.build(template);
    let range = |name: &str| Err(BuildError::Range(name.into()));
    assert_eq!(t.set("A", "Minutes").map(|_| ()), range("A"));
    assert_eq!(t.set("A", 3u8).map(|_| ()), range("A"));
    t.set("A", "10")
        .unwrap()
        .set("B", 0u8)
        .unwrap()
        .set("C", "x")
        .unwrap();
    assert_eq!(message.record().element("A"), Some("10"));
    assert_eq!(message.get("A"), Some(Value::Unsigned(2)));
    assert_eq!(message.record().element("Z"), None);
}

/// Where FAST 1.2 is silent on initial values, those of enumerations are integers as Deutsche Boerse writes them, or names.
#[test]
fn initial_values_are_integers_before_they_are_names() {
    let templates = parse(
        r#"<define name="Book"><enum><element name="1"/><element name="2"/><element name="3"/><element name="J"/></enum></define>
        <template name="T" id="1">
          <field name="A"><type name="Book"><default value="1"/></type></field>
          <field name="B"><type name="Book"><constant value="J"/></type></field>
          <set name="C"><element name="U"/><element name="1"/><element name="k"/><default value="5"/></set>
          <set name="D"><element name="U"/><element name="R"/><element name="k"/><default value="k U"/></set>
        </template>"#,
    );
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81]).unwrap(),
        r#"{"template":"T","A":"2","B":"J","C":["U","k"],"D":["U","k"]}"#
    );
    for (inner, detail) in [
        (
            r#"<enum name="A"><element name="x"/><default value="1"/></enum>"#,
            "\"1\" for enum A",
        ),
        (
            r#"<set name="A"><element name="x"/><default value="2"/></set>"#,
            "\"2\" for set A",
        ),
        (
            r#"<boolean name="A"><default value="2"/></boolean>"#,
            "\"2\" for boolean A",
        ),
        (
            r#"<timestamp name="A"><default value="x"/></timestamp>"#,
            "\"x\" for timestamp A",
        ),
    ] {
        let (code, _, _, told) = refused(
            Mode::Lenient,
            &format!(r#"<template name="T">{inner}</template>"#),
        );
        assert_eq!((code, &*told), (Code::S3, detail));
    }
}

/// mFAST's `value` of an element is its integer.
#[test]
fn explicit_values_are_a_dialect() {
    let xml = r#"<templates><define name="Odd"><enum><element name="One" value="1"/><element name="Three" value="3"/></enum></define>
        <template name="T" id="1"><field name="A"><type name="Odd"/></field></template></templates>"#;
    let templates = Templates::parse(xml, Mode::Lenient).unwrap();
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0x83]).unwrap(),
        r#"{"template":"T","A":"Three"}"#
    );
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0x82]).unwrap(),
        r#"{"template":"T","A":2}"#
    );
    assert_eq!(both_ways(&templates, &[0xc0, 0x81, 0x84]), Err(Code::D2));
}

/// "Set": a sum of the elements' bits, one larger if nullable; other bits are D2.
#[test]
fn sets_are_sums_of_bits() {
    let templates = parse(
        r#"<template name="T" id="1">
          <set name="A"><element name="U"/><element name="R"/><element name="AX"/></set>
          <field name="B" presence="optional"><set><element name="U"/><element name="R"/><default value="R U"/></set></field>
        </template>"#,
    );
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0x85]).unwrap(),
        r#"{"template":"T","A":["U","AX"],"B":["U","R"]}"#
    );
    assert_eq!(
        both_ways(&templates, &[0xe0, 0x81, 0x80, 0x81]).unwrap(),
        r#"{"template":"T","A":[],"B":[]}"#
    );
    assert_eq!(
        both_ways(&templates, &[0xe0, 0x81, 0x87, 0x80]).unwrap(),
        r#"{"template":"T","A":["U","R","AX"]}"#
    );
    assert_eq!(both_ways(&templates, &[0xc0, 0x81, 0x88]), Err(Code::D2));
    assert_eq!(
        both_ways(&templates, &[0xe0, 0x81, 0x80, 0x85]),
        Err(Code::D2)
    );

    let mut message = Message::new();
    let mut t = message.build(templates.by_name("T").unwrap());
    assert_eq!(
        t.set_elements("A", ["U", "k"]).map(|_| ()),
        Err(BuildError::Range("A".into()))
    );
    assert_eq!(
        t.set("A", 8u8).map(|_| ()),
        Err(BuildError::Range("A".into()))
    );
    t.set_elements("A", ["AX", "U"]).unwrap();
    assert_eq!(message.get("A"), Some(Value::Unsigned(5)));
    assert!(message.record().has_element("A", "AX"));
    assert!(!message.record().has_element("A", "R"));
    assert!(!message.record().has_element("B", "U"));
}

#[test]
fn sets_have_up_to_64_elements() {
    let elements: String = (0..64)
        .map(|n| format!("<element name=\"e{n}\"/>"))
        .collect();
    let templates = parse(&format!(
        r#"<template name="T" id="1"><set name="A">{elements}</set></template>"#
    ));
    let field = templates.by_name("T").unwrap().field("A").unwrap();
    assert_eq!(field.field_type(), FieldType::UInt64);
    let bytes = [
        0xc0, 0x81, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x81,
    ];
    assert_eq!(
        both_ways(&templates, &bytes).unwrap(),
        r#"{"template":"T","A":["e0","e63"]}"#
    );
}

/// "Boolean": 0 and 1, nullable 0, 1 and 2.
#[test]
fn booleans() {
    let templates = parse(
        r#"<template name="T" id="1"><boolean name="A"/><boolean name="B" presence="optional"/>
          <boolean name="C"><default value="true"/></boolean></template>"#,
    );
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0x81, 0x81]).unwrap(),
        r#"{"template":"T","A":true,"B":false,"C":true}"#
    );
    assert_eq!(
        both_ways(&templates, &[0xe0, 0x81, 0x80, 0x82, 0x80]).unwrap(),
        r#"{"template":"T","A":false,"B":true,"C":false}"#
    );
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0x82, 0x80]),
        Err(Code::D2)
    );
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0x81, 0x83]),
        Err(Code::D2)
    );
    let mut message = Message::new();
    let mut t = message.build(templates.by_name("T").unwrap());
    t.set("A", true).unwrap();
    assert_eq!(
        t.set("B", 2u8).map(|_| ()),
        Err(BuildError::Range("B".into()))
    );
    assert_eq!(message.get("A"), Some(Value::Unsigned(1)));
}

/// "Timestamp Data Type": a signed integer of units since an epoch.
#[test]
fn timestamps_are_signed_integers() {
    let templates = parse(
        r#"<template name="T" id="1"><timestamp name="A"/><timestamp name="B" unit="nanosecond" epoch="today"/>
          <timestamp name="C" unit="day" epoch="2000-01-01" presence="optional"/></template>"#,
    );
    let template = templates.by_name("T").unwrap();
    let timestamps: Vec<_> = template
        .fields()
        .map(|field| {
            field
                .timestamp()
                .map(|t| (t.unit, t.epoch.clone()))
                .unwrap()
        })
        .collect();
    assert_eq!(
        timestamps,
        [
            (TimeUnit::Millisecond, Epoch::Unix),
            (TimeUnit::Nanosecond, Epoch::Today),
            (TimeUnit::Day, Epoch::Other("2000-01-01".into())),
        ]
    );
    assert_eq!(template.field("A").unwrap().field_type(), FieldType::Int64);
    assert_eq!(
        both_ways(&templates, &[0xc0, 0x81, 0xff, 0x01, 0x80, 0x80]).unwrap(),
        r#"{"template":"T","A":-1,"B":128}"#
    );
}

/// Values of FAST 1.2 types are plain integers to the operators and their dictionaries.
#[test]
fn operators_of_elements() {
    let templates = parse(
        r#"<template name="T" id="1"><enum name="A"><element name="x"/><element name="y"/><increment/></enum></template>"#,
    );
    let mut decoder = Decoder::new(&templates);
    let mut names = Vec::new();
    for bytes in [&[0xe0, 0x81, 0x80][..], &[0x80], &[0x80]] {
        let mut message = Message::new();
        decoder.decode(bytes, &mut message).unwrap();
        names.push(message.record().element("A").unwrap().to_owned());
    }
    // The first follows the last (§6.3.6).
    assert_eq!(names, ["x", "y", "x"]);
}

/// "Bit Group": fields from left to right, over the boundaries of bytes, zeros at the end.
#[test]
fn bit_groups_pack_their_fields() {
    let templates = parse(
        r#"<define name="Action"><enum><element name="0"/><element name="1"/><element name="2"/></enum></define>
        <template name="T" id="1">
          <bitGroup name="L">
            <field name="A"><type name="Action"/></field>
            <enum name="B"><element name="Bid"/><element name="Ask"/></enum>
            <boolean name="C"/><uInt3 name="D"/>
          </bitGroup>
          <bitGroup name="M"><uInt5 name="E"/><int6 name="F"/><set name="G"><element name="x"/><element name="y"/><element name="z"/></set></bitGroup>
          <uInt32 name="N"/>
        </template>"#,
    );
    let template = templates.by_name("T").unwrap();
    let widths: Vec<_> = template
        .fields()
        .flat_map(|field| [field].into_iter().chain(field.fields()))
        .map(|field| (field.path(), field.type_name(), field.bit_width()))
        .collect();
    assert_eq!(
        widths,
        [
            ("L", "bitGroup", Some(7)),
            ("L.A", "enum", Some(2)),
            ("L.B", "enum", Some(1)),
            ("L.C", "boolean", Some(1)),
            ("L.D", "uInt3", Some(3)),
            ("M", "bitGroup", Some(14)),
            ("M.E", "uInt5", Some(5)),
            ("M.F", "int6", Some(6)),
            ("M.G", "set", Some(3)),
            ("N", "uInt32", None),
        ]
    );
    // 10 1 0 101; 10011 11|1101 101: F is -3 over two bytes.
    let bytes = [
        0xc0,
        0x81,
        0x80 | 0b1010101,
        0b1001111,
        0x80 | 0b1101101,
        0x87,
    ];
    assert_eq!(
        both_ways(&templates, &bytes).unwrap(),
        r#"{"template":"T","L":{"A":"2","B":"Ask","C":false,"D":5},"M":{"E":19,"F":-3,"G":["x","z"]},"N":7}"#
    );
    // D2: an enumeration of three has no fourth.
    let error = Decoder::new(&templates)
        .decode(&[0xc0, 0x81, 0xe0, 0x80, 0x80, 0x80], &mut ())
        .unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref(), error.offset),
        (Code::D2, Some("L.A"), 3)
    );
    // Values that do not fit are refused where they are set.
    let mut message = Message::new();
    let mut t = message.build(template);
    let set = t.group("L", |l| l.set("D", 8u8).map(|_| ()));
    assert_eq!(set.map(|_| ()), Err(BuildError::Range("L.D".into())));
}

/// Optional fields of a bit group have a value more for NULL: two bits for a boolean.
#[test]
fn nullable_fields_of_bit_groups() {
    let templates = parse(
        r#"<template name="T" id="1"><bitGroup name="G"><boolean name="A" presence="optional"/>
           <enum name="B" presence="optional"><element name="x"/><element name="y"/><element name="z"/></enum></bitGroup></template>"#,
    );
    for (bits, expected) in [
        (0b0000000, r#"{}"#),
        (0b0100000, r#"{"A":false}"#),
        (0b1001000, r#"{"A":true,"B":"x"}"#),
        (0b0011000, r#"{"B":"z"}"#),
    ] {
        let text = both_ways(&templates, &[0xc0, 0x81, 0x80 | bits]).unwrap();
        assert_eq!(text, format!(r#"{{"template":"T","G":{expected}}}"#));
    }
    assert_eq!(both_ways(&templates, &[0xc0, 0x81, 0xe0]), Err(Code::D2));
}

/// A copied bit group is one entry of the dictionary.
#[test]
fn copied_bit_groups() {
    let templates = parse(
        r#"<template name="T" id="1"><bitGroup name="G"><uInt7 name="A"/><uInt1 name="B"/><copy/></bitGroup></template>"#,
    );
    let (mut decoder, mut encoder) = (Decoder::new(&templates), Encoder::new(&templates));
    for (bytes, a, b) in [
        (&[0xe0, 0x81, 0x05, 0xc0][..], 5, 1),
        (&[0x80], 5, 1),
        (&[0xa0, 0x05, 0x80], 5, 0),
    ] {
        let mut message = Message::new();
        decoder.decode(bytes, &mut message).unwrap();
        let Some(Value::Group(group)) = message.get("G") else {
            panic!("{message:?}")
        };
        assert_eq!(group.get("A"), Some(Value::Unsigned(a)));
        assert_eq!(group.get("B"), Some(Value::Unsigned(b)));
        let mut out = Vec::new();
        encoder.encode(&message, &mut out).unwrap();
        assert_eq!(out, bytes);
    }
    let error = Decoder::new(&templates)
        .decode(&[0xc0, 0x81], &mut ())
        .unwrap_err();
    assert_eq!((error.code, error.field.as_deref()), (Code::D5, Some("G")));
}

/// Bits that no field asks for: zeros follow a group that ends early, in strict mode R8 is any other length.
#[test]
fn lengths_of_bit_groups() {
    let templates = parse(
        r#"<template name="T" id="1"><bitGroup name="G"><uInt7 name="A"/><uInt1 name="B"/></bitGroup></template>"#,
    );
    let options = |strict| tickwire_fast::DecoderOptions {
        strict,
        ..Default::default()
    };
    let decode = |bytes: &[u8], strict| {
        let mut decoder = Decoder::with_options(&templates, options(strict));
        decoder
            .decode(bytes, &mut ())
            .map_err(|error| (error.code, error.offset))
    };
    assert_eq!(decode(&[0xc0, 0x81, 0x05, 0xc0], true), Ok(4));
    for bytes in [
        &[0xc0, 0x81, 0x85][..],
        &[0xc0, 0x81, 0x05, 0xc1],
        &[0xc0, 0x81, 0x05, 0x00, 0x80],
    ] {
        assert_eq!(decode(bytes, false), Ok(bytes.len()));
        assert_eq!(decode(bytes, true), Err((Code::R8, 2)));
    }
    assert_eq!(
        decode(&[0xc0, 0x81, 0x05], false),
        Err((Code::Truncated, 2))
    );
}

#[test]
fn bit_groups_that_cannot_be() {
    let group = |inner: &str| {
        format!(r#"<template name="T" id="1"><bitGroup name="G">{inner}</bitGroup></template>"#)
    };
    for (inner, code, detail) in [
        ("", Code::S1, "a bit group without fields"),
        (r#"<uInt32 name="A"/>"#, Code::S1, "uInt32 in a bit group"),
        (
            r#"<uInt3 name="A" presence="optional"/>"#,
            Code::S1,
            "uInt3 has no bits for NULL: it cannot be optional",
        ),
        (
            r#"<boolean name="A"><copy/></boolean>"#,
            Code::S2,
            "copy on a field of a bit group",
        ),
        (
            r#"<boolean name="A"/><delta/>"#,
            Code::S2,
            "delta on bitGroup G",
        ),
        (
            r#"<boolean name="A"/><copy value="1"/>"#,
            Code::S3,
            "\"1\" for bitGroup G",
        ),
        (
            &r#"<uInt7 name="A"/>"#.repeat(10),
            Code::S1,
            "a bit group of more than 63 bits",
        ),
    ] {
        let (told_code, _, _, told) = refused(Mode::Strict, &group(inner));
        assert_eq!((told_code, &*told), (code, detail), "{inner}");
    }
    let optional = r#"<template name="T"><bitGroup name="G" presence="optional"><boolean name="A"/></bitGroup></template>"#;
    let (code, _, _, detail) = refused(Mode::Lenient, optional);
    assert_eq!(
        (code, &*detail),
        (
            Code::S1,
            "FAST 1.2 has no NULL for a bit group: it cannot be optional"
        )
    );
}
