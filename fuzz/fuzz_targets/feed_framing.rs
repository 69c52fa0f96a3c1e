//! Any bytes as a file or stream of packets in every framing, and these as packets with every
//! preamble; the first byte chooses both. What is found lies in the bytes, a stream that comes in two
//! pieces has the packets that it has whole, and chunks are accounted for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_feed::{Frames, Framing, PacketNumber, Preamble, Reassembly};

const FRAMINGS: [Framing; 4] = [
    Framing::None,
    Framing::U32Le,
    Framing::BlockSize,
    Framing::Step,
];
const PREAMBLES: [Preamble; 5] = [
    Preamble::None,
    Preamble::SequenceNumber,
    Preamble::Cme,
    Preamble::B3,
    Preamble::Opra,
];

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let framing = FRAMINGS[usize::from(choice & 3)];
    let preamble = PREAMBLES[usize::from(choice >> 2) % PREAMBLES.len()];
    let mut reassembly = Reassembly::new();
    let mut at = 0;
    for frame in Frames::new(framing, bytes).flatten() {
        assert!(frame.offset >= at);
        at = frame.offset + frame.packet.len();
        assert_eq!(bytes.get(frame.offset..at), Some(frame.packet));
        again(framing, frame.packet);
        for part in preamble.parts(frame.packet) {
            packet(preamble, part.packet, &mut reassembly);
        }
    }
    reassembly.finish();
    in_pieces(framing, bytes, usize::from(choice));
});

/// What was framed once can be framed again.
fn again(framing: Framing, packet: &[u8]) {
    let mut file = Vec::new();
    if framing.append(PacketNumber(1), packet, &mut file).is_ok() {
        let mut frames = Frames::new(framing, &file);
        assert_eq!(
            frames.next().map(|frame| frame.map(|frame| frame.packet)),
            (!file.is_empty()).then_some(Ok(packet))
        );
        assert!(frames.next().is_none());
    }
}

fn packet(preamble: Preamble, packet: &[u8], reassembly: &mut Reassembly) {
    let Ok((header, content)) = preamble.split(packet) else {
        return;
    };
    let mut at = 0;
    for block in preamble.blocks(content).flatten() {
        assert!(block.offset >= at && !block.packet.is_empty());
        at = block.offset + block.packet.len();
        assert_eq!(content.get(block.offset..at), Some(block.packet));
    }
    if let Some((number, chunk)) = header.number.zip(header.chunk) {
        let before = reassembly.counters();
        let is_whole = reassembly.handle_chunk(number, chunk, content).is_some();
        assert_eq!(
            reassembly.counters().whole - before.whole,
            u64::from(is_whole)
        );
    }
}

/// A stream is read up to what is not whole yet, and on from there when the rest has come.
fn in_pieces(framing: Framing, bytes: &[u8], cut: usize) {
    if framing == Framing::None {
        return;
    }
    let mut whole = Frames::of_stream(framing, bytes);
    let expected: Vec<_> = whole.by_ref().collect();
    if expected.iter().any(Result::is_err) {
        return;
    }
    let mut first = Frames::of_stream(framing, &bytes[..cut.min(bytes.len())]);
    let mut packets: Vec<_> = first.by_ref().flatten().map(|frame| frame.packet).collect();
    let mut rest = Frames::of_stream(framing, &bytes[first.consumed()..]);
    packets.extend(rest.by_ref().flatten().map(|frame| frame.packet));
    let expected: Vec<_> = expected
        .iter()
        .flatten()
        .map(|frame| frame.packet)
        .collect();
    assert_eq!(packets, expected);
    assert_eq!(first.consumed() + rest.consumed(), whole.consumed());
}
