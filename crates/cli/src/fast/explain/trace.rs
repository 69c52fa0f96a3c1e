//! The rows of an explanation, as the decoder tells its reads one by one. Knows nothing of how they are shown.

use std::ops::Range;

use serde_json::{Value as Json, json};
use tickwire_fast::{
    Code, Decimal, Field, FieldIndex, FieldType, Instruction, Operator, Part, PresenceBit,
    Previous, Step, Template, Templates, Value, Visitor,
};

/// One row: something that the decoder read or implied, or the heading of rows that belong together.
#[derive(Debug)]
pub(super) struct Row {
    /// Groups, elements and inner templates around it.
    pub(super) depth: usize,
    pub(super) what: What,
    /// The field's name, or what the row is about.
    pub(super) name: String,
    /// Names from the template down, with element numbers.
    pub(super) path: String,
    pub(super) field: Option<FieldIndex>,
    /// Bytes from the start of the message.
    pub(super) bytes: Range<usize>,
    pub(super) presence: Option<PresenceBit>,
    pub(super) operator: Operator,
    /// The operator's initial value.
    pub(super) initial: Option<Shown>,
    pub(super) before: Option<Shown>,
    pub(super) after: Option<Shown>,
    pub(super) value: Option<Shown>,
    pub(super) error: Option<Code>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Rows of a message, group, element, inner template or split decimal follow.
    Heading,
    /// Bytes or a presence bit were read.
    Read(Part),
    /// Something to know.
    Note,
}

/// A value for people and for programs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) json: Json,
}

impl Shown {
    /// Words that are no value: `absent`, `undefined`.
    fn word(word: &str) -> Self {
        Self {
            text: word.to_owned(),
            json: json!({ "state": word }),
        }
    }

    fn new(value: Value<'_>) -> Option<Self> {
        let (text, json) = match value {
            Value::Unsigned(value) => (value.to_string(), json!(value)),
            Value::Signed(value) => (value.to_string(), json!(value)),
            Value::Decimal(value) => return Some(Self::decimal(value)),
            Value::Text(value) => (format!("{value:?}"), json!(value)),
            Value::Bytes(value) => (hex(value), json!(hex(value))),
            Value::Group(_) | Value::Sequence(_) | Value::Template(..) => return None,
        };
        Some(Self { text, json })
    }

    /// With its parts: 12.50 can be sent as 125·10^-1 too, and the operators work on the parts.
    fn decimal(value: Decimal) -> Self {
        let parts = json!({
            "mantissa": value.mantissa(),
            "exponent": value.exponent(),
            "text": value.to_string(),
        });
        let text = match value.exponent() {
            0 => value.to_string(),
            exponent => format!("{value} ({}e{exponent})", value.mantissa()),
        };
        Self { text, json: parts }
    }

    fn previous(previous: &Previous, field_type: Option<FieldType>) -> Option<Self> {
        match previous {
            Previous::None => None,
            Previous::Undefined => Some(Self::word("undefined")),
            Previous::Lost => Some(Self::word("lost")),
            Previous::Empty => Some(Self::word("empty")),
            Previous::OtherType => Some(Self::word("other type")),
            Previous::Unsigned(value) => Self::new(Value::Unsigned(*value)),
            Previous::Signed(value) => Self::new(Value::Signed(*value)),
            Previous::Decimal(value) => Some(Self::decimal(*value)),
            Previous::Bytes(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) if field_type != Some(FieldType::ByteVector) => {
                    Self::new(Value::Text(text))
                }
                _ => Self::new(Value::Bytes(bytes)),
            },
        }
    }
}

/// What an enumeration, set or boolean means by an integer (FAST 1.2).
fn names(field: Field<'_>, value: u64) -> Option<String> {
    if let Some(elements) = field.enumeration() {
        return elements
            .with_value(value)
            .map(|element| element.name.to_string());
    }
    if let Some(elements) = field.set() {
        let names: Vec<_> = elements
            .within(value)
            .map(|element| &*element.name)
            .collect();
        return Some(format!("[{}]", names.join(" ")));
    }
    field.is_boolean().then(|| (value != 0).to_string())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The visitor that keeps what the decoder tells.
#[derive(Debug)]
pub(super) struct Trace<'t> {
    templates: &'t Templates,
    bytes: &'t [u8],
    pub(super) rows: Vec<Row>,
    pub(super) template: Option<String>,
    /// Path of each open group, element or inner template.
    open: Vec<String>,
    /// The row that the next value is for.
    target: usize,
}

