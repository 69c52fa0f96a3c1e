//! Records as bytes and back. Knows neither which of them stay nor where they are kept.

use std::io::{self, Read};

use tickwire_base::Timestamp;

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
        bytes.extend_from_slice(self.payload);
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
            key_hash: (flags & 1 != 0).then_some(key_hash),
            coherent_set,
            payload,
        })
    }
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

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl<R: Read> Scanner<R> {
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

    /// No more than the file has, as the caller has seen to.
    fn read_body(&mut self, len: u32) -> io::Result<()> {
        self.body
            .resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
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

/// Reads a log that is in memory: calls `each` with every record up to the first that is damaged, and
/// says what is wrong there, if anything is.
///
/// # Errors
/// When the header is damaged.
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
    let mut scanner = Scanner::new(log, log.len() as u64);
    let description = scanner.description().map_err(no_io)?;
    loop {
        match scanner.record() {
            Ok(Some((_, record))) => each(&record),
            Ok(None) => return Ok((description, None)),
            Err(error) => return Ok((description, Some(no_io(error)))),
        }
    }
}

/// Length and checksum.
const FRAME_LEN: usize = 8;
/// All of a record but its payload.
const HEAD_LEN: usize = 68;
