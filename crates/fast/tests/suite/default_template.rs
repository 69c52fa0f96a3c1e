//! The template of messages that carry no template id.

use tickwire_fast::{Code, Decoder, Encoder, Message, Mode, Templates, json};

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
