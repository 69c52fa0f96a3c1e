//! What a pool does with two mappings of it in one process, and with parties that lie.

use std::os::fd::AsFd;
use std::sync::Arc;

use proptest::prelude::*;

use super::borrower::Borrower;
use super::lender::Lender;
use super::*;
use crate::shm::atomic::Ordering;
use crate::shm::map::{CommonMap, heap};
use crate::shm::{Ear, Gating, LogReader, LogWriter, MIN_LOG_BYTES, MemoryError};

fn reader(pool: &Pool) -> PoolReader {
    let admission = pool.seat().expect("a free seat");
    PoolReader::new(admission).expect("a pool")
}

fn lend(pool: &Pool, byte: u8, len: usize) -> Result<Lent, LoanError> {
    let mut loan = pool.loan(len)?;
    loan.bytes_mut().fill(byte);
    Ok(loan.publish())
}

/// What a random run does.
#[derive(Clone, Debug)]
enum Step {
    /// Lends that many bytes, and keeps them.
    Lend(usize),
    /// The writer lets go of what it has kept for that many loans.
    Let(usize),
    /// A reader borrows a place that was told, counted from the newest.
    Borrow(usize, usize),
    /// A reader holds one of what it has borrowed once more.
    Share(usize, usize),
    /// A reader lets go of one of what it has borrowed.
    Return(usize, usize),
    /// A reader copies a place that was told.
    Copy(usize, usize),
    /// A reader goes, and another one comes.
    Replace(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let reader = || 0..READERS;
    prop_oneof![
        4 => (0_usize..=CHUNK_LEN).prop_map(Step::Lend),
        3 => (0_usize..4).prop_map(Step::Let),
        3 => (reader(), 0_usize..12).prop_map(|(reader, back)| Step::Borrow(reader, back)),
        1 => (reader(), 0_usize..4).prop_map(|(reader, index)| Step::Share(reader, index)),
        3 => (reader(), 0_usize..6).prop_map(|(reader, index)| Step::Return(reader, index)),
        2 => (reader(), 0_usize..12).prop_map(|(reader, back)| Step::Copy(reader, back)),
        1 => reader().prop_map(Step::Replace),
    ]
}

const READERS: usize = 3;
const CHUNK_LEN: usize = 100;
const CHUNKS: usize = 8;

/// A pool, and what should be in it.
struct Run {
    pool: Pool,
    kept: Vec<Lent>,
    told: Vec<(Place, Vec<u8>)>,
    readers: Vec<(PoolReader, Held)>,
    borrowed: usize,
}

/// What a reader has borrowed, what that was, and how many times anybody had borrowed before.
type Held = Vec<(Borrowed, Vec<u8>, usize)>;

impl Run {
    fn new() -> Self {
        let pool = Pool::new(CHUNK_LEN, CHUNKS).expect("memory");
        let readers = (0..READERS).map(|_| (reader(&pool), Vec::new())).collect();
        Self {
            pool,
            kept: Vec::new(),
            told: Vec::new(),
            readers,
            borrowed: 0,
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Lend(len) => self.lend(len),
            Step::Let(count) => drop(self.kept.drain(..count.min(self.kept.len()))),
            Step::Borrow(reader, back) => self.borrow(reader, back),
            Step::Share(reader, index) => {
                let borrowed = &mut self.readers[reader].1;
                borrowed.extend(borrowed.get(index).cloned());
            }
            Step::Return(reader, index) => {
                let borrowed = &mut self.readers[reader].1;
                if index < borrowed.len() {
                    borrowed.remove(index);
                }
            }
            Step::Copy(reader, back) => {
                if let Some((place, bytes)) = self.told.iter().rev().nth(back) {
                    match self.readers[reader].0.read(*place, &mut Vec::new()) {
                        Ok(read) => assert_eq!(read, bytes),
                        Err(error) => assert_eq!(error, BorrowError::Reused),
                    }
                }
            }
            Step::Replace(index) => self.readers[index] = (reader(&self.pool), Vec::new()),
        }
    }

