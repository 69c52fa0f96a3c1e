//! What a log does with two mappings of it in one process, and with a writer that lies.

use std::sync::Arc;

use proptest::prelude::*;

use super::consumer::Consumer;
use super::layout::{self, NEWEST, RESERVED, RING, Ring};
use super::map::heap;
use super::producer::{NoRoom, Producer, Start};
use super::*;

fn joined(writer: &mut LogWriter, ear: &Ear, gating: Gating) -> (LogReader, Seat) {
    let bell = Arc::new(ear.bell().expect("descriptors"));
    let admission = writer.seat(bell, gating).expect("a free seat");
    let descriptors = writer.descriptors().map(|fd| {
        let fd = fd.try_clone_to_owned();
        fd.expect("descriptors")
    });
    let seat = admission.seat();
    let reader = LogReader::new(descriptors, admission, None).expect("a log");
    (reader, seat)
}

fn payload(number: u64, len: usize) -> Vec<u8> {
    number.to_le_bytes().into_iter().cycle().take(len).collect()
}

fn tag(number: u64) -> u8 {
    let [tag, ..] = number.to_le_bytes();
    !tag
}

/// Reads all that there is in runs of several records, into a vector of payloads.
fn drain_runs(
    reader: &mut LogReader,
    max_count: usize,
    max_len: usize,
) -> Result<Vec<Vec<u8>>, NextError> {
    let (mut all, mut buffer, mut records) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        records.clear();
        reader.read_run(max_count, max_len, &mut buffer, &mut records)?;
        assert!(records.len() <= max_count);
        if records.is_empty() {
            reader.tell_all();
            return Ok(all);
        }
        let payloads = records
            .iter()
            .map(|record| buffer[record.place.clone()].to_vec());
        all.extend(payloads);
    }
}

/// Reads all that there is into a vector of sequence numbers and payloads.
fn drain(reader: &mut LogReader) -> Result<Vec<(u64, Vec<u8>)>, NextError> {
    let mut all = Vec::new();
    let mut buffer = Vec::new();
    while let Some(mut record) = reader.next()? {
        let bytes = record.read(&mut buffer).map_err(NextError::Overrun)?;
        let bytes = bytes.to_vec();
        all.push((record.sequence(), bytes));
    }
    Ok(all)
}

