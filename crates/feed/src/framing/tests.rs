use proptest::prelude::*;

use super::*;

const FRAMED: [Framing; 3] = [Framing::U32Le, Framing::BlockSize, Framing::Step];

fn file(framing: Framing, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for (number, packet) in (0..).zip(packets) {
        let appended = framing.append(PacketNumber(number), packet, &mut file);
        appended.expect("it fits");
    }
    file
}

fn read(framing: Framing, file: &[u8]) -> Vec<Vec<u8>> {
    let frames = Frames::new(framing, file);
    frames
        .map(|frame| frame.expect("whole").packet.to_vec())
        .collect()
}

#[test]
fn an_empty_file_has_no_packets() {
    for framing in FRAMED.into_iter().chain([Framing::None]) {
        assert_eq!(Frames::new(framing, &[]).next(), None);
    }
}

#[test]
fn each_form_is_as_it_is_drawn() {
    let drawn: [&[u8]; 3] = [
        b"\x03\x00\x00\x00abc",
        b"\x83abc",
        b"8=STEP.1.0.0\x019=22\x0135=W\x0134=0\x0195=3\x0196=abc\x0110=044\x01",
    ];
    for (framing, drawn) in FRAMED.into_iter().zip(drawn) {
        assert_eq!(file(framing, &[b"abc".to_vec()]), drawn, "{framing:?}");
    }
}

#[test]
fn a_file_that_ends_inside_a_frame_says_where() {
    let mut file = file(Framing::U32Le, &[b"abc".to_vec()]);
    file.extend_from_slice(&[5, 0, 0, 0, b'x']);
    let mut frames = Frames::new(Framing::U32Le, &file);
    let first = frames.next().expect("a packet").expect("whole");
    assert_eq!((first.offset, first.packet), (4, &b"abc"[..]));
    let error = FramingError::TruncatedPacket {
        offset: 7,
        announced: 5,
        available: 1,
    };
    assert_eq!(frames.next(), Some(Err(error)));
    assert_eq!(frames.next(), None);
    let error = FramingError::TruncatedHeader {
        offset: 7,
        available: 2,
    };
    assert_eq!(
        Frames::new(Framing::U32Le, &file[..9]).last(),
        Some(Err(error))
    );
}

#[test]
fn a_length_no_packet_can_have_is_refused_before_anything_is_read() {
    let error = FramingError::TooLong {
        offset: 0,
        announced: u32::MAX,
        max: MAX_PACKET_LEN,
    };
    assert_eq!(
        Frames::new(Framing::U32Le, &[0xFF; 64]).next(),
        Some(Err(error))
    );
    for (framing, max) in [
        (Framing::U32Le, MAX_PACKET_LEN),
        (Framing::BlockSize, MAX_BLOCK_LEN),
        (Framing::Step, step::MAX_DATA_LEN),
    ] {
        let mut file = vec![1];
        let long = vec![0; max + 1];
        assert!(framing.append(PacketNumber(0), &long, &mut file).is_err());
        assert_eq!(file, [1]);
        let appended = framing.append(PacketNumber(0), &long[1..], &mut file);
        appended.expect("as long as it may be");
        assert_eq!(read(framing, &file[1..]), [&long[1..]], "{framing:?}");
    }
}

#[test]
fn d12_an_empty_block_is_an_error_and_the_next_block_is_read() {
    let frames: Vec<_> = Frames::new(Framing::BlockSize, b"\x81a\x00\x80\x82bc").collect();
    let block = |offset, packet| Ok(Frame { offset, packet });
    let error = FramingError::BlockSize {
        offset: 2,
        code: Code::D12,
    };
    assert_eq!(frames, [block(1, &b"a"[..]), Err(error), block(5, b"bc")]);
}

#[test]
fn d2_a_block_size_of_more_than_32_bits_ends_the_file() {
    let frames: Vec<_> = Frames::new(Framing::BlockSize, b"\x10\x00\x00\x00\x80\x81a").collect();
    let error = FramingError::BlockSize {
        offset: 0,
        code: Code::D2,
    };
    assert_eq!(frames, [Err(error)]);
}

#[test]
fn a_stream_of_step_messages_goes_on_after_garbage() {
    let message = |text: &str| file(Framing::Step, &[text.into()]);
    let mut broken = message("broken");
    broken[20] ^= 1;
    let stream = [
        message("one"),
        b"no message".to_vec(),
        message("two"),
        broken.clone(),
        message("three"),
        b"8=STEP.1.0.0\x019=99".to_vec(),
    ]
    .concat();
    let mut packets = Vec::new();
    let mut skipped = Vec::new();
    for frame in Frames::new(Framing::Step, &stream) {
        match frame {
            Ok(frame) => {
                let end = frame.offset + frame.packet.len();
                assert_eq!(stream.get(frame.offset..end), Some(frame.packet));
                packets.push(frame.packet.to_vec());
            }
            Err(FramingError::Step { skipped: len, .. }) => skipped.push(len),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(packets, [&b"one"[..], b"two", b"three"]);
    assert_eq!(skipped, [10, broken.len(), 17]);
}

proptest! {
    #[test]
    fn what_is_framed_is_read_back(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 0..16)) {
        for framing in FRAMED {
            prop_assert_eq!(read(framing, &file(framing, &packets)), &packets[..]);
        }
        let whole = file(Framing::None, &packets);
        prop_assert_eq!(read(Framing::None, &whole).concat(), whole);
    }

    /// A stream comes in pieces: what is whole is read once, what is not is kept.
    #[test]
    fn a_stream_is_read_however_it_is_cut(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..60), 0..8),
        cuts in prop::collection::vec(1..50usize, 1..64),
        garbage in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        for framing in FRAMED {
            let mut stream = file(framing, &packets);
            if framing == Framing::Step && !garbage.windows(2).any(|pair| pair == b"8=") && garbage.last() != Some(&b'8') {
                stream.splice(0..0, garbage.iter().copied());
            }
            let (mut kept, mut read) = (Vec::new(), Vec::new());
            let mut rest = &stream[..];
            for cut in cuts.iter().copied().cycle() {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                kept.extend_from_slice(piece);
                let mut frames = Frames::of_stream(framing, &kept);
                read.extend(frames.by_ref().flatten().map(|frame| frame.packet.to_vec()));
                let consumed = frames.consumed();
                kept.drain(..consumed);
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(&read, &packets, "{:?}", framing);
            prop_assert!(kept.is_empty());
        }
    }

    /// Whatever a file holds, reading it ends, and what is found in it lies in it, in order.
    #[test]
    fn any_bytes_end_in_packets_and_errors(
        parts in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            Just(b"8=STEP.1.0.0\x019=".to_vec()),
            Just(b"95=3\x0196=abc\x0110=000\x01".to_vec()),
            Just(file(Framing::Step, &[b"sound".to_vec()])),
        ], 0..8),
    ) {
        let bytes = parts.concat();
        for framing in FRAMED {
            let mut at = 0;
            for frame in Frames::new(framing, &bytes).flatten() {
                prop_assert!(frame.offset >= at);
                at = frame.offset + frame.packet.len();
                prop_assert_eq!(bytes.get(frame.offset..at), Some(frame.packet));
            }
            let mut frames = Frames::of_stream(framing, &bytes);
            prop_assert!(frames.by_ref().count() <= bytes.len());
            prop_assert!(frames.consumed() <= bytes.len());
        }
    }
}
