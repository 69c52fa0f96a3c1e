use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::{env, fs, thread};

use tickwire_store::{Operation, StoreError, StoreOptions, SyncPolicy};

use super::*;
use crate::{DataReaderQos, DataWriterQos, DomainParticipant};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(tickwire_derive::Topic, Debug)]
#[topic(crate = tickwire_cdr)]
struct Tick {
    price: i64,
}

/// A store that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("tickwire-durable-{name}-{}", std::process::id());
        Self(env::temp_dir().join(name))
    }

    /// A participant whose logs go to the disk after an interval.
    fn participant(&self, domain: u32, interval: Duration) -> DomainParticipant {
        let store = StoreOptions {
            sync: SyncPolicy::Interval(interval),
            ..StoreOptions::below(&self.0)
        };
        let tag = std::process::id().to_string();
        let builder = DomainParticipant::builder(domain).domain_tag(&tag);
        builder.store(store).build().expect("a participant")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn writer(participant: &DomainParticipant) -> DataWriter<Tick> {
    let topic = participant.topic::<Tick>("Ticks").expect("a topic");
    let qos = DataWriterQos::default().persistent();
    participant.writer_with(&topic, qos).expect("a writer")
}

#[test]
fn a_disk_that_takes_long_holds_up_nothing_but_writes() {
    let scratch = Scratch::new("slow");
    let participant = scratch.participant(152, Duration::from_millis(1));
    let writer = writer(&participant);
    writer.write(&Tick { price: 1 }).expect("written");
    let endpoint = &writer.handle.endpoint;
    let durable = endpoint.durable.as_ref().expect("a log");
    {
        // Whoever brings it to the disk stands still from here on.
        let _log = lock(&durable.state);
        durable.sync_after(clock::now());
        let (_, queue) = durable.syncing.as_ref().expect("an interval");
        while !queue.is_empty() {
            thread::yield_now();
        }
        let topic = participant.topic::<Tick>("Ticks").expect("a topic");
        let qos = DataReaderQos::default().reliable().transient();
        let reader = participant.reader_with(&topic, qos).expect("a reader");
        reader.wait_for_matched(1, PATIENCE).expect("a match");
        let history = reader.wait_for_historical_data(PATIENCE);
        history.expect("historical data");
        let acknowledged = writer.wait_for_acknowledgments(PATIENCE);
        acknowledged.expect("all acknowledged");
        assert_eq!(reader.take().len(), 1);
        // A writer that ends now brings it to the disk itself.
        assert!(durable.is_waiting.load(Ordering::Acquire));
    }
    writer.write(&Tick { price: 2 }).expect("written");
}

#[test]
fn a_failure_is_told_though_the_next_sync_succeeds() {
    let scratch = Scratch::new("failed");
    let participant = scratch.participant(153, Duration::from_secs(3600));
    let writer = writer(&participant);
    let endpoint = &writer.handle.endpoint;
    let durable = endpoint.durable.as_ref().expect("a log");
    let lost = |reason: &str| StoreError::Io {
        operation: Operation::Sync,
        path: PathBuf::from("log"),
        kind: std::io::ErrorKind::Other,
        reason: reason.to_owned(),
    };
    let fail = |reason: &str| {
        let mut state = lock(&durable.state);
        state.as_mut().expect("open").keep(Err(lost(reason)));
    };
    fail("first");
    fail("second");
    durable.sync();
    assert_eq!(writer.log_counters().expect("a log").syncs, 1);
    let error = writer.write(&Tick { price: 1 }).expect_err("it is told");
    assert_eq!(error, WriteError::Unsynced(lost("first")));
    assert_eq!(writer.log_counters().expect("a log").appended, 1);
    writer.write(&Tick { price: 2 }).expect("it is told once");
    fail("last");
    drop(writer);
    assert_eq!(participant.counters().store_errors, 1);
}
