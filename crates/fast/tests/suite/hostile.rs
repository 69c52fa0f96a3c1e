//! Templates and messages made to exhaust time, memory or stack.

use tickwire_fast::{
    Builder, Code, Decoder, DecoderOptions, Encoder, FieldIndex, Message, Mode, Templates, Visitor,
    session,
};

fn refused(xml: &str) -> String {
    Templates::parse(xml, Mode::Strict)
        .map(|_| ())
        .unwrap_err()
        .detail
        .into()
}

/// One template with these fields.
fn template(fields: &str) -> Templates {
    let xml = format!("<template name='T' id='1'>{fields}</template>");
    Templates::parse(&xml, Mode::Strict).unwrap()
}

/// Two references to the next template on each of 60 levels, to an empty one in the end.
#[test]
fn references_to_nothing_do_not_multiply() {
    let level = |n: u32| {
        let reference = format!("<templateRef name='L{}'/>", n + 1);
        format!("<template name='L{n}'>{reference}{reference}</template>")
    };
    let levels: String = (0..60).map(level).collect();
    let xml = format!("<templates>{levels}<template name='L60'/></templates>");
    assert_eq!(refused(&xml), "references lead to more than 1000000 nodes");
}

/// A long name, or initial value, that stands in the file once and in the plan a thousand times.
#[test]
fn references_do_not_multiply_text() {
    let text = "x".repeat(1 << 20);
    let references = "<templateRef name='L'/>".repeat(1_000);
    for field in [
        format!("<string name='{text}'/>"),
        format!("<string name='F'><copy value='{text}'/></string>"),
    ] {
        let xml = format!(
            "<templates><template name='T'>{references}</template><template name='L'>{field}</template></templates>"
        );
        assert_eq!(
            refused(&xml),
            "more than 67108864 bytes of names and values"
        );
    }
}

/// The XML parser compares attributes with each other, and hands namespaces down: seconds, and hours, for a file of a megabyte.
#[test]
fn attributes_and_namespaces_do_not_multiply() {
    let many = |what: &str| -> String { (0..60_000).map(|n| format!(" {what}{n}='x'")).collect() };
    let elements = "<a xmlns:p0='y'/>".repeat(1_000);
    for (attributes, refusal) in [
        (many("a"), "more than 256 attributes"),
        (many("xmlns:p"), "more than 64 namespace prefixes"),
    ] {
        for comment in ["", "<!-- <a b='c\" -->", "<?a b='c\"?>"] {
            let xml = format!("{comment}<templates{attributes}>{elements}</templates>");
            assert_eq!(refused(&xml), refusal);
            assert!(Templates::parse(&xml, Mode::Lenient).is_err());
        }
    }
}

/// What looks like attributes and is data does not count.
#[test]
fn attributes_in_comments_and_values_are_none() {
    let many = "xmlns:a='1' ".repeat(300);
    let quoted = many.replace('\'', "&gt;");
    let xml = format!(
        "<!-- <a {many}> --><template name='T' id='1'><string name='F'><constant value='{quoted}'/></string></template>"
    );
    Templates::parse(&xml, Mode::Strict).unwrap();
}

/// Definitions that came as messages are kept: not any number of them.
#[test]
fn definitions_are_not_kept_without_end() {
    let mut received = session::Received::default();
    let mut define = |name: u32| {
        let mut message = Message::new();
        let template = session::templates().by_name("TemplateDef").unwrap();
        let mut definition = message.build(template);
        definition.set("Ns", "").unwrap();
        definition.set("Name", &*name.to_string()).unwrap();
        definition.set("Reset", 0u32).unwrap();
        definition
            .sequence("Instructions", [(); 0], |_, ()| Ok(()))
            .unwrap();
        received.take(&message)
    };
    for name in 0..4096 {
        assert_eq!(define(name), Ok(true));
    }
    assert_eq!(define(4096), Err(session::ReceiveError::Limit));
    assert_eq!(define(7), Ok(true), "another definition of the same name");
}

