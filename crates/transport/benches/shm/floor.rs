//! By hand: a flag and a copy, a futex, copies of a ring's bytes. Without wrapping, checks, or seats.

#![allow(unsafe_code, reason = "what the log is compared with")]

use std::cell::UnsafeCell;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use rustix::thread::futex;
use tickwire_transport::clock::now;

use super::pin;

/// A flag, and the payload that it announces in the line after it.
#[repr(C, align(64))]
struct Box {
    flag: AtomicU32,
    pad: [u32; 15],
    payload: UnsafeCell<[u8; 65_536]>,
}

// SAFETY: who has seen the flag change has the payload until it changes the other box's.
unsafe impl Sync for Box {}

impl Box {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            flag: AtomicU32::new(0),
            pad: [0; 15],
            payload: UnsafeCell::new([0; 65_536]),
        })
    }

    fn put(&self, payload: &[u8], turn: u32) {
        let _ = self.pad;
        // SAFETY: the other side waits for the flag.
        unsafe { (&mut *self.payload.get())[..payload.len()].copy_from_slice(payload) };
        self.flag.store(turn, Ordering::Release);
    }

    fn take(&self, into: &mut [u8], turn: u32) {
        while self.flag.load(Ordering::Acquire) != turn {
            spin_loop();
        }
        let len = into.len();
        // SAFETY: the other side has stored the flag and waits for the other box's.
        into.copy_from_slice(unsafe { &(&*self.payload.get())[..len] });
    }
}

/// Half a round trip, in nanoseconds.
pub(super) fn spinning(len: usize, count: u32) -> f64 {
    let [there, back] = [Box::new(), Box::new()];
    let (their_there, their_back) = (Arc::clone(&there), Arc::clone(&back));
    let echo = thread::spawn(move || {
        pin(1);
        let mut buffer = vec![0; len];
        for turn in 1..=count {
            their_there.take(&mut buffer, turn);
            their_back.put(&buffer, turn);
        }
    });
    let mut buffer = vec![7; len];
    let start = now();
    for turn in 1..=count {
        there.put(&buffer, turn);
        back.take(&mut buffer, turn);
    }
    let taken = now().since(start);
    echo.join().expect("no panic");
    taken.as_nanos() as f64 / f64::from(count) / 2.0
}

/// Half a round trip of two threads that sleep in futexes, in nanoseconds.
pub(super) fn blocking(count: u32) -> f64 {
    let words = Arc::new([const { AtomicU32::new(0) }; 2]);
    let theirs = Arc::clone(&words);
    let wait = |word: &AtomicU32, turn: u32| {
        while word.load(Ordering::Acquire) != turn {
            let _ = futex::wait(word, futex::Flags::empty(), turn - 1, None);
        }
    };
    let wake = |word: &AtomicU32, turn: u32| {
        word.store(turn, Ordering::Release);
        let _ = futex::wake(word, futex::Flags::empty(), 1);
    };
    let echo = thread::spawn(move || {
        pin(1);
        for turn in 1..=count {
            wait(&theirs[0], turn);
            wake(&theirs[1], turn);
        }
    });
    let start = now();
    for turn in 1..=count {
        wake(&words[0], turn);
        wait(&words[1], turn);
    }
    let taken = now().since(start);
    echo.join().expect("no panic");
    taken.as_nanos() as f64 / f64::from(count) / 2.0
}

/// Nanoseconds a copy within one core, through memory as large as the log.
pub(super) fn copying(len: usize, count: u32) -> f64 {
    let mut memory = vec![1; super::LOG_BYTES];
    let payload = vec![7; len];
    let start = now();
    let mut copied = 0;
    while copied < count {
        for slot in memory.chunks_exact_mut(len) {
            slot.copy_from_slice(black_box(&payload));
            copied += 1;
        }
        black_box(&mut memory);
    }
    now().since(start).as_nanos() as f64 / f64::from(copied)
}
