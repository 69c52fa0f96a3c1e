//! What a process does while there is nothing: Aeron's idle strategies. None of them sleeps until a message comes.

use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use lab_program::{Options, Wait};

/// One of Aeron's idle strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// Asks again at once.
    Spin,
    /// Asks ten times, yields twenty times, then sleeps for 1 us, and each time twice as long, up to 1 ms.
    Backoff,
    /// Sleeps for as short as the kernel can.
    Sleep,
}

impl Strategy {
    /// The one that goes with how messages are waited for, unless another is asked for.
    pub(crate) fn of(options: &Options, asked: Option<Self>) -> Self {
        asked.unwrap_or(match options.wait {
            Wait::Poll => Self::Spin,
            Wait::Block => Self::Sleep,
        })
    }
}

/// One wait for something, until a time.
pub(crate) struct Waiting {
    strategy: Strategy,
    end: Instant,
    /// How long nothing may come after something has.
    between: Duration,
    has_come: bool,
    /// How often there was nothing since something came.
    looks: u32,
    park: Duration,
}

impl Waiting {
    /// Begins one that ends when nothing has come for so long.
    pub(crate) fn new(strategy: Strategy, first: Duration, between: Duration) -> Self {
        Self {
            strategy,
            end: Instant::now() + first,
            between,
            has_come: false,
            looks: 0,
            park: LEAST_PARK,
        }
    }

    /// Something has come.
    pub(crate) fn reset(&mut self) {
        self.has_come = true;
        self.looks = 0;
        self.park = LEAST_PARK;
    }

    /// There is nothing: does what the strategy has for that. Says whether to go on.
    pub(crate) fn idle(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        let looks_at_the_clock = match self.strategy {
            Strategy::Spin => {
                std::hint::spin_loop();
                self.looks.is_multiple_of(LOOKS_AT_THE_CLOCK)
            }
            Strategy::Backoff if self.looks <= SPINS => {
                std::hint::spin_loop();
                false
            }
            Strategy::Backoff if self.looks <= SPINS + YIELDS => {
                thread::yield_now();
                false
            }
            Strategy::Backoff => {
                sleep(self.park);
                self.park = (2 * self.park).min(MOST_PARK);
                true
            }
            Strategy::Sleep => {
                sleep(Duration::from_nanos(1));
                true
            }
        };
        if !looks_at_the_clock {
            return true;
        }
        let now = Instant::now();
        if std::mem::take(&mut self.has_come) {
            self.end = now + self.between;
        }
        now <= self.end
    }
}

#[expect(clippy::disallowed_methods, reason = "the strategy is to sleep")]
fn sleep(time: Duration) {
    thread::sleep(time);
}

/// Of the backoff strategy, as aeron_agent.h has them.
const SPINS: u32 = 10;
const YIELDS: u32 = 20;
const LEAST_PARK: Duration = Duration::from_micros(1);
const MOST_PARK: Duration = Duration::from_millis(1);
/// How often a polling process looks before it looks at the clock.
const LOOKS_AT_THE_CLOCK: u32 = 1024;
