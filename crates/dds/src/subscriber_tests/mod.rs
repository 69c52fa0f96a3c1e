//! PRESENTATION over a simulated network, in virtual time: whatever is written, lost, repeated and
//! out of order, and whoever comes late or leaves, a coherent set is seen whole and in order or not
//! at all (DDS 1.4 §2.2.3.6).

mod checks;
mod simulation;

use std::time::Duration;

use proptest::prelude::*;
use tickwire_base::{Instant, Locator};
use tickwire_cdr::Representation;
use tickwire_derive::Topic;
use tickwire_rtps::discovery::{EndpointData, Role};
use tickwire_rtps::reader::WriterProxy;
use tickwire_rtps::wire::{self, EntityId, GroupDigest, GuidPrefix, Submessage};
use tickwire_rtps::writer::{HistoryKind, ReaderProxy, WriteError, Writer, WriterConfig};
use tickwire_rtps::{Change, ChangeKind, Outbox};
use tickwire_simnet::{Arrival, Link, Network, NodeId};

use super::*;
use crate::clock;
use crate::lane::Messages;
use crate::qos::ResourceLimits;
use crate::reader::endpoint::Run;
use crate::{DomainParticipant, Driving};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Leg")]
struct Leg {
    #[topic(key)]
    id: u32,
    price: i64,
}

/// What the writers, the readers and the network are like.
#[derive(Clone, Debug)]
struct Setting {
    seed: u64,
    loss: u32,
    scope: PresentationScope,
    ordered: bool,
    writers: usize,
    /// All writers write one topic, which one reader reads.
    one_topic: bool,
    max_samples: Option<u32>,
    /// Of the writers; `None` is KEEP_ALL.
    depth: Option<u32>,
    /// The last reader is not there from the beginning.
    is_late: bool,
}

/// What happens. Writers and readers are numbered; those that are gone do nothing.
#[derive(Clone, Debug)]
enum Step {
    Begin,
    End,
    Write(usize, u32),
    Dispose(usize, u32),
    Wait(u64),
    Take,
    /// Looks twice, so long apart.
    Look(u64),
    Join,
    ReaderLeaves(usize),
    WriterLeaves(usize),
}

fn settings() -> impl Strategy<Value = Setting> {
    let scope = prop_oneof![
        Just(PresentationScope::Topic),
        Just(PresentationScope::Group)
    ];
    let limit = prop_oneof![3 => Just(None), 1 => Just(Some(6))];
    (
        any::<u64>(),
        0_u32..300,
        scope,
        any::<bool>(),
        1_usize..=3,
        any::<bool>(),
        limit,
        prop_oneof![2 => Just(None), 1 => (1_u32..3).prop_map(Some)],
        any::<bool>(),
    )
        .prop_map(
            |(seed, loss, scope, ordered, writers, one_topic, max_samples, depth, is_late)| {
                Setting {
                    seed,
                    loss,
                    scope,
                    ordered,
                    writers,
                    one_topic,
                    max_samples,
                    depth,
                    is_late,
                }
            },
        )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Begin),
        4 => Just(Step::End),
        12 => (0_usize..3, 0_u32..3).prop_map(|(writer, key)| Step::Write(writer, key)),
        2 => (0_usize..3, 0_u32..3).prop_map(|(writer, key)| Step::Dispose(writer, key)),
        4 => (0_u64..5).prop_map(Step::Wait),
        3 => Just(Step::Take),
        1 => (0_u64..5).prop_map(Step::Look),
        1 => Just(Step::Join),
        1 => (0_usize..3).prop_map(Step::ReaderLeaves),
        1 => (0_usize..3).prop_map(Step::WriterLeaves),
    ];
    proptest::collection::vec(step, 1..60)
}

struct WriterNode {
    node: NodeId,
    locator: Locator,
    machine: Writer,
    is_up: bool,
}

struct ReaderNode {
    reader: Option<DataReader<Leg>>,
    guid: Guid,
    /// The writers that it was matched with.
    writers: Vec<usize>,
    /// The first set that began after it was matched.
    since: usize,
    /// What it has shown: when, and the price.
    seen: Vec<(usize, i64)>,
}

/// Prices count what is written.
#[derive(Clone, Copy, Debug)]
struct Written {
    writer: usize,
    set: Option<usize>,
}

