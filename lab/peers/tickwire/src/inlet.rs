//! From what a reader hands samples to, on whatever thread that is called, to the handler of a job.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lab_program::{Handler, Idle};

pub(crate) struct Inlet<H> {
    handler: Mutex<Option<H>>,
    /// Counted by who has the handler.
    taken: AtomicU64,
    /// Set with the handler; to wake who sleeps, while nobody looks whether to sleep.
    is_over: AtomicBool,
    looking: Mutex<()>,
    over: Condvar,
}

impl<H> Inlet<H> {
    pub(crate) fn new(handler: H) -> Self {
        Self {
            handler: Mutex::new(Some(handler)),
            taken: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            looking: Mutex::new(()),
            over: Condvar::new(),
        }
    }

    /// Hands over a message, unless the handler has had enough.
    pub(crate) fn take<M: ?Sized>(&self, message: &M)
    where
        H: Handler<M>,
    {
        let mut handler = lock(&self.handler);
        let taken = self.taken.load(Ordering::Relaxed);
        self.taken.store(taken + 1, Ordering::Relaxed);
        if let Some(handler) = handler.as_mut().filter(|_| !self.is_over())
            && handler.take(message).is_break()
        {
            let looking = lock(&self.looking);
            self.is_over.store(true, Ordering::Release);
            drop(looking);
            self.over.notify_all();
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Sleeps until the handler has enough or messages stay away.
    pub(crate) fn wait(&self, idle: Idle) {
        let mut looking = lock(&self.looking);
        let mut patience = idle.first;
        while !self.is_over() {
            let before = self.taken.load(Ordering::Relaxed);
            let (guard, timeout) = self
                .over
                .wait_timeout(looking, patience)
                .unwrap_or_else(PoisonError::into_inner);
            looking = guard;
            let taken = self.taken.load(Ordering::Relaxed);
            if timeout.timed_out() && taken == before {
                return;
            }
            if taken > 0 {
                patience = idle.between;
            }
        }
    }

    /// The same, while `turn` lets messages come.
    pub(crate) fn wait_by(&self, idle: Idle, turn: impl Fn()) {
        let (mut last, mut taken) = (Instant::now(), 0);
        while !self.is_over() {
            turn();
            let now = self.taken.load(Ordering::Relaxed);
            if now != taken {
                taken = now;
                last = Instant::now();
            } else if last.elapsed() > patience(idle, taken) {
                return;
            }
        }
    }

    /// The handler, which takes nothing more.
    pub(crate) fn end(&self) -> H {
        lock(&self.handler).take().expect("it is taken once")
    }
}

fn patience(idle: Idle, taken: u64) -> Duration {
    if taken == 0 { idle.first } else { idle.between }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
