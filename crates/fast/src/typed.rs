//! Structs that take a template's fields by name. Names are resolved once, when a [`Binding`] is made; decoding then
//! goes by number. Knows nothing of bytes or operators.
//!
//! ```text
//! field index − first ─► table ─► member number ─► FastMessage::set of the struct ─► Member::set of the member
//!                                 0 MsgSeqNum, 1 Entries (2 Price, 3 Size, of its elements), 4 ...
//! ```

mod convert;
mod member;

use core::fmt;
use std::sync::Arc;

use crate::field::{FieldIndex, FieldType};
use crate::message::Message;
use crate::templates::{Field, Fields, Template, Templates};
use crate::{Code, Decimal, DecodeError, EncodeError, Visitor};

pub use member::{Event, Kept, Member};

/// A struct that a message of one template is decoded into: made by `#[derive(FastMessage)]`.
///
/// Members are matched with fields by name, without regard to case and underscores (`md_entry_px` is `MDEntryPx`), or
/// by `#[fast(rename = "Name")]`. Fields without a member are skipped. `#[fast(template = "Name")]` names the template
/// if it is not called as the struct. Types: integers, [`Decimal`], `String`, [`CompactString`](crate::CompactString),
/// `Vec<u8>`, a struct for a group, `Vec` of a struct for a sequence, and `Option` around any of them, without which
/// an optional field is refused.
///
/// Values convert between the field's type and the member's as FAST 1.1 §8 has it: integers and decimals to each other
/// and to strings, byte vectors to strings in hexadecimal, and back. What would lose something is an error of the
/// message (R4, R5, R1), as is a string that is not written as a number or bytes (D11).
pub trait FastMessage: Default {
    /// Name of the template.
    const TEMPLATE: &'static str;
    /// Numbers that the members take together.
    const COUNT: u32;
    /// Memory that absent values leave for later ones.
    type Spare: Default;

    /// Finds the members' fields; the first member has the number `base`.
    ///
    /// # Errors
    /// A member has no field, or one of another type.
    fn bind(binder: &mut Binder<'_>, fields: Fields<'_>, base: u32) -> Result<(), BindError>;

    /// Hands an event to the member with this number.
    ///
    /// # Errors
    /// The value does not convert to the member's type.
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) -> Result<(), Code>;

    /// Hands the value of the member with this number to a message.
    fn give(&self, number: u32, field: Field<'_>, giver: &mut Giver<'_>);

    /// Makes all members as if they had no value.
    fn clear(&mut self, spare: &mut Self::Spare);
}

/// A struct that does not suit its template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// No template of this name.
    NoTemplate(&'static str),
    /// No field for the member of this name.
    NoField(&'static str),
    /// The field with this path has a type that does not convert to the member's (D1).
    Type(Arc<str>, FieldType),
    /// The field with this path is a byte vector, or its member is bytes, and the other is neither that nor a string
    /// (D10).
    Bytes(Arc<str>),
    /// The field with this path is optional and the member is no `Option`.
    Optional(Arc<str>),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTemplate(name) => write!(f, "no template {name}"),
            Self::NoField(name) => write!(f, "no field for member {name}"),
            Self::Type(path, field_type) => write!(
                f,
                "the member for field {path} cannot hold {}",
                field_type.name()
            ),
            Self::Bytes(path) => write!(f, "field {path}: {}", Code::D10),
            Self::Optional(path) => write!(f, "field {path} is optional, its member is not"),
        }
    }
}

impl core::error::Error for BindError {}

/// A struct matched with its template.
#[derive(Debug)]
pub struct Binding<T: FastMessage> {
    templates: Templates,
    template: u32,
    numbers: Numbers,
    spare: T::Spare,
    message: Message,
    decoding: Decoding,
}

/// Where a message is that is being decoded, and what went wrong with it first.
#[derive(Debug, Default)]
struct Decoding {
    /// Element numbers of the sequences around the field, outermost first.
    elements: Vec<u32>,
    /// Dynamic template references around the field. What is inside has no members.
    references: u32,
    failure: Option<Failure>,
}

/// A value that does not convert.
#[derive(Clone, Copy, Debug)]
struct Failure {
    code: Code,
    field: FieldIndex,
    element: Option<u32>,
}

/// Member numbers by field index, from the template's first field on.
#[derive(Debug)]
struct Numbers {
    first: u32,
    table: Box<[u32]>,
}

impl Numbers {
    #[inline]
    fn of(&self, field: FieldIndex) -> Option<u32> {
        let at = field.0.wrapping_sub(self.first);
        self.table
            .get(at as usize)
            .copied()
            .filter(|number| *number != UNBOUND)
    }
}

