//! Fragments of one writer's samples until they are whole (RTPS 2.5 §8.4.14). Bounded in number,
//! bytes and age; asks for nothing.
//!
//! Fragments that come in order are put one behind the other, into memory that was used before if there is
//! some: no byte is written twice, and no page is asked of the system for each sample.

use alloc::vec;
use alloc::vec::Vec;

use tickwire_base::{Instant, Timestamp, copy};

use super::ReaderConfig;
use super::reorder::{Bytes, Content, HeldChange};
use crate::change::{ChangeKind, KeyHash, OriginalWriter, Place, SampleIdentity};
use crate::pool::BufferPool;
use crate::wire::{DataFrag, FragmentNumberSet, SequenceNumber};

/// Why a fragment was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FragmentError {
    /// It contradicts itself or an earlier fragment.
    Misbehaved,
    /// The sample is larger than the reader takes, or there are too many others.
    NoRoom,
}

/// What the partial samples of one writer may take of what all may.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub(super) count: usize,
    pub(super) len: usize,
}

/// The partial samples of one writer, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    partials: Vec<Partial>,
    /// Bytes reserved.
    len: usize,
    /// Samples that made way for others.
    evicted: u64,
}

#[derive(Debug)]
pub(super) struct Partial {
    pub(super) number: SequenceNumber,
    kind: ChangeKind,
    source_timestamp: Option<Timestamp>,
    key_hash: Option<KeyHash>,
    place: Place,
    original: Option<OriginalWriter>,
    related: Option<SampleIdentity>,
    is_key: bool,
    fragment_len: usize,
    fragment_count: u32,
    received: Vec<u64>,
    received_count: u32,
    sample_len: usize,
    /// Up to the end of the last fragment that has come, with zeros for those that lack before it.
    bytes: Vec<u8>,
    touched_at: Instant,
    /// The last fragment that the writer said it has sent.
    pub(super) announced: u32,
    /// Whether it is to be told once all up to that are there, as some were not when it said so.
    pub(super) owes_answer: bool,
}

impl Reassembly {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Partial> {
        self.partials.iter()
    }

    /// Samples that made way for others so far.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.partials.len()
    }

    /// Bytes reserved.
    pub(super) fn bytes(&self) -> usize {
        self.len
    }

    pub(super) fn get_mut(&mut self, number: SequenceNumber) -> Option<&mut Partial> {
        let at = self.find(number).ok()?;
        self.partials.get_mut(at)
    }

    /// Whether a writer waits to hear that all it has sent of a change is there.
    pub(super) fn is_asked_of(&self, number: SequenceNumber) -> bool {
        let partial = self.find(number).ok().and_then(|at| self.partials.get(at));
        partial.is_some_and(|partial| partial.owes_answer)
    }

    /// The same, and all of it is.
    pub(super) fn owes_answer(&self, number: SequenceNumber) -> bool {
        let partial = self.find(number).ok().and_then(|at| self.partials.get(at));
        partial.is_some_and(|partial| partial.owes_answer && partial.has_announced())
    }

    pub(super) fn contains(&self, number: SequenceNumber) -> bool {
        self.find(number).is_ok()
    }

    /// Begins a sample. Where room lacks, a higher number makes way for a lower one, or the other way
    /// round if only the newest count.
    pub(super) fn begin(
        &mut self,
        partial: Partial,
        newest_first: bool,
        room: Room,
        config: &ReaderConfig,
    ) -> Result<(), FragmentError> {
        let room = Room {
            count: room.count.min(config.max_partial.max(1)),
            len: room.len.min(config.max_partial_len),
        };
        self.make_room(&partial, newest_first, room)?;
        let (Ok(at) | Err(at)) = self.find(partial.number);
        self.len += partial.sample_len;
        self.partials.insert(at, partial);
        Ok(())
    }

    /// Takes the fragments of one submessage, of a sample that has begun; the sample if it is whole now. Its
    /// memory is of the pool, to which it is to be given back.
    pub(super) fn insert(
        &mut self,
        now: Instant,
        data: &DataFrag<'_>,
        config: &ReaderConfig,
        pool: &mut BufferPool,
    ) -> Result<Option<HeldChange>, FragmentError> {
        let at = self.find(data.sequence_number);
        let at = at.map_err(|_| FragmentError::Misbehaved)?;
        let partial = self.partials.get_mut(at).ok_or(FragmentError::Misbehaved)?;
        partial.insert(now, data, config, pool)?;
        if partial.received_count < partial.fragment_count {
            return Ok(None);
        }
        Ok(Some(self.remove(at).finish()))
    }

    /// Gives up all samples below `end`.
    pub(super) fn remove_below(&mut self, end: SequenceNumber) {
        while self
            .partials
            .first()
            .is_some_and(|partial| partial.number < end)
        {
            self.remove(0);
        }
    }

    /// When the next sample will be given up for its age.
    pub(super) fn expires_at(&self, config: &ReaderConfig) -> Option<Instant> {
        let touched = self.partials.iter().map(|partial| partial.touched_at);
        touched.min().map(|at| at + config.fragment_timeout)
    }

    /// Gives up samples whose fragments have stopped coming; says how many.
    pub(super) fn expire(&mut self, now: Instant, config: &ReaderConfig) -> u64 {
        let before = self.partials.len();
        let len = &mut self.len;
        self.partials.retain(|partial| {
            let young = now < partial.touched_at + config.fragment_timeout;
            if !young {
                *len -= partial.sample_len;
            }
            young
        });
        (before - self.partials.len()) as u64
    }

    fn make_room(
        &mut self,
        partial: &Partial,
        newest_first: bool,
        room: Room,
    ) -> Result<(), FragmentError> {
        while self.partials.len() >= room.count
            || self.len.saturating_add(partial.sample_len) > room.len
        {
            let at = match newest_first {
                true => 0,
                false => self.partials.len().saturating_sub(1),
            };
            let victim = self.partials.get(at).ok_or(FragmentError::NoRoom)?;
            if (victim.number < partial.number) != newest_first {
                return Err(FragmentError::NoRoom);
            }
            self.remove(at);
            self.evicted += 1;
        }
        Ok(())
    }

    fn remove(&mut self, at: usize) -> Partial {
        let partial = self.partials.remove(at);
        self.len -= partial.sample_len;
        partial
    }

    fn find(&self, number: SequenceNumber) -> Result<usize, usize> {
        self.partials
            .binary_search_by_key(&number, |partial| partial.number)
    }
}

