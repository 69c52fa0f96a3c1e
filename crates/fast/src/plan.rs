//! The instruction plan: every template as one run of a flat array of operations, with names, dictionary entries and
//! initial values resolved to indices. It is made once, never changes, and knows nothing of XML, bytes or visitors.
//!
//! ```text
//! template MarketData: ops[5..27]
//!   5 unsigned  none                        MsgSeqNum
//!   6 sequence  body 13                     MDEntries
//!   7   unsigned  none                      its length
//!   8   unsigned  copy   slot 1, initial 1  MDUpdateAction
//!   ...
//!  12   split   body 2                      MDEntryPx
//!  13     signed  default                   its exponent
//!  14     signed  delta  slot 4             its mantissa
//! ```

use std::ops::Range;
use std::sync::Arc;

use crate::error::TemplateWarning;
use crate::field::{FieldType, Operator};
use crate::meaning::Meaning;

/// All templates of a file, compiled.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) templates: Vec<TemplateEntry>,
    pub(crate) fields: Vec<FieldEntry>,
    pub(crate) ops: Vec<Op>,
    /// Initial values of strings and byte vectors.
    pub(crate) initials: Vec<Initial>,
    /// Entries of all dictionaries together; slot 0 belongs to nobody.
    pub(crate) slot_count: u32,
    /// What the entries are called, from slot 1.
    pub(crate) slots: Vec<SlotEntry>,
    /// What is odd about the file.
    pub(crate) warnings: Vec<TemplateWarning>,
    /// Template index by id, for ids below [`NEAR_IDS`].
    near: Vec<u32>,
    /// The others, sorted.
    far: Vec<(u32, u32)>,
}

/// A template as its description needs it.
#[derive(Debug)]
pub(crate) struct TemplateEntry {
    pub(crate) name: Arc<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) id: Option<u32>,
    /// Dictionaries are reset before a message of this template.
    pub(crate) reset: bool,
    pub(crate) fields: Range<u32>,
    pub(crate) ops: Range<u32>,
    /// Most presence-map bits that its segment may use, that of the template id included.
    pub(crate) map_bits: u32,
    /// What a message of it costs of the decoder's budget.
    pub(crate) weight: u32,
}

/// A field as its description needs it.
#[derive(Debug)]
pub(crate) struct FieldEntry {
    pub(crate) name: Box<str>,
    pub(crate) id: Option<Box<str>>,
    pub(crate) field_type: FieldType,
    pub(crate) optional: bool,
    pub(crate) operator: Operator,
    /// Index after the field's last descendant.
    pub(crate) end: u32,
    /// Names from the template down, joined with dots.
    pub(crate) path: Arc<str>,
    /// Name of a sequence's length field.
    pub(crate) length_name: Option<Box<str>>,
    /// What its integers stand for.
    pub(crate) meaning: Meaning,
    /// Largest integer that it can have.
    pub(crate) max: u64,
    /// Bits that it takes in a bit group, or that a bit group takes; 0 for other fields.
    pub(crate) bits: u8,
}

/// A dictionary entry as its description needs it.
#[derive(Debug)]
pub(crate) struct SlotEntry {
    pub(crate) dictionary: Arc<str>,
    pub(crate) key: Arc<str>,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    pub(crate) action: Action,
    pub(crate) field: u32,
    pub(crate) spec: Spec,
    pub(crate) segment: Segment,
}

/// What an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unsigned,
    Signed,
    /// Decimal with one operator for both parts.
    Decimal,
    /// Decimal whose two parts follow as instructions of their own.
    Split,
    Ascii,
    Unicode,
    Bytes,
    Group,
    /// The length's instruction follows, then the element's.
    Sequence,
    /// Fields packed into the bits of one stop bit entity; their instructions follow (FAST 1.2).
    BitGroup,
    /// Another template with its own presence map.
    Template,
}

/// What the decoder's loop branches on: the kind and operator of the instructions that feeds are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Unsigned,
    /// A mandatory unsigned integer of the template.
    UnsignedConstant,
    UnsignedDefault,
    UnsignedCopy,
    UnsignedIncrement,
    UnsignedDelta,
    Signed,
    SignedCopy,
    SignedDelta,
    /// A mandatory string or byte vector of the template.
    Constant,
    /// A string or byte vector that is in the stream, or else in the template.
    Default,
    Other,
}

