//! Logs on disk: what is adopted, kept and recovered.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use crate::common::{Scratch, append, description, now, numbers};
use tickwire_store::{LogSummary, Owner, Retention, Store, StoreError, SyncPolicy};

const KEEP_ALL: Retention = Retention::KEEP_ALL;

#[test]
fn a_log_outlives_its_writer() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut log = store
        .adopt(
            description("Quotes"),
            |_| true,
            KEEP_ALL,
            SyncPolicy::EachWrite,
            now(),
        )
        .unwrap();
    for number in 1..=3 {
        append(&mut log, number, 7, b"payload");
    }
    assert_eq!(numbers(&log), [1, 2, 3]);
    drop(log);
    let mut log = store
        .adopt(
            description("Quotes"),
            |_| true,
            KEEP_ALL,
            SyncPolicy::Never,
            now(),
        )
        .unwrap();
    append(&mut log, 4, 7, b"");
    assert_eq!(numbers(&log), [1, 2, 3, 4]);
    let mut payloads = Vec::new();
    log.read(now(), |record, _| payloads.push(record.payload.to_vec()))
        .unwrap();
    assert_eq!(
        payloads,
        [b"payload".as_slice(), b"payload", b"payload", b""]
    );
}

#[test]
fn each_writer_of_a_topic_has_the_lowest_slot_that_is_free() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let adopt = || {
        let log = store.adopt(
            description("Quotes"),
            |_| true,
            KEEP_ALL,
            SyncPolicy::Never,
            now(),
        );
        log.unwrap()
    };
    let (mut first, mut second) = (adopt(), adopt());
    append(&mut first, 1, 0, b"");
    append(&mut second, 2, 0, b"");
    drop(first);
    assert_eq!(numbers(&adopt()), [1]);
    let other = store
        .adopt(
            description("Trades"),
            |_| true,
            KEEP_ALL,
            SyncPolicy::Never,
            now(),
        )
        .unwrap();
    assert_eq!(numbers(&other), []);
    drop(second);
    let (first, second) = (adopt(), adopt());
    assert_eq!((numbers(&first), numbers(&second)), (vec![1], vec![2]));
}

#[test]
fn logs_that_do_not_fit_take_slots_until_they_are_removed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let adopt = |fits: bool| {
        let description = description("Quotes");
        store.adopt(description, |_| fits, KEEP_ALL, SyncPolicy::Never, now())
    };
    let mut log = adopt(false).unwrap();
    append(&mut log, 1, 0, b"");
    let directory = log.directory().to_owned();
    let taken = Store::remove(&directory);
    assert!(matches!(taken, Err(StoreError::Taken { path }) if path == directory));
    drop(log);
    for _ in 1..256 {
        drop(adopt(false).unwrap());
    }
    let error = adopt(false).expect_err("there are no more");
    assert!(
        matches!(error, StoreError::NoSlot { unused: 256, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("durability rm"), "{error}");
    Store::remove(&directory).unwrap();
    assert!(!Store::logs(store.directory()).unwrap().contains(&directory));
    let log = adopt(false).unwrap();
    assert_eq!((log.directory(), numbers(&log)), (&*directory, vec![]));
}

#[test]
fn a_service_lets_a_writer_have_its_log() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut log = store
        .adopt(
            description("Quotes"),
            |_| true,
            KEEP_ALL,
            SyncPolicy::Never,
            now(),
        )
        .unwrap();
    append(&mut log, 1, 0, b"");
    let directory = log.directory().to_owned();
    let owner = || LogSummary::of(&directory).unwrap().owner;
    let serve = || Store::adopt_as_service(&directory, |_| KEEP_ALL, now());
    assert_eq!(owner(), Owner::Writer);
    assert!(matches!(serve(), Err(StoreError::Taken { path }) if path == directory));
    drop(log);
    assert_eq!(owner(), Owner::Nobody);
    let service = serve().unwrap();
    assert_eq!(owner(), Owner::Service);
    assert!(!service.is_wanted());
    let back = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            store.adopt(
                description("Quotes"),
                |_| true,
                KEEP_ALL,
                SyncPolicy::Never,
                now(),
            )
        });
        while !service.is_wanted() {
            thread::yield_now();
        }
        drop(service);
        writer.join().unwrap().unwrap()
    });
    assert_eq!(back.directory(), directory);
    assert_eq!(numbers(&back), [1]);
    assert_eq!(owner(), Owner::Writer);
}

#[test]
fn what_is_no_longer_kept_takes_no_room() {
    let scratch = Scratch::new();
    let retention = Retention {
        depth: Some(2),
        ..KEEP_ALL
    };
    let mut log = scratch
        .store()
        .adopt(
            description("Quotes"),
            |_| true,
            retention,
            SyncPolicy::Never,
            now(),
        )
        .unwrap();
    let payload = [7; 1000];
    for number in 1..=20_000 {
        append(&mut log, number, u8::from(number % 4 == 0), &payload);
    }
    assert!(log.counters().compactions >= 4);
    assert_eq!(numbers(&log), [19_996, 19_998, 19_999, 20_000]);
    let summary = LogSummary::of(log.directory()).unwrap();
    assert!(summary.bytes < 5 << 20, "{}", summary.bytes);
    drop(log);
    let log = scratch
        .store()
        .adopt(
            description("Quotes"),
            |_| true,
            retention,
            SyncPolicy::Never,
            now(),
        )
        .unwrap();
    assert_eq!(numbers(&log), [19_996, 19_998, 19_999, 20_000]);
}

#[test]
fn a_new_description_replaces_the_old_one() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let adopt = |announcement: &[u8]| {
        let mut description = description("Quotes");
        description.announcement = announcement.to_vec();
        let log = store.adopt(description, |_| true, KEEP_ALL, SyncPolicy::Never, now());
        log.unwrap()
    };
    let mut log = adopt(b"once");
    append(&mut log, 1, 0, b"");
    drop(log);
    let log = adopt(b"today");
    assert_eq!(numbers(&log), [1]);
    let summary = LogSummary::of(log.directory()).unwrap();
    assert_eq!(summary.description.announcement, b"today");
    assert_eq!((summary.records, summary.damage), (1, None));
}

#[test]
fn nobody_else_may_look_in() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let log = store
        .adopt(
            description("Quotes"),
            |_| true,
            KEEP_ALL,
            SyncPolicy::Never,
            now(),
        )
        .unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.directory().to_owned()), 0o700);
    assert_eq!(mode(log.directory().to_owned()), 0o700);
    assert_eq!(mode(log.directory().join("log")), 0o600);
    assert_eq!(mode(log.directory().join("lock")), 0o600);
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(store.directory(), open).unwrap();
    assert!(matches!(
        Store::open(store.directory()),
        Err(StoreError::NotOurs { .. })
    ));
}

#[test]
fn errors_name_the_path_and_what_to_do() {
    let scratch = Scratch::new();
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("store")).unwrap_err().to_string();
    assert!(error.contains(file.to_str().unwrap()), "{error}");
    assert!(error.contains("TICKWIRE_STORE"), "{error}");

    let store = scratch.store();
    let log = store
        .adopt(
            description("Quotes"),
            |_| true,
            KEEP_ALL,
            SyncPolicy::Never,
            now(),
        )
        .unwrap();
    let path = log.directory().join("log");
    drop(log);
    fs::write(&path, "something else, as long as a header").unwrap();
    let adopted = Store::adopt_as_service(path.parent().unwrap(), |_| KEEP_ALL, now());
    let error = adopted.unwrap_err().to_string();
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    assert!(error.contains("at byte 0"), "{error}");
}
