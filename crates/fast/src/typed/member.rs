//! The types that members of structs can have, and what each does with the values of its field. Knows nothing of how
//! members find their fields.

use super::{BindError, Binder, FastMessage, Giver};
use crate::field::FieldType;
use crate::templates::{Field, Fields};
use crate::{Decimal, Visitor};

/// What decoding tells a member.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Value of an unsigned integer.
    Unsigned(u64),
    /// Value of a signed integer.
    Signed(i64),
    /// Value of a decimal.
    Decimal(Decimal),
    /// Value of a string.
    Text(&'a str),
    /// Value of a byte vector.
    Bytes(&'a [u8]),
    /// A group or sequence begins.
    Begin,
    /// The next element of a sequence begins.
    Element,
}

/// A type that a member of a [`FastMessage`] can have.
pub trait Member: Default {
    /// Whether it can say that the field is absent.
    const OPTIONAL: bool = false;
    /// Whether it holds memory that is worth keeping.
    const KEEPS_MEMORY: bool = false;
    /// Numbers that it takes: one, and those of the members below it.
    const COUNT: u32 = 1;
    /// Memory kept for later values.
    type Spare: Default;

    /// Whether fields of this type can be decoded into it without loss.
    fn takes(field_type: FieldType) -> bool;
    /// Binds the members below it, the first of which has the number `base`.
    ///
    /// # Errors
    /// As [`FastMessage::bind`].
    fn bind(_binder: &mut Binder<'_>, _fields: Fields<'_>, _base: u32) -> Result<(), BindError> {
        Ok(())
    }
    /// Takes an event; 0 is its own number, others are of members below it.
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare);
    /// Hands its value to a message.
    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>);
    /// Back to no value.
    fn clear(&mut self, spare: &mut Self::Spare);
}

macro_rules! unsigned_member {
    ($($type:ty),*) => {$(
        impl Member for $type {
            type Spare = ();

            fn takes(field_type: FieldType) -> bool {
                field_type.is_unsigned() && Self::try_from(field_type.max()).is_ok()
            }

            #[inline]
            fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) {
                if let Event::Unsigned(value) = event {
                    *self = Self::try_from(value).unwrap_or_default();
                }
            }

            fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
                giver.message.unsigned(field.index(), (*self).into());
            }

            #[inline]
            fn clear(&mut self, (): &mut ()) {
                *self = 0;
            }
        }
    )*};
}

unsigned_member!(u8, u16, u32, u64);

macro_rules! signed_member {
    ($($type:ty),*) => {$(
        impl Member for $type {
            type Spare = ();

            fn takes(field_type: FieldType) -> bool {
                field_type.is_integer() && Self::try_from(field_type.max()).is_ok()
            }

            #[inline]
            fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) {
                match event {
                    Event::Signed(value) => *self = Self::try_from(value).unwrap_or_default(),
                    Event::Unsigned(value) => *self = Self::try_from(value).unwrap_or_default(),
                    _ => {}
                }
            }

            fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
                match u64::try_from(*self) {
                    Ok(value) if field.field_type().is_unsigned() => giver.message.unsigned(field.index(), value),
                    _ => giver.message.signed(field.index(), (*self).into()),
                }
            }

            #[inline]
            fn clear(&mut self, (): &mut ()) {
                *self = 0;
            }
        }
    )*};
}

signed_member!(i8, i16, i32, i64);

impl Member for Decimal {
    type Spare = ();

    fn takes(field_type: FieldType) -> bool {
        field_type == FieldType::Decimal
    }

    #[inline]
    fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) {
        if let Event::Decimal(value) = event {
            *self = value;
        }
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        giver.message.decimal(field.index(), *self);
    }

    #[inline]
    fn clear(&mut self, (): &mut ()) {
        *self = Self::default();
    }
}

impl Member for String {
    const KEEPS_MEMORY: bool = true;
    type Spare = ();

    fn takes(field_type: FieldType) -> bool {
        field_type.is_string()
    }

    #[inline]
    fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) {
        if let Event::Text(value) = event {
            Self::clear(self);
            self.push_str(value);
        }
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        Visitor::text(giver.message, field.index(), self);
    }

    #[inline]
    fn clear(&mut self, (): &mut ()) {
        Self::clear(self);
    }
}

