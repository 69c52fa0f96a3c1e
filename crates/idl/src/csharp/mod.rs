//! The model as C#: one file with classes, and beside each the class that reads and writes it. It needs
//! `Tickwire.dll` (bindings/dotnet), no `unsafe` and no reflection. What C# cannot express is refused by
//! name.

mod class;
mod decode;
mod encode;
mod interface;
mod names;
mod text;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use crate::c::facts::{self, Facts, bitset_bits, bitset_fields, bytes_of};
use crate::c::order::order;
use crate::c::text::Text;
use crate::diagnostic::{MAX_ERRORS, visible};
use crate::limits;
use crate::model::{
    Bitmask, Bitset, Definition, DefinitionId, DefinitionKind, Enum, Member, Model, Position,
    Primitive, Type, Value,
};
use crate::rust::Refusal;
use crate::services::Services;

use text::doc;
use types::Weights;

/// C# of a model, or all that it cannot have.
pub(crate) fn csharp(model: &Model) -> Result<String, Vec<Refusal>> {
    let services = Services::of(model);
    let mut csharp = CSharp {
        model: &services.model,
        services: &services,
        hidden: services.wire_types(),
        out: Text::default(),
        namespace: None,
        taken: BTreeMap::new(),
        named: BTreeSet::new(),
        owners: BTreeMap::new(),
        refusals: Vec::new(),
        facts: Facts::default(),
        weights: Weights::default(),
        scope: (String::new(), 0),
    };
    csharp.check();
    if !csharp.refusals.is_empty() {
        return Err(csharp.refusals);
    }
    csharp.file();
    match csharp.refusals.is_empty() {
        true => Ok(csharp.out.out),
        false => Err(csharp.refusals),
    }
}

struct CSharp<'m> {
    /// With what its interfaces become.
    model: &'m Model,
    services: &'m Services<'m>,
    /// Types on the wire that have no class.
    hidden: BTreeSet<DefinitionId>,
    out: Text,
    /// The namespace that is open.
    namespace: Option<String>,
    /// Names of types, with who has them.
    taken: BTreeMap<String, DefinitionId>,
    /// Definitions that are written.
    named: BTreeSet<DefinitionId>,
    /// In which class each member is.
    owners: BTreeMap<*const Member, DefinitionId>,
    refusals: Vec<Refusal>,
    facts: Facts,
    weights: Weights,
    /// The type that functions are written of, as errors name it, and loops that are open.
    scope: (String, usize),
}

/// The text is refused, and why is noted.
struct Refused;

impl<'m> CSharp<'m> {
    fn refuse(&mut self, position: Position, message: impl Into<String>, help: &str) -> Refused {
        self.refusals.push(Refusal {
            position,
            message: message.into(),
            help: help.to_owned(),
        });
        Refused
    }

    /// Finds all that C# cannot have.
    fn check(&mut self) {
        let model = self.model;
        for (id, definition) in model.definitions() {
            if self.refusals.len() >= MAX_ERRORS {
                return;
            }
            // What was refused is noted, and the rest may be, too.
            let _noted = self.check_definition(id, definition);
        }
        for (_, definition) in model.definitions() {
            let DefinitionKind::Module(of) = &definition.kind else {
                continue;
            };
            if !of.is_empty() && of.iter().all(|id| self.hidden.contains(id)) {
                continue;
            }
            if let Some(class) = self.taken.get(&names::global(model, definition, "")) {
                let class = &model.definition(*class).full_name;
                let message = format!(
                    "the module `{}` is called as a class that there is for `{class}` in C#",
                    definition.full_name
                );
                self.refuse(definition.position, message, "rename one of them");
            }
        }
    }

