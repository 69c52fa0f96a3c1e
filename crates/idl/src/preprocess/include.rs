//! `#include`: which file is meant.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::Preprocessor;
use crate::lexer::{RawToken, TokenKind};
use crate::limits;
use crate::source::Span;

/// Why a file has no text.
pub(crate) enum LoadError {
    /// There is none of this name.
    Missing,
    /// What is wrong with it.
    Unreadable(String),
}

impl Preprocessor<'_> {
    /// Reads a file that is compiled, and gives the place where it ends.
    pub(crate) fn root(&mut self, path: &Path) -> Result<Span, String> {
        let path = plain(path);
        match self.load(&path) {
            Ok(text) => Ok(self.file(&path, text, None)),
            Err(LoadError::Missing) => Err("there is no such file".to_owned()),
            Err(LoadError::Unreadable(why)) => Err(why),
        }
    }

    pub(super) fn include(&mut self, file: u32, at: Span, rest: &[RawToken]) {
        let text = self.line_text(file, rest);
        let quoted = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let angled = text
            .strip_prefix('<')
            .and_then(|text| text.strip_suffix('>'));
        let Some(name) = quoted.or(angled).filter(|name| !name.is_empty()) else {
            let problem = self.context.error(at, "this includes nothing");
            problem.help("write `#include \"file.idl\"` or `#include <file.idl>`");
            return;
        };
        let span = rest.iter().find(|token| token.kind != TokenKind::Comment);
        let span = span.map_or(at, |first| Span {
            file,
            start: first.start,
            end: first.start + text.len() as u32,
            expansion: 0,
        });
        if self.open.len() >= limits::INCLUDE_DEPTH {
            self.stop(span, "files include each other without end")
                .help("begin each with `#pragma once`");
            return;
        }
        for path in self.candidates(Path::new(name), quoted.is_some()) {
            if self.once.contains(&path) {
                return;
            }
            match self.load(&path) {
                Ok(text) => {
                    self.file(&path, text, Some(span));
                    return;
                }
                Err(LoadError::Missing) => {}
                Err(LoadError::Unreadable(why)) => {
                    let message = format!("cannot read {}: {why}", path.display());
                    let problem = self.context.error(span, message);
                    problem.help("see that the file can be read as text, and is no directory");
                    return;
                }
            }
        }
        let message = format!("there is no file `{name}`");
        let searched: Vec<_> = self
            .search
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let problem = self.context.error(span, message);
        match searched.is_empty() {
            true => problem.help("name the directory that has it by `-I`"),
            false => problem.help(format_args!("it is in none of {}", searched.join(", "))),
        };
    }

    /// Where a file may be: beside the one that includes it, then where the user said.
    fn candidates(&self, name: &Path, beside: bool) -> Vec<PathBuf> {
        let includer = self.open.last().and_then(|path| path.parent());
        let own = includer.filter(|_| beside).map(|parent| parent.join(name));
        let others = self.search.iter().map(|directory| directory.join(name));
        own.into_iter()
            .chain(others)
            .map(|path| plain(&path))
            .collect()
    }

    fn load(&mut self, path: &Path) -> Result<Rc<str>, LoadError> {
        let bytes = self.loader.load(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => LoadError::Missing,
            _ => LoadError::Unreadable(error.to_string()),
        })?;
        self.bytes = self.bytes.saturating_add(bytes.len());
        let files = self.context.sources.files().count();
        if bytes.len() > limits::FILE_BYTES
            || self.bytes > limits::ALL_BYTES
            || files >= limits::FILES
        {
            self.stopped = true;
            return Err(LoadError::Unreadable(
                "this is too much text, with all that was read before".to_owned(),
            ));
        }
        if let Some(encoding) = wide_encoding(&bytes) {
            return Err(LoadError::Unreadable(format!(
                "it is in {encoding}; write it in UTF-8, as `iconv -f {encoding} -t UTF-8` does"
            )));
        }
        // Text of before UTF-8 is ISO 8859-1, IDL's own character set (IDL 4.2 §7.2.6.2).
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => {
                let bytes = error.into_bytes();
                bytes.into_iter().map(char::from).collect::<String>().into()
            }
        })
    }
}

/// The encoding of a text whose characters have more than a byte each, by its mark or the zeros of its first character.
fn wide_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [0, other, ..] if *other != 0 => Some("UTF-16BE"),
        [other, 0, ..] if *other != 0 => Some("UTF-16LE"),
        _ => None,
    }
}

/// A path without `.`, and without `..` where it can be told what that is.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
