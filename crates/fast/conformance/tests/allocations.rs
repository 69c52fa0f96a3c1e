//! Generated code allocates nothing once it has seen the largest message: neither decoders nor encoders.

#![allow(
    unsafe_code,
    reason = "a counting allocator implements an unsafe trait"
)]

#[path = "../../tests/common/counting.rs"]
mod counting;

use std::fs;

use counting::allocations;
use tickwire_fast::{Encoder, Message, Mode, Templates};
use tickwire_fast_conformance::{Choices, Messages, Shape};

/// The templates of the complex feed, as a user has them.
#[allow(dead_code, unreachable_pub, reason = "as a user has it")]
mod complex {
    include!(concat!(env!("OUT_DIR"), "/complex.rs"));
}

/// Encodes each message again.
struct Again {
    encoder: complex::Encoder,
    bytes: Vec<u8>,
}

impl complex::Handler for Again {
    fn done(&mut self, message: &complex::Done) {
        self.encoder.encode(message, &mut self.bytes).unwrap();
    }

    fn market_data(&mut self, message: &complex::MarketData) {
        self.encoder.encode(message, &mut self.bytes).unwrap();
    }

    fn quote_request(&mut self, message: &complex::QuoteRequest) {
        self.encoder.encode(message, &mut self.bytes).unwrap();
    }
}

#[test]
fn none_after_warm_up() {
    let xml = fs::read_to_string("../../feed/templates/complex.xml").unwrap();
    let templates = Templates::parse(&xml, Mode::Lenient).unwrap();
    let mut encoder = Encoder::new(&templates);
    let mut messages = Messages::new(&templates, Shape::Standard, Choices::from_seed(1));
    let mut message = Message::new();
    let mut packet = || {
        let mut bytes = Vec::new();
        messages.fill(&mut message).unwrap();
        encoder.reset();
        encoder.encode(&message, &mut bytes).unwrap();
        bytes
    };
    let packets: Vec<_> = std::iter::repeat_with(&mut packet).take(60).collect();
    let mut decoder = complex::Decoder::new();
    let mut again = Again {
        encoder: complex::Encoder::new(),
        bytes: Vec::new(),
    };
    let mut round = || {
        for packet in &packets {
            decoder.reset();
            again.encoder.reset();
            again.bytes.clear();
            decoder.decode(packet, &mut again).unwrap();
            assert_eq!(again.bytes, *packet);
        }
    };
    // Strings wander between elements; each must have been given to the longest value once.
    for _ in 0..50 {
        round();
    }
    assert_eq!(allocations(|| (0..10).for_each(|_| round())), 0);
    assert_ne!(allocations(|| drop(vec![1])), 0, "the counter counts");
}
