//! An explanation as a table for people and as JSON for programs. Knows nothing of how it came about.

use std::io::{self, Write};

use serde_json::{Value as Json, json};
use tickwire_fast::{Operator, Part};

use super::trace::{Row, Shown, What, hex};

/// A message's bytes, where they are, and the rows that explain them.
pub(super) struct Explained<'a> {
    /// The message, and what follows it in the packet if it cannot be decoded.
    pub(super) bytes: &'a [u8],
    /// Byte of the file at which it starts.
    pub(super) offset: usize,
    pub(super) rows: &'a [Row],
}

/// One cell and how it is coloured.
#[derive(Default)]
struct Cell {
    text: String,
    style: Style,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Style {
    #[default]
    Plain,
    /// Headings.
    Bold,
    /// What is not in the stream.
    Dim,
    /// The bytes.
    Cyan,
    /// A dictionary entry that changed.
    Yellow,
    /// What is wrong.
    Red,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Cyan => "\x1b[36m",
            Self::Yellow => "\x1b[33m",
            Self::Red => "\x1b[1;31m",
        }
    }

    fn of(self, text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            style: self,
        }
    }
}

type Line = [Cell; COLUMNS.len()];

impl Explained<'_> {
    /// Columns for people.
    pub(super) fn write_table(&self, out: &mut impl Write, colour: bool) -> io::Result<()> {
        let mut lines = vec![COLUMNS.map(|name| Style::Bold.of(name))];
        for row in self.rows {
            self.lines(row, &mut lines);
        }
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells
                .map(|cell| cell.text.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
        for line in &lines {
            write_line(out, line, &widths, colour)?;
        }
        Ok(())
    }

    fn lines(&self, row: &Row, lines: &mut Vec<Line>) {
        let indent = "  ".repeat(row.depth);
        let mut line = Line::default();
        let [byte, bytes, bit, field, operator, before, after, value] = &mut line;
        let named = format!("{indent}{}", row.name);
        match row.what {
            What::Heading => {
                *field = Style::Bold.of(named);
                *value = Style::Bold.of(short(text(&row.value), VALUE_WIDTH));
                lines.push(line);
                return;
            }
            What::Note if row.error.is_none() => {
                *field = Style::Dim.of(format!("{indent}({})", row.name));
                lines.push(line);
                return;
            }
            What::Note | What::Read(_) => {}
        }
        let style = match (row.error, row.bytes.is_empty()) {
            (Some(_), _) => Style::Red,
            (None, true) => Style::Dim,
            (None, false) => Style::Plain,
        };
        *byte = style.of(match row.bytes.is_empty() && row.error.is_none() {
            true => String::new(),
            false => (self.offset + row.bytes.start).to_string(),
        });
        *bit = style.of(row.presence.map_or_else(String::new, |bit| {
            format!("{}={}", bit.index, u8::from(bit.set))
        }));
        *field = style.of(named);
        *operator = style.of(operator_text(row));
        *before = style.of(short(text(&row.before), PREVIOUS_WIDTH));
        let changed = row.before != row.after && row.error.is_none();
        let after_style = if changed { Style::Yellow } else { style };
        *after = after_style.of(short(text(&row.after), PREVIOUS_WIDTH));
        *value = style.of(match row.error {
            Some(code) => format!("<-- {code}"),
            None => short(text(&row.value), VALUE_WIDTH),
        });
        let all = self.raw(row);
        let mut parts = all.chunks(BYTES_PER_LINE);
        *bytes = self.bytes_cell(row, parts.next().unwrap_or_default());
        lines.push(line);
        let mut at = self.offset + row.bytes.start;
        for part in parts {
            at += BYTES_PER_LINE;
            let mut line = Line::default();
            let [byte, bytes, ..] = &mut line;
            *byte = style.of(at.to_string());
            *bytes = self.bytes_cell(row, part);
            lines.push(line);
        }
    }

    /// The bytes of a row; where it failed, those that it could not take: up to a stop bit.
    fn raw(&self, row: &Row) -> &[u8] {
        if row.error.is_none() || !row.bytes.is_empty() {
            return self.bytes.get(row.bytes.clone()).unwrap_or_default();
        }
        if row.presence.is_some_and(|bit| !bit.set) {
            return &[];
        }
        let rest = self.bytes.get(row.bytes.start..).unwrap_or_default();
        let stop = rest.iter().position(|byte| byte & 0x80 != 0);
        let len = stop.map_or(rest.len(), |stop| stop + 1).min(BYTES_PER_LINE);
        rest.get(..len).unwrap_or_default()
    }

    fn bytes_cell(&self, row: &Row, bytes: &[u8]) -> Cell {
        let spaced: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = spaced.join(" ");
        let is_end = row.bytes.start >= self.bytes.len();
        match row.error {
            None => Style::Cyan.of(text),
            Some(_) if is_end => Style::Red.of("end"),
            Some(_) => Style::Red.of(text),
        }
    }

    /// The rows for programs.
    pub(super) fn to_json(&self) -> Vec<Json> {
        let json = |shown: &Option<Shown>| shown.as_ref().map(|shown| shown.json.clone());
        let object = |row: &Row| match row.what {
            What::Heading => json!({"row": "heading", "depth": row.depth, "name": row.name,
                "path": row.path, "value": json(&row.value)}),
            What::Note => json!({"row": "note", "depth": row.depth, "text": row.name,
                "error": row.error.map(|code| format!("{code:?}"))}),
            What::Read(part) => json!({
                "row": part_word(part),
                "depth": row.depth,
                "path": row.path,
                "offset": self.offset + row.bytes.start,
                "bytes": hex(self.bytes.get(row.bytes.clone()).unwrap_or_default()),
                "presence_bit": row.presence.map(|bit| json!({"index": bit.index, "value": u8::from(bit.set)})),
                "operator": row.operator.name(),
                "initial": json(&row.initial),
                "before": json(&row.before),
                "after": json(&row.after),
                "value": json(&row.value),
                "error": row.error.map(|code| format!("{code:?}")),
            }),
        };
        self.rows.iter().map(object).collect()
    }
}

