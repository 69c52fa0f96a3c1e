//! Template text before it is XML: in lenient mode it is mended where people and their tools often break it, and every
//! place in the mended text has its place in the file. Knows nothing of elements' meaning.

use std::borrow::Cow;

use super::characters::{self, Meant};
use crate::error::TemplateError;
use crate::{Code, Mode};

/// A template file's text, and what was changed in it.
pub(super) struct Text<'t> {
    file: &'t str,
    xml: Cow<'t, str>,
    edits: Vec<Edit>,
    /// How often XML was refused.
    refused: u32,
}

/// From `at` in the mended text on, places in the file are behind by what was taken out and ahead by what was put in.
struct Edit {
    at: usize,
    taken: usize,
    put: usize,
}

impl<'t> Text<'t> {
    /// Makes of pasted characters what was meant; strict mode names the first.
    pub(super) fn new(file: &'t str, mode: Mode) -> Result<Self, TemplateError> {
        // A byte order mark is XML's own.
        let file = file.strip_prefix('\u{feff}').unwrap_or(file);
        let mut text = Self {
            file,
            xml: Cow::Borrowed(file),
            edits: Vec::new(),
            refused: 0,
        };
        // In ASCII there is nothing to find, and it is known fast.
        let pasted = if file.is_ascii() {
            Vec::new()
        } else {
            pasted(&text.xml)
        };
        if let (Mode::Strict, Some((at, c, meant))) = (mode, pasted.first()) {
            let not = match meant {
                Meant::Nothing => "skip".to_owned(),
                Meant::Ascii(' ') => "take for a blank".to_owned(),
                Meant::Ascii(ascii) => format!("take for {ascii}"),
            };
            let detail = format!("{}, which XML does not {not}", characters::name(*c));
            return Err(text.error(*at, Code::S1, detail));
        }
        text.replace_all(&pasted);
        Ok(text)
    }

    pub(super) fn xml(&self) -> &str {
        &self.xml
    }

    /// In lenient mode, does what may help after XML was refused: declares a namespace prefix that the file does not,
    /// takes XML declarations out. `false`: nothing is left to do.
    pub(super) fn mend(&mut self, error: &roxmltree::Error) -> bool {
        self.refused += 1;
        if self.refused > MAX_REFUSED {
            return false;
        }
        if let roxmltree::Error::UnknownNamespace(prefix, _) = error {
            let namespace = match prefix.as_str() {
                "scp" => SCP.to_owned(),
                other => format!("urn:undeclared:{other}"),
            };
            let Some(at) = root_name_end(&self.xml) else {
                return false;
            };
            self.replace(at, 0, &format!(" xmlns:{prefix}=\"{namespace}\""));
            return true;
        }
        let Some(start) = self.xml.find("<?xml") else {
            return false;
        };
        let rest = self.xml.get(start..).unwrap_or_default();
        let Some(len) = rest.find("?>").map(|end| end + 2) else {
            return false;
        };
        self.replace(start, len, "");
        true
    }

    /// An error at a place of the mended text, with its place in the file.
    pub(super) fn error(&self, at: usize, code: Code, detail: String) -> TemplateError {
        TemplateError::new(self.file, self.in_file(at), code, detail)
    }

    /// The error of the XML parser.
    pub(super) fn xml_error(&self, error: &roxmltree::Error) -> TemplateError {
        let place = error.pos();
        let mut lines = self.xml.split_inclusive('\n');
        let before: usize = lines
            .by_ref()
            .take(place.row.saturating_sub(1) as usize)
            .map(str::len)
            .sum();
        let line = lines.next().unwrap_or_default();
        let column = line
            .char_indices()
            .nth(place.col.saturating_sub(1) as usize);
        let at = before + column.map_or(line.len(), |(at, _)| at);
        let told = error.to_string();
        let told = told.strip_suffix(&format!(" at {place}")).unwrap_or(&told);
        self.error(at, Code::S1, told.to_owned())
    }

    fn in_file(&self, at: usize) -> usize {
        let before = self.edits.iter().filter(|edit| edit.at <= at);
        before.fold(at, |at, edit| (at + edit.taken).saturating_sub(edit.put))
    }

