//! Samples that did not reach the user, by the reason. All of it goes to standard error: nothing is
//! dropped without being said.

use tickwire::{DataReader, Serialized};

use crate::output::{counted, note};

/// What a reader has counted of samples that did not come out of it.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    lost: u64,
    replaced: u64,
    undecodable: u64,
    in_sets: u64,
    /// All others, which are no fault and are said at the end.
    others: [u64; OTHERS.len()],
}

const OTHERS: [&str; 9] = [
    "that the filter is not true of",
    "within the time-based filter's separation",
    "older than their LIFESPAN",
    "of ended instances, by READER_DATA_LIFECYCLE",
    "of a weaker writer, or out of order",
    "ends of unknown instances",
    "with what must be understood but is not",
    "cut off when their writer went",
    "too far ahead to be believed at once",
];

impl Counts {
    pub(super) fn of(reader: &DataReader<Serialized>) -> Self {
        let (counters, protocol) = (reader.inbox_counters(), reader.counters());
        let in_sets = protocol.set_changes_discarded + counters.discarded_with_set;
        // The status counts what came of sets that were not whole, too.
        let lost = reader.sample_lost_status().total_count;
        Self {
            lost: lost.saturating_sub(in_sets),
            replaced: counters.replaced,
            undecodable: counters.undecodable,
            in_sets,
            others: [
                counters.filtered_by_content,
                counters.too_early,
                counters.expired,
                counters.purged,
                counters.filtered,
                counters.ignored,
                protocol.not_understood,
                protocol.abandoned,
                protocol.jumps,
            ],
        }
    }

    /// Both, each count by each.
    fn with(self, other: Self, both: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            lost: both(self.lost, other.lost),
            replaced: both(self.replaced, other.replaced),
            undecodable: both(self.undecodable, other.undecodable),
            in_sets: both(self.in_sets, other.in_sets),
            others: std::array::from_fn(|at| both(self.others[at], other.others[at])),
        }
    }
}

/// What is to be known of an earlier reader to count what one in its place misses.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    missed: Counts,
    /// What the later one has counted of that, or of what the earlier one got.
    again: Counts,
}

impl Before {
    /// By a reader that went before there was another.
    pub(super) fn by(missed: Counts) -> Self {
        Self {
            missed,
            ..Self::default()
        }
    }

    /// By both readers when they stood at the same number of each writer, of which the earlier one has each sample or
    /// its loss. Of other writers the later one had `lost` so many.
    pub(super) fn both(earlier: Counts, later: Counts, lost: u64) -> Self {
        Self {
            missed: earlier,
            again: Counts {
                lost: later.lost.saturating_sub(lost),
                // Which samples these were is not known: those that both counted are taken for the same.
                ..earlier.with(later, u64::min)
            },
        }
    }

    /// So many that the earlier one has lost came to the later one.
    pub(super) fn found(&mut self, count: u64) {
        self.missed.lost = self.missed.lost.saturating_sub(count);
    }

    /// What is missed by both, where the later one has counted so much.
    fn and(self, later: Counts) -> Counts {
        let new = later.with(self.again, u64::saturating_sub);
        new.with(self.missed, u64::saturating_add)
    }
}

/// What was not shown, as far as that was said.
#[derive(Default)]
pub(super) struct Losses {
    before: Before,
    said: Counts,
    /// More kinds of samples that were not shown.
    more: Vec<(u64, &'static str)>,
}

impl Losses {
    /// Of a reader that has taken the place of another.
    pub(super) fn after(before: Before) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    /// Says what has been lost since the last time.
    pub(super) fn report(&mut self, reader: &DataReader<Serialized>) {
        let now = self.before.and(Counts::of(reader));
        let said = std::mem::replace(&mut self.said, now);
        let new = |now: u64, said: u64| {
            let new = now.saturating_sub(said);
            (new > 0).then(|| counted(new, "sample", "samples"))
        };
        if let Some(new) = new(now.lost, said.lost) {
            let lost = now.lost;
            note(format_args!("-- {new} lost on the way, {lost} so far --"));
        }
        for (now, said, why) in [
            (
                now.replaced,
                said.replaced,
                "because they were not looked at fast enough",
            ),
            (
                now.undecodable,
                said.undecodable,
                "that are not of the learned type",
            ),
            (
                now.in_sets,
                said.in_sets,
                "with coherent sets that were not whole",
            ),
        ] {
            if let Some(new) = new(now, said) {
                note(format_args!("-- {new} lost {why} --"));
            }
        }
    }

    /// One more kind of sample that was not shown.
    pub(super) fn add(&mut self, count: u64, what: &'static str) {
        self.more.push((count, what));
    }

    /// Says at the end what was not shown, if anything was not.
    pub(super) fn sum_up(&self) {
        let said = &self.said;
        let faults = [
            (said.lost, "lost on the way"),
            (said.replaced, "not looked at fast enough"),
            (said.undecodable, "not of the learned type"),
            (said.in_sets, "of coherent sets that were not whole"),
        ];
        let others = said.others.into_iter().zip(OTHERS);
        let all = faults.into_iter().chain(others);
        let texts = all
            .chain(self.more.iter().copied())
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"));
        let texts: Vec<_> = texts.collect();
        if !texts.is_empty() {
            note(format_args!(
                "-- samples not shown: {} --",
                texts.join(", ")
            ));
        }
    }
}

/// Says on standard error which writers are not heard, to who is about to wait for them.
pub(super) fn report_trouble(reader: &DataReader<Serialized>) {
    let incompatible = reader.requested_incompatible_qos_status();
    if let (1.., Some(writer), Some(verdict)) = (
        incompatible.total_count_change,
        incompatible.last,
        incompatible.verdict,
    ) {
        note(format_args!("writer {writer} does not match:"));
        for reason in &verdict.mismatches {
            note(format_args!("  {reason}"));
        }
    }
    let matched = reader.subscription_matched_status();
    // One that has come and gone since leaves the count what it was.
    let has_changed = matched.total_count_change > 0 || matched.current_count_change < 0;
    if matched.current_count == 0 && has_changed {
        note("no writer is left; waiting for another");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(first: u64) -> Counts {
        Counts {
            lost: first,
            replaced: first + 1,
            undecodable: first + 2,
            in_sets: first + 3,
            others: std::array::from_fn(|at| first + 4 + at as u64),
        }
    }

    fn all(counts: Counts) -> Vec<u64> {
        let faults = [
            counts.lost,
            counts.replaced,
            counts.undecodable,
            counts.in_sets,
        ];
        [&faults[..], &counts.others].concat()
    }

    #[test]
    fn what_two_readers_have_missed_one_after_the_other_adds_up() {
        let both = Before::by(counts(1)).and(counts(100));
        assert_eq!(
            all(both),
            (0..13).map(|at| 101 + 2 * at).collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_two_readers_have_missed_at_the_same_time_counts_once() {
        let both = Before::both(counts(10), counts(20), 0);
        assert_eq!(
            all(both.and(counts(20))),
            all(Counts {
                lost: 10,
                ..counts(20)
            })
        );
        // What the later one misses from there on, and what it had missed of writers that the other did not know.
        let both = Before::both(counts(10), counts(20), 3);
        assert_eq!(both.and(counts(25)).lost, 10 + 5 + 3);
        // What was lost to the first alone is not lost.
        let mut found = both;
        found.found(4);
        assert_eq!(found.and(counts(20)).lost, 6 + 3);
    }
}
