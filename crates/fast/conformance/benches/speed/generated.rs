//! The rows of generated code.

use std::hint::black_box;

use tickwire_fast::generated::{Decode, Decoder, Encoder, Protocol};
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

/// Keeps every message, encoded and not.
struct Keep<T>(Vec<T>);

macro_rules! messages {
    ($module:ident, $any:ident: $($method:ident $message:ident),*) => {
        impl $module::Handler for Discard {
            $(#[inline(always)]
            fn $method(&mut self, message: &$module::$message) {
                black_box(message);
            })*
        }

        /// A message of any template.
        enum $any {
            $($message($module::$message)),*
        }

        impl $any {
            #[inline(always)]
            fn encode(&self, encoder: &mut $module::Encoder, out: &mut Vec<u8>) -> bool {
                match self {
                    $(Self::$message(message) => encoder.encode(message, out).is_ok()),*
                }
            }
        }

        impl $module::Handler for Keep<$any> {
            $(fn $method(&mut self, message: &$module::$message) {
                self.0.push($any::$message(message.clone()));
            })*
        }
    };
}

messages!(simple, Simple: quote Quote, new New, change Change, remove Remove, done Done);
messages!(complex, Complex: market_data MarketData, quote_request QuoteRequest, done Done);

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

/// A pass of generated code that encodes all messages, packet by packet as they were.
///
/// # Errors
/// The bytes are others than those of the packets.
pub(crate) fn encode(data: &Data) -> Result<Box<dyn FnMut() + '_>, String> {
    match data.name {
        "simple" => encode_pass(data, simple::Decoder::new(), Simple::encode),
        _ => encode_pass(data, complex::Decoder::new(), Complex::encode),
    }
}

fn encode_pass<'d, M, T: 'd>(
    data: &'d Data,
    mut decoder: Decoder<M>,
    encode: impl Fn(&T, &mut Encoder<M>, &mut Vec<u8>) -> bool + 'd,
) -> Result<Box<dyn FnMut() + 'd>, String>
where
    M: Protocol + Decode<Keep<T>> + 'd,
{
    let mut kept = Vec::new();
    for packet in &data.packets {
        let mut keep = Keep(Vec::new());
        decoder.reset();
        let decoded = decoder.decode_packet(packet, &mut keep);
        decoded.map_err(|error| error.to_string())?;
        kept.push(keep.0);
    }
    let mut encoder = Encoder::with_reset(ResetPolicy::Packet);
    let mut bytes = Vec::new();
    for (messages, packet) in kept.iter().zip(&data.packets) {
        bytes.clear();
        encoder.reset();
        for message in messages {
            assert!(encode(message, &mut encoder, &mut bytes));
        }
        if bytes != *packet {
            return Err(format!("{bytes:02x?} is not {packet:02x?}"));
        }
    }
    kept.truncate(data.near_packets());
    Ok(Box::new(move || {
        let mut left = data.messages;
        for messages in kept.iter().cycle() {
            bytes.clear();
            encoder.reset();
            for message in messages {
                assert!(encode(message, &mut encoder, &mut bytes));
            }
            black_box(&bytes);
            match left.checked_sub(messages.len()) {
                Some(less) => left = less,
                None => break,
            }
        }
    }))
}
