//! Samples of a log that say nothing besides, on the short way to the one reader that there is for them: what most of them
//! are. Of these nothing is to be found out that is not known of their log.

use std::slice;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::reader::Samples;
use tickwire_rtps::wire::{
    Context, Data, EntityId, Guid, InlineQos, MessageReader, PlainSample, SerializedPayload,
};
use tickwire_transport::shm::Copied;

use super::logs::FROM_HERE;
use super::{LaneKind, Work};
use crate::core::Core;
use crate::shm::record;

/// The plain samples at the beginning of some records of a log.
pub(crate) struct PlainSamples<'a> {
    /// When they came.
    pub(crate) now: Instant,
    pub(crate) timestamp: Timestamp,
    writer: EntityId,
    context: Context<'static>,
    bytes: &'a [u8],
    records: slice::Iter<'a, Copied>,
    /// How many more are given.
    allowed: usize,
}

impl<'a> PlainSamples<'a> {
    fn new(
        writer: Guid,
        (now, timestamp): (Instant, Timestamp),
        bytes: &'a [u8],
        records: &'a [Copied],
    ) -> Self {
        Self {
            now,
            timestamp,
            writer: writer.entity,
            context: *MessageReader::of(writer.prefix)
                .arrived(FROM_HERE)
                .context(),
            bytes,
            records: records.iter(),
            allowed: 0,
        }
    }

    /// Gives no more than so many from here on.
    pub(crate) fn allow(&mut self, count: usize) {
        self.allowed = count;
    }

    /// Those that are left, and whatever lies behind them.
    fn rest(&self) -> &'a [Copied] {
        self.records.as_slice()
    }
}

impl<'a> Samples<'a> for PlainSamples<'a> {
    fn context(&self) -> &Context<'a> {
        &self.context
    }

    #[inline(always)]
    fn next_sample(&mut self) -> Option<Data<'a>> {
        let record = self.rest().first().filter(|_| self.allowed > 0)?;
        if record.tag != record::PLAIN_SAMPLE {
            return None;
        }
        let bytes = self.bytes.get(record.place.start..record.place.end)?;
        // What cannot be read is left to those who count it.
        let (sample, payload) = PlainSample::read(bytes).ok()?;
        self.records.next();
        self.allowed -= 1;
        self.context.source_timestamp = Some(sample.timestamp);
        Some(Data {
            reader: EntityId::UNKNOWN,
            writer: self.writer,
            sequence_number: sample.number,
            inline_qos: InlineQos::default(),
            payload: SerializedPayload::Data(payload),
        })
    }
}

impl Work {
    /// Delivers the plain samples before any other record, if there is one reader for them, and they need not show that their
    /// writer lives. Says what is left.
    pub(super) fn take_plain<'a>(
        &mut self,
        core: &Core,
        writer: Guid,
        time: (Instant, Timestamp),
        bytes: &'a [u8],
        records: &'a [Copied],
    ) -> &'a [Copied] {
        let routes = self.routes.refresh(&core.directory);
        let readers = routes.readers_of(EntityId::UNKNOWN, writer);
        let ([only], false) = (readers, self.kind == LaneKind::Control) else {
            return records;
        };
        if !routes.leased.is_empty() && routes.leased.contains_key(&writer) {
            return records;
        }
        let at_once = match only.keeps_all() {
            true => usize::MAX,
            // The listener is told of each before the next one pushes it out.
            false => 1,
        };
        let mut samples = PlainSamples::new(writer, time, bytes, records);
        loop {
            let before = samples.rest().len();
            samples.allow(at_once);
            let to_tell = only.receive_plain(&mut samples, &mut self.outbox);
            // Answers leave before a listener may take its time.
            core.send_user(&mut self.outbox);
            if to_tell.is_any() {
                only.call_listener(to_tell.own);
            }
            let rest = samples.rest();
            if rest.is_empty() || rest.len() == before {
                return rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tickwire_rtps::wire::{GuidPrefix, SequenceNumber};

    use super::*;

    const WRITER: Guid = Guid::new(GuidPrefix([1; 12]), EntityId::user_writer(1, true));

    fn records(all: &[(u8, Vec<u8>)]) -> (Vec<u8>, Vec<Copied>) {
        let mut bytes = Vec::new();
        let records = all.iter().map(|(tag, record)| {
            bytes.extend(b"head");
            bytes.extend(record);
            Copied {
                place: bytes.len() - record.len()..bytes.len(),
                tag: *tag,
            }
        });
        let records = records.collect();
        (bytes, records)
    }

    fn sample(number: i64) -> (u8, Vec<u8>) {
        let number = SequenceNumber(number);
        let timestamp = Timestamp::from_nanos(number.0);
        let head = PlainSample { number, timestamp }.to_bytes();
        (record::PLAIN_SAMPLE, [&head[..], &[7; 4]].concat())
    }

    /// The numbers of those that are given, and how many records are left then.
    fn given(all: &[(u8, Vec<u8>)], allowed: usize) -> (Vec<i64>, usize) {
        let (bytes, records) = records(all);
        let time = (Instant::ZERO, Timestamp::default());
        let mut samples = PlainSamples::new(WRITER, time, &bytes, &records);
        samples.allow(allowed);
        let mut numbers = Vec::new();
        while let Some(data) = samples.next_sample() {
            assert_eq!(samples.context().source(data.writer), WRITER);
            assert_eq!(data.payload, SerializedPayload::Data(&[7; 4]));
            let time = samples.context().source_timestamp.expect("it is told");
            assert_eq!(time.as_nanos(), data.sequence_number.0);
            numbers.push(data.sequence_number.0);
        }
        (numbers, samples.rest().len())
    }

    #[test]
    fn plain_samples_are_given_up_to_what_is_none() {
        let others = [
            (record::MESSAGE, vec![1; 40]),
            (record::PLAIN_SAMPLE, vec![1; 15]),
            (record::PLAIN_SAMPLE, vec![0; 20]),
            (u8::MAX, vec![]),
        ];
        for other in others {
            let all = [sample(1), sample(2), other, sample(3)];
            assert_eq!(given(&all, usize::MAX), (vec![1, 2], 2));
        }
        assert_eq!(given(&[sample(4), sample(5)], usize::MAX), (vec![4, 5], 0));
    }

    #[test]
    fn no_more_are_given_than_allowed() {
        let all = [sample(1), sample(2), sample(3)];
        assert_eq!(given(&all, 0), (vec![], 3));
        assert_eq!(given(&all, 2), (vec![1, 2], 1));
    }
}
