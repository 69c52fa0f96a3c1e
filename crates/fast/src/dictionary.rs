//! The dictionaries: previous values by slot, with a reset that costs nothing. Knows nothing of operators.

use crate::plan::{Kind, Op};
use crate::{Code, Decimal, Operator};

/// All entries of all dictionaries of one decoder or encoder (FAST 1.1 §6.3.1).
#[derive(Clone, Debug)]
pub(crate) struct Dictionary<E = Vec<Entry>> {
    entries: E,
    /// Previous values of strings and byte vectors, by slot.
    texts: Vec<Vec<u8>>,
    epoch: u32,
    /// Entries without a value had one that was lost.
    lost: bool,
}

/// What a dictionary knows of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Undefined,
    Empty,
    Assigned,
}

/// What a dictionary entry holds, for those who explain a decoder's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Previous {
    /// The field's operator has no entry.
    None,
    /// Nothing since the last reset.
    Undefined,
    /// Nothing that is known: messages were lost.
    Lost,
    /// The field was absent.
    Empty,
    /// A value of another type than the field (D4).
    OtherType,
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A decimal.
    Decimal(Decimal),
    /// The bytes of a string or byte vector.
    Bytes(Vec<u8>),
}

/// The stamp is the epoch of the last write, plus `EMPTY` or the type's tag: an older epoch means undefined, and
/// one comparison finds an assigned entry of the right type.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    value: u64,
    stamp: u32,
    exponent: i8,
}

impl Entry {
    /// Older than all epochs.
    pub const UNDEFINED: Self = Self {
        value: 0,
        stamp: 0,
        exponent: 0,
    };
}

/// Where entries are: a list for an interpreter, an array for generated code, which knows how many there are.
pub trait Entries: AsRef<[Entry]> + AsMut<[Entry]> {}

impl<E: AsRef<[Entry]> + AsMut<[Entry]>> Entries for E {}

impl Dictionary {
    pub(crate) fn new(slot_count: u32) -> Self {
        Self::of(vec![Entry::UNDEFINED; slot_count as usize + 1])
    }
}

impl<E: Entries> Dictionary<E> {
    /// A dictionary of these entries, all undefined; the first one is nobody's.
    pub(crate) fn of(entries: E) -> Self {
        Self {
            texts: vec![Vec::new(); entries.as_ref().len()],
            entries,
            epoch: EPOCH,
            lost: false,
        }
    }

    /// Makes every entry unknown, which is not undefined: no initial value stands for it.
    pub(crate) fn lose(&mut self) {
        self.reset();
        self.lost = true;
    }

    /// Makes every entry undefined.
    pub(crate) fn reset(&mut self) {
        self.lost = false;
        self.epoch = self.epoch.checked_add(EPOCH).unwrap_or_else(|| {
            self.entries.as_mut().fill(Entry::UNDEFINED);
            EPOCH
        });
    }

    /// Whether entries without a value had one that was lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// What is wrong with a value that is needed and not there.
    pub(crate) fn undefined(&self) -> Code {
        match self.lost {
            true => Code::Lost,
            false => Code::D5,
        }
    }

    /// The entry's state; D4 if it has a value of another type, `Lost` if nobody knows.
    #[inline]
    pub(crate) fn state(&self, slot: u32, tag: u8) -> Result<State, Code> {
        let stamp = self.entries.as_ref()[slot as usize].stamp;
        if stamp == self.epoch | u32::from(tag) {
            Ok(State::Assigned)
        } else if stamp < self.epoch {
            match self.lost {
                true => Err(Code::Lost),
                false => Ok(State::Undefined),
            }
        } else if stamp == self.epoch | EMPTY {
            Ok(State::Empty)
        } else {
            Err(Code::D4)
        }
    }