    fn check_definition(&mut self, id: DefinitionId, of: &'m Definition) -> Result<(), Refused> {
        if self.hidden.contains(&id) {
            return Ok(());
        }
        let (full_name, position) = (&of.full_name, of.position);
        if of.scope.is_none() && matches!(of.name.as_str(), "System" | "Tickwire") {
            let message = format!("`{full_name}` is the name of another namespace in C#");
            return Err(self.refuse(position, message, "rename it, or put it into a module"));
        }
        match &of.kind {
            DefinitionKind::Module(_) | DefinitionKind::Annotation(_) => return Ok(()),
            DefinitionKind::Const(ty, _) => {
                self.named.insert(id);
                let class = match names::namespace(self.model, of).as_str() {
                    "" => format!("global::{CONSTANTS}"),
                    namespace => format!("global::{namespace}.{CONSTANTS}"),
                };
                self.taken.entry(class).or_insert(id);
                return self.check_type(ty, position);
            }
            DefinitionKind::Typedef(ty) => return self.check_type(ty, position),
            _ => {}
        }
        if names::OBJECT.contains(&of.name.as_str()) || of.name == CONSTANTS {
            let message = format!("`{full_name}` is called as what generated classes have");
            return Err(self.refuse(position, message, "rename it"));
        }
        if let DefinitionKind::Interface(interface) = &of.kind {
            return self.check_interface(id, of, interface);
        }
        self.take(id, names::global(self.model, of, ""))?;
        match &of.kind {
            DefinitionKind::Bitmask(_) => {}
            DefinitionKind::Bitset(of_bits) => {
                let mut taken = BTreeSet::new();
                for field in bitset_fields(self.model, of_bits) {
                    let name = field.name.as_deref().unwrap_or_default();
                    if !taken.insert(names::member(name, &of.name)) {
                        let message = format!("two fields of `{full_name}` are `{name}` in C#");
                        return Err(self.refuse(position, message, "rename one of them"));
                    }
                }
                if taken.is_empty() {
                    let message = format!("no field of the bitset `{full_name}` has a name");
                    return Err(self.refuse(position, message, "name one"));
                }
            }
            _ => self.take(id, names::global(self.model, of, "Support"))?,
        }
        self.named.insert(id);
        self.check_members(id, of)
    }

    fn take(&mut self, id: DefinitionId, name: String) -> Result<(), Refused> {
        let Some(other) = self.taken.insert(name.clone(), id) else {
            return Ok(());
        };
        let definition = self.model.definition(id);
        let (position, full_name) = (definition.position, &definition.full_name);
        let other = &self.model.definition(other).full_name;
        let name = name.trim_start_matches("global::");
        let message = format!("`{full_name}` and `{other}` both have `{name}` in C#");
        Err(self.refuse(position, message, "rename one of them"))
    }

    fn check_members(&mut self, id: DefinitionId, of: &'m Definition) -> Result<(), Refused> {
        let full_name = &of.full_name;
        match &of.kind {
            DefinitionKind::Union(of) => {
                for case in &of.cases {
                    let (position, labels) = (case.member.position, &case.labels);
                    if let Some(Value::Integer(value)) = labels.iter().find(
                        |label| matches!(label, Value::Integer(value) if i32::try_from(*value).is_err()),
                    ) {
                        let message = format!("the label {value} has more than 32 bits");
                        let help = "labels of types on the wire are int32: take a smaller one";
                        return Err(self.refuse(position, message, help));
                    }
                }
            }
            DefinitionKind::Struct(of_struct) => {
                let is_exception = self.services.exceptions.contains(&id);
                if self.model.all_members(of_struct).is_empty() && !is_exception {
                    let message = format!("the struct `{full_name}` has no members");
                    let help = "add one, such as `octet unused;`";
                    return Err(self.refuse(of.position, message, help));
                }
            }
            _ => return Ok(()),
        }
        for member in class::members_in(&of.kind) {
            self.owners.insert(std::ptr::from_ref(member), id);
        }
        let mut taken = BTreeSet::new();
        for member in facts::members_of(self.model, &of.kind) {
            // Those of a base may be checked later.
            let owned = self.owners.contains_key(&std::ptr::from_ref(member));
            let name = self.name_in(&member.name, owned.then_some(id));
            if !taken.insert(name.clone()) {
                let message = format!("two members of `{full_name}` are `{name}` in C#");
                return Err(self.refuse(member.position, message, "rename one of them"));
            }
            self.check_type(&member.ty, member.type_position)?;
        }
        Ok(())
    }

    fn check_type(&mut self, ty: &Type, position: Position) -> Result<(), Refused> {
        match ty {
            Type::Primitive(Primitive::LongDouble) => {
                let message = "`long double` has no encoding here";
                Err(self.refuse(position, message, "take `double`"))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let counts = dimensions.iter().map(|count| u64::from(*count));
                if counts.fold(1, u64::saturating_mul) > MAX_ELEMENTS {
                    let message = "this array has more elements than arrays of C#";
                    return Err(self.refuse(position, message, "take a smaller one"));
                }
                self.check_type(element, position)
            }
            Type::Sequence { element, .. } => self.check_type(element, position),
            Type::Map { key, value, .. } => {
                self.check_type(key, position)?;
                self.check_type(value, position)
            }
            _ => Ok(()),
        }
    }

