//! `tickwire topic list`.

use super::{Quote, participant};
use crate::common::{Domain, Folder, tickwire};
use serde_json::{Value, json};
use tickwire::{DataReaderQos, DataWriterQos};

#[test]
fn topics_are_listed_with_what_does_not_match() {
    let domain = Domain::reserve();
    let (one, two) = (participant(&domain), participant(&domain));
    let quotes = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().best_effort();
    let writer = one.writer_with(&quotes, qos).expect("a writer");
    let quotes = two.topic::<Quote>("Quotes").expect("a topic");
    let demanding = DataReaderQos::default().reliable().transient_local();
    let reader = two.reader_with(&quotes, demanding).expect("a reader");
    let _content = two.reader(&quotes).expect("a reader");
    let misspelt = two.topic::<Quote>("quotes").expect("a topic");
    let _orphan = two.reader(&misspelt).expect("a reader");

    let folder = Folder::new("topic-ls");
    let run = tickwire(
        &folder,
        &["topic", "ls", "-d", &domain.id, "--verbose", "-o", "json"],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let topics: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let mismatch = &topics[0]["mismatches"][0];
    assert_eq!(
        (&mismatch["writer"], &mismatch["reader"], &mismatch["pairs"]),
        (
            &json!(writer.guid().to_string()),
            &json!(reader.guid().to_string()),
            &json!(1)
        )
    );
    let reasons = mismatch["reasons"].to_string();
    assert!(
        reasons.contains("DURABILITY: the reader requests TRANSIENT_LOCAL")
            && reasons.contains("RELIABILITY: the reader requests RELIABLE"),
        "{reasons}"
    );
    let mut expected = json!({
        "topic": "Quotes",
        "type": "test::Quote",
        "keyed": true,
        "writers": 1,
        "readers": 2,
        "mismatched": 1,
        "offered": "BEST_EFFORT VOLATILE",
        "requested": "BEST_EFFORT VOLATILE, RELIABLE TRANSIENT_LOCAL",
        "participants": "the test (Tickwire)",
        "hint": null,
    });
    expected["mismatches"] = topics[0]["mismatches"].clone();
    assert_eq!(topics[0], expected);
    assert_eq!(topics[1]["hint"], "Quotes");

    let run = tickwire(&folder, &["topic", "ls", "-d", &domain.id]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for part in [
        "Quotes: a writer and a reader do not match",
        "of the test (Tickwire)",
        "\n  RELIABILITY: the reader requests RELIABLE, the writer offers BEST_EFFORT;",
        "quotes: has readers but no writer; was it meant to be Quotes?",
    ] {
        assert!(run.stdout.contains(part), "{part} in\n{}", run.stdout);
    }
}
