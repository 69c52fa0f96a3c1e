//! What generated code stands on: the decoder around it, and a reader that gives it one field after the other.
//! Generated code has the order of the fields and their types; the field operators are those that the interpreter calls,
//! with everything that a template says as constants.
//!
//! ```text
//! Decoder<Messages> ─► Messages::decode (generated: one match arm per template)
//!                          ─► a function per template (generated: one line per field) ─► Reader ─► operator, wire
//! ```

mod encoder;
mod fault;
mod number;
mod presence;
mod reader;
mod spare;
mod text;
mod writer;

pub use crate::dictionary::{Entries, Entry};
pub use encoder::Encoder;
pub use fault::Fault;
pub use number::{Choice, Integer, Number, Packed};
pub use presence::{Bits, LongBits, Map};
pub use reader::Reader;
pub use spare::Spare;
pub use text::{Bytes, Text};
pub use writer::{MapWriter, Value, Writer};

use crate::plan::Spec;
use crate::{
    Code, Decimal, DecodeError, DecoderOptions, FieldType, Operator, ResetPolicy, TemplateId,
    session,
};
use reader::Session;

/// The messages of a file of templates: what generated code implements for its `Messages`.
pub trait Protocol: Default {
    /// An array of all dictionaries' entries; the first is nobody's.
    type Entries: Entries;
    /// These entries, undefined.
    const ENTRIES: Self::Entries;
    /// Paths of all fields, by field index.
    const FIELD_PATHS: &'static [&'static str];
    /// Whether a template is the default of messages without an id.
    const HAS_DEFAULT: bool = false;
    /// Whether any template has an id.
    const HAS_IDS: bool = true;
}

/// Decodes a message and gives it to a handler.
pub trait Decode<H>: Protocol {
    /// The fields of the message of template `id`, whose presence map and id were read.
    ///
    /// # Errors
    /// What is wrong with the message; D9 if no template has this id.
    fn decode(
        &mut self,
        id: u32,
        map: Bits<'_>,
        reader: &mut Reader<'_, Self::Entries>,
        handler: &mut H,
    ) -> Result<(), Fault>;

    /// The fields of a message of the default template, whose presence map was read.
    ///
    /// # Errors
    /// What is wrong with the message; D5 if there is no such template.
    fn decode_default(
        &mut self,
        _map: Bits<'_>,
        _reader: &mut Reader<'_, Self::Entries>,
        _handler: &mut H,
    ) -> Result<(), Fault> {
        Err(Fault::of(Code::D5))
    }

    /// The session's reset message, which no template defines.
    fn reset(handler: &mut H);
}

/// A struct that is a message of one template.
pub trait Encode<P: Protocol> {
    /// The template's id.
    const ID: Option<u32>;
    /// Whether its messages need none.
    const IS_DEFAULT: bool = false;
    /// The template's name.
    const NAME: &'static str;
    /// Whether dictionaries are reset before such a message.
    const RESETS: bool;
    /// Most presence-map bits that its segment uses, that of the template id included.
    const MAP_BITS: u32;

    /// Writes the fields.
    ///
    /// # Errors
    /// A value that its field cannot have.
    fn encode(&self, map: &mut MapWriter, writer: &mut Writer<'_, P::Entries>)
    -> Result<(), Fault>;
}

/// Decodes the messages of one session, in order, into structs that it keeps and gives to a handler by reference.
/// Allocates nothing once these have had the largest message of each template, but for inner messages of another
/// template than the one before at their place.
///
/// It behaves as [`crate::Decoder`] does: the same reset policies, the same errors. A clone goes on from where the decoder
/// is: it costs a copy of the dictionaries and of the structs.
#[derive(Clone, Debug)]
pub struct Decoder<M: Protocol> {
    messages: M,
    options: DecoderOptions,
    session: Session<M::Entries>,
}

impl<M: Protocol> Default for Decoder<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Protocol> Decoder<M> {
    /// A decoder with default options and all dictionaries undefined.
    pub fn new() -> Self {
        Self::with_options(DecoderOptions::default())
    }

    /// A decoder with these options.
    pub fn with_options(options: DecoderOptions) -> Self {
        Self {
            messages: M::default(),
            options,
            session: Session::new(M::ENTRIES),
        }
    }

    /// Makes all dictionaries undefined and forgets the template id.
    pub fn reset(&mut self) {
        self.session.reset();
    }

    /// Messages were lost before the next one: what all dictionaries held is unknown. A message that needs an unknown
    /// value is refused (`Lost`) and none takes an initial value in its place, until one brings the value whole or the
    /// dictionaries are reset, here or by the policy.
    pub fn lose(&mut self) {
        self.session.lose();
    }

    /// A packet begins: resets if that is the policy. For those who call [`decode`](Self::decode) themselves.
    pub fn begin_packet(&mut self) {
        if self.options.reset == ResetPolicy::Packet {
            self.reset();
        }
    }

