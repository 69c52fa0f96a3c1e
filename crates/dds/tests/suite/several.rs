//! Samples that are written together, and writers that go straight to a log or do not, whatever else they have to see to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::common::{PATIENCE, Quote, builder, participant, quote, wait_for_logs};
use tickwire::cdr::{
    Decode, DecodeError, Describe, Encode, EncodeError, LengthCode, Reader, Type, Writer,
};
use tickwire::error::WriteError;
use tickwire::qos::{LivelinessKind, Presentation, PresentationScope, ResourceLimits};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, PublisherQos, Topic,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Note")]
struct Note {
    number: u32,
    #[topic(bound = 20_000)]
    bytes: Vec<u8>,
}

fn note(number: u32, len: usize) -> Note {
    let bytes = vec![number.to_le_bytes()[0]; len];
    Note { number, bytes }
}

/// Two participants that share memory, and a writer and a reader that use it.
struct Stage {
    ours: DomainParticipant,
    _theirs: DomainParticipant,
    writer: DataWriter<Note>,
    reader: DataReader<Note>,
    /// Of the next note.
    number: u32,
}

impl Stage {
    fn new(domain: u32, qos: DataWriterQos, publisher: PublisherQos) -> Self {
        let stage = Self::by(domain, true, qos, publisher);
        wait_for_logs(&stage.ours, 1);
        stage
    }

    /// The same by datagrams alone.
    fn by_datagrams(domain: u32, qos: DataWriterQos) -> Self {
        Self::by(domain, false, qos, PublisherQos::default())
    }

