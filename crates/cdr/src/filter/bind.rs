//! Meets an expression with a type: names become slots, literals become values of the kind that
//! they are compared with.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use tickwire_base::{Decimal, nearest_name};

use super::evaluate::{Condition, Operand};
use super::held::{Held, Slot};
use super::paths::{Part, Paths, Step};
use super::syntax::{Relation, Syntax};
use super::token::{Token, TokenKind};
use super::{Filter, FilterError, FilterProblem};
use crate::{Describe, Member, Shared, Type, TypeDescription};

/// The filter that an expression is for a type, and the slots of the members in `order`.
pub(super) fn bind(
    syntax: &Syntax<'_>,
    order: &[Token<'_>],
    parameters: &[&str],
    ty: &TypeDescription,
) -> Result<(Filter, Vec<usize>), FilterError> {
    let mut binder = Binder {
        ty: Type::Struct(Shared::from(ty.clone())),
        parameters,
        paths: Paths::new(ty.clone()),
        slots: Vec::new(),
    };
    let condition = binder.condition(syntax)?;
    let order: Result<Vec<_>, _> = order
        .iter()
        .map(|member| Ok(binder.field(*member)?.slot))
        .collect();
    let order = order?;
    let filter = Filter {
        condition,
        paths: binder.paths,
        slots: binder.slots,
    };
    Ok((filter, order))
}

struct Binder<'a> {
    ty: Type,
    parameters: &'a [&'a str],
    paths: Paths,
    slots: Vec<Slot>,
}

/// A member that is compared.
struct Field {
    slot: usize,
    ty: Type,
}

