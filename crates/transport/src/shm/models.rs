//! The lock-free parts under loom, which tries the orders of events that the rules for atomics allow, up to
//! two changes of thread at inopportune moments:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --release --target-dir target/loom -p tickwire-transport --lib models
//! ```

use std::sync::Arc;

use loom::model::Builder;
use loom::sync::Notify;
use loom::thread;

use super::consumer::Consumer;
use super::layout::{RING, Ring};
use super::map::{CommonMap, heap};
use super::pool::{
    self,
    BorrowError::{self, Reused, TooMany},
    Borrower, Lender, Place, Shape,
};
use super::producer::{NoRoom, Producer};
use super::{Lost, NextError, Note, doze};

/// Room for four records of the two words that models publish.
const RING_LEN: usize = 128;
const PAYLOAD_LEN: u32 = 16;

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut model = Builder::new();
    model.preemption_bound = Some(2);
    model.check(test);
}

/// A log with readers, of which the writer waits for those that are `gating`.
fn log<const N: usize>(gating: [bool; N]) -> (Producer, [Consumer; N]) {
    log_by_steps(gating, RING_LEN as u64)
}

/// That gets memory by such steps.
fn log_by_steps<const N: usize>(gating: [bool; N], step: u64) -> (Producer, [Consumer; N]) {
    let ring = Ring::new(RING_LEN as u64).expect("a power of two");
    let (own, foreign) = heap::log(RING + RING_LEN);
    let control = heap::common();
    let mut producer = Producer::new(own, control(), ring, step);
    let consumers = gating.map(|gating| {
        let start = producer.seat(gating).expect("free seats");
        Consumer::new(foreign(), control(), ring, start)
    });
    (producer, consumers)
}

/// A record that says its number twice.
fn publish(producer: &mut Producer, number: u64) -> Result<(), NoRoom> {
    let at = producer.claim(PAYLOAD_LEN)?;
    producer.log.write(at, &[number, number]);
    producer.publish(PAYLOAD_LEN, 0);
    Ok(())
}

/// The next record's number, if there is one and it is whole.
fn read(consumer: &mut Consumer) -> Result<Option<u64>, NextError> {
    let Some(found) = consumer.next()? else {
        return Ok(None);
    };
    let mut payload = [0; PAYLOAD_LEN as usize];
    consumer
        .copy(found, &mut payload)
        .map_err(NextError::Overrun)?;
    let words = payload.as_chunks::<8>().0;
    let [one, two] = [words[0], words[1]].map(u64::from_ne_bytes);
    assert_eq!([one, two], [found.sequence; 2], "torn");
    Ok(Some(one))
}

#[test]
fn what_is_overrun_is_never_taken_for_whole() {
    model(|| {
        let (mut producer, [mut consumer]) = log([false]);
        for number in 0..3 {
            publish(&mut producer, number).expect("nobody is waited for");
        }
        let writer = thread::spawn(move || {
            for number in 3..6 {
                publish(&mut producer, number).expect("nobody is waited for");
            }
        });
        let mut last = None;
        for _ in 0..3 {
            match read(&mut consumer) {
                Ok(None) | Err(NextError::Overrun(_)) => {}
                Ok(number) => {
                    assert!(number > last);
                    last = number;
                }
                Err(NextError::Malformed) => panic!("the writer keeps to the layout"),
            }
        }
        writer.join().expect("no panic");
    });
}

#[test]
fn a_run_that_is_overrun_is_never_taken_for_whole() {
    model(|| {
        let (mut producer, [mut consumer]) = log([false]);
        for number in 0..2 {
            publish(&mut producer, number).expect("nobody is waited for");
        }
        let writer = thread::spawn(move || {
            for number in 2..5 {
                publish(&mut producer, number).expect("nobody is waited for");
            }
        });
        let mut next = 0;
        for _ in 0..2 {
            let (mut buffer, mut records) = (Vec::new(), Vec::new());
            match consumer.copy_run((3, RING_LEN as u64), &mut buffer, &mut records) {
                Ok(()) => {}
                Err(NextError::Overrun(_)) => assert!(records.is_empty()),
                Err(NextError::Malformed) => panic!("the writer keeps to the layout"),
            }
            for record in records {
                let words = buffer[record.place].as_chunks::<8>().0;
                let [one, two] = [words[0], words[1]].map(u64::from_ne_bytes);
                assert!(one == two && one >= next, "torn");
                next = one + 1;
            }
        }
        writer.join().expect("no panic");
    });
}

