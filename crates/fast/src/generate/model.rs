//! What is generated: structs with their members, in the words of Rust. Knows nothing of how decoding goes.
//!
//! ```text
//! market.xml: template MarketData, sequence MDEntries      pub struct MarketData { pub md_entries: Vec<market_data::MdEntries> }
//!                                                          pub mod market_data { pub struct MdEntries { .. } }
//! ```
//!
//! Structs of groups and elements are in a module named after the struct that contains them, so that a template's code
//! does not change with the templates beside it.

use super::RustOptions;
use super::names::{Namer, camel, rust_text, screaming, snake};
use super::topic_names::{TopicNames, counted, label};
use crate::plan::Plan;
use crate::{Element, Elements, Field, FieldType, Fields, Template, Templates};

/// All that is generated for a file of templates.
#[derive(Debug)]
pub(crate) struct Model<'t> {
    pub(crate) templates: &'t Templates,
    /// A struct comes before those that it contains.
    pub(crate) structs: Vec<Struct<'t>>,
    pub(crate) enumerations: Vec<Enumeration<'t>>,
    /// The templates with an id, in the order of the file.
    pub(crate) messages: Vec<Message<'t>>,
    /// Whether any template has a dynamic reference, so that there is an enum of all messages.
    pub(crate) is_dynamic: bool,
    /// Whether structs derive `Topic`.
    pub(crate) topics: bool,
    names: TopicNames,
    keys: &'t [String],
}

/// A template that messages come of.
#[derive(Debug)]
pub(crate) struct Message<'t> {
    pub(crate) template: Template<'t>,
    /// Its struct, in [`Model::structs`].
    pub(crate) of: usize,
}

/// The struct of a template, a group, or a sequence's elements.
#[derive(Debug)]
pub(crate) struct Struct<'t> {
    /// `MdEntries`
    pub(crate) name: String,
    /// Modules around it, from the root of the generated text: `market_data::`, or empty.
    pub(crate) scope: String,
    /// The module of the types that it contains; empty if there are none.
    pub(crate) module: String,
    /// The name of its topic type.
    pub(crate) topic_name: String,
    /// Whether there is a topic type of it.
    pub(crate) can_be_topic: bool,
    /// The template, or else the group or sequence.
    pub(crate) owner: Owner<'t>,
    pub(crate) members: Vec<Member<'t>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner<'t> {
    Template(Template<'t>),
    Field(Field<'t>),
}

/// A member of a struct, for one field.
#[derive(Debug)]
pub(crate) struct Member<'t> {
    pub(crate) field: Field<'t>,
    /// `md_entry_px`, with `r#` where it needs that.
    pub(crate) name: String,
    /// Its type, inside the `Option` of an optional one.
    pub(crate) ty: Type,
    /// Whether it is an `Option`.
    pub(crate) optional: bool,
    /// The field's first instruction, in [`Plan::ops`]: of a split decimal the one before its exponent, of a sequence
    /// the one before its length, of a group the one before those of its fields.
    pub(crate) op: usize,
    /// The name of the topic type's member.
    pub(crate) topic_name: String,
    /// Whether it is part of the key.
    pub(crate) key: bool,
    /// If it is a set, the elements' bits.
    pub(crate) set: Option<Set<'t>>,
}

/// The enum of a field that is an enumeration. The variants' numbers are the integers on the wire.
#[derive(Debug)]
pub(crate) struct Enumeration<'t> {
    /// `Side`
    pub(crate) name: String,
    /// As [`Struct::scope`].
    pub(crate) scope: String,
    pub(crate) topic_name: String,
    pub(crate) field: Field<'t>,
    pub(crate) variants: Vec<Variant<'t>>,
}

#[derive(Debug)]
pub(crate) struct Variant<'t> {
    /// `Buy`
    pub(crate) name: String,
    pub(crate) topic_name: String,
    pub(crate) element: &'t Element,
}

/// Constants for the bits of a set, in a module of their own.
#[derive(Debug)]
pub(crate) struct Set<'t> {
    pub(crate) module: String,
    /// The module in IDL.
    pub(crate) topic_name: String,
    pub(crate) constants: Vec<(String, &'t Element)>,
}