    /// What the entry of an instruction holds.
    pub(crate) fn previous(&self, op: &Op) -> Previous {
        let slot = op.spec.slot;
        match op.spec.operator {
            Operator::None | Operator::Constant | Operator::Default => return Previous::None,
            Operator::Copy | Operator::Increment | Operator::Delta | Operator::Tail => {}
        }
        match self.state(slot, op.spec.tag) {
            Err(Code::Lost) => Previous::Lost,
            Err(_) => Previous::OtherType,
            Ok(State::Undefined) => Previous::Undefined,
            Ok(State::Empty) => Previous::Empty,
            Ok(State::Assigned) => match op.kind {
                Kind::Unsigned => Previous::Unsigned(self.value(slot)),
                Kind::Signed => Previous::Signed(self.value(slot).cast_signed()),
                Kind::Decimal => Decimal::new(self.value(slot).cast_signed(), self.exponent(slot))
                    .map_or(Previous::None, Previous::Decimal),
                Kind::Ascii | Kind::Unicode | Kind::Bytes => {
                    Previous::Bytes(self.text(slot).to_vec())
                }
                Kind::BitGroup => Previous::Unsigned(self.value(slot)),
                Kind::Split | Kind::Group | Kind::Sequence | Kind::Template => Previous::None,
            },
        }
    }

    /// The integer (its bits) or mantissa of an entry that is assigned and of this type.
    #[inline(always)]
    pub(crate) fn known(&self, slot: u32, tag: u8) -> Option<u64> {
        let entry = self.entries.as_ref().get(slot as usize)?;
        (entry.stamp == self.epoch | u32::from(tag)).then_some(entry.value)
    }

    /// The integer (its bits) or mantissa of an assigned entry.
    #[inline]
    pub(crate) fn value(&self, slot: u32) -> u64 {
        self.entries.as_ref()[slot as usize].value
    }

    /// The string of an entry that is assigned and of this type.
    #[inline(always)]
    pub(crate) fn known_text(&self, slot: u32, tag: u8) -> Option<&[u8]> {
        self.known(slot, tag)?;
        self.texts.get(slot as usize).map(|text| &text[..])
    }

    /// The exponent of an assigned decimal.
    #[inline]
    pub(crate) fn exponent(&self, slot: u32) -> i8 {
        self.entries.as_ref()[slot as usize].exponent
    }

    #[inline(always)]
    pub(crate) fn assign(&mut self, slot: u32, tag: u8, value: u64) {
        let entry = &mut self.entries.as_mut()[slot as usize];
        entry.value = value;
        entry.stamp = self.epoch | u32::from(tag);
    }

    #[inline(always)]
    pub(crate) fn assign_decimal(&mut self, slot: u32, tag: u8, value: Decimal) {
        self.assign(slot, tag, value.mantissa().cast_unsigned());
        self.entries.as_mut()[slot as usize].exponent = value.exponent();
    }

    #[inline]
    pub(crate) fn set_empty(&mut self, slot: u32) {
        self.entries.as_mut()[slot as usize].stamp = self.epoch | EMPTY;
    }

    /// The string of an assigned entry.
    #[inline]
    pub(crate) fn text(&self, slot: u32) -> &[u8] {
        &self.texts[slot as usize]
    }

    /// Makes the entry an assigned string; the caller writes its bytes.
    #[inline]
    pub(crate) fn assign_text(&mut self, slot: u32, tag: u8) -> &mut Vec<u8> {
        self.entries.as_mut()[slot as usize].stamp = self.epoch | u32::from(tag);
        &mut self.texts[slot as usize]
    }
}

const EMPTY: u32 = 0;
/// Distance between epochs: the tags are below it.
const EPOCH: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_makes_undefined_even_when_epochs_run_out() {
        let mut dictionary = Dictionary::new(1);
        dictionary.assign(1, 3, 7);
        dictionary.epoch = u32::MAX - 31;
        dictionary.assign(1, 3, 7);
        assert_eq!(dictionary.state(1, 3), Ok(State::Assigned));
        dictionary.reset();
        assert_eq!(dictionary.epoch, EPOCH);
        assert_eq!(dictionary.state(1, 3), Ok(State::Undefined));
    }

    #[test]
    fn an_entry_of_another_type_is_refused() {
        let mut dictionary = Dictionary::new(1);
        dictionary.assign(1, 3, 7);
        assert_eq!(dictionary.state(1, 4), Err(Code::D4));
        dictionary.set_empty(1);
        assert_eq!(dictionary.state(1, 4), Ok(State::Empty));
    }
}
