//! One message, written field by field. Knows nothing of structs but the types of their members.

use super::Fault;
use super::{Encode, Op, Protocol};
use crate::bit_group;
use crate::dictionary::{Dictionary, Entries};
use crate::encode_operator::{self, Target};
use crate::encoder::split_decimal;
use crate::output::{self, MapWriter as Bits};
use crate::plan::Kind;
use crate::{Code, Decimal, Operator, ResetPolicy, session};

/// What an encoder knows from message to message, and where it writes.
#[derive(Debug)]
pub struct Writer<'a, E> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) dictionary: &'a mut Dictionary<E>,
    pub(super) template_id: &'a mut Option<u32>,
    pub(super) reset: ResetPolicy,
    pub(super) depth: u32,
}

/// A presence map in the making.
#[derive(Debug)]
pub struct MapWriter(Bits);

impl<E: Entries> Writer<'_, E> {
    /// A message, from its presence map on.
    #[inline(always)]
    pub(super) fn message<P, T>(&mut self, message: &T, is_outermost: bool) -> Result<(), Fault>
    where
        P: Protocol<Entries = E>,
        T: Encode<P>,
    {
        let known = *self.template_id;
        let new = match T::ID {
            _ if T::IS_DEFAULT && is_outermost && known.is_none() => None,
            Some(id) => Some(id).filter(|_| known != Some(id)),
            None if is_outermost => return Err(Fault::of(Code::D9).in_template(T::NAME)),
            None => return Err(Fault::of(Code::D9)),
        };
        let mut map = self.map(T::MAP_BITS);
        self.bit(new.is_some(), &mut map);
        if let Some(id) = new {
            output::unsigned(self.out, id.into());
            *self.template_id = new;
        }
        if is_outermost && T::RESETS && self.reset != ResetPolicy::Never {
            self.dictionary.reset();
            // SCP: after this message the session begins anew.
            self.template_id.take_if(|id| *id == session::RESET.0);
        }
        message
            .encode(&mut map, self)
            .map_err(|fault| fault.in_template(T::NAME))?;
        self.end(&mut map);
        Ok(())
    }

    /// A message within another, at a dynamic template reference.
    ///
    /// # Errors
    /// `Depth` if there are too many within one another.
    pub fn inner<P, T>(&mut self, message: &T) -> Result<(), Fault>
    where
        P: Protocol<Entries = E>,
        T: Encode<P>,
    {
        if self.depth >= MAX_DEPTH {
            return Err(Fault::of(Code::Depth));
        }
        self.depth += 1;
        self.message(message, false)?;
        self.depth -= 1;
        Ok(())
    }

    /// The presence map of a segment of up to `max_bits`; none if that is 0.
    #[inline(always)]
    pub fn map(&mut self, max_bits: u32) -> MapWriter {
        MapWriter(match max_bits {
            0 => Bits::none(),
            _ => Bits::new(self.out, max_bits),
        })
    }

    /// The segment is complete.
    #[inline(always)]
    pub fn end(&mut self, map: &mut MapWriter) {
        let map = core::mem::replace(&mut map.0, Bits::none());
        if !map.is_none() {
            map.finish(self.out);
        }
    }

    /// The presence bit of a group.
    #[inline(always)]
    pub fn bit(&mut self, bit: bool, map: &mut MapWriter) {
        map.0.push(self.out, bit);
    }

    /// A mandatory constant, which takes no bytes.
    #[inline(always)]
    pub fn constant(&mut self, has_value: bool, field: u32) -> Result<(), Fault> {
        if has_value {
            Ok(())
        } else {
            Err(Fault::of_field(Code::Unencodable, field))
        }
    }

    /// An integer, or an optional one.
    #[inline(always)]
    pub fn integer<T: Value>(
        &mut self,
        op: &Op,
        value: T,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        value
            .write(op, map, self)
            .map_err(|code| Fault::of_field(code, op.field))
    }

    /// A decimal with one operator, or an optional one.
    pub fn decimal(
        &mut self,
        op: &Op,
        value: impl Into<Option<Decimal>>,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        let done = encode_operator::decimal(&op.spec, value.into(), &mut self.target(map));
        done.map_err(|code| Fault::of_field(code, op.field))
    }

    /// A decimal with an operator for each part.
    #[inline(always)]
    pub fn split_decimal(
        &mut self,
        exponent: &Op,
        mantissa: &Op,
        value: impl Into<Option<Decimal>>,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        let mut target = self.target(map);
        let done = split_decimal(&exponent.spec, &mantissa.spec, value.into(), &mut target);
        done.map_err(|code| Fault::of_field(code, exponent.field))
    }

    /// An ASCII string; `initial` is the template's. One of a single character, which most strings of feeds are, is
    /// written without a call.
    #[inline(always)]
    pub fn ascii<'v>(
        &mut self,
        op: &Op,
        initial: &str,
        value: impl Into<Option<&'v str>>,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        let value = value.into().map(str::as_bytes);
        if self.single(op, initial.as_bytes(), value, map) {
            return Ok(());
        }
        self.text(Kind::Ascii, op, initial.as_bytes(), value, map)
    }

    /// Whether that is a string of one character or an absent one, and written.
    #[inline(always)]
    fn single(
        &mut self,
        op: &Op,
        initial: &[u8],
        value: Option<&[u8]>,
        map: &mut MapWriter,
    ) -> bool {
        let byte = match value {
            Some([char @ 1..0x80]) => char | STOP,
            None if op.spec.optional => STOP,
            _ => return false,
        };
        let is_sent = match op.spec.operator {
            Operator::None => true,
            Operator::Default => value != op.spec.has_initial.then_some(initial),
            Operator::Copy => {
                let (Some(value), Some(previous)) =
                    (value, self.dictionary.known_text(op.spec.slot, op.spec.tag))
                else {
                    return false;
                };
                let is_new = value != previous;
                if is_new {
                    let previous = self.dictionary.assign_text(op.spec.slot, op.spec.tag);
                    previous.clear();
                    previous.push(byte & !STOP);
                }
                is_new
            }
            _ => return false,
        };
        if op.spec.uses_map {
            self.bit(is_sent, map);
        }
        if is_sent {
            self.out.push(byte);
        }
        true
    }

    /// A Unicode string; `initial` is the template's.
    #[inline(always)]
    pub fn unicode<'v>(
        &mut self,
        op: &Op,
        initial: &str,
        value: impl Into<Option<&'v str>>,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        let value = value.into().map(str::as_bytes);
        self.text(Kind::Unicode, op, initial.as_bytes(), value, map)
    }

    /// A byte vector; `initial` is the template's.
    #[inline(always)]
    pub fn bytes<'v>(
        &mut self,
        op: &Op,
        initial: &[u8],
        value: impl Into<Option<&'v [u8]>>,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        self.text(Kind::Bytes, op, initial, value.into(), map)
    }

    #[inline(never)]
    fn text(
        &mut self,
        kind: Kind,
        op: &Op,
        initial: &[u8],
        value: Option<&[u8]>,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        let done = encode_operator::text(kind, &op.spec, initial, value, &mut self.target(map));
        done.map_err(|code| Fault::of_field(code, op.field))
    }

    /// The number of a sequence's elements.
    #[inline(always)]
    pub fn length(
        &mut self,
        op: &Op,
        len: impl Into<Option<usize>>,
        map: &mut MapWriter,
    ) -> Result<(), Fault> {
        self.integer(op, len.into().map(|len| len as u64), map)
    }

    /// The bits of a bit group with a further field.
    #[inline]
    pub fn pack<T: Value>(&mut self, packed: u64, op: &Op, value: T) -> Result<u64, Fault> {
        let packed = value.pack(packed, op);
        packed.map_err(|code| Fault::of_field(code, op.field))
    }

    /// A bit group.
    pub fn bit_group(&mut self, op: &Op, packed: u64, map: &mut MapWriter) -> Result<(), Fault> {
        let sent = bit_group::encode(&op.spec, packed, self.out, self.dictionary)
            .map_err(|code| Fault::of_field(code, op.field))?;
        if op.spec.uses_map {
            self.bit(sent, map);
        }
        Ok(())
    }

    #[inline(always)]
    fn target<'t>(&'t mut self, map: &'t mut MapWriter) -> Target<'t, E> {
        Target {
            out: self.out,
            map: &mut map.0,
            dictionary: self.dictionary,
        }
    }
}

