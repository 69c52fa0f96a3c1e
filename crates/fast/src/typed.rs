//! Structs that take a template's fields by name. Names are resolved once, when a [`Binding`] is made; decoding then
//! goes by number. Knows nothing of bytes or operators.
//!
//! ```text
//! field index − first ─► table ─► member number ─► FastMessage::set of the struct ─► Member::set of the member
//!                                 0 MsgSeqNum, 1 Entries (2 Price, 3 Size, of its elements), 4 ...
//! ```

mod member;

use core::fmt;
use std::sync::Arc;

use crate::field::{FieldIndex, FieldType};
use crate::message::Message;
use crate::templates::{Field, Fields, Template, Templates};
use crate::{Decimal, Visitor};

pub use member::{Event, Kept, Member};

/// A struct that a message of one template is decoded into: made by `#[derive(FastMessage)]`.
///
/// Members are matched with fields by name, without regard to case and underscores (`md_entry_px` is `MDEntryPx`), or
/// by `#[fast(rename = "Name")]`. Fields without a member are skipped. `#[fast(template = "Name")]` names the template
/// if it is not called as the struct. Types: integers of at least the field's width, [`Decimal`], `String`,
/// `Vec<u8>`, a struct for a group, `Vec` of a struct for a sequence, and `Option` around any of them, without which
/// an optional field is refused.
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
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare);

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
    /// The field with this path has a type that the member cannot hold (D1).
    Type(Arc<str>, FieldType),
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
        })
    }

    /// Whether messages of this template are decoded into `T`.
    pub(crate) fn is_for(&self, template: Template<'_>) -> bool {
        template.templates.same(&self.templates) && template.index == self.template
    }

    /// The visitor that decodes a message into `value`.
    pub fn visitor<'a>(&'a mut self, value: &'a mut T) -> impl Visitor + 'a {
        Filler {
            numbers: &self.numbers,
            spare: &mut self.spare,
            value,
        }
    }

    /// The value as a message, in memory that the binding keeps.
    pub(crate) fn message(&mut self, value: &T) -> &Message {
        if let Some(template) = self.templates.template(self.template) {
            self.message.start(template);
            let mut giver = Giver {
                numbers: &self.numbers,
                message: &mut self.message,
            };
            giver.record(value, template.fields(), 0);
        }
        &self.message
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
        if !M::takes(field.field_type()) {
            return Err(BindError::Type(field.path().into(), field.field_type()));
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

    fn base(&self, field: Field<'_>) -> u32 {
        self.numbers
            .of(field.index())
            .map_or(0, |number| number + 1)
    }
}

struct Filler<'a, T: FastMessage> {
    numbers: &'a Numbers,
    spare: &'a mut T::Spare,
    value: &'a mut T,
}

impl<T: FastMessage> Filler<'_, T> {
    #[inline]
    fn event(&mut self, field: FieldIndex, event: Event<'_>) {
        if let Some(number) = self.numbers.of(field) {
            self.value.set(number, event, self.spare);
        }
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
        self.event(field, Event::Begin);
    }

    #[inline]
    fn begin_element(&mut self, field: FieldIndex, _: u32) {
        self.event(field, Event::Element);
    }
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes()
        .filter(|byte| *byte != b'_')
        .map(|byte| byte.to_ascii_lowercase())
}

const UNBOUND: u32 = u32::MAX;
