//! Messages to templates: definitions become the XML that they would be in a file. Knows nothing of bytes.

use core::fmt::{self, Write};

use super::{NAMESPACE, XML, is_session, templates};
use crate::message::{Record, Value};
use crate::{Message, TemplateError, TemplateId, Templates};

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
    /// The XML of its fields; `None` as long as it was only declared.
    body: Option<String>,
}

/// A template that was defined and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Namespace of its name.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What is wrong. Line and column are those of [`Received::xml`].
    pub error: TemplateError,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TemplateError { code, detail, .. } = &self.error;
        write!(f, "template {}: {code} ({detail})", self.name)
    }
}

impl core::error::Error for Refused {}

/// A definition that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// The message lacks this field, or has something else there.
    Field(&'static str),
    /// A message of this template is no instruction, or no operator.
    Instruction(Box<str>),
    /// Its text cannot be that of a template: a name is empty, or a name or value has a character that XML has no form
    /// for.
    Text(TemplateError),
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
            Self::Text(error) => write!(f, "template definition: {}", error.detail),
            Self::Limit => f.write_str("template definitions too deep, too long or too many"),
        }
    }
}

impl core::error::Error for ReceiveError {}

impl Received {
    /// Takes a session message: a definition (the latest of a name counts) or a declaration, which gives a template its id,
    /// whether it is defined before or after. A definition without an id leaves the id as it is; an id belongs to the
    /// template that got it last. `false`: the message is neither, and says nothing about templates.
    ///
    /// # Errors
    /// The definition or declaration is none; nothing has changed.
    pub fn take(&mut self, message: &Message) -> Result<bool, ReceiveError> {
        let record = message.record();
        match message.template().map(|template| template.name()) {
            Some("TemplateDef") => self.define(record)?,
            Some("TemplateDecl") => {
                let (namespace, name) = names(record)?;
                let id = number(record, "TemplateId")?;
                let id = u32::try_from(id).map_err(|_| ReceiveError::Field("TemplateId"))?;
                self.keep(Definition {
                    namespace: namespace.into(),
                    name: name.into(),
                    id: Some(id),
                    reset: false,
                    body: None,
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The templates received so far that can be used, together with those of the session, so that one decoder has both;
    /// and those that cannot, each with what is wrong. A template that refers to one of these by name is one of them.
    pub fn templates(&self) -> (Templates, Vec<Refused>) {
        let mut refused = Vec::new();
        let first = templates().iter().count();
        let parsed = Templates::parse_each(&self.xml(), |number, error| {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let definition = number.checked_sub(first).and_then(|at| self.own().nth(at));
            refused.extend(definition.map(|definition| definition.refused(error)));
        });
        match parsed {
            Ok(templates) => (templates, refused),
            // No definition is known to do this: then it is nobody's fault more than another's.
            Err(error) => (
                templates().clone(),
                self.own().map(|each| each.refused(error.clone())).collect(),
            ),
        }
    }

    /// The templates received so far as a template file. Those with the id of a session message or in the namespace of
    /// the session's names are left out.
    pub fn xml(&self) -> String {
        let session = XML.rfind("</templates>").unwrap_or(XML.len());
        let mut xml = XML.get(..session).unwrap_or_default().to_owned();
        self.own().for_each(|template| template.write(&mut xml));
        xml.push_str("</templates>\n");
        xml
    }

    /// The templates that are defined and not in the place of the session's own.
    fn own(&self) -> impl Iterator<Item = &Definition> {
        let templates = self.templates.iter();
        templates.filter(|template| {
            template.body.is_some() && !is_session(&template.namespace, template.id.map(TemplateId))
        })
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
            body: Some(body),
        };
        definition.check()?;
        self.keep(definition)
    }

    /// Keeps a definition, or what a declaration says of one, beside or in place of what was known of the template.
    fn keep(&mut self, mut new: Definition) -> Result<(), ReceiveError> {
        let old = self.named(&new.namespace, &new.name);
        let (is_known, replaced) = (old.is_some(), old.as_ref().map_or(0, |old| old.len()));
        if let Some(old) = old {
            new.id = new.id.or(old.id);
            if new.body.is_none() {
                new.body.clone_from(&old.body);
                new.reset = old.reset;
            }
        }
        let bytes = self.bytes - replaced + new.len();
        if bytes > MAX_BYTES || !is_known && self.templates.len() == MAX_TEMPLATES {
            return Err(ReceiveError::Limit);
        }
        self.bytes = bytes;
        if let Some(id) = new.id {
            self.free(id);
        }
        match self.named(&new.namespace, &new.name) {
            Some(old) => *old = new,
            None => self.templates.push(new),
        }
        Ok(())
    }
}

impl Definition {
    fn len(&self) -> usize {
        self.namespace.len() + self.name.len() + self.body.as_ref().map_or(0, String::len)
    }

    fn write(&self, xml: &mut String) {
        let mut tag = Tag::open(xml, "template");
        tag.attribute("templateNs", &self.namespace);
        tag.attribute("ns", "");
        tag.attribute("name", &self.name);
        if let Some(id) = self.id {
            tag.attribute("id", &id.to_string());
        }
        if self.reset {
            tag.attribute("scp:reset", "yes");
        }
        tag.content();
        xml.push_str(self.body.as_deref().unwrap_or_default());
        xml.push_str("</template>\n");
    }

    /// That its text can be part of a template file at all: whatever else is wrong is its own affair.
    fn check(&self) -> Result<(), ReceiveError> {
        let mut xml = format!("<templates xmlns:scp=\"{NAMESPACE}\">");
        self.write(&mut xml);
        xml.push_str("</templates>");
        let parsed = Templates::parse_each(&xml, |_, _| {});
        parsed.map(|_| ()).map_err(ReceiveError::Text)
    }

    fn refused(&self, error: TemplateError) -> Refused {
        Refused {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            error,
        }
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
/// Bytes of all definitions together, more than templates have that compile.
const MAX_BYTES: usize = 1 << 23;
