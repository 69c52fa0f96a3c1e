//! What fastlib 0.3.8 decodes or encodes otherwise, each with the rule of FAST 1.1 that decides. Random templates for
//! both ([`Shape::Peer`](tickwire_fast_conformance::Shape::Peer)) leave these out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastlib::Value as PeerValue;
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, Mode, Templates};

use crate::events::{Collected, Event, Offered, events};

/// What fastlib makes of the last message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Peer {
    Says(&'static str),
    Refuses,
    /// It panics, at the latest where overflow is checked; a wrong value elsewhere.
    Panics,
}

use Peer::{Panics, Refuses, Says};

/// One disagreement: fields, messages in hexadecimal, and what each decoder makes of the last one.
struct Case {
    rule: &'static str,
    fields: &'static str,
    messages: &'static [&'static str],
    ours: &'static str,
    its: Peer,
}

const CASES: [Case; 20] = [
    Case {
        rule: "§10.6.1: a nullable uInt64 has 65 bits on the wire",
        fields: r#"<uInt64 id="1" name="F" presence="optional"/>"#,
        messages: &["C0 81 02 00 00 00 00 00 00 00 00 80"],
        ours: "F=18446744073709551615",
        its: Says(""),
    },
    Case {
        rule: "§10.6.1: so has a nullable int64",
        fields: r#"<int64 id="1" name="F" presence="optional"/>"#,
        messages: &["C0 81 01 00 00 00 00 00 00 00 00 80"],
        ours: "F=9223372036854775807",
        its: Says("F=-9223372036854775808"),
    },
    Case {
        rule: "D2: an integer outside its type is an error, not its last 64 bits",
        fields: r#"<uInt64 id="1" name="F"/>"#,
        messages: &["C0 81 02 00 00 00 00 00 00 00 00 85"],
        ours: "D2",
        its: Says("F=5"),
    },
    Case {
        rule: "R1: a mantissa outside int64 is an error",
        fields: r#"<decimal id="1" name="F"/>"#,
        messages: &["C0 81 80 01 00 00 00 00 00 00 00 00 80"],
        ours: "R1",
        its: Says("F=-9223372036854775808e0"),
    },
    Case {
        rule: "R1: so is an exponent outside -63..=63 that an operator makes",
        fields: r#"<decimal id="1" name="F"><delta/></decimal>"#,
        messages: &["C0 81 BF 80", "80 81 80"],
        ours: "R1",
        its: Says("F=0e64"),
    },
    Case {
        rule: "§10.6.3: 00 80 is a string of one NUL",
        fields: r#"<string id="1" name="F"/>"#,
        messages: &["C0 81 00 80"],
        ours: "F=\"\\0\"",
        its: Says("F=\"\\0\\0\""),
    },
    Case {
        rule: "§10.6.3: nullable, 00 00 80 is a string of one NUL",
        fields: r#"<string id="1" name="F" presence="optional"/>"#,
        messages: &["C0 81 00 00 80"],
        ours: "F=\"\\0\"",
        its: Says("F=\"\\0\\0\""),
    },
    Case {
        rule: "§10.6.3: the first 00 is a preamble, needed or not (R9 if strict)",
        fields: r#"<string id="1" name="F"/>"#,
        messages: &["C0 81 00 C1"],
        ours: "F=\"A\"",
        its: Says("F=\"\\0A\""),
    },
    Case {
        rule: "§6.3.4: the largest integer is followed by the smallest",
        fields: r#"<uInt32 id="1" name="F"><increment value="4294967295"/></uInt32>"#,
        messages: &["C0 81", "80"],
        ours: "F=0",
        its: Panics,
    },
    Case {
        rule: "§6.3.7.1: a delta may have one bit more than its type",
        fields: r#"<int32 id="1" name="F"><delta value="2147483647"/></int32>"#,
        messages: &["C0 81 70 00 00 00 81"],
        ours: "F=-2147483648",
        its: Panics,
    },
    Case {
        rule: "R4: a delta that leads out of the type is an error",
        fields: r#"<uInt32 id="1" name="F"><delta value="1"/></uInt32>"#,
        messages: &["C0 81 FE"],
        ours: "R4",
        its: Panics,
    },
    Case {
        rule: "§6.3.7.3, §10.5.1: of an optional string delta only the subtraction length is nullable",
        fields: r#"<string id="1" name="F" presence="optional"><delta value="AB"/></string>"#,
        messages: &["C0 81 82 80"],
        ours: "F=\"A\"",
        its: Panics,
    },
    Case {
        rule: "§6.3.7.4, §10.5.1: of an optional byte vector delta too",
        fields: r#"<byteVector id="1" name="F" presence="optional"><delta/></byteVector>"#,
        messages: &["C0 81 81 81 41"],
        ours: "F=41",
        its: Refuses,
    },
    Case {
        rule: "§6.3.8: a NULL tail makes the previous value empty",
        fields: r#"<string id="1" name="F" presence="optional"><tail/></string>"#,
        messages: &["E0 81 C1", "A0 80", "80"],
        ours: "",
        its: Says("F=\"A\""),
    },
    Case {
        rule: "§6.3.2: the initial value of a decimal is a previous value, too",
        fields: r#"<decimal id="1" name="F"><copy value="1.5"/></decimal>"#,
        messages: &["C0 81"],
        ours: "F=15e-1",
        its: Refuses,
    },
    Case {
        rule: "§10.5: lengths without a name have entries of their own",
        fields: r#"<sequence name="S"><length id="1"><copy/></length><uInt32 id="2" name="A"/></sequence>
            <sequence name="R"><length id="3"><copy/></length><uInt32 id="4" name="B"/></sequence>"#,
        messages: &["E0 81 81 85"],
        ours: "D5",
        its: Refuses,
    },
    Case {
        rule: "§6.3.1: the key is an attribute of the operator",
        fields: r#"<uInt32 id="1" name="A"><copy key="K"/></uInt32><uInt32 id="2" name="B"><copy key="K"/></uInt32>"#,
        messages: &["E0 81 85"],
        ours: "A=5 B=5",
        its: Refuses,
    },
    Case {
        rule: "R1: the exponent's range is that of the number, whatever its operator",
        fields: r#"<decimal id="1" name="F"><exponent><increment value="63"/></exponent><mantissa/></decimal>"#,
        messages: &["C0 81 81", "80 81"],
        ours: "R1",
        its: Says("F=1e64"),
    },
    Case {
        rule: "§10.5: a presence map may have any length",
        fields: FLAGS,
        messages: &["60 00 00 00 00 00 00 00 00 00 C0 81 86 87"],
        ours: "F0=5 F69=6",
        its: Panics,
    },
    Case {
        rule: "SCP 1.0: id 120 is the session's reset",
        fields: r#"<uInt32 id="1" name="F"><copy value="7"/></uInt32>"#,
        messages: &["E0 81 85", "C0 F8", "C0 81"],
        ours: "F=7",
        its: Says("F=5"),
    },
];

