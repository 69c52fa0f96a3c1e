//! What the FAST targets share.

use tickwire_fast::{
    Code, Decoder, DecoderOptions, Encoder, Message, Mode, ResetPolicy, Templates, json,
};
use tickwire_fast_conformance::{Choices, Shape, Spelling, templates};

/// Templates that the beginning of `input` chooses, their shape, and the rest.
#[allow(dead_code, reason = "not every target has random templates")]
pub fn random(input: &[u8]) -> (Shape, Templates, &[u8]) {
    let (len, input) = input.split_first().unwrap_or((&0, &[]));
    let (chosen, rest) = input.split_at(usize::from(*len).min(input.len()));
    let mut choices = Choices::from_bytes(chosen);
    let shape = choices.of(&[Shape::Standard, Shape::Extension, Shape::Dialect]);
    let mode = match shape {
        Shape::Dialect => Mode::Lenient,
        _ => Mode::Strict,
    };
    let xml = templates(&mut choices, shape, Spelling::Standard);
    let templates = Templates::parse(&xml, mode).expect("random templates are valid");
    (shape, templates, rest)
}

/// Decodes a packet message by message until one is wrong; whatever was decoded can be encoded, and says the same when
/// it is decoded again.
#[allow(dead_code, reason = "not every target decodes any bytes")]
pub fn decode(templates: &Templates, choice: u8, packet: &[u8]) {
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
    let mut decoder = Decoder::with_options(templates, options);
    let mut encoder = Encoder::new(templates);
    let (mut message, mut again) = (Message::new(), Message::new());
    let (mut bytes, mut text) = (Vec::new(), String::new());
    let mut rest = packet;
    while !rest.is_empty() {
        let template = decoder
            .next_template(rest)
            .map(|template| template.name().to_owned());
        match decoder.decode(rest, &mut message) {
            Ok(consumed) => {
                assert!((1..=rest.len()).contains(&consumed));
                assert_eq!(
                    message.template().map(|template| template.name()),
                    template.as_deref()
                );
                rest = &rest[consumed..];
            }
            Err(error) => {
                assert!(error.offset <= rest.len(), "{error}");
                break;
            }
        }
        text.clear();
        json::write(&message, &mut text).expect("a string takes what is written");
        bytes.clear();
        encoder.reset();
        match encoder.encode(&message, &mut bytes) {
            Ok(()) => {
                let consumed = Decoder::new(templates).decode(&bytes, &mut again);
                assert_eq!(consumed, Ok(bytes.len()));
                assert_eq!(message, again);
            }
            Err(error) => assert!(REFUSALS.contains(&error.code), "{error}"),
        }
    }
}

/// What a decoded message cannot always be encoded for, from a fresh start: it may be the session's reset message, have
/// a value that a tail had to shorten or a mantissa that followed from others, or share an entry with a field of
/// another type or without a value.
const REFUSALS: [Code; 5] = [
    Code::Foreign,
    Code::Unencodable,
    Code::D3,
    Code::D4,
    Code::D6,
];
