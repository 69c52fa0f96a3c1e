//! Records as bytes and back. Knows neither which of them stay nor where they are kept.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use tickwire_base::{Timestamp, copy};

use crate::error::Damage;
use crate::key::{Description, PREAMBLE_LEN};

/// A change as a log keeps it.
///
/// ```text
///   0  length                  u32: bytes from 8 on
///   4  CRC-32 of those         u32
///   8  kind                    u8: see `RecordKind`
///   9  flags                   u8: 1 if there is a key hash
///  10  0                       u16
///  12  sequence number         i64
///  20  source timestamp        i64: ns since 1970
///  28  writer                  16 bytes: its GUID
///  44  key hash                16 bytes
///  60  coherent set            i64: the number of its first change, or 0
///  68  payload                 the serialized value or key with its encapsulation header
/// ```
///
/// Integers are little-endian. A record is written by one system call, so that only a loss of power or
/// a disk that is full leaves part of one, which the checksum shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// What the change does to its instance.
    pub kind: RecordKind,
    /// The GUID of the writer that made it.
    pub writer: [u8; 16],
    /// Its number in that writer.
    pub sequence_number: i64,
    /// When it was made.
    pub source_timestamp: Timestamp,
    /// Which instance it is about, if the topic has a key.
    pub key_hash: Option<[u8; 16]>,
    /// The number of the first change of the coherent set that it is part of; 0 if it is in none.
    pub coherent_set: i64,
    /// The serialized value or key with its encapsulation header.
    pub payload: &'a [u8],
}

/// What a change does to its instance, with its number in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// 0: gives it a new value.
    #[default]
    Alive,
    /// 1: ends it.
    Disposed,
    /// 2: the writer has no more to say about it.
    Unregistered,
    /// 3: both at once.
    DisposedUnregistered,
    /// 4: says nothing of an instance, but that a coherent set has ended. Its number is the first
    /// beyond those of the set.
    EndOfSet,
}

impl RecordKind {
    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Alive,
            1 => Self::Disposed,
            2 => Self::Unregistered,
            3 => Self::DisposedUnregistered,
            4 => Self::EndOfSet,
            _ => return None,
        })
    }

    fn number(self) -> u8 {
        match self {
            Self::Alive => 0,
            Self::Disposed => 1,
            Self::Unregistered => 2,
            Self::DisposedUnregistered => 3,
            Self::EndOfSet => 4,
        }
    }

    pub(crate) fn disposes(self) -> bool {
        matches!(self, Self::Disposed | Self::DisposedUnregistered)
    }

    pub(crate) fn unregisters(self) -> bool {
        matches!(self, Self::Unregistered | Self::DisposedUnregistered)
    }
}

impl<'a> Record<'a> {
    /// Appends the record; `None`, and nothing appended, if it is longer than its length can say.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        let len = u32::try_from(HEAD_LEN - FRAME_LEN + self.payload.len()).ok()?;
        let start = bytes.len();
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        let flags = u8::from(self.key_hash.is_some());
        bytes.extend_from_slice(&[self.kind.number(), flags, 0, 0]);
        bytes.extend_from_slice(&self.sequence_number.to_le_bytes());
        bytes.extend_from_slice(&self.source_timestamp.as_nanos().to_le_bytes());
        bytes.extend_from_slice(&self.writer);
        bytes.extend_from_slice(&self.key_hash.unwrap_or_default());
        bytes.extend_from_slice(&self.coherent_set.to_le_bytes());
        copy::append(bytes, self.payload);
        let crc = crc32fast::hash(bytes.get(start + FRAME_LEN..)?);
        let place = bytes.get_mut(start + 4..start + FRAME_LEN)?;
        place.copy_from_slice(&crc.to_le_bytes());
        Some(())
    }

    /// The record of which these are the bytes after length and checksum.
    fn read(body: &'a [u8]) -> Result<Self, &'static str> {
        let (head, payload) = body
            .split_first_chunk::<{ HEAD_LEN - FRAME_LEN }>()
            .ok_or("a record is too short")?;
        let mut rest = head.as_slice();
        let [kind, flags, _, _] = take(&mut rest);
        let sequence_number = i64::from_le_bytes(take(&mut rest));
        let source_timestamp = Timestamp::from_nanos(i64::from_le_bytes(take(&mut rest)));
        let writer = take(&mut rest);
        let key_hash = take(&mut rest);
        let coherent_set = i64::from_le_bytes(take(&mut rest));
        Ok(Self {
            kind: RecordKind::from_number(kind).ok_or("a record of an unknown kind")?,
            writer,
            sequence_number,
            source_timestamp,
            key_hash: (flags & HAS_KEY_HASH != 0).then_some(key_hash),
            coherent_set,
            payload,
        })
    }
}

