//! `tickwire topic hz`, `bw` and `delay`.

use std::process::{Command, Stdio};

use super::{PATIENCE, Quote, participant, quote};
use crate::common::{Domain, Folder, tickwire};
use serde_json::{Value, json};
use tickwire::{DataWriterQos, PublisherQos};

#[test]
fn rates_sizes_and_delays_are_measured() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    // The end of an instance is no sample.
    let ended = quote("ended", 0, None);
    let no_more: &[&str] = &[];
    for (command, options, figures) in [
        ("hz", no_more, ["rate_hz", "mean_ms"]),
        ("bw", no_more, ["mb_per_s", "mean_bytes"]),
        (
            "delay",
            // The kernel notes when datagrams come.
            &["--hops", "--transport", "udp"],
            ["p50_us", "p99_us"],
        ),
    ] {
        // The command before has ended, but may not be forgotten yet.
        while !writer.matched_subscriptions().is_empty() {
            std::thread::yield_now();
        }
        let child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
            .args(["topic", command, "Quotes", "-d", &domain.id, "-o", "jsonl"])
            .args(["-n", "20", "--timeout", "30s"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary starts");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        writer.write(&ended).expect("room");
        writer.dispose(&ended).expect("room");
        // What comes in one datagram has come at one time, and its rate is not that of the others.
        writer
            .wait_for_acknowledgments(PATIENCE)
            .expect("the first have come");
        for price in 1..20 {
            writer.write(&quote("A", price, None)).expect("room");
        }
        writer
            .wait_for_acknowledgments(PATIENCE)
            .expect("all have come");
        let output = child.wait_with_output().expect("it ends");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert_eq!(output.status.code(), Some(0), "{printed}");
        let lines = printed.lines().map(serde_json::from_str);
        let lines: Vec<Value> = lines.collect::<Result<_, _>>().expect("JSON");
        let mut of_all = lines.iter().skip_while(|line| line["scope"] != "all");
        let all = of_all.next().expect("a line for all");
        assert_eq!(all["samples"], 20, "{all}");
        let hops: Vec<_> = of_all.map(|hop| (&hop["scope"], &hop["samples"])).collect();
        let expected = [
            "source_to_kernel",
            "kernel_to_reception",
            "source_to_reception",
            "reception_to_take",
        ];
        match command {
            "delay" => assert_eq!(
                hops,
                expected
                    .map(|hop| (json!(hop), json!(20)))
                    .each_ref()
                    .map(|(hop, count)| (hop, count))
            ),
            _ => assert!(hops.is_empty(), "{hops:?}"),
        }
        for figure in figures {
            assert!(all[figure].as_f64() > Some(0.0), "{all}");
        }
        if let (Some(rate), Some(mean)) = (all["rate_hz"].as_f64(), all["mean_ms"].as_f64()) {
            assert!((rate * mean - 1_000.0).abs() < 0.1, "{all}");
        }
    }
}

/// Samples of a datagram have come at one time.
#[test]
fn the_rate_of_a_burst_is_that_at_which_it_was_written() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let publisher = participant.publisher(PublisherQos::default());
    let qos = DataWriterQos::default().keep_all();
    let writer = publisher.writer(&topic, qos).expect("a writer");
    let child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "hz", "Quotes", "-d", &domain.id, "-o", "jsonl"])
        .args(["-n", "5", "--timeout", "30s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    let suspended = publisher.suspend_publications();
    for price in 0..5 {
        writer.write(&quote("A", price, None)).expect("room");
    }
    drop(suspended);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
    let remark = "all 5 samples came at one time, in one batch: the figures are of the times at which they were \
                  written\n";
    assert!(said.ends_with(remark), "{said}");
    let printed = String::from_utf8(output.stdout).expect("text");
    let all = printed.lines().last().unwrap_or_default();
    let all: Value = serde_json::from_str(all).expect("JSON");
    assert_eq!(
        (&all["samples"], &all["clock"]),
        (&json!(5), &json!("source"))
    );
    assert!(all["rate_hz"].as_f64() > Some(0.0), "{all}");
}

#[test]
fn figures_can_be_one_array() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "hz", "Quotes", "-d", &domain.id, "-o", "json"])
        .args(["-n", "4", "--timeout", "30s", "--window", "1ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the built binary starts");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for price in 0..4 {
        writer.write(&quote("A", price, None)).expect("room");
        // A period that ends between two of them has a line of its own.
        writer
            .wait_for_acknowledgments(PATIENCE)
            .expect("it has come");
    }
    let output = child.wait_with_output().expect("it ends");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let figures: Vec<Value> = serde_json::from_str(&printed).expect("one array");
    let (all, windows) = figures.split_last().expect("an object for all");
    assert_eq!((&all["scope"], &all["samples"]), (&json!("all"), &json!(4)));
    assert!(all["rate_hz"].as_f64() > Some(0.0), "{all}");
    assert_eq!(all["clock"], "reception", "{all}");
    assert!(windows.iter().all(|window| window["scope"] == "window"));
}

#[test]
fn figures_of_a_silent_topic_are_a_failure() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let _writer = participant.writer(&topic).expect("a writer");
    let folder = Folder::new("topic-silent");
    let arguments = ["topic", "hz", "Quotes", "-d", &domain.id, "--timeout", "2s"];
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("error: no sample of the topic `Quotes` came"),
        "{}",
        run.stderr
    );
    let all = run.stdout.lines().last().unwrap_or_default();
    assert!(
        all.starts_with("all           0           -           -"),
        "{}",
        run.stdout
    );
}
