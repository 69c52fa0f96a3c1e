//! The statuses of endpoints and what listeners are told of them, each change at the moment when it
//! is due: the test drives the participants, and their clocks stand still until it says how much
//! later it is.

mod deadline;
mod incompatible;
mod levels;
mod liveliness;
mod matching;

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tickwire_derive::Topic;
use tickwire_rtps::wire::SequenceNumber;

use crate::clock::stopped::StoppedClock;
use crate::error::WriteError;
use crate::signal::lock;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus,
};
use crate::{
    DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterListener, DataWriterQos,
    DomainParticipant, DomainParticipantBuilder, Driving,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: i64,
}

fn quote(symbol: &str) -> Quote {
    Quote {
        symbol: symbol.to_owned(),
        price: 1,
    }
}

const MS: Duration = Duration::from_millis(1);

/// Participants that meet nobody else, and their time.
struct World {
    participants: Vec<DomainParticipant>,
    clock: StoppedClock,
}

impl World {
    fn new(participants: usize) -> Self {
        Self::with(participants, |builder| builder)
    }

    fn with(
        participants: usize,
        change: impl Fn(DomainParticipantBuilder) -> DomainParticipantBuilder,
    ) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let clock = StoppedClock::new();
        let builder = DomainParticipant::builder(194)
            .domain_tag(&format!("statuses {count} {}", process::id()))
            .driving(Driving::Polled);
        let one = |_| change(builder.clone()).build().expect("a participant");
        Self {
            participants: (0..participants).map(one).collect(),
            clock,
        }
    }

    fn writer(&self, participant: usize, qos: DataWriterQos) -> DataWriter<Quote> {
        let participant = &self.participants[participant];
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        participant.writer_with(&topic, qos).expect("a writer")
    }

    fn reader(&self, participant: usize, qos: DataReaderQos) -> DataReader<Quote> {
        let participant = &self.participants[participant];
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        participant.reader_with(&topic, qos).expect("a reader")
    }

    /// Has one participant do what is to be done by now.
    fn turn(&self, participant: usize) {
        let poll = self.participants[participant].poll(Duration::ZERO);
        poll.expect("it is polled");
    }

    fn turn_all(&self) {
        (0..self.participants.len()).for_each(|participant| self.turn(participant));
    }

    /// It is so much later, which everybody notices.
    fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.turn_all();
    }

    /// Has everybody work at this moment until `done`: what was sent may still be in the kernel.
    fn until(&self, done: impl Fn() -> bool) {
        let mut turns = (0..100_000).map(|_| self.turn_all());
        assert!(done() || turns.any(|()| done()), "it does not happen");
    }

    /// Has everybody work at this moment until the listener is told something: what it is.
    fn hear(&self, ear: &Ear) -> Vec<Told> {
        self.until(|| !lock(&ear.0).is_empty());
        ear.told()
    }

    /// Lets time pass until `done`.
    fn wait_until(&self, done: impl Fn() -> bool) {
        let mut turns = (0..100_000).map(|_| self.advance(MS));
        assert!(done() || turns.any(|()| done()), "it does not happen");
    }

    /// Lets time pass until the reader, which is reliable, has acknowledged what the writer has.
    fn meet(&self, writer: &DataWriter<Quote>, reader: &DataReader<Quote>) {
        self.wait_until(|| {
            let readers = writer.matched_subscriptions();
            let mut known = readers.iter().filter(|known| known.guid == reader.guid());
            known.any(|known| known.acknacks > 0)
        });
    }

    /// Has everybody work at this moment until the reader has the change.
    fn deliver(&self, change: Result<SequenceNumber, WriteError>, reader: &DataReader<Quote>) {
        let number = change.expect("room");
        self.until(|| {
            let writers = reader.matched_publications();
            writers.iter().any(|writer| writer.expected > number)
        });
    }
}

/// What a listener is told.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    PublicationMatched(MatchedStatus),
    SubscriptionMatched(MatchedStatus),
    OfferedDeadlineMissed(DeadlineMissedStatus),
    RequestedDeadlineMissed(DeadlineMissedStatus),
    LivelinessLost(CountStatus),
    LivelinessChanged(LivelinessChangedStatus),
    OfferedIncompatibleQos(IncompatibleQosStatus),
    RequestedIncompatibleQos(IncompatibleQosStatus),
}

/// Notes what it is told, in that order.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<Vec<Told>>>);

impl Ear {
    fn of_writer(writer: &DataWriter<Quote>) -> Self {
        let ear = Self::default();
        writer.set_listener(ear.clone());
        ear
    }

    fn of_reader(reader: &DataReader<Quote>) -> Self {
        let ear = Self::default();
        reader.set_listener(ear.clone());
        ear
    }

    /// What it has been told since this was asked last.
    fn told(&self) -> Vec<Told> {
        std::mem::take(&mut *lock(&self.0))
    }

    fn note(&self, told: Told) {
        lock(&self.0).push(told);
    }
}

impl DataWriterListener<Quote> for Ear {
    fn on_publication_matched(&mut self, _: &DataWriter<Quote>, status: MatchedStatus) {
        self.note(Told::PublicationMatched(status));
    }

    fn on_offered_deadline_missed(&mut self, _: &DataWriter<Quote>, status: DeadlineMissedStatus) {
        self.note(Told::OfferedDeadlineMissed(status));
    }

    fn on_liveliness_lost(&mut self, _: &DataWriter<Quote>, status: CountStatus) {
        self.note(Told::LivelinessLost(status));
    }

    fn on_offered_incompatible_qos(
        &mut self,
        _: &DataWriter<Quote>,
        status: IncompatibleQosStatus,
    ) {
        self.note(Told::OfferedIncompatibleQos(status));
    }
}

impl DataReaderListener<Quote> for Ear {
    fn on_subscription_matched(&mut self, _: &DataReader<Quote>, status: MatchedStatus) {
        self.note(Told::SubscriptionMatched(status));
    }

    fn on_requested_incompatible_qos(
        &mut self,
        _: &DataReader<Quote>,
        status: IncompatibleQosStatus,
    ) {
        self.note(Told::RequestedIncompatibleQos(status));
    }

    fn on_liveliness_changed(&mut self, _: &DataReader<Quote>, status: LivelinessChangedStatus) {
        self.note(Told::LivelinessChanged(status));
    }

    fn on_requested_deadline_missed(
        &mut self,
        _: &DataReader<Quote>,
        status: DeadlineMissedStatus,
    ) {
        self.note(Told::RequestedDeadlineMissed(status));
    }
}
