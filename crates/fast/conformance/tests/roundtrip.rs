//! Random messages of random templates: what is encoded is decoded, in the fewest bytes, and encodes to the same bytes
//! again; damaged bytes give an error with its place.

use proptest::prelude::*;
use tickwire_fast::{Code, Decoder, DecoderOptions, Encoder, Message, Mode, Templates, json};
use tickwire_fast_conformance::{Choices, Messages, Shape, Spelling, is_within, templates};

/// What a well-typed message can still fail with: a tail that would have to shorten, a mantissa under a constant, an
/// entry that another field of the same key emptied or gave another type.
const REFUSALS: [Code; 4] = [Code::Unencodable, Code::D3, Code::D4, Code::D6];
const MESSAGES: usize = 20;

/// A decoder of bytes that may be damaged: a length that says too much ends early.
fn wary(templates: &Templates, strict: bool) -> Decoder {
    let options = DecoderOptions {
        strict,
        budget: 1 << 16,
        ..DecoderOptions::default()
    };
    Decoder::with_options(templates, options)
}

fn made(seed: u64) -> (Shape, String, Templates) {
    let shape = [Shape::Standard, Shape::Extension, Shape::Dialect][(seed % 3) as usize];
    let mode = match shape {
        Shape::Dialect => Mode::Lenient,
        _ => Mode::Strict,
    };
    let xml = templates(&mut Choices::from_seed(seed), shape, Spelling::Standard);
    let templates = Templates::parse(&xml, mode).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    (shape, xml, templates)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_decoded_and_encodes_the_same(seed: u64) {
        let (shape, xml, templates) = made(seed);
        let mut messages = Messages::new(&templates, shape, Choices::from_seed(!seed));
        let (mut encoder, mut again) = (Encoder::new(&templates), Encoder::new(&templates));
        // What was encoded may be as long as it likes.
        let options = DecoderOptions { strict: true, budget: u32::MAX, ..DecoderOptions::default() };
        let mut decoder = Decoder::with_options(&templates, options);
        let (mut message, mut decoded) = (Message::new(), Message::new());
        let (mut bytes, mut repeated) = (Vec::new(), Vec::new());
        for _ in 0..MESSAGES {
            messages.fill(&mut message).unwrap();
            bytes.clear();
            repeated.clear();
            if let Err(error) = encoder.encode(&message, &mut bytes) {
                prop_assert!(REFUSALS.contains(&error.code), "{error}\n{xml}\n{message:?}");
                prop_assert!(bytes.is_empty());
                encoder.reset();
                again.reset();
                decoder.reset();
                continue;
            }
            let consumed = decoder.decode(&bytes, &mut decoded);
            prop_assert_eq!(&consumed, &Ok(bytes.len()), "{}\n{:02x?}\n{:?}", xml, bytes, message);
            // Mandatory constants that were left out are there now.
            prop_assert!(says(&message, &decoded), "{xml}\n{message:?}\n{decoded:?}");
            prop_assert_eq!(again.encode(&decoded, &mut repeated), Ok(()));
            prop_assert_eq!(&repeated, &bytes, "{}\n{:?}", xml, message);
        }
    }

    #[test]
    fn damage_is_found_or_makes_another_message(seed: u64, noise: Vec<u8>) {
        let (shape, _, templates) = made(seed);
        let mut messages = Messages::new(&templates, shape, Choices::from_seed(!seed));
        let (mut message, mut decoded) = (Message::new(), Message::new());
        let (mut bytes, mut text) = (Vec::new(), String::new());
        for strict in [false, true] {
            let (mut encoder, mut decoder) = (Encoder::new(&templates), wary(&templates, strict));
            if let Err(error) = decoder.decode_packet(&noise, &mut decoded) {
                prop_assert!(error.offset <= noise.len());
            }
            for round in 0..8 {
                messages.fill(&mut message).unwrap();
                encoder.reset();
                bytes.clear();
                if encoder.encode(&message, &mut bytes).is_ok() {
                    messages.choices.damage(&mut bytes);
                }
                if round % 3 == 0 {
                    decoder.reset();
                }
                match decoder.decode(&bytes, &mut decoded) {
                    Ok(consumed) => {
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
                    Err(error) => {
                        prop_assert!(error.offset <= bytes.len(), "{error}");
                        prop_assert!(error.template.is_some() || error.field.is_none(), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_message_cut_short_is_truncated(seed: u64) {
        let (shape, xml, templates) = made(seed);
        let mut messages = Messages::new(&templates, shape, Choices::from_seed(!seed));
        let (mut encoder, mut decoder) = (Encoder::new(&templates), wary(&templates, true));
        let (mut message, mut bytes) = (Message::new(), Vec::new());
        messages.fill(&mut message).unwrap();
        if encoder.encode(&message, &mut bytes).is_ok() {
            for len in 0..bytes.len() {
                decoder.reset();
                let error = decoder.decode(&bytes[..len], &mut ()).unwrap_err();
                prop_assert!(error.offset <= len, "{error}");
                // A delta that is not there would have been on an entry of another type.
                prop_assert!(matches!(error.code, Code::Truncated | Code::D4 | Code::D6), "{error}\n{bytes:02x?}\n{xml}");
            }
        }
    }

    #[test]
    fn template_text_never_panics(seed: u64) {
        let mut choices = Choices::from_seed(seed);
        let mut xml = templates(&mut choices, Shape::Dialect, Spelling::Standard).into_bytes();
        choices.damage(&mut xml);
        let xml = String::from_utf8_lossy(&xml);
        for mode in [Mode::Strict, Mode::Lenient] {
            if let Err(error) = Templates::parse(&xml, mode) {
                prop_assert!(error.line > 0 && error.column > 0);
            }
        }
    }
}

/// Whether every value of `message` is in `decoded`.
fn says(message: &Message, decoded: &Message) -> bool {
    message.template() == decoded.template() && is_within(message.record(), decoded.record())
}
