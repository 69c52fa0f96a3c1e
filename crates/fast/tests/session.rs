//! What a receiver makes of the session messages that define templates (SCP 1.1).

use tickwire_fast::{Message, TemplateId, session};

/// A definition of a template without fields.
fn definition(name: &str, id: Option<u32>) -> Message {
    let mut message = Message::new();
    let template = session::templates().by_name("TemplateDef").unwrap();
    let mut definition = message.build(template);
    definition.set("Ns", "").unwrap();
    definition.set("Name", name).unwrap();
    if let Some(id) = id {
        definition.set("TemplateId", id).unwrap();
    }
    definition.set("Reset", 0u32).unwrap();
    definition
        .sequence("Instructions", [(); 0], |_, ()| Ok(()))
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
        let templates = received.templates().unwrap();
        templates
            .by_id(TemplateId(id))
            .map(|template| template.name().to_owned())
    };
    received.take(&definition("Old", Some(7))).unwrap();
    received.take(&definition("New", None)).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("Old"));
    received.take(&declaration("New", 7)).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("New"));
    received.take(&declaration("Unknown", 7)).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("New"));
    received.take(&definition("Third", Some(7))).unwrap();
    assert_eq!(named(&received, 7).as_deref(), Some("Third"));
}