/// The type of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    Bool,
    Decimal,
    /// The enum with this number in [`Model::enumerations`].
    Enumeration(usize),
    /// `CompactString`
    Text,
    /// `Vec<u8>`
    Bytes,
    /// The struct of a group.
    Group(usize),
    /// `Vec` of a struct.
    Sequence(usize),
    /// `Option<Box<AnyMessage>>`; `None` before anything is decoded into it.
    Template,
}

impl<'t> Model<'t> {
    pub(crate) fn new(templates: &'t Templates, options: &'t RustOptions) -> Self {
        let mut model = Self {
            templates,
            structs: Vec::new(),
            enumerations: Vec::new(),
            messages: Vec::new(),
            is_dynamic: false,
            topics: options.topics,
            names: TopicNames::new(templates),
            keys: &options.keys,
        };
        let mut root = Namer::rust(RESERVED);
        for template in templates.iter().filter(|template| template.has_messages()) {
            let of = model.add(Owner::Template(template), "", &mut root);
            model.messages.push(Message { template, of });
        }
        model
    }

    /// Where a struct is, from the root of the generated text.
    pub(crate) fn path(&self, of: usize) -> String {
        let Some(Struct { scope, name, .. }) = self.structs.get(of) else {
            return String::new();
        };
        format!("{scope}{name}")
    }

    /// Where an enum is, from the root of the generated text.
    pub(crate) fn enumeration_path(&self, of: usize) -> String {
        let Some(Enumeration { scope, name, .. }) = self.enumerations.get(of) else {
            return String::new();
        };
        format!("{scope}{name}")
    }

    /// A member's type, with its `Option` if it has one, for text in the module `scope` (empty, or with `::` at its end).
    pub(crate) fn type_text(&self, member: &Member<'_>, scope: &str) -> String {
        let below = |path: String| path.strip_prefix(scope).map(str::to_owned).unwrap_or(path);
        let path = |of: usize| below(self.path(of));
        let plain = match member.ty {
            Type::U8 => "u8".to_owned(),
            Type::I8 => "i8".to_owned(),
            Type::U16 => "u16".to_owned(),
            Type::I16 => "i16".to_owned(),
            Type::U32 => "u32".to_owned(),
            Type::I32 => "i32".to_owned(),
            Type::U64 => "u64".to_owned(),
            Type::I64 => "i64".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Decimal => "::tickwire_fast::Decimal".to_owned(),
            Type::Enumeration(of) => below(self.enumeration_path(of)),
            Type::Text => "::tickwire_fast::CompactString".to_owned(),
            Type::Bytes => "Vec<u8>".to_owned(),
            Type::Group(of) => path(of),
            Type::Sequence(of) => format!("Vec<{}>", path(of)),
            Type::Template => {
                let up = "super::".repeat(scope.matches("::").count());
                return format!("Option<Box<{up}{ANY_MESSAGE}>>");
            }
        };
        if member.optional {
            format!("Option<{plain}>")
        } else {
            plain
        }
    }

    fn add(&mut self, owner: Owner<'t>, scope: &str, namer: &mut Namer) -> usize {
        let (name, topic_name, fields) = match owner {
            Owner::Template(template) => (
                template.name(),
                self.names.template(template),
                template.fields(),
            ),
            Owner::Field(field) => (field.name(), self.names.nested(field), field.fields()),
        };
        let topic_name = topic_name.to_owned();
        let contains_types = fields.clone().any(has_own_type);
        let module = if contains_types {
            rust_text(&namer.unique(snake(name)))
        } else {
            String::new()
        };
        let at = self.structs.len();
        self.structs.push(Struct {
            name: namer.unique_type(camel(name)),
            scope: scope.to_owned(),
            topic_name,
            can_be_topic: false,
            owner,
            members: Vec::new(),
            module,
        });
        let members = self.members(at, fields);
        let of = |ty| match ty {
            Type::Group(of) | Type::Sequence(of) => self.structs.get(of),
            _ => None,
        };
        let can_be_topic = !members.is_empty()
            && members.iter().all(|member| {
                member.ty != Type::Template && of(member.ty).is_none_or(|of| of.can_be_topic)
            });
        if let Some(added) = self.structs.get_mut(at) {
            added.members = members;
            added.can_be_topic = can_be_topic;
        }
        at
    }

