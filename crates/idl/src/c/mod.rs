//! The model as C: a header with the types, and a source file with what encodes and decodes them. Both
//! need `tickwire/cdr.h` (bindings/c) and the standard library. What C cannot express is refused by
//! name.

mod aggregate;
mod decode;
mod encode;
pub(crate) mod facts;
pub(crate) mod idl;
mod interface;
mod memory;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod runs;
pub(crate) mod text;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{MAX_ERRORS, visible};
use crate::limits;
use crate::model::{
    Bitmask, Bitset, Definition, DefinitionId, DefinitionKind, Enum, Model, Position, Primitive,
    Type, Value,
};
use crate::rust::Refusal;
use crate::services::Services;

use facts::{Facts, Kind, bitset_bits, bitset_fields, bytes_of, kind};
use text::{Text, character, literal};
use types::Collection;

/// A header and the source file that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CSource {
    /// Text of `NAME.h`.
    pub header: String,
    /// Text of `NAME.c`, which includes `NAME.h`.
    pub source: String,
}

/// C of a model, for files of this name, or all that it cannot have.
pub(crate) fn c(model: &Model, name: &str) -> Result<CSource, Vec<Refusal>> {
    let services = Services::of(model);
    let mut c = C {
        model: &services.model,
        services: &services,
        wire: services.wire_types(),
        hidden: interface::without_structs(&services),
        header: Text::default(),
        source: Text::default(),
        names: BTreeMap::new(),
        taken: BTreeMap::new(),
        refusals: Vec::new(),
        facts: Facts::default(),
        collections: BTreeMap::new(),
        functions: Vec::new(),
        written: BTreeSet::new(),
        entries: Vec::new(),
        scope: (String::new(), 0),
    };
    c.check();
    if !c.refusals.is_empty() {
        return Err(c.refusals);
    }
    c.file(name);
    match c.refusals.is_empty() {
        true => Ok(CSource {
            header: c.header.out,
            source: c.source.out,
        }),
        false => Err(c.refusals),
    }
}

struct C<'m> {
    /// With what its interfaces become.
    model: &'m Model,
    services: &'m Services<'m>,
    /// Types on the wire, which have no functions that stubs do not need.
    wire: BTreeSet<DefinitionId>,
    /// Those that have no struct.
    hidden: BTreeSet<DefinitionId>,
    header: Text,
    source: Text,
    names: BTreeMap<DefinitionId, String>,
    /// Names outside of functions and structs, with who has them.
    taken: BTreeMap<String, DefinitionId>,
    refusals: Vec<Refusal>,
    facts: Facts,
    /// Sequences and maps that are defined, by their names.
    collections: BTreeMap<String, DefinitionId>,
    /// Those whose functions are still to be written.
    functions: Vec<Collection<'m>>,
    /// Definitions that are in the header.
    written: BTreeSet<DefinitionId>,
    /// Entries of maps that wait for what is in them.
    entries: Vec<Collection<'m>>,
    /// The type that functions are written of, as errors name it, and loops that are open.
    scope: (String, usize),
}

/// The text is refused, and why is noted.
struct Refused;

impl<'m> C<'m> {
    fn refuse(&mut self, position: Position, message: impl Into<String>, help: &str) -> Refused {
        self.refusals.push(Refusal {
            position,
            message: message.into(),
            help: help.to_owned(),
        });
        Refused
    }

    /// Finds all that C cannot have, and gives everything its name.
    fn check(&mut self) {
        let model = self.model;
        for (id, definition) in model.definitions() {
            if self.refusals.len() >= MAX_ERRORS {
                return;
            }
            // What was refused is noted, and the rest may be, too.
            let _noted = self.check_definition(id, definition);
        }
    }