struct Sim {
    setting: Setting,
    network: Network,
    node: NodeId,
    locator: Locator,
    /// What the virtual clock is ahead of the network's: beyond any real time.
    ahead: Duration,
    outbox: Outbox,
    _participant: DomainParticipant,
    subscriber: Subscriber,
    writers: Vec<WriterNode>,
    readers: Vec<ReaderNode>,
    group_number: i64,
    written: Vec<Written>,
    /// Sets so far, and whether the last one is open.
    sets: usize,
    is_open: bool,
    /// Sets within which a writer has left that had a part in them.
    cut: Vec<usize>,
    /// Writers that left with a part in the set that has begun.
    gone: Vec<EntityId>,
    views: usize,
    has_left: bool,
}

const PUBLISHER_PREFIX: GuidPrefix = GuidPrefix([3; 12]);
const LIMIT: Duration = Duration::from_secs(120);

fn check(setting: &Setting, steps: &[Step]) {
    let mut sim = Sim::new(setting);
    steps.iter().for_each(|step| sim.step(step));
    let first_of_last = sim.finish();
    sim.check_order();
    match sim.is_group() {
        true => sim.check_group_sets(),
        false => sim.check_topic_sets(),
    }
    sim.check_completeness(first_of_last);
}

proptest! {
    #[test]
    fn sets_are_seen_whole_and_in_order_or_not_at_all(setting in settings(), steps in steps()) {
        check(&setting, &steps);
    }
}

/// Two writers of a publisher and a reader for each, without trouble.
const TWO: Setting = Setting {
    seed: 1,
    loss: 0,
    scope: PresentationScope::Group,
    ordered: false,
    writers: 2,
    one_topic: false,
    max_samples: None,
    depth: None,
    is_late: false,
};

impl Sim {
    fn prices(&self, reader: usize) -> Vec<i64> {
        let seen = self.readers[reader].seen.iter();
        seen.map(|(_, price)| *price).collect()
    }

    fn write_set(&mut self, writers: &[usize]) {
        self.begin();
        for &writer in writers {
            self.write(writer, 0, ChangeKind::Alive);
        }
        self.end();
    }

    fn acknowledged(&self, writer: usize) -> i64 {
        let mut readers = self.writers[writer].machine.readers();
        readers.next().map_or(0, |reader| reader.acknowledged.0)
    }
}

#[test]
fn a_set_is_not_guessed_whole_when_a_writer_has_left_within_it() {
    let late = Setting {
        writers: 3,
        one_topic: true,
        is_late: true,
        ..TWO
    };
    let steps = [
        Step::Begin,
        Step::Write(1, 0),
        Step::Write(0, 0),
        Step::WriterLeaves(0),
        Step::Write(2, 0),
        Step::Join,
        Step::WriterLeaves(1),
    ];
    check(&late, &steps);
    // So it is with an empty set before that one.
    let empty = [Step::Begin, Step::End];
    check(&late, &[&empty[..], &steps].concat());
}

#[test]
fn a_notice_that_a_writer_has_left_takes_no_sample_out_of_its_turn() {
    let ordered = Setting {
        seed: 16_237_509_702_394_805_780,
        loss: 77,
        ordered: true,
        is_late: true,
        ..TWO
    };
    let steps = [
        Step::Begin,
        Step::Dispose(0, 0),
        Step::Write(1, 0),
        Step::Write(0, 1),
        Step::End,
        Step::Wait(1),
        Step::Begin,
        Step::Wait(2),
        Step::Join,
        Step::WriterLeaves(0),
    ];
    check(&ordered, &steps);
}

#[test]
fn a_set_is_not_whole_without_what_was_missing_of_a_writer_that_has_left() {
    let late = Setting {
        seed: 9_959_684_903_022_235_859,
        loss: 26,
        one_topic: true,
        depth: Some(2),
        is_late: true,
        ..TWO
    };
    let steps = [
        Step::Begin,
        Step::Write(1, 0),
        Step::Write(0, 1),
        Step::End,
        Step::Write(0, 1),
        Step::Join,
        // Replaces the part of the set, and with it goes the end; the other writer's comes later.
        Step::Write(0, 1),
        Step::Wait(2),
        Step::WriterLeaves(0),
    ];
    check(&late, &steps);
}