impl Action {
    pub(crate) fn of(kind: Kind, spec: &Spec) -> Self {
        let is_text = matches!(kind, Kind::Ascii | Kind::Unicode | Kind::Bytes);
        match (kind, spec.operator) {
            (Kind::Unsigned, Operator::None) => Self::Unsigned,
            (Kind::Unsigned, Operator::Constant) if !spec.optional => Self::UnsignedConstant,
            (Kind::Unsigned, Operator::Default) => Self::UnsignedDefault,
            (Kind::Unsigned, Operator::Copy) => Self::UnsignedCopy,
            (Kind::Unsigned, Operator::Increment) => Self::UnsignedIncrement,
            (Kind::Unsigned, Operator::Delta) => Self::UnsignedDelta,
            (Kind::Signed, Operator::None) => Self::Signed,
            (Kind::Signed, Operator::Copy) => Self::SignedCopy,
            (Kind::Signed, Operator::Delta) => Self::SignedDelta,
            (_, Operator::Constant) if is_text && !spec.optional => Self::Constant,
            (_, Operator::Default) if is_text => Self::Default,
            _ => Self::Other,
        }
    }
}

/// A field operator with everything known about it at load time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) operator: Operator,
    pub(crate) optional: bool,
    /// Type of the dictionary entry.
    pub(crate) tag: u8,
    pub(crate) has_initial: bool,
    /// Whether a presence-map bit belongs to it.
    pub(crate) uses_map: bool,
    /// Bits of a bit group or of a field of one; 0 for others.
    pub(crate) width: u8,
    /// Initial exponent of a decimal.
    pub(crate) exponent: i8,
    /// Entry in the dictionary.
    pub(crate) slot: u32,
    /// Index into the initial values of strings and byte vectors.
    pub(crate) initial: u32,
    /// Initial integer (its bits) or mantissa.
    pub(crate) value: u64,
    /// Largest integer of the type.
    pub(crate) max: u64,
}

/// What a group, sequence or split decimal has below it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    /// Number of instructions that follow and belong to it.
    pub(crate) body: u32,
    /// Most presence-map bits that the group or element uses; 0: it has no presence map.
    pub(crate) map_bits: u32,
    /// Fewest bytes that the group or element takes.
    pub(crate) min_bytes: u32,
    /// What an element costs of the decoder's budget.
    pub(crate) weight: u32,
}

/// Initial value of a string or byte vector.
#[derive(Debug)]
pub(crate) enum Initial {
    Text(Box<str>),
    Bytes(Box<[u8]>),
}

impl Initial {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl Plan {
    /// Makes the id table; the templates' ids are distinct.
    pub(crate) fn index_ids(&mut self) {
        for (index, template) in (0u32..).zip(&self.templates) {
            match template.id {
                Some(id) if id < NEAR_IDS => {
                    let at = id as usize;
                    if self.near.len() <= at {
                        self.near.resize(at + 1, NO_TEMPLATE);
                    }
                    self.near[at] = index;
                }
                Some(id) => self.far.push((id, index)),
                None => {}
            }
        }
        self.far.sort_unstable();
    }

    /// Index of the template with this id.
    #[inline]
    pub(crate) fn by_id(&self, id: u32) -> Option<u32> {
        match self.near.get(id as usize) {
            Some(&NO_TEMPLATE) => None,
            Some(&index) => Some(index),
            None => {
                let at = self.far.binary_search_by_key(&id, |entry| entry.0).ok()?;
                self.far.get(at).map(|entry| entry.1)
            }
        }
    }

    pub(crate) fn template(&self, index: u32) -> Option<&TemplateEntry> {
        self.templates.get(index as usize)
    }

    pub(crate) fn field(&self, index: u32) -> Option<&FieldEntry> {
        self.fields.get(index as usize)
    }

    /// The instructions of a template.
    pub(crate) fn template_ops(&self, template: &TemplateEntry) -> &[Op] {
        &self.ops[template.ops.start as usize..template.ops.end as usize]
    }
}

const NEAR_IDS: u32 = 1024;
const NO_TEMPLATE: u32 = u32::MAX;
