//! Structs and unions, and their members.

use std::collections::HashMap;

use super::annotations::{Applied, MAX_ID, Place};
use super::scope::Entry;
use super::{Resolver, Result, Wrong};
use crate::hash::member_id;
use crate::limits;
use crate::model::{
    AutoId, Case, DefinitionId, DefinitionKind, Extensibility, IdSource, Member, Primitive, Range,
    Struct, TryConstruct, Type, Union, Value,
};
use crate::source::Span;
use crate::syntax::{self, Head, Name, Path, TypeSpec};

impl Resolver<'_> {
    pub(super) fn structure(
        &mut self,
        head: &Head,
        name: &Name,
        base: Option<&Path>,
        members: &[syntax::Member],
    ) -> Result<()> {
        let base = base.map(|base| self.base(base)).transpose();
        let kind = DefinitionKind::Struct(Struct::default());
        let (id, applied) = self.define(head, name, Place::STRUCT, kind)?;
        self.ahead.insert(id, name.span);
        let base = base.ok().flatten();
        let of_base = base.and_then(|base| match &self.model.definition(base).kind {
            DefinitionKind::Struct(of) => Some(of),
            _ => None,
        });
        let inherited = of_base.map(|of| of.extensibility);
        let (mut seen, mut next_id) = (Seen::of(name), 0);
        if let Some(of) = of_base {
            for member in self.model.all_members(of) {
                seen.names.insert(member.name.to_ascii_lowercase(), None);
                seen.ids.insert(member.id, (member.name.clone(), None));
                next_id = member.id + 1;
            }
        }
        self.inherited += seen.ids.len();
        if self.inherited > limits::INHERITED {
            let problem = self.context.error(name.span, "this inherits too much");
            problem.help("make the base a member");
            return Err(Wrong);
        }
        let extensibility = self.extensibility_of(&applied, inherited, name);
        let auto_id = applied.auto_id.unwrap_or(self.defaults.auto_id);
        let members = self.members(members, seen, auto_id, next_id);
        let of = Struct {
            base,
            extensibility,
            nested: applied.nested.unwrap_or(self.defaults.nested),
            auto_id,
            members,
        };
        self.complete(id, DefinitionKind::Struct(of));
        Ok(())
    }

    fn base(&mut self, path: &Path) -> Result<DefinitionId> {
        let Entry::Definition(mut id) = self.lookup(path)? else {
            return Err(self.no_base(path, "a struct"));
        };
        if let DefinitionKind::Typedef(of) = &self.model.definition(id).kind
            && let Type::Named(named) = self.model.resolve(of)
        {
            id = *named;
        }
        let is_struct = matches!(self.model.definition(id).kind, DefinitionKind::Struct(_));
        match is_struct && !self.ahead.contains_key(&id) {
            true => Ok(id),
            false if self.is_skipped(path) => Err(Wrong),
            false => Err(self.no_base(path, "a struct that is defined before")),
        }
    }

    pub(super) fn no_base(&mut self, path: &Path, what: &str) -> Wrong {
        let message = format!("`{}` is not {what}", path.text());
        let problem = self.context.error(path.span, message);
        problem.help("only such a type can be a base");
        Wrong
    }

    /// How a type may change; what is derived changes as its base does (XTypes 1.3 §7.2.2.4.5).
    fn extensibility_of(
        &mut self,
        applied: &Applied,
        inherited: Option<Extensibility>,
        name: &Name,
    ) -> Extensibility {
        match (applied.extensibility, inherited) {
            (Some(own), Some(base)) if own != base => {
                let message = format!("`{}` may change in another way than its base", name.text);
                let problem = self.context.error(name.span, message);
                problem.help("give both the same of @final, @appendable and @mutable");
                own
            }
            (own, base) => own.or(base).unwrap_or(self.options.extensibility),
        }
    }

    /// The members, of whose names and ids none may be among those that were seen in a base.
    pub(super) fn members(
        &mut self,
        all: &[syntax::Member],
        mut seen: Seen,
        auto_id: AutoId,
        mut next_id: u32,
    ) -> Vec<Member> {
        let scope = seen.scope.clone();
        let mut members: Vec<Member> = Vec::new();
        let inherits = !seen.ids.is_empty();
        for member in all {
            if self.context.problems.is_full() {
                break;
            }
            let applied = self.annotations(&member.head.annotations, Place::MEMBER);
            for declarator in &member.declarators {
                let allow = Allow {
                    auto_id,
                    next_id,
                    ahead: applied.external,
                };
                let head = &member.head;
                let new = self.member(head, &applied, &member.ty, declarator, allow, &mut seen);
                if let Ok(new) = new {
                    next_id = new.id.saturating_add(1);
                    members.push(new);
                }
            }
            if let (Some(default), true) = (&applied.default, applied.optional) {
                let message = "an optional member is absent by default: this means nothing";
                let problem = self.context.problems.warning(default.span, message);
                problem.help("remove @default or @optional");
            }
            if applied.key && applied.optional {
                let span = member.ty.span;
                let problem = self.context.error(span, "a key cannot be optional");
                problem.help("remove @optional, or @key: every sample has its key");
            }
            if applied.key && applied.non_serialized {
                let span = member.ty.span;
                let problem = self.context.error(span, UNSERIALIZED_KEY);
                problem.help("remove @non_serialized, or @key: every sample has its key");
            }
            if applied.key && applied.try_construct != TryConstruct::Discard {
                let span = member.ty.span;
                let problem = self.context.error(span, TRIED_KEY);
                problem.help("remove @try_construct, or @key: every sample has its key");
            }
        }
        if let Some(first) = all.first()
            && !inherits
            && !members.is_empty()
            && members.iter().all(|member| member.non_serialized)
        {
            let message = format!("no member of `{scope}` is in samples");
            let problem = self.context.error(first.ty.span, message);
            problem.help("remove @non_serialized of one");
        }
        members
    }

    fn member(
        &mut self,
        head: &Head,
        applied: &Applied,
        ty: &TypeSpec,
        declarator: &syntax::Declarator,
        allow: Allow,
        seen: &mut Seen,
    ) -> Result<Member> {
        let name = &declarator.name;
        self.check_name(name, seen);
        let type_position = self.position(ty.span);
        let ty = self.declared_type(ty, declarator, allow.ahead)?;
        self.depth(&ty, name.span)?;
        let doc = self.doc(head, applied, name.span)?;
        let annotations = self.copied(applied, name.span)?;
        let (id, id_source) = match (applied.id, &applied.hash_id) {
            (Some(_), Some(_)) => {
                let problem = self.context.error(name.span, "this has two ids");
                problem.help("keep one of @id and @hashid");
                return Err(Wrong);
            }
            (Some(id), None) => (id, IdSource::Given),
            (None, Some(text)) => {
                let hashed = if text.is_empty() { &*name.text } else { text };
                (member_id(hashed), IdSource::Hash(text.clone()))
            }
            (None, None) => match allow.auto_id {
                AutoId::Sequential => (allow.next_id, IdSource::Automatic),
                AutoId::Hash => (member_id(&name.text), IdSource::Automatic),
            },
        };
        self.check_id(id, &id_source, allow.auto_id, name, seen);
        let default = self.typed(applied.default.as_ref(), &ty);
        let range = Range {
            min: self.typed(applied.min.as_ref(), &ty),
            max: self.typed(applied.max.as_ref(), &ty),
        };
        self.check_range(&range, default.as_ref(), name.span);
        if applied.key
            && let Some(tried) = self.model.tried_in_key(&ty)
        {
            let problem = self.context.error(name.span, TRIED_KEY);
            problem.help(format_args!(
                "remove @try_construct of `{tried}`, which is part of this key"
            ));
        }
        if applied.try_construct == TryConstruct::Trim && !self.has_bound(&ty) {
            let message = "this has no bound that it could be trimmed to";
            let problem = self.context.problems.warning(name.span, message);
            problem.help("give a string, sequence or map a bound, or say USE_DEFAULT or DISCARD");
        }
        Ok(Member {
            name: name.text.to_string(),
            position: self.position(name.span),
            type_position,
            doc,
            annotations,
            ty,
            id,
            id_source,
            key: applied.key,
            optional: applied.optional,
            external: applied.external,
            must_understand: applied.must_understand,
            non_serialized: applied.non_serialized,
            try_construct: applied.try_construct,
            default,
            range,
            unit: applied.unit.clone(),
        })
    }

    fn has_bound(&self, ty: &Type) -> bool {
        match self.model.resolve(ty) {
            Type::String { bound }
            | Type::WString { bound }
            | Type::Sequence { bound, .. }
            | Type::Map { bound, .. } => bound.is_some(),
            _ => false,
        }
    }

    fn typed(&mut self, value: Option<&syntax::Expression>, ty: &Type) -> Option<Value> {
        value.and_then(|value| self.value(value, ty).ok())
    }

    fn check_name(&mut self, name: &Name, seen: &mut Seen) {
        self.check_scope_name(name, &seen.scope);
        let key = name.text.to_ascii_lowercase();
        let Some(other) = seen.names.insert(key, Some(name.span)) else {
            return;
        };
        let message = format!(
            "two members are called `{}`, whatever the case of letters",
            name.text
        );
        let problem = self.context.error(name.span, message);
        problem.help("rename one of them");
        match other {
            Some(span) => problem.note("the other one is", span),
            None => problem.help("rename it: the base has one"),
        };
    }

    fn check_id(&mut self, id: u32, source: &IdSource, auto: AutoId, name: &Name, seen: &mut Seen) {
        let entry = (name.text.to_string(), Some(name.span));
        if id > MAX_ID {
            let message = format!("`{}` would have the id {id}", name.text);
            let problem = self.context.error(name.span, message);
            problem.help(format_args!(
                "ids end at {MAX_ID}: give it an @id that nothing has"
            ));
        }
        let Some((other, span)) = seen.ids.insert(id, entry) else {
            return;
        };
        let is_hash = matches!(source, IdSource::Hash(_))
            || *source == IdSource::Automatic && auto == AutoId::Hash;
        let message = format!("`{}` and `{other}` have the id {id}", name.text);
        let problem = self.context.error(name.span, message);
        problem.help(match is_hash {
            true => "the hashes of their names are the same: give one of them an @id".to_owned(),
            false => "give one of them another @id".to_owned(),
        });
        if let Some(span) = span {
            problem.note("the other one is", span);
        }
    }

    fn check_range(&mut self, range: &Range, default: Option<&Value>, span: Span) {
        let beyond = |a: Option<&Value>, b: Option<&Value>| match (a, b) {
            (Some(Value::Integer(a)), Some(Value::Integer(b))) => a > b,
            (Some(Value::Float(a)), Some(Value::Float(b))) => a > b,
            _ => false,
        };
        let (min, max) = (range.min.as_ref(), range.max.as_ref());
        let message = if beyond(min, max) {
            "the least value is larger than the largest"
        } else if beyond(min, default) || beyond(default, max) {
            "the default is out of the range"
        } else {
            return;
        };
        self.context.error(span, message).help("change one of them");
    }

    pub(super) fn union(
        &mut self,
        head: &Head,
        name: &Name,
        switch: &[syntax::Annotation],
        discriminator: &TypeSpec,
        cases: &[syntax::Case],
    ) -> Result<()> {
        let switch = self.annotations(switch, Place::DISCRIMINATOR);
        // Its default would select a member of another type than what follows is of.
        if switch.try_construct != TryConstruct::Discard {
            let message = "a discriminator is what its sample says";
            let problem = self.context.error(discriminator.span, message);
            problem.help("write @try_construct before the member that is of this union");
        }
        let ty = self.discriminator(discriminator);
        let (id, applied) = self.define(head, name, Place::UNION, super::unknown_union())?;
        self.ahead.insert(id, name.span);
        let Ok(discriminator) = ty else {
            self.ahead.remove(&id);
            return Err(Wrong);
        };
        let extensibility = self.extensibility_of(&applied, None, name);
        let auto_id = applied.auto_id.unwrap_or(self.defaults.auto_id);
        // Where members have headers, 0 is the discriminator's id.
        let mut next_id = u32::from(extensibility == Extensibility::Mutable);
        let (mut seen, mut labels) = (Seen::of(name), Labels::default());
        let mut all = Vec::new();
        for case in cases {
            if self.context.problems.is_full() {
                break;
            }
            let values = self.labels(case, &discriminator, &mut labels);
            let applied = self.annotations(&case.head.annotations, Place::CASE);
            let allow = Allow {
                auto_id,
                next_id,
                ahead: applied.external,
            };
            let (head, declarator) = (&case.head, &case.declarator);
            let member = self.member(head, &applied, &case.ty, declarator, allow, &mut seen);
            let Ok(member) = member else { continue };
            next_id = member.id.saturating_add(1);
            all.push(Case {
                labels: values,
                default: case.default.is_some(),
                member,
            });
        }
        let unlabelled = self.unlabelled(&discriminator, &labels);
        if let (Some(span), None) = (labels.default, &unlabelled) {
            let problem = self.context.error(span, "every value has a label already");
            problem.help("remove this default, which is never there");
        }
        if self.is_whole && all.is_empty() && cases.is_empty() {
            let problem = self
                .context
                .error(name.span, "a union has at least one member");
            problem.help("add `case LABEL: TYPE member;`");
        }
        let of = Union {
            discriminator,
            discriminator_key: switch.key,
            extensibility,
            nested: applied.nested.unwrap_or(self.defaults.nested),
            auto_id,
            cases: all,
            unlabelled,
        };
        self.complete(id, DefinitionKind::Union(of));
        Ok(())
    }

    fn discriminator(&mut self, spec: &TypeSpec) -> Result<Type> {
        let ty = self.ty(spec, false)?;
        let is_one = match self.model.resolve(&ty) {
            Type::Primitive(primitive) => !primitive.is_float(),
            Type::Named(id) => matches!(self.model.definition(*id).kind, DefinitionKind::Enum(_)),
            _ => false,
        };
        if is_one {
            return Ok(ty);
        }
        let message = format!("`{}` cannot discriminate a union", self.model.display(&ty));
        let problem = self.context.error(spec.span, message);
        problem.help("take an integer, boolean, octet, char, wchar or an enum");
        Err(Wrong)
    }

    /// The labels of a member, none of which may be there before.
    fn labels(&mut self, case: &syntax::Case, ty: &Type, seen: &mut Labels) -> Vec<Value> {
        if let (Some(span), Some(other)) = (case.default, seen.default) {
            let problem = self.context.error(span, "there are two defaults");
            problem.help("keep one").note("the other one is", other);
        }
        seen.default = seen.default.or(case.default);
        let mut values = Vec::new();
        for label in &case.labels {
            let Ok(value) = self.value(label, ty) else {
                continue;
            };
            if let Some(other) = seen.values.insert(number(&value), label.span) {
                let text = self.context.sources.text(label.span).to_owned();
                let message = format!("two cases have the label `{text}`");
                let problem = self.context.error(label.span, message);
                problem
                    .help("remove one of them")
                    .note("the other one is", other);
            }
            values.push(value);
        }
        values
    }

    /// The first value of a discriminator that has no label.
    fn unlabelled(&self, ty: &Type, labels: &Labels) -> Option<Value> {
        let is_free = |value: &Value| !labels.values.contains_key(&number(value));
        match self.model.resolve(ty) {
            Type::Named(id) => {
                let DefinitionKind::Enum(of) = &self.model.definition(*id).kind else {
                    return None;
                };
                let all =
                    (0..of.literals.len() as u32).map(|index| Value::Literal { of: *id, index });
                all.into_iter().find(is_free)
            }
            Type::Primitive(Primitive::Boolean) => {
                [false, true].map(Value::Bool).into_iter().find(is_free)
            }
            Type::Primitive(Primitive::Char) => (0..=0xff_u8)
                .map(|code| Value::Char(code.into()))
                .find(is_free),
            Type::Primitive(Primitive::WChar) => {
                let all = (0..=0xffff).filter_map(char::from_u32);
                all.map(Value::Char).find(is_free)
            }
            Type::Primitive(primitive) => {
                let (least, most) = primitive.integer_range()?;
                let all = (0..=most).chain(least..0);
                all.map(Value::Integer).find(is_free)
            }
            _ => None,
        }
    }
}

