//! Complete datagrams with their destinations, in one reusable arena, but for long payloads, which are sent from where the
//! history has them. Knows no socket.

use alloc::vec::Vec;
use core::fmt;

use tickwire_base::{Locator, Pieces, copy};

use crate::payload::{Handed, Part};
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
    /// Long payloads that some of the datagrams have, in their order.
    inserted: Vec<Inserted>,
    mark: u8,
    has_marks: bool,
    gathers: bool,
    /// Memory of the application's that its writer needs no more.
    given_back: Vec<Handed>,
    /// The longest datagram that is [continued](Self::append), whatever its machine says.
    max_len: Option<usize>,
    /// Scratch memory of [`gather`](Self::gather).
    spare: Spare,
}

#[derive(Default)]
struct Spare {
    order: Vec<Place>,
    bytes: Vec<u8>,
    locators: Vec<Locator>,
    datagrams: Vec<Datagram>,
}

/// A datagram among all: how many to everybody came before it, whom it is for, its index.
type Place = (usize, Option<GuidPrefix>, usize);

/// Where a datagram begins in the arenas; it ends where the next one begins.
#[derive(Clone, Copy)]
struct Datagram {
    bytes_start: usize,
    locators_start: usize,
    source: GuidPrefix,
    mark: u8,
    /// Whom the machine that began it writes to; unknown to us if others may have changed that.
    destination: Option<GuidPrefix>,
}

/// A part of a long payload within a datagram.
struct Inserted {
    /// Its index.
    datagram: usize,
    /// Behind which bytes of the arena.
    at: usize,
    /// How many of the bytes there are to be left out: the arena has words alone, and what lacks to one behind the part
    /// is zeros of the first.
    skipped: usize,
    part: Part,
}

impl Inserted {
    /// How many bytes there are more than the arena has.
    fn added_len(&self) -> usize {
        self.part.as_slice().len().saturating_sub(self.skipped)
    }
}

