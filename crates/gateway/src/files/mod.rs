//! Files of packets: framed as streams are, captures of network traffic, and text.
//!
//! [`PacketFile`] is one in memory. What is wrong with its packets is told with its place, so that the packets behind
//! it can go on.

mod capture;
mod error;
mod packets;

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tickwire_feed::{Frame, Frames, Framing, Line, Preamble};

pub use capture::Destination;
use capture::{Capture, CaptureError, destinations, is_capture};
pub use error::FileError;
use error::there_are;
pub use packets::{BadPacket, BoxedFrames, MissingPackets, Packet, Packets};

/// How packets are kept in a file that is no capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// As in a stream.
    Frames(Framing),
    /// Text: a packet a line, in hexadecimal; `#` begins a comment.
    Hex,
}

/// A file of packets, in memory.
pub struct PacketFile {
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

impl Form {
    /// Datagrams are packets, unless they carry a stream.
    fn capture(framing: Framing, to: Option<Destination>) -> Self {
        let is_stream = matches!(framing, Framing::BlockSize | Framing::Step);
        Self::Capture(is_stream.then_some(framing), to)
    }
}

impl PacketFile {
    /// Reads a file of this form, unless it is a capture, of which the datagrams `to` somewhere are packets.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn open(
        path: &Path,
        form: FileForm,
        to: Option<Destination>,
        preamble: Preamble,
    ) -> Result<Self, FileError> {
        let bytes = read(path)?;
        let FileForm::Frames(framing) = form else {
            return Self::hex(path, &bytes, preamble);
        };
        let form = if is_capture(&bytes) {
            check_destination(path, &bytes, to)?;
            Form::capture(framing, to)
        } else if to.is_some() {
            return Err(FileError::NoCapture(path.to_owned()));
        } else {
            Form::Frames(framing)
        };
        Ok(Self {
            path: path.to_owned(),
            bytes: Arc::new(bytes),
            form,
            preamble,
        })
    }

    /// Bytes of the file; of a text, those that it stands for. Offsets count in them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same file read in another way; `None` if it cannot be.
    pub fn reread(&self, form: Option<FileForm>, preamble: Option<Preamble>) -> Option<Self> {
        let preamble = preamble.unwrap_or(self.preamble);
        let form = match (&self.form, form) {
            (form, None) => form.clone(),
            (Form::Frames(_), Some(FileForm::Hex)) => {
                return Self::hex(&self.path, &self.bytes, preamble).ok();
            }
            (Form::Lines(_), Some(_)) | (_, Some(FileForm::Hex)) => return None,
            (Form::Frames(_), Some(FileForm::Frames(framing))) => Form::Frames(framing),
            (Form::Capture(_, to), Some(FileForm::Frames(framing))) => Form::capture(framing, *to),
        };
        Some(Self {
            path: self.path.clone(),
            bytes: Arc::clone(&self.bytes),
            form,
            preamble,
        })
    }

    /// Its packets with their preambles, as they would come from a network.
    pub fn frames(&self) -> BoxedFrames<'_> {
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

