//! OPRA's version 2: a header of digits, each message after its length, and a byte at the end. Knows nothing of the
//! messages.
//!
//! ```text
//! Opra      0     1     2         12        15
//!           +-----+-----+---------+---------+--------+---------+-- ... --+-----+
//!           | SOH | 02  | number  | message | length | message |         | ETX |
//!           | 01  |     | 10 x    | count   | u8     |         |         | 03  |
//!           |     |     | '0'-'9' | 3 digits| FF: up to the ETX|         |     |
//!           +-----+-----+---------+---------+--------+---------+-- ... --+-----+
//! ```

use super::{PacketNumber, PreambleError};
use crate::framing::Frame;

/// Checks an OPRA packet's header and end; gives what is between them.
pub(super) fn content<'a>(header: &[u8], rest: &'a [u8]) -> Result<&'a [u8], PreambleError> {
    let is_right = |(offset, byte): &(usize, &u8)| match offset {
        0 => **byte == SOH,
        1 => **byte == OPRA_VERSION,
        _ => byte.is_ascii_digit(),
    };
    if let Some((offset, &found)) = header.iter().enumerate().find(|byte| !is_right(byte)) {
        return Err(PreambleError::Byte { offset, found });
    }
    match rest.split_last() {
        Some((&ETX, messages)) => Ok(messages),
        Some((&found, messages)) => Err(PreambleError::Byte {
            offset: header.len() + messages.len(),
            found,
        }),
        None => Err(PreambleError::TooShort {
            needed: header.len() + 1,
            available: header.len(),
        }),
    }
}

/// Appends a packet whose first message has this number.
///
/// # Errors
/// [`PreambleError::TooLong`] as [`Preamble::append_packet`](super::Preamble::append_packet) says; `packet` is as it was.
pub(super) fn append(
    number: PacketNumber,
    messages: &[&[u8]],
    packet: &mut Vec<u8>,
) -> Result<(), PreambleError> {
    let (last, others) = messages.split_last().ok_or(PreambleError::TooLong)?;
    let is_short = |message: &&[u8]| (1..usize::from(OPRA_LAST)).contains(&message.len());
    if messages.len() > 999 || last.is_empty() || !others.iter().all(is_short) {
        return Err(PreambleError::TooLong);
    }
    packet.extend_from_slice(&[SOH, OPRA_VERSION]);
    packet.extend_from_slice(format!("{:010}{:03}", number.0, messages.len()).as_bytes());
    for message in messages {
        packet.push(u8::try_from(message.len()).unwrap_or(OPRA_LAST));
        packet.extend_from_slice(message);
    }
    packet.push(ETX);
    Ok(())
}

/// The runs of messages of a packet. After an error the iterator ends, because nothing tells where the next one starts.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    has_lengths: bool,
    content: &'a [u8],
    at: usize,
}

impl<'a> Blocks<'a> {
    /// Of `content`, in which each message has its length before it, or of which all is one run.
    pub(super) fn new(has_lengths: bool, content: &'a [u8]) -> Self {
        Self {
            has_lengths,
            content,
            at: 0,
        }
    }

    fn block(&self, rest: &'a [u8]) -> Result<Frame<'a>, PreambleError> {
        if !self.has_lengths {
            let (offset, packet) = (self.at, rest);
            return Ok(Frame { offset, packet });
        }
        let (&len, messages) = rest.split_first().unwrap_or((&0, &[]));
        let block = match len {
            OPRA_LAST => Some(messages),
            len => messages
                .get(..usize::from(len))
                .filter(|block| !block.is_empty()),
        };
        let offset = self.at + 1;
        let available = messages.len();
        let packet = block.ok_or(PreambleError::Block {
            offset: self.at,
            announced: len,
            available,
        })?;
        Ok(Frame { offset, packet })
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Frame<'a>, PreambleError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self
            .content
            .get(self.at..)
            .filter(|rest| !rest.is_empty())?;
        let block = self.block(rest);
        self.at = match &block {
            Ok(block) => block.offset + block.packet.len(),
            Err(_) => self.content.len(),
        };
        Some(block)
    }
}

const SOH: u8 = 0x01;
const ETX: u8 = 0x03;
const OPRA_VERSION: u8 = 0x02;
/// Length of an OPRA message that goes up to the packet's end.
const OPRA_LAST: u8 = 0xFF;
