//! Which records a log keeps: the DURABILITY_SERVICE policy (DDS 1.4 §2.2.3.5). Knows neither payloads
//! nor files.

use std::collections::VecDeque;
use std::time::Duration;

use hashbrown::{HashMap, HashSet};
use tickwire_base::Timestamp;

use crate::format::{Record, RecordKind, Span};

/// What a log keeps. What was written last stays; the oldest makes way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Changes of each instance; `None` is all of them.
    pub depth: Option<u32>,
    /// Changes in all. Default unlimited.
    pub max_samples: Option<u32>,
    /// Instances. Default unlimited.
    pub max_instances: Option<u32>,
    /// Changes of each instance, besides `depth`. Default unlimited.
    pub max_samples_per_instance: Option<u32>,
    /// How long an instance is kept after it was disposed and unregistered, counted from the source
    /// timestamp of the later of both. Default zero.
    pub cleanup_delay: Duration,
}

impl Retention {
    /// Everything but instances that are disposed and unregistered.
    pub const KEEP_ALL: Self = Self {
        depth: None,
        max_samples: None,
        max_instances: None,
        max_samples_per_instance: None,
        cleanup_delay: Duration::ZERO,
    };
}

impl Default for Retention {
    /// The last change of each instance, as DDS 1.4 §2.2.3.5.
    fn default() -> Self {
        Self {
            depth: Some(1),
            ..Self::KEEP_ALL
        }
    }
}

/// Finds out which records of a log stay.
pub(crate) struct Survivors {
    retention: Retention,
    depth: usize,
    /// In the order of the log. `None` has made way.
    spans: Vec<Option<Span>>,
    instances: HashMap<Option<[u8; 16]>, Instance>,
    /// Which of the spans are changes of which coherent sets.
    in_sets: Vec<(usize, CoherentSet)>,
    /// The ends of those, whose places among the spans are kept free, and their numbers.
    ends: Vec<(usize, CoherentSet, Span, i64)>,
}

/// A coherent set (DDS 1.4 §2.2.3.6): its writer, and the number of its first change there.
pub(crate) type CoherentSet = ([u8; 16], i64);

/// What stays of a log.
#[derive(Default)]
pub(crate) struct Kept {
    /// In the order of the log.
    pub(crate) spans: Vec<Span>,
    /// The coherent sets that have ended and all of whose changes stay.
    pub(crate) whole_sets: HashSet<CoherentSet>,
}

#[derive(Default)]
struct Instance {
    /// Which of the spans are its own.
    own: VecDeque<usize>,
    is_disposed: bool,
    /// Since when it has been disposed and unregistered.
    ended_at: Option<Timestamp>,
}

