//! From a listener, on whatever thread it is called, to the handler of a job.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lab_program::{Handler, Idle};

pub(crate) struct Inlet<H> {
    handler: Mutex<Option<H>>,
    taken: AtomicU64,
    is_over: Mutex<bool>,
    over: Condvar,
}

impl<H> Inlet<H> {
    pub(crate) fn new(handler: H) -> Self {
        Self {
            handler: Mutex::new(Some(handler)),
            taken: AtomicU64::new(0),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        }
    }

    /// Hands over a message, unless the handler has had enough.
    pub(crate) fn take<M: ?Sized>(&self, message: &M)
    where
        H: Handler<M>,
    {
        let mut handler = lock(&self.handler);
        self.taken.fetch_add(1, Ordering::Relaxed);
        if let Some(handler) = handler.as_mut().filter(|_| !*lock(&self.is_over))
            && handler.take(message).is_break()
        {
            *lock(&self.is_over) = true;
            self.over.notify_all();
        }
    }

    /// Sleeps until the handler has enough or messages stay away.
    pub(crate) fn wait(&self, idle: Idle) {
        let mut is_over = lock(&self.is_over);
        let mut patience = idle.first;
        while !*is_over {
            let before = self.taken.load(Ordering::Relaxed);
            let (guard, timeout) = self
                .over
                .wait_timeout(is_over, patience)
                .unwrap_or_else(PoisonError::into_inner);
            is_over = guard;
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
        while !*lock(&self.is_over) {
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
