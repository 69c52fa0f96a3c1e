//! Where the serialized payloads of a writer's changes lie. Knows no order and no instance.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::pool::MAX_BUFFER_LEN;
use crate::writer::Lent;

/// Where a change's serialized payload lies.
#[derive(Debug)]
pub(crate) enum Payload<B> {
    /// In memory of the history's own.
    Own(Vec<u8>),
    /// The same of a long one, which is sent from there.
    Long(LongPayload),
    /// Where readers can see it.
    Lent(B),
    /// In memory of the application's, which is sent from there.
    Handed(Box<HandedPayload>),
}

impl<B: Lent> Payload<B> {
    /// One of these bytes.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        match bytes.len() > MAX_BUFFER_LEN {
            true => Self::Long(LongPayload::new(bytes)),
            false => Self::Own(bytes),
        }
    }

    /// As how many bytes it counts against what may be unacknowledged.
    #[inline]
    pub(crate) fn counted_len(&self) -> usize {
        self.borrow().counted_len()
    }

    #[inline]
    pub(crate) fn borrow(&self) -> Borrowed<'_, B> {
        match self {
            Self::Own(bytes) => Borrowed::Own(bytes),
            Self::Long(long) => Borrowed::Long(long),
            Self::Lent(lent) => Borrowed::Lent(lent),
            Self::Handed(handed) => Borrowed::Handed(handed),
        }
    }

    /// What is left in its place once it is taken.
    pub(crate) const NONE: Self = Self::Own(Vec::new());
}

/// A payload in the history.
#[derive(Debug)]
pub(crate) enum Borrowed<'a, B> {
    /// In memory of the history's own.
    Own(&'a [u8]),
    /// The same of a long one.
    Long(&'a LongPayload),
    /// Where readers can see it.
    Lent(&'a B),
    /// In memory of the application's.
    Handed(&'a HandedPayload),
}

impl<'a, B: Lent> Borrowed<'a, B> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match *self {
            Self::Handed(handed) => handed.len(),
            _ => self.first_piece().len(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of it where that lies in one, and what comes first of other ones.
    #[inline]
    pub(crate) fn first_piece(&self) -> &'a [u8] {
        match *self {
            Self::Own(bytes) => bytes,
            Self::Long(long) => long.as_slice(),
            Self::Lent(lent) => lent.payload(),
            Self::Handed(handed) => handed.front(),
        }
    }

    /// All of it, copied unless it lies in one.
    pub(crate) fn to_slice(self) -> Cow<'a, [u8]> {
        match self {
            Self::Handed(handed) if handed.len() == handed.len => Cow::Borrowed(handed.bytes()),
            Self::Handed(handed) => {
                let padding = &[0; 3][..handed.padding];
                Cow::Owned([handed.front(), handed.bytes(), padding].concat())
            }
            _ => Cow::Borrowed(self.first_piece()),
        }
    }

    /// As how many bytes it counts against what may be unacknowledged.
    #[inline]
    pub(crate) fn counted_len(&self) -> usize {
        match *self {
            Self::Lent(lent) => lent.counted_len(),
            _ => self.len(),
        }
    }
}

impl<B> Clone for Borrowed<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Borrowed<'_, B> {}

/// A payload that is too long for a datagram of UDP. Datagrams that are to be sent hold it, too, so that it is not copied
/// into them.
#[derive(Debug)]
pub(crate) struct LongPayload {
    /// With zeros behind it up to a multiple of four.
    pub(crate) bytes: Arc<Vec<u8>>,
    len: usize,
}

impl LongPayload {
    fn new(mut bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        let padded = len.next_multiple_of(4);
        // No more memory than that takes.
        bytes.reserve_exact(padded - len);
        bytes.resize(padded, 0);
        Self {
            bytes: Arc::new(bytes),
            len,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// So many of its bytes from `start`, a multiple of four, and if these are the last, with zeros up to another one.
    pub(crate) fn part(&self, start: usize, len: usize) -> Part {
        debug_assert!(start.is_multiple_of(4), "fragments are of eights");
        Part {
            memory: Memory::Own(Arc::clone(&self.bytes)),
            start,
            end: (start + len).next_multiple_of(4),
        }
    }
}

/// Memory of the application's that a writer sends from, and lets go of when nobody needs it any more.
pub type Handed = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A payload that lies in such memory, but for what comes before.
#[derive(Clone)]
pub(crate) struct HandedPayload {
    front: [u8; MAX_FRONT_LEN],
    front_len: usize,
    pub(crate) memory: Handed,
    /// Bytes of it, which is not asked again.
    len: usize,
    /// Zeros behind them that belong to the payload, with which its length is a multiple of four.
    padding: usize,
}

impl fmt::Debug for HandedPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandedPayload")
            .field("front", &self.front())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl HandedPayload {
    /// One that `is_padded` to a multiple of four, or not. `None` if the front is too long, or ends where no word does.
    pub(crate) fn new(front: &[u8], memory: Handed, is_padded: bool) -> Option<Self> {
        let mut own = [0; MAX_FRONT_LEN];
        own.get_mut(..front.len())?.copy_from_slice(front);
        let len = (*memory).as_ref().len();
        front.len().is_multiple_of(4).then_some(Self {
            front: own,
            front_len: front.len(),
            memory,
            len,
            padding: if is_padded { len.wrapping_neg() & 3 } else { 0 },
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.front_len + self.len + self.padding
    }

    /// What comes before the application's bytes.
    pub(crate) fn front(&self) -> &[u8] {
        &self.front[..self.front_len]
    }

    /// The application's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        (*self.memory).as_ref().get(..self.len).unwrap_or_default()
    }

    /// So many bytes of the payload from `start`, a multiple of four: what of the front, and where the rest lies in the
    /// application's bytes. Behind these, what lacks are zeros.
    pub(crate) fn range(&self, start: usize, len: usize) -> (&[u8], Range<usize>) {
        let within = |at: usize| at.saturating_sub(self.front_len).min(self.len);
        let end = start.saturating_add(len);
        let front = self.front().get(start..end.min(self.front_len));
        (front.unwrap_or_default(), within(start)..within(end))
    }

    /// A part of the application's bytes.
    pub(crate) fn part(&self, range: Range<usize>) -> Part {
        Part {
            memory: Memory::Handed(Arc::clone(&self.memory)),
            start: range.start,
            end: range.end,
        }
    }
}

/// Bytes that may come before those of the application.
pub const MAX_FRONT_LEN: usize = 16;

/// A part of a long payload.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    memory: Memory,
    start: usize,
    end: usize,
}

#[derive(Clone)]
enum Memory {
    Own(Arc<Vec<u8>>),
    Handed(Handed),
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own(_) => "Own",
            Self::Handed(_) => "Handed",
        })
    }
}

impl Part {
    pub(crate) fn as_slice(&self) -> &[u8] {
        let bytes = match &self.memory {
            Memory::Own(bytes) => bytes,
            Memory::Handed(memory) => (**memory).as_ref(),
        };
        bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Zeros that lack behind it to a multiple of four.
    pub(crate) fn padding(&self) -> usize {
        (self.end - self.start).wrapping_neg() & 3
    }
}
