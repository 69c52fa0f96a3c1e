//! A shorter way for samples than an outbox: a log that all readers follow. Knows no memory.

use alloc::vec::Vec;

use crate::wire::{Guid, PlainSample, SampleHead, SequenceNumber};

/// The log of a writer, in shared memory.
///
/// What is new goes there straight from the history if all that it is for follow the log, in messages
/// that may be longer than any datagram, or that already lie where readers can see them. All else,
/// repairs, heartbeats and coherent sets among it, goes by the outbox.
pub trait Log {
    /// A message in memory that readers of the log can see.
    type Lent: Lent;

    /// The longest message that it takes; `None` where there is no log.
    fn max_len(&self) -> Option<usize>;

    /// Takes a message that is not longer: its head, a payload, and zeros up to a multiple of four bytes.
    fn publish(&mut self, head: &[u8], payload: &[u8]);

    /// Takes a sample of the writer's that says nothing besides, which is not longer as a message: its head, a payload,
    /// and zeros up to a multiple of four bytes.
    fn publish_plain(&mut self, sample: PlainSample, payload: &[u8]);

    /// Tells readers where a message lies. It stays there for as long as the history keeps it.
    fn publish_lent(&mut self, lent: &Self::Lent);

    /// Appends which readers have said beside the log that they have everything up to which number, and not been heard
    /// yet: of the next `count` participants that follow it, in turn.
    fn hear(&mut self, count: usize, said: &mut Vec<(Guid, SequenceNumber)>);
}

/// A message that lies where a log's readers can see it: what [`Writer::write_lent`] gives, and behind
/// that a payload.
///
/// [`Writer::write_lent`]: super::Writer::write_lent
pub trait Lent {
    /// The payload, encapsulation header and padding included.
    fn payload(&self) -> &[u8];

    /// As how many bytes it counts against
    /// [`max_unacknowledged_len`](super::WriterConfig::max_unacknowledged_len), however long it is.
    fn counted_len(&self) -> usize;

    /// Every reader has it. Called before it is dropped, and only if that is so.
    fn done_with(&mut self);
}

/// How many bytes a message to all readers has before a payload: what [`Writer::write_lent`] gives.
///
/// [`Writer::write_lent`]: super::Writer::write_lent
pub const LENT_HEAD_LEN: usize = SampleHead::MESSAGE_LEN;

/// No log: all goes by the outbox.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl Log for NoLog {
    type Lent = NothingLent;

    fn max_len(&self) -> Option<usize> {
        None
    }

    fn publish(&mut self, _: &[u8], _: &[u8]) {}

    fn publish_plain(&mut self, _: PlainSample, _: &[u8]) {}

    fn publish_lent(&mut self, lent: &NothingLent) {
        match *lent {}
    }

    fn hear(&mut self, _: usize, _: &mut Vec<(Guid, SequenceNumber)>) {}
}

/// What is lent where there is no log.
#[derive(Clone, Copy, Debug)]
pub enum NothingLent {}

impl Lent for NothingLent {
    fn payload(&self) -> &[u8] {
        match *self {}
    }

    fn counted_len(&self) -> usize {
        match *self {}
    }

    fn done_with(&mut self) {
        match *self {}
    }
}