/// One definition that references multiply leaves the others their share of the work.
#[test]
fn a_definition_that_multiplies_does_not_refuse_others() {
    let mut received = session::Received::default();
    let mut define = |name: &str, references: &[String]| {
        let mut message = Message::new();
        let templates = session::templates();
        let mut definition = message.build(templates.by_name("TemplateDef").unwrap());
        definition.set("Ns", "").unwrap();
        definition.set("Name", name).unwrap();
        definition.set("Reset", 0u32).unwrap();
        let reference = templates.by_name("StaticTemplateRefInstr").unwrap();
        definition
            .sequence("Instructions", references, |element, name| {
                let fill =
                    |inner: &mut Builder<'_>| inner.set("Ns", "")?.set("Name", &**name).map(|_| ());
                element.template(reference, fill).map(|_| ())
            })
            .unwrap();
        assert_eq!(received.take(&message), Ok(true));
    };
    for n in 0..40 {
        define(&format!("L{n}"), &[(); 2].map(|()| format!("L{}", n + 1)));
    }
    define("L40", &[]);
    define("Last", &["L40".to_owned()]);
    let (templates, refused) = received.templates();
    assert!(templates.by_name("Last").is_some());
    // Short ladders are within their share.
    assert!(templates.by_name("L30").is_some());
    let refused: Vec<_> = refused.iter().map(|refused| &*refused.name).collect();
    assert_eq!(refused[0], "L0");
    assert!(refused.len() < 31, "{refused:?}");
}

/// Elements of constants take no bytes: what is bounded is the work that they make.
#[test]
fn elements_of_nothing_cost_what_they_do() {
    let constants = "<uInt32 name='A'><constant value='1'/></uInt32>".repeat(100);
    let templates = template(&format!("<sequence name='S'>{constants}</sequence>"));
    let decode = |len: [u8; 3]| {
        let options = DecoderOptions {
            budget: 100_000,
            ..DecoderOptions::default()
        };
        let bytes = [&[0xc0, 0x81], &len[..]].concat();
        Decoder::with_options(&templates, options)
            .decode(&bytes, &mut Message::new())
            .map_err(|error| error.code)
    };
    assert_eq!(decode([0x00, 0x07, 0x80 | 0x5e]), Ok(5), "990 elements");
    assert_eq!(decode([0x00, 0x07, 0x80 | 0x5f]), Err(Code::Limit));
}

/// Text of the template in elements that take no bytes, in sequences whose lengths take none.
#[test]
fn text_of_the_template_does_not_multiply() {
    let text = "x".repeat(1 << 16);
    let hostile = |operator: &str| {
        let length = "<length><constant value='1000'/></length>";
        let string = format!("<string name='A'><{operator} value='{text}'/></string>");
        template(&format!(
            "<sequence name='S'>{length}<sequence name='R'>{length}{string}</sequence></sequence>"
        ))
    };
    for operator in ["constant", "default", "copy", "tail"] {
        let mut bytes = vec![0xc0, 0x81];
        bytes.extend([0x80; 1_000_000]);
        let mut seen = Seen::default();
        let error = Decoder::new(&hostile(operator))
            .decode(&bytes, &mut seen)
            .unwrap_err();
        assert_eq!(
            (
                error.code,
                error
                    .field
                    .as_deref()
                    .unwrap_or_default()
                    .starts_with("S.R")
            ),
            (Code::Limit, true),
            "{operator}: {error}"
        );
        assert!(seen.0 <= 1 << 20, "{operator}: {}", seen.0);
    }
}

/// Bytes of text that a decoder has given.
#[derive(Default)]
struct Seen(usize);

impl Visitor for Seen {
    fn text(&mut self, _: FieldIndex, text: &str) {
        self.0 += text.len();
    }
}

/// A message of text in a message, as often as a packet has room for.
#[test]
fn text_of_inner_templates_does_not_multiply() {
    let text = "x".repeat(1 << 16);
    let xml = format!(
        "<templates><template name='T' id='1'><sequence name='S'><templateRef/></sequence></template>\
         <template name='Text' id='2'><string name='A'><constant value='{text}'/></string></template></templates>"
    );
    let templates = Templates::parse(&xml, Mode::Strict).unwrap();
    let decode = |len: u8| {
        let mut bytes = vec![0xc0, 0x81, 0x80 | len, 0xc0, 0x82];
        bytes.resize(4 + usize::from(len), 0x80);
        let error = Decoder::new(&templates).decode(&bytes, &mut Message::new());
        error.map_err(|error| (error.code, error.element))
    };
    assert_eq!(decode(16), Ok(20));
    assert_eq!(decode(17), Err((Code::Limit, Some(16))));
}

