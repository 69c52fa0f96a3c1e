//! Standard output: lists as a table, as JSON or as CSV. Standard error: notes for people.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::Value;

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ListFormat {
    /// Columns for people
    #[default]
    Table,
    /// One array of objects
    Json,
    /// A line of names, then a line for each row
    Csv,
}

/// Buffered standard output, for commands that write much.
pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Says something to the person at standard error. Where nobody reads it, as after `2>&1 | head`,
/// the work goes on without.
pub(crate) fn note(what: impl fmt::Display) {
    let _unread = writeln!(io::stderr(), "{what}");
}

/// Tells that figures are not those of users, if they are not.
pub(crate) fn note_debug_build() {
    if cfg!(debug_assertions) {
        note(
            "this is a debug build, whose times mean little: `cargo run --release` has those of users",
        );
    }
}

/// `1 message`, `2 messages`.
pub(crate) fn counted(count: u64, one: &str, several: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {several}"),
    }
}

/// Writes rows of the named columns. Numbers are aligned to the right in a table.
pub(crate) fn write_list(
    out: &mut impl Write,
    format: ListFormat,
    columns: &[&str],
    rows: &[Vec<Value>],
) -> io::Result<()> {
    match format {
        ListFormat::Table => writeln!(out, "{}", table(columns, rows)),
        ListFormat::Json => {
            let objects = rows.iter().map(|row| {
                let names = columns.iter().map(|name| name.replace([' ', '/'], "_"));
                names.zip(row.iter().map(six_digits)).collect()
            });
            let list: Vec<serde_json::Map<String, Value>> = objects.collect();
            serde_json::to_writer_pretty(&mut *out, &list)?;
            writeln!(out)
        }
        ListFormat::Csv => {
            let names: Vec<_> = columns.iter().map(|name| csv_field(name)).collect();
            writeln!(out, "{}", names.join(","))?;
            for row in rows {
                let fields: Vec<_> = row
                    .iter()
                    .map(|value| csv_field(&exact(&six_digits(value))))
                    .collect();
                writeln!(out, "{}", fields.join(","))?;
            }
            Ok(())
        }
    }
}

/// Rows as columns for people, without lines around them.
pub(crate) fn table(columns: &[&str], rows: &[Vec<Value>]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(columns);
    for row in rows {
        table.add_row(row.iter().map(text));
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        let mut values = rows.iter().filter_map(|row| row.get(at));
        if values.clone().any(Value::is_number) && values.all(|value| !value.is_string()) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// For programs: what is no whole number was measured or computed, and six digits of it mean something.
pub(crate) fn six_digits(value: &Value) -> Value {
    let number = value.as_f64().filter(|_| value.is_f64());
    let rounded = number.and_then(|number| format!("{number:.5e}").parse::<f64>().ok());
    rounded.map_or_else(|| value.clone(), Value::from)
}

/// For people: one digit after the point is enough, and two that are not zero.
fn text(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if value.is_f64() => {
            let digits = match number.abs() {
                small @ 1e-6..0.1 => (1.0 - small.log10().floor()) as usize,
                _ => 1,
            };
            format!("{number:.digits$}")
        }
        _ => exact(value),
    }
}

/// As it is.
fn exact(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn list(format: ListFormat) -> String {
        let rows = [
            vec![json!("Quote"), json!(7_500)],
            vec![json!("a, \"b\""), json!(0.125)],
        ];
        let mut out = Vec::new();
        write_list(&mut out, format, &["template", "messages"], &rows).expect("memory takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn figures_have_no_more_digits_than_mean_something() {
        for (figure, shown) in [
            (0.1 + 0.2, "0.3"),
            (2.0 / 3.0, "0.666667"),
            (1e-7 / 3.0, "3.33333e-8"),
            (123_456.789, "123457.0"),
        ] {
            assert_eq!(six_digits(&json!(figure)).to_string(), shown);
        }
        let whole = json!(18_446_744_073_709_551_615_u64);
        assert_eq!(six_digits(&whole), whole);
    }

    #[test]
    fn people_see_what_small_figures_are() {
        for (figure, shown) in [
            (0.0, "0.0"),
            (0.25, "0.2"),
            (0.0104, "0.010"),
            (-0.00137, "-0.0014"),
            (1e-9, "0.0"),
            (7_654.32, "7654.3"),
        ] {
            assert_eq!(text(&json!(figure)), shown);
        }
    }

    #[test]
    fn csv_quotes_what_would_break_a_line() {
        assert_eq!(
            list(ListFormat::Csv),
            "template,messages\nQuote,7500\n\"a, \"\"b\"\"\",0.125\n"
        );
    }

    #[test]
    fn json_is_an_array_of_objects() {
        let parsed: Value = serde_json::from_str(&list(ListFormat::Json)).expect("JSON");
        assert_eq!(parsed[0], json!({"template": "Quote", "messages": 7_500}));
    }

    #[test]
    fn tables_align_numbers_to_the_right() {
        let lines = list(ListFormat::Table);
        let mut lines = lines.lines().map(str::trim_end);
        assert_eq!(lines.next(), Some("template  messages"));
        assert_eq!(lines.next(), Some("Quote         7500"));
    }
}
