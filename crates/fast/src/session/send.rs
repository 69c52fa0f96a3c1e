//! Templates to messages. Knows nothing of XML.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use super::{is_session, templates};
use crate::instruction::Instruction;
use crate::{
    BuildError, Builder, Field, FieldType, Fields, Message, Operator, Part, Slot, Template,
    Templates,
};

/// A template that SCP 1.1 has no messages for: it knows FAST 1.1 and its integers of 32 and 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsendable {
    /// Name of the template.
    pub template: Arc<str>,
    /// Path of the field whose type cannot be sent.
    pub field: Arc<str>,
}

impl fmt::Display for Unsendable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (template, field) = (&self.template, &self.field);
        write!(
            f,
            "template {template}, field {field}: session messages have no instruction for its type"
        )
    }
}

impl core::error::Error for Unsendable {}

/// A TemplateDef message for each template that is not the session's own, in their order.
///
/// Static references are sent as what they stand for. A field's dictionary entry is sent with a dictionary and a key of its
/// own, named as in the template where that is unambiguous, so that the same fields share an entry on both sides.
///
/// # Errors
/// A field has a type that the messages cannot say: of FAST 1.2, or an integer of 8 or 16 bits.
pub fn definitions(templates: &Templates) -> Result<Vec<Message>, Unsendable> {
    let entries = Entries::new(templates);
    let own = unknown(templates);
    own.map(|template| definition(template, &entries)).collect()
}

/// A TemplateDecl message for each template that has an id and is not the session's own: enough for a receiver that knows
/// the templates by name.
pub fn declarations(templates: &Templates) -> Vec<Message> {
    let own = unknown(templates);
    own.filter_map(|template| {
        let id = template.id()?;
        build("TemplateDecl", |message| {
            message.set("Ns", template.namespace())?;
            message.set("Name", template.name())?;
            message.set("TemplateId", id.0).map(|_| ())
        })
        .ok()
    })
    .collect()
}

/// The templates that not every receiver knows already.
fn unknown(templates: &Templates) -> impl Iterator<Item = Template<'_>> {
    let templates = templates.iter();
    templates.filter(|template| !is_session(template.namespace(), template.id()))
}

fn definition(template: Template<'_>, entries: &Entries) -> Result<Message, Unsendable> {
    if let Some(field) = unsendable(template.fields()) {
        return Err(Unsendable {
            template: template.name().into(),
            field: field.path().into(),
        });
    }
    let message = build("TemplateDef", |message| {
        message.set("Ns", template.namespace())?;
        message.set("Name", template.name())?;
        if let Some(id) = template.id() {
            message.set("TemplateId", id.0)?;
        }
        message.set("Reset", u32::from(template.resets()))?;
        instructions(message, template.fields(), entries)
    });
    // Every value suits its field; a mistake would be ours.
    message.map_err(|_| Unsendable {
        template: template.name().into(),
        field: "".into(),
    })
}

