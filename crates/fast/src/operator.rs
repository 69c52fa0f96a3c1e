//! The field operators, read side (FAST 1.1 §6.3): from presence map, stream and dictionary to a value. One function
//! per kind of value, with everything that is known before the message in [`Spec`], so that the interpreter and
//! generated code call the same ones. Knows nothing of templates or visitors.

mod text;

use crate::Code;
use crate::Decimal;
use crate::dictionary::{Dictionary, Entries, State};
use crate::field::Operator;
use crate::plan::Spec;
use crate::wire::Input;

pub(crate) use text::{MAX_TEXT_LEN, Place, text};

/// What the integer types have in common. `max` is the type's largest value.
pub(crate) trait Integer: Copy + Eq {
    const SIGNED: bool;
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn read(input: &mut Input<'_>, max: u64, nullable: bool) -> Result<Option<Self>, Code>;
    /// The next value; the smallest follows the largest (§6.3.6).
    fn next(self, max: u64) -> Self;
    fn widen(self) -> i128;
    /// The value if it is in range.
    fn narrow(value: i128, max: u64) -> Option<Self>;
    /// The value plus `delta` if that is in range.
    fn offset(self, delta: i64, max: u64) -> Option<Self>;
}

impl Integer for u64 {
    const SIGNED: bool = false;

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
    #[inline(always)]
    fn read(input: &mut Input<'_>, max: u64, nullable: bool) -> Result<Option<Self>, Code> {
        input.maybe_unsigned(max, nullable)
    }
    #[inline(always)]
    fn next(self, max: u64) -> Self {
        if self == max { 0 } else { self + 1 }
    }
    #[inline(always)]
    fn widen(self) -> i128 {
        self.into()
    }
    #[inline(always)]
    fn narrow(value: i128, max: u64) -> Option<Self> {
        Self::try_from(value).ok().filter(|value| *value <= max)
    }
    #[inline(always)]
    fn offset(self, delta: i64, max: u64) -> Option<Self> {
        self.checked_add_signed(delta).filter(|value| *value <= max)
    }
}

impl Integer for i64 {
    const SIGNED: bool = true;

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits.cast_signed()
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
    #[inline(always)]
    fn read(input: &mut Input<'_>, max: u64, nullable: bool) -> Result<Option<Self>, Code> {
        input.maybe_signed(max, nullable)
    }
    #[inline(always)]
    fn next(self, max: u64) -> Self {
        if self.bits() == max {
            -self - 1
        } else {
            self + 1
        }
    }
    #[inline(always)]
    fn widen(self) -> i128 {
        self.into()
    }
    #[inline(always)]
    fn narrow(value: i128, max: u64) -> Option<Self> {
        let max = i128::from(max);
        if (-max - 1..=max).contains(&value) {
            Self::try_from(value).ok()
        } else {
            None
        }
    }
    #[inline(always)]
    fn offset(self, delta: i64, max: u64) -> Option<Self> {
        // `value ^ (value >> 63)` is the value itself, or -value - 1 of a negative one.
        self.checked_add(delta)
            .filter(|value| (value ^ (value >> 63)).cast_unsigned() <= max)
    }
}

/// Decodes an integer field; `None`: it is absent. `present` is its presence bit, true for one that has none.
#[inline(always)]
pub(crate) fn integer<T: Integer>(
    spec: &Spec,
    input: &mut Input<'_>,
    present: bool,
    dictionary: &mut Dictionary<impl Entries>,
) -> Result<Option<T>, Code> {
    match spec.operator {
        Operator::Constant | Operator::Default if !present => Ok((spec.has_initial
            && spec.operator == Operator::Default)
            .then(|| T::from_bits(spec.value))),
        Operator::Constant => Ok(Some(T::from_bits(spec.value))),
        Operator::None | Operator::Default => read_integer(spec, input),
        Operator::Copy | Operator::Increment | Operator::Tail => {
            if !present {
                return implied_integer(spec, dictionary);
            }
            let value: Option<T> = read_integer(spec, input)?;
            match value {
                Some(value) => dictionary.assign(spec.slot, spec.tag, value.bits()),
                None => dictionary.set_empty(spec.slot),
            }
            Ok(value)
        }
        Operator::Delta => {
            let sent = input.short_delta(spec.optional);
            if let Some(None) = sent {
                return Ok(None);
            }
            let value = match (delta_base::<T>(spec, dictionary)?, sent) {
                (Some(base), Some(Some(delta))) => base.offset(delta, spec.max).ok_or(Code::R4)?,
                (base, None) => {
                    let mut rest = *input;
                    let value = wide_delta(spec, base, &mut rest)?;
                    *input = rest;
                    match value {
                        Some(value) => value,
                        None => return Ok(None),
                    }
                }
                _ => return Err(Code::D6),
            };
            dictionary.assign(spec.slot, spec.tag, value.bits());
            Ok(Some(value))
        }
    }
}

/// The value of a copied or incremented integer whose presence bit is 0.
#[inline(always)]
fn implied_integer<T: Integer>(
    spec: &Spec,
    dictionary: &mut Dictionary<impl Entries>,
) -> Result<Option<T>, Code> {
    let Some(previous) = dictionary.known(spec.slot, spec.tag).map(T::from_bits) else {
        let is_initial = starts_integer(spec, dictionary)?;
        return Ok(is_initial.then(|| T::from_bits(spec.value)));
    };
    if spec.operator == Operator::Copy {
        return Ok(Some(previous));
    }
    let value = previous.next(spec.max);
    dictionary.assign(spec.slot, spec.tag, value.bits());
    Ok(Some(value))
}

/// Whether the field has the initial value, since there is no previous one; else it is absent. The dictionary is told.
#[cold]
#[inline(never)]
fn starts_integer<E: Entries>(spec: &Spec, dictionary: &mut Dictionary<E>) -> Result<bool, Code> {
    let code = match dictionary.state(spec.slot, spec.tag)? {
        State::Undefined if spec.has_initial => {
            dictionary.assign(spec.slot, spec.tag, spec.value);
            return Ok(true);
        }
        State::Undefined | State::Assigned => Code::D5,
        State::Empty => Code::D6,
    };
    if !spec.optional {
        return Err(code);
    }
    dictionary.set_empty(spec.slot);
    Ok(false)
}

/// What a delta is added to; `None` if the entry is empty. Without an initial value `value` is 0, as §6.3.7.1 wants.
#[inline(always)]
fn delta_base<T: Integer>(
    spec: &Spec,
    dictionary: &Dictionary<impl Entries>,
) -> Result<Option<T>, Code> {
    match dictionary.known(spec.slot, spec.tag) {
        Some(previous) => Ok(Some(T::from_bits(previous))),
        None => Ok(match dictionary.state(spec.slot, spec.tag)? {
            State::Undefined => Some(T::from_bits(spec.value)),
            State::Assigned | State::Empty => None,
        }),
    }
}

/// The sum of `base` and a difference that may have 65 bits.
#[cold]
fn wide_delta<T: Integer>(
    spec: &Spec,
    base: Option<T>,
    input: &mut Input<'_>,
) -> Result<Option<T>, Code> {
    let Some(delta) = read_delta(spec, input)? else {
        return Ok(None);
    };
    let base = base.ok_or(Code::D6)?;
    T::narrow(base.widen() + delta, spec.max)
        .map(Some)
        .ok_or(Code::R4)
}

/// Decodes a decimal field with one operator; `None`: it is absent.
#[inline(never)]
pub(crate) fn decimal(
    spec: &Spec,
    input: &mut Input<'_>,
    present: bool,
    dictionary: &mut Dictionary<impl Entries>,
) -> Result<Option<Decimal>, Code> {
    let initial = || {
        if spec.has_initial {
            initial_decimal(spec)
        } else {
            None
        }
    };
    match spec.operator {
        Operator::Constant if !present => Ok(None),
        Operator::Constant => Ok(initial()),
        Operator::Default if !present => Ok(initial()),
        Operator::None | Operator::Default => read_decimal(spec, input),
        Operator::Copy | Operator::Increment | Operator::Tail => {
            let value = if present {
                read_decimal(spec, input)?
            } else {
                match dictionary.state(spec.slot, spec.tag)? {
                    State::Assigned => return Ok(previous_decimal(spec, dictionary)),
                    State::Undefined => {
                        initial().map_or_else(|| absent(spec, Code::D5), |value| Ok(Some(value)))?
                    }
                    State::Empty => absent(spec, Code::D6)?,
                }
            };
            match value {
                Some(value) => assign_decimal(spec, dictionary, value),
                None => dictionary.set_empty(spec.slot),
            }
            Ok(value)
        }
        Operator::Delta => {
            let Some(exponent) = read_delta(spec, input)? else {
                return Ok(None);
            };
            let mantissa = input.delta()?;
            let base = match dictionary.state(spec.slot, spec.tag)? {
                State::Assigned => previous_decimal(spec, dictionary),
                State::Undefined => initial_decimal(spec),
                State::Empty => return Err(Code::D6),
            };
            let value = base.and_then(|base| {
                let mantissa = i64::try_from(i128::from(base.mantissa()) + mantissa).ok()?;
                Decimal::new(
                    mantissa,
                    i8::try_from(i128::from(base.exponent()) + exponent).ok()?,
                )
            });
            let value = value.ok_or(Code::R1)?;
            assign_decimal(spec, dictionary, value);
            Ok(Some(value))
        }
    }
}

#[inline(always)]
fn read_integer<T: Integer>(spec: &Spec, input: &mut Input<'_>) -> Result<Option<T>, Code> {
    T::read(input, spec.max, spec.optional)
}

#[inline]
fn read_delta(spec: &Spec, input: &mut Input<'_>) -> Result<Option<i128>, Code> {
    if spec.optional {
        input.nullable_delta()
    } else {
        input.delta().map(Some)
    }
}

/// Exponent, then mantissa; of a nullable decimal only the exponent can be NULL (§10.6.2).
fn read_decimal(spec: &Spec, input: &mut Input<'_>) -> Result<Option<Decimal>, Code> {
    let Some(exponent) = input.maybe_signed(INT32_MAX, spec.optional)? else {
        return Ok(None);
    };
    let mantissa = input
        .signed(INT64_MAX)
        .map_err(|code| if code == Code::D2 { Code::R1 } else { code })?;
    decimal_of(exponent, mantissa).map(Some)
}

/// A decimal of parts that were decoded separately; R1 if the exponent is out of range.
#[inline]
pub(crate) fn decimal_of(exponent: i64, mantissa: i64) -> Result<Decimal, Code> {
    i8::try_from(exponent)
        .ok()
        .and_then(|exponent| Decimal::new(mantissa, exponent))
        .ok_or(Code::R1)
}

/// The template's initial value; 0·10^0 without one.
fn initial_decimal(spec: &Spec) -> Option<Decimal> {
    Decimal::new(spec.value.cast_signed(), spec.exponent)
}

fn previous_decimal(spec: &Spec, dictionary: &Dictionary<impl Entries>) -> Option<Decimal> {
    Decimal::new(
        dictionary.value(spec.slot).cast_signed(),
        dictionary.exponent(spec.slot),
    )
}

fn assign_decimal(spec: &Spec, dictionary: &mut Dictionary<impl Entries>, value: Decimal) {
    dictionary.assign_decimal(spec.slot, spec.tag, value);
}

/// A field that has no value is absent if it may be, else it is an error.
fn absent<T>(spec: &Spec, code: Code) -> Result<Option<T>, Code> {
    if spec.optional { Ok(None) } else { Err(code) }
}

const INT32_MAX: u64 = i32::MAX as u64;
const INT64_MAX: u64 = i64::MAX as u64;