    fn check_definition(&mut self, id: DefinitionId, of: &'m Definition) -> Result<(), Refused> {
        if self.hidden.contains(&id) {
            return Ok(());
        }
        let name = names::global(of);
        let (full_name, position) = (&of.full_name, of.position);
        match &of.kind {
            DefinitionKind::Module(_) | DefinitionKind::Annotation(_) => return Ok(()),
            DefinitionKind::Interface(interface) => {
                return self.check_interface(id, of, interface);
            }
            _ => {}
        }
        self.take(id, name.clone())?;
        match &of.kind {
            DefinitionKind::Const(ty, _) | DefinitionKind::Typedef(ty) => {
                self.check_type(ty, position)?;
            }
            DefinitionKind::Enum(of) => {
                for literal in &of.literals {
                    self.take(id, format!("{name}_{}", literal.name))?;
                }
                self.take(id, format!("{name}_is_literal"))?;
            }
            DefinitionKind::Bitmask(of) => {
                for flag in &of.flags {
                    self.take(id, format!("{name}_{}", flag.name))?;
                }
            }
            DefinitionKind::Bitset(of) => {
                let fields = bitset_fields(self.model, of);
                if fields.is_empty() {
                    let message = format!("no field of the bitset `{full_name}` has a name");
                    return Err(self.refuse(position, message, "name one"));
                }
                for field in fields {
                    let field = field.name.as_deref().unwrap_or_default();
                    self.take(id, format!("{name}_get_{field}"))?;
                    self.take(id, format!("{name}_set_{field}"))?;
                }
            }
            DefinitionKind::Struct(of) => {
                let topic = match of.nested {
                    true => &[][..],
                    false => TOPIC_NAMES,
                };
                let exception = match self.services.exceptions.contains(&id) {
                    true => interface::EXCEPTION_NAMES,
                    false => &[],
                };
                for suffix in AGGREGATE_NAMES.iter().chain(topic).chain(exception) {
                    self.take(id, format!("{name}_{suffix}"))?;
                }
            }
            DefinitionKind::Union(_) => {
                for suffix in AGGREGATE_NAMES.iter().chain(&["select"]) {
                    self.take(id, format!("{name}_{suffix}"))?;
                }
            }
            _ => {}
        }
        self.names.insert(id, name);
        self.check_members(id, of)
    }

