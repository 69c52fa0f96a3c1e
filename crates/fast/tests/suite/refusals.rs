//! What templates, decoder and encoder refuse beside what the tests of operators and templates show, each by its code;
//! and what no dictionary entry may be taken for.

use crate::check::{check, template};
use tickwire_fast::{Code, Decoder, DecoderOptions, Encoder, Message, Mode, Templates, Visitor};

/// §9: elements and attributes of other namespaces are skipped, and FAST's is what the root says: 1.0's, 1.1's, none.
#[test]
fn foreign_elements_and_namespaces() {
    for namespace in [
        "",
        r#"xmlns="http://www.fixprotocol.org/ns/template-definition""#,
        r#"xmlns="http://www.fixprotocol.org/ns/fast/td/1.1""#,
    ] {
        let xml = format!(
            r#"<!-- before the root --><templates {namespace} xmlns:x="urn:x" x:y="z"><x:note><a/></x:note>
            <template name="T" id="1" x:y="z"><x:note/><uInt32 name="F" x:y="z"><x:note/><copy value="7" x:y="z"/></uInt32></template></templates>"#
        );
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        let mut message = Message::new();
        assert_eq!(
            Decoder::new(&templates).decode(&[0xc0, 0x81], &mut message),
            Ok(2)
        );
        assert_eq!(message.get("F"), Some(7u32.into()));
    }
}