impl Member for Vec<u8> {
    const KEEPS_MEMORY: bool = true;
    type Spare = ();

    fn takes(field_type: FieldType) -> bool {
        field_type == FieldType::ByteVector
    }

    #[inline]
    fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) {
        if let Event::Bytes(value) = event {
            Self::clear(self);
            self.extend_from_slice(value);
        }
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        giver.message.bytes(field.index(), self);
    }

    #[inline]
    fn clear(&mut self, (): &mut ()) {
        Self::clear(self);
    }
}

/// Values that absent or shorter ones left behind, and what those keep themselves.
#[derive(Debug, Default)]
pub struct Kept<M, S> {
    free: Vec<M>,
    inner: S,
}

impl<M: Member> Member for Option<M> {
    const OPTIONAL: bool = true;
    const KEEPS_MEMORY: bool = M::KEEPS_MEMORY;
    const COUNT: u32 = M::COUNT;
    type Spare = Kept<M, M::Spare>;

    fn takes(field_type: FieldType) -> bool {
        M::takes(field_type)
    }

    fn bind(binder: &mut Binder<'_>, fields: Fields<'_>, base: u32) -> Result<(), BindError> {
        M::bind(binder, fields, base)
    }

    #[inline]
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) {
        let value = self.get_or_insert_with(|| spare.free.pop().unwrap_or_default());
        value.set(number, event, &mut spare.inner);
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        if let Some(value) = self {
            value.give(field, giver);
        }
    }

    #[inline]
    fn clear(&mut self, spare: &mut Self::Spare) {
        if !M::KEEPS_MEMORY {
            *self = None;
        } else if let Some(mut value) = self.take() {
            value.clear(&mut spare.inner);
            spare.free.push(value);
        }
    }
}

/// A sequence.
impl<T: FastMessage> Member for Vec<T> {
    const KEEPS_MEMORY: bool = true;
    const COUNT: u32 = 1 + T::COUNT;
    type Spare = Kept<T, T::Spare>;

    fn takes(field_type: FieldType) -> bool {
        field_type == FieldType::Sequence
    }

    fn bind(binder: &mut Binder<'_>, fields: Fields<'_>, base: u32) -> Result<(), BindError> {
        T::bind(binder, fields, base)
    }

    #[inline]
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) {
        if let Some(number) = number.checked_sub(1) {
            if let Some(element) = self.last_mut() {
                element.set(number, event, &mut spare.inner);
            }
        } else if matches!(event, Event::Element) {
            self.push(spare.free.pop().unwrap_or_default());
        }
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        let index = field.index();
        let base = giver.base(field);
        let at = giver.message.nodes.len();
        giver.message.begin_sequence(index, 0);
        let mut len = 0;
        for element in self {
            giver.message.begin_element(index, len);
            giver.record(element, field.fields(), base);
            giver.message.end_element(index);
            len += 1;
        }
        giver.message.set_len(at, len);
        giver.message.end_sequence(index);
    }

    #[inline]
    fn clear(&mut self, spare: &mut Self::Spare) {
        while let Some(mut element) = self.pop() {
            element.clear(&mut spare.inner);
            spare.free.push(element);
        }
    }
}

/// A group.
impl<T: FastMessage> Member for T {
    const KEEPS_MEMORY: bool = true;
    const COUNT: u32 = 1 + T::COUNT;
    type Spare = T::Spare;

    fn takes(field_type: FieldType) -> bool {
        field_type == FieldType::Group
    }

    fn bind(binder: &mut Binder<'_>, fields: Fields<'_>, base: u32) -> Result<(), BindError> {
        T::bind(binder, fields, base)
    }

    #[inline]
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) {
        if let Some(number) = number.checked_sub(1) {
            FastMessage::set(self, number, event, spare);
        }
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        let base = giver.base(field);
        giver.message.begin_group(field.index());
        giver.record(self, field.fields(), base);
        giver.message.end_group(field.index());
    }

    #[inline]
    fn clear(&mut self, spare: &mut Self::Spare) {
        FastMessage::clear(self, spare);
    }
}
