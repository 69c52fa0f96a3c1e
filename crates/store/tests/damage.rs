//! Whatever happened to a file: what is recovered is a prefix of what was written, or an error says
//! where the damage is.

mod common;

use std::fs;

use common::{Scratch, append, description, now, numbers};
use proptest::prelude::*;
use tickwire_store::{Record, RecordKind, Retention, StoreError, SyncPolicy, parse};

/// A log with these payloads, as bytes.
fn written(scratch: &Scratch, payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut log = adopt(scratch).unwrap();
    for (number, payload) in (1..).zip(payloads) {
        append(&mut log, number, 0, payload);
    }
    fs::read(log.directory().join("log")).unwrap()
}

fn adopt(scratch: &Scratch) -> Result<tickwire_store::Log, StoreError> {
    let key = description("Quotes");
    scratch
        .store()
        .adopt(key, Retention::KEEP_ALL, SyncPolicy::Never, now())
}

/// Opens a log of these bytes; what it has must be a prefix, and it must go on from there.
fn check_prefix(scratch: &Scratch, bytes: &[u8], written: i64) -> Result<(), TestCaseError> {
    let path = {
        let log = adopt(scratch).unwrap();
        log.directory().join("log")
    };
    fs::write(&path, bytes).unwrap();
    let mut log = match adopt(scratch) {
        Ok(log) => log,
        Err(error) => {
            // Only the header's damage cannot be helped.
            let message = error.to_string();
            prop_assert!(message.contains("at byte"), "{message}");
            prop_assert!(message.contains(path.to_str().unwrap()), "{message}");
            fs::remove_file(&path).unwrap();
            return Ok(());
        }
    };
    let recovered = numbers(&log);
    let len = i64::try_from(recovered.len()).unwrap();
    prop_assert!(len <= written);
    prop_assert_eq!(&recovered, &(1..=len).collect::<Vec<_>>());
    append(&mut log, len + 1, 0, b"new");
    drop(log);
    let log = adopt(scratch).unwrap();
    prop_assert_eq!(log.counters().cut_off_bytes, 0);
    prop_assert_eq!(numbers(&log), (1..=len + 1).collect::<Vec<_>>());
    Ok(())
}

fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..12)
}

proptest! {
    #[test]
    fn a_torn_log_is_recovered_up_to_the_tear(
        payloads in payloads(),
        cut in any::<proptest::sample::Index>(),
    ) {
        let scratch = Scratch::new();
        let mut bytes = written(&scratch, &payloads);
        bytes.truncate(cut.index(bytes.len() + 1));
        check_prefix(&scratch, &bytes, i64::try_from(payloads.len()).unwrap())?;
    }

    #[test]
    fn a_flipped_bit_ends_the_log(
        payloads in payloads(),
        at in any::<proptest::sample::Index>(),
        bit in 0..8_u32,
    ) {
        let scratch = Scratch::new();
        let mut bytes = written(&scratch, &payloads);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        check_prefix(&scratch, &bytes, i64::try_from(payloads.len()).unwrap())?;
    }

    #[test]
    fn any_bytes_lead_to_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes, |_| {});
    }

    #[test]
    fn a_record_is_read_as_it_was_written(
        kind in 0..5_usize,
        writer in any::<[u8; 16]>(),
        sequence_number in any::<i64>(),
        timestamp in any::<i64>(),
        key_hash in any::<Option<[u8; 16]>>(),
        coherent_set in any::<i64>(),
        payload in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let scratch = Scratch::new();
        let mut log = adopt(&scratch).unwrap();
        use RecordKind::{Alive, Disposed, DisposedUnregistered, EndOfSet, Unregistered};
        let record = Record {
            kind: [Alive, Disposed, Unregistered, DisposedUnregistered, EndOfSet][kind],
            writer,
            sequence_number,
            source_timestamp: tickwire_base::Timestamp::from_nanos(timestamp),
            key_hash,
            coherent_set,
            payload: &payload,
        };
        log.append(&record, now()).unwrap();
        let bytes = fs::read(log.directory().join("log")).unwrap();
        let mut count = 0;
        let (read, damage) = parse(&bytes, |found| {
            assert_eq!(*found, record);
            count += 1;
        })
        .unwrap();
        prop_assert_eq!((count, damage), (1, None));
        prop_assert_eq!(read, description("Quotes"));
    }
}
