//! Template files: what is refused, where and why; dictionaries; references; resets.

use tickwire_fast::{
    Code, DecodeError, Decoder, DecoderOptions, Encoder, Message, Mode, ResetPolicy, TemplateId,
    Templates, Value, json,
};

fn refused(xml: &str) -> (Code, u32, u32, String) {
    let error = Templates::parse(xml, Mode::Strict).unwrap_err();
    (error.code, error.line, error.column, error.detail.into())
}

/// Wraps a field in a template, on line 2 from column 1.
fn field(xml: &str) -> String {
    format!("<template name=\"T\" id=\"1\">\n{xml}</template>")
}

fn decode(decoder: &mut Decoder, bytes: &[u8]) -> Result<String, DecodeError> {
    let mut message = Message::new();
    decoder.decode(bytes, &mut message)?;
    let mut text = String::new();
    json::write(&message, &mut text).unwrap();
    Ok(text)
}

#[test]
fn s1_to_s5_have_line_and_column() {
    let cases = [
        (
            "<uInt32 name=\"F\"><tail/></uInt32>",
            Code::S2,
            18,
            "tail on uInt32 F",
        ),
        (
            "<string name=\"F\"><increment/></string>",
            Code::S2,
            18,
            "increment on string F",
        ),
        (
            "<decimal name=\"F\"><increment/></decimal>",
            Code::S2,
            19,
            "increment on decimal F",
        ),
        (
            "<uInt32 name=\"F\"><copy value=\"-1\"/></uInt32>",
            Code::S3,
            18,
            "\"-1\" for uInt32 F",
        ),
        (
            "<decimal name=\"F\"><exponent><copy value=\"64\"/></exponent></decimal>",
            Code::S3,
            29,
            "\"64\" for int32 F",
        ),
        ("<uInt32 name=\"F\"><constant/></uInt32>", Code::S4, 18, "F"),
        ("<uInt32 name=\"F\"><default/></uInt32>", Code::S5, 18, "F"),
        (
            "<uInt32 name=\"F\"><constant value=\"1\" key=\"K\"/></uInt32>",
            Code::S1,
            38,
            "constant has no attribute key",
        ),
        (
            "<sequence name=\"F\"><length/><length/></sequence>",
            Code::S1,
            29,
            "F has two lengths",
        ),
        ("<uInt32/>", Code::S1, 1, "uInt32 without name"),
        (
            "<uInt32 name=\"F\" presence=\"maybe\"/>",
            Code::S1,
            1,
            "presence \"maybe\"",
        ),
        (
            "<uInt32 name=\"F\" presense=\"optional\"/>",
            Code::S1,
            18,
            "uInt32 has no attribute presense",
        ),
        (
            "<uInt32 name=\"F\"><copy/><delta/></uInt32>",
            Code::S1,
            25,
            "F has two operators",
        ),
        (
            "<uInt32 name=\"F\"><paste/></uInt32>",
            Code::S1,
            18,
            "paste is not a field operator",
        ),
        (
            "<float name=\"F\"/>",
            Code::S1,
            1,
            "element float is not a field of FAST",
        ),
        (
            "<uInt16 name=\"F\"/>",
            Code::S1,
            1,
            "uInt16 is a dialect: FAST has integers of 32 and 64 bits",
        ),
        (
            "<uInt32 name=\"F\"/>\u{a0}",
            Code::S1,
            19,
            "U+00A0 NO-BREAK SPACE, which XML does not take for a blank",
        ),
        (
            "<uInt32\u{a0}name=\"F\"/>",
            Code::S1,
            8,
            "U+00A0 NO-BREAK SPACE, which XML does not take for a blank",
        ),
        (
            "<uInt32 name=\"F\"/>;",
            Code::S1,
            19,
            "character U+003B between elements",
        ),
        ("<templateRef name=\"X\"/>", Code::D8, 1, "X"),
        (
            "<templateRef name=\"T\"/>",
            Code::S1,
            1,
            "template T contains itself",
        ),
    ];
    for (xml, code, column, detail) in cases {
        assert_eq!(
            refused(&field(xml)),
            (code, 2, column, detail.to_owned()),
            "{xml}"
        );
    }
    let (code, line, ..) = refused("<templates>\n<template name='A'>\n</templates>");
    assert_eq!((code, line), (Code::S1, 3));
    assert_eq!(refused("<a/>").3, "root element a, not templates");
    assert_eq!(
        refused("<templates><template name='A' id='x'/></templates>").3,
        "id \"x\" is not a 32-bit number"
    );
    assert_eq!(
        refused("<templates><template name='A' id='1'/><template name='B' id='1'/></templates>").3,
        "two templates have the id 1"
    );
    assert_eq!(
        refused("<templates><template name='A'/><template name='A'/></templates>").3,
        "two templates are called A"
    );
}

