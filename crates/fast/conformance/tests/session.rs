//! SCP 1.1: session messages, and templates that travel as messages and are the same at the other end.

use tickwire_fast::session::{self, ReceiveError, Received};
use tickwire_fast::{
    Decoder, Encoder, Field, Instruction, Message, Mode, TemplateId, Templates, Value, json,
};
use tickwire_fast_conformance::{Choices, Shape, Spelling};

/// Sends the templates through bytes and gives what arrived.
fn exchange(templates: &Templates) -> Received {
    let mut encoder = Encoder::new(session::templates());
    let mut bytes = Vec::new();
    for message in session::definitions(templates).unwrap() {
        encoder.encode(&message, &mut bytes).unwrap();
    }
    let mut received = Received::default();
    let mut decoder = Decoder::new(session::templates());
    let (mut at, mut message) = (0, Message::new());
    while at < bytes.len() {
        at += decoder.decode(&bytes[at..], &mut message).unwrap();
        assert_eq!(received.take(&message), Ok(true));
    }
    received
}

/// All that the wire and an application know of a field; entries of dictionaries by who shares them.
fn described(field: Field<'_>, slots: &mut Vec<u32>) -> String {
    let mut entry = |instruction: Instruction<'_>| {
        let slot = instruction.slot()?;
        let known = slots.iter().position(|number| *number == slot.number);
        Some(known.unwrap_or_else(|| {
            slots.push(slot.number);
            slots.len() - 1
        }))
    };
    let instructions: Vec<_> = field
        .instructions()
        .map(|i| {
            let (operator, initial) = (i.operator(), i.initial());
            format!("{:?} {operator:?} {initial:?} {:?}", i.part(), entry(i))
        })
        .collect();
    let inner: Vec<_> = field.fields().map(|f| described(f, slots)).collect();
    format!(
        "{:?} {} {:?} {} {:?} {} {instructions:?} {inner:?}",
        field.field_type(),
        field.name(),
        field.id(),
        field.is_optional(),
        field.length_name(),
        field.map_bits(),
    )
}

/// The templates that are not the session's, in order.
fn all(templates: &Templates) -> Vec<String> {
    let mut slots = Vec::new();
    let own = templates
        .iter()
        .filter(|template| template.namespace() != session::NAMESPACE);
    own.map(|template| {
        let fields: Vec<_> = template
            .fields()
            .map(|f| described(f, &mut slots))
            .collect();
        format!(
            "{} {:?} {:?} {} {} {fields:#?}",
            template.name(),
            template.namespace(),
            template.id(),
            template.resets(),
            template.map_bits()
        )
    })
    .collect()
}

#[test]
fn session_templates_are_there() {
    let templates = session::templates();
    for (id, name) in [
        (120, "Reset"),
        (16002, "Hello"),
        (16003, "Alert"),
        (16010, "TemplateDecl"),
        (16011, "TemplateDef"),
        (16023, "SequenceInstr"),
        (16030, "TailOp"),
    ] {
        assert_eq!(templates.by_id(TemplateId(id)).unwrap().name(), name);
    }
    assert_eq!(templates.by_id(session::RESET).unwrap().name(), "Reset");
    assert!(templates.by_name("Hello").unwrap().resets());
}

