//! `#define` and what becomes of the names that it defines.

use std::rc::Rc;

use super::Preprocessor;
use crate::lexer::{self, TokenKind};
use crate::limits;
use crate::source::Span;
use crate::token::Token;

pub(super) struct Macro {
    name: Token,
    /// Of one that is used with arguments.
    parameters: Option<Vec<Rc<str>>>,
    body: Vec<Token>,
}

/// What waits to be looked at for macros.
enum Item {
    Token(Token),
    /// Here ends what came out of this macro, which it is not in itself.
    End(Rc<str>),
}

impl Preprocessor<'_> {
    /// Takes a definition, given the tokens after `#define`.
    pub(super) fn directive_define(&mut self, line: &[Token]) {
        let Some((name, rest)) = line.split_first() else {
            return;
        };
        if name.kind != TokenKind::Word || &*name.text == "defined" {
            let problem = self
                .context
                .error(name.span, "this cannot be the name of a macro");
            problem.help("a macro is called by letters, digits and underscores");
            return;
        }
        let has_parameters = rest
            .first()
            .is_some_and(|next| next.is('(') && !next.spaced);
        let (parameters, body) = match has_parameters {
            false => (None, rest),
            true => match parameters(rest) {
                Some((parameters, body)) => (Some(parameters), body),
                None => {
                    let span = rest.first().map_or(name.span, |next| next.span);
                    let problem = self
                        .context
                        .error(span, "these are no parameters of a macro");
                    problem.help("write `(A, B)`; how many there are is fixed, `...` is not known");
                    return;
                }
            },
        };
        let new = Macro {
            name: name.clone(),
            parameters,
            body: body.to_vec(),
        };
        let old = self.macros.insert(name.text.clone(), Rc::new(new));
        let same = |old: &Macro| {
            let texts = old.body.iter().map(|token| &token.text);
            texts.eq(body.iter().map(|token| &token.text))
        };
        if let Some(old) = old.filter(|old| !same(old)) {
            let message = format!("the macro `{}` is defined anew", name.text);
            let problem = self.context.problems.warning(name.span, message);
            problem.help("`#undef` it before, if that is meant");
            problem.note("it was defined", old.name.span);
        }
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name)
    }

    /// The tokens with macros replaced.
    pub(super) fn expand(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        self.expand_within(tokens, Vec::new(), 0)
    }

    /// The same, for what stands in the macros `active`, and in arguments of `depth` macros.
    fn expand_within(
        &mut self,
        tokens: Vec<Token>,
        mut active: Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<Token> {
        let mut out = Vec::new();
        let mut work: Vec<Item> = tokens.into_iter().rev().map(Item::Token).collect();
        while let Some(item) = work.pop() {
            let token = match item {
                Item::Token(token) => token,
                Item::End(name) => {
                    active.retain(|active| *active != name);
                    continue;
                }
            };
            let definition = match token.kind {
                TokenKind::Word if !active.contains(&token.text) => {
                    self.macros.get(&token.text).cloned()
                }
                _ => None,
            };
            let Some(definition) = definition.filter(|_| !self.stopped) else {
                out.push(token);
                continue;
            };
            let arguments = match &definition.parameters {
                None => Vec::new(),
                Some(parameters) => {
                    if !next_is_open(&work) {
                        out.push(token);
                        continue;
                    }
                    match self.arguments(&token, parameters.len(), &mut work, &mut active) {
                        Some(arguments) => arguments,
                        None => continue,
                    }
                }
            };
            let mut body = self.substitute(&definition, &arguments, token.span, &active, depth);
            if let Some(first) = body.first_mut() {
                first.comments = token.comments.clone();
                first.spaced = token.spaced;
            }
            self.expansions += 1 + body.len().max(definition.body.len());
            if self.expansions > limits::EXPANSIONS || active.len() > limits::MACRO_CHAIN {
                self.stop(token.span, TOO_MUCH).help(WRITE_OUT);
                return out;
            }
            active.push(token.text.clone());
            work.push(Item::End(token.text));
            work.extend(body.into_iter().rev().map(Item::Token));
        }
        out
    }

    /// The arguments of a macro, whose name was taken; nothing if there is something wrong.
    fn arguments(
        &mut self,
        name: &Token,
        count: usize,
        work: &mut Vec<Item>,
        active: &mut Vec<Rc<str>>,
    ) -> Option<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let token = match work.pop() {
                Some(Item::Token(token)) => token,
                Some(Item::End(name)) => {
                    active.retain(|active| *active != name);
                    continue;
                }
                None => {
                    let message = format!("the arguments of `{}` do not end", name.text);
                    let problem = self.context.error(name.span, message);
                    problem.help("close them by `)`");
                    return None;
                }
            };
            match token.kind {
                TokenKind::Punctuation('(') => depth += 1,
                TokenKind::Punctuation(')') => depth -= 1,
                TokenKind::Punctuation(',') if depth == 1 => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            let is_first = depth == 1 && token.is('(');
            if let Some(last) = arguments.last_mut().filter(|_| !is_first) {
                last.push(token);
            }
        }
        if count == 0 && arguments.len() == 1 && arguments.iter().all(Vec::is_empty) {
            arguments.clear();
        }
        if arguments.len() != count {
            let (name, given) = (&name, arguments.len());
            let message = format!("`{}` takes {count} arguments, not {given}", name.text);
            let problem = self.context.error(name.span, message);
            problem.help("what is between two commas is an argument, also nothing");
            return None;
        }
        Some(arguments)
    }

    /// The body of a macro with its arguments, at the place where it is used.
    fn substitute(
        &mut self,
        definition: &Macro,
        arguments: &[Vec<Token>],
        used: Span,
        active: &[Rc<str>],
        depth: usize,
    ) -> Vec<Token> {
        let sources = &mut self.context.sources;
        let expansion = sources.expand(definition.name.text.clone(), definition.name.span);
        let here = Span { expansion, ..used };
        let argument = |token: &Token| {
            let parameters = definition.parameters.as_deref().unwrap_or_default();
            let at = parameters.iter().position(|name| *name == token.text)?;
            arguments.get(at)
        };
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let body = &definition.body;
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        let mut pasting = false;
        // Whether nothing came of what is to the left of `##`.
        let mut nothing = true;
        while let Some(token) = body.get(at) {
            if out.len() > limits::EXPANSIONS || self.stopped {
                break;
            }
            let is_function = definition.parameters.is_some();
            let pastes = |at: usize| {
                let pair = body.get(at).zip(body.get(at + 1));
                pair.is_some_and(|(a, b)| a.is('#') && b.is('#') && !b.spaced)
            };
            let next = at + 1;
            if pastes(at) && at > 0 {
                pasting = true;
                at += 2;
                continue;
            }
            let named = body.get(next).and_then(argument).filter(|_| is_function);
            let (mut part, taken) = match (token.is('#'), named) {
                (true, Some(named)) => (vec![self.text_of(named, token)], 2),
                _ => match argument(token) {
                    None => (vec![token.clone()], 1),
                    Some(raw) if pasting || pastes(next) => (raw.clone(), 1),
                    Some(raw) => {
                        let index = arguments.iter().position(|one| std::ptr::eq(one, raw));
                        let index = index.unwrap_or_default();
                        if depth >= limits::MACRO_DEPTH {
                            self.stop(used, "macros are nested too deep")
                                .help(WRITE_OUT);
                            break;
                        }
                        let known = expanded.get(index).cloned().flatten();
                        let new = match known {
                            Some(known) => known,
                            None => self.expand_within(raw.clone(), active.to_vec(), depth + 1),
                        };
                        if let Some(slot) = expanded.get_mut(index) {
                            *slot = Some(new.clone());
                        }
                        (new, 1)
                    }
                },
            };
            let is_body = argument(token).is_none();
            for token in part.iter_mut().filter(|_| is_body) {
                token.span = here;
            }
            let came_nothing = part.is_empty() && (!pasting || nothing);
            if pasting && !nothing {
                self.paste(&mut out, &mut part, here);
            }
            pasting = false;
            nothing = came_nothing;
            out.append(&mut part);
            at += taken;
        }
        out
    }

    /// `#argument`: a string of what was given.
    fn text_of(&mut self, argument: &[Token], like: &Token) -> Token {
        let mut text = String::from("\"");
        for (index, token) in argument.iter().enumerate() {
            if index > 0 && token.spaced {
                text.push(' ');
            }
            match token.kind {
                TokenKind::Text { .. } | TokenKind::Char { .. } => {
                    let escaped = token.text.replace('\\', "\\\\").replace('"', "\\\"");
                    text.push_str(&escaped);
                }
                _ => text.push_str(&token.text),
            }
        }
        text.push('"');
        self.make(text, like.span, like.clone())
    }

    /// `a ## b`: one token of the last of `out` and the first of `part`.
    fn paste(&mut self, out: &mut Vec<Token>, part: &mut Vec<Token>, here: Span) {
        if part.is_empty() {
            return;
        }
        let Some(left) = out.pop() else { return };
        let right = part.remove(0);
        let text = format!("{}{}", left.text, right.text);
        let made = self.make(text, here, left);
        out.push(made);
    }

    /// The token that a text is.
    fn make(&mut self, text: String, span: Span, like: Token) -> Token {
        self.made_bytes += text.len();
        if self.made_bytes > limits::MADE_BYTES {
            self.stop(span, TOO_MUCH).help(WRITE_OUT);
            return like;
        }
        let tokens = lexer::lex(&text);
        let kind = match tokens.as_slice() {
            [token] if !matches!(token.kind, TokenKind::Wrong(_) | TokenKind::Comment) => {
                token.kind
            }
            _ => {
                let message = format!("`{text}` is not one token");
                let problem = self.context.error(span, message);
                problem.help("`##` makes one name or number of two");
                return like;
            }
        };
        Token {
            kind,
            text: self.context.sources.word(&text),
            span,
            ..like
        }
    }
}

const TOO_MUCH: &str = "macros make too much of this text";
const WRITE_OUT: &str = "write what they make, or a part of it";

/// The names in `(A, B)`, and what follows.
fn parameters(tokens: &[Token]) -> Option<(Vec<Rc<str>>, &[Token])> {
    let end = tokens.iter().position(|token| token.is(')'))?;
    let list = tokens.get(1..end)?;
    let body = tokens.get(end + 1..)?;
    if list.is_empty() {
        return Some((Vec::new(), body));
    }
    if list.len() > 2 * limits::MACRO_PARAMETERS {
        return None;
    }
    let parts = list.split(|token| token.is(','));
    let names = parts.map(|part| match part {
        [name] if name.kind == TokenKind::Word => Some(name.text.clone()),
        _ => None,
    });
    Some((names.collect::<Option<_>>()?, body))
}

fn next_is_open(work: &[Item]) -> bool {
    let mut rest = work.iter().rev();
    let next = rest.find_map(|item| match item {
        Item::Token(token) => Some(token),
        Item::End(_) => None,
    });
    next.is_some_and(|token| token.is('('))
}