/// §6.3.3: default neither reads the dictionary nor writes it, NULL included.
#[test]
fn default_has_no_entry() {
    let fields = r#"<uInt32 name="K" presence="optional"><default value="7"/></uInt32>
        <uInt32 name="B" presence="optional"><copy key="K"/></uInt32>"#;
    check(
        fields,
        &[
            ("F0 81 85 83", r#""K":4,"B":2"#),
            // Not what K was.
            ("80", r#""K":7,"B":2"#),
            ("A0 80", r#""B":2"#),
            // Nor is B what K is.
            ("80", r#""K":7,"B":2"#),
        ],
    );
}

/// §10.5: lengths without a name, and the parts of decimals, have entries of their own.
#[test]
fn parts_have_entries_of_their_own() {
    let sequence = |name| {
        format!(
            r#"<sequence name="{name}"><length><copy/></length><uInt32 name="{name}A"/></sequence>"#
        )
    };
    check(&(sequence("S") + &sequence("R")), &[("E0 81 81 85", "D5")]);
    let decimal = |name| {
        format!(
            r#"<decimal name="{name}"><exponent><copy/></exponent><mantissa><copy/></mantissa></decimal>"#
        )
    };
    check(&(decimal("P") + &decimal("Q")), &[("F0 81 FE 85", "D5")]);
    // The exponent of P is not a field that is called P.
    let field = r#"<int32 name="P"><copy/></int32>"#;
    check(&(decimal("P") + field), &[("F0 81 FE 85", "D5")]);
}

/// §10: the template id is a copy in the global dictionary. A reset of the session forgets it, so that the next
/// message has it again; a template's own reset does not, or the id of its message would be lost at once.
#[test]
fn template_ids_are_copied_until_a_reset() {
    let xml = r#"<templates xmlns:scp="http://www.fixprotocol.org/ns/fast/scp/1.1">
        <template name="T" id="1" scp:reset="yes"><uInt32 name="F"/></template></templates>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let mut message = Message::new();
    message
        .build(templates.by_name("T").unwrap())
        .set("F", 5u8)
        .unwrap();
    let (mut encoder, mut decoder) = (Encoder::new(&templates), Decoder::new(&templates));
    let mut exchange = |reset: bool| {
        let mut out = Vec::new();
        if reset {
            encoder.reset();
            decoder.reset();
        }
        encoder.encode(&message, &mut out).unwrap();
        assert_eq!(decoder.decode(&out, &mut ()), Ok(out.len()));
        out
    };
    assert_eq!(exchange(false), [0xc0, 0x81, 0x85]);
    assert_eq!(exchange(false), [0x80, 0x85]);
    assert_eq!(exchange(true), [0xc0, 0x81, 0x85]);
    // D5: there is no id to copy.
    decoder.reset();
    let error = decoder.decode(&[0x80, 0x85], &mut ()).unwrap_err();
    assert_eq!((error.code, error.offset), (Code::D5, 1));
    let place = error.to_string();
    assert!(place.starts_with("byte 1, template id: D5: "), "{place}");
}

/// D2, R6: an id is an unsigned integer of 32 bits in as few bytes as it needs.
#[test]
fn template_ids_are_integers() {
    let templates = template(r#"<uInt32 name="F"/>"#);
    let decode = |strict, bytes: &[u8]| {
        let options = DecoderOptions {
            strict,
            ..DecoderOptions::default()
        };
        let error = Decoder::with_options(&templates, options).decode(bytes, &mut ());
        error.map_err(|error| (error.code, error.offset))
    };
    let large = [0xc0, 0x10, 0x00, 0x00, 0x00, 0x80, 0x85];
    assert_eq!(decode(false, &large), Err((Code::D2, 1)));
    assert_eq!(decode(false, &[0xc0, 0x00, 0x81, 0x85]), Ok(4));
    assert_eq!(decode(true, &[0xc0, 0x00, 0x81, 0x85]), Err((Code::R6, 1)));
}

/// What no builder lets through, an encoder refuses: values given to a message as a visitor.
#[test]
fn values_that_their_field_cannot_have_are_not_encoded() {
    let refused = |fields: &str, set: &dyn Fn(&mut Message, tickwire_fast::FieldIndex)| {
        let templates = template(fields);
        let template = templates.by_name("T").unwrap();
        let mut message = Message::new();
        message.start(template);
        set(&mut message, template.fields().next().unwrap().index());
        let mut out = vec![7];
        let error = Encoder::new(&templates)
            .encode(&message, &mut out)
            .unwrap_err();
        assert_eq!(out, [7], "nothing is appended");
        assert_eq!(error.template.as_deref(), Some("T"));
        assert_eq!(error.field.as_deref(), Some("F"));
        error.code
    };
    let number = r#"<uInt32 name="F"/>"#;
    assert_eq!(
        refused(number, &|message, f| message.unsigned(f, 1 << 32)),
        Code::D2
    );
    assert_eq!(
        refused(number, &|message, f| message.signed(f, 1)),
        Code::D1
    );
    assert_eq!(refused(number, &|_, _| ()), Code::Missing);
    let signed = r#"<int32 name="F"/>"#;
    assert_eq!(
        refused(signed, &|message, f| message.signed(f, 1 << 31)),
        Code::D2
    );
    let text = r#"<string name="F"/>"#;
    assert_eq!(
        refused(text, &|message, f| Visitor::text(message, f, "é")),
        Code::R3
    );
    assert_eq!(
        refused(text, &|message, f| message.bytes(f, &[1])),
        Code::D1
    );
    let constant = r#"<uInt32 name="F"><constant value="1"/></uInt32>"#;
    assert_eq!(
        refused(constant, &|message, f| message.unsigned(f, 2)),
        Code::Unencodable
    );
    let sequence = r#"<sequence name="F"><uInt32 name="A"/></sequence>"#;
    assert_eq!(
        refused(sequence, &|message, f| message.begin_group(f)),
        Code::D1
    );
}

/// D4, D6: an entry that another field left with another type, or empty, is as wrong to the encoder as to the decoder.
#[test]
fn entries_that_cannot_be_used_are_not_encoded() {
    let refused = |fields: &str, a: Option<u32>| {
        let templates = template(fields);
        let mut message = Message::new();
        let mut builder = message.build(templates.by_name("T").unwrap());
        if let Some(a) = a {
            builder.set("A", a).unwrap();
        }
        builder.set("B", 5u8).unwrap();
        let error = Encoder::new(&templates)
            .encode(&message, &mut Vec::new())
            .unwrap_err();
        assert_eq!(error.field.as_deref(), Some("B"));
        error.code
    };
    let of_another_type =
        r#"<uInt32 name="A"><copy key="K"/></uInt32><int32 name="B"><delta key="K"/></int32>"#;
    assert_eq!(refused(of_another_type, Some(1)), Code::D4);
    let emptied = r#"<uInt32 name="A" presence="optional"><copy key="K"/></uInt32><uInt32 name="B"><delta key="K"/></uInt32>"#;
    assert_eq!(refused(emptied, None), Code::D6);
}

/// D9: a template without an id has no messages.
#[test]
fn d9_a_template_without_an_id_is_not_encoded() {
    let templates = Templates::parse(
        r#"<template name="T"><uInt32 name="F"/></template>"#,
        Mode::Strict,
    )
    .unwrap();
    let mut message = Message::new();
    message
        .build(templates.by_name("T").unwrap())
        .set("F", 5u8)
        .unwrap();
    let error = Encoder::new(&templates)
        .encode(&message, &mut Vec::new())
        .unwrap_err();
    assert_eq!(error.code, Code::D9);
}

/// A length that the template has is not sent, but its elements are.
#[test]
fn elements_of_a_constant_length_are_not_left_out() {
    let encode = |len: u32| {
        let templates = template(&format!(
            r#"<sequence name="S"><length><constant value="{len}"/></length><uInt32 name="F"/></sequence>"#
        ));
        let mut message = Message::new();
        message.start(templates.by_name("T").unwrap());
        let mut bytes = Vec::new();
        let done = Encoder::new(&templates).encode(&message, &mut bytes);
        done.map(|()| bytes).map_err(|error| error.code)
    };
    assert_eq!(encode(2), Err(Code::Missing));
    assert_eq!(encode(0), Ok(vec![0xc0, 0x81]));
}

/// §6.3.6: an absent value is NULL whatever the increment of the previous one would be.
#[test]
fn an_increment_of_the_largest_signed_value_may_be_absent() {
    check(
        r#"<uInt64 name="F" presence="optional"><increment/></uInt64>"#,
        &[
            (
                "E0 81 01 00 00 00 00 00 00 00 00 80",
                r#""F":9223372036854775807"#,
            ),
            ("A0 80", ""),
        ],
    );
}