    /// Puts `new` in the place of `len` bytes.
    fn replace(&mut self, at: usize, len: usize, new: &str) {
        self.xml.to_mut().replace_range(at..at + len, new);
        for edit in &mut self.edits {
            if edit.at >= at {
                edit.at = (edit.at + new.len()).saturating_sub(len);
            }
        }
        self.edits.push(Edit {
            at: at + new.len(),
            taken: len,
            put: new.len(),
        });
    }

    /// Replaces pasted characters, all at once: there may be as many as there are characters.
    fn replace_all(&mut self, pasted: &[(usize, char, Meant)]) {
        if pasted.is_empty() {
            return;
        }
        let mut mended = String::with_capacity(self.xml.len());
        let mut copied = 0;
        for (at, c, meant) in pasted {
            mended.push_str(self.xml.get(copied..*at).unwrap_or_default());
            if let Meant::Ascii(ascii) = meant {
                mended.push(*ascii);
            }
            let put = usize::from(*meant != Meant::Nothing);
            self.edits.push(Edit {
                at: mended.len(),
                taken: c.len_utf8(),
                put,
            });
            copied = at + c.len_utf8();
        }
        mended.push_str(self.xml.get(copied..).unwrap_or_default());
        self.xml = Cow::Owned(mended);
    }
}

/// Pasted characters and their places, but for those in comments and in the text of a `value`, which may be meant. In
/// other attributes only blanks and what has no width are pasted: the rest may be someone's names.
fn pasted(xml: &str) -> Vec<(usize, char, Meant)> {
    let mut found = Vec::new();
    let mut state = State::Text;
    let mut comment_end = 0;
    for (at, c) in xml.char_indices() {
        if at < comment_end {
            continue;
        }
        let meant = if c.is_ascii() {
            None
        } else {
            characters::meant(c)
        };
        let ascii = match meant {
            Some(Meant::Ascii(ascii)) => ascii,
            _ => c,
        };
        let (next, is_pasted) = match (state, ascii) {
            (State::Text, '<') => {
                let rest = xml.get(at..).unwrap_or_default();
                if rest.starts_with("<!--") {
                    comment_end = at + rest.find("-->").unwrap_or(rest.len());
                }
                (State::Tag, true)
            }
            (State::Tag, '>') => (State::Text, true),
            (State::Tag, '"' | '\'') => {
                let quoted = State::Quoted {
                    quote: ascii,
                    by_pasted: meant.is_some(),
                    is_value: is_value(xml.get(..at).unwrap_or_default()),
                };
                (quoted, true)
            }
            // A pasted quote ends what a pasted quote began; within plain quotes it is data.
            (
                State::Quoted {
                    quote, by_pasted, ..
                },
                end,
            ) if end == quote && (meant.is_none() || by_pasted) => (State::Tag, true),
            (State::Quoted { is_value, .. }, c) => (
                state,
                !is_value && (c == ' ' || meant == Some(Meant::Nothing)),
            ),
            (State::Text | State::Tag, _) => (state, true),
        };
        state = next;
        if let Some(meant) = meant.filter(|_| is_pasted) {
            found.push((at, c, meant));
        }
    }
    found
}

#[derive(Clone, Copy)]
enum State {
    Text,
    Tag,
    Quoted {
        quote: char,
        by_pasted: bool,
        is_value: bool,
    },
}

/// Whether the text before a quote is that of an attribute called `value`.
fn is_value(before: &str) -> bool {
    let name = before.trim_end().strip_suffix('=').map(str::trim_end);
    name.is_some_and(|name| name.ends_with("value"))
}

/// Where the name of the root element ends.
fn root_name_end(xml: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += xml.get(at..)?.find('<')?;
        let rest = xml.get(at..)?;
        let skipped = if rest.starts_with("<!--") {
            rest.find("-->")?
        } else if rest.starts_with("<?") {
            rest.find("?>")?
        } else {
            let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'))?;
            return Some(at + end);
        };
        at += skipped;
    }
}

const SCP: &str = "http://www.fixprotocol.org/ns/fast/scp/1.1";
/// Prefixes that one file may leave undeclared: each takes a pass over the text.
const MAX_REFUSED: u32 = 16;
