//! Changes that were written before this writer came to be. Knows nothing of where they were kept.

use tickwire_base::{Duration, Instant};

use super::{Cursor, Writer};
use crate::change::{Change, Place};

impl Writer {
    /// Takes a change into the history that was written `age` ago, for readers that ask for history.
    /// Its [`original`](Change::original) says by whom. LIFESPAN counts from then: what has outlived it
    /// is left out. To be called before readers are matched, in the order of writing; under KEEP_LAST
    /// the oldest make way.
    pub fn restore(&mut self, now: Instant, change: Change, age: Duration, payload: &[u8]) {
        let lifespan = self.lifespan_of(change);
        if lifespan.is_some_and(|lifespan| lifespan <= age) {
            self.counters.expired += 1;
            return;
        }
        let expires_at = lifespan.map(|lifespan| now + (lifespan - age));
        let mut bytes = self.history.buffer();
        bytes.extend_from_slice(payload);
        self.make_way(change.key_hash);
        self.last = self.last.next();
        let place = Place::default();
        self.history
            .push(self.last, change, bytes, expires_at, place);
        self.cursor = Cursor::at(self.last.next());
        self.released = self.last;
        self.counters.restored += 1;
    }
}
