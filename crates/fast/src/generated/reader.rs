//! One message, read field by field. Knows nothing of structs.

use std::sync::Arc;

use super::Op;
use crate::bit_group;
use crate::dictionary::{Dictionary, Entries};
use crate::operator::{self, decimal_of};
use crate::wire::{Input, PresenceMap};
use crate::{
    Code, CompactString, Decimal, DecodeError, DecoderOptions, EncodeError, ResetPolicy,
    TemplateId, session,
};

/// What a decoder knows from message to message.
#[derive(Clone, Debug)]
pub(super) struct Session<E> {
    dictionary: Dictionary<E>,
    template_id: Option<u32>,
    kept: Kept,
}

/// Memory that is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) scratch: Vec<u8>,
    /// Strings and byte vectors of members that became absent, for those that come back.
    pub(super) texts: Vec<CompactString>,
    pub(super) vectors: Vec<Vec<u8>>,
}

impl<E: Entries> Session<E> {
    pub(super) fn new(entries: E) -> Self {
        Self {
            dictionary: Dictionary::of(entries),
            template_id: None,
            kept: Kept::default(),
        }
    }

    pub(super) fn reset(&mut self) {
        self.dictionary.reset();
        self.template_id = None;
    }

    pub(super) fn lose(&mut self) {
        self.dictionary.lose();
        self.template_id = None;
    }
}

/// What is wrong with a message, and where.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    code: Code,
    field: Option<u32>,
    element: Option<u32>,
    template: Option<&'static str>,
    unknown_template: Option<TemplateId>,
}

impl Fault {
    #[cold]
    #[inline(never)]
    pub(super) fn of_field(code: Code, field: u32) -> Self {
        Self {
            field: Some(field),
            ..Self::of(code)
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn of(code: Code) -> Self {
        Self {
            code,
            field: None,
            element: None,
            template: None,
            unknown_template: None,
        }
    }

    /// No template has this id.
    #[cold]
    pub fn unknown_template(id: u32) -> Self {
        Self {
            unknown_template: Some(TemplateId(id)),
            ..Self::of(Code::D9)
        }
    }

    pub(super) fn is_unknown_template(&self) -> bool {
        self.unknown_template.is_some() && self.template.is_none()
    }

    /// The same in this template, unless it is in one within.
    #[cold]
    pub fn in_template(mut self, name: &'static str) -> Self {
        self.template.get_or_insert(name);
        self
    }

    /// The same in this field, unless it is in one within.
    #[cold]
    pub fn in_field(mut self, field: u32) -> Self {
        self.field.get_or_insert(field);
        self
    }

    /// The same in this element of a sequence, unless it is in one within.
    #[cold]
    pub fn in_element(mut self, field: u32, index: u32) -> Self {
        self.element.get_or_insert(index);
        self.in_field(field)
    }

    /// A mandatory value is missing.
    #[cold]
    pub fn missing() -> Self {
        Self::of(Code::Missing)
    }

    #[cold]
    pub(super) fn into_encode_error(self, paths: &[&str]) -> EncodeError {
        let path = |field| paths.get(usize::try_from(field).ok()?).copied();
        EncodeError {
            code: self.code,
            template: self.template.map(Arc::from),
            field: self.field.and_then(path).map(Arc::from),
            element: self.element,
        }
    }

    #[cold]
    pub(super) fn into_error(self, offset: usize, paths: &[&str]) -> DecodeError {
        let path = |field| paths.get(usize::try_from(field).ok()?).copied();
        DecodeError {
            code: self.code,
            offset,
            template: self.template.map(Arc::from),
            unknown_template: self.unknown_template,
            field: self.field.and_then(path).map(Arc::from),
            element: self.element,
        }
    }
}

/// The bytes of one message, and everything that its fields are decoded with.
#[derive(Debug)]
pub struct Reader<'a, E> {
    pub(super) input: Input<'a>,
    pub(super) dictionary: &'a mut Dictionary<E>,
    pub(super) kept: &'a mut Kept,
    pub(super) budget: u32,
    template_id: &'a mut Option<u32>,
    options: &'a DecoderOptions,
    depth: u32,
    /// Where the last template id was read.
    at_id: usize,
}

impl<'a, E: Entries> Reader<'a, E> {
    #[inline]
    pub(super) fn new(
        bytes: &'a [u8],
        options: &'a DecoderOptions,
        session: &'a mut Session<E>,
    ) -> Self {
        let input = Input::new(bytes, options.strict);
        Self {
            at_id: 0,
            input,
            dictionary: &mut session.dictionary,
            kept: &mut session.kept,
            budget: options.budget,
            template_id: &mut session.template_id,
            options,
            depth: 0,
        }
    }

