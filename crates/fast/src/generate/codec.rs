//! The private module of generated code, in which decoding and encoding share names, blank structs and instructions.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::model::{Message, Model, Owner, Type};
use super::names::{Namer, rust_text, snake};
use super::{decode, encode};
use crate::plan::{Initial, Kind, Op, Plan};
use crate::{FieldType, Operator};

/// Appends the decoder, the trait of its handlers, and all that they stand on.
pub(super) fn write(model: &Model<'_>, out: &mut String) {
    let codec = Codec::new(model);
    let _infallible = codec.interface(out);
    out.push_str(
        "#[allow(clippy::all, const_item_mutation, non_snake_case, unused, unused_qualifications, unreachable_patterns, unreachable_pub)]\nmod codec {\n",
    );
    out.push_str("    use ::tickwire_fast::FieldType::*;\n");
    out.push_str("    use ::tickwire_fast::generated::{Bits, Choice, Decode, Encode, Entry, Fault, Map, MapWriter, Op, Protocol, Spare};\n\n");
    out.push_str(
        "    type Reader<'a> = ::tickwire_fast::generated::Reader<'a, <Messages as Protocol>::Entries>;\n    type Writer<'a> = ::tickwire_fast::generated::Writer<'a, <Messages as Protocol>::Entries>;\n\n",
    );
    decode::write(&codec, out);
    encode::write(&codec, out);
    while out.ends_with("\n\n") {
        out.pop();
    }
    out.push_str("}\n");
}

/// What both halves know of the model.
pub(super) struct Codec<'m> {
    pub(super) model: &'m Model<'m>,
    pub(super) plan: &'m Plan,
    /// Of each struct: the name of its function, without a prefix.
    names: Vec<String>,
    spares: Vec<bool>,
    /// Whether a new struct of this kind is not its default.
    constants: Vec<bool>,
}

/// The function of one struct.
pub(super) struct Function {
    pub(super) of: usize,
    pub(super) name: String,
    pub(super) is_message: bool,
    /// Presence-map bits of its segment; 0: it has no map.
    pub(super) map_bits: u32,
    /// Groups and elements around it.
    pub(super) levels: u32,
}

impl<'m> Codec<'m> {
    fn new(model: &'m Model<'m>) -> Self {
        let plan = &model.templates.plan;
        let mut namer = Namer::rust(RESERVED);
        let mut names = HashMap::new();
        for message in &model.messages {
            names.insert(message.of, namer.unique(snake(message.template.name())));
        }
        let all = (0..model.structs.len()).map(|of| match names.get(&of) {
            Some(name) => rust_text(name),
            None => {
                let path = model.path(of).replace("r#", "").replace("::", "_");
                rust_text(&namer.unique(snake(&path)))
            }
        });
        let mut codec = Self {
            model,
            plan,
            names: all.collect(),
            spares: Vec::new(),
            constants: Vec::new(),
        };
        // A struct comes before those that it contains.
        let count = model.structs.len();
        codec.spares = vec![false; count];
        codec.constants = vec![false; count];
        for of in (0..count).rev() {
            let (spares, constants) = codec.needs(of);
            codec.spares[of] = spares;
            codec.constants[of] = constants;
        }
        codec
    }

    fn needs(&self, of: usize) -> (bool, bool) {
        let (mut spares, mut constants) = (false, false);
        for member in self.model.structs.get(of).iter().flat_map(|of| &of.members) {
            let op = self.plan.ops.get(member.op);
            let is_constant = op.is_some_and(|op| op.spec.operator == Operator::Constant);
            constants |= is_constant && !member.optional;
            match member.ty {
                Type::Group(inner) => {
                    let is_bit_group = op.is_some_and(|op| op.kind == Kind::BitGroup);
                    spares |= (member.optional || self.spares[inner]) && !is_bit_group;
                    constants |= !member.optional && self.constants[inner];
                }
                Type::Sequence(_) | Type::Template => spares = true,
                _ => {}
            }
        }
        (spares, constants)
    }