/// Whether the second and the third record lie behind the first or begin a lap, as the reader had read all before
/// or not, it gets them.
#[test]
fn a_log_that_turns_early_overruns_nobody_that_keeps_up() {
    model(|| {
        let (mut producer, [mut consumer]) = log_by_steps([false], 64);
        let writer = thread::spawn(move || {
            for number in 0..3 {
                publish(&mut producer, number).expect("nobody is waited for");
            }
        });
        let mut expected = 0;
        while expected < 3 {
            match read(&mut consumer) {
                Ok(Some(number)) => {
                    assert_eq!(number, expected);
                    expected += 1;
                }
                Ok(None) => {
                    consumer.tell_all();
                    thread::yield_now();
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(consumer.lost(), Lost::default());
        writer.join().expect("no panic");
    });
}

#[test]
fn the_writer_waits_for_a_gating_reader() {
    model(|| {
        let (mut producer, [mut consumer]) = log([true]);
        let mut number = 0;
        while publish(&mut producer, number).is_ok() {
            number += 1;
        }
        let reader = thread::spawn(move || {
            for expected in 0..=number {
                loop {
                    consumer.tell();
                    match read(&mut consumer) {
                        Ok(Some(number)) => break assert_eq!(number, expected),
                        Ok(None) => thread::yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
        while publish(&mut producer, number).is_err() {
            thread::yield_now();
        }
        reader.join().expect("no panic");
    });
}

/// Loom says so if a thread is never woken.
#[test]
fn readers_that_lie_down_hear_of_what_is_published() {
    model(|| {
        let (mut producer, consumers) = log([false, false]);
        let readers: Vec<_> = consumers
            .into_iter()
            .map(|consumer| Reader::start(consumer, 0))
            .collect();
        publish(&mut producer, 0).expect("room");
        ring(&producer, &readers);
        for reader in readers {
            reader.thread.join().expect("no panic");
        }
    });
}

#[test]
fn a_reader_that_lies_down_again_hears_of_what_is_published_next() {
    one_lies_down_again(RING_LEN as u64);
}

/// The second record begins a lap, if the first was read.
#[test]
fn a_reader_that_lies_down_again_hears_of_what_is_published_where_the_log_has_turned() {
    one_lies_down_again(64);
}

fn one_lies_down_again(step: u64) {
    model(move || {
        let (mut producer, [consumer]) = log_by_steps([false], step);
        let readers = [Reader::start(consumer, 1)];
        for number in 0..2 {
            publish(&mut producer, number).expect("room");
            ring(&producer, &readers);
        }
        let [reader] = readers;
        reader.thread.join().expect("no panic");
    });
}

/// The reader that makes room first does not make all of it.
#[test]
fn a_writer_that_wants_room_hears_of_it() {
    model(|| {
        let (mut producer, consumers) = log([true, true]);
        let mut number = 0;
        while publish(&mut producer, number).is_ok() {
            number += 1;
        }
        let ear = heap::common();
        let own = ear();
        let event = Arc::new(Notify::new());
        let readers = consumers.map(|mut consumer| {
            let (ear, to_ring) = (ear(), Arc::clone(&event));
            thread::spawn(move || {
                while let Ok(Some(_)) = read(&mut consumer) {
                    if consumer.tell() && doze::rouse(&ear) {
                        to_ring.notify();
                    }
                }
            })
        });
        while publish(&mut producer, number).is_err() {
            doze::lie_down(&own, [].into_iter());
            producer.want_room();
            if producer.claim(PAYLOAD_LEN).is_err() {
                event.wait();
            }
            doze::wake(&own);
        }
        for reader in readers {
            reader.join().expect("no panic");
        }
    });
}

/// A reader that is asked for by one name, then by another.
#[test]
fn a_note_is_never_of_one_and_about_another() {
    model(|| {
        let (producer, [mut consumer]) = log([false]);
        let notes = [(1, 5), (2, 3), (1, 5), (2, 4)].map(|(whom, number)| Note { whom, number });
        let reader = thread::spawn(move || {
            for note in notes {
                consumer.leave_note(0, note);
            }
        });
        for _ in 0..2 {
            let note = producer.note(0, 0);
            assert!(note.is_none_or(|note| notes.contains(&note)), "{note:?}");
        }
        reader.join().expect("no panic");
        assert_eq!(producer.note(0, 0), notes.last().copied());
    });
}

/// A pool of one chunk, with readers.
fn pool<const N: usize>() -> (Lender, [Borrower; N]) {
    let shape = Shape::new(PAYLOAD_LEN as usize, 2).expect("small");
    let (own, foreign) = heap::pool(pool::BYTES, pool::BYTES + PAYLOAD_LEN as usize);
    let mut lender = Lender::new(own, shape);
    let borrowers = [(); N].map(|()| {
        let slots = heap::common();
        lender.seat(slots()).expect("free seats");
        Borrower::new(foreign(), slots(), shape)
    });
    (lender, borrowers)
}

/// Lends what says its number twice. `None` if somebody holds the chunk.
fn lend(lender: &mut Lender) -> Option<Place> {
    let mut chunk = lender.take()?;
    let place = chunk.place(PAYLOAD_LEN as usize);
    chunk.part.write(pool::BYTES, &[place.number(); 2]);
    chunk.open();
    lender.put(chunk);
    Some(place)
}

fn check(payload: [u8; PAYLOAD_LEN as usize], place: Place) {
    let words = payload.as_chunks::<8>().0;
    let words = [words[0], words[1]].map(u64::from_ne_bytes);
    assert_eq!(words, [place.number(); 2], "changed");
}

/// Holds what lies there while it looks at it.
fn borrow(borrower: &Borrower, place: Place) -> Result<(), BorrowError> {
    let slot = borrower.hold(place)?;
    let mut payload = [0; PAYLOAD_LEN as usize];
    borrower.pool.copy(pool::BYTES, &mut payload);
    check(payload, place);
    borrower.release(slot);
    Ok(())
}

#[test]
fn what_is_held_stays_as_it_is() {
    model(|| {
        let (mut lender, borrowers) = pool::<2>();
        let place = lend(&mut lender).expect("nobody holds it");
        let readers = borrowers.map(|borrower| thread::spawn(move || borrow(&borrower, place)));
        lend(&mut lender);
        for reader in readers {
            let _ = reader.join().expect("no panic");
        }
        lend(&mut lender).expect("released");
    });
}

#[test]
fn what_is_lent_anew_while_it_is_copied_is_not_believed() {
    model(|| {
        let (mut lender, [borrower]) = pool();
        let place = lend(&mut lender).expect("nobody holds it");
        let reader = thread::spawn(move || {
            let mut payload = [0; PAYLOAD_LEN as usize];
            if borrower.copy(place, &mut payload).is_ok() {
                check(payload, place);
            }
        });
        lend(&mut lender).expect("nobody holds it");
        reader.join().expect("no panic");
    });
}

/// The first to let go does not let go for the other.
#[test]
fn what_is_held_twice_by_one_slot_stays_until_both_have_let_go() {
    model(|| {
        let (mut lender, [borrower]) = pool();
        let borrower = Arc::new(borrower);
        let place = lend(&mut lender).expect("nobody holds it");
        let slot = borrower.hold(place).expect("free");
        borrower.share(slot);
        let other = Arc::clone(&borrower);
        let look = move |borrower: &Borrower| {
            let mut payload = [0; PAYLOAD_LEN as usize];
            borrower.pool.copy(pool::BYTES, &mut payload);
            check(payload, place);
            borrower.release(slot);
        };
        let thread = thread::spawn(move || look(&other));
        let writer = thread::spawn(move || {
            lend(&mut lender);
            lender
        });
        look(&borrower);
        thread.join().expect("no panic");
        let mut lender = writer.join().expect("no panic");
        lend(&mut lender).expect("released");
    });
}

/// A thread holds by the slot that another one has released.
#[test]
fn threads_that_share_slots_do_not_release_for_each_other() {
    model(|| {
        let (mut lender, [borrower]) = pool();
        let borrower = Arc::new(borrower);
        let place = lend(&mut lender).expect("nobody holds it");
        let other = Arc::clone(&borrower);
        let thread = thread::spawn(move || borrow(&other, place));
        let writer = thread::spawn(move || {
            lend(&mut lender);
            lender
        });
        let own = borrow(&borrower, place);
        let held = [own, thread.join().expect("no panic")];
        let is_known = |held| matches!(held, Ok(()) | Err(TooMany { max: 1 } | Reused));
        assert!(held.into_iter().all(is_known));
        let mut lender = writer.join().expect("no panic");
        lend(&mut lender).expect("released");
    });
}

/// A thread that reads records up to a number, and sleeps while there are none.
struct Reader {
    ear: CommonMap,
    event: Arc<Notify>,
    thread: thread::JoinHandle<()>,
}

impl Reader {
    fn start(mut consumer: Consumer, up_to: u64) -> Self {
        let ear = heap::common();
        let event = Arc::new(Notify::new());
        let (own, to_wait) = (ear(), Arc::clone(&event));
        let thread = thread::spawn(move || {
            loop {
                match read(&mut consumer) {
                    Ok(Some(number)) if number == up_to => break,
                    Ok(Some(_)) => {}
                    Ok(None) => {
                        consumer.tell_all();
                        if doze::lie_down(&own, [&consumer].into_iter()) {
                            to_wait.wait();
                        }
                    }
                    Err(error) => panic!("{error}"),
                }
                doze::wake(&own);
            }
        });
        Self {
            ear: ear(),
            event,
            thread,
        }
    }
}

fn ring(producer: &Producer, readers: &[Reader]) {
    if producer.bell() {
        for reader in readers.iter().filter(|reader| doze::rouse(&reader.ear)) {
            reader.event.notify();
        }
    }
}
