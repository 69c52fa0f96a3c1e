//! The field operators, write side (FAST 1.1 §6.3): from a value and the dictionary to presence bit and stream, always
//! the shortest way that the read side understands. Knows nothing of templates or messages.

use crate::Code;
use crate::Decimal;
use crate::dictionary::{Dictionary, Entries, Entry, State};
use crate::field::Operator;
use crate::operator::{Integer, MAX_TEXT_LEN};
use crate::output::{self, MapWriter};
use crate::plan::{Kind, Spec};

/// Where a field is written to.
pub(crate) struct Target<'a, E = Vec<Entry>> {
    pub(crate) out: &'a mut Vec<u8>,
    pub(crate) map: &'a mut MapWriter,
    pub(crate) dictionary: &'a mut Dictionary<E>,
}

impl<E> Target<'_, E> {
    #[inline(always)]
    fn bit(&mut self, bit: bool) {
        self.map.push(self.out, bit);
    }
}

/// Encodes the absence of an integer field.
pub(crate) fn no_integer(spec: &Spec, target: &mut Target<'_, impl Entries>) -> Result<(), Code> {
    integer::<i64>(spec, None, target)
}

/// Encodes an integer field, or its absence.
#[inline(always)]
pub(crate) fn integer<T: Integer>(
    spec: &Spec,
    value: Option<T>,
    target: &mut Target<'_, impl Entries>,
) -> Result<(), Code> {
    if value.is_some_and(|value| value.offset(0, spec.max).is_none()) {
        return Err(Code::D2);
    }
    let initial = || spec.has_initial.then(|| T::from_bits(spec.value));
    match spec.operator {
        Operator::Constant => return constant(spec, value, initial(), target),
        _ if value.is_none() && !spec.optional => return Err(Code::Missing),
        Operator::None => put_integer(spec, value, target),
        Operator::Default => {
            let is_sent = value != initial();
            target.bit(is_sent);
            if is_sent {
                put_integer(spec, value, target);
            }
        }
        Operator::Copy | Operator::Increment | Operator::Tail => {
            let implied = match target.dictionary.state(spec.slot, spec.tag)? {
                // Any value will do where none is sent, and `T` may not be the field's type then.
                State::Assigned => {
                    let previous = T::from_bits(target.dictionary.value(spec.slot));
                    Some(if spec.operator == Operator::Copy || value.is_none() {
                        previous
                    } else {
                        previous.next(spec.max)
                    })
                }
                State::Undefined => initial(),
                State::Empty => None,
            };
            target.bit(value != implied);
            if value != implied {
                put_integer(spec, value, target);
            }
            match value {
                Some(value) => target.dictionary.assign(spec.slot, spec.tag, value.bits()),
                None => target.dictionary.set_empty(spec.slot),
            }
        }
        Operator::Delta => {
            let Some(value) = value else {
                put_delta(spec, None, target);
                return Ok(());
            };
            let base = match target.dictionary.state(spec.slot, spec.tag)? {
                State::Assigned => T::from_bits(target.dictionary.value(spec.slot)),
                State::Undefined => T::from_bits(spec.value),
                State::Empty => return Err(Code::D6),
            };
            put_delta(spec, Some(value.widen() - base.widen()), target);
            target.dictionary.assign(spec.slot, spec.tag, value.bits());
        }
    }
    Ok(())
}

/// Encodes a decimal field with one operator, or its absence.
pub(crate) fn decimal(
    spec: &Spec,
    value: Option<Decimal>,
    target: &mut Target<'_, impl Entries>,
) -> Result<(), Code> {
    let base = Decimal::new(spec.value.cast_signed(), spec.exponent).ok_or(Code::R1)?;
    let initial = spec.has_initial.then_some(base);
    let slot = spec.slot;
    let previous = |dictionary: &Dictionary<_>| {
        Decimal::new(
            dictionary.value(slot).cast_signed(),
            dictionary.exponent(slot),
        )
    };
    match spec.operator {
        Operator::Constant => return constant(spec, value, initial, target),
        _ if value.is_none() && !spec.optional => return Err(Code::Missing),
        Operator::None => put_decimal(spec, value, target),
        Operator::Default => {
            target.bit(value != initial);
            if value != initial {
                put_decimal(spec, value, target);
            }
        }
        Operator::Copy | Operator::Increment | Operator::Tail => {
            let implied = match target.dictionary.state(slot, spec.tag)? {
                State::Assigned => previous(target.dictionary),
                State::Undefined => initial,
                State::Empty => None,
            };
            target.bit(value != implied);
            if value != implied {
                put_decimal(spec, value, target);
            }
            match value {
                Some(value) => assign_decimal(spec, target, value),
                None => target.dictionary.set_empty(slot),
            }
        }
        Operator::Delta => {
            let Some(value) = value else {
                put_delta(spec, None, target);
                return Ok(());
            };
            let base = match target.dictionary.state(slot, spec.tag)? {
                State::Assigned => previous(target.dictionary).ok_or(Code::R1)?,
                State::Undefined => base,
                State::Empty => return Err(Code::D6),
            };
            put_delta(
                spec,
                Some(i128::from(value.exponent()) - i128::from(base.exponent())),
                target,
            );
            output::delta(
                target.out,
                i128::from(value.mantissa()) - i128::from(base.mantissa()),
            );
            assign_decimal(spec, target, value);
        }
    }
    Ok(())
}

