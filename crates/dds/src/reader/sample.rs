//! What `read` and `take` return.

use std::sync::Arc;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::info::SampleInfo;

/// A value and its circumstances.
#[derive(Debug)]
pub struct Sample<T> {
    pub(super) value: Option<Arc<T>>,
    /// The states of the instance, and the ranks, are those of the time when it was returned: until then
    /// they say nothing.
    pub(super) info: SampleInfo,
    pub(super) instance_index: usize,
    pub(super) received_at: Instant,
    pub(super) publisher: Guid,
    pub(super) group_number: SequenceNumber,
}

impl<T> Sample<T> {
    /// The value; `None` if the sample only tells that its instance was disposed of or has lost its
    /// writers.
    pub fn data(&self) -> Option<&T> {
        self.value.as_deref().filter(|_| self.info.valid_data)
    }

    /// A value whose key fields are those of the instance. Without [`data`](Self::data), the other
    /// fields mean nothing; `None` if the writer did not send the key.
    pub fn key_holder(&self) -> Option<&T> {
        self.value.as_deref()
    }

    /// Its circumstances.
    pub fn info(&self) -> &SampleInfo {
        &self.info
    }

    /// When it was made, as far as is known.
    pub(super) fn made(&self) -> Timestamp {
        let received = self.info.reception_timestamp;
        self.info.source_timestamp.unwrap_or(received)
    }
}

/// The value is shared.
impl<T> Clone for Sample<T> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            ..*self
        }
    }
}
