//! Complete datagrams with their destinations, in one reusable arena. Knows no socket.

use alloc::vec::Vec;
use core::fmt;

use tickwire_base::Locator;

use crate::wire::{GuidPrefix, Header, MessageWriter};

/// What the machines want sent.
///
/// The caller hands one outbox to as many calls as it likes, sends the [`datagrams`](Self::datagrams)
/// once it has let go of its locks, and [clears](Self::clear) it. The memory is kept: an outbox that
/// has been as full before does not allocate.
#[derive(Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    locators: Vec<Locator>,
    datagrams: Vec<Datagram>,
    mark: u8,
    has_marks: bool,
}

/// Where a datagram begins in the arenas; it ends where the next one begins.
struct Datagram {
    bytes_start: usize,
    locators_start: usize,
    source: GuidPrefix,
    mark: u8,
    /// Whom the machine that began it writes to; unknown to us if others may have changed that.
    destination: Option<GuidPrefix>,
}

impl Outbox {
    /// An outbox without memory.
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            locators: Vec::new(),
            datagrams: Vec::new(),
            mark: 0,
            has_marks: false,
        }
    }

    /// Marks the datagrams that begin from here on, for whoever sends them: TRANSPORT_PRIORITY has
    /// them treated in another way on the road. 0, which is no mark, until this is called and after
    /// [`clear`](Self::clear). Differently marked submessages share no datagram.
    pub fn mark(&mut self, mark: u8) {
        self.mark = mark;
    }

    /// Begins a datagram from the participant `source` to all of `to`; what is written to the
    /// message goes into it. A message without any submessage is sent all the same.
    pub fn message(&mut self, source: GuidPrefix, to: &[Locator]) -> MessageWriter<'_> {
        self.message_of(&Header::new(source), to)
    }

    /// The same with a header that somebody else has written, to pass on what he says.
    pub(crate) fn message_of(&mut self, header: &Header, to: &[Locator]) -> MessageWriter<'_> {
        self.datagrams.push(Datagram {
            bytes_start: self.bytes.len(),
            locators_start: self.locators.len(),
            source: header.prefix,
            mark: self.mark,
            destination: None,
        });
        self.has_marks |= self.mark != 0;
        self.locators.extend_from_slice(to);
        MessageWriter::with_header(&mut self.bytes, header)
    }

    /// Continues the newest datagram if it goes from `source` to `destination` at `to` and has room
    /// for `len` more bytes below `max_len`; else begins one, with INFO_DST unless `destination`
    /// is everybody.
    pub(crate) fn append(
        &mut self,
        source: GuidPrefix,
        destination: GuidPrefix,
        to: &[Locator],
        len: usize,
        max_len: usize,
    ) -> MessageWriter<'_> {
        let open = self.datagrams.last().is_some_and(|last| {
            last.source == source
                && last.mark == self.mark
                && last.destination == Some(destination)
                && self.locators.get(last.locators_start..) == Some(to)
                && self.bytes.len() - last.bytes_start + len <= max_len
        });
        if !open {
            let mut message = self.message(source, to);
            if destination != GuidPrefix::UNKNOWN {
                message.info_dst(destination);
            }
        }
        let mut start = 0;
        if let Some(last) = self.datagrams.last_mut() {
            last.destination = Some(destination);
            start = last.bytes_start;
        }
        MessageWriter::resume(&mut self.bytes, start)
    }

    /// The datagrams and where each goes, oldest first.
    pub fn datagrams(&self) -> impl Iterator<Item = (&[u8], &[Locator])> {
        self.marked().map(|(_, bytes, locators)| (bytes, locators))
    }

    /// Whether any datagram is marked.
    pub fn has_marks(&self) -> bool {
        self.has_marks
    }

    /// The datagrams with their [marks](Self::mark).
    pub fn marked(&self) -> impl Iterator<Item = (u8, &[u8], &[Locator])> {
        self.datagrams.iter().enumerate().map(|(i, datagram)| {
            let next = self.datagrams.get(i + 1);
            let bytes_end = next.map_or(self.bytes.len(), |next| next.bytes_start);
            let locators_end = next.map_or(self.locators.len(), |next| next.locators_start);
            (
                datagram.mark,
                self.bytes
                    .get(datagram.bytes_start..bytes_end)
                    .unwrap_or_default(),
                self.locators
                    .get(datagram.locators_start..locators_end)
                    .unwrap_or_default(),
            )
        })
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// Datagrams to send.
    pub fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Bytes to send, each datagram counted once however many destinations it has.
    pub fn total_len(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets the datagrams and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.locators.clear();
        self.datagrams.clear();
        self.mark = 0;
        self.has_marks = false;
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("datagrams", &self.len())
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use super::*;

    const US: GuidPrefix = GuidPrefix([1; 12]);
    const THEM: GuidPrefix = GuidPrefix([2; 12]);
    const HERE: Locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 1);
    const THERE: Locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 2);

    fn lens(outbox: &Outbox) -> Vec<(usize, usize)> {
        let datagrams = outbox.datagrams();
        datagrams
            .map(|(bytes, locators)| (bytes.len(), locators.len()))
            .collect()
    }

    #[test]
    fn datagrams_keep_their_bytes_and_destinations_apart() {
        let mut outbox = Outbox::new();
        outbox.message(US, &[HERE, THERE]).info_dst(THEM);
        outbox.message(US, &[]);
        outbox.message(US, &[HERE]).info_dst(THEM).info_ts(None);
        assert_eq!(lens(&outbox), [(36, 2), (20, 0), (40, 1)]);
        assert_eq!(outbox.total_len(), 96);
        outbox.clear();
        assert!(outbox.is_empty());
        assert_eq!(lens(&outbox), []);
    }

    #[test]
    fn submessages_share_a_datagram_when_they_go_the_same_way_and_fit() {
        let mut outbox = Outbox::new();
        for (to, destination) in [
            (HERE, THEM),
            (HERE, THEM),
            (THERE, THEM),
            (THERE, GuidPrefix::UNKNOWN),
            (THERE, GuidPrefix::UNKNOWN),
        ] {
            outbox.append(US, destination, &[to], 4, 100).info_ts(None);
        }
        assert_eq!(lens(&outbox), [(44, 1), (40, 1), (28, 1)]);
        outbox
            .append(US, GuidPrefix::UNKNOWN, &[THERE], 73, 100)
            .info_ts(None);
        assert_eq!(outbox.len(), 4, "28 and 73 bytes are more than 100");
    }

    #[test]
    fn a_message_that_others_wrote_to_is_not_continued() {
        let mut outbox = Outbox::new();
        outbox.message(US, &[HERE]).info_dst(THEM);
        outbox
            .append(US, GuidPrefix::UNKNOWN, &[HERE], 4, 100)
            .info_ts(None);
        assert_eq!(outbox.len(), 2);
    }

    #[test]
    fn differently_marked_submessages_share_no_datagram() {
        let mut outbox = Outbox::new();
        for mark in [0, 46, 46, 0] {
            outbox.mark(mark);
            outbox.append(US, THEM, &[HERE], 4, 100).info_ts(None);
        }
        let marks: Vec<_> = outbox.marked().map(|(mark, ..)| mark).collect();
        assert_eq!(marks, [0, 46, 0]);
        assert!(outbox.has_marks());
        outbox.mark(46);
        outbox.clear();
        outbox.message(US, &[HERE]).info_dst(THEM);
        assert!(!outbox.has_marks(), "the mark ends with what it was for");
    }
}