/// Encodes a string or byte vector field, or its absence.
pub(crate) fn text(
    kind: Kind,
    spec: &Spec,
    initial: &[u8],
    value: Option<&[u8]>,
    target: &mut Target<'_, impl Entries>,
) -> Result<(), Code> {
    if kind == Kind::Ascii && value.is_some_and(|value| !value.is_ascii()) {
        return Err(Code::R3);
    }
    if value.is_some_and(|value| value.len() > MAX_TEXT_LEN) {
        return Err(Code::Limit);
    }
    let given = spec.has_initial.then_some(initial);
    match spec.operator {
        Operator::Constant => return constant(spec, value, given, target),
        _ if value.is_none() && !spec.optional => return Err(Code::Missing),
        Operator::None => put_text(kind, spec, value, target),
        Operator::Default => {
            target.bit(value != given);
            if value != given {
                put_text(kind, spec, value, target);
            }
        }
        Operator::Copy | Operator::Increment => {
            let is_implied = value == implied_text(spec, given, target.dictionary)?;
            target.bit(!is_implied);
            if !is_implied {
                put_text(kind, spec, value, target);
            }
            save_text(spec, value, target);
        }
        Operator::Tail => {
            let is_implied = value == implied_text(spec, given, target.dictionary)?;
            target.bit(!is_implied);
            if !is_implied {
                let tail = match value {
                    Some(value) => {
                        let base = base_text(spec, initial, target.dictionary)?;
                        Some(tail_of(kind, spec, value, base)?)
                    }
                    None => None,
                };
                put_text(kind, spec, tail, target);
            }
            save_text(spec, value, target);
        }
        Operator::Delta => {
            let Some(value) = value else {
                put_delta(spec, None, target);
                return Ok(());
            };
            if target.dictionary.state(spec.slot, spec.tag)? == State::Empty {
                return Err(Code::D6);
            }
            let base = base_text(spec, initial, target.dictionary)?;
            let (subtraction, added) = delta_of(kind, spec, value, base);
            put_delta(spec, Some(subtraction), target);
            match kind {
                Kind::Ascii => output::ascii(target.out, added),
                _ => output::bytes(target.out, added),
            }
            save_text(spec, Some(value), target);
        }
    }
    Ok(())
}

/// A constant takes at most a bit; a mandatory one may be left out of the message. Another value cannot be sent.
fn constant<T: PartialEq>(
    spec: &Spec,
    value: Option<T>,
    initial: Option<T>,
    target: &mut Target<'_, impl Entries>,
) -> Result<(), Code> {
    if value.is_some() && value != initial {
        return Err(Code::Unencodable);
    }
    if spec.optional {
        target.bit(value.is_some());
    }
    Ok(())
}

/// What the reader would take for the value if the presence bit were 0.
fn implied_text<'a>(
    spec: &Spec,
    initial: Option<&'a [u8]>,
    dictionary: &'a Dictionary<impl Entries>,
) -> Result<Option<&'a [u8]>, Code> {
    Ok(match dictionary.state(spec.slot, spec.tag)? {
        State::Assigned => Some(dictionary.text(spec.slot)),
        State::Undefined => initial,
        State::Empty => None,
    })
}

/// What tails and deltas are relative to.
fn base_text<'a>(
    spec: &Spec,
    initial: &'a [u8],
    dictionary: &'a Dictionary<impl Entries>,
) -> Result<&'a [u8], Code> {
    Ok(match dictionary.state(spec.slot, spec.tag)? {
        State::Assigned => dictionary.text(spec.slot),
        State::Undefined | State::Empty => initial,
    })
}

