//! Packets in a file: each is preceded by its length. Knows nothing of what is in a packet.
//!
//! ```text
//!  0      1      2      3      4                 4 + length
//! +------+------+------+------+-----------------+------ ...
//! | length, u32 little-endian | packet          | next length
//! +------+------+------+------+-----------------+------ ...
//! ```

use core::fmt;

/// Bytes that precede each packet.
pub const HEADER_LEN: usize = 4;

/// The longest packet that a frame may announce: what one UDP datagram over IPv4 can carry.
pub const MAX_PACKET_LEN: usize = 65_507;

/// One packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where in the file the packet's first byte is, after its length.
    pub offset: usize,
    /// The packet, without its length.
    pub packet: &'a [u8],
}

/// The packets of a file that is in memory, in order. After an error the iterator ends, because
/// nothing tells where the next packet starts.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Frames<'a> {
    /// Reads `bytes` from the start. Cost: nothing until iterated, no copy ever.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn frame(&mut self) -> Result<Frame<'a>, FramingError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let offset = self.at;
        let Some((header, body)) = rest.split_first_chunk::<HEADER_LEN>() else {
            return Err(FramingError::TruncatedHeader {
                offset,
                available: rest.len(),
            });
        };
        let announced = u32::from_le_bytes(*header);
        let length = usize::try_from(announced)
            .ok()
            .filter(|&length| length <= MAX_PACKET_LEN)
            .ok_or(FramingError::TooLong { offset, announced })?;
        let packet = body.get(..length).ok_or(FramingError::TruncatedPacket {
            offset,
            announced,
            available: body.len(),
        })?;
        self.at = offset + HEADER_LEN + length;
        Ok(Frame {
            offset: offset + HEADER_LEN,
            packet,
        })
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, FramingError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let frame = self.frame();
        if frame.is_err() {
            self.at = self.bytes.len();
        }
        Some(frame)
    }
}

/// Appends `packet` with its length to `file`.
///
/// # Errors
/// [`FramingError::TooLong`] for a packet above [`MAX_PACKET_LEN`]; `file` is as it was.
pub fn append_frame(file: &mut Vec<u8>, packet: &[u8]) -> Result<(), FramingError> {
    let announced = u32::try_from(packet.len()).unwrap_or(u32::MAX);
    if packet.len() > MAX_PACKET_LEN {
        let offset = file.len();
        return Err(FramingError::TooLong { offset, announced });
    }
    file.extend_from_slice(&announced.to_le_bytes());
    file.extend_from_slice(packet);
    Ok(())
}

/// Why a file cannot be cut into packets. `offset` is where the frame's length starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingError {
    /// The file ends inside a length.
    TruncatedHeader {
        /// Byte of the file at which the frame starts.
        offset: usize,
        /// Bytes of the length that are there, less than [`HEADER_LEN`].
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
    /// A length above [`MAX_PACKET_LEN`]: the file is not framed this way, or it is damaged.
    TooLong {
        /// Byte of the file at which the frame starts.
        offset: usize,
        /// The packet's length as its frame gives it.
        announced: u32,
    },
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TruncatedHeader { offset, available } => write!(
                f,
                "byte {offset}: the file ends inside a packet length ({available} of {HEADER_LEN} bytes)"
            ),
            Self::TruncatedPacket {
                offset,
                announced,
                available,
            } => write!(
                f,
                "byte {offset}: the file ends inside a packet ({available} of {announced} bytes)"
            ),
            Self::TooLong { offset, announced } => write!(
                f,
                "byte {offset}: packet length {announced} is above {MAX_PACKET_LEN}"
            ),
        }
    }
}

impl core::error::Error for FramingError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_file_has_no_packets() {
        assert_eq!(Frames::new(&[]).next(), None);
    }

    #[test]
    fn a_file_that_ends_inside_a_frame_says_where() {
        let mut file = Vec::new();
        append_frame(&mut file, b"abc").expect("short");
        file.extend_from_slice(&[5, 0, 0, 0, b'x']);
        let mut frames = Frames::new(&file);
        let first = frames.next().expect("a packet").expect("whole");
        assert_eq!((first.offset, first.packet), (4, &b"abc"[..]));
        assert_eq!(
            frames.next(),
            Some(Err(FramingError::TruncatedPacket {
                offset: 7,
                announced: 5,
                available: 1
            }))
        );
        assert_eq!(frames.next(), None);

        let error = Frames::new(&file[..9]).last().expect("an error");
        assert_eq!(
            error,
            Err(FramingError::TruncatedHeader {
                offset: 7,
                available: 2
            })
        );
    }

    #[test]
    fn a_length_no_datagram_can_have_is_refused_before_anything_is_read() {
        let error = Frames::new(&[0xFF; 64]).next().expect("a frame");
        assert_eq!(
            error,
            Err(FramingError::TooLong {
                offset: 0,
                announced: u32::MAX
            })
        );
        let mut file = vec![1];
        assert!(append_frame(&mut file, &vec![0; MAX_PACKET_LEN + 1]).is_err());
        assert_eq!(file, [1]);
    }

    proptest! {
        #[test]
        fn what_is_framed_is_read_back(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..16)) {
            let mut file = Vec::new();
            for packet in &packets {
                append_frame(&mut file, packet).expect("short");
            }
            let read: Vec<_> = Frames::new(&file).map(|frame| frame.expect("whole").packet.to_vec()).collect();
            prop_assert_eq!(read, packets);
        }

        #[test]
        fn any_bytes_end_in_packets_and_at_most_one_error(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let results: Vec<_> = Frames::new(&bytes).collect();
            let errors = results.iter().filter(|result| result.is_err()).count();
            prop_assert!(errors <= 1);
            prop_assert!(results.iter().rev().skip(1).all(Result::is_ok));
        }
    }
}
