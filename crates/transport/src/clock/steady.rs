//! The monotonic clock between two looks at it, by the processor's cycle counter.
//!
//! A look at the system's clock takes 30 to 60 ns, most of which it waits for what the processor has begun before. A
//! look at the counter alone takes 10. So each thread looks at both now and then, and in between lets the time go on
//! with the counter, at the pace that the two have had since the thread first looked. As this begins anew every 100 µs,
//! it is never wrong by more than the pace can change in that time, which is 50 ns where the clock is slewed as fast as
//! the kernel does, and 5 else.
//!
//! It needs a counter that goes evenly and alike on all cores. The kernel vouches for that where it makes its own clock
//! of it; elsewhere, and on processors that are not known here, each look is one at the system's clock.
#![allow(
    unsafe_code,
    reason = "the counter has no safe interface in the standard library"
)]

use std::cell::Cell;
use std::sync::OnceLock;

/// What a thread knows of the two.
struct Pace {
    /// The first look at both, or the last before which the two did not go together.
    first: Cell<Look>,
    /// The last look at both.
    last: Cell<Look>,
    /// For so many cycles after that, time goes on with the counter.
    valid_cycles: Cell<u64>,
    /// Nanoseconds of a cycle, with 32 bits of fraction.
    scale: Cell<u64>,
    /// The time that was told last.
    told_ns: Cell<u64>,
}

/// Both at once.
#[derive(Clone, Copy, Default)]
struct Look {
    cycles: u64,
    ns: u64,
}

thread_local! {
    static PACE: Pace = const {
        Pace {
            first: Cell::new(Look { cycles: 0, ns: 0 }),
            last: Cell::new(Look { cycles: 0, ns: 0 }),
            valid_cycles: Cell::new(0),
            scale: Cell::new(0),
            told_ns: Cell::new(0),
        }
    };
}

/// The time in nanoseconds, where `system` looks at the system's clock. Later each time that a thread asks.
#[inline]
pub(super) fn now_ns(system: fn() -> u64) -> u64 {
    PACE.with(|pace| {
        let last = pace.last.get();
        let passed = cycles().wrapping_sub(last.cycles);
        let ns = match passed < pace.valid_cycles.get() {
            true => last.ns + ((passed * pace.scale.get()) >> 32),
            false => pace.look(system),
        };
        let ns = ns.max(pace.told_ns.get() + 1);
        pace.told_ns.set(ns);
        ns
    })
}

impl Pace {
    /// Looks at both.
    #[cold]
    fn look(&self, system: fn() -> u64) -> u64 {
        if !is_steady() {
            return system();
        }
        let before = cycles();
        let ns = system();
        let took = cycles().wrapping_sub(before);
        let look = Look {
            cycles: before.wrapping_add(took / 2),
            ns,
        };
        self.valid_cycles.set(0);
        // Else the thread was interrupted in between.
        if took < MAX_LOOK_CYCLES {
            self.learn(look);
        }
        ns
    }

    fn learn(&self, look: Look) {
        let (first, last) = (self.first.get(), self.last.get());
        self.last.set(look);
        let cycles = look.cycles.wrapping_sub(last.cycles);
        let passed_ns = look.ns.saturating_sub(last.ns);
        let expected_ns = scaled(cycles, self.scale.get());
        let is_alike = expected_ns.abs_diff(passed_ns) <= passed_ns / 512 + MAX_ERROR_NS;
        if first.cycles == 0 || self.scale.get() != 0 && !is_alike {
            self.first.set(look);
            self.scale.set(0);
            return;
        }
        let passed_ns = look.ns.saturating_sub(first.ns);
        if passed_ns < MIN_PACE_NS {
            return;
        }
        let scale = (u128::from(passed_ns) << 32)
            / u128::from(look.cycles.wrapping_sub(first.cycles).max(1));
        let scale = u64::try_from(scale).unwrap_or(0);
        // A counter that is slower would be no clock of nanoseconds.
        if (1..=MAX_SCALE).contains(&scale) {
            self.scale.set(scale);
            self.valid_cycles.set((VALID_NS << 32) / scale);
        }
    }
}

/// Nanoseconds of so many cycles.
fn scaled(cycles: u64, scale: u64) -> u64 {
    let ns = (u128::from(cycles) * u128::from(scale)) >> 32;
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Whether the kernel makes its clock of the counter.
fn is_steady() -> bool {
    static IS_STEADY: OnceLock<bool> = OnceLock::new();
    *IS_STEADY.get_or_init(|| {
        let source = std::fs::read_to_string(CLOCK_SOURCE);
        HAS_COUNTER && source.is_ok_and(|name| name.trim() == "tsc")
    })
}

/// Cycles since the processor was started; zero where there is no counter.
#[inline]
fn cycles() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 has the instruction, and Linux lets programs use it.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    0
}

const HAS_COUNTER: bool = cfg!(all(target_arch = "x86_64", not(miri)));

const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// For so long time goes on with the counter alone.
const VALID_NS: u64 = 100_000;
/// The pace is told by no less.
const MIN_PACE_NS: u64 = 1_000_000;
/// Both looks together take less.
const MAX_LOOK_CYCLES: u64 = 4_000;
/// Two looks are wrong by less together.
const MAX_ERROR_NS: u64 = 2_000;
/// Eight nanoseconds a cycle.
const MAX_SCALE: u64 = 8 << 32;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn pace() -> Pace {
        Pace {
            first: Cell::default(),
            last: Cell::default(),
            valid_cycles: Cell::default(),
            scale: Cell::default(),
            told_ns: Cell::default(),
        }
    }

    #[test]
    fn time_goes_on_with_the_counter_once_its_pace_is_known() {
        let pace = pace();
        // 2.5 cycles a nanosecond.
        let look = |us: u64| Look {
            cycles: 7_000 + us * 2_500,
            ns: 1_000_000 + us * 1_000,
        };
        pace.learn(look(0));
        pace.learn(look(900));
        assert_eq!(pace.valid_cycles.get(), 0, "too early");
        pace.learn(look(1_200));
        assert_eq!(pace.valid_cycles.get().div_ceil(1_000), 250, "100 us");
        assert_eq!(scaled(2_500_000, pace.scale.get()).div_ceil(1_000), 1_000);
    }

    #[test]
    fn a_counter_that_leaves_its_pace_is_learned_anew() {
        let pace = pace();
        let look = |cycles, ns| Look { cycles, ns };
        pace.learn(look(1_000, 1_000));
        pace.learn(look(4_001_000, 2_001_000));
        assert_ne!(pace.valid_cycles.get(), 0);
        pace.valid_cycles.set(0);
        // Another machine, twice as fast, or one that slept.
        pace.learn(look(12_001_000, 4_001_000));
        assert_eq!((pace.valid_cycles.get(), pace.scale.get()), (0, 0));
        pace.learn(look(20_001_000, 6_001_000));
        assert_eq!(pace.scale.get(), 1 << 30);
        pace.valid_cycles.set(0);
        // It began again from zero.
        pace.learn(look(10, 7_001_000));
        assert_eq!((pace.valid_cycles.get(), pace.scale.get()), (0, 0));
    }

    #[test]
    fn it_keeps_to_the_clock_of_the_system() {
        fn system() -> u64 {
            crate::clock::system_ns()
        }
        let end = Instant::now() + Duration::from_millis(20);
        while Instant::now() < end {
            let (before, ours, after) = (system(), now_ns(system), system());
            assert!(before <= ours + MAX_ERROR_NS && ours <= after + MAX_ERROR_NS);
        }
    }
}
