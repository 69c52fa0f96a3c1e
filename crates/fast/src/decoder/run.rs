//! One message: the plan's instructions, run one after the other over its bytes.

use core::slice;

use super::trace::{Part, Told};
use super::{DecoderOptions, ResetPolicy};
use crate::dictionary::Dictionary;
use crate::error::DecodeError;
use crate::field::TemplateId;
use crate::operator::{self, Integer, Place};
use crate::plan::{Initial, Kind, Op, Plan, TemplateEntry};
use crate::templates::{Template, Templates};
use crate::visitor::Visitor;
use crate::wire::{Input, PresenceMap};
use crate::{Code, Decimal, FieldIndex, Operator, session};

/// The decoding of one message.
pub(super) struct Run<'a, V> {
    pub(super) plan: &'a Plan,
    pub(super) templates: &'a Templates,
    pub(super) options: &'a DecoderOptions,
    pub(super) dictionary: &'a mut Dictionary,
    pub(super) template_id: &'a mut Option<u32>,
    pub(super) scratch: &'a mut Vec<u8>,
    pub(super) input: Input<'a>,
    pub(super) visitor: &'a mut V,
    pub(super) budget: u32,
    /// Innermost template, and on an error the field and element.
    pub(super) template: Option<Template<'a>>,
    pub(super) field: Option<u32>,
    pub(super) element: Option<u32>,
    pub(super) unknown_template: Option<TemplateId>,
    /// Number of the presence map's next bit, counted for a visitor that traces.
    pub(super) next_bit: u32,
    /// What such a visitor was told last.
    pub(super) told: Told,
}

impl<'a, V: Visitor> Run<'a, V> {
    /// Decodes the message at the input's place.
    pub(super) fn message(&mut self) -> Result<(), Code> {
        if self.options.reset == ResetPolicy::Message {
            self.dictionary.reset();
            *self.template_id = None;
        }
        let mut map = self.presence_map(None)?;
        let template = self.next_template(&mut map, None)?;
        let resets = template.is_none_or(|template| template.entry.reset);
        if resets && self.options.reset != ResetPolicy::Never {
            self.dictionary.reset();
            // SCP: after this message the session begins anew.
            self.template_id.take_if(|id| *id == session::RESET.0);
        }
        let Some(template) = template else {
            self.input.check_used(&map)?;
            self.visitor.reset();
            return Ok(());
        };
        let TemplateEntry {
            map_bits, weight, ..
        } = *template.entry;
        self.charge(weight.into())?;
        self.visitor.begin_message(template);
        self.instructions(self.plan.template_ops(template.entry), map, map_bits, 0)?;
        self.visitor.end_message();
        Ok(())
    }

