//! Two lines of one feed made into one: the first copy of each packet wins.
//!
//! Packets go out in the order of their numbers. A packet that is ahead waits for the missing ones
//! until they come on either line, a time limit passes, or the window is full; what is then still
//! missing is counted as lost. Packets that look as if the sender had started over are kept until that
//! is certain, and go out then; so is a packet whose number is far ahead, until the next one is there,
//! too. Knows nothing of what is in a packet; is told the time.
//!
//! ```text
//!   highest - window          next                       highest
//!        |  delivered, given up | missing or held ...      |
//!        '---------------- one slot a number --------------'
//! ```

use core::fmt;
use tickwire_base::{Duration, Instant};

use crate::preamble::PacketNumber;

/// One of the two lines on which an exchange sends the same packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// The first line, and the only one of a feed without a second.
    A,
    /// The second line.
    B,
}

/// How far and how long the arbiter waits for a missing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArbiterConfig {
    /// Packet numbers that are remembered, and so the most packets held. At least 1. Default 1,024.
    pub window: u16,
    /// How long a packet waits for missing ones before it. Zero: not at all, so that a gap is
    /// final when it is seen. Default 20 ms, for two lines.
    pub hold: Duration,
    /// The number of the first packet; `None` (default): that of the first packet to arrive.
    pub first: Option<PacketNumber>,
}

impl ArbiterConfig {
    /// The hold of a feed that has one line: packets that networks put out of order are microseconds
    /// apart, and one that was lost does not come.
    pub const ONE_LINE_HOLD: Duration = Duration::from_millis(1);

    /// The hold of a feed that is read from a file: when a packet is read says nothing, so that only
    /// the window decides, or the file's end.
    pub const FILE_HOLD: Duration = Duration::MAX;
}

impl Default for ArbiterConfig {
    fn default() -> Self {
        Self {
            window: 1_024,
            hold: Duration::from_millis(20),
            first: None,
        }
    }
}

/// What became of a packet as it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The first copy: delivered, or held behind a gap.
    Won,
    /// A copy of one that came before.
    Duplicate,
    /// Behind the window, or already given up as lost.
    Late,
    /// Ahead of all others by more than the window: kept until the next packet is there, too, or is not.
    Stray,
}

/// What one line brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LineCounters {
    /// Packets of which this line brought the first copy.
    pub won: u64,
    /// Packets of which another copy had come before.
    pub duplicate: u64,
    /// Packets that came after they had been given up, or behind the window.
    pub late: u64,
    /// Packets dropped because their numbers were ahead of all others' by more than the window, and the
    /// next packet's was not.
    pub stray: u64,
    /// Packets that have left the window and never came on this line.
    pub lost: u64,
}

/// What both lines together brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ArbiterCounters {
    /// Line A.
    pub a: LineCounters,
    /// Line B.
    pub b: LineCounters,
    /// Packets handed on.
    pub delivered: u64,
    /// Packets given up: they came on neither line in time.
    pub lost: u64,
    /// Runs of consecutive lost packets.
    pub gaps: u64,
    /// Times that the sender started over with its numbers.
    pub restarts: u64,
    /// Packets at the feed's end that may be of a sender that started over, and were too few to tell.
    /// They are counted as duplicate or late, too.
    pub undecided: u64,
}

/// Arbitration of two lines. Memory: one slot a number of the window, each with a buffer that
/// grows to the largest packet held in it; none is allocated for packets that come in order. Beside
/// that at most 16 packets that may be of a sender that started over, and one far ahead.
pub struct Arbiter {
    config: ArbiterConfig,
    slots: Vec<Slot>,
    /// The next number to deliver, and the highest seen, as positions that never wrap.
    next: u64,
    highest: Option<u64>,
    oldest: u64,
    /// Where the numbers begin, by what has come.
    first: u64,
    waiting_since: Option<Instant>,
    /// The last packets, if they may be of a sender that started over: fewer than [`RESTART_AFTER`].
    suspects: Vec<Suspect>,
    /// The last packet, if it is far ahead.
    stray: Option<Suspect>,
    /// A feed without a second line loses nothing on it.
    both_lines: bool,
    counters: ArbiterCounters,
    first_lost: Vec<(PacketNumber, PacketNumber)>,
}

/// A packet of which it is not certain where it belongs, and what it counts as until then.
struct Suspect {
    line: Line,
    position: u64,
    arrival: Arrival,
    packet: Vec<u8>,
}

