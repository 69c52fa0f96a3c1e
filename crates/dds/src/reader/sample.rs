//! What `read` and `take` return.

use std::sync::Arc;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::info::{SampleInfo, SampleState};
use super::insert::Arrival;
use super::instance::Instance;

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
    /// What has arrived of an instance, which is in the states that it has now.
    #[inline(always)]
    pub(super) fn new(
        arrival: &Arrival,
        value: Option<Arc<T>>,
        instance: &Instance,
        instance_index: usize,
    ) -> Self {
        Self {
            value,
            info: SampleInfo {
                sample_state: SampleState::NotRead,
                view_state: instance.view,
                instance_state: instance.state,
                source_timestamp: arrival.source_timestamp,
                kernel_timestamp: arrival.kernel_timestamp,
                reception_timestamp: arrival.reception_timestamp,
                instance: arrival.instance,
                writer: arrival.writer,
                sequence_number: arrival.sequence_number,
                related: arrival.related,
                disposed_generation_count: instance.disposed_generation,
                no_writers_generation_count: instance.no_writers_generation,
                sample_rank: 0,
                generation_rank: 0,
                absolute_generation_rank: 0,
                valid_data: arrival.kind.is_alive(),
            },
            instance_index,
            received_at: arrival.received_at,
            publisher: arrival.publisher,
            group_number: arrival.group_number,
        }
    }

    /// The value; `None` if the sample only tells that its instance was disposed of or has lost its
    /// writers.
    pub fn data(&self) -> Option<&T> {
        self.value.as_deref().filter(|_| self.info.valid_data)
    }

    /// A value whose key fields are those of the instance. Without [`data`](Self::data), the other
    /// fields mean nothing; `None` if no writer has sent the key.
    pub fn key_holder(&self) -> Option<&T> {
        self.value.as_deref()
    }

    /// The value, to be kept beyond the sample, as what it lies in.
    pub fn shared(&self) -> Option<&Arc<T>> {
        self.value.as_ref().filter(|_| self.info.valid_data)
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
