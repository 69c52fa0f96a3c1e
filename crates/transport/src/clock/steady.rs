//! The monotonic clock between two looks at it, by the processor's cycle counter.
//!
//! A look at the system's clock takes 30 to 60 ns, most of which it waits for what the processor has begun before. A
//! look at the counter alone takes 10. So a thread that asks often looks at both once in 100 µs, and in between lets the
//! time go on with the counter, at the pace that the two have had within the last second. How far that is off is how
//! far the two looks are apart that are taken as one, some tens of nanoseconds, and what the clock is slewed by in
//! 100 µs: 2 µs at worst, as a thread that sees more begins anew.
//!
//! It needs a counter that goes evenly and alike on all cores. The kernel vouches for that as long as it makes its own
//! clock of it; elsewhere, and on processors that are not known here, each look is one at the system's clock.
#![allow(
    unsafe_code,
    reason = "the counter has no safe interface in the standard library"
)]

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicU8, Ordering};

/// What a thread knows of the two.
struct Pace {
    /// The look that the pace is counted from.
    first: Cell<Look>,
    last: Cell<Look>,
    /// For so many cycles after that, time goes on with the counter.
    valid_cycles: Cell<u64>,
    /// Nanoseconds of a cycle, with 32 bits of fraction; 0 before that is known.
    scale: Cell<u64>,
    /// The fewest cycles that a look has taken.
    shortest_look: Cell<u64>,
    /// The time that was told last.
    told_ns: Cell<u64>,
}

/// Both at once.
#[derive(Clone, Copy)]
struct Look {
    cycles: u64,
    ns: u64,
}

thread_local! {
    static PACE: Pace = const { Pace::new() };
}

/// The time in nanoseconds, where `system` looks at the system's clock. Later each time that a thread asks.
#[inline]
pub(super) fn now_ns(system: fn() -> u64) -> u64 {
    match HAS_COUNTER && SOURCE.load(Ordering::Relaxed) != OTHER {
        true => PACE.with(|pace| pace.now_ns(cycles, system)),
        false => system(),
    }
}

impl Pace {
    const fn new() -> Self {
        Self {
            first: Cell::new(Look { cycles: 0, ns: 0 }),
            last: Cell::new(Look { cycles: 0, ns: 0 }),
            valid_cycles: Cell::new(0),
            scale: Cell::new(0),
            shortest_look: Cell::new(MAX_LOOK_CYCLES),
            told_ns: Cell::new(0),
        }
    }

    #[inline]
    fn now_ns(&self, cycles: impl Fn() -> u64, system: impl Fn() -> u64) -> u64 {
        let last = self.last.get();
        let passed = cycles().wrapping_sub(last.cycles);
        let ns = match passed < self.valid_cycles.get() {
            true => last.ns + ((passed * self.scale.get()) >> 32),
            false => self.look(cycles, system),
        };
        let ns = ns.max(self.told_ns.get() + 1);
        self.told_ns.set(ns);
        ns
    }

    /// Looks at both.
    #[cold]
    fn look(&self, cycles: impl Fn() -> u64, system: impl Fn() -> u64) -> u64 {
        let before = cycles();
        let ns = system();
        let took = cycles().wrapping_sub(before);
        let shortest = self.shortest_look.get().min(took);
        self.shortest_look.set(shortest);
        self.valid_cycles.set(0);
        // Else the thread was interrupted in between, and the two are not one look.
        if took < MAX_LOOK_CYCLES && took <= 2 * shortest {
            let cycles = before.wrapping_add(took / 2);
            self.learn(Look { cycles, ns });
        }
        ns
    }

    /// Lets time go on from a look, if the two have kept their pace.
    fn learn(&self, look: Look) {
        let (first, last) = (self.first.get(), self.last.replace(look));
        let passed_ns = look.ns.saturating_sub(last.ns);
        let cycles = look.cycles.checked_sub(last.cycles);
        let scale = self.scale.get();
        let is_alike = |cycles| {
            let expected_ns = scaled(cycles, scale);
            expected_ns.abs_diff(passed_ns) <= passed_ns / 512 + MAX_ERROR_NS
        };
        let goes_on = cycles.is_some_and(|cycles| scale == 0 || is_alike(cycles));
        if !goes_on || passed_ns > MAX_BASE_NS {
            if scale != 0 && !goes_on {
                // Another machine, or none that the kernel trusts any more.
                SOURCE.store(UNKNOWN, Ordering::Relaxed);
            }
            return self.begin(look);
        }
        let base_ns = look.ns.saturating_sub(first.ns);
        if base_ns >= MIN_BASE_NS {
            let cycles = look.cycles.wrapping_sub(first.cycles).max(1);
            let scale = (u128::from(base_ns) << 32) / u128::from(cycles);
            match u64::try_from(scale) {
                Ok(scale) if SCALES.contains(&scale) => self.scale.set(scale),
                _ => return self.begin(look),
            }
        }
        if base_ns >= MAX_BASE_NS {
            self.first.set(look);
        }
        let scale = self.scale.get();
        if scale != 0 && is_steady() {
            self.valid_cycles.set((VALID_NS << 32) / scale);
        }
    }

    /// Forgets the pace.
    fn begin(&self, look: Look) {
        self.first.set(look);
        self.scale.set(0);
    }
}

