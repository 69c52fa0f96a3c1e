//! When pings at a fixed rate are to be sent. What is measured counts from there, however late the sender
//! is, so that a stall shows in all pings that it held up (no coordinated omission).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tickwire_gateway::Timing;

use super::bytes::Wait;

/// A rate that has begun.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    begin: Instant,
    rate: u32,
    /// How late each ping was sent, in nanoseconds.
    late_ns: Arc<[AtomicU64]>,
}

impl Schedule {
    /// So many pings, of which the first is due at once.
    pub(super) fn new(rate: u32, rounds: u32) -> Self {
        Self {
            late_ns: (0..rounds).map(|_| AtomicU64::new(0)).collect(),
            begin: Instant::now(),
            rate,
        }
    }

    /// How long a ping took one way, now that its last answer is there: as long as it was sent late, and
    /// half of the time since.
    fn one_way(&self, index: u32) -> Duration {
        let at = usize::try_from(index).ok();
        let late = at.and_then(|at| self.late_ns.get(at));
        let late = late.map_or(0, |late| late.load(Ordering::Acquire));
        let late = Duration::from_nanos(late);
        late + self.since(index).saturating_sub(late) / 2
    }

    /// How long ago a ping was due; zero if it is not yet.
    fn since(&self, index: u32) -> Duration {
        Instant::now().saturating_duration_since(self.due(index))
    }

    /// Waits until a ping is due, and says how late it is. Who blocks sleeps where there is time for it,
    /// then gives other threads their turn; who polls has `work` to do again and again.
    pub(super) fn wait_for(&self, index: u32, wait: Wait, mut work: impl FnMut()) -> Duration {
        let due = self.due(index);
        loop {
            let now = Instant::now();
            if now >= due {
                let late = now - due;
                self.note_late(index, late);
                return late;
            }
            let left = due - now;
            if wait == Wait::Poll {
                work();
            } else if left > TIMER_SLACK {
                #[expect(clippy::disallowed_methods, reason = "the pause is what was asked for")]
                thread::sleep(left - TIMER_SLACK);
            } else {
                thread::yield_now();
            }
        }
    }

    fn note_late(&self, index: u32, late: Duration) {
        let at = usize::try_from(index).ok();
        if let Some(place) = at.and_then(|at| self.late_ns.get(at)) {
            let ns = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
            place.store(ns, Ordering::Release);
        }
    }

    fn due(&self, index: u32) -> Instant {
        let ns = u64::from(index) * 1_000_000_000 / u64::from(self.rate.max(1));
        self.begin + Duration::from_nanos(ns)
    }
}

/// Which pings of a schedule have been answered.
pub(super) struct Answers {
    schedule: Schedule,
    responders: u32,
    counts: Vec<u32>,
    left: usize,
}

impl Answers {
    pub(super) fn new(schedule: &Schedule, responders: u32) -> Self {
        let rounds = schedule.late_ns.len();
        Self {
            schedule: schedule.clone(),
            responders,
            counts: vec![0; rounds],
            left: rounds,
        }
    }

    /// Takes an answer. If it is the last one to its ping, says how long that took one way.
    pub(super) fn note(&mut self, answer: &[u8]) -> Option<Duration> {
        let index = mark_of(answer);
        let count = self.counts.get_mut(usize::try_from(index).ok()?)?;
        *count += 1;
        if *count != self.responders {
            return None;
        }
        self.left -= 1;
        Some(self.schedule.one_way(index))
    }

    /// The same, into a distribution.
    pub(super) fn note_in(&mut self, answer: &[u8], one_way: &mut Timing) {
        if let Some(took) = self.note(answer) {
            one_way.record(took);
        }
    }

    /// Pings that some responder has not answered.
    pub(super) fn missing(&self) -> u64 {
        self.left as u64
    }

    pub(super) fn are_complete(&self) -> bool {
        self.left == 0
    }
}

/// Writes a ping's number into its first bytes.
pub(super) fn mark(ping: &mut [u8], index: u32) {
    if let Some(place) = ping.first_chunk_mut() {
        *place = index.to_le_bytes();
    }
}

/// The number of a ping, or of its answer.
pub(super) fn mark_of(ping: &[u8]) -> u32 {
    ping.first_chunk()
        .map_or(u32::MAX, |bytes| u32::from_le_bytes(*bytes))
}

/// What a mark takes, in bytes.
pub(super) const MARK_LEN: usize = 4;

/// How late the kernel may wake a sleeping thread.
const TIMER_SLACK: Duration = Duration::from_micros(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_are_due_at_the_rate_from_the_beginning_on() {
        let schedule = Schedule::new(3, 0);
        assert_eq!(schedule.due(3) - schedule.due(0), Duration::from_secs(1));
        let third = schedule.due(1) - schedule.due(0);
        assert_eq!(third, Duration::from_nanos(333_333_333));
        assert_eq!(schedule.since(u32::MAX), Duration::ZERO);
    }

    #[test]
    fn the_last_answer_to_each_ping_counts_once() {
        let mut answers = Answers::new(&Schedule::new(1_000, 2), 2);
        let heard =
            [0, 1, 1, 1, 7, 0].map(|index: u32| answers.note(&index.to_le_bytes()).is_some());
        assert_eq!(heard, [false, false, true, false, false, true]);
        assert!(answers.are_complete());
    }

    #[test]
    fn what_a_ping_was_late_counts_whole() {
        let mut schedule = Schedule::new(1, 1);
        schedule.begin = Instant::now() - Duration::from_secs(100);
        assert!(schedule.one_way(0) < Duration::from_secs(51));
        schedule.note_late(0, Duration::from_secs(100));
        assert!(schedule.one_way(0) >= Duration::from_secs(100));
    }

    #[test]
    fn a_mark_is_read_where_it_was_written() {
        let mut ping = [0xff; 6];
        mark(&mut ping, 70_000);
        assert_eq!(mark_of(&ping), 70_000);
        assert_eq!(mark_of(&ping[..3]), u32::MAX, "no ping of a schedule");
    }
}