#[test]
fn lenient_mode_takes_the_dialects() {
    let xml = "<template name=\"T\" id=\"1\" reset=\"Y\">\u{a0}<uInt8\u{a0}name=\"A\"/><int16 name=\"B\" decimalPlaces=\"2\"/><!--\u{a0}-->
        <string name=\"C\" charset=\"unicode\"><constant value=\"a\u{a0}b\"/></string></template>";
    assert_eq!(refused(xml).2, 37);
    let templates = Templates::parse(xml, Mode::Lenient).unwrap();
    assert!(templates.by_id(TemplateId(1)).unwrap().resets());
    let mut decoder = Decoder::new(&templates);
    assert_eq!(
        decode(&mut decoder, &[0xc0, 0x81, 0x01, 0xff, 0x81]).unwrap(),
        "{\"template\":\"T\",\"A\":255,\"B\":1,\"C\":\"a\u{a0}b\"}"
    );
    // D2: 256 is no uInt8.
    let error = decode(&mut decoder, &[0xc0, 0x81, 0x02, 0x80, 0x81]).unwrap_err();
    assert_eq!(
        (error.code, error.offset, error.field.as_deref()),
        (Code::D2, 2, Some("A"))
    );
    assert_eq!(
        error.to_string(),
        "byte 2, template T, field A: D2: integer out of the range of its type"
    );
}

#[test]
fn reset_attribute_of_scp_is_standard() {
    let xml = r#"<templates xmlns:scp="http://www.fixprotocol.org/ns/fast/scp/1.1">
        <template name="T" id="1" scp:reset="yes"><uInt32 name="A"><increment value="1"/></uInt32></template>
        <template name="U" id="2" scp:reset="no"><uInt32 name="A"><increment value="1"/></uInt32></template></templates>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let numbers = |reset| {
        let mut decoder = Decoder::with_options(
            &templates,
            DecoderOptions {
                reset,
                ..DecoderOptions::default()
            },
        );
        let packet = [0xc0, 0x82, 0xc0, 0x82, 0xc0, 0x81, 0xc0, 0x82, 0x80];
        let (mut text, mut at) = (String::new(), 0);
        while at < packet.len() {
            let mut message = Message::new();
            match decoder.decode(&packet[at..], &mut message) {
                Ok(len) => at += len,
                Err(error) => return format!("{text}{:?}", error.code),
            }
            if let Some(Value::Unsigned(value)) = message.get("A") {
                text += &value.to_string();
            }
        }
        text
    };
    assert_eq!(numbers(ResetPolicy::Template), "12123");
    assert_eq!(numbers(ResetPolicy::Packet), "12123");
    assert_eq!(numbers(ResetPolicy::Never), "12345");
    // The template id is forgotten with everything else.
    assert_eq!(numbers(ResetPolicy::Message), "1111D5");
}

#[test]
fn session_reset_message_120_is_built_in() {
    let templates = Templates::parse(
        &field("<uInt32 name='A'><increment value='1'/></uInt32>"),
        Mode::Strict,
    )
    .unwrap();
    let mut decoder = Decoder::new(&templates);
    let mut message = Message::new();
    let packet = [0xc0, 0x81, 0x80, 0xc0, 0xf8, 0xc0, 0x81];
    assert_eq!(decoder.decode_packet(&packet, &mut message), Ok(4));
    assert_eq!(message.get("A"), Some(Value::Unsigned(1)));
}

/// SCP: nothing is known after a reset message, whoever defines it. Without resets it is a message without effect.
#[test]
fn after_a_reset_message_nothing_is_known() {
    let scp = r#"xmlns:scp="http://www.fixprotocol.org/ns/fast/scp/1.1""#;
    let quote =
        r#"<template name="T" id="1"><uInt32 name="A"><increment value="1"/></uInt32></template>"#;
    let reset = r#"<template name="Reset" id="120" scp:reset="yes"/>"#;
    let venues_own = r#"<template name="Own" id="120"/>"#;
    let decode = |defined: &str, reset: ResetPolicy, packet: &[u8]| {
        let xml = format!("<templates {scp}>{quote}{defined}</templates>");
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        let options = DecoderOptions {
            reset,
            ..DecoderOptions::default()
        };
        let mut decoder = Decoder::with_options(&templates, options);
        let mut message = Message::new();
        match decoder.decode_packet(packet, &mut message) {
            Ok(_) => match message.get("A") {
                Some(Value::Unsigned(number)) => Ok(Some(number)),
                _ => Ok(None),
            },
            Err(error) => Err((error.code, error.offset)),
        }
    };
    let with_id = [0xc0, 0x81, 0x80, 0xc0, 0xf8, 0xc0, 0x81];
    let without_id = [0xc0, 0x81, 0x80, 0xc0, 0xf8, 0x80];
    let number = |number: u64| Ok(Some(number));
    for defined in ["", reset] {
        for policy in [ResetPolicy::Template, ResetPolicy::Packet] {
            assert_eq!(decode(defined, policy, &with_id), number(1), "{defined}");
            assert_eq!(
                decode(defined, policy, &without_id),
                Err((Code::D5, 6)),
                "{defined}"
            );
        }
        assert_eq!(
            decode(defined, ResetPolicy::Never, &with_id),
            number(3),
            "{defined}"
        );
        // The id that it copies is that of the reset message.
        assert_eq!(
            decode(defined, ResetPolicy::Never, &without_id),
            Ok(None),
            "{defined}"
        );
    }
    assert_eq!(
        decode(venues_own, ResetPolicy::Template, &with_id),
        number(3)
    );
}

#[test]
fn a_reset_message_within_a_message_is_none() {
    let templates = Templates::parse(&field("<templateRef/>"), Mode::Strict).unwrap();
    let error = Decoder::new(&templates).decode(&[0xc0, 0x81, 0xc0, 0xf8], &mut ());
    let error = error.unwrap_err();
    assert_eq!((error.code, error.offset), (Code::D9, 3));
    assert_eq!(error.unknown_template, Some(TemplateId(120)));
}

