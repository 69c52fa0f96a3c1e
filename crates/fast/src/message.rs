//! A message as a value: a flat tree that is reused from message to message. Knows nothing of bytes or operators.
//!
//! ```text
//! nodes  MsgSeqNum=7 | MDEntries len 2 | element | Px=26 | Size=3 | element | Px=27 | ...
//!                      end ──────────────────────────────────────────────────────► (index after its last node)
//! text   one string that text values point into
//! ```

use crate::field::FieldIndex;
use crate::plan::FieldEntry;
use crate::templates::{Field, Template, Templates};
use crate::{Decimal, Visitor};

/// One message: which template, and the values of the fields that are present.
///
/// As a [`Visitor`] it takes whatever is decoded into it, and keeps its memory: once it has held the largest message
/// it allocates no more. [`build`](Self::build) fills it by hand.
#[derive(Clone, Debug, Default)]
pub struct Message {
    templates: Option<Templates>,
    template: u32,
    pub(crate) nodes: Vec<Node>,
    text: String,
    blob: Vec<u8>,
    /// Nodes whose end is not known yet.
    open: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) field: u32,
    pub(crate) cell: Cell,
}

/// A node's value; `end` is the index of the node after the last one below it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    Unsigned(u64),
    Signed(i64),
    Decimal(Decimal),
    Text { start: u32, end: u32 },
    Bytes { start: u32, end: u32 },
    Group { end: u32 },
    Sequence { len: u32, end: u32 },
    Element { end: u32 },
    Template { template: u32, end: u32 },
}

impl Message {
    /// An empty message of no template.
    pub fn new() -> Self {
        Self::default()
    }

