//! The shortest way of a sample, past the cache: where what takes samples as they come has had all before it, what follows of
//! a stream is like the last one in all but writer, number, times and value, which are replaced where they lie.

use std::mem;
use std::sync::Arc;

use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::cache::Cache;
use super::inbox::Inbox;
use super::info::ViewState;
use super::sample::Sample;
use super::shared::ReaderState;
use crate::lane::PlainSamples;
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

/// What was handed out last, to be used again.
pub(super) struct Straight<T> {
    /// Of one stream. The first one is like what comes next, and all may be written to.
    samples: Vec<Sample<T>>,
    /// How many of them are to be handed out.
    len: usize,
}

impl<T> Default for Straight<T> {
    fn default() -> Self {
        Self {
            samples: Vec::new(),
            len: 0,
        }
    }
}

impl<T> Straight<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Those to be handed out, of as many as there are; to be [returned](Self::come_back).
    pub(super) fn take(&mut self) -> (Vec<Sample<T>>, usize) {
        (mem::take(&mut self.samples), mem::take(&mut self.len))
    }

    /// Takes back what was handed out.
    pub(super) fn come_back(&mut self, samples: Vec<Sample<T>>) {
        self.samples = samples;
    }

    /// The place of the next sample, like the first one.
    #[inline(always)]
    fn next(&mut self) -> Option<&mut Sample<T>> {
        if self.len == self.samples.len() {
            let like = Sample {
                value: None,
                ..*self.samples.first()?
            };
            self.samples.push(like);
        }
        self.samples.get_mut(self.len)
    }
}

impl<T> Cache<T> {
    /// How many samples of a writer need nothing of the cache but to pass by it, where the last one, of whatever writer, was
    /// this.
    #[inline(always)]
    fn room_beside(&self, last: &Sample<T>, writer: Guid) -> usize {
        let is_free = self.len() == 0
            && self.time_filter.is_none()
            && self.purges.is_empty()
            && !self.has_lifespans;
        let info = &last.info;
        let instance = self.instances.get(last.instance_index);
        let is_like = instance.and_then(Option::as_ref).is_some_and(|instance| {
            instance.would_go_on(writer)
                && instance.view == ViewState::NotNew
                && instance.disposed_generation == info.disposed_generation_count
                && instance.no_writers_generation == info.no_writers_generation_count
        });
        match is_free && is_like {
            true => self.appends_below.min(self.policy.max_samples),
            false => 0,
        }
    }

    /// So many have passed by, up to this one.
    #[inline(always)]
    fn passed_by(&mut self, last: &Sample<T>, count: usize) {
        self.gone += count as u64;
        if let Some(Some(instance)) = self.instances.get_mut(last.instance_index) {
            instance.has_come(last.info.writer, last.info.sequence_number);
            instance.state_since = last.received_at;
        }
    }
}

impl<T: TopicSupport> ReaderState<T> {
    /// Takes samples for what takes them at once, where they follow what that had last. False, and none is, if the first
    /// of them has to take another way.
    #[inline(always)]
    pub(super) fn take_straight(&mut self, samples: &mut PlainSamples<'_>) -> bool {
        let Self {
            machine,
            inbox,
            each,
            ..
        } = self;
        if !each.is_at_hand() || !inbox.is_plain() || inbox.is_stalled {
            return false;
        }
        let straight = &mut each.straight;
        // Not what a panic may have left.
        straight.len = 0;
        let writer = samples.writer();
        let last = straight.samples.first();
        let room = last.map_or(0, |last| inbox.cache.room_beside(last, writer));
        let Some(expected) = machine.expects(writer).filter(|_| room > 0) else {
            return false;
        };
        let (now, timestamp) = (samples.now, samples.timestamp);
        let kernel_timestamp = samples.kernel_timestamp();
        let mut number = expected;
        while straight.len < room.min(MAX_STRAIGHT)
            && let Some(change) = samples.next_of(number)
            && let Some(sample) = straight.next()
        {
            number = number.next();
            if !inbox.read_again(&mut sample.value, change.payload) {
                continue;
            }
            let info = &mut sample.info;
            info.writer = writer;
            info.sequence_number = change.sequence_number;
            info.source_timestamp = change.source_timestamp;
            info.kernel_timestamp = kernel_timestamp;
            info.reception_timestamp = timestamp;
            info.sample_rank = 0;
            sample.received_at = now;
            sample.publisher = writer;
            straight.len += 1;
        }
        if number == expected {
            return false;
        }
        machine.went_on(writer, number);
        let taken = &mut straight.samples[..straight.len];
        if let Some(last) = taken.last() {
            inbox.now = now;
            inbox.timestamp = timestamp;
            inbox.counters.stored += taken.len() as u64;
            inbox.cache.passed_by(last, taken.len());
        }
        if taken.len() > 1 {
            for (rank, sample) in (0..).zip(taken.iter_mut().rev()) {
                sample.info.sample_rank = rank;
            }
        }
        true
    }

    /// Leaves in the cache what was [taken](Self::take_straight) and cannot be handed out yet.
    pub(super) fn leave_straight(&mut self) {
        let straight = &mut self.each.straight;
        let taken = mem::take(&mut straight.len);
        for sample in &mut straight.samples[..taken] {
            self.inbox.cache.gone -= 1;
            self.inbox.cache.fresh.push(Sample {
                value: sample.value.take(),
                ..*sample
            });
            self.inbox.news |= StatusMask::DATA_AVAILABLE;
        }
    }

    /// What comes next may be like this one, which has been handed out from the cache as it came.
    pub(super) fn remember(&mut self, mut sample: Sample<T>) {
        // Where it said more, what comes next does not.
        sample.info.view_state = ViewState::NotNew;
        sample.info.related = None;
        sample.group_number = SequenceNumber::ZERO;
        let Self { inbox, each, .. } = self;
        if let Some(value) = sample.value.take() {
            inbox.cache.recycle(value);
        }
        inbox.cache.recycle_all(&mut each.straight.samples);
        each.straight.samples.push(sample);
    }

    /// Whether what comes next may be like what this writer wrote.
    pub(super) fn is_to_remember(&self, writer: Guid) -> bool {
        self.inbox.is_plain() && self.machine.expects(writer).is_some()
    }
}

impl<T: TopicSupport> Inbox<T> {
    /// Reads into a value that was handed out, unless the application has kept it: then into another one. False if the
    /// payload is not of our type.
    #[inline(always)]
    fn read_again(&mut self, value: &mut Option<Arc<T>>, payload: &[u8]) -> bool {
        let Some(fresh) = value.as_mut().and_then(Arc::get_mut) else {
            *value = self.value_of(payload);
            self.counters.undecodable += u64::from(value.is_none());
            return value.is_some();
        };
        let is_read = fresh.read_payload(&self.ty, payload).is_ok();
        self.counters.undecodable += u64::from(!is_read);
        is_read
    }
}

/// Samples that are handed out together this way at most, whose memory is kept.
const MAX_STRAIGHT: usize = 64;
