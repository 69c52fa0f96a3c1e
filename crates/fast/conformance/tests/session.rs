//! Templates that travelled as messages (SCP 1.1) read the same bytes as those that were sent.

use proptest::prelude::*;
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, Mode, Templates, json, session};
use tickwire_fast_conformance::{Choices, Messages, Shape, Spelling, templates};

/// The templates that a receiver makes of messages.
fn exchanged(templates: &Templates) -> Templates {
    let mut encoder = Encoder::new(session::templates());
    let mut decoder = Decoder::new(session::templates());
    let mut received = session::Received::default();
    let (mut message, mut bytes) = (Message::new(), Vec::new());
    for definition in session::definitions(templates).unwrap() {
        bytes.clear();
        encoder.encode(&definition, &mut bytes).unwrap();
        decoder.decode(&bytes, &mut message).unwrap();
        assert_eq!(received.take(&message), Ok(true));
    }
    let (templates, refused) = received.templates();
    assert_eq!(refused, [], "{}", received.xml());
    templates
}

fn text(message: &Message) -> String {
    let mut text = String::new();
    json::write(message, &mut text).unwrap();
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn templates_survive_the_exchange(seed: u64) {
        let xml = templates(&mut Choices::from_seed(seed), Shape::Standard, Spelling::Standard);
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        // That id is the session's own.
        prop_assume!(templates.by_id(session::RESET).is_none());
        let received = exchanged(&templates);
        let strict = DecoderOptions { strict: true, ..DecoderOptions::default() };
        let mut encoder = Encoder::new(&templates);
        let mut decoder = Decoder::with_options(&templates, strict);
        let mut its_decoder = Decoder::with_options(&received, strict);
        let mut messages = Messages::new(&templates, Shape::Standard, Choices::from_seed(!seed));
        let (mut message, mut again, mut bytes) = (Message::new(), Message::new(), Vec::new());
        for _ in 0..20 {
            messages.fill(&mut message).unwrap();
            bytes.clear();
            if encoder.encode(&message, &mut bytes).is_err() {
                encoder.reset();
                decoder.reset();
                its_decoder.reset();
                continue;
            }
            prop_assert_eq!(decoder.decode(&bytes, &mut message), Ok(bytes.len()));
            prop_assert_eq!(its_decoder.decode(&bytes, &mut again), Ok(bytes.len()), "{}\n{}", xml, session_xml(&templates));
            prop_assert_eq!(text(&again), text(&message), "{}", xml);
        }
    }
}

/// What the receiver made of the messages, for people.
fn session_xml(templates: &Templates) -> String {
    let mut received = session::Received::default();
    for definition in session::definitions(templates).unwrap() {
        received.take(&definition).unwrap();
    }
    received.xml()
}
