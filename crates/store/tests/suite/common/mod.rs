//! A directory for one test, and records for its logs.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use tickwire_base::Timestamp;
use tickwire_store::{Description, Log, LogKey, Record, Store};

/// Removed with all that is in it when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tickwire-store-test-{}-{number}", process::id());
        let memory = Path::new("/dev/shm");
        let path = match memory.is_dir() {
            true => memory.join(name),
            false => env::temp_dir().join(name),
        };
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.0.join("store")).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn description(topic: &str) -> Description {
    Description {
        key: LogKey {
            topic: topic.to_owned(),
            partition: vec!["A*".to_owned(), String::new()],
            ..LogKey::default()
        },
        ..Description::default()
    }
}

pub(crate) fn append(log: &mut Log, number: i64, key: u8, payload: &[u8]) {
    let record = Record {
        sequence_number: number,
        key_hash: Some([key; 16]),
        source_timestamp: now(),
        payload,
        ..Record::default()
    };
    log.append(&record, now()).unwrap();
}

/// The sequence numbers of what a log keeps.
pub(crate) fn numbers(log: &Log) -> Vec<i64> {
    let mut numbers = Vec::new();
    log.read(now(), |record, _| numbers.push(record.sequence_number))
        .unwrap();
    numbers
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_nanos(1_700_000_000_000_000_000)
}
