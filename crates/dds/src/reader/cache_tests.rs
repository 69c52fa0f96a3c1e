use std::sync::Arc;
use std::time::Duration;

use tickwire_base::Timestamp;
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, SequenceNumber};
use tickwire_rtps::{ChangeKind, OriginalWriter};

use super::*;
use crate::reader::collect::{Instances, Query};
use crate::reader::info::{InstanceState, SampleState, StateMask, ViewState};
use crate::reader::insert::{Insertion, SampleRejectedReason};
use crate::reader::sample::Sample;

#[path = "fresh_tests.rs"]
mod fresh;
#[path = "lifecycle_tests.rs"]
mod lifecycle;
#[path = "room_tests.rs"]
mod room;
#[path = "time_filter_tests.rs"]
mod time_filter;

const KEEP_ALL: CachePolicy = CachePolicy {
    depth: None,
    max_samples: usize::MAX,
    max_instances: usize::MAX,
    max_samples_per_instance: usize::MAX,
    by_source_timestamp: false,
    exclusive: false,
    order: Order::Arrival,
    minimum_separation: Duration::ZERO,
    keeps_filtered: true,
    lifecycle: Lifecycle::FOREVER,
};

const ALL: Query = Query::ALL;
/// When everything arrives: 1,000 by the other clock.
const NOW: Instant = Instant::from_nanos(5_000);

/// A cache and the count of what went into it.
struct Fixture {
    cache: Cache<u64>,
    count: u64,
}

fn writer(number: u8) -> Guid {
    Guid::new(GuidPrefix([number; 12]), EntityId::user_writer(1, true))
}

fn key(number: u8) -> InstanceHandle {
    InstanceHandle([number; 16])
}

fn arrival(kind: ChangeKind, instance: u8, from: u8, number: u64) -> Arrival {
    Arrival {
        writer: writer(from),
        sequence_number: SequenceNumber(number.cast_signed()),
        original: None,
        related: None,
        kind,
        kernel_timestamp: None,
        source_timestamp: Some(Timestamp::from_nanos(number.cast_signed())),
        reception_timestamp: Timestamp::from_nanos(1_000),
        received_at: NOW,
        expires_at: None,
        instance: key(instance),
        publisher: writer(from),
        group_number: SequenceNumber::ZERO,
    }
}

impl Fixture {
    fn new(policy: CachePolicy) -> Self {
        Self {
            cache: Cache::new(policy),
            count: 0,
        }
    }

    /// Inserts a change whose value and source timestamp are its number, from 1.
    fn change(&mut self, kind: ChangeKind, instance: u8, from: u8) -> Insertion {
        self.count += 1;
        self.change_at(kind, instance, from, self.count)
    }

    fn change_at(&mut self, kind: ChangeKind, instance: u8, from: u8, number: u64) -> Insertion {
        self.insert(arrival(kind, instance, from, number), number)
    }

    /// The same with a change that has the next number.
    fn offer(&mut self, arrival: Arrival) -> Insertion {
        self.count += 1;
        let sequence_number = SequenceNumber(self.count.cast_signed());
        let arrival = Arrival {
            sequence_number,
            ..arrival
        };
        self.insert(arrival, self.count)
    }

    fn insert(&mut self, mut arrival: Arrival, number: u64) -> Insertion {
        arrival.expires_at = self.cache.expiry_of(&arrival);
        let value = arrival.kind.is_alive().then(|| {
            let mut value = self.cache.value(u64::default);
            *Arc::get_mut(&mut value).expect("a pooled value is unique") = number;
            value
        });
        // As the inbox does.
        let value = match value.map(|value| self.cache.append(&arrival, value)) {
            Some(Ok(())) => return Insertion::Stored,
            Some(Err(value)) => Some(value),
            None => None,
        };
        let insertion = self.cache.insert(&arrival, value);
        if let Some((index, _)) = self.cache.unnamed.take()
            && let Some(Some(instance)) = self.cache.instances.get_mut(index)
        {
            instance.key = Some(Box::default());
        }
        insertion
    }

    fn write(&mut self, instance: u8) -> Insertion {
        self.change(ChangeKind::Alive, instance, 1)
    }

