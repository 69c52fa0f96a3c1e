//! Messages that have come together, as if they were one.

use std::slice;

use tickwire_rtps::wire::{Arrival, Context, Data, Malformed, MessageReader, Submessage};

/// The submessages of one message, or of several that lie one behind the other. An error ends the message that it is
/// in.
pub(crate) struct Messages<'a> {
    current: MessageReader<'a>,
    /// What comes behind it, and the lengths of those messages.
    rest: &'a [u8],
    lens: slice::Iter<'a, usize>,
    without_header: u64,
}

impl<'a> Messages<'a> {
    /// One message.
    ///
    /// # Errors
    /// When it has no header.
    pub(crate) fn one(bytes: &'a [u8], arrival: Arrival) -> Result<Self, Malformed> {
        Ok(Self {
            current: MessageReader::new(bytes)?.arrived(arrival),
            rest: &[],
            lens: [].iter(),
            without_header: 0,
        })
    }

    /// Messages of these lengths, which `bytes` begin with. The number of messages if none has a header.
    pub(crate) fn several(
        bytes: &'a [u8],
        lens: &'a [usize],
        arrival: Arrival,
    ) -> Result<Self, u64> {
        let mut rest = bytes;
        let mut lens = lens.iter();
        let mut without_header = 0;
        while let Some(message) = split(&mut rest, &mut lens) {
            if let Ok(current) = MessageReader::new(message) {
                return Ok(Self {
                    current: current.arrived(arrival),
                    rest,
                    lens,
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

    /// The same if it is the DATA of a sample that says nothing besides; nothing is taken of anything else.
    #[inline(always)]
    pub(crate) fn next_sample(&mut self) -> Option<Data<'a>> {
        loop {
            let next = self.current.next_sample();
            if next.is_some() || !self.current.is_done() || !self.begin_next() {
                return next;
            }
        }
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
        while let Some(message) = split(&mut self.rest, &mut self.lens) {
            match self.current.begin(message) {
                Ok(()) => return true,
                Err(_) => self.without_header += 1,
            }
        }
        false
    }
}

/// Takes the next message away.
#[inline]
fn split<'a>(rest: &mut &'a [u8], lens: &mut slice::Iter<'_, usize>) -> Option<&'a [u8]> {
    let (message, behind) = rest.split_at_checked(*lens.next()?)?;
    *rest = behind;
    Some(message)
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
        let lens: Vec<_> = all.iter().map(Vec::len).collect();
        let bytes = all.concat();
        let mut messages = Messages::several(&bytes, &lens, HERE).expect("one has a header");
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
    fn lengths_that_go_past_the_end_end_the_messages() {
        let bytes = message(1, [1]);
        let lens = [bytes.len(), 1, 0];
        let mut messages = Messages::several(&bytes, &lens, HERE).expect("a header");
        assert!(messages.next_submessage().is_some());
        assert!(messages.next_submessage().is_none());
        assert!(matches!(Messages::several(&bytes, &[3, 2], HERE), Err(2)));
    }
}
