//! Values of plain types that are written and read where they lie, and how they reach whoever cannot look there.

use crate::common::{PATIENCE, wait_for_logs};
use tickwire::cdr::Representation;
use tickwire::loan::{InPlace, LoanError, NotPlain, Plain, PlainType};
use tickwire::qos::RepresentationId;
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    DomainParticipantBuilder, InstanceState, Sample, Samples, Topic, TopicSupport,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Side", nested, final)]
#[repr(C)]
struct Side {
    price: i64,
    sizes: [u32; 2],
}

#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Book", final)]
#[repr(C)]
struct Book {
    #[topic(key)]
    security: u32,
    venue: u16,
    flags: [u8; 2],
    sides: [Side; 2],
    average: f64,
}

/// What may get more members behind.
#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Trade")]
#[repr(C)]
struct Trade {
    price: f64,
    size: i64,
    number: u32,
    venue: f32,
}

/// In memory as in XCDR2, which aligns nothing to more than four bytes.
#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq)]
#[topic(name = "test::Fill")]
#[repr(C, packed(4))]
struct Fill {
    #[topic(key)]
    security: u32,
    price: f64,
}

#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[topic(name = "test::Loose", mutable)]
#[repr(C)]
struct Loose {
    number: u64,
}

/// A struct within it may get more members.
#[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[topic(name = "test::Growing", final)]
#[repr(C)]
struct Growing {
    inner: Trade,
}

fn book(number: u32) -> Book {
    let side = |price| Side {
        price,
        sizes: [number, number + 1],
    };
    Book {
        security: number % 3,
        venue: 7,
        flags: [1, 2],
        sides: [side(-5), side(i64::from(number))],
        average: 0.25 * f64::from(number),
    }
}

fn trade(number: u32) -> Trade {
    Trade {
        price: 1.5,
        size: -1,
        number,
        venue: 0.5,
    }
}

fn builder(domain: u32) -> DomainParticipantBuilder {
    crate::common::builder(domain)
        .shared_memory(true)
        .trusts_lenders(true)
}

fn participant(domain: u32) -> DomainParticipant {
    builder(domain).build().expect("a participant")
}

fn writer<T: Plain>(participant: &DomainParticipant, max_loan_bytes: usize) -> DataWriter<T> {
    let topic = participant.topic::<T>("Values").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let qos = qos.max_loan_bytes(max_loan_bytes).loan_count(16);
    participant.writer_with(&topic, qos).expect("a writer")
}

fn requested() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}

fn reader_in_place<T: Plain>(participant: &DomainParticipant) -> DataReader<InPlace<T>> {
    let ty = PlainType::new().expect("plain");
    let topic = participant.topic_of("Values", ty).expect("a topic");
    participant.reader_with(&topic, requested()).expect("one")
}

