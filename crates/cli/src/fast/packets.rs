//! Packets from a file: cut out of it, their preambles read, chunks put together, and what is wrong with them told
//! with its place, so that the packets behind it can go on.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tickwire_feed::{Frame, Frames, Framing, PacketNumber, Parts, Preamble, Reassembly};

use super::capture::{Capture, Destination, destinations, is_capture, parse_destination};
use super::source::{FeedOptions, read};
use crate::failure::{Failure, Result};
use crate::output::note;

/// How to find the packets in a file.
#[derive(Args, Clone)]
pub(crate) struct PacketOptions {
    /// How packets are kept in the file [default: the venue's, or u32le]; captures (pcap, pcapng) are recognized
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) framing: Option<FileForm>,

    /// Of a capture, only datagrams to this group, or to this port of any
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_destination)]
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
    /// How packets follow each other, but in text.
    fn framing(self) -> Option<Framing> {
        match self {
            Self::U32le => Some(Framing::U32Le),
            Self::Block => Some(Framing::BlockSize),
            Self::Step => Some(Framing::Step),
            Self::None => Some(Framing::None),
            Self::Hex => None,
        }
    }
}

impl Form {
    /// Datagrams are packets, unless they carry a stream.
    fn capture(framing: Framing, to: Option<Destination>) -> Self {
        let is_stream = matches!(framing, Framing::BlockSize | Framing::Step);
        Self::Capture(is_stream.then_some(framing), to)
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

/// A file of packets, in memory.
pub(crate) struct PacketFile {
    path: PathBuf,
    bytes: Arc<Vec<u8>>,
    form: Form,
    preamble: Preamble,
}

#[derive(Clone)]
enum Form {
    Frames(Framing),
    Capture(Option<Framing>, Option<Destination>),
    /// Where each line's packet is in the bytes.
    Lines(Vec<Range<usize>>),
}

/// A packet whose preamble has been read.
pub(crate) struct Packet<'a> {
    /// Which one of the file, from 0, bad ones counted. Of a message in chunks: its last one.
    pub(crate) index: u64,
    /// Where what follows the preamble starts in the file. Of a message in chunks: where its last one does.
    pub(crate) offset: usize,
    /// By its number it is the next one, or packets have none. If not: [`tickwire_fast::Decoder::lose`].
    pub(crate) follows: bool,
    content: Cow<'a, [u8]>,
    preamble: Preamble,
}

/// What is wrong with a packet, or with what is between packets.
#[derive(Debug)]
pub(crate) struct BadPacket(String);

impl PacketOptions {
    /// How packets are kept in the file, captures aside.
    pub(crate) fn framing(&self, feed: &FeedOptions) -> FileForm {
        self.framing.unwrap_or(feed.venue().framing.into())
    }

    /// Reads the file.
    pub(crate) fn open(&self, path: &Path, feed: &FeedOptions) -> Result<PacketFile> {
        let bytes = read(path)?;
        if bytes.is_empty() {
            note(format_args!("{} is empty", path.display()));
        }
        let Some(framing) = self.framing(feed).framing() else {
            return PacketFile::hex(path, &bytes, feed.preamble());
        };
        let form = if is_capture(&bytes) {
            check_destination(path, &bytes, self.to)?;
            Form::capture(framing, self.to)
        } else if self.to.is_some() {
            let problem = format_args!("{} is no capture", path.display());
            return Err(Failure::usage(problem).hint("`--to` chooses datagrams of a capture"));
        } else {
            Form::Frames(framing)
        };
        Ok(PacketFile {
            path: path.to_owned(),
            bytes: Arc::new(bytes),
            form,
            preamble: feed.preamble(),
        })
    }
}

/// That a capture has datagrams that are meant; what cannot be read of it is told where it is read.
fn check_destination(path: &Path, bytes: &[u8], to: Option<Destination>) -> Result<()> {
    let mut is_whole = true;
    for datagram in Capture::new(bytes, to) {
        match datagram {
            Ok(_) => return Ok(()),
            Err(_) => is_whole = false,
        }
    }
    let path = path.display();
    let mut found: Vec<_> = destinations(bytes).into_iter().collect();
    found.sort_by_key(|&(_, count)| Reverse(count));
    match to {
        Some(to) if !found.is_empty() => {
            let shown = found.iter().take(MAX_DESTINATIONS);
            let shown = shown.map(|(to, count)| format!("{to} ({count})"));
            let shown = shown.collect::<Vec<_>>().join(", ");
            let more = match found.len().saturating_sub(MAX_DESTINATIONS) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let failure = Failure::new(format_args!("{path}: no datagram goes to {to}"));
            Err(failure.hint(format_args!("there are datagrams to {shown}{more}")))
        }
        _ if is_whole => {
            Err(Failure::new(format_args!("{path}: no UDP datagram in this capture")).hint(
                "of a feed over TCP save the stream itself, and say with `--framing` how it keeps packets",
            ))
        }
        _ => Ok(()),
    }
}

impl PacketFile {
    /// Bytes of the file; of a text, those that it stands for. Offsets count in them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The same file read in another way; `None` if it cannot be.
    pub(super) fn reread(
        &self,
        framing: Option<FileForm>,
        preamble: Option<Preamble>,
    ) -> Option<Self> {
        let preamble = preamble.unwrap_or(self.preamble);
        let form = match (&self.form, framing) {
            (form, None) => form.clone(),
            (Form::Lines(_), Some(_)) => return None,
            (Form::Frames(_), Some(FileForm::Hex)) => {
                return Self::hex(&self.path, &self.bytes, preamble).ok();
            }
            (Form::Frames(_), Some(form)) => Form::Frames(form.framing()?),
            (Form::Capture(_, to), Some(form)) => Form::capture(form.framing()?, *to),
        };
        Some(Self {
            path: self.path.clone(),
            bytes: Arc::clone(&self.bytes),
            form,
            preamble,
        })
    }