    fn lend(&mut self, len: usize) {
        let number = self.told.len();
        match lend(&self.pool, number as u8, len) {
            Ok(lent) => {
                self.told.push((lent.place(), vec![number as u8; len]));
                self.kept.push(lent);
            }
            Err(error) => {
                assert_eq!(error, LoanError::UsedUp { chunks: CHUNKS });
                assert_eq!(self.in_use(), CHUNKS, "there is an idle one");
            }
        }
    }

    fn borrow(&mut self, reader: usize, back: usize) {
        let Some((place, bytes)) = self.told.iter().rev().nth(back) else {
            return;
        };
        let is_kept = self.kept.iter().any(|lent| lent.place() == *place);
        let (reader, borrowed) = &mut self.readers[reader];
        match reader.borrow(*place) {
            Ok(held) => {
                borrowed.push((held, bytes.clone(), self.borrowed));
                self.borrowed += 1;
            }
            Err(BorrowError::TooMany { max }) => {
                let times: std::collections::BTreeSet<_> =
                    borrowed.iter().map(|(_, _, time)| time).collect();
                assert_eq!((max, times.len()), (2, 2));
            }
            Err(error) => assert!(error == BorrowError::Reused && !is_kept),
        }
    }

    /// How many chunks are kept or held.
    fn in_use(&self) -> usize {
        let held = self.readers.iter().flat_map(|(_, borrowed)| borrowed);
        let held = held.map(|(borrowed, ..)| borrowed.place().chunk);
        let kept = self.kept.iter().map(|lent| lent.place().chunk);
        let chunks: std::collections::BTreeSet<_> = held.chain(kept).collect();
        chunks.len()
    }

