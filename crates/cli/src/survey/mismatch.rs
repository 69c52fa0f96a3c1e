//! Pairs of writer and reader that do not match, put together by their reasons.

use serde_json::{Value, json};
use tickwire::Guid;
use tickwire::qos::Verdict;

use super::Endpoints;

/// Pairs of one topic that do not match for the same reasons.
pub(crate) struct Mismatch {
    /// The first pair.
    pub(crate) writer: Guid,
    pub(crate) reader: Guid,
    pub(crate) verdict: Verdict,
    /// How many pairs there are.
    pub(crate) pairs: usize,
}

impl Mismatch {
    /// Compares each writer of a topic with each reader.
    pub(crate) fn all_of(topic: &Endpoints) -> Vec<Self> {
        let mut mismatches: Vec<Self> = Vec::new();
        let pairs = topic.writers.iter();
        let pairs =
            pairs.flat_map(|writer| topic.readers.iter().map(move |reader| (writer, reader)));
        for (writer, reader) in pairs {
            let Some(verdict) = writer
                .verdict(reader, &topic.types)
                .filter(|v| !v.is_match())
            else {
                continue;
            };
            match mismatches.iter_mut().find(|known| known.verdict == verdict) {
                Some(known) => known.pairs += 1,
                None => mismatches.push(Self {
                    writer: writer.guid,
                    reader: reader.guid,
                    verdict,
                    pairs: 1,
                }),
            }
        }
        mismatches
    }

    pub(crate) fn to_json(&self) -> Value {
        let reasons = self.verdict.mismatches.iter();
        json!({
            "writer": self.writer.to_string(),
            "reader": self.reader.to_string(),
            "pairs": self.pairs,
            "reasons": reasons.map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}
