//! The rows of code that learns its templates at run time: ours, and the crate fastlib.

use std::hint::black_box;

use fastlib::{MessageFactory, Value};
use tickwire_fast::{
    Decimal, DecodeError, Decoder, DecoderOptions, Encoder, FieldIndex, Message, ResetPolicy,
    Visitor,
};

use crate::data::Data;

/// Adds up what it is given, so that every value is made.
#[derive(Default)]
struct Sum(u64);

impl Sum {
    fn add(&mut self, value: u64) {
        self.0 = self.0.wrapping_add(value);
    }
}

impl Visitor for Sum {
    fn unsigned(&mut self, _: FieldIndex, value: u64) {
        self.add(value);
    }

    fn signed(&mut self, _: FieldIndex, value: i64) {
        self.add(value.cast_unsigned());
    }

    fn decimal(&mut self, _: FieldIndex, value: Decimal) {
        self.add(value.mantissa().cast_unsigned());
        self.add(i64::from(value.exponent()).cast_unsigned());
    }

    fn text(&mut self, _: FieldIndex, value: &str) {
        self.add(value.len() as u64);
    }

    fn bytes(&mut self, _: FieldIndex, value: &[u8]) {
        self.add(value.len() as u64);
    }
}

/// A pass of our interpreter over all packets.
pub(crate) fn decode(data: &Data, strict: bool) -> impl FnMut() {
    let options = DecoderOptions {
        strict,
        reset: ResetPolicy::Packet,
        ..DecoderOptions::default()
    };
    let mut decoder = Decoder::with_options(&data.templates, options);
    let mut sum = Sum::default();
    move || {
        for packet in &data.packets {
            assert!(decoder.decode_packet(packet, &mut sum).is_ok());
        }
        black_box(sum.0);
    }
}

/// The sum of all values of the data.
pub(crate) fn total(data: &Data) -> Result<u64, DecodeError> {
    let mut decoder = Decoder::new(&data.templates);
    let mut sum = Sum::default();
    for packet in &data.packets {
        decoder.reset();
        decoder.decode_packet(packet, &mut sum)?;
    }
    Ok(sum.0)
}

/// A pass of our interpreting encoder over as many messages as there are, from the first packets.
pub(crate) fn encode(data: &Data) -> Result<impl FnMut(), Box<dyn std::error::Error>> {
    let mut kept: Vec<Vec<Message>> = Vec::new();
    for (number, message) in data.decoded()? {
        if number >= data.near_packets() {
            break;
        }
        kept.resize_with(number + 1, Vec::new);
        kept[number].push(message);
    }
    let mut encoder = Encoder::with_reset(&data.templates, ResetPolicy::Packet);
    let mut bytes = Vec::new();
    Ok(move || {
        let mut left = data.messages;
        for messages in kept.iter().cycle() {
            bytes.clear();
            encoder.reset();
            for message in messages {
                assert!(encoder.encode(message, &mut bytes).is_ok());
            }
            black_box(&bytes);
            match left.checked_sub(messages.len()) {
                Some(less) => left = less,
                None => break,
            }
        }
    })
}

/// A pass of fastlib over all packets; `Err` is why it cannot.
pub(crate) fn fastlib(data: &Data) -> Result<impl FnMut(), String> {
    // It knows the standard's integers only, and no default without a value: a copy takes the same bytes.
    let xml = data
        .xml
        .replace("uInt16", "uInt32")
        .replace("uInt8", "uInt32")
        .replace("<default/>", "<copy/>");
    // Nor does it skip a comment before the root.
    let xml = xml
        .find("<templates")
        .and_then(|at| xml.get(at..))
        .unwrap_or_default();
    let mut decoder = fastlib::Decoder::new_from_xml(xml).map_err(|error| error.to_string())?;
    let mut sum = Sum::default();
    fastlib_pass(&mut decoder, data, &mut sum)?;
    if total(data).ok() != Some(sum.0) {
        return Err(format!(
            "its values are others, {:?} {}",
            total(data),
            sum.0
        ));
    }
    Ok(move || {
        assert!(fastlib_pass(&mut decoder, data, &mut sum).is_ok());
        black_box(sum.0);
    })
}

fn fastlib_pass(decoder: &mut fastlib::Decoder, data: &Data, sum: &mut Sum) -> Result<(), String> {
    for packet in &data.packets {
        decoder.reset();
        let mut rest = &packet[..];
        while !rest.is_empty() {
            let len = decoder
                .decode_buffer(rest, sum)
                .map_err(|error| error.to_string())?;
            rest = usize::try_from(len)
                .ok()
                .and_then(|len| rest.get(len..))
                .unwrap_or_default();
        }
    }
    Ok(())
}

impl MessageFactory for Sum {
    fn start_template(&mut self, _: u32, _: &str) {}
    fn stop_template(&mut self) {}
    fn set_value(&mut self, _: u32, _: &str, value: Option<Value>) {
        self.add(match value {
            Some(Value::UInt32(value)) => value.into(),
            Some(Value::UInt64(value)) => value,
            Some(Value::Int32(value)) => i64::from(value).cast_unsigned(),
            Some(Value::Decimal(value)) => value
                .mantissa
                .wrapping_add(value.exponent.into())
                .cast_unsigned(),
            Some(Value::ASCIIString(text)) => text.len() as u64,
            _ => 0,
        });
    }
    fn start_sequence(&mut self, _: u32, _: &str, _: u32) {}
    fn start_sequence_item(&mut self, _: u32) {}
    fn stop_sequence_item(&mut self) {}
    fn stop_sequence(&mut self) {}
    fn start_group(&mut self, _: &str) {}
    fn stop_group(&mut self) {}
    fn start_template_ref(&mut self, _: &str, _: bool) {}
    fn stop_template_ref(&mut self) {}
}
