//! What a decoder calls with each value. Knows nothing of bytes, operators or dictionaries.

use crate::{Decimal, FieldIndex, Step, Template};

/// Receives a message field by field, as soon as each value is known.
///
/// Calls come in template order. A visitor may act on a field before the message's end; when the message turns out to
/// be malformed the decoder returns its error and [`end_message`](Self::end_message) is not called. Every method does
/// nothing by default, and is called by static dispatch.
#[expect(
    unused_variables,
    reason = "the names are the documentation of methods that do nothing"
)]
pub trait Visitor {
    /// Whether the decoder calls [`step`](Self::step), for tools that explain a message byte by byte. Default: no,
    /// which costs nothing.
    const TRACED: bool = false;

    /// The decoder has read one part of the message, or failed to: called before the value itself is given. Cost: a
    /// copy of the dictionary's strings.
    fn step(&mut self, step: &Step) {}
    /// A message of `template` begins.
    fn begin_message(&mut self, template: Template<'_>) {}
    /// The message is complete.
    fn end_message(&mut self) {}
    /// Value of an unsigned integer, within its type's range.
    fn unsigned(&mut self, field: FieldIndex, value: u64) {}
    /// Value of a signed integer, within its type's range.
    fn signed(&mut self, field: FieldIndex, value: i64) {}
    /// Value of a decimal.
    fn decimal(&mut self, field: FieldIndex, value: Decimal) {}
    /// Value of an ASCII or Unicode string.
    fn text(&mut self, field: FieldIndex, value: &str) {}
    /// Value of a byte vector.
    fn bytes(&mut self, field: FieldIndex, value: &[u8]) {}
    /// An optional field (of any type) has no value in this message.
    fn absent(&mut self, field: FieldIndex) {}
    /// The fields of a group follow.
    fn begin_group(&mut self, field: FieldIndex) {}
    /// The group is complete.
    fn end_group(&mut self, field: FieldIndex) {}
    /// `len` elements of a sequence follow. The number comes from the wire: it is bounded by what the decoder allows,
    /// not by memory, so reserve no more than elements that arrived.
    fn begin_sequence(&mut self, field: FieldIndex, len: u32) {}
    /// The fields of the sequence's element number `index` (from 0) follow.
    fn begin_element(&mut self, field: FieldIndex, index: u32) {}
    /// The element is complete.
    fn end_element(&mut self, field: FieldIndex) {}
    /// The sequence is complete.
    fn end_sequence(&mut self, field: FieldIndex) {}
    /// The fields of another template follow, at the place of a dynamic `templateRef`.
    fn begin_template(&mut self, field: FieldIndex, template: Template<'_>) {}
    /// The inner template is complete.
    fn end_template(&mut self, field: FieldIndex) {}
    /// The session's reset message (SCP, template id 120) was decoded, and the templates do not define it: see
    /// [`ResetPolicy`](crate::ResetPolicy).
    fn reset(&mut self) {}
}

/// The visitor that looks at nothing: decoding with it checks a message and counts it.
impl Visitor for () {}
