//! OFFERED_DEADLINE_MISSED and REQUESTED_DEADLINE_MISSED (DDS 1.4 §2.2.3.7).

use super::*;
use crate::InstanceHandle;

const PERIOD: Duration = Duration::from_millis(10);

/// A writer and a reader of one participant, and what their listeners are told.
struct Pair {
    world: World,
    writer: DataWriter<Quote>,
    reader: DataReader<Quote>,
    ears: [Ear; 2],
}

impl Pair {
    fn new() -> Self {
        let world = World::new(1);
        let writer = world.writer(0, DataWriterQos::default().deadline(PERIOD));
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = world.reader(0, qos.deadline(PERIOD));
        world.meet(&writer, &reader);
        let ears = [Ear::of_writer(&writer), Ear::of_reader(&reader)];
        world.turn(0);
        ears.iter().for_each(|ear| drop(ear.told()));
        Self {
            world,
            writer,
            reader,
            ears,
        }
    }

    fn write(&self, symbol: &str) {
        let written = self.writer.write(&quote(symbol));
        self.world.deliver(written, &self.reader);
    }

    fn instance(&self, symbol: &str) -> InstanceHandle {
        self.writer.register(&quote(symbol)).expect("a key")
    }

    /// After this time both sides are told that the instance is missed, or nothing; it is so many
    /// that were missed by then.
    fn after(&self, ms: u32, missed: Option<&str>, total: u64) {
        self.world.advance(ms * MS);
        let status = |symbol| DeadlineMissedStatus {
            count: CountStatus {
                total_count: total,
                total_count_change: 1,
            },
            last_instance: Some(self.instance(symbol)),
        };
        let status = missed.map(status);
        let expected = [
            status.map(Told::OfferedDeadlineMissed),
            status.map(Told::RequestedDeadlineMissed),
        ];
        for (ear, expected) in self.ears.iter().zip(expected) {
            assert_eq!(ear.told(), Vec::from_iter(expected), "after {ms} ms more");
        }
        // The listener's look has cleared the change.
        let offered = self.writer.offered_deadline_missed_status().count;
        let requested = self.reader.requested_deadline_missed_status().count;
        for count in [offered, requested] {
            assert_eq!((count.total_count, count.total_count_change), (total, 0));
        }
    }
}

#[test]
fn both_sides_are_told_of_each_period_of_each_instance_without_a_sample() {
    let pair = Pair::new();
    pair.after(50, None, 0);
    pair.write("A");
    pair.after(4, None, 0);
    pair.write("B");
    pair.after(5, None, 0);
    pair.after(1, Some("A"), 1);
    pair.after(4, Some("B"), 2);
    pair.after(5, None, 2);
    pair.after(1, Some("A"), 3);
    // In time, though late in the period.
    pair.after(3, None, 3);
    pair.write("B");
    pair.after(6, None, 3);
    pair.write("A");
    pair.after(3, None, 3);
    pair.after(1, Some("B"), 4);
    pair.after(6, Some("A"), 5);
}

#[test]
fn nothing_more_is_expected_of_an_instance_that_has_ended() {
    let pair = Pair::new();
    for symbol in ["A", "B", "C"] {
        pair.write(symbol);
        pair.world.advance(MS);
    }
    let disposed = pair.writer.dispose(&quote("A"));
    pair.world.deliver(disposed, &pair.reader);
    let unregistered = pair.writer.unregister(&quote("B"));
    pair.world.deliver(unregistered, &pair.reader);
    pair.after(8, None, 0);
    pair.after(1, Some("C"), 1);
    pair.after(10, Some("C"), 2);
    // Another life of it.
    pair.after(5, None, 2);
    pair.write("A");
    pair.after(5, Some("C"), 3);
    pair.after(4, None, 3);
    pair.after(1, Some("A"), 4);
}

#[test]
fn another_period_counts_from_its_change() {
    let pair = Pair::new();
    pair.write("A");
    pair.after(9, None, 0);
    let qos = DataWriterQos::default().deadline(PERIOD / 2);
    pair.writer.set_qos(qos).expect("it may change");
    let qos = DataReaderQos::default().reliable().keep_all();
    let qos = qos.deadline(PERIOD / 2);
    pair.reader.set_qos(qos).expect("it may change");
    pair.after(4, None, 0);
    pair.after(1, Some("A"), 1);
    pair.after(5, Some("A"), 2);
}
