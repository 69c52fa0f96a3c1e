//! The encoder: writes messages by the same plan that the decoder reads by. Knows nothing of template XML.

mod bit_group;

use crate::dictionary::{Dictionary, Entries};
use crate::encode_operator::{self, Target};
use crate::error::EncodeError;
use crate::message::{Cell, Message, Node};
use crate::output::{self, MapWriter};
use crate::plan::{Initial, Kind, Op, Plan, Spec, TemplateEntry};
use crate::templates::Templates;
use crate::typed::{Binding, FastMessage};
use crate::{Code, Decimal, Operator, ResetPolicy, session};

/// Encodes the messages of one session, in order, in the fewest bytes that the templates allow.
///
/// Call [`reset`](Self::reset) wherever the receivers reset, at least at the start of each packet for
/// [`ResetPolicy::Packet`]: what follows can then be decoded without what was before, the template id included. A clone
/// goes on from where the encoder is: to encode what may have to be taken back, keep one.
#[derive(Clone, Debug)]
pub struct Encoder {
    templates: Templates,
    reset: ResetPolicy,
    dictionary: Dictionary,
    template_id: Option<u32>,
    poisoned: bool,
}

impl Encoder {
    /// An encoder with all dictionaries undefined that resets where templates say so.
    pub fn new(templates: &Templates) -> Self {
        Self::with_reset(templates, ResetPolicy::default())
    }

    /// An encoder for receivers of this reset policy.
    pub fn with_reset(templates: &Templates, reset: ResetPolicy) -> Self {
        Self {
            templates: templates.clone(),
            reset,
            dictionary: Dictionary::new(templates.plan.slot_count),
            template_id: None,
            poisoned: false,
        }
    }

    /// Makes all dictionaries undefined and forgets the template id.
    pub fn reset(&mut self) {
        self.dictionary.reset();
        self.template_id = None;
        self.poisoned = false;
    }

    /// Appends a message to `out`. Absent mandatory constants are filled in.
    ///
    /// # Errors
    /// Nothing is appended. A value that its field cannot have leaves the dictionaries undefined: every further
    /// message is refused (`Poisoned`) until [`reset`](Self::reset).
    pub fn encode(&mut self, message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let plain = |code| EncodeError {
            code,
            template: None,
            field: None,
            element: None,
        };
        let template = message
            .template()
            .filter(|template| template.templates.same(&self.templates));
        let template = template.ok_or(plain(Code::Foreign))?;
        if self.reset == ResetPolicy::Message {
            self.reset();
        }
        if self.poisoned {
            return Err(plain(Code::Poisoned));
        }
        // The encoder's handle says which template is the default.
        let template = self.templates.template(template.index);
        let template = template.ok_or(plain(Code::Foreign))?;
        let start = out.len();
        let mut run = Run {
            plan: &self.templates.plan,
            message,
            dictionary: &mut self.dictionary,
            is_implied: template.is_default() && self.template_id.is_none(),
            template_id: &mut self.template_id,
            reset: self.reset,
            out,
            template: template.entry,
            field: None,
            element: None,
        };
        let (next, end) = message.record().range();
        let done = run.template(template.entry, Cursor { next, end }, true);
        let (field, element) = (run.field, run.element);
        let template = done.is_err().then(|| run.template.name.clone());
        done.map_err(|code| {
            out.truncate(start);
            self.poisoned = true;
            let field = field
                .and_then(|field| self.templates.plan.field(field))
                .map(|field| field.path.clone());
            EncodeError {
                code,
                template,
                field,
                element,
            }
        })
    }

    /// Appends the session's reset message (SCP, template id 120) for templates that do not define it, and does what
    /// receivers do then: see [`ResetPolicy`].
    pub fn encode_reset(&mut self, out: &mut Vec<u8>) {
        session::append_reset(self.template_id, out);
        match self.reset {
            ResetPolicy::Never => self.template_id = Some(session::RESET.0),
            _ => self.reset(),
        }
    }

    /// Appends a struct as a message of its template. Fields that it has no member for are absent.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and that a value does not convert to its field's type (D11, R1, R4, R5), which
    /// leaves the dictionaries as they were.
    pub fn encode_from<T: FastMessage>(
        &mut self,
        binding: &mut Binding<T>,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.encode(binding.message(value)?, out)
    }
}

/// The encoding of one message.
struct Run<'a> {
    plan: &'a Plan,
    message: &'a Message,
    dictionary: &'a mut Dictionary,
    template_id: &'a mut Option<u32>,
    /// Whether the message needs no template id.
    is_implied: bool,
    reset: ResetPolicy,
    out: &'a mut Vec<u8>,
    /// The innermost template and, where it failed, field and element.
    template: &'a TemplateEntry,
    field: Option<u32>,
    element: Option<u32>,
}

/// The nodes of a record that were not encoded yet.
#[derive(Clone, Copy)]
struct Cursor {
    next: u32,
    end: u32,
}

