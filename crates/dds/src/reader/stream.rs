//! The short way of a stream into the cache: what follows a value that nothing kept out nor made way for is like it in all
//! but its number, time and value, so that nothing has to be found out for each.

use std::sync::Arc;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::reader::NextChange;
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::cache::Cache;
use super::inbox::Inbox;
use super::info::SampleInfo;
use super::sample::Sample;
use crate::type_support::TopicSupport;

/// What a stream's samples have in common that come together.
pub(super) struct Stream {
    info: SampleInfo,
    instance_index: usize,
    received_at: Instant,
    publisher: Guid,
    group_number: SequenceNumber,
    /// How many more there is room for.
    room: usize,
}

impl Stream {
    /// Whether there is room for another one.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.room > 0
    }
}

impl<T> Cache<T> {
    /// The stream whose value with that number and writer has just come, if it was [appended](Self::append) and the
    /// next one can be.
    #[inline]
    pub(super) fn begin_stream(&self, writer: Guid, number: SequenceNumber) -> Option<Stream> {
        let last = self.fresh.last()?;
        let is_last = last.info.sequence_number == number && last.info.writer == writer;
        let is_free = self.time_filter.is_none() && self.purges.is_empty() && !self.has_lifespans;
        let instance = self.instances.get(last.instance_index)?.as_ref()?;
        let held = instance.samples.len + self.fresh.len();
        let room = self.appends_below.saturating_sub(held);
        let room = room.min(self.policy.max_samples.saturating_sub(self.len()));
        (is_last && is_free).then_some(Stream {
            info: last.info,
            instance_index: last.instance_index,
            received_at: last.received_at,
            publisher: last.publisher,
            group_number: last.group_number,
            room,
        })
    }

    /// Stores the next value of a stream that has room.
    #[inline(always)]
    pub(super) fn append_next(
        &mut self,
        stream: &mut Stream,
        value: Arc<T>,
        number: SequenceNumber,
        source_timestamp: Option<Timestamp>,
    ) {
        stream.room -= 1;
        stream.info.sequence_number = number;
        stream.info.source_timestamp = source_timestamp;
        self.fresh.push(Sample {
            value: Some(value),
            info: stream.info,
            instance_index: stream.instance_index,
            received_at: stream.received_at,
            publisher: stream.publisher,
            group_number: stream.group_number,
        });
    }

    /// To be called after the last.
    #[inline]
    pub(super) fn end_stream(&mut self, stream: &Stream) {
        if let Some(Some(instance)) = self.instances.get_mut(stream.instance_index) {
            instance.has_come(stream.info.writer, stream.info.sequence_number);
        }
    }
}

impl<T: TopicSupport> Inbox<T> {
    /// Stores the values that `next` gives, which follow one that has just come, as long as they go the short way.
    #[inline(always)]
    pub(super) fn take_stream<'a>(
        &mut self,
        (writer, number): (Guid, SequenceNumber),
        mut next: impl FnMut() -> Option<NextChange<'a>>,
    ) {
        if !self.is_plain() {
            return;
        }
        let Some(mut stream) = self.cache.begin_stream(writer, number) else {
            return;
        };
        let room = stream.room;
        while stream.has_room()
            && let Some(change) = next()
        {
            match self.value_of(change.payload) {
                Some(value) => self.cache.append_next(
                    &mut stream,
                    value,
                    change.sequence_number,
                    change.source_timestamp,
                ),
                None => self.counters.undecodable += 1,
            }
        }
        self.counters.stored += (room - stream.room) as u64;
        self.cache.end_stream(&stream);
    }

    /// Whether nothing has to be done for a value but to decode it, and it is of the one instance.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.filter.is_none()
            && self.group.is_none()
            && self.latency.is_none()
            && self.deadline.is_none()
            && self.memory.is_none()
            && !self.hash_varies
            && !T::has_key(&self.ty)
    }

    /// The value of a payload, unless it is not of our type.
    #[inline(always)]
    pub(super) fn value_of(&mut self, payload: &[u8]) -> Option<Arc<T>> {
        let ty = &self.ty;
        let mut value = self.cache.value(|| T::initial(ty));
        let read = Arc::get_mut(&mut value).map(|fresh| fresh.read_payload(ty, payload));
        if let Some(Ok(())) = read {
            return Some(value);
        }
        self.cache.recycle(value);
        None
    }
}
