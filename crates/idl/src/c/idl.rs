//! A type and what it needs as IDL, all that the encoding depends on said explicitly: of the
//! text that it comes from, names and meaning are kept, and nothing else.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::facts::{bitset_fields, members_for};
use super::order::order;
use crate::hash::member_id;
use crate::model::{
    AutoId, Bitset, Definition, DefinitionId, DefinitionKind, Enum, Extensibility, IdSource,
    Member, Model, Primitive, Struct, TryConstruct, Type, Union, Value,
};
use crate::parse::keyword;

/// The IDL of a struct.
pub(crate) fn idl(model: &Model, id: DefinitionId) -> String {
    let mut idl = Idl {
        model,
        text: String::new(),
        modules: Vec::new(),
    };
    // What has no order was refused.
    let order = order(model, [id]).unwrap_or_default();
    let ahead = order.iter().filter(|id| {
        let kind = &model.definition(**id).kind;
        matches!(kind, DefinitionKind::Struct(_) | DefinitionKind::Union(_))
    });
    let ahead: BTreeSet<DefinitionId> = ahead.copied().collect();
    let mut defined = BTreeSet::new();
    let mut declared = BTreeSet::new();
    for id in order {
        defined.insert(id);
        for needed in idl.named(id) {
            if ahead.contains(&needed) && !defined.contains(&needed) && declared.insert(needed) {
                idl.declare(needed);
            }
        }
        idl.define(id);
    }
    idl.close_modules(0);
    idl.text
}

struct Idl<'m> {
    model: &'m Model,
    text: String,
    /// Modules that are open.
    modules: Vec<String>,
}

