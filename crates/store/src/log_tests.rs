use std::env;

use super::*;
use crate::disk::steps;
use crate::store::Store;

const NOW: Timestamp = Timestamp::from_nanos(0);

/// A store that goes with the test.
struct Scratch(Store);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("tickwire-store-{name}-{}", std::process::id());
        Self(Store::open(&env::temp_dir().join(name)).unwrap())
    }

    fn adopt(&self, announcement: &[u8], sync: SyncPolicy) -> Log {
        let description = Description {
            announcement: announcement.to_vec(),
            ..Description::default()
        };
        let log = self
            .0
            .adopt(description, |_| true, Retention::KEEP_ALL, sync, NOW);
        log.unwrap()
    }

    fn numbers(&self) -> Vec<i64> {
        let mut numbers = Vec::new();
        let each = |record: &Record<'_>, _| numbers.push(record.sequence_number);
        let log = self.adopt(b"", SyncPolicy::Never);
        log.read(NOW, each).unwrap();
        numbers
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.directory());
    }
}

fn record(sequence_number: i64) -> Record<'static> {
    Record {
        sequence_number,
        ..Record::default()
    }
}

#[test]
fn a_record_that_finds_no_room_leaves_the_log_as_it_was() {
    let scratch = Scratch::new("full");
    let mut log = scratch.adopt(b"", SyncPolicy::Never);
    log.append(&record(1), NOW).unwrap();
    let file = std::mem::replace(&mut log.file, File::open("/dev/null").unwrap().into());
    let error = log.append(&record(2), NOW).unwrap_err().to_string();
    assert!(error.contains(log.path.to_str().unwrap()), "{error}");
    assert!(error.contains("TICKWIRE_STORE"), "{error}");
    log.file = file;
    log.append(&record(3), NOW).unwrap();
    assert_eq!(log.counters().appended, 2);
    drop(log);
    assert_eq!(scratch.numbers(), [1, 3]);
}

#[test]
fn a_record_that_does_not_reach_the_disk_is_in_the_log() {
    let scratch = Scratch::new("sync");
    let mut log = scratch.adopt(b"", SyncPolicy::EachWrite);
    log.append(&record(1), NOW).unwrap();
    // It takes what is written, but has no disk.
    let null = OpenOptions::new().write(true).open("/dev/null").unwrap();
    let file = std::mem::replace(&mut log.file, null.into());
    let error = log.append(&record(2), NOW).unwrap_err();
    assert!(error.to_string().contains("bring to the disk"), "{error}");
    assert_eq!((log.counters().appended, log.counters().syncs), (2, 1));
    log.file = file;
    log.append(&record(3), NOW).unwrap();
    drop(log);
    // The third is behind the second, of which this file has nothing.
    assert_eq!(scratch.numbers(), [1, 3]);
    let skipped = scratch.adopt(b"", SyncPolicy::Never).counters();
    assert_eq!((skipped.skipped_bytes, skipped.cut_off_bytes), (68, 0));
}

#[test]
fn a_log_is_on_the_disk_before_it_has_its_name() {
    let scratch = Scratch::new("steps");
    let name = |path: &Path| path.file_name().unwrap().display().to_string();
    let mut log = scratch.adopt(b"", SyncPolicy::Never);
    let names_in = |path: &Path| format!("sync names in {}", name(path));
    let named = ["sync log.new", "rename log", &names_in(log.directory())].map(str::to_owned);
    let above = [env::temp_dir(), scratch.0.directory().to_owned()].map(|path| names_in(&path));
    assert_eq!(steps::take(), [above.as_slice(), &named].concat());

    let payload = vec![0; 1 << 20];
    log.retention = Retention::default();
    while log.counters().compactions == 0 {
        let payload = payload.as_slice();
        log.append(
            &Record {
                payload,
                ..record(1)
            },
            NOW,
        )
        .unwrap();
    }
    assert_eq!(steps::take(), named);
    drop(log);
    scratch.adopt(b"", SyncPolicy::Never);
    assert_eq!(steps::take(), Vec::<String>::new());
    scratch.adopt(b"another QoS", SyncPolicy::Never);
    assert_eq!(steps::take(), named);
}

#[test]
fn a_compaction_that_fails_leaves_nothing_behind() {
    let scratch = Scratch::new("room");
    let mut log = scratch.adopt(b"", SyncPolicy::Never);
    log.append(&record(1), NOW).unwrap();
    let (offset, len) = (log.len, 1);
    log.replace(&[Span { offset, len }]).unwrap_err();
    assert!(!log.directory.join(NEW).exists());
    log.append(&record(2), NOW).unwrap();
    drop(log);
    assert_eq!(scratch.numbers(), [1, 2]);
}

#[test]
fn a_name_that_did_not_reach_the_disk_is_brought_there_by_the_next_write() {
    let scratch = Scratch::new("name");
    let mut log = scratch.adopt(b"", SyncPolicy::EachWrite);
    log.replace(&[]).unwrap();
    steps::take();
    let path = std::mem::replace(&mut log.path, "/nowhere/log".into());
    for number in 1..=2 {
        let error = log.append(&record(number), NOW).unwrap_err();
        assert!(error.to_string().contains("bring to the disk"), "{error}");
    }
    log.path = path;
    let name = log.directory.file_name().unwrap().display().to_string();
    steps::take();
    log.append(&record(3), NOW).unwrap();
    assert_eq!(steps::take(), [format!("sync names in {name}")]);
    log.append(&record(4), NOW).unwrap();
    assert_eq!(steps::take(), Vec::<String>::new());
}

#[test]
fn a_log_that_cannot_be_compacted_for_want_of_room_opens_all_the_same() {
    let scratch = Scratch::new("open");
    let mut log = scratch.adopt(b"", SyncPolicy::Never);
    let payload = vec![0; 1 << 20];
    let large = |sequence_number| Record {
        payload: &payload,
        ..record(sequence_number)
    };
    (1..=4).for_each(|number| log.append(&large(number), NOW).unwrap());
    let directory = log.directory.clone();
    drop(log);
    // A log of which little is kept, and where no other can be written.
    fs::create_dir(directory.join(NEW)).unwrap();
    let description = Description::default();
    let retention = Retention::default();
    let adopted = scratch
        .0
        .adopt(description, |_| true, retention, SyncPolicy::Never, NOW);
    let counters = adopted.unwrap().counters();
    assert_eq!((counters.compactions, counters.failed_compactions), (0, 1));
    assert_eq!(scratch.numbers(), [1, 2, 3, 4]);
}