    fn collect(&mut self, query: Query, take: bool) -> Vec<Sample<u64>> {
        let mut samples = Vec::new();
        self.cache.collect(&query, None, None, take, &mut samples);
        samples
    }

    fn take(&mut self) -> Vec<Sample<u64>> {
        self.collect(ALL, true)
    }

    fn take_values(&mut self) -> Vec<u64> {
        self.take()
            .iter()
            .filter_map(|s| s.data().copied())
            .collect()
    }
}

#[test]
fn samples_come_in_order_of_arrival_and_take_removes_them() {
    let mut fixture = Fixture::new(KEEP_ALL);
    for instance in [1, 2, 1, 3] {
        assert_eq!(fixture.write(instance), Insertion::Stored);
    }
    assert_eq!(fixture.take_values(), [1, 2, 3, 4]);
    assert!(fixture.take().is_empty());
}

#[test]
fn keep_last_replaces_the_oldest_of_the_same_instance() {
    let mut fixture = Fixture::new(CachePolicy {
        depth: Some(2),
        ..KEEP_ALL
    });
    for instance in [1, 2, 1] {
        assert_eq!(fixture.write(instance), Insertion::Stored);
    }
    assert_eq!(fixture.write(1), Insertion::Replaced);
    fixture.collect(ALL, false);
    // What was read is no loss.
    assert_eq!(fixture.write(1), Insertion::Stored);
    assert_eq!(fixture.take_values(), [2, 4, 5]);
}

#[test]
fn limits_reject_and_say_which() {
    use SampleRejectedReason::{Instances, Samples, SamplesPerInstance};
    let mut fixture = Fixture::new(CachePolicy {
        max_samples: 3,
        max_instances: 2,
        max_samples_per_instance: 2,
        ..KEEP_ALL
    });
    fixture.write(1);
    fixture.write(1);
    assert_eq!(fixture.write(1), Insertion::Rejected(SamplesPerInstance));
    assert!(!fixture.cache.is_full());
    fixture.write(2);
    assert!(fixture.cache.is_full());
    assert_eq!(fixture.write(2), Insertion::Rejected(Samples));
    assert_eq!(fixture.write(3), Insertion::Rejected(Instances));
    assert_eq!(fixture.take_values(), [1, 2, 4]);
    assert_eq!(fixture.write(2), Insertion::Stored);
}

#[test]
fn masks_choose_by_sample_view_and_instance_state() {
    let mut fixture = Fixture::new(KEEP_ALL);
    fixture.write(1);
    let read = fixture.collect(ALL, false);
    assert_eq!(read[0].info.sample_state, SampleState::NotRead);
    assert_eq!(read[0].info.view_state, ViewState::New);
    fixture.write(1);
    fixture.write(2);
    fixture.change(ChangeKind::Disposed, 2, 1);
    let values = |fixture: &mut Fixture, mask| -> Vec<i64> {
        let found = fixture.collect(Query { mask, ..ALL }, false);
        // As if it had not been read.
        found.iter().map(|s| s.info.sequence_number.0).collect()
    };
    assert_eq!(values(&mut fixture, StateMask::READ), [1]);
    assert_eq!(
        values(&mut fixture, StateMask::NOT_READ.and(StateMask::NOT_NEW)),
        [2]
    );
    assert_eq!(values(&mut fixture, StateMask::NEW), [3, 4]);
    assert_eq!(values(&mut fixture, StateMask::NOT_ALIVE), [3, 4]);
    assert_eq!(values(&mut fixture, StateMask::ALIVE), [1, 2]);
    let one = Query {
        instances: Instances::One(key(2)),
        max_samples: 1,
        ..ALL
    };
    assert!(fixture.cache.has(one.mask, None));
    assert_eq!(fixture.collect(one, true)[0].data(), Some(&3));
}

