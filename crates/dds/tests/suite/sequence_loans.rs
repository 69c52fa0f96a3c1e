//! Sequences of numbers and of plain structs that are written and read where they lie, and how they reach whoever cannot look
//! there.

use crate::common::{PATIENCE, wait_for_logs};
use tickwire::cdr::Representation;
use tickwire::loan::{Element, LoanError, NotSequence, SequenceInPlace, SequenceType};
use tickwire::qos::RepresentationId;
use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, DomainParticipantBuilder, Sample, Samples, Topic, TopicSupport,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Level", nested, final)]
#[repr(C)]
struct Level {
    price: f64,
    size: u32,
    orders: u32,
}

/// What may get more members, and so tells its length.
#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Growing", nested)]
#[repr(C)]
struct Growing {
    price: f64,
}

/// Whose second member is elsewhere in XCDR1, behind the number of elements.
#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Late", nested, final)]
#[repr(C)]
struct Late {
    size: u32,
    orders: u32,
    price: f64,
}

/// Without gaps in memory, and with one in payloads.
#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Odd", nested, final)]
#[repr(C, packed(1))]
struct Odd {
    side: u8,
    size: u32,
}

/// In memory as in XCDR2, which aligns nothing to more than four bytes.
#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Fill", nested, final)]
#[repr(C, packed(4))]
struct PackedFill {
    security: i32,
    venue: i32,
    fee: f32,
    price: f64,
}

