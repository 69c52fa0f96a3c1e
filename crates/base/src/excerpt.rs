//! The place of an error in a text file, for people. Knows nothing of what is wrong there.

use alloc::string::{String, ToString};
use core::fmt;

/// Line and column of byte `at` of `text`, both from 1; columns count characters.
pub fn line_and_column(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let lines = before.bytes().filter(|byte| *byte == b'\n').count();
    let left = before.get(line_start..).unwrap_or_default().chars().count();
    let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    (number(lines), number(left))
}

/// Line `number` of `text` with a caret under the column, both from 1. Of a long line the part around it.
pub fn excerpt(text: &str, number: u32, column: u32) -> String {
    let line = (number as usize).saturating_sub(1);
    Excerpt {
        line: text.lines().nth(line).unwrap_or_default(),
        number,
        column: (column as usize).saturating_sub(1),
    }
    .to_string()
}

struct Excerpt<'a> {
    line: &'a str,
    number: u32,
    /// Characters before the one that is wrong.
    column: usize,
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number.to_string();
        let margin = " ".repeat(number.len());
        let first = self.column.saturating_sub(MAX_BEFORE);
        // A tab keeps its place above the caret, whatever its width; nothing else that moves the cursor is shown.
        let shown = |char: char| match char {
            '\t' => '\t',
            char if char.is_control() => char::REPLACEMENT_CHARACTER,
            char => char,
        };
        let part = self.line.chars().skip(first).map(shown);
        let text: String = part.clone().take(MAX_SHOWN).collect();
        let before = part.take(self.column - first);
        let blanks: String = before
            .map(|char| if char == '\t' { '\t' } else { ' ' })
            .collect();
        write!(
            f,
            "{margin} |\n{number} | {}\n{margin} | {blanks}^",
            text.trim_end()
        )
    }
}

/// Characters of a line that are shown, and of those at most so many before the caret.
const MAX_SHOWN: usize = 100;
const MAX_BEFORE: usize = 60;

#[cfg(test)]
mod tests {
    use super::{excerpt, line_and_column};
    use alloc::format;

    #[test]
    fn the_caret_stands_under_the_column() {
        assert_eq!(excerpt("a\n\t\tbc\n", 2, 4), "  |\n2 | \t\tbc\n  | \t\t ^");
        assert_eq!(excerpt("größer", 1, 5), "  |\n1 | größer\n  |     ^");
        assert_eq!(
            excerpt("\u{1b}[31mx", 1, 6),
            "  |\n1 | \u{fffd}[31mx\n  |      ^"
        );
    }

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        assert_eq!(line_and_column("größer\nx", 0), (1, 1));
        assert_eq!(line_and_column("größer\nx", 6), (1, 5));
        assert_eq!(line_and_column("größer\nx", 9), (2, 1));
        assert_eq!(line_and_column("ab", 99), (1, 3));
    }

    #[test]
    fn of_a_long_line_the_part_around_the_column_is_shown() {
        let line = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let text = excerpt(&line, 1, 1001);
        let expected = format!(
            "  |\n1 | {}X{}\n  | {}^",
            "a".repeat(60),
            "b".repeat(39),
            " ".repeat(60)
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_place_outside_the_text_is_no_panic() {
        assert_eq!(excerpt("", 7, 9), "  |\n7 | \n  | ^");
        assert_eq!(excerpt("ab", 1, u32::MAX), "  |\n1 | \n  | ^");
        assert_eq!(excerpt("ab", 0, 0), "  |\n0 | ab\n  | ^");
    }
}
