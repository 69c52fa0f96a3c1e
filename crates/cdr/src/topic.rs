//! The traits that `#[derive(Topic)]` implements.

use alloc::vec::Vec;

use crate::{
    DecodeError, Describe, EncodeError, Extensibility, LengthCode, Reader, TypeDescription, Writer,
};

/// A value with an encoding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a topic type",
    note = "members are numbers, bool, char, Decimal, String, CompactString, Vec, arrays, Option, and types with `#[derive(Topic)]`"
)]
pub trait Encode: Describe {
    /// Whether sequences of it go without a length in bytes: true of numbers, `bool` and `char`.
    const PRIMITIVE: bool = false;
    /// How a mutable struct's member of this type tells its length.
    const LENGTH_CODE: LengthCode;

    /// Appends the value.
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Appends what of the value belongs to a key: of a struct its key members, or all members if
    /// none is marked; all of any other value.
    fn encode_key(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.encode(writer)
    }

    /// Appends the values one after the other, without their count.
    fn encode_all(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        values.iter().try_for_each(|value| value.encode(writer))
    }
}

/// A value that can be read from its encoding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a topic type",
    note = "members are numbers, bool, char, Decimal, String, CompactString, Vec, arrays, Option, and types with `#[derive(Topic)]`"
)]
pub trait Decode: Describe + Sized {
    /// The fewest bytes that a value takes in any representation, at least 1.
    const MIN_SIZE: usize;

    /// The value of a member that the writer left out (XTypes 1.3 §7.2.2.4.4.4.7): zero, empty,
    /// absent, the first literal.
    fn initial() -> Self;

    /// Replaces the value by the next one of the reader, in the memory that it has. On an error
    /// the value is some mixture of both.
    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError>;

    /// Replaces what belongs to a key, see [`Encode::encode_key`]; the rest stays.
    fn decode_key_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        self.decode_into(reader)
    }

    /// Replaces every value of the slice.
    fn decode_all(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        values
            .iter_mut()
            .try_for_each(|value| value.decode_into(reader))
    }

    /// Replaces the contents of `values` by `count` values, a count that the reader has checked
    /// against what remains.
    fn decode_vec(
        values: &mut Vec<Self>,
        count: usize,
        reader: &mut Reader<'_>,
    ) -> Result<(), DecodeError> {
        reader.charge(count.saturating_mul(size_of::<Self>()))?;
        values.truncate(count);
        values.reserve(count.saturating_sub(values.len()));
        values.resize_with(count, Self::initial);
        Self::decode_all(values, reader)
    }
}

/// A struct that can be the type of a topic. Derive it:
///
/// ```
/// use tickwire_cdr::Topic;
///
/// #[derive(Topic)]
/// #[topic(name = "market::Quote", crate = tickwire_cdr)]
/// struct Quote {
///     #[topic(key)]
///     symbol: String,
///     price: f64,
///     #[topic(id = 10)]
///     size: Option<u32>,
/// }
///
/// assert_eq!(Quote::TYPE_NAME, "market::Quote");
/// assert!(Quote::HAS_KEY);
/// ```
///
/// On the struct or enum: `name = "Module::Type"` (else the Rust name), `final`, `appendable`
/// (what the standard assumes) or `mutable`, and `crate = path` where `tickwire` is not a
/// dependency. On an enum also `bit_bound = 8 | 16 | 32`. On a member: `key`, `id = N` (else one
/// more than the member before), `rename = "..."`, `must_understand`, `bound = N` on a `String` or
/// `Vec` (it can make a key short enough to be its own hash), `octet` on a `u8`, `Vec<u8>` or
/// `[u8; N]` where peers say `octet` and not `uint8`. `Option<T>` is an optional member.
/// The same derive serves nested structs and C-like enums.
///
/// What cannot be a topic type does not compile:
///
/// ```compile_fail
/// # use tickwire_cdr::Topic;
/// #[derive(Topic)]
/// #[topic(crate = tickwire_cdr)]
/// struct OptionalKey {
///     #[topic(key)]
///     id: Option<u32>,
/// }
/// ```
///
/// ```compile_fail
/// # use tickwire_cdr::Topic;
/// #[derive(Topic)]
/// #[topic(crate = tickwire_cdr)]
/// struct OneIdTwice {
///     #[topic(id = 1)]
///     one: u32,
///     #[topic(id = 1)]
///     other: u32,
/// }
/// ```
///
/// ```compile_fail
/// # use tickwire_cdr::Topic;
/// #[derive(Topic)]
/// #[topic(crate = tickwire_cdr)]
/// enum NotLikeC {
///     Price(f64),
/// }
/// ```
pub trait Topic: Encode + Decode + Send + 'static {
    /// The name under which peers know the type.
    const TYPE_NAME: &'static str;
    /// How the type may change.
    const EXTENSIBILITY: Extensibility;
    /// Whether the type has key members, so that its samples belong to instances.
    const HAS_KEY: bool;
    /// The type as data.
    const DESCRIPTION: &'static TypeDescription;

    /// The type as data.
    fn description() -> &'static TypeDescription {
        Self::DESCRIPTION
    }
}