    #[inline]
    pub(super) fn offset(&self) -> usize {
        self.input.offset()
    }

    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.input.remaining() == 0
    }

    /// A message begins, with a budget of its own.
    #[inline(always)]
    pub(super) fn begin_message(&mut self) {
        self.budget = self.options.budget;
        self.depth = 0;
        if self.options.reset == ResetPolicy::Message {
            self.dictionary.reset();
            *self.template_id = None;
        }
    }

    /// A presence map.
    #[inline(always)]
    pub fn map(&mut self) -> Result<Bits<'a>, Fault> {
        match self.input.presence_map() {
            Ok(map) => Ok(Bits(map.begun())),
            Err(code) => Err(Fault::of(code)),
        }
    }

    /// All bits of a segment were taken: what is left over is R8 in strict mode.
    #[inline(always)]
    pub fn end(&self, map: impl Map) -> Result<(), Fault> {
        match map.check_used(self) {
            Ok(()) => Ok(()),
            Err(code) => Err(Fault::of(code)),
        }
    }

    /// The id of the template that follows, by its implicit copy operator (§10).
    #[inline(always)]
    pub(super) fn template_id(&mut self, map: &mut Bits<'_>) -> Result<u32, Fault> {
        self.at_id = self.input.offset();
        if map.0.bit() {
            match self.input.unsigned(u32::MAX.into()) {
                // The largest value makes it fit.
                Ok(id) => Ok(id as u32),
                Err(code) => Err(Fault::of(code)),
            }
        } else {
            let Some(id) = *self.template_id else {
                return Err(Fault::of(self.dictionary.undefined()));
            };
            Ok(id)
        }
    }

    /// A message of this template begins.
    #[inline(always)]
    pub fn begin(&mut self, id: u32, resets: bool) {
        *self.template_id = Some(id);
        self.begin_default(resets);
        // SCP: after this message the session begins anew.
        if resets && id == session::RESET.0 && self.options.reset != ResetPolicy::Never {
            *self.template_id = None;
        }
    }

    /// A message of the default template begins.
    #[inline(always)]
    pub fn begin_default(&mut self, resets: bool) {
        if resets && self.options.reset != ResetPolicy::Never {
            self.dictionary.reset();
        }
    }

    /// Whether a message without an id is of the default template: there is none to copy, and none was lost.
    pub(super) fn is_default(&self, has_ids: bool) -> bool {
        self.template_id.is_none() && !(has_ids && self.dictionary.is_lost())
    }

    /// An integer, or an optional one.
    #[inline(always)]
    pub fn integer<T: Integer>(&mut self, op: &Op, present: bool) -> Result<T, Fault> {
        T::read(op, present, self)
    }

    /// An element of an enumeration, or an optional one.
    #[inline(always)]
    pub fn enumeration<T: Choice>(&mut self, op: &Op, present: bool) -> Result<T, Fault> {
        choice(op, Option::<u64>::read(op, present, self)?)
    }

    /// A decimal with one operator, or an optional one.
    #[inline(always)]
    pub fn decimal<T: Number>(&mut self, op: &Op, present: bool) -> Result<T, Fault> {
        let mut input = self.input;
        let value = operator::decimal(&op.spec, &mut input, present, self.dictionary);
        self.input = input;
        match value {
            Ok(value) => T::of(value, op),
            Err(code) => Err(Fault::of_field(code, op.field)),
        }
    }

    /// A decimal with an operator for each part. The mantissa is there, with its presence bit, only if the exponent is
    /// (§10.5.1).
    #[inline(always)]
    pub fn split_decimal<T: Number>(
        &mut self,
        exponent: &Op,
        mantissa: &Op,
        map: &mut impl Map,
    ) -> Result<T, Fault> {
        let present = !exponent.spec.uses_map || map.bit();
        let Some(power) = self.part(exponent, present)? else {
            return T::of(None, exponent);
        };
        let present = !mantissa.spec.uses_map || map.bit();
        let Some(digits) = self.part(mantissa, present)? else {
            return T::of(None, mantissa);
        };
        match decimal_of(power, digits) {
            Ok(value) => T::of(Some(value), exponent),
            Err(code) => Err(Fault::of_field(code, exponent.field)),
        }
    }

    #[inline(always)]
    fn part(&mut self, op: &Op, present: bool) -> Result<Option<i64>, Fault> {
        match operator::integer::<i64>(&op.spec, &mut self.input, present, self.dictionary) {
            Ok(part) => Ok(part),
            Err(code) => Err(Fault::of_field(code, op.field)),
        }
    }

    /// A message of this weight in the budget begins.
    ///
    /// # Errors
    /// `Limit` where the budget has less.
    #[inline(always)]
    pub fn charge(&mut self, weight: u32) -> Result<(), Fault> {
        match self.spend(weight.into()) {
            Ok(()) => Ok(()),
            Err(code) => Err(Fault::of(code)),
        }
    }

    /// Takes what cost the sender no bytes from what the message may grow by.
    #[inline(always)]
    pub(super) fn spend(&mut self, cost: u64) -> Result<(), Code> {
        let left = u64::from(self.budget).checked_sub(cost);
        self.budget = left.ok_or(Code::Limit)? as u32;
        Ok(())
    }

    /// The number of a sequence's elements, each of at least `min_bytes` bytes and of this weight in the budget.
    #[inline(always)]
    pub fn length<T: Integer + Into<Option<u32>> + Copy>(
        &mut self,
        op: &Op,
        present: bool,
        min_bytes: u32,
        weight: u32,
    ) -> Result<T, Fault> {
        let length = T::read(op, present, self)?;
        let count = u64::from(length.into().unwrap_or(0));
        if count * u64::from(min_bytes) > self.input.remaining() as u64 {
            return Err(Fault::of_field(Code::Truncated, op.field));
        }
        match self.spend(count * u64::from(weight)) {
            Ok(()) => Ok(length),
            Err(code) => Err(Fault::of_field(code, op.field)),
        }
    }

    /// The packed fields of a bit group.
    #[inline]
    pub fn bit_group(&mut self, op: &Op, present: bool) -> Result<Packed, Fault> {
        let mut input = self.input;
        let packed = bit_group::decode(&op.spec, &mut input, present, self.dictionary);
        self.input = input;
        match packed {
            Ok(bits) => Ok(Packed {
                bits,
                left: op.spec.width,
            }),
            Err(code) => Err(Fault::of_field(code, op.field)),
        }
    }
}

