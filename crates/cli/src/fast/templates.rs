//! `tickwire fast templates`: what a template file says, as the decoder understands it.

use std::collections::BTreeSet;
use std::io::Write;

use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};
use tickwire_fast::{Field, FieldType, Fields, Instruction, Part, Template, Templates, Value};

use super::source::TemplateFile;
use crate::failure::{Failure, Result};
use crate::output::{ListFormat, stdout, table, write_list};

/// List the templates of a file, or the fields of one
#[derive(Args)]
#[command(
    long_about = "\
Lists the templates of a file as the decoder understands them: id, name, number of fields, bits of the \
message's presence map, entries in dictionaries, and whether a message resets the dictionaries.

With names, or with `--fields`, each template's fields follow, those of groups and sequences indented: \
presence-map bit, type (with its range where that is narrower than 32 bits), presence, operator with \
initial value, and the dictionary entry (number, dictionary, key). Fields with the same number share \
their previous value, in whichever template they are. A decimal with an operator for each part has a line \
for each; the line `length` of a sequence stands before the fields of its elements, whose bits belong to \
the element's own presence map. `-o json` always has the fields.",
    after_help = "\
Examples:
  tickwire fast templates feed.xml
  tickwire fast templates feed.xml MarketData
  tickwire fast templates feed.xml --fields | less -S
  tickwire fast templates feed.xml -o json | jq '.[].name'

A template, as `tickwire fast templates complex.xml QuoteRequest` shows it (first lines):
  QuoteRequest  id 2, 1 presence bit, 0 dictionary entries

  bit  field                  tag   type      presence   operator  initial          entry  dictionary  key
    0  template id                  uInt32    mandatory  copy
       ApplVerID              1128  string    mandatory  constant  \"1.0\"
       MessageType            35    string    mandatory  constant  \"R\"
       SenderCompID           49    string    mandatory  constant  \"Test Exchange\"
       MsgSeqNum              34    uInt32    mandatory"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    templates: TemplateFile,

    /// Templates whose fields are shown
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Show the fields of all templates
    #[arg(long)]
    fields: bool,

    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// For people
    Table,
    /// One array of objects, each with its fields
    Json,
    /// A line for each template
    Csv,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let templates = self.templates.load()?;
        let chosen = self.chosen(&templates)?;
        let mut out = stdout();
        match self.output {
            Form::Json => {
                let list: Vec<_> = chosen.into_iter().map(object).collect();
                serde_json::to_writer_pretty(&mut out, &list).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
            Form::Csv => write_list(&mut out, ListFormat::Csv, &COLUMNS, &rows(&chosen))?,
            Form::Table if self.fields || !self.names.is_empty() => {
                for (at, template) in chosen.into_iter().enumerate() {
                    if at > 0 {
                        writeln!(out)?;
                    }
                    write_fields(&mut out, template)?;
                }
            }
            Form::Table => write_list(&mut out, ListFormat::Table, &COLUMNS, &rows(&chosen))?,
        }
        Ok(out.flush()?)
    }

    /// The templates with these names, in their order; all if there are no names.
    fn chosen<'t>(&self, templates: &'t Templates) -> Result<Vec<Template<'t>>> {
        if self.names.is_empty() {
            return Ok(templates.iter().collect());
        }
        let by_name = |name: &String| {
            let found: Vec<_> = templates.iter().filter(|t| t.name() == name).collect();
            if found.is_empty() {
                let failure = Failure::new(format_args!("no template is called {name}"));
                return Err(failure.hint("without a name all templates are listed"));
            }
            Ok(found)
        };
        let found: Result<Vec<_>> = self.names.iter().map(by_name).collect();
        Ok(found?.concat())
    }
}

const COLUMNS: [&str; 7] = [
    "id",
    "name",
    "fields",
    "presence bits",
    "entries",
    "resets",
    "namespace",
];

fn rows(templates: &[Template<'_>]) -> Vec<Vec<Json>> {
    let row = |template: &Template<'_>| {
        vec![
            json!(template.id().map(|id| id.0)),
            json!(template.name()),
            json!(count(template.fields())),
            json!(template.map_bits()),
            json!(slots(template.fields()).len()),
            json!(if template.resets() { "yes" } else { "no" }),
            json!(template.namespace()),
        ]
    };
    templates.iter().map(row).collect()
}

/// Fields, those of groups and sequences included.
fn count(fields: Fields<'_>) -> usize {
    fields.map(|field| 1 + count(field.fields())).sum()
}

