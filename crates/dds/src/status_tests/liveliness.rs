//! LIVELINESS_LOST and LIVELINESS_CHANGED (DDS 1.4 §2.2.3.11).

use super::*;
use crate::qos::{LivelinessKind, ResourceLimits};

const LEASE: Duration = Duration::from_millis(300);
const KINDS: [LivelinessKind; 3] = [
    LivelinessKind::Automatic,
    LivelinessKind::ManualByParticipant,
    LivelinessKind::ManualByTopic,
];

/// Who ends without disposing of anything gives no last sign of life.
fn offer(kind: LivelinessKind) -> DataWriterQos {
    let qos = DataWriterQos::default().liveliness(kind, LEASE);
    qos.autodispose_unregistered_instances(false)
}

/// What a listener is told of a writer that has lost its liveliness once more.
fn lost(total_count: u64) -> Vec<Told> {
    vec![Told::LivelinessLost(CountStatus {
        total_count,
        total_count_change: 1,
    })]
}

#[test]
fn a_manual_writer_that_is_not_asserted_loses_its_liveliness_once() {
    for kind in &KINDS[1..] {
        let world = World::new(1);
        let writer = world.writer(0, offer(*kind));
        let ear = Ear::of_writer(&writer);
        for total in 1..=3 {
            match total {
                1 => {}
                2 => writer.assert_liveliness(),
                _ => assert!(writer.write(&quote("A")).is_ok()),
            }
            world.advance(LEASE - MS);
            assert_eq!(ear.told(), [], "{kind:?}");
            world.advance(MS);
            assert_eq!(ear.told(), lost(total), "{kind:?}");
            world.advance(3 * LEASE);
            assert_eq!(ear.told(), [], "{kind:?}");
        }
        assert_eq!(writer.liveliness_lost_status().total_count_change, 0);
    }
}

#[test]
fn one_manual_writer_keeps_the_others_of_its_participant_alive() {
    let world = World::new(1);
    let by_participant = LivelinessKind::ManualByParticipant;
    let writers = [
        by_participant,
        by_participant,
        LivelinessKind::ManualByTopic,
    ];
    let writers = writers.map(|kind| world.writer(0, offer(kind)));
    let [busy, idle, alone] = writers.each_ref().map(Ear::of_writer);
    world.advance(LEASE - MS);
    writers[0].write(&quote("A")).expect("room");
    world.advance(MS);
    assert_eq!(alone.told(), lost(1));
    world.advance(LEASE - 2 * MS);
    writers[0].assert_liveliness();
    world.advance(LEASE - MS);
    assert_eq!((busy.told(), idle.told()), (vec![], vec![]));
    world.advance(MS);
    assert_eq!((busy.told(), idle.told()), (lost(1), lost(1)));
    assert_eq!(alone.told(), []);
}

/// How many live and how many do not, and how that has changed; of one writer.
fn changed(counts: [u32; 2], changes: [i32; 2], writer: &DataWriter<Quote>) -> Vec<Told> {
    vec![Told::LivelinessChanged(LivelinessChangedStatus {
        alive_count: counts[0],
        not_alive_count: counts[1],
        alive_count_change: changes[0],
        not_alive_count_change: changes[1],
        last: Some(writer.guid()),
    })]
}

/// A writer of a participant and a reader of another, which has just heard it.
fn heard(
    kind: LivelinessKind,
    qos: DataReaderQos,
) -> (World, DataWriter<Quote>, DataReader<Quote>) {
    let world = World::new(2);
    let writer = world.writer(0, offer(kind).keep_all());
    let reader = world.reader(1, qos.reliable().liveliness(kind, LEASE));
    world.meet(&writer, &reader);
    let written = writer.write(&quote("A"));
    world.deliver(written, &reader);
    (world, writer, reader)
}

#[test]
fn a_reader_sees_a_writer_fall_silent_come_back_and_leave() {
    for kind in KINDS {
        let (world, writer, reader) = heard(kind, DataReaderQos::default());
        let (of_writer, of_reader) = (Ear::of_writer(&writer), Ear::of_reader(&reader));
        let matched = changed([1, 0], [1, 0], &writer);
        assert!(world.hear(&of_reader).ends_with(&matched), "{kind:?}");
        of_writer.told();
        // Its participant stands still.
        world.clock.advance(LEASE - MS);
        world.turn(1);
        assert_eq!(of_reader.told(), [], "{kind:?}");
        world.clock.advance(MS);
        world.turn(1);
        let silent = changed([0, 1], [-1, 1], &writer);
        assert_eq!(of_reader.told(), silent, "{kind:?}");
        world.turn(0);
        assert_eq!(of_writer.told(), lost(1), "{kind:?}");
        if kind != LivelinessKind::Automatic {
            world.advance(LEASE);
            assert_eq!(of_reader.told(), [], "{kind:?}");
            writer.assert_liveliness();
        }
        let back = changed([1, 0], [1, -1], &writer);
        assert_eq!(world.hear(&of_reader), back, "{kind:?}");
        let gone = changed([0, 0], [-1, 0], &writer);
        drop(writer);
        assert!(world.hear(&of_reader).ends_with(&gone), "{kind:?}");
    }
}

#[test]
fn a_silent_writer_that_leaves_lives_no_less() {
    let kind = LivelinessKind::ManualByTopic;
    let (world, writer, reader) = heard(kind, DataReaderQos::default());
    world.advance(LEASE);
    let ear = Ear::of_reader(&reader);
    let silent = changed([0, 1], [0, 1], &writer);
    assert!(world.hear(&ear).ends_with(&silent), "it has matched since");
    let gone = changed([0, 0], [0, -1], &writer);
    drop(writer);
    assert!(world.hear(&ear).ends_with(&gone));
}

/// A reader without room leaves the writer asking and itself answering, both by threads that live
/// however dead the application is (DDS 1.4 §2.2.3.11).
#[test]
fn neither_heartbeats_nor_acknowledgements_renew_a_lease_by_topic() {
    let limits = ResourceLimits {
        max_samples: Some(1),
        ..ResourceLimits::default()
    };
    let full = DataReaderQos::default().keep_all().resource_limits(limits);
    let (world, writer, reader) = heard(LivelinessKind::ManualByTopic, full);
    let number = writer.write(&quote("A")).expect("room");
    world.until(|| {
        let writers = reader.matched_publications();
        writers.iter().any(|writer| writer.announced == number)
    });
    let before = writer.counters();
    for _ in 0..29 {
        world.advance(10 * MS);
        let asked = writer.wait_for_acknowledgments(Duration::ZERO);
        assert!(asked.is_err(), "the second finds no room");
    }
    world.until(|| {
        let now = writer.counters();
        now.heartbeats > before.heartbeats + 10 && now.acknacks > before.acknacks + 10
    });
    world.advance(9 * MS);
    assert_eq!(writer.liveliness_lost_status().total_count, 0);
    assert_eq!(reader.liveliness_changed_status().not_alive_count, 0);
    world.advance(MS);
    assert_eq!(writer.liveliness_lost_status().total_count, 1);
    assert_eq!(reader.liveliness_changed_status().not_alive_count, 1);
}
