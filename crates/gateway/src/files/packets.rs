//! The packets of a file, one by one: their preambles read, and chunks put together.

use std::borrow::Cow;
use std::fmt;

use tickwire::Instant;
use tickwire_feed::{
    Arbiter, ArbiterConfig, Frame, Line, PacketNumber, Parts, Preamble, Reassembly,
};

/// A packet whose preamble has been read.
pub struct Packet<'a> {
    /// Which one of the file, from 0, bad ones counted. Of a message in chunks: its last one.
    pub index: u64,
    /// Where what follows the preamble starts in the file. Of a message in chunks: where its last one does.
    pub offset: usize,
    /// By its number it is the next one, or packets have none. If not: [`tickwire_fast::Decoder::lose`].
    pub follows: bool,
    content: Cow<'a, [u8]>,
    preamble: Preamble,
}

/// What is wrong with a packet, or with what is between packets.
#[derive(Debug)]
pub struct BadPacket(pub(super) String);

/// The packets of a file, in order.
pub struct Packets<'a> {
    frames: BoxedFrames<'a>,
    preamble: Preamble,
    reassembly: Reassembly,
    /// What is left of the frame that is being read, and where it starts.
    parts: Option<(usize, Parts<'a>)>,
    next_index: u64,
    expected: Option<PacketNumber>,
    /// Judges the numbers as those of a feed, if there are any.
    numbers: Option<Box<Arbiter>>,
    is_done: bool,
}

/// Packets that a file does not have, by the numbers of the others. Those of chunks are the messages'.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingPackets {
    /// How many.
    pub count: u64,
    /// In how many runs of numbers.
    pub runs: u64,
    /// The first and the last number of the first runs.
    pub first: Vec<(PacketNumber, PacketNumber)>,
}

/// The numbers, such as `101-105, 200`.
impl fmt::Display for MissingPackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.first.iter().enumerate() {
            let separator = if at > 0 { ", " } else { "" };
            write!(f, "{separator}{}", first.0)?;
            if last != first {
                write!(f, "-{}", last.0)?;
            }
        }
        match self.runs > self.first.len() as u64 {
            true => f.write_str(" and others"),
            false => Ok(()),
        }
    }
}

/// Packets as they are in a file, and what is wrong between them.
pub type BoxedFrames<'a> = Box<dyn Iterator<Item = Result<Frame<'a>, BadPacket>> + 'a>;

impl<'a> Packets<'a> {
    pub(super) fn new(frames: BoxedFrames<'a>, preamble: Preamble) -> Self {
        Self {
            frames,
            preamble,
            reassembly: Reassembly::new(),
            parts: None,
            next_index: 0,
            expected: None,
            numbers: None,
            is_done: false,
        }
    }

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
        if let Some(number) = header.number {
            self.judge(number);
        }
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
    pub fn duplicate_chunks(&self) -> u64 {
        self.reassembly.counters().duplicate
    }

    /// What has come has this number.
    fn judge(&mut self, number: PacketNumber) {
        let numbers = self.numbers.get_or_insert_with(|| {
            Box::new(Arbiter::new(ArbiterConfig {
                hold: ArbiterConfig::FILE_HOLD,
                ..ArbiterConfig::default()
            }))
        });
        numbers.handle_packet(Instant::default(), Line::A, number, &[], &mut |_, _| {});
    }

    /// Packets that are missing among those so far, as the feed handler would have it: swapped ones and
    /// a feed that starts over are no loss. Nothing where packets have no numbers.
    pub fn missing(&mut self) -> MissingPackets {
        let Some(numbers) = &mut self.numbers else {
            return MissingPackets::default();
        };
        numbers.finish(&mut |_, _| {});
        let counters = numbers.counters();
        MissingPackets {
            count: counters.lost,
            runs: counters.gaps,
            first: numbers.first_lost().to_vec(),
        }
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
    pub fn blocks(&self) -> impl Iterator<Item = Result<Frame<'_>, BadPacket>> {
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
