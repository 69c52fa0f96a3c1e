//! Any bytes as a packet, under a template set that has every field type, operator, dictionary,
//! group, sequence and reference; the first byte chooses options.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, Mode, ResetPolicy, Templates};

static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
    Templates::parse(
        include_str!("../seeds/template_xml/everything.xml"),
        Mode::Lenient,
    )
    .expect("our own templates load")
});

fuzz_target!(|input: &[u8]| {
    let Some((&choice, packet)) = input.split_first() else {
        return;
    };
    let options = DecoderOptions {
        reset: [
            ResetPolicy::Packet,
            ResetPolicy::Message,
            ResetPolicy::Template,
            ResetPolicy::Never,
        ][usize::from(choice & 3)],
        strict: choice & 4 != 0,
        budget: 1 << 16,
        ..DecoderOptions::default()
    };
    let mut decoder = Decoder::with_options(&TEMPLATES, options);
    let mut encoder = Encoder::new(&TEMPLATES);
    let mut message = Message::new();
    let mut rest = packet;
    while !rest.is_empty() {
        let Ok(consumed) = decoder.decode(rest, &mut message) else {
            break;
        };
        assert!((1..=rest.len()).contains(&consumed));
        rest = &rest[consumed..];

        // What was decoded can be encoded, and says the same when decoded again.
        let mut bytes = Vec::new();
        encoder.reset();
        if encoder.encode(&message, &mut bytes).is_ok() {
            let mut again = Message::new();
            Decoder::with_options(
                &TEMPLATES,
                DecoderOptions {
                    budget: 1 << 16,
                    ..Default::default()
                },
            )
            .decode(&bytes, &mut again)
            .expect("an encoded message decodes");
            assert_eq!(message, again);
        }
    }
});
