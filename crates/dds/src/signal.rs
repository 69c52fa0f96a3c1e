//! How a thread learns that something has changed, without a cost to those who change it while
//! nobody waits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Locks, also after a listener panicked on another thread: what the lock guards is changed in steps
/// that leave it whole.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes whoever waits for a condition that this signal's owner changes.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    waiters: AtomicUsize,
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SignalState {
    generation: u64,
    /// Whether anybody sleeps who has not been woken.
    asleep: bool,
}

impl Signal {
    /// Something has changed. To be called after the change.
    pub(crate) fn raise(&self) {
        // Of this exchange and the waiter's addition one comes first: either we see the waiter, or it sees the change. A
        // fence on each side would do as well, and takes longer.
        let nobody = self
            .waiters
            .compare_exchange(0, 0, Ordering::AcqRel, Ordering::Relaxed);
        if nobody.is_err() {
            self.wake();
        }
    }

    /// Something has changed under a lock, under which those who wait for it look at it. To be called after that.
    #[inline]
    pub(crate) fn raise_of_locked(&self) {
        if self.is_awaited() {
            self.wake();
        }
    }

    /// Whether somebody waits who may not have seen a change under a lock, which has been made.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        // Who has held the lock before the change had counted itself before that, and who gets it after sees the change. For
        // who looks at a word alone instead, a fence is needed, which letting go of a lock is on x86.
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        std::sync::atomic::fence(Ordering::SeqCst);
        self.waiters.load(Ordering::Relaxed) != 0
    }

    /// Wakes those who wait.
    #[cold]
    fn wake(&self) {
        let mut state = lock(&self.state);
        state.generation += 1;
        // Those on their way to wake up will see what changes until they do.
        if std::mem::take(&mut state.asleep) {
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits until `ready` has a result, for `timeout` at most.
    pub(crate) fn wait<R>(
        &self,
        timeout: Duration,
        mut ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let started = std::time::Instant::now();
        let _waiter = Waiter::new(&self.waiters);
        loop {
            let seen = lock(&self.state).generation;
            if let Some(result) = ready() {
                return Some(result);
            }
            let mut state = lock(&self.state);
            while state.generation == seen {
                let rest = timeout.checked_sub(started.elapsed())?;
                state.asleep = true;
                state = match rest > FOREVER {
                    true => self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner),
                    false => {
                        let waited = self.changed.wait_timeout(state, rest);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                };
            }
        }
    }
}

/// Whether nobody is to wait at an entity any more.
#[derive(Debug, Default)]
pub(crate) struct Ended(AtomicBool);

impl Ended {
    /// From here on nobody is. Whoever waits looks once the signal that he waits for is raised.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// What `ready` says, or that there is nothing to wait for.
    pub(crate) fn or<R>(
        &self,
        mut ready: impl FnMut() -> Option<R>,
    ) -> impl FnMut() -> Option<Option<R>> {
        move || match ready() {
            None if self.0.load(Ordering::Acquire) => Some(None),
            result => result.map(Some),
        }
    }
}

/// Longer time-outs, which the system may not be able to represent, count as none.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Counts itself among the waiters.
struct Waiter<'a>(&'a AtomicUsize);

impl<'a> Waiter<'a> {
    fn new(waiters: &'a AtomicUsize) -> Self {
        waiters.fetch_add(1, Ordering::AcqRel);
        Self(waiters)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The wait sets that watch an entity.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    any: AtomicBool,
    signals: Mutex<Vec<Weak<Signal>>>,
}

impl Observers {
    pub(crate) fn add(&self, signal: &Arc<Signal>) {
        let mut signals = lock(&self.signals);
        signals.retain(|known| known.strong_count() > 0);
        let known = signals
            .iter()
            .any(|known| known.as_ptr() == Arc::as_ptr(signal));
        if !known {
            signals.push(Arc::downgrade(signal));
        }
        self.any.store(true, Ordering::Release);
    }

    pub(crate) fn raise(&self) {
        if !self.any.load(Ordering::Acquire) {
            return;
        }
        for signal in lock(&self.signals).iter().filter_map(Weak::upgrade) {
            signal.raise();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::thread;

    use super::*;

    #[test]
    fn no_change_is_missed() {
        let signal = Signal::default();
        let value = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=1000 {
                    value.store(number, Ordering::Relaxed);
                    signal.raise();
                }
            });
            let seen = signal.wait(Duration::from_secs(60), || {
                (value.load(Ordering::Relaxed) == 1000).then_some(())
            });
            assert_eq!(seen, Some(()));
        });
    }

    #[test]
    fn no_change_under_a_lock_is_missed() {
        let (signal, value) = (Signal::default(), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1000 {
                    *lock(&value) += 1;
                    signal.raise_of_locked();
                }
            });
            let seen = signal.wait(Duration::from_secs(60), || {
                (*lock(&value) == 1000).then_some(())
            });
            assert_eq!(seen, Some(()));
        });
    }

    #[test]
    fn a_wait_ends_in_time_and_does_not_overflow() {
        let signal = Signal::default();
        assert_eq!(signal.wait(Duration::from_millis(1), || None::<()>), None);
        assert_eq!(signal.wait(Duration::MAX, || Some(1)), Some(1));
    }

    #[test]
    fn a_wait_ends_before_its_time_when_it_is_ended() {
        let (signal, ended) = (Signal::default(), Ended::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                ended.set();
                signal.raise();
            });
            let seen = signal.wait(Duration::MAX, ended.or(|| None::<()>));
            assert_eq!(seen, Some(None));
        });
        assert_eq!(
            signal.wait(Duration::MAX, ended.or(|| Some(1))),
            Some(Some(1))
        );
    }

    #[test]
    fn observers_are_forgotten_once_dropped() {
        let observers = Observers::default();
        for _ in 0..3 {
            observers.add(&Arc::default());
        }
        let last = Arc::default();
        observers.add(&last);
        observers.add(&last);
        assert_eq!(lock(&observers.signals).len(), 1);
    }
}