fn reader<T: Plain>(participant: &DomainParticipant) -> DataReader<T> {
    let topic = participant.topic::<T>("Values").expect("a topic");
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

/// Lends the values that `make` gives, to readers in place, that copy, and without shared memory.
fn come<T: Plain + Clone + PartialEq + std::fmt::Debug>(domain: u32, make: fn(u32) -> T) {
    let (ours, theirs) = (participant(domain), participant(domain));
    let far = builder(domain).shared_memory(false).build();
    let far = far.expect("a participant");
    let writer = writer::<T>(&ours, size_of::<T>());
    let (in_place, copied) = (reader_in_place::<T>(&theirs), reader::<T>(&theirs));
    wait_for_logs(&ours, 2);
    wait_for_logs(&theirs, 2);
    writer.wait_for_matched(2, PATIENCE).expect("a match");
    for number in 0..40 {
        let mut loan = writer.loan_value().expect("plain");
        assert!(loan.is_lent());
        *loan = make(number);
        assert_eq!(*loan, make(number));
        loan.write().expect("room");
        let taken = take(&in_place);
        assert!(value(&taken).is_in_place(), "{number}");
        assert_eq!(**value(&taken), make(number));
        assert_eq!(*value(&take(&copied)), make(number));
    }
    let sent = ours.counters().shared_memory;
    let received = theirs.counters().shared_memory;
    assert_eq!((sent.loans_sent, received.loans_received), (40, 40));
    assert_eq!((received.loans_copied, received.records_lost), (0, 0));
    let far = (reader_in_place::<T>(&far), reader::<T>(&far), far);
    writer.wait_for_matched(4, PATIENCE).expect("a match");
    for number in 40..50 {
        let mut loan = writer.loan_value().expect("plain");
        *loan = make(number);
        loan.write().expect("room");
        let taken = take(&far.0);
        assert!(!value(&taken).is_in_place());
        assert_eq!(**value(&taken), make(number));
        assert_eq!(*value(&take(&far.1)), make(number));
        assert_eq!(**value(&take(&in_place)), make(number));
    }
    // What is encoded elsewhere is read by the same readers.
    writer.write(&make(50)).expect("room");
    assert_eq!(**value(&take(&far.0)), make(50));
    assert_eq!(**value(&take(&in_place)), make(50));
}

#[test]
fn values_of_final_types_with_keys_are_read_where_they_were_written() {
    come(1, book);
}

#[test]
fn values_of_appendable_types_are_read_where_they_were_written() {
    come(2, trade);
}

#[test]
fn values_of_packed_types_are_read_where_they_were_written() {
    let fill = |number| Fill {
        security: number % 3,
        price: 0.5 * f64::from(number),
    };
    come(178, fill);
}

#[test]
fn lent_values_belong_to_their_instances() {
    let (ours, theirs) = (participant(3), participant(3));
    let writer = writer::<Book>(&ours, size_of::<Book>());
    let reader = reader_in_place::<Book>(&theirs);
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    for number in 0..6 {
        let mut loan = writer.loan_value().expect("plain");
        *loan = book(number);
        loan.write().expect("room");
    }
    let mut instances = Vec::new();
    for number in 0..6 {
        let taken = take(&reader);
        assert_eq!(**value(&taken), book(number));
        instances.push(taken.first().expect("one").info().instance);
    }
    assert_eq!(instances[..3], instances[3..]);
    assert_ne!(instances[0], instances[1]);
    writer.dispose(&book(1)).expect("room");
    let taken = take(&reader);
    let sample = taken.first().expect("one");
    assert!(sample.data().is_none());
    assert_eq!(sample.info().instance, instances[1]);
    assert_eq!(sample.info().instance_state, InstanceState::Disposed);
    // The others end with the writer.
    drop(writer);
    let ended = [take(&reader), take(&reader)];
    assert!(ended.iter().all(|taken| taken[0].data().is_none()));
}

#[test]
fn without_a_pool_values_are_encoded() {
    let (ours, theirs) = (participant(4), participant(4));
    let writer = writer::<Book>(&ours, 0);
    let reader = reader_in_place::<Book>(&theirs);
    wait_for_logs(&ours, 1);
    let mut loan = writer.loan_value().expect("plain");
    assert!(!loan.is_lent());
    *loan = book(1);
    loan.write().expect("room");
    let taken = take(&reader);
    assert!(!value(&taken).is_in_place());
    assert_eq!(**value(&taken), book(1));
}

#[test]
fn who_does_not_trust_gets_copies() {
    let (ours, theirs) = (participant(5), builder(5).trusts_lenders(false));
    let theirs = theirs.build().expect("a participant");
    let writer = writer::<Trade>(&ours, size_of::<Trade>());
    let reader = reader_in_place::<Trade>(&theirs);
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    let mut loan = writer.loan_value().expect("plain");
    assert!(loan.is_lent());
    *loan = trade(3);
    loan.write().expect("room");
    let taken = take(&reader);
    assert!(!value(&taken).is_in_place());
    assert_eq!(**value(&taken), trade(3));
}

#[test]
fn what_is_not_in_memory_as_it_travels_is_not_lent() {
    let ours = participant(6);
    assert_eq!(PlainType::<Loose>::new().err(), Some(NotPlain));
    assert_eq!(PlainType::<Growing>::new().err(), Some(NotPlain));
    let loose = writer::<Loose>(&ours, 8);
    assert_eq!(loose.loan_value().err(), Some(LoanError::NotPlain));
    drop(loose);
    let growing = participant(7);
    let growing = writer::<Growing>(&growing, 64);
    assert_eq!(growing.loan_value().err(), Some(LoanError::NotPlain));
    // Nor in an encoding that has them otherwise.
    let fills = participant(9);
    let topic = fills.topic::<Fill>("test::Fill").expect("a topic");
    let qos = DataWriterQos::default().max_loan_bytes(size_of::<Fill>());
    let qos = qos.representation([RepresentationId::XCDR1]);
    let fills = fills.writer_with(&topic, qos).expect("a writer");
    let representation = Representation::Xcdr1;
    let refused = LoanError::OtherRepresentation { representation };
    assert_eq!(fills.loan_value().err(), Some(refused));
    // Nor are values lent as bytes.
    let books = participant(8);
    let books = writer::<Book>(&books, size_of::<Book>());
    assert_eq!(
        books.loan(size_of::<Book>()).err(),
        Some(LoanError::NotBytes)
    );
}