#[test]
fn sets_do_not_wait_for_a_reader_that_was_deleted() {
    let mut sim = Sim::new(&TWO);
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    let access = sim.subscriber.begin_access();
    sim.write_set(&[0, 1]);
    sim.run(Duration::from_millis(10));
    sim.reader_leaves(1);
    access.end_access();
    sim.write_set(&[0]);
    sim.settle();
    sim.take();
    assert_eq!(sim.prices(0), [0, 2, 4]);
}

#[test]
fn what_a_writer_has_left_behind_loses_it_once() {
    let mut sim = Sim::new(&TWO);
    let access = sim.subscriber.begin_access();
    sim.write_set(&[0, 0, 1]);
    sim.run(Duration::from_millis(10));
    sim.writer_leaves(0);
    access.end_access();
    sim.run(Duration::from_millis(10));
    let samples = sim.readers[0].reader.as_ref().expect("there").read();
    let seen = samples.iter().map(|sample| {
        let generation = sample.info().no_writers_generation_count;
        (sample.info().valid_data, generation)
    });
    assert_eq!(seen.collect::<Vec<_>>(), [(true, 0), (true, 0), (false, 0)]);
}

#[test]
fn what_waits_for_other_readers_is_bounded_and_none_of_it_lost() {
    let mut sim = Sim::new(&Setting {
        max_samples: Some(6),
        ..TWO
    });
    let other = sim.writers[1].node;
    sim.network.partition(other, sim.node);
    (0..50).for_each(|_| sim.write_set(&[0]));
    sim.run(Duration::from_secs(1));
    // A change and an end for each set, and what the machine keeps of the next.
    let acknowledged = sim.acknowledged(0);
    assert!((10..=16).contains(&acknowledged), "{acknowledged}");
    let reader = sim.readers[0].reader.as_ref().expect("there");
    assert!(reader.sample_rejected_status().count.total_count > 0);
    sim.network.heal(other, sim.node);
    sim.settle();
    sim.take();
    assert_eq!(sim.prices(0), (0..50).collect::<Vec<_>>());
}

#[test]
fn changes_that_waited_behind_a_set_are_not_lost_for_lack_of_room() {
    let mut sim = Sim::new(&Setting {
        max_samples: Some(6),
        ..TWO
    });
    let access = sim.subscriber.begin_access();
    sim.write_set(&[0]);
    (0..20).for_each(|_| sim.write(0, 0, ChangeKind::Alive));
    sim.run(Duration::from_secs(1));
    access.end_access();
    sim.settle();
    for _ in 0..10 {
        sim.take();
    }
    assert_eq!(sim.prices(0), (0..21).collect::<Vec<_>>());
}

#[test]
fn a_set_that_can_never_fit_is_discarded_in_all_readers_and_counted() {
    let mut sim = Sim::new(&Setting {
        max_samples: Some(3),
        ..TWO
    });
    sim.write_set(&[0, 0, 0, 0, 1]);
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    assert_eq!((sim.prices(0), sim.prices(1)), (vec![5], vec![6]));
    for (reader, count) in [(0, 4), (1, 1)] {
        let reader = sim.readers[reader].reader.as_ref().expect("there");
        assert_eq!(reader.inbox_counters().discarded_with_set, count);
        assert_eq!(reader.sample_lost_status().total_count, count);
    }
}

#[test]
fn changes_of_several_writers_of_a_topic_come_in_the_order_of_the_publisher() {
    let mut sim = Sim::new(&Setting {
        one_topic: true,
        ..TWO
    });
    sim.write_set(&[0, 1, 1, 0, 1, 0]);
    sim.settle();
    assert_eq!(sim.prices(0), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_reader_that_joins_after_a_set_was_shown_gets_its_part_of_it() {
    let mut sim = Sim::new(&Setting {
        is_late: true,
        ..TWO
    });
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    assert_eq!(sim.prices(0), [0]);
    sim.write_set(&[0, 1]);
    sim.join();
    sim.settle();
    sim.take();
    assert_eq!((sim.prices(0), sim.prices(1)), (vec![0, 2], vec![1, 3]));
}

#[test]
fn a_reader_that_joins_after_a_set_was_discarded_does_not_show_its_part() {
    let mut sim = Sim::new(&Setting {
        is_late: true,
        max_samples: Some(3),
        ..TWO
    });
    sim.write_set(&[0, 0, 0, 0, 1]);
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    sim.join();
    sim.settle();
    sim.take();
    assert_eq!((sim.prices(0), sim.prices(1)), (vec![5], vec![6]));
}