    /// Its packets with their preambles, as they would come from a network.
    pub(crate) fn frames(&self) -> BoxedFrames<'_> {
        let named = |error: &dyn fmt::Display| BadPacket(error.to_string());
        let bytes = &self.bytes[..];
        match &self.form {
            Form::Frames(framing) => {
                let frames = Frames::new(*framing, bytes);
                Box::new(frames.map(move |frame| frame.map_err(|error| named(&error))))
            }
            Form::Capture(framing, to) => {
                let datagrams = Capture::new(bytes, *to)
                    .map(move |datagram| datagram.map_err(|error| named(&error)));
                match *framing {
                    None => Box::new(datagrams),
                    Some(framing) => {
                        Box::new(datagrams.flat_map(move |datagram| frames_of(framing, datagram)))
                    }
                }
            }
            Form::Lines(lines) => Box::new(lines.iter().map(|line| {
                Ok(Frame {
                    offset: line.start,
                    packet: bytes.get(line.clone()).unwrap_or_default(),
                })
            })),
        }
    }

    /// Its packets, from the first on.
    pub(crate) fn packets(&self) -> Packets<'_> {
        Packets {
            frames: self.frames(),
            preamble: self.preamble,
            reassembly: Reassembly::new(),
            parts: None,
            next_index: 0,
            expected: None,
            is_done: false,
        }
    }

    fn hex(path: &Path, text: &[u8], preamble: Preamble) -> Result<Self> {
        let mut bytes = Vec::new();
        let mut lines = Vec::new();
        for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let start = bytes.len();
            let code = line.split(|&byte| byte == b'#').next().unwrap_or_default();
            append_hex(code, &mut bytes).map_err(|problem| {
                Failure::new(format_args!("{}: line {}: {problem}", path.display(), at + 1))
                    .hint("a line is a packet, two hexadecimal digits a byte, with or without blanks; `#` begins a comment. A file that is no text has another `--framing`")
            })?;
            if bytes.len() > start {
                lines.push(start..bytes.len());
            }
        }
        Ok(Self {
            path: path.to_owned(),
            bytes: Arc::new(bytes),
            form: Form::Lines(lines),
            preamble,
        })
    }
}

/// The packets of a file, in order.
pub(crate) struct Packets<'a> {
    frames: BoxedFrames<'a>,
    preamble: Preamble,
    reassembly: Reassembly,
    /// What is left of the frame that is being read, and where it starts.
    parts: Option<(usize, Parts<'a>)>,
    next_index: u64,
    expected: Option<PacketNumber>,
    is_done: bool,
}

/// Packets as they are in a file, and what is wrong between them.
pub(crate) type BoxedFrames<'a> = Box<dyn Iterator<Item = Result<Frame<'a>, BadPacket>> + 'a>;

