//! Tells a visitor that asks for it what each read of the decoder did: which bytes, which presence bit, and the
//! dictionary entry before and after. A visitor that does not ask costs nothing: [`Visitor::TRACED`] is a constant.

use core::ops::Range;

use super::run::Run;
use crate::dictionary::Previous;
use crate::plan::Op;
use crate::visitor::Visitor;
use crate::{Code, FieldIndex};

/// One read of the decoder, complete or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The field; `None` for the presence map and template id of the message itself.
    pub field: Option<FieldIndex>,
    /// Which part of the field.
    pub part: Part,
    /// The bytes read, counted from the start of the message; empty where the value was implied, and at the place of
    /// an error.
    pub bytes: Range<usize>,
    /// The presence bit that was looked at, if one belongs to the part.
    pub presence: Option<PresenceBit>,
    /// The dictionary entry before.
    pub before: Previous,
    /// The dictionary entry after.
    pub after: Previous,
    /// The integer that was decoded, for an exponent, mantissa, length or template id; `None` if it is absent.
    pub integer: Option<i64>,
    /// What was wrong, in which case decoding ends here. What shows only behind a read has a step of its own, without
    /// bit and dictionary entry: a string that is not UTF-8, a sequence that does not fit its message.
    pub error: Option<Code>,
}

/// What a [`Step`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The presence map of a message, group, element or inner template.
    PresenceMap,
    /// The id of a message's or inner template's template (§10).
    TemplateId,
    /// A field's value, or the presence bit of a group.
    Value,
    /// The exponent of a decimal with an operator for each part.
    Exponent,
    /// Its mantissa.
    Mantissa,
    /// The length of a sequence.
    Length,
}

/// A bit of a presence map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresenceBit {
    /// Its number in its map, from 0.
    pub index: u32,
    /// Whether it was 1.
    pub set: bool,
}

/// What a visitor was told last.
#[derive(Default)]
pub(super) struct Told {
    part: Option<Part>,
    is_error: bool,
}

/// Where a step began.
pub(super) struct Mark {
    offset: usize,
    presence: Option<PresenceBit>,
    before: Previous,
}

impl<V: Visitor> Run<'_, V> {
    /// A part begins; its presence bit, if it has one, was `present`.
    #[inline(always)]
    pub(super) fn mark(&mut self, op: &Op, present: bool) -> Option<Mark> {
        V::TRACED.then(|| Mark {
            offset: self.input.offset(),
            presence: op.spec.uses_map.then(|| self.next_bit(present)),
            before: self.dictionary.previous(op),
        })
    }

    /// The presence map of a segment begins.
    #[inline(always)]
    pub(super) fn mark_map(&mut self) -> Option<Mark> {
        V::TRACED.then(|| {
            self.next_bit = 0;
            Mark {
                offset: self.input.offset(),
                presence: None,
                before: Previous::None,
            }
        })
    }

    /// A template id begins, whose presence bit is the first of its map.
    #[inline(always)]
    pub(super) fn mark_id(&mut self, present: bool) -> Option<Mark> {
        V::TRACED.then(|| Mark {
            offset: self.input.offset(),
            presence: Some(self.next_bit(present)),
            before: previous_id(*self.template_id),
        })
    }

    /// The value, exponent, mantissa or length that began at `mark` is done.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        mark: Option<Mark>,
        part: Part,
        op: &Op,
        done: Result<Option<i64>, Code>,
    ) {
        if let Some(mark) = mark {
            let after = self.dictionary.previous(op);
            self.tell(mark, part, Some(FieldIndex(op.field)), after, done);
        }
    }

    /// The presence map or template id that began at `mark` is done. It belongs to a group, sequence or reference, or
    /// to the message itself.
    #[inline(always)]
    pub(super) fn step_segment(
        &mut self,
        mark: Option<Mark>,
        part: Part,
        field: Option<FieldIndex>,
        done: Result<Option<i64>, Code>,
    ) {
        if let Some(mark) = mark {
            let after = match part {
                Part::TemplateId => previous_id(*self.template_id),
                _ => Previous::None,
            };
            self.tell(mark, part, field, after, done);
        }
    }

    /// Decoding ends with `code`, which the last step has unless it showed only later.
    pub(super) fn tell_error(&mut self, code: Code) {
        if !V::TRACED || self.told.is_error {
            return;
        }
        let part = match (code, self.told.part) {
            (Code::R8 | Code::Depth, _) => Part::PresenceMap,
            (_, Some(part @ (Part::TemplateId | Part::Length))) => part,
            _ => Part::Value,
        };
        let mark = Mark {
            offset: self.input.offset(),
            presence: None,
            before: Previous::None,
        };
        let field = self.field.map(FieldIndex);
        self.tell(mark, part, field, Previous::None, Err(code));
    }

    fn tell(
        &mut self,
        mark: Mark,
        part: Part,
        field: Option<FieldIndex>,
        after: Previous,
        done: Result<Option<i64>, Code>,
    ) {
        self.told = Told {
            part: Some(part),
            is_error: done.is_err(),
        };
        self.visitor.step(&Step {
            field,
            part,
            bytes: mark.offset..self.input.offset(),
            presence: mark.presence,
            before: mark.before,
            after,
            integer: done.unwrap_or(None),
            error: done.err(),
        });
    }

    fn next_bit(&mut self, set: bool) -> PresenceBit {
        let index = self.next_bit;
        self.next_bit += 1;
        PresenceBit { index, set }
    }
}

fn previous_id(id: Option<u32>) -> Previous {
    id.map_or(Previous::Undefined, |id| Previous::Unsigned(id.into()))
}
