//! Which records a log keeps: the DURABILITY_SERVICE policy (DDS 1.4 §2.2.3.5). Knows neither payloads
//! nor files.

use std::collections::VecDeque;
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::Timestamp;

use crate::format::{Record, Span};

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
        }
    }

    /// Takes the next record of the log.
    pub(crate) fn push(&mut self, span: Span, record: &Record<'_>) {
        let instance = self.instances.entry(record.key_hash).or_default();
        instance.own.push_back(self.spans.len());
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

    /// The records that stay as of `now`, in the order of the log.
    pub(crate) fn finish(mut self, now: Timestamp) -> Vec<Span> {
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
        let mut left: Vec<_> = self.spans.into_iter().flatten().collect();
        let max_samples = self.retention.max_samples.map_or(usize::MAX, as_usize);
        left.drain(..left.len().saturating_sub(max_samples));
        left
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
        let spans = survivors.finish(seconds(now_s));
        spans.into_iter().map(|span| span.offset).collect()
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
}