impl<'a, E: Entries> Reader<'a, E> {
    /// A dynamic template reference begins: a message within the message, below `levels` groups and elements of its
    /// template. Gives the id of the template with its presence map (§10.5).
    ///
    /// # Errors
    /// `Depth` where the decoder's options allow no more.
    #[inline(never)]
    pub fn begin_inner(&mut self, levels: u32) -> Result<(u32, Bits<'a>), Fault> {
        if self.depth + levels >= self.options.max_depth.min(MAX_DEPTH) {
            return Err(Fault::of(Code::Depth));
        }
        let mut map = self.map()?;
        let id = self.template_id(&mut map)?;
        self.depth += levels + 1;
        Ok((id, map))
    }

    /// The inner message is complete.
    pub fn end_inner(&mut self, levels: u32) {
        self.depth -= levels + 1;
    }

    /// No template has the id of an inner message.
    #[cold]
    pub fn unknown_inner(&mut self, id: u32) -> Fault {
        self.back_to_id();
        Fault::unknown_template(id)
    }

    pub(super) fn back_to_id(&mut self) {
        self.input.back_to(self.at_id);
    }
}

/// The bits of a presence map that were not taken yet.
pub trait Map {
    /// The next bit.
    fn bit(&mut self) -> bool;
    #[doc(hidden)]
    fn check_used(&self, reader: &Reader<'_, impl Entries>) -> Result<(), Code>;
}

/// The map of a segment that uses at most [`MAX_SHORT`](Self::MAX_SHORT) bits.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a>(PresenceMap<'a>);

/// The map of any segment.
#[derive(Clone, Copy, Debug)]
pub struct LongBits<'a>(PresenceMap<'a>);

impl<'a> Bits<'a> {
    /// The map of a segment that has none.
    pub const NONE: Self = Self(PresenceMap::none());
    /// Most bits that may be taken.
    pub const MAX_SHORT: u32 = 63;

    /// The same for a segment that may use more bits.
    #[inline]
    pub fn long(self) -> LongBits<'a> {
        LongBits(self.0)
    }
}

impl Map for Bits<'_> {
    #[inline(always)]
    fn bit(&mut self) -> bool {
        self.0.early_bit()
    }

    #[inline(always)]
    fn check_used(&self, reader: &Reader<'_, impl Entries>) -> Result<(), Code> {
        reader.input.check_used(&self.0)
    }
}

impl Map for LongBits<'_> {
    #[inline]
    fn bit(&mut self) -> bool {
        self.0.bit()
    }

    fn check_used(&self, reader: &Reader<'_, impl Entries>) -> Result<(), Code> {
        reader.input.check_used(&self.0)
    }
}

/// A type that integer fields have in structs.
pub trait Integer: Sized {
    #[doc(hidden)]
    fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault>;
    #[doc(hidden)]
    fn unpack(op: &Op, bits: u64) -> Result<Self, Fault>;
}

