//! Samples that are written and read where they lie, and how they reach whoever cannot look there.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::common::{PATIENCE, wait_for_logs};
use tickwire::error::WriteError;
use tickwire::loan::LoanError;
use tickwire::qos::{Presentation, PresentationScope};
use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, DomainParticipantBuilder, Driving, PublisherQos, Sample, Samples,
    SubscriberQos, Topic, TopicSupport, Transport,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Frame", final)]
struct Frame {
    bytes: Vec<u8>,
}

/// As long as the chunks are.
const LEN: usize = 100_000;

/// Of which a reader holds two.
const COUNT: usize = 8;

fn builder(domain: u32) -> DomainParticipantBuilder {
    crate::common::builder(domain)
        .shared_memory(true)
        .trusts_lenders(true)
}

fn participant(domain: u32) -> DomainParticipant {
    builder(domain).build().expect("a participant")
}

fn offered() -> DataWriterQos {
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    qos.max_loan_bytes(LEN).loan_count(COUNT)
}

fn requested() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}

fn writer(participant: &DomainParticipant, qos: DataWriterQos) -> DataWriter<Frame> {
    let topic = participant.topic::<Frame>("Frames").expect("a topic");
    participant.writer_with(&topic, qos).expect("a writer")
}

/// A reader that copies.
fn reader(participant: &DomainParticipant, qos: DataReaderQos) -> DataReader<Frame> {
    let topic = participant.topic::<Frame>("Frames").expect("a topic");
    participant.reader_with(&topic, qos).expect("a reader")
}

fn reader_in_place(
    participant: &DomainParticipant,
    qos: DataReaderQos,
) -> DataReader<BytesInPlace> {
    let ty = BytesType::of::<Frame>().expect("bytes");
    let topic = participant.topic_of("Frames", ty).expect("a topic");
    participant.reader_with(&topic, qos).expect("a reader")
}

/// The bytes of a sample, which no other has.
fn content(number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + number * 7) as u8).collect()
}

/// Writes a loan; says whether readers can see it.
fn lend<T: TopicSupport>(writer: &DataWriter<T>, number: usize, len: usize) -> bool {
    let mut loan = writer.loan(len).expect("bytes");
    loan.bytes_mut().copy_from_slice(&content(number, len));
    let is_lent = loan.is_lent();
    loan.write().expect("room");
    is_lent
}

/// The next samples, one by one.
fn take<T: TopicSupport>(reader: &DataReader<T>, count: usize) -> Vec<Samples<T>> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let samples = reader.select().max_samples(1).take();
        if samples.is_empty() {
            let waited = reader.wait_for_data(PATIENCE);
            waited.unwrap_or_else(|_| panic!("{} of {count}", taken.len()));
        } else {
            taken.push(samples);
        }
    }
    taken
}

fn bytes<T: TopicSupport>(samples: &Samples<T>) -> &T {
    samples.first().and_then(Sample::data).expect("a value")
}

fn shared_memory(participant: &DomainParticipant) -> tickwire::SharedMemoryCounters {
    participant.counters().shared_memory
}

#[test]
fn what_is_lent_is_read_where_it_was_written() {
    let (ours, theirs) = (participant(220), participant(220));
    let (writer, reader) = (
        writer(&ours, offered()),
        reader_in_place(&theirs, requested()),
    );
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    for (number, len) in [LEN, 0, 1, 2, 3, 64, 99_999].into_iter().enumerate() {
        assert!(lend(&writer, number, len));
        let taken = take(&reader, 1);
        let sample = bytes(&taken[0]);
        assert!(sample.is_in_place());
        assert_eq!(**sample, content(number, len));
        assert_eq!(sample.as_ptr().addr() % 64, 0, "aligned");
    }
    let (sent, received) = (shared_memory(&ours), shared_memory(&theirs));
    assert_eq!((sent.loans_sent, received.loans_received), (7, 7));
    assert!(sent.loan_bytes_sent > 2 * 99_999);
    assert_eq!((received.loans_copied, received.records_lost), (0, 0));
}

