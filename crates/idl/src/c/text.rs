//! Source text of C.

use crate::diagnostic::visible_char;

/// Lines with their indentation.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) out: String,
    depth: usize,
}

impl Text {
    pub(crate) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            // What is at the margin is for the preprocessor.
            if !line.starts_with('#') {
                self.out.push_str(&"    ".repeat(self.depth));
            }
            self.out.push_str(line);
        }
        self.out.push('\n');
    }

    pub(crate) fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    pub(crate) fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
    }

    /// The end of one block and the beginning of the next, `} else {`.
    pub(crate) fn turn(&mut self, line: &str) {
        self.depth -= 1;
        self.open(line);
    }

    /// A label of `switch`, one step to the left.
    pub(crate) fn label(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
        self.depth += 1;
    }

    /// `if (condition) then`
    pub(crate) fn when(&mut self, condition: &str, then: &str) {
        self.open(&format!("if ({condition})"));
        self.line(then);
        self.depth -= 1;
    }

    /// A documentation comment.
    pub(crate) fn doc(&mut self, text: &str) {
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines() {
            let line: String = line.chars().map(shown).collect();
            lines.push(line.replace("*/", "* /").replace("/*", "/ *"));
        }
        match lines.as_slice() {
            [] => {}
            [one] => self.line(&format!("/** {} */", one.trim())),
            _ => {
                self.line("/**");
                for line in lines {
                    self.line(format!(" * {line}").trim_end());
                }
                self.line(" */");
            }
        }
    }
}

fn shown(char: char) -> char {
    match char {
        // At the end of a line it would be taken for something else by some.
        '\\' => '/',
        char if char.is_control() => ' ',
        char => visible_char(char),
    }
}

/// A text as a literal of C, wherever it comes from.
pub(crate) fn literal(text: &str) -> String {
    let mut shown = String::from("\"");
    for byte in text.bytes() {
        push_byte(&mut shown, byte);
    }
    shown.push('"');
    shown
}

/// A byte as a character constant.
pub(crate) fn character(byte: u8) -> String {
    let mut shown = String::from("'");
    push_byte(&mut shown, byte);
    shown.push('\'');
    shown
}

fn push_byte(shown: &mut String, byte: u8) {
    match byte {
        b'"' | b'\\' | b'\'' => shown.extend(['\\', byte.into()]),
        // Two of them may begin a trigraph.
        b'?' => shown.push_str("\\?"),
        b'\n' => shown.push_str("\\n"),
        b' '..=b'~' => shown.push(byte.into()),
        // Three digits, so that none that follows is taken for one of them.
        _ => shown.push_str(&format!("\\{byte:03o}")),
    }
}
