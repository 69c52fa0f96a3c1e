//! Values of expressions, each of the type that it is used as (IDL 4.2 §7.4.1.4.3).

use super::scope::Entry;
use super::{Resolver, Result, Wrong};
use crate::model::{DefinitionId, DefinitionKind, Primitive, Type, Value};
use crate::source::Span;
use crate::syntax::{Expression, ExpressionKind, Path, TypeSpec};

impl Resolver<'_> {
    /// A type that a constant or a parameter can be of.
    pub(super) fn constant_type(&mut self, spec: &TypeSpec) -> Result<Type> {
        let ty = self.ty(spec, false)?;
        let is_constant = match self.model.resolve(&ty) {
            Type::Primitive(_) | Type::String { .. } | Type::WString { .. } => true,
            Type::Named(id) => matches!(
                self.model.definition(*id).kind,
                DefinitionKind::Enum(_) | DefinitionKind::Bitmask(_)
            ),
            _ => false,
        };
        if is_constant {
            return Ok(ty);
        }
        let message = format!("no constant is of type `{}`", self.model.display(&ty));
        let problem = self.context.error(spec.span, message);
        problem.help("constants are numbers, booleans, characters, strings, enums and bitmasks");
        Err(Wrong)
    }

    /// The value of an expression as this type.
    pub(super) fn value(&mut self, expression: &Expression, ty: &Type) -> Result<Value> {
        let resolved = self.model.resolve(ty).clone();
        match resolved {
            Type::Primitive(Primitive::Boolean) => match self.plain(expression)? {
                Value::Bool(value) => Ok(Value::Bool(value)),
                _ => Err(self.mismatch(expression.span, "`TRUE` or `FALSE`")),
            },
            Type::Primitive(primitive @ (Primitive::Char | Primitive::WChar)) => {
                self.character(expression, primitive)
            }
            Type::Primitive(primitive) if primitive.is_float() => {
                let value = self.float(expression)?;
                let is_finite = match primitive {
                    Primitive::Float => (value as f32).is_finite(),
                    _ => value.is_finite(),
                };
                match is_finite {
                    true => Ok(Value::Float(value)),
                    false => Err(self.out_of_range(
                        expression.span,
                        &format!("{value:e}"),
                        primitive.name(),
                    )),
                }
            }
            Type::Primitive(primitive) => {
                let value = self.integer(expression, primitive)?;
                match primitive.integer_range() {
                    Some((least, most)) if (least..=most).contains(&value) => {
                        Ok(Value::Integer(value))
                    }
                    _ => Err(self.out_of_range(
                        expression.span,
                        &value.to_string(),
                        primitive.name(),
                    )),
                }
            }
            Type::String { bound } => {
                let text = self.string(expression)?;
                self.check_length(expression.span, text.len(), bound)?;
                Ok(Value::String(text))
            }
            Type::WString { bound } => {
                let text = self.string(expression)?;
                self.check_length(expression.span, text.encode_utf16().count(), bound)?;
                Ok(Value::String(text))
            }
            Type::Named(id) => self.enumerated(expression, id),
            _ => {
                let ty = self.model.display(ty).to_string();
                let message = format!("a value of type `{ty}` cannot be written in IDL");
                let problem = self.context.error(expression.span, message);
                problem.help("numbers, booleans, characters, strings, enums and bitmasks can");
                Err(Wrong)
            }
        }
    }

    fn enumerated(&mut self, expression: &Expression, id: DefinitionId) -> Result<Value> {
        let bits = match &self.model.definition(id).kind {
            DefinitionKind::Bitmask(bitmask) => bitmask.bit_bound,
            DefinitionKind::Enum(_) => return self.literal(expression, id),
            _ => {
                let name = self.model.definition(id).full_name.clone();
                let message = format!("a value of type `{name}` cannot be written in IDL");
                let problem = self.context.error(expression.span, message);
                problem.help("numbers, booleans, characters, strings, enums and bitmasks can");
                return Err(Wrong);
            }
        };
        let value = self.integer(expression, Primitive::UInt64)?;
        match u32::from(bits) {
            bits if value >= 0 && value >> bits == 0 => Ok(Value::Integer(value)),
            bits => {
                Err(self.out_of_range(expression.span, &value.to_string(), &format!("{bits} bits")))
            }
        }
    }

    /// A literal of this enum, whether or not its scope is named.
    fn literal(&mut self, expression: &Expression, id: DefinitionId) -> Result<Value> {
        let definition = self.model.definition(id);
        let ExpressionKind::Path(path) = &expression.kind else {
            let what = format!("a literal of `{}`", definition.full_name);
            return Err(self.mismatch(expression.span, &what));
        };
        if let Some(found) = self.find(path) {
            match self.entry_value(found) {
                Some(Value::Literal { of, index }) if of == id => {
                    return Ok(Value::Literal { of, index });
                }
                _ => {}
            }
        }
        if let [only] = path.parts.as_slice()
            && let Some(index) = self.literals.get(&(id, only.text.clone()))
        {
            let index = *index;
            return Ok(Value::Literal { of: id, index });
        }
        let definition = self.model.definition(id);
        let what = format!("a literal of `{}`", definition.full_name);
        if let DefinitionKind::Enum(of) = &definition.kind {
            let names: Vec<&str> = of.literals.iter().take(8).map(|one| &*one.name).collect();
            let help = format!("there are {}", names.join(", "));
            let message = format!("`{}` is not {what}", path.text());
            self.context.error(expression.span, message).help(help);
        }
        Err(Wrong)
    }

    fn character(&mut self, expression: &Expression, ty: Primitive) -> Result<Value> {
        let Value::Char(value) = self.plain(expression)? else {
            return Err(self.mismatch(expression.span, "a character"));
        };
        let most = if ty == Primitive::Char { 0xff } else { 0xffff };
        match u32::from(value) <= most {
            true => Ok(Value::Char(value)),
            false => Err(self.out_of_range(expression.span, &format!("'{value}'"), ty.name())),
        }
    }

    fn string(&mut self, expression: &Expression) -> Result<String> {
        let Value::String(text) = self.plain(expression)? else {
            return Err(self.mismatch(expression.span, "a string"));
        };
        if text.contains('\0') {
            let problem = self
                .context
                .error(expression.span, "a string cannot contain NUL");
            problem.help("remove `\\0`: it ends a string");
            return Err(Wrong);
        }
        Ok(text)
    }

    fn check_length(&mut self, span: Span, length: usize, bound: Option<u32>) -> Result<()> {
        match bound {
            Some(bound) if length > bound as usize => {
                let message = format!("this is {length} long, and the bound is {bound}");
                self.context
                    .error(span, message)
                    .help("shorten it, or raise the bound");
                Err(Wrong)
            }
            _ => Ok(()),
        }
    }

    /// A whole number; `ty` is what `~` turns the bits of.
    pub(super) fn integer(&mut self, expression: &Expression, ty: Primitive) -> Result<i128> {
        let overflow =
            |resolver: &mut Self| resolver.out_of_range(expression.span, "this", "any integer");
        match &expression.kind {
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.integer(inner, ty)?;
                let value = match (operator, ty.integer_range()) {
                    ('-', _) => inner.checked_neg(),
                    ('~', Some((0, most))) => most.checked_sub(inner),
                    ('~', _) => Some(!inner),
                    _ => Some(inner),
                };
                value.ok_or_else(|| overflow(self))
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (a, b) = (self.integer(left, ty)?, self.integer(right, ty)?);
                if matches!(operator, '/' | '%') && b == 0 {
                    let problem = self.context.error(right.span, "this divides by zero");
                    problem.help("divide by something else");
                    return Err(Wrong);
                }
                let shift = u32::try_from(b).ok().filter(|shift| *shift < 64);
                if matches!(operator, '<' | '>') && shift.is_none() {
                    let message = format!("this shifts by {b} bits");
                    self.context
                        .error(right.span, message)
                        .help("shift by 0 to 63 bits");
                    return Err(Wrong);
                }
                let value = match operator {
                    '|' => Some(a | b),
                    '^' => Some(a ^ b),
                    '&' => Some(a & b),
                    '<' => shift.and_then(|shift| a.checked_mul(1 << shift)),
                    '>' => shift.map(|shift| a >> shift),
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    '/' => a.checked_div(b),
                    _ => a.checked_rem(b),
                };
                value.ok_or_else(|| overflow(self))
            }
            _ => match self.plain(expression)? {
                Value::Integer(value) => Ok(value),
                _ => Err(self.mismatch(expression.span, "a whole number")),
            },
        }
    }

    fn float(&mut self, expression: &Expression) -> Result<f64> {
        match &expression.kind {
            ExpressionKind::Unary(operator @ ('-' | '+'), inner) => {
                let inner = self.float(inner)?;
                Ok(if *operator == '-' { -inner } else { inner })
            }
            ExpressionKind::Binary(operator @ ('+' | '-' | '*' | '/'), left, right) => {
                let (a, b) = (self.float(left)?, self.float(right)?);
                Ok(match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                })
            }
            ExpressionKind::Unary(..) | ExpressionKind::Binary(..) => {
                Ok(self.integer(expression, Primitive::Int64)? as f64)
            }
            _ => match self.plain(expression)? {
                Value::Float(value) => Ok(value),
                Value::Integer(value) => Ok(value as f64),
                _ => Err(self.mismatch(expression.span, "a number")),
            },
        }
    }

    /// The value of a literal, or of the constant or literal that a name means.
    pub(super) fn plain(&mut self, expression: &Expression) -> Result<Value> {
        Ok(match &expression.kind {
            ExpressionKind::Bool(value) => Value::Bool(*value),
            ExpressionKind::Integer(value) => match i128::try_from(*value) {
                Ok(value) => Value::Integer(value),
                Err(_) => return Err(self.out_of_range(expression.span, "this", "any integer")),
            },
            ExpressionKind::Float(value) => Value::Float(*value),
            ExpressionKind::Char(value) => Value::Char(*value),
            ExpressionKind::Text(value) => Value::String(value.clone()),
            ExpressionKind::Path(path) => self.constant(path)?,
            ExpressionKind::Unary(_, inner) if is_float(inner) => {
                Value::Float(self.float(expression)?)
            }
            ExpressionKind::Binary(_, left, right) if is_float(left) || is_float(right) => {
                Value::Float(self.float(expression)?)
            }
            ExpressionKind::Unary(..) | ExpressionKind::Binary(..) => {
                Value::Integer(self.integer(expression, Primitive::Int64)?)
            }
        })
    }

    fn constant(&mut self, path: &Path) -> Result<Value> {
        let entry = self.lookup_value(path)?;
        if let Some(value) = self.entry_value(entry) {
            if let Value::String(text) = &value {
                self.charge(text.len(), path.span)?;
            }
            return Ok(value);
        }
        let message = format!("`{}` is no constant", path.text());
        let span = self.span_of(entry);
        let problem = self.context.error(path.span, message);
        problem
            .help("write a value, or the name of one")
            .note("it is defined", span);
        Err(Wrong)
    }

    fn entry_value(&self, entry: Entry) -> Option<Value> {
        match entry {
            Entry::Literal(of, index) => Some(Value::Literal { of, index }),
            Entry::Definition(id) => match &self.model.definition(id).kind {
                DefinitionKind::Const(_, value) => Some(value.clone()),
                _ => None,
            },
        }
    }

    fn mismatch(&mut self, span: Span, what: &str) -> Wrong {
        let message = format!("{what} is expected here");
        let text = self.context.sources.text(span).trim().to_owned();
        let help = format!("`{text}` is something else");
        self.context.error(span, message).help(help);
        Wrong
    }

    fn out_of_range(&mut self, span: Span, value: &str, range: &str) -> Wrong {
        let message = format!("{value} is beyond {range}");
        self.context
            .error(span, message)
            .help("write a smaller value, or take a wider type");
        Wrong
    }
}

/// Whether a literal with a point is in there.
fn is_float(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Float(_) => true,
        ExpressionKind::Unary(_, inner) => is_float(inner),
        ExpressionKind::Binary(_, left, right) => is_float(left) || is_float(right),
        _ => false,
    }
}