    /// Decodes the message at the start of `bytes`, gives it to the handler, and returns how many bytes it took, at
    /// least 1.
    ///
    /// # Errors
    /// What is wrong, with its place; the handler was not called. The decoder is then as after [`lose`](Self::lose):
    /// skip to the next packet.
    #[inline]
    pub fn decode<H>(&mut self, bytes: &[u8], handler: &mut H) -> Result<usize, DecodeError>
    where
        M: Decode<H>,
    {
        let mut reader = Reader::new(bytes, &self.options, &mut self.session);
        match message(&mut self.messages, &mut reader, handler) {
            Ok(()) => Ok(reader.offset()),
            Err(fault) => {
                let offset = reader.offset();
                Err(self.failed(fault, offset))
            }
        }
    }

    /// Decodes a packet: all messages in `bytes`, after a reset if that is the policy. Returns their number.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), with the offset in the packet; the handler has had the messages before the error.
    pub fn decode_packet<H>(&mut self, bytes: &[u8], handler: &mut H) -> Result<usize, DecodeError>
    where
        M: Decode<H>,
    {
        self.begin_packet();
        let mut reader = Reader::new(bytes, &self.options, &mut self.session);
        let mut count = 0;
        while !reader.is_at_end() {
            if let Err(fault) = message(&mut self.messages, &mut reader, handler) {
                let offset = reader.offset();
                return Err(self.failed(fault, offset));
            }
            count += 1;
        }
        Ok(count)
    }

    #[cold]
    fn failed(&mut self, fault: Fault, offset: usize) -> DecodeError {
        self.lose();
        fault.into_error(offset, M::FIELD_PATHS)
    }
}

/// One message of any template.
#[inline(always)]
fn message<H, M: Decode<H>>(
    messages: &mut M,
    reader: &mut Reader<'_, M::Entries>,
    handler: &mut H,
) -> Result<(), Fault> {
    reader.begin_message();
    let mut map = reader.map()?;
    if M::HAS_DEFAULT {
        let mut map = map;
        if !map.bit() && reader.is_default(M::HAS_IDS) {
            return messages.decode_default(map, reader, handler);
        }
    }
    let id = reader.template_id(&mut map)?;
    match messages.decode(id, map, reader, handler) {
        Err(fault) if fault.is_unknown_template() => {
            if TemplateId(id) == session::RESET {
                reader.begin(id, true);
                reader.end(map)?;
                M::reset(handler);
                return Ok(());
            }
            reader.back_to_id();
            Err(fault)
        }
        done => done,
    }
}

/// A field's instruction, made while the program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub(crate) field: u32,
    pub(crate) spec: Spec,
}

impl Op {
    /// The field with this index; mandatory, without an operator.
    pub const fn field(field: u32, field_type: FieldType) -> Self {
        Self {
            field,
            spec: Spec {
                operator: Operator::None,
                optional: false,
                tag: field_type as u8 + 1,
                has_initial: false,
                uses_map: false,
                width: 0,
                exponent: 0,
                slot: 0,
                initial: 0,
                value: 0,
                max: field_type.max(),
            },
        }
    }

    /// The same field, optional.
    pub const fn optional(mut self) -> Self {
        self.spec.optional = true;
        self
    }

    /// With the constant operator.
    pub const fn constant(self) -> Self {
        self.operator(Operator::Constant, 0)
    }

    /// With the default operator.
    pub const fn default(self) -> Self {
        self.operator(Operator::Default, 0)
    }

    /// With the copy operator on this dictionary entry.
    pub const fn copy(self, slot: u32) -> Self {
        self.operator(Operator::Copy, slot)
    }

    /// With the increment operator on this dictionary entry.
    pub const fn increment(self, slot: u32) -> Self {
        self.operator(Operator::Increment, slot)
    }

    /// With the delta operator on this dictionary entry.
    pub const fn delta(self, slot: u32) -> Self {
        self.operator(Operator::Delta, slot)
    }

    /// With the tail operator on this dictionary entry.
    pub const fn tail(self, slot: u32) -> Self {
        self.operator(Operator::Tail, slot)
    }

    /// With an initial value of an unsigned integer.
    pub const fn initial(mut self, value: u64) -> Self {
        self.spec.has_initial = true;
        self.spec.value = value;
        self
    }

    /// With an initial value of a signed integer.
    pub const fn initial_signed(self, value: i64) -> Self {
        self.initial(value.cast_unsigned())
    }

    /// With an initial value of a decimal.
    pub const fn initial_decimal(mut self, mantissa: i64, exponent: i8) -> Self {
        self.spec.exponent = exponent;
        self.initial_signed(mantissa)
    }

    /// With an initial value of a string or byte vector, which the reader is given with the field.
    pub const fn initial_text(mut self) -> Self {
        self.spec.has_initial = true;
        self
    }

    /// With values up to this one only.
    pub const fn max(mut self, max: u64) -> Self {
        self.spec.max = max;
        self
    }

    /// Of so many bits: a bit group, or a field of one.
    pub const fn width(mut self, width: u8) -> Self {
        self.spec.width = width;
        self
    }

    const fn operator(mut self, operator: Operator, slot: u32) -> Self {
        self.spec.operator = operator;
        self.spec.slot = slot;
        self.spec.uses_map = operator.uses_map(self.spec.optional);
        self
    }
}

/// A decimal of a template's constant, whose exponent is in range.
pub fn decimal(mantissa: i64, exponent: i8) -> Decimal {
    Decimal::new(mantissa, exponent).unwrap_or_default()
}