#[test]
fn encoders_reset_where_decoders_do() {
    let scp = r#"xmlns:scp="http://www.fixprotocol.org/ns/fast/scp/1.1""#;
    let xml = format!(
        r#"<templates {scp}><template name="T" id="1"><uInt32 name="A"><copy value="5"/></uInt32></template>
        <template name="Reset" id="120" scp:reset="yes"/></templates>"#
    );
    let templates = Templates::parse(&xml, Mode::Strict).unwrap();
    let (mut quote, mut reset) = (Message::new(), Message::new());
    quote
        .build(templates.by_name("T").unwrap())
        .set("A", 6u8)
        .unwrap();
    reset.build(templates.by_name("Reset").unwrap());
    for (policy, expected) in [
        (ResetPolicy::Template, "e0 81 86 c0 f8 c0 f8 e0 81 86"),
        (ResetPolicy::Never, "e0 81 86 c0 f8 80 c0 81"),
    ] {
        let (mut bytes, mut built_in) = (Vec::new(), Vec::new());
        let mut encoder = Encoder::with_reset(&templates, policy);
        for message in [&quote, &reset, &reset, &quote] {
            encoder.encode(message, &mut bytes).unwrap();
        }
        encoder.reset();
        encoder.encode(&quote, &mut built_in).unwrap();
        encoder.encode_reset(&mut built_in);
        encoder.encode_reset(&mut built_in);
        encoder.encode(&quote, &mut built_in).unwrap();
        let hex = bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<Vec<_>>();
        assert_eq!(hex.join(" "), expected);
        assert_eq!(built_in, bytes);
    }
}

#[test]
fn d9_unknown_template_and_d5_missing_template_id() {
    let templates = Templates::parse(&field("<uInt32 name='A'/>"), Mode::Strict).unwrap();
    for (bytes, code, offset) in [
        (&[0xc0, 0x85][..], Code::D9, 1),
        (&[0x80, 0x81], Code::D5, 1),
        (&[], Code::Truncated, 0),
    ] {
        let error = decode(&mut Decoder::new(&templates), bytes).unwrap_err();
        assert_eq!(
            (error.code, error.offset, error.template),
            (code, offset, None)
        );
    }
}

/// §6.3.1: which fields share an entry is decided by dictionary, namespace and key.
#[test]
fn dictionary_scopes() {
    let increments = |attributes: [&str; 2], inner: [&str; 2], types: [&str; 2]| {
        let template = |index: usize| {
            format!(
                r#"<template name="T{index}" id="{}" {}>{}<uInt32 name="A"><increment value="1" {}/></uInt32></template>"#,
                index + 1,
                attributes[index],
                types[index],
                inner[index]
            )
        };
        let xml = format!("<templates>{}{}</templates>", template(0), template(1));
        let mut decoder = Decoder::new(&Templates::parse(&xml, Mode::Strict).unwrap());
        decode(&mut decoder, &[0xc0, 0x81]).unwrap();
        decode(&mut decoder, &[0xc0, 0x82])
            .unwrap()
            .ends_with("\"A\":2}")
    };
    let none = ["", ""];
    let ty = |name: &str| format!("<typeRef name=\"{name}\"/>");
    assert!(increments(none, none, none), "global");
    assert!(increments(["dictionary='global'"; 2], none, none));
    assert!(!increments(["dictionary='template'"; 2], none, none));
    assert!(
        !increments(none, ["dictionary='template'"; 2], none),
        "on the operator"
    );
    assert!(
        increments(
            ["dictionary='template'"; 2],
            ["dictionary='global'"; 2],
            none
        ),
        "the nearest counts"
    );
    assert!(increments(["dictionary='type'"; 2], none, none), "type any");
    assert!(increments(
        ["dictionary='type'"; 2],
        none,
        [&ty("X"), &ty("X")]
    ));
    assert!(!increments(
        ["dictionary='type'"; 2],
        none,
        [&ty("X"), &ty("Y")]
    ));
    assert!(!increments(["dictionary='type'"; 2], none, [&ty("X"), ""]));
    assert!(
        increments(["dictionary='mine'"; 2], none, none),
        "user-defined"
    );
    assert!(!increments(
        ["dictionary='mine'", "dictionary='yours'"],
        none,
        none
    ));
    assert!(!increments(none, ["key='K'", ""], none));
    assert!(increments(none, ["key='K'"; 2], none));
    assert!(
        !increments(["ns='a'", "ns='b'"], none, none),
        "namespaces tell names apart"
    );
    assert!(increments(
        ["ns='a'", "ns='b'"],
        ["key='A' ns='c'"; 2],
        none
    ));
}

#[test]
fn static_references_stand_in_their_place() {
    let xml = r#"<templates dictionary="template">
        <template name="T" id="1"><uInt32 name="A"/><templateRef name="Part"/><sequence name="S"><templateRef name="Part"/></sequence></template>
        <template name="Part"><uInt32 name="P"><copy/></uInt32></template></templates>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let mut decoder = Decoder::new(&templates);
    // Part's own dictionary is the current one inside it, wherever it is referenced from.
    let text = decode(
        &mut decoder,
        &[0xe0, 0x81, 0x81, 0x85, 0x82, 0x80, 0xc0, 0x86],
    )
    .unwrap();
    assert_eq!(
        text,
        r#"{"template":"T","A":1,"P":5,"S":[{"P":5},{"P":6}]}"#
    );
    let template = templates.by_name("T").unwrap();
    let paths: Vec<_> = template
        .fields()
        .flat_map(|f| [f].into_iter().chain(f.fields()))
        .map(|f| f.path().to_owned())
        .collect();
    assert_eq!(paths, ["A", "P", "S", "S.P"]);
}

