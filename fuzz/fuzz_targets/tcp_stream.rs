//! Any bytes of a TCP stream, arriving in any pieces: the first of the input says how long these are.
//! The messages are those of the stream in one piece, and what is kept between pieces is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_transport::tcp::{Frames, Hello, Whole};

const MAX_LEN: usize = 300;

fn messages(stream: &[u8], pieces: impl Iterator<Item = usize>) -> (Vec<Vec<u8>>, bool) {
    let (mut kept, mut came, mut rest) = (Vec::new(), Vec::new(), stream);
    for len in pieces {
        let (piece, after) = rest.split_at(len.min(rest.len()));
        rest = after;
        kept.extend_from_slice(piece);
        let whole = Whole::of(&kept, MAX_LEN);
        came.extend(Frames::of(&kept[..whole.len]).map(<[u8]>::to_vec));
        if whole.is_broken {
            return (came, true);
        }
        kept.drain(..whole.len);
        assert!(
            kept.len() < 4 + MAX_LEN,
            "only the beginning of one message is kept"
        );
        if rest.is_empty() {
            break;
        }
    }
    (came, false)
}

fuzz_target!(|input: &[u8]| {
    let Some((&count, rest)) = input.split_first() else {
        return;
    };
    let (lens, stream) = rest.split_at(usize::from(count).min(rest.len()));
    let pieces = lens.iter().map(|&len| usize::from(len)).chain([usize::MAX]);
    let in_one = messages(stream, [usize::MAX].into_iter());
    assert_eq!(messages(stream, pieces), in_one);
    for message in in_one.0.iter().map(Vec::as_slice).chain([stream]) {
        if let Ok(hello) = Hello::parse(message) {
            assert_eq!(Hello::parse(&hello.to_bytes()), Ok(hello));
        }
    }
});