    fn take(&mut self, id: DefinitionId, name: String) -> Result<(), Refused> {
        let definition = self.model.definition(id);
        let (position, full_name) = (definition.position, &definition.full_name);
        if name.starts_with("tw_") || name.starts_with("TW_") {
            let message = format!("`{full_name}` is `{name}` in C, as Tickwire's own names are");
            return Err(self.refuse(position, message, "put it into a module"));
        }
        let Some(other) = self.taken.insert(name.clone(), id) else {
            return Ok(());
        };
        let other = &self.model.definition(other).full_name;
        let message = match other == full_name {
            true => format!("`{full_name}` would have `{name}` twice in C"),
            false => format!("`{full_name}` and `{other}` both have `{name}` in C"),
        };
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
                    let help = "add one, such as `octet unused;`: C has no empty structs";
                    return Err(self.refuse(of.position, message, help));
                }
            }
            _ => return Ok(()),
        }
        let mut taken = BTreeSet::new();
        for member in facts::members_of(self.model, &of.kind) {
            let name = names::member(&member.name);
            if !taken.insert(name.clone()) {
                let message = format!("two members of `{full_name}` are `{name}` in C");
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
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.check_type(element, position)
            }
            Type::Map { key, value, .. } => {
                self.check_type(key, position)?;
                self.check_type(value, position)
            }
            _ => Ok(()),
        }
    }

    /// Both files.
    fn file(&mut self, name: &str) {
        let model = self.model;
        let files = model.files().iter().filter(|file| !file.included);
        let files = files.map(|file| file.path.as_str());
        let files: Vec<&str> = files.filter(|path| !path.starts_with('<')).collect();
        let files = visible(&files.join(", ")).replace("*/", "* /");
        let generated = format!(
            "/* Generated by tickwire-idl from {}. Do not edit. */",
            files.replace("/*", "/ *")
        );
        let guard: String = name
            .chars()
            .map(|char| match char.is_ascii_alphanumeric() {
                true => char.to_ascii_uppercase(),
                false => '_',
            })
            .collect();
        for line in [
            generated.as_str(),
            &format!("#ifndef TICKWIRE_IDL_{guard}_H"),
            &format!("#define TICKWIRE_IDL_{guard}_H"),
            "",
            match self.services.services.is_empty() {
                true => "#include <tickwire/cdr.h>",
                false => "#include <tickwire/rpc.h>",
            },
            "",
            "/*",
            " * Of each struct and union X there are, false where there is no memory or no encoding,",
            " *",
            " *   X_init    makes any memory a value: zero, empty, absent, or what @default says",
            " *   X_free    frees what a value owns; it is all zeros then, which is a value, too",
            " *   X_copy    replaces a value by a copy of another one",
            " *   X_select  of a union: makes it have the member for a discriminator",
            " *   X_empty_texts  where there are strings: makes those that are NULL and not absent empty",
            " *   X_encode, X_decode, X_encode_key, X_decode_key   for other types that contain it",
            " *",
            " * and of a topic's type X_to_payload and X_from_payload, X_key_to_payload and",
            " * X_key_from_payload for the key alone, X_type_name, X_has_key, and X_idl, the IDL of the type.",
            " */",
            "",
            "#ifdef __cplusplus",
            "extern \"C\" {",
            "#endif",
        ] {
            self.header.line(line);
        }
        self.source.line(&generated);
        self.source
            .line(&format!("#include {}", literal(&format!("{name}.h"))));

        let all = model.definitions().map(|(id, _)| id);
        let all: Vec<DefinitionId> = all.filter(|id| self.names.contains_key(id)).collect();
        let order = match order::order(model, all) {
            Ok(order) => order,
            Err(id) => {
                let definition = model.definition(id);
                let message = format!("`{}` contains arrays of itself", definition.full_name);
                let help = "take a sequence: C has no pointer to an array of what is not complete";
                self.refuse(definition.position, message, help);
                return;
            }
        };
        self.facts = Facts::of(model, &order);
        self.forward(&order);
        for id in order {
            self.definition(id);
            self.written.insert(id);
            self.write_entries();
            if self.header.out.len() + self.source.out.len() > limits::OUTPUT_BYTES {
                let position = model.definition(id).position;
                let help = "compile parts of it apart";
                self.refuse(position, "this is too much text in C", help);
                return;
            }
        }
        self.collection_functions();
        for (id, definition) in model.definitions() {
            if let DefinitionKind::Interface(_) = &definition.kind {
                self.interface(id, definition);
            }
        }
        for line in ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif"] {
            self.header.line(line);
        }
    }

    /// Names of all structs and unions.
    fn forward(&mut self, order: &[DefinitionId]) {
        let aggregates = order.iter().filter(|id| {
            let kind = &self.model.definition(**id).kind;
            matches!(kind, DefinitionKind::Struct(_) | DefinitionKind::Union(_))
        });
        let names: Vec<String> = aggregates.map(|id| self.names[id].clone()).collect();
        if !names.is_empty() {
            self.header.line("");
        }
        for name in names {
            self.header.line(&format!("typedef struct {name} {name};"));
        }
    }

    fn definition(&mut self, id: DefinitionId) {
        let model = self.model;
        let definition = model.definition(id);
        self.scope = (definition.full_name.clone(), 0);
        match &definition.kind {
            DefinitionKind::Const(ty, value) => self.constant(id, definition, ty, value),
            DefinitionKind::Typedef(ty) => {
                self.need(ty, id);
                self.begin(definition);
                let declared = self.declare(ty, &self.names[&id].clone());
                self.header.line(&format!("typedef {declared};"));
            }
            DefinitionKind::Enum(of) => self.enumeration(id, definition, of),
            DefinitionKind::Bitmask(of) => self.bitmask(id, definition, of),
            DefinitionKind::Bitset(of) => self.bitset(id, definition, of),
            DefinitionKind::Struct(of) => {
                self.structure(id, definition, of);
                if self.services.exceptions.contains(&id) {
                    self.exception(id, of);
                }
            }
            DefinitionKind::Union(of) => self.union(id, definition, of),
            _ => {}
        }
    }

    /// An empty line and the comment.
    fn begin(&mut self, definition: &Definition) {
        self.header.line("");
        self.header
            .doc(definition.doc.as_deref().unwrap_or_default());
    }

    fn constant(&mut self, id: DefinitionId, definition: &Definition, ty: &Type, value: &Value) {
        self.begin(definition);
        let name = self.names[&id].clone();
        if let (Value::String(text), Type::WString { .. }) = (value, self.model.resolve(ty)) {
            let units = text.encode_utf16().chain([0]);
            let units: Vec<String> = units.map(|unit| format!("{unit:#06x}")).collect();
            let units = units.join(", ");
            self.header
                .line(&format!("static const uint16_t {name}[] = {{ {units} }};"));
            return;
        }
        let value = self.value(value, ty);
        self.header.line(&format!("#define {name} {value}"));
    }

    /// A value as an expression of its type.
    fn value(&self, value: &Value, ty: &Type) -> String {
        let kind = kind(self.model, ty);
        match value {
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => match kind {
                Kind::Primitive(primitive) => integer(*value, facts::primitive_size(primitive)),
                Kind::Bitmask(_, of) => integer(*value, bytes_of(of.bit_bound)),
                _ => integer(*value, 8),
            },
            Value::Float(value) => match kind {
                Kind::Primitive(Primitive::Float) => float(*value, "f"),
                _ => float(*value, ""),
            },
            Value::Char(value) => match u8::try_from(*value) {
                Ok(byte) if !matches!(kind, Kind::Primitive(Primitive::WChar)) => character(byte),
                _ => format!("{:#06x}", u32::from(*value)),
            },
            Value::String(text) => literal(text),
            Value::Literal { of, index } => match &self.model.definition(*of).kind {
                DefinitionKind::Enum(of_enum) => {
                    let literal = of_enum.literals.get(*index as usize);
                    let literal = literal.map_or("", |literal| &literal.name);
                    format!("{}_{literal}", self.names[of])
                }
                _ => String::new(),
            },
        }
    }

    fn enumeration(&mut self, id: DefinitionId, definition: &Definition, of: &Enum) {
        self.begin(definition);
        let name = self.names[&id].clone();
        self.header.open(&format!("typedef enum {name} {{"));
        for (index, literal) in of.literals.iter().enumerate() {
            self.header.doc(literal.doc.as_deref().unwrap_or_default());
            let comma = if index + 1 < of.literals.len() {
                ","
            } else {
                ""
            };
            let value = integer(literal.value.into(), 4);
            self.header
                .line(&format!("{name}_{} = {value}{comma}", literal.name));
        }
        self.header.close(&format!("}} {name};"));
        self.header.line("");
        self.header.doc("Whether a literal has this value.");
        let text = &mut self.header;
        text.line(&format!(
            "static inline bool {name}_is_literal(int32_t value)"
        ));
        text.open("{");
        text.open("switch (value) {");
        for literal in &of.literals {
            text.label(&format!("case {name}_{}:", literal.name));
        }
        text.line("return true;");
        text.label("default:");
        text.line("return false;");
        text.close("}");
        text.close("}");
    }

    fn bitmask(&mut self, id: DefinitionId, definition: &Definition, of: &Bitmask) {
        self.begin(definition);
        let name = self.names[&id].clone();
        let bits = bytes_of(of.bit_bound) * 8;
        self.header.line(&format!("typedef uint{bits}_t {name};"));
        for flag in &of.flags {
            self.header.doc(flag.doc.as_deref().unwrap_or_default());
            let value = integer(1 << flag.bit, bits / 8);
            self.header
                .line(&format!("#define {name}_{} {value}", flag.name));
        }
    }

    fn bitset(&mut self, id: DefinitionId, definition: &Definition, of: &Bitset) {
        self.begin(definition);
        let name = self.names[&id].clone();
        let width = bytes_of(bitset_bits(self.model, of)) * 8;
        let text = &mut self.header;
        text.line(&format!("typedef uint{width}_t {name};"));
        for field in bitset_fields(self.model, of) {
            let member = field.name.as_deref().unwrap_or_default();
            let ty = names::primitive_type(field.ty);
            let mask = match field.bits {
                64 => u64::MAX,
                bits => (1 << bits) - 1,
            };
            let (mask, at) = (format!("UINT64_C({mask:#x})"), field.position);
            let signed = field.ty.integer_range().is_some_and(|(least, _)| least < 0);
            text.line("");
            text.doc(field.doc.as_deref().unwrap_or_default());
            text.line(&format!(
                "static inline {ty} {name}_get_{member}({name} bits)"
            ));
            text.open("{");
            let value = format!("((uint64_t)bits >> {at} & {mask})");
            match field.ty {
                Primitive::Boolean => text.line(&format!("return {value} != 0;")),
                _ if signed => {
                    let sign = format!("UINT64_C({:#x})", 1_u64 << (field.bits - 1));
                    text.line(&format!("uint64_t value = {value};"));
                    text.line(&format!(
                        "return ({ty})((value & {sign}) != 0 ? -(int64_t)(~value & {mask}) - 1 : \
                         (int64_t)value);"
                    ));
                }
                _ => text.line(&format!("return ({ty}){value};")),
            }
            text.close("}");
            text.line("");
            text.line(&format!(
                "static inline void {name}_set_{member}({name} *bits, {ty} value)"
            ));
            text.open("{");
            text.line(&format!(
                "uint64_t others = (uint64_t)*bits & ~({mask} << {at});"
            ));
            text.line(&format!(
                "*bits = ({name})(others | ((uint64_t)value & {mask}) << {at});"
            ));
            text.close("}");
        }
    }
}

