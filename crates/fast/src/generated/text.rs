//! Strings and byte vectors of generated structs. A string of one character, which most strings of feeds are, is taken
//! without a call; all others go the interpreter's way.

use super::Op;
use super::reader::{Fault, Reader};
use crate::dictionary::Entries;
use crate::operator::{self, Place};
use crate::plan::Kind;
use crate::{Code, CompactString, Operator};

/// A member that holds a string: `CompactString`, or an `Option` of it.
pub trait Text {
    #[doc(hidden)]
    fn set(&mut self, text: &str);
    #[doc(hidden)]
    fn set_char(&mut self, char: u8);
    #[doc(hidden)]
    fn set_initial(&mut self, text: &'static str);
    /// `false` if it has to have a value.
    #[doc(hidden)]
    fn set_absent(&mut self) -> bool;
}

impl Text for CompactString {
    #[inline]
    fn set(&mut self, text: &str) {
        if self.is_heap_allocated() {
            self.clear();
            self.push_str(text);
        } else {
            *self = Self::new(text);
        }
    }

    #[inline(always)]
    fn set_char(&mut self, char: u8) {
        if self.is_heap_allocated() {
            self.clear();
            self.push(char.into());
        } else {
            *self = of_char(char);
        }
    }

    #[inline(always)]
    fn set_initial(&mut self, text: &'static str) {
        *self = Self::const_new(text);
    }

    #[inline(always)]
    fn set_absent(&mut self) -> bool {
        false
    }
}

impl Text for Option<CompactString> {
    #[inline]
    fn set(&mut self, text: &str) {
        match self {
            Some(own) => own.set(text),
            None => *self = Some(CompactString::new(text)),
        }
    }

    #[inline(always)]
    fn set_char(&mut self, char: u8) {
        *self = Some(of_char(char));
    }

    #[inline(always)]
    fn set_initial(&mut self, text: &'static str) {
        *self = Some(CompactString::const_new(text));
    }

    #[inline(always)]
    fn set_absent(&mut self) -> bool {
        *self = None;
        true
    }
}

/// A string of one character. A copy of one that is there: to write the character into a new string, and that string
/// into the member, stalls the processor, which cannot load what it has just stored in pieces.
#[inline(always)]
fn of_char(char: u8) -> CompactString {
    CHARS.get(usize::from(char)).cloned().unwrap_or_default()
}

static CHARS: [CompactString; 128] = {
    let mut chars = [const { CompactString::const_new("") }; 128];
    let mut at = 0;
    while at < chars.len() {
        if let Ok(text) = core::str::from_utf8(ASCII.split_at(at).1.split_at(1).0) {
            // An empty string owns nothing that forgetting it would leak.
            core::mem::forget(core::mem::replace(
                &mut chars[at],
                CompactString::const_new(text),
            ));
        }
        at += 1;
    }
    chars
};

static ASCII: [u8; 128] = {
    let mut ascii = [0; 128];
    let mut at = 0;
    while at < ascii.len() {
        ascii[at] = at as u8;
        at += 1;
    }
    ascii
};

/// A member that holds a byte vector: `Vec<u8>`, or an `Option` of it.
pub trait Bytes {
    #[doc(hidden)]
    fn set(&mut self, bytes: &[u8]);
    /// `false` if it has to have a value.
    #[doc(hidden)]
    fn set_absent(&mut self) -> bool;
}

impl Bytes for Vec<u8> {
    fn set(&mut self, bytes: &[u8]) {
        self.clear();
        self.extend_from_slice(bytes);
    }

    fn set_absent(&mut self) -> bool {
        false
    }
}

impl Bytes for Option<Vec<u8>> {
    fn set(&mut self, bytes: &[u8]) {
        self.get_or_insert_default().set(bytes);
    }

