//! The whole file that `tickwire feed generate` makes, through the feed handler once, before any time is taken.

use std::convert::Infallible;

use lab_program::{Options, Payload};
use tickwire::Serialized;
use tickwire_feed::generate::{ComplexOptions, SimpleOptions};
use tickwire_feed::{Generator, Line};
use tickwire_gateway::{FeedHandler, FeedTopic, HandlerOptions, Publish, TopicIndex};

use super::mapper;
use crate::told;

/// Decodes the article's 30,000 messages and maps them to samples, which nobody gets. Fails unless they are as many
/// of each kind as they have to be.
pub(super) fn pass(options: &Options) -> Result<(), String> {
    let (generator, expected) = match options.payload {
        Payload::Complex => (Generator::complex(ComplexOptions::default()), COMPLEX),
        _ => (Generator::simple(SimpleOptions::default()), SIMPLE),
    };
    compare(generator.map_err(told)?, expected)
}

fn compare(mut generator: Generator, expected: &[Counts]) -> Result<(), String> {
    let templates = generator.templates().clone();
    let mapper = mapper(&templates);
    let mut handler = FeedHandler::new(&templates, HandlerOptions::default(), Some(mapper), Nobody);
    let mut packet = Vec::new();
    while generator.next_packet(&mut packet).map_err(told)? {
        handler.handle_packet(Line::A, &packet).map_err(told)?;
    }
    handler.finish().map_err(told)?;
    let counters = handler.counters();
    let mut counted: Vec<_> = counters
        .groups
        .iter()
        .map(|group| (group.template.as_str(), group.messages, group.samples))
        .filter(|&(_, messages, _)| messages > 0)
        .collect();
    counted.sort_unstable();
    let given_up = counters.malformed + counters.unresolved + counters.empty + counters.refused;
    if counted != expected || given_up > 0 || !handler.is_done() {
        return Err(format!(
            "the whole feed became {counted:?}, {given_up} given up, instead of {expected:?}"
        ));
    }
    Ok(())
}

/// A template, its messages, and the samples that they become.
type Counts = (&'static str, u64, u64);

/// One sample a message.
const SIMPLE: &[Counts] = &[
    ("Change", 7_500, 7_500),
    ("Done", 1, 1),
    ("New", 7_500, 7_500),
    ("Quote", 7_500, 7_500),
    ("Remove", 7_500, 7_500),
];
/// One sample for each security of a message: 42,000 of 30,000.
const COMPLEX: &[Counts] = &[
    ("Done", 1, 1),
    ("MarketData", 29_700, 41_700),
    ("QuoteRequest", 300, 300),
];

/// Takes samples and drops them.
struct Nobody;

impl Publish for Nobody {
    type Error = Infallible;
    type Batch = ();

    fn begin_batch(&mut self) {}

    fn publish(
        &mut self,
        _: &[FeedTopic],
        _: TopicIndex,
        _: &Serialized,
    ) -> Result<(), Infallible> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_with_other_counts_is_refused() {
        let simple = |messages| {
            let defaults = SimpleOptions::default();
            Generator::simple(SimpleOptions {
                messages,
                ..defaults
            })
            .expect("in range")
        };
        assert_eq!(compare(simple(30_000), SIMPLE), Ok(()));
        let error = compare(simple(29_999), SIMPLE).expect_err("one is missing");
        assert!(error.contains("(\"Remove\", 7499, 7499)"), "{error}");
    }
}