impl Survivors {
    pub(crate) fn new(retention: Retention) -> Self {
        let depths = [retention.depth, retention.max_samples_per_instance];
        let depth = depths.into_iter().flatten().min();
        Self {
            retention,
            depth: depth.map_or(usize::MAX, |depth| as_usize(depth).max(1)),
            spans: Vec::new(),
            instances: HashMap::new(),
            in_sets: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Takes the next record of the log.
    pub(crate) fn push(&mut self, span: Span, record: &Record<'_>) {
        let (index, set) = (self.spans.len(), (record.writer, record.coherent_set));
        if record.kind == RecordKind::EndOfSet {
            self.spans.push(None);
            self.ends.push((index, set, span, record.sequence_number));
            return;
        }
        if record.coherent_set != 0 {
            self.in_sets.push((index, set));
        }
        let instance = self.instances.entry(record.key_hash).or_default();
        instance.own.push_back(index);
        self.spans.push(Some(span));
        while instance.own.len() > self.depth {
            if let Some(oldest) = instance.own.pop_front() {
                self.spans[oldest] = None;
            }
        }
        let kind = record.kind;
        instance.is_disposed = kind.disposes() || (instance.is_disposed && kind.unregisters());
        let is_ended = instance.is_disposed && kind.unregisters();
        instance.ended_at = is_ended.then_some(record.source_timestamp);
    }

    /// The records that stay as of `now`.
    pub(crate) fn finish(mut self, now: Timestamp) -> Kept {
        let delay = self.retention.cleanup_delay;
        let spans = &mut self.spans;
        let forget = |instance: &Instance, spans: &mut Vec<Option<Span>>| {
            for &index in &instance.own {
                spans[index] = None;
            }
        };
        self.instances.retain(|_, instance| {
            let stays = instance
                .ended_at
                .is_none_or(|ended| delay > Duration::ZERO && now.since(ended) < delay);
            if !stays {
                forget(instance, spans);
            }
            stays
        });
        let max_instances = self.retention.max_instances.map_or(usize::MAX, as_usize);
        if self.instances.len() > max_instances {
            let mut instances: Vec<_> = self.instances.values().collect();
            instances.sort_by_key(|instance| instance.own.back().copied());
            let excess = instances.len() - max_instances;
            for instance in instances.into_iter().take(excess) {
                forget(instance, spans);
            }
        }
        let max_samples = self.retention.max_samples.map_or(usize::MAX, as_usize);
        let newest_first = self.spans.iter_mut().rev();
        for excess in newest_first.filter(|span| span.is_some()).skip(max_samples) {
            *excess = None;
        }
        let whole_sets = self.keep_ends();
        Kept {
            spans: self.spans.into_iter().flatten().collect(),
            whole_sets,
        }
    }

    /// Keeps the end of each coherent set of which something stays; says of which all does.
    fn keep_ends(&mut self) -> HashSet<CoherentSet> {
        let mut sizes = HashMap::<_, i64>::new();
        for (index, set) in &self.in_sets {
            if self.spans[*index].is_some() {
                *sizes.entry(*set).or_default() += 1;
            }
        }
        let mut whole_sets = HashSet::new();
        for &(index, set, span, number) in &self.ends {
            let Some(size) = sizes.get(&set) else {
                continue;
            };
            self.spans[index] = Some(span);
            let (_, first) = set;
            if number.checked_sub(first) == Some(*size) {
                whole_sets.insert(set);
            }
        }
        whole_sets
    }
}

fn as_usize(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::RecordKind;

    /// The numbers of the records that stay, of those with these keys and kinds, a second apart.
    fn kept(retention: Retention, records: &[(u8, RecordKind)], now_s: i64) -> Vec<u64> {
        let mut survivors = Survivors::new(retention);
        for (number, &(key, kind)) in records.iter().enumerate() {
            let record = Record {
                kind,
                key_hash: Some([key; 16]),
                source_timestamp: seconds(i64::try_from(number).unwrap()),
                ..Record::default()
            };
            let offset = number as u64;
            survivors.push(Span { offset, len: 1 }, &record);
        }
        offsets(&survivors.finish(seconds(now_s)))
    }

    fn offsets(kept: &Kept) -> Vec<u64> {
        kept.spans.iter().map(|span| span.offset).collect()
    }

    fn seconds(seconds: i64) -> Timestamp {
        Timestamp::from_nanos(seconds * 1_000_000_000)
    }

    use RecordKind::{Alive, Disposed, DisposedUnregistered, Unregistered};

    #[test]
    fn the_last_of_each_instance_stay() {
        let records = [1, 2, 1, 1, 2].map(|key| (key, Alive));
        assert_eq!(kept(Retention::default(), &records, 9), [3, 4]);
        assert_eq!(kept(Retention::KEEP_ALL, &records, 9), [0, 1, 2, 3, 4]);
        let two = Retention {
            max_samples_per_instance: Some(2),
            ..Retention::KEEP_ALL
        };
        assert_eq!(kept(two, &records, 9), [1, 2, 3, 4]);
    }

    #[test]
    fn the_oldest_make_way_where_there_are_too_many() {
        let records = [1, 2, 3, 1].map(|key| (key, Alive));
        let samples = Retention {
            max_samples: Some(2),
            ..Retention::KEEP_ALL
        };
        assert_eq!(kept(samples, &records, 9), [2, 3]);
        let instances = Retention {
            max_instances: Some(1),
            ..Retention::KEEP_ALL
        };
        assert_eq!(kept(instances, &records, 9), [0, 3]);
    }

    #[test]
    fn an_instance_goes_when_it_is_disposed_and_unregistered_for_the_delay() {
        let at_once = Retention::KEEP_ALL;
        assert_eq!(kept(at_once, &[(1, Alive), (1, Disposed)], 9), [0, 1]);
        assert_eq!(kept(at_once, &[(1, Alive), (1, Unregistered)], 9), [0, 1]);
        for end in [
            [(1, Disposed), (1, Unregistered)],
            [(1, Alive), (1, DisposedUnregistered)],
        ] {
            assert_eq!(kept(at_once, &end, 1), []);
            let delayed = Retention {
                cleanup_delay: Duration::from_secs(5),
                ..at_once
            };
            assert_eq!(kept(delayed, &end, 5), [0, 1]);
            assert_eq!(kept(delayed, &end, 6), []);
            let again = [end[0], end[1], (1, Alive)];
            assert_eq!(kept(at_once, &again, 99), [0, 1, 2]);
        }
    }

    #[test]
    fn a_set_is_whole_if_it_has_ended_and_lost_nothing() {
        // A set of two, its end, which comes late, and changes of none and of one that has not ended.
        let records = [(1, 7, 1), (1, 8, 2), (0, 9, 4), (1, 0, 3), (5, 8, 5)];
        let with = |retention, records: &[(i64, u8, i64)]| {
            let mut survivors = Survivors::new(retention);
            for (offset, &(coherent_set, key, sequence_number)) in (0..).zip(records) {
                let record = Record {
                    kind: match key {
                        0 => RecordKind::EndOfSet,
                        _ => Alive,
                    },
                    key_hash: Some([key; 16]),
                    coherent_set,
                    sequence_number,
                    ..Record::default()
                };
                survivors.push(Span { offset, len: 1 }, &record);
            }
            survivors.finish(seconds(9))
        };
        let all = with(Retention::KEEP_ALL, &records);
        assert_eq!(offsets(&all), [0, 1, 2, 3, 4]);
        assert_eq!(all.whole_sets, [([0; 16], 1)].into());
        let latest = with(Retention::default(), &records);
        assert_eq!(offsets(&latest), [0, 2, 3, 4]);
        assert!(latest.whole_sets.is_empty());
        let two = Retention {
            max_samples: Some(2),
            ..Retention::KEEP_ALL
        };
        assert_eq!(offsets(&with(two, &records)), [2, 4]);
    }
}
