//! How many messages a run takes, so that it lasts about as long as it should.

use std::time::Duration;

use crate::measure::float;
use crate::record::Round;
use crate::scenario::{Part, Task, Wait};

/// Messages that are measured, and messages before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) count: u64,
    pub(crate) warmup: u64,
}

impl Counts {
    /// For a run of a length, at so many nanoseconds for each message of a publisher.
    pub(crate) fn of(part: &Part, size: u32, pace_ns: f64, length: Duration) -> Self {
        let fitting = length.as_secs_f64() * 1e9 / pace_ns.max(1.0);
        let fitting = match part.task {
            // A tail of few messages says nothing.
            Task::OpenLoop(rate) => (length.as_secs_f64() * f64::from(rate)).max(CLOCKED),
            _ => fitting,
        };
        let least = if size >= LARGE { 6 } else { 50 };
        let most = (MOST_BYTES / u64::from(size)).clamp(least, MOST);
        let count = whole(fitting).clamp(least, most);
        let warmup = (count / 5).clamp(least / 3, 5_000);
        match part.task {
            // Codecs are measured in batches of a hundred.
            Task::Codec => Self {
                count: count.next_multiple_of(100),
                warmup: warmup.next_multiple_of(100),
            },
            _ => Self { count, warmup },
        }
    }

    /// The same in whole bursts.
    pub(crate) fn in_bursts(self, demand: u64) -> Self {
        Self {
            count: self.count.next_multiple_of(demand),
            warmup: self.warmup.min(demand).next_multiple_of(demand),
        }
    }

    /// How long it takes at a pace.
    pub(crate) fn lasts(self, pace_ns: f64) -> Duration {
        Duration::from_secs_f64((float(self.count + self.warmup) * pace_ns / 1e9).min(60.0))
    }
}

/// What a message may take before anything is known, in nanoseconds. Too much makes the first run
/// short, and it is repeated.
pub(crate) fn first_guess(part: &Part, size: u32, wait: Wait) -> f64 {
    let size = f64::from(size) * f64::from(part.publishers) * f64::from(part.subscribers);
    // What is lost is waited for.
    let lossy = 1.0 + 10.0 * f64::from(part.loss.unwrap_or(0));
    match (part.task, wait) {
        (Task::Echo, Wait::Block) => 100_000.0 + 4.0 * size,
        (Task::Echo, Wait::Poll) => 15_000.0 + 4.0 * size,
        (Task::Stream | Task::Demand, _) => (10_000.0 + 2.0 * size) * lossy,
        (Task::OpenLoop(rate), _) => 1e9 / f64::from(rate),
        (Task::Codec, _) => 5_000.0,
    }
}

/// What a message of a publisher took.
pub(crate) fn pace(round: &Round) -> Option<f64> {
    let longest = round.answers.iter().map(|answer| answer.elapsed_ns).max()?;
    (longest > 0 && round.count > 0).then(|| float(longest) / float(round.count))
}

/// Whether a run was so short that it says little, and a longer one is possible.
pub(crate) fn is_too_short(part: &Part, round: &Round, length: Duration, next: Counts) -> bool {
    let longest = round.answers.iter().map(|answer| answer.elapsed_ns).max();
    let is_clocked = matches!(part.task, Task::OpenLoop(_));
    !is_clocked
        && round.failure.is_none()
        && next.count > round.count * 2
        && longest.is_some_and(|ns| Duration::from_nanos(ns) < length / 3)
}

fn whole(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast saturates, and counts are clamped"
    )]
    let whole = number as u64;
    whole
}

/// So many messages at least where the clock says when they go.
const CLOCKED: f64 = 1_000.0;
/// From here on a message is large: few of them are a run.
const LARGE: u32 = 1_000_000;
/// More messages say nothing more, and their samples have to be kept.
const MOST: u64 = 2_000_000;
/// Nor do more bytes.
const MOST_BYTES: u64 = 4_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Answer;

    const LENGTH: Duration = Duration::from_millis(400);

    #[test]
    fn a_run_is_as_long_as_it_should_be() {
        let counts = Counts::of(&Part::ECHO, 64, 100_000.0, LENGTH);
        assert_eq!(
            counts,
            Counts {
                count: 4_000,
                warmup: 800
            }
        );
        assert_eq!(counts.lasts(100_000.0), Duration::from_millis(480));
        assert_eq!(Counts::of(&Part::ECHO, 64, 0.001, LENGTH).count, MOST);
        assert_eq!(Counts::of(&Part::ECHO, 10_000_000, 1e9, LENGTH).count, 6);
    }

    #[test]
    fn bursts_are_whole_and_codecs_go_by_the_hundred() {
        let counts = Counts {
            count: 1_001,
            warmup: 7,
        };
        let bursts = counts.in_bursts(100);
        assert_eq!(
            bursts,
            Counts {
                count: 1_100,
                warmup: 100
            }
        );
        let codec = Part {
            task: Task::Codec,
            ..Part::ECHO
        };
        let counts = Counts::of(&codec, 64, 3_000.0, LENGTH);
        assert_eq!((counts.count % 100, counts.warmup % 100), (0, 0));
    }

    #[test]
    fn the_clock_says_how_many_there_are() {
        let part = Part {
            task: Task::OpenLoop(1_000),
            ..Part::ECHO
        };
        assert_eq!(Counts::of(&part, 64, 5.0, LENGTH).count, 1_000);
        assert_eq!(Counts::of(&part, 64, 5.0, 5 * LENGTH).count, 2_000);
    }

    #[test]
    fn a_short_run_is_repeated_if_a_longer_one_is_possible() {
        let round = Round {
            count: 100,
            answers: vec![Answer {
                elapsed_ns: 1_000_000,
                ..Answer::default()
            }],
            ..Round::default()
        };
        assert_eq!(pace(&round), Some(10_000.0));
        let more = Counts {
            count: 40_000,
            warmup: 5_000,
        };
        let same = Counts {
            count: 100,
            warmup: 5,
        };
        assert!(is_too_short(&Part::ECHO, &round, LENGTH, more));
        assert!(!is_too_short(&Part::ECHO, &round, LENGTH, same));
    }
}
