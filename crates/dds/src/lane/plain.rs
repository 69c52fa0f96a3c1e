//! Samples that say nothing besides, on the short way to the one reader that there is for them: what most of them are. Of
//! these nothing is to be found out that is not known of their log, or of the datagram that they are in.

use std::slice;
use std::sync::Arc;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::reader::{NextChange, Samples};
use tickwire_rtps::wire::{
    Arrival, Context, Data, EntityId, Guid, GuidPrefix, InlineQos, MessageReader, PlainSample,
    SequenceNumber, SerializedPayload,
};
use tickwire_transport::shm::Copied;

use super::logs::FROM_HERE;
use super::messages::Messages;
use super::{Discovered, LaneKind, Lies, Work};
use crate::core::Core;
use crate::shm::record;

/// The plain samples of one writer for the same readers at the beginning of a datagram, or of some records of a log.
pub(crate) struct PlainSamples<'a> {
    /// When they came.
    pub(crate) now: Instant,
    pub(crate) timestamp: Timestamp,
    reader: EntityId,
    writer: EntityId,
    source: Source<'a>,
    /// What has been read of a datagram, and is the next one if it is of the same.
    next: Option<Data<'a>>,
    /// How many more are given.
    allowed: usize,
}

enum Source<'a> {
    Records {
        context: &'a mut Context<'static>,
        bytes: &'a [u8],
        rest: slice::Iter<'a, Copied>,
    },
    Message(MessageReader<'a>),
}

/// What is known about all samples of a log by the participant that writes to it.
pub(super) fn context(of: GuidPrefix) -> Context<'static> {
    *MessageReader::of(of).arrived(FROM_HERE).context()
}

impl<'a> PlainSamples<'a> {
    fn of_records(
        writer: EntityId,
        context: &'a mut Context<'static>,
        (now, timestamp): (Instant, Timestamp),
        bytes: &'a [u8],
        records: &'a [Copied],
    ) -> Self {
        Self {
            now,
            timestamp,
            reader: EntityId::UNKNOWN,
            writer,
            source: Source::Records {
                context,
                bytes,
                rest: records.iter(),
            },
            next: None,
            allowed: 0,
        }
    }

    /// `None` unless the datagram begins with one that concerns readers.
    fn of_datagram(
        (now, timestamp): (Instant, Timestamp),
        bytes: &'a [u8],
        arrival: Arrival,
    ) -> Option<Self> {
        let mut message = MessageReader::new(bytes).ok()?.arrived(arrival);
        let first = message.next_sample()?;
        (!first.writer.is_builtin()).then_some(Self {
            now,
            timestamp,
            reader: first.reader,
            writer: first.writer,
            source: Source::Message(message),
            next: Some(first),
            allowed: 0,
        })
    }

    /// Gives no more than so many from here on.
    pub(crate) fn allow(&mut self, count: usize) {
        self.allowed = count;
    }

    /// Who wrote them.
    #[inline]
    pub(crate) fn writer(&self) -> Guid {
        self.context().source(self.writer)
    }

    /// When the kernel received them, if that is known.
    #[inline]
    pub(crate) fn kernel_timestamp(&self) -> Option<Timestamp> {
        self.context().kernel_timestamp()
    }