/// Nanoseconds of so many cycles.
fn scaled(cycles: u64, scale: u64) -> u64 {
    let ns = (u128::from(cycles) * u128::from(scale)) >> 32;
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Whether the kernel makes its clock of the counter. Does not allocate.
fn is_steady() -> bool {
    let source = SOURCE.load(Ordering::Relaxed);
    if source != UNKNOWN {
        return source == COUNTER;
    }
    let mut name = [0; 8];
    let len = File::open(CLOCK_SOURCE).and_then(|mut file| file.read(&mut name));
    let is_counter = len.is_ok_and(|len| name.get(..len) == Some(b"tsc\n"));
    SOURCE.store(if is_counter { COUNTER } else { OTHER }, Ordering::Relaxed);
    is_counter
}

/// Cycles since the processor was started; zero where there is no counter.
#[inline]
fn cycles() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 has the instruction, and Linux lets programs use it, as the system's own clock does.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    0
}

const HAS_COUNTER: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// What the kernel makes its clock of, as far as it was asked.
static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const COUNTER: u8 = 1;
const OTHER: u8 = 2;

const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// For so long time goes on with the counter alone.
const VALID_NS: u64 = 100_000;
/// The pace is told by no less, and by no more.
const MIN_BASE_NS: u64 = 1_000_000;
const MAX_BASE_NS: u64 = 1_000_000_000;
/// Both looks together take less.
const MAX_LOOK_CYCLES: u64 = 4_000;
/// Two looks are wrong by less together.
const MAX_ERROR_NS: u64 = 2_000;
/// From a sixteenth of a nanosecond a cycle to eight.
const SCALES: std::ops::RangeInclusive<u64> = 1 << 28..=8 << 32;

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose counter and clock go as the test says. A look at either takes 20 ns.
    struct Machine {
        pace: Pace,
        cycles: Cell<u64>,
        ns: Cell<u64>,
        looks: Cell<u32>,
    }

    impl Machine {
        fn new() -> Self {
            Self {
                pace: Pace::new(),
                cycles: Cell::new(7_000),
                ns: Cell::new(1_000_000),
                looks: Cell::new(0),
            }
        }

        /// At 2.5 cycles a nanosecond.
        fn pass(&self, ns: u64) {
            self.ns.set(self.ns.get() + ns);
            self.cycles.set(self.cycles.get() + ns * 5 / 2);
        }

        fn now(&self) -> u64 {
            let cycles = || {
                self.pass(20);
                self.cycles.get()
            };
            let system = || {
                self.looks.set(self.looks.get() + 1);
                self.pass(20);
                self.ns.get()
            };
            self.pace.now_ns(cycles, system)
        }

        /// Asks every 10 µs; says how far the answers were off at most, and how often the system was asked.
        fn ask(&self, times: u32) -> (u64, u32) {
            let before = self.looks.get();
            let off = (0..times).map(|_| {
                self.pass(10_000);
                self.now().abs_diff(self.ns.get())
            });
            (off.max().unwrap_or(0), self.looks.get() - before)
        }

        fn is_alike(&self) -> bool {
            self.pace.valid_cycles.get() != 0
        }
    }

    /// Whether this machine has what is tried here.
    fn has_counter() -> bool {
        HAS_COUNTER && is_steady()
    }

    #[test]
    fn time_goes_on_with_the_counter_once_its_pace_is_known() {
        let machine = Machine::new();
        let (off, looks) = machine.ask(90);
        assert!(off < 100 && looks == 90, "too early: {off} {looks}");
        machine.ask(40);
        let (off, looks) = machine.ask(1_000);
        assert!(off < 100, "{off}");
        match has_counter() {
            true => assert!((90..=110).contains(&looks), "one in 100 us, not {looks}"),
            false => assert_eq!(looks, 1_000),
        }
    }

    #[test]
    fn a_look_that_was_interrupted_tells_nothing() {
        let machine = Machine::new();
        machine.ask(200);
        let system = || {
            machine.pass(1_200);
            machine.ns.get()
        };
        machine.pass(1_000_000);
        machine.pace.now_ns(|| machine.cycles.get(), system);
        assert!(!machine.is_alike());
        assert!(machine.ask(300).0 < 100);
    }

    #[test]
    fn what_leaves_its_pace_is_learned_anew() {
        // The counter begins again, or has gone on while the machine slept, or faster, on another one.
        let leave = [
            |machine: &Machine| machine.cycles.set(10),
            |machine: &Machine| machine.cycles.set(machine.cycles.get() + 1_000_000_000_000),
            |machine: &Machine| machine.cycles.set(machine.cycles.get() + 50_000_000),
        ];
        for (how, leave) in leave.iter().enumerate() {
            for asked_before in [1, 50, 500] {
                let machine = Machine::new();
                machine.ask(asked_before);
                leave(&machine);
                machine.pass(200_000);
                machine.now();
                let (off, _) = machine.ask(2_000);
                assert!(off < MAX_ERROR_NS, "{how}, {asked_before} times: {off}");
                assert_eq!(machine.is_alike(), has_counter());
            }
        }
    }

    #[test]
    fn who_asks_seldom_asks_the_system() {
        let machine = Machine::new();
        machine.ask(500);
        for _ in 0..10 {
            machine.pass(5_000_000_000);
            assert!(machine.now().abs_diff(machine.ns.get()) < 100);
        }
    }

    #[test]
    fn each_answer_is_later() {
        let (cycles, ns) = (|| 5, || 7);
        let pace = Pace::new();
        let told: Vec<_> = (0..3).map(|_| pace.now_ns(cycles, ns)).collect();
        assert_eq!(told, [7, 8, 9]);
    }
}