#[test]
fn who_does_not_ask_for_it_gets_copies() {
    let (ours, theirs) = (participant(221), participant(221));
    let cautious = builder(221).trusts_lenders(false).build().expect("one");
    let writer = writer(&ours, offered());
    let (copied, unwilling) = (
        reader(&theirs, requested()),
        reader_in_place(&cautious, requested()),
    );
    wait_for_logs(&ours, 2);
    wait_for_logs(&theirs, 1);
    wait_for_logs(&cautious, 1);
    for number in 0..50 {
        assert!(lend(&writer, number, LEN - number));
        assert_eq!(
            bytes(&take(&copied, 1)[0]).bytes,
            content(number, LEN - number)
        );
        let taken = take(&unwilling, 1);
        assert!(!bytes(&taken[0]).is_in_place());
        assert_eq!(**bytes(&taken[0]), content(number, LEN - number));
    }
    assert_eq!(shared_memory(&ours).loans_sent, 50);
    assert_eq!(shared_memory(&theirs).loans_copied, 0);
    assert_eq!(shared_memory(&cautious).loans_copied, 50);
}

/// Two readers of one participant hold by one place, and one that holds a quarter of the loans gets copies until
/// it lets go.
#[test]
fn who_holds_much_gets_copies() {
    let (ours, theirs) = (participant(222), participant(222));
    let writer = writer(&ours, offered());
    let readers = [(); 2].map(|()| reader_in_place(&theirs, requested()));
    wait_for_logs(&ours, 2);
    wait_for_logs(&theirs, 2);
    let mut held = Vec::new();
    for number in 0..20 {
        assert!(lend(&writer, number, LEN), "none is used up");
        for reader in &readers {
            let taken = take(reader, 1);
            assert_eq!(bytes(&taken[0]).is_in_place(), number < 2);
            held.push((number, taken));
        }
        writer.wait_for_acknowledgments(PATIENCE).expect("readers");
    }
    for (number, samples) in &held {
        assert_eq!(**bytes(&samples[0]), content(*number, LEN));
    }
    assert_eq!(shared_memory(&theirs).loans_copied, 18);
    held.retain(|(number, _)| *number != 0);
    assert!(lend(&writer, 20, LEN));
    assert!(bytes(&take(&readers[0], 1)[0]).is_in_place());
}

/// Samples that nobody has taken are held, too; with the last of those who can read them they are let go.
#[test]
fn what_is_not_taken_is_held() {
    let (ours, theirs) = (participant(223), participant(223));
    let writer = writer(&ours, offered());
    let ones = reader_in_place(&theirs, requested());
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    for number in 0..30 {
        assert!(lend(&writer, number, LEN));
        writer.wait_for_acknowledgments(PATIENCE).expect("a reader");
    }
    let read = ones.read();
    let taken = take(&ones, 30);
    for (number, samples) in taken.iter().enumerate() {
        assert_eq!(bytes(samples).is_in_place(), number < 2);
        assert_eq!(**bytes(samples), content(number, LEN));
    }
    drop(taken);
    assert!(lend(&writer, 30, LEN));
    assert!(!bytes(&take(&ones, 1)[0]).is_in_place(), "still read");
    drop(read);
    assert!(lend(&writer, 31, LEN));
    assert!(bytes(&take(&ones, 1)[0]).is_in_place());
}

