//! The texts that are compiled, and places in them. Knows nothing of what is written there.

use std::collections::HashSet;
use std::rc::Rc;

use crate::model::Position;

/// A stretch of one file. What comes out of a macro has the place where the macro is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) file: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// 1 + the index of the macro expansion that it comes out of; 0 for none.
    pub(crate) expansion: u32,
}

impl Span {
    /// From the start of this one to the end of another one, if they are of one file.
    pub(crate) fn to(self, end: Self) -> Self {
        match self.file == end.file && end.end >= self.end {
            true => Self {
                end: end.end,
                ..self
            },
            false => self,
        }
    }
}

/// A text, once for each time that it is included.
pub(crate) struct Source {
    pub(crate) path: Rc<str>,
    pub(crate) text: Rc<str>,
    pub(crate) included_from: Option<Span>,
    /// Where each line begins.
    lines: Vec<u32>,
    /// How many characters are before each block of the text: a line may be as long as a file.
    blocks: Vec<u32>,
}

impl Source {
    /// Characters before an offset.
    fn characters(&self, offset: u32) -> u32 {
        let last = self.blocks.len().saturating_sub(1);
        let block = (offset as usize / BLOCK).min(last);
        let before = self.blocks.get(block).copied().unwrap_or_default();
        let rest = self.text.as_bytes().get(block * BLOCK..offset as usize);
        before + count_characters(rest.unwrap_or_default())
    }
}

/// Characters that begin in these bytes.
fn count_characters(bytes: &[u8]) -> u32 {
    let begins = bytes.iter().filter(|byte| **byte & 0xc0 != 0x80);
    begins.count() as u32
}

/// A use of a macro.
pub(crate) struct Expansion {
    pub(crate) name: Rc<str>,
    pub(crate) definition: Span,
}

/// All texts of a compilation.
#[derive(Default)]
pub(crate) struct Sources {
    files: Vec<Source>,
    expansions: Vec<Expansion>,
    words: HashSet<Rc<str>>,
}

impl Sources {
    /// Adds a text that is shorter than 4 GiB, which whoever reads files sees to.
    pub(crate) fn add(
        &mut self,
        path: &str,
        text: Rc<str>,
        included_from: Option<Span>,
    ) -> (u32, Span) {
        let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        let counts = text.as_bytes().chunks(BLOCK).scan(0, |sum, block| {
            let before = *sum;
            *sum += count_characters(block);
            Some(before)
        });
        let blocks = counts.collect();
        let file = self.files.len() as u32;
        self.files.push(Source {
            path: path.into(),
            text,
            included_from,
            lines,
            blocks,
        });
        let start = Span {
            file,
            start: 0,
            end: 0,
            expansion: 0,
        };
        (file, start)
    }

    pub(crate) fn file(&self, file: u32) -> &Source {
        &self.files[file as usize]
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// The text of a span.
    pub(crate) fn text(&self, span: Span) -> &str {
        let text = &self.file(span.file).text;
        text.get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// The line, from 0, in which an offset lies.
    pub(crate) fn line(&self, file: u32, offset: u32) -> usize {
        let lines = &self.file(file).lines;
        lines.partition_point(|start| *start <= offset) - 1
    }

    /// Line and column in characters, both from 1.
    pub(crate) fn line_column(&self, span: Span) -> (u32, u32) {
        let line = self.line(span.file, span.start);
        let source = self.file(span.file);
        let before = source.characters(span.start) - source.characters(source.lines[line]);
        (line as u32 + 1, before + 1)
    }

    /// The line around the start of a span, without its end.
    pub(crate) fn line_text(&self, span: Span) -> &str {
        let line = self.line(span.file, span.start);
        let lines = &self.file(span.file).lines;
        let start = lines[line];
        let end = lines.get(line + 1).copied().unwrap_or(u32::MAX);
        let text = &self.file(span.file).text;
        let end = (end as usize).min(text.len());
        text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// The word at a place.
    pub(crate) fn span_at(&self, position: Position) -> Span {
        let Position { file, line, column } = position;
        let source = self.file(file);
        let start = source.lines.get(line.saturating_sub(1) as usize).copied();
        let rest = source
            .text
            .get(start.unwrap_or_default() as usize..)
            .unwrap_or_default();
        let before = rest.chars().take(column.saturating_sub(1) as usize);
        let before: usize = before.map(char::len_utf8).sum();
        let word = rest.get(before..).unwrap_or_default();
        let length = word.find(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        let start = start.unwrap_or_default() + before as u32;
        Span {
            file,
            start,
            end: start + length.unwrap_or(word.len()) as u32,
            expansion: 0,
        }
    }

    /// Notes a use of a macro, and returns its index for [`Span::expansion`].
    pub(crate) fn expand(&mut self, name: Rc<str>, definition: Span) -> u32 {
        self.expansions.push(Expansion { name, definition });
        self.expansions.len() as u32
    }

    pub(crate) fn expansion(&self, span: Span) -> Option<&Expansion> {
        let index = span.expansion.checked_sub(1)?;
        self.expansions.get(index as usize)
    }

    /// One copy of each word.
    pub(crate) fn word(&mut self, text: &str) -> Rc<str> {
        if let Some(word) = self.words.get(text) {
            return word.clone();
        }
        let word: Rc<str> = text.into();
        self.words.insert(word.clone());
        word
    }
}

/// Bytes of a block whose characters are counted.
const BLOCK: usize = 1024;