impl<'a> Run<'a> {
    /// A message, or one at a dynamic template reference.
    fn template(
        &mut self,
        template: &'a TemplateEntry,
        cursor: Cursor,
        is_message: bool,
    ) -> Result<(), Code> {
        let known = *self.template_id;
        let new = match template.id {
            _ if is_message && self.is_implied => None,
            Some(id) => Some(id).filter(|_| known != Some(id)),
            None => return Err(Code::D9),
        };
        let mut map = MapWriter::new(self.out, template.map_bits);
        map.push(self.out, new.is_some());
        if let Some(id) = new {
            output::unsigned(self.out, id.into());
            *self.template_id = new;
        }
        if is_message && template.reset && self.reset != ResetPolicy::Never {
            self.dictionary.reset();
            // SCP: after this message the session begins anew.
            self.template_id.take_if(|id| *id == session::RESET.0);
        }
        let outer = core::mem::replace(&mut self.template, template);
        self.instructions(self.plan.template_ops(template), cursor, &mut map)?;
        self.template = outer;
        map.finish(self.out);
        Ok(())
    }

    /// The fields of one record, which has them in template order.
    fn instructions(
        &mut self,
        ops: &'a [Op],
        mut cursor: Cursor,
        map: &mut MapWriter,
    ) -> Result<(), Code> {
        let mut next = ops;
        while let [op, rest @ ..] = next {
            let node = self.message.nodes.get(cursor.next as usize);
            let cell = node
                .filter(|node| node.field == op.field && cursor.next < cursor.end)
                .map(|node| &node.cell);
            let mut target = Target {
                out: self.out,
                map,
                dictionary: self.dictionary,
            };
            let done = match (op.kind, cell) {
                (Kind::Unsigned, Some(Cell::Unsigned(value))) => {
                    encode_operator::integer(&op.spec, Some(*value), &mut target)
                }
                (Kind::Signed, Some(Cell::Signed(value))) => {
                    encode_operator::integer(&op.spec, Some(*value), &mut target)
                }
                (Kind::Unsigned | Kind::Signed, None) => {
                    encode_operator::no_integer(&op.spec, &mut target)
                }
                _ => {
                    let (body, after) = rest.split_at(op.segment.body as usize);
                    next = after;
                    if let Err(code) = self.other(op, body, cell, &mut cursor, map) {
                        return Err(self.failed_at(op, code));
                    }
                    continue;
                }
            };
            if let Err(code) = done {
                return Err(self.failed_at(op, code));
            }
            cursor.next += u32::from(cell.is_some());
            next = rest;
        }
        if cursor.next == cursor.end {
            Ok(())
        } else {
            Err(Code::Foreign)
        }
    }

    #[cold]
    fn failed_at(&mut self, op: &Op, code: Code) -> Code {
        self.field.get_or_insert(op.field);
        code
    }

    /// A field that is no integer.
    fn other(
        &mut self,
        op: &'a Op,
        body: &'a [Op],
        cell: Option<&Cell>,
        cursor: &mut Cursor,
        map: &mut MapWriter,
    ) -> Result<(), Code> {
        let inner = Cursor {
            next: cursor.next + 1,
            ..*cursor
        };
        cursor.next = match cell {
            None => cursor.next,
            Some(cell) => after(cell, *cursor),
        };
        match op.kind {
            Kind::Group => self.group(op, body, cell, inner, map),
            Kind::Sequence => self.sequence(op, body, cell, inner, map),
            Kind::BitGroup => self.bit_group(op, body, cell, inner, map),
            Kind::Template => match cell {
                Some(&Cell::Template { template, end }) => {
                    let template = self.plan.template(template).ok_or(Code::Foreign)?;
                    self.template(template, Cursor { end, ..inner }, false)
                }
                Some(_) => Err(Code::D1),
                None => Err(Code::Missing),
            },
            _ => self.leaf(op, body, cell, map),
        }
    }

    /// A decimal, string or byte vector.
    #[inline]
    fn leaf(
        &mut self,
        op: &Op,
        parts: &[Op],
        cell: Option<&Cell>,
        map: &mut MapWriter,
    ) -> Result<(), Code> {
        let mut target = Target {
            out: self.out,
            map,
            dictionary: self.dictionary,
        };
        let value = match (op.kind, cell) {
            (Kind::Decimal, Some(Cell::Decimal(value))) => {
                return encode_operator::decimal(&op.spec, Some(*value), &mut target);
            }
            (Kind::Decimal, None) => {
                return encode_operator::decimal(&op.spec, None, &mut target);
            }
            (Kind::Split, cell @ (Some(Cell::Decimal(_)) | None)) => {
                let value = cell.and_then(|cell| match cell {
                    Cell::Decimal(value) => Some(*value),
                    _ => None,
                });
                return match parts {
                    [exponent, mantissa] => {
                        split_decimal(&exponent.spec, &mantissa.spec, value, &mut target)
                    }
                    _ => Ok(()),
                };
            }
            (Kind::Ascii | Kind::Unicode, Some(&Cell::Text { start, end })) => {
                Some(self.message.text_bytes(start, end))
            }
            (Kind::Bytes, Some(&Cell::Bytes { start, end })) => Some(self.message.blob(start, end)),
            (Kind::Ascii | Kind::Unicode | Kind::Bytes, None) => None,
            _ => return Err(Code::D1),
        };
        let initial = self
            .plan
            .initials
            .get(op.spec.initial as usize)
            .map(Initial::as_bytes);
        encode_operator::text(
            op.kind,
            &op.spec,
            initial.unwrap_or_default(),
            value,
            &mut target,
        )
    }