    /// The next one, if it has that number and says nothing besides.
    #[inline(always)]
    pub(crate) fn next_of(&mut self, number: SequenceNumber) -> Option<NextChange<'a>> {
        if self.allowed == 0 || number.0 == i64::MAX {
            return None;
        }
        let change = match &mut self.source {
            Source::Records { bytes, rest, .. } => {
                let (sample, payload) = plain_sample(bytes, rest.as_slice())?;
                if sample.number != number {
                    return None;
                }
                rest.next();
                NextChange {
                    sequence_number: number,
                    source_timestamp: Some(sample.timestamp),
                    payload,
                }
            }
            Source::Message(message) => {
                let next = match self.next.take() {
                    Some(next) => next,
                    None => message.next_sample()?,
                };
                let is_of_them = (next.reader, next.writer) == (self.reader, self.writer);
                let SerializedPayload::Data(payload) = next.payload else {
                    self.next = Some(next);
                    return None;
                };
                if !is_of_them
                    || next.sequence_number != number
                    || !next.inline_qos.bytes.is_empty()
                {
                    self.next = Some(next);
                    return None;
                }
                NextChange {
                    sequence_number: number,
                    source_timestamp: message.context().source_timestamp,
                    payload,
                }
            }
        };
        self.allowed -= 1;
        Some(change)
    }

    /// Whether few are left, as far as can be told without reading them: of a log as many as are read at once.
    #[inline]
    pub(crate) fn are_few(&self) -> bool {
        match &self.source {
            Source::Records { .. } => true,
            Source::Message(message) => message.left() <= FEW_BYTES,
        }
    }

    /// Whether nothing is left, and neither is anything else.
    pub(crate) fn is_done(&self) -> bool {
        match &self.source {
            Source::Records { rest, .. } => rest.as_slice().is_empty(),
            Source::Message(message) => self.next.is_none() && message.is_done(),
        }
    }
}

impl<'a> Samples<'a> for PlainSamples<'a> {
    fn context(&self) -> &Context<'a> {
        match &self.source {
            Source::Records { context, .. } => context,
            Source::Message(message) => message.context(),
        }
    }

    #[inline(always)]
    fn next_sample(&mut self) -> Option<Data<'a>> {
        if self.allowed == 0 {
            return None;
        }
        let data = match &mut self.source {
            Source::Records {
                context,
                bytes,
                rest,
            } => {
                let (sample, payload) = plain_sample(bytes, rest.as_slice())?;
                rest.next();
                context.source_timestamp = Some(sample.timestamp);
                Data {
                    reader: EntityId::UNKNOWN,
                    writer: self.writer,
                    sequence_number: sample.number,
                    inline_qos: InlineQos::default(),
                    payload: SerializedPayload::Data(payload),
                }
            }
            Source::Message(message) => {
                let next = match self.next.take() {
                    Some(next) => next,
                    None => message.next_sample()?,
                };
                if (next.reader, next.writer) != (self.reader, self.writer) {
                    self.next = Some(next);
                    return None;
                }
                next
            }
        };
        self.allowed -= 1;
        Some(data)
    }
}

/// So many bytes of a datagram behind the first sample are few samples.
const FEW_BYTES: usize = 512;

/// The first of these records, if it is a plain sample. What cannot be read is left to those who count it.
#[inline(always)]
fn plain_sample<'a>(bytes: &'a [u8], records: &[Copied]) -> Option<(PlainSample, &'a [u8])> {
    let record = records.first()?;
    if record.tag != record::PLAIN_SAMPLE {
        return None;
    }
    let bytes = bytes.get(record.place.start..record.place.end)?;
    PlainSample::read(bytes).ok()
}

