//! Samples that did not reach the user, by the reason. All of it goes to standard error: nothing is
//! dropped without being said.

use tickwire::{DataReader, Serialized};

use crate::output::{counted, note};

/// What was not shown, as far as that was said.
#[derive(Default)]
pub(super) struct Losses {
    lost: u64,
    replaced: u64,
    undecodable: u64,
    in_sets: u64,
    /// All others, which are no fault and are said at the end.
    others: Vec<(u64, &'static str)>,
}

impl Losses {
    /// Says what has been lost since the last time.
    pub(super) fn report(&mut self, reader: &DataReader<Serialized>) {
        let (counters, protocol) = (reader.inbox_counters(), reader.counters());
        let in_sets = protocol.set_changes_discarded + counters.discarded_with_set;
        // The status counts what came of sets that were not whole, too.
        let lost = reader
            .sample_lost_status()
            .total_count
            .saturating_sub(in_sets);
        if lost > self.lost {
            let new = counted(lost - self.lost, "sample", "samples");
            note(format_args!("-- {new} lost on the way, {lost} so far --"));
            self.lost = lost;
        }
        let tell = |known: &mut u64, now: u64, why: &str| {
            if now > *known {
                let new = counted(now - *known, "sample", "samples");
                note(format_args!("-- {new} lost {why} --"));
            }
            *known = now;
        };
        let slow = "because they were not looked at fast enough";
        tell(&mut self.replaced, counters.replaced, slow);
        let foreign = "that are not of the learned type";
        tell(&mut self.undecodable, counters.undecodable, foreign);
        let set = "with coherent sets that were not whole";
        tell(&mut self.in_sets, in_sets, set);
        self.others = vec![
            (
                counters.filtered_by_content,
                "that the filter is not true of",
            ),
            (
                counters.too_early,
                "within the time-based filter's separation",
            ),
            (counters.expired, "older than their LIFESPAN"),
            (
                counters.purged,
                "of ended instances, by READER_DATA_LIFECYCLE",
            ),
            (counters.filtered, "of a weaker writer, or out of order"),
            (counters.ignored, "ends of unknown instances"),
            (
                protocol.not_understood,
                "with what must be understood but is not",
            ),
            (protocol.abandoned, "cut off when their writer went"),
            (protocol.jumps, "too far ahead to be believed at once"),
        ];
    }

    /// One more kind of sample that was not shown.
    pub(super) fn add(&mut self, count: u64, what: &'static str) {
        self.others.push((count, what));
    }

    /// Says at the end what was not shown, if anything was not.
    pub(super) fn sum_up(&self) {
        let faults = [
            (self.lost, "lost on the way"),
            (self.replaced, "not looked at fast enough"),
            (self.undecodable, "not of the learned type"),
            (self.in_sets, "of coherent sets that were not whole"),
        ];
        let all = faults.iter().chain(&self.others);
        let texts = all
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
