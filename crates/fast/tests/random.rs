//! Random messages of random templates survive encoding and decoding; random bytes never panic.

mod generate;

use generate::Generator;
use proptest::prelude::*;
use tickwire_fast::{Code, Decoder, DecoderOptions, Encoder, Message, Mode, Templates, json};

fn strict(templates: &Templates) -> Decoder {
    let options = DecoderOptions {
        strict: true,
        budget: 1 << 16,
        ..DecoderOptions::default()
    };
    Decoder::with_options(templates, options)
}

/// What a well-typed message can still fail with: a tail that would have to shorten, a fixed exponent, an entry that
/// another field of the same key emptied or gave another type.
const REFUSALS: [Code; 4] = [Code::Unencodable, Code::D3, Code::D4, Code::D6];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_decoded(seed: u64, size in 1u32..12) {
        let mut generator = Generator::new(seed);
        let specs = generator.specs(size);
        let xml = generate::xml(&specs);
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        let template = templates.by_name("T").unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&templates), strict(&templates));
        let mut bytes = Vec::new();
        let (mut message, mut decoded) = (Message::new(), Message::new());
        for _ in 0..20 {
            generator.fill(&specs, &mut message.build(template)).unwrap();
            bytes.clear();
            if let Err(error) = encoder.encode(&message, &mut bytes) {
                prop_assert!(REFUSALS.contains(&error.code), "{error}\n{xml}\n{message:?}");
                prop_assert!(bytes.is_empty());
                encoder.reset();
                decoder.reset();
                continue;
            }
            let consumed = decoder.decode(&bytes, &mut decoded);
            prop_assert_eq!(&consumed, &Ok(bytes.len()), "{}\n{:02x?}\n{:?}", xml, bytes, message);
            prop_assert!(message == decoded, "{xml}\n{message:?}\n{decoded:?}");
        }
    }

    #[test]
    fn bytes_never_panic(seed: u64, size in 1u32..12, noise: Vec<u8>) {
        let mut generator = Generator::new(seed);
        let specs = generator.specs(size);
        let templates = Templates::parse(&generate::xml(&specs), Mode::Strict).unwrap();
        let template = templates.by_name("T").unwrap();
        let (mut message, mut decoded, mut bytes, mut text) = (Message::new(), Message::new(), Vec::new(), String::new());
        for mut decoder in [strict(&templates), Decoder::new(&templates)] {
            let mut encoder = Encoder::new(&templates);
            let _ = decoder.decode_packet(&[&[0xe0, 0x81][..], &noise].concat(), &mut decoded);
            for round in 0..8 {
                generator.fill(&specs, &mut message.build(template)).unwrap();
                encoder.reset();
                bytes.clear();
                if encoder.encode(&message, &mut bytes).is_ok() {
                    generator.damage(&mut bytes);
                }
                if round % 3 == 0 {
                    decoder.reset();
                }
                if let Ok(consumed) = decoder.decode(&bytes, &mut decoded) {
                    prop_assert!((1..=bytes.len()).contains(&consumed));
                    text.clear();
                    json::write(&decoded, &mut text).unwrap();
                    if decoded.template().is_none() {
                        // The damage made it the session's reset message.
                        continue;
                    }
                    // Whatever was decoded can be encoded, from the same state or from none.
                    encoder.reset();
                    bytes.clear();
                    if let Err(error) = encoder.encode(&decoded, &mut bytes) {
                        prop_assert!(REFUSALS.contains(&error.code), "{error} {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn template_text_never_panics(seed: u64, size in 1u32..6) {
        let mut generator = Generator::new(seed);
        let mut xml = generate::xml(&generator.specs(size)).into_bytes();
        generator.damage(&mut xml);
        let xml = String::from_utf8_lossy(&xml);
        for mode in [Mode::Strict, Mode::Lenient] {
            if let Err(error) = Templates::parse(&xml, mode) {
                prop_assert!(error.line > 0 && error.column > 0);
            }
        }
    }
}