    fn by(domain: u32, by_log: bool, qos: DataWriterQos, publisher: PublisherQos) -> Self {
        let one = || builder(domain).shared_memory(by_log).build().expect("one");
        let (ours, theirs) = (one(), one());
        let topic = ours.topic("Notes").expect("a topic");
        let publisher = ours.publisher(publisher);
        let writer = publisher.writer(&topic, qos).expect("a writer");
        let topic = theirs.topic("Notes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all();
        let qos = match writer.qos().policies().is_reliable() {
            true => qos,
            false => qos.best_effort(),
        };
        let reader = theirs.reader_with(&topic, qos).expect("a reader");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        reader.wait_for_matched(1, PATIENCE).expect("a match");
        Self {
            ours,
            _theirs: theirs,
            writer,
            reader,
            number: 0,
        }
    }

    /// The next notes, of these lengths.
    fn notes(&mut self, lens: impl IntoIterator<Item = usize>) -> Vec<Note> {
        let numbers = self.number..;
        let notes: Vec<_> = lens.into_iter().zip(numbers).collect();
        self.number += u32::try_from(notes.len()).expect("few");
        notes
            .into_iter()
            .map(|(len, number)| note(number, len))
            .collect()
    }

    /// Expects these to come next.
    fn expect(&self, notes: &[Note]) {
        let mut came = 0;
        while came < notes.len() {
            let waited = self.reader.wait_for_data(PATIENCE);
            waited.unwrap_or_else(|_| panic!("{came} of {}", notes.len()));
            for note in self.reader.take().data() {
                assert_eq!(Some(note), notes.get(came));
                came += 1;
            }
        }
    }

    fn records_sent(&self) -> u64 {
        self.ours.counters().shared_memory.records_sent
    }
}

fn reliable() -> DataWriterQos {
    DataWriterQos::default().reliable(PATIENCE).keep_all()
}

#[test]
fn what_is_written_together_comes_in_order_by_fewer_records() {
    let best_effort = DataWriterQos::default().best_effort();
    for (domain, qos) in [(213, reliable()), (214, best_effort)] {
        let mut stage = Stage::new(domain, qos, PublisherQos::default());
        let notes = stage.notes([100; 1_000]);
        stage.writer.write_all(&notes).expect("room");
        stage.expect(&notes);
        assert!(stage.records_sent() < 100, "{}", stage.records_sent());
        assert_eq!(stage.writer.write_all(&[]), Ok(()));
    }
}

#[test]
fn what_is_written_together_comes_in_order_by_fewer_datagrams() {
    let best_effort = DataWriterQos::default().best_effort();
    for (domain, qos) in [(222, reliable()), (223, best_effort)] {
        let mut stage = Stage::by_datagrams(domain, qos);
        // The first are greeted by a heartbeat each, until the reader has been heard.
        let first = stage.notes([100]);
        stage.writer.write_all(&first).expect("room");
        stage.expect(&first);
        stage
            .writer
            .wait_for_acknowledgments(PATIENCE)
            .expect("it is heard");
        let before = stage.ours.counters().datagrams_sent;
        let notes = stage.notes([100; 256]);
        stage.writer.write_all(&notes).expect("room");
        stage.expect(&notes);
        let sent = stage.ours.counters().datagrams_sent - before;
        assert!(sent < 12, "{sent}");
    }
}

#[test]
fn whatever_their_lengths_samples_come_in_order() {
    let by_log = Stage::new(215, reliable(), PublisherQos::default());
    for mut stage in [by_log, Stage::by_datagrams(224, reliable())] {
        come_in_order(&mut stage);
    }
}

fn come_in_order(stage: &mut Stage) {
    for round in 0..10 {
        let lens = (0..200).map(|at| match (at + round) % 50 {
            0 if round > 4 => 15_000,
            place => 7 * place,
        });
        let notes = stage.notes(lens);
        stage.writer.write_all(&notes).expect("room");
        stage.expect(&notes);
    }
}

#[test]
fn a_sample_that_cannot_be_encoded_ends_it_behind_those_before() {
    let mut stage = Stage::new(216, reliable(), PublisherQos::default());
    for len in [0, 3, 300] {
        let good = stage.notes(vec![10; len]);
        let bad = note(0, 20_001);
        let all = [&good[..], &[bad][..], &good[..]].concat();
        let failed = stage.writer.write_all(&all).expect_err("it is too long");
        assert_eq!(failed.written, len);
        assert!(matches!(failed.source, WriteError::Sample(_)), "{failed}");
        stage.expect(&good);
    }
}

#[test]
fn samples_with_keys_are_written_together_as_one_by_one() {
    let (ours, theirs) = (participant(217), participant(217));
    let topic = ours.topic::<Quote>("Quotes").expect("a topic");
    let writer = ours.writer_with(&topic, reliable()).expect("a writer");
    let topic = theirs.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = theirs.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    let quotes = [quote("A", 1), quote("B", 2), quote("A", 3)];
    writer.write_all(&quotes).expect("room");
    let mut came = Vec::new();
    while came.len() < quotes.len() {
        reader.wait_for_data(PATIENCE).expect("samples");
        came.extend(reader.take().data().cloned());
    }
    assert_eq!(came, quotes);
}

#[test]
fn nobody_writes_before_it_is_enabled() {
    let ours = builder(218).autoenable_created_entities(false);
    let ours = ours.build().expect("a participant");
    let topic = ours.topic("Notes").expect("a topic");
    let writer = ours.writer_with(&topic, reliable()).expect("a writer");
    let refused = writer.write_all(&[note(0, 1)]).expect_err("it is not");
    assert_eq!(
        (refused.written, refused.source),
        (0, WriteError::NotEnabled)
    );
}

/// What a writer has to see to besides keeps it from going straight to its log, or does not: nobody can tell.
#[test]
fn whatever_a_writer_has_to_see_to_its_samples_come_in_order() {
    let by_topic = |lease| reliable().liveliness(LivelinessKind::ManualByTopic, lease);
    let by_participant = |lease| reliable().liveliness(LivelinessKind::ManualByParticipant, lease);
    let limits = ResourceLimits {
        max_samples: Some(5_000),
        ..ResourceLimits::default()
    };
    let all = [
        reliable().deadline(PATIENCE),
        by_topic(PATIENCE),
        by_participant(PATIENCE),
        reliable().transient_local(),
        reliable().resource_limits(limits),
        reliable().lifespan(PATIENCE),
        reliable().keep_last(2_000),
    ];
    let group = PublisherQos::default().presentation(Presentation {
        access_scope: PresentationScope::Group,
        ordered_access: true,
        ..Presentation::default()
    });
    let alone = all.map(|qos| (qos, PublisherQos::default()));
    let all = alone.into_iter().chain([(reliable(), group)]);
    let both = all.flat_map(|(qos, publisher)| {
        [
            (true, qos.clone(), publisher.clone()),
            (false, qos, publisher),
        ]
    });
    for ((by_log, qos, publisher), domain) in both.zip(100..) {
        let mut stage = Stage::by(domain, by_log, qos, publisher);
        if by_log {
            wait_for_logs(&stage.ours, 1);
        }
        let notes = stage.notes([20; 300]);
        let (alone, together) = notes.split_at(100);
        for note in alone {
            stage.writer.write(note).expect("room");
        }
        stage.writer.write_all(together).expect("room");
        stage.expect(&notes);
    }
}

#[test]
fn a_writer_that_is_given_a_deadline_while_it_goes_straight_keeps_it() {
    let mut stage = Stage::new(220, reliable(), PublisherQos::default());
    let notes = stage.notes([20; 100]);
    stage.writer.write_all(&notes).expect("room");
    stage.expect(&notes);
    let soon = Duration::from_millis(1);
    let qos = stage.writer.qos().deadline(soon);
    stage.writer.set_qos(qos).expect("it may change");
    let notes = stage.notes([20; 100]);
    stage.writer.write_all(&notes).expect("room");
    stage.expect(&notes);
    let condition = stage
        .writer
        .status_condition(tickwire::StatusMask::OFFERED_DEADLINE_MISSED);
    let set = tickwire::WaitSet::new();
    set.attach(&condition);
    set.wait(PATIENCE).expect("nothing is written any more");
}

#[test]
fn what_is_suspended_waits_though_its_writer_goes_straight() {
    let mut stage = Stage::new(221, reliable(), PublisherQos::default());
    let publisher = stage.ours.publisher(PublisherQos::default());
    let notes = stage.notes([20; 120]);
    let (before, held) = notes.split_at(100);
    stage.writer.write_all(before).expect("room");
    stage.expect(before);
    let suspended = publisher.suspend_publications();
    let (first, rest) = held.split_at(10);
    for note in first {
        stage.writer.write(note).expect("room");
    }
    stage.writer.write_all(rest).expect("room");
    assert_eq!(stage.reader.take().data().count(), 0);
    drop(suspended);
    stage.expect(held);
}

/// A number that is not always serialized.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Brittle(u32);

const BREAKS: u32 = 13;

impl Describe for Brittle {
    const TYPE: Type = u32::TYPE;
}

impl Encode for Brittle {
    const LENGTH_CODE: LengthCode = u32::LENGTH_CODE;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        assert_ne!(self.0, BREAKS, "this is what the test is about");
        writer.write_u32(self.0);
        Ok(())
    }
}