/// Whether a record may begin with these bytes, where so many are left. Says no to nearly all others, and
/// much faster than the checksum does.
fn is_head(bytes: &[u8; HEAD_LEN], left: u64) -> bool {
    let mut rest = bytes.as_slice();
    let len = u32::from_le_bytes(take(&mut rest));
    let _checksum: [u8; 4] = take(&mut rest);
    let [kind, flags, zero, also_zero] = take(&mut rest);
    let _number_timestamp_and_writer: [u8; 32] = take(&mut rest);
    let key_hash: [u8; 16] = take(&mut rest);
    let len = u64::from(len) + FRAME_LEN as u64;
    (HEAD_LEN as u64..=left).contains(&len)
        && RecordKind::from_number(kind).is_some()
        && flags <= HAS_KEY_HASH
        && (zero, also_zero) == (0, 0)
        && (flags == HAS_KEY_HASH || key_hash == [0; 16])
}

/// The first `N` bytes, of which there are as many.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    if let Some((first, others)) = rest.split_first_chunk() {
        taken = *first;
        *rest = others;
    }
    taken
}

/// Reads a log from its beginning, one part after the other.
pub(crate) struct Scanner<R> {
    from: R,
    /// Where the next part begins.
    offset: u64,
    /// Where the file ends.
    end: u64,
    body: Vec<u8>,
}

