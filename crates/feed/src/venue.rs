//! What is known of each venue's feed beside its templates: how packets follow each other, what stands before their
//! messages, when dictionaries are reset. Knows nothing of the templates themselves.

use core::fmt;

use tickwire_fast::ResetPolicy;

use crate::framing::{Framing, FramingError};
use crate::preamble::{Chunk, PacketNumber, Preamble, PreambleError, append_chunk};

/// A venue's preset.
#[derive(Clone, Copy, Debug)]
pub struct Venue {
    /// By which it is asked for, such as `moex-asts`.
    pub name: &'static str,
    /// Whose feeds it is for.
    pub feeds: &'static str,
    /// How its packets follow each other in a file: [`Framing::U32Le`] for those of datagrams, that of its streams for
    /// others.
    pub framing: Framing,
    /// What stands before the messages of a packet.
    pub preamble: Preamble,
    /// When dictionaries are reset.
    pub reset: ResetPolicy,
    /// What else there is to know, in a few words.
    pub notes: &'static str,
}

impl Venue {
    /// The preset of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        VENUES.iter().find(|venue| venue.name == name)
    }

    /// Whether its packets come in a TCP stream, not as datagrams.
    pub fn is_stream(&self) -> bool {
        matches!(self.framing, Framing::BlockSize | Framing::Step)
    }

    /// Appends packet `number`, made of these messages, to a file of the venue's form. A B3 message that is longer than
    /// a datagram should be goes out in chunks, each a packet of the file.
    ///
    /// # Errors
    /// What no packet or no file of this form can have; `file` may then have some of the chunks.
    pub fn append_packet(
        &self,
        number: PacketNumber,
        messages: &[&[u8]],
        file: &mut Vec<u8>,
    ) -> Result<(), AppendError> {
        let mut packet = Vec::new();
        if self.preamble != Preamble::B3 {
            self.preamble.append_packet(number, messages, &mut packet)?;
            return Ok(self.framing.append(number, &packet, file)?);
        }
        let message = messages.concat();
        let count = u16::try_from(message.len().div_ceil(CHUNK_LEN).max(1))
            .map_err(|_| PreambleError::TooLong)?;
        for index in 0..count {
            let rest = message.get(usize::from(index) * CHUNK_LEN..);
            let rest = rest.unwrap_or_default();
            let part = rest.get(..CHUNK_LEN).unwrap_or(rest);
            packet.clear();
            append_chunk(number, Chunk { index, count }, part, &mut packet)?;
            self.framing.append(number, &packet, file)?;
        }
        Ok(())
    }
}

/// Why a packet cannot be appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendError {
    /// No packet of this form can have the messages.
    Preamble(PreambleError),
    /// No file of this form can have the packet.
    Framing(FramingError),
}

impl From<PreambleError> for AppendError {
    fn from(error: PreambleError) -> Self {
        Self::Preamble(error)
    }
}

impl From<FramingError> for AppendError {
    fn from(error: FramingError) -> Self {
        Self::Framing(error)
    }
}

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preamble(error) => error.fmt(f),
            Self::Framing(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for AppendError {}

/// Bytes of a chunk that keep its datagram within one Ethernet frame.
const CHUNK_LEN: usize = 1_400;

/// The preset of files that [`Generator`](crate::Generator) makes.
pub const OURS: Venue = Venue {
    name: "tickwire",
    feeds: "files of `tickwire feed generate`",
    framing: Framing::U32Le,
    preamble: Preamble::None,
    reset: ResetPolicy::Packet,
    notes: "what holds where no venue is named",
};

/// All presets, living feeds first.
pub const VENUES: &[Venue] = &[
    Venue {
        name: "moex-spectra",
        feeds: "MOEX SPECTRA (derivatives)",
        framing: Framing::U32Le,
        preamble: Preamble::SequenceNumber,
        reset: ResetPolicy::Message,
        notes: "two lines; a message a packet; snapshots and increments on groups of their own",
    },
    Venue {
        name: "moex-asts",
        feeds: "MOEX ASTS (equities, FX)",
        framing: Framing::U32Le,
        preamble: Preamble::SequenceNumber,
        reset: ResetPolicy::Message,
        notes: "two lines; a message a packet; copy operators that must not see the message before",
    },
    Venue {
        name: "t7",
        feeds: "Eurex, Xetra, Vienna, MCX, BSE: T7 RDI, EMDI, MDI, EMDS",
        framing: Framing::U32Le,
        preamble: Preamble::None,
        reset: ResetPolicy::Template,
        notes: "FAST 1.2 templates; packets begin with a PacketHeader message and the reset message 120",
    },
    Venue {
        name: "sse",
        feeds: "Shanghai Stock Exchange LDDS, NGTS",
        framing: Framing::Step,
        preamble: Preamble::None,
        reset: ResetPolicy::Packet,
        notes: "a TCP stream or its file; each STEP message is a packet",
    },
    Venue {
        name: "szse",
        feeds: "Shenzhen Stock Exchange, STEP/FAST",
        framing: Framing::Step,
        preamble: Preamble::None,
        reset: ResetPolicy::Packet,
        notes: "a TCP stream or its file; each STEP message is a packet",
    },
    Venue {
        name: "cqg",
        feeds: "CQG Quotes Direct, UDP",
        framing: Framing::U32Le,
        preamble: Preamble::Cme,
        reset: ResetPolicy::Packet,
        notes: "a dictionary for each template",
    },
    Venue {
        name: "cqg-tcp",
        feeds: "CQG Quotes Direct, TCP",
        framing: Framing::BlockSize,
        preamble: Preamble::Cme,
        reset: ResetPolicy::Packet,
        notes: "each UDP packet after its FAST-encoded length",
    },
    Venue {
        name: "b3",
        feeds: "B3 UMDF",
        framing: Framing::U32Le,
        preamble: Preamble::B3,
        reset: ResetPolicy::Packet,
        notes: "packets of whole messages or chunks, which are put together; a message shares no dictionary",
    },
    Venue {
        name: "cme",
        feeds: "CME FIX/FAST (historic)",
        framing: Framing::U32Le,
        preamble: Preamble::Cme,
        reset: ResetPolicy::Packet,
        notes: "two lines; the template id comes again in each packet",
    },
    Venue {
        name: "opra",
        feeds: "OPRA FAST version 2 (historic)",
        framing: Framing::U32Le,
        preamble: Preamble::Opra,
        reset: ResetPolicy::Packet,
        notes: "one line: numbers count messages, not packets",
    },
    OURS,
    Venue {
        name: "plain",
        feeds: "FAST 1.1 as it stands: messages one after the other",
        framing: Framing::None,
        preamble: Preamble::None,
        reset: ResetPolicy::Template,
        notes: "the reset message 120 and scp:reset are obeyed",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_there_once_and_are_words_of_a_command_line() {
        for venue in VENUES {
            let found = Venue::find(venue.name).expect("itself");
            assert_eq!(found.feeds, venue.feeds, "{} is there twice", venue.name);
            let is_plain =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            assert!(venue.name.bytes().all(is_plain), "{}", venue.name);
        }
        assert!(Venue::find("nowhere").is_none());
    }
}
