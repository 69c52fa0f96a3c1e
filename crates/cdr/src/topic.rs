//! The traits that `#[derive(Topic)]` implements.

use alloc::vec::Vec;

use crate::{
    DecodeError, Describe, EncodeError, Extensibility, LengthCode, Reader, TypeDescription, Writer,
};

/// A value with an encoding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a topic type",
    note = "members are numbers, bool, char, Decimal, String, CompactString, WString, WChar, Vec, arrays, BTreeMap, Option, Box, and types with `#[derive(Topic)]`"
)]
pub trait Encode: Describe {
    /// Whether sequences of it go without a length in bytes: true of numbers, `bool` and `char`.
    const PRIMITIVE: bool = false;
    /// Whether an array of it goes without a length in bytes: true of arrays of primitives, too,
    /// since an array of arrays is one of several dimensions.
    const FLAT_PRIMITIVE: bool = Self::PRIMITIVE;
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

    /// Appends the elements of an array: of arrays, their elements.
    fn encode_flat(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        Self::encode_all(values, writer)
    }

    /// Appends what of the elements of an array belongs to a key.
    fn encode_key_flat(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        values.iter().try_for_each(|value| value.encode_key(writer))
    }
}

/// A value that can be read from its encoding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a topic type",
    note = "members are numbers, bool, char, Decimal, String, CompactString, WString, WChar, Vec, arrays, BTreeMap, Option, Box, and types with `#[derive(Topic)]`"
)]
pub trait Decode: Describe + Sized {
    /// The fewest bytes that a value takes in any representation, at least 1.
    const MIN_SIZE: usize;
    /// Whether values have no bytes: those of a final struct without members. Where members have headers such a value is
    /// there if its header is, though an empty value otherwise is an optional member that is absent.
    const IS_EMPTY: bool = false;

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

    /// Replaces the elements of an array: of arrays, their elements.
    fn decode_flat(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        Self::decode_all(values, reader)
    }

    /// Replaces what of the elements of an array belongs to a key.
    fn decode_key_flat(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        values
            .iter_mut()
            .try_for_each(|value| value.decode_key_into(reader))
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
/// On any type: `name = "module::Type"` (else the Rust name), `final`, `appendable` (what the
/// standard assumes) or `mutable`, and `crate = path` where `tickwire` is not a dependency.
///
/// A struct may also be `nested` and have `hash_ids` (`@autoid(HASH)`); one that is `nested` and `final` may have no
/// members. On its members: `key`,
/// `id = N` (else one more than the member before), `hash_id` or `hash_id = "text"`,
/// `rename = "..."`, `must_understand`, `default = value` (else zero, empty, the first literal) for
/// when the writer left it out, `non_serialized` on a field that is not to travel (XTypes 1.3 §7.3.1.2.1: it is neither in
/// samples nor in the type that peers are told of, has an id all the same, is its default in a sample that is read, and
/// belongs to no key; with a `default` it may be of any type), `try_construct = use_default` or `= trim` (else `discard`, which
/// drops the sample; see [`TryConstruct`](crate::TryConstruct)) on one that is no key, for values that its type cannot hold,
/// `bound = N` on strings, `Vec` and maps, `bound(N, M)` where
/// their elements have a bound, too (0 for none; bounds are kept when writing and reading, and can
/// make a key short enough to be its own hash), `octet` on a `u8`, or on a `Vec` or array of them, where
/// peers say `octet` and not `uint8`. What keys and values of a map have is said in `map_key(...)` and
/// `map_value(...)`: `map_key(bound = 8), map_value(octet)`. `Option<T>` is an optional member, `Box<T>` an `@external`
/// one, `[[T; N]; M]` an array of two dimensions. What belongs to the key of a nested struct are its
/// own key members, or all members if it has none. A type may contain itself behind a `Vec`, a
/// `BTreeMap`, or a `Box` that can be absent; values that nest more than 64 deep are not read.
///
/// A struct may be `#[repr(C, packed(4))]`, or packed otherwise, if its fields are `Copy`: XCDR2 aligns nothing to more than
/// four bytes, and so has in its payloads what such a struct of numbers has in memory, which can then be lent. Its members are
/// decoded beside it and then moved there: one that cannot be decoded keeps its old value, where that of another struct is
/// left as some mixture of both.
///
/// An enum without fields is an enumeration: `bit_bound = 1..=32` (else 32), `rename` on variants,
/// `default` on the one that is meant where the writer left the member out.
///
/// An enum with fields is a union. `discriminator = Type` names an integer, `bool`, `char`, `WChar` or an
/// enumeration (else `i32`), `octet` says that a `u8` is one there, `key` makes the discriminator alone its part of a key. On variants:
/// `case = label` or `case(label, ...)` (else one more than the label before), `default` or
/// `default = label` for all other labels, `initial = value` (else zero, empty, the first literal) for a field that the
/// writer left out, and what members have. A variant without a field stands
/// for labels without a member. The first label, or the default's, is the one that is written.
/// Members are named like the variants, `stop_limit` for `StopLimit`.
///
/// A struct around `u8` to `u64` with `flags(NAME, OTHER = 3)` is a bitmask, with a constant for each
/// flag: `bit_bound` says how many of the number's bits there are.
///
/// A struct with `bitset` is that: its fields, integers and `bool`, lie in one number of up to 64 bits, the first in the
/// lowest. `bits = N` says how many a field has, `position = N` where they begin if not behind those of the field before;
/// `rename` and `octet` are as in structs. A value that its bits cannot say is refused when it is written.
///
/// ```
/// use tickwire_cdr::Topic;
///
/// #[derive(Topic)]
/// #[topic(flags(OPEN, AUCTION, HALTED = 7), crate = tickwire_cdr)]
/// struct Phases(u8);
///
/// #[derive(Topic)]
/// #[topic(crate = tickwire_cdr)]
/// enum Price {
///     Market,
///     Limit(f64),
///     #[topic(case(5, 6), bound = 16)]
///     Formula(String),
/// }
///
/// #[derive(Topic)]
/// #[topic(bitset, crate = tickwire_cdr)]
/// struct Packed {
///     #[topic(bits = 3)]
///     phase: u8,
///     #[topic(bits = 1)]
///     live: bool,
///     #[topic(bits = 10, position = 6)]
///     change: i16,
/// }
///
/// assert_eq!(Phases::HALTED.0, 0x80);
/// ```
///
/// What cannot be a topic type does not compile:
///
/// ```compile_fail
/// # use tickwire_cdr::Topic;
/// #[derive(Topic)]
/// #[topic(crate = tickwire_cdr)]
/// struct KeyLeftOut {
///     #[topic(key, non_serialized)]
///     id: u32,
///     size: u32,
/// }
/// ```
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
/// #[repr(C, packed)]
/// struct NotCopied {
///     text: String,
/// }
/// ```
///
/// ```compile_fail
/// # use tickwire_cdr::Topic;
/// #[derive(Topic)]
/// #[topic(crate = tickwire_cdr)]
/// enum OneLabelTwice {
///     #[topic(case = 1)]
///     Price(f64),
///     #[topic(case = 1)]
///     Text(String),
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
