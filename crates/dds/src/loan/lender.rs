//! Where a writer's loans come from: its pool, or memory of its own.

use std::any::TypeId;
use std::sync::{Mutex, OnceLock};

use tickwire_cdr::{Representation, Type, TypeDescription};
use tickwire_rtps::writer::{LENT_HEAD_LEN, SAMPLE_OVERHEAD_LEN};
use tickwire_transport::shm::{self, MAX_CHUNKS, MAX_POOL_BYTES, Pool};

use super::layout::{Layout, sequence_of};
use super::{LentMessage, LoanError};
use crate::qos::DataWriterQos;
use crate::signal::lock;

/// What a writer needs to lend.
#[derive(Debug)]
pub(crate) struct Lender {
    layout: Layout,
    /// Of the pool: the longest loan, and how many there are.
    max_len: usize,
    count: usize,
    counted_len: u32,
    pool: OnceLock<Pool>,
    /// Memory of the writer's own, for the next loans.
    spare: Mutex<Vec<Vec<u8>>>,
    /// Whether values are in memory as in payloads, once that was looked at.
    is_plain: OnceLock<bool>,
    /// Whether the type is one sequence of bytes.
    is_bytes: bool,
    /// The first type whose values were found to be the elements of the sequence.
    elements: OnceLock<TypeId>,
}

/// What is lent.
#[derive(Debug)]
pub(crate) enum Memory {
    /// A chunk of the pool.
    Lent(shm::Loan),
    /// Memory of the writer's own, with the payload's head before the bytes, and perhaps more behind them.
    Own(Vec<u8>),
}

impl Lender {
    /// `None` unless the type is one sequence of bytes, numbers or plain structs, or plain itself.
    pub(crate) fn new(
        description: Option<&TypeDescription>,
        representation: Representation,
        qos: &DataWriterQos,
    ) -> Option<Self> {
        let description = description?;
        let layout = Layout::of(description, representation)?;
        let element = sequence_of(description).map(|(element, _)| element);
        let max_len = qos.max_loan_bytes;
        let count = qos.loan_count.clamp(2, MAX_CHUNKS);
        // A KEEP_ALL writer waits when three quarters are not acknowledged, so that there is one to write to.
        let kept = (count * 3 / 4).max(1);
        let counted_len = qos.max_unacknowledged_bytes.div_ceil(kept);
        let counted_len = counted_len.saturating_sub(SAMPLE_OVERHEAD_LEN);
        Some(Self {
            layout,
            max_len,
            count,
            counted_len: u32::try_from(counted_len).unwrap_or(u32::MAX),
            pool: OnceLock::new(),
            spare: Mutex::default(),
            is_plain: OnceLock::new(),
            is_bytes: matches!(element, Some(Type::U8 | Type::Byte)),
            elements: OnceLock::new(),
        })
    }

    /// The pool, for the writer's log: made for the first one, and the same for all. `None` if it is not to have
    /// one, or there is no memory.
    pub(crate) fn pool(&self) -> Option<&Pool> {
        if self.pool.get().is_none() && self.max_len > 0 {
            let chunk_len = self.room() + self.max_len.checked_next_multiple_of(4)?;
            let fit = MAX_POOL_BYTES.checked_div(chunk_len.checked_next_multiple_of(64)? + 64)?;
            let pool = Pool::new(chunk_len, self.count.min(fit)).ok()?;
            // Logs are made by one thread.
            let _ = self.pool.set(pool);
        }
        self.pool.get()
    }

    /// Whether it lends the elements of a sequence of bytes.
    pub(super) fn lends_bytes(&self) -> bool {
        self.is_bytes
    }

    /// Whether it lends the elements of a sequence of that type, which `look` finds out: it is not called again for the first
    /// type of which it has said so.
    pub(super) fn lends_elements(
        &self,
        of: TypeId,
        look: impl FnOnce() -> Result<(), LoanError>,
    ) -> Result<(), LoanError> {
        if self.elements.get() != Some(&of) {
            look()?;
            // Another type may have been first.
            let _ = self.elements.set(of);
        }
        Ok(())
    }

    /// Whether it lends values of a plain type that takes so many bytes, which `look` finds to be in memory as in
    /// payloads: it is called once.
    pub(super) fn lends_values(&self, len: usize, look: impl FnOnce() -> bool) -> bool {
        self.layout.plain_len() == Some(len) && *self.is_plain.get_or_init(look)
    }

