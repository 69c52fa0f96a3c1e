//! Resets: by template, by message 120, by the encoder; what is known after them.

use tickwire_fast::{
    Code, Decoder, DecoderOptions, Encoder, Message, Mode, ResetPolicy, TemplateId, Templates,
    Value,
};

/// Wraps a field in a template, on line 2 from column 1.
fn field(xml: &str) -> String {
    format!("<template name=\"T\" id=\"1\">\n{xml}</template>")
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
