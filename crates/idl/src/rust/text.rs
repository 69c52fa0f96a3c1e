//! Source text, laid out as rustfmt does.

use crate::diagnostic::visible_char;

/// Lines with their indentation.
#[derive(Default)]
pub(super) struct Text {
    pub(super) out: String,
    depth: usize,
    /// Whether the next item is not the first of its block.
    follows: bool,
}

impl Text {
    pub(super) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.out.push_str(&"    ".repeat(self.depth));
            self.out.push_str(line);
        }
        self.out.push('\n');
    }

    /// Begins an item, which an empty line keeps from the one before.
    pub(super) fn item(&mut self) {
        if self.follows {
            self.out.push('\n');
        }
        self.follows = true;
    }

    pub(super) fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
        self.follows = false;
    }

    pub(super) fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
        self.follows = true;
    }

    /// The spaces before the next line.
    pub(super) fn indent(&self) -> usize {
        4 * self.depth
    }

    /// Whether rustfmt leaves a line as it is.
    pub(super) fn fits(&self, line: &str) -> bool {
        self.indent() + line.chars().count() <= 100
    }

    /// What follows is the inside of the line before.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
        self.follows = false;
    }

    /// What follows is no longer the inside of anything.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// What follows is another item.
    pub(super) fn item_ended(&mut self) {
        self.follows = true;
    }

    /// A documentation comment: what would be markup but not meant as such is escaped.
    pub(super) fn doc(&mut self, text: &str) {
        for line in text.lines() {
            let mut shown = String::from("///");
            if !line.is_empty() {
                shown.push(' ');
            }
            let mut is_code = false;
            for char in line.replace("```", "'''").chars() {
                is_code ^= char == '`';
                match char {
                    '[' | ']' | '<' | '>' if !is_code => shown.extend(['\\', char]),
                    char if char.is_control() => shown.push(' '),
                    char => shown.push(visible_char(char)),
                }
            }
            self.line(shown.trim_end());
        }
    }

    /// `#[topic(...)]` with these arguments, in as many lines as rustfmt leaves alone.
    pub(super) fn topic(&mut self, arguments: &[String]) {
        let mut line = String::new();
        for argument in arguments {
            let joined = match line.is_empty() {
                true => argument.clone(),
                false => format!("{line}, {argument}"),
            };
            if !line.is_empty() && joined.len() > MAX_ARGUMENTS {
                self.attribute(&line);
                line = argument.clone();
            } else {
                line = joined;
            }
        }
        if !line.is_empty() {
            self.attribute(&line);
        }
    }

    fn attribute(&mut self, arguments: &str) {
        match arguments.len() > MAX_ARGUMENTS {
            true => {
                self.line("#[topic(");
                self.depth += 1;
                self.line(arguments);
                self.depth -= 1;
                self.line(")]");
            }
            false => self.line(&format!("#[topic({arguments})]")),
        }
    }
}

/// Characters that rustfmt leaves on the line of an attribute.
const MAX_ARGUMENTS: usize = 70;
