//! The public mFAST performance data decodes to the values that its generator had.

use std::collections::BTreeMap;

use tickwire_fast::{
    Decoder, DecoderOptions, Encoder, Message, Mode, ResetPolicy, Templates, Value,
};

fn unsigned(value: Option<Value<'_>>) -> u64 {
    let Some(Value::Unsigned(value)) = value else {
        panic!("not an unsigned integer: {value:?}")
    };
    value
}

#[test]
fn golden_counts_and_first_prices() {
    let Some((xml, packets)) = crate::golden_file::read("golden_counts_and_first_prices") else {
        return;
    };
    let templates = Templates::parse(&xml, Mode::Lenient).unwrap();
    for reset in [
        ResetPolicy::Packet,
        ResetPolicy::Message,
        ResetPolicy::Template,
    ] {
        let options = DecoderOptions {
            reset,
            ..DecoderOptions::default()
        };
        let mut decoder = Decoder::with_options(&templates, options);
        let mut message = Message::new();
        let mut counts = BTreeMap::new();
        let mut entries = 0;
        let mut samples = 0;
        let mut prices = Vec::new();
        for packet in &packets {
            assert_eq!(decoder.decode_packet(packet, &mut message), Ok(1));
            *counts
                .entry(message.template().unwrap().name().to_owned())
                .or_insert(0) += 1;
            let Some(Value::Sequence(sequence)) = message.get("MDEntries") else {
                continue;
            };
            entries += sequence.len();
            let mut securities: Vec<_> = sequence
                .iter()
                .map(|entry| unsigned(entry.get("SecurityID")))
                .collect();
            securities.sort_unstable();
            securities.dedup();
            samples += securities.len();
            let Some(Value::Decimal(price)) = sequence
                .iter()
                .next()
                .and_then(|entry| entry.get("MDEntryPx"))
            else {
                panic!("no price in {message:?}");
            };
            prices.push(price);
        }
        let expected = [("Done", 1), ("MarketData", 29_700), ("QuoteRequest", 300)];
        assert!(
            counts
                .iter()
                .map(|(name, count)| (name.as_str(), *count))
                .eq(expected),
            "{counts:?}"
        );
        assert_eq!(entries, 89_700);
        assert_eq!(samples, 41_700);
        let firsts: Vec<_> = prices
            .iter()
            .take(3)
            .map(|price| price.mantissa())
            .collect();
        assert_eq!(firsts, [26, 27, 28]);
    }
}

#[test]
fn golden_templates_need_lenient_mode() {
    let Some((xml, _)) = crate::golden_file::read("golden_templates_need_lenient_mode") else {
        return;
    };
    let error = Templates::parse(&xml, Mode::Strict).unwrap_err();
    assert_eq!((error.line, error.column), (10, 37));
    assert!(
        error.to_string().contains("reset=\"Y\" is a dialect"),
        "{error}"
    );
}

/// The file was written by an encoder of another vendor that leaves out what can be left out: ours writes the same bytes.
#[test]
fn golden_messages_survive_encoding() {
    let Some((xml, packets)) = crate::golden_file::read("golden_messages_survive_encoding") else {
        return;
    };
    let templates = Templates::parse(&xml, Mode::Lenient).unwrap();
    let mut decoder = Decoder::new(&templates);
    let mut encoder = Encoder::new(&templates);
    let (mut message, mut again) = (Message::new(), Message::new());
    let mut bytes = Vec::new();
    for packet in &packets {
        decoder.reset();
        encoder.reset();
        bytes.clear();
        decoder.decode(packet, &mut message).unwrap();
        encoder.encode(&message, &mut bytes).unwrap();
        assert_eq!(bytes, *packet);
        decoder.reset();
        assert_eq!(decoder.decode(&bytes, &mut again), Ok(bytes.len()));
        assert!(message == again, "{message:?} became {again:?}");
    }
}
