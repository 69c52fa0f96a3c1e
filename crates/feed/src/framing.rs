//! Packets in a file or a stream: where each begins and ends. Knows nothing of what is in a packet.
//!
//! ```text
//! U32Le       0         4                 4 + length
//!             +---------+-----------------+---------
//!             | length  | packet          | length ...      u32 little-endian
//!             +---------+-----------------+---------
//!
//! BlockSize   +---------+-----------------+---------
//!             | size    | packet          | size ...        uInt32 in stop bits, FAST 1.1 §10
//!             +---------+-----------------+---------
//!
//! Step        +---------------------------------------+----
//!             | 8=..|9=..|...|95=length|96=packet|10=..| 8=  see [`step`](crate::step)
//!             +---------------------------------------+----
//! ```

use core::fmt;

use tickwire_fast::{Code, append_block_size, read_block_size};

use crate::preamble::PacketNumber;
use crate::step::{self, StepError};

/// The longest packet that a [`Framing::U32Le`] file may announce: what one UDP datagram over IPv4 can carry.
pub const MAX_PACKET_LEN: usize = 65_507;

/// The longest block, and the longest STEP message, that a stream may announce.
pub const MAX_BLOCK_LEN: usize = 1 << 20;

/// How packets follow each other in a file or a stream. The module draws them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Framing {
    /// No packets: messages one after the other, as if all were one packet.
    None,
    /// Each packet after its length: files of ours.
    #[default]
    U32Le,
    /// Each packet after its FAST-encoded length, as CQG's TCP streams have them. An empty one is D12.
    BlockSize,
    /// Each packet in tag 96 of a STEP message: Shanghai and Shenzhen.
    Step,
}

/// One packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where the packet's first byte is, after its length.
    pub offset: usize,
    /// The packet, without its length.
    pub packet: &'a [u8],
}

/// The packets in some bytes, in order. What is wrong is an item like a packet, and the packets after it follow if
/// anything tells where the next one starts: after an empty block, and in a stream of STEP messages always.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    framing: Framing,
    bytes: &'a [u8],
    at: usize,
    /// Whether more bytes may follow: then an incomplete packet at the end is no error.
    is_open: bool,
}

impl<'a> Frames<'a> {
    /// Reads a whole file. Cost: nothing until iterated, no copy ever.
    pub fn new(framing: Framing, bytes: &'a [u8]) -> Self {
        Self {
            framing,
            bytes,
            at: 0,
            is_open: false,
        }
    }

    /// Reads what has come so far of a stream, as far as its packets are whole. When the iterator has ended, the bytes
    /// from [`consumed`](Self::consumed) on are to be kept, and read again with what comes next: no more than
    /// [`MAX_BLOCK_LEN`] and a few for the header. A stream of [`Framing::None`] has no end that could be waited for:
    /// what has come is one packet.
    pub fn of_stream(framing: Framing, bytes: &'a [u8]) -> Self {
        Self {
            is_open: true,
            ..Self::new(framing, bytes)
        }
    }

    /// Bytes read by now: packets, what surrounds them, and what was skipped.
    pub fn consumed(&self) -> usize {
        self.at
    }

