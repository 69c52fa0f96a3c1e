//! What a reader was given, in order.

use std::sync::Arc;

use tickwire_base::Timestamp;
use tickwire_rtps::reader::{
    CoherentSet, Delivery, NextChange, ReceivedChange, SetEnd, SetPart, Sink,
};
use tickwire_rtps::wire::{Guid, SequenceNumber, SerializedPayload};
use tickwire_rtps::{ChangeKind, KeyHash, Place, SampleIdentity};

use super::payload;

/// What a reader has been given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub writer: Guid,
    pub number: i64,
    pub kind: ChangeKind,
    pub key_hash: Option<KeyHash>,
    pub source_timestamp: Option<Timestamp>,
    pub kernel_timestamp: Option<Timestamp>,
    pub payload: Vec<u8>,
    pub place: Place,
    pub related: Option<SampleIdentity>,
}

/// A cache that may be full.
#[derive(Debug)]
pub struct Cache {
    pub samples: Vec<Sample>,
    pub lost: u64,
    pub room: usize,
    /// How many of a run are taken at once.
    pub run_len: usize,
    /// What came together: how many samples each time.
    pub sets: Vec<usize>,
    /// Sets that were offered, each time: whether they were refused before.
    pub offers: Vec<bool>,
    /// What a subscriber would be told, in order.
    pub told: Vec<(Guid, Told)>,
    /// Of long samples, what is held of them.
    pub held: Vec<Arc<Vec<u8>>>,
}

/// What a reader tells of the sets of a publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Begun(SequenceNumber),
    /// With the changes that were delivered.
    Ended(SetEnd, usize),
    /// A change in no set: its number in the writer and in the publisher.
    Passed(SequenceNumber, SequenceNumber),
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            samples: Vec::new(),
            lost: 0,
            room: usize::MAX,
            run_len: 4,
            sets: Vec::new(),
            offers: Vec::new(),
            told: Vec::new(),
            held: Vec::new(),
        }
    }
}

impl Cache {
    pub fn numbers(&self) -> Vec<i64> {
        self.samples.iter().map(|sample| sample.number).collect()
    }
}

impl Sink for Cache {
    fn deliver(&mut self, change: &ReceivedChange<'_>) -> Delivery {
        if self.samples.len() >= self.room {
            return Delivery::Full;
        }
        self.held.extend(change.memory.cloned());
        let payload = match change.payload {
            SerializedPayload::None => &[],
            SerializedPayload::Data(bytes) | SerializedPayload::Key(bytes) => bytes,
        };
        self.samples.push(Sample {
            writer: change.writer,
            number: change.sequence_number.0,
            kind: change.kind,
            key_hash: change.key_hash,
            source_timestamp: change.source_timestamp,
            kernel_timestamp: change.kernel_timestamp,
            payload: payload.to_vec(),
            place: change.place,
            related: change.related,
        });
        let place = change.place;
        if place.coherent_set < SequenceNumber::FIRST && place.group.number >= SequenceNumber::FIRST
        {
            let passed = Told::Passed(change.sequence_number, place.group.number);
            self.told.push((change.writer, passed));
        }
        Delivery::Accepted
    }

    fn deliver_run<'a>(
        &mut self,
        (writer, number): (Guid, SequenceNumber),
        mut next: impl FnMut() -> Option<NextChange<'a>>,
    ) {
        let Some(last) = self.samples.last().cloned() else {
            return;
        };
        assert_eq!((last.writer, last.number), (writer, number.0));
        let room = self.room - self.samples.len();
        for _ in 0..room.min(self.run_len) {
            let Some(change) = next() else {
                break;
            };
            self.samples.push(Sample {
                number: change.sequence_number.0,
                source_timestamp: change.source_timestamp,
                payload: change.payload.to_vec(),
                ..last.clone()
            });
        }
    }

    fn lost(&mut self, _: Guid, count: u64) {
        self.lost = self.lost.saturating_add(count);
    }

    fn deliver_set(&mut self, set: CoherentSet<'_>) -> Delivery {
        self.offers.push(set.was_refused);
        if self.samples.len() + set.len() > self.room {
            return Delivery::Full;
        }
        self.sets.push(set.len());
        for change in set.iter() {
            assert_eq!(self.deliver(&change), Delivery::Accepted);
        }
        Delivery::Accepted
    }

    fn set_begun(&mut self, writer: Guid, group_set: SequenceNumber) {
        self.told.push((writer, Told::Begun(group_set)));
    }

    fn set_ended(&mut self, writer: Guid, end: SetEnd) {
        let count = match end.part {
            SetPart::Delivered => self.sets.last().copied().unwrap_or(0),
            _ => 0,
        };
        self.told.push((writer, Told::Ended(end, count)));
    }
}

/// Checks that a reader was given exactly these samples of lengths `len(number)`.
pub fn assert_samples(
    cache: &Cache,
    numbers: impl Iterator<Item = i64>,
    len: impl Fn(i64) -> usize,
    seed: u64,
) {
    let numbers: Vec<i64> = numbers.collect();
    assert_eq!(cache.numbers(), numbers, "seed {seed}");
    for sample in &cache.samples {
        let expected = payload(sample.number, len(sample.number));
        // DATA pads to a multiple of four.
        assert_eq!(
            sample.payload.get(..expected.len()),
            Some(&expected[..]),
            "sample {}, seed {seed}",
            sample.number
        );
        assert!(sample.payload.len() < expected.len() + 4);
    }
}