#[test]
fn an_instance_that_comes_back_is_new_and_counts_its_generations() {
    let mut fixture = Fixture::new(KEEP_ALL);
    fixture.write(1);
    fixture.change(ChangeKind::Disposed, 1, 1);
    fixture.write(1);
    fixture.change(ChangeKind::Unregistered, 1, 1);
    fixture.write(1);
    let samples = fixture.take();
    let generations: Vec<_> = samples
        .iter()
        .map(|s| {
            (
                s.info.disposed_generation_count,
                s.info.no_writers_generation_count,
            )
        })
        .collect();
    assert_eq!(generations, [(0, 0), (0, 0), (1, 0), (1, 0), (1, 1)]);
    let ranks: Vec<_> = samples
        .iter()
        .map(|s| {
            (
                s.info.sample_rank,
                s.info.generation_rank,
                s.info.absolute_generation_rank,
            )
        })
        .collect();
    assert_eq!(
        ranks,
        [(4, 2, 2), (3, 2, 2), (2, 1, 1), (1, 1, 1), (0, 0, 0)]
    );
    let valid: Vec<_> = samples.iter().map(|s| s.info.valid_data).collect();
    assert_eq!(valid, [true, false, true, false, true]);
    assert!(
        samples
            .iter()
            .all(|s| s.info.instance_state == InstanceState::Alive)
    );

    fixture.write(1);
    assert_eq!(fixture.take()[0].info.view_state, ViewState::NotNew);
    fixture.change(ChangeKind::Disposed, 1, 1);
    assert_eq!(fixture.take()[0].info.view_state, ViewState::NotNew);
    fixture.write(1);
    assert_eq!(fixture.take()[0].info.view_state, ViewState::New);
}

#[test]
fn ranks_count_only_what_is_in_the_collection() {
    let mut fixture = Fixture::new(KEEP_ALL);
    fixture.write(1);
    fixture.change(ChangeKind::Disposed, 1, 1);
    fixture.write(1);
    let first = fixture.collect(
        Query {
            max_samples: 1,
            ..ALL
        },
        false,
    );
    let info = first[0].info;
    assert_eq!((info.sample_rank, info.generation_rank), (0, 0));
    assert_eq!(info.absolute_generation_rank, 1);
}

#[test]
fn an_instance_outlives_all_but_its_last_writer() {
    let mut fixture = Fixture::new(KEEP_ALL);
    fixture.change(ChangeKind::Alive, 1, 1);
    fixture.change(ChangeKind::Alive, 1, 2);
    assert_eq!(
        fixture.change(ChangeKind::Unregistered, 1, 1),
        Insertion::Ignored
    );
    assert_eq!(
        fixture.change(ChangeKind::Unregistered, 1, 2),
        Insertion::Stored
    );
    let last = fixture.take().pop().expect("the notice");
    assert_eq!(last.info.instance_state, InstanceState::NoWriters);
    assert!(!last.info.valid_data);
    // Nothing is left of it.
    assert_eq!(
        fixture.change(ChangeKind::Unregistered, 1, 2),
        Insertion::Ignored
    );
    assert!(!fixture.cache.knows(key(1)));
}

#[test]
fn a_lost_writer_leaves_its_instances_without_writers() {
    let mut fixture = Fixture::new(CachePolicy {
        max_samples: 2,
        ..KEEP_ALL
    });
    fixture.change(ChangeKind::Alive, 1, 1);
    fixture.change(ChangeKind::Alive, 2, 2);
    let now = Timestamp::from_nanos(5);
    assert!(fixture.cache.remove_writer(writer(1), NOW, now, |_| None));
    assert!(!fixture.cache.remove_writer(writer(1), NOW, now, |_| None));
    let states: Vec<_> = fixture
        .take()
        .iter()
        .map(|s| (s.info.instance, s.info.instance_state, s.info.valid_data))
        .collect();
    assert_eq!(
        states,
        [
            (key(1), InstanceState::NoWriters, true),
            (key(2), InstanceState::Alive, true),
            (key(1), InstanceState::NoWriters, false),
        ]
    );
}

#[test]
fn disposing_twice_says_it_once() {
    let mut fixture = Fixture::new(KEEP_ALL);
    assert_eq!(
        fixture.change(ChangeKind::Disposed, 1, 1),
        Insertion::Stored
    );
    assert_eq!(
        fixture.change(ChangeKind::Disposed, 1, 1),
        Insertion::Ignored
    );
    assert_eq!(
        fixture.change(ChangeKind::DisposedUnregistered, 1, 1),
        Insertion::Ignored
    );
    assert_eq!(fixture.take().len(), 1);
    assert!(!fixture.cache.knows(key(1)));
}