#[test]
fn hello_and_alert_are_messages_like_others() {
    let templates = session::templates();
    let mut decoder = Decoder::new(templates);
    let mut text = String::new();
    let mut message = Message::new();
    let mut hello = message.build(templates.by_name("Hello").unwrap());
    hello.set("SenderName", "TW").unwrap();
    let mut bytes = Vec::new();
    Encoder::new(templates)
        .encode(&message, &mut bytes)
        .unwrap();
    assert_eq!(bytes, [0xc0, 0x7d, 0x82, 0x54, 0xd7, 0x80]);
    decoder.decode(&bytes, &mut message).unwrap();
    json::write(&message, &mut text).unwrap();
    assert_eq!(text, r#"{"template":"Hello","SenderName":"TW"}"#);
}

/// Templates -> messages -> bytes -> messages -> templates, of random templates.
#[test]
fn templates_arrive_as_they_were_sent() {
    for seed in 0..500 {
        let mut choices = Choices::from_seed(seed);
        let shape = Shape::Standard;
        let xml = tickwire_fast_conformance::templates(&mut choices, shape, Spelling::Standard);
        // The session's own ids are not sent.
        let xml = xml.replace("id=\"120\"", "id=\"1200\"");
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        let received = exchange(&templates);
        let arrived = received
            .templates()
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(
            all(&arrived) == all(&templates),
            "seed {seed}: {xml}\n{}",
            received.xml()
        );
    }
}

/// What random templates do not have: references, dictionaries, namespaces, resets, ids, names that XML must escape.
#[test]
fn everything_of_a_template_file_arrives() {
    let xml = r#"<templates xmlns:scp="http://www.fixprotocol.org/ns/fast/scp/1.1" templateNs="a&lt;b" dictionary="template">
        <template name="T" id="1" scp:reset="yes" ns="x">
          <typeRef name="Y"/>
          <uInt32 name="A" id="34"><copy/></uInt32><uInt32 name="B"><copy key="A" ns="x"/></uInt32><uInt32 name="C"><copy key="A" ns="y"/></uInt32>
          <templateRef name="Part"/><templateRef/>
          <string name="D"><constant value="&lt;&quot;&amp;'&#10; "/></string>
          <string name="E" charset="unicode" presence="optional"><tail dictionary="type" value="é"/></string>
          <byteVector name="F"><delta dictionary="mine" value="00ff"/></byteVector>
          <decimal name="G" presence="optional"><exponent/><mantissa><delta/></mantissa></decimal>
          <decimal name="H"><default value="-12.50"/></decimal>
          <sequence name="I" presence="optional"><length name="NoI" id="268"><copy value="2"/></length><int64 name="J"><increment/></int64></sequence>
          <sequence name="K"><length><default value="3"/></length><group name="L" presence="optional"><int32 name="M"><delta/></int32></group></sequence>
        </template>
        <template name="Part"><uInt32 name="A"><copy/></uInt32></template>
        <template name="Reset" id="120"/>
      </templates>"#;
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let arrived = exchange(&templates)
        .templates()
        .unwrap_or_else(|e| panic!("{e}"));
    // The session has its own reset.
    let sent: Vec<_> = all(&templates)
        .into_iter()
        .filter(|t| !t.starts_with("Reset"))
        .collect();
    assert_eq!(all(&arrived), sent);
    // And the session's messages are still understood.
    assert!(arrived.by_id(TemplateId(16011)).is_some());
    // A second time round nothing changes.
    assert_eq!(all(&exchange(&arrived).templates().unwrap()), sent);
}

#[test]
fn declarations_give_ids() {
    let parse = |xml| Templates::parse(xml, Mode::Strict).unwrap();
    let without = parse("<template name='T'><uInt32 name='A'/></template>");
    let with = parse("<template name='T' id='7'><uInt32 name='A'/></template>");
    let mut received = exchange(&without);
    assert_eq!(
        received.templates().unwrap().by_name("T").unwrap().id(),
        None
    );
    for message in session::declarations(&with) {
        assert_eq!(received.take(&message), Ok(true));
    }
    let templates = received.templates().unwrap();
    assert_eq!(templates.by_id(TemplateId(7)).unwrap().name(), "T");
    // Other messages are not about templates.
    assert_eq!(received.take(&Message::new()), Ok(false));
}

#[test]
fn the_latest_definition_of_a_name_counts() {
    let parse = |xml: &str| Templates::parse(xml, Mode::Strict).unwrap();
    let mut received = exchange(&parse(
        "<template name='T' id='1'><uInt32 name='A'/></template>",
    ));
    let second = parse("<template name='T' id='1'><uInt32 name='B'/></template>");
    received
        .take(&session::definitions(&second).unwrap()[0])
        .unwrap();
    let templates = received.templates().unwrap();
    let names: Vec<_> = templates
        .by_name("T")
        .unwrap()
        .fields()
        .map(|f| f.name().to_owned())
        .collect();
    assert_eq!(names, ["B"]);
}

/// SCP 1.1 is of the time of FAST 1.1: other types are refused with their place instead of being sent as something else.
#[test]
fn types_without_an_instruction_are_refused() {
    for field in [
        "<boolean name='A'/>",
        "<uInt8 name='A'/>",
        "<bitGroup name='A'><boolean name='B'/></bitGroup>",
    ] {
        let xml = format!("<template name='T' id='1'><group name='G'>{field}</group></template>");
        let templates = Templates::parse(&xml, Mode::Lenient).unwrap();
        let error = session::definitions(&templates).unwrap_err();
        assert_eq!((&*error.template, &*error.field), ("T", "G.A"));
    }
}

#[test]
fn definitions_that_are_none() {
    let templates = session::templates();
    let mut message = Message::new();
    let mut definition = message.build(templates.by_name("TemplateDef").unwrap());
    definition
        .set("Ns", "")
        .unwrap()
        .set("Name", "T")
        .unwrap()
        .set("Reset", 0u8)
        .unwrap();
    let alert = templates.by_name("Alert").unwrap();
    definition
        .sequence("Instructions", [()], |element, ()| {
            let fill = |alert: &mut tickwire_fast::Builder<'_>| {
                alert.set("Severity", 1u8)?.set("Code", 2u8).map(|_| ())
            };
            element.template(alert, fill).map(|_| ())
        })
        .unwrap();
    let mut received = Received::default();
    assert_eq!(
        received.take(&message),
        Err(ReceiveError::Instruction("Alert".into()))
    );
    assert_eq!(received.templates().unwrap().by_name("T"), None);
    let mut half = Message::new();
    half.build(templates.by_name("TemplateDef").unwrap())
        .set("Ns", "")
        .unwrap();
    assert_eq!(received.take(&half), Err(ReceiveError::Field("Name")));
}