impl<'t> Trace<'t> {
    /// A trace of the message in `bytes`.
    pub(super) fn new(templates: &'t Templates, bytes: &'t [u8]) -> Self {
        let mut trace = Self {
            templates,
            bytes,
            rows: Vec::new(),
            template: None,
            open: Vec::new(),
            target: 0,
        };
        trace.heading("message".to_owned(), String::new());
        trace.open.push(String::new());
        trace
    }

    fn row(&self, what: What, name: String) -> Row {
        Row {
            depth: self.open.len(),
            what,
            name,
            path: String::new(),
            field: None,
            bytes: 0..0,
            presence: None,
            operator: Operator::None,
            initial: None,
            before: None,
            after: None,
            value: None,
            error: None,
        }
    }

    fn heading(&mut self, name: String, path: String) {
        let row = self.row(What::Heading, name);
        self.rows.push(Row { path, ..row });
    }

    fn note(&mut self, text: String) {
        let row = self.row(What::Note, text);
        self.rows.push(row);
    }

    fn path(&self, name: &str) -> String {
        match self.open.last().map_or("", |path| path) {
            "" => name.to_owned(),
            outer => format!("{outer}.{name}"),
        }
    }

    /// A row for what is read of a field as a whole, or the heading for its parts.
    fn field_row(&mut self, field: Field<'_>, what: What) {
        self.target = self.rows.len();
        let row = self.row(what, field.name().to_owned());
        self.rows.push(Row {
            path: self.path(field.name()),
            field: Some(field.index()),
            ..row
        });
    }

    fn set(&mut self, value: Value<'_>) {
        if let Some(row) = self.rows.get_mut(self.target) {
            row.value = Shown::new(value);
        }
    }

    fn set_text(&mut self, text: String, json: Json) {
        if let Some(row) = self.rows.get_mut(self.target) {
            row.value = Some(Shown { text, json });
        }
    }

    /// What precedes the row of a step: headings that only the step itself announces.
    fn before_step(&mut self, step: &Step, field: Option<Field<'_>>) {
        let Some(field) = field else { return };
        match (step.part, field.field_type()) {
            (Part::Exponent, _) => self.field_row(field, What::Heading),
            (Part::PresenceMap, FieldType::Template) => {
                self.field_row(field, What::Heading);
                self.open.push(self.path(field.name()));
            }
            _ => {}
        }
    }

    /// The bits of a presence map, in groups of seven as its bytes have them.
    fn bits(&self, range: &Range<usize>) -> Shown {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        let groups: Vec<_> = bytes
            .iter()
            .map(|byte| format!("{:07b}", byte & 0x7f))
            .collect();
        Shown {
            text: groups.join(" "),
            json: json!(groups.concat()),
        }
    }

    fn complete(&self, row: &mut Row, step: &Step, field: Option<Field<'_>>) {
        let part = field.and_then(|field| field.instructions().find(|i| i.part() == step.part));
        row.operator = match step.part {
            Part::TemplateId => Operator::Copy,
            _ => part.map_or(Operator::None, Instruction::operator),
        };
        let field_type = part.map(Instruction::field_type);
        row.initial = part.and_then(Instruction::initial).and_then(Shown::new);
        row.bytes = step.bytes.clone();
        row.presence = step.presence;
        row.before = Shown::previous(&step.before, field_type);
        row.after = Shown::previous(&step.after, field_type);
        row.error = step.error;
        row.value = match (step.part, step.integer) {
            (Part::PresenceMap, _) => Some(self.bits(&step.bytes)),
            (_, Some(integer)) => Shown::new(Value::Signed(integer)),
            (Part::Exponent, None) if step.error.is_none() => Some(Shown::word("absent")),
            _ => None,
        };
    }
}

