//! Messages that have come together, as if they were one.

use std::slice;

use tickwire_rtps::wire::{Arrival, Context, Data, Guid, Malformed, MessageReader, Submessage};
use tickwire_transport::shm::Copied;

use super::logs::FROM_HERE;
use crate::shm::record;

/// The submessages of one message, or of several records of a log. An error ends the message that it is in.
pub(crate) struct Messages<'a> {
    current: MessageReader<'a>,
    log: Log<'a>,
    malformed: u64,
}

/// Records that are still to be read, of which each is one message or stands for one.
#[derive(Default)]
struct Log<'a> {
    /// Whose log it is.
    writer: Option<Guid>,
    /// Where they are.
    bytes: &'a [u8],
    records: slice::Iter<'a, Copied>,
}

impl<'a> Messages<'a> {
    /// One message.
    ///
    /// # Errors
    /// When it has no header.
    #[inline]
    pub(crate) fn one(bytes: &'a [u8], arrival: Arrival) -> Result<Self, Malformed> {
        Ok(Self {
            current: MessageReader::new(bytes)?.arrived(arrival),
            log: Log::default(),
            malformed: 0,
        })
    }

    /// What is left of one.
    pub(crate) fn of_rest(rest: MessageReader<'a>) -> Self {
        Self {
            current: rest,
            log: Log::default(),
            malformed: 0,
        }
    }

    /// These records of the log of that writer, which lie in `bytes`.
    #[inline]
    pub(crate) fn of_log(writer: Guid, bytes: &'a [u8], records: &'a [Copied]) -> Self {
        Self {
            current: MessageReader::of(writer.prefix).arrived(FROM_HERE),
            log: Log {
                writer: Some(writer),
                bytes,
                records: records.iter(),
            },
            malformed: 0,
        }
    }

    /// What is known about the submessage that was given last.
    #[inline]
    pub(crate) fn context(&self) -> &Context<'a> {
        self.current.context()
    }

    pub(crate) fn next_submessage(&mut self) -> Option<Result<Submessage<'a>, Malformed>> {
        loop {
            if let Some(next) = self.current.next_submessage() {
                return Some(next);
            }
            let (record, bytes) = self.log.next()?;
            let begun = match (record.tag, self.log.writer) {
                (record::PLAIN_SAMPLE, Some(writer)) => {
                    let sample = self.current.plain_sample(writer, bytes);
                    return Some(sample.map(Submessage::Data));
                }
                (record::MESSAGE, _) => self.current.begin(bytes).is_ok(),
                _ => false,
            };
            self.malformed += u64::from(!begun);
        }
    }

    /// The same if it is the DATA of a sample that says nothing besides, and of its source and destination is known what
    /// was before; nothing is taken of anything else.
    #[inline(always)]
    pub(crate) fn next_sample(&mut self) -> Option<Data<'a>> {
        while self.current.is_done() {
            let (record, bytes) = self.log.first()?;
            let sample = match (record.tag, self.log.writer) {
                (record::PLAIN_SAMPLE, Some(writer)) if self.current.is_alike(writer) => {
                    Some(self.current.plain_sample(writer, bytes).ok()?)
                }
                (record::MESSAGE, _) if self.current.begin_alike(bytes) => None,
                _ => return None,
            };
            self.log.records.next();
            if sample.is_some() {
                return sample;
            }
        }
        self.current.next_sample()
    }

    /// Submessages so far whose ids nobody here knows.
    pub(crate) fn skipped(&self) -> u64 {
        self.current.skipped().into()
    }

    /// Records so far that are nothing that can be in a log.
    pub(crate) fn malformed(&self) -> u64 {
        self.malformed
    }
}

impl<'a> Log<'a> {
    /// The next record with its bytes.
    #[inline]
    fn first(&self) -> Option<(&'a Copied, &'a [u8])> {
        let record = self.records.as_slice().first()?;
        let bytes = self.bytes.get(record.place.start..record.place.end);
        Some((record, bytes.unwrap_or_default()))
    }

    /// The same, which is not the next any more then.
    #[inline]
    fn next(&mut self) -> Option<(&'a Copied, &'a [u8])> {
        let first = self.first();
        self.records.next();
        first
    }
}

#[cfg(test)]
mod tests {
    use tickwire_base::Timestamp;
    use tickwire_rtps::wire::{
        EntityId, GuidPrefix, Heartbeat, MessageWriter, PlainSample, SequenceNumber,
        SerializedPayload,
    };

    use super::*;

    const WRITER: Guid = Guid::new(GuidPrefix([1; 12]), EntityId::user_writer(1, true));