/// The shortest tail that makes `value` of `base`. A tail keeps the length or makes the string longer than both.
fn tail_of<'a>(kind: Kind, spec: &Spec, value: &'a [u8], base: &[u8]) -> Result<&'a [u8], Code> {
    if value.len() < base.len() {
        return Err(Code::Unencodable);
    }
    let from = if value.len() == base.len() {
        common(value.iter(), base.iter())
    } else {
        0
    };
    let (before, tail) = value.split_at(from);
    // Of a nullable string, one that is empty or begins with NUL has two bytes before it: a character instead is less.
    let has_preamble = kind == Kind::Ascii && spec.optional && tail.first().is_none_or(|c| *c == 0);
    let is_longer = has_preamble && before.last().is_some_and(|c| *c != 0);
    Ok(value
        .get(from - usize::from(is_longer)..)
        .unwrap_or_default())
}

/// Subtraction length and added bytes that make `value` of `base`, at the back or (negative) at the front, whichever
/// takes fewer bytes. To keep less than all that is common there shortens neither part.
fn delta_of<'a>(kind: Kind, spec: &Spec, value: &'a [u8], base: &[u8]) -> (i128, &'a [u8]) {
    let front = common(value.iter(), base.iter());
    let back = common(value.iter().rev(), base.iter().rev());
    let at_back = (
        (base.len() - front) as i128,
        value.get(front..).unwrap_or_default(),
    );
    let at_front = (
        -((base.len() - back) as i128) - 1,
        value.get(..value.len() - back).unwrap_or_default(),
    );
    let len = |(subtraction, added): (i128, &[u8])| {
        let excess = i128::from(spec.optional && subtraction >= 0);
        output::delta_len(subtraction + excess)
            + match kind {
                Kind::Ascii => output::ascii_len(added),
                _ => output::bytes_len(added),
            }
    };
    if len(at_back) <= len(at_front) {
        at_back
    } else {
        at_front
    }
}

fn common<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).count()
}

fn save_text(spec: &Spec, value: Option<&[u8]>, target: &mut Target<'_, impl Entries>) {
    match value {
        Some(value) => {
            let previous = target.dictionary.assign_text(spec.slot, spec.tag);
            previous.clear();
            previous.extend_from_slice(value);
        }
        None => target.dictionary.set_empty(spec.slot),
    }
}

fn assign_decimal(spec: &Spec, target: &mut Target<'_, impl Entries>, value: Decimal) {
    target.dictionary.assign_decimal(spec.slot, spec.tag, value);
}

#[inline(always)]
fn put_integer<T: Integer>(spec: &Spec, value: Option<T>, target: &mut Target<'_, impl Entries>) {
    let out = &mut *target.out;
    let bits = value.map(Integer::bits);
    match (T::SIGNED, spec.optional, bits) {
        (true, true, bits) => output::nullable(out, bits.map(u64::cast_signed)),
        (false, true, bits) => output::nullable_unsigned(out, bits),
        (true, false, Some(bits)) => output::signed(out, bits.cast_signed()),
        (false, false, Some(bits)) => output::unsigned(out, bits),
        // Mandatory fields have a value here.
        (_, false, None) => {}
    }
}

#[inline]
fn put_delta(spec: &Spec, delta: Option<i128>, target: &mut Target<'_, impl Entries>) {
    match delta {
        Some(delta) if !spec.optional => output::delta(target.out, delta),
        delta => output::nullable_delta(target.out, delta),
    }
}

fn put_decimal(spec: &Spec, value: Option<Decimal>, target: &mut Target<'_, impl Entries>) {
    match value {
        Some(value) if !spec.optional => output::decimal(target.out, value),
        value => output::nullable_decimal(target.out, value),
    }
}

fn put_text(kind: Kind, spec: &Spec, value: Option<&[u8]>, target: &mut Target<'_, impl Entries>) {
    match (kind, value) {
        (Kind::Ascii, Some(value)) if !spec.optional => output::ascii(target.out, value),
        (Kind::Ascii, value) => output::nullable_ascii(target.out, value),
        (_, Some(value)) if !spec.optional => output::bytes(target.out, value),
        (_, value) => output::nullable_bytes(target.out, value),
    }
}