impl Idl<'_> {
    /// The definitions that a definition names.
    fn named(&self, id: DefinitionId) -> Vec<DefinitionId> {
        fn of(ty: &Type, found: &mut Vec<DefinitionId>) {
            match ty {
                Type::Named(id) => found.push(*id),
                Type::Sequence { element, .. } | Type::Array { element, .. } => of(element, found),
                Type::Map { key, value, .. } => {
                    of(key, found);
                    of(value, found);
                }
                _ => {}
            }
        }
        let kind = &self.model.definition(id).kind;
        let mut found = Vec::new();
        if let DefinitionKind::Typedef(ty) = kind {
            of(ty, &mut found);
        }
        for member in super::facts::members_of(self.model, kind) {
            of(&member.ty, &mut found);
        }
        found
    }

    fn declare(&mut self, id: DefinitionId) {
        let definition = self.model.definition(id);
        let name = self.open(definition);
        self.line(&format!("{} {name};", definition.kind.keyword()));
    }

    fn define(&mut self, id: DefinitionId) {
        let definition = self.model.definition(id);
        match &definition.kind {
            DefinitionKind::Typedef(ty) => {
                let name = self.open(definition);
                let declared = self.declared(ty, &name);
                self.line(&format!("typedef {declared};"));
            }
            DefinitionKind::Struct(of) => self.structure(definition, of),
            DefinitionKind::Union(of) => self.union(definition, of),
            DefinitionKind::Enum(of) => self.enumeration(definition, of),
            DefinitionKind::Bitmask(of) => {
                let name = self.open(definition);
                self.extensibility(of.extensibility);
                self.line(&format!("@bit_bound({})", of.bit_bound));
                self.line(&format!("bitmask {name} {{"));
                for (index, flag) in of.flags.iter().enumerate() {
                    let comma = comma(index, of.flags.len());
                    let (bit, name) = (flag.bit, identifier(&flag.name));
                    self.line(&format!("  @position({bit}) {name}{comma}"));
                }
                self.line("};");
            }
            DefinitionKind::Bitset(of) => self.bitset(definition, of),
            _ => {}
        }
    }

    fn structure(&mut self, definition: &Definition, of: &Struct) {
        let name = self.open(definition);
        self.extensibility(of.extensibility);
        if of.nested {
            self.line("@nested");
        }
        if of.auto_id == AutoId::Hash {
            self.line("@autoid(HASH)");
        }
        self.line(&format!("struct {name} {{"));
        let mut next_id = 0;
        for member in members_for(self.model, of, false) {
            let declared = self.member(member, of.auto_id, next_id);
            next_id = member.id + 1;
            self.line(&format!("  {declared};"));
        }
        self.line("};");
    }

    fn union(&mut self, definition: &Definition, of: &Union) {
        let name = self.open(definition);
        self.extensibility(of.extensibility);
        if of.nested {
            self.line("@nested");
        }
        if of.auto_id == AutoId::Hash {
            self.line("@autoid(HASH)");
        }
        let key = if of.discriminator_key {
            "@key(TRUE) "
        } else {
            ""
        };
        let by = self.spell(&of.discriminator);
        self.line(&format!("union {name} switch ({key}{by}) {{"));
        let mut next_id = u32::from(of.extensibility == Extensibility::Mutable);
        for case in &of.cases {
            let labels = case.labels.iter();
            let is_wide =
                *self.model.resolve(&of.discriminator) == Type::Primitive(Primitive::WChar);
            let labels = labels.map(|label| format!("case {}:", self.label(label, is_wide)));
            let default = case.default.then(|| "default:".to_owned());
            let labels: Vec<String> = labels.chain(default).collect();
            let declared = self.member(&case.member, of.auto_id, next_id);
            next_id = case.member.id + 1;
            self.line(&format!("  {} {declared};", labels.join(" ")));
        }
        self.line("};");
    }

    fn enumeration(&mut self, definition: &Definition, of: &Enum) {
        let name = self.open(definition);
        self.extensibility(of.extensibility);
        if of.bit_bound != 32 {
            self.line(&format!("@bit_bound({})", of.bit_bound));
        }
        self.line(&format!("enum {name} {{"));
        let mut next = 0_i64;
        for (index, literal) in of.literals.iter().enumerate() {
            let value = i64::from(literal.value);
            let mut annotations = String::new();
            if of.default == index as u32 && index > 0 {
                annotations.push_str("@default_literal ");
            }
            if value != next {
                annotations.push_str(&format!("@value({value}) "));
            }
            next = value + 1;
            let comma = comma(index, of.literals.len());
            let name = identifier(&literal.name);
            self.line(&format!("  {annotations}{name}{comma}"));
        }
        self.line("};");
    }

    fn bitset(&mut self, definition: &Definition, of: &Bitset) {
        let name = self.open(definition);
        self.line(&format!("bitset {name} {{"));
        let mut next = 0;
        for field in bitset_fields(self.model, of) {
            if field.position > next {
                // Bits that have no name.
                self.line(&format!("  bitfield<{}>;", field.position - next));
            }
            next = field.position + field.bits;
            let member = identifier(field.name.as_deref().unwrap_or_default());
            let (bits, ty) = (field.bits, field.ty.name());
            self.line(&format!("  bitfield<{bits}, {ty}> {member};"));
        }
        self.line("};");
    }

    fn member(&self, member: &Member, auto_id: AutoId, next_id: u32) -> String {
        let mut text = String::new();
        let expected = match auto_id {
            AutoId::Sequential => next_id,
            AutoId::Hash => member_id(&member.name),
        };
        match &member.id_source {
            // What is behind it must not begin with `::`, which would belong to it.
            IdSource::Hash(of) if of.is_empty() => text.push_str("@hashid @external(FALSE) "),
            IdSource::Hash(of) => text.push_str(&format!("@hashid(\"{}\") ", of.escape_default())),
            _ if member.id == expected => {}
            _ => text.push_str(&format!("@id({}) ", member.id)),
        }
        for (is_so, annotation) in [
            (member.key, "@key(TRUE) "),
            (member.optional, "@optional(TRUE) "),
            (member.external, "@external(TRUE) "),
            (member.must_understand, "@must_understand(TRUE) "),
        ] {
            if is_so {
                text.push_str(annotation);
            }
        }
        match member.try_construct {
            TryConstruct::Discard => {}
            TryConstruct::UseDefault => text.push_str("@try_construct(USE_DEFAULT) "),
            TryConstruct::Trim => text.push_str("@try_construct(TRIM) "),
        }
        text.push_str(&self.declared(&member.ty, &identifier(&member.name)));
        text
    }

    /// A type before a name and its dimensions.
    fn declared(&self, ty: &Type, name: &str) -> String {
        match ty {
            Type::Array {
                element,
                dimensions,
            } => {
                let dimensions: Vec<String> = dimensions.iter().map(|d| format!("[{d}]")).collect();
                format!("{} {name}{}", self.spell(element), dimensions.concat())
            }
            _ => format!("{} {name}", self.spell(ty)),
        }
    }

    fn spell(&self, ty: &Type) -> String {
        let limit = |bound: &Option<u32>| match bound {
            Some(bound) => format!(", {bound}"),
            None => String::new(),
        };
        match ty {
            Type::Primitive(primitive) => primitive.name().to_owned(),
            Type::String { bound } => format!("string{}", in_brackets(*bound)),
            Type::WString { bound } => format!("wstring{}", in_brackets(*bound)),
            Type::Sequence { element, bound } => {
                format!("sequence< {}{} >", self.spell(element), limit(bound))
            }
            Type::Map { key, value, bound } => {
                let (key, value) = (self.spell(key), self.spell(value));
                format!("map< {key}, {value}{} >", limit(bound))
            }
            Type::Named(id) => full_name(&self.model.definition(*id).full_name),
            // There are arrays in collections by the names of typedefs alone.
            Type::Array { element, .. } => self.spell(element),
        }
    }

    fn label(&self, label: &Value, is_wide: bool) -> String {
        match label {
            Value::Bool(true) => "TRUE".to_owned(),
            Value::Bool(false) => "FALSE".to_owned(),
            Value::Integer(value) => value.to_string(),
            Value::Char(value) if is_wide => format!("L'\\u{:04x}'", u32::from(*value)),
            Value::Char(value) => format!("'\\x{:02x}'", u32::from(*value)),
            Value::Literal { of, index } => {
                let definition = self.model.definition(*of);
                let DefinitionKind::Enum(of) = &definition.kind else {
                    return String::new();
                };
                let literal = of.literals.get(*index as usize);
                let literal = literal.map_or("", |literal| &literal.name);
                let scope = definition.full_name.rsplit_once("::");
                match scope {
                    Some((scope, _)) => full_name(&format!("{scope}::{literal}")),
                    None => full_name(literal),
                }
            }
            Value::Float(_) | Value::String(_) => String::new(),
        }
    }

    fn extensibility(&mut self, extensibility: Extensibility) {
        self.line(match extensibility {
            Extensibility::Final => "@final",
            Extensibility::Appendable => "@appendable",
            Extensibility::Mutable => "@mutable",
        });
    }

    /// Enters the modules of a definition; returns its name in them.
    fn open(&mut self, definition: &Definition) -> String {
        let mut modules: Vec<String> = definition.full_name.split("::").map(identifier).collect();
        let own = modules.pop().unwrap_or_default();
        let shared = modules.iter().zip(&self.modules);
        let shared = shared.take_while(|(new, old)| new == old).count();
        self.close_modules(shared);
        for module in modules.into_iter().skip(shared) {
            self.line(&format!("module {module} {{"));
            self.modules.push(module);
        }
        own
    }

    fn close_modules(&mut self, left: usize) {
        while self.modules.len() > left {
            self.modules.pop();
            self.line("};");
        }
    }

    fn line(&mut self, text: &str) {
        let indent = 2 * self.modules.len();
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }
}

fn in_brackets(bound: Option<u32>) -> String {
    bound.map_or_else(String::new, |bound| format!("<{bound}>"))
}

fn full_name(name: &str) -> String {
    let parts: Vec<String> = name.split("::").map(identifier).collect();
    format!("::{}", parts.join("::"))
}

/// A name, kept from being taken for a keyword.
fn identifier(name: &str) -> String {
    match keyword(name) {
        Some(_) => format!("_{name}"),
        None => name.to_owned(),
    }
}

fn comma(index: usize, count: usize) -> &'static str {
    if index + 1 < count { "," } else { "" }
}