    fn check(&self) {
        for (borrowed, bytes, _) in self.readers.iter().flat_map(|(_, borrowed)| borrowed) {
            assert_eq!(borrowed.trusted_bytes(), bytes);
        }
        for lent in &self.kept {
            let told = self.told.iter().find(|(place, _)| *place == lent.place());
            assert_eq!(told.map(|(_, bytes)| &bytes[..]), Some(lent.bytes()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    /// What is kept or held stays as it is; everything else is lent again.
    #[test]
    #[cfg_attr(miri, ignore = "maps files")]
    fn what_anybody_has_stays_as_it_is(steps in prop::collection::vec(step(), 1..100)) {
        let mut run = Run::new();
        for step in steps {
            run.take(step);
            run.check();
        }
    }

    /// Whatever a record and the pool's memory say, a reader returns, and without looking outside of it.
    #[test]
    fn a_writer_that_lies_is_harmless(
        bytes: [u8; Place::LEN],
        chunk in prop_oneof![0..8_u32, any::<u32>()],
        number in prop_oneof![0..3_u64, any::<u64>()],
        len in prop_oneof![0..200_u32, any::<u32>()],
        says in prop_oneof![0..3_u64, any::<u64>()],
    ) {
        let shape = Shape::new(CHUNK_LEN, 4).expect("small");
        let (mut own, foreign) = heap::log(shape.len());
        for chunk in 0..shape.count() {
            own.store(chunk * shape.stride(), says, Ordering::Relaxed);
        }
        let slots = heap::common();
        let borrower = Borrower::new(foreign(), slots(), shape);
        for place in [Place::from_bytes(bytes), Place { number, chunk, len }] {
            prop_assert_eq!(Place::from_bytes(place.to_bytes()), place);
            let is_there = place.number == says && says != 0 && place.chunk < 4 && place.len() <= CHUNK_LEN;
            let held = borrower.hold(place);
            prop_assert_eq!(held.is_ok(), is_there);
            prop_assert_eq!(borrower.copy(place, &mut [0; 300]).is_ok(), is_there);
            if let Ok(slot) = held {
                let at = borrower.find(place).expect("held");
                prop_assert_eq!(borrower.pool.trusted_bytes(at, place.len()).len(), place.len());
                borrower.release(slot);
            }
        }
        prop_assert_eq!(slots().load(slot(0), Ordering::Relaxed), 0);
    }

    #[test]
    fn shapes_fit_their_bounds(chunk_len: usize, count in prop_oneof![0..600_usize, any::<usize>()], small in 0..1_usize << 24) {
        for chunk_len in [chunk_len, small] {
            if let Some(shape) = Shape::new(chunk_len, count) {
                prop_assert!(shape.len() <= MAX_POOL_BYTES && shape.stride() >= chunk_len + BYTES);
                prop_assert!(shape.slots() >= 1 && shape.slots() < shape.count());
                prop_assert!(held(shape.count() as u32 - 1) <= MAX_CHUNKS as u64);
            }
        }
    }
}

/// Without a mapping, so that Miri can follow.
#[test]
fn loans_pass_in_plain_memory() {
    let shape = Shape::new(CHUNK_LEN, 2).expect("small");
    let (own, foreign) = heap::log(shape.len());
    let slots = heap::common();
    let mut lender = Lender::new(own, shape);
    lender.seat(slots()).expect("a free seat");
    let borrower = Borrower::new(foreign(), slots(), shape);
    let mut lent = None;
    for number in 0..20_u8 {
        let mut chunk = lender.take().expect("one is held at most");
        chunk.bytes_mut(CHUNK_LEN).fill(number);
        let place = chunk.place(CHUNK_LEN);
        let early = borrower.copy(place, &mut [0; 8]);
        assert_eq!(early, Err(BorrowError::Reused));
        chunk.open();
        lender.put(chunk);
        if let Some((slot, place)) = lent {
            let at = borrower.find(place).expect("held");
            let bytes = borrower.pool.trusted_bytes(at, CHUNK_LEN);
            assert_eq!(bytes, [number - 1; CHUNK_LEN]);
            borrower.release(slot);
        }
        let slot = borrower.hold(place).expect("a free slot");
        let other = borrower.hold(place);
        assert_eq!(other, Err(BorrowError::TooMany { max: 1 }));
        lent = Some((slot, place));
    }
}

/// A reader that claims to hold what it was never told of keeps a quarter of the pool from being lent, and no more,
/// whatever it writes to its page.
#[test]
fn a_reader_that_lies_keeps_a_quarter() {
    let shape = Shape::new(CHUNK_LEN, 8).expect("small");
    let (own, _) = heap::log(shape.len());
    let slots = heap::common();
    let mut lender = Lender::new(own, shape);
    lender.seat(slots()).expect("a free seat");
    for at in 0..512 {
        slots().store(8 * at, held(at as u32 % 8), Ordering::Relaxed);
    }
    let taken: Vec<_> = std::iter::from_fn(|| lender.take()).collect();
    assert_eq!(taken.len(), 6);
    for word in [u64::MAX, 1 << 32, 9] {
        (0..512).for_each(|at| slots().store(8 * at, word, Ordering::Relaxed));
        let mut taken = lender.take().expect("nobody holds these");
        taken.open();
        lender.put(taken);
    }
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn one_reader_cannot_write_to_what_another_one_holds() {
    let pool = Pool::new(CHUNK_LEN, CHUNKS).expect("memory");
    let admissions = [(); 2].map(|()| pool.seat().expect("a free seat"));
    for admission in &admissions {
        let [memory, ..] = &admission.descriptors;
        let written = rustix::io::write(memory, b"x");
        assert_eq!(written, Err(rustix::io::Errno::PERM));
        assert!(CommonMap::map(memory).is_err());
    }
    let inodes = admissions.map(|admission| {
        let [_, slots, _] = admission.descriptors;
        rustix::fs::fstat(slots).expect("a memfd").st_ino
    });
    assert_ne!(inodes[0], inodes[1]);
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn a_pool_that_is_used_up_says_so_and_recovers() {
    let pool = Pool::new(CHUNK_LEN, 4).expect("memory");
    let reader = reader(&pool);
    let borrowed = {
        let lent = lend(&pool, 1, 10).expect("all are idle");
        reader.borrow(lent.place()).expect("kept")
    };
    let kept: Vec<_> = (0..3).map(|_| lend(&pool, 2, 10).expect("idle")).collect();
    let error = pool.loan(10).expect_err("three are kept, one is held");
    assert_eq!(error, LoanError::UsedUp { chunks: 4 });
    assert_eq!(pool.used_up(), 1);
    assert_eq!(borrowed.trusted_bytes(), [1; 10]);
    // The reader has left; what it holds is still its own.
    drop(reader);
    assert!(pool.loan(10).is_err());
    drop(borrowed);
    let loan = pool.loan(10).expect("given back");
    assert!(pool.loan(10).is_err());
    drop(loan);
    drop(kept);
    let loans: Vec<_> = std::iter::from_fn(|| pool.loan(10).ok()).collect();
    assert_eq!(loans.len(), 4);
    let error = pool.loan(CHUNK_LEN + 1).expect_err("too long");
    assert_eq!(error, LoanError::TooLong { len: 101, max: 100 });
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn seats_are_those_of_readers_that_may_hold_something() {
    let pool = Pool::new(CHUNK_LEN, CHUNKS).expect("memory");
    let readers: Vec<_> = std::iter::from_fn(|| Some(PoolReader::new(pool.seat().ok()?))).collect();
    assert_eq!(readers.len(), 62);
    let lent = lend(&pool, 1, 1).expect("idle");
    let borrowed: Vec<_> = readers
        .into_iter()
        .take(10)
        .map(|reader| reader.expect("a pool").borrow(lent.place()).expect("kept"))
        .collect();
    let again: Vec<_> = std::iter::from_fn(|| pool.seat().ok()).collect();
    assert_eq!(again.len(), 52);
    drop(borrowed);
    drop(again);
    assert!(pool.seat().is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn loans_that_are_not_published_are_not_found() {
    let pool = Pool::new(CHUNK_LEN, 2).expect("memory");
    let reader = reader(&pool);
    let mut loan = pool.loan(50).expect("idle");
    loan.truncate(70);
    assert_eq!(loan.bytes_mut().len(), 50);
    loan.truncate(20);
    assert_eq!(loan.bytes_mut().len(), 20);
    let lent = loan.publish();
    let place = lent.place();
    assert_eq!((place.len(), place.is_empty()), (20, false));
    drop(lent);
    // It is found until it is lent again: the other chunk has never been.
    assert!(reader.borrow(place).is_ok());
    let loans = [pool.loan(1), pool.loan(1)].map(|loan| loan.expect("idle"));
    assert_eq!(reader.borrow(place).expect_err("gone"), BorrowError::Reused);
    assert_eq!(
        reader.read(place, &mut Vec::new()),
        Err(BorrowError::Reused)
    );
    drop(loans);
    assert_eq!(reader.borrow(place).expect_err("gone"), BorrowError::Reused);
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn records_tell_places() {
    let pool = Pool::new(CHUNK_LEN, CHUNKS).expect("memory");
    let mut writer = LogWriter::with_pool(MIN_LOG_BYTES, pool.clone()).expect("memory");
    let ear = Ear::new().expect("descriptors");
    let bell = Arc::new(ear.bell().expect("descriptors"));
    let admission = writer.seat(bell, Gating::Overruns).expect("a free seat");
    let log = writer.descriptors();
    let log = log.map(|fd| fd.as_fd().try_clone_to_owned().expect("descriptors"));
    let mut reader = LogReader::new(log, admission, None).expect("a log");
    let lent = lend(&pool, 7, CHUNK_LEN).expect("idle");
    writer.publish(&lent.place().to_bytes()).expect("room");
    drop(lent);
    let mut buffer = Vec::new();
    let mut record = reader.next().expect("sound").expect("published");
    let bytes = record.read(&mut buffer).expect("in time");
    let place = Place::from_bytes(bytes.try_into().expect("a place"));
    let pool = reader.pool().expect("it has one");
    let borrowed = pool.borrow(place).expect("in time");
    assert_eq!(borrowed.trusted_bytes(), [7; CHUNK_LEN]);
    assert_eq!(pool.read(place, &mut buffer), Ok(&[7; CHUNK_LEN][..]));
}

#[test]
#[cfg_attr(miri, ignore = "maps files")]
fn pools_are_bounded() {
    let too_long = MAX_POOL_BYTES / 2;
    for (chunk_len, count) in [(0, 4), (10, 1), (10, 513), (too_long, 2), (usize::MAX, 2)] {
        let error = Pool::new(chunk_len, count).expect_err("out of bounds");
        assert!(matches!(error, MemoryError::Pool { .. }), "{error}");
    }
}
