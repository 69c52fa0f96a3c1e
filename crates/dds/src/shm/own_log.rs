//! The shorter way of a writer's samples: from its history straight into its log. The writer's lock is held.

use std::ops::AddAssign;
use std::sync::{Arc, Mutex};

use tickwire_rtps::writer::{Lent, Log};
use tickwire_transport::shm::{LogWriter, Ringing};

use crate::loan::LentMessage;
use crate::signal::lock;

/// A log that its writer's machine writes to, and others on that machine's behalf.
pub(crate) type SharedLog = Arc<Mutex<CountingLog>>;

/// A log, and what was written to it.
#[derive(Debug)]
pub(crate) struct CountingLog {
    pub(super) writer: LogWriter,
    pub(super) sent: Sent,
}

/// What was written to logs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// What there was no memory for.
    pub(super) unsent: u64,
    /// Of the records, those that tell of messages elsewhere, and bytes of these.
    pub(super) loans: u64,
    pub(super) loan_bytes: u64,
}

impl AddAssign for Sent {
    fn add_assign(&mut self, other: Self) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.unsent += other.unsent;
        self.loans += other.loans;
        self.loan_bytes += other.loan_bytes;
    }
}

impl CountingLog {
    pub(super) fn new(writer: LogWriter) -> Self {
        Self {
            writer,
            sent: Sent::default(),
        }
    }

    /// Adds a record of these bytes and zeros up to a multiple of four. False if there was no memory for it:
    /// nobody is waited for, and nothing is longer than the log takes. Who is reliable has it repaired, in pieces.
    #[inline(always)]
    pub(super) fn publish(&mut self, head: &[u8], payload: &[u8]) -> bool {
        let end = head.len() + payload.len();
        let Ok(mut claim) = self.writer.claim(end.next_multiple_of(4)) else {
            self.sent.unsent += 1;
            return false;
        };
        if let Some((first, rest)) = claim.bytes_mut().split_at_mut_checked(head.len())
            && let Some((second, padding)) = rest.split_at_mut_checked(payload.len())
        {
            first.copy_from_slice(head);
            second.copy_from_slice(payload);
            if !padding.is_empty() {
                padding.fill(0);
            }
        }
        claim.publish();
        self.sent.records += 1;
        self.sent.bytes += end as u64;
        true
    }
}

/// What a writer's machine has of its log.
#[derive(Debug, Default)]
pub(crate) struct OwnLog {
    log: Option<SharedLog>,
    max_len: usize,
    ringing: Option<Ringing>,
}

impl OwnLog {
    /// Writes to that log from here on, or to none.
    pub(crate) fn set(&mut self, log: Option<&SharedLog>) {
        self.log = log.cloned();
        self.max_len = log.map_or(0, |log| lock(log).writer.max_len());
    }

    /// Wakes the readers that slept when something was written, when it is dropped: not under a lock.
    pub(crate) fn take_ringing(&mut self) -> Option<Ringing> {
        self.ringing.take()
    }

    /// Has the log written to, if there is one; then looks who sleeps.
    #[inline(always)]
    fn write(&mut self, write: impl FnOnce(&mut CountingLog) -> bool) {
        let Some(log) = &self.log else {
            return;
        };
        let mut log = lock(log);
        if !write(&mut log) {
            self.max_len = log.writer.max_len();
            return;
        }
        if let Some(ringing) = log.writer.ringing() {
            self.ringing = Some(ringing);
        }
    }
}

impl Log for OwnLog {
    type Lent = LentMessage;

    fn max_len(&self) -> Option<usize> {
        self.log.is_some().then_some(self.max_len)
    }

    #[inline(always)]
    fn publish(&mut self, head: &[u8], payload: &[u8]) {
        self.write(|log| log.publish(head, payload));
    }

    fn publish_lent(&mut self, lent: &LentMessage) {
        self.write(|log| {
            let is_written = log.publish(&lent.whereabouts().to_bytes(), &[]);
            if is_written {
                log.sent.loans += 1;
                log.sent.loan_bytes += lent.payload().len() as u64;
            }
            is_written
        });
    }
}
