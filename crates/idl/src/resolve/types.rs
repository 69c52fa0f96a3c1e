//! Types where they are used.

use super::scope::Entry;
use super::{Resolver, Result, Wrong};
use crate::limits;
use crate::model::{DefinitionId, DefinitionKind, Primitive, Type};
use crate::source::Span;
use crate::syntax::{Declarator, Expression, TypeKind, TypeSpec};

impl Resolver<'_> {
    /// The type of a name with the dimensions behind it. `ahead` is whether it may be one that is
    /// only declared so far.
    pub(super) fn declared_type(
        &mut self,
        spec: &TypeSpec,
        declarator: &Declarator,
        ahead: bool,
    ) -> Result<Type> {
        let element = self.ty(spec, ahead)?;
        if declarator.dimensions.is_empty() {
            return Ok(element);
        }
        let mut dimensions = Vec::new();
        for dimension in &declarator.dimensions {
            dimensions.push(self.length(dimension)?);
        }
        Ok(Type::Array {
            element: Box::new(element),
            dimensions,
        })
    }

    pub(super) fn ty(&mut self, spec: &TypeSpec, ahead: bool) -> Result<Type> {
        Ok(match &spec.kind {
            TypeKind::Primitive(primitive) => Type::Primitive(*primitive),
            TypeKind::Text { wide, bound } => {
                let bound = self.bound(bound.as_ref())?;
                match wide {
                    true => Type::WString { bound },
                    false => Type::String { bound },
                }
            }
            TypeKind::Sequence(element, bound) => Type::Sequence {
                element: Box::new(self.ty(element, true)?),
                bound: self.bound(bound.as_ref())?,
            },
            TypeKind::Map(key, value, bound) => {
                let key_type = self.ty(key, false)?;
                self.check_map_key(&key_type, key.span)?;
                Type::Map {
                    key: Box::new(key_type),
                    value: Box::new(self.ty(value, true)?),
                    bound: self.bound(bound.as_ref())?,
                }
            }
            TypeKind::Path(path) => {
                let id = match self.lookup(path)? {
                    Entry::Definition(id) => id,
                    Entry::Literal(of, _) => {
                        let name = &self.model.definition(of).full_name;
                        let message =
                            format!("`{}` is a literal of `{name}`, and no type", path.text());
                        let problem = self.context.error(path.span, message);
                        problem.help("write the name of a type");
                        return Err(Wrong);
                    }
                };
                self.check_type(id, path.span)?;
                if let (false, Some(declared)) = (ahead, self.ahead.get(&id)) {
                    let declared = *declared;
                    if self.is_skipped(path) {
                        return Err(Wrong);
                    }
                    let name = &self.model.definition(id).name;
                    let message = format!("`{name}` is not complete here");
                    let problem = self.context.error(path.span, message);
                    problem.help(format_args!(
                        "define it before; what contains itself does so by `sequence<{name}>`, or \
                         by `@external @optional {name}`"
                    ));
                    problem.note("it begins", declared);
                    return Err(Wrong);
                }
                Type::Named(id)
            }
        })
    }

    fn check_type(&mut self, id: DefinitionId, span: Span) -> Result<()> {
        let definition = self.model.definition(id);
        let keyword = match &definition.kind {
            DefinitionKind::Struct(_)
            | DefinitionKind::Union(_)
            | DefinitionKind::Enum(_)
            | DefinitionKind::Bitmask(_)
            | DefinitionKind::Bitset(_)
            | DefinitionKind::Typedef(_) => return Ok(()),
            kind => kind.keyword(),
        };
        let message = format!("`{}` is no type: it is of `{keyword}`", definition.name);
        let problem = self.context.error(span, message);
        problem.help("write the name of a struct, union, enum, bitmask, bitset or typedef");
        Err(Wrong)
    }

    fn check_map_key(&mut self, key: &Type, span: Span) -> Result<()> {
        let is_key = match self.model.resolve(key) {
            Type::Primitive(primitive) => !primitive.is_float(),
            Type::String { .. } | Type::WString { .. } => true,
            Type::Named(id) => matches!(self.model.definition(*id).kind, DefinitionKind::Enum(_)),
            _ => false,
        };
        if is_key {
            return Ok(());
        }
        let message = format!("`{}` cannot be the key of a map", self.model.display(key));
        let problem = self.context.error(span, message);
        problem.help("keys are integers, boolean, octet, char, strings and enums");
        Err(Wrong)
    }

    fn bound(&mut self, bound: Option<&Expression>) -> Result<Option<u32>> {
        bound.map(|bound| self.length(bound)).transpose()
    }

    /// A number of elements, at least 1.
    fn length(&mut self, expression: &Expression) -> Result<u32> {
        let value = self.integer(expression, Primitive::Int64)?;
        let most = limits::ARRAY_ELEMENTS;
        match u32::try_from(value) {
            Ok(length) if length > 0 && u64::from(length) <= most => Ok(length),
            _ => {
                let message = format!("{value} is no length");
                let problem = self.context.error(expression.span, message);
                problem.help(format_args!("it is at least 1, and at most {most}"));
                Err(Wrong)
            }
        }
    }

    /// How many typedefs a type is, one of the other; an error if they are more than anybody has.
    pub(super) fn aliases_of(&mut self, ty: &Type, span: Span) -> Result<usize> {
        let Type::Named(id) = ty else { return Ok(0) };
        let aliases = self.aliases.get(id).map_or(0, |aliases| aliases + 1);
        if aliases <= limits::ALIASES {
            return Ok(aliases);
        }
        let problem = self
            .context
            .error(span, "this is a typedef of too many others");
        problem.help("name the type that is meant");
        Err(Wrong)
    }

    /// Levels of sequences, maps and arrays in a type, and elements of arrays in each other; an error
    /// if they are more than anybody has.
    pub(super) fn depth(&mut self, ty: &Type, span: Span) -> Result<(usize, u64)> {
        let (depth, elements) = match ty {
            Type::Named(id) => self.depths.get(id).copied().unwrap_or((0, 1)),
            Type::Sequence { element, .. } => (self.depth(element, span)?.0 + 1, 1),
            Type::Map { value, .. } => (self.depth(value, span)?.0 + 1, 1),
            Type::Array {
                element,
                dimensions,
            } => {
                let (depth, elements) = self.depth(element, span)?;
                let lengths = dimensions.iter().map(|length| u64::from(*length));
                let elements = lengths.fold(elements, u64::saturating_mul);
                (depth + dimensions.len(), elements)
            }
            _ => (0, 1),
        };
        if depth <= limits::NESTING && elements <= limits::ARRAY_ELEMENTS {
            return Ok((depth, elements));
        }
        let problem = self.context.error(span, "the type of this is too large");
        problem.help(format_args!(
            "there are at most {} levels, and {} elements in arrays",
            limits::NESTING,
            limits::ARRAY_ELEMENTS
        ));
        Err(Wrong)
    }
}