    /// The same, each with the line of the feed that brought it: A, unless [`Destination::Lines`] are meant.
    pub fn frames_of_lines(&self) -> BoxedLines<'_> {
        let Form::Capture(None, to @ Some(Destination::Lines(_, b))) = self.form else {
            return Box::new(self.frames().map(|frame| (Line::A, frame)));
        };
        let mut capture = Capture::new(&self.bytes, to);
        Box::new(std::iter::from_fn(move || {
            Some(match capture.next_datagram()? {
                Ok((to, frame)) if to == b => (Line::B, Ok(frame)),
                Ok((_, frame)) => (Line::A, Ok(frame)),
                Err(error) => (Line::A, Err(BadPacket(error.to_string()))),
            })
        }))
    }

    /// Where the datagrams of a capture go that are read as one feed, if that is not one address and none
    /// was chosen. Cost: a walk over all of it.
    pub fn mixture(&self) -> Option<String> {
        let Form::Capture(_, None) = self.form else {
            return None;
        };
        let found: Vec<_> = destinations(&self.bytes).into_iter().collect();
        (found.len() > 1).then(|| there_are(found))
    }

    /// Whether it ends inside a packet, or inside a record of a capture. Messages without packets have no such end.
    /// Cost: a walk over all of it.
    pub fn is_cut_off(&self) -> bool {
        let bytes = &self.bytes[..];
        match &self.form {
            Form::Frames(framing) => {
                let last = Frames::new(*framing, bytes).last();
                last.is_some_and(|last| last.is_err_and(|error| error.is_truncated()))
            }
            Form::Capture(_, to) => {
                let last = Capture::new(bytes, *to).last();
                matches!(last, Some(Err(CaptureError::Truncated { .. })))
            }
            Form::Lines(_) => false,
        }
    }

    /// Whether most of a capture's first datagrams were not captured whole.
    pub fn is_snapped(&self) -> bool {
        let Form::Capture(_, to) = self.form else {
            return false;
        };
        let first = Capture::new(&self.bytes, to).take(FIRST);
        let (mut snapped, mut all) = (0, 0);
        for datagram in first {
            all += 1;
            snapped += usize::from(matches!(datagram, Err(CaptureError::Cut { .. })));
        }
        snapped * 2 > all
    }

    /// Its packets, from the first on.
    pub fn packets(&self) -> Packets<'_> {
        Packets::new(self.frames(), self.preamble)
    }

    fn hex(path: &Path, text: &[u8], preamble: Preamble) -> Result<Self, FileError> {
        let mut bytes = Vec::new();
        let mut lines = Vec::new();
        for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let start = bytes.len();
            let code = line.split(|&byte| byte == b'#').next().unwrap_or_default();
            append_hex(code, &mut bytes).map_err(|problem| FileError::Hex {
                path: path.to_owned(),
                line: at + 1,
                problem,
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

/// Reads a whole file; of a pipe or device, which may have no end, up to [`MAX_STREAM`] bytes.
///
/// # Errors
/// [`FileError::Read`] and [`FileError::Endless`].
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |error| FileError::Read {
        path: path.to_owned(),
        error,
    };
    if fs::metadata(path).map_err(failed)?.is_file() {
        return fs::read(path).map_err(failed);
    }
    let mut bytes = Vec::new();
    let mut stream = File::open(path).map_err(failed)?.take(MAX_STREAM + 1);
    stream.read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 > MAX_STREAM {
        true => Err(FileError::Endless(path.to_owned())),
        false => Ok(bytes),
    }
}

/// Bytes of what is no file at most: they are all in memory.
pub const MAX_STREAM: u64 = 1 << 28;

/// Packets as they are in a file, and what is wrong between them, with the line of each.
pub type BoxedLines<'a> = Box<dyn Iterator<Item = (Line, Result<Frame<'a>, BadPacket>)> + 'a>;

/// As many datagrams are looked at for what is wrong with a capture.
const FIRST: usize = 16;

/// That a capture has datagrams that are meant, of each line; what cannot be read of it is told where it is read.
fn check_destination(path: &Path, bytes: &[u8], to: Option<Destination>) -> Result<(), FileError> {
    if let Some(Destination::Lines(a, b)) = to {
        check_destination(path, bytes, Some(Destination::Address(a)))?;
        return check_destination(path, bytes, Some(Destination::Address(b)));
    }
    let mut is_whole = true;
    for datagram in Capture::new(bytes, to) {
        match datagram {
            Ok(_) => return Ok(()),
            Err(_) => is_whole = false,
        }
    }
    let path = path.to_owned();
    let found: Vec<_> = destinations(bytes).into_iter().collect();
    match to {
        Some(to) if !found.is_empty() => Err(FileError::NotTo { path, to, found }),
        _ if is_whole => Err(FileError::NoDatagram(path)),
        _ => Ok(()),
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
