//! What a receiver makes of the session messages that define templates (SCP 1.1).

use tickwire_fast::{Builder, Code, Message, TemplateId, session};

/// A definition of a template without fields.
fn definition(name: &str, id: Option<u32>) -> Message {
    defined(name, id, &[])
}

/// A definition of a template with static references to these templates.
fn defined(name: &str, id: Option<u32>, references: &[&str]) -> Message {
    defined_in("", name, id, references)
}

fn defined_in(namespace: &str, name: &str, id: Option<u32>, references: &[&str]) -> Message {
    let mut message = Message::new();
    let template = session::templates().by_name("TemplateDef").unwrap();
    let mut definition = message.build(template);
    definition.set("Ns", namespace).unwrap();
    definition.set("Name", name).unwrap();
    if let Some(id) = id {
        definition.set("TemplateId", id).unwrap();
    }
    definition.set("Reset", 0u32).unwrap();
    let reference = session::templates()
        .by_name("StaticTemplateRefInstr")
        .unwrap();
    definition
        .sequence("Instructions", references, |element, name| {
            let fill =
                |inner: &mut Builder<'_>| inner.set("Ns", "")?.set("Name", *name).map(|_| ());
            element.template(reference, fill).map(|_| ())
        })
        .unwrap();
    message
}

fn declaration(name: &str, id: u32) -> Message {
    let mut message = Message::new();
    let template = session::templates().by_name("TemplateDecl").unwrap();
    let mut declaration = message.build(template);
    declaration.set("Ns", "").unwrap();
    declaration.set("Name", name).unwrap();
    declaration.set("TemplateId", id).unwrap();
    message
}

#[test]
fn an_id_belongs_to_the_template_that_got_it_last() {
    let mut received = session::Received::default();
    let named = |received: &session::Received, id| {
        let (templates, _) = received.templates();
        templates
            .by_id(TemplateId(id))
            .map(|template| template.name().to_owned())
    };
    received.take(&definition("Old", Some(7))).unwrap();
    received.take(&definition("New", None)).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("Old"));
    received.take(&declaration("New", 7)).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("New"));
    received.take(&definition("New", None)).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("New"));
    received.take(&declaration("Later", 7)).unwrap();
    assert_eq!(named(&received, 7), None);
    received.take(&definition("Later", None)).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("Later"));
    received.take(&definition("Third", Some(7))).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("Third"));
}

#[test]
fn bad_definitions_leave_the_others_alone() {
    let mut received = session::Received::default();
    for message in [
        defined("Circular", Some(1), &["Circular"]),
        defined("Good", Some(2), &["Part"]),
        defined("Part", None, &[]),
        defined("Lost", Some(3), &["Nowhere"]),
        defined("Heir", Some(4), &["Part", "Lost"]),
        defined("Last", Some(5), &[]),
    ] {
        assert_eq!(received.take(&message), Ok(true));
    }
    let (templates, refused) = received.templates();
    let known = [1, 2, 3, 4, 5].map(|id| templates.by_id(TemplateId(id)).is_some());
    assert_eq!(known, [false, true, false, false, true]);
    let refused: Vec<_> = refused
        .iter()
        .map(|refused| (&*refused.name, refused.error.code))
        .collect();
    assert_eq!(
        refused,
        [
            ("Circular", Code::S1),
            ("Lost", Code::D8),
            ("Heir", Code::D8)
        ]
    );
}

#[test]
fn the_sessions_own_names_cannot_be_defined() {
    let mut received = session::Received::default();
    for message in [
        defined_in(session::NAMESPACE, "NsName", None, &[]),
        defined_in(session::NAMESPACE, "Hello", Some(1), &[]),
        definition("Good", Some(2)),
    ] {
        assert_eq!(received.take(&message), Ok(true));
    }
    let (templates, refused) = received.templates();
    assert_eq!(refused, []);
    assert!(templates.by_id(TemplateId(1)).is_none());
    assert!(templates.by_id(TemplateId(2)).is_some());
}

/// What XML has no form for cannot be in a template, and must not keep the others from being read.
#[test]
fn names_that_templates_cannot_have_are_refused_at_once() {
    let mut received = session::Received::default();
    for name in ["", "\u{1}", "\u{ffff}", "N\u{a0}o"] {
        let refused = received.take(&definition(name, Some(1)));
        assert!(
            matches!(refused, Err(session::ReceiveError::Text(_))),
            "{name:?} {refused:?}"
        );
    }
    assert_eq!(received.take(&definition("<&\"'\n\t>", Some(1))), Ok(true));
    let (templates, refused) = received.templates();
    assert_eq!(refused, []);
    assert!(templates.by_name("<&\"'\n\t>").is_some());
}
