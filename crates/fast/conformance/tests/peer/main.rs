//! The crate fastlib, written by others, as a witness: what we encode it decodes to the same values, and what it encodes
//! we do. Where the two disagree, `disagreements` shows the bytes and the rule that decides.

mod disagreements;
mod events;
mod golden;

use events::{Collected, Offered, events};
use proptest::prelude::*;
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, Mode, Templates};
use tickwire_fast_conformance::{Choices, Messages, Shape, Spelling, templates};

const MESSAGES: usize = 20;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_read_what_the_other_wrote(seed: u64) {
        let shape = [Shape::Peer, Shape::PeerDecoder][(seed % 2) as usize];
        let xml = templates(&mut Choices::from_seed(seed), shape, Spelling::Peer);
        let standard = templates(&mut Choices::from_seed(seed), shape, Spelling::Standard);
        let templates = Templates::parse(&standard, Mode::Strict).unwrap();
        let mut messages = Messages::new(&templates, shape, Choices::from_seed(!seed));
        let strict = DecoderOptions { strict: true, ..DecoderOptions::default() };
        let (mut encoder, mut decoder) = (Encoder::new(&templates), Decoder::with_options(&templates, strict));
        let mut its_decoder = fastlib::Decoder::new_from_xml(&xml).map_err(|e| TestCaseError::fail(format!("{e}\n{xml}")))?;
        let mut its_encoder = fastlib::Encoder::new_from_xml(&xml).unwrap();
        let (mut message, mut decoded, mut bytes) = (Message::new(), Message::new(), Vec::new());
        for _ in 0..MESSAGES {
            messages.fill(&mut message).unwrap();
            bytes.clear();
            if encoder.encode(&message, &mut bytes).is_err() {
                encoder.reset();
                decoder.reset();
                its_decoder.reset();
                its_encoder.reset();
                continue;
            }
            prop_assert_eq!(decoder.decode(&bytes, &mut decoded), Ok(bytes.len()));
            let mut collected = Collected::default();
            its_decoder.decode_slice(&bytes, &mut collected)
                .map_err(|e| TestCaseError::fail(format!("{e}\n{xml}\n{decoded:?}\n{bytes:02x?}")))?;
            prop_assert_eq!(collected.events(), events(&decoded), "{}\n{:02x?}", xml, bytes);
            if shape == Shape::PeerDecoder {
                continue;
            }
            let its = its_encoder.encode_vec(&mut Offered::new(&decoded))
                .map_err(|e| TestCaseError::fail(format!("{e}\n{xml}\n{decoded:?}")))?;
            // Ours are the fewest. There may be as few in another way: string deltas from the other end.
            if bytes.len() == its.len() && !xml.contains("<delta") {
                prop_assert_eq!(&its, &bytes[..], "{}\n{:?}", xml, decoded);
            }
            prop_assert!(bytes.len() <= its.len(), "{xml}\n{decoded:?}\n{bytes:02x?}\n{its:02x?}");
        }
    }
}