    /// Its template; `None` while it is empty.
    pub fn template(&self) -> Option<Template<'_>> {
        self.templates.as_ref()?.template(self.template)
    }

    /// Its fields; none while it is empty.
    pub fn record(&self) -> Record<'_> {
        Record {
            message: self,
            next: 0,
            end: index(self.nodes.len()),
        }
    }

    /// The value of the top-level field with this name, if it is present. Cost: a walk over the fields.
    pub fn get(&self, name: &str) -> Option<Value<'_>> {
        self.record().get(name)
    }

    /// Empties it; memory is kept.
    pub fn clear(&mut self) {
        self.template = NO_TEMPLATE;
        self.nodes.clear();
        self.text.clear();
        self.blob.clear();
        self.open.clear();
    }

    /// Empties it and makes it a message of `template`, whose fields can then be set.
    pub fn start(&mut self, template: Template<'_>) {
        self.clear();
        match &mut self.templates {
            Some(own) if own.same(template.templates) => own.default = template.templates.default,
            own => *own = Some(template.templates.clone()),
        }
        self.template = template.index;
    }

    /// The bytes of a string.
    pub(crate) fn text_bytes(&self, start: u32, end: u32) -> &[u8] {
        let text = self.text.as_bytes();
        text.get(start as usize..end as usize).unwrap_or_default()
    }

    pub(crate) fn text(&self, start: u32, end: u32) -> &str {
        self.text
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    pub(crate) fn blob(&self, start: u32, end: u32) -> &[u8] {
        self.blob
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    pub(crate) fn field(&self, index: FieldIndex) -> Option<&FieldEntry> {
        self.templates.as_ref()?.plan.field(index.0)
    }

    /// Corrects the number of elements of the sequence at node `at`.
    pub(crate) fn set_len(&mut self, at: usize, count: u32) {
        if let Some(Node {
            cell: Cell::Sequence { len, .. },
            ..
        }) = self.nodes.get_mut(at)
        {
            *len = count;
        }
    }

    fn push(&mut self, field: FieldIndex, cell: Cell) {
        self.nodes.push(Node {
            field: field.0,
            cell,
        });
    }

    fn open(&mut self, field: FieldIndex, cell: Cell) {
        self.open.push(index(self.nodes.len()));
        self.push(field, cell);
    }

    /// Gives the innermost open node its end.
    fn close(&mut self) {
        let last = index(self.nodes.len());
        let node = self
            .open
            .pop()
            .and_then(|at| self.nodes.get_mut(at as usize));
        if let Some(node) = node {
            match &mut node.cell {
                Cell::Group { end }
                | Cell::Sequence { end, .. }
                | Cell::Element { end }
                | Cell::Template { end, .. } => *end = last,
                _ => {}
            }
        }
    }
}

impl Visitor for Message {
    fn begin_message(&mut self, template: Template<'_>) {
        self.start(template);
    }

    #[inline]
    fn unsigned(&mut self, field: FieldIndex, value: u64) {
        self.push(field, Cell::Unsigned(value));
    }

    #[inline]
    fn signed(&mut self, field: FieldIndex, value: i64) {
        self.push(field, Cell::Signed(value));
    }

    #[inline]
    fn decimal(&mut self, field: FieldIndex, value: Decimal) {
        self.push(field, Cell::Decimal(value));
    }

    #[inline]
    fn text(&mut self, field: FieldIndex, value: &str) {
        let start = index(self.text.len());
        self.text.push_str(value);
        self.push(
            field,
            Cell::Text {
                start,
                end: index(self.text.len()),
            },
        );
    }

    #[inline]
    fn bytes(&mut self, field: FieldIndex, value: &[u8]) {
        let start = index(self.blob.len());
        self.blob.extend_from_slice(value);
        self.push(
            field,
            Cell::Bytes {
                start,
                end: index(self.blob.len()),
            },
        );
    }

    fn begin_group(&mut self, field: FieldIndex) {
        self.open(field, Cell::Group { end: 0 });
    }

    fn end_group(&mut self, _: FieldIndex) {
        self.close();
    }

    fn begin_sequence(&mut self, field: FieldIndex, len: u32) {
        self.open(field, Cell::Sequence { len, end: 0 });
    }

    fn begin_element(&mut self, field: FieldIndex, _: u32) {
        self.open(field, Cell::Element { end: 0 });
    }

    fn end_element(&mut self, _: FieldIndex) {
        self.close();
    }

    fn end_sequence(&mut self, _: FieldIndex) {
        self.close();
    }

    fn begin_template(&mut self, field: FieldIndex, template: Template<'_>) {
        self.open(
            field,
            Cell::Template {
                template: template.index,
                end: 0,
            },
        );
    }

    fn end_template(&mut self, _: FieldIndex) {
        self.close();
    }

    fn reset(&mut self) {
        self.clear();
    }
}

/// A value of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Unsigned integer; also an enumeration, set or boolean of FAST 1.2, whose [`Field`] says what it means.
    Unsigned(u64),
    /// Signed integer; also a timestamp of FAST 1.2.
    Signed(i64),
    /// Decimal number.
    Decimal(Decimal),
    /// ASCII or Unicode string.
    Text(&'a str),
    /// Byte vector.
    Bytes(&'a [u8]),
    /// Group.
    Group(Record<'a>),
    /// Sequence.
    Sequence(Sequence<'a>),
    /// Message within the message, and its template.
    Template(Template<'a>, Record<'a>),
}

/// The fields of a message, group or element that are present: an iterator over field and value, in template order.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    message: &'a Message,
    next: u32,
    end: u32,
}

impl<'a> Record<'a> {
    /// The value of the field with this name, if it is present. Cost: a walk over the fields.
    pub fn get(mut self, name: &str) -> Option<Value<'a>> {
        self.find(|(field, _)| field.name() == name)
            .map(|(_, value)| value)
    }

    /// The name of the element that the enumeration of this name has, if it is present (FAST 1.2). Cost: a walk over the
    /// fields.
    pub fn element(mut self, name: &str) -> Option<&'a str> {
        let (field, value) = self.find(|(field, _)| field.name() == name)?;
        match value {
            Value::Unsigned(value) => {
                let element = field.enumeration()?.with_value(value)?;
                Some(&element.name)
            }
            _ => None,
        }
    }

    /// Whether the set of this name is present and has the element (FAST 1.2). Cost: a walk over the fields.
    pub fn has_element(mut self, name: &str, element: &str) -> bool {
        let found = self.find(|(field, _)| field.name() == name);
        match found {
            Some((field, Value::Unsigned(sum))) => field.set().is_some_and(|elements| {
                let element = elements.named(element);
                element.is_some_and(|element| element.value & sum != 0)
            }),
            _ => false,
        }
    }

    /// The value of this field, if it is present. Cost: a walk over the fields.
    pub fn at(mut self, index: FieldIndex) -> Option<Value<'a>> {
        self.find(|(field, _)| field.index() == index)
            .map(|(_, value)| value)
    }

    /// Nodes from and to, for the encoder.
    pub(crate) fn range(self) -> (u32, u32) {
        (self.next, self.end)
    }
}

