//! What an exchange puts in front of the messages of a packet. Knows nothing of the messages.

use core::fmt;

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

/// The form of a packet's first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Preamble {
    /// The first message starts at the first byte.
    #[default]
    None,
    /// A [`PacketNumber`], u32 little-endian, as MOEX has it.
    SequenceNumber,
}

impl Preamble {
    /// Bytes that the preamble takes.
    pub const fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::SequenceNumber => 4,
        }
    }

    /// Whether packets have no preamble.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Parts a packet into its number, if this form has one, and its messages.
    ///
    /// # Errors
    /// When the packet is shorter than the preamble.
    pub fn split(self, packet: &[u8]) -> Result<(Option<PacketNumber>, &[u8]), PreambleError> {
        match self {
            Self::None => Ok((None, packet)),
            Self::SequenceNumber => match packet.split_first_chunk::<4>() {
                Some((number, messages)) => {
                    Ok((Some(PacketNumber(u32::from_le_bytes(*number))), messages))
                }
                None => Err(PreambleError {
                    available: packet.len(),
                }),
            },
        }
    }

    /// Appends the preamble of packet `number` to `packet`.
    pub fn append(self, number: PacketNumber, packet: &mut Vec<u8>) {
        if self == Self::SequenceNumber {
            packet.extend_from_slice(&number.0.to_le_bytes());
        }
    }
}

/// A packet is shorter than its preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreambleError {
    /// The packet's length in bytes.
    pub available: usize,
}

impl fmt::Display for PreambleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let available = self.available;
        write!(
            f,
            "packet of {available} bytes is shorter than its sequence number (4 bytes)"
        )
    }
}

impl core::error::Error for PreambleError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_front_is_taken_off() {
        let mut packet = Vec::new();
        Preamble::SequenceNumber.append(PacketNumber(0x0102_0304), &mut packet);
        packet.push(0xC0);
        assert_eq!(packet, [4, 3, 2, 1, 0xC0]);
        assert_eq!(
            Preamble::SequenceNumber.split(&packet),
            Ok((Some(PacketNumber(0x0102_0304)), &[0xC0][..]))
        );
        assert_eq!(Preamble::None.split(&packet), Ok((None, &packet[..])));
    }

    #[test]
    fn a_packet_shorter_than_its_number_is_an_error() {
        assert_eq!(
            Preamble::SequenceNumber.split(&[1, 2, 3]),
            Err(PreambleError { available: 3 })
        );
    }
}
