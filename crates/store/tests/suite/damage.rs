//! Whatever happened to a file: what is recovered is what was written but for what is damaged, or an error
//! says where the damage is.

use std::fs;

use crate::common::{Scratch, append, description, now, numbers};
use proptest::prelude::*;
use tickwire_store::{LogSummary, Record, RecordKind, Retention, StoreError, SyncPolicy, parse};

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
        .adopt(key, |_| true, Retention::KEEP_ALL, SyncPolicy::Never, now())
}

/// Opens a log of these bytes, which must go on after what it has. Says what that is; nothing if the header
/// is damaged.
fn recovered(scratch: &Scratch, bytes: &[u8]) -> Result<Option<Vec<i64>>, TestCaseError> {
    let path = {
        let log = adopt(scratch).unwrap();
        log.directory().join("log")
    };
    fs::write(&path, bytes).unwrap();
    let mut log = adopt(scratch).unwrap();
    if log.counters().logs_passed_over > 0 {
        // Only the header's damage cannot be helped.
        let message = LogSummary::of(path.parent().unwrap())
            .unwrap_err()
            .to_string();
        prop_assert!(message.contains("at byte"), "{message}");
        prop_assert!(message.contains(path.to_str().unwrap()), "{message}");
        prop_assert_eq!(fs::read(&path).unwrap(), bytes);
        fs::remove_file(&path).unwrap();
        return Ok(None);
    }
    let recovered = numbers(&log);
    append(&mut log, NEW, 0, b"new");
    drop(log);
    let log = adopt(scratch).unwrap();
    prop_assert_eq!(log.counters().cut_off_bytes, 0);
    prop_assert_eq!(numbers(&log), [recovered.as_slice(), &[NEW]].concat());
    Ok(Some(recovered))
}

/// The number of a record that is appended after damage.
const NEW: i64 = 1000;

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
        if let Some(recovered) = recovered(&scratch, &bytes)? {
            let whole = (1..).take(recovered.len()).collect::<Vec<_>>();
            prop_assert_eq!(recovered, whole);
        }
    }

    #[test]
    fn a_flipped_bit_costs_one_record(
        payloads in payloads(),
        at in any::<proptest::sample::Index>(),
        bit in 0..8_u32,
    ) {
        let scratch = Scratch::new();
        let head_len = written(&Scratch::new(), &[]).len();
        let mut bytes = written(&scratch, &payloads);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let (mut end, mut kept) = (head_len, Vec::new());
        for (number, payload) in (1..).zip(&payloads) {
            let start = end;
            end += RECORD_HEAD_LEN + payload.len();
            if !(start..end).contains(&at) {
                kept.push(number);
            }
        }
        prop_assert_eq!(end, bytes.len());
        let whole = (at >= head_len).then_some(kept);
        prop_assert_eq!(recovered(&scratch, &bytes)?, whole);
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

/// All of a record but its payload.
const RECORD_HEAD_LEN: usize = 68;

#[test]
fn a_lost_page_is_passed_over_and_goes_with_the_next_compaction() {
    let scratch = Scratch::new();
    let payloads = vec![vec![7; 100]; 1000];
    let mut bytes = written(&scratch, &payloads);
    let len = bytes.len();
    let page = len / 2..len / 2 + 4096;
    bytes[page].fill(0);
    let path = adopt(&scratch).unwrap().directory().join("log");
    fs::write(&path, &bytes).unwrap();
    let summary = LogSummary::of(path.parent().unwrap()).unwrap();
    assert!((4096..4096 + 336).contains(&summary.damaged_bytes));
    let damage = summary.damage.unwrap();
    assert!((damage.offset as usize) < len / 2 && damage.offset as usize > len / 2 - 168);

    let log = adopt(&scratch).unwrap();
    let counters = log.counters();
    assert_eq!(counters.skipped_bytes, summary.damaged_bytes);
    assert_eq!(counters.cut_off_bytes, 0);
    let recovered = numbers(&log);
    assert_eq!(recovered.len() as u64, summary.records);
    assert!((970..=974).contains(&recovered.len()), "{recovered:?}");
    assert_eq!((recovered[0], recovered.last()), (1, Some(&1000)));
    assert!(recovered.is_sorted());
    drop(log);

    let mut other = description("Quotes");
    other.announcement = b"another QoS".to_vec();
    let store = scratch.store();
    let log = store.adopt(
        other,
        |_| true,
        Retention::KEEP_ALL,
        SyncPolicy::Never,
        now(),
    );
    assert_eq!(numbers(&log.unwrap()), recovered);
    let summary = LogSummary::of(path.parent().unwrap()).unwrap();
    assert_eq!((summary.damaged_bytes, summary.damage), (0, None));
}

#[test]
fn what_seems_to_begin_records_everywhere_takes_bounded_time() {
    let scratch = Scratch::new();
    let mut bytes = written(&scratch, &[vec![]]);
    *bytes.last_mut().unwrap() ^= 1;
    // A length, a checksum, kind and flags of a record with a key hash, again and again.
    let len = 4_u32 << 20;
    let head = [len.to_le_bytes(), [0; 4], [0, 1, 0, 0]].concat();
    let heads = head.iter().cycle().take(2 * len as usize);
    bytes.extend(heads);
    let damage = parse(&bytes, |_| panic!("there is no record")).unwrap_err();
    assert!(damage.to_string().contains("searched"), "{damage}");
}

#[test]
fn what_cannot_be_searched_is_not_cut_off() {
    let scratch = Scratch::new();
    let mut bytes = written(&scratch, &[vec![1], vec![2; 8 << 20], vec![3]]);
    let len = bytes.len();
    // The head of the second record is lost, and what it carried looks like heads of records.
    let second = len - (8 << 20) - 2 * RECORD_HEAD_LEN - 1;
    let claimed = 4_u32 << 20;
    let head = [claimed.to_le_bytes(), [0; 4], [0, 1, 0, 0]].concat();
    let lost = bytes[second..len - RECORD_HEAD_LEN - 1].iter_mut();
    for (byte, of_head) in lost.zip(head.iter().cycle()) {
        *byte = *of_head;
    }
    let path = adopt(&scratch).unwrap().directory().join("log");
    fs::write(&path, &bytes).unwrap();
    let mut log = adopt(&scratch).unwrap();
    assert_eq!(log.counters().logs_passed_over, 1);
    assert_ne!(log.directory(), path.parent().unwrap());
    append(&mut log, 4, 0, b"");
    assert_eq!(numbers(&log), [4]);
    assert!(fs::read(&path).unwrap() == bytes, "it is as it was");
    let error = LogSummary::of(path.parent().unwrap()).unwrap_err();
    assert!(error.to_string().contains("searched"), "{error}");
}

#[test]
fn a_log_that_cannot_be_read_leaves_the_other_slots_to_writers() {
    let scratch = Scratch::new();
    let path = adopt(&scratch).unwrap().directory().join("log");
    let mut bytes = fs::read(&path).unwrap();
    // The version of the format.
    bytes[7] = 1;
    fs::write(&path, &bytes).unwrap();
    let mut log = adopt(&scratch).unwrap();
    append(&mut log, 1, 0, b"");
    drop(log);
    let log = adopt(&scratch).unwrap();
    assert_eq!(numbers(&log), [1]);
    assert_eq!(log.counters().logs_passed_over, 1);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}