    fn group(
        &mut self,
        op: &'a Op,
        body: &'a [Op],
        cell: Option<&Cell>,
        inner: Cursor,
        map: &mut MapWriter,
    ) -> Result<(), Code> {
        if op.spec.optional {
            map.push(self.out, cell.is_some());
        }
        match cell {
            Some(&Cell::Group { end }) => self.segment(op, body, Cursor { end, ..inner }),
            Some(_) => Err(Code::D1),
            None if op.spec.optional => Ok(()),
            // A group of constants needs nothing of the message.
            None => self.segment(op, body, Cursor { next: 0, end: 0 }),
        }
    }

    fn sequence(
        &mut self,
        op: &'a Op,
        body: &'a [Op],
        cell: Option<&Cell>,
        mut inner: Cursor,
        map: &mut MapWriter,
    ) -> Result<(), Code> {
        let [length, body @ ..] = body else {
            return Ok(());
        };
        let len = match cell {
            Some(&Cell::Sequence { len, end }) => {
                inner.end = end;
                Some(len)
            }
            Some(_) => return Err(Code::D1),
            None => None,
        };
        let is_implied = length.spec.operator == Operator::Constant && !length.spec.optional;
        if len.is_none() && is_implied && length.spec.value > 0 {
            return Err(Code::Missing);
        }
        let mut target = Target {
            out: self.out,
            map,
            dictionary: self.dictionary,
        };
        encode_operator::integer(&length.spec, len.map(u64::from), &mut target)?;
        for index in 0..len.unwrap_or(0) {
            let element = match self.message.nodes.get(inner.next as usize) {
                Some(Node {
                    field,
                    cell: Cell::Element { end },
                }) if *field == op.field && inner.next < inner.end => Cursor {
                    next: inner.next + 1,
                    end: *end,
                },
                _ => {
                    self.element.get_or_insert(index);
                    return Err(Code::Missing);
                }
            };
            inner.next = after(&Cell::Element { end: element.end }, inner);
            if let Err(code) = self.segment(op, body, element) {
                self.element.get_or_insert(index);
                return Err(code);
            }
        }
        if len.is_none() || inner.next == inner.end {
            Ok(())
        } else {
            Err(Code::Foreign)
        }
    }

    fn segment(&mut self, op: &Op, body: &'a [Op], cursor: Cursor) -> Result<(), Code> {
        if op.segment.map_bits == 0 {
            return self.instructions(body, cursor, &mut MapWriter::none());
        }
        let mut map = MapWriter::new(self.out, op.segment.map_bits);
        self.instructions(body, cursor, &mut map)?;
        map.finish(self.out);
        Ok(())
    }
}

/// The index of the node after `cell`, which is the cursor's next.
fn after(cell: &Cell, cursor: Cursor) -> u32 {
    match *cell {
        Cell::Group { end }
        | Cell::Sequence { end, .. }
        | Cell::Element { end }
        | Cell::Template { end, .. } => end.clamp(cursor.next + 1, cursor.end),
        _ => cursor.next + 1,
    }
}

/// Exponent and mantissa under their own operators; the mantissa is only sent with an exponent (§10.5.1).
#[inline(always)]
pub(crate) fn split_decimal(
    exponent: &Spec,
    mantissa: &Spec,
    value: Option<Decimal>,
    target: &mut Target<'_, impl Entries>,
) -> Result<(), Code> {
    let value = match value {
        Some(value) if exponent.operator == Operator::Constant => {
            Some(rescale(value, exponent.value)?)
        }
        value => value,
    };
    let has_exponent = value.is_some() || !exponent.optional;
    encode_operator::integer(
        exponent,
        value.map(|value| i64::from(value.exponent())),
        target,
    )?;
    if !has_exponent {
        return Ok(());
    }
    match encode_operator::integer(mantissa, value.map(Decimal::mantissa), target) {
        Err(Code::Unencodable) => Err(Code::D3),
        done => done,
    }
}

/// The same number with the exponent that the template fixes; D3 if digits would be lost.
fn rescale(value: Decimal, exponent_bits: u64) -> Result<Decimal, Code> {
    let exponent = i8::try_from(exponent_bits.cast_signed()).map_err(|_| Code::D3)?;
    let mut mantissa = value.mantissa();
    let mut at = value.exponent();
    while at > exponent && mantissa != 0 {
        mantissa = mantissa.checked_mul(10).ok_or(Code::D3)?;
        at -= 1;
    }
    while at < exponent && mantissa != 0 {
        if mantissa % 10 != 0 {
            return Err(Code::D3);
        }
        mantissa /= 10;
        at += 1;
    }
    Decimal::new(mantissa, exponent).ok_or(Code::D3)
}
