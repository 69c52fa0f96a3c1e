//! Tables, and how figures are written.

use crate::scenario::Part;
use crate::statistics::Spread;

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// The widest cell that other rows of a Markdown table are padded for, in characters.
const MAX_WIDTH: usize = 60;

/// Rows of named columns.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<(&'static str, Align)>,
    pub(crate) rows: Vec<Row>,
}

/// A row, and whose it is.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<String>,
    pub(crate) class: &'static str,
}

impl Table {
    /// One without rows.
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.row_of("", cells);
    }

    /// Adds a row of a class: `floor`, `tickwire`, or nothing.
    pub(crate) fn row_of(&mut self, class: &'static str, cells: Vec<String>) {
        self.rows.push(Row { cells, class });
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Leaves out the columns in which nothing stands.
    pub(crate) fn without_empty_columns(&self) -> Self {
        let is_used = |at: usize| self.rows.iter().any(|row| !row.cells[at].is_empty());
        let used: Vec<usize> = (0..self.columns.len()).filter(|&at| is_used(at)).collect();
        self.with(&used)
    }

    /// Some of the columns.
    pub(crate) fn columns_that(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let all = 0..self.columns.len();
        let kept: Vec<usize> = all.filter(|&at| is_wanted(self.columns[at].0)).collect();
        self.with(&kept)
    }

    /// How wide it is as Markdown, in characters, but for cells that nothing is padded for.
    pub(crate) fn width(&self) -> usize {
        let markdown = self.markdown();
        markdown.lines().next().map_or(0, |it| it.chars().count())
    }

    fn with(&self, columns: &[usize]) -> Self {
        let rows = self.rows.iter().map(|row| Row {
            cells: columns.iter().map(|&at| row.cells[at].clone()).collect(),
            class: row.class,
        });
        Self {
            columns: columns.iter().map(|&at| self.columns[at]).collect(),
            rows: rows.collect(),
        }
    }

    /// As Markdown whose columns stand below each other, unless a cell is much too long for that.
    pub(crate) fn markdown(&self) -> String {
        let escape = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = self
                    .rows
                    .iter()
                    .map(|row| escape(&row.cells[at]).chars().count());
                cells
                    .filter(|&width| width <= MAX_WIDTH)
                    .chain([self.columns[at].0.chars().count(), 3])
                    .max()
                    .unwrap_or(3)
            })
            .collect();
        let line = |cells: Vec<String>| {
            let padded = cells.iter().zip(&widths).zip(&self.columns);
            let padded = padded.map(|((cell, &width), column)| match column.1 {
                Align::Left => format!("{cell:width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
        };
        let mut text = line(
            self.columns
                .iter()
                .map(|column| column.0.to_owned())
                .collect(),
        );
        let rule = widths
            .iter()
            .zip(&self.columns)
            .map(|(&width, column)| match column.1 {
                Align::Left => "-".repeat(width),
                Align::Right => format!("{}:", "-".repeat(width - 1)),
            });
        text += &line(rule.collect());
        for row in &self.rows {
            text += &line(row.cells.iter().map(|cell| escape(cell)).collect());
        }
        text
    }
}

/// A part's figure over all rounds, in microseconds or messages a second.
pub(crate) fn figure_text(part: &Part, spread: Spread) -> String {
    match part.is_rate() {
        true => {
            let text = |value| grouped(value);
            format!(
                "{} ({}..{})",
                text(spread.median),
                text(spread.min),
                text(spread.max)
            )
        }
        false => microseconds(spread),
    }
}

/// Nanoseconds as microseconds with their spread.
pub(crate) fn microseconds(spread: Spread) -> String {
    let text = |ns: f64| number(ns / 1e3);
    format!(
        "{} ({}..{})",
        text(spread.median),
        text(spread.min),
        text(spread.max)
    )
}

/// A ratio with its spread.
pub(crate) fn times_text(spread: Spread) -> String {
    format!(
        "{:.2} ({:.2}..{:.2})",
        spread.median, spread.min, spread.max
    )
}

/// With about three digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.1 => format!("{value:.4}"),
        size if size < 1.0 => format!("{value:.3}"),
        size if size < 100.0 => format!("{value:.2}"),
        size if size < 1000.0 => format!("{value:.1}"),
        _ => grouped(value),
    }
}

/// Whole, in groups of three digits.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        assert_eq!(number(0.0654), "0.0654");
        assert_eq!(number(0.654), "0.654");
        assert_eq!(number(55.666), "55.67");
        assert_eq!(number(1234.5), "1,234");
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!(grouped(123.0), "123");
    }

    #[test]
    fn empty_columns_are_left_out_and_bars_are_escaped() {
        let mut table = Table::new(&[("a", Align::Left), ("b", Align::Left), ("c", Align::Right)]);
        table.row(vec!["x|y".into(), String::new(), "1".into()]);
        let text = table.without_empty_columns().markdown();
        assert_eq!(text, "| a    |   c |\n| ---- | --: |\n| x\\|y |   1 |\n");
    }
}