impl Binder<'_> {
    fn condition(&mut self, syntax: &Syntax<'_>) -> Result<Condition, FilterError> {
        Ok(match syntax {
            Syntax::Comparison {
                left,
                relation,
                right,
            } => self.comparison(*left, *relation, *right)?,
            Syntax::Not(inner) => Condition::Not(Box::new(self.condition(inner)?)),
            Syntax::All(parts) => Condition::All(self.conditions(parts)?),
            Syntax::Any(parts) => Condition::Any(self.conditions(parts)?),
        })
    }

    fn conditions(&mut self, parts: &[Syntax<'_>]) -> Result<Vec<Condition>, FilterError> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    fn comparison(
        &mut self,
        left: Token<'_>,
        relation: Relation,
        right: Token<'_>,
    ) -> Result<Condition, FilterError> {
        let (member, relation, other) = match self.is_member(left) {
            true => (left, relation, right),
            false if relation != Relation::Like && self.is_member(right) => {
                (right, relation.mirrored(), left)
            }
            // The name of no member is the likelier mistake than a missing one.
            false if left.kind == TokenKind::Word => (left, relation, right),
            false => return Err(error(left, FilterProblem::NoMember)),
        };
        let field = self.field(member)?;
        let right = match self.is_member(other) {
            true => {
                let other_field = self.field(other)?;
                check_members(&field.ty, &other_field.ty, relation, other)?;
                Operand::Slot(other_field.slot)
            }
            false => Operand::Constant(self.constant(&field.ty, relation, other)?),
        };
        Ok(Condition::Comparison {
            left: field.slot,
            relation,
            right,
        })
    }

    fn is_member(&self, token: Token<'_>) -> bool {
        token.kind == TokenKind::Word && resolve(&self.ty, token.text).is_ok()
    }

    /// The slot of a member.
    fn field(&mut self, token: Token<'_>) -> Result<Field, FilterError> {
        let (steps, ty) = resolve(&self.ty, token.text).map_err(|problem| error(token, problem))?;
        let held = match &ty {
            ty if *ty == Decimal::TYPE => Held::Decimal(0, 0),
            Type::F32 | Type::F64 => Held::Float(0.0),
            Type::String { .. } | Type::WString { .. } => Held::Text(String::new()),
            Type::Struct(_) | Type::Union(_) | Type::Map { .. } => {
                let member = token.text.to_string();
                return Err(error(token, FilterProblem::NotComparable { member }));
            }
            Type::Sequence { .. } | Type::Array { .. } => {
                let member = token.text.to_string();
                return Err(error(token, FilterProblem::NotComparable { member }));
            }
            _ => Held::Integer(0),
        };
        let next = self.slots.len();
        let slot = match held {
            Held::Decimal(..) => {
                let part = |id| [&steps[..], &[Step::Member(id)]].concat();
                self.paths.want(&part(0), next, Part::Mantissa);
                self.paths.want(&part(1), next, Part::Exponent)
            }
            _ => self.paths.want(&steps, next, Part::Whole),
        };
        if slot == next {
            self.slots.push(Slot {
                is_present: false,
                held,
            });
        }
        Ok(Field { slot, ty })
    }

    /// A literal as a value of the kind that `ty` is.
    fn constant(
        &self,
        ty: &Type,
        relation: Relation,
        token: Token<'_>,
    ) -> Result<Held, FilterError> {
        let mismatch = || {
            let (member, other) = (kind(ty), describe(token));
            error(token, FilterProblem::Mismatch { member, other })
        };
        let is_text = matches!(ty, Type::String { .. } | Type::WString { .. });
        if relation == Relation::Like && !is_text {
            let (member, other) = (kind(ty), "a pattern".to_string());
            return Err(error(token, FilterProblem::Mismatch { member, other }));
        }
        let literal = self.literal(token)?;
        let value = match ty {
            ty if *ty == Decimal::TYPE => decimal(literal),
            Type::String { .. } | Type::WString { .. } => literal.text().map(Held::Text),
            Type::Char | Type::WChar => literal.text().and_then(|text| {
                let mut chars = text.chars();
                let first = chars.next().filter(|_| chars.next().is_none())?;
                Some(Held::Integer(u32::from(first).into()))
            }),
            Type::Bool => match literal.source {
                word if word.eq_ignore_ascii_case("TRUE") => Some(Held::Integer(1)),
                word if word.eq_ignore_ascii_case("FALSE") => Some(Held::Integer(0)),
                _ => literal
                    .integer()
                    .filter(|value| matches!(value, 0 | 1))
                    .map(Held::Integer),
            },
            Type::Enum(description) => {
                let name = literal.text().unwrap_or_else(|| literal.source.to_string());
                let found = description
                    .literals
                    .iter()
                    .find(|known| *known.name == *name);
                let by_name = found.map(|known| i128::from(known.value));
                by_name.or_else(|| literal.integer()).map(Held::Integer)
            }
            Type::F32 => literal
                .number()
                .and_then(|text| text.parse::<f32>().ok())
                .map(|value| Held::Float(value.into())),
            Type::F64 => literal
                .number()
                .and_then(|text| text.parse().ok())
                .map(Held::Float),
            _ => decimal(literal),
        };
        value.ok_or_else(mismatch)
    }

    /// What a token says, after parameters are replaced.
    fn literal<'t>(&'t self, token: Token<'t>) -> Result<Literal<'t>, FilterError> {
        if token.kind != TokenKind::Parameter {
            let (source, kind) = (token.text, token.kind);
            return Ok(Literal {
                source,
                kind,
                is_parameter: false,
            });
        }
        let number = token.text.parse().ok().filter(|number| *number < 100);
        let expected = "a parameter from %0 to %99";
        let found = format!("%{}", token.text);
        let number: usize =
            number.ok_or_else(|| error(token, FilterProblem::Unexpected { found, expected }))?;
        let missing = || error(token, FilterProblem::MissingParameter(number));
        let source = self.parameters.get(number).ok_or_else(missing)?.trim();
        let quoted = source
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''));
        Ok(match quoted {
            Some(source) => Literal {
                source,
                kind: TokenKind::Text,
                is_parameter: true,
            },
            None => Literal {
                source,
                kind: TokenKind::Number,
                is_parameter: true,
            },
        })
    }
}

/// A literal that has no kind yet but that of its writing.
#[derive(Clone, Copy)]
struct Literal<'a> {
    source: &'a str,
    kind: TokenKind,
    is_parameter: bool,
}

impl<'a> Literal<'a> {
    fn text(self) -> Option<String> {
        match self.kind {
            TokenKind::Text => Some(self.source.replace("''", "'")),
            _ => self.is_parameter.then(|| self.source.to_string()),
        }
    }

    fn number(self) -> Option<&'a str> {
        (self.kind == TokenKind::Number).then_some(self.source)
    }

    /// Decimal or hexadecimal.
    fn integer(self) -> Option<i128> {
        let text = self.number()?;
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let hex = digits
            .strip_prefix("0x")
            .or_else(|| digits.strip_prefix("0X"));
        let magnitude = match hex {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse::<u64>(),
        };
        let value = i128::from(magnitude.ok()?);
        Some(if negative { -value } else { value })
    }
}

