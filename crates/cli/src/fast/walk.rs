//! The messages of a file, one by one, with their places. Knows nothing of what is done with them.

use tickwire_fast::Decoder;

use super::packets::{BadPacket, PacketFile};

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

/// Calls `act` with each message's place and the rest of its block from there on, until it stops. Gives what is wrong
/// with the first packet that is none: such packets are passed over, and `tickwire fast decode` tells them all.
pub(super) fn each_message(
    file: &PacketFile,
    decoder: &mut Decoder,
    mut act: impl FnMut(At, &[u8], &mut Decoder) -> Next,
) -> Option<BadPacket> {
    let mut first_bad = None;
    let (mut packet_before, mut message) = (None, 0);
    for packet in file.packets() {
        let packet = match packet {
            Ok(packet) => packet,
            Err(bad) => {
                decoder.lose();
                first_bad.get_or_insert(bad);
                continue;
            }
        };
        if !packet.follows {
            decoder.lose();
        }
        decoder.begin_packet();
        // The parts of a B3 packet come one by one, and share its number.
        if packet_before.replace(packet.index) != Some(packet.index) {
            message = 0;
        }
        'blocks: for block in packet.blocks() {
            let block = match block {
                Ok(block) => block,
                Err(bad) => {
                    decoder.lose();
                    first_bad.get_or_insert(bad);
                    break;
                }
            };
            let mut offset = 0;
            while let Some(rest @ [_, ..]) = block.packet.get(offset..) {
                let at = At {
                    packet: packet.index,
                    message,
                    offset: block.offset + offset,
                };
                match act(at, rest, decoder) {
                    Next::Message(len) => offset += len,
                    Next::Packet => {
                        message += 1;
                        break 'blocks;
                    }
                    Next::Stop => return first_bad,
                }
                message += 1;
            }
        }
    }
    first_bad
}
