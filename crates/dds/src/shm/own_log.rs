//! The shorter way of a writer's samples: from its history straight into its log. The writer's lock is held.

use std::sync::{Arc, Mutex};

use tickwire_rtps::writer::{Lent, Log};
use tickwire_transport::shm::{LogWriter, Ringing};

use crate::loan::LentMessage;
use crate::signal::lock;

/// A log that its writer's machine writes to, and others on that machine's behalf.
pub(crate) type SharedLog = Arc<Mutex<LogWriter>>;

/// What a writer's machine has of its log.
#[derive(Debug, Default)]
pub(crate) struct OwnLog {
    log: Option<SharedLog>,
    max_len: usize,
    published: Published,
}

/// What has been written to a log.
#[derive(Debug, Default)]
pub(crate) struct Published {
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// What there was no memory for.
    pub(super) unsent: u64,
    /// Of the records, those that tell of messages elsewhere, and bytes of these.
    pub(super) loans: u64,
    pub(super) loan_bytes: u64,
    /// Readers that sleep.
    pub(super) ringing: Option<Ringing>,
}

impl OwnLog {
    /// Writes to that log from here on, or to none.
    pub(crate) fn set(&mut self, log: Option<&SharedLog>) {
        self.log = log.cloned();
        self.max_len = log.map_or(0, |log| lock(log).max_len());
    }

    /// What has been written since this was asked, if anything: readers may sleep until the lock is dropped.
    pub(crate) fn take(&mut self) -> Option<Published> {
        let Published {
            records, unsent, ..
        } = self.published;
        (records + unsent > 0).then(|| std::mem::take(&mut self.published))
    }
}

impl Log for OwnLog {
    type Lent = LentMessage;

    fn publish_lent(&mut self, lent: &LentMessage) {
        let before = self.published.records;
        self.publish([&lent.whereabouts().to_bytes(), &[], &[], &[]]);
        if self.published.records > before {
            self.published.loans += 1;
            self.published.loan_bytes += lent.payload().len() as u64;
        }
    }

    fn max_len(&self) -> Option<usize> {
        self.log.is_some().then_some(self.max_len)
    }

    fn publish(&mut self, parts: [&[u8]; 4]) {
        let Some(log) = &self.log else {
            return;
        };
        let mut log = lock(log);
        let len = parts.iter().map(|part| part.len()).sum();
        // Nobody is waited for, and nothing longer comes, unless the machine has no memory for that: who is
        // reliable has it repaired, in pieces.
        let Ok(mut claim) = log.claim(len) else {
            self.published.unsent += 1;
            self.max_len = log.max_len();
            return;
        };
        let mut room = claim.bytes_mut();
        for part in parts {
            let Some((place, rest)) = room.split_at_mut_checked(part.len()) else {
                return;
            };
            place.copy_from_slice(part);
            room = rest;
        }
        claim.publish();
        self.published.records += 1;
        self.published.bytes += len as u64;
        if let Some(ringing) = log.ringing() {
            self.published.ringing = Some(ringing);
        }
    }
}
