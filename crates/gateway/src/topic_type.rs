//! A FAST template as the type of a topic, and messages of it as payloads.
//!
//! Names are kept as far as IDL allows ([`TopicNames`]) and members come in the template's order;
//! optional fields are optional members, decimals are exact pairs, groups are structs, sequences are
//! sequences of structs, enumerations are enums, sets are integers, timestamps are `int64`. Structs
//! that `tickwire_fast::generate` makes of the same template are the same types. What a payload needs
//! is resolved when the type is made, so that writing one walks two lists side by side and allocates
//! nothing once the buffer has its size. Knows nothing of topics or networks.

use std::fmt;

use tickwire::Serialized;
use tickwire::cdr::{
    Describe, Encode, EncodeError, EncodeErrorKind, EnumDescription, Extensibility,
    InvalidDescription, Literal, Member, MemberHeader, Representation, Type, TypeDescription,
    Writer, enum_size,
};
use tickwire_fast::generate::TopicNames;
use tickwire_fast::{
    Decimal, ElementPlace, Field, FieldIndex, FieldType, Record, Sequence, Template, Value,
};

/// A template's type, and how its messages are written.
#[derive(Debug)]
pub struct TopicType {
    description: TypeDescription,
    plan: StructPlan,
}

/// Which of a message's fields tells the security, and what that does to the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecurityAt {
    /// A field of the message.
    Message(FieldIndex),
    /// A field of a sequence's elements; samples carry those of one security, which a member put
    /// before all others tells.
    Element {
        sequence: FieldIndex,
        security: FieldIndex,
    },
}

/// The part of a message that goes into a sample.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The security of the sample, for [`SecurityAt::Element`].
    pub(crate) security: Option<Value<'a>>,
    /// Which elements of the divided sequence belong to the sample.
    pub(crate) elements: &'a [ElementPlace],
}

impl Part<'_> {
    /// All of the message.
    pub(crate) const WHOLE: Self = Part {
        security: None,
        elements: &[],
    };
}

impl TopicType {
    /// The type of a template's messages, or of the part of them that is about one security. With
    /// `keyed` the member that tells the security is the key.
    pub(crate) fn new(
        template: Template<'_>,
        names: &TopicNames,
        security: Option<SecurityAt>,
        keyed: bool,
    ) -> Result<Self, TypeError> {
        let mut members = Members::new(names);
        if let Some(SecurityAt::Element { sequence, security }) = security {
            let fields = template.fields().find(|field| field.index() == sequence);
            let field =
                fields.and_then(|field| field.fields().find(|field| field.index() == security));
            if let Some(field) = field {
                members.add(field, Source::Security)?;
                members.set_key(keyed);
            }
        }
        for field in template.fields() {
            let divided = matches!(security, Some(SecurityAt::Element { sequence, .. }) if sequence == field.index());
            members.add(
                field,
                if divided {
                    Source::Divided
                } else {
                    Source::Field
                },
            )?;
            if security == Some(SecurityAt::Message(field.index())) {
                members.set_key(keyed);
            }
        }
        let name = names.template(template);
        let (description, plan) = members.end(name, template.name())?;
        Ok(Self { description, plan })
    }

    /// The type.
    pub fn description(&self) -> &TypeDescription {
        &self.description
    }

    /// Replaces `sample` by a part of a message of the template.
    pub(crate) fn write(
        &self,
        record: Record<'_>,
        part: Part<'_>,
        sample: &mut Serialized,
    ) -> Result<(), EncodeError> {
        sample.encode(REPRESENTATION, EXTENSIBILITY, |writer| {
            self.plan.write(record, part, writer)
        })
    }
}

/// Why a template has no topic type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeError {
    /// A dynamic template reference: a field whose type only the message tells.
    Dynamic {
        /// Names from the template down to the field.
        path: String,
    },
    /// Types of topics do not allow it.
    Invalid {
        /// Names from the template down to the struct.
        path: String,
        /// The rule that is broken.
        reason: InvalidDescription,
    },
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic { path } => {
                write!(
                    f,
                    "{path}: only the message tells which template is referred to"
                )
            }
            Self::Invalid { path, reason } => write!(f, "{path}: {reason}"),
        }
    }
}

impl std::error::Error for TypeError {}

