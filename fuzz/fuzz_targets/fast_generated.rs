//! Any bytes, or messages with a few bytes changed, for generated code and the interpreter: the
//! same values, the same errors, the same state after them, the same bytes when encoded again. The first byte chooses the
//! templates, the second options.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, ResetPolicy, Templates};
use tickwire_fast_conformance::generated::{FILES, Generated, debug_text, plain_debug};
use tickwire_fast_conformance::{Choices, Messages};

static TEMPLATES: LazyLock<Vec<Templates>> =
    LazyLock::new(|| FILES.iter().map(Generated::templates).collect());

fuzz_target!(|input: &[u8]| {
    let [file, choice, packet @ ..] = input else {
        return;
    };
    let number = usize::from(*file) % FILES.len();
    let (file, templates) = (&FILES[number], &TEMPLATES[number]);
    let reset = [
        ResetPolicy::Packet,
        ResetPolicy::Message,
        ResetPolicy::Template,
        ResetPolicy::Never,
    ][usize::from(choice & 3)];
    let options = DecoderOptions {
        reset,
        strict: choice & 4 != 0,
        budget: 1 << 16,
        ..DecoderOptions::default()
    };
    let mut interpreted = Decoder::with_options(templates, options);
    let mut generated = (file.codec)(options);
    let mut again = Encoder::with_reset(templates, reset);
    let (mut message, mut out) = (Message::new(), Vec::new());
    // The bytes that one message takes, by both.
    let mut decode = |bytes: &[u8], message: &mut Message| {
        let expected = interpreted.decode(bytes, message);
        assert_eq!(generated.decode(bytes), expected);
        match expected {
            Err(_) => assert_eq!(generated.text(), ""),
            Ok(_) if message.template().is_none() => assert_eq!(generated.text(), "reset"),
            Ok(_) => {
                assert_eq!(plain_debug(generated.text()), debug_text(message));
                out.clear();
                let encoded = again.encode(message, &mut out).map(|()| &out[..]);
                assert_eq!(generated.encoded(), encoded.as_deref());
                if encoded.is_err() {
                    again.reset();
                    generated.reset_encoder();
                }
            }
        }
        expected
    };
    if choice & 8 == 0 {
        let mut rest = packet;
        while !rest.is_empty() {
            // After an error the state is lost; go on with that.
            let consumed = decode(rest, &mut message).unwrap_or(1);
            rest = &rest[consumed..];
        }
        return;
    }
    let mut encoder = Encoder::with_reset(templates, reset);
    let mut messages = Messages::new(templates, file.shape, Choices::from_bytes(packet));
    let mut bytes = Vec::new();
    while !messages.choices.is_empty() {
        messages
            .fill(&mut message)
            .expect("values suit the template");
        bytes.clear();
        if encoder.encode(&message, &mut bytes).is_err() {
            encoder.reset();
        }
        if messages.choices.one_in(4) {
            messages.choices.damage(&mut bytes);
        }
        let _ = decode(&bytes, &mut message);
    }
});
