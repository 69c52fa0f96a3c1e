//! Template references, static and dynamic, and dictionaries, whose scopes they cross.

use tickwire_fast::{Code, DecodeError, Decoder, Encoder, Message, Mode, Templates, json};

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