/// What is wrong with a key that samples do not have.
pub(super) const UNSERIALIZED_KEY: &str = "a key cannot be left out of samples";
/// What is wrong with a key that a reader makes up.
pub(super) const TRIED_KEY: &str = "a key cannot be a default or a part of what a sample says";

/// What a member may be.
struct Allow {
    auto_id: AutoId,
    next_id: u32,
    /// Of a type that is only declared.
    ahead: bool,
}

/// Names, in small letters, and ids of members; no place for those of a base.
#[derive(Default)]
pub(super) struct Seen {
    /// The name of what has the members.
    scope: String,
    names: HashMap<String, Option<Span>>,
    ids: HashMap<u32, (String, Option<Span>)>,
}

impl Seen {
    /// None yet, of what is called so.
    pub(super) fn of(scope: &Name) -> Self {
        Self {
            scope: scope.text.to_string(),
            ..Self::default()
        }
    }
}

/// Labels of a union.
#[derive(Default)]
struct Labels {
    values: HashMap<i128, Span>,
    default: Option<Span>,
}

/// What tells values of one discriminator apart.
fn number(value: &Value) -> i128 {
    match value {
        Value::Bool(value) => i128::from(*value),
        Value::Integer(value) => *value,
        Value::Char(value) => i128::from(u32::from(*value)),
        Value::Literal { index, .. } => i128::from(*index),
        Value::Float(_) | Value::String(_) => 0,
    }
}
