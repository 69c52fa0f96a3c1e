//! Nanoseconds per message of the golden file, median of many passes: `cargo run --release --example decode_speed`,
//! with a word to run only the lines that have it.

#[path = "../tests/common/golden.rs"]
mod golden_file;
#[path = "../tests/common/market.rs"]
mod market;

use std::time::Instant;

use market::MarketData;
use tickwire_fast::{Binding, Decoder, DecoderOptions, Encoder, Message, Mode, Templates};

const PASSES: usize = 31;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some((xml, packets)) = golden_file::read("decode_speed") else {
        return Ok(());
    };
    let templates = Templates::parse(&xml, Mode::Lenient)?;
    report("load templates (per file)", 1, || {
        drop(Templates::parse(&xml, Mode::Lenient))
    });

    let mut decoder = Decoder::new(&templates);
    report("decode, looking at nothing", packets.len(), || {
        decode(&mut decoder, &packets, |d, p| d.decode(p, &mut ()).is_ok())
    });
    let mut strict = Decoder::with_options(
        &templates,
        DecoderOptions {
            strict: true,
            ..DecoderOptions::default()
        },
    );
    report("decode, strict", packets.len(), || {
        decode(&mut strict, &packets, |d, p| d.decode(p, &mut ()).is_ok())
    });
    let mut message = Message::new();
    report("decode into Message", packets.len(), || {
        decode(&mut decoder, &packets, |d, p| {
            d.decode(p, &mut message).is_ok()
        })
    });

    let mut binding = Binding::<MarketData>::new(&templates)?;
    let mut value = MarketData::default();
    let market: Vec<_> = packets
        .iter()
        .filter(|packet| packet.starts_with(&[0xc0, 0x81]))
        .cloned()
        .collect();
    report("decode into structs", market.len(), || {
        decode(&mut decoder, &market, |d, p| {
            d.decode_into(p, &mut binding, &mut value).is_ok()
        });
    });

    let messages: Vec<_> = packets
        .iter()
        .map(|packet| {
            let mut message = Message::new();
            decoder.reset();
            decoder.decode(packet, &mut message).map(|_| message)
        })
        .collect::<Result<_, _>>()?;
    let mut encoder = Encoder::new(&templates);
    let mut bytes = Vec::new();
    report("encode", messages.len(), || {
        for message in &messages {
            bytes.clear();
            encoder.reset();
            assert!(encoder.encode(message, &mut bytes).is_ok());
        }
    });
    Ok(())
}

fn decode(
    decoder: &mut Decoder,
    packets: &[Vec<u8>],
    mut one: impl FnMut(&mut Decoder, &[u8]) -> bool,
) {
    for packet in packets {
        decoder.reset();
        assert!(one(decoder, packet));
    }
}

fn report(what: &str, count: usize, mut pass: impl FnMut()) {
    if std::env::args()
        .nth(1)
        .is_some_and(|wanted| !what.contains(&wanted))
    {
        return;
    }
    let mut times: Vec<_> = (0..PASSES)
        .map(|_| {
            let start = Instant::now();
            pass();
            start.elapsed().as_nanos() as f64 / count as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{what:<28} {:8.1} ns", times[PASSES / 2]);
}