    /// Templates with the names of their functions, members and handlers' methods.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&Message<'m>, &str)> {
        self.model
            .messages
            .iter()
            .map(|message| (message, self.function_name(message.of)))
    }

    pub(super) fn function_name(&self, of: usize) -> &str {
        self.names.get(of).map_or("", String::as_str)
    }

    /// The name of the function that encodes a group or element. Two underscores, which no name of a template comes to.
    pub(super) fn encode_name(&self, of: usize) -> String {
        format!(
            "encode__{}",
            self.function_name(of).trim_start_matches("r#")
        )
    }

    pub(super) fn uses_spares(&self, of: usize) -> bool {
        self.spares.get(of).copied().unwrap_or(false)
    }

    /// Structs that come and go, with the names of their places.
    pub(super) fn spares(&self) -> impl Iterator<Item = (usize, &str)> {
        let members = self.model.structs.iter().flat_map(|of| &of.members);
        members.filter_map(|member| match member.ty {
            Type::Sequence(of) => Some((of, self.function_name(of))),
            Type::Group(of) if member.optional => Some((of, self.function_name(of))),
            _ => None,
        })
    }

    /// All functions, a message's before those of its groups and sequences. The fields of a bit group have none.
    pub(super) fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for message in &self.model.messages {
            let map_bits = message.template.entry.map_bits;
            self.add(&mut functions, message.of, map_bits, 0);
        }
        functions
    }

    fn add(&self, functions: &mut Vec<Function>, of: usize, map_bits: u32, levels: u32) {
        let Some(owner) = self.model.structs.get(of) else {
            return;
        };
        functions.push(Function {
            of,
            name: self.function_name(of).to_owned(),
            is_message: matches!(owner.owner, Owner::Template(_)),
            map_bits,
            levels,
        });
        for member in &owner.members {
            let (Type::Group(inner) | Type::Sequence(inner)) = member.ty else {
                continue;
            };
            match self.plan.ops.get(member.op) {
                Some(op) if op.kind != Kind::BitGroup => {
                    self.add(functions, inner, op.segment.map_bits, levels + 1);
                }
                _ => {}
            }
        }
    }

    /// An expression for a new struct with its constants.
    pub(super) fn blank(&self, of: usize) -> String {
        format!("{}()", self.blank_name(of))
    }

    /// The function that makes one: with two underscores, or the type's own.
    pub(super) fn blank_name(&self, of: usize) -> String {
        match self.constants.get(of) {
            Some(true) => format!("blank__{}", self.function_name(of).trim_start_matches("r#")),
            _ => format!("super::{}::default", self.model.path(of)),
        }
    }

    /// The text of the function that makes a new struct, if it is not the type's own.
    pub(super) fn blank_function(&self, of: usize) -> Option<String> {
        if !self.constants.get(of).is_some_and(|constants| *constants) {
            return None;
        }
        let (name, path) = (self.blank_name(of), self.model.path(of));
        let mut text = format!("    fn {name}() -> super::{path} {{\n        super::{path} {{\n");
        for member in self.model.structs.get(of).iter().flat_map(|of| &of.members) {
            let Some(op) = self.plan.ops.get(member.op).filter(|_| !member.optional) else {
                continue;
            };
            let value = match member.ty {
                Type::Group(inner) if self.constants[inner] => self.blank(inner),
                _ if op.spec.operator != Operator::Constant => continue,
                Type::Enumeration(of) => format!(
                    "super::{}::from_number({}).unwrap_or_default()",
                    self.model.enumeration_path(of),
                    op.spec.value
                ),
                Type::Bool => (op.spec.value != 0).to_string(),
                _ => constant(self.plan, op),
            };
            let _infallible = writeln!(text, "            {}: {value},", member.name);
        }
        text.push_str("            ..Default::default()\n        }\n    }\n\n");
        Some(text)
    }

    /// The names that a program uses.
    fn interface(&self, out: &mut String) -> std::fmt::Result {
        out.push_str(
            "/// Decodes messages of these templates, and calls a [`Handler`] with each.\n",
        );
        out.push_str(
            "#[allow(dead_code)]\npub type Decoder = ::tickwire_fast::generated::Decoder<codec::Messages>;\n\n",
        );
        out.push_str("/// Encodes structs as messages of these templates.\n");
        out.push_str(
            "#[allow(dead_code)]\npub type Encoder = ::tickwire_fast::generated::Encoder<codec::Messages>;\n\n",
        );
        out.push_str("/// What a [`Decoder`] calls with each message. Every method does nothing by default.\n");
        out.push_str("#[allow(dead_code, unused_variables, clippy::new_ret_no_self, clippy::wrong_self_convention)]\npub trait Handler {\n");
        for (message, name) in self.messages() {
            let path = self.model.path(message.of);
            writeln!(
                out,
                "    /// A message [`{path}`].\n    fn {name}(&mut self, message: &{path}) {{}}"
            )?;
        }
        out.push_str(
            "    /// The session's reset message (SCP, template id 120), if no template defines it.\n",
        );
        out.push_str("    fn reset(&mut self) {}\n}\n\n");
        Ok(())
    }
}

