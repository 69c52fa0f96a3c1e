//! The place of an error in the template file, for people. Knows nothing of what is wrong there.

use core::fmt;

/// Line `number` of `text` with a caret under the column, both from 1. Of a long line the part around it.
pub(crate) fn excerpt(text: &str, number: u32, column: u32) -> String {
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
    use super::excerpt;

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