/// The members of a struct, in their order.
#[derive(Debug)]
struct StructPlan(Vec<MemberPlan>);

#[derive(Debug)]
struct MemberPlan {
    field: FieldIndex,
    header: MemberHeader,
    optional: bool,
    source: Source,
    kind: Kind,
}

/// Where a member's value is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// In the message's field.
    Field,
    /// In the message's sequence, of which a part goes into the sample.
    Divided,
    /// The part says it.
    Security,
}

/// How a member's value is written.
#[derive(Debug)]
enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    Bool,
    Enum,
    Decimal,
    Text,
    Bytes,
    Struct(StructPlan),
    Sequence(StructPlan),
}

impl StructPlan {
    /// Values come in the template's order, which is that of the members.
    fn write(
        &self,
        record: Record<'_>,
        part: Part<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mark = writer.begin_struct(EXTENSIBILITY);
        let mut values = record;
        let mut next = values.next();
        for member in &self.0 {
            let value = match (member.source, next) {
                (Source::Security, _) => part.security,
                (_, Some((field, value))) if field.index() == member.field => {
                    next = values.next();
                    Some(value)
                }
                _ => None,
            };
            match value {
                Some(value) => {
                    let begun = writer.begin_member(&mark, member.header);
                    member.write(value, part, writer)?;
                    writer.end_member(begun)?;
                }
                None if member.optional => writer.absent_member(&mark, member.header),
                None => return Err(mismatch()),
            }
        }
        writer.end_struct(mark)
    }
}

impl MemberPlan {
    fn write(
        &self,
        value: Value<'_>,
        part: Part<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        match (&self.kind, value) {
            (Kind::U8, Value::Unsigned(value)) => writer.write_u8(narrow(value)?),
            (Kind::U16, Value::Unsigned(value)) => writer.write_u16(narrow(value)?),
            (Kind::U32, Value::Unsigned(value)) => writer.write_u32(narrow(value)?),
            (Kind::U64, Value::Unsigned(value)) => writer.write_u64(value),
            (Kind::I8, Value::Signed(value)) => writer.write_i8(narrow(value)?),
            (Kind::I16, Value::Signed(value)) => writer.write_i16(narrow(value)?),
            (Kind::I32, Value::Signed(value)) => writer.write_i32(narrow(value)?),
            (Kind::I64, Value::Signed(value)) => writer.write_i64(value),
            (Kind::Bool, Value::Unsigned(value @ (0 | 1))) => writer.write_bool(value == 1),
            (Kind::Enum, Value::Unsigned(value)) => {
                writer.write_enum(narrow(value)?, enum_size(ENUM_BITS));
            }
            (Kind::Decimal, Value::Decimal(value)) => value.encode(writer)?,
            (Kind::Text, Value::Text(value)) => writer.write_string(value, 0)?,
            (Kind::Bytes, Value::Bytes(value)) => {
                let mark = writer.begin_sequence(true);
                value.iter().for_each(|byte| writer.write_u8(*byte));
                writer.end_sequence(mark, value.len())?;
            }
            (Kind::Struct(plan), Value::Group(record)) => plan.write(record, part, writer)?,
            (Kind::Sequence(plan), Value::Sequence(sequence)) => {
                let part = (self.source == Source::Divided).then_some(part);
                plan.write_elements(sequence, part, writer)?;
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }
}

impl StructPlan {
    fn write_elements(
        &self,
        sequence: Sequence<'_>,
        part: Option<Part<'_>>,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mark = writer.begin_sequence(false);
        let count = match part {
            Some(part) => {
                for place in part.elements {
                    let element = sequence.at(*place).ok_or_else(mismatch)?;
                    self.write(element, Part::WHOLE, writer)?;
                }
                part.elements.len()
            }
            None => {
                for element in sequence.iter() {
                    self.write(element, Part::WHOLE, writer)?;
                }
                sequence.len()
            }
        };
        writer.end_sequence(mark, count)
    }
}

/// Members as they are collected.
struct Members<'n> {
    names: &'n TopicNames,
    members: Vec<Member>,
    plan: Vec<MemberPlan>,
}

impl<'n> Members<'n> {
    fn new(names: &'n TopicNames) -> Self {
        Self {
            names,
            members: Vec::new(),
            plan: Vec::new(),
        }
    }

