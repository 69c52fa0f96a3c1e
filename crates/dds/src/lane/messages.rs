//! Messages that have come together, as if they were one.

use std::ops::Range;
use std::slice;

use tickwire_rtps::wire::{Arrival, Context, Data, Malformed, MessageReader, Submessage};

/// The submessages of one message, or of several that lie in one piece of memory. An error ends the message that it is
/// in.
pub(crate) struct Messages<'a> {
    current: MessageReader<'a>,
    /// Where the others are.
    bytes: &'a [u8],
    places: slice::Iter<'a, Range<usize>>,
    without_header: u64,
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
            bytes: &[],
            places: [].iter(),
            without_header: 0,
        })
    }

    /// Messages at these places of `bytes`. The number of messages if none has a header.
    #[inline]
    pub(crate) fn several(
        bytes: &'a [u8],
        places: &'a [Range<usize>],
        arrival: Arrival,
    ) -> Result<Self, u64> {
        let mut places = places.iter();
        let mut without_header = 0;
        while let Some(message) = next_message(bytes, &mut places) {
            if let Ok(current) = MessageReader::new(message) {
                return Ok(Self {
                    current: current.arrived(arrival),
                    bytes,
                    places,
                    without_header,
                });
            }
            without_header += 1;
        }
        Err(without_header)
    }

    /// What is known about the submessage that was given last.
    #[inline]
    pub(crate) fn context(&self) -> &Context<'a> {
        self.current.context()
    }

    pub(crate) fn next_submessage(&mut self) -> Option<Result<Submessage<'a>, Malformed>> {
        loop {
            let next = self.current.next_submessage();
            if next.is_some() || !self.begin_next() {
                return next;
            }
        }
    }

    /// The same if it is the DATA of a sample that says nothing besides, and of its source and destination is known what
    /// was before; nothing is taken of anything else.
    #[inline(always)]
    pub(crate) fn next_sample(&mut self) -> Option<Data<'a>> {
        while self.current.is_done() {
            let place = self.places.as_slice().first()?;
            let message = self.bytes.get(place.start..place.end)?;
            if !self.current.begin_alike(message) {
                return None;
            }
            self.places.next();
        }
        self.current.next_sample()
    }

    /// Submessages so far whose ids nobody here knows.
    pub(crate) fn skipped(&self) -> u64 {
        self.current.skipped().into()
    }

    /// Messages so far that had no header.
    pub(crate) fn without_header(&self) -> u64 {
        self.without_header
    }

    #[inline]
    fn begin_next(&mut self) -> bool {
        while let Some(message) = next_message(self.bytes, &mut self.places) {
            match self.current.begin(message) {
                Ok(()) => return true,
                Err(_) => self.without_header += 1,
            }
        }
        false
    }
}

#[inline]
fn next_message<'a>(
    bytes: &'a [u8],
    places: &mut slice::Iter<'_, Range<usize>>,
) -> Option<&'a [u8]> {
    let place = places.next()?;
    bytes.get(place.start..place.end)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use tickwire_rtps::wire::{EntityId, GuidPrefix, Heartbeat, MessageWriter, SequenceNumber};

    use super::*;

    const HERE: Arrival = Arrival {
        from: IpAddr::V4(Ipv4Addr::LOCALHOST),
        by_multicast: false,
        kernel_timestamp: None,
    };

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
        let places = all.iter().map(|message| {
            bytes.extend(b"something else");
            bytes.extend(message);
            bytes.len() - message.len()..bytes.len()
        });
        let places: Vec<_> = places.collect();
        let mut messages = Messages::several(&bytes, &places, HERE).expect("one has a header");
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
        assert_eq!((messages.skipped(), messages.without_header()), (1, 2));
    }

    #[test]
    fn places_past_the_end_end_the_messages() {
        let bytes = message(1, [1]);
        let len = bytes.len();
        let places = [0..len, len..len + 1, len..len];
        let mut messages = Messages::several(&bytes, &places, HERE).expect("a header");
        assert!(messages.next_submessage().is_some());
        assert!(messages.next_submessage().is_none());
        assert!(matches!(
            Messages::several(&bytes, &[0..3, 3..5], HERE),
            Err(2)
        ));
    }
}
