//! What has been sent and not been acknowledged, fragments of the change under way among it, and whether
//! more fragments may follow now.
//!
//! Fragments go as long as what is in flight fits the [window](super::window), which losses narrow, or by
//! a log, of which nobody loses anything so soon, as long as it fits the longest message. So a
//! large sample leaves as fast as its readers acknowledge, by whatever acknowledges:
//!
//! ```text
//!   writer                                reader
//!     │ ── DATA_FRAG 1 to 8 ─────────────────► │
//!     │ ── HEARTBEAT_FRAG, last 8 ───────────► │  has all of them
//!     │ ── DATA_FRAG 9 to 16 ────────────────► │
//!     │ ◄───────── NACK_FRAG, base 9, empty ── │  everything below 9 is there
//! ```
//!
//! A NACK_FRAG that asks for nothing is ours: only Tickwire's readers send it, and only to Tickwire's
//! writers. Others acknowledge whole changes. What does not fit the window goes at the pace of
//! [bursts](super::pacer), so that nothing waits for an acknowledgement that never comes.

use tickwire_base::Instant;

use super::{Log, Writer};
use crate::outbox::Outbox;
use crate::wire::SequenceNumber;

impl<L: Log> Writer<L> {
    /// Bytes that have been sent and that some reliable reader has not acknowledged.
    fn in_flight(&self) -> usize {
        let acked = self.readers.iter().filter(|reader| reader.proxy.reliable);
        let acked = acked.map(|reader| match reader.acked_fragments {
            (number, last) if number == self.cursor.number => last,
            _ => 0,
        });
        let acked = acked
            .min()
            .map_or(0, |last| self.composer.fragments_len(last));
        self.sent_len().saturating_sub(acked)
    }

    /// The same as if no fragment of the change under the cursor were acknowledged.
    pub(super) fn sent_len(&self) -> usize {
        let sent = self.unreleased_len.saturating_sub(self.unsent_len);
        sent + self.composer.fragments_len(self.cursor.fragment - 1)
    }

    /// Whether another fragment of the change under the cursor may go now.
    pub(super) fn admits_fragment(&mut self, now: Instant, reliable: bool, by_log: bool) -> bool {
        let len = self.composer.full_fragment_len();
        let log = self.log.max_len().filter(|_| by_log).unwrap_or(0);
        let fits = reliable && self.in_flight() + len <= self.window.len().max(log);
        fits || self.pacer.take(now, len)
    }

    /// A reader has all fragments of a change up to `last`. False if it cannot have.
    pub(super) fn acknowledge_fragments(
        &mut self,
        now: Instant,
        index: usize,
        (number, last): (SequenceNumber, u32),
        outbox: &mut Outbox,
    ) -> bool {
        if number < self.cursor.number {
            // Sent whole meanwhile: it is acknowledged as such.
            return true;
        }
        if number > self.cursor.number || last >= self.cursor.fragment {
            return false;
        }
        let acked = &mut self.readers[index].acked_fragments;
        *acked = (number, last).max(*acked);
        self.send_new(now, outbox);
        true
    }
}
