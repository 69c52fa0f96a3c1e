//! The messages of a file, one by one, with their places. Knows nothing of what is done with them.

use std::path::Path;

use tickwire_fast::Decoder;

use super::source::{Framing, TemplateOptions, packets};
use crate::failure::Result;

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// Which packet of the file, from 0.
    pub(super) packet: u64,
    /// Which message of the packet, from 0.
    pub(super) message: u64,
    /// Byte of the file at which it starts.
    pub(super) offset: usize,
}

/// How to go on after a message.
pub(super) enum Next {
    /// It took so many bytes.
    Message(usize),
    /// It could not be decoded: on with the next packet.
    Packet,
    /// Nothing more is wanted.
    Stop,
}

/// Calls `act` with each message's place and the rest of its packet from there on, until it stops.
pub(super) fn each_message(
    path: &Path,
    bytes: &[u8],
    framing: Framing,
    options: &TemplateOptions,
    decoder: &mut Decoder,
    mut act: impl FnMut(At, &[u8], &mut Decoder) -> Next,
) -> Result<()> {
    for (packet, frame) in (0..).zip(packets(path, bytes, framing)) {
        let frame = frame?;
        decoder.begin_packet();
        let Ok((_, messages)) = options.preamble.preamble().split(frame.packet) else {
            decoder.lose();
            continue;
        };
        let mut offset = frame.packet.len() - messages.len();
        let mut message = 0;
        while let Some(rest @ [_, ..]) = frame.packet.get(offset..) {
            let at = At {
                packet,
                message,
                offset: frame.offset + offset,
            };
            match act(at, rest, decoder) {
                Next::Message(len) => offset += len,
                Next::Packet => break,
                Next::Stop => return Ok(()),
            }
            message += 1;
        }
    }
    Ok(())
}