#[test]
fn a_loan_is_memory_of_the_writers_own_where_there_is_no_other() {
    let (ours, theirs) = (participant(224), participant(224));
    let without = writer(&ours, DataWriterQos::default());
    assert!(!lend(&without, 0, LEN), "it has none");
    drop(without);
    let writer = writer(&ours, offered());
    assert!(!lend(&writer, 0, LEN), "nobody follows its log");
    let reader = reader_in_place(&theirs, requested());
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    assert!(!lend(&writer, 1, LEN + 1), "too long");
    assert_eq!(**bytes(&take(&reader, 1)[0]), content(1, LEN + 1));
    assert_eq!(writer.loans_used_up(), 0);
    // Used up: two more than there are.
    let mut loans: Vec<_> = (0..COUNT + 2)
        .map(|_| writer.loan(LEN).expect("bytes"))
        .collect();
    for (number, loan) in loans.iter_mut().enumerate() {
        assert_eq!(loan.is_lent(), number < COUNT);
        loan.bytes_mut().copy_from_slice(&content(number, LEN));
    }
    assert_eq!(writer.loans_used_up(), 2);
    // What is not written leaves nothing, and can be lent again.
    drop(loans.remove(3));
    assert!(writer.loan(LEN).expect("bytes").is_lent());
    // The last are first, as nothing binds them.
    for (number, loan) in [(9, loans.pop()), (8, loans.pop())] {
        loan.expect("it is there").write().expect("room");
        let taken = take(&reader, 1);
        assert!(!bytes(&taken[0]).is_in_place());
        assert_eq!(**bytes(&taken[0]), content(number, LEN));
    }
    for (number, mut loan) in [0, 1, 2, 4, 5, 6, 7].into_iter().zip(loans) {
        loan.truncate(LEN / 2);
        loan.truncate(LEN);
        loan.write().expect("room");
        let taken = take(&reader, 1);
        assert!(bytes(&taken[0]).is_in_place());
        assert_eq!(**bytes(&taken[0]), content(number, LEN)[..LEN / 2]);
    }
}

#[test]
fn only_bytes_are_lent_and_no_more_than_the_type_has() {
    #[derive(Topic, Clone, Debug)]
    #[topic(name = "test::Short")]
    struct Short {
        #[topic(octet, bound = 10)]
        bytes: Vec<u8>,
    }
    let participant = participant(225);
    let topic = participant
        .topic::<crate::common::Quote>("Quotes")
        .expect("one");
    let quotes = participant.writer(&topic).expect("a writer");
    assert_eq!(quotes.loan(10).err(), Some(LoanError::NotBytes));
    assert!(BytesType::of::<crate::common::Quote>().is_err());
    let topic = participant.topic::<Short>("Shorts").expect("one");
    let shorts = participant.writer(&topic).expect("a writer");
    let too_long = LoanError::TooLong { len: 11, max: 10 };
    assert_eq!(shorts.loan(11).err(), Some(too_long));
    let ty = BytesType::of::<Short>().expect("bytes");
    let topic = participant
        .topic_of::<BytesInPlace>("Shorts", ty)
        .expect("one");
    let reader = participant.reader(&topic).expect("a reader");
    let other = participant.writer(&topic).expect("a writer");
    // The type is appendable, so that the struct tells its length.
    assert!(!lend(&shorts, 1, 10));
    assert_eq!(**bytes(&take(&reader, 1)[0]), content(1, 10));
    assert!(!lend(&other, 2, 9));
    assert_eq!(**bytes(&take(&reader, 1)[0]), content(2, 9));
    assert!(other.write(&BytesInPlace::new(content(3, 11))).is_err());
    other
        .write(&BytesInPlace::new(content(3, 8)))
        .expect("room");
    assert_eq!(**bytes(&take(&reader, 1)[0]), content(3, 8));
}

/// Whoever joins late, by whatever way, has the history of loans.
#[test]
fn late_joiners_have_copies_of_what_was_lent() {
    let (ours, first) = (participant(226), participant(226));
    let writer = writer(&ours, offered().transient_local());
    let early = reader_in_place(&first, requested().transient_local());
    wait_for_logs(&ours, 1);
    wait_for_logs(&first, 1);
    // The history has all that can be lent, and more.
    let lent: Vec<_> = (0..20).map(|number| lend(&writer, number, LEN)).collect();
    assert_eq!(lent.iter().filter(|&&is_lent| is_lent).count(), COUNT);
    take(&early, 20);
    let others = [
        builder(226).build().expect("a participant"),
        builder(226).shared_memory(false).build().expect("one"),
    ];
    for other in &others {
        let late = reader_in_place(other, requested().transient_local());
        for (number, samples) in take(&late, 20).iter().enumerate() {
            assert_eq!(**bytes(samples), content(number, LEN));
        }
    }
}