/// A reader that has not heard yet that its seat is another one's may go on to say what it has.
#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn notes_are_of_who_has_the_seat_now() {
    let ear = Ear::new().expect("descriptors");
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let (mut before, seat) = joined(&mut writer, &ear, Gating::Overruns);
    let note = |whom, number| Note { whom, number };
    assert_eq!(writer.note(seat, 0), None);
    before.leave_note(0, note(7, 5));
    before.leave_note(MAX_NOTES - 1, note(8, 6));
    assert_eq!(writer.note(seat, 0), Some(note(7, 5)));
    assert_eq!(writer.note(seat, MAX_NOTES - 1), Some(note(8, 6)));
    assert_eq!(writer.note(seat, MAX_NOTES), None);
    writer.free(seat);
    let (mut after, again) = joined(&mut writer, &ear, Gating::Overruns);
    assert_eq!(again, seat);
    assert_eq!(writer.note(seat, 0), None);
    after.leave_note(0, note(9, 1));
    assert_eq!(writer.note(seat, 0), Some(note(9, 1)));
    for late in [note(7, 6), note(6, 6), note(6, 7)] {
        before.leave_note(0, late);
        assert_eq!(writer.note(seat, 0), None);
    }
    // Behind a change of whom it is about, both words are its own again.
    after.leave_note(0, note(9, 2));
    assert_eq!(writer.note(seat, 0), None);
    after.leave_note(0, note(7, 3));
    assert_eq!(writer.note(seat, 0), Some(note(7, 3)));
    after.leave_note(0, note(7, 1 << 48));
    assert_eq!(writer.note(seat, 0), Some(note(7, 3)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    /// Records of any lengths pass whole and in order, round the ring many times.
    #[test]
    #[cfg_attr(miri, ignore = "maps files")]
    fn gating_readers_get_everything(lens in prop::collection::vec(0_usize..=1008, 1..200), slow in 1_usize..8) {
        let ear = Ear::new().expect("descriptors");
        let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
        prop_assert_eq!(writer.max_len(), 1008);
        let (mut reader, _) = joined(&mut writer, &ear, Gating::Waits);
        let (mut got, mut sent) = (Vec::new(), Vec::new());
        for (number, &len) in (0..).zip(&lens) {
            let payload = payload(number, len);
            if number % slow as u64 == 0 {
                got.extend(drain(&mut reader).expect("it is waited for"));
            }
            if writer.publish(&payload) == Err(ClaimError::Full) {
                got.extend(drain(&mut reader).expect("it is waited for"));
                prop_assert_eq!(writer.publish(&payload), Ok(()));
            }
            sent.push((number, payload));
        }
        got.extend(drain(&mut reader).expect("it is waited for"));
        prop_assert_eq!(got, sent);
    }

    /// Who copies several records at once gets the same.
    #[test]
    #[cfg_attr(miri, ignore = "maps files")]
    fn runs_are_what_records_are_one_by_one(
        bursts in prop::collection::vec((1_usize..40, 0_usize..=300), 1..30),
        max_count in 1_usize..9,
        max_len in 0_usize..2_000,
    ) {
        let ear = Ear::new().expect("descriptors");
        let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
        let (mut one, _) = joined(&mut writer, &ear, Gating::Waits);
        let (mut runs, _) = joined(&mut writer, &ear, Gating::Waits);
        let mut number = 0;
        for (count, len) in bursts {
            for _ in 0..count {
                match writer.publish(&payload(number, len)) {
                    Ok(()) => number += 1,
                    Err(error) => {
                        prop_assert_eq!(error, ClaimError::Full);
                        break;
                    }
                }
            }
            let expected = drain(&mut one).expect("it is waited for");
            let expected: Vec<_> = expected.into_iter().map(|(_, bytes)| bytes).collect();
            prop_assert_eq!(drain_runs(&mut runs, max_count, max_len), Ok(expected));
        }
        prop_assert_eq!(runs.lost(), Lost::default());
    }

    /// And knows what it has missed.
    #[test]
    #[cfg_attr(miri, ignore = "maps files")]
    fn runs_miss_what_is_counted(bursts in prop::collection::vec((1_u64..60, 8_usize..=300), 1..30), max_count in 1_usize..9) {
        let ear = Ear::new().expect("descriptors");
        let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
        let (mut reader, _) = joined(&mut writer, &ear, Gating::Overruns);
        let (mut number, mut read, mut next) = (0, 0, 0);
        for (count, len) in bursts {
            for _ in 0..count {
                prop_assert_eq!(writer.publish(&payload(number, len)), Ok(()));
                number += 1;
            }
            let records = loop {
                match drain_runs(&mut reader, max_count, 1_000) {
                    Err(NextError::Overrun(_)) => {}
                    other => break other.expect("the writer keeps to the layout"),
                }
            };
            for bytes in records {
                let sequence = u64::from_le_bytes(*bytes.first_chunk().expect("eight bytes"));
                prop_assert!(sequence >= next);
                prop_assert_eq!(bytes, payload(sequence, len));
                next = sequence + 1;
                read += 1;
            }
            prop_assert_eq!(read + reader.lost().records, number);
        }
    }

    /// A reader that nobody waits for gets records whole or not at all, and knows how many it has missed.
    #[test]
    #[cfg_attr(miri, ignore = "maps files")]
    fn others_know_what_they_missed(bursts in prop::collection::vec((1_u64..40, 0_usize..=1008), 1..30)) {
        let ear = Ear::new().expect("descriptors");
        let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
        let (mut reader, _) = joined(&mut writer, &ear, Gating::Overruns);
        let (mut number, mut read) = (0, 0);
        let mut next = 0;
        for (count, len) in bursts {
            for _ in 0..count {
                prop_assert_eq!(writer.publish(&payload(number, len)), Ok(()));
                number += 1;
            }
            loop {
                match drain(&mut reader) {
                    Err(NextError::Overrun(overrun)) => prop_assert!(overrun.lost_bytes > 0),
                    Err(error) => panic!("{error}"),
                    Ok(records) => {
                        for (sequence, bytes) in records {
                            prop_assert!(sequence >= next);
                            next = sequence + 1;
                            prop_assert_eq!(bytes, payload(sequence, len));
                            read += 1;
                        }
                        break;
                    }
                }
            }
            prop_assert_eq!(read + reader.lost().records, number);
        }
    }

    /// Whatever a writer writes, and whatever it says of its log, a reader returns, and without reading outside
    /// of it.
    #[test]
    fn a_writer_that_lies_is_harmless(
        words in prop::collection::vec(prop_oneof![any::<u64>(), 0..0x2_0000_0100_u64, (0..256_u64).prop_map(|len| 1 << 32 | len)], 16..64),
        marks in prop::collection::vec((any::<u64>(), any::<u64>()), 1..8),
        position in 0..1_u64 << 40,
    ) {
        let (mut own, foreign) = heap::log(RING + 512);
        let control = heap::common();
        let ring = Ring::new(512).expect("a power of two");
        let start = || Start { seat: 61, admission: 1, position: position & !15, sequence: 0 };
        let mut consumer = Consumer::new(foreign(), control(), ring, start());
        let mut runner = Consumer::new(foreign(), control(), ring, start());
        for (index, word) in words.into_iter().enumerate() {
            own.store(RING + 8 * index, word, atomic::Ordering::Relaxed);
        }
        for (reserved, newest) in marks {
            own.store(RESERVED, reserved, atomic::Ordering::Relaxed);
            own.store(NEWEST, newest, atomic::Ordering::Relaxed);
            for _ in 0..20 {
                consumer.tell();
                if let Ok(Some(found)) = consumer.next() {
                    prop_assert!(found.len <= 112);
                    let _ = consumer.copy(found, &mut [0; 512]);
                }
                let _ = consumer.has_next();
                let (mut buffer, mut records) = (Vec::new(), Vec::new());
                let run = runner.copy_run((5, 200), &mut buffer, &mut records);
                prop_assert!(buffer.len() <= 200 && records.len() <= 5);
                prop_assert!(records.iter().all(|record| buffer.get(record.place.clone()).is_some()));
                prop_assert!(run.is_ok() || records.is_empty());
            }
        }
    }
}

/// Several records are copied with their headers, and the next lap's apart, in plain memory.
#[test]
fn a_run_ends_where_the_ring_does() {
    let (mut producer, [mut consumer, _]) = by_steps(256, 256, 256);
    let mut seen = Vec::new();
    for burst in 0..5 {
        for number in 3 * burst..3 * burst + 3 {
            lay_down(&mut producer, number, 24).expect("room");
        }
        loop {
            let (mut buffer, mut records) = (Vec::new(), Vec::new());
            let run = consumer.copy_run((8, 256), &mut buffer, &mut records);
            run.expect("it keeps up");
            consumer.tell_all();
            if records.is_empty() {
                break;
            }
            for record in records {
                let number = seen.len() as u64;
                assert_eq!(buffer[record.place], payload(number, 24));
                assert_eq!(record.tag, tag(number));
                seen.push(number);
            }
        }
    }
    assert_eq!(seen.len(), 15);
}

/// A record, in plain memory.
fn lay_down(producer: &mut Producer, number: u64, len: u32) -> Result<(), NoRoom> {
    let at = producer.claim(len)?;
    let bytes = producer.log.bytes_mut(at, len as usize);
    bytes.copy_from_slice(&payload(number, len as usize));
    producer.publish(len, tag(number));
    Ok(())
}

/// The numbers of the records that there are, and how often what came next was overrun.
fn take(consumer: &mut Consumer) -> (Vec<u64>, usize) {
    let (mut numbers, mut overruns) = (Vec::new(), 0);
    loop {
        consumer.tell();
        match consumer.next() {
            Ok(None) => {
                consumer.tell_all();
                return (numbers, overruns);
            }
            Ok(Some(found)) => {
                let mut bytes = vec![0; found.len];
                consumer.copy(found, &mut bytes).expect("nobody writes now");
                assert_eq!(bytes, payload(found.sequence, found.len));
                numbers.push(found.sequence);
            }
            Err(NextError::Overrun(_)) => overruns += 1,
            Err(NextError::Malformed) => panic!("the writer keeps to the layout"),
        }
    }
}

/// A log in plain memory with two readers that nobody waits for, the first steps of which have memory.
fn by_steps(len: u64, backed: u64, step: u64) -> (Producer, [Consumer; 2]) {
    let ring = Ring::new(len).expect("a power of two");
    let (own, foreign) = heap::short_log(ring.end_of(len), ring.end_of(backed));
    let control = heap::common();
    let mut producer = Producer::new(own, control(), ring, step);
    let consumers = [(); 2].map(|()| {
        let start = producer.seat(false).expect("a free seat");
        Consumer::new(foreign(), control(), ring, start)
    });
    (producer, consumers)
}

const SMALL_RING: u64 = 4096;
const SMALL_STEP: u64 = 256;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 1024 }))]

    /// Wherever a log turns, it overruns nobody that lags by less than it promises.
    #[test]
    fn logs_that_turn_early_overrun_nobody_that_keeps_up(
        turns in prop::collection::vec((0_u32..48, 1_u64..12, 0_u8..6), 1..120),
    ) {
        let (mut producer, mut consumers) = by_steps(SMALL_RING, SMALL_RING, SMALL_STEP);
        let mut number = 0;
        let mut next = [0; 2];
        for (len, count, who) in turns {
            for _ in 0..count {
                lay_down(&mut producer, number, len).expect("nobody is waited for");
                number += 1;
            }
            for (index, consumer) in consumers.iter_mut().enumerate() {
                // Records take 64 bytes at most: the next ones count, too, and padding.
                let lags = 64 * (number - next[index] + 12) + 64;
                if usize::from(who) == index || lags > SMALL_RING * 7 / 8 {
                    let (numbers, overruns) = take(consumer);
                    prop_assert_eq!(overruns, 0);
                    prop_assert_eq!(numbers, (next[index]..number).collect::<Vec<_>>());
                    next[index] = number;
                }
            }
        }
    }

    /// Out of memory in the first lap: the log goes round in what it has, whoever lags.
    #[test]
    fn logs_without_memory_stay_short_and_lie_to_nobody(
        turns in prop::collection::vec((0_u32..500, 1_u64..12, 0_u8..6), 1..120),
        steps in 1..SMALL_RING / SMALL_STEP,
    ) {
        let backed = steps * SMALL_STEP;
        let (mut producer, mut consumers) = by_steps(SMALL_RING, backed, SMALL_STEP);
        let (mut number, mut read) = (0, [0; 2]);
        for (len, count, who) in turns {
            for _ in 0..count {
                let max = producer.max_payload();
                match lay_down(&mut producer, number, len) {
                    Ok(()) => number += 1,
                    Err(error) => {
                        prop_assert_eq!(error, NoRoom::Short);
                        prop_assert!(producer.is_short());
                        prop_assert!(u64::from(len) > producer.max_payload() && producer.max_payload() <= max);
                    }
                }
                prop_assert!(producer.backed() <= backed);
            }
            for (index, consumer) in consumers.iter_mut().enumerate() {
                if usize::from(who) == index {
                    read[index] += take(consumer).0.len() as u64;
                    prop_assert_eq!(read[index] + consumer.lost().records, number);
                }
            }
        }
    }
}

