//! The writer's side of a log's memory: making room, making records visible, noticing who sleeps. Knows
//! no descriptors and no processes.

use super::Note;
use super::atomic::{Ordering, fence};
use super::layout::{
    self, BELL, HEADER, Header, MAX_NOTES, MAX_SEATS, NEWEST, RESERVED, Ring, WANTED,
};
use super::map::{CommonMap, OwnMap};

/// Lays records into a ring.
#[derive(Debug)]
pub(crate) struct Producer {
    pub(crate) log: OwnMap,
    control: CommonMap,
    ring: Ring,
    /// Where the next record begins.
    head: u64,
    /// The number of the next record: how many came before it.
    sequence: u64,
    /// What is before this position may be written to. A multiple of an eighth of the ring, or of a sixteenth of a
    /// step while not all of it has memory: then no further in this lap than that.
    reserved: u64,
    /// A record for which there is room without a look around ends at least a header before this: the mark, or the
    /// ring's end if that comes first.
    limit: u64,
    /// How much of the ring has memory: a multiple of a step.
    backed: u64,
    /// How much more it gets at once. A power of two.
    step: u64,
    /// There was no memory for another step.
    is_short: bool,
    /// The longest payload of a record.
    max_payload: u64,
    /// Where it last turned early.
    turned: Option<u64>,
    seats: Seats,
}

/// Who reads. Of this, nothing is believed of shared memory.
#[derive(Debug)]
struct Seats {
    /// How many have been taken, and the number of that for each.
    admissions: u32,
    admitted: [u32; MAX_SEATS],
    /// A bit for each seat that is taken.
    taken: u64,
    /// A bit for each whose reader must have read what is overwritten.
    gating: u64,
    /// The furthest that each cursor has been.
    seen: [u64; MAX_SEATS],
    /// The least of these at the last look, or less.
    slowest: u64,
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Not before the slowest reader that the writer waits for.
    Full,
    /// Not in the memory that there is.
    Short,
}

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) seat: usize,
    /// What tells it from who has had the seat before.
    pub(crate) admission: u32,
    pub(crate) position: u64,
    pub(crate) sequence: u64,
}

impl Producer {
    /// Both memories are new, and the log's has the length that `ring` asks for, of which there is one `step`: a
    /// power of two, no longer than the ring.
    pub(crate) fn new(log: OwnMap, control: CommonMap, ring: Ring, step: u64) -> Self {
        Self {
            log,
            control,
            ring,
            head: 0,
            sequence: 0,
            reserved: 0,
            limit: 0,
            backed: step,
            step,
            is_short: false,
            max_payload: ring.max_payload(),
            turned: None,
            seats: Seats {
                admissions: 0,
                admitted: [0; MAX_SEATS],
                taken: 0,
                gating: 0,
                seen: [0; MAX_SEATS],
                slowest: 0,
            },
        }
    }

    /// How much of the ring has memory, in bytes.
    pub(crate) fn backed(&self) -> u64 {
        self.backed
    }

    /// Whether there was no memory for more, and never will be.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// The longest payload of a record.
    #[inline]
    pub(crate) fn max_payload(&self) -> u64 {
        self.max_payload
    }

    /// Makes room for a record of at most [`max_payload`](Self::max_payload), and says where its payload goes. Does not
    /// allocate; looks at others' memory only when the room that it knows of is used up, and asks for more only
    /// then.
    #[inline]
    pub(crate) fn claim(&mut self, payload_len: u32) -> Result<usize, NoRoom> {
        let total = layout::total(payload_len);
        if self.head + total + HEADER > self.limit {
            self.make_room(total)?;
        }
        Ok(self.ring.at(self.head + HEADER))
    }

    /// Makes the record visible that lies where [`claim`](Self::claim) said, and is not longer.
    #[inline]
    pub(crate) fn publish(&mut self, payload_len: u32, tag: u8) {
        let record = self.head;
        let number = self.ring.at(record) + 8;
        self.log.store(number, self.sequence, Ordering::Relaxed);
        let end = record + layout::total(payload_len);
        self.show(end, Header::Record(payload_len, tag));
        self.log.store(NEWEST, record, Ordering::Release);
        self.sequence += 1;
    }

    /// Writes the header of what lies between the head and `end`, which becomes the head.
    #[inline]
    fn show(&mut self, end: u64, header: Header) {
        let next = self.ring.at(end);
        self.log
            .store(next, Header::Absent.word(), Ordering::Relaxed);
        let at = self.ring.at(self.head);
        self.log.store(at, header.word(), Ordering::Release);
        self.head = end;
    }

    /// Whether a reader sleeps, or may be about to, since this was asked last. To be asked after each
    /// record, or after several. One exchange of a word that others touch when they go to sleep.
    #[inline]
    pub(crate) fn bell(&self) -> bool {
        self.control.swap(BELL, 0) != 0
    }

    /// Asks the reader that makes room next to say so. The ear must lie down before: a reader takes this word
    /// back and then looks whether the writer sleeps, and no other reader does so again. Room may be there
    /// already: claim again before sleeping.
    pub(crate) fn want_room(&self) {
        self.control.swap(WANTED, 1);
        fence(Ordering::SeqCst);
    }

    /// Takes a seat for a reader that begins with the next record. `None` if all are taken.
    pub(crate) fn seat(&mut self, gating: bool) -> Option<Start> {
        let seat = self.seats.taken.trailing_ones() as usize;
        *self.seats.seen.get_mut(seat)? = self.head;
        self.control
            .store(layout::cursor(seat), self.head, Ordering::Release);
        self.seats.admissions = self.seats.admissions.wrapping_add(1);
        let admission = self.seats.admissions;
        *self.seats.admitted.get_mut(seat)? = admission;
        self.seats.taken |= 1 << seat;
        self.seats.gating |= u64::from(gating) << seat;
        Some(Start {
            seat,
            admission,
            position: self.head,
            sequence: self.sequence,
        })
    }

