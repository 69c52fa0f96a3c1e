//! The topic types of templates as OMG IDL 4.2, for programs in other languages and other DDS. Knows nothing of Rust.

use std::fmt::Write as _;

use super::RustOptions;
use super::enumerations;
use super::model::{Enumeration, Member, Message, Model, Set, Struct, Type};
use super::names::{Namer, idl as legal, idl_text};
use super::topic_names::label;
use super::types::{description, quoted};
use crate::Templates;

/// OMG IDL 4.2 for the topic types of all templates with an id: what `tickwire-gateway` makes of them at run time and
/// structs that derive `Topic` are, to be compiled for other languages, such as by Cyclone DDS's `idlc`.
///
/// `keys` are names of fields, as [`RustOptions::keys`]. Names are those of [`TopicNames`](super::TopicNames); one that
/// is a keyword of IDL has an underscore before it, which is no part of it (IDL 4.2 §7.2.3.2). A template with a dynamic
/// template reference in it, or without any field, is no topic type: a comment says so.
pub fn idl(templates: &Templates, keys: &[String]) -> String {
    let options = RustOptions {
        topics: true,
        keys: keys.to_vec(),
    };
    let model = Model::new(templates, &options);
    let mut out = String::from("// Topic types of FAST templates.\n");
    if uses_decimals(&model) {
        out.push_str(DECIMAL);
    }
    for message in &model.messages {
        let _infallible = write_message(&model, message, &mut out);
    }
    out
}

fn uses_decimals(model: &Model<'_>) -> bool {
    let topics = model.structs.iter().filter(|of| of.can_be_topic);
    let mut members = topics.flat_map(|of| &of.members);
    members.any(|member| member.ty == Type::Decimal)
}

fn write_message(model: &Model<'_>, message: &Message<'_>, out: &mut String) -> std::fmt::Result {
    let template = message.template;
    let name = ascii(&quoted(template.name()));
    match template.id() {
        Some(id) => writeln!(out, "\n// Template {name}, id {}.", id.0)?,
        None => writeln!(out, "\n// Template {name}, without an id.")?,
    }
    match model.structs.get(message.of) {
        Some(of) if of.can_be_topic => write_struct(model, of, out),
        Some(of) if of.members.is_empty() => {
            writeln!(out, "// No topic type: it has no fields.")
        }
        _ => writeln!(
            out,
            "// No topic type: only messages tell which templates are in them."
        ),
    }
}

/// A struct after all types that it has members of.
fn write_struct(model: &Model<'_>, of: &Struct<'_>, out: &mut String) -> std::fmt::Result {
    for member in &of.members {
        match member.ty {
            Type::Group(inner) | Type::Sequence(inner) => {
                if let Some(inner) = model.structs.get(inner) {
                    write_struct(model, inner, out)?;
                }
            }
            Type::Enumeration(inner) => {
                if let Some(inner) = model.enumerations.get(inner) {
                    write_enumeration(inner, out)?;
                }
            }
            _ => {}
        }
        if let Some(set) = &member.set {
            write_set(set, member, out)?;
        }
    }
    writeln!(out, "@appendable\nstruct {} {{", idl_text(&of.topic_name))?;
    for member in &of.members {
        let description = ascii(&description(member.field));
        let key = if member.key { "@key " } else { "" };
        let optional = if member.optional { "@optional " } else { "" };
        let ty = type_text(model, of, member);
        let name = idl_text(&member.topic_name);
        writeln!(out, "  // {description}\n  {key}{optional}{ty} {name};")?;
    }
    writeln!(out, "}};")
}

/// Literals share the scope around their enum, hence a module for each.
fn write_enumeration(of: &Enumeration<'_>, out: &mut String) -> std::fmt::Result {
    let (module, name) = of
        .topic_name
        .split_once("::")
        .unwrap_or(("", &of.topic_name));
    writeln!(out, "module {} {{", idl_text(module))?;
    writeln!(out, "  @appendable\n  enum {} {{", idl_text(name))?;
    for (index, variant) in of.variants.iter().enumerate() {
        let comma = if index + 1 < of.variants.len() {
            ","
        } else {
            ""
        };
        let description = ascii(&enumerations::description(variant.element));
        let literal = idl_text(&variant.topic_name);
        writeln!(out, "    // {description}\n    {literal}{comma}")?;
    }
    writeln!(out, "  }};\n}};")
}

fn write_set(set: &Set<'_>, member: &Member<'_>, out: &mut String) -> std::fmt::Result {
    if set.constants.is_empty() {
        return Ok(());
    }
    let mut names = Namer::idl(&[&set.topic_name.to_ascii_lowercase()]);
    writeln!(out, "module {} {{", idl_text(&set.topic_name))?;
    for (_, element) in &set.constants {
        let description = ascii(&enumerations::description(element));
        let name = idl_text(&names.unique(legal(label(element)).to_ascii_uppercase()));
        let ty = primitive(member.ty);
        let value = element.value;
        writeln!(out, "  // {description}\n  const {ty} {name} = {value:#x};")?;
    }
    writeln!(out, "}};")
}