    fn file(&mut self) {
        let model = self.model;
        let files = model.files().iter().filter(|file| !file.included);
        let files = files.map(|file| file.path.as_str());
        let files: Vec<&str> = files.filter(|path| !path.starts_with('<')).collect();
        let files = visible(&files.join(", "));
        self.out.line(&format!(
            "// Generated by tickwire-idl from {files}. Do not edit."
        ));
        self.out.line("#pragma warning disable 1591");
        let all = model.definitions().map(|(id, _)| id);
        let all: Vec<DefinitionId> = all.filter(|id| self.named.contains(id)).collect();
        let order = match order(model, all.iter().copied()) {
            Ok(order) => order,
            Err(id) => {
                let definition = model.definition(id);
                let message = format!("`{}` contains arrays of itself", definition.full_name);
                self.refuse(definition.position, message, "take a sequence");
                return;
            }
        };
        self.facts = Facts::of(model, &order);
        self.weights = Weights::of(model, &order);
        for id in all {
            self.definition(id);
            if self.out.out.len() > limits::OUTPUT_BYTES {
                let position = model.definition(id).position;
                let help = "compile parts of it apart";
                self.refuse(position, "this is too much text in C#", help);
                return;
            }
        }
        for (id, definition) in model.definitions() {
            if let DefinitionKind::Interface(of) = &definition.kind {
                self.scope = (definition.full_name.clone(), 0);
                self.interface(id, definition, of);
            }
        }
        self.close_namespace();
    }

    fn definition(&mut self, id: DefinitionId) {
        let model = self.model;
        let definition = model.definition(id);
        self.scope = (definition.full_name.clone(), 0);
        match &definition.kind {
            DefinitionKind::Const(ty, value) => self.constant(definition, ty, value),
            DefinitionKind::Enum(of) => self.enumeration(definition, of),
            DefinitionKind::Bitmask(of) => self.bitmask(definition, of),
            DefinitionKind::Bitset(of) => self.bitset(definition, of),
            DefinitionKind::Struct(of) => match self.services.exceptions.contains(&id) {
                true => self.exception(id, definition, of),
                false => self.structure(id, definition, of),
            },
            DefinitionKind::Union(of) => self.union(id, definition, of),
            _ => {}
        }
    }

    fn close_namespace(&mut self) {
        if self.namespace.take().is_some_and(|name| !name.is_empty()) {
            self.out.close("}");
        }
    }

    /// Adds the text of a definition to its namespace.
    fn put(&mut self, definition: &Definition, text: &Text) {
        let namespace = names::namespace(self.model, definition);
        if self.namespace.as_deref() != Some(&namespace) {
            self.close_namespace();
            self.out.line("");
            if !namespace.is_empty() {
                block(&mut self.out, &format!("namespace {namespace}"));
            }
            self.namespace = Some(namespace);
        } else {
            self.out.line("");
        }
        for line in text.out.lines() {
            self.out.line(line);
        }
    }

    fn constant(&mut self, definition: &Definition, ty: &Type, value: &Value) {
        let mut text = Text::default();
        block(
            &mut text,
            &format!("public static partial class {CONSTANTS}"),
        );
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        let of = types::declared(self.model, ty);
        let name = names::member(&definition.name, CONSTANTS);
        let value = types::value(self.model, value, ty);
        text.line(&format!("public const {of} {name} = {value};"));
        text.close("}");
        self.put(definition, &text);
    }

    fn enumeration(&mut self, definition: &Definition, of: &Enum) {
        let mut text = Text::default();
        let name = names::identifier(&definition.name);
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        block(&mut text, &format!("public enum {name}"));
        for literal in &of.literals {
            doc(&mut text, literal.doc.as_deref().unwrap_or_default());
            let name = names::identifier(&literal.name);
            text.line(&format!("{name} = {},", literal.value));
        }
        text.close("}");
        text.line("");
        let line = format!("/// <summary>What there is of <see cref=\"{name}\"/>.</summary>");
        text.line(&line);
        block(
            &mut text,
            &format!("public static class {}Support", definition.name),
        );
        text.line("/// <summary>Whether a literal has this value.</summary>");
        let global = names::global(self.model, definition, "");
        block(
            &mut text,
            &format!("public static bool IsLiteral({global} value)"),
        );
        block(&mut text, "switch (value)");
        for literal in &of.literals {
            let literal = names::identifier(&literal.name);
            text.line(&format!("case {global}.{literal}:"));
        }
        text.line("    return true;");
        text.line("default:");
        text.line("    return false;");
        text.close("}");
        text.close("}");
        text.close("}");
        self.put(definition, &text);
    }