#[test]
fn references_that_multiply_are_bounded() {
    let level = |n: u32| {
        format!(
            "<template name='L{n}'>{}</template>",
            format!("<templateRef name='L{}'/>", n + 1).repeat(10)
        )
    };
    let levels: String = (0..10).map(level).collect();
    let xml = format!(
        "<templates>{levels}<template name='L10'><uInt32 name='A'/></template></templates>"
    );
    assert_eq!(refused(&xml).3, "more than 100000 instructions");
    let deep = format!(
        "{}{}",
        "<group name='G'>".repeat(100),
        "</group>".repeat(100)
    );
    assert_eq!(refused(&field(&deep)).3, "more than 64 levels");
}

#[test]
fn dynamic_references_are_messages_within_the_message() {
    let xml = r#"<templates><template name="Outer" id="1"><uInt32 name="A"/><templateRef/><uInt32 name="B"><copy/></uInt32></template>
        <template name="Inner" id="2"><uInt32 name="X"><copy/></uInt32></template></templates>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let (mut decoder, mut encoder) = (Decoder::new(&templates), Encoder::new(&templates));
    let bytes = [0xe0, 0x81, 0x81, 0xe0, 0x82, 0x85, 0x86];
    let text = decode(&mut decoder, &bytes).unwrap();
    assert_eq!(
        text,
        r#"{"template":"Outer","A":1,"templateRef":{"template":"Inner","X":5},"B":6}"#
    );
    // The inner message's template id was the last.
    assert_eq!(
        decode(&mut decoder, &[0x80]).unwrap(),
        r#"{"template":"Inner","X":5}"#
    );
    let mut message = Message::new();
    let mut outer = message.build(templates.by_name("Outer").unwrap());
    outer.set("A", 1u8).unwrap();
    outer
        .template(templates.by_name("Inner").unwrap(), |inner| {
            inner.set("X", 5u8).map(|_| ())
        })
        .unwrap();
    outer.set("B", 6u8).unwrap();
    let mut out = Vec::new();
    encoder.encode(&message, &mut out).unwrap();
    assert_eq!(out, bytes);
}

#[test]
fn recursion_is_bounded() {
    let templates = Templates::parse(&field("<templateRef/>"), Mode::Strict).unwrap();
    let mut decoder = Decoder::new(&templates);
    let error = decode(&mut decoder, &[0xc0, 0x81].repeat(10_000)).unwrap_err();
    assert_eq!((error.code, error.offset), (Code::Depth, 130));
}

#[test]
fn sequences_that_cost_nothing_are_bounded() {
    let xml = field(
        "<sequence name='S'><sequence name='R'><length><constant value='4000000000'/></length><uInt32 name='A'><constant value='1'/></uInt32></sequence></sequence>",
    );
    let mut decoder = Decoder::new(&Templates::parse(&xml, Mode::Strict).unwrap());
    let error = decode(&mut decoder, &[0xc0, 0x81, 0x81]).unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref(), error.element),
        (Code::Limit, Some("S.R"), Some(0))
    );
    let xml = field("<sequence name='S'><uInt32 name='A'/></sequence>");
    let mut decoder = Decoder::new(&Templates::parse(&xml, Mode::Strict).unwrap());
    let error = decode(
        &mut decoder,
        &[0xc0, 0x81, 0x0f, 0x7f, 0x7f, 0x7f, 0xff, 0x81],
    )
    .unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref()),
        (Code::Truncated, Some("S"))
    );
}

#[test]
fn strings_copied_from_the_dictionary_are_bounded() {
    let xml = field("<sequence name='S'><length/><string name='A'><copy/></string></sequence>");
    let templates = Templates::parse(&xml, Mode::Strict).unwrap();
    let mut decoder = Decoder::with_options(
        &templates,
        DecoderOptions {
            budget: 1000,
            ..DecoderOptions::default()
        },
    );
    let text = [vec![0x41; 99], vec![0xc1]].concat();
    let message = |copies: u8| {
        [
            vec![0xc0, 0x81, 0x80 | (copies + 1), 0xc0],
            text.clone(),
            vec![0x80; copies.into()],
        ]
        .concat()
    };
    assert!(decode(&mut decoder, &message(10)).is_ok());
    assert_eq!(
        decode(&mut decoder, &message(11)).unwrap_err().code,
        Code::Limit
    );
}