/// One gets what lies there, the other copies in fragments.
#[test]
fn readers_by_udp_get_copies_beside_those_in_place() {
    let (ours, with) = (participant(227), participant(227));
    let without = builder(227).shared_memory(false).build().expect("one");
    let writer = writer(&ours, offered());
    let (near, far) = (
        reader_in_place(&with, requested()),
        reader_in_place(&without, requested()),
    );
    writer.wait_for_matched(2, PATIENCE).expect("both");
    wait_for_logs(&ours, 1);
    wait_for_logs(&with, 1);
    for number in 0..30 {
        let len = [LEN, 100][number % 2];
        assert!(lend(&writer, number, len));
        for reader in [&near, &far] {
            let taken = take(reader, 1);
            assert!(!bytes(&taken[0]).is_in_place());
            assert_eq!(**bytes(&taken[0]), content(number, len));
        }
    }
    assert_eq!(shared_memory(&ours).loans_sent, 0);
    // When the other one has left, the next goes behind what may wait for it, and those after that are in place.
    drop((far, without));
    let gone = || (writer.matched_subscriptions().len() == 1).then_some(());
    let view = ours.discovery();
    view.wait_for(PATIENCE, gone).expect("it has left");
    for number in 30..32 {
        assert!(lend(&writer, number, LEN));
        let taken = take(&near, 1);
        assert_eq!(bytes(&taken[0]).is_in_place(), number > 30);
        assert_eq!(**bytes(&taken[0]), content(number, LEN));
    }
}

/// What a reader has been told of and does not look at in time is lent anew: lost to one that is best effort, and
/// it knows.
#[test]
fn what_is_lent_anew_before_it_is_read_is_lost_and_counted() {
    let ours = participant(228);
    let theirs = builder(228).driving(Driving::Polled).build().expect("one");
    let qos = DataWriterQos::default()
        .best_effort()
        .max_loan_bytes(LEN)
        .loan_count(COUNT);
    let writer = writer(&ours, qos);
    let reader = reader_in_place(&theirs, DataReaderQos::default().keep_all());
    wait_for_logs(&theirs, 1);
    for number in 0..20 {
        assert!(lend(&writer, number, LEN));
    }
    // Waiting drives it.
    let taken = take(&reader, COUNT);
    for (number, samples) in (20 - COUNT..).zip(&taken) {
        assert_eq!(**bytes(samples), content(number, LEN));
    }
    let received = shared_memory(&theirs);
    assert_eq!(received.records_lost, 20 - COUNT as u64);
    assert_eq!(received.loans_received, COUNT as u64);
}

/// A reliable one has what the writer still keeps repaired.
#[test]
fn what_is_lent_anew_before_it_is_read_is_repaired_as_far_as_it_is_kept() {
    let ours = participant(229);
    let theirs = builder(229).driving(Driving::Polled).build().expect("one");
    let writer = writer(&ours, offered().keep_last(3));
    let reader = reader_in_place(&theirs, requested());
    wait_for_logs(&theirs, 1);
    for number in 0..20 {
        assert!(lend(&writer, number, LEN));
    }
    let mut last = None;
    let mut before = 0;
    while last != Some(19) {
        let taken = take(&reader, 1);
        let sample = bytes(&taken[0]);
        let number = (before..20).find(|&number| **sample == content(number, LEN));
        before = number.expect("a whole one, newer than the last");
        last = number;
    }
    assert_eq!(shared_memory(&theirs).records_lost, 20 - COUNT as u64);
}

/// The writer sees beside its log that the reader has looked, and so writes where the processor has been a moment ago: to
/// what the reader has let go of, or to one more while it holds the last.
#[test]
fn what_all_readers_have_is_lent_next() {
    let ours = participant(118);
    let theirs = builder(118).driving(Driving::Polled).build().expect("one");
    let writer = writer(&ours, offered());
    let reader = reader_in_place(&theirs, requested());
    wait_for_logs(&theirs, 1);
    lend(&writer, 0, LEN);
    take(&reader, 1);
    writer.wait_for_acknowledgments(PATIENCE).expect("a reader");
    let mut places = BTreeSet::new();
    let mut held = None;
    for number in 1..100 {
        assert!(lend(&writer, number, LEN));
        let taken = take(&reader, 1);
        let sample = bytes(&taken[0]);
        assert!(sample.is_in_place());
        assert_eq!(**sample, content(number, LEN));
        places.insert(sample.as_ptr().addr());
        held = Some(taken);
    }
    assert!(places.len() <= 3, "{} of {COUNT}", places.len());
    drop(held);
}

