//! The rows of generated code.

use std::hint::black_box;

use tickwire_fast::generated::{Decode, Decoder, Protocol};
use tickwire_fast::{DecoderOptions, ResetPolicy};

use crate::data::Data;

/// Of the simple templates.
#[allow(dead_code, unreachable_pub, reason = "as a user has it")]
mod simple {
    include!(concat!(env!("OUT_DIR"), "/simple.rs"));
}

/// Of the complex templates.
#[allow(dead_code, unreachable_pub, reason = "as a user has it")]
mod complex {
    include!(concat!(env!("OUT_DIR"), "/complex.rs"));
}

/// Demands that every value is in memory, and does nothing with it.
struct Discard;

impl simple::Handler for Discard {
    #[inline(always)]
    fn quote(&mut self, message: &simple::Quote) {
        black_box(message);
    }

    #[inline(always)]
    fn new(&mut self, message: &simple::New) {
        black_box(message);
    }

    #[inline(always)]
    fn change(&mut self, message: &simple::Change) {
        black_box(message);
    }

    #[inline(always)]
    fn remove(&mut self, message: &simple::Remove) {
        black_box(message);
    }

    #[inline(always)]
    fn done(&mut self, message: &simple::Done) {
        black_box(message);
    }
}

impl complex::Handler for Discard {
    #[inline(always)]
    fn market_data(&mut self, message: &complex::MarketData) {
        black_box(message);
    }

    #[inline(always)]
    fn quote_request(&mut self, message: &complex::QuoteRequest) {
        black_box(message);
    }

    #[inline(always)]
    fn done(&mut self, message: &complex::Done) {
        black_box(message);
    }
}

/// A pass of generated code over all packets.
pub(crate) fn decode(data: &Data, strict: bool) -> Box<dyn FnMut() + '_> {
    let options = DecoderOptions {
        strict,
        reset: ResetPolicy::Packet,
        ..DecoderOptions::default()
    };
    match data.name {
        "simple" => pass(data, simple::Decoder::with_options(options)),
        _ => pass(data, complex::Decoder::with_options(options)),
    }
}

fn pass<M>(data: &Data, mut decoder: Decoder<M>) -> Box<dyn FnMut() + '_>
where
    M: Protocol + Decode<Discard> + 'static,
{
    Box::new(move || {
        for packet in &data.packets {
            assert!(decoder.decode_packet(packet, &mut Discard).is_ok());
        }
    })
}
