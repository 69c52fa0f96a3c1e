//! The types that members of structs can have, and what each does with the values of its field. Knows nothing of how
//! members find their fields.

use super::{BindError, Binder, FastMessage, Giver, convert};
use crate::field::FieldType;
use crate::templates::{Field, Fields};
use crate::{Code, CompactString, Decimal, Visitor};

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

    /// Whether values of fields of this type convert to it, if only some of them (FAST 1.1 §8).
    fn takes(field_type: FieldType) -> bool;
    /// Binds the members below it, the first of which has the number `base`.
    ///
    /// # Errors
    /// As [`FastMessage::bind`].
    fn bind(_binder: &mut Binder<'_>, _fields: Fields<'_>, _base: u32) -> Result<(), BindError> {
        Ok(())
    }
    /// Takes an event; 0 is its own number, others are of members below it.
    ///
    /// # Errors
    /// The value does not convert to the member's type (D10, D11, R1, R4, R5).
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) -> Result<(), Code>;
    /// Hands its value to a message, which takes it as the field's type or notes why not.
    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>);
    /// Back to no value.
    fn clear(&mut self, spare: &mut Self::Spare);
}

macro_rules! integer_member {
    ($($type:ty => $event:ident),*) => {$(
        impl Member for $type {
            type Spare = ();

            fn takes(field_type: FieldType) -> bool {
                field_type.is_integer() || field_type.is_string() || field_type == FieldType::Decimal
            }

            #[inline]
            fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) -> Result<(), Code> {
                *self = convert::integer(event)?;
                Ok(())
            }

            fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
                giver.value(field, Event::$event((*self).into()));
            }

            #[inline]
            fn clear(&mut self, (): &mut ()) {
                *self = 0;
            }
        }
    )*};
}

integer_member!(u8 => Unsigned, u16 => Unsigned, u32 => Unsigned, u64 => Unsigned);
integer_member!(i8 => Signed, i16 => Signed, i32 => Signed, i64 => Signed);

impl Member for Decimal {
    type Spare = ();

    fn takes(field_type: FieldType) -> bool {
        i64::takes(field_type)
    }

    #[inline]
    fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) -> Result<(), Code> {
        *self = convert::decimal(event)?;
        Ok(())
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        giver.value(field, Event::Decimal(*self));
    }

    #[inline]
    fn clear(&mut self, (): &mut ()) {
        *self = Self::default();
    }
}

macro_rules! string_member {
    ($($type:ty),*) => {$(
        impl Member for $type {
            const KEEPS_MEMORY: bool = true;
            type Spare = ();

            fn takes(field_type: FieldType) -> bool {
                !field_type.is_container()
            }

            #[inline]
            fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) -> Result<(), Code> {
                Self::clear(self);
                convert::text(event, self)
            }

            fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
                giver.value(field, Event::Text(self));
            }

            #[inline]
            fn clear(&mut self, (): &mut ()) {
                Self::clear(self);
            }
        }
    )*};
}

string_member!(String, CompactString);

impl Member for Vec<u8> {
    const KEEPS_MEMORY: bool = true;
    type Spare = ();

    fn takes(field_type: FieldType) -> bool {
        field_type == FieldType::ByteVector || field_type.is_string()
    }

    #[inline]
    fn set(&mut self, _: u32, event: Event<'_>, (): &mut ()) -> Result<(), Code> {
        Self::clear(self);
        convert::bytes(event, self)
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        giver.value(field, Event::Bytes(self));
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
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) -> Result<(), Code> {
        let value = self.get_or_insert_with(|| spare.free.pop().unwrap_or_default());
        value.set(number, event, &mut spare.inner)
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
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) -> Result<(), Code> {
        if let Some(number) = number.checked_sub(1) {
            if let Some(element) = self.last_mut() {
                return element.set(number, event, &mut spare.inner);
            }
        } else if matches!(event, Event::Element) {
            self.push(spare.free.pop().unwrap_or_default());
        }
        Ok(())
    }

    fn give(&self, field: Field<'_>, giver: &mut Giver<'_>) {
        let index = field.index();
        let base = giver.base(field);
        let at = giver.message.nodes.len();
        giver.message.begin_sequence(index, 0);
        let mut len = 0;
        for element in self {
            let outer = giver.element.replace(len);
            giver.message.begin_element(index, len);
            giver.record(element, field.fields(), base);
            giver.message.end_element(index);
            giver.element = outer;
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
    fn set(&mut self, number: u32, event: Event<'_>, spare: &mut Self::Spare) -> Result<(), Code> {
        match number.checked_sub(1) {
            Some(number) => FastMessage::set(self, number, event, spare),
            None => Ok(()),
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
