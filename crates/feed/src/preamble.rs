//! What an exchange puts in front of the messages of a packet, and behind them. Knows nothing of the messages.
//!
//! ```text
//! None      | messages ...
//!
//! Sequence  0        4
//! Number    +--------+-------------
//!           | number | messages ...            u32 little-endian
//!           +--------+-------------
//!
//! Cme       0        4        5
//!           +--------+--------+-------------
//!           | number | sub-   | messages ...   u32 big-endian, u8
//!           |        | channel|
//!           +--------+--------+-------------
//!
//! B3        0        4        6        8        10         10 + length
//!           +--------+--------+--------+--------+----------+
//!           | number | chunk  | this   | length | part of a|   u32 and three u16, big-endian;
//!           |        | count  | chunk  |        | message  |   chunks count from 1;
//!           +--------+--------+--------+--------+----------+   another such part may follow
//! ```
//!
//! [`Preamble::Opra`] is drawn where its bytes are read, in the module `opra`.

mod opra;

use core::fmt;

use crate::framing::Frame;
pub use opra::Blocks;

/// A packet's number on its feed. Numbers go up by one a packet and start again at zero after
/// `u32::MAX`; both lines of a feed give the same packet the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PacketNumber(pub u32);

impl PacketNumber {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl fmt::Display for PacketNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The form of a packet's first bytes. The module draws all but OPRA's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Preamble {
    /// The first message starts at the first byte.
    #[default]
    None,
    /// A [`PacketNumber`], little-endian, as MOEX has it.
    SequenceNumber,
    /// A [`PacketNumber`], big-endian, and a subchannel that receivers need not look at: CME and CQG.
    Cme,
    /// The number of a message and which chunk of it this is: B3. A [`Reassembly`](crate::Reassembly) puts the chunks
    /// together.
    B3,
    /// OPRA's version 2: each message after its length. The header numbers messages, not packets, so that packets have
    /// no [`PacketNumber`].
    Opra,
}

/// What a preamble says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// The packet's number, if the form has one. The chunks of a message share theirs.
    pub number: Option<PacketNumber>,
    /// Which part of a message the packet is; `None` if it is all of it.
    pub chunk: Option<Chunk>,
}

/// A part of a message. There are at least two, and `index` is less than `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Which one, from 0.
    pub index: u16,
    /// Of how many.
    pub count: u16,
}

impl Preamble {
    /// Bytes that the preamble takes before the messages.
    pub const fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::SequenceNumber => 4,
            Self::Cme => 5,
            Self::B3 => 10,
            Self::Opra => 15,
        }
    }

    /// Whether packets have no preamble.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether it numbers packets, so that two lines can be arbitrated and losses be seen.
    pub const fn has_number(self) -> bool {
        matches!(self, Self::SequenceNumber | Self::Cme | Self::B3)
    }

    /// The parts of a packet that have a preamble each: B3 may put several messages, or chunks of them, into one packet;
    /// all others have one part. What is no part is the last one, for [`split`](Self::split) to explain.
    pub fn parts(self, packet: &[u8]) -> Parts<'_> {
        Parts {
            has_lengths: self == Self::B3,
            packet,
            at: Some(0),
        }
    }

    /// Parts a packet, or one of its [`parts`](Self::parts), into what its preamble says and what follows, which
    /// [`blocks`](Self::blocks) takes apart. What follows starts [`len`](Self::len) bytes into the packet.
    ///
    /// # Errors
    /// When the packet does not have this form.
    pub fn split(self, packet: &[u8]) -> Result<(Header, &[u8]), PreambleError> {
        let Some((preamble, rest)) = packet.split_at_checked(self.len()) else {
            return Err(PreambleError::TooShort {
                needed: self.len(),
                available: packet.len(),
            });
        };
        match (self, preamble) {
            (Self::SequenceNumber, &[a, b, c, d]) => {
                Ok((numbered(u32::from_le_bytes([a, b, c, d])), rest))
            }
            (Self::Cme, &[a, b, c, d, _subchannel]) => {
                Ok((numbered(u32::from_be_bytes([a, b, c, d])), rest))
            }
            (Self::B3, &[a, b, c, d, e, f, g, h, i, j]) => {
                let mut header = numbered(u32::from_be_bytes([a, b, c, d]));
                header.chunk = chunk_of(u16::from_be_bytes([e, f]), u16::from_be_bytes([g, h]))?;
                let announced = u16::from_be_bytes([i, j]);
                if usize::from(announced) != rest.len() {
                    let available = rest.len();
                    return Err(PreambleError::Length {
                        announced,
                        available,
                    });
                }
                Ok((header, rest))
            }
            (Self::Opra, _) => Ok((Header::default(), opra::content(preamble, rest)?)),
            _ => Ok((Header::default(), rest)),
        }
    }

    /// The runs of whole messages in what [`split`](Self::split) left of a packet: OPRA gives each message its length,
    /// all others have one run. Offsets count from the first byte of `content`.
    pub fn blocks(self, content: &[u8]) -> Blocks<'_> {
        Blocks::new(self == Self::Opra, content)
    }

    /// Appends packet `number` to `packet`: preamble, messages, and what follows them. Only OPRA needs to know where
    /// each message ends. A B3 message goes out in one chunk; [`append_chunk`] makes more.
    ///
    /// # Errors
    /// [`PreambleError::TooLong`] for B3 messages above 65,535 bytes and OPRA packets of more than 999 messages or with
    /// a message, other than the last, above 254 bytes; `packet` is as it was.
    pub fn append_packet(
        self,
        number: PacketNumber,
        messages: &[&[u8]],
        packet: &mut Vec<u8>,
    ) -> Result<(), PreambleError> {
        match self {
            Self::None => {}
            Self::SequenceNumber => packet.extend_from_slice(&number.0.to_le_bytes()),
            Self::Cme => {
                packet.extend_from_slice(&number.0.to_be_bytes());
                packet.push(0);
            }
            Self::B3 => {
                let only = Chunk { index: 0, count: 1 };
                return append_chunk(number, only, &messages.concat(), packet);
            }
            Self::Opra => return opra::append(number, messages, packet),
        }
        for message in messages {
            packet.extend_from_slice(message);
        }
        Ok(())
    }
}