impl<'a> Iterator for Record<'a> {
    type Item = (Field<'a>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let message = self.message;
        let node = message.nodes.get(self.next as usize)?;
        let field = message.templates.as_ref()?.field(FieldIndex(node.field))?;
        let inner = self.next + 1;
        self.next = inner;
        let mut below = |end: u32| {
            self.next = end.max(inner);
            Record {
                message,
                next: inner,
                end,
            }
        };
        let value = match node.cell {
            Cell::Unsigned(value) => Value::Unsigned(value),
            Cell::Signed(value) => Value::Signed(value),
            Cell::Decimal(value) => Value::Decimal(value),
            Cell::Text { start, end } => Value::Text(message.text(start, end)),
            Cell::Bytes { start, end } => Value::Bytes(message.blob(start, end)),
            Cell::Group { end } | Cell::Element { end } => Value::Group(below(end)),
            Cell::Sequence { len, end } => Value::Sequence(Sequence {
                elements: below(end),
                len,
            }),
            Cell::Template { template, end } => {
                Value::Template(message.templates.as_ref()?.template(template)?, below(end))
            }
        };
        Some((field, value))
    }
}

/// Equal if the same fields have the same values.
impl PartialEq for Record<'_> {
    fn eq(&self, other: &Self) -> bool {
        let one = self.map(|(field, value)| (field.index(), value));
        one.eq(other.map(|(field, value)| (field.index(), value)))
    }
}

impl core::fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map()
            .entries(self.map(|(field, value)| (field.name(), value)))
            .finish()
    }
}

/// Where an element is in its message, to come back to it without a walk. Places go up from element to element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementPlace(u32);

/// The elements of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequence<'a> {
    elements: Record<'a>,
    len: u32,
}

impl<'a> Sequence<'a> {
    /// Number of elements.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The elements with their places, in order.
    pub fn places(self) -> impl Iterator<Item = (ElementPlace, Record<'a>)> {
        let mut rest = self.elements;
        core::iter::from_fn(move || {
            let place = ElementPlace(rest.next);
            match rest.next()? {
                (_, Value::Group(element)) => Some((place, element)),
                _ => None,
            }
        })
    }

    /// The element at a place that [`places`](Self::places) has given. `None` if that is outside this sequence.
    pub fn at(self, place: ElementPlace) -> Option<Record<'a>> {
        let ElementPlace(node) = place;
        let Record { message, next, end } = self.elements;
        if !(next..end).contains(&node) {
            return None;
        }
        match message.nodes.get(node as usize)?.cell {
            Cell::Element { end } => Some(Record {
                message,
                next: node + 1,
                end,
            }),
            _ => None,
        }
    }

    /// The elements, in order.
    pub fn iter(self) -> impl Iterator<Item = Record<'a>> {
        self.elements.filter_map(|(_, value)| {
            if let Value::Group(element) = value {
                Some(element)
            } else {
                None
            }
        })
    }
}

/// Two messages are equal if they have the same template and the same values.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.template() == other.template() && self.record() == other.record()
    }
}

/// Index of a node or byte. Messages are smaller than 4 GiB: the decoder's budget sees to it, and past that a value
/// reads as empty.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

const NO_TEMPLATE: u32 = u32::MAX;