fn text(shown: &Option<Shown>) -> &str {
    shown.as_ref().map_or("", |shown| &shown.text)
}

fn part_word(part: Part) -> &'static str {
    match part {
        Part::PresenceMap => "presence map",
        Part::TemplateId => "template id",
        Part::Value => "value",
        Part::Exponent => "exponent",
        Part::Mantissa => "mantissa",
        Part::Length => "length",
    }
}

fn operator_text(row: &Row) -> String {
    match (row.operator, &row.initial) {
        (Operator::None, _) => String::new(),
        (operator, None) => operator.name().to_owned(),
        (operator, Some(initial)) => {
            format!(
                "{} {}",
                operator.name(),
                short(&initial.text, PREVIOUS_WIDTH)
            )
        }
    }
}

/// At most `max` characters, the last of which then say that more was there.
fn short(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max - 3).chain("...".chars()).collect(),
    }
}

fn write_line(out: &mut impl Write, line: &Line, widths: &[usize], colour: bool) -> io::Result<()> {
    let last = line.iter().rposition(|cell| !cell.text.is_empty());
    let cells = line.iter().zip(widths).enumerate();
    for (at, (cell, width)) in cells.take(last.map_or(0, |last| last + 1)) {
        let padding = width - cell.text.chars().count();
        let padding = " ".repeat(padding);
        if at == 0 {
            write!(out, "{padding}")?;
        }
        match cell.style.code() {
            style if colour && !style.is_empty() => write!(out, "{style}{}\x1b[0m", cell.text)?,
            _ => write!(out, "{}", cell.text)?,
        }
        if at > 0 && Some(at) != last {
            write!(out, "{padding}")?;
        }
        if Some(at) != last {
            write!(out, "  ")?;
        }
    }
    writeln!(out)
}

const COLUMNS: [&str; 8] = [
    "byte", "hex", "bit", "field", "operator", "before", "after", "value",
];
const BYTES_PER_LINE: usize = 8;
const PREVIOUS_WIDTH: usize = 24;
const VALUE_WIDTH: usize = 120;
