//! Messages to templates: definitions become the XML that they would be in a file. Knows nothing of bytes.

use core::fmt::{self, Write};

use super::{XML, is_reserved};
use crate::message::{Record, Value};
use crate::{Message, Mode, TemplateError, TemplateId, Templates};

/// Templates that came as messages (TemplateDef and TemplateDecl).
#[derive(Clone, Debug, Default)]
pub struct Received {
    templates: Vec<Definition>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Definition {
    namespace: Box<str>,
    name: Box<str>,
    id: Option<u32>,
    reset: bool,
    /// The XML of its fields.
    body: String,
}

/// A definition that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// The message lacks this field, or has something else there.
    Field(&'static str),
    /// A message of this template is no instruction, or no operator.
    Instruction(Box<str>),
    /// Definitions that are nested, long or many beyond all templates.
    Limit,
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, "template definition without {name}"),
            Self::Instruction(name) => {
                write!(
                    f,
                    "template definition with {name} for an instruction or operator"
                )
            }
            Self::Limit => f.write_str("template definitions too deep, too long or too many"),
        }
    }
}

impl core::error::Error for ReceiveError {}

impl Received {
    /// Takes a session message: a definition (the latest of a name counts) or a declaration, which gives a template that was
    /// defined its id. An id belongs to the template that got it last. `false`: the message is neither, and says nothing
    /// about templates.
    ///
    /// # Errors
    /// The definition is none; nothing has changed.
    pub fn take(&mut self, message: &Message) -> Result<bool, ReceiveError> {
        let record = message.record();
        match message.template().map(|template| template.name()) {
            Some("TemplateDef") => self.define(record)?,
            Some("TemplateDecl") => {
                let (namespace, name) = names(record)?;
                let id = number(record, "TemplateId")?;
                let id = u32::try_from(id).map_err(|_| ReceiveError::Field("TemplateId"))?;
                if self.named(namespace, name).is_some() {
                    self.free(id);
                }
                if let Some(template) = self.named(namespace, name) {
                    template.id = Some(id);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The templates received so far, together with those of the session, so that one decoder has both.
    ///
    /// # Errors
    /// The definitions make no templates: line and column are those of the XML that they stand for.
    pub fn templates(&self) -> Result<Templates, TemplateError> {
        Templates::parse(&self.xml(), Mode::Strict)
    }

    /// The templates received so far as a template file. Those with the id of a session message are left out.
    pub fn xml(&self) -> String {
        let session = XML.rfind("</templates>").unwrap_or(XML.len());
        let mut xml = XML.get(..session).unwrap_or_default().to_owned();
        let is_own = |id: Option<u32>| !id.is_some_and(|id| is_reserved(TemplateId(id)));
        for template in self.templates.iter().filter(|t| is_own(t.id)) {
            let mut tag = Tag::open(&mut xml, "template");
            tag.attribute("templateNs", &template.namespace);
            tag.attribute("ns", "");
            tag.attribute("name", &template.name);
            if let Some(id) = template.id {
                tag.attribute("id", &id.to_string());
            }
            if template.reset {
                tag.attribute("scp:reset", "yes");
            }
            tag.content();
            xml.push_str(&template.body);
            xml.push_str("</template>\n");
        }
        xml.push_str("</templates>\n");
        xml
    }

    fn named(&mut self, namespace: &str, name: &str) -> Option<&mut Definition> {
        let mut templates = self.templates.iter_mut();
        templates.find(|known| &*known.namespace == namespace && &*known.name == name)
    }

    /// Takes an id from the template that has it.
    fn free(&mut self, id: u32) {
        let mut templates = self.templates.iter_mut();
        if let Some(template) = templates.find(|template| template.id == Some(id)) {
            template.id = None;
        }
    }

    fn define(&mut self, record: Record<'_>) -> Result<(), ReceiveError> {
        let (namespace, name) = names(record)?;
        let mut body = String::new();
        type_ref(record, &mut body)?;
        instructions(record, &mut body, 0)?;
        let definition = Definition {
            namespace: namespace.into(),
            name: name.into(),
            id: number(record, "TemplateId")
                .ok()
                .and_then(|id| u32::try_from(id).ok()),
            reset: number(record, "Reset")? != 0,
            body,
        };
        let replaced = self.named(namespace, name).map_or(0, |old| old.len());
        let kept = self.bytes - replaced;
        let is_one_too_many = replaced == 0 && self.templates.len() == MAX_TEMPLATES;
        if is_one_too_many || kept + definition.len() > MAX_BYTES {
            return Err(ReceiveError::Limit);
        }
        self.bytes = kept + definition.len();
        if let Some(id) = definition.id {
            self.free(id);
        }
        match self.named(namespace, name) {
            Some(old) => *old = definition,
            None => self.templates.push(definition),
        }
        Ok(())
    }
}

impl Definition {
    fn len(&self) -> usize {
        self.namespace.len() + self.name.len() + self.body.len()
    }
}

fn instructions(record: Record<'_>, xml: &mut String, depth: u32) -> Result<(), ReceiveError> {
    let Some(Value::Sequence(list)) = record.get("Instructions") else {
        return Err(ReceiveError::Field("Instructions"));
    };
    if depth > MAX_DEPTH {
        return Err(ReceiveError::Limit);
    }
    for element in list.iter() {
        let (name, instruction) = inner(element)?;
        self::instruction(name, instruction, xml, depth)?;
        if xml.len() > MAX_BYTES {
            return Err(ReceiveError::Limit);
        }
    }
    Ok(())
}

fn instruction(
    name: &str,
    record: Record<'_>,
    xml: &mut String,
    depth: u32,
) -> Result<(), ReceiveError> {
    let element = match name {
        "Int32Instr" => "int32",
        "UInt32Instr" => "uInt32",
        "Int64Instr" => "int64",
        "UInt64Instr" => "uInt64",
        "DecimalInstr" | "CompositeDecimalInstr" => "decimal",
        "AsciiStringInstr" | "UnicodeStringInstr" => "string",
        "ByteVectorInstr" => "byteVector",
        "SequenceInstr" => "sequence",
        "GroupInstr" => "group",
        "DynamicTemplateRefInstr" => {
            xml.push_str("<templateRef/>");
            return Ok(());
        }
        "StaticTemplateRefInstr" => {
            let (namespace, name) = names(record)?;
            let mut tag = Tag::open(xml, "templateRef");
            tag.attribute("name", name);
            tag.attribute("templateNs", namespace);
            tag.empty();
            return Ok(());
        }
        // Not of FAST's namespace: skipped, as in a file (§9).
        "ForeignInstr" => return Ok(()),
        other => return Err(ReceiveError::Instruction(other.into())),
    };
    let mut tag = Tag::open(xml, element);
    names_of(record, &mut tag)?;
    if number(record, "Optional")? != 0 {
        tag.attribute("presence", "optional");
    }
    if name == "UnicodeStringInstr" {
        tag.attribute("charset", "unicode");
    }
    tag.content();
    match element {
        "group" | "sequence" => {
            type_ref(record, xml)?;
            if let Some(Value::Group(length)) = record.get("Length") {
                let mut tag = Tag::open(xml, "length");
                if let Some(Value::Group(name)) = length.get("Name") {
                    names_of(name, &mut tag)?;
                }
                tag.content();
                operator(length, xml)?;
                xml.push_str("</length>");
            }
            instructions(record, xml, depth + 1)?;
        }
        _ if name == "CompositeDecimalInstr" => {
            for (group, part) in [("Exponent", "exponent"), ("Mantissa", "mantissa")] {
                Tag::open(xml, part).content();
                if let Some(Value::Group(group)) = record.get(group) {
                    operator(group, xml)?;
                }
                Tag::close(xml, part);
            }
        }
        _ => operator(record, xml)?,
    }
    Tag::close(xml, element);
    Ok(())
}

/// The operator of a field or part, with the initial value beside it.
fn operator(record: Record<'_>, xml: &mut String) -> Result<(), ReceiveError> {
    let Some(Value::Group(group)) = record.get("Operator") else {
        return Ok(());
    };
    let (name, operator) = inner(group)?;
    let element = match name {
        "ConstantOp" => "constant",
        "DefaultOp" => "default",
        "CopyOp" => "copy",
        "IncrementOp" => "increment",
        "DeltaOp" => "delta",
        "TailOp" => "tail",
        other => return Err(ReceiveError::Instruction(other.into())),
    };
    let mut tag = Tag::open(xml, element);
    if let Some(Value::Text(dictionary)) = operator.get("Dictionary") {
        tag.attribute("dictionary", dictionary);
    }
    if let Some(Value::Group(key)) = operator.get("Key") {
        let (namespace, key) = names(key)?;
        tag.attribute("ns", namespace);
        tag.attribute("key", key);
    }
    if let Some(value) = record.get("InitialValue") {
        let text = match value {
            Value::Unsigned(value) => value.to_string(),
            Value::Signed(value) => value.to_string(),
            Value::Decimal(value) => value.to_string(),
            Value::Text(text) => text.to_owned(),
            Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            _ => return Err(ReceiveError::Field("InitialValue")),
        };
        tag.attribute("value", &text);
    }
    tag.empty();
    Ok(())
}

fn type_ref(record: Record<'_>, xml: &mut String) -> Result<(), ReceiveError> {
    if let Some(Value::Group(reference)) = record.get("TypeRef") {
        let mut tag = Tag::open(xml, "typeRef");
        names_of(reference, &mut tag)?;
        tag.empty();
    }
    Ok(())
}

/// The message at a dynamic template reference.
fn inner(record: Record<'_>) -> Result<(&str, Record<'_>), ReceiveError> {
    match record.get("templateRef") {
        Some(Value::Template(template, record)) => Ok((template.name(), record)),
        _ => Err(ReceiveError::Field("templateRef")),
    }
}

fn names(record: Record<'_>) -> Result<(&str, &str), ReceiveError> {
    match (record.get("Ns"), record.get("Name")) {
        (Some(Value::Text(namespace)), Some(Value::Text(name))) => Ok((namespace, name)),
        _ => Err(ReceiveError::Field("Name")),
    }
}

fn names_of(record: Record<'_>, tag: &mut Tag<'_>) -> Result<(), ReceiveError> {
    let (namespace, name) = names(record)?;
    if !namespace.is_empty() {
        tag.attribute("ns", namespace);
    }
    tag.attribute("name", name);
    if let Some(Value::Text(id)) = record.get("AuxId") {
        tag.attribute("id", id);
    }
    Ok(())
}

fn number(record: Record<'_>, name: &'static str) -> Result<u64, ReceiveError> {
    match record.get(name) {
        Some(Value::Unsigned(value)) => Ok(value),
        _ => Err(ReceiveError::Field(name)),
    }
}

/// A start tag that is being written.
struct Tag<'x>(&'x mut String);

impl<'x> Tag<'x> {
    fn open(xml: &'x mut String, name: &str) -> Self {
        xml.push('<');
        xml.push_str(name);
        Self(xml)
    }

    /// Every character that XML could take for its own, or for a blank that it may change, is written by its number.
    fn attribute(&mut self, name: &str, value: &str) {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push_str("=\"");
        for c in value.chars() {
            match c {
                '<' | '>' | '&' | '"' | '\t' | '\n' | '\r' => {
                    let _ = write!(self.0, "&#{};", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }

    fn content(self) {
        self.0.push('>');
    }

    fn empty(self) {
        self.0.push_str("/>");
    }

    fn close(xml: &mut String, name: &str) {
        xml.push_str("</");
        xml.push_str(name);
        xml.push('>');
    }
}

/// Levels of groups and sequences in a definition; the compiler allows as many.
const MAX_DEPTH: u32 = 64;
/// Templates that a session may define: each definition is compared with all names so far.
const MAX_TEMPLATES: usize = 1 << 12;
/// Bytes of all definitions together.
const MAX_BYTES: usize = 1 << 26;