#[test]
fn an_older_source_timestamp_does_not_overwrite() {
    let mut fixture = Fixture::new(CachePolicy {
        by_source_timestamp: true,
        ..KEEP_ALL
    });
    fixture.change_at(ChangeKind::Alive, 1, 1, 20);
    assert_eq!(
        fixture.change_at(ChangeKind::Alive, 1, 2, 10),
        Insertion::Filtered
    );
    assert_eq!(
        fixture.change_at(ChangeKind::Alive, 2, 2, 10),
        Insertion::Stored
    );
    assert_eq!(fixture.take_values(), [20, 10]);
}

#[test]
fn what_another_gives_of_a_writer_does_not_take_an_instance_back() {
    let mut cache = Cache::new(KEEP_ALL);
    let mut give = |instance, from, original: Option<i64>, number| {
        let arrival = Arrival {
            original: original.map(|number| OriginalWriter {
                guid: writer(1),
                sequence_number: SequenceNumber(number),
            }),
            ..arrival(ChangeKind::Alive, instance, from, number)
        };
        cache.insert(&arrival, Some(Arc::new(0)))
    };
    assert_eq!(give(1, 2, Some(3), 1), Insertion::Stored);
    assert_eq!(give(1, 1, None, 5), Insertion::Stored);
    assert_eq!(give(1, 2, Some(4), 2), Insertion::Filtered);
    assert_eq!(give(2, 2, Some(4), 2), Insertion::Stored);
    // Whatever others say, its writer is heard.
    assert_eq!(give(1, 2, Some(1 << 40), 3), Insertion::Stored);
    assert_eq!(give(1, 1, None, 6), Insertion::Stored);
    assert_eq!(give(1, 1, None, 1), Insertion::Stored);
}

#[test]
fn the_strongest_writer_owns_an_instance_until_it_leaves() {
    let mut fixture = Fixture::new(CachePolicy {
        exclusive: true,
        ..KEEP_ALL
    });
    for (number, strength) in [(1, 10), (2, 20), (3, 10)] {
        let policy = WriterPolicy {
            strength,
            ..WriterPolicy::default()
        };
        fixture.cache.set_writer(writer(number), policy);
    }
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 3), Insertion::Stored);
    // As strong, but with the lower GUID.
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 1), Insertion::Stored);
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 3), Insertion::Filtered);
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 2), Insertion::Stored);
    assert_eq!(
        fixture.change(ChangeKind::Disposed, 1, 1),
        Insertion::Filtered
    );
    fixture
        .cache
        .remove_writer(writer(2), NOW, Timestamp::default(), |_| None);
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 1), Insertion::Stored);
    assert_eq!(fixture.take_values(), [1, 2, 4, 6]);
}

#[test]
fn a_writer_that_is_not_heard_keeps_the_instance_alive() {
    let mut fixture = Fixture::new(CachePolicy {
        exclusive: true,
        ..KEEP_ALL
    });
    for (number, strength) in [(1, 20), (2, 10)] {
        let policy = WriterPolicy {
            strength,
            ..WriterPolicy::default()
        };
        fixture.cache.set_writer(writer(number), policy);
    }
    let now = Timestamp::from_nanos(1_000);
    fixture.write(1);
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 2), Insertion::Filtered);
    assert!(!fixture.cache.silence_writer(writer(1), NOW, now, |_| None));
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 2), Insertion::Stored);
    assert_eq!(fixture.take_values(), [1, 3]);
    assert!(fixture.cache.silence_writer(writer(2), NOW, now, |_| None));
}