    fn frame(&mut self, rest: &'a [u8]) -> Option<Result<Frame<'a>, FramingError>> {
        match self.framing {
            Framing::None => Some(Ok(self.take(0, rest))),
            Framing::U32Le => Some(
                self.sized(
                    rest,
                    rest.split_first_chunk::<4>()
                        .map(|(header, _)| (u32::from_le_bytes(*header), header.len())),
                    MAX_PACKET_LEN,
                ),
            ),
            Framing::BlockSize => Some(self.block(rest)),
            Framing::Step => self.step(rest),
        }
    }

    fn take(&mut self, header_len: usize, packet: &'a [u8]) -> Frame<'a> {
        let offset = self.at + header_len;
        self.at = offset + packet.len();
        Frame { offset, packet }
    }

    /// The packet behind a length, which is `None` if the bytes end inside it.
    fn sized(
        &mut self,
        rest: &'a [u8],
        header: Option<(u32, usize)>,
        max: usize,
    ) -> Result<Frame<'a>, FramingError> {
        let offset = self.at;
        let Some((announced, header_len)) = header else {
            let available = rest.len();
            return Err(FramingError::TruncatedHeader { offset, available });
        };
        let length = usize::try_from(announced)
            .ok()
            .filter(|&length| length <= max)
            .ok_or(FramingError::TooLong {
                offset,
                announced,
                max,
            })?;
        let body = rest.get(header_len..).unwrap_or_default();
        match body.get(..length) {
            Some(packet) => Ok(self.take(header_len, packet)),
            None => Err(FramingError::TruncatedPacket {
                offset,
                announced,
                available: body.len(),
            }),
        }
    }

    fn block(&mut self, rest: &'a [u8]) -> Result<Frame<'a>, FramingError> {
        match read_block_size(rest) {
            Ok(header) => self.sized(rest, Some(header), MAX_BLOCK_LEN),
            Err(Code::Truncated) => self.sized(rest, None, MAX_BLOCK_LEN),
            Err(code) => {
                let offset = self.at;
                if code == Code::D12 {
                    // The next block follows the size's last byte.
                    let len = rest.iter().position(|byte| byte & 0x80 != 0);
                    self.at += len.map_or(rest.len(), |last| last + 1);
                }
                Err(FramingError::BlockSize { offset, code })
            }
        }
    }

    /// The next packet in a STEP message; messages without one are the session's.
    fn step(&mut self, mut rest: &'a [u8]) -> Option<Result<Frame<'a>, FramingError>> {
        loop {
            let offset = self.at;
            match step::parse(rest) {
                Ok(message) => {
                    self.at += message.len;
                    if let Some(data) = message.data {
                        let packet = rest.get(data.clone()).unwrap_or_default();
                        let offset = offset + data.start;
                        return Some(Ok(Frame { offset, packet }));
                    }
                    rest = rest.get(message.len..).filter(|rest| !rest.is_empty())?;
                }
                Err(StepError::Incomplete) if self.is_open => return None,
                Err(error) => {
                    let skipped = error.skip(rest);
                    self.at += skipped;
                    return Some(Err(FramingError::Step {
                        offset,
                        skipped,
                        error,
                    }));
                }
            }
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, FramingError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let before = self.at;
        let frame = self.frame(rest)?;
        match &frame {
            Err(error) if self.is_open && error.is_truncated() => return None,
            // Nothing tells where the next packet starts.
            Err(_) if self.at == before => self.at = self.bytes.len(),
            _ => {}
        }
        Some(frame)
    }
}

impl Framing {
    /// Appends a packet with what surrounds it to `file`. STEP messages bear `number`, which others do not.
    ///
    /// # Errors
    /// [`FramingError::TooLong`] for a packet that no file of this form can have, D12 for an empty block; `file` is as
    /// it was.
    pub fn append(
        self,
        number: PacketNumber,
        packet: &[u8],
        file: &mut Vec<u8>,
    ) -> Result<(), FramingError> {
        let offset = file.len();
        let announced = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let max = match self {
            Self::None => usize::MAX,
            Self::U32Le => MAX_PACKET_LEN,
            Self::BlockSize => MAX_BLOCK_LEN,
            Self::Step => step::MAX_DATA_LEN,
        };
        if packet.len() > max {
            return Err(FramingError::TooLong {
                offset,
                announced,
                max,
            });
        }
        match self {
            Self::None => {}
            Self::U32Le => file.extend_from_slice(&announced.to_le_bytes()),
            Self::BlockSize => append_block_size(announced, file)
                .map_err(|code| FramingError::BlockSize { offset, code })?,
            Self::Step => {
                step::append(number, packet, file);
                return Ok(());
            }
        }
        file.extend_from_slice(packet);
        Ok(())
    }
}

/// Where a file is no sequence of packets. `offset` is where the packet's length, or its STEP message, would start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingError {
    /// The file ends inside a length.
    TruncatedHeader {
        /// Byte of the file at which the frame starts.
        offset: usize,
        /// Bytes of the length that are there.
        available: usize,
    },
    /// The file ends inside a packet.
    TruncatedPacket {
        /// Byte of the file at which the frame starts.
        offset: usize,
        /// The packet's length as its frame gives it.
        announced: u32,
        /// Bytes of the packet that are there.
        available: usize,
    },
    /// A length above what packets can have: the file is not framed this way, or it is damaged.
    TooLong {
        /// Byte of the file at which the frame starts.
        offset: usize,
        /// The packet's length as its frame gives it.
        announced: u32,
        /// The longest that there can be.
        max: usize,
    },
    /// A block size that is none: D12 if it is 0, D2 if it has more than 32 bits.
    BlockSize {
        /// Byte of the file at which the size starts.
        offset: usize,
        /// What is wrong with it.
        code: Code,
    },
    /// Bytes that are no STEP message.
    Step {
        /// Byte of the file at which they start.
        offset: usize,
        /// How many were skipped to where the next message may start.
        skipped: usize,
        /// Why they are none.
        error: StepError,
    },
}

impl FramingError {
    /// Whether more bytes might mend it.
    pub fn is_truncated(&self) -> bool {
        matches!(
            self,
            Self::TruncatedHeader { .. } | Self::TruncatedPacket { .. }
        )
    }
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TruncatedHeader { offset, available } => write!(
                f,
                "byte {offset}: the file ends inside a packet's length ({available} bytes of it)"
            ),
            Self::TruncatedPacket {
                offset,
                announced,
                available,
            } => write!(
                f,
                "byte {offset}: the file ends inside a packet ({available} of {announced} bytes)"
            ),
            Self::TooLong {
                offset,
                announced,
                max,
            } => write!(f, "byte {offset}: packet length {announced} is above {max}"),
            Self::BlockSize { offset, code } => write!(f, "byte {offset}: {code}"),
            Self::Step {
                offset,
                skipped,
                error,
            } => write!(f, "byte {offset}: {error} ({skipped} bytes skipped)"),
        }
    }
}

impl core::error::Error for FramingError {}

#[cfg(test)]
mod tests;