    fn add(&mut self, field: Field<'_>, source: Source) -> Result<(), TypeError> {
        let (ty, kind) = member_type(field, self.names)?;
        // Ids are those that IDL without annotations has: 0, 1, 2, ...
        let id = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        let mut member = Member::new(self.names.member(field), id, ty);
        member.optional = field.is_optional() && source != Source::Security;
        self.plan.push(MemberPlan {
            field: field.index(),
            header: MemberHeader::from(&member),
            optional: member.optional,
            source,
            kind,
        });
        self.members.push(member);
        Ok(())
    }

    fn set_key(&mut self, keyed: bool) {
        if let Some(last) = self.members.last_mut() {
            last.key = keyed;
        }
    }

    fn end(self, name: &str, path: &str) -> Result<(TypeDescription, StructPlan), TypeError> {
        match TypeDescription::new(name, EXTENSIBILITY, self.members) {
            Ok(description) => Ok((description, StructPlan(self.plan))),
            Err(reason) => Err(TypeError::Invalid {
                path: path.to_owned(),
                reason,
            }),
        }
    }
}

fn member_type(field: Field<'_>, names: &TopicNames) -> Result<(Type, Kind), TypeError> {
    let literals = names.literals(field);
    if !literals.is_empty() {
        return Ok((enum_type(names.nested(field), literals), Kind::Enum));
    }
    if field.is_boolean() {
        return Ok((Type::Bool, Kind::Bool));
    }
    Ok(match field.field_type() {
        FieldType::UInt8 => (Type::U8, Kind::U8),
        FieldType::Int8 => (Type::I8, Kind::I8),
        FieldType::UInt16 => (Type::U16, Kind::U16),
        FieldType::Int16 => (Type::I16, Kind::I16),
        FieldType::UInt32 => (Type::U32, Kind::U32),
        FieldType::Int32 => (Type::I32, Kind::I32),
        FieldType::UInt64 => (Type::U64, Kind::U64),
        FieldType::Int64 => (Type::I64, Kind::I64),
        FieldType::Decimal => (Decimal::TYPE, Kind::Decimal),
        FieldType::Ascii | FieldType::Unicode => (Type::String { bound: 0 }, Kind::Text),
        FieldType::ByteVector => {
            let element = Type::U8.into();
            (Type::Sequence { element, bound: 0 }, Kind::Bytes)
        }
        FieldType::Group => {
            let (description, plan) = struct_type(field, names)?;
            (Type::Struct(description.into()), Kind::Struct(plan))
        }
        FieldType::Sequence => {
            let (description, plan) = struct_type(field, names)?;
            let element = Type::Struct(description.into()).into();
            (Type::Sequence { element, bound: 0 }, Kind::Sequence(plan))
        }
        FieldType::Template => {
            return Err(TypeError::Dynamic {
                path: field.path().to_owned(),
            });
        }
    })
}

/// The struct of a group or of a sequence's elements.
fn struct_type(
    field: Field<'_>,
    names: &TopicNames,
) -> Result<(TypeDescription, StructPlan), TypeError> {
    let mut members = Members::new(names);
    for inner in field.fields() {
        members.add(inner, Source::Field)?;
    }
    members.end(names.nested(field), field.path())
}

fn enum_type(name: &str, literals: &[Box<str>]) -> Type {
    let literals = (0..).zip(literals).map(|(value, name)| Literal {
        name: (**name).into(),
        value,
    });
    let description = EnumDescription {
        name: name.into(),
        extensibility: Extensibility::Appendable,
        bit_bound: ENUM_BITS,
        literals: literals.collect::<Vec<_>>().into(),
    };
    Type::Enum(description.into())
}

fn narrow<T, U: TryFrom<T>>(value: T) -> Result<U, EncodeError> {
    U::try_from(value).map_err(|_| mismatch())
}

/// The message is not of the template that the plan was made from.
fn mismatch() -> EncodeError {
    EncodeError {
        kind: EncodeErrorKind::Misnested,
        member: "",
    }
}

const REPRESENTATION: Representation = Representation::Xcdr2;
/// What IDL assumes.
const ENUM_BITS: u16 = 32;
const EXTENSIBILITY: Extensibility = Extensibility::Appendable;