impl Partial {
    /// A sample of which these fragments come first.
    pub(super) fn new(
        now: Instant,
        data: &DataFrag<'_>,
        source_timestamp: Option<Timestamp>,
        config: &ReaderConfig,
    ) -> Result<Self, FragmentError> {
        let sample_len = usize::try_from(data.sample_size).map_err(|_| FragmentError::NoRoom)?;
        let fragment_len = usize::from(data.fragment_size);
        if fragment_len == 0 || sample_len == 0 {
            return Err(FragmentError::Misbehaved);
        }
        if sample_len > config.max_sample_len {
            return Err(FragmentError::NoRoom);
        }
        let fragment_count = data.sample_size.div_ceil(data.fragment_size.into());
        if fragment_len < MIN_FRAGMENT_LEN && fragment_count > MAX_SHORT_FRAGMENTS {
            return Err(FragmentError::Misbehaved);
        }
        let words = sample_len.div_ceil(fragment_len).div_ceil(64);
        let mut partial = Self {
            number: data.sequence_number,
            kind: ChangeKind::Alive,
            source_timestamp,
            key_hash: None,
            place: Place::default(),
            original: None,
            related: None,
            is_key: data.is_key,
            fragment_len,
            fragment_count,
            received: Vec::new(),
            received_count: 0,
            sample_len,
            bytes: Vec::new(),
            touched_at: now,
            announced: 0,
            owes_answer: false,
        };
        partial.range(data)?;
        partial.received = vec![0; words];
        Ok(partial)
    }

    fn insert(
        &mut self,
        now: Instant,
        data: &DataFrag<'_>,
        config: &ReaderConfig,
        pool: &mut BufferPool,
    ) -> Result<(), FragmentError> {
        let same = usize::try_from(data.sample_size) == Ok(self.sample_len)
            && usize::from(data.fragment_size) == self.fragment_len
            && data.is_key == self.is_key;
        if !same {
            return Err(FragmentError::Misbehaved);
        }
        let (first, end) = self.range(data)?;
        self.touched_at = now;
        if !data.inline_qos.bytes.is_empty() {
            self.kind = ChangeKind::from_status_info(data.inline_qos.status_info().0);
            self.key_hash = data.inline_qos.key_hash();
            if config.places || config.coherent {
                self.place = data.inline_qos.place().of(self.number);
            }
            if config.originals {
                self.original = data.inline_qos.original_writer();
            }
            self.related = data.inline_qos.related_sample();
        }
        if self.bytes.capacity() == 0 {
            self.bytes = pool.take_for(self.sample_len);
        }
        let mut rest = data.payload;
        for fragment in first..end {
            let start = fragment * self.fragment_len;
            let len = self.fragment_len.min(self.sample_len - start);
            let Some((bytes, after)) = rest.split_at_checked(len) else {
                return Err(FragmentError::Misbehaved);
            };
            rest = after;
            let (word, bit) = (&mut self.received[fragment / 64], 1 << (fragment % 64));
            if *word & bit == 0 {
                *word |= bit;
                self.received_count += 1;
                // What is there ends with a fragment, too.
                match self.bytes.get_mut(start..start + len) {
                    Some(place) => copy::copy(bytes, place),
                    None => {
                        self.bytes.resize(start, 0);
                        copy::append(&mut self.bytes, bytes);
                    }
                }
            }
        }
        Ok(())
    }

