//! Generated code does what the interpreter does: the same values and bytes, the same errors at the same places, the
//! same state after them.

use proptest::prelude::*;
use tickwire_fast::{Code, Decoder, DecoderOptions, Encoder, Message, ResetPolicy, Templates};
use tickwire_fast_conformance::generated::{FILES, debug_text, plain_debug};
use tickwire_fast_conformance::{Choices, Messages};

/// The templates of the simple feed, as a user has them.
#[allow(dead_code, unreachable_pub, reason = "as a user has it")]
mod simple {
    include!(concat!(env!("OUT_DIR"), "/simple.rs"));
}

/// Encodes each message again.
#[derive(Clone)]
struct Again(simple::Encoder, Vec<u8>);

impl simple::Handler for Again {
    fn quote(&mut self, message: &simple::Quote) {
        self.0.encode(message, &mut self.1).unwrap();
    }
}

#[test]
fn clones_go_on_from_where_the_original_is() {
    let mut message = simple::Quote::default();
    let (mut encoder, mut bytes) = (simple::Encoder::new(), Vec::new());
    encoder.encode(&message, &mut bytes).unwrap();
    let first = bytes.len();
    message.price += 1;
    encoder.encode(&message, &mut bytes).unwrap();
    let mut decoder = simple::Decoder::new();
    let mut again = Again(simple::Encoder::new(), Vec::new());
    decoder.decode(&bytes, &mut again).unwrap();
    let (snapshot, mut other) = (decoder.clone(), again.clone());
    // The second message needs what the first has left, and leaves something else.
    for mut decoder in [decoder, snapshot] {
        let len = decoder.decode(&bytes[first..], &mut other).unwrap();
        assert_eq!(len, bytes.len() - first);
        assert_eq!(other.1, bytes);
        other = again.clone();
    }
}

#[test]
fn there_are_enough_files() {
    assert!(FILES.len() >= 24, "{}", FILES.len());
}

/// Two outer elements with three inner ones each, two elements whose bytes pay for most, an inner message of text, and
/// of the strings after it one that is all sent and one whose tail is.
#[test]
fn a_budget_is_used_up_by_the_same_values() {
    let file = FILES.iter().find(|file| file.name == "heavy").unwrap();
    let templates = Templates::parse(file.xml, file.mode).unwrap();
    let bytes = [
        0xf0, 0x81, 0x82, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0x82, 0x85, 0x86, 0x81, 0xc0, 0x82,
        0xd8, 0xd8,
    ];
    let results = (0..).map(|budget| {
        let options = DecoderOptions {
            budget,
            ..DecoderOptions::default()
        };
        let expected =
            Decoder::with_options(&templates, options).decode(&bytes, &mut Message::new());
        assert_eq!((file.codec)(options).decode(&bytes), expected, "{budget}");
        expected
    });
    let refused: Vec<_> = results.map_while(Result::err).collect();
    let refusals = refused
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0].to_string(), same.len()));
    let expected = [
        ("byte 3, template Nested, field Outer", 4),
        ("byte 3, template Nested, field Outer.Inner, element 0", 186),
        ("byte 6, template Nested, field Outer.Inner, element 1", 186),
        ("byte 10, template Nested, field Paid", 8),
        (
            "byte 15, template Text, field Texts.templateRef, element 0",
            58,
        ),
        ("byte 15, template Text, field Copied, element 0", 6),
        ("byte 17, template Nested, field Tail", 11),
    ];
    let limit = |(place, budgets)| (format!("{place}: {}", Code::Limit), budgets);
    assert!(refusals.eq(expected.map(limit)), "{refused:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_is_interpreted(seed: u64, policy in 0usize..4, strict: bool) {
        for file in FILES {
            let templates = file.templates();
            let reset = [ResetPolicy::Packet, ResetPolicy::Message, ResetPolicy::Template, ResetPolicy::Never][policy];
            let options = DecoderOptions { reset, strict, budget: 1 << 16, ..DecoderOptions::default() };
            let mut interpreted = Decoder::with_options(&templates, options);
            let mut generated = (file.codec)(options);
            // One for new messages, one for what was decoded.
            let (mut encoder, mut again) =
                (Encoder::with_reset(&templates, reset), Encoder::with_reset(&templates, reset));
            let mut messages = Messages::new(&templates, file.shape, Choices::from_seed(seed));
            let (mut message, mut bytes, mut out) = (Message::new(), Vec::new(), Vec::new());
            for _ in 0..12 {
                messages.fill(&mut message).unwrap();
                bytes.clear();
                let damaged = messages.choices.one_in(6);
                let encoded = if messages.choices.one_in(12) {
                    encoder.encode_reset(&mut bytes);
                    Ok(())
                } else {
                    encoder.encode(&message, &mut bytes)
                };
                if damaged {
                    messages.choices.damage(&mut bytes);
                }
                let expected = interpreted.decode(&bytes, &mut message);
                let done = generated.decode(&bytes);
                prop_assert_eq!(&done, &expected, "{} {:02x?}\n{}", file.name, bytes, file.xml);
                if done.is_err() {
                    prop_assert_eq!(generated.text(), "");
                } else if message.template().is_none() {
                    prop_assert_eq!(generated.text(), "reset");
                    out.clear();
                    again.encode_reset(&mut out);
                    prop_assert_eq!(generated.encoded(), Ok(&out[..]), "{}", file.name);
                } else {
                    prop_assert_eq!(plain_debug(generated.text()), debug_text(&message), "{} {:02x?}\n{}", file.name, bytes, file.xml);
                    out.clear();
                    let expected = again.encode(&message, &mut out).map(|()| &out[..]);
                    prop_assert_eq!(generated.encoded(), expected.as_deref(), "{} {}\n{}", file.name, generated.text(), file.xml);
                    if expected.is_err() {
                        again.reset();
                        generated.reset_encoder();
                    }
                }
                // After an error both have lost their state; some go on with that.
                if encoded.is_err() || done.is_err() && messages.choices.one_in(2) {
                    encoder.reset();
                    interpreted.reset();
                    generated.reset();
                } else if messages.choices.one_in(12) {
                    interpreted.lose();
                    generated.lose();
                }
            }
        }
    }
}
