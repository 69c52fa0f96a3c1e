//! Strings and byte vectors of generated structs. A string of one character, which most strings of feeds are, is taken
//! without a call; all others go the interpreter's way.

use super::Op;
use super::{Fault, Reader};
use crate::dictionary::Entries;
use crate::operator::{self, Place};
use crate::plan::Kind;
use crate::{Code, CompactString, Operator};

/// A member that holds a string: `CompactString`, or an `Option` of it.
pub trait Text {
    /// A long text takes the memory of a spare string, if there is one.
    #[doc(hidden)]
    fn set(&mut self, text: &str, spare: &mut Vec<CompactString>);
    #[doc(hidden)]
    fn set_char(&mut self, char: u8);
    #[doc(hidden)]
    fn set_initial(&mut self, text: &'static str);
    /// `false` if it has to have a value.
    #[doc(hidden)]
    fn set_absent(&mut self, spare: &mut Vec<CompactString>) -> bool;
}

impl Text for CompactString {
    #[inline]
    fn set(&mut self, text: &str, spare: &mut Vec<CompactString>) {
        if self.is_heap_allocated() {
            self.clear();
            self.push_str(text);
        } else {
            *self = new_text(text, spare);
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
        if self.is_heap_allocated() {
            self.clear();
            self.push_str(text);
        } else {
            *self = Self::const_new(text);
        }
    }

    #[inline(always)]
    fn set_absent(&mut self, _: &mut Vec<CompactString>) -> bool {
        false
    }
}

impl Text for Option<CompactString> {
    #[inline]
    fn set(&mut self, text: &str, spare: &mut Vec<CompactString>) {
        match self {
            Some(own) => own.set(text, spare),
            None => *self = Some(new_text(text, spare)),
        }
    }

    #[inline(always)]
    fn set_char(&mut self, char: u8) {
        match self {
            Some(own) if own.is_heap_allocated() => own.set_char(char),
            _ => *self = Some(of_char(char)),
        }
    }

    #[inline(always)]
    fn set_initial(&mut self, text: &'static str) {
        match self {
            Some(own) if own.is_heap_allocated() => own.set_initial(text),
            _ => *self = Some(CompactString::const_new(text)),
        }
    }

    #[inline(always)]
    fn set_absent(&mut self, spare: &mut Vec<CompactString>) -> bool {
        spare.extend(self.take().filter(CompactString::is_heap_allocated));
        true
    }
}

/// A string for a member that owns no memory.
fn new_text(text: &str, spare: &mut Vec<CompactString>) -> CompactString {
    if text.len() > size_of::<CompactString>()
        && let Some(mut own) = spare.pop()
    {
        own.clear();
        own.push_str(text);
        return own;
    }
    CompactString::new(text)
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
    fn set(&mut self, bytes: &[u8], spare: &mut Vec<Vec<u8>>);
    /// `false` if it has to have a value.
    #[doc(hidden)]
    fn set_absent(&mut self, spare: &mut Vec<Vec<u8>>) -> bool;
}

impl Bytes for Vec<u8> {
    fn set(&mut self, bytes: &[u8], _: &mut Vec<Vec<u8>>) {
        self.clear();
        self.extend_from_slice(bytes);
    }

    fn set_absent(&mut self, _: &mut Vec<Vec<u8>>) -> bool {
        false
    }
}

impl Bytes for Option<Vec<u8>> {
    fn set(&mut self, bytes: &[u8], spare: &mut Vec<Vec<u8>>) {
        let own = self.get_or_insert_with(|| spare.pop().unwrap_or_default());
        own.set(bytes, spare);
    }

    fn set_absent(&mut self, spare: &mut Vec<Vec<u8>>) -> bool {
        spare.extend(self.take());
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
                member.set(initial, &mut self.kept.vectors);
                true
            }
            Ok(Some(Place::Dictionary)) => {
                member.set(self.dictionary.text(op.spec.slot), &mut self.kept.vectors);
                true
            }
            Ok(Some(Place::Scratch)) => {
                member.set(&self.kept.scratch, &mut self.kept.vectors);
                true
            }
            Ok(None) => member.set_absent(&mut self.kept.vectors),
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
            Ok(Some(Place::Scratch)) => &self.kept.scratch[..],
            Ok(None) if member.set_absent(&mut self.kept.texts) => return Ok(()),
            Ok(None) => return Err(Fault::of_field(Code::D5, op.field)),
            Err(code) => return Err(Fault::of_field(code, op.field)),
        };
        match core::str::from_utf8(bytes) {
            Ok(text) => {
                member.set(text, &mut self.kept.texts);
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
                    &mut self.kept.scratch,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_has_the_memory_that_it_had() {
        let long = "longer than a string holds in place";
        let (mut texts, mut vectors) = (Vec::new(), Vec::new());
        let (mut text, mut bytes) = (None::<CompactString>, None::<Vec<u8>>);
        text.set(long, &mut texts);
        bytes.set(long.as_bytes(), &mut vectors);
        let at = |text: &Option<CompactString>| text.as_ref().map(|text| text.as_ptr());
        let (text_at, bytes_at) = (at(&text), bytes.as_ref().map(Vec::as_ptr));
        text.set_char(b'A');
        text.set_initial("an initial value");
        assert_eq!(text.as_deref(), Some("an initial value"));
        assert!(text.set_absent(&mut texts) && bytes.set_absent(&mut vectors));
        assert_eq!((&text, &bytes), (&None, &None));
        text.set(long, &mut texts);
        bytes.set(b"short", &mut vectors);
        assert_eq!(
            (at(&text), bytes.as_ref().map(Vec::as_ptr)),
            (text_at, bytes_at)
        );
        assert_eq!(text.as_deref(), Some(long));
        assert_eq!(bytes.as_deref(), Some(&b"short"[..]));
    }
}