impl<'a> Packets<'a> {
    /// The next part of a frame, with its place in the file.
    fn part(&mut self) -> Option<Result<Frame<'a>, BadPacket>> {
        loop {
            if let Some((start, parts)) = &mut self.parts
                && let Some(part) = parts.next()
            {
                let offset = *start + part.offset;
                return Some(Ok(Frame { offset, ..part }));
            }
            match self.frames.next()? {
                Ok(frame) => {
                    self.next_index += 1;
                    self.parts = Some((frame.offset, self.preamble.parts(frame.packet)));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// The packet of a part, or nothing yet if it is one of several chunks.
    fn packet(&mut self, frame: Frame<'a>) -> Result<Option<Packet<'a>>, BadPacket> {
        let index = self.next_index - 1;
        let (header, content) = self.preamble.split(frame.packet).map_err(|error| {
            BadPacket(format!("packet {index}: byte {}: {error}", frame.offset))
        })?;
        let content = match header.chunk.zip(header.number) {
            None => Cow::Borrowed(content),
            Some((chunk, number)) => match self.reassembly.handle_chunk(number, chunk, content) {
                Some(message) => Cow::Owned(message.to_vec()),
                None => return Ok(None),
            },
        };
        let expected =
            core::mem::replace(&mut self.expected, header.number.map(PacketNumber::next));
        Ok(Some(Packet {
            index,
            offset: frame.offset + self.preamble.len(),
            follows: expected.is_none() || expected == header.number,
            content,
            preamble: self.preamble,
        }))
    }

    /// Chunks that were copies of others, so far.
    pub(crate) fn duplicate_chunks(&self) -> u64 {
        self.reassembly.counters().duplicate
    }

    /// What the file's end leaves.
    fn finish(&mut self) -> Option<BadPacket> {
        if core::mem::replace(&mut self.is_done, true) {
            return None;
        }
        self.reassembly.finish();
        let counters = self.reassembly.counters();
        let (incomplete, refused) = (counters.incomplete, counters.refused);
        (incomplete + refused > 0).then(|| {
            BadPacket(format!(
                "messages that lack chunks: {incomplete}, chunks that belong to none: {refused}"
            ))
        })
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<Packet<'a>, BadPacket>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let packet = match self.part() {
                Some(Ok(frame)) => self.packet(frame),
                Some(Err(error)) => Err(error),
                None => return self.finish().map(Err),
            };
            if let Some(packet) = packet.transpose() {
                return Some(packet);
            }
        }
    }
}

impl Packet<'_> {
    /// Its runs of whole messages, each with its place in the file. After an error: [`tickwire_fast::Decoder::lose`],
    /// and the next packet.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Result<Frame<'_>, BadPacket>> {
        let (index, offset) = (self.index, self.offset);
        self.preamble
            .blocks(&self.content)
            .map(move |block| match block {
                Ok(block) => Ok(Frame {
                    offset: offset + block.offset,
                    packet: block.packet,
                }),
                Err(error) => Err(BadPacket(format!("packet {index}: byte {offset}: {error}"))),
            })
    }
}

impl fmt::Display for BadPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The packets of a datagram that carries a stream's.
fn frames_of<'a>(
    framing: Framing,
    datagram: Result<Frame<'a>, BadPacket>,
) -> impl Iterator<Item = Result<Frame<'a>, BadPacket>> {
    let (frames, error) = match datagram {
        Ok(datagram) => (
            Some((datagram.offset, Frames::new(framing, datagram.packet))),
            None,
        ),
        Err(error) => (None, Some(Err(error))),
    };
    let frames = frames.into_iter().flat_map(|(offset, frames)| {
        frames.map(move |frame| match frame {
            Ok(frame) => Ok(Frame {
                offset: offset + frame.offset,
                packet: frame.packet,
            }),
            Err(error) => Err(BadPacket(format!("datagram at byte {offset}: {error}"))),
        })
    });
    error.into_iter().chain(frames)
}

fn append_hex(text: &[u8], bytes: &mut Vec<u8>) -> Result<(), String> {
    let mut high = None;
    for &character in text {
        if character.is_ascii_whitespace() {
            continue;
        }
        let digit = char::from(character)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
            .ok_or_else(|| match character {
                b'!'..=b'~' => format!("`{}` is no hexadecimal digit", char::from(character)),
                _ => format!("byte {character:#04x} is no hexadecimal digit"),
            })?;
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push(high << 4 | digit),
        }
    }
    match high {
        None => Ok(()),
        Some(_) => Err("half a byte at its end".to_owned()),
    }
}

/// Destinations that are named where none is meant.
const MAX_DESTINATIONS: usize = 8;
