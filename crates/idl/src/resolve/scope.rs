//! What names mean where (IDL 4.2 §7.5).

use super::{Resolver, Result, Wrong};
use crate::model::{DefinitionId, DefinitionKind};
use crate::source::Span;
use crate::syntax::{Name, Path};

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    Definition(DefinitionId),
    /// A literal of an enum, which is in the scope around that.
    Literal(DefinitionId, u32),
}

impl Resolver<'_> {
    /// What a name means in the scope that is being read, whatever the case of its letters.
    pub(super) fn here(&self, name: &str) -> Option<Entry> {
        self.within(self.scope, name)
    }

    fn within(&self, scope: Option<DefinitionId>, name: &str) -> Option<Entry> {
        let key = (scope, name.to_ascii_lowercase());
        self.scopes.get(&key).copied()
    }

    /// Gives a name a meaning in the scope that is being read.
    pub(super) fn enter(&mut self, name: &Name, entry: Entry) -> Result<()> {
        if let Some(known) = self.here(&name.text) {
            let span = self.span_of(known);
            let known_name = self.name_of(known);
            let shown = name.text.trim_start_matches('@');
            let (message, help) = match known_name == shown {
                true => (
                    format!("`{shown}` is defined already"),
                    "rename one of them, or put it into a module of its own; of a file that is \
                     included twice, begin it with `#pragma once`",
                ),
                false => (
                    format!("`{shown}` and `{known_name}` differ only in the case of letters"),
                    "rename one of them: IDL takes them for one",
                ),
            };
            let problem = self.context.error(name.span, message);
            problem.help(help).note("the other one is", span);
            return Err(Wrong);
        }
        if let Some(scope) = self.scope {
            let outer = self.model.definition(scope).name.clone();
            self.check_scope_name(name, &outer);
        }
        let key = (self.scope, name.text.to_ascii_lowercase());
        self.scopes.insert(key, entry);
        Ok(())
    }

    /// Warns of a name that is that of the scope it is in (IDL 4.2 §7.5.2): other compilers refuse it, and so do languages
    /// in which it is that of the constructor. It means one thing nonetheless. Names that differ in case are one by the same
    /// rule; of them nothing is said, as many have a `color` in their `Color`.
    pub(super) fn check_scope_name(&mut self, name: &Name, scope: &str) {
        if scope == &*name.text {
            let message = format!("`{scope}` has the name of what it is in");
            let problem = self.context.problems.warning(name.span, message);
            problem.help(
                "rename one of them: IDL 4.2 does not allow it, and other compilers refuse it",
            );
        }
    }

    pub(super) fn span_of(&self, entry: Entry) -> Span {
        let (Entry::Definition(id) | Entry::Literal(id, _)) = entry;
        self.spans[id.0 as usize]
    }

    fn name_of(&self, entry: Entry) -> String {
        match entry {
            Entry::Definition(id) => self.model.definition(id).name.clone(),
            Entry::Literal(id, index) => match &self.model.definition(id).kind {
                DefinitionKind::Enum(of) => {
                    let literal = of.literals.get(index as usize);
                    literal.map_or(String::new(), |literal| literal.name.clone())
                }
                _ => String::new(),
            },
        }
    }

    /// What a path means that is to be a type; an error is told.
    pub(super) fn lookup(&mut self, path: &Path) -> Result<Entry> {
        self.lookup_of(path, false)
    }

    /// The same of a path that is to be a value.
    pub(super) fn lookup_value(&mut self, path: &Path) -> Result<Entry> {
        self.lookup_of(path, true)
    }

    fn lookup_of(&mut self, path: &Path, is_value: bool) -> Result<Entry> {
        let found = self.find(path);
        let Some(entry) = found else {
            self.unknown_name(path, is_value);
            return Err(Wrong);
        };
        let last = path.parts.last().ok_or(Wrong)?;
        let name = self.name_of(entry);
        if !name.is_empty() && name != *last.text {
            let span = self.span_of(entry);
            let message = format!("`{}` is written `{name}`", last.text);
            let problem = self.context.error(last.span, message);
            problem
                .help("use the same letters everywhere")
                .note("it is defined", span);
        }
        Ok(entry)
    }

    /// What a path means, if anything.
    pub(super) fn find(&self, path: &Path) -> Option<Entry> {
        let (first, rest) = path.parts.split_first()?;
        let mut entry = match path.absolute {
            true => self.within(None, &first.text)?,
            false => {
                let mut scope = self.scope;
                loop {
                    if let Some(entry) = self.within(scope, &first.text) {
                        break entry;
                    }
                    scope = self.model.definition(scope?).scope;
                }
            }
        };
        for part in rest {
            let Entry::Definition(id) = entry else {
                return None;
            };
            entry = self.within(Some(id), &part.text)?;
        }
        Some(entry)
    }

    fn unknown_name(&mut self, path: &Path, is_value: bool) {
        let text = path.text();
        if !self.is_read || self.context.problems.is_full() || !self.unknown.insert(text.clone()) {
            // Its definition may be in a file that is missing; or it was told, or is one of many.
            return;
        }
        if self.is_broken(path) || self.is_skipped(path) {
            return;
        }
        let last = path.parts.last().map_or("", |part| &part.text);
        let message = format!("nothing is called `{text}` here");
        let known = self
            .index
            .find(last)
            .map(|(full, span)| (full.to_owned(), span));
        let defining = self.defining;
        let similar = self.index.similar(last, is_value, defining);
        let similar = similar.map(str::to_owned);
        let of_enum = self.enum_before(path);
        let problem = self.context.error(path.span, message);
        if is_value && ["true", "false"].contains(&&*text.to_ascii_lowercase()) {
            problem.help(format_args!("write `{}`", text.to_ascii_uppercase()));
            return;
        }
        let standard = text.strip_prefix("std::").unwrap_or(&text);
        let of_idl = OF_IDL.iter().find(|(other, _)| *other == standard);
        if let (false, None, Some((_, of_idl))) = (is_value, &known, of_idl) {
            problem.help(format_args!("write `{of_idl}`"));
            return;
        }
        match (of_enum, known, similar) {
            (Some(scope), ..) => {
                let name = match scope.is_empty() {
                    true => last.to_owned(),
                    false => format!("{scope}::{last}"),
                };
                problem.help(format_args!(
                    "write `{name}`: literals belong to the scope around their enum"
                ));
            }
            (_, Some((_, span)), _)
                if span.file == path.span.file && span.start > path.span.start =>
            {
                problem
                    .help("move its definition up, before this")
                    .note("it is defined", span);
            }
            (_, Some((_, span)), _) if Some(span) == defining => {
                problem.help("this is its definition: write a value, or the name of another one");
            }
            (_, Some((full, span)), _) if full != text => {
                problem
                    .help(format_args!("write `{full}`"))
                    .note("that is defined", span);
            }
            (_, _, Some(similar)) => {
                problem.help(format_args!("`{similar}` is; is that meant?"));
            }
            _ => {
                problem.help("define it before, or include the file that does");
            }
        }
    }

    /// Whether what a path means may be defined in a text that was not understood.
    pub(super) fn is_skipped(&self, path: &Path) -> bool {
        let mut parts = path.parts.iter();
        parts.any(|part| self.skipped.contains(&part.text.to_ascii_lowercase()))
    }

    /// Whether what a path means is defined, and something is wrong with that, which was told.
    fn is_broken(&self, path: &Path) -> bool {
        let text = path.text();
        let text = text.trim_start_matches("::");
        let mut scope = self.scope.filter(|_| !path.absolute);
        loop {
            let full = match scope {
                Some(scope) => format!("{}::{text}", self.model.definition(scope).full_name),
                None => text.to_owned(),
            };
            if self.index.has_before(&full, path.span, self.defining) {
                return true;
            }
            let Some(inner) = scope else { return false };
            scope = self.model.definition(inner).scope;
        }
    }

    /// The scope of the enum of `Enum::LITERAL`.
    fn enum_before(&self, path: &Path) -> Option<String> {
        let (_, parts) = path.parts.split_last()?;
        let before = Path {
            absolute: path.absolute,
            parts: parts.to_vec(),
            span: path.span,
        };
        let Entry::Definition(id) = self.find(&before)? else {
            return None;
        };
        let definition = self.model.definition(id);
        let scope = definition.scope.map(|scope| self.model.definition(scope));
        matches!(definition.kind, DefinitionKind::Enum(_))
            .then(|| scope.map_or(String::new(), |scope| scope.full_name.clone()))
    }
}