#[test]
fn a_log_that_is_read_stays_small() {
    let (mut producer, mut consumers) = by_steps(SMALL_RING, SMALL_RING, SMALL_STEP);
    for number in 0..1000 {
        lay_down(&mut producer, number, 40).expect("room");
        for consumer in &mut consumers {
            assert_eq!(take(consumer), (vec![number], 0));
        }
    }
    assert_eq!(producer.backed(), SMALL_STEP);
    // One that does not read any more has it grow, as far as it goes.
    let [lags, reads] = &mut consumers;
    let mut number = 1000;
    while take(lags).1 == 0 {
        for _ in 0..number - 999 {
            lay_down(&mut producer, number, 40).expect("room");
            assert_eq!(take(reads), (vec![number], 0));
            number += 1;
        }
    }
    assert_eq!(producer.backed(), SMALL_RING);
}

/// It had read everything when the log turned, slept for a lap, and the padding that said so is gone.
#[test]
fn who_has_not_seen_that_a_log_turned_loses_nothing() {
    let (mut producer, [mut sleeps, mut reads]) = by_steps(SMALL_RING, SMALL_RING, SMALL_STEP);
    let mut number = 0;
    let mut last_at = 0;
    loop {
        let at = producer.claim(16).expect("room");
        lay_down(&mut producer, number, 16).expect("room");
        number += 1;
        if at < last_at {
            break;
        }
        last_at = at;
        for consumer in [&mut sleeps, &mut reads] {
            assert_eq!(take(consumer), (vec![number - 1], 0));
        }
    }
    let first = number - 1;
    while producer.backed() < 2 * SMALL_STEP {
        lay_down(&mut producer, number, 16).expect("room");
        number += 1;
    }
    assert_eq!(take(&mut sleeps), ((first..number).collect(), 0));
}