/// A number that is compared exactly: an integer, or digits with a point and a power of ten.
fn decimal(literal: Literal<'_>) -> Option<Held> {
    if let Some(integer) = literal.integer() {
        return Some(Held::Integer(integer));
    }
    let text = literal.number()?;
    let (digits, power) = match text.split_once(['e', 'E']) {
        Some((digits, power)) => (digits, power.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let value: Decimal = digits.strip_prefix('+').unwrap_or(digits).parse().ok()?;
    Some(Held::Decimal(
        value.mantissa(),
        i32::from(value.exponent()) + i32::from(power),
    ))
}

/// The way to a member, and its type.
fn resolve(ty: &Type, path: &str) -> Result<(Vec<Step>, Type), FilterProblem> {
    let mut steps = Vec::new();
    let mut at = ty.clone();
    for part in path.split('.') {
        let (name, mut indices) = match part.split_once('[') {
            Some((name, rest)) => (name, Some(rest)),
            None => (part, None),
        };
        let unknown = |ty: &str, nearest: Option<&str>| FilterProblem::UnknownMember {
            name: name.to_string(),
            ty: ty.to_string(),
            nearest: nearest.map(ToString::to_string),
        };
        if let Type::Recursive(link) = &at {
            at = link.target().unwrap_or(Type::Bool);
        }
        let (of, members): (_, Vec<&Member>) = match &at {
            Type::Struct(description) => (&description.name, description.members.iter().collect()),
            Type::Union(description) => {
                let cases = description.cases.iter();
                (&description.name, cases.map(|case| &case.member).collect())
            }
            _ => return Err(unknown(kind(&at), None)),
        };
        let names = members.iter().map(|member| &*member.name);
        let member = members.iter().find(|member| *member.name == *name);
        let member = member.ok_or_else(|| unknown(of, nearest_name(name, names)))?;
        steps.push(Step::Member(member.id));
        let mut next = member.ty.clone();
        while let Some(rest) = indices {
            let expected = "an index such as [0]";
            let found = part.to_string();
            let problem = FilterProblem::Unexpected { found, expected };
            let Some((index, after)) = rest.split_once(']') else {
                return Err(problem);
            };
            next = match (&next, index.parse()) {
                (Type::Sequence { element, .. } | Type::Array { element, .. }, Ok(index)) => {
                    steps.push(Step::Element(index));
                    (**element).clone()
                }
                _ => return Err(problem),
            };
            indices = match after {
                "" => None,
                after => Some(after.strip_prefix('[').ok_or(problem)?),
            };
        }
        at = next;
    }
    Ok((steps, at))
}

/// Two members can be compared if they are both numbers, both text, or of one type.
fn check_members(
    left: &Type,
    right: &Type,
    relation: Relation,
    token: Token<'_>,
) -> Result<(), FilterError> {
    let (kinds, like) = ((kind(left), kind(right)), relation == Relation::Like);
    let comparable = match kinds {
        ("text", "text") => true,
        _ if like => false,
        ("an integer", "a floating-point number") | ("a floating-point number", "an integer") => {
            true
        }
        ("an integer", "a decimal") | ("a decimal", "an integer") => true,
        (a, b) => a == b,
    };
    if comparable {
        return Ok(());
    }
    let other = format!("`{}`, which is {}", token.text, kinds.1);
    let member = kinds.0;
    Err(error(token, FilterProblem::Mismatch { member, other }))
}

fn kind(ty: &Type) -> &'static str {
    match ty {
        ty if *ty == Decimal::TYPE => "a decimal",
        Type::Bool => "a boolean",
        Type::F32 | Type::F64 => "a floating-point number",
        Type::Char | Type::WChar => "a character",
        Type::String { .. } | Type::WString { .. } => "text",
        Type::Enum(_) => "an enumerator",
        Type::Struct(_) => "a struct",
        Type::Union(_) => "a union",
        Type::Map { .. } => "a map",
        Type::Sequence { .. } | Type::Array { .. } => "a sequence",
        _ => "an integer",
    }
}

fn describe(token: Token<'_>) -> String {
    match token.kind {
        TokenKind::Text => format!("the text '{}'", token.text),
        TokenKind::Parameter => format!("what parameter %{} says", token.text),
        _ => format!("`{}`", token.text),
    }
}

fn error(token: Token<'_>, problem: FilterProblem) -> FilterError {
    let offset = token.offset;
    FilterError { offset, problem }
}
