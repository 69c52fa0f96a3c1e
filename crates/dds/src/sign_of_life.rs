//! When a writer with a finite lease was last heard, as the receiving threads note it without a lock
//! (DDS 1.4 §2.2.3.11). Discovery looks here when it believes a lease to have ended. Knows no lease.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use tickwire_base::Instant;
use tickwire_rtps::wire::Submessage;

/// What shows that the application of one writer lives.
#[derive(Debug, Default)]
pub(crate) struct SignOfLife {
    heard_at_ns: AtomicU64,
    /// The highest sequence number that the writer has spoken of.
    last: AtomicI64,
    /// Discovery may take the writer for dead.
    is_silent: AtomicBool,
}

impl SignOfLife {
    /// Notes a submessage of the writer; true if discovery must be told that it lives again.
    pub(crate) fn receive(&self, now: Instant, submessage: &Submessage<'_>) -> bool {
        if !self.is_shown_by(submessage) {
            return false;
        }
        // Either this is seen by `note_silence`, or that is seen here.
        self.heard_at_ns.store(now.as_nanos(), Ordering::SeqCst);
        self.is_silent.load(Ordering::SeqCst)
    }

    /// A number that it has not spoken of before shows that its application writes, and a heartbeat
    /// may say that it lives. Repairs and other heartbeats a writer sends by itself, however dead its
    /// application is (RTPS 2.5 §8.4.13.5).
    fn is_shown_by(&self, submessage: &Submessage<'_>) -> bool {
        let (number, says_so) = match submessage {
            Submessage::Data(data) => (data.sequence_number, false),
            Submessage::DataFrag(data) => (data.sequence_number, false),
            Submessage::Heartbeat(heartbeat) => (heartbeat.last, heartbeat.liveliness),
            _ => return false,
        };
        let before = self.last.fetch_max(number.0, Ordering::Relaxed);
        number.0 > before || says_so
    }

    /// Discovery has not heard the writer for a lease: when it was heard here. What is heard from here
    /// on, discovery is told.
    pub(crate) fn note_silence(&self) -> Instant {
        self.is_silent.store(true, Ordering::SeqCst);
        Instant::from_nanos(self.heard_at_ns.load(Ordering::SeqCst))
    }

    /// Discovery knows that the writer lives.
    pub(crate) fn end_silence(&self) {
        self.is_silent.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use tickwire_rtps::wire::{EntityId, Heartbeat, SequenceNumber};

    use super::*;

    fn heartbeat(last: i64, liveliness: bool) -> Submessage<'static> {
        Submessage::Heartbeat(Heartbeat {
            reader: EntityId::UNKNOWN,
            writer: EntityId::user_writer(1, true),
            first: SequenceNumber(1),
            last: SequenceNumber(last),
            count: 1,
            is_final: true,
            liveliness,
        })
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn only_what_is_new_or_says_so_shows_that_the_application_lives() {
        let sign = SignOfLife::default();
        for (ms, last, says_so, heard_at) in [
            (1, 5, false, 1),
            (2, 5, false, 1),
            (3, 4, false, 1),
            (4, 5, true, 4),
            (5, 6, false, 5),
        ] {
            sign.receive(at(ms), &heartbeat(last, says_so));
            assert_eq!(sign.note_silence(), at(heard_at), "{ms} ms");
        }
    }

    #[test]
    fn discovery_is_told_only_of_a_writer_that_it_may_take_for_dead() {
        let sign = SignOfLife::default();
        assert!(!sign.receive(at(1), &heartbeat(1, false)));
        assert_eq!(sign.note_silence(), at(1));
        assert!(!sign.receive(at(2), &heartbeat(1, false)), "a repetition");
        assert!(sign.receive(at(3), &heartbeat(2, false)));
        sign.end_silence();
        assert!(!sign.receive(at(4), &heartbeat(3, false)));
    }
}
