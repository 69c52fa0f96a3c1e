//! Payloads in memory that can be held, wherever they lie.

use std::ops::{Deref, Range};
use std::sync::Arc;

use tickwire_rtps::writer::MAX_COPIED_LEN;
use tickwire_transport::shm::Borrowed;
use tickwire_transport::tcp::LongMessage;

/// Memory in which payloads lie, and which is used for nothing else while it is held.
#[derive(Clone, Debug)]
pub(crate) enum Holdable {
    /// A writer's, who lends it.
    Lent(Borrowed),
    /// That of a long sample, whose fragments were put together there.
    Sample(Arc<Vec<u8>>),
    /// That of a long message.
    Message(LongMessage),
}

impl Holdable {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Lent(lent) => lent.trusted_bytes(),
            Self::Sample(sample) => sample,
            Self::Message(message) => message,
        }
    }

    /// Whether holding a payload of `len` bytes keeps little else from being used. Of a writer's it is up to that.
    fn is_worth_holding_for(&self, len: usize) -> bool {
        let in_use = match self {
            Self::Lent(_) => return true,
            Self::Sample(sample) => sample.capacity(),
            Self::Message(message) => message.len(),
        };
        len > MAX_COPIED_LEN && len >= in_use / 2
    }
}

/// A payload in memory that can be held: its writer lends it, or it is long, and came in a message or in fragments that
/// have memory of their own.
#[derive(Clone, Copy, Debug)]
pub struct LentPayload<'a> {
    bytes: &'a [u8],
    memory: &'a Holdable,
    /// Where in that it begins.
    start: usize,
}

impl<'a> LentPayload<'a> {
    /// `None` if it does not lie there, as it was kept elsewhere meanwhile, or is too little of what would be held.
    pub(crate) fn of(payload: &'a [u8], memory: &'a Holdable) -> Option<Self> {
        let (outer, inner) = (memory.bytes().as_ptr_range(), payload.as_ptr_range());
        let is_within = outer.start <= inner.start && inner.end <= outer.end;
        (is_within && memory.is_worth_holding_for(payload.len())).then(|| Self {
            bytes: payload,
            memory,
            start: inner.start.addr() - outer.start.addr(),
        })
    }

    /// The bytes, encapsulation header included.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Holds a part of it, which is empty if it lies outside. Costs the same for any length.
    pub fn hold(&self, part: Range<usize>) -> LentBytes {
        let part = match self.bytes.get(part.clone()) {
            Some(_) => self.start + part.start..self.start + part.end,
            None => 0..0,
        };
        LentBytes {
            memory: self.memory.clone(),
            part,
        }
    }
}

/// Bytes of a [`LentPayload`], which stay as they are until this is dropped.
#[derive(Clone, Debug)]
pub struct LentBytes {
    memory: Holdable,
    part: Range<usize>,
}

impl LentBytes {
    /// Whether they lie where the writer wrote them.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self.memory, Holdable::Lent(_))
    }
}

impl Deref for LentBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory
            .bytes()
            .get(self.part.clone())
            .unwrap_or_default()
    }
}
