//! What was expected where a message went wrong, the rule, and what to do. Knows nothing of tables.

use std::borrow::Cow;

use tickwire_fast::{Code, DecodeError, Field, Operator, Part, Template, Templates};

use super::super::diagnosis::known_ids;
use super::trace::{Row, What};

/// The words that follow a table which ends in an error.
pub(super) struct Advice<'a> {
    pub(super) expected: String,
    pub(super) rule: String,
    pub(super) to_do: Cow<'a, str>,
}

impl Advice<'_> {
    /// For `error`, whose row is the last one if the decoder got to a field.
    pub(super) fn new(error: &DecodeError, rows: &[Row], templates: &Templates) -> Self {
        let row = rows.last().filter(|row| row.error.is_some());
        Self {
            expected: expected(error, row, templates),
            rule: rule(error.code),
            to_do: to_do(error.code, row, templates).into(),
        }
    }
}

fn expected(error: &DecodeError, row: Option<&Row>, templates: &Templates) -> String {
    let part = row.map(|row| row.what);
    let field = row
        .and_then(|row| row.field)
        .and_then(|index| templates.field(index));
    let kind = kind(part, field);
    match error.code {
        Code::D9 => expected_id(templates),
        Code::Truncated if is_behind_length(row) => {
            "no more elements than the packet has bytes for".to_owned()
        }
        Code::Truncated => format!("{kind}; the packet ends before it is complete"),
        Code::D5 | Code::D6 | Code::Lost => previous(row),
        Code::R8 => "a presence map that ends with the last bit that a field asks for".to_owned(),
        Code::R7 => "a presence map without a last byte of zeros".to_owned(),
        Code::R6 | Code::R9 => format!("{kind}, in its shortest form"),
        Code::D7 => "a subtraction length that is at most the length of the previous string".into(),
        Code::R4 => format!("{kind}: previous value and delta have a sum within its range"),
        Code::R1 => "an exponent from -63 to 63 and a mantissa of int64".to_owned(),
        Code::R2 => "bytes that are UTF-8".to_owned(),
        Code::Limit => {
            "fewer elements or less text: what a message may grow to beyond its bytes is bounded"
                .to_owned()
        }
        Code::Depth => "groups, sequences and inner templates that nest less deeply".to_owned(),
        _ => kind,
    }
}

/// Whether a sequence's length was read, and is what is wrong.
fn is_behind_length(row: Option<&Row>) -> bool {
    row.is_some_and(|row| row.what == What::Read(Part::Length) && row.bytes.is_empty())
}

/// What a part of a field is on the wire.
fn kind(part: Option<What>, field: Option<Field<'_>>) -> String {
    let part = match part {
        Some(What::Read(part)) => part,
        _ => return A_MESSAGE.to_owned(),
    };
    let Some(field) = field else {
        return match part {
            Part::PresenceMap => {
                "a presence map: bytes up to the first whose top bit is set".to_owned()
            }
            _ => "a template id: a uInt32".to_owned(),
        };
    };
    let Some(instruction) = field.instructions().find(|i| i.part() == part) else {
        return format!("the presence map of {}", field.path());
    };
    let field_type = instruction.field_type();
    let max = i128::from(field_type.max());
    let range = match field_type {
        unsigned if unsigned.is_unsigned() => format!(" (0..{max})"),
        signed if signed.is_signed() => format!(" ({}..{max})", -max - 1),
        _ => String::new(),
    };
    let or_null = if instruction.is_optional() {
        " or NULL (80)"
    } else {
        ""
    };
    let what = match (instruction.operator(), field_type.is_integer()) {
        (Operator::Delta, true) => "a signed delta for ",
        (Operator::Delta, false) => "a delta for ",
        (Operator::Tail, _) => "a tail for ",
        _ => "",
    };
    format!("{what}{}{range}{or_null}", field_type.name())
}

fn expected_id(templates: &Templates) -> String {
    match known_ids(templates) {
        Some(ids) => format!("the id of a template: {ids}"),
        None => "no template id: no template has one".to_owned(),
    }
}

fn previous(row: Option<&Row>) -> String {
    let bit = row
        .and_then(|row| row.presence)
        .map_or_else(String::new, |bit| {
            format!("presence bit {} is {}: ", bit.index, u8::from(bit.set))
        });
    let state = row.and_then(|row| row.before.as_ref());
    let state = state.map_or("undefined", |before| &before.text);
    format!("{bit}a previous value in the dictionary, which is {state}")
}

/// The code with its line and the section of FAST 1.1 that has the rule.
fn rule(code: Code) -> String {
    let section = match code {
        Code::D2 => "§6.2.1",
        Code::D4 => "§6.3.1",
        Code::D5 | Code::D6 => "§6.3.5 to §6.3.8",
        Code::D7 => "§6.3.7, §6.3.8",
        Code::D9 => "§10.3",
        Code::R1 => "§6.2.2",
        Code::R2 => "§6.3.7, §6.3.8",
        Code::R4 => "§6.3.7",
        Code::R6 => "§10.6.1",
        Code::R7 | Code::R8 => "§10.5",
        Code::R9 => "§10.6.3",
        _ if code.is_standard() => return code.to_string(),
        _ => return format!("{code} (FAST 1.1 has no code for this)"),
    };
    format!("{code} (FAST 1.1 {section})")
}

fn to_do(code: Code, row: Option<&Row>, templates: &Templates) -> &'static str {
    let is_at_id =
        row.is_some_and(|row| row.what == What::Read(Part::TemplateId) && row.field.is_none());
    match code {
        Code::D5 | Code::D9 if is_at_id && !templates.iter().any(Template::has_messages) => {
            "no template has an id: if the feed's messages never have one, name their template with \
             `--default-template`; if they have, these are not the feed's templates."
        }
        Code::D5 | Code::D6 | Code::D7 | Code::R4 | Code::R1 | Code::R2 | Code::D4 => {
            "a message before was lost, or the dictionaries are reset at other moments than the \
             sender's: try another `--reset`. If the first message of the packet already fails, the \
             templates are of another version of the feed."
        }
        Code::Lost => {
            "an earlier message could not be decoded, and this one builds on it: explain that one \
             first (`--failed`)."
        }
        Code::D9 => {
            "if no id looks right, something stands before the messages (try another `--preamble` or \
             `--venue`); if one id is new, the feed has a newer template file."
        }
        Code::D2 | Code::Truncated | Code::Limit | Code::Depth => {
            "look at the rows above: the first value that makes no sense shows where the templates \
             and the bytes part. Usual reasons are a preamble that was not taken off, an older template \
             file, or a field whose presence or operator differs."
        }
        Code::R6 | Code::R7 | Code::R8 | Code::R9 => {
            "the sender wastes bytes but loses nothing: without `--strict` the message decodes."
        }
        _ => "compare the templates with the feed's specification.",
    }
}

const A_MESSAGE: &str = "no more than the packet has bytes for";
