//! The options that say how packets are kept in a file, and what to try where it is not so.

use std::path::Path;

use clap::{Args, ValueEnum};
use tickwire_feed::Framing;
use tickwire_gateway::files::{self, Destination, FileError};
pub(crate) use tickwire_gateway::files::{BadPacket, MissingPackets, Packet, PacketFile};

use super::source::FeedOptions;
use crate::failure::{Failure, Result};
use crate::output::note;

/// How to find the packets in a file.
#[derive(Args, Clone)]
pub(crate) struct PacketOptions {
    /// How packets are kept in the file [default: the venue's, or u32le]; captures (pcap, pcapng) are recognized
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) framing: Option<FileForm>,

    /// Of a capture, only datagrams to this group, or to this port of any
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = str::parse::<Destination>)]
    pub(crate) to: Option<Destination>,
}

/// How packets are kept in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileForm {
    /// Each packet after its length in 4 bytes, little-endian
    U32le,
    /// Each packet after its FAST-encoded length
    Block,
    /// Each packet in tag 96 of a STEP message
    Step,
    /// Text: a packet a line, in hexadecimal
    Hex,
    /// No packets: messages one after the other
    None,
}

impl FileForm {
    /// The same in the library's words.
    pub(crate) fn form(self) -> files::FileForm {
        match self {
            Self::U32le => files::FileForm::Frames(Framing::U32Le),
            Self::Block => files::FileForm::Frames(Framing::BlockSize),
            Self::Step => files::FileForm::Frames(Framing::Step),
            Self::None => files::FileForm::Frames(Framing::None),
            Self::Hex => files::FileForm::Hex,
        }
    }
}

impl From<Framing> for FileForm {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::U32Le => Self::U32le,
            Framing::BlockSize => Self::Block,
            Framing::Step => Self::Step,
            Framing::None => Self::None,
        }
    }
}

impl PacketOptions {
    /// How packets are kept in the file, captures aside.
    pub(crate) fn framing(&self, feed: &FeedOptions) -> FileForm {
        self.framing.unwrap_or(feed.venue().framing.into())
    }

    /// Reads the file, which is not to be empty.
    pub(crate) fn open(&self, path: &Path, feed: &FeedOptions) -> Result<PacketFile> {
        let form = self.framing(feed).form();
        let file = PacketFile::open(path, form, self.to, feed.preamble())?;
        if file.bytes().is_empty() {
            return Err(Failure::new(format_args!("{} is empty", path.display())));
        }
        if let Some(there_are) = file.mixture() {
            note(format_args!(
                "warning: the groups of {} are read as one feed: {there_are}\nhint: `--to` chooses one of them; \
                 `tickwire feed run` takes each packet from the first of two with `--group` and `--line-b`",
                path.display()
            ));
        }
        Ok(file)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let failure = match &error {
            FileError::NoCapture(_) => Self::usage(&error),
            _ => Self::new(&error),
        };
        match (&error, error.hint()) {
            (FileError::NoCapture(_), _) => failure.hint(
                "`--to`, and `--group` and `--line-b` beside `--file`, choose datagrams of a capture",
            ),
            (FileError::Hex { .. }, _) => failure.hint("a line is a packet, two hexadecimal digits a byte, with or without blanks; `#` begins a comment. A file that is no text has another `--framing`"),
            (FileError::NoDatagram(_), _) => failure.hint(
                "of a feed over TCP save the stream itself, and say with `--framing` how it keeps packets",
            ),
            (_, Some(hint)) => failure.hint(hint),
            (_, None) => failure,
        }
    }
}