#[test]
fn an_encoder_that_failed_waits_for_a_reset() {
    let templates =
        Templates::parse(&field("<string name='A'><tail/></string>"), Mode::Strict).unwrap();
    let mut encoder = Encoder::new(&templates);
    let mut out = vec![7];
    let mut encode = |encoder: &mut Encoder, text: &str| {
        let mut message = Message::new();
        message
            .build(templates.by_name("T").unwrap())
            .set("A", text)
            .unwrap();
        encoder
            .encode(&message, &mut out)
            .map_err(|error| error.code)
    };
    assert_eq!(encode(&mut encoder, "ABC"), Ok(()));
    // A tail cannot shorten.
    assert_eq!(encode(&mut encoder, "AB"), Err(Code::Unencodable));
    assert_eq!(encode(&mut encoder, "ABC"), Err(Code::Poisoned));
    encoder.reset();
    assert_eq!(encode(&mut encoder, "AB"), Ok(()));
    assert_eq!(
        encoder.encode(&Message::new(), &mut out).unwrap_err().code,
        Code::Foreign
    );
    assert_eq!(
        out,
        [7, 0xe0, 0x81, 0x41, 0x42, 0xc3, 0xe0, 0x81, 0x41, 0xc2]
    );
}

#[test]
fn plans_are_shared_between_threads() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Templates>();
    is_send_and_sync::<Decoder>();
    is_send_and_sync::<Encoder>();
    is_send_and_sync::<Message>();
}

/// The error shows the line and a caret under the place.
#[test]
fn errors_show_their_place() {
    let error = |xml: &str, mode| Templates::parse(xml, mode).unwrap_err().to_string();
    assert_eq!(
        error(
            "<template name='T'>\n\t<string name='é'><increment/></string></template>",
            Mode::Strict
        ),
        "line 2 column 19: S2: the operator is not applicable to the field's type (increment on string é)\n  |\n\
         2 | \t<string name='é'><increment/></string></template>\n  | \t                 ^"
    );
    // The XML parser's errors, too; also at the end.
    assert_eq!(
        error(
            "<templates>\n  <template name='A'>\n</templates>",
            Mode::Lenient
        ),
        "line 3 column 1: S1: the template XML is not valid (expected 'template' tag, not 'templates')\n  |\n\
         3 | </templates>\n  | ^"
    );
    assert_eq!(
        error("", Mode::Strict),
        "line 1 column 1: S1: the template XML is not valid (the document does not have a root node)\n  |\n1 | \n  | ^"
    );
}

