//! Pairs of writer and reader that do not match, put together by their reasons.

use serde_json::{Value, json};
use tickwire::Guid;
use tickwire::qos::{self, Verdict};

use super::Endpoints;
use super::policies::{names, representations, time};

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

/// What a reader requests and what a writer offers, where that does not do.
pub(crate) fn sides(mismatch: &qos::Mismatch) -> (String, String) {
    use qos::Mismatch as M;
    let keyed = |keyed: bool| if keyed { "a key" } else { "no key" }.to_owned();
    let first = |list: &[qos::RepresentationId]| representations(list.get(..1).unwrap_or_default());
    match mismatch {
        M::TypeName(unmet) => (unmet.requested.clone(), unmet.offered.clone()),
        M::Keyed(unmet) => (keyed(unmet.requested), keyed(unmet.offered)),
        M::Partition(unmet) => (names(&unmet.requested), names(&unmet.offered)),
        M::Durability(unmet) => both(unmet),
        M::Presentation(unmet) => both(unmet),
        M::Deadline(unmet) | M::LatencyBudget(unmet) => {
            (time(unmet.requested), time(unmet.offered))
        }
        M::Ownership(unmet) => both(unmet),
        M::Liveliness(unmet) => both(unmet),
        M::Reliability(unmet) => both(unmet),
        M::DestinationOrder(unmet) => both(unmet),
        M::DataRepresentation(unmet) => (representations(&unmet.requested), first(&unmet.offered)),
        M::Type(unmet) => (
            format!("{:?}", unmet.requested),
            format!("{:?}", unmet.offered),
        ),
        M::NotAssignable(reasons) => {
            let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
            ("a type that it can read".to_owned(), reasons.join("; "))
        }
        M::TypeUnknown => (
            "types that can be compared".to_owned(),
            "no answer".to_owned(),
        ),
        _ => (String::new(), String::new()),
    }
}

fn both<T: ToString>(unmet: &qos::Unmet<T>) -> (String, String) {
    (unmet.requested.to_string(), unmet.offered.to_string())
}