    fn members(&mut self, of: usize, fields: Fields<'t>) -> Vec<Member<'t>> {
        let Some(Struct {
            scope,
            module,
            owner,
            ..
        }) = self.structs.get(of)
        else {
            return Vec::new();
        };
        let (inner, is_message) = (
            format!("{scope}{module}::"),
            matches!(owner, Owner::Template(_)),
        );
        let mut types = Namer::rust(RESERVED);
        let mut names = Namer::rust(&[]);
        fields
            .map(|field| {
                let ty = self.member_type(field, &inner, &mut types);
                let topic_name = self.names.nested(field);
                let set = field
                    .set()
                    .map(|elements| set(field, topic_name, elements, &mut types));
                let is_key = self.keys.iter().any(|key| key == field.name());
                Member {
                    field,
                    name: rust_text(&names.unique(snake(field.name()))),
                    ty,
                    optional: field.is_optional(),
                    op: first_op(&self.templates.plan, field),
                    topic_name: self.names.member(field).to_owned(),
                    key: is_key && is_message && !field.is_optional(),
                    set,
                }
            })
            .collect()
    }

    fn member_type(&mut self, field: Field<'t>, inner: &str, types: &mut Namer) -> Type {
        if let Some(elements) = counted(field) {
            self.enumerations.push(Enumeration {
                name: types.unique_type(camel(field.name())),
                scope: inner.to_owned(),
                topic_name: self.names.nested(field).to_owned(),
                field,
                variants: variants(elements, self.names.literals(field)),
            });
            return Type::Enumeration(self.enumerations.len() - 1);
        }
        if field.is_boolean() {
            return Type::Bool;
        }
        match field.field_type() {
            FieldType::UInt8 => Type::U8,
            FieldType::Int8 => Type::I8,
            FieldType::UInt16 => Type::U16,
            FieldType::Int16 => Type::I16,
            FieldType::UInt32 => Type::U32,
            FieldType::Int32 => Type::I32,
            FieldType::UInt64 => Type::U64,
            FieldType::Int64 => Type::I64,
            FieldType::Decimal => Type::Decimal,
            FieldType::Ascii | FieldType::Unicode => Type::Text,
            FieldType::ByteVector => Type::Bytes,
            FieldType::Group => Type::Group(self.add(Owner::Field(field), inner, types)),
            FieldType::Sequence => Type::Sequence(self.add(Owner::Field(field), inner, types)),
            FieldType::Template => {
                self.is_dynamic = true;
                Type::Template
            }
        }
    }
}

/// Whether something is generated for the field beside a member.
fn has_own_type(field: Field<'_>) -> bool {
    let is_struct = matches!(field.field_type(), FieldType::Group | FieldType::Sequence);
    is_struct || field.set().is_some() || counted(field).is_some()
}

fn variants<'t>(elements: &'t Elements, literals: &[Box<str>]) -> Vec<Variant<'t>> {
    let mut names = Namer::rust(&["Self"]);
    elements
        .iter()
        .zip(literals)
        .map(|(element, literal)| Variant {
            name: names.unique_type(camel(label(element))),
            topic_name: literal.to_string(),
            element,
        })
        .collect()
}

fn set<'t>(
    field: Field<'t>,
    topic_name: &str,
    elements: &'t Elements,
    types: &mut Namer,
) -> Set<'t> {
    let mut names = Namer::rust(&[]);
    let constant = |element: &'t Element| (names.unique(screaming(label(element))), element);
    Set {
        module: rust_text(&types.unique(snake(field.name()))),
        topic_name: topic_name.to_owned(),
        constants: elements.iter().map(constant).collect(),
    }
}

/// The instructions of the plan are in the order of their fields.
fn first_op(plan: &Plan, field: Field<'_>) -> usize {
    let at = field.index().0;
    plan.ops.partition_point(|op| op.field < at)
}

/// The enum of all messages, where dynamic template references need one.
pub(crate) const ANY_MESSAGE: &str = "AnyMessage";

/// Types and modules that generated code means otherwise.
const RESERVED: &[&str] = &[
    ANY_MESSAGE,
    "codec",
    "Box",
    "Decoder",
    "Encoder",
    "Handler",
    "Option",
    "Self",
    "Vec",
    "bool",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "char",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
];
