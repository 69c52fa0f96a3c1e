use proptest::prelude::*;

use super::*;

const ALL: [Preamble; 5] = [
    Preamble::None,
    Preamble::SequenceNumber,
    Preamble::Cme,
    Preamble::B3,
    Preamble::Opra,
];

fn packet(preamble: Preamble, number: u32, messages: &[&[u8]]) -> Vec<u8> {
    let mut packet = Vec::new();
    let appended = preamble.append_packet(PacketNumber(number), messages, &mut packet);
    appended.expect("it fits");
    packet
}

#[test]
fn each_form_is_as_it_is_drawn() {
    let (number, messages) = (0x0102_0304, &[&b"ab"[..], b"c"][..]);
    let drawn: [&[u8]; 5] = [
        b"abc",
        b"\x04\x03\x02\x01abc",
        b"\x01\x02\x03\x04\x00abc",
        b"\x01\x02\x03\x04\x00\x01\x00\x01\x00\x03abc",
        b"\x01\x020016909060002\x02ab\x01c\x03",
    ];
    for (preamble, drawn) in ALL.into_iter().zip(drawn) {
        assert_eq!(packet(preamble, number, messages), drawn, "{preamble:?}");
        let (header, content) = preamble.split(drawn).expect("sound");
        let number = preamble.has_number().then_some(PacketNumber(number));
        assert_eq!((header.number, header.chunk), (number, None));
        let offset = content.as_ptr().addr() - drawn.as_ptr().addr();
        assert_eq!(offset, preamble.len());
        let blocks: Vec<_> = preamble
            .blocks(content)
            .flatten()
            .map(|block| block.packet)
            .collect();
        let expected: &[&[u8]] = match preamble {
            Preamble::Opra => messages,
            _ => &[b"abc"],
        };
        assert_eq!(blocks, expected, "{preamble:?}");
    }
}

#[test]
fn a_packet_shorter_than_its_preamble_is_an_error() {
    for preamble in ALL.into_iter().filter(|preamble| !preamble.is_empty()) {
        let whole = packet(preamble, 7, &[b"a"]);
        for available in 0..preamble.len() {
            let error = PreambleError::TooShort {
                needed: preamble.len(),
                available,
            };
            assert_eq!(preamble.split(&whole[..available]), Err(error));
        }
    }
}

#[test]
fn a_b3_chunk_says_which_it_is_and_no_other_can_be() {
    let mut bytes = Vec::new();
    let chunk = Chunk { index: 1, count: 3 };
    append_chunk(PacketNumber(9), chunk, b"part", &mut bytes).expect("short");
    assert_eq!(bytes[4..10], [0, 3, 0, 2, 0, 4]);
    let (header, content) = Preamble::B3.split(&bytes).expect("sound");
    assert_eq!((header.chunk, content), (Some(chunk), &b"part"[..]));
    for (count, current) in [(0, 0), (0, 1), (3, 0), (3, 4), (1, 2)] {
        let mut wrong = bytes.clone();
        wrong[4..8].copy_from_slice(&[0, count, 0, current]);
        let (count, current) = (u16::from(count), u16::from(current));
        let error = PreambleError::NoChunk { count, current };
        assert_eq!(Preamble::B3.split(&wrong), Err(error));
    }
    bytes.push(0);
    let error = PreambleError::Length {
        announced: 4,
        available: 5,
    };
    assert_eq!(Preamble::B3.split(&bytes), Err(error));
}

#[test]
fn a_b3_packet_may_have_several_parts() {
    let mut bytes = packet(Preamble::B3, 7, &[b"one"]);
    bytes.extend(packet(Preamble::B3, 8, &[b"two!"]));
    let split = |part: Frame<'_>| {
        let (header, content) = Preamble::B3.split(part.packet).ok()?;
        Some((part.offset, header.number?.0, content.to_vec()))
    };
    let parts: Vec<_> = Preamble::B3.parts(&bytes).map(split).collect();
    let expected = [(0, 7, b"one".to_vec()), (13, 8, b"two!".to_vec())];
    assert_eq!(parts, expected.map(Some));
    for len in [13 + 9, 13 + 13] {
        let parts: Vec<_> = Preamble::B3.parts(&bytes[..len]).map(split).collect();
        assert_eq!((parts.len(), &parts[1]), (2, &None), "the second is cut");
    }
    for preamble in ALL {
        assert_eq!(preamble.parts(&[]).count(), 1);
    }
}

#[test]
fn an_opra_packet_with_a_wrong_byte_or_length_says_where() {
    let whole = packet(Preamble::Opra, 7, &[b"ab", b"c"]);
    for offset in (0..15).chain([whole.len() - 1]) {
        let mut wrong = whole.clone();
        wrong[offset] = b'x';
        let error = PreambleError::Byte {
            offset,
            found: b'x',
        };
        assert_eq!(Preamble::Opra.split(&wrong), Err(error));
    }
    for (len, available) in [(0, 5), (6, 5), (0xFE, 5)] {
        let content = [len, b'a', b'b', 1, b'c', 3];
        let blocks: Vec<_> = Preamble::Opra.blocks(&content).collect();
        let error = PreambleError::Block {
            offset: 0,
            announced: len,
            available,
        };
        assert_eq!(blocks, [Err(error)]);
    }
}

#[test]
fn only_the_last_opra_message_may_be_long() {
    let long = [b'x'; 300];
    let whole = packet(Preamble::Opra, 7, &[b"ab", &long]);
    let (_, content) = Preamble::Opra.split(&whole).expect("sound");
    let blocks: Vec<_> = Preamble::Opra
        .blocks(content)
        .map(|block| block.expect("sound").packet)
        .collect();
    assert_eq!(blocks, [&b"ab"[..], &long]);
    let mut packet = Vec::new();
    for messages in [&[&long[..], b"ab"][..], &[], &[b""], &[b"", b"a"]] {
        let refused = Preamble::Opra.append_packet(PacketNumber(7), messages, &mut packet);
        assert_eq!(refused, Err(PreambleError::TooLong));
    }
    assert!(packet.is_empty());
}

proptest! {
    #[test]
    fn what_is_put_in_front_is_taken_off(
        number in any::<u32>(),
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..255), 1..8),
    ) {
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        for preamble in ALL {
            let packet = packet(preamble, number, &messages);
            let (header, content) = preamble.split(&packet).expect("sound");
            prop_assert_eq!(header.number, preamble.has_number().then_some(PacketNumber(number)));
            let read: Vec<u8> = preamble.blocks(content).flat_map(|block| block.expect("sound").packet.to_vec()).collect();
            prop_assert_eq!(read, messages.concat());
        }
    }

    /// Whatever a packet holds, what is found in it lies in it.
    #[test]
    fn any_bytes_are_a_packet_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64), opra in any::<bool>()) {
        let mut bytes = bytes;
        if opra && bytes.len() > 16 {
            bytes[..15].copy_from_slice(b"\x01\x020000000001002");
            *bytes.last_mut().expect("some") = 3;
        }
        for preamble in ALL {
            let Ok((_, content)) = preamble.split(&bytes) else { continue };
            for block in preamble.blocks(content).flatten() {
                prop_assert_eq!(content.get(block.offset..block.offset + block.packet.len()), Some(block.packet));
            }
        }
    }
}