    /// No longer waits for the reader of a seat, which may be overrun from now on.
    pub(crate) fn evict(&mut self, seat: usize) {
        self.seats.gating &= !bit(seat);
    }

    /// Gives a seat back.
    pub(crate) fn free(&mut self, seat: usize) {
        self.evict(seat);
        self.seats.taken &= !bit(seat);
    }

    /// How far the reader of a seat lags, in bytes of the ring, to an eighth of it.
    pub(crate) fn lag(&mut self, seat: usize) -> u64 {
        self.head - self.cursor(seat)
    }

    /// A note of the reader of a seat, as it left it.
    pub(crate) fn note(&self, seat: usize, place: usize) -> Option<Note> {
        let admission = *self.seats.admitted.get(seat)?;
        if place >= MAX_NOTES {
            return None;
        }
        let [whom, number] = layout::note(seat, place);
        let look = || [number, whom].map(|at| self.control.load(at, Ordering::Acquire));
        let words = look();
        let [number, whom] = words.map(|word| layout::noted(word, admission));
        let number = number.filter(|&number| number != 0)?;
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
        let whom = whom? as u32;
        (look() == words).then_some(Note { whom, number })
    }

    /// The seats that the writer waits for.
    pub(crate) fn gating(&self) -> u64 {
        self.seats.gating
    }

    /// Sees to room and memory for a record that takes so much of the ring: at the head, or at the ring's begin,
    /// which is the head then.
    #[cold]
    fn make_room(&mut self, total: u64) -> Result<(), NoRoom> {
        let rest = self.ring.rest(self.head);
        let used = self.ring.len() - rest;
        let mut turns = total > rest;
        if self.backed < self.ring.len() && !turns {
            let may_turn = used > 0 && total + HEADER <= self.backed;
            let end = used + total + HEADER;
            let is_late = used >= self.backed / 2 || end > self.backed;
            turns = may_turn && is_late && self.have_all_read();
            if turns {
                self.turned = Some(self.head);
                self.seats.slowest = self.head + rest;
            } else if end > self.backed && !self.grow(end) {
                // Whoever has not read what lies there is overrun.
                turns = may_turn;
                if !turns {
                    return Err(NoRoom::Short);
                }
            }
        }
        let padding = if turns { rest } else { 0 };
        let end = self.head + padding + total + HEADER;
        if end > self.reserved {
            self.reserve(self.head + padding, end)?;
        }
        if turns {
            self.show(self.head + padding, Header::Padding(low(padding)));
        }
        let lap_end = self.head + self.ring.rest(self.head);
        self.limit = self.reserved.min(lap_end);
        Ok(())
    }

    /// Gets memory for the ring up to `end`, or all of it. False if there is none.
    fn grow(&mut self, end: u64) -> bool {
        let backed = end.next_multiple_of(self.step).min(self.ring.len());
        let from = self.ring.end_of(self.backed);
        self.is_short = self.is_short || !self.log.back(from, self.ring.end_of(backed));
        match self.is_short {
            true => self.max_payload = self.max_payload.min(self.backed - 2 * HEADER),
            false => self.backed = backed,
        }
        !self.is_short
    }

    /// Whether no reader has anything to read.
    fn have_all_read(&mut self) -> bool {
        let (taken, head) = (self.seats.taken, self.head);
        (0..MAX_SEATS)
            .filter(|&seat| taken & bit(seat) != 0)
            .all(|seat| self.cursor(seat) == head)
    }

    /// Moves the mark before which may be written, for a record from `start` to `end`.
    fn reserve(&mut self, start: u64, end: u64) -> Result<(), NoRoom> {
        let reserved = match self.backed < self.ring.len() {
            true => end.next_multiple_of((self.step / 16).max(HEADER)),
            false => self.ring.eighth_after(end),
        };
        if reserved > self.seats.slowest + self.ring.len() {
            self.seats.slowest = self.slowest(start);
            if reserved > self.seats.slowest + self.ring.len() {
                return Err(NoRoom::Full);
            }
        }
        // Who sees a byte that is written from here on sees this mark, too, and who sees the mark sees
        // records up to the newest.
        self.log.store(RESERVED, reserved, Ordering::Release);
        fence(Ordering::Release);
        self.reserved = reserved;
        Ok(())
    }

    /// The least cursor of those that the writer waits for, or `start`, which is less.
    fn slowest(&mut self, start: u64) -> u64 {
        let gating = self.seats.gating;
        (0..MAX_SEATS)
            .filter(|&seat| gating & bit(seat) != 0)
            .fold(start, |slowest, seat| slowest.min(self.cursor(seat)))
    }

    /// How far a reader says that it is. One that goes back or past the head harms nobody. Who has read
    /// everything up to where it was turned early is at the begin of the next lap.
    fn cursor(&mut self, seat: usize) -> u64 {
        let said = self.control.load(layout::cursor(seat), Ordering::Acquire);
        let said = match Some(said) == self.turned {
            true => said + self.ring.rest(said),
            false => said,
        };
        let head = self.head;
        self.seats.seen.get_mut(seat).map_or(head, |seen| {
            *seen = said.clamp(*seen, head);
            *seen
        })
    }
}

fn bit(seat: usize) -> u64 {
    if seat < MAX_SEATS { 1 << seat } else { 0 }
}

/// Padding is shorter than a ring.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rings are smaller than 4 GiB"
)]
fn low(len: u64) -> u32 {
    len as u32
}