/// A snapshot of 20,000 entries with the texts and constants that entries have.
#[test]
fn a_large_message_fits_the_default_budget() {
    let templates = template(
        "<sequence name='S'><uInt32 name='Id'/><string name='Currency'><constant value='EUR'/></string>\
         <string name='Source'><default value='consolidated'/></string><uInt32 name='Level'><increment/></uInt32>\
         <string name='Market'><copy value='XLON'/></string></sequence>",
    );
    let mut bytes = vec![0xc0, 0x81, 0x01, 0x1c, 0xa0];
    bytes.extend([0xa0, 0x81, 0x81]);
    bytes.extend([0x80, 0x81].repeat(19_999));
    let len = bytes.len();
    assert_eq!(
        Decoder::new(&templates).decode(&bytes, &mut Message::new()),
        Ok(len)
    );
}

/// Text of a message costs the sender its bytes, also where it goes through the dictionary.
#[test]
fn text_that_was_sent_fits_the_default_budget() {
    for field in [
        "<string name='A'><copy/></string>",
        "<string name='A'><delta/></string>",
        "<string name='A'><tail/></string>",
        "<string name='A' charset='unicode'><copy/></string>",
    ] {
        let templates = template(field);
        let text = "x".repeat(3 << 20);
        let mut message = Message::new();
        let mut built = message.build(templates.by_name("T").unwrap());
        built.set("A", &*text).unwrap();
        let mut bytes = Vec::new();
        Encoder::new(&templates)
            .encode(&message, &mut bytes)
            .unwrap();
        let mut decoder = Decoder::new(&templates);
        let mut decoded = Message::new();
        assert_eq!(decoder.decode(&bytes, &mut decoded), Ok(bytes.len()));
        assert!(decoded == message, "{field}");
    }
}

/// Groups and dynamic references in turn, as deep as the message says, with every depth that a caller may ask for.
#[test]
fn depth_is_bounded_whatever_the_caller_allows() {
    let groups = 60;
    let fields = format!(
        "{}<templateRef/>{}",
        "<group name='G'>".repeat(groups),
        "</group>".repeat(groups)
    );
    let templates = template(&fields);
    let bytes = [&[0xc0, 0x81][..], &[0x80; 100_000]].concat();
    for max_depth in [0, 16, 1_000, u32::MAX] {
        let options = DecoderOptions {
            max_depth,
            ..DecoderOptions::default()
        };
        let error = Decoder::with_options(&templates, options)
            .decode(&bytes, &mut Message::new())
            .unwrap_err();
        assert_eq!(error.code, Code::Depth, "{max_depth}");
    }
}

/// After an error nothing of what was before is used: a copy has no previous value, rather than a wrong one.
#[test]
fn an_error_loses_what_the_dictionaries_held() {
    let templates = template("<uInt32 name='A'><copy/></uInt32><uInt32 name='B'/>");
    let mut decoder = Decoder::new(&templates);
    let mut message = Message::new();
    assert_eq!(
        decoder.decode(&[0xe0, 0x81, 0x85, 0x81], &mut message),
        Ok(4)
    );
    let error = decoder.decode(&[0xa0, 0x86], &mut message).unwrap_err();
    assert_eq!(error.code, Code::Truncated);
    let error = decoder
        .decode(&[0xc0, 0x81, 0x81], &mut message)
        .unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref()),
        (Code::Lost, Some("A"))
    );
}

/// Where messages were lost, an initial value would be as wrong as the previous one; what is sent whole is right again.
#[test]
fn lost_values_are_refused_until_they_are_sent() {
    let templates =
        template("<uInt32 name='A'><copy value='1'/></uInt32><uInt32 name='B'><delta/></uInt32>");
    let mut decoder = Decoder::new(&templates);
    let mut message = Message::new();
    assert_eq!(decoder.decode(&[0xc0, 0x81, 0x81], &mut message), Ok(3));
    decoder.lose();
    let mut refused = |bytes: &[u8]| {
        let error = decoder.decode(bytes, &mut message).unwrap_err();
        (error.code, error.field)
    };
    assert_eq!(refused(&[0x80, 0x81]), (Code::Lost, None));
    assert_eq!(refused(&[0xc0, 0x81, 0x81]), (Code::Lost, Some("A".into())));
    assert_eq!(
        refused(&[0xe0, 0x81, 0x85, 0x81]),
        (Code::Lost, Some("B".into()))
    );
    decoder.reset();
    assert_eq!(decoder.decode(&[0xc0, 0x81, 0x81], &mut message), Ok(3));

    let templates = template("<uInt32 name='A'><copy value='1'/></uInt32>");
    let mut decoder = Decoder::new(&templates);
    decoder.lose();
    assert_eq!(decoder.decode(&[0xe0, 0x81, 0x85], &mut message), Ok(3));
    assert_eq!(decoder.decode(&[0x80], &mut message), Ok(1));
}
