//! Changes that were written before this writer came to be. Knows nothing of where they were kept.

use tickwire_base::{Duration, Instant, copy};

use super::{Cursor, Log, Writer};
use crate::change::{Change, Place};
use crate::payload::Payload;
use crate::wire::SequenceNumber;

impl<L: Log> Writer<L> {
    /// Takes a change into the history that was written `age` ago, for readers that ask for history.
    /// Its [`original`](Change::original) says by whom. LIFESPAN counts from then: what has outlived it
    /// is left out. To be called before readers are matched, in the order of writing; under KEEP_LAST
    /// the oldest make way.
    pub fn restore(&mut self, now: Instant, change: Change, age: Duration, payload: &[u8]) {
        let lifespan = self.lifespan_of(&change);
        if lifespan.is_some_and(|lifespan| lifespan <= age) {
            self.counters.expired += 1;
            self.leave_out();
            return;
        }
        let expires_at = lifespan.map(|lifespan| now + (lifespan - age));
        let mut bytes = self.history.buffer();
        copy::append(&mut bytes, payload);
        self.make_way(change.key_hash);
        let before = self.last;
        self.last = before.next();
        let place = self.place(SequenceNumber::ZERO);
        self.history
            .push(self.last, change, Payload::of(bytes), expires_at, place);
        self.restored_up_to_last(before);
        self.note_written(now, &change, age);
        self.counters.restored += 1;
    }

    /// What is restored from here on was one coherent set. If something of it is missing, which
    /// `is_whole` tells, a number stays free, so that readers with coherent access see nothing of it
    /// (DDS 1.4 §2.2.3.6) and others get the rest.
    pub fn begin_restored_set(&mut self, is_whole: bool) {
        self.begin_set(SequenceNumber::ZERO);
        if !is_whole {
            self.leave_out();
        }
    }

    /// The set that [began](Self::begin_restored_set) is over.
    pub fn end_restored_set(&mut self) {
        let set = self.open_set.take();
        let Some(set) = set.filter(|set| set.first != SequenceNumber::ZERO) else {
            return;
        };
        let before = self.last;
        self.last = before.next();
        let place = Place {
            coherent_set: set.first,
            ..Place::default()
        };
        self.history.push_end(self.last, place);
        self.restored_up_to_last(before);
    }

    /// Leaves a number of a set free, of which something is missing. In no set, nobody would miss it.
    fn leave_out(&mut self) {
        if self.open_set.is_some() {
            self.last = self.last.next();
            self.place(SequenceNumber::ZERO);
        }
    }

    /// There is nobody yet to send it to.
    fn restored_up_to_last(&mut self, before: SequenceNumber) {
        self.cursor = Cursor::at(self.last.next());
        self.released = self.last;
        if self.config.presents {
            self.forget_end(before);
        }
    }
}