impl Work {
    /// Delivers the plain samples before any other record of a log, or of one record that is a message. Says what is left.
    pub(super) fn take_plain<'a>(
        &mut self,
        core: &Core,
        (writer, context): (EntityId, &'a mut Context<'static>),
        time: (Instant, Timestamp),
        (bytes, records): (&'a [u8], &'a [Copied]),
        discovered: &mut Discovered,
    ) -> &'a [Copied] {
        match records {
            [first, ..] if first.tag == record::PLAIN_SAMPLE => {
                let mut samples = PlainSamples::of_records(writer, context, time, bytes, records);
                match (self.deliver_plain(core, &mut samples), samples.source) {
                    (true, Source::Records { rest, .. }) => rest.as_slice(),
                    _ => records,
                }
            }
            [only] if only.tag == record::MESSAGE => {
                let message = bytes.get(only.place.start..only.place.end);
                let message = message.unwrap_or_default();
                match self.take_plain_datagram(core, time, message, FROM_HERE, discovered) {
                    true => &[],
                    false => records,
                }
            }
            _ => records,
        }
    }

    /// Delivers a datagram that begins with plain samples. False, and nothing is, if it does not or they take another way.
    pub(super) fn take_plain_datagram(
        &mut self,
        core: &Core,
        time: (Instant, Timestamp),
        bytes: &[u8],
        arrival: Arrival,
        discovered: &mut Discovered,
    ) -> bool {
        if self.kind == LaneKind::Control {
            return false;
        }
        let Some(mut samples) = PlainSamples::of_datagram(time, bytes, arrival) else {
            return false;
        };
        if !self.deliver_plain(core, &mut samples) {
            return false;
        }
        if let PlainSamples {
            source: Source::Message(message),
            next,
            ..
        } = samples
            && (next.is_some() || !message.is_done())
        {
            self.hand_on(core, time, Lies::default(), discovered, |dispatch| {
                dispatch.rest(next, &mut Messages::of_rest(message));
            });
            self.call_listeners();
        }
        true
    }

    /// Delivers samples if there is one reader for them, and they need not show that their writer lives. False if not.
    fn deliver_plain(&mut self, core: &Core, samples: &mut PlainSamples<'_>) -> bool {
        let writer = samples.writer();
        let routes = &mut self.routes;
        let only = routes.sole_reader(&core.directory, samples.reader, writer);
        let Some(only) = only else {
            return false;
        };
        let keeps_all = only.keeps_all();
        let at_once = match keeps_all {
            true => usize::MAX,
            // The listener is told of each before the next one pushes it out.
            false => 1,
        };
        loop {
            samples.allow(at_once);
            let to_tell = only.receive_plain(samples, &mut self.outbox);
            // Answers leave before a listener may take its time: to what lies behind, too, where the samples can wait.
            core.send_user(&mut self.outbox);
            let news = to_tell.own;
            if to_tell.is_any() && keeps_all && !samples.is_done() {
                self.to_tell.push((Arc::clone(only), news));
            } else if to_tell.is_any() {
                only.call_listener(news);
            }
            if samples.is_done() || samples.allowed > 0 {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tickwire_rtps::wire::MessageWriter;

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
        let mut context = context(WRITER.prefix);
        let mut samples =
            PlainSamples::of_records(WRITER.entity, &mut context, time, &bytes, &records);
        samples.allow(allowed);
        let mut numbers = Vec::new();
        while let Some(data) = samples.next_sample() {
            assert_eq!(samples.context().source(data.writer), WRITER);
            assert_eq!(data.payload, SerializedPayload::Data(&[7; 4]));
            let time = samples.context().source_timestamp.expect("it is told");
            assert_eq!(time.as_nanos(), data.sequence_number.0);
            numbers.push(data.sequence_number.0);
        }
        let Source::Records { rest, .. } = samples.source else {
            panic!("they are records");
        };
        (numbers, rest.as_slice().len())
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

    #[test]
    fn of_a_datagram_those_for_the_same_readers_are_given() {
        let mut bytes = Vec::new();
        let mut message = MessageWriter::new(&mut bytes, WRITER.prefix);
        let other = EntityId::user_writer(2, true);
        message.info_ts(Some(Timestamp::from_nanos(5)));
        for (writer, number) in [(WRITER.entity, 1), (WRITER.entity, 2), (other, 3)] {
            message.data(&Data {
                reader: EntityId::UNKNOWN,
                writer,
                sequence_number: SequenceNumber(number),
                inline_qos: InlineQos::default(),
                payload: SerializedPayload::Data(&[7; 4]),
            });
        }
        fn of(bytes: &[u8]) -> Option<PlainSamples<'_>> {
            let time = (Instant::ZERO, Timestamp::default());
            PlainSamples::of_datagram(time, bytes, FROM_HERE)
        }
        let mut samples = of(&bytes).expect("it begins with one");
        samples.allow(usize::MAX);
        let numbers = std::iter::from_fn(|| samples.next_sample());
        let numbers: Vec<_> = numbers.map(|data| data.sequence_number.0).collect();
        assert_eq!(numbers, [1, 2]);
        assert!(!samples.is_done());
        let left = samples.next.map(|data| (data.writer, data.sequence_number));
        assert_eq!(left, Some((other, SequenceNumber(3))));

        for len in [0, 4, 20, 32, bytes.len() - 1] {
            let samples = of(&bytes[..len]);
            assert_eq!(samples.is_some(), len > 60, "{len}");
        }
        bytes[32..36].copy_from_slice(b"else");
        assert!(of(&bytes).is_none());
    }
}