/// The same type, in memory with gaps.
#[derive(Topic, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Fill", nested, final)]
struct Fill {
    security: i32,
    venue: i32,
    fee: f32,
    price: f64,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Fills", final)]
struct PackedFills {
    all: Vec<PackedFill>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Fills", final)]
struct Fills {
    all: Vec<Fill>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Levels", final)]
struct Levels {
    all: Vec<Level>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Floats")]
struct Floats {
    #[topic(bound = 100_000)]
    all: Vec<f32>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Doubles", final)]
struct Doubles {
    all: Vec<f64>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Growths", final)]
struct Growths {
    all: Vec<Growing>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Lates", final)]
struct Lates {
    all: Vec<Late>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Odds", final)]
struct Odds {
    all: Vec<Odd>,
}

fn builder(domain: u32) -> DomainParticipantBuilder {
    crate::common::builder(domain)
        .shared_memory(true)
        .trusts_lenders(true)
}

fn writer<T: tickwire::cdr::Topic + Sync>(participant: &DomainParticipant) -> DataWriter<T> {
    writer_in::<T>(participant, RepresentationId::XCDR1)
}

fn writer_in<T: tickwire::cdr::Topic + Sync>(
    participant: &DomainParticipant,
    representation: RepresentationId,
) -> DataWriter<T> {
    let topic = participant.topic::<T>(T::TYPE_NAME).expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let qos = qos.representation([representation]);
    let qos = qos.max_loan_bytes(1_000_000).loan_count(16);
    participant.writer_with(&topic, qos).expect("a writer")
}

fn requested() -> DataReaderQos {
    let qos = DataReaderQos::default().reliable().keep_all();
    qos.representation([RepresentationId::XCDR1, RepresentationId::XCDR2])
}

fn reader_in_place<T: tickwire::cdr::Topic, E: Element>(
    participant: &DomainParticipant,
) -> DataReader<SequenceInPlace<E>> {
    let ty = SequenceType::of::<T>().expect("a sequence of these");
    let topic = participant.topic_of(T::TYPE_NAME, ty).expect("a topic");
    participant.reader_with(&topic, requested()).expect("one")
}

fn reader<T: tickwire::cdr::Topic + Sync>(participant: &DomainParticipant) -> DataReader<T> {
    let topic = participant.topic::<T>(T::TYPE_NAME).expect("a topic");
    participant.reader_with(&topic, requested()).expect("one")
}

fn take<T: TopicSupport>(reader: &DataReader<T>) -> Samples<T> {
    loop {
        let samples = reader.select().max_samples(1).take();
        if !samples.is_empty() {
            return samples;
        }
        reader.wait_for_data(PATIENCE).expect("a sample");
    }
}

fn value<T: TopicSupport>(samples: &Samples<T>) -> &T {
    samples.first().and_then(Sample::data).expect("a value")
}

fn level(number: usize) -> Level {
    Level {
        price: 0.5 * number as f64,
        size: number as u32,
        orders: 7,
    }
}

fn packed_fill(number: usize) -> PackedFill {
    PackedFill {
        security: number as i32,
        venue: -1,
        fee: 0.25,
        price: 0.5 * number as f64,
    }
}

fn fill(number: usize) -> Fill {
    let PackedFill {
        security,
        venue,
        fee,
        price,
    } = packed_fill(number);
    Fill {
        security,
        venue,
        fee,
        price,
    }
}

const BOTH: &[RepresentationId] = &[RepresentationId::XCDR1, RepresentationId::XCDR2];

/// Writes and reads sequences of several lengths in these encodings, some in place and some as copies.
fn sequences_come_as_they_were_written<T, E>(
    domain: u32,
    representations: &[RepresentationId],
    element: impl Fn(usize) -> E,
    sequence: impl Fn(Vec<E>) -> T,
) where
    T: tickwire::cdr::Topic + PartialEq + Sync,
    E: Element + PartialEq + std::fmt::Debug,
{
    let one = || builder(domain).build().expect("a participant");
    for (round, &representation) in representations.iter().enumerate() {
        let (ours, theirs) = (one(), one());
        let far = builder(domain).shared_memory(false).build().expect("one");
        let writer = writer_in::<T>(&ours, representation);
        let in_place = reader_in_place::<T, E>(&theirs);
        let copied = reader::<T>(&theirs);
        wait_for_logs(&ours, 2);
        wait_for_logs(&theirs, 2);
        let all = |count: usize| -> Vec<E> { (0..count).map(&element).collect() };
        // Before a reader knows where it begins, it keeps copies of what comes.
        writer.write(&sequence(all(1))).expect("room");
        take(&in_place);
        take(&copied);
        for count in [0, 1, 2, 3, 1_000, 20_000] {
            let mut loan = writer.loan_elements::<E>(count + 1).expect("a sequence");
            assert!(loan.is_lent() && loan.len() == count + 1);
            loan.truncate(count);
            loan.copy_from_slice(&all(count));
            assert_eq!(*loan, all(count)[..]);
            loan.write().expect("room");
            let taken = take(&in_place);
            assert!(value(&taken).is_in_place(), "{round}: {count}");
            assert_eq!(**value(&taken), all(count)[..]);
            assert!(*value(&take(&copied)) == sequence(all(count)));
        }
        // Where somebody cannot look, nobody does.
        let from_far = reader_in_place::<T, E>(&far);
        writer.wait_for_matched(3, PATIENCE).expect("all three");
        for count in [0, 1, 5, 1_000, 30_000] {
            let mut loan = writer.loan_elements::<E>(count).expect("a sequence");
            loan.copy_from_slice(&all(count));
            loan.write().expect("room");
            for reader in [&in_place, &from_far] {
                let taken = take(reader);
                assert!(!value(&taken).is_in_place());
                assert_eq!(**value(&taken), all(count)[..], "{round}: {count}");
            }
            assert!(*value(&take(&copied)) == sequence(all(count)));
        }
        // What is not lent is written as it is.
        let written = sequence(all(50));
        writer.write(&written).expect("room");
        assert_eq!(**value(&take(&in_place)), all(50)[..]);
        assert_eq!(**value(&take(&from_far)), all(50)[..]);
        assert!(*value(&take(&copied)) == written);
    }
}

#[test]
fn floats_come_as_they_were_written() {
    let sequence = |all| Floats { all };
    sequences_come_as_they_were_written(157, BOTH, |number| 0.5 * number as f32, sequence);
}

#[test]
fn doubles_come_as_they_were_written() {
    let sequence = |all| Doubles { all };
    sequences_come_as_they_were_written(168, BOTH, |number| -0.5 * number as f64, sequence);
}

#[test]
fn structs_come_as_they_were_written() {
    sequences_come_as_they_were_written(169, BOTH, level, |all| Levels { all });
}

#[test]
fn packed_structs_come_as_they_were_written() {
    let xcdr2 = &[RepresentationId::XCDR2];
    sequences_come_as_they_were_written(172, xcdr2, packed_fill, |all| PackedFills { all });
}

/// Where payloads have gaps that memory has not, nothing is lent, and nothing is read in place.
#[test]
fn packed_structs_are_copied_where_payloads_have_gaps() {
    let one = || builder(176).build().expect("a participant");
    let (ours, theirs) = (one(), one());
    let writer = writer_in::<PackedFills>(&ours, RepresentationId::XCDR1);
    let ty = SequenceType::<PackedFill>::of::<PackedFills>().expect("a sequence");
    let topic = ours.topic_of::<SequenceInPlace<PackedFill>>("test::Fills", ty);
    let topic = topic.expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let qos = qos.representation([RepresentationId::XCDR1]);
    let in_place_too = ours.writer_with(&topic, qos).expect("a writer");
    let in_place = reader_in_place::<PackedFills, PackedFill>(&theirs);
    let copied = reader::<Fills>(&theirs);
    writer.wait_for_matched(2, PATIENCE).expect("both");
    in_place_too.wait_for_matched(2, PATIENCE).expect("both");
    let representation = Representation::Xcdr1;
    let refused = LoanError::OtherRepresentation { representation };
    let lent = writer.loan_elements::<PackedFill>(1).err();
    assert_eq!(lent, Some(refused));
    let lent = in_place_too.loan_elements::<PackedFill>(1).err();
    assert_eq!(lent, Some(refused));
    assert!(
        refused
            .to_string()
            .contains("`representation([RepresentationId::XCDR2])`")
    );
    for count in [0, 1, 2, 3, 10_000] {
        let all: Vec<_> = (0..count).map(packed_fill).collect();
        let expected: Vec<_> = (0..count).map(fill).collect();
        let is_read = || {
            let taken = take(&in_place);
            assert!(!value(&taken).is_in_place());
            assert_eq!(**value(&taken), all[..], "{count}");
            assert_eq!(value(&take(&copied)).all, expected, "{count}");
        };
        writer
            .write(&PackedFills { all: all.clone() })
            .expect("room");
        is_read();
        let sample = SequenceInPlace::new(all.clone());
        in_place_too.write(&sample).expect("room");
        is_read();
    }
}

/// One writes elements that have gaps in memory, and the other reads those that have none, and the other way around.
#[test]
fn packed_structs_are_those_that_are_not() {
    let one = || builder(177).build().expect("a participant");
    for &representation in BOTH {
        let (ours, theirs) = (one(), one());
        let writer = writer_in::<Fills>(&ours, representation);
        let packed = writer_in::<PackedFills>(&ours, representation);
        let in_place = reader_in_place::<PackedFills, PackedFill>(&theirs);
        let copied = reader::<Fills>(&theirs);
        wait_for_logs(&ours, 4);
        wait_for_logs(&theirs, 4);
        for count in [1, 2, 3, 10_000] {
            let (all, expected) = (0..count).map(|it| (fill(it), packed_fill(it))).unzip();
            let all = Fills { all };
            let expected: Vec<_> = expected;
            let is_read = || {
                assert_eq!(**value(&take(&in_place)), expected[..], "{count}");
                assert_eq!(*value(&take(&copied)), all, "{count}");
            };
            writer.write(&all).expect("room");
            is_read();
            match packed.loan_elements::<PackedFill>(count) {
                Ok(mut loan) => {
                    loan.copy_from_slice(&expected);
                    loan.write().expect("room");
                }
                Err(error) => {
                    assert_eq!(representation, RepresentationId::XCDR1, "{error}");
                    let all = expected.clone();
                    packed.write(&PackedFills { all }).expect("room");
                }
            }
            is_read();
        }
        // What the writer's own type has in memory does not matter.
        let is_xcdr2 = representation == RepresentationId::XCDR2;
        assert_eq!(writer.loan_elements::<PackedFill>(1).is_ok(), is_xcdr2);
    }
}

#[test]
fn samples_that_are_sequences_are_written_too() {
    let ours = builder(170).build().expect("a participant");
    let ty = SequenceType::of::<Levels>().expect("a sequence");
    let topic = ours.topic_of::<SequenceInPlace<Level>>("Levels", ty);
    let topic = topic.expect("a topic");
    let reader = ours.reader_with(&topic, requested()).expect("one");
    let writer = ours.writer(&topic).expect("a writer");
    let sample = SequenceInPlace::new(vec![level(1), level(2)]);
    writer.write(&sample).expect("room");
    assert_eq!(**value(&take(&reader)), [level(1), level(2)]);
    let mut loan = writer.loan_elements::<Level>(1).expect("a sequence");
    loan[0] = level(9);
    loan.write().expect("room");
    assert_eq!(**value(&take(&reader)), [level(9)]);
}

#[test]
fn other_elements_are_not_lent_and_no_more_than_the_type_has() {
    assert!(BytesType::of::<Floats>().is_err());
    let refused = SequenceType::<u8>::of::<Doubles>().err();
    assert_eq!(refused, Some(NotSequence::OtherElements));
    let refused = SequenceType::<f32>::of::<Doubles>().err();
    assert_eq!(refused, Some(NotSequence::OtherElements));
    let refused = SequenceType::<f64>::of::<Growing>().err();
    assert_eq!(refused, Some(NotSequence::NotOne));
    let refused = SequenceType::<Growing>::of::<Growths>().err();
    assert_eq!(refused, Some(NotSequence::NotNumbers));
    let refused = SequenceType::<Odd>::of::<Odds>().err();
    assert_eq!(refused, Some(NotSequence::Elsewhere));
    let ours = builder(171).build().expect("a participant");
    let floats = writer::<Floats>(&ours);
    assert_eq!(floats.loan(4).err(), Some(LoanError::NotBytes));
    let other = floats.loan_elements::<u32>(1).err();
    let refused = LoanError::NotSequence(NotSequence::OtherElements);
    assert_eq!(other, Some(refused));
    assert!(floats.loan_elements::<f32>(100_000).is_ok());
    let other = floats.loan_elements::<u32>(1).err();
    assert_eq!(other, Some(refused));
    let too_long = LoanError::TooLong {
        len: 400_004,
        max: 400_000,
    };
    assert_eq!(floats.loan_elements::<f32>(100_001).err(), Some(too_long));
    assert!(floats.loan_elements::<f32>(usize::MAX).is_err());
    let lates = writer::<Lates>(&ours);
    let representation = Representation::Xcdr1;
    let refused = LoanError::OtherRepresentation { representation };
    assert_eq!(lates.loan_elements::<Late>(1).err(), Some(refused));
    let odds = writer_in::<Odds>(&ours, RepresentationId::XCDR2);
    let refused = LoanError::NotSequence(NotSequence::Elsewhere);
    assert_eq!(odds.loan_elements::<Odd>(1).err(), Some(refused));
    let lates = writer_in::<Lates>(&ours, RepresentationId::XCDR2);
    assert!(lates.loan_elements::<Late>(1).is_ok());
    // Bytes are elements, too.
    let ty = BytesType::of::<Octets>().expect("bytes");
    let topic = ours.topic_of::<BytesInPlace>("Octets", ty).expect("one");
    let octets = ours.writer(&topic).expect("a writer");
    assert_eq!(octets.loan_elements::<u8>(3).expect("bytes").len(), 3);
}

#[derive(Topic)]
#[topic(name = "test::Octets", final)]
struct Octets {
    #[topic(octet)]
    _all: Vec<u8>,
}
