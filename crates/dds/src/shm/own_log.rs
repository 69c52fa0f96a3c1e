//! The log of a writer, behind the lock of its machine, and the shorter way of its samples: from its history straight
//! there.

use std::ops::AddAssign;
use std::sync::Arc;

use tickwire_base::copy;
use tickwire_rtps::wire::{Guid, GuidPrefix, PlainSample, SequenceNumber};
use tickwire_rtps::writer::{Lent, Log};
use tickwire_transport::shm::{
    Admission, Bell, Gating, LogWriter, MAX_NOTES, Note, Ringing, Seat, SeatError,
};

use super::{note, record};
use crate::loan::LentMessage;

/// A log, and what was written to it.
#[derive(Debug)]
pub(crate) struct CountingLog {
    pub(super) writer: LogWriter,
    pub(super) sent: Sent,
    guests: Vec<Guest>,
    /// Which of them is heard next.
    next_guest: usize,
}

/// A participant that follows a log, and what of its notes has been heard.
#[derive(Debug)]
struct Guest {
    seat: Seat,
    prefix: GuidPrefix,
    heard: [Note; MAX_NOTES],
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
            guests: Vec::new(),
            next_guest: 0,
        }
    }

    /// A seat for a participant whose thread that follows logs is rung by `bell`. Nobody waits for it.
    pub(super) fn seat(
        &mut self,
        bell: Arc<Bell>,
        prefix: GuidPrefix,
    ) -> Result<Admission, SeatError> {
        let admission = self.writer.seat(bell, Gating::Overruns)?;
        self.guests.push(Guest {
            seat: admission.seat(),
            prefix,
            heard: [Note::default(); MAX_NOTES],
        });
        Ok(admission)
    }

    /// Gives it back.
    pub(super) fn free(&mut self, seat: Seat) {
        self.writer.free(seat);
        self.guests.retain(|guest| guest.seat != seat);
    }

    /// Appends what the readers of the next `count` guests have, as far as it is new.
    fn hear(&mut self, count: usize, said: &mut Vec<(Guid, SequenceNumber)>) {
        for _ in 0..count.min(self.guests.len()) {
            self.next_guest = match self.next_guest + 1 {
                next if next < self.guests.len() => next,
                _ => 0,
            };
            let Some(guest) = self.guests.get_mut(self.next_guest) else {
                return;
            };
            for (place, heard) in guest.heard.iter_mut().enumerate() {
                let note = self.writer.note(guest.seat, place);
                let Some(note) = note.filter(|note| note != heard) else {
                    continue;
                };
                *heard = note;
                let what = note::parse(note);
                said.extend(what.map(|(reader, number)| (Guid::new(guest.prefix, reader), number)));
            }
        }
    }

    /// Adds a message of these bytes and zeros up to a multiple of four. False if there was no memory for it:
    /// nobody is waited for, and nothing is longer than the log takes. Who is reliable has it repaired, in pieces.
    #[inline(always)]
    pub(crate) fn publish(&mut self, head: &[u8], payload: &[u8]) -> bool {
        self.publish_as(record::MESSAGE, head, payload)
    }

    /// The same of what the tag says.
    #[inline(always)]
    fn publish_as(&mut self, tag: u8, head: &[u8], payload: &[u8]) -> bool {
        let end = head.len() + payload.len();
        let Ok(mut claim) = self.writer.claim((end + 3) & !3) else {
            self.sent.unsent += 1;
            return false;
        };
        if let Some((first, rest)) = claim.bytes_mut().split_at_mut_checked(head.len())
            && let Some((second, padding)) = rest.split_at_mut_checked(payload.len())
        {
            copy::copy(head, first);
            copy::copy(payload, second);
            if !padding.is_empty() {
                padding.fill(0);
            }
        }
        claim.publish_as(tag);
        self.sent.records += 1;
        self.sent.bytes += end as u64;
        true
    }
}

/// What a writer's machine has of its log.
#[derive(Debug, Default)]
pub(crate) struct OwnLog {
    log: Option<Box<CountingLog>>,
    /// The longest message that goes straight there; none of a durable writer does.
    max_len: Option<usize>,
    /// Whether it was written to since it was looked who sleeps.
    is_written: bool,
}

impl OwnLog {
    /// Has that log from here on, or none, for what `goes_straight` there, or for all else alone. What it had.
    pub(crate) fn set(
        &mut self,
        log: Option<Box<CountingLog>>,
        goes_straight: bool,
    ) -> Option<Box<CountingLog>> {
        let max_len = log.as_ref().map(|log| log.writer.max_len());
        self.max_len = max_len.filter(|_| goes_straight);
        std::mem::replace(&mut self.log, log)
    }

    /// The log itself.
    pub(crate) fn get(&mut self) -> Option<&mut CountingLog> {
        self.log.as_deref_mut()
    }

    /// Looks who sleeps, if something was written: what this gives wakes them when it is dropped, which is not to be
    /// under a lock. To be called before the machine's is dropped.
    #[inline(always)]
    pub(crate) fn take_ringing(&mut self) -> Option<Ringing> {
        match std::mem::take(&mut self.is_written) {
            true => self.log.as_ref()?.writer.ringing(),
            false => None,
        }
    }

    /// Has the log written to, if there is one. Whether it was written.
    #[inline(always)]
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut CountingLog) -> bool) -> bool {
        let Some(log) = &mut self.log else {
            return false;
        };
        if !write(log) {
            let max_len = log.writer.max_len();
            self.max_len = self.max_len.map(|_| max_len);
            return false;
        }
        self.is_written = true;
        true
    }
}

impl Log for OwnLog {
    type Lent = LentMessage;

    #[inline]
    fn max_len(&self) -> Option<usize> {
        self.max_len
    }

    fn publish(&mut self, head: &[u8], payload: &[u8]) {
        self.write(|log| log.publish(head, payload));
    }

    fn publish_plain(&mut self, sample: PlainSample, payload: &[u8]) {
        self.write(|log| log.publish_as(record::PLAIN_SAMPLE, &sample.to_bytes(), payload));
    }

    fn hear(&mut self, count: usize, said: &mut Vec<(Guid, SequenceNumber)>) {
        if let Some(log) = &mut self.log {
            log.hear(count, said);
        }
    }

    fn publish_lent(&mut self, lent: &LentMessage) {
        self.write(|log| {
            let lies = lent.whereabouts().to_bytes();
            let is_written = log.publish_as(record::LENT, &lies, &[]);
            if is_written {
                log.sent.loans += 1;
                log.sent.loan_bytes += lent.payload().len() as u64;
            }
            is_written
        });
    }
}
