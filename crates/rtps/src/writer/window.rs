//! How many bytes may be unacknowledged, as losses teach. Knows no reader.
//!
//! Two things lose datagrams, and they ask for opposite answers: buffers that are full, of a reader's socket or on the
//! way, lose less when less is under way, and a network that loses what it carries by chance loses the same part
//! whatever is sent. Which it is shows after the window was halved:
//!
//! ```text
//!   steady ── more is lost than usual: half the window ──► settling ── all that was under way is acknowledged ──┐
//!     ▲                                                                                                          ▼
//!     └── as much is lost as before: that is usual; or less: the halving was right ── probing, at that length ◄──┘
//! ```

use tickwire_base::{Duration, Instant};

/// Grows by a quarter with each window acknowledged and halves when readers report more losses than are usual, so that
/// a writer at full speed finds out what the readers' socket buffers hold.
#[derive(Debug)]
pub(super) struct FlowWindow {
    len: usize,
    max_len: usize,
    halved_at: Option<Instant>,
    /// Bytes since the writer began.
    acknowledged: u64,
    round: Round,
    /// What is lost whatever the window.
    usual: Share,
    /// Rounds since that was tried.
    steady_rounds: u32,
}

/// Some windows one after the other, of which losses are counted together.
#[derive(Debug)]
struct Round {
    /// Bytes acknowledged before it.
    began: u64,
    /// Bytes sent again in it.
    lost: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Steady,
    /// The window was halved, when as many bytes had been sent: losses of what was under way still come in.
    Settling(u64),
    /// It stays as it is to see what that helps; so much was lost before.
    Probing(Share),
}

/// A part of 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Share(u64);

impl FlowWindow {
    pub(super) fn new(max_len: usize) -> Self {
        let max_len = max_len.max(1);
        Self {
            len: (max_len / 4).max(MIN_LEN).min(max_len),
            max_len,
            halved_at: None,
            acknowledged: 0,
            round: Round::begin(0, Phase::Steady),
            usual: Share::default(),
            steady_rounds: 0,
        }
    }

    /// Bytes that may be unacknowledged.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn acknowledged(&mut self, len: usize) {
        self.acknowledged += len as u64;
        let windows = |count: u64| (self.len as u64 * count).max(MIN_ROUND_LEN);
        let (at, share) = (self.acknowledged, self.round.share(self.acknowledged));
        let is_over = |count: u64| at >= self.round.began + windows(count);
        let next = match self.round.phase {
            Phase::Steady if is_over(STEADY_WINDOWS) => {
                self.usual = self.usual.lowered(share);
                self.steady_rounds += 1;
                Phase::Steady
            }
            Phase::Settling(end) if at >= end && share <= MAX_USUAL => Phase::Probing(share),
            Phase::Settling(end) if at >= end => Phase::Steady,
            Phase::Probing(before) if is_over(PROBED_WINDOWS) => {
                let was_in_vain = share.0 * 3 >= before.0 * 2 && share.0 * 2 <= before.0 * 3;
                self.usual = match was_in_vain {
                    true => self.usual.max(share.min(before)),
                    false => self.usual.lowered(share),
                };
                Phase::Steady
            }
            _ => return self.grow(len),
        };
        self.round = Round::begin(at, next);
        self.grow(len);
    }

    fn grow(&mut self, len: usize) {
        if matches!(self.round.phase, Phase::Steady) {
            self.len = (self.len + len / 4).min(self.max_len);
        }
    }

    /// `len` bytes were lost while as many as `in_flight` were not acknowledged. One burst of losses counts once.
    pub(super) fn lost(&mut self, now: Instant, len: usize, in_flight: usize) {
        self.round.lost += len as u64;
        let expected = match self.round.phase {
            Phase::Steady => self.usual,
            Phase::Settling(_) => return,
            Phase::Probing(before) => self.usual.max(before),
        };
        let is_burst = self.halved_at.is_some_and(|at| now.since(at) < BURST);
        let is_due = self.steady_rounds >= TRIED_ROUNDS;
        if is_burst || self.len <= MIN_LEN || !(is_due || self.loses_more_than(expected)) {
            return;
        }
        self.steady_rounds = 0;
        self.halved_at = Some(now);
        self.len = (self.len / 2).max(MIN_LEN);
        self.round.phase = Phase::Settling(self.acknowledged + in_flight as u64);
    }

    /// Whether the round has lost a quarter more, and more than chance explains. Losses of what is in flight are
    /// reported before the rest of it is acknowledged.
    fn loses_more_than(&self, Share(expected): Share) -> bool {
        if expected == 0 {
            return self.round.lost > 0;
        }
        let carried = self.round.carried(self.acknowledged) + self.len as u64;
        let expected_len = carried * expected / WHOLE;
        let by_chance = (expected_len * DATAGRAM_COST).isqrt() * 3;
        self.round.lost > expected_len * 5 / 4 + by_chance
    }
}

