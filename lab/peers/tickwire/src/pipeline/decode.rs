//! What it costs to decode a message that nothing is made of.

use lab_program::{Answer, BATCH, Meter, Options, now, save};
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, ResetPolicy};

use super::{Feed, whole};
use crate::{VERSION, told};

/// Decodes the feed in batches of 100 messages, again and again.
pub(crate) fn decode(options: &Options) -> Result<Answer, String> {
    whole::pass(options)?;
    let feed = Feed::of(options, SAMPLES.min(options.total()))?;
    verify(&feed)?;
    let mut decoder = decoder(&feed);
    let mut message = Message::new();
    let mut packets = feed.packets.iter().cycle();
    let mut meter = Meter::default();
    let mut times = Vec::new();
    for batch in 0..options.total() / BATCH {
        if batch == options.warmup / BATCH {
            times.clear();
            meter.begin();
        }
        let begin = now();
        for _ in 0..BATCH {
            let packet = packets.next().expect("a feed is not empty");
            decoder.begin_packet();
            decoder.decode(packet, &mut message).map_err(told)?;
        }
        times.push((now() - begin) / BATCH);
    }
    meter.end(now());
    let count = u64::try_from(times.len()).map_err(told)? * BATCH;
    let bytes: usize = feed.packets.iter().map(Vec::len).sum();
    let mean = bytes / feed.packets.len();
    save(&options.dir.join("codec.decode.ns"), &times)?;
    let (elapsed_ns, cost) = meter.result();
    Ok(Answer {
        system: options.system.clone(),
        version: VERSION.to_owned(),
        job: "codec".into(),
        sent: count,
        received: count,
        elapsed_ns,
        encoded_bytes: u64::try_from(mean).ok(),
        cost,
        samples_decode: Some("codec.decode.ns".into()),
        ..Answer::default()
    })
}

/// What is decoded and encoded again is the packet that it was.
fn verify(feed: &Feed) -> Result<(), String> {
    let (mut decoder, mut encoder) = (decoder(feed), Encoder::new(&feed.templates));
    let (mut message, mut bytes) = (Message::new(), Vec::new());
    for packet in &feed.packets {
        decoder.begin_packet();
        let len = decoder.decode(packet, &mut message).map_err(told)?;
        bytes.clear();
        encoder.reset();
        encoder.encode(&message, &mut bytes).map_err(told)?;
        if len != packet.len() || bytes != *packet {
            return Err("what was decoded is not what was encoded".into());
        }
    }
    Ok(())
}

/// As the feed handler has it.
fn decoder(feed: &Feed) -> Decoder {
    let options = DecoderOptions {
        reset: ResetPolicy::Packet,
        ..DecoderOptions::default()
    };
    Decoder::with_options(&feed.templates, options)
}

/// Enough that no branch knows them by heart.
const SAMPLES: u64 = 10_000;