/// Values that Builder gives are those of the templates: a sanity check of what is sent.
#[test]
fn a_definition_reads_like_its_template() {
    let xml =
        "<template name='T' id='1'><uInt32 name='A' id='5'><copy value='7'/></uInt32></template>";
    let templates = Templates::parse(xml, Mode::Strict).unwrap();
    let messages = session::definitions(&templates).unwrap();
    assert_eq!(messages[0].get("TemplateId"), Some(Value::Unsigned(1)));
    let mut text = String::new();
    json::write(&messages[0], &mut text).unwrap();
    assert_eq!(
        text,
        concat!(
            r#"{"template":"TemplateDef","Ns":"","Name":"T","TemplateId":1,"Reset":0,"Instructions":["#,
            r#"{"templateRef":{"template":"UInt32Instr","Ns":"","Name":"A","AuxId":"5","Optional":0,"#,
            r#""Operator":{"templateRef":{"template":"CopyOp","Dictionary":"global","Key":{"Ns":"","Name":"A"}}},"InitialValue":7}}]}"#
        )
    );
}

/// Whatever arrives in the place of definitions, what is made of it is templates or an error.
#[test]
fn damaged_definitions_are_errors() {
    for seed in 0..300 {
        let mut choices = Choices::from_seed(seed);
        let xml =
            tickwire_fast_conformance::templates(&mut choices, Shape::Standard, Spelling::Standard);
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        let mut received = Received::default();
        for message in session::definitions(&templates).unwrap() {
            let mut bytes = Vec::new();
            Encoder::new(session::templates())
                .encode(&message, &mut bytes)
                .unwrap();
            choices.damage(&mut bytes);
            let mut decoded = Message::new();
            if Decoder::new(session::templates())
                .decode(&bytes, &mut decoded)
                .is_ok()
            {
                let _ = received.take(&decoded);
            }
        }
        // Names that were damaged may be two templates' or no XML; the rest is templates again.
        if let Ok(arrived) = received.templates() {
            assert!(arrived.by_name("TemplateDef").is_some());
        }
    }
}