    /// The fragments of a submessage, counted from 0, all within the sample.
    fn range(&self, data: &DataFrag<'_>) -> Result<(usize, usize), FragmentError> {
        let first = data.fragment_start.checked_sub(1);
        let end = first.and_then(|first| first.checked_add(data.fragment_count.into()));
        match (first, end) {
            (Some(first), Some(end)) if first < end && end <= self.fragment_count => {
                // At most the number of bytes of the sample, which is a usize.
                Ok((first as usize, end as usize))
            }
            _ => Err(FragmentError::Misbehaved),
        }
    }

    /// Whether all that the writer said it has sent is there.
    pub(super) fn has_announced(&self) -> bool {
        self.first_missing(1, self.announced.max(1)).is_none()
    }

    /// The lowest fragments still missing up to `last` (0: all), at or above `from`, as far as one
    /// set holds; `None` if there are none.
    pub(super) fn missing(&self, from: u32, last: u32) -> Option<FragmentNumberSet> {
        let last = match last {
            0 => self.fragment_count,
            last => last.min(self.fragment_count),
        };
        let first = self.first_missing(from.max(1), last)?;
        let mut set = FragmentNumberSet::empty(first);
        let end = last.min(first.saturating_add(SET_LEN - 1));
        for fragment in (first..=end).filter(|&fragment| self.lacks(fragment)) {
            set.insert(fragment);
        }
        Some(set)
    }

    /// The lowest fragment still missing from `from`, at least 1, up to `last`. Passes over whole
    /// words.
    fn first_missing(&self, from: u32, last: u32) -> Option<u32> {
        let start = from as usize - 1;
        // Of the first word, what is below `from` counts as received.
        let mut below = (1 << (start % 64)) - 1;
        let words = self.received.iter().enumerate().skip(start / 64);
        for (index, word) in words.take_while(|(index, _)| index * 64 < last as usize) {
            let received = word | core::mem::take(&mut below);
            if received != u64::MAX {
                let fragment = index * 64 + received.trailing_ones() as usize + 1;
                let fragment = u32::try_from(fragment).ok();
                return fragment.filter(|&fragment| fragment <= last);
            }
        }
        None
    }

    /// Whether a fragment, counted from 1, is still missing.
    fn lacks(&self, fragment: u32) -> bool {
        let index = fragment as usize - 1;
        let word = self.received.get(index / 64);
        word.is_some_and(|word| word & (1 << (index % 64)) == 0)
    }

    fn finish(self) -> HeldChange {
        HeldChange {
            kind: self.kind,
            source_timestamp: self.source_timestamp,
            // Known to who has the fragment that makes it whole.
            kernel_timestamp: None,
            key_hash: self.key_hash,
            place: self.place,
            original: self.original,
            related: self.related,
            content: match self.is_key {
                true => Content::Key,
                false => Content::Value,
            },
            bytes: Bytes::of(self.bytes),
        }
    }
}

/// Numbers in one set.
const SET_LEN: u32 = 256;
/// Samples of more than [`MAX_SHORT_FRAGMENTS`] fragments have none that are shorter, the last one
/// apart: what is known of fragments would be larger than what is in them.
const MIN_FRAGMENT_LEN: usize = 64;
const MAX_SHORT_FRAGMENTS: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{EntityId, Guid, InlineQos};

    /// A sample of so many fragments of a byte, of which some have come.
    fn partial(count: u32, received: &[u32]) -> Partial {
        let config = ReaderConfig::new(Guid::UNKNOWN);
        let data = |fragment| DataFrag {
            reader: EntityId::UNKNOWN,
            writer: EntityId::UNKNOWN,
            sequence_number: SequenceNumber(1),
            fragment_start: fragment,
            fragment_count: 1,
            fragment_size: 1,
            sample_size: count,
            inline_qos: InlineQos::default(),
            is_key: false,
            payload: &[0],
        };
        let now = Instant::from_nanos(0);
        let partial = Partial::new(now, &data(1), None, &config);
        let mut partial = partial.expect("a fragment within the sample");
        for &fragment in received {
            partial
                .insert(now, &data(fragment), &config, &mut BufferPool::default())
                .expect("a fragment within the sample");
        }
        partial
    }

    proptest! {
        #[test]
        fn what_is_missing_is_what_has_not_come(
            count in 1..700_u32,
            holes in proptest::collection::vec(1..700_u32, 0..9),
            from in 0..700_u32,
            last in 0..700_u32,
        ) {
            let received: Vec<u32> = (1..=count).filter(|n| !holes.contains(n)).collect();
            let partial = partial(count, &received);
            let up_to = if last == 0 { count } else { last.min(count) };
            let mut expected = (from.max(1)..=up_to).filter(|n| holes.contains(n));
            let expected = expected.next().map(|first| {
                let within = first..=up_to.min(first + SET_LEN - 1);
                within.filter(|n| holes.contains(n)).collect::<Vec<_>>()
            });
            let missing = partial.missing(from, last);
            prop_assert_eq!(missing.map(|set| set.iter().collect::<Vec<_>>()), expected);
        }
    }
}