impl Round {
    fn begin(began: u64, phase: Phase) -> Self {
        Self {
            began,
            lost: 0,
            phase,
        }
    }

    /// Bytes that went over the network, repairs among them.
    fn carried(&self, acknowledged: u64) -> u64 {
        acknowledged - self.began + self.lost
    }

    fn share(&self, acknowledged: u64) -> Share {
        Share(self.lost * WHOLE / self.carried(acknowledged).max(1))
    }
}

impl Share {
    /// Nearer to what was lost of late, if that is less.
    fn lowered(self, of_late: Self) -> Self {
        match of_late.0 * 2 < self.0 {
            true => of_late,
            false => Self(self.0 - self.0.saturating_sub(of_late.0).div_ceil(4)),
        }
    }
}

const WHOLE: u64 = 1024;
/// More is not taken for chance: of buffers that are far too small, half a window still loses more than half as much.
const MAX_USUAL: Share = Share(WHOLE * 3 / 10);
/// Less would make every other sample wait for an acknowledgement.
const MIN_LEN: usize = 16 * 1024;
const STEADY_WINDOWS: u64 = 2;
const PROBED_WINDOWS: u64 = 2;
/// After so many steady rounds with losses as usual the window is halved to see whether they are still by chance: buffers
/// that are kept too full lose as much each time, too.
const TRIED_ROUNDS: u32 = 16;
/// What was lost of less says little.
const MIN_ROUND_LEN: u64 = 64 * 1024;
/// What a datagram costs of the window: what is lost goes in such pieces.
const DATAGRAM_COST: u64 = 4 * 1024;
const BURST: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends `count` windows, of which so many per mille are lost by a network, and what does not fit `buffer`.
    fn run(window: &mut FlowWindow, count: usize, per_mille: usize, buffer: usize) -> usize {
        for _ in 0..count {
            let len = window.len();
            let lost = len.saturating_sub(buffer) + len.min(buffer) * per_mille / 1000;
            let now = Instant::from_nanos(window.acknowledged * 1_000);
            if lost > 0 {
                window.lost(now, lost, len);
            }
            window.acknowledged(len);
        }
        window.len()
    }

    #[test]
    fn losses_halve_and_acknowledgements_restore() {
        let mut window = FlowWindow::new(1 << 20);
        assert_eq!(window.len(), 1 << 18);
        window.lost(Instant::ZERO, 1 << 17, 1 << 18);
        window.lost(Instant::ZERO + Duration::from_millis(9), 1 << 17, 1 << 18);
        assert_eq!(window.len(), 1 << 17);
        // What was under way was far too much: there is nothing to be found out.
        window.acknowledged(1 << 18);
        assert_eq!(window.len(), (1 << 17) + (1 << 16));
        window.acknowledged(1 << 30);
        assert_eq!(window.len(), 1 << 20);
    }

    #[test]
    fn the_window_stays_within_its_bounds() {
        let mut window = FlowWindow::new(1 << 20);
        assert!(run(&mut window, 100, 0, 100) <= 2 * MIN_LEN);
        assert_eq!(FlowWindow::new(100).len(), 100);
        assert_eq!(FlowWindow::new(0).len(), 1);
    }

    #[test]
    fn what_a_network_loses_in_any_case_does_not_keep_the_window_small() {
        for per_mille in [10, 50, 200, 280] {
            let mut window = FlowWindow::new(1 << 20);
            assert_eq!(run(&mut window, 60, per_mille, usize::MAX), 1 << 20);
            // A buffer that holds a tenth of it is found out all the same, and that there is none any more.
            let most = (0..60).map(|_| run(&mut window, 1, per_mille, 100 << 10));
            let most = most.skip(20).max();
            assert!(
                most.is_some_and(|most| most < 300 << 10),
                "{per_mille}: {most:?}"
            );
            assert_eq!(run(&mut window, 60, 0, usize::MAX), 1 << 20);
            assert_eq!(window.usual, Share(0));
        }
    }

    #[test]
    fn a_buffer_that_is_always_too_full_is_not_taken_for_chance_for_long() {
        let mut window = FlowWindow::new(1 << 20);
        run(&mut window, 60, 200, usize::MAX);
        assert!(window.usual > Share(WHOLE / 8));
        // As much of the longest window is lost as before.
        run(&mut window, 60, 0, 860 << 10);
        assert_eq!(window.usual, Share(0));
    }

    #[test]
    fn losses_beyond_bearing_are_never_usual() {
        let mut window = FlowWindow::new(1 << 20);
        assert!(run(&mut window, 100, 500, usize::MAX) <= 2 * MIN_LEN);
    }
}