impl Visitor for Trace<'_> {
    const TRACED: bool = true;

    fn step(&mut self, step: &Step) {
        let templates = self.templates;
        let field = step.field.and_then(|index| templates.field(index));
        self.before_step(step, field);
        match (step.part, field) {
            (Part::Value | Part::Length, Some(field)) => {
                self.field_row(field, What::Read(step.part));
            }
            (part, field) => {
                let (name, deeper) = match part {
                    Part::PresenceMap => ("presence map", 0),
                    Part::TemplateId => ("template id", 0),
                    Part::Exponent => ("exponent", 1),
                    _ => ("mantissa", 1),
                };
                let row = self.row(What::Read(part), name.to_owned());
                let path = match field {
                    Some(field) if deeper == 1 => format!("{}.{name}", self.path(field.name())),
                    _ => self.path(name),
                };
                self.rows.push(Row {
                    depth: row.depth + deeper,
                    path,
                    field: step.field,
                    ..row
                });
            }
        }
        if let Some(mut row) = self.rows.pop() {
            self.complete(&mut row, step, field);
            self.rows.push(row);
        }
    }

    fn begin_message(&mut self, template: Template<'_>) {
        self.template = Some(template.name().to_owned());
        if let Some(row) = self.rows.first_mut() {
            row.name = format!("message {}", template.name());
        }
        if template.resets() {
            self.note("the template resets all dictionaries".to_owned());
        }
    }

    fn unsigned(&mut self, field: FieldIndex, value: u64) {
        self.set(Value::Unsigned(value));
        let names = self
            .templates
            .field(field)
            .and_then(|field| names(field, value));
        let row = self.rows.get_mut(self.target);
        if let Some((names, shown)) = names.zip(row.and_then(|row| row.value.as_mut())) {
            shown.text = format!("{value} = {names}");
            shown.json = json!({ "integer": value, "means": names });
        }
    }

    fn signed(&mut self, _: FieldIndex, value: i64) {
        self.set(Value::Signed(value));
    }

    fn decimal(&mut self, _: FieldIndex, value: Decimal) {
        self.set(Value::Decimal(value));
    }

    fn text(&mut self, _: FieldIndex, value: &str) {
        self.set(Value::Text(value));
    }

    fn bytes(&mut self, _: FieldIndex, value: &[u8]) {
        self.set(Value::Bytes(value));
    }

    fn absent(&mut self, _: FieldIndex) {
        if let Some(row) = self.rows.get_mut(self.target) {
            row.value = Some(Shown::word("absent"));
        }
    }

    fn begin_group(&mut self, field: FieldIndex) {
        let Some(field) = self.templates.field(field) else {
            return;
        };
        let has_row = self.rows.last().is_some_and(|row| {
            row.field == Some(field.index()) && row.what == What::Read(Part::Value)
        });
        if !has_row {
            self.field_row(field, What::Heading);
        }
        self.set_text("group".to_owned(), json!("group"));
        self.open.push(self.path(field.name()));
    }

    fn end_group(&mut self, _: FieldIndex) {
        self.open.pop();
    }

    fn begin_sequence(&mut self, _: FieldIndex, len: u32) {
        let unit = if len == 1 { "element" } else { "elements" };
        self.set_text(format!("{len} {unit}"), json!(len));
    }

    fn begin_element(&mut self, field: FieldIndex, index: u32) {
        let name = self.templates.field(field).map_or("", Field::name);
        let name = format!("{name}[{index}]");
        let path = self.path(&name);
        self.heading(name, path.clone());
        self.open.push(path);
    }

    fn end_element(&mut self, _: FieldIndex) {
        self.open.pop();
    }

    fn begin_template(&mut self, _: FieldIndex, template: Template<'_>) {
        self.set_text(template.name().to_owned(), json!(template.name()));
    }

    fn end_template(&mut self, _: FieldIndex) {
        self.open.pop();
    }

    fn reset(&mut self) {
        self.note(
            "the session's reset message: all dictionaries are undefined from here".to_owned(),
        );
    }
}
