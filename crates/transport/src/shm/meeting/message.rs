//! What participants that meet say to each other. Integers are little-endian.
//!
//! ```text
//!   0         1        2        3          4                 8
//!   +---------+--------+--------+----------+-----------------+------
//!   | version |  kind  | detail |  length  |     request     | more
//!   +---------+--------+--------+----------+-----------------+------
//!   kind      from     detail         more, length           descriptors
//!   1 hello   both                                           the ear: eventfd, memory
//!   2 ask     guest    1: wait for me the log's id, 0-64
//!   3 admit   host                    seat, admission: u32,  the log, its control memory
//!                                     position, sequence:
//!                                     u64, 24
//!                                     a chunk's length,      and, if there is a pool, it,
//!                                     chunks: u64, 40        the seat's page, its lifeline
//!   4 refuse  host     reason
//!   5 leave   guest
//! ```
//!
//! The guest is who connects. It numbers its requests, and answers and farewells carry that number.

use crate::shm::Gating;
use crate::shm::pool::Shape;
use crate::shm::producer::Start;

/// The longest message, in bytes.
pub(super) const MAX_LEN: usize = HEADER_LEN + LogId::MAX_LEN;

/// What a log is asked for by: up to 64 bytes that mean something to those who meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LogId {
    len: u8,
    bytes: [u8; Self::MAX_LEN],
}

impl LogId {
    /// The most bytes that an id has.
    pub const MAX_LEN: usize = 64;

    /// `None` if that are more than 64 bytes.
    pub fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::MAX_LEN];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        let len = u8::try_from(id.len()).ok()?;
        Some(Self { len, bytes })
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len.into()).unwrap_or_default()
    }
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such log, or none any more.
    Unknown,
    /// All its seats are taken.
    Full,
    /// A reason that this version does not know.
    Other(u8),
}

impl Refusal {
    fn code(self) -> u8 {
        match self {
            Self::Unknown => 1,
            Self::Full => 2,
            Self::Other(code) => code,
        }
    }

    fn of(code: u8) -> Self {
        match code {
            1 => Self::Unknown,
            2 => Self::Full,
            code => Self::Other(code),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Hello,
    Ask {
        request: u32,
        gating: Gating,
        log: LogId,
    },
    Admit {
        request: u32,
        start: Start,
        pool: Option<Shape>,
    },
    Refuse {
        request: u32,
        reason: Refusal,
    },
    Leave {
        request: u32,
    },
}

impl Message {
    pub(super) fn encode(&self) -> Vec<u8> {
        let (kind, detail, request) = match *self {
            Self::Hello => (HELLO, 0, 0),
            Self::Ask {
                request, gating, ..
            } => (ASK, u8::from(gating == Gating::Waits), request),
            Self::Admit { request, .. } => (ADMIT, 0, request),
            Self::Refuse { request, reason } => (REFUSE, reason.code(), request),
            Self::Leave { request } => (LEAVE, 0, request),
        };
        let admission;
        let more = match self {
            Self::Ask { log, .. } => log.as_bytes(),
            Self::Admit { start, pool, .. } => {
                admission = admission_words(start, *pool).map(u64::to_le_bytes);
                let words = if pool.is_some() { 5 } else { 3 };
                admission.get(..words).unwrap_or_default().as_flattened()
            }
            _ => &[],
        };
        // No more than 64.
        let len = u8::try_from(more.len()).unwrap_or_default();
        let mut bytes = vec![VERSION, kind, detail, len];
        bytes.extend(request.to_le_bytes());
        bytes.extend(more);
        bytes
    }

    /// `None` if that is no message of this version.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (&[version, kind, detail, len], rest) = bytes.split_first_chunk()?;
        let (request, more) = rest.split_first_chunk()?;
        let request = u32::from_le_bytes(*request);
        if version != VERSION || more.len() != usize::from(len) {
            return None;
        }
        match (kind, more) {
            (HELLO, []) => Some(Self::Hello),
            (ASK, id) => Some(Self::Ask {
                request,
                gating: match detail {
                    1 => Gating::Waits,
                    _ => Gating::Overruns,
                },
                log: LogId::new(id)?,
            }),
            (ADMIT, more) => {
                let (&[seat, position, sequence, ref pool @ ..], []) = more.as_chunks() else {
                    return None;
                };
                let size = |bytes| usize::try_from(u64::from_le_bytes(bytes)).ok();
                let [seat, admission] = halves(u64::from_le_bytes(seat));
                let start = Start {
                    seat: usize::try_from(seat).ok()?,
                    admission,
                    position: u64::from_le_bytes(position),
                    sequence: u64::from_le_bytes(sequence),
                };
                let pool = match *pool {
                    [] => None,
                    [chunk_len, count] => Some(Shape::new(size(chunk_len)?, size(count)?)?),
                    _ => return None,
                };
                Some(Self::Admit {
                    request,
                    start,
                    pool,
                })
            }
            (REFUSE, []) => {
                let reason = Refusal::of(detail);
                Some(Self::Refuse { request, reason })
            }
            (LEAVE, []) => Some(Self::Leave { request }),
            _ => None,
        }
    }
}

fn admission_words(start: &Start, pool: Option<Shape>) -> [u64; 5] {
    let [chunk_len, count] = pool.map_or([0; 2], |shape| [shape.chunk_len(), shape.count()]);
    let Start {
        seat,
        admission,
        position,
        sequence,
    } = *start;
    let [seat, chunk_len, count] = [seat, chunk_len, count].map(|size| size as u64);
    let seat = seat | u64::from(admission) << 32;
    [seat, position, sequence, chunk_len, count]
}

/// The lower and the upper half.
#[expect(clippy::cast_possible_truncation, reason = "halves are meant")]
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

const VERSION: u8 = 1;
const HEADER_LEN: usize = 8;
const HELLO: u8 = 1;
const ASK: u8 = 2;
const ADMIT: u8 = 3;
const REFUSE: u8 = 4;
const LEAVE: u8 = 5;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_what_they_were() {
        let log = LogId::new(&[7; 64]).expect("short enough");
        let (request, gating) = (0xfedc_ba98, Gating::Waits);
        let start = Start {
            seat: 61,
            admission: u32::MAX,
            position: 1 << 50,
            sequence: u64::MAX,
        };
        let reason = Refusal::Other(200);
        for message in [
            Message::Hello,
            Message::Ask {
                request,
                gating,
                log,
            },
            Message::Admit {
                request,
                start,
                pool: None,
            },
            Message::Admit {
                request,
                start,
                pool: Shape::new(1 << 20, 16),
            },
            Message::Refuse { request, reason },
            Message::Leave { request },
        ] {
            let bytes = message.encode();
            assert!(bytes.len() <= MAX_LEN);
            assert_eq!(Message::decode(&bytes), Some(message));
            assert_eq!(Message::decode(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(LogId::new(&[7; 65]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_none(mut bytes in prop::collection::vec(any::<u8>(), 0..80), is_ours: bool) {
            if let [version, kind, _, len, ..] = &mut bytes[..] && is_ours {
                (*version, *kind, *len) = (VERSION, *kind % 7, 72_u8.saturating_sub(*len));
            }
            if let Some(message) = Message::decode(&bytes) {
                prop_assert_eq!(Message::decode(&message.encode()), Some(message));
            }
        }
    }
}