/// Types of other languages and compilers, and what IDL calls them.
const OF_IDL: &[(&str, &str)] = &[
    ("bool", "boolean"),
    ("byte", "octet"),
    ("f32", "float"),
    ("f64", "double"),
    ("float32", "float"),
    ("float32_t", "float"),
    ("float64", "double"),
    ("float64_t", "double"),
    ("i16", "short` or `int16"),
    ("i32", "long` or `int32"),
    ("i64", "long long` or `int64"),
    ("i8", "int8"),
    ("int", "long"),
    ("int16_t", "short` or `int16"),
    ("int32_t", "long` or `int32"),
    ("int64_t", "long long` or `int64"),
    ("int8_t", "int8"),
    ("integer", "long"),
    ("signed", "long"),
    ("size_t", "unsigned long long` or `uint64"),
    ("str", "string"),
    ("String", "string"),
    ("u16", "unsigned short` or `uint16"),
    ("u32", "unsigned long` or `uint32"),
    ("u64", "unsigned long long` or `uint64"),
    ("u8", "octet` or `uint8"),
    ("uint", "unsigned long"),
    ("uint16_t", "unsigned short` or `uint16"),
    ("uint32_t", "unsigned long` or `uint32"),
    ("uint64_t", "unsigned long long` or `uint64"),
    ("uint8_t", "octet` or `uint8"),
    ("wchar_t", "wchar"),
];