/// An integer member's value, or an optional one.
pub trait Value: Copy {
    #[doc(hidden)]
    fn write(
        self,
        op: &Op,
        map: &mut MapWriter,
        writer: &mut Writer<'_, impl Entries>,
    ) -> Result<(), Code>;
    #[doc(hidden)]
    fn pack(self, packed: u64, op: &Op) -> Result<u64, Code>;
}

macro_rules! value {
    ($($narrow:ty as $wide:ty, $pack:ident;)*) => {$(
        impl Value for $narrow {
            #[inline(always)]
            fn write(
                self,
                op: &Op,
                map: &mut MapWriter,
                writer: &mut Writer<'_, impl Entries>,
            ) -> Result<(), Code> {
                encode_operator::integer(&op.spec, Some(<$wide>::from(self)), &mut writer.target(map))
            }

            fn pack(self, packed: u64, op: &Op) -> Result<u64, Code> {
                $pack(packed, op, Some(self.into()))
            }
        }

        impl Value for Option<$narrow> {
            #[inline(always)]
            fn write(
                self,
                op: &Op,
                map: &mut MapWriter,
                writer: &mut Writer<'_, impl Entries>,
            ) -> Result<(), Code> {
                encode_operator::integer(&op.spec, self.map(<$wide>::from), &mut writer.target(map))
            }

            fn pack(self, packed: u64, op: &Op) -> Result<u64, Code> {
                $pack(packed, op, self.map(<$wide>::from))
            }
        }
    )*};
}

value! {
    u8 as u64, pack_unsigned;
    u16 as u64, pack_unsigned;
    u32 as u64, pack_unsigned;
    u64 as u64, pack_unsigned;
    i8 as i64, pack_signed;
    i16 as i64, pack_signed;
    i32 as i64, pack_signed;
    i64 as i64, pack_signed;
}

fn pack_unsigned(packed: u64, op: &Op, value: Option<u64>) -> Result<u64, Code> {
    bit_group::append(packed, &op.spec, value)
}

fn pack_signed(packed: u64, op: &Op, value: Option<i64>) -> Result<u64, Code> {
    match value {
        Some(value) => bit_group::append_signed(packed, &op.spec, value),
        None => Err(Code::Missing),
    }
}

const STOP: u8 = 0x80;
/// Messages within one another that fit the stack of any thread.
const MAX_DEPTH: u32 = 256;