fn build(
    name: &str,
    fill: impl FnOnce(&mut Builder<'_>) -> Result<(), BuildError>,
) -> Result<Message, BuildError> {
    let mut message = Message::new();
    let template = templates().by_name(name);
    let template = template.ok_or(BuildError::NoField(name.into()))?;
    fill(&mut message.build(template))?;
    Ok(message)
}

/// The first field of a type that has no instruction.
fn unsendable(fields: Fields<'_>) -> Option<Field<'_>> {
    fields.into_iter().find_map(|field| {
        if field.type_name() != field.field_type().name() || template_of(field).is_none() {
            return Some(field);
        }
        unsendable(field.fields())
    })
}

/// The name of the template for a field's instruction.
fn template_of(field: Field<'_>) -> Option<&'static str> {
    Some(match field.field_type() {
        FieldType::Int32 => "Int32Instr",
        FieldType::UInt32 => "UInt32Instr",
        FieldType::Int64 => "Int64Instr",
        FieldType::UInt64 => "UInt64Instr",
        FieldType::Decimal if field.instructions().count() == 2 => "CompositeDecimalInstr",
        FieldType::Decimal => "DecimalInstr",
        FieldType::Ascii => "AsciiStringInstr",
        FieldType::Unicode => "UnicodeStringInstr",
        FieldType::ByteVector => "ByteVectorInstr",
        FieldType::Group => "GroupInstr",
        FieldType::Sequence => "SequenceInstr",
        FieldType::Template => "DynamicTemplateRefInstr",
        FieldType::Int8 | FieldType::UInt8 | FieldType::Int16 | FieldType::UInt16 => return None,
    })
}

fn instructions(
    message: &mut Builder<'_>,
    fields: Fields<'_>,
    entries: &Entries,
) -> Result<(), BuildError> {
    let fill = |element: &mut Builder<'_>, field| instruction(element, field, entries);
    message.sequence("Instructions", fields, fill).map(|_| ())
}

fn instruction(
    element: &mut Builder<'_>,
    field: Field<'_>,
    entries: &Entries,
) -> Result<(), BuildError> {
    nested(element, template_of(field).unwrap_or_default(), |message| {
        if field.field_type() == FieldType::Template {
            return Ok(());
        }
        name(message, field.name(), field.id())?;
        message.set("Optional", u32::from(field.is_optional()))?;
        match field.field_type() {
            FieldType::Group => return instructions(message, field.fields(), entries),
            FieldType::Sequence => {
                length(message, field, entries)?;
                return instructions(message, field.fields(), entries);
            }
            _ => {}
        }
        for part in field.instructions() {
            let group = match part.part() {
                Part::Exponent => "Exponent",
                Part::Mantissa => "Mantissa",
                _ => {
                    operator(message, part, entries)?;
                    initial(message, part)?;
                    continue;
                }
            };
            if part.operator() != Operator::None {
                message.group(group, |group| {
                    operator(group, part, entries)?;
                    initial(group, part)
                })?;
            }
        }
        Ok(())
    })
}

fn length(
    message: &mut Builder<'_>,
    field: Field<'_>,
    entries: &Entries,
) -> Result<(), BuildError> {
    let Some(length) = field.instructions().next() else {
        return Ok(());
    };
    if length.operator() == Operator::None && field.length_name().is_none() {
        return Ok(());
    }
    message.group("Length", |group| {
        if let Some(own) = field.length_name() {
            group.group("Name", |group| name(group, own, None))?;
        }
        operator(group, length, entries)?;
        initial(group, length)
    })?;
    Ok(())
}

fn name(message: &mut Builder<'_>, name: &str, id: Option<&str>) -> Result<(), BuildError> {
    message.set("Ns", "")?.set("Name", name)?;
    if let Some(id) = id {
        message.set("AuxId", id)?;
    }
    Ok(())
}

fn operator(
    message: &mut Builder<'_>,
    part: Instruction<'_>,
    entries: &Entries,
) -> Result<(), BuildError> {
    let template = match part.operator() {
        Operator::None => return Ok(()),
        Operator::Constant => "ConstantOp",
        Operator::Default => "DefaultOp",
        Operator::Copy => "CopyOp",
        Operator::Increment => "IncrementOp",
        Operator::Delta => "DeltaOp",
        Operator::Tail => "TailOp",
    };
    let group = message.group("Operator", |group| {
        nested(group, template, |message| {
            let Some(slot) = part.slot() else {
                return Ok(());
            };
            message.set("Dictionary", &*entries.dictionary(slot))?;
            let key = |key: &mut Builder<'_>| name(key, slot.key, None);
            message.group("Key", key).map(|_| ())
        })
    });
    group.map(|_| ())
}

fn initial(message: &mut Builder<'_>, part: Instruction<'_>) -> Result<(), BuildError> {
    match part.initial() {
        Some(value) => message.set("InitialValue", value).map(|_| ()),
        None => Ok(()),
    }
}

fn nested(
    message: &mut Builder<'_>,
    name: &str,
    fill: impl FnOnce(&mut Builder<'_>) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let template = templates().by_name(name);
    let template = template.ok_or(BuildError::NoField(name.into()))?;
    message.template(template, fill).map(|_| ())
}

/// The names of dictionary entries, which may be less than what tells entries apart: `template` and `type` are other
/// dictionaries in other places, and keys have namespaces.
struct Entries {
    /// Number of the first entry of a dictionary and key.
    first: HashMap<(String, String), u32>,
}

impl Entries {
    fn new(templates: &Templates) -> Self {
        let mut first = HashMap::new();
        let all = templates.iter().flat_map(Template::fields);
        let mut open: Vec<_> = all.collect();
        while let Some(field) = open.pop() {
            for slot in field.instructions().filter_map(Instruction::slot) {
                let name = (slot.dictionary.to_owned(), slot.key.to_owned());
                let number = first.entry(name).or_insert(slot.number);
                *number = slot.number.min(*number);
            }
            open.extend(field.fields());
        }
        Self { first }
    }

    fn dictionary<'a>(&self, slot: Slot<'a>) -> std::borrow::Cow<'a, str> {
        let name = (slot.dictionary.to_owned(), slot.key.to_owned());
        let is_first = self.first.get(&name) == Some(&slot.number);
        match slot.dictionary {
            "template" | "type" => format!("{}:{}", slot.dictionary, slot.number).into(),
            other if !is_first => format!("{other}:{}", slot.number).into(),
            other => other.into(),
        }
    }
}