    fn set_absent(&mut self) -> bool {
        *self = None;
        true
    }
}

impl<E: Entries> Reader<'_, E> {
    /// An ASCII string; `initial` is the template's.
    #[inline(always)]
    pub fn ascii<T: Text>(
        &mut self,
        op: &Op,
        initial: &'static str,
        present: bool,
        member: &mut T,
    ) -> Result<(), Fault> {
        match op.spec.operator {
            Operator::None => {
                if let Some(char) = self.input.single() {
                    member.set_char(char);
                    return Ok(());
                }
            }
            Operator::Default if present => {
                if let Some(char) = self.input.single() {
                    member.set_char(char);
                    return Ok(());
                }
            }
            Operator::Default if op.spec.has_initial => {
                member.set_initial(initial);
                return Ok(());
            }
            Operator::Copy if present => {
                if let Some(char) = self.input.single() {
                    let previous = self.dictionary.assign_text(op.spec.slot, op.spec.tag);
                    previous.clear();
                    previous.push(char);
                    member.set_char(char);
                    return Ok(());
                }
            }
            Operator::Copy => {
                if let Some([char]) = self.dictionary.known_text(op.spec.slot, op.spec.tag)
                    && let Some(left) = self.budget.checked_sub(1)
                {
                    self.budget = left;
                    member.set_char(*char);
                    return Ok(());
                }
            }
            _ => {}
        }
        self.any_text(Kind::Ascii, op, initial, present, member)
    }

    /// A Unicode string; `initial` is the template's.
    #[inline]
    pub fn unicode<T: Text>(
        &mut self,
        op: &Op,
        initial: &'static str,
        present: bool,
        member: &mut T,
    ) -> Result<(), Fault> {
        self.any_text(Kind::Unicode, op, initial, present, member)
    }

    /// A byte vector; `initial` is the template's.
    #[inline]
    pub fn bytes<T: Bytes>(
        &mut self,
        op: &Op,
        initial: &'static [u8],
        present: bool,
        member: &mut T,
    ) -> Result<(), Fault> {
        let is_there = match self.find(Kind::Bytes, op, initial, present) {
            Ok(Some(Place::Template)) => {
                member.set(initial);
                true
            }
            Ok(Some(Place::Dictionary)) => {
                member.set(self.dictionary.text(op.spec.slot));
                true
            }
            Ok(Some(Place::Scratch)) => {
                member.set(self.scratch);
                true
            }
            Ok(None) => member.set_absent(),
            Err(code) => return Err(Fault::of_field(code, op.field)),
        };
        if is_there {
            Ok(())
        } else {
            Err(Fault::of_field(Code::D5, op.field))
        }
    }

    #[inline(never)]
    fn any_text<T: Text>(
        &mut self,
        kind: Kind,
        op: &Op,
        initial: &'static str,
        present: bool,
        member: &mut T,
    ) -> Result<(), Fault> {
        let bytes = match self.find(kind, op, initial.as_bytes(), present) {
            Ok(Some(Place::Template)) => {
                member.set_initial(initial);
                return Ok(());
            }
            Ok(Some(Place::Dictionary)) => self.dictionary.text(op.spec.slot),
            Ok(Some(Place::Scratch)) => &self.scratch[..],
            Ok(None) if member.set_absent() => return Ok(()),
            Ok(None) => return Err(Fault::of_field(Code::D5, op.field)),
            Err(code) => return Err(Fault::of_field(code, op.field)),
        };
        match core::str::from_utf8(bytes) {
            Ok(text) => {
                member.set(text);
                Ok(())
            }
            Err(_) => Err(Fault::of_field(Code::R2, op.field)),
        }
    }

    /// Where the value of a string or byte vector is; `None`: it is absent.
    #[inline(always)]
    fn find(
        &mut self,
        kind: Kind,
        op: &Op,
        initial: &[u8],
        present: bool,
    ) -> Result<Option<Place>, Code> {
        let is_initial = match op.spec.operator {
            Operator::Constant => present,
            Operator::Default if !present => true,
            _ => {
                let mut input = self.input;
                let before = input.offset();
                let place = operator::text(
                    kind,
                    &op.spec,
                    initial,
                    &mut input,
                    present,
                    self.dictionary,
                    self.scratch,
                );
                self.input = input;
                let place = place?;
                if place == Some(Place::Dictionary) {
                    let read = self.input.offset() - before;
                    let len = self.dictionary.text(op.spec.slot).len();
                    self.spend(len.saturating_sub(read) as u64)?;
                }
                return Ok(place);
            }
        };
        Ok((is_initial && op.spec.has_initial).then_some(Place::Template))
    }
}