impl<T: FastMessage> Binding<T> {
    /// Matches the struct's members with the fields of its template.
    ///
    /// # Errors
    /// The template or a field is not there, or a field does not fit its member.
    pub fn new(templates: &Templates) -> Result<Self, BindError> {
        let template = templates
            .by_name(T::TEMPLATE)
            .ok_or(BindError::NoTemplate(T::TEMPLATE))?;
        let fields = &template.entry.fields;
        let mut table = vec![UNBOUND; fields.len()];
        T::bind(
            &mut Binder {
                first: fields.start,
                table: &mut table,
            },
            template.fields(),
            0,
        )?;
        Ok(Self {
            template: template.index,
            numbers: Numbers {
                first: fields.start,
                table: table.into(),
            },
            templates: templates.clone(),
            spare: T::Spare::default(),
            message: Message::new(),
            decoding: Decoding::default(),
        })
    }

    /// Whether messages of this template are decoded into `T`.
    pub(crate) fn is_for(&self, template: Template<'_>) -> bool {
        template.templates.same(&self.templates) && template.index == self.template
    }

    /// The visitor that decodes a message into `value`; [`failure`](Self::failure) then says how that went.
    pub(crate) fn visitor<'a>(&'a mut self, value: &'a mut T) -> impl Visitor + 'a {
        self.decoding.elements.clear();
        self.decoding.references = 0;
        self.decoding.failure = None;
        Filler {
            numbers: &self.numbers,
            spare: &mut self.spare,
            decoding: &mut self.decoding,
            value,
        }
    }

    /// What did not convert in the message that was decoded last, of `len` bytes.
    pub(crate) fn failure(&self, len: usize) -> Option<DecodeError> {
        let Failure {
            code,
            field,
            element,
        } = self.decoding.failure?;
        let template = self.templates.template(self.template);
        Some(DecodeError {
            code,
            offset: len,
            template: template.map(|template| template.entry.name.clone()),
            unknown_template: None,
            field: self.path(field),
            element,
        })
    }

    /// The value as a message, in memory that the binding keeps.
    pub(crate) fn message(&mut self, value: &T) -> Result<&Message, EncodeError> {
        let Some(template) = self.templates.template(self.template) else {
            return Ok(&self.message);
        };
        self.message.start(template);
        let mut giver = Giver {
            numbers: &self.numbers,
            message: &mut self.message,
            text: String::new(),
            element: None,
            failure: None,
        };
        giver.record(value, template.fields(), 0);
        match giver.failure {
            None => Ok(&self.message),
            Some(failure) => Err(EncodeError {
                code: failure.code,
                template: Some(template.entry.name.clone()),
                field: self.path(failure.field),
                element: failure.element,
            }),
        }
    }

    fn path(&self, field: FieldIndex) -> Option<Arc<str>> {
        let entry = self.templates.plan.field(field.0)?;
        Some(entry.path.clone())
    }
}

/// Fills the table of member numbers.
#[derive(Debug)]
pub struct Binder<'a> {
    first: u32,
    table: &'a mut [u32],
}

impl Binder<'_> {
    /// Finds the field for the member `name` of type `M`, which gets this number.
    ///
    /// # Errors
    /// As [`FastMessage::bind`].
    pub fn member<M: Member>(
        &mut self,
        mut fields: Fields<'_>,
        name: &'static str,
        number: u32,
    ) -> Result<(), BindError> {
        let field = fields
            .find(|field| letters(field.name()).eq(letters(name)))
            .ok_or(BindError::NoField(name))?;
        if field.is_optional() && !M::OPTIONAL {
            return Err(BindError::Optional(field.path().into()));
        }
        let field_type = field.field_type();
        if !M::takes(field_type) {
            let is_value = !field_type.is_container();
            let bytes = field_type == FieldType::ByteVector || M::takes(FieldType::ByteVector);
            return Err(match is_value && bytes {
                true => BindError::Bytes(field.path().into()),
                false => BindError::Type(field.path().into(), field_type),
            });
        }
        let at = field.index().0.wrapping_sub(self.first);
        if let Some(entry) = self.table.get_mut(at as usize) {
            *entry = number;
        }
        M::bind(self, field.fields(), number + 1)
    }
}

/// Turns a struct into a message, in the template's order.
#[derive(Debug)]
pub struct Giver<'a> {
    numbers: &'a Numbers,
    message: &'a mut Message,
    /// Numbers and bytes as text; most structs need none.
    text: String,
    /// The innermost element.
    element: Option<u32>,
    failure: Option<Failure>,
}

