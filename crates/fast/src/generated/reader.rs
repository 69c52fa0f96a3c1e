//! One message, read field by field. Knows nothing of structs.

use super::number::choice;
use super::{Bits, Choice, Fault, Integer, Map, Number, Op, Packed};
use crate::bit_group;
use crate::dictionary::{Dictionary, Entries};
use crate::operator::{self, decimal_of};
use crate::wire::Input;
use crate::{Code, CompactString, DecoderOptions, ResetPolicy, session};

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

/// Levels that fit the stack of any thread, with those that a template's own groups and sequences may add.
const MAX_DEPTH: u32 = 256;
