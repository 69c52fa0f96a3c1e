//! YAML 1.2 to values without a type. Knows nothing of samples.
//!
//! Plain scalars are read by the core schema: `null`, booleans, numbers, else text. Aliases are
//! refused, since a few lines of them can stand for any amount of data, and so are tags.

use std::fmt;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};
use tickwire::cdr::dynamic::Data;

/// Where text is no YAML that a sample can be made of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct YamlError {
    /// From 1.
    line: usize,
    /// From 1.
    column: usize,
    problem: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            problem,
        } = self;
        write!(f, "line {line}, column {column}: {problem}")
    }
}

impl YamlError {
    fn at(mark: Marker, problem: impl Into<String>) -> Self {
        Self {
            line: mark.line(),
            column: mark.col() + 1,
            problem: problem.into(),
        }
    }
}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        Self::at(*error.marker(), error.info())
    }
}

/// The documents of a text; empty ones are left out.
pub(super) fn parse(text: &str) -> Result<Vec<Data>, YamlError> {
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event?;
        let value = match event {
            Event::Scalar(text, style, _, None) => scalar(&text, style),
            Event::SequenceStart(_, None) | Event::MappingStart(_, None)
                if open.len() >= MAX_DEPTH =>
            {
                return Err(YamlError::at(span.start, "values nest too deeply"));
            }
            Event::SequenceStart(_, None) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(_, None) => {
                open.push(Open::Fields(Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(values)) => Data::List(values),
                Some(Open::Fields(fields, _)) => Data::Fields(fields),
                None => continue,
            },
            Event::Alias(_) => {
                return Err(YamlError::at(span.start, "aliases are not read"));
            }
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                return Err(YamlError::at(span.start, "tags are not read"));
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            Some(parent) => parent.take(value, span.start)?,
            None if value == Data::Null => {}
            None => documents.push(value),
        }
    }
    Ok(documents)
}

/// A collection that has begun.
enum Open {
    List(Vec<Data>),
    /// With the name that waits for its value.
    Fields(Vec<(String, Data)>, Option<String>),
}

impl Open {
    fn take(&mut self, value: Data, mark: Marker) -> Result<(), YamlError> {
        match self {
            Self::List(values) => values.push(value),
            Self::Fields(fields, name) => match (name.take(), value) {
                (Some(name), value) => fields.push((name, value)),
                (None, value) => *name = Some(key(value, mark)?),
            },
        }
        Ok(())
    }
}

/// A name, or the key of a map, which text formats have as text.
fn key(value: Data, mark: Marker) -> Result<String, YamlError> {
    Ok(match value {
        Data::Text(text) => text,
        Data::Bool(value) => value.to_string(),
        Data::Integer(value) => value.to_string(),
        Data::Float(value) => value.to_string(),
        Data::Null | Data::List(_) | Data::Fields(_) => {
            return Err(YamlError::at(mark, "a name cannot be a collection or null"));
        }
    })
}

/// By the core schema (YAML 1.2.2 §10.3.2).
fn scalar(text: &str, style: ScalarStyle) -> Data {
    let is_plain = style == ScalarStyle::Plain;
    let data = match text {
        _ if !is_plain => None,
        "" | "~" | "null" | "Null" | "NULL" => Some(Data::Null),
        "true" | "True" | "TRUE" => Some(Data::Bool(true)),
        "false" | "False" | "FALSE" => Some(Data::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => Some(Data::Float(f64::NAN)),
        text => number(text),
    };
    data.unwrap_or_else(|| Data::Text(text.to_owned()))
}

fn number(text: &str) -> Option<Data> {
    let radix = |digits: &str, radix| {
        let is_number = digits.starts_with(|digit: char| digit.is_digit(radix));
        let value = i128::from_str_radix(digits, radix).ok();
        value.filter(|_| is_number).map(Data::Integer)
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
        return Some(Data::Float(sign * f64::INFINITY));
    }
    let is_number = |part: char| part.is_ascii_digit() || ".eE+-".contains(part);
    if !unsigned.starts_with(|digit: char| digit.is_ascii_digit() || digit == '.')
        || !unsigned.chars().all(is_number)
    {
        return None;
    }
    match text.parse() {
        Ok(integer) => Some(Data::Integer(integer)),
        Err(_) => text.parse().ok().map(Data::Float),
    }
}

const MAX_DEPTH: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Data {
        let mut documents = parse(text).expect("YAML");
        assert_eq!(documents.len(), 1, "{documents:?}");
        documents.remove(0)
    }

    #[test]
    fn yaml_says_what_json_says() {
        let yaml =
            "symbol: ACME\nprice: 101.5\nflags: [OPEN, 4]\nlevels:\n- size: -1\n  text: '7'\n- ~\n";
        let json = r#"{"symbol":"ACME","price":101.5,"flags":["OPEN",4],"levels":[{"size":-1,"text":"7"},null]}"#;
        assert_eq!(one(yaml), Data::from_json(json).expect("JSON"));
        assert_eq!(one(json), Data::from_json(json).expect("JSON"));
    }

    #[test]
    fn plain_scalars_are_read_by_the_core_schema() {
        for (text, data) in [
            ("0x1F", Data::Integer(31)),
            ("0o17", Data::Integer(15)),
            ("+5", Data::Integer(5)),
            ("18446744073709551616", Data::Integer(1 << 64)),
            ("1e3", Data::Float(1000.0)),
            ("-.inf", Data::Float(f64::NEG_INFINITY)),
            ("yes", Data::Text("yes".into())),
            ("1.2.3", Data::Text("1.2.3".into())),
            ("0x-1", Data::Text("0x-1".into())),
            ("inf", Data::Text("inf".into())),
            ("\"12\"", Data::Text("12".into())),
            ("TRUE", Data::Bool(true)),
        ] {
            assert_eq!(one(text), data, "{text}");
        }
    }

    #[test]
    fn documents_are_separated_by_dashes() {
        let documents = parse("---\na: 1\n---\n---\n{a: 2}\n...\n---\na: 3\n").expect("YAML");
        let numbers = [1, 2, 3].map(|n| Data::Fields(vec![("a".into(), Data::Integer(n))]));
        assert_eq!(documents, numbers);
        assert_eq!(parse(""), Ok(vec![]));
    }

    #[test]
    fn what_cannot_be_a_sample_is_refused_with_its_place() {
        let error = |text: &str| parse(text).expect_err(text).to_string();
        assert_eq!(
            error("a: &x 1\nb: *x\n"),
            "line 2, column 4: aliases are not read"
        );
        assert_eq!(error("a: !!int 1"), "line 1, column 4: tags are not read");
        assert_eq!(
            error("[1]: 2"),
            "line 1, column 3: a name cannot be a collection or null"
        );
        assert!(error("a: [1").starts_with("line "), "{}", error("a: [1"));
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
