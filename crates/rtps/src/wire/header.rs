//! The head of every datagram (RTPS 2.5 §9.4.4).

use alloc::vec::Vec;

use super::cursor::{Cursor, Malformed};
use super::{GuidPrefix, VendorId};

/// Major and minor version of the protocol. We speak 2.5 and understand every 2.x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion {
    /// What must agree.
    pub major: u8,
    /// What may differ: later ones only add.
    pub minor: u8,
}

impl ProtocolVersion {
    /// What we write.
    pub const CURRENT: Self = Self { major: 2, minor: 5 };
}

/// The head of a datagram: who sends it, in which dialect.
///
/// ```text
///  0                   1                   2                   3
/// +-------+-------+-------+-------+
/// |  'R'  |  'T'  |  'P'  |  'S'  |
/// | major | minor |   vendor id   |
/// ~     GUID prefix (12 bytes)    ~
/// +-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender's version.
    pub version: ProtocolVersion,
    /// The sender's implementation.
    pub vendor: VendorId,
    /// The sending participant.
    pub prefix: GuidPrefix,
}

impl Header {
    /// Bytes that a header takes.
    pub const LEN: usize = 20;

    /// A header of ours.
    pub const fn new(prefix: GuidPrefix) -> Self {
        Self {
            version: ProtocolVersion::CURRENT,
            vendor: VendorId::TICKWIRE,
            prefix,
        }
    }

    /// Reads the head of `datagram`.
    ///
    /// # Errors
    /// When it is not RTPS, or not of major version 2.
    #[inline]
    pub fn read(datagram: &[u8]) -> Result<Self, Malformed> {
        let mut from = Cursor::new(datagram, 0, false);
        if from.array("protocol id")? != *b"RTPS" {
            return Err(Malformed {
                offset: 0,
                what: "protocol id is not RTPS",
            });
        }
        let at = from;
        let [major, minor] = from.array("protocol version")?;
        if major != ProtocolVersion::CURRENT.major {
            return Err(at.malformed("protocol version is not 2.x"));
        }
        Ok(Self {
            version: ProtocolVersion { major, minor },
            vendor: VendorId(from.array("vendor id")?),
            prefix: GuidPrefix(from.array("GUID prefix")?),
        })
    }

    /// Appends the header to `datagram`.
    pub fn write(&self, datagram: &mut Vec<u8>) {
        datagram.extend_from_slice(&self.to_bytes());
    }

    /// The bytes of the header.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let (head, prefix) = bytes.split_at_mut(8);
        head[..4].copy_from_slice(b"RTPS");
        head[4..6].copy_from_slice(&[self.version.major, self.version.minor]);
        head[6..].copy_from_slice(&self.vendor.0);
        prefix.copy_from_slice(&self.prefix.0);
        bytes
    }
}
