//! The two clocks, of this machine. A test may stop them for its own thread, which then drives its
//! participants by itself in a time that passes when the test says so.

#[cfg(test)]
pub(crate) use stopped::{both, now, timestamp};
#[cfg(not(test))]
pub(crate) use tickwire_transport::clock::{both, now, timestamp};

#[cfg(test)]
pub(crate) mod stopped {
    use std::cell::Cell;
    use std::time::Duration;

    use tickwire_base::{Instant, Timestamp};
    use tickwire_transport::clock;

    thread_local! {
        static VIRTUAL: Cell<Option<Instant>> = const { Cell::new(None) };
    }

    pub(crate) fn now() -> Instant {
        VIRTUAL.get().unwrap_or_else(clock::now)
    }

    pub(crate) fn timestamp() -> Timestamp {
        let stopped = VIRTUAL.get().map(|now| now.since(Instant::ZERO).as_nanos());
        stopped.map_or_else(clock::timestamp, |ns| {
            Timestamp::from_nanos(i64::try_from(ns).unwrap_or(i64::MAX))
        })
    }

    pub(crate) fn both() -> (Instant, Timestamp) {
        match VIRTUAL.get() {
            Some(now) => (now, timestamp()),
            None => clock::both(),
        }
    }

    /// This thread's clocks do not go on by themselves while it lives.
    pub(crate) struct StoppedClock(());

    impl StoppedClock {
        /// Stops them shortly after the machine has started: nobody waits for what is over.
        pub(crate) fn new() -> Self {
            VIRTUAL.set(Some(Instant::ZERO + Duration::from_millis(1)));
            Self(())
        }

        /// It is so much later.
        pub(crate) fn advance(&self, by: Duration) {
            VIRTUAL.set(Some(now() + by));
        }
    }

    impl Drop for StoppedClock {
        fn drop(&mut self) {
            VIRTUAL.set(None);
        }
    }
}