/// There is no place beside the log for what it has to say.
#[test]
fn a_fourth_reader_of_a_participant_acknowledges_by_the_network() {
    let (ours, theirs) = (participant(120), participant(120));
    let writer = writer(&ours, offered());
    let readers = [(); 4].map(|()| reader_in_place(&theirs, requested()));
    wait_for_logs(&theirs, 4);
    writer.wait_for_matched(4, PATIENCE).expect("all of them");
    for number in 0..50 {
        lend(&writer, number, LEN);
        for reader in &readers {
            assert_eq!(**bytes(&take(reader, 1)[0]), content(number, LEN));
        }
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all of it");
}

/// A writer that keeps all waits for readers when three quarters of the loans are not acknowledged, whatever their
/// length, and so has one to write to.
#[test]
fn a_writer_that_keeps_all_waits_before_its_loans_are_used_up() {
    let ours = participant(230);
    let theirs = builder(230).driving(Driving::Polled).build().expect("one");
    let patience = Duration::from_millis(1);
    let writer = writer(&ours, offered().reliable(patience));
    let reader = reader_in_place(&theirs, requested());
    wait_for_logs(&theirs, 1);
    let mut written = 0;
    let refused = loop {
        let mut loan = writer.loan(LEN).expect("bytes");
        assert!(loan.is_lent());
        loan.bytes_mut().copy_from_slice(&content(written, LEN));
        match loan.write() {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written <= COUNT * 3 / 4);
    };
    assert!(matches!(refused, WriteError::Timeout { .. }), "{refused}");
    for (number, samples) in take(&reader, written).iter().enumerate() {
        assert_eq!(**bytes(samples), content(number, LEN));
    }
    assert_eq!(writer.loans_used_up(), 0);
}

/// The pool stays when the log goes, and what is held when everybody has gone.
#[test]
fn what_is_held_outlives_the_log_and_the_writer() {
    let ours = participant(231);
    let writer = writer(&ours, offered());
    let mut held = Vec::new();
    for round in 0..3 {
        let theirs = participant(231);
        let reader = reader_in_place(&theirs, requested());
        wait_for_logs(&ours, 1);
        wait_for_logs(&theirs, 1);
        // Before it knows where it begins, it keeps copies of what comes.
        assert!(lend(&writer, 0, LEN));
        take(&reader, 1);
        for number in [2 * round, 2 * round + 1] {
            assert!(lend(&writer, number, LEN));
            let taken = take(&reader, 1);
            assert!(bytes(&taken[0]).is_in_place());
            held.push(taken);
        }
        writer.wait_for_acknowledgments(PATIENCE).expect("a reader");
        drop((reader, theirs));
        let gone = || writer.matched_subscriptions().is_empty().then_some(());
        let view = ours.discovery();
        view.wait_for(PATIENCE, gone).expect("it has left");
    }
    // Six of eight are held, and nothing is written to those.
    let lent: Vec<_> = (6..20).map(|number| lend(&writer, number, LEN)).collect();
    assert_eq!(lent, [true; 14]);
    drop((writer, ours));
    for (number, samples) in held.iter().enumerate() {
        assert_eq!(**bytes(&samples[0]), content(number, LEN));
    }
}

const COHERENT: Presentation = Presentation {
    access_scope: PresentationScope::Topic,
    coherent_access: true,
    ordered_access: false,
};

/// Sets wait for their end, so they are kept.
#[test]
fn loans_in_coherent_sets_are_copied() {
    let (ours, theirs) = (participant(232), participant(232));
    let topic = ours.topic::<Frame>("Frames").expect("a topic");
    let publisher = ours.publisher(PublisherQos::default().presentation(COHERENT));
    let writer = publisher.writer(&topic, offered()).expect("a writer");
    let ty = BytesType::of::<Frame>().expect("bytes");
    let topic = theirs.topic_of::<BytesInPlace>("Frames", ty).expect("one");
    let subscriber = theirs.subscriber(SubscriberQos::default().presentation(COHERENT));
    let reader = subscriber.reader(&topic, requested()).expect("one");
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    let set = publisher.begin_coherent_changes();
    for number in 0..4 {
        assert!(lend(&writer, number, LEN));
    }
    drop(set);
    for (number, samples) in take(&reader, 4).iter().enumerate() {
        assert_eq!(**bytes(samples), content(number, LEN));
    }
}

/// Long samples that nobody can see are handed over as they are, and read where they have come: those that are held
/// stay as they are.
fn long_samples_stay_as_they_are_while_they_are_held(build: impl Fn() -> DomainParticipant) {
    const LENGTHS: [usize; 4] = [200_000, 100, 1_000_001, 65_530];
    let [ours, theirs, others] = [build(), build(), build()];
    let writer = writer(&ours, offered().transient_local());
    let reader = reader_in_place(&theirs, requested().transient_local());
    let len = |number: usize| LENGTHS[number % LENGTHS.len()];
    let mut held = Vec::new();
    for number in 0..20 {
        assert!(!lend(&writer, number, len(number)));
        held.extend(take(&reader, 1));
    }
    let late = reader_in_place(&others, requested().transient_local());
    for samples in [held, take(&late, 20)] {
        for (number, samples) in samples.iter().enumerate() {
            assert!(!bytes(samples).is_in_place());
            assert!(**bytes(samples) == content(number, len(number)), "{number}");
        }
    }
}

/// What was handed over before stays as it is, and the memory of what is refused goes to a later one.
#[test]
fn long_samples_that_find_no_room_are_lost_alone() {
    let ours = builder(135).shared_memory(false).build().expect("one");
    let theirs = builder(135).shared_memory(false);
    let theirs = theirs.driving(Driving::Polled).build().expect("one");
    let qos = offered().reliable(Duration::from_millis(1));
    let writer = writer(&ours, qos.max_unacknowledged_bytes(4 * LEN));
    let reader = reader_in_place(&theirs, requested());
    // Waiting drives it.
    let found = || (!writer.matched_subscriptions().is_empty()).then_some(());
    theirs.wait_for_samples(PATIENCE, found).expect("a match");
    let try_to_lend = |number| {
        let mut loan = writer.loan(LEN).expect("bytes");
        assert!(!loan.is_lent());
        loan.bytes_mut().copy_from_slice(&content(number, LEN));
        loan.write()
    };
    for round in 0..3 {
        let numbers = 100 * round..100 * (round + 1);
        let written = numbers.take_while(|&number| match try_to_lend(number) {
            Ok(_) => true,
            Err(WriteError::Timeout { .. }) => false,
            Err(other) => panic!("{other}"),
        });
        let written: Vec<_> = written.collect();
        assert!((1..99).contains(&written.len()), "{}", written.len());
        for (number, samples) in written.iter().zip(take(&reader, written.len())) {
            assert!(**bytes(&samples) == content(*number, LEN), "{number}");
        }
        let lag = || writer.lag_of(reader.guid());
        let has_all = || lag().filter(|lag| lag.behind == 0).map(drop);
        theirs.wait_for_samples(PATIENCE, has_all).expect("room");
    }
}

#[test]
fn long_samples_by_udp_stay_as_they_are() {
    let by_udp = || builder(138).shared_memory(false).build().expect("one");
    long_samples_stay_as_they_are_while_they_are_held(by_udp);
}

#[test]
fn long_samples_by_tcp_stay_as_they_are() {
    let by_tcp = || {
        builder(139)
            .transports([Transport::Tcp])
            .peer(Ipv4Addr::LOCALHOST)
    };
    long_samples_stay_as_they_are_while_they_are_held(|| by_tcp().build().expect("one"));
}
