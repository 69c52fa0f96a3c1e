//! What each side says first on a connection. Knows no socket.

use std::error::Error;
use std::fmt;

use tickwire_base::Channel;

use super::Owner;

/// Who is at the other end, and what the connection is for.
///
/// ```text
///  0               1               2               3
/// +---------------+---------------+---------------+---------------+
/// |      'T'             'W'             'T'             'C'      |
/// +---------------+---------------+---------------+---------------+
/// |  version = 1  |    channel    |           zero                |
/// +---------------+---------------+---------------+---------------+
/// |                     GUID prefix, 12 bytes                     |
/// +---------------------------------------------------------------+
/// |                         key, 16 bytes                         |
/// +---------------------------------------------------------------+
/// ```
///
/// What a later version appends is skipped, 256 bytes in all at most. Where the sender listens is not in
/// it: its announcement says that, and nobody should connect anywhere because a stranger says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The sender's GUID prefix.
    pub owner: Owner,
    /// Random bytes that the sender says as long as it lives: who has the same name and another key is
    /// somebody else.
    pub key: [u8; 16],
    /// What the connection is for; the one who accepts it repeats that.
    pub channel: Channel,
}

impl Hello {
    /// Bytes of a hello.
    pub const LEN: usize = 36;
    /// Bytes that a hello may have.
    pub const MAX_LEN: usize = 256;

    /// As bytes, without their frame.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let channel = match self.channel {
            Channel::Control => 0,
            Channel::Data => 1,
        };
        let head = MAGIC.into_iter().chain([VERSION, channel, 0, 0]);
        let all = head.chain(self.owner).chain(self.key);
        for (byte, value) in bytes.iter_mut().zip(all) {
            *byte = value;
        }
        bytes
    }

    /// Reads a hello from the message of its frame.
    ///
    /// # Errors
    /// When it is not one that this version understands.
    pub fn parse(bytes: &[u8]) -> Result<Self, HelloError> {
        let (magic, rest) = bytes.split_first_chunk().ok_or(HelloError::Foreign)?;
        if *magic != MAGIC || bytes.len() > Self::MAX_LEN {
            return Err(HelloError::Foreign);
        }
        let ([version, channel, ..], rest) =
            rest.split_first_chunk::<4>().ok_or(HelloError::Foreign)?;
        if *version != VERSION {
            return Err(HelloError::Version { theirs: *version });
        }
        let channel = match channel {
            0 => Channel::Control,
            1 => Channel::Data,
            _ => return Err(HelloError::Foreign),
        };
        let (owner, rest) = rest.split_first_chunk().ok_or(HelloError::Foreign)?;
        let key = *rest.first_chunk().ok_or(HelloError::Foreign)?;
        if *owner == Owner::default() {
            return Err(HelloError::Foreign);
        }
        Ok(Self {
            owner: *owner,
            key,
            channel,
        })
    }
}

/// Why a hello is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelloError {
    /// It is something else.
    Foreign,
    /// It is of another version.
    Version {
        /// That one.
        theirs: u8,
    },
}

impl fmt::Display for HelloError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => write!(f, "what connected does not speak Tickwire's TCP"),
            Self::Version { theirs } => {
                write!(
                    f,
                    "Tickwire's TCP of version {theirs}, here it is {VERSION}"
                )
            }
        }
    }
}

impl Error for HelloError {}

const MAGIC: [u8; 4] = *b"TWTC";
const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_hello_survives_the_round_trip_and_what_is_appended(
            owner in any::<Owner>(), key: [u8; 16], is_data: bool, more in 0..200_usize,
        ) {
            prop_assume!(owner != Owner::default());
            let channel = Channel::ALL[usize::from(is_data)];
            let hello = Hello { owner, key, channel };
            let mut bytes = hello.to_bytes().to_vec();
            bytes.resize(Hello::LEN + more, 7);
            prop_assert_eq!(Hello::parse(&bytes), Ok(hello));
            prop_assert!(Hello::parse(&bytes[..Hello::LEN - 1]).is_err());
        }
    }

    #[test]
    fn another_version_is_said_to_be_one() {
        let hello = Hello {
            owner: [1; 12],
            key: [2; 16],
            channel: Channel::Data,
        };
        let mut bytes = hello.to_bytes();
        bytes[4] = 9;
        assert_eq!(Hello::parse(&bytes), Err(HelloError::Version { theirs: 9 }));
        bytes[0] = b'R';
        assert_eq!(Hello::parse(&bytes), Err(HelloError::Foreign));
    }
}