/// Dictionary entries that the fields use.
fn slots(fields: Fields<'_>) -> BTreeSet<u32> {
    let of_field = |field: Field<'_>| {
        let own = field.instructions().filter_map(Instruction::slot);
        let own: BTreeSet<_> = own.map(|slot| slot.number).collect();
        &own | &slots(field.fields())
    };
    fields.flat_map(of_field).collect()
}

fn write_fields(out: &mut impl Write, template: Template<'_>) -> Result<()> {
    let mut lines = Lines::default();
    lines.push(Line {
        bit: Some(0),
        field: "template id".to_owned(),
        kind: "uInt32".to_owned(),
        presence: "mandatory",
        operator: "copy",
        ..Line::default()
    });
    lines.segment(template.fields(), 0, 1);
    let id = template
        .id()
        .map_or_else(|| "no id".to_owned(), |id| format!("id {id}"));
    let bits = plural(
        template.map_bits() as usize,
        "presence bit",
        "presence bits",
    );
    let slots = slots(template.fields()).len();
    let slots = plural(slots, "dictionary entry", "dictionary entries");
    let resets = match template.resets() {
        true => ", resets the dictionaries",
        false => "",
    };
    writeln!(out, "{}  {id}, {bits}, {slots}{resets}\n", template.name())?;
    let rows: Vec<_> = lines.rows.into_iter().map(Line::cells).collect();
    for line in table(&FIELD_COLUMNS, &rows).lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    if lines.varies {
        writeln!(out, "\n{VARYING_BITS}")?;
    }
    Ok(())
}

fn plural(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

const FIELD_COLUMNS: [&str; 10] = [
    "bit",
    "field",
    "tag",
    "type",
    "presence",
    "operator",
    "initial",
    "entry",
    "dictionary",
    "key",
];
const VARYING_BITS: &str = "\
A mantissa whose exponent is absent takes no bit: those behind it then move up by one.";

/// The lines of one template.
#[derive(Default)]
struct Lines {
    rows: Vec<Line>,
    /// Bits depend on whether an exponent is present.
    varies: bool,
}

/// One instruction, or a field that has none.
#[derive(Default)]
struct Line {
    bit: Option<u32>,
    field: String,
    tag: String,
    kind: String,
    presence: &'static str,
    operator: &'static str,
    initial: String,
    entry: Option<u32>,
    dictionary: String,
    key: String,
}

impl Line {
    fn cells(self) -> Vec<Json> {
        vec![
            json!(self.bit),
            json!(self.field),
            json!(self.tag),
            json!(self.kind),
            json!(self.presence),
            json!(self.operator),
            json!(self.initial),
            json!(self.entry),
            json!(self.dictionary),
            json!(self.key),
        ]
    }

    /// The operator and all that belongs to it.
    fn instruction(self, instruction: Instruction<'_>, bit: Option<u32>) -> Self {
        let slot = instruction.slot();
        Self {
            bit,
            operator: match instruction.operator() {
                tickwire_fast::Operator::None => "",
                operator => operator.name(),
            },
            initial: instruction.initial().map_or_else(String::new, text),
            entry: slot.map(|slot| slot.number),
            dictionary: slot.map_or_else(String::new, |slot| slot.dictionary.to_owned()),
            key: slot.map_or_else(String::new, |slot| slot.key.to_owned()),
            ..self
        }
    }
}

impl Lines {
    fn push(&mut self, line: Line) {
        self.rows.push(line);
    }

    /// The fields of a segment whose presence map has `bit` as the next one.
    fn segment(&mut self, fields: Fields<'_>, depth: usize, mut bit: u32) {
        for field in fields {
            let instructions: Vec<_> = field.instructions().collect();
            let mut next_bit = |instruction: &Instruction<'_>| {
                instruction.uses_map().then(|| {
                    bit += 1;
                    bit - 1
                })
            };
            let own = Line {
                field: format!("{:1$}{2}", "", 2 * depth, field.name()),
                tag: field.id().unwrap_or_default().to_owned(),
                kind: type_of_field(field),
                presence: presence(field.is_optional()),
                ..Line::default()
            };
            match &instructions[..] {
                [value] if value.part() == Part::Value => {
                    let bit = next_bit(value);
                    self.push(own.instruction(*value, bit));
                }
                parts => {
                    self.push(own);
                    for part in parts {
                        self.varies |=
                            part.part() == Part::Mantissa && field.is_optional() && part.uses_map();
                        let name = part_name(field, part.part());
                        let line = Line {
                            field: format!("{:1$}{name}", "", 2 * depth + 2),
                            kind: type_of(part.field_type()),
                            presence: presence(part.is_optional()),
                            ..Line::default()
                        };
                        let bit = next_bit(part);
                        self.push(line.instruction(*part, bit));
                    }
                }
            }
            self.segment(field.fields(), depth + 1, 0);
        }
    }
}