#[test]
fn a_standby_that_unregisters_leaves_but_does_not_dispose() {
    let mut fixture = Fixture::new(CachePolicy {
        exclusive: true,
        ..KEEP_ALL
    });
    for (number, strength) in [(1, 20), (2, 10)] {
        let policy = WriterPolicy {
            strength,
            ..WriterPolicy::default()
        };
        fixture.cache.set_writer(writer(number), policy);
    }
    let leaves = ChangeKind::DisposedUnregistered;
    fixture.write(1);
    assert_eq!(fixture.change(ChangeKind::Alive, 1, 2), Insertion::Filtered);
    assert_eq!(fixture.change(leaves, 1, 2), Insertion::Filtered);
    assert!(fixture.cache.is_alive(key(1)));
    let now = Timestamp::from_nanos(1_000);
    assert!(fixture.cache.silence_writer(writer(1), NOW, now, |_| None));
    let states = fixture.take();
    let states = states.iter().map(|sample| sample.info.instance_state);
    assert!(states.eq([InstanceState::NoWriters; 2]));
}

#[test]
fn a_writer_leaves_an_instance_however_late_that_is_heard() {
    for leaves in [ChangeKind::Unregistered, ChangeKind::DisposedUnregistered] {
        let mut fixture = Fixture::new(CachePolicy {
            by_source_timestamp: true,
            ..KEEP_ALL
        });
        fixture.change_at(ChangeKind::Alive, 1, 2, 20);
        // Not shown, but it has a second writer from here on.
        let older = fixture.change_at(ChangeKind::Alive, 1, 1, 10);
        assert_eq!(older, Insertion::Filtered);
        let first = fixture.change_at(ChangeKind::Unregistered, 1, 2, 30);
        assert_eq!(first, Insertion::Ignored);
        assert!(fixture.cache.is_alive(key(1)));
        assert_eq!(fixture.change_at(leaves, 1, 1, 11), Insertion::Stored);
        let states = fixture.take();
        let states = states.iter().map(|sample| sample.info.instance_state);
        assert!(states.eq([InstanceState::NoWriters; 2]), "{leaves:?}");
    }
}

#[test]
fn no_value_is_older_for_a_writer_that_left() {
    let mut fixture = Fixture::new(CachePolicy {
        by_source_timestamp: true,
        ..KEEP_ALL
    });
    fixture.change_at(ChangeKind::Alive, 1, 1, 10);
    fixture.change_at(ChangeKind::Alive, 1, 2, 11);
    fixture.change_at(ChangeKind::Unregistered, 1, 2, 20);
    fixture.change_at(ChangeKind::Alive, 1, 1, 15);
    assert_eq!(fixture.take_values(), [10, 11, 15]);
}

#[test]
fn samples_end_with_their_writers_lifespan() {
    let mut fixture = Fixture::new(KEEP_ALL);
    let policy = WriterPolicy {
        lifespan: Some(Duration::from_nanos(600)),
        ..WriterPolicy::default()
    };
    fixture.cache.set_writer(writer(1), policy);
    fixture.change_at(ChangeKind::Alive, 1, 1, 400);
    fixture.change_at(ChangeKind::Alive, 1, 1, 401);
    fixture.change_at(ChangeKind::Alive, 1, 2, 1);
    // It is 1,000 now, so the first has expired on the way.
    assert_eq!(fixture.cache.expired, 1);
    assert_eq!(fixture.cache.poll_timeout(), Some(after(1)));
    // The lifespan that a sample came with counts, though its writer is gone.
    fixture
        .cache
        .remove_writer(writer(1), NOW, Timestamp::default(), |_| None);
    assert!(!fixture.cache.expire(NOW));
    assert!(fixture.cache.expire(after(1)));
    assert_eq!(fixture.cache.poll_timeout(), None);
    assert_eq!(fixture.take_values(), [1]);
    assert_eq!(fixture.cache.expired, 2);
}

/// So many nanoseconds from now.
fn after(nanos: u64) -> Instant {
    NOW + Duration::from_nanos(nanos)
}

#[test]
fn what_was_rejected_leaves_no_instance() {
    let mut fixture = Fixture::new(CachePolicy {
        max_samples: 1,
        ..KEEP_ALL
    });
    fixture.write(1);
    let reason = SampleRejectedReason::Samples;
    assert_eq!(fixture.write(2), Insertion::Rejected(reason));
    assert!(!fixture.cache.knows(key(2)));
}

