//! Pragmas by which compilers before IDL 4 were told of topics and keys.

use std::collections::HashMap;

use super::Resolver;
use super::aggregate::{TRIED_KEY, UNSERIALIZED_KEY};
use super::scope::Entry;
use crate::model::{DefinitionId, DefinitionKind, Struct, TryConstruct};
use crate::preprocess::Context;
use crate::source::Span;
use crate::syntax::{Name, Path};

/// A pragma about a type that may be defined further down.
pub(super) struct Pragma {
    /// Where it stands.
    scope: Option<DefinitionId>,
    ty: Path,
    /// Members; none where it says that the type is one of a topic.
    keys: Vec<Name>,
}

impl Resolver<'_> {
    pub(super) fn pragma(&mut self, text: &str, span: Span) {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match name {
            "DCPS_DATA_TYPE" | "DCPS_DATA_KEY" => {
                let quoted = rest.trim().strip_prefix('"');
                let Some(inner) = quoted.and_then(|rest| rest.strip_suffix('"')) else {
                    let problem = self.context.error(span, "the quotation marks are missing");
                    problem.help(format_args!("write `#pragma {name} \"module::Type ...\"`"));
                    return;
                };
                self.keep_pragma(name, inner, span);
            }
            "keylist" => self.keep_pragma(name, rest, span),
            // Of CORBA's repositories of interfaces, and of compilers to C and C++.
            "ID" | "prefix" | "version" | "GCC" | "clang" | "warning" | "pack" | "region"
            | "endregion" | "ident" => {}
            _ => {
                let message = format!("`#pragma {name}` is not known: it is ignored");
                let problem = self.context.problems.warning(span, message);
                problem.help("there are once, keylist, DCPS_DATA_TYPE and DCPS_DATA_KEY");
            }
        }
    }

    fn keep_pragma(&mut self, name: &str, arguments: &str, span: Span) {
        let words = arguments.split(|char: char| char.is_whitespace() || char == ',');
        let mut words = words.filter(|word| !word.is_empty()).map(|word| Name {
            text: word.into(),
            span: self.word_span(word, arguments, span),
        });
        let Some(ty) = words.next() else {
            let problem = self.context.error(span, "the name of a type is missing");
            problem.help(format_args!("write `#pragma {name}` with a type"));
            return;
        };
        let keys: Vec<Name> = words.collect();
        let absolute = ty.text.starts_with("::");
        let parts = ty.text.trim_start_matches("::").split("::");
        let part = |text: &str| Name {
            text: text.into(),
            span: ty.span,
        };
        self.pragmas.push(Pragma {
            scope: self.scope,
            ty: Path {
                absolute,
                parts: parts.map(part).collect(),
                span: ty.span,
            },
            keys,
        });
    }

    /// Where a word of a pragma stands: it is a part of the text that `arguments` is.
    fn word_span(&self, word: &str, arguments: &str, span: Span) -> Span {
        let whole = self.context.sources.text(span);
        let offset = (word.as_ptr() as usize).saturating_sub(arguments.as_ptr() as usize);
        let start = whole.len().saturating_sub(arguments.len());
        let start = match whole.ends_with('"') {
            true => start.saturating_sub(1),
            false => start,
        };
        let start = span.start + (start + offset) as u32;
        Span {
            start,
            end: start + word.len() as u32,
            ..span
        }
    }

    pub(super) fn apply_pragmas(&mut self) {
        let mut indices: HashMap<DefinitionId, HashMap<String, usize>> = HashMap::new();
        for pragma in std::mem::take(&mut self.pragmas) {
            if self.context.problems.is_full() {
                break;
            }
            self.scope = pragma.scope;
            let Ok(Entry::Definition(id)) = self.lookup(&pragma.ty) else {
                continue;
            };
            let tried: Vec<_> = match &self.model.definition(id).kind {
                DefinitionKind::Struct(of) => {
                    let types = of.members.iter().map(|member| &member.ty);
                    types.map(|ty| self.model.tried_in_key(ty)).collect()
                }
                _ => Vec::new(),
            };
            let definition = &mut self.model.definitions[id.0 as usize];
            let DefinitionKind::Struct(of) = &mut definition.kind else {
                let message = format!("`{}` is no struct", definition.full_name);
                let problem = self.context.error(pragma.ty.span, message);
                problem.help("topics and keys are declared of structs by pragmas");
                continue;
            };
            of.nested = false;
            let index = indices.entry(id).or_insert_with(|| {
                let members = of.members.iter().enumerate();
                members
                    .map(|(index, member)| (member.name.clone(), index))
                    .collect()
            });
            for key in &pragma.keys {
                let member = index.get(&*key.text);
                let is_tried =
                    member.is_some_and(|index| matches!(tried.get(*index), Some(Some(_))));
                match member.and_then(|index| of.members.get_mut(*index)) {
                    Some(member)
                        if !member.optional
                            && !member.non_serialized
                            && member.try_construct == TryConstruct::Discard
                            && !is_tried =>
                    {
                        member.key = true;
                    }
                    // It may be what was not understood.
                    None if !self.is_whole => {}
                    found => {
                        let unfit = found.map(|member| match member {
                            it if it.optional => ("a key cannot be optional", "remove @optional"),
                            it if it.non_serialized => (UNSERIALIZED_KEY, "remove @non_serialized"),
                            _ => (TRIED_KEY, "remove @try_construct"),
                        });
                        wrong_key(self.context, key, &definition.full_name, of, unfit);
                    }
                }
            }
        }
        self.scope = None;
    }
}

/// `unfit` is what is wrong with the member, if there is one, and what to do.
fn wrong_key(
    context: &mut Context,
    key: &Name,
    name: &str,
    of: &Struct,
    unfit: Option<(&str, &str)>,
) {
    if let Some((message, help)) = unfit {
        let problem = context.error(key.span, message);
        problem.help(format_args!("{help}: every sample has its key"));
    } else if key.text.contains(['.', '[']) {
        let message = format!("`{}` is a part of a member", key.text);
        context
            .error(key.span, message)
            .help("mark the member by @key, and in its type the members that are the key, too");
    } else {
        let names = of.members.iter().take(8).map(|member| &*member.name);
        let names: Vec<&str> = names.collect();
        let message = format!("`{name}` has no member `{}`", key.text);
        let problem = context.error(key.span, message);
        problem.help(format_args!("its members are {}", names.join(", ")));
    }
}