/// Why a scan cannot go on.
pub(crate) enum ScanError {
    Io(io::Error),
    Damaged(Damage),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What there is besides whole records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanned {
    /// Where the last of them ends, or the header; what is behind was being written when the power
    /// failed.
    pub(crate) end: u64,
    /// Where the file ends.
    pub(crate) file_end: u64,
    /// Bytes before `end` that belong to none.
    pub(crate) skipped: u64,
    /// What is wrong at the first place where something is.
    pub(crate) damage: Option<Damage>,
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl<R: Read + Seek> Scanner<R> {
    /// `from` has `end` bytes, header included.
    pub(crate) fn new(from: R, end: u64) -> Self {
        Self {
            from,
            offset: 0,
            end,
            body: Vec::new(),
        }
    }

    /// Where the next part begins: after all that was in order.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The header, which comes first.
    pub(crate) fn description(&mut self) -> Result<Description, ScanError> {
        let mut preamble = [0; PREAMBLE_LEN];
        if self.left() < PREAMBLE_LEN as u64 {
            return Err(self.damaged("the header is cut off"));
        }
        self.from.read_exact(&mut preamble)?;
        let (len, crc) = Description::preamble(preamble).map_err(ScanError::Damaged)?;
        if self.left() - (PREAMBLE_LEN as u64) < u64::from(len) {
            return Err(self.damaged("the header is cut off"));
        }
        self.read_body(len)?;
        let description = Description::read(&self.body, crc).map_err(ScanError::Damaged)?;
        self.offset += PREAMBLE_LEN as u64 + u64::from(len);
        Ok(description)
    }

    /// The next record; `None` at the end.
    pub(crate) fn record(&mut self) -> Result<Option<(Span, Record<'_>)>, ScanError> {
        let left = self.left();
        if left == 0 {
            return Ok(None);
        }
        if left < HEAD_LEN as u64 {
            return Err(self.damaged("a record is cut off"));
        }
        let mut frame = [0; FRAME_LEN];
        self.from.read_exact(&mut frame)?;
        let [l0, l1, l2, l3, c0, c1, c2, c3] = frame;
        let len = u32::from_le_bytes([l0, l1, l2, l3]);
        if left - (FRAME_LEN as u64) < u64::from(len) {
            return Err(self.damaged("a record is cut off"));
        }
        self.read_body(len)?;
        if crc32fast::hash(&self.body) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(self.damaged("a record's checksum is wrong"));
        }
        let span = Span {
            offset: self.offset,
            len: FRAME_LEN as u64 + u64::from(len),
        };
        match Record::read(&self.body) {
            Ok(record) => {
                self.offset += span.len;
                Ok(Some((span, record)))
            }
            Err(what) => Err(ScanError::Damaged(Damage {
                offset: span.offset,
                what,
            })),
        }
    }

    /// All records from here on. What is damaged is passed over; an error where so much behind it looks
    /// like records that they cannot all be tried.
    pub(crate) fn records(
        &mut self,
        mut each: impl FnMut(Span, &Record<'_>),
    ) -> Result<Scanned, ScanError> {
        let (mut skipped, mut first) = (0, None);
        loop {
            match self.record() {
                Ok(Some((span, record))) => each(span, &record),
                Ok(None) => break,
                Err(ScanError::Io(error)) => return Err(error.into()),
                Err(ScanError::Damaged(damage)) => {
                    first.get_or_insert(damage);
                    let Some(next) = self.find_record()? else {
                        break;
                    };
                    skipped += next - self.offset;
                    self.go_to(next)?;
                }
            }
        }
        Ok(Scanned {
            end: self.offset,
            file_end: self.end,
            skipped,
            damage: first,
        })
    }

    /// Where the next whole record is, behind a place where there is none. Also what looks like one in
    /// the payload of a record that is damaged is taken for one.
    fn find_record(&mut self) -> Result<Option<u64>, ScanError> {
        let (damaged, left) = (self.offset, self.left());
        let mut budget = left.saturating_mul(SEARCH_FACTOR).max(MIN_SEARCH_LEN);
        let mut window = vec![0; as_len(left.min(SEARCH_WINDOW_LEN))];
        let mut start = damaged + 1;
        while start + HEAD_LEN as u64 <= self.end {
            window.truncate(as_len(self.end - start));
            self.go_to(start)?;
            self.from.read_exact(&mut window)?;
            for (place, head) in (start..).zip(window.windows(HEAD_LEN)) {
                let head = head.first_chunk().unwrap_or(&[0; HEAD_LEN]);
                if !is_head(head, self.end - place) {
                    continue;
                }
                self.go_to(place)?;
                let is_whole = match self.record() {
                    Ok(found) => found.is_some(),
                    Err(ScanError::Damaged(_)) => false,
                    Err(error) => return Err(error),
                };
                self.offset = damaged;
                if is_whole {
                    return Ok(Some(place));
                }
                budget = budget.saturating_sub(self.body.len() as u64);
                if budget == 0 {
                    return Err(self.damaged("what follows a damaged place cannot all be searched"));
                }
            }
            start += (window.len() - HEAD_LEN) as u64 + 1;
        }
        self.offset = damaged;
        Ok(None)
    }

    fn go_to(&mut self, offset: u64) -> io::Result<()> {
        self.offset = offset;
        self.from.seek(SeekFrom::Start(offset))?;
        Ok(())
    }

    /// No more than the file has, as the caller has seen to.
    fn read_body(&mut self, len: u32) -> io::Result<()> {
        self.body.resize(as_len(u64::from(len)), 0);
        self.from.read_exact(&mut self.body)
    }

    fn left(&self) -> u64 {
        self.end.saturating_sub(self.offset)
    }

    fn damaged(&self, what: &'static str) -> ScanError {
        ScanError::Damaged(Damage {
            offset: self.offset,
            what,
        })
    }
}

/// Reads a log that is in memory: calls `each` with every whole record, and says what is wrong at the
/// first place where something is.
///
/// # Errors
/// When the header is damaged, or a record, and what follows it cannot all be searched.
pub fn parse(
    log: &[u8],
    mut each: impl FnMut(&Record<'_>),
) -> Result<(Description, Option<Damage>), Damage> {
    let no_io = |error| match error {
        ScanError::Damaged(damage) => damage,
        // A slice that has the bytes gives them.
        ScanError::Io(_) => Damage {
            offset: 0,
            what: "cannot be read",
        },
    };
    let mut scanner = Scanner::new(Cursor::new(log), log.len() as u64);
    let description = scanner.description().map_err(no_io)?;
    let scanned = scanner.records(|_, record| each(record));
    let scanned = scanned.map_err(no_io)?;
    Ok((description, scanned.damage))
}

fn as_len(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// The flag that says that the key hash is one.
const HAS_KEY_HASH: u8 = 1;
/// Length and checksum.
const FRAME_LEN: usize = 8;
/// All of a record but its payload.
const HEAD_LEN: usize = 68;
/// What is searched at once for the next whole record.
const SEARCH_WINDOW_LEN: u64 = 1 << 16;
/// How often each byte behind a damaged place is looked at, on average, to find the next whole record.
/// More would be needed only if many of them seemed to begin long records, as where files of ours are in
/// payloads.
const SEARCH_FACTOR: u64 = 16;
/// Bytes that may be looked at in any case.
const MIN_SEARCH_LEN: u64 = 64 << 20;