    fn message(prefix: u8, counts: impl IntoIterator<Item = u32>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut message = MessageWriter::new(&mut bytes, GuidPrefix([prefix; 12]));
        for count in counts {
            message.heartbeat(&Heartbeat {
                reader: EntityId::UNKNOWN,
                writer: EntityId::user_writer(1, true),
                first: SequenceNumber::FIRST,
                last: SequenceNumber::FIRST,
                count,
                is_final: true,
                liveliness: false,
            });
        }
        bytes
    }

    #[test]
    fn several_messages_are_read_as_one_and_each_in_its_own_context() {
        let unknown = {
            let mut bytes = message(3, [4]);
            bytes.extend([0x7e, 1, 0, 0]);
            bytes
        };
        let broken = {
            let mut bytes = message(4, [5, 6]);
            bytes.truncate(bytes.len() - 1);
            bytes
        };
        let all = [
            b"RTPX".to_vec(),
            message(1, [1, 2]),
            message(2, []),
            Vec::new(),
            unknown,
            broken,
            message(5, [7]),
        ];
        let mut bytes = Vec::new();
        let records = all.iter().map(|message| {
            bytes.extend(b"something else");
            bytes.extend(message);
            Copied {
                place: bytes.len() - message.len()..bytes.len(),
                tag: record::MESSAGE,
            }
        });
        let records: Vec<_> = records.collect();
        let mut messages = Messages::of_log(WRITER, &bytes, &records);
        let mut read = Vec::new();
        while let Some(next) = messages.next_submessage() {
            let GuidPrefix([prefix, ..]) = messages.context().source_prefix;
            read.push((
                prefix,
                next.ok().map(|next| match next {
                    Submessage::Heartbeat(heartbeat) => heartbeat.count,
                    other => panic!("{other:?} was not written"),
                }),
            ));
        }
        let expected = [
            (1, Some(1)),
            (1, Some(2)),
            (3, Some(4)),
            (4, Some(5)),
            (4, None),
            (5, Some(7)),
        ];
        assert_eq!(read, expected);
        assert_eq!((messages.skipped(), messages.malformed()), (1, 2));
    }

    #[test]
    fn plain_samples_are_read_between_messages() {
        let sample = |number| {
            let number = SequenceNumber(number);
            let timestamp = Timestamp::from_nanos(number.0);
            let head = PlainSample { number, timestamp }.to_bytes();
            (record::PLAIN_SAMPLE, [&head[..], &[7; 4]].concat())
        };
        let message = |prefix| (record::MESSAGE, message(prefix, [9]));
        let all = [
            sample(1),
            sample(2),
            message(1),
            sample(3),
            message(2),
            sample(4),
            (record::PLAIN_SAMPLE, vec![1; 15]),
            sample(5),
            (u8::MAX, vec![]),
            sample(6),
        ];
        let mut bytes = Vec::new();
        let records = all.iter().map(|(tag, record)| {
            bytes.extend(record);
            Copied {
                place: bytes.len() - record.len()..bytes.len(),
                tag: *tag,
            }
        });
        let records: Vec<_> = records.collect();
        for by_samples in [false, true] {
            let mut messages = Messages::of_log(WRITER, &bytes, &records);
            let mut read = Vec::new();
            loop {
                let sample = by_samples.then(|| messages.next_sample()).flatten();
                let next = match sample {
                    Some(data) => Some(Ok(Submessage::Data(data))),
                    None => messages.next_submessage(),
                };
                let Some(next) = next else { break };
                let context = *messages.context();
                read.push(next.ok().map(|next| match next {
                    Submessage::Data(data) => {
                        assert_eq!(context.source(data.writer), WRITER);
                        assert_eq!(data.payload, SerializedPayload::Data(&[7; 4]));
                        let time = context.source_timestamp.expect("it is told");
                        assert_eq!(time.as_nanos(), data.sequence_number.0);
                        data.sequence_number.0
                    }
                    _ => 9,
                }));
            }
            let [one, two, three, four, five, six] = [1, 2, 3, 4, 5, 6].map(Some);
            let (beat, none) = (Some(9), None);
            let expected = [one, two, beat, three, beat, four, none, five, six];
            assert_eq!(read, expected);
            assert_eq!(messages.malformed(), 1);
        }
    }

    #[test]
    fn places_past_the_end_are_no_messages() {
        let bytes = message(1, [1]);
        let len = bytes.len();
        let places = [0..len, len..len + 1, len..len];
        let records = places.map(|place| Copied {
            place,
            tag: record::MESSAGE,
        });
        let mut messages = Messages::of_log(WRITER, &bytes, &records);
        assert!(messages.next_submessage().is_some());
        assert!(messages.next_submessage().is_none());
        assert_eq!(messages.malformed(), 2);
    }
}
