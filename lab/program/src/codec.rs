//! What it costs to encode and decode typed messages, without sending them.

use std::collections::BTreeMap;

use crate::answer::Answer;
use crate::clock::now;
use crate::job::save;
use crate::meter::Meter;
use crate::options::Options;

/// Encodes and decodes in batches of 100: `encode` makes message `number` into bytes that it keeps in
/// place `number % 100`, and returns how many they are; `decode` reads those again.
pub fn measure_codec<S>(
    options: &Options,
    version: &str,
    state: &mut S,
    mut encode: impl FnMut(&mut S, u64) -> usize,
    mut decode: impl FnMut(&mut S, u64),
) -> Result<Answer, String> {
    let mut meter = Meter::default();
    let (mut encoding, mut decoding) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for batch in 0..options.total() / BATCH {
        let number = batch * BATCH;
        let is_measured = number >= options.warmup;
        if is_measured {
            meter.begin();
        }
        let begin = now();
        let mut len = 0;
        for number in number..number + BATCH {
            len += encode(state, number);
        }
        let encoded = now();
        for number in number..number + BATCH {
            decode(state, number);
        }
        let decoded = now();
        if is_measured {
            encoding.push((encoded - begin) / BATCH);
            decoding.push((decoded - encoded) / BATCH);
            bytes += len;
        }
    }
    meter.end(now());
    let count = u64::try_from(encoding.len()).unwrap_or_default() * BATCH;
    save(&options.dir.join("codec.encode.ns"), &encoding)?;
    save(&options.dir.join("codec.decode.ns"), &decoding)?;
    let (elapsed_ns, cost) = meter.result();
    Ok(Answer {
        system: options.system.clone(),
        version: version.to_owned(),
        job: "codec".into(),
        sent: count,
        received: count,
        elapsed_ns,
        encoded_bytes: u64::try_from(bytes)
            .ok()
            .and_then(|bytes| bytes.checked_div(count)),
        cost,
        samples: Some("codec.encode.ns".into()),
        samples_decode: Some("codec.decode.ns".into()),
        settings: BTreeMap::new(),
        ..Answer::default()
    })
}

/// Messages between two looks at the clock.
pub const BATCH: u64 = 100;