#[derive(Clone, Default)]
struct Slot {
    on_a: bool,
    on_b: bool,
    held: bool,
    packet: Vec<u8>,
}

impl Arbiter {
    /// An arbiter that has seen nothing.
    pub fn new(config: ArbiterConfig) -> Self {
        let window = config.window.max(1);
        Self {
            config,
            slots: vec![Slot::default(); usize::from(window)],
            next: ORIGIN,
            highest: None,
            oldest: ORIGIN,
            first: ORIGIN,
            waiting_since: None,
            suspects: Vec::new(),
            stray: None,
            both_lines: false,
            counters: ArbiterCounters::default(),
            first_lost: Vec::new(),
        }
    }

    /// Takes a packet that arrived on `line`, and hands to `deliver`, in order, all that need not
    /// wait any more. A packet in order goes straight through; one that is ahead is copied.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        line: Line,
        number: PacketNumber,
        packet: &[u8],
        deliver: &mut impl FnMut(PacketNumber, &[u8]),
    ) -> Arrival {
        self.both_lines |= line == Line::B;
        let position = self.position(number);
        let next_before = self.next;
        self.confirm_stray(line, position, deliver);
        let arrival = if self.is_far_ahead(position) {
            self.keep_stray(line, position, packet)
        } else if self.may_be_restart(line, position) {
            self.suspect(line, position, packet, deliver)
        } else {
            self.suspects.clear();
            self.place(line, position, packet, deliver)
        };
        self.deliver_held(deliver);
        if self.next != next_before {
            self.waiting_since = None;
        }
        self.update_wait(now);
        self.handle_timeout(now, deliver);
        arrival
    }

    /// When [`Self::handle_timeout`] wants to be called: some packet then has waited long enough.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + self.config.hold)
    }

    /// Gives up what has been missing for too long and delivers what waited for it.
    pub fn handle_timeout(&mut self, now: Instant, deliver: &mut impl FnMut(PacketNumber, &[u8])) {
        while self.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.give_up_to_next_held();
            self.deliver_held(deliver);
            self.waiting_since = None;
            self.update_wait(now);
        }
    }

    /// Delivers all that is held and settles the counters: the feed has ended.
    pub fn finish(&mut self, deliver: &mut impl FnMut(PacketNumber, &[u8])) {
        // One alone is a copy, or has come late.
        if self.suspects.len() > 1 {
            self.counters.undecided += self.suspects.len() as u64;
        }
        self.suspects.clear();
        self.stray = None;
        self.settle(deliver);
    }

    /// Delivers all that is held; what has not come by now is lost.
    fn settle(&mut self, deliver: &mut impl FnMut(PacketNumber, &[u8])) {
        let Some(highest) = self.highest else { return };
        while self.next <= highest {
            self.give_up_to_next_held();
            self.deliver_held(deliver);
        }
        self.waiting_since = None;
        while self.oldest <= highest {
            self.retire_oldest(deliver);
        }
    }

    /// What came and what did not, so far.
    pub fn counters(&self) -> &ArbiterCounters {
        &self.counters
    }

    /// The first and the last number of each run of lost packets, of the first 8 runs.
    pub fn first_lost(&self) -> &[(PacketNumber, PacketNumber)] {
        &self.first_lost
    }

    /// A number that one packet has may be damaged; two packets do not agree on one.
    fn is_far_ahead(&self, position: u64) -> bool {
        self.highest
            .is_some_and(|highest| position > highest.saturating_add(self.window()))
    }

    fn keep_stray(&mut self, line: Line, position: u64, packet: &[u8]) -> Arrival {
        let arrival = Arrival::Stray;
        *self.counter(line, arrival) += 1;
        self.stray = Some(Suspect {
            line,
            position,
            arrival,
            packet: packet.to_vec(),
        });
        arrival
    }

    /// Takes the packet that is far ahead for what it says it is if this one comes from there, too: the
    /// next ones, or the same of the other line. If not, it is dropped.
    fn confirm_stray(
        &mut self,
        line: Line,
        position: u64,
        deliver: &mut impl FnMut(PacketNumber, &[u8]),
    ) {
        let Some(stray) = self.stray.take() else {
            return;
        };
        let ahead = position.checked_sub(stray.position);
        let is_confirmed = match ahead {
            Some(0) => line != stray.line,
            Some(ahead) => ahead <= self.window(),
            None => false,
        };
        if is_confirmed {
            *self.counter(stray.line, stray.arrival) -= 1;
            self.suspects.clear();
            self.place(stray.line, stray.position, &stray.packet, deliver);
            self.deliver_held(deliver);
        }
    }

    /// Whether a packet is one that a sender would send which starts over: behind the window, or the
    /// first of all numbers once more on the same line, and what follows that.
    fn may_be_restart(&mut self, line: Line, position: u64) -> bool {
        if position >= self.next {
            return false;
        }
        if position < self.oldest {
            return true;
        }
        let is_first = position == self.first || number_of(position).0 <= 1;
        let follows = self.suspects.iter().any(|suspect| {
            position == suspect.position || position == suspect.position.saturating_add(1)
        });
        let slot = self.slot(position);
        let is_repeat = match line {
            Line::A => slot.on_a,
            Line::B => slot.on_b,
        };
        follows && (slot.on_a || slot.on_b) || is_first && is_repeat
    }

    /// Counts a packet as what it is unless the sender has started over, and keeps it until enough of
    /// them say that it has.
    fn suspect(
        &mut self,
        line: Line,
        position: u64,
        packet: &[u8],
        deliver: &mut impl FnMut(PacketNumber, &[u8]),
    ) -> Arrival {
        let arrival = self.place(line, position, packet, deliver);
        let reach = RESTART_AFTER as u64;
        let is_near = |last: &Suspect| last.position.abs_diff(position) <= reach;
        if !self.suspects.last().is_some_and(is_near) {
            self.suspects.clear();
        }
        self.suspects.push(Suspect {
            line,
            position,
            arrival,
            packet: packet.to_vec(),
        });
        match self.suspects.len() < RESTART_AFTER {
            true => arrival,
            false => self.restart(deliver),
        }
    }

    /// The sender has started over: what was kept of it is delivered. Says what became of the last.
    fn restart(&mut self, deliver: &mut impl FnMut(PacketNumber, &[u8])) -> Arrival {
        let suspects = core::mem::take(&mut self.suspects);
        self.settle(deliver);
        self.counters.restarts += 1;
        let positions = suspects.iter().map(|suspect| suspect.position);
        self.begin_at(positions.min().unwrap_or(self.next));
        let mut last = Arrival::Late;
        for suspect in suspects {
            *self.counter(suspect.line, suspect.arrival) -= 1;
            last = self.place(suspect.line, suspect.position, &suspect.packet, deliver);
            self.deliver_held(deliver);
        }
        last
    }

    fn counter(&mut self, line: Line, arrival: Arrival) -> &mut u64 {
        let counters = match line {
            Line::A => &mut self.counters.a,
            Line::B => &mut self.counters.b,
        };
        match arrival {
            Arrival::Won => &mut counters.won,
            Arrival::Duplicate => &mut counters.duplicate,
            Arrival::Late => &mut counters.late,
            Arrival::Stray => &mut counters.stray,
        }
    }

    /// Gives a packet its place and counts it.
    fn place(
        &mut self,
        line: Line,
        position: u64,
        packet: &[u8],
        deliver: &mut impl FnMut(PacketNumber, &[u8]),
    ) -> Arrival {
        let arrival = self.take_place(line, position, packet, deliver);
        *self.counter(line, arrival) += 1;
        arrival
    }

    fn take_place(
        &mut self,
        line: Line,
        position: u64,
        packet: &[u8],
        deliver: &mut impl FnMut(PacketNumber, &[u8]),
    ) -> Arrival {
        if position < self.oldest {
            return Arrival::Late;
        }
        self.make_room_for(position, deliver);
        let is_next = position == self.next;
        let is_past = position < self.next;
        let slot = self.slot(position);
        let seen = slot.on_a || slot.on_b;
        match line {
            Line::A => slot.on_a = true,
            Line::B => slot.on_b = true,
        }
        if seen {
            return Arrival::Duplicate;
        }
        if is_past {
            return Arrival::Late;
        }
        if is_next {
            self.next += 1;
            self.counters.delivered += 1;
            deliver(number_of(position), packet);
        } else {
            slot.held = true;
            slot.packet.clear();
            slot.packet.extend_from_slice(packet);
        }
        Arrival::Won
    }

    /// The position nearest to the highest seen that has this number.
    fn position(&mut self, number: PacketNumber) -> u64 {
        let Some(highest) = self.highest else {
            let first = self.config.first.unwrap_or(number);
            self.begin_at(ORIGIN + u64::from(first.0));
            return self.position(number);
        };
        let ahead = number.0.wrapping_sub(number_of(highest).0).cast_signed();
        highest.saturating_add_signed(i64::from(ahead))
    }

    fn make_room_for(&mut self, position: u64, deliver: &mut impl FnMut(PacketNumber, &[u8])) {
        if self.highest.is_none_or(|highest| position <= highest) {
            return;
        }
        let window = self.window();
        while self.oldest + window <= position {
            if self.oldest > self.highest.unwrap_or(self.oldest) {
                self.skip_outage(position);
                break;
            }
            self.retire_oldest(deliver);
        }
        self.highest = Some(position);
    }

    /// The window is empty and the numbers jump to `position`, by more than it: all between is lost.
    fn skip_outage(&mut self, position: u64) {
        let oldest = position + 1 - self.window();
        let missing = oldest - self.oldest;
        self.counters.a.lost += missing;
        self.counters.b.lost += if self.both_lines { missing } else { 0 };
        self.give_up(position);
        self.oldest = oldest;
    }

    fn retire_oldest(&mut self, deliver: &mut impl FnMut(PacketNumber, &[u8])) {
        let oldest = self.oldest;
        if oldest >= self.next {
            self.give_up_to_next_held();
            self.deliver_held(deliver);
        }
        let both_lines = self.both_lines;
        let slot = self.slot(oldest);
        let (on_a, on_b) = (slot.on_a, slot.on_b);
        (slot.on_a, slot.on_b) = (false, false);
        self.counters.a.lost += u64::from(!on_a);
        self.counters.b.lost += u64::from(!on_b && both_lines);
        self.oldest = oldest + 1;
    }

    /// Moves `next` to the first held packet, or behind the highest seen, past all that is missing.
    fn give_up_to_next_held(&mut self) {
        let end = self.highest.map_or(self.next, |highest| highest + 1);
        let mut next = self.next;
        while next < end && !self.slot(next).held {
            next += 1;
        }
        self.give_up(next);
    }

    fn give_up(&mut self, next: u64) {
        if next > self.next {
            self.counters.lost += next - self.next;
            self.counters.gaps += 1;
            if self.first_lost.len() < MAX_FIRST_LOST {
                let run = (number_of(self.next), number_of(next - 1));
                self.first_lost.push(run);
            }
            self.next = next;
        }
    }

    fn deliver_held(&mut self, deliver: &mut impl FnMut(PacketNumber, &[u8])) {
        while self.highest.is_some_and(|highest| self.next <= highest) {
            let position = self.next;
            let slot = self.slot(position);
            if !slot.held {
                return;
            }
            slot.held = false;
            deliver(number_of(position), &slot.packet);
            self.next += 1;
            self.counters.delivered += 1;
        }
    }

    fn update_wait(&mut self, now: Instant) {
        let waiting = self.highest.is_some_and(|highest| self.next <= highest);
        self.waiting_since = match self.waiting_since {
            Some(since) if waiting => Some(since),
            _ => waiting.then_some(now),
        };
    }

    /// Nothing has come yet, and the first is at `position`.
    fn begin_at(&mut self, position: u64) {
        (self.next, self.oldest, self.first) = (position, position, position);
        self.highest = Some(position.saturating_sub(1));
        self.waiting_since = None;
    }

    fn slot(&mut self, position: u64) -> &mut Slot {
        let index = position % self.window();
        // The remainder is below `slots.len()`, which came from a `usize`.
        &mut self.slots[usize::try_from(index).unwrap_or(0)]
    }

    fn window(&self) -> u64 {
        u64::from(self.config.window.max(1))
    }
}

impl fmt::Debug for Arbiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arbiter")
            .field("next", &number_of(self.next))
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a number is the position modulo 2^32"
)]
const fn number_of(position: u64) -> PacketNumber {
    PacketNumber(position as u32)
}

/// Positions start here, so that numbers below the first have positions too.
const ORIGIN: u64 = 1 << 62;

/// This many packets in a row that may be of a sender that started over say that it has.
const RESTART_AFTER: usize = 16;

/// Runs of lost packets of which the numbers are kept.
const MAX_FIRST_LOST: usize = 8;

#[cfg(test)]
mod tests;