    /// How often the pool had nothing to lend.
    pub(crate) fn used_up(&self) -> u64 {
        self.pool.get().map_or(0, Pool::used_up)
    }

    /// Room for a sample of `len` bytes.
    pub(super) fn lend(&self, len: usize) -> Result<Memory, LoanError> {
        let max = self.layout.max_len();
        if len > max {
            return Err(LoanError::TooLong { len, max });
        }
        if let Some(pool) = self.pool.get().filter(|_| len <= self.max_len)
            && let Ok(loan) = pool.loan(self.room() + len.next_multiple_of(4))
        {
            return Ok(Memory::Lent(loan));
        }
        let mut own = lock(&self.spare).pop().unwrap_or_default();
        let payload_len = self.payload_len(len);
        if own.len() < payload_len {
            own.resize(payload_len, 0);
        }
        Ok(Memory::Own(own))
    }

    /// From the beginning of what is to be written, as long as it was asked for or longer.
    pub(super) fn bytes_mut<'m>(&self, memory: &'m mut Memory) -> &'m mut [u8] {
        match memory {
            Memory::Lent(loan) => loan.bytes_mut().get_mut(self.room()..).unwrap_or_default(),
            Memory::Own(own) => own.get_mut(self.layout.head_len()..).unwrap_or_default(),
        }
    }

    /// The same to be looked at.
    pub(super) fn bytes<'m>(&self, memory: &'m Memory) -> &'m [u8] {
        match memory {
            Memory::Lent(loan) => loan.bytes().get(self.room()..).unwrap_or_default(),
            Memory::Own(own) => own.get(self.layout.head_len()..).unwrap_or_default(),
        }
    }

    /// Keeps memory for the next loan, unless that would be much.
    pub(super) fn take_back(&self, own: Vec<u8>) {
        let mut spare = lock(&self.spare);
        let kept = spare.iter().map(Vec::capacity).sum::<usize>();
        let has_room = kept.saturating_add(own.capacity()) <= MAX_SPARE_BYTES;
        if has_room && spare.len() < MAX_SPARE && own.capacity() > 0 {
            spare.push(own);
        }
    }

    /// Makes the payload of a sample of memory of the writer's own whose first `len` bytes were written.
    pub(super) fn complete(&self, own: &mut Vec<u8>, len: usize) {
        let (head, padding) = self.layout.head(len);
        let end = head.bytes().len() + len;
        own.resize(end + padding, 0);
        if let Some(place) = own.get_mut(..head.bytes().len()) {
            place.copy_from_slice(head.bytes());
        }
        if let Some(zeros) = own.get_mut(end..) {
            zeros.fill(0);
        }
    }

    /// How long the payload of a sample of `len` bytes is.
    pub(crate) fn payload_len(&self, len: usize) -> usize {
        let (head, padding) = self.layout.head(len);
        head.bytes().len() + len + padding
    }

    /// Lets readers find `len` bytes that were written, behind the head of a message.
    pub(crate) fn publish(
        &self,
        mut loan: shm::Loan,
        len: usize,
        message_head: &[u8; LENT_HEAD_LEN],
    ) -> LentMessage {
        let (head, padding) = self.layout.head(len);
        let room = self.room();
        let start = room - LENT_HEAD_LEN - head.bytes().len();
        loan.truncate(room + len + padding);
        let bytes = loan.bytes_mut();
        let mut at = start;
        for part in [message_head, head.bytes()] {
            if let Some(place) = bytes.get_mut(at..at + part.len()) {
                place.copy_from_slice(part);
            }
            at += part.len();
        }
        if let Some(zeros) = bytes.get_mut(room + len..) {
            zeros.fill(0);
        }
        LentMessage {
            lent: loan.publish(),
            start: narrow(start),
            payload: narrow(start + LENT_HEAD_LEN),
            counted_len: self.counted_len,
        }
    }

    /// What comes before the bytes in a chunk, so that they begin at a multiple of 64.
    fn room(&self) -> usize {
        (LENT_HEAD_LEN + self.layout.head_len()).next_multiple_of(64)
    }
}

/// Of two cache lines at most.
fn narrow(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// Memory of the writer's own that waits for the next loan.
const MAX_SPARE: usize = 16;
const MAX_SPARE_BYTES: usize = 32 << 20;