/// Without a mapping, so that Miri can follow: every byte passes by it.
#[test]
fn records_wrap_in_plain_memory() {
    let ring = Ring::new(256).expect("a power of two");
    let (own, foreign) = heap::log(RING + 256);
    let control = heap::common();
    let mut producer = Producer::new(own, control(), ring, ring.len());
    let start = producer.seat(true).expect("a free seat");
    let mut consumer = Consumer::new(foreign(), control(), ring, start);
    for number in 0..100_u64 {
        let len = u32::try_from(number % 49).expect("small");
        let at = producer.claim(len).expect("read so far");
        let bytes = producer.log.bytes_mut(at, len as usize);
        bytes.copy_from_slice(&payload(number, len as usize));
        producer.publish(len, tag(number));
        let found = consumer.next().expect("sound").expect("published");
        let mut bytes = vec![0; found.len];
        consumer.copy(found, &mut bytes).expect("it is waited for");
        assert_eq!(bytes, payload(number, len as usize));
        assert_eq!(found.tag, tag(number));
        consumer.tell();
        assert_eq!(consumer.next(), Ok(None));
    }
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn one_that_is_evicted_is_overrun_and_the_writer_goes_on() {
    let ear = Ear::new().expect("descriptors");
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let (mut stopped, seat) = joined(&mut writer, &ear, Gating::Waits);
    let (mut alive, _) = joined(&mut writer, &ear, Gating::Waits);
    while writer.publish(&[7; 100]).is_ok() {}
    drain(&mut alive).expect("it is waited for");
    assert_eq!(writer.publish(&[8; 100]), Err(ClaimError::Full));
    assert!(writer.lag(seat) > 0);
    writer.evict(seat);
    assert_eq!(writer.publish(&[8; 100]), Ok(()));
    assert_eq!(drain(&mut alive).expect("waited for").len(), 1);
    assert!(matches!(drain(&mut stopped), Err(NextError::Overrun(_))));
    assert_eq!(drain(&mut stopped).expect("it goes on").len(), 1);
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn a_record_that_is_overrun_while_it_is_held_is_not_believed() {
    let ear = Ear::new().expect("descriptors");
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let (mut reader, _) = joined(&mut writer, &ear, Gating::Overruns);
    writer.publish(&[1; 64]).expect("room");
    let mut record = reader.next().expect("sound").expect("published");
    for _ in 0..100 {
        writer.publish(&[2; 64]).expect("nobody is waited for");
    }
    let overrun = Overrun { lost_bytes: 64 };
    assert_eq!(record.read(&mut Vec::new()), Err(overrun));
    assert_eq!(record.read_start(&mut [0; 8]), Err(overrun));
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn only_those_that_sleep_are_rung() {
    let ears = [(); 2].map(|()| Ear::new().expect("descriptors"));
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let [mut one, two] =
        [&ears[0], &ears[1]].map(|ear| joined(&mut writer, ear, Gating::Overruns).0);
    writer.publish(b"nobody sleeps").expect("room");
    assert!(writer.ringing().is_none());
    assert!(!ears[0].lie_down([&one]), "there is news");
    ears[0].wake();
    drain(&mut one).expect("sound");
    assert!(ears[0].lie_down([&one]));
    assert!(!ears[1].lie_down([&two]));
    ears[1].wake();
    writer.publish(b"one sleeps").expect("room");
    drop(writer.ringing().expect("its bell is set"));
    let is_rung = ears.each_ref().map(|ear| {
        let mut buffer = [0; 8];
        rustix::io::read(ear, &mut buffer).is_ok()
    });
    assert_eq!(is_rung, [true, false]);
    assert!(writer.ringing().is_none());
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn seats_are_given_back() {
    let ear = Ear::new().expect("descriptors");
    let bell = Arc::new(ear.bell().expect("descriptors"));
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let mut seat = |gating| writer.seat(Arc::clone(&bell), gating);
    for number in 0..layout::MAX_SEATS {
        assert_eq!(seat(Gating::Waits).expect("free").seat(), Seat(number));
    }
    assert!(matches!(seat(Gating::Waits), Err(SeatError::Taken)));
    writer.free(Seat(7));
    writer.evict(Seat(9));
    assert_eq!(writer.waits_for().count(), 60);
    let again = writer.seat(bell, Gating::Overruns).expect("given back");
    assert_eq!(again.seat(), Seat(7));
    assert_eq!(writer.waits_for().count(), 60);
}

/// Cursors that go back, or past the head.
#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn a_reader_that_lies_harms_itself() {
    let (own, foreign) = heap::log(RING + 512);
    let control = heap::common();
    let ring = Ring::new(512).expect("a power of two");
    let mut producer = Producer::new(own, control(), ring, ring.len());
    let start = producer.seat(true).expect("a free seat");
    let mut consumer = Consumer::new(foreign(), control(), ring, start);
    let cursor = layout::cursor(start.seat);
    control().store(cursor, u64::MAX, atomic::Ordering::Relaxed);
    for _ in 0..100 {
        producer.claim(32).expect("a reader of all that comes");
        producer.publish(32, 0);
    }
    assert_eq!(producer.lag(start.seat), 0);
    assert!(matches!(consumer.next(), Err(NextError::Overrun(_))));
    control().store(cursor, 0, atomic::Ordering::Relaxed);
    assert_eq!(producer.lag(start.seat), 0);
    assert!(producer.claim(32).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn lengths_are_bounded() {
    for len in [0, 100, 2048, 5000, MAX_LOG_BYTES * 2] {
        let wrong = LogWriter::new(len).expect_err("no such length");
        assert!(matches!(wrong, MemoryError::Length { .. }), "{wrong}");
    }
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    for len in [1009, 1 << 32, usize::MAX] {
        let error = writer.claim(len).expect_err("too long");
        assert_eq!(error, ClaimError::TooLong { len, max: 1008 });
    }
    let mut claim = writer.claim(1008).expect("room");
    claim.truncate(2000);
    assert_eq!(claim.bytes_mut().len(), 1008);
}

/// What a reader has been given, it cannot write to, whatever it does with the descriptor.
#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn only_the_writer_writes() {
    let writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let [log, _] = writer.descriptors();
    assert_eq!(rustix::io::write(log, b"x"), Err(rustix::io::Errno::PERM));
    assert!(map::CommonMap::map(log).is_err());
    assert!(
        memory::check(
            log,
            rustix::fs::SealFlags::FUTURE_WRITE | rustix::fs::SealFlags::SEAL
        )
        .is_ok()
    );
}