    /// The template of the segment that begins: its id has an implicit copy operator in the global dictionary
    /// (§10). `None`: the session's reset message, which is none within a message.
    fn next_template(
        &mut self,
        map: &mut PresenceMap<'_>,
        field: Option<FieldIndex>,
    ) -> Result<Option<Template<'a>>, Code> {
        let present = map.bit();
        let mark = self.mark_id(present);
        let template = self.template_of(present, field.is_none());
        let id = template.map(|_| self.template_id.map(i64::from));
        self.step_segment(mark, Part::TemplateId, field, id);
        template
    }

    fn template_of(
        &mut self,
        present: bool,
        is_message: bool,
    ) -> Result<Option<Template<'a>>, Code> {
        let before = self.input;
        let id = if present {
            u32::try_from(self.input.unsigned(u32::MAX.into())?).map_err(|_| Code::D2)?
        } else {
            match *self.template_id {
                Some(id) => id,
                None if is_message => return self.default_template().map(Some),
                None => return Err(self.dictionary.undefined()),
            }
        };
        let Some(template) = self
            .plan
            .by_id(id)
            .and_then(|index| self.templates.template(index))
        else {
            if is_message && TemplateId(id) == session::RESET {
                *self.template_id = Some(id);
                return Ok(None);
            }
            self.input = before;
            self.unknown_template = Some(TemplateId(id));
            return Err(Code::D9);
        };
        *self.template_id = Some(id);
        self.template = Some(template);
        Ok(Some(template))
    }

    /// The template of a message that has no id and none to copy.
    #[cold]
    fn default_template(&mut self) -> Result<Template<'a>, Code> {
        self.template = super::default_template(self.templates, self.dictionary);
        self.template.ok_or(self.dictionary.undefined())
    }

    /// The presence map of a segment.
    #[inline(always)]
    fn presence_map(&mut self, field: Option<FieldIndex>) -> Result<PresenceMap<'a>, Code> {
        let mark = self.mark_map();
        let map = self.input.presence_map();
        self.step_segment(
            mark,
            Part::PresenceMap,
            field,
            map.as_ref().map(|_| None).map_err(|code| *code),
        );
        map
    }

    /// An instruction that the loop has nothing of its own for.
    pub(super) fn other(
        &mut self,
        op: &'a Op,
        body: &'a [Op],
        present: bool,
        map: &mut PresenceMap<'a>,
        depth: u32,
    ) -> Result<(), Code> {
        match op.kind {
            Kind::Unsigned => self.unsigned(op, present),
            Kind::Signed => self.signed(op, present),
            Kind::Ascii | Kind::Unicode | Kind::Bytes => self.text(op, present),
            Kind::Decimal | Kind::Split => self.decimal(op, body, present, map),
            Kind::Sequence => self.sequence(op, body, present, depth),
            Kind::Group => self.group(op, body, present, depth),
            Kind::BitGroup => self.bit_group(op, body, present),
            Kind::Template => self.inner_template(op, depth),
        }
    }

    #[inline]
    fn unsigned(&mut self, op: &Op, present: bool) -> Result<(), Code> {
        match self.integer::<u64>(op, present, Part::Value)? {
            Some(value) => self.visitor.unsigned(FieldIndex(op.field), value),
            None => self.visitor.absent(FieldIndex(op.field)),
        }
        Ok(())
    }

    #[inline]
    fn signed(&mut self, op: &Op, present: bool) -> Result<(), Code> {
        match self.integer::<i64>(op, present, Part::Value)? {
            Some(value) => self.visitor.signed(FieldIndex(op.field), value),
            None => self.visitor.absent(FieldIndex(op.field)),
        }
        Ok(())
    }

    #[inline(always)]
    fn integer<T: Integer>(
        &mut self,
        op: &Op,
        present: bool,
        part: Part,
    ) -> Result<Option<T>, Code> {
        let mark = self.mark(op, present);
        let value = operator::integer::<T>(&op.spec, &mut self.input, present, self.dictionary);
        let integer = value.map(|value| value.and_then(|value| i64::try_from(value.widen()).ok()));
        self.step(mark, part, op, integer);
        value
    }

    #[inline(always)]
    fn decimal(
        &mut self,
        op: &Op,
        parts: &[Op],
        present: bool,
        map: &mut PresenceMap<'_>,
    ) -> Result<(), Code> {
        let value = match parts {
            [exponent, mantissa] => self.split_decimal(exponent, mantissa, map)?,
            _ => {
                let mark = self.mark(op, present);
                let value = operator::decimal(&op.spec, &mut self.input, present, self.dictionary);
                self.step(mark, Part::Value, op, value.map(|_| None));
                value?
            }
        };
        match value {
            Some(value) => self.visitor.decimal(FieldIndex(op.field), value),
            None => self.visitor.absent(FieldIndex(op.field)),
        }
        Ok(())
    }

    /// The mantissa is mandatory, and there (with its presence bit) only if the exponent is (§10.5.1).
    #[inline(always)]
    fn split_decimal(
        &mut self,
        exponent: &Op,
        mantissa: &Op,
        map: &mut PresenceMap<'_>,
    ) -> Result<Option<Decimal>, Code> {
        let present = map.bit_if(exponent.spec.uses_map);
        let Some(exponent) = self.integer(exponent, present, Part::Exponent)? else {
            return Ok(None);
        };
        let present = map.bit_if(mantissa.spec.uses_map);
        match self.integer(mantissa, present, Part::Mantissa)? {
            Some(mantissa) => operator::decimal_of(exponent, mantissa).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn text(&mut self, op: &Op, present: bool) -> Result<(), Code> {
        let mark = self.mark(op, present);
        let found = self.find_text(op, present);
        self.step(mark, Part::Value, op, found.map(|_| None));
        let field = FieldIndex(op.field);
        let value = match found? {
            None => {
                self.visitor.absent(field);
                return Ok(());
            }
            Some(Place::Template) => match self.plan.initials.get(op.spec.initial as usize) {
                Some(Initial::Text(text)) => {
                    self.visitor.text(field, text);
                    return Ok(());
                }
                Some(Initial::Bytes(bytes)) => &bytes[..],
                None => &[],
            },
            Some(Place::Scratch) => &self.scratch[..],
            Some(Place::Dictionary) => self.dictionary.text(op.spec.slot),
        };
        if op.kind == Kind::Bytes {
            self.visitor.bytes(field, value);
        } else {
            self.visitor.text(field, text_of(value).ok_or(Code::R2)?);
        }
        Ok(())
    }

    /// Where the value of a string or byte vector is; `None`: it is absent.
    #[inline]
    fn find_text(&mut self, op: &Op, present: bool) -> Result<Option<Place>, Code> {
        let is_initial = match op.spec.operator {
            Operator::Constant => present,
            Operator::Default if !present => true,
            Operator::Copy if !present => {
                match self.dictionary.known_text(op.spec.slot, op.spec.tag) {
                    Some(text) => {
                        let len = text.len() as u64;
                        self.charge(len)?;
                        return Ok(Some(Place::Dictionary));
                    }
                    None => return self.sent_text(op, present),
                }
            }
            _ => return self.sent_text(op, present),
        };
        Ok((is_initial && op.spec.has_initial).then_some(Place::Template))
    }

    /// A string or byte vector that is in the stream or the dictionary; a default's presence bit was 1.
    fn sent_text(&mut self, op: &Op, present: bool) -> Result<Option<Place>, Code> {
        let initial = self
            .plan
            .initials
            .get(op.spec.initial as usize)
            .map(Initial::as_bytes)
            .unwrap_or_default();
        let before = self.input.offset();
        let place = operator::text(
            op.kind,
            &op.spec,
            initial,
            &mut self.input,
            present,
            self.dictionary,
            self.scratch,
        )?;
        if place == Some(Place::Dictionary) {
            let read = self.input.offset() - before;
            let len = self.dictionary.text(op.spec.slot).len();
            self.charge(len.saturating_sub(read) as u64)?;
        }
        Ok(place)
    }

    /// Takes what cost the sender no bytes from what the message may grow by.
    #[inline]
    fn charge(&mut self, cost: u64) -> Result<(), Code> {
        let left = u64::from(self.budget).checked_sub(cost);
        self.budget = left.ok_or(Code::Limit)? as u32;
        Ok(())
    }

    fn group(&mut self, op: &'a Op, body: &'a [Op], present: bool, depth: u32) -> Result<(), Code> {
        let field = FieldIndex(op.field);
        if op.spec.uses_map {
            let mark = self.mark(op, present);
            self.step(mark, Part::Value, op, Ok(None));
        }
        if !present {
            self.visitor.absent(field);
            return Ok(());
        }
        self.visitor.begin_group(field);
        self.segment(op, body, depth)?;
        self.visitor.end_group(field);
        Ok(())
    }

    fn sequence(
        &mut self,
        op: &'a Op,
        body: &'a [Op],
        present: bool,
        depth: u32,
    ) -> Result<(), Code> {
        let field = FieldIndex(op.field);
        let [length, body @ ..] = body else {
            return Ok(());
        };
        let Some(len) = self.integer::<u64>(length, present, Part::Length)? else {
            self.visitor.absent(field);
            return Ok(());
        };
        let len = u32::try_from(len).map_err(|_| Code::D2)?;
        if u64::from(len) * u64::from(op.segment.min_bytes) > self.input.remaining() as u64 {
            return Err(Code::Truncated);
        }
        self.charge(u64::from(len) * u64::from(op.segment.weight))?;
        self.visitor.begin_sequence(field, len);
        for index in 0..len {
            self.visitor.begin_element(field, index);
            if let Err(code) = self.segment(op, body, depth) {
                self.element.get_or_insert(index);
                return Err(code);
            }
            self.visitor.end_element(field);
        }
        self.visitor.end_sequence(field);
        Ok(())
    }

    /// A group or element: with a presence map if any of its fields needs a bit.
    #[inline]
    fn segment(&mut self, op: &'a Op, body: &'a [Op], depth: u32) -> Result<(), Code> {
        let outer_bit = self.next_bit;
        let map = match op.segment.map_bits {
            0 => PresenceMap::none(),
            _ => self.presence_map(Some(FieldIndex(op.field)))?,
        };
        self.instructions(body, map, op.segment.map_bits, depth + 1)?;
        self.next_bit = outer_bit;
        Ok(())
    }

    /// A dynamic template reference: a message within the message (§10.5).
    fn inner_template(&mut self, op: &Op, depth: u32) -> Result<(), Code> {
        let field = FieldIndex(op.field);
        if depth >= self.options.max_depth.min(MAX_DEPTH) {
            return Err(Code::Depth);
        }
        let outer = (self.template, self.next_bit);
        let mut map = self.presence_map(Some(field))?;
        let template = self.next_template(&mut map, Some(field))?;
        let template = template.ok_or(Code::D9)?;
        let TemplateEntry {
            map_bits, weight, ..
        } = *template.entry;
        self.charge(weight.into())?;
        self.visitor.begin_template(field, template);
        let ops = self.plan.template_ops(template.entry);
        self.instructions(ops, map, map_bits, depth + 1)?;
        self.visitor.end_template(field);
        (self.template, self.next_bit) = outer;
        Ok(())
    }

    /// The error with its place.
    pub(super) fn error(&self, code: Code) -> DecodeError {
        DecodeError {
            code,
            offset: self.input.offset(),
            template: self.template.map(|template| template.entry.name.clone()),
            unknown_template: self.unknown_template,
            field: self
                .field
                .and_then(|field| self.plan.field(field))
                .map(|field| field.path.clone()),
            element: self.element,
        }
    }
}

/// The instructions that belong to `op`, which `next` then goes past.
#[inline]
pub(super) fn body_of<'a>(op: &Op, next: &mut slice::Iter<'a, Op>) -> &'a [Op] {
    let (body, rest) = next.as_slice().split_at(op.segment.body as usize);
    *next = rest.iter();
    body
}

/// The string of these bytes, if they are UTF-8. Feeds are full of strings of one character, which need no look at it.
#[inline]
fn text_of(bytes: &[u8]) -> Option<&str> {
    match bytes {
        [byte @ ..=0x7f] => {
            let at = usize::from(*byte);
            CHARACTERS.get(at..at + 1)
        }
        _ => core::str::from_utf8(bytes).ok(),
    }
}

/// Each ASCII character at its own place.
const CHARACTERS: &str = {
    const BYTES: [u8; 128] = {
        let mut bytes = [0; 128];
        let mut at = 0;
        while at < 128 {
            bytes[at] = at as u8;
            at += 1;
        }
        bytes
    };
    match core::str::from_utf8(&BYTES) {
        Ok(characters) => characters,
        Err(_) => "",
    }
};

/// Levels that fit the stack of any thread, with those that a template's own groups and sequences may add.
const MAX_DEPTH: u32 = 256;