/// An integer of this many bytes.
pub(crate) fn integer(value: i128, bytes: usize) -> String {
    let suffix = match (bytes, value > i32::MAX.into()) {
        (8, _) if value > i64::MAX.into() => "u",
        (_, true) if bytes == 4 => "u",
        _ => "",
    };
    let wide = bytes == 8 && !(i128::from(i32::MIN + 1)..=i32::MAX.into()).contains(&value);
    match value {
        value if value == i64::MIN.into() => format!("(-INT64_C({}) - 1)", i64::MAX),
        value if value == i32::MIN.into() => format!("(-{} - 1)", i32::MAX),
        value if wide && value < 0 => format!("(-INT64_C({}))", -value),
        value if wide && suffix == "u" => format!("UINT64_C({value})"),
        value if wide => format!("INT64_C({value})"),
        value if value < 0 => format!("({value})"),
        value => format!("{value}{suffix}"),
    }
}

pub(crate) fn float(value: f64, suffix: &str) -> String {
    let shown = format!("{value:?}{suffix}");
    match value.is_sign_negative() {
        true => format!("({shown})"),
        false => shown,
    }
}

const AGGREGATE_NAMES: &[&str] = &[
    "init",
    "free",
    "copy",
    "encode",
    "decode",
    "encode_key",
    "decode_key",
    "empty_texts",
];
const TOPIC_NAMES: &[&str] = &[
    "to_payload",
    "from_payload",
    "key_to_payload",
    "key_from_payload",
    "type_name",
    "has_key",
    "idl",
];