impl Outbox {
    /// An outbox without memory.
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            locators: Vec::new(),
            datagrams: Vec::new(),
            inserted: Vec::new(),
            mark: 0,
            has_marks: false,
            gathers: false,
            given_back: Vec::new(),
            max_len: None,
            spare: Spare {
                order: Vec::new(),
                bytes: Vec::new(),
                locators: Vec::new(),
                datagrams: Vec::new(),
            },
        }
    }

    /// An outbox without memory in which samples are to wait for others: they take no shorter way
    /// ([`Log`](crate::writer::Log)).
    pub fn gathering() -> Self {
        Self {
            gathers: true,
            ..Self::new()
        }
    }

    /// Whether samples wait in it for others.
    pub(crate) fn gathers(&self) -> bool {
        self.gathers
    }

    /// Marks the datagrams that begin from here on, for whoever sends them: TRANSPORT_PRIORITY has
    /// them treated in another way on the road. 0, which is no mark, until this is called and after
    /// [`clear`](Self::clear). Differently marked submessages share no datagram.
    pub fn mark(&mut self, mark: u8) {
        self.mark = mark;
    }

    /// Has submessages share datagrams no further than up to that length, though their machines know of a longer one.
    pub fn share_up_to(&mut self, max_len: usize) {
        self.max_len = Some(max_len);
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
        let max_len = self.max_len.map_or(max_len, |limit| limit.min(max_len));
        let open = self.datagrams.last().filter(|last| {
            self.len_of_last(last) + len <= max_len
                && last.mark == self.mark
                && last.source == source
                && last.destination == Some(destination)
                && self.locators.get(last.locators_start..) == Some(to)
        });
        let start = match open {
            Some(open) => open.bytes_start,
            None => self.begin(source, destination, to),
        };
        MessageWriter::resume(&mut self.bytes, start)
    }

    /// How long the newest datagram is.
    #[inline]
    fn len_of_last(&self, last: &Datagram) -> usize {
        let inserted = self.inserted.last();
        let inserted = inserted.filter(|inserted| inserted.at > last.bytes_start);
        let inserted_len = inserted.map_or(0, Inserted::added_len);
        self.bytes.len() - last.bytes_start + inserted_len
    }

    /// Puts a part of a long payload, and zeros up to a multiple of four, behind what the newest datagram has, which has no
    /// other, and ends that if `is_end`.
    pub(crate) fn insert(&mut self, part: Part, is_end: bool) {
        let Some(last) = self.datagrams.last_mut() else {
            return;
        };
        if is_end {
            last.destination = None;
        }
        let (at, padding) = (self.bytes.len(), part.padding());
        let zeros = if padding > 0 { 4 } else { 0 };
        self.inserted.push(Inserted {
            datagram: self.datagrams.len() - 1,
            at,
            skipped: zeros - padding,
            part,
        });
        self.bytes.resize(at + zeros, 0);
    }

    /// Begins a datagram to one participant, or to everybody; says where.
    fn begin(&mut self, source: GuidPrefix, destination: GuidPrefix, to: &[Locator]) -> usize {
        let start = self.bytes.len();
        let mut message = self.message(source, to);
        if destination != GuidPrefix::UNKNOWN {
            message.info_dst(destination);
        }
        if let Some(last) = self.datagrams.last_mut() {
            last.destination = Some(destination);
        }
        start
    }

    /// Puts what goes from one participant to another at the same addresses together, as far as it
    /// fits `max_len`. What is for one participant keeps its order, and nothing overtakes what is
    /// for everybody. What shares no datagram, announcements among it, stays whole and goes first:
    /// peers listen to those that they know.
    pub fn gather(&mut self, max_len: usize) {
        // Neighbours share a datagram already, and long ones fit no other.
        let are_few = self.datagrams.len() < 3;
        let are_long = || self.bytes.len() / self.datagrams.len() > max_len;
        if are_few || !self.inserted.is_empty() || are_long() {
            return;
        }
        let mut spare = core::mem::take(&mut self.spare);
        let mut after = 0;
        for (index, datagram) in self.datagrams.iter().enumerate() {
            let to_everybody = datagram.destination == Some(GuidPrefix::UNKNOWN);
            after += usize::from(to_everybody);
            spare.order.push((after, datagram.destination, index));
            after += usize::from(to_everybody);
        }
        spare.order.sort_unstable();
        let mut order = core::mem::take(&mut spare.order);
        for (_, _, index) in order.drain(..) {
            self.move_to(&mut spare, index, max_len);
        }
        spare.order = order;
        core::mem::swap(&mut self.bytes, &mut spare.bytes);
        core::mem::swap(&mut self.locators, &mut spare.locators);
        core::mem::swap(&mut self.datagrams, &mut spare.datagrams);
        spare.bytes.clear();
        spare.locators.clear();
        spare.datagrams.clear();
        self.spare = spare;
    }

    /// Adds a datagram to those of `spare`: to the last one if both go the same way.
    fn move_to(&self, spare: &mut Spare, index: usize, max_len: usize) {
        let Some(datagram) = self.datagrams.get(index) else {
            return;
        };
        let (bytes, locators) = self.in_arena(index, datagram);
        let added = bytes.len().saturating_sub(HEADER_AND_DESTINATION_LEN);
        let joins = spare.datagrams.last().is_some_and(|last| {
            last.source == datagram.source
                && last.mark == datagram.mark
                && last.destination == datagram.destination
                && last.destination.is_some_and(|to| to != GuidPrefix::UNKNOWN)
                && spare.locators.get(last.locators_start..) == Some(locators)
                && spare.bytes.len() - last.bytes_start + added <= max_len
        });
        match bytes.get(HEADER_AND_DESTINATION_LEN..) {
            Some(submessages) if joins => copy::append(&mut spare.bytes, submessages),
            _ => {
                spare.datagrams.push(Datagram {
                    bytes_start: spare.bytes.len(),
                    locators_start: spare.locators.len(),
                    ..*datagram
                });
                copy::append(&mut spare.bytes, bytes);
                spare.locators.extend_from_slice(locators);
            }
        }
    }

    /// Adds the datagrams of `other`. What goes the same way as the newest one here joins that, as far
    /// as it fits `max_len`.
    pub fn absorb(&mut self, other: &Self, max_len: usize) {
        for (index, datagram) in other.datagrams.iter().enumerate() {
            let (bytes, locators) = other.in_arena(index, datagram);
            let inserted = other.inserted_in(index);
            let head_len = match datagram.destination {
                Some(GuidPrefix::UNKNOWN) => Header::LEN,
                _ => HEADER_AND_DESTINATION_LEN,
            };
            let added = bytes.len().saturating_sub(head_len);
            let joins = self.datagrams.last().is_some_and(|last| {
                datagram.destination.is_some()
                    && inserted.is_none()
                    && last.destination == datagram.destination
                    && last.source == datagram.source
                    && last.mark == datagram.mark
                    && self.locators.get(last.locators_start..) == Some(locators)
                    && self.len_of_last(last) + added <= max_len
            });
            match bytes.get(head_len..) {
                Some(submessages) if joins => copy::append(&mut self.bytes, submessages),
                _ => {
                    self.datagrams.push(Datagram {
                        bytes_start: self.bytes.len(),
                        locators_start: self.locators.len(),
                        ..*datagram
                    });
                    self.inserted.extend(inserted.map(|inserted| Inserted {
                        datagram: self.datagrams.len() - 1,
                        at: self.bytes.len() + inserted.at - datagram.bytes_start,
                        skipped: inserted.skipped,
                        part: inserted.part.clone(),
                    }));
                    copy::append(&mut self.bytes, bytes);
                    self.locators.extend_from_slice(locators);
                }
            }
        }
        self.has_marks |= other.has_marks;
    }

    /// The only datagram and the only place where it goes, if it is neither [marked](Self::mark) nor in pieces.
    #[inline]
    pub fn sole(&self) -> Option<(&[u8], &Locator)> {
        let is_plain = !self.has_marks && self.inserted.is_empty();
        match (self.datagrams.as_slice(), self.locators.as_slice()) {
            ([_], [only]) if is_plain => Some((&self.bytes, only)),
            _ => None,
        }
    }

    /// The datagrams and where each goes, oldest first.
    pub fn datagrams(&self) -> impl Iterator<Item = (Pieces<'_>, &[Locator])> {
        self.marked().map(|(_, bytes, locators)| (bytes, locators))
    }

    /// The same address by address, where several in a row go the same ways: so those to one follow each other.
    /// `address` is asked for each.
    pub fn by_address<'a, A: 'a>(
        &'a self,
        address: impl Fn(&Locator) -> Option<A> + 'a,
    ) -> impl Iterator<Item = (Pieces<'a>, A)> + 'a {
        let ways = |index: usize| match self.datagrams.get(index) {
            Some(datagram) => self.content(index, datagram).1,
            None => &[],
        };
        let (mut run, mut way, mut next) = (0..0, 0, 0);
        core::iter::from_fn(move || {
            loop {
                if next < run.end {
                    let datagram = self.datagrams.get(next)?;
                    let (bytes, locators) = self.content(next, datagram);
                    next += 1;
                    match locators.get(way).and_then(&address) {
                        Some(address) => return Some((bytes, address)),
                        None => continue,
                    }
                }
                way += 1;
                if way >= ways(run.start).len() || run.is_empty() {
                    let start = run.end;
                    if start >= self.datagrams.len() {
                        return None;
                    }
                    let alike =
                        (start..self.datagrams.len()).take_while(|&at| ways(at) == ways(start));
                    (run, way) = (start..start + alike.count(), 0);
                }
                next = run.start;
            }
        })
    }

    /// Whether any datagram is marked.
    pub fn has_marks(&self) -> bool {
        self.has_marks
    }

    /// The datagrams with their [marks](Self::mark).
    pub fn marked(&self) -> impl Iterator<Item = (u8, Pieces<'_>, &[Locator])> {
        self.datagrams.iter().enumerate().map(|(i, datagram)| {
            let (bytes, locators) = self.content(i, datagram);
            (datagram.mark, bytes, locators)
        })
    }

    /// The bytes of the datagram with that index, and where it goes.
    #[inline]
    fn content(&self, index: usize, datagram: &Datagram) -> (Pieces<'_>, &[Locator]) {
        let (bytes, locators) = self.in_arena(index, datagram);
        let pieces = match self.inserted_in(index) {
            None => Pieces::from(bytes),
            Some(inserted) => {
                let at = inserted.at - datagram.bytes_start;
                let (head, foot) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
                Pieces {
                    head,
                    body: inserted.part.as_slice(),
                    foot: foot.get(inserted.skipped..).unwrap_or_default(),
                }
            }
        };
        (pieces, locators)
    }

    /// What the arenas have of it.
    #[inline]
    fn in_arena(&self, index: usize, datagram: &Datagram) -> (&[u8], &[Locator]) {
        let next = self.datagrams.get(index + 1);
        let bytes_end = next.map_or(self.bytes.len(), |next| next.bytes_start);
        let locators_end = next.map_or(self.locators.len(), |next| next.locators_start);
        let bytes = self.bytes.get(datagram.bytes_start..bytes_end);
        let locators = self.locators.get(datagram.locators_start..locators_end);
        (bytes.unwrap_or_default(), locators.unwrap_or_default())
    }

    /// What the datagram with that index has that lies elsewhere.
    #[inline]
    fn inserted_in(&self, index: usize) -> Option<&Inserted> {
        let inserted = &self.inserted;
        let found = inserted.binary_search_by_key(&index, |inserted| inserted.datagram);
        inserted.get(found.ok()?)
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
        let inserted = self.inserted.iter();
        let inserted = inserted.map(Inserted::added_len);
        self.bytes.len() + inserted.sum::<usize>()
    }

    /// Has memory of the application's dropped when this is [cleared](Self::clear), as that may call its code.
    #[inline]
    pub fn take_given_back(&mut self, given_back: &mut Vec<Handed>) {
        if !given_back.is_empty() {
            self.given_back.append(given_back);
        }
    }

    /// Drops what writers have [given back](crate::writer::Writer::given_back). To be called without locks where there
    /// is nothing to send, and hence nothing to [clear](Self::clear).
    #[inline]
    pub fn let_go(&mut self) {
        if !self.given_back.is_empty() {
            self.drop_given_back();
        }
    }

    /// Apart, so that what is done for each datagram stays short.
    #[cold]
    fn drop_given_back(&mut self) {
        self.given_back.clear();
    }

    /// Forgets the datagrams and keeps the memory, but for what is [let go of](Self::let_go).
    pub fn clear(&mut self) {
        self.let_go();
        self.bytes.clear();
        self.locators.clear();
        self.datagrams.clear();
        self.inserted.clear();
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

/// The message header and the INFO_DST that every datagram to one participant begins with.
const HEADER_AND_DESTINATION_LEN: usize = 20 + 16;

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use tickwire_base::Timestamp;

    use super::*;
    use crate::payload::Payload;
    use crate::writer::NothingLent;

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
    fn what_goes_to_one_address_is_together_where_several_go_the_same_ways() {
        let mut outbox = Outbox::new();
        assert_eq!(outbox.by_address(|&way| Some(way)).count(), 0);
        let ways: [&[Locator]; 7] = [
            &[],
            &[HERE, THERE],
            &[HERE, THERE],
            &[THERE],
            &[THERE],
            &[HERE, THERE],
            &[HERE],
        ];
        for (number, ways) in ways.iter().enumerate() {
            let mut message = outbox.message(US, ways);
            for _ in 0..number {
                message.info_ts(None);
            }
        }
        let number = |bytes: Pieces<'_>| (bytes.len() - 20) / 4;
        let all = outbox.by_address(|&way| Some(way));
        let all: Vec<_> = all.map(|(bytes, way)| (number(bytes), way)).collect();
        let expected = [
            (1, HERE),
            (2, HERE),
            (1, THERE),
            (2, THERE),
            (3, THERE),
            (4, THERE),
            (5, HERE),
            (5, THERE),
            (6, HERE),
        ];
        assert_eq!(all, expected);
        let some = outbox.by_address(|&way| (way == HERE).then_some(()));
        let some: Vec<_> = some.map(|(bytes, ())| number(bytes)).collect();
        assert_eq!(some, [1, 2, 5, 6]);
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
    fn one_datagram_to_one_place_is_told_apart() {
        let mut outbox = Outbox::new();
        assert_eq!(outbox.sole(), None);
        outbox.message(US, &[HERE]).info_dst(THEM);
        let sole = outbox.sole().map(|(bytes, to)| (bytes.to_vec(), *to));
        let all = outbox.datagrams().next();
        let all = all.map(|(bytes, to)| (bytes.joined().into_owned(), to[0]));
        assert_eq!(sole, all);
        assert!(sole.is_some());
        outbox.message(US, &[HERE]).info_dst(THEM);
        assert_eq!(outbox.sole(), None);
        outbox.clear();
        outbox.message(US, &[HERE, THERE]).info_dst(THEM);
        assert_eq!(outbox.sole(), None);
        outbox.clear();
        outbox.mark(1);
        outbox.message(US, &[HERE]).info_dst(THEM);
        assert_eq!(outbox.sole(), None);
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
    fn what_goes_the_same_way_is_gathered_in_order() {
        const OTHERS: GuidPrefix = GuidPrefix([3; 12]);
        let mut outbox = Outbox::new();
        let append = |outbox: &mut Outbox, destination, to: Locator, time| {
            let time = Some(Timestamp::from_nanos(time));
            let mut message = outbox.append(US, destination, &[to], 12, 100);
            message.info_ts(time);
        };
        for round in 0..4_i64 {
            append(&mut outbox, THEM, HERE, round * 1_000_000_000);
            append(&mut outbox, OTHERS, THERE, 0);
        }
        append(&mut outbox, GuidPrefix::UNKNOWN, THERE, 0);
        append(&mut outbox, THEM, HERE, 0);
        outbox.message(US, &[HERE]).info_dst(THEM);
        assert_eq!(outbox.len(), 11);
        outbox.gather(72);
        // 36 bytes and three of 12 are 72; what is for everybody is not overtaken, and what is not
        // shared stays whole.
        assert_eq!(
            lens(&outbox),
            [
                (72, 1),
                (48, 1),
                (72, 1),
                (48, 1),
                (32, 1),
                (36, 1),
                (48, 1)
            ]
        );
        let (first, _) = outbox.datagrams().next().expect("seven");
        let seconds: Vec<_> = first.head[36..]
            .chunks(12)
            .map(|info_ts| info_ts[4])
            .collect();
        assert_eq!(seconds, [0, 1, 2]);
        outbox.gather(72);
        assert_eq!(outbox.len(), 7, "nothing more to gain");
        outbox.clear();
        assert!(outbox.is_empty());
    }

    #[test]
    fn what_another_outbox_has_joins_what_goes_the_same_way() {
        const EVERYBODY: GuidPrefix = GuidPrefix::UNKNOWN;
        let (mut all, mut one) = (Outbox::new(), Outbox::new());
        for (destination, to, mark) in [
            (EVERYBODY, HERE, 0),
            (EVERYBODY, HERE, 0),
            (EVERYBODY, THERE, 0),
            (THEM, THERE, 0),
            (THEM, THERE, 0),
            (THEM, THERE, 46),
        ] {
            one.clear();
            one.mark(mark);
            one.append(US, destination, &[to], 4, 100).info_ts(None);
            all.absorb(&one, 44);
        }
        assert_eq!(
            lens(&all),
            [(28, 1), (24, 1), (44, 1), (40, 1)],
            "each has one header"
        );
        assert!(all.has_marks());
        all.absorb(&one, 43);
        assert_eq!(all.len(), 5, "44 bytes are more than 43");
        one.clear();
        one.message(US, &[THERE]).info_dst(THEM);
        all.absorb(&one, 1000);
        assert_eq!(all.len(), 6, "others wrote to that one");
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
    fn a_part_of_a_long_payload_stays_in_its_place_in_its_datagram() {
        let Payload::Long(long) = Payload::<NothingLent>::of(alloc::vec![7; 99_997]) else {
            panic!("it is long");
        };
        let mut one = Outbox::new();
        for (start, len) in [(0, 8), (99_992, 5)] {
            one.append(US, THEM, &[HERE], 100, 100).info_ts(None);
            one.insert(long.part(start, len), false);
            // It counts.
            one.append(US, THEM, &[HERE], 53, 100).info_ts(None);
            one.append(US, THEM, &[HERE], 4, 100).info_ts(None);
        }
        one.append(US, THEM, &[HERE], 100, 100).info_ts(None);
        one.insert(long.part(8, 8), true);
        one.append(US, THEM, &[HERE], 4, 100).info_ts(None);
        one.gather(1000);
        let (whole, last, none) = (&[7; 8][..], &[7, 7, 7, 7, 7, 0, 0, 0][..], &[][..]);
        let bodies = [whole, none, last, none, whole, none];
        let lens = [48, 44, 48, 44, 48, 40].map(|len| (len, 1));
        // Apart, and what may go together together, but behind an end.
        for (max_len, lens, bodies, foot_len) in [
            (50, &lens[..], &bodies[..], 0),
            (
                1000,
                &[(56, 1), (56, 1), (48, 1), (40, 1)],
                &[whole, last, whole, none],
                16,
            ),
        ] {
            let mut all = Outbox::new();
            all.absorb(&one, max_len);
            assert_eq!(self::lens(&all), lens);
            let datagrams = || all.datagrams().map(|(pieces, _)| pieces);
            assert!(
                datagrams()
                    .map(|pieces| pieces.body)
                    .eq(bodies.iter().copied())
            );
            let feet: usize = datagrams().map(|pieces| pieces.foot.len()).sum();
            assert_eq!(feet, foot_len);
            assert_eq!(
                all.total_len(),
                lens.iter().map(|(len, _)| len).sum::<usize>()
            );
            all.clear();
            assert_eq!(all.total_len(), 0);
        }
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
