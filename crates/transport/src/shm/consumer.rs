//! A reader's side of a log's memory: the next record, whether it is whole, what was lost. Believes nothing
//! that it reads.

use super::atomic::{Ordering, fence};
use super::layout::{self, BELL, HEADER, Header, MAX_NOTES, NEWEST, RESERVED, Ring, WANTED};
use super::map::{CommonMap, ForeignMap};
use super::producer::Start;
use super::{Copied, Lost, NextError, Note, Overrun};

/// Follows a log.
#[derive(Debug)]
pub(crate) struct Consumer {
    log: ForeignMap,
    control: CommonMap,
    ring: Ring,
    seat: usize,
    /// Where the next record begins.
    cursor: u64,
    /// When the cursor reaches this, the writer is told.
    tell_at: u64,
    /// The cursor that it was told.
    told: u64,
    /// The number of the next record; at least that, after records were lost.
    sequence: u64,
    has_lost: bool,
    is_broken: bool,
    lost: Lost,
    /// What the notes say, and how often whom they are about has changed.
    notes: [(Note, u16); MAX_NOTES],
    admission: u32,
}

/// A record whose payload may be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    position: u64,
    pub(crate) len: usize,
    pub(crate) tag: u8,
    pub(crate) sequence: u64,
}

impl Consumer {
    /// The log's memory has the length that `ring` asks for.
    pub(crate) fn new(log: ForeignMap, control: CommonMap, ring: Ring, start: Start) -> Self {
        Self {
            log,
            control,
            ring,
            seat: start.seat,
            cursor: start.position,
            tell_at: ring.eighth_after(start.position + 1),
            told: start.position,
            sequence: start.sequence,
            has_lost: false,
            is_broken: false,
            lost: Lost::default(),
            notes: [(Note::default(), 0); MAX_NOTES],
            admission: start.admission,
        }
    }

    /// Tells the writer how far this reader is, if that makes room: to be called once the record that
    /// [`next`](Self::next) gave is done with. Whether the writer waits for that.
    #[inline]
    pub(crate) fn tell(&mut self) -> bool {
        if self.cursor < self.tell_at {
            return false;
        }
        self.tell_at = self.ring.eighth_after(self.cursor + 1);
        self.tell_all()
    }

    /// Tells the writer exactly how far this reader is, unless it knows: to be called where there is no next
    /// record, so that the writer can turn early. Whether the writer waits for that.
    #[inline]
    pub(crate) fn tell_all(&mut self) -> bool {
        self.told != self.cursor && self.tell_cursor()
    }

    fn tell_cursor(&mut self) -> bool {
        let at = layout::cursor(self.seat);
        self.control.store(at, self.cursor, Ordering::Release);
        self.told = self.cursor;
        fence(Ordering::SeqCst);
        self.control.load(WANTED, Ordering::Relaxed) != 0 && self.control.swap(WANTED, 0) != 0
    }

    /// Leaves a note for the writer, in place of the one that was there.
    pub(crate) fn leave_note(&mut self, place: usize, note: Note) {
        let left = match note.number {
            // Nobody gets that far.
            number if number > layout::NOTE_MASK => None,
            _ => self.notes.get_mut(place),
        };
        let Some((left, changes)) = left.filter(|(left, _)| *left != note) else {
            return;
        };
        let [whom, number] = layout::note(self.seat, place);
        if left.whom != note.whom {
            *changes = changes.wrapping_add(1);
            let about = u64::from(*changes) << 32 | u64::from(note.whom);
            let word = layout::note_word(about, self.admission);
            self.control.store(number, 0, Ordering::Relaxed);
            self.control.store(whom, word, Ordering::Release);
        }
        let word = layout::note_word(note.number, self.admission);
        self.control.store(number, word, Ordering::Release);
        *left = note;
    }