#[test]
fn values_are_recycled_unless_somebody_holds_them() {
    let mut fixture = Fixture::new(KEEP_ALL);
    fixture.write(1);
    let taken = fixture.take().pop().and_then(|s| s.value).expect("a value");
    let (first, held) = (Arc::as_ptr(&taken), Arc::clone(&taken));
    fixture.cache.recycle(taken);
    assert_ne!(Arc::as_ptr(&fixture.cache.value(u64::default)), first);
    fixture.cache.recycle(held);
    assert_eq!(Arc::as_ptr(&fixture.cache.value(u64::default)), first);
}

#[test]
fn notices_take_no_values_place_and_do_not_pile_up() {
    let mut fixture = Fixture::new(CachePolicy {
        depth: Some(1),
        ..KEEP_ALL
    });
    for round in 1..=3 {
        let expected = match round {
            1 => Insertion::Stored,
            _ => Insertion::Replaced,
        };
        assert_eq!(fixture.write(1), expected);
        assert_eq!(
            fixture.change(ChangeKind::Disposed, 1, 1),
            Insertion::Stored
        );
    }
    let taken = fixture.take();
    let last: Vec<_> = taken.iter().filter_map(Sample::data).copied().collect();
    assert_eq!(last, [5]);
    assert!(taken.len() <= 3, "{} samples", taken.len());

    assert_eq!(fixture.write(2), Insertion::Stored);
    assert!(
        fixture
            .cache
            .remove_writer(writer(1), NOW, Timestamp::from_nanos(1), |_| None)
    );
    let taken = fixture.take();
    let values: Vec<_> = taken.iter().map(|sample| sample.data().copied()).collect();
    assert_eq!(values, [Some(7), None]);
    let states = taken.iter().map(|sample| sample.info().instance_state);
    assert!(states.eq([InstanceState::NoWriters; 2]));
}

#[test]
fn ordered_access_to_instances_keeps_each_together() {
    let mut fixture = Fixture::new(CachePolicy {
        order: Order::Instance,
        ..KEEP_ALL
    });
    for instance in [2, 1, 2, 3, 1] {
        fixture.write(instance);
    }
    let first = Query {
        max_samples: 3,
        ..ALL
    };
    assert_eq!(values(&fixture.collect(first, false)), [1, 3, 2]);
    let samples = fixture.take();
    assert_eq!(values(&samples), [1, 3, 2, 5, 4]);
    let ranks: Vec<_> = samples.iter().map(|s| s.info.sample_rank).collect();
    assert_eq!(ranks, [1, 0, 1, 0, 0]);
}

#[test]
fn ordered_access_to_a_topic_goes_by_source_timestamps() {
    let mut fixture = Fixture::new(CachePolicy {
        order: Order::Source,
        by_source_timestamp: true,
        ..KEEP_ALL
    });
    for (instance, from, made) in [(1, 1, 10), (2, 2, 5), (1, 1, 20), (3, 2, 15), (3, 2, 30)] {
        fixture.change_at(ChangeKind::Alive, instance, from, made);
    }
    assert_eq!(fixture.take_values(), [5, 10, 15, 20, 30]);
}

#[test]
fn instances_are_gone_through_one_after_another() {
    let mut fixture = Fixture::new(KEEP_ALL);
    for instance in [3, 1, 2, 1] {
        fixture.write(instance);
    }
    let mut next = |previous| {
        let query = Query {
            instances: Instances::Next(previous),
            ..ALL
        };
        let samples = fixture.collect(query, true);
        (samples.first().map(|s| s.info.instance), values(&samples))
    };
    assert_eq!(next(None), (Some(key(1)), vec![2, 4]));
    assert_eq!(next(Some(key(1))), (Some(key(2)), vec![3]));
    assert_eq!(next(Some(key(2))), (Some(key(3)), vec![1]));
    assert_eq!(next(Some(key(3))), (None, vec![]));
    assert_eq!(next(Some(key(0))), (None, vec![]));
}

fn values(samples: &[Sample<u64>]) -> Vec<u64> {
    samples.iter().filter_map(Sample::data).copied().collect()
}