/// The text of an instruction.
pub(super) fn op_text(op: &Op, field_type: FieldType) -> String {
    let spec = &op.spec;
    let mut text = format!("const {{ &Op::field({}, {field_type:?})", op.field);
    if spec.optional {
        text.push_str(".optional()");
    }
    let slot = spec.slot;
    let _infallible = match spec.operator {
        Operator::None => Ok(()),
        Operator::Constant => write!(text, ".constant()"),
        Operator::Default => write!(text, ".default()"),
        operator => write!(text, ".{}({slot})", operator.name()),
    };
    if spec.has_initial {
        let _infallible = match op.kind {
            Kind::Unsigned => write!(text, ".initial({})", spec.value),
            Kind::Signed => write!(text, ".initial_signed({})", spec.value.cast_signed()),
            Kind::Decimal => {
                write!(
                    text,
                    ".initial_decimal({}, {})",
                    spec.value.cast_signed(),
                    spec.exponent
                )
            }
            _ => write!(text, ".initial_text()"),
        };
    }
    if matches!(op.kind, Kind::Unsigned | Kind::Signed) && spec.max != field_type.max() {
        let _infallible = write!(text, ".max({})", spec.max);
    }
    if spec.width > 0 {
        let _infallible = write!(text, ".width({})", spec.width);
    }
    text.push_str(" }");
    text
}

/// The initial value of a string or byte vector, or nothing.
pub(super) fn initial(plan: &Plan, op: &Op) -> String {
    let initial = plan
        .initials
        .get(op.spec.initial as usize)
        .filter(|_| op.spec.has_initial);
    match initial {
        Some(Initial::Text(text)) => format!("{text:?}"),
        Some(Initial::Bytes(bytes)) => format!("&{bytes:?}"),
        None if op.kind == Kind::Bytes => "&[]".to_owned(),
        None => "\"\"".to_owned(),
    }
}

/// An expression for a constant's value.
fn constant(plan: &Plan, op: &Op) -> String {
    let bits = op.spec.value;
    match op.kind {
        Kind::Unsigned => bits.to_string(),
        Kind::Signed => bits.cast_signed().to_string(),
        Kind::Decimal => format!(
            "::tickwire_fast::generated::decimal({}, {})",
            bits.cast_signed(),
            op.spec.exponent
        ),
        Kind::Bytes => format!("({}).to_vec()", initial(plan, op)),
        _ => format!(
            "::tickwire_fast::CompactString::const_new({})",
            initial(plan, op)
        ),
    }
}

/// Functions of the module that are no template's, and methods that they would hide.
const RESERVED: &[&str] = &["inner", "reset", "spares"];