fn type_text(model: &Model<'_>, of: &Struct<'_>, member: &Member<'_>) -> String {
    let named = |name: &str| reference(of, name);
    let of_struct = |inner: usize| {
        let inner = model.structs.get(inner);
        inner.map_or(String::new(), |inner| named(&inner.topic_name))
    };
    match member.ty {
        Type::Decimal => named("Decimal"),
        Type::Enumeration(inner) => {
            let inner = model.enumerations.get(inner);
            inner.map_or(String::new(), |inner| named(&inner.topic_name))
        }
        Type::Group(inner) => of_struct(inner),
        Type::Sequence(inner) => format!("sequence<{}>", of_struct(inner)),
        ty => primitive(ty).to_owned(),
    }
}

fn primitive(ty: Type) -> &'static str {
    match ty {
        Type::U8 => "uint8",
        Type::I8 => "int8",
        Type::U16 => "uint16",
        Type::I16 => "int16",
        Type::U32 => "uint32",
        Type::I32 => "int32",
        Type::U64 => "uint64",
        Type::I64 => "int64",
        Type::Bool => "boolean",
        Type::Text => "string",
        Type::Bytes => "sequence<uint8>",
        Type::Decimal
        | Type::Enumeration(_)
        | Type::Group(_)
        | Type::Sequence(_)
        | Type::Template => "",
    }
}

/// A type's name inside a struct, where a member of that name would be meant (IDL 4.2 §7.5.3).
fn reference(of: &Struct<'_>, name: &str) -> String {
    let parts: Vec<String> = name.split("::").map(idl_text).collect();
    let first = name.split("::").next().unwrap_or_default();
    let hidden = of
        .members
        .iter()
        .any(|member| member.topic_name.eq_ignore_ascii_case(first));
    let global = if hidden { "::" } else { "" };
    format!("{global}{}", parts.join("::"))
}

/// Comments are read by compilers of all ages.
fn ascii(text: &str) -> String {
    let escape = |char: char| {
        if char.is_ascii() {
            char.to_string()
        } else {
            char.escape_unicode().to_string()
        }
    };
    text.chars().map(escape).collect()
}

const DECIMAL: &str = "
// mantissa times ten to the power of exponent
@final
struct Decimal {
  int64 mantissa;
  int32 exponent;
};
";

#[cfg(test)]
mod tests {
    use crate::generate::idl;
    use crate::{Mode, Templates};

    #[test]
    fn templates_become_structs_in_the_order_that_idl_needs() {
        let xml = r#"<templates xmlns="http://www.fixprotocol.org/ns/fast/td/1.2"><template name="Quote" id="7">
            <string name="Symbol" id="55"><copy/></string>
            <string name="Port" presence="optional"/>
            <set name="Flags"><element name="a"/><element name="A"/></set>
            <sequence name="Levels"><decimal name="Price"><delta/></decimal><decimal name="Decimal"/>
              <enum name="Side"><element name="1" id="Buy"/><element name="port"/></enum></sequence>
            <byteVector name="Raw"/><boolean name="Größe"/></template>
            <template name="Tree" id="8"><templateRef/></template><template name="Empty" id="9"/></templates>"#;
        let templates = Templates::parse(xml, Mode::Strict).unwrap();
        let expected = "// Topic types of FAST templates.

// mantissa times ten to the power of exponent
@final
struct Decimal {
  int64 mantissa;
  int32 exponent;
};

// Template `Quote`, id 7.
module Quote_Flags {
  // `a`.
  const uint32 A = 0x1;
  // `A`.
  const uint32 A_2 = 0x2;
};
module Quote_Levels_Side {
  @appendable
  enum Type {
    // `1`, id `Buy`.
    Buy,
    // `port`.
    _port
  };
};
@appendable
struct Quote_Levels {
  // `Price`: decimal, delta.
  ::Decimal Price;
  // `Decimal`: decimal.
  ::Decimal Decimal;
  // `Side`: enum.
  Quote_Levels_Side::Type Side;
};
@appendable
struct Quote {
  // `Symbol`, id `55`: string, copy.
  @key string Symbol;
  // `Port`: string, optional.
  @optional string _Port;
  // `Flags`: set.
  uint32 Flags;
  // `Levels`: sequence.
  sequence<Quote_Levels> Levels;
  // `Raw`: byteVector.
  sequence<uint8> Raw;
  // `Gr\\u{f6}\\u{df}e`: boolean.
  boolean Gr__e;
};

// Template `Tree`, id 8.
// No topic type: only messages tell which templates are in them.

// Template `Empty`, id 9.
// No topic type: it has no fields.
";
        assert_eq!(idl(&templates, &["Symbol".to_owned()]), expected);
    }
}
