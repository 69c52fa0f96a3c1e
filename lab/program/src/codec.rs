//! What it costs to encode and decode typed messages, without sending them.

use std::collections::BTreeMap;

use crate::answer::Answer;
use crate::clock::now;
use crate::job::save;
use crate::meter::Meter;
use crate::options::Options;

/// Encodes and decodes in batches of 100: `encode` makes message `number`, which has its number in it, into
/// bytes that it keeps in place `number % 100`, and returns how many they are; `decode` reads those again.
/// `is_intact` says whether what was decoded last is all that message `number` was. It is asked for two
/// messages of each batch, outside the time that is taken.
pub fn measure_codec<S>(
    options: &Options,
    version: &str,
    state: &mut S,
    mut encode: impl FnMut(&mut S, u64) -> usize,
    mut decode: impl FnMut(&mut S, u64),
    mut is_intact: impl FnMut(&mut S, u64) -> bool,
) -> Result<Answer, String> {
    let mut meter = Meter::default();
    let (mut encoding, mut decoding) = (Vec::new(), Vec::new());
    let (mut bytes, mut wrong, mut error) = (0, 0, None);
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
        for number in COMPARED.map(|place| number + place) {
            decode(state, number);
            if !is_intact(state, number) {
                wrong += 1;
                error.get_or_insert_with(|| format!("message {number} is not what was encoded"));
            }
        }
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
        wrong,
        error,
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
/// Those of a batch that are compared whole: a MarketData and a QuoteRequest in every mix of both.
const COMPARED: [u64; 2] = [BATCH - 5, BATCH - 1];

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::Arguments;

    #[derive(clap::Args)]
    struct None {}

    #[test]
    fn a_message_that_is_decoded_as_another_is_wrong() {
        let dir = std::env::temp_dir().join(format!("lab-codec-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        let given = ["program", "--system", "x", "--job", "codec"];
        let counts = ["--count", "300", "--warmup", "0", "--dir"];
        let all = given.iter().chain(&counts).map(std::ffi::OsString::from);
        let all = all.chain([dir.clone().into_os_string()]);
        let options = Arguments::<None>::try_parse_from(all).expect("options that exist");
        let measure = |changed: u64| {
            let (mut sent, mut decoded) = ([0; 100], 0);
            let place = |number: u64| usize::try_from(number % BATCH).expect("a batch");
            measure_codec(
                &options.common,
                "",
                &mut (&mut sent, &mut decoded),
                |(sent, _), number| {
                    sent[place(number)] = number;
                    8
                },
                |(sent, decoded), number| {
                    **decoded = sent[place(number)] + u64::from(number == changed);
                },
                |(_, decoded), number| **decoded == number,
            )
            .expect("files are written")
        };
        assert_eq!((measure(u64::MAX).sent, measure(u64::MAX).wrong), (300, 0));
        for changed in [195, 199] {
            let answer = measure(changed);
            assert_eq!(answer.wrong, 1);
            assert!(
                answer
                    .error
                    .is_some_and(|it| it.contains(&changed.to_string()))
            );
        }
        std::fs::remove_dir_all(&dir).expect("our own folder");
    }
}