    fn bitmask(&mut self, definition: &Definition, of: &Bitmask) {
        let mut text = Text::default();
        let name = names::identifier(&definition.name);
        let (_, underlying) = names::integer(false, bytes_of(of.bit_bound));
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        text.line("[global::System.Flags]");
        block(&mut text, &format!("public enum {name} : {underlying}"));
        for flag in &of.flags {
            doc(&mut text, flag.doc.as_deref().unwrap_or_default());
            let name = names::identifier(&flag.name);
            text.line(&format!("{name} = {:#x},", 1_u64 << flag.bit));
        }
        text.close("}");
        self.put(definition, &text);
    }

    fn bitset(&mut self, definition: &Definition, of: &Bitset) {
        let mut text = Text::default();
        let name = names::identifier(&definition.name);
        let global = names::global(self.model, definition, "");
        let (_, underlying) = names::integer(false, bytes_of(bitset_bits(self.model, of)));
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        block(
            &mut text,
            &format!("public struct {name} : global::System.IEquatable<{global}>"),
        );
        text.line(&format!("{underlying} _bits;"));
        text.line("");
        text.line("/// <summary>Of all fields.</summary>");
        text.line(&format!(
            "public {name}({underlying} bits) {{ _bits = bits; }}"
        ));
        text.line("");
        text.line("/// <summary>All fields.</summary>");
        text.line(&format!(
            "public static explicit operator {underlying}({global} of) {{ return of._bits; }}"
        ));
        for field in bitset_fields(self.model, of) {
            let member = field.name.as_deref().unwrap_or_default();
            let member = names::member(member, &definition.name);
            let ty = names::primitive(field.ty);
            let mask = match field.bits {
                64 => u64::MAX,
                bits => (1 << bits) - 1,
            };
            let (mask, at) = (format!("{mask:#x}UL"), field.position);
            let signed = field.ty.integer_range().is_some_and(|(least, _)| least < 0);
            text.line("");
            doc(&mut text, field.doc.as_deref().unwrap_or_default());
            block(&mut text, &format!("public {ty} {member}"));
            let value = format!("((ulong)_bits >> {at} & {mask})");
            let (get, set) = match field.ty {
                Primitive::Boolean => (format!("{value} != 0"), "(value ? 1UL : 0UL)".to_owned()),
                _ if signed => {
                    // The sign of the field becomes that of the number.
                    let unused = 64 - field.bits;
                    let shifted = format!("(long)({value} << {unused}) >> {unused}");
                    (
                        format!("unchecked(({ty})({shifted}))"),
                        "unchecked((ulong)value)".to_owned(),
                    )
                }
                _ => (format!("({ty}){value}"), "(ulong)value".to_owned()),
            };
            text.line(&format!("get {{ return {get}; }}"));
            text.line(&format!(
                "set {{ _bits = unchecked(({underlying})((ulong)_bits & ~({mask} << {at}) | ({set} & \
                 {mask}) << {at})); }}"
            ));
            text.close("}");
        }
        text.line("");
        text.line("/// <summary>Whether all fields are the same.</summary>");
        text.line(&format!(
            "public bool Equals({global} other) {{ return _bits == other._bits; }}"
        ));
        text.line("");
        text.line("/// <summary>Whether it is one with the same fields.</summary>");
        text.line(&format!(
            "public override bool Equals(object other) {{ return other is {global} && \
             Equals(({global})other); }}"
        ));
        text.line("");
        text.line("/// <summary>Of all fields.</summary>");
        text.line("public override int GetHashCode() { return _bits.GetHashCode(); }");
        text.close("}");
        self.put(definition, &text);
    }
}

/// `head`, and the beginning of a block.
fn block(text: &mut Text, head: &str) {
    text.line(head);
    text.open("{");
}

/// The end of a block, and the beginning of that for otherwise.
fn otherwise(text: &mut Text) {
    text.close("}");
    block(text, "else");
}

/// The class with the constants of a module.
const CONSTANTS: &str = "Constants";
/// What arrays can have (`int.MaxValue`, less what runtimes keep of it).
const MAX_ELEMENTS: u64 = 0x7fff_0000;