/// What a part of a field is called, beside the fields.
fn part_name(field: Field<'_>, part: Part) -> String {
    match part {
        Part::Length => match field.length_name() {
            Some(name) => format!("length {name}"),
            None => "length".to_owned(),
        },
        Part::Exponent => "exponent".to_owned(),
        Part::Mantissa => "mantissa".to_owned(),
        Part::Value | Part::PresenceMap | Part::TemplateId => String::new(),
    }
}

fn presence(optional: bool) -> &'static str {
    if optional { "optional" } else { "mandatory" }
}

/// The type, with its range where the wire could carry more.
fn type_of(field_type: FieldType) -> String {
    let max = i128::from(field_type.max());
    match field_type {
        FieldType::Int8 | FieldType::Int16 => {
            format!("{} {}..{max}", field_type.name(), -max - 1)
        }
        FieldType::UInt8 | FieldType::UInt16 => format!("{} 0..{max}", field_type.name()),
        FieldType::Unicode => "string unicode".to_owned(),
        other => other.name().to_owned(),
    }
}

/// The type of a field, which may be one of FAST 1.2.
fn type_of_field(field: Field<'_>) -> String {
    match field.enumeration().or(field.set()) {
        Some(elements) => format!("{} of {}", field.type_name(), elements.len()),
        None if field.type_name() == field.field_type().name() => type_of(field.field_type()),
        None => field.type_name().to_owned(),
    }
}

fn text(value: Value<'_>) -> String {
    match value {
        Value::Unsigned(value) => value.to_string(),
        Value::Signed(value) => value.to_string(),
        Value::Decimal(value) => value.to_string(),
        Value::Text(value) => format!("{value:?}"),
        Value::Bytes(value) => value.iter().map(|byte| format!("{byte:02x}")).collect(),
        Value::Group(_) | Value::Sequence(_) | Value::Template(..) => String::new(),
    }
}

fn object(template: Template<'_>) -> Json {
    json!({
        "id": template.id().map(|id| id.0),
        "name": template.name(),
        "namespace": template.namespace(),
        "resets": template.resets(),
        "presence_bits": template.map_bits(),
        "entries": slots(template.fields()).len(),
        "fields": objects(template.fields()),
    })
}

fn objects(fields: Fields<'_>) -> Vec<Json> {
    let object = |field: Field<'_>| {
        let instructions: Vec<_> = field.instructions().map(instruction_object).collect();
        let mut object = json!({
            "name": field.name(),
            "path": field.path(),
            "tag": field.id(),
            "type": field.type_name(),
            "presence": presence(field.is_optional()),
            "instructions": instructions,
        });
        let more = match field.field_type() {
            FieldType::Ascii => json!({"charset": "ascii"}),
            FieldType::Unicode => json!({"charset": "unicode"}),
            FieldType::Sequence => json!({
                "length_name": field.length_name(),
                "presence_bits": field.map_bits(),
                "fields": objects(field.fields()),
            }),
            FieldType::Group => json!({
                "presence_bits": field.map_bits(),
                "fields": objects(field.fields()),
            }),
            _ => json!({}),
        };
        if let (Json::Object(object), Json::Object(more)) = (&mut object, more) {
            object.extend(more);
        }
        object
    };
    fields.map(object).collect()
}

fn instruction_object(instruction: Instruction<'_>) -> Json {
    let initial = match instruction.initial() {
        Some(Value::Unsigned(value)) => json!(value),
        Some(Value::Signed(value)) => json!(value),
        Some(Value::Text(value)) => json!(value),
        Some(other) => json!(text(other)),
        None => Json::Null,
    };
    let slot = instruction.slot();
    json!({
        "part": format!("{:?}", instruction.part()).to_lowercase(),
        "type": instruction.field_type().name(),
        "operator": instruction.operator().name(),
        "presence": presence(instruction.is_optional()),
        "presence_bit": instruction.uses_map(),
        "initial": initial,
        "entry": slot.map(|slot| slot.number),
        "dictionary": slot.map(|slot| slot.dictionary),
        "key": slot.map(|slot| slot.key),
    })
}