impl Giver<'_> {
    /// Gives the members of a struct whose first member has the number `base`.
    fn record<T: FastMessage>(&mut self, value: &T, fields: Fields<'_>, base: u32) {
        for field in fields {
            if let Some(number) = self.numbers.of(field.index()) {
                value.give(number - base, field, self);
            }
        }
    }

    /// Gives a member's value as the type that its field has.
    fn value(&mut self, field: Field<'_>, value: Event<'_>) {
        if let Err(code) = self.convert(field, value) {
            self.failure.get_or_insert(Failure {
                code,
                field: field.index(),
                element: self.element,
            });
        }
    }

    fn convert(&mut self, field: Field<'_>, value: Event<'_>) -> Result<(), Code> {
        let (index, field_type) = (field.index(), field.field_type());
        match (field_type, value) {
            (FieldType::Ascii | FieldType::Unicode, Event::Text(text)) => {
                Visitor::text(self.message, index, text);
            }
            (FieldType::Ascii | FieldType::Unicode, value) => {
                self.text.clear();
                convert::text(value, &mut self.text)?;
                Visitor::text(self.message, index, &self.text);
            }
            (FieldType::ByteVector, Event::Bytes(bytes)) => self.message.bytes(index, bytes),
            (FieldType::ByteVector, value) => {
                let mut bytes = Vec::new();
                convert::bytes(value, &mut bytes)?;
                self.message.bytes(index, &bytes);
            }
            (FieldType::Decimal, value) => self.message.decimal(index, convert::decimal(value)?),
            _ if field_type.is_unsigned() => {
                let value = convert::integer::<u64>(value)?;
                let fits = value <= field.max();
                self.message
                    .unsigned(index, fits.then_some(value).ok_or(Code::R4)?);
            }
            _ if field_type.is_signed() => {
                let value = convert::integer::<i64>(value)?;
                let magnitude = (value ^ (value >> 63)).cast_unsigned();
                let fits = magnitude <= field.max();
                self.message
                    .signed(index, fits.then_some(value).ok_or(Code::R4)?);
            }
            _ => return Err(Code::D1),
        }
        Ok(())
    }

    fn base(&self, field: Field<'_>) -> u32 {
        self.numbers
            .of(field.index())
            .map_or(0, |number| number + 1)
    }
}

struct Filler<'a, T: FastMessage> {
    numbers: &'a Numbers,
    spare: &'a mut T::Spare,
    decoding: &'a mut Decoding,
    value: &'a mut T,
}

impl<T: FastMessage> Filler<'_, T> {
    #[inline]
    fn event(&mut self, field: FieldIndex, event: Event<'_>) {
        if let Some(number) = self.numbers.of(field)
            && self.decoding.references == 0
            && let Err(code) = self.value.set(number, event, self.spare)
        {
            self.fail(field, code);
        }
    }

    #[cold]
    fn fail(&mut self, field: FieldIndex, code: Code) {
        self.decoding.failure.get_or_insert(Failure {
            code,
            field,
            element: self.decoding.elements.last().copied(),
        });
    }
}

impl<T: FastMessage> Visitor for Filler<'_, T> {
    fn begin_message(&mut self, _: Template<'_>) {
        self.value.clear(self.spare);
    }

    #[inline]
    fn unsigned(&mut self, field: FieldIndex, value: u64) {
        self.event(field, Event::Unsigned(value));
    }

    #[inline]
    fn signed(&mut self, field: FieldIndex, value: i64) {
        self.event(field, Event::Signed(value));
    }

    #[inline]
    fn decimal(&mut self, field: FieldIndex, value: Decimal) {
        self.event(field, Event::Decimal(value));
    }

    #[inline]
    fn text(&mut self, field: FieldIndex, value: &str) {
        self.event(field, Event::Text(value));
    }

    #[inline]
    fn bytes(&mut self, field: FieldIndex, value: &[u8]) {
        self.event(field, Event::Bytes(value));
    }

    fn reset(&mut self) {
        self.value.clear(self.spare);
    }

    fn begin_group(&mut self, field: FieldIndex) {
        self.event(field, Event::Begin);
    }

    fn begin_sequence(&mut self, field: FieldIndex, _: u32) {
        self.decoding.elements.push(0);
        self.event(field, Event::Begin);
    }

    #[inline]
    fn begin_element(&mut self, field: FieldIndex, index: u32) {
        if let Some(element) = self.decoding.elements.last_mut() {
            *element = index;
        }
        self.event(field, Event::Element);
    }

    fn end_sequence(&mut self, _: FieldIndex) {
        self.decoding.elements.pop();
    }

    fn begin_template(&mut self, _: FieldIndex, _: Template<'_>) {
        self.decoding.references += 1;
    }

    fn end_template(&mut self, _: FieldIndex) {
        self.decoding.references -= 1;
    }
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes()
        .filter(|byte| *byte != b'_')
        .map(|byte| byte.to_ascii_lowercase())
}

const UNBOUND: u32 = u32::MAX;
