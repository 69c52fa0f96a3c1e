//! Values as text formats have them, and reading them from JSON (RFC 8259). Knows no types.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A value that is not yet of a type: what [`write`](super::write()) makes a payload of.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// `null`: an optional member that is absent.
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction or exponent, exact.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Self>),
    /// Named values in order, no name twice.
    Fields(Vec<(String, Self)>),
}

/// Where text is no JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonError {
    /// Line, from 1.
    pub line: usize,
    /// Character in that line, from 1.
    pub column: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            expected,
        } = self;
        write!(f, "line {line}, column {column}: expected {expected}")
    }
}

impl core::error::Error for JsonError {}

impl Data {
    /// Reads one JSON value. Costs memory in proportion to the text; values nest 128 deep at most.
    ///
    /// # Errors
    /// Where the text is no JSON, ends too early, or goes on after the value.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        let mut parser = Parser { text, position: 0 };
        let value = parser.value(0)?;
        parser.skip_space();
        match parser.peek() {
            None => Ok(value),
            Some(_) => Err(parser.error("the end")),
        }
    }

    /// What it is, in a word.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number with a fraction",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Fields(_) => "an object",
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    position: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.position += char.len_utf8();
        Some(char)
    }

    fn error(&self, expected: &'static str) -> JsonError {
        let before = self.text.get(..self.position).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        JsonError {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            expected,
        }
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.position += space;
    }

    /// Takes `char` if it comes next.
    fn takes(&mut self, char: char) -> bool {
        let is_next = self.peek() == Some(char);
        self.position += if is_next { char.len_utf8() } else { 0 };
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Data, JsonError> {
        self.skip_space();
        if depth > MAX_DEPTH {
            return Err(self.error("values that nest less deeply"));
        }
        match self.peek() {
            Some('{') => self.fields(depth),
            Some('[') => self.list(depth),
            Some('"') => self.string().map(Data::Text),
            Some('-' | '0'..='9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Data, JsonError> {
        let words = [
            ("null", Data::Null),
            ("true", Data::Bool(true)),
            ("false", Data::Bool(false)),
        ];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.position += word.len();
                return Ok(value);
            }
        }
        Err(self.error("a value"))
    }

    fn list(&mut self, depth: usize) -> Result<Data, JsonError> {
        self.takes('[');
        let mut values = Vec::new();
        self.skip_space();
        if self.takes(']') {
            return Ok(Data::List(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_space();
            if self.takes(']') {
                return Ok(Data::List(values));
            }
            if !self.takes(',') {
                return Err(self.error("`,` or `]`"));
            }
        }
    }

    fn fields(&mut self, depth: usize) -> Result<Data, JsonError> {
        self.takes('{');
        let mut fields = Vec::new();
        self.skip_space();
        if self.takes('}') {
            return Ok(Data::Fields(fields));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            self.skip_space();
            if !self.takes(':') {
                return Err(self.error("`:`"));
            }
            fields.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.takes('}') {
                return Ok(Data::Fields(fields));
            }
            if !self.takes(',') {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        if !self.takes('"') {
            return Err(self.error("text in `\"`"));
        }
        let mut text = String::new();
        loop {
            match self.peek() {
                Some('"') => {
                    self.next();
                    return Ok(text);
                }
                Some('\\') => text.push(self.escape()?),
                Some(char) if char >= ' ' => text.extend(self.next()),
                _ => return Err(self.error("the end of the text, `\"`")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.takes('\\');
        let error = self.error("an escape such as `\\n` or `\\u00e9`");
        Ok(match self.next() {
            Some(same @ ('"' | '\\' | '/')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let first = self.hex().ok_or(error)?;
                let is_half = (0xd800..0xdc00).contains(&first);
                let second = match is_half && self.rest().starts_with("\\u") {
                    true => {
                        self.position += 2;
                        Some(self.hex().ok_or(error)?)
                    }
                    false => None,
                };
                let mut chars = char::decode_utf16([first].into_iter().chain(second));
                match (chars.next(), chars.next()) {
                    (Some(Ok(char)), None) => char,
                    _ => return Err(error),
                }
            }
            _ => return Err(error),
        })
    }

    fn hex(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u16::from_str_radix(digits, 16).ok().filter(|_| all)?;
        self.position += 4;
        Some(value)
    }

    fn number(&mut self) -> Result<Data, JsonError> {
        let rest = self.rest();
        let is_part = |char: char| matches!(char, '0'..='9' | '-' | '+' | '.' | 'e' | 'E');
        let len = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        let digits = rest.get(..len).unwrap_or_default();
        let whole = digits.strip_prefix('-').unwrap_or(digits);
        let is_integer = whole.bytes().all(|byte| byte.is_ascii_digit());
        // What Rust reads and JSON does not have: `01`, `1.`, `.5`.
        let mut bytes = whole.bytes();
        let leading_zero =
            bytes.next() == Some(b'0') && bytes.next().is_some_and(|b| b.is_ascii_digit());
        let open = whole.starts_with('.')
            || whole.ends_with('.')
            || whole.contains(".e")
            || whole.contains(".E");
        let value = match digits.parse::<i128>() {
            _ if leading_zero || open || whole.is_empty() => None,
            Ok(value) if is_integer => Some(Data::Integer(value)),
            _ => digits.parse().ok().map(Data::Float),
        };
        let value = value.ok_or_else(|| self.error("a number"))?;
        self.position += len;
        Ok(value)
    }
}

const MAX_DEPTH: usize = 128;
