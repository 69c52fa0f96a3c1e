//! Any bytes as messages of the session control protocol, and what a receiver makes of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_fast::{Decoder, DecoderOptions, Message, session};

fuzz_target!(|bytes: &[u8]| {
    let options = DecoderOptions {
        budget: 1 << 16,
        ..DecoderOptions::default()
    };
    let mut decoder = Decoder::with_options(session::templates(), options);
    let mut received = session::Received::default();
    let mut message = Message::new();
    let mut rest = bytes;
    while let Ok(consumed) = decoder.decode(rest, &mut message) {
        let _ = received.take(&message);
        rest = &rest[consumed..];
    }
    // A name that is none, or an operator that does not suit, is found here.
    let (templates, _) = received.templates();
    let _ = session::definitions(&templates);
});