    /// The next record, if there is one.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Found>, NextError> {
        match self.next_here() {
            Some(found) => Ok(Some(found)),
            None => self.next_anywhere(),
        }
    }

    /// The next record, if it is where and what it is expected to be, as most are.
    #[inline(always)]
    fn next_here(&mut self) -> Option<Found> {
        let position = self.cursor;
        let [word, sequence] = self.log.load_two(self.ring.at(position));
        let Some(Header::Record(len, tag)) = Header::parse(word, position, self.ring) else {
            return None;
        };
        let is_expected = sequence == self.sequence && !self.has_lost && !self.is_broken;
        if !is_expected || !self.is_whole(position) {
            return None;
        }
        self.sequence = sequence.saturating_add(1);
        self.cursor = position + layout::total(len);
        Some(Found {
            position,
            len: len as usize,
            tag,
            sequence,
        })
    }

    fn next_anywhere(&mut self) -> Result<Option<Found>, NextError> {
        // After padding, which never follows padding, the record begins the ring.
        for _ in 0..2 {
            let (header, sequence) = self.header()?;
            match header {
                Header::Absent => return Ok(None),
                Header::Padding(len) => self.cursor += u64::from(len),
                Header::Record(len, tag) => return self.record(len, tag, sequence).map(Some),
            }
        }
        Err(self.malformed())
    }

    /// Copies the first bytes of a record's payload, as many as there are and as there is room for.
    #[inline]
    pub(crate) fn copy(&mut self, found: Found, into: &mut [u8]) -> Result<(), Overrun> {
        let len = into.len().min(found.len);
        let payload = self.ring.at(found.position + HEADER);
        self.log
            .copy(payload, into.get_mut(..len).unwrap_or_default());
        match self.is_whole(found.position) {
            true => Ok(()),
            false => Err(self.lose(found.len)),
        }
    }

    /// Counts a record that has been overrun while it was copied.
    #[cold]
    fn lose(&mut self, len: usize) -> Overrun {
        let lost_bytes = len as u64;
        self.lost.records += 1;
        self.lost.bytes += lost_bytes;
        Overrun { lost_bytes }
    }

    /// What one copy takes at most, so that the writer hears in time of the room that it makes.
    pub(crate) fn max_run_len(&self, max_len: usize) -> u64 {
        (max_len as u64).min(self.ring.len() / 8)
    }

    /// Copies the next records, which count as read then, to the begin of `buffer`, which grows to the longest and does
    /// not shrink: in one go, with their headers. Appends where they lie there. None if there is no next record;
    /// else as many as lie one behind the other, up to `max_count`, and of no more than `max_len` bytes unless it is one.
    pub(crate) fn copy_run(
        &mut self,
        (max_count, max_len): (usize, u64),
        buffer: &mut Vec<u8>,
        records: &mut Vec<Copied>,
    ) -> Result<(), NextError> {
        let Some(first) = self.next()? else {
            return Ok(());
        };
        let (begin, behind_first) = (first.position, (self.cursor, self.sequence));
        records.push(Copied {
            place: HEADER_LEN..HEADER_LEN + first.len,
            tag: first.tag,
        });
        for _ in 1..max_count {
            // What does not follow there, or is no record, is left to `next`.
            if self.ring.rest(self.cursor) == self.ring.len() {
                break;
            }
            let [word, sequence] = self.log.load_two(self.ring.at(self.cursor));
            let header = Header::parse(word, self.cursor, self.ring);
            let Some(Header::Record(len, tag)) = header else {
                break;
            };
            let end = self.cursor + layout::total(len);
            if end - begin > max_len || sequence != self.sequence {
                break;
            }
            let payload = within(begin, self.cursor + HEADER);
            records.push(Copied {
                place: payload..payload + len as usize,
                tag,
            });
            self.sequence = self.sequence.saturating_add(1);
            self.cursor = end;
        }
        let len = within(begin, self.cursor);
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        fence(Ordering::Acquire);
        let copied = buffer.get_mut(..len).unwrap_or_default();
        self.log.copy(self.ring.at(begin), copied);
        if !self.is_whole(begin) {
            // So what was taken for the headers behind it may have been something else.
            (self.cursor, self.sequence) = behind_first;
            records.clear();
            return Err(NextError::Overrun(self.lose(first.len)));
        }
        Ok(())
    }

    /// Whether [`next`](Self::next) would give anything, be it an error.
    #[inline]
    pub(crate) fn has_next(&self) -> bool {
        let word = self.log.load(self.ring.at(self.cursor));
        self.is_broken
            || match self.is_whole(self.cursor) {
                true => word != Header::Absent.word(),
                false => self.log.load(NEWEST) > self.cursor,
            }
    }

    /// Has the writer look who sleeps when it next publishes. The last look at the log must follow.
    ///
    /// This must not be spared where the word is 1 already: the writer may be about to reset it and to look
    /// who sleeps, and not see yet that this reader does.
    pub(crate) fn arm(&self) {
        self.control.swap(BELL, 1);
    }

    #[inline]
    pub(crate) fn lost(&self) -> Lost {
        self.lost
    }

    /// What is said at the cursor, if that has not been overwritten, and the number that stands behind it.
    #[inline]
    fn header(&mut self) -> Result<(Header, u64), NextError> {
        if self.is_broken {
            return Err(NextError::Malformed);
        }
        let [word, sequence] = self.log.load_two(self.ring.at(self.cursor));
        if !self.is_whole(self.cursor) {
            return self.skip().map(|header| (header, 0));
        }
        match Header::parse(word, self.cursor, self.ring) {
            Some(header) => Ok((header, sequence)),
            None => Err(self.malformed()),
        }
    }

    /// The record at the cursor, which goes behind it.
    #[inline]
    fn record(&mut self, len: u32, tag: u8, sequence: u64) -> Result<Found, NextError> {
        let position = self.cursor;
        let missing = match sequence.checked_sub(self.sequence) {
            Some(missing) if missing == 0 || self.has_lost => missing,
            _ => return Err(self.malformed()),
        };
        self.lost.records += missing;
        self.has_lost = false;
        self.sequence = sequence.saturating_add(1);
        self.cursor = position + layout::total(len);
        Ok(Found {
            position,
            len: len as usize,
            tag,
            sequence,
        })
    }

    /// Whether what was read from `position` up to now is what was published there.
    #[inline]
    fn is_whole(&self, position: u64) -> bool {
        fence(Ordering::Acquire);
        !self.ring.is_overrun(position, self.log.load(RESERVED))
    }

    /// What was at the cursor is overwritten, or about to be. If that was padding, all before which this reader had
    /// read when the writer turned early, the next lap begins with the record that it expects: it has missed
    /// nothing. Otherwise it goes on with the newest record, or waits for that.
    #[cold]
    fn skip(&mut self) -> Result<Header, NextError> {
        fence(Ordering::Acquire);
        let newest = self.log.load(NEWEST);
        fence(Ordering::Acquire);
        if newest <= self.cursor {
            return Ok(Header::Absent);
        }
        let rest = self.ring.rest(self.cursor);
        let begin = self.cursor.saturating_add(rest);
        let number = self.log.load(self.ring.at(begin) + 8);
        if let Ok(rest) = u32::try_from(rest)
            && begin <= newest
            && number == self.sequence
            && self.is_whole(begin)
        {
            return Ok(Header::Padding(rest));
        }
        if !newest.is_multiple_of(HEADER) || newest > u64::MAX / 2 {
            return Err(self.malformed());
        }
        let lost_bytes = newest - self.cursor;
        self.cursor = newest;
        self.has_lost = true;
        self.lost.bytes += lost_bytes;
        Err(NextError::Overrun(Overrun { lost_bytes }))
    }

    #[cold]
    fn malformed(&mut self) -> NextError {
        self.is_broken = true;
        NextError::Malformed
    }
}

const HEADER_LEN: usize = HEADER as usize;

/// How far a position is behind the begin of a copy.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a ring fits the address space"
)]
fn within(begin: u64, position: u64) -> usize {
    (position - begin) as usize
}
