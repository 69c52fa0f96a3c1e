//! Any values for random templates, then messages that suit them: what is encoded, decodes to the
//! same; what is refused, leaves nothing behind.
#![no_main]

#[path = "../fast.rs"]
mod fast;

use libfuzzer_sys::fuzz_target;
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message};
use tickwire_fast_conformance::{Choices, Messages, is_within, scribble};

fuzz_target!(|input: &[u8]| {
    let (shape, templates, rest) = fast::random(input);
    let options = DecoderOptions {
        strict: true,
        ..DecoderOptions::default()
    };
    let mut decoder = Decoder::with_options(&templates, options);
    let mut encoder = Encoder::new(&templates);
    let mut messages = Messages::new(&templates, shape, Choices::from_bytes(rest));
    let (mut message, mut decoded, mut bytes) = (Message::new(), Message::new(), vec![7]);
    while !messages.choices.is_empty() {
        if messages.choices.one_in(2) {
            messages
                .fill(&mut message)
                .expect("values suit the template");
        } else {
            scribble(&templates, &mut messages.choices, &mut message);
        }
        bytes.truncate(1);
        if encoder.encode(&message, &mut bytes).is_err() {
            assert_eq!(bytes, [7], "nothing is appended");
            encoder.reset();
            decoder.reset();
            continue;
        }
        let consumed = decoder.decode(&bytes[1..], &mut decoded);
        assert_eq!(consumed, Ok(bytes.len() - 1), "{message:?}");
        assert_eq!(message.template(), decoded.template());
        assert!(
            is_within(message.record(), decoded.record()),
            "{message:?} {decoded:?}"
        );
    }
});
