//! What packets come to when they are decoded: messages and complaints in order, at once or kept for another thread.
//! Knows nothing of how messages are shown.

use tickwire_fast::{DecodeError, Decoder, Message};

use super::packets::{BadPacket, Packet};
use crate::failure::Result;

/// What decoding comes to, in the order of the file.
pub(super) enum Event<'a> {
    Message(Line<'a>),
    /// A packet could not be decoded, or not to its end.
    Bad(&'a str),
}

/// A message as it is shown.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// Byte of the file at which it starts.
    pub(super) offset: usize,
    /// Bytes that it takes.
    pub(super) len: usize,
    pub(super) text: &'a str,
}

/// Decodes packet after packet.
pub(super) struct PacketDecoder<S> {
    decoder: Decoder,
    message: Message,
    text: String,
    show: S,
}

impl<S: FnMut(&mut String, &Message)> PacketDecoder<S> {
    pub(super) fn new(decoder: Decoder, show: S) -> Self {
        Self {
            decoder,
            message: Message::new(),
            text: String::new(),
            show,
        }
    }

    /// Nothing is kept of the packets before.
    pub(super) fn forget(&mut self) {
        self.decoder.reset();
    }

    /// Decodes a packet and calls `take` with all that it comes to, as long as that returns true.
    pub(super) fn packet(
        &mut self,
        packet: Result<Packet<'_>, BadPacket>,
        take: &mut impl FnMut(Event<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let packet = match packet {
            Ok(packet) => packet,
            Err(error) => {
                self.decoder.lose();
                return take(Event::Bad(&error.to_string()));
            }
        };
        if !packet.follows {
            self.decoder.lose();
        }
        self.decoder.begin_packet();
        for block in packet.blocks() {
            let block = match block {
                Ok(block) => block,
                Err(error) => {
                    self.decoder.lose();
                    return take(Event::Bad(&error.to_string()));
                }
            };
            let mut at = 0;
            while let Some(rest @ [_, ..]) = block.packet.get(at..) {
                let offset = block.offset + at;
                let len = match self.decoder.decode(rest, &mut self.message) {
                    Ok(len) => len,
                    Err(error) => {
                        let offset = offset + error.offset;
                        let error = DecodeError { offset, ..error };
                        let problem = format!("packet {}: {error}", packet.index);
                        return take(Event::Bad(&problem));
                    }
                };
                at += len;
                self.text.clear();
                (self.show)(&mut self.text, &self.message);
                let line = Line {
                    offset,
                    len,
                    text: &self.text,
                };
                if !take(Event::Message(line))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// What several packets came to, on its way to the thread that writes.
#[derive(Default)]
pub(super) struct Batch {
    text: String,
    /// Where each event's text ends, and the message's byte of the file and length; none of a bad packet.
    events: Vec<(usize, Option<(usize, usize)>)>,
}

impl Batch {
    pub(super) fn push(&mut self, event: Event<'_>) -> Result<bool> {
        let (text, place) = match event {
            Event::Message(line) => (line.text, Some((line.offset, line.len))),
            Event::Bad(problem) => (problem, None),
        };
        self.text.push_str(text);
        self.events.push((self.text.len(), place));
        Ok(true)
    }

    pub(super) fn replay(&self, take: &mut impl FnMut(Event<'_>) -> Result<bool>) -> Result<bool> {
        let mut start = 0;
        for &(end, place) in &self.events {
            let text = self.text.get(start..end).unwrap_or_default();
            start = end;
            let event = match place {
                Some((offset, len)) => Event::Message(Line { offset, len, text }),
                None => Event::Bad(text),
            };
            if !take(event)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