/// Characters from documents and web pages: named in strict mode, taken for what was meant in lenient mode.
#[test]
fn pasted_characters() {
    let plain = "<template name=\"T\" id=\"1\"> <uInt32 name=\"A\"/> </template>";
    let count = |xml: &str| Templates::parse(xml, Mode::Lenient).map(|t| t.field_count());
    for (xml, column, name) in [
        (
            plain.replace("> <", ">\u{a0}<"),
            27,
            "U+00A0 NO-BREAK SPACE, which XML does not take for a blank",
        ),
        (
            plain.replace("uInt32 ", "uInt32\u{3000}"),
            35,
            "U+3000 IDEOGRAPHIC SPACE, which XML does not take for a blank",
        ),
        (
            plain.replace("uInt32", "uInt\u{200b}32"),
            33,
            "U+200B ZERO WIDTH SPACE, which XML does not skip",
        ),
        (
            plain.replace("<uInt", "\u{feff}<uInt"),
            28,
            "U+FEFF ZERO WIDTH NO-BREAK SPACE, which XML does not skip",
        ),
        (
            plain.replace("\"A\"", "\u{201c}A\u{201d}"),
            41,
            "U+201C LEFT DOUBLE QUOTATION MARK, which XML does not take for \"",
        ),
        (
            plain.replace("\"A\"", "\u{2018}A\u{2019}"),
            41,
            "U+2018 LEFT SINGLE QUOTATION MARK, which XML does not take for '",
        ),
        (
            plain.replace("<uInt", "\u{ff1c}uInt"),
            28,
            "U+FF1C FULLWIDTH LESS-THAN SIGN, which XML does not take for <",
        ),
        (
            plain.replace("=\"A", "\u{ff1d}\"A"),
            40,
            "U+FF1D FULLWIDTH EQUALS SIGN, which XML does not take for =",
        ),
        (
            plain.replace("32", "３２"),
            33,
            "U+FF13 FULLWIDTH DIGIT THREE, which XML does not take for 3",
        ),
        (
            plain.replace("\"A\"", "\"A\u{200b}\""),
            43,
            "U+200B ZERO WIDTH SPACE, which XML does not skip",
        ),
    ] {
        assert_eq!(
            refused(&xml),
            (Code::S1, 1, column, name.to_owned()),
            "{xml}"
        );
        let templates = Templates::parse(&xml, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        let template = templates.by_name("T").unwrap();
        assert!(template.field("A").is_some(), "{xml}");
    }
    // A byte order mark is XML's own. Comments and values keep what they have.
    assert_eq!(count(&format!("\u{feff}{plain}")).unwrap(), 1);
    assert!(
        Templates::parse(
            &format!("\u{feff}{plain}<!-- \u{a0}\u{201c} -->"),
            Mode::Strict
        )
        .is_ok()
    );
    let value = field("<string name='A' charset='unicode'><constant value='“a\u{a0}b”'/></string>");
    for mode in [Mode::Strict, Mode::Lenient] {
        let templates = Templates::parse(&value, mode).unwrap();
        let text = decode(&mut Decoder::new(&templates), &[0xc0, 0x81]).unwrap();
        assert_eq!(text, "{\"template\":\"T\",\"A\":\"“a\u{a0}b”\"}");
    }
    // Places are those in the file, whatever was mended before them.
    let xml = "\u{feff}<template name='T' id='1'>\u{a0}\u{200b}\u{200b}<uInt32 name='A'><paste/></uInt32></template>";
    let error = Templates::parse(xml, Mode::Lenient).unwrap_err();
    assert_eq!((error.line, error.column), (1, 47));
}

/// What QuickFAST, mFAST and venues' files have that the standard has not.
#[test]
fn dialects() {
    let in_file = |inner: &str| {
        format!("<templates><template name='T' id='1'>{inner}</template></templates>")
    };
    for (xml, detail) in [
        // SPECTRA and mFAST's tests: a prefix that nobody declares.
        (
            "<templates><template name='T' id='1' reset='T' scp:reset='yes'><uInt32 name='A'/></template></templates>".to_owned(),
            "an unknown namespace prefix 'scp'",
        ),
        // mFAST's tests: a declaration that is none; one behind a comment.
        (
            format!("<?xml version=\\\" 1.0 \\\"?>{}", in_file("<uInt32 name='A'/>")),
            "expected a quote not '\\'",
        ),
        (
            format!("<!-- c --><?xml version='1.0'?>{}", in_file("<uInt32 name='A'/>")),
            "unexpected XML declaration",
        ),
        // QuickFAST's tests: characters left over; "nop"; capitals; attributes of its own.
        (in_file("\"<uInt32 name='A'/>"), "character U+0022 between elements"),
        (in_file("<uInt32 name='A'><nop/></uInt32>"), "nop is not a field operator"),
        (in_file("<uint32 NAME='A'/>"), "element uint32 is not a field of FAST"),
        (in_file("<uInt32 name='A' presence='Mandatory'/>"), "presence \"Mandatory\""),
        (in_file("<uInt32 name='A' ignore_overflows='yes'/>"), "uInt32 has no attribute ignore_overflows"),
        (in_file("<int8 name='A'/>"), "int8 is a dialect: FAST has integers of 32 and 64 bits"),
        // mFAST: views, vectors, sequences of one field without a name.
        ("<templates><view reference='T'/><template name='T' id='1'><uInt32 name='A'/></template></templates>".to_owned(), "element view in templates"),
        (
            "<templates><define name='D'><uInt32/></define><template name='T' id='1'><D name='A'/></template></templates>".to_owned(),
            "element D is not a field of FAST",
        ),
        (in_file("<sequence name='A'><uInt32/></sequence>"), "uInt32 without name"),
        (in_file("<int32Vector name='A'/>"), "int32Vector is a dialect: FAST has sequences"),
    ] {
        assert_eq!(refused(&xml).3, detail, "{xml}");
        let templates = Templates::parse(&xml, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        let template = templates.by_name("T").unwrap();
        assert!(template.field("A").is_some(), "{xml}");
        assert_eq!(template.resets(), xml.contains("reset"), "{xml}");
    }
}

/// S2: every operator on every type that does not have it, and only there (§6.3).
#[test]
fn s2_operators_and_types() {
    let has = |operator: &str, element: &str| match operator {
        "increment" => element.starts_with("int") || element.starts_with("uInt"),
        "tail" => matches!(element, "string" | "byteVector"),
        _ => true,
    };
    let elements = [
        "int32",
        "uInt32",
        "int64",
        "uInt64",
        "decimal",
        "string",
        "byteVector",
    ];
    for element in elements {
        for operator in ["constant", "default", "copy", "increment", "delta", "tail"] {
            let value = if matches!(element, "string" | "byteVector") {
                ""
            } else {
                "1"
            };
            let xml = field(&format!(
                "<{element} name='F'><{operator} value='{value}'/></{element}>"
            ));
            let code = Templates::parse(&xml, Mode::Strict)
                .map(|_| ())
                .map_err(|e| e.code);
            let expected = if has(operator, element) {
                Ok(())
            } else {
                Err(Code::S2)
            };
            assert_eq!(code, expected, "{operator} on {element}");
        }
    }
    // A length, an exponent and a mantissa are integers: all but tail.
    for operator in ["constant", "default", "copy", "increment", "delta", "tail"] {
        for (before, after) in [
            ("<sequence name='F'><length>", "</length></sequence>"),
            ("<decimal name='F'><exponent>", "</exponent></decimal>"),
            ("<decimal name='F'><mantissa>", "</mantissa></decimal>"),
        ] {
            let xml = field(&format!("{before}<{operator} value='1'/>{after}"));
            let code = Templates::parse(&xml, Mode::Strict)
                .map(|_| ())
                .map_err(|e| e.code);
            let expected = if operator == "tail" {
                Err(Code::S2)
            } else {
                Ok(())
            };
            assert_eq!(code, expected, "{before}{operator}");
        }
    }
}

/// S3: initial values that their type cannot hold (§6.3.2, appendix 3).
#[test]
fn s3_initial_values() {
    for (element, bad) in [
        (
            "int32",
            &["2147483648", "-2147483649", "1.0", "", "0x1", "1 2", "+1"][..],
        ),
        ("uInt32", &["4294967296", "-1", "a"]),
        ("int64", &["9223372036854775808", "1e3"]),
        ("uInt64", &["18446744073709551616", "-0x"]),
        ("decimal", &["9223372036854775808", "1,5", ".", "e", "--1"]),
        ("string", &["\u{e9}"]),
        ("byteVector", &["0", "0g", "x"]),
    ] {
        for operator in ["constant", "default", "copy", "delta"] {
            for value in bad {
                let xml = field(&format!(
                    "<{element} name='F'><{operator} value='{value}'/></{element}>"
                ));
                let code = Templates::parse(&xml, Mode::Strict)
                    .map(|_| ())
                    .map_err(|e| e.code);
                assert_eq!(code, Err(Code::S3), "{operator} {value:?} on {element}");
            }
        }
    }
}

/// S4 and S5: a constant needs a value, and so does a default that is mandatory; whatever the type or part.
#[test]
fn s4_and_s5_values_that_are_missing() {
    for element in ["int32", "uInt64", "decimal", "string", "byteVector"] {
        for (operator, presence, expected) in [
            ("constant", "mandatory", Err(Code::S4)),
            ("constant", "optional", Err(Code::S4)),
            ("default", "mandatory", Err(Code::S5)),
            ("default", "optional", Ok(())),
            ("copy", "mandatory", Ok(())),
        ] {
            let xml = field(&format!(
                "<{element} name='F' presence='{presence}'><{operator}/></{element}>"
            ));
            let code = Templates::parse(&xml, Mode::Strict)
                .map(|_| ())
                .map_err(|e| e.code);
            assert_eq!(code, expected, "{presence} {operator} on {element}");
        }
    }
    // A mantissa is mandatory whatever its decimal is (§10.5.1).
    let mantissa = field(
        "<decimal name='F' presence='optional'><exponent><default/></exponent><mantissa><default/></mantissa></decimal>",
    );
    assert_eq!(refused(&mantissa).0, Code::S5);
    let length =
        field("<sequence name='F' presence='optional'><length><default/></length></sequence>");
    assert!(Templates::parse(&length, Mode::Strict).is_ok());
}

/// D8: names of templates have namespaces, and a reference means its own (§6.4.1).
#[test]
fn d8_static_references() {
    let file = |reference: &str| {
        format!(
            "<templates templateNs='a'><template name='T' id='1'>\n<templateRef name='P' {reference}/></template>
            <template name='P'><uInt32 name='A'/></template><template name='P' templateNs='b'><uInt32 name='B'/></template></templates>"
        )
    };
    let first = |xml: &str| {
        let templates = Templates::parse(xml, Mode::Strict)?;
        let template = templates.by_name("T").unwrap();
        Ok::<_, tickwire_fast::TemplateError>(template.fields().next().unwrap().name().to_owned())
    };
    assert_eq!(first(&file("")).unwrap(), "A");
    assert_eq!(first(&file("templateNs='b'")).unwrap(), "B");
    for mode in [Mode::Strict, Mode::Lenient] {
        let error = Templates::parse(&file("templateNs='c'"), mode).unwrap_err();
        assert_eq!(
            (error.code, error.line, error.column, &*error.detail),
            (Code::D8, 2, 1, "P")
        );
    }
    // In templates that nobody uses, too.
    let unused = "<templates><template name='T'><group name='G'><templateRef name='X'/></group></template></templates>";
    assert_eq!(refused(unused).0, Code::D8);
}

/// Presence maps of any length, and templates with thousands of fields.
#[test]
fn presence_maps_have_any_length() {
    for count in [6, 7, 63, 64, 65, 70, 1000, 20_000] {
        let fields: String = (0..count)
            .map(|n| format!("<uInt32 name='F{n}' presence='optional'><copy/></uInt32>"))
            .collect();
        let templates = Templates::parse(&field(&fields), Mode::Strict).unwrap();
        assert_eq!(templates.field_count(), count);
        let template = templates.by_name("T").unwrap();
        assert_eq!(template.map_bits() as usize, count + 1);
        let options = DecoderOptions {
            strict: true,
            ..DecoderOptions::default()
        };
        let mut decoder = Decoder::with_options(&templates, options);
        let mut encoder = Encoder::new(&templates);
        // None, the first, the last, all; then as before, which takes one byte.
        for present in [&[][..], &[0], &[count - 1], &(0..count).collect::<Vec<_>>()] {
            let mut message = Message::new();
            let mut builder = message.build(template);
            for n in present {
                builder.set(&format!("F{n}"), *n as u32 + 1).unwrap();
            }
            let (mut bytes, mut decoded) = (Vec::new(), Message::new());
            encoder.encode(&message, &mut bytes).unwrap();
            assert_eq!(decoder.decode(&bytes, &mut decoded), Ok(bytes.len()));
            assert!(
                decoded == message,
                "{count} fields, {} present",
                present.len()
            );
            let map_bytes = bytes.iter().take_while(|byte| **byte < 0x80).count() + 1;
            assert!(map_bytes <= (count + 1).div_ceil(7));
            bytes.clear();
            encoder.encode(&message, &mut bytes).unwrap();
            assert_eq!(bytes, [0x80]);
            assert_eq!(decoder.decode(&bytes, &mut decoded), Ok(1));
            assert!(decoded == message);
        }
    }
}

/// A small file whose types are used again and again stops at a bound, not after all of the work.
#[test]
fn types_that_multiply_are_bounded() {
    let elements: String = (0..20_000)
        .map(|n| format!("<element name='e{n}'/>"))
        .collect();
    let uses: String = (0..20_000)
        .map(|n| format!("<field name='F{n}'><type name='E'/></field>"))
        .collect();
    let xml = format!(
        "<templates><define name='E'><enum>{elements}</enum></define><template name='T'>{uses}</template></templates>"
    );
    assert_eq!(
        refused(&xml).3,
        "references lead to more than 1000000 nodes"
    );
    let level = |n: u32| {
        let inner = format!("<field name='A'><type name='L{}'/></field>", n + 1).repeat(10);
        format!("<define name='L{n}'><group>{inner}</group></define>")
    };
    let levels: String = (0..10).map(level).collect();
    let xml = format!(
        "<templates>{levels}<define name='L10'><uInt32/></define><template name='T'><field name='A'><type name='L0'/></field></template></templates>"
    );
    assert_eq!(refused(&xml).3, "more than 100000 instructions");
}

/// Feeds whose messages have no ids, as OPRA's, say elsewhere what the messages are.
#[test]
fn messages_without_an_id_are_of_the_default_template() {
    let xml = r#"<templates><template name="T"><uInt32 name="A"><increment value="1"/></uInt32></template>
        <template name="U" id="2"><uInt32 name="B"/></template></templates>"#;
    let plain = Templates::parse(xml, Mode::Strict).unwrap();
    assert!(plain.clone().with_default("V").is_none());
    let templates = plain.clone().with_default("T").unwrap();
    let is_default = |template: tickwire_fast::Template<'_>| template.is_default();
    assert_eq!(
        templates.iter().map(is_default).collect::<Vec<_>>(),
        [true, false]
    );
    let packet: &[u8] = &[0x80, 0x80, 0xc0, 0x82, 0x89, 0x80, 0x88];
    let (mut message, mut seen, mut encoded) = (Message::new(), Vec::new(), Vec::new());
    let (mut decoder, mut encoder) = (Decoder::new(&templates), Encoder::new(&templates));
    assert_eq!(decoder.next_template(packet).map(is_default), Some(true));
    let mut at = 0;
    while at < packet.len() {
        at += decoder.decode(&packet[at..], &mut message).unwrap();
        encoder.encode(&message, &mut encoded).unwrap();
        let mut text = String::new();
        json::write(&message, &mut text).unwrap();
        seen.push(text);
    }
    assert_eq!(
        seen,
        [
            r#"{"template":"T","A":1}"#,
            r#"{"template":"T","A":2}"#,
            r#"{"template":"U","B":9}"#,
            // The id is a copy, as ever.
            r#"{"template":"U","B":8}"#,
        ]
    );
    assert_eq!(encoded, packet);
    // An id is known, and this template has none to say otherwise.
    let mut first = Message::new();
    first
        .build(templates.by_name("T").unwrap())
        .set("A", 1u8)
        .unwrap();
    assert_eq!(
        encoder.encode(&first, &mut encoded).unwrap_err().code,
        Code::D9
    );
    let refused = |mut decoder: Decoder| decoder.decode(packet, &mut ()).unwrap_err().code;
    assert_eq!(refused(Decoder::new(&plain)), Code::D5);
    // What was lost may have had an id.
    let mut lost = Decoder::new(&templates);
    lost.lose();
    assert!(lost.next_template(packet).is_none());
    assert_eq!(refused(lost), Code::Lost);
}

#[test]
fn the_encoders_own_templates_say_which_one_is_the_default() {
    let xml = r#"<template name="T" id="1"><uInt32 name="A"/></template>"#;
    let plain = Templates::parse(xml, Mode::Strict).unwrap();
    let with_default = plain.clone().with_default("T").unwrap();
    let with_id: &[u8] = &[0xc0, 0x81, 0x81];
    for (templates, others, expected) in [
        (&plain, &with_default, with_id),
        (&with_default, &plain, &[0x80, 0x81]),
    ] {
        let mut message = Message::new();
        let mut built = message.build(others.by_name("T").unwrap());
        built.set("A", 1u8).unwrap();
        let mut bytes = Vec::new();
        Encoder::new(templates)
            .encode(&message, &mut bytes)
            .unwrap();
        assert_eq!(bytes, expected);
        assert_eq!(
            Decoder::new(templates).decode(&bytes, &mut ()),
            Ok(bytes.len())
        );
        // A message that is used again has the handle that came last.
        message.start(templates.by_name("T").unwrap());
        let is_default = templates.default_template().is_some();
        assert_eq!(message.template().unwrap().is_default(), is_default);
    }
}

#[test]
fn losses_do_not_matter_where_no_template_has_an_id() {
    let xml = r#"<template name="T"><uInt32 name="A"/></template>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let mut decoder = Decoder::new(&templates.with_default("T").unwrap());
    decoder.lose();
    assert_eq!(decoder.decode(&[0x80, 0x81], &mut ()), Ok(2));
}

#[test]
fn messages_within_messages_have_no_default() {
    let xml = r#"<template name="T"><uInt32 name="A"/><templateRef/></template>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let templates = templates.with_default("T").unwrap();
    let error = Decoder::new(&templates).decode(&[0x80, 0x81, 0x80, 0x81], &mut ());
    let error = error.unwrap_err();
    assert_eq!((error.code, error.offset), (Code::D5, 3));
    let mut message = Message::new();
    let template = templates.by_name("T").unwrap();
    let mut outer = message.build(template);
    outer.set("A", 1u8).unwrap();
    outer
        .template(template, |inner| inner.set("A", 1u8).map(|_| ()))
        .unwrap();
    let refused = Encoder::new(&templates).encode(&message, &mut Vec::new());
    assert_eq!(refused.unwrap_err().code, Code::D9);
}
