//! Samples in memory of the application's, which are sent from there.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use tickwire_base::{Instant, Timestamp};
use tickwire_cdr::KeyHash;
use tickwire_rtps::ChangeKind;
use tickwire_rtps::wire::SequenceNumber;
use tickwire_rtps::writer::{Handed, MAX_COPIED_LEN};

use super::{DataWriter, Handle};
use crate::clock;
use crate::core::Core;
use crate::error::WriteError;
use crate::loan::{BytesInPlace, Head};
use crate::type_support::{Payload, Serialized, TopicSupport, Written};

/// Memory of the application's that a sample is sent from, such as an `Arc<Vec<u8>>`. What it gives is to stay as it is, and to
/// be given at once: it is asked for under the writer's lock. The last reference is dropped by whichever thread finds that
/// nobody needs it any more, one of the participant's or of the application's in a call with it: what is done then is
/// to be done soon, neither with the participant nor waiting for a lock under which that is called. Memory that panics when
/// it is asked for, other than in the call that hands it over, cannot be sent: readers refuse what they get instead, and
/// reliable ones wait until another sample has taken its place, for ever where the writer keeps all. That, and a panic when it is dropped, is counted in [`listener_panics`](crate::ParticipantCounters::listener_panics).
pub type HandedMemory = Handed;

/// Samples of up to so many bytes are copied when their memory is handed over, which costs less than to keep account of it.
pub const COPIED_LEN: usize = MAX_COPIED_LEN;

/// Such memory in the history, where a panic of its own would end a thread that others need.
struct Guarded {
    /// Until it is let go of.
    memory: Option<HandedMemory>,
    core: Weak<Core>,
}

impl Guarded {
    fn call<R>(&self, call: impl FnOnce() -> R) -> Option<R> {
        let panic = match catch_unwind(AssertUnwindSafe(call)) {
            Ok(result) => return Some(result),
            Err(panic) => panic,
        };
        // To drop it might be the next panic.
        mem::forget(panic);
        if let Some(core) = self.core.upgrade() {
            core.counters.listener_panics.add(1);
        }
        None
    }
}

impl AsRef<[u8]> for Guarded {
    fn as_ref(&self) -> &[u8] {
        let bytes = self.memory.as_deref();
        let bytes = self.call(|| bytes.map(AsRef::as_ref));
        bytes.flatten().unwrap_or_default()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let memory = self.memory.take();
        self.call(|| drop(memory));
    }
}

impl<T: TopicSupport> DataWriter<T> {
    /// Writes a sample whose payload is that memory behind `front`, or a copy of it.
    fn write_memory(
        &self,
        sample: &(impl Written<T> + ?Sized),
        (front, memory, is_padded): (Option<&[u8]>, &HandedMemory, bool),
        (now, timestamp): (Instant, Timestamp),
    ) -> Result<SequenceNumber, WriteError> {
        let endpoint = &self.handle.endpoint;
        let len = (**memory).as_ref().len();
        match front.filter(|_| endpoint.sends_handed(len)) {
            Some(front) => {
                let change = self.change_to(ChangeKind::Alive, sample, timestamp, None)?;
                let guarded: HandedMemory = Arc::new(Guarded {
                    memory: Some(Arc::clone(memory)),
                    core: Arc::downgrade(&endpoint.core),
                });
                endpoint.write_handed(now, &change, (front, &guarded, is_padded))
            }
            None => self.change(ChangeKind::Alive, sample, (now, timestamp)),
        }
    }
}

impl DataWriter<Serialized> {
    /// [Writes](Self::write_payload) a sample that lies encoded in memory which is handed over: of more than [`COPIED_LEN`]
    /// nothing is copied before it is sent (and where readers follow the writer's log, to there once), and the memory is let
    /// go of when all readers have it (by a TRANSIENT_LOCAL writer when others take its place in the history), the next
    /// write has come if that is soon, or the writer has ended. Shorter samples, and those of TRANSIENT and PERSISTENT
    /// writers, are copied at once. It is made at `timestamp`, or now.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_handed(
        &self,
        memory: &HandedMemory,
        key_hash: Option<KeyHash>,
        timestamp: Option<Timestamp>,
    ) -> Result<SequenceNumber, WriteError> {
        let payload = Payload::new((**memory).as_ref()).with_key_hash(key_hash);
        payload
            .check(self.handle.endpoint.representation)
            .map_err(WriteError::Sample)?;
        self.write_memory(&payload, (Some(&[]), memory, false), at(timestamp))
    }
}

impl DataWriter<BytesInPlace> {
    /// [Writes](Self::write_bytes) a sample of bytes in memory which is handed over: of more than [`COPIED_LEN`] nothing is copied
    /// before it is sent (and where readers follow the writer's log, to there once), and the memory is let go of when all
    /// readers have it (by a TRANSIENT_LOCAL writer when others take its place in the history), the next write has come if
    /// that is soon, or the writer has ended. Fewer, and those of TRANSIENT and PERSISTENT writers, are copied at once. It is made at `timestamp`, or now.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_handed(
        &self,
        memory: &HandedMemory,
        timestamp: Option<Timestamp>,
    ) -> Result<SequenceNumber, WriteError> {
        let bytes = (**memory).as_ref();
        let Handle {
            endpoint, topic, ..
        } = &*self.handle;
        let front = topic.ty().front(endpoint.representation, bytes.len());
        let front = front.as_ref().map(Head::bytes);
        self.write_memory(bytes, (front, memory, true), at(timestamp))
    }
}

/// Now, and when a sample was made.
fn at(timestamp: Option<Timestamp>) -> (Instant, Timestamp) {
    match timestamp {
        Some(timestamp) => (clock::now(), timestamp),
        None => clock::both(),
    }
}