impl Decode for Brittle {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self(0)
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        self.0 = reader.read_u32()?;
        Ok(())
    }
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Parcel")]
struct Parcel {
    what: Brittle,
}

/// Nothing else would wake it: what is best effort has no heartbeats.
#[test]
fn who_sleeps_on_a_log_hears_what_was_written_before_serializing_panicked() {
    let one = || builder(137).shared_memory(true).build().expect("one");
    let (ours, theirs) = (one(), one());
    let qos = DataWriterQos::default().best_effort();
    let topic = ours.topic::<Parcel>("Parcels").expect("a topic");
    let writer = ours.writer_with(&topic, qos).expect("a writer");
    let qos = DataReaderQos::default().best_effort().keep_all();
    let topic = theirs.topic::<Parcel>("Parcels").expect("a topic");
    let reader = theirs.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    wait_for_logs(&ours, 1);
    let parcels = [1, 2, BREAKS, 3].map(|number| Parcel {
        what: Brittle(number),
    });
    for _ in 0..100 {
        let all = catch_unwind(AssertUnwindSafe(|| writer.write_all(&parcels)));
        assert!(all.is_err());
        let one = catch_unwind(AssertUnwindSafe(|| writer.write(&parcels[2])));
        assert!(one.is_err());
        // Its thread goes to sleep behind what it has.
        let mut came = Vec::new();
        while came.len() < 2 {
            reader.wait_for_data(PATIENCE).expect("what was written");
            came.extend(reader.take().data().cloned());
        }
        assert_eq!(came, parcels[..2]);
    }
    assert!(ours.counters().shared_memory.records_sent >= 100);
}
