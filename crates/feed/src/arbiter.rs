//! Two lines of one feed made into one: the first copy of each packet wins.
//!
//! Packets go out in the order of their numbers. A packet that is ahead waits for the missing ones
//! until they come on either line, a time limit passes, or the window is full; what is then still
//! missing is counted as lost. Knows nothing of what is in a packet; is told the time.
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
    /// Times that the numbers started again far below the window.
    pub restarts: u64,
}

/// Arbitration of two lines. Memory: one slot a number of the window, each with a buffer that
/// grows to the largest packet held in it; none is allocated for packets that come in order.
pub struct Arbiter {
    config: ArbiterConfig,
    slots: Vec<Slot>,
    /// The next number to deliver, and the highest seen, as positions that never wrap.
    next: u64,
    highest: Option<u64>,
    oldest: u64,
    waiting_since: Option<Instant>,
    late_in_a_row: u32,
    /// A feed without a second line loses nothing on it.
    both_lines: bool,
    counters: ArbiterCounters,
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
            waiting_since: None,
            late_in_a_row: 0,
            both_lines: false,
            counters: ArbiterCounters::default(),
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
        let position = self.position(number);
        let next_before = self.next;
        let arrival = self.place(line, position, packet, deliver);
        let counters = match line {
            Line::A => &mut self.counters.a,
            Line::B => &mut self.counters.b,
        };
        match arrival {
            Arrival::Won => counters.won += 1,
            Arrival::Duplicate => counters.duplicate += 1,
            Arrival::Late => counters.late += 1,
        }
        self.both_lines |= line == Line::B;
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

    fn place(
        &mut self,
        line: Line,
        position: u64,
        packet: &[u8],
        deliver: &mut impl FnMut(PacketNumber, &[u8]),
    ) -> Arrival {
        if position < self.oldest {
            self.late_in_a_row += 1;
            if self.late_in_a_row < RESTART_AFTER {
                return Arrival::Late;
            }
            self.restart_at(position, deliver);
        }
        self.late_in_a_row = 0;
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
            let position = ORIGIN + u64::from(first.0);
            (self.next, self.oldest) = (position, position);
            self.highest = Some(position.saturating_sub(1));
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

    fn restart_at(&mut self, position: u64, deliver: &mut impl FnMut(PacketNumber, &[u8])) {
        self.finish(deliver);
        self.counters.restarts += 1;
        (self.next, self.oldest) = (position, position);
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

/// This many packets below the window without one in it: the sender has started again.
const RESTART_AFTER: u32 = 16;

#[cfg(test)]
mod tests;
