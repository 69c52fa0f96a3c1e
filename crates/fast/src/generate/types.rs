//! The structs of generated code, as text.

use std::fmt::Write as _;

use super::enumerations;
use super::model::{ANY_MESSAGE, Member, Model, Owner, Struct, Type};
use crate::{Decimal, Field, Instruction, Operator, Part, Value};

/// Appends the structs of all templates, and the enum of all messages if it is needed.
pub(super) fn write(model: &Model<'_>, out: &mut String) {
    for message in &model.messages {
        write_struct(model, message.of, out);
    }
    if model.is_dynamic {
        write_any_message(model, out);
    }
}

/// A struct, and the module of those that it contains.
fn write_struct(model: &Model<'_>, of: usize, out: &mut String) {
    let Some(of) = model.structs.get(of) else {
        return;
    };
    let mut text = String::new();
    let _infallible = struct_text(model, of, &mut text);
    for member in &of.members {
        let _infallible = member_text(model, of, member, &mut text);
    }
    text.push_str("}\n\n");
    out.push_str(&indented(&text, depth(of)));
    if of.module.is_empty() {
        return;
    }
    let opening = format!("/// Types of [`{}`].\npub mod {} {{\n", of.name, of.module);
    out.push_str(&indented(&opening, depth(of)));
    for member in &of.members {
        match member.ty {
            Type::Group(inner) | Type::Sequence(inner) => write_struct(model, inner, out),
            Type::Enumeration(inner) => {
                let text = enumerations::enumeration(model, inner);
                out.push_str(&indented(&text, depth(of) + 1));
            }
            _ => {}
        }
        if let Some(set) = &member.set {
            let text = enumerations::set(set, member);
            out.push_str(&indented(&text, depth(of) + 1));
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out.push_str(&indented("}\n\n", depth(of)));
}

fn struct_text(model: &Model<'_>, of: &Struct<'_>, out: &mut String) -> std::fmt::Result {
    match of.owner {
        Owner::Template(template) => {
            let name = quoted(template.name());
            match template.id() {
                Some(id) => writeln!(out, "/// Template {name}, id {}.", id.0)?,
                None => writeln!(out, "/// Template {name}, without an id.")?,
            }
        }
        Owner::Field(field) => {
            let kind = field.type_name();
            writeln!(out, "/// Of the {kind} {}.", quoted(field.path()))?;
        }
    }
    let is_topic = model.topics && of.can_be_topic;
    let topic = if is_topic { ", ::tickwire::Topic" } else { "" };
    writeln!(out, "#[derive(Clone, Debug, Default, PartialEq{topic})]")?;
    if is_topic && of.topic_name != of.name {
        writeln!(out, "#[topic(name = {:?})]", of.topic_name)?;
    }
    writeln!(out, "pub struct {} {{", of.name)
}

fn member_text(
    model: &Model<'_>,
    of: &Struct<'_>,
    member: &Member<'_>,
    out: &mut String,
) -> std::fmt::Result {
    writeln!(out, "    /// {}", description(member.field))?;
    if model.topics && of.can_be_topic {
        let renamed = member.topic_name != member.name.trim_start_matches("r#");
        let rename = renamed.then(|| format!("rename = {:?}", member.topic_name));
        let key = member.key.then(|| "key".to_owned());
        let words: Vec<String> = key.into_iter().chain(rename).collect();
        if !words.is_empty() {
            writeln!(out, "    #[topic({})]", words.join(", "))?;
        }
    }
    let ty = model.type_text(member, &of.scope);
    writeln!(out, "    pub {}: {ty},", member.name)
}

/// The message of a dynamic template reference may be of any template, and contain such a reference again: hence the
/// box around it.
fn write_any_message(model: &Model<'_>, out: &mut String) {
    out.push_str("/// A message of any template: what a dynamic template reference holds.\n");
    out.push_str("#[derive(Clone, Debug, PartialEq)]\n");
    out.push_str("#[allow(clippy::large_enum_variant)]\n");
    let _infallible = writeln!(out, "pub enum {ANY_MESSAGE} {{");
    for message in &model.messages {
        let name = model.path(message.of);
        let template = quoted(message.template.name());
        let _infallible = writeln!(out, "    /// Template {template}.\n    {name}({name}),");
    }
    out.push_str("}\n\n");
}

/// What the template says of a field: name, id, type, presence, operators.
pub(super) fn description(field: Field<'_>) -> String {
    let mut text = quoted(field.name());
    if let Some(id) = field.id() {
        text.push_str(", id ");
        text.push_str(&quoted(id));
    }
    text.push_str(": ");
    text.push_str(field.type_name());
    if field.is_optional() {
        text.push_str(", optional");
    }
    let operators = field
        .instructions()
        .filter(|instruction| instruction.operator() != Operator::None);
    for instruction in operators {
        text.push_str(", ");
        operator_text(instruction, &mut text);
    }
    text.push('.');
    text
}

fn operator_text(instruction: Instruction<'_>, text: &mut String) {
    text.push_str(match instruction.part() {
        Part::Exponent => "exponent ",
        Part::Mantissa => "mantissa ",
        Part::Length => "length ",
        _ => "",
    });
    text.push_str(instruction.operator().name());
    let value = match instruction.initial() {
        Some(Value::Unsigned(value)) => value.to_string(),
        Some(Value::Signed(value)) => value.to_string(),
        Some(Value::Decimal(value)) => Decimal::to_string(&value),
        Some(Value::Text(value)) => quoted(&format!("{value:?}")),
        Some(Value::Bytes(value)) => value.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => return,
    };
    text.push(' ');
    text.push_str(&value);
}

/// Text of a template for a comment: on one line, and not read as markup.
pub(super) fn quoted(text: &str) -> String {
    let harmless = |char: char| {
        if char.is_control() || char == '`' {
            char::REPLACEMENT_CHARACTER
        } else {
            char
        }
    };
    format!("`{}`", text.chars().map(harmless).collect::<String>())
}

fn depth(of: &Struct<'_>) -> usize {
    of.scope.matches("::").count()
}

/// The lines, moved to the right by so many levels.
fn indented(text: &str, depth: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if !line.is_empty() {
            out.push_str(&"    ".repeat(depth));
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::generate::{RustOptions, rust};
    use crate::{Mode, Templates};

    fn generated(xml: &str, topics: bool) -> String {
        let templates = Templates::parse(xml, Mode::Lenient).unwrap();
        let keys = vec!["Symbol".to_owned()];
        rust(&templates, &RustOptions { topics, keys })
    }

    #[test]
    fn a_template_is_a_struct_and_its_sequences_are_in_a_module() {
        let xml = r#"<templates><template name="X-Market" id="7">
            <string name="Symbol" id="55"><copy/></string>
            <sequence name="MDEntries" presence="optional"><length name="NoMDEntries"/>
                <decimal name="MDEntryPx" id="270" presence="optional"><exponent><default value="-2"/></exponent><mantissa><delta/></mantissa></decimal>
                <group name="type"><byteVector name="Raw"/></group>
            </sequence></template></templates>"#;
        let expected = r#"/// Template `X-Market`, id 7.
#[derive(Clone, Debug, Default, PartialEq, ::tickwire::Topic)]
#[topic(name = "X_Market")]
pub struct XMarket {
    /// `Symbol`, id `55`: string, copy.
    #[topic(key, rename = "Symbol")]
    pub symbol: ::tickwire_fast::CompactString,
    /// `MDEntries`: sequence, optional.
    #[topic(rename = "MDEntries")]
    pub md_entries: Option<Vec<x_market::MdEntries>>,
}

/// Types of [`XMarket`].
pub mod x_market {
    /// Of the sequence `MDEntries`.
    #[derive(Clone, Debug, Default, PartialEq, ::tickwire::Topic)]
    #[topic(name = "X_Market_MDEntries")]
    pub struct MdEntries {
        /// `MDEntryPx`, id `270`: decimal, optional, exponent default -2, mantissa delta.
        #[topic(rename = "MDEntryPx")]
        pub md_entry_px: Option<::tickwire_fast::Decimal>,
        /// `type`: group.
        pub r#type: md_entries::Type,
    }

    /// Types of [`MdEntries`].
    pub mod md_entries {
        /// Of the group `MDEntries.type`.
        #[derive(Clone, Debug, Default, PartialEq, ::tickwire::Topic)]
        #[topic(name = "X_Market_MDEntries_type")]
        pub struct Type {
            /// `Raw`: byteVector.
            #[topic(rename = "Raw")]
            pub raw: Vec<u8>,
        }
    }
}

"#;
        let text = generated(xml, true);
        assert!(text.starts_with(expected), "{text}");
        assert!(!generated(xml, false).contains("topic"));
    }

    #[test]
    fn a_dynamic_reference_is_a_boxed_message_and_no_topic() {
        let xml = r#"<templates><template name="Tree" id="1"><group name="Leaf"><templateRef/></group></template>
            <template name="Empty" id="2"/><template name="Header"><uInt32 name="A"/></template></templates>"#;
        let text = generated(xml, true);
        assert!(
            text.contains("pub template_ref: Option<Box<super::AnyMessage>>,"),
            "{text}"
        );
        assert!(
            text.contains("    Tree(Tree),\n    /// Template `Empty`.\n    Empty(Empty),\n"),
            "{text}"
        );
        assert!(!text.contains("Topic"), "{text}");
        assert!(!text.contains("Header"), "{text}");
    }

    #[test]
    fn names_that_differ_only_in_case_are_two_types() {
        let xml = r#"<templates><template name="Quote" id="1"><int32 name="Bid"/><int32 name="bid"/></template>
            <template name="quote" id="2"><int32 name="Bid"/></template></templates>"#;
        let text = generated(xml, true);
        for line in [
            "pub struct Quote {",
            "pub bid: i32,",
            "pub bid_2: i32,",
            "pub struct Quote2 {",
            "#[topic(name = \"quote_2\")]",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