/// 70 optional fields with a presence bit each; filled in by [`fields`].
const FLAGS: &str = "flags";

fn fields(case: &Case) -> String {
    if case.fields != FLAGS {
        return case.fields.to_owned();
    }
    let flag = |n| format!(r#"<uInt32 id="1" name="F{n}" presence="optional"><default/></uInt32>"#);
    (0..70).map(flag).collect()
}

#[test]
fn each_is_decided_by_a_rule() {
    for case in &CASES {
        let xml = file(&fields(case));
        let messages: Vec<_> = case.messages.iter().map(|message| bytes(message)).collect();
        assert_eq!(ours(&xml, &messages), case.ours, "{}", case.rule);
        let its = its(&xml, &messages);
        match case.its {
            Says(text) => assert_eq!(its, Ok(Some(text.to_owned())), "{}", case.rule),
            Refuses => assert_eq!(its, Ok(None), "{}", case.rule),
            Panics if cfg!(debug_assertions) => assert_eq!(its, Err(()), "{}", case.rule),
            Panics => assert_ne!(its, Ok(Some(case.ours.to_owned())), "{}", case.rule),
        }
    }
}

/// Bytes that say nothing (R6 to R9): a strict decoder refuses them, fastlib takes them as ours does that is not strict.
#[test]
fn bytes_that_say_nothing_are_not_refused() {
    for (fields, message, text, code) in [
        (r#"<uInt32 id="1" name="F"/>"#, "C0 81 00 85", "F=5", "R6"),
        (r#"<uInt32 id="1" name="F"/>"#, "40 80 81 85", "F=5", "R7"),
        (r#"<uInt32 id="1" name="F"/>"#, "E0 81 85", "F=5", "R8"),
    ] {
        let (xml, message) = (file(fields), [bytes(message)]);
        assert_eq!(ours(&xml, &message), text);
        assert_eq!(its(&xml, &message), Ok(Some(text.to_owned())));
        let strict = DecoderOptions {
            strict: true,
            ..DecoderOptions::default()
        };
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        let refused = Decoder::with_options(&templates, strict).decode(&message[0], &mut ());
        assert_eq!(
            refused.map_err(|error| format!("{:?}", error.code)),
            Err(code.to_owned())
        );
    }
}

/// §6.3.1: a static reference makes the referenced template the current one.
#[test]
fn a_static_reference_changes_the_current_template() {
    let copy = r#"<uInt32 id="1" name="A"><copy key="A" dictionary="template"/></uInt32>"#;
    let xml = format!(
        r#"<templates><template id="9" name="P">{copy}</template>
        <template id="1" name="T"><templateRef name="P"/>{copy}</template></templates>"#
    );
    // The copy in P has an entry of P's, so that the one in T has nothing to copy.
    let messages = [bytes("E0 81 85")];
    assert_eq!(ours(&xml, &messages), "D5");
    let field = r#"<uInt32 id="1" name="A" dictionary="template"><copy/></uInt32>"#;
    assert_eq!(
        its(&xml.replace(copy, field), &messages),
        Ok(Some("A=5 A=5".to_owned()))
    );
}

/// §10: the template id's entry is in the global dictionary, whatever the template's own is.
#[test]
fn template_ids_are_in_the_global_dictionary() {
    let xml = r#"<templates><template id="1" name="T" dictionary="mine"><templateRef/></template>
        <template id="2" name="I"><uInt32 id="1" name="A"/></template></templates>"#;
    // The inner message's id is the last, and so the next message's.
    let messages = [bytes("C0 81 C0 82 85"), bytes("80 86")];
    assert_eq!(ours(xml, &messages), "A=6");
    assert_eq!(its(xml, &messages), Ok(None));
}

/// Nothing in §6.2 takes 0 out of the ids.
#[test]
fn a_template_id_may_be_zero() {
    let xml =
        r#"<templates><template id="0" name="T"><uInt32 id="1" name="F"/></template></templates>"#;
    let messages = [bytes("C0 80 85")];
    assert_eq!(ours(xml, &messages), "F=5");
    assert_eq!(its(xml, &messages), Ok(None));
}

/// §6.3, §6.3.3, §6.3.2, §6.2.2: what fastlib does not load.
#[test]
fn templates_that_are_valid_and_refused() {
    for fields in [
        r#"<decimal id="1" name="F"><constant value="1.5"/></decimal>"#,
        r#"<decimal id="1" name="F"><default value="1.5"/></decimal>"#,
        r#"<decimal id="1" name="F"><exponent><constant value="-2"/></exponent></decimal>"#,
        r#"<decimal id="1" name="F" presence="optional"><exponent><default/></exponent><mantissa/></decimal>"#,
        r#"<uInt32 name="F"/>"#,
    ] {
        let xml = file(fields);
        assert!(Templates::parse(&xml, Mode::Strict).is_ok(), "{fields}");
        assert!(fastlib::Decoder::new_from_xml(&xml).is_err(), "{fields}");
    }
}

/// §6.3.4: the first value is the initial one, not one more. Bit 0 is right for 7, and fastlib's encoder says it for 8.
#[test]
fn the_encoder_increments_the_initial_value() {
    let xml = file(r#"<uInt32 id="1" name="F"><increment value="7"/></uInt32>"#);
    assert_eq!(
        encoded(&xml, &[8]),
        (vec![bytes("E0 81 88")], vec![bytes("C0 81")])
    );
    assert_eq!(ours(&xml, &[bytes("C0 81")]), "F=7");
}

/// §6.3.1: a field's dictionary is where its entry is. fastlib's decoder knows, its encoder does not.
#[test]
fn the_encoder_forgets_the_dictionary_of_a_field() {
    let field = |attribute: &str, inner: &str| {
        format!(
            r#"<uInt32 id="1" name="A"><copy key="K"/></uInt32><uInt32 id="2" name="F" {attribute}><copy {inner}/></uInt32>"#
        )
        .replace(r#"name="A"><copy key="K"/>"#, if inner.is_empty() { r#"name="A" key="K"><copy/>"# } else { r#"name="A"><copy key="K"/>"# })
    };
    let ours_xml = file(&field("", r#"key="K" dictionary="mine""#));
    let its_xml = file(&field(r#"key="K" dictionary="mine""#, ""));
    let message = [bytes("F0 81 85 85")];
    assert_eq!(ours(&ours_xml, &message), "A=5 F=5");
    assert_eq!(its(&its_xml, &message), Ok(Some("A=5 F=5".to_owned())));
    let templates = Templates::parse(&ours_xml, Mode::Strict).unwrap();
    let mut decoded = Message::new();
    Decoder::new(&templates)
        .decode(&message[0], &mut decoded)
        .unwrap();
    let mut encoder = fastlib::Encoder::new_from_xml(&its_xml).unwrap();
    assert_eq!(
        encoder.encode_vec(&mut Offered::new(&decoded)).unwrap(),
        bytes("E0 81 85")
    );
}

/// What both encoders write for messages of one uInt32 called F.
fn encoded(xml: &str, values: &[u32]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let mut encoder = Encoder::new(&templates);
    let mut its_encoder = fastlib::Encoder::new_from_xml(xml).unwrap();
    let mut message = Message::new();
    let mut both = (Vec::new(), Vec::new());
    for value in values {
        message
            .build(templates.by_name("T").unwrap())
            .set("F", *value)
            .unwrap();
        let mut out = Vec::new();
        encoder.encode(&message, &mut out).unwrap();
        both.0.push(out);
        both.1
            .push(its_encoder.encode_vec(&mut Offered::new(&message)).unwrap());
    }
    both
}

fn file(fields: &str) -> String {
    format!(r#"<templates><template id="1" name="T">{fields}</template></templates>"#)
}

/// What our decoder makes of the last message: values, or an error's code.
fn ours(xml: &str, messages: &[Vec<u8>]) -> String {
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let mut decoder = Decoder::new(&templates);
    let mut message = Message::new();
    let mut last = String::new();
    for bytes in messages {
        last = match decoder.decode(bytes, &mut message) {
            Ok(_) => text(&events(&message)),
            Err(error) => format!("{:?}", error.code),
        };
    }
    last
}

/// What fastlib's decoder makes of the last message: values, `None` for an error, `Err` for a panic.
fn its(xml: &str, messages: &[Vec<u8>]) -> Result<Option<String>, ()> {
    let mut decoder = fastlib::Decoder::new_from_xml(xml).unwrap();
    let mut last = Ok(None);
    for bytes in messages {
        let mut collected = Collected::default();
        last = catch_unwind(AssertUnwindSafe(|| {
            decoder.decode_slice(bytes, &mut collected)
        }))
        .map(|done| done.ok().map(|()| text(&collected.events())))
        .map_err(|_| ());
    }
    last
}

fn text(events: &[Event]) -> String {
    let value = |event: &Event| match event {
        Event::Value(name, PeerValue::ASCIIString(text) | PeerValue::UnicodeString(text)) => {
            Some(format!("{name}={text:?}"))
        }
        Event::Value(name, PeerValue::Decimal(value)) => {
            Some(format!("{name}={}e{}", value.mantissa, value.exponent))
        }
        Event::Value(name, value) => Some(format!("{name}={value}")),
        _ => None,
    };
    let values: Vec<_> = events.iter().filter_map(value).collect();
    values.join(" ")
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}