/// Appends a B3 packet with one chunk of message `number`.
///
/// # Errors
/// [`PreambleError::TooLong`] for more than 65,535 bytes; `packet` is as it was.
pub fn append_chunk(
    number: PacketNumber,
    chunk: Chunk,
    part: &[u8],
    packet: &mut Vec<u8>,
) -> Result<(), PreambleError> {
    let len = u16::try_from(part.len()).map_err(|_| PreambleError::TooLong)?;
    packet.extend_from_slice(&number.0.to_be_bytes());
    packet.extend_from_slice(&chunk.count.to_be_bytes());
    packet.extend_from_slice(&chunk.index.saturating_add(1).to_be_bytes());
    packet.extend_from_slice(&len.to_be_bytes());
    packet.extend_from_slice(part);
    Ok(())
}

/// The parts of a packet, at least one. Offsets count from its first byte.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    has_lengths: bool,
    packet: &'a [u8],
    /// Of the next part.
    at: Option<usize>,
}

impl<'a> Iterator for Parts<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at.take()?;
        let rest = self.packet.get(offset..).unwrap_or_default();
        let len = match rest {
            &[_, _, _, _, _, _, _, _, i, j, ..] if self.has_lengths => {
                Preamble::B3.len() + usize::from(u16::from_be_bytes([i, j]))
            }
            _ => rest.len(),
        };
        let packet = rest.get(..len).unwrap_or(rest);
        self.at = (packet.len() < rest.len()).then_some(offset + packet.len());
        Some(Frame { offset, packet })
    }
}

/// A packet that does not have the form of its feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreambleError {
    /// It is shorter than its preamble.
    TooShort {
        /// The preamble's length in bytes.
        needed: usize,
        /// The packet's length in bytes.
        available: usize,
    },
    /// B3: the length in the preamble is not that of what follows.
    Length {
        /// Bytes that the preamble gives.
        announced: u16,
        /// Bytes that follow it.
        available: usize,
    },
    /// B3: a chunk that its message cannot have.
    NoChunk {
        /// Chunks of the message.
        count: u16,
        /// Which one this is, from 1.
        current: u16,
    },
    /// OPRA: a byte of the header or the last byte is none that version 2 has there.
    Byte {
        /// Where in the packet.
        offset: usize,
        /// The byte.
        found: u8,
    },
    /// OPRA: a message's length is 0 or beyond the packet.
    Block {
        /// Where the length is in the packet, behind the header.
        offset: usize,
        /// The length.
        announced: u8,
        /// Bytes that follow it.
        available: usize,
    },
    /// Messages that no packet of this form can carry.
    TooLong,
}

impl fmt::Display for PreambleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooShort { needed, available } => write!(
                f,
                "packet of {available} bytes is shorter than its preamble ({needed} bytes)"
            ),
            Self::Length {
                announced,
                available,
            } => write!(
                f,
                "the preamble announces {announced} bytes where {available} follow"
            ),
            Self::NoChunk { count, current } => write!(f, "chunk {current} of {count}"),
            Self::Byte { offset, found } => {
                write!(
                    f,
                    "byte {offset} of the packet is {found:#04x}: not OPRA version 2"
                )
            }
            Self::Block {
                offset,
                announced,
                available,
            } => write!(
                f,
                "byte {offset} behind the header: a message of {announced} bytes where {available} follow"
            ),
            Self::TooLong => f.write_str("the messages do not fit a packet of this form"),
        }
    }
}

impl core::error::Error for PreambleError {}

fn numbered(number: u32) -> Header {
    Header {
        number: Some(PacketNumber(number)),
        chunk: None,
    }
}

/// `current` counts from 1. A message of one chunk is whole.
fn chunk_of(count: u16, current: u16) -> Result<Option<Chunk>, PreambleError> {
    match current.checked_sub(1).filter(|&index| index < count) {
        None => Err(PreambleError::NoChunk { count, current }),
        Some(_) if count == 1 => Ok(None),
        Some(index) => Ok(Some(Chunk { index, count })),
    }
}

#[cfg(test)]
mod tests;