macro_rules! integer {
    ($($narrow:ty as $wide:ty, $unpack:ident;)*) => {$(
        impl Integer for $narrow {
            #[inline(always)]
            fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
                let Reader { input, dictionary, .. } = reader;
                match operator::integer::<$wide>(&op.spec, input, present, dictionary) {
                    // The largest value of the instruction makes it fit.
                    Ok(Some(value)) => Ok(value as Self),
                    Ok(None) => Err(Fault::of_field(Code::D5, op.field)),
                    Err(code) => Err(Fault::of_field(code, op.field)),
                }
            }

            fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
                match $unpack(op, bits)? {
                    Some(value) => Ok(value as Self),
                    None => Err(Fault::of_field(Code::D5, op.field)),
                }
            }
        }

        impl Integer for Option<$narrow> {
            #[inline(always)]
            fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
                let Reader { input, dictionary, .. } = reader;
                match operator::integer::<$wide>(&op.spec, input, present, dictionary) {
                    Ok(value) => Ok(value.map(|value| value as $narrow)),
                    Err(code) => Err(Fault::of_field(code, op.field)),
                }
            }

            fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
                Ok($unpack(op, bits)?.map(|value| value as $narrow))
            }
        }
    )*};
}

integer! {
    u8 as u64, unsigned_of;
    u16 as u64, unsigned_of;
    u32 as u64, unsigned_of;
    u64 as u64, unsigned_of;
    i8 as i64, signed_of;
    i16 as i64, signed_of;
    i32 as i64, signed_of;
    i64 as i64, signed_of;
}

fn unsigned_of(op: &Op, bits: u64) -> Result<Option<u64>, Fault> {
    bit_group::field(&op.spec, bits).map_err(|code| Fault::of_field(code, op.field))
}

fn signed_of(op: &Op, bits: u64) -> Result<Option<i64>, Fault> {
    Ok(Some(bit_group::signed_field(&op.spec, bits)))
}

impl Integer for bool {
    #[inline(always)]
    fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
        Ok(u64::read(op, present, reader)? != 0)
    }

    fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
        Ok(u64::unpack(op, bits)? != 0)
    }
}

impl Integer for Option<bool> {
    #[inline(always)]
    fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
        Ok(Option::<u64>::read(op, present, reader)?.map(|value| value != 0))
    }

    fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
        Ok(Option::<u64>::unpack(op, bits)?.map(|value| value != 0))
    }
}

/// The enum of an enumeration.
pub trait Choice: Sized {
    /// The element with this number; `None`: there is none, or it has to be there and is not.
    fn of(number: Option<u64>) -> Option<Self>;
}

impl<T: Choice> Choice for Option<T> {
    #[inline(always)]
    fn of(number: Option<u64>) -> Option<Self> {
        match number {
            Some(number) => T::of(Some(number)).map(Some),
            None => Some(None),
        }
    }
}

#[inline(always)]
fn choice<T: Choice>(op: &Op, number: Option<u64>) -> Result<T, Fault> {
    match T::of(number) {
        Some(element) => Ok(element),
        None => Err(Fault::of_field(Code::D2, op.field)),
    }
}

/// A decimal or an optional one.
pub trait Number: Sized {
    #[doc(hidden)]
    fn of(value: Option<Decimal>, op: &Op) -> Result<Self, Fault>;
}

impl Number for Decimal {
    #[inline(always)]
    fn of(value: Option<Decimal>, op: &Op) -> Result<Self, Fault> {
        match value {
            Some(value) => Ok(value),
            None => Err(Fault::of_field(Code::D5, op.field)),
        }
    }
}

impl Number for Option<Decimal> {
    #[inline(always)]
    fn of(value: Option<Decimal>, _: &Op) -> Result<Self, Fault> {
        Ok(value)
    }
}

/// The fields of a bit group that were not taken yet.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    bits: u64,
    left: u8,
}

impl Packed {
    /// The next field, an enumeration.
    pub fn enumeration<T: Choice>(&mut self, op: &Op) -> Result<T, Fault> {
        choice(op, self.integer(op)?)
    }

    /// The next field.
    pub fn integer<T: Integer>(&mut self, op: &Op) -> Result<T, Fault> {
        self.left = self.left.saturating_sub(op.spec.width);
        let bits = self.bits.checked_shr(self.left.into()).unwrap_or(0);
        T::unpack(op, bits & bit_group::mask(op.spec.width.into()))
    }
}

/// Levels that fit the stack of any thread, with those that a template's own groups and sequences may add.
const MAX_DEPTH: u32 = 256;
