//! `tickwire topic`, looking at endpoints of this process.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Domain, Folder, tickwire};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tickwire::qos::{DestinationOrder, Durability, RepresentationId};
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder, Guid, PublisherQos,
    SubscriberQos, Topic, Transport,
};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: i64,
    size: Option<u32>,
}

fn quote(symbol: &str, price: i64, size: Option<u32>) -> Quote {
    let symbol = symbol.to_owned();
    Quote {
        symbol,
        price,
        size,
    }
}

fn builder(domain: &Domain) -> DomainParticipantBuilder {
    let id = domain.id.parse().expect("a number");
    DomainParticipant::builder(id).name("the test")
}

fn participant(domain: &Domain) -> DomainParticipant {
    builder(domain).build().expect("a participant")
}

/// `tickwire topic echo`, running.
fn echo(domain: &Domain, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "echo", "-d", &domain.id])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts")
}

/// Lines of a child's standard output or error.
fn lines(pipe: Option<impl Read>) -> impl Iterator<Item = String> {
    let pipe = pipe.expect("it is piped");
    BufReader::new(pipe).lines().map(|line| line.expect("text"))
}

fn objects(lines: impl Iterator<Item = String>) -> Vec<Value> {
    let parse = |line: String| serde_json::from_str(&line).expect("JSON");
    lines.map(parse).collect()
}

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

#[test]
fn history_is_printed_with_the_ends_of_instances() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default()
        .keep_all()
        .transient_local()
        .autodispose_unregistered_instances(false);
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    writer.write(&quote("A", 1, Some(7))).expect("room");
    writer.write(&quote("B", -2, None)).expect("room");
    writer.dispose(&quote("A", 0, None)).expect("room");

    let mut child = echo(&domain, &["Quotes", "-n", "4", "--timeout", "30s"]);
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("the history has come");
    writer.unregister(&quote("B", 0, None)).expect("room");
    let printed = objects(lines(child.stdout.take()));
    assert_eq!(
        printed,
        [
            json!({"symbol": "A", "price": 1, "size": 7}),
            json!({"symbol": "B", "price": -2}),
            json!({"disposed": {"symbol": "A"}}),
            json!({"unregistered": {"symbol": "B"}}),
        ]
    );
    assert_eq!(child.wait().expect("it ends").code(), Some(0));

    let mut child = echo(&domain, &["Quotes", "--once", "--info", "--timeout", "30s"]);
    let printed = objects(lines(child.stdout.take()));
    assert_eq!(printed.len(), 1);
    assert_eq!(printed[0]["writer"], json!(writer.guid().to_string()));
    assert_eq!(printed[0]["sequence_number"], 1);
    assert_eq!(printed[0]["data"]["symbol"], "A");
    assert!(printed[0]["latency_us"].as_f64() > Some(0.0));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_topic_is_waited_for_and_an_unknown_type_printed_in_hexadecimal() {
    let domain = Domain::reserve();
    let mut child = echo(&domain, &["Quotes", "-n", "2", "--timeout", "60s"]);
    let mut said = lines(child.stderr.take());
    assert_eq!(
        said.next().as_deref(),
        Some("waiting for a writer of the topic `Quotes`")
    );
    let hint = said.next().expect("what to do");
    assert!(hint.starts_with("hint: `tickwire topic ls"), "{hint}");
    let secretive = builder(&domain).announce_types(false);
    let participant = secretive.build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 1, None)).expect("room");
    writer.write(&quote("B", 1, None)).expect("room");
    let printed = objects(lines(child.stdout.take()));
    let hex = printed[0]["hex"].as_str().expect("bytes");
    // The encapsulation of an appendable type in little-endian XCDR2 comes first.
    assert!(hex.starts_with("0009"), "{hex}");
    assert_eq!(printed.len(), 2);
    let said: Vec<_> = said.collect();
    assert!(
        said[0].starts_with("the type test::Quote is not known: the endpoint does not announce"),
        "{said:?}"
    );
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_type_that_nobody_tells_comes_from_a_file() {
    let domain = Domain::reserve();
    let folder = Folder::new("topic-idl");
    let idl = folder.path().join("quote.idl");
    let text = "module test { struct Quote { @key string symbol; int64 price; @optional uint32 size; };\n\
                struct Other { long x; }; };";
    std::fs::write(&idl, text).expect("room for a file");
    let idl = idl.to_str().expect("text");
    let secretive = builder(&domain).announce_types(false).build();
    let participant = secretive.expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let writer = participant.writer(&topic).expect("a writer");
    let options = ["Quotes", "-n", "1", "--timeout", "60s", "--idl", idl];
    let filtered = [&options[..], &["--filter", "price > 1"]].concat();
    let child = echo(&domain, &filtered);
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 1, None)).expect("room");
    writer.write(&quote("B", 2, Some(3))).expect("room");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "{\"symbol\":\"B\",\"price\":2,\"size\":3}\n"
    );

    let reader = quotes_reader(&participant);
    let sample = r#"{"symbol": "C", "price": 4}"#;
    let run = tickwire(
        &folder,
        &[
            "topic", "pub", "Quotes", sample, "-d", &domain.id, "--idl", idl,
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let taken = reader.take();
    assert!(taken.data().any(|taken| *taken == quote("C", 4, None)));

    let named = [&options[..], &["--type", "test::Quotes", "-d", &domain.id]].concat();
    let run = tickwire(&folder, &[&["topic", "echo"], &named[..]].concat());
    assert_eq!(run.status, 1);
    let expected = "the IDL has no `test::Quotes`; there are test::Quote, test::Other";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

/// A file of IDL with the type of quotes, in a folder.
fn quote_idl(folder: &Folder, module: &str) -> String {
    let text = "struct Quote { @key string symbol; int64 price; @optional uint32 size; };";
    folder.write(
        "quote.idl",
        format!("module {module} {{ {text} }};").as_bytes(),
    );
    let path = folder.path().join("quote.idl");
    path.to_str().expect("text").to_owned()
}

/// `tickwire topic pub Quotes`, running.
fn publish(domain: &Domain, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "pub", "-d", &domain.id, "Quotes"])
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts")
}

/// Each would wait for the other if neither began.
#[test]
fn who_has_the_type_from_a_file_begins() {
    let folder = Folder::new("topic-begin");
    let idl = quote_idl(&folder, "test");
    let (of_file, learned): (&[&str], &[&str]) = (&["--idl", &idl], &[]);
    for (written, read) in [(of_file, of_file), (of_file, learned), (learned, of_file)] {
        let domain = Domain::reserve();
        let echo = echo(
            &domain,
            &[&["Quotes", "--once", "--timeout", "30s"], read].concat(),
        );
        let sample = r#"{"symbol":"A","price":1}"#;
        let publish = publish(&domain, &[&[sample, "--timeout", "30s"], written].concat());
        let echoed = echo.wait_with_output().expect("it ends");
        let said = String::from_utf8(echoed.stderr).expect("text");
        let printed = String::from_utf8(echoed.stdout).expect("text");
        assert_eq!(printed, "{\"symbol\":\"A\",\"price\":1}\n", "{said}");
        let published = publish.wait_with_output().expect("it ends");
        let said = String::from_utf8(published.stderr).expect("text");
        assert_eq!(published.status.code(), Some(0), "{said}");
    }
}

#[test]
fn a_reader_that_was_there_first_is_made_to_match_who_comes() {
    let folder = Folder::new("topic-read-ahead");
    // What was written before they matched is history.
    let offers = [
        (DataWriterQos::default().transient_local(), ["A", "B"]),
        (
            DataWriterQos::default().transient_local().exclusive(1),
            ["A", "B"],
        ),
        (DataWriterQos::default().best_effort(), ["B", "C"]),
    ];
    for (module, announces_types) in [("test", true), ("other", true), ("other", false)] {
        let idl = quote_idl(&folder, module);
        for (qos, symbols) in offers.clone() {
            let domain = Domain::reserve();
            let options = ["Quotes", "-n", "2", "--timeout", "30s", "--idl", &idl];
            let child = echo(&domain, &options);
            let participant = builder(&domain).announce_types(announces_types).build();
            let participant = participant.expect("a participant");
            let view = participant.discovery();
            let ahead = || view.subscriptions().into_iter().next();
            let ahead = view.wait_for(PATIENCE, ahead).expect("a reader");
            assert_eq!(ahead.type_name, format!("{module}::Quote"));
            let topic = participant.topic::<Quote>("Quotes").expect("a topic");
            let writer = participant.writer_with(&topic, qos).expect("a writer");
            writer.write(&quote("A", 1, None)).expect("room");
            writer.wait_for_matched(1, PATIENCE).expect("a match");
            writer.write(&quote("B", 2, None)).expect("room");
            writer.write(&quote("C", 3, None)).expect("room");
            let output = child.wait_with_output().expect("it ends");
            let said = String::from_utf8(output.stderr).expect("text");
            assert_eq!(output.status.code(), Some(0), "{said}");
            let printed = String::from_utf8(output.stdout).expect("text");
            let samples = objects(printed.lines().map(str::to_owned));
            let printed: Vec<_> = samples.iter().map(|sample| &sample["symbol"]).collect();
            assert_eq!(printed, symbols, "{said}");
        }
    }
}

/// Waits until the other participant knows the endpoint, of which it tells nobody but by acknowledging it.
fn wait_until_known(participant: &DomainParticipant, to: Guid, endpoint: Guid) {
    let view = participant.discovery();
    let begin = Instant::now();
    while !view.is_known_to(to, endpoint) {
        assert!(begin.elapsed() < PATIENCE, "nobody knows {endpoint}");
        let _news = view.wait_for(Duration::from_millis(1), || None::<()>);
    }
}

/// The reader of `tickwire topic echo --idl`, which is there before any writer.
fn reader_ahead(participant: &DomainParticipant) -> Guid {
    let view = participant.discovery();
    let ahead = || view.subscriptions().into_iter().next();
    view.wait_for(PATIENCE, ahead).expect("a reader").guid
}

#[test]
fn a_writer_that_came_and_went_is_told_of() {
    let folder = Folder::new("topic-come-and-go");
    let idl = quote_idl(&folder, "test");
    let domain = Domain::reserve();
    let mut child = echo(&domain, &["Quotes", "--timeout", "30s", "--idl", &idl]);
    let participant = participant(&domain);
    let ahead = reader_ahead(&participant);
    let others = participant.topic::<Quote>("Others").expect("a topic");
    let other = participant.writer(&others).expect("a writer");
    wait_until_known(&participant, ahead, other.guid());
    // While the command is stopped, both wait for it in its sockets.
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    kill(pid, Signal::SIGSTOP).expect("it is ours");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    drop(participant.writer(&topic).expect("a writer"));
    kill(pid, Signal::SIGCONT).expect("it is ours");
    let mut said = lines(child.stderr.take());
    let left = "no writer is left; waiting for another";
    assert!(said.any(|line| line == left));
    kill(pid, Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// The reader that was there first gets some, and the one in its place the others and what the writer still has.
#[test]
fn samples_are_printed_as_they_were_written_while_the_reader_is_replaced() {
    let folder = Folder::new("topic-replaced");
    let idl = quote_idl(&folder, "test");
    let filters: [&[&str]; 2] = [&[], &["--filter", "price > 0"]];
    for filter in filters {
        let domain = Domain::reserve();
        let options = ["Quotes", "-n", "500", "--timeout", "60s", "--idl", &idl];
        let child = echo(&domain, &[&options[..], filter].concat());
        let participant = participant(&domain);
        reader_ahead(&participant);
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataWriterQos::default().transient_local();
        let writer = participant.writer_with(&topic, qos).expect("a writer");
        for price in 1..=500 {
            writer.write(&quote("A", price, None)).expect("room");
            // The history has the last one alone.
            writer
                .wait_for_acknowledgments(PATIENCE)
                .expect("it has come");
        }
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(said.contains("TRANSIENT_LOCAL, and it is read as RELIABLE TRANSIENT_LOCAL"));
        let printed = String::from_utf8(output.stdout).expect("text");
        let samples = objects(printed.lines().map(str::to_owned));
        let prices: Vec<_> = samples.iter().map(|sample| &sample["price"]).collect();
        assert_eq!(prices, (1..=500).collect::<Vec<i64>>(), "{said}");
        assert_eq!(output.status.code(), Some(0), "{said}");
    }
}

#[test]
fn a_writer_that_was_there_first_is_made_to_match_who_comes() {
    let folder = Folder::new("topic-write-ahead");
    let idl = quote_idl(&folder, "test");
    let domain = Domain::reserve();
    let child = publish(&domain, &["symbol: A", "--defaults", "--idl", &idl]);
    let participant = participant(&domain);
    let view = participant.discovery();
    let ahead = || view.publications().into_iter().next();
    let ahead = view.wait_for(PATIENCE, ahead).expect("a writer");
    assert_eq!(ahead.qos.durability, Durability::Volatile);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let demanding = DataReaderQos::default().reliable().transient_local();
    let subscriber = SubscriberQos::default().partition(["desk"]);
    let reader = participant.subscriber(subscriber);
    let reader = reader.reader(&topic, demanding).expect("a reader");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let samples: Vec<_> = reader.take().data().cloned().collect();
    assert_eq!(samples, [quote("A", 0, None)]);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.ends_with("1 sample written, 1 reader now\n"), "{said}");
}

#[test]
fn nobody_gets_the_samples_only_if_that_is_asked_for() {
    let domain = Domain::reserve();
    let folder = Folder::new("topic-nobody");
    let idl = quote_idl(&folder, "test");
    let publish = |options: &[&str]| {
        let child = publish(&domain, &[&["symbol: A", "--defaults"], options].concat());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), said)
    };
    let (status, said) = publish(&["--wait", "0", "--idl", &idl]);
    assert_eq!(
        (status, said.as_str()),
        (Some(0), "1 sample written, 0 readers now\n")
    );
    let has_topic = format!("nobody in domain {} has the topic `Quotes`", domain.id);
    let (status, said) = publish(&["--timeout", "2s", "--idl", &idl]);
    assert_eq!(status, Some(1));
    let expected = format!(
        "waiting for 1 reader of the topic `Quotes`, for 2s at most\nerror: {has_topic}, so nobody would get \
         the samples\nhint: start readers first, or write to nobody with `--wait 0`\n"
    );
    assert_eq!(said, expected);
    // Somebody has to tell the type.
    let (status, said) = publish(&["--wait", "0", "--timeout", "2s"]);
    assert_eq!(status, Some(1));
    let expected = format!(
        "waiting for somebody who tells the type of the topic `Quotes`, for 2s at most\nerror: {has_topic}, so \
         its type is not known\n"
    );
    assert!(said.starts_with(&expected), "{said}");
    folder.write("quote.idl", b"struct A { long x; }; struct B { long y; };");
    let (status, said) = publish(&["--wait", "0", "--timeout", "100ms", "--idl", &idl]);
    assert_eq!(status, Some(1));
    let expected = "so which of the file's types is meant is not known\nhint: `--type` names it\n";
    assert!(said.ends_with(expected), "{said}");
    let (status, said) = publish(&["--wait", "0", "--idl", &idl, "--type", "B"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("B has no member `symbol`"), "{said}");
}

/// Nobody could tell which of its types is meant, so nobody is waited for.
#[test]
fn a_file_without_a_type_for_topics_is_an_error_at_once() {
    let domain = Domain::reserve();
    let folder = Folder::new("topic-no-type");
    let text = "@nested struct Quote { string symbol; int64 price; }; enum Side { BUY, SELL };";
    folder.write("quote.idl", text.as_bytes());
    let sample = r#"{"symbol":"A","price":1}"#;
    let commands: [&[&str]; 2] = [&["echo", "Quotes"], &["pub", "Quotes", sample]];
    for command in commands {
        let options = ["-d", &domain.id, "--timeout", "1h", "--idl", "quote.idl"];
        let run = tickwire(&folder, &[&["topic"], command, &options[..]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
        assert_eq!(
            run.stderr,
            "error: quote.idl has no struct that is for topics\n\
             hint: `--type` names one that is `@nested`; or give the file that has it\n"
        );
    }
    let named = ["--idl", "quote.idl", "--type", "Quote", "--wait", "0"];
    let publish = ["topic", "pub", "Quotes", sample, "-d", &domain.id];
    let run = tickwire(&folder, &[&publish[..], &named].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[test]
fn writers_that_come_later_are_shown_whatever_partition_they_are_in() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let writer_in = |partition: &str| {
        let publisher = participant.publisher(PublisherQos::default().partition([partition]));
        let qos = DataWriterQos::default();
        publisher.writer(&topic, qos).expect("a writer")
    };
    let us = writer_in("us");
    let child = echo(&domain, &["Quotes", "-n", "2", "--timeout", "60s"]);
    us.wait_for_matched(1, PATIENCE).expect("a match");
    us.write(&quote("A", 1, None)).expect("room");
    let eu = writer_in("eu");
    eu.wait_for_matched(1, PATIENCE).expect("a match");
    eu.write(&quote("B", 1, None)).expect("room");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn ctrl_c_ends_the_subscription() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let writer = participant.writer(&topic).expect("a writer");
    let mut child = echo(&domain, &["Quotes"]);
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    let pid = i32::try_from(child.id()).expect("a process id");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn too_few_samples_are_a_failure() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().transient_local();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    writer.write(&quote("A", 1, None)).expect("room");
    let folder = Folder::new("topic-few");
    let arguments = ["topic", "echo", "Quotes", "-d", &domain.id];
    let run = tickwire(
        &folder,
        &[&arguments[..], &["--count", "2", "--timeout", "3s"]].concat(),
    );
    assert_eq!((run.status, run.stdout.lines().count()), (1, 1));
    assert!(
        run.stderr
            .contains("error: 1 of 2 samples of the topic `Quotes` came"),
        "{}",
        run.stderr
    );
    let heading = "topic `Quotes` of type test::Quote: 1 writer offers RELIABLE TRANSIENT_LOCAL, and it is read as \
                   RELIABLE TRANSIENT_LOCAL\n";
    assert!(run.stderr.starts_with(heading), "{}", run.stderr);
    let none = tickwire(&folder, &[&arguments[..], &["--count", "0"]].concat());
    assert_eq!(none.status, 2);
    assert!(none.stderr.contains("0 is not in 1.."), "{}", none.stderr);
}

/// A writer of a history of quotes: A 1 (7), B -2, and the end of A.
fn history(domain: &Domain) -> tickwire::DataWriter<Quote> {
    let participant = participant(domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all().transient_local();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    writer.write(&quote("A", 1, Some(7))).expect("room");
    writer.write(&quote("B", -2, None)).expect("room");
    writer.dispose(&quote("A", 0, None)).expect("room");
    writer.write(&quote("C", 3, None)).expect("room");
    writer
}

/// What a run of `tickwire topic echo Quotes` prints.
fn echoed(domain: &Domain, options: &[&str]) -> (i32, String, String) {
    let child = echo(domain, &[&["Quotes", "--timeout", "30s"], options].concat());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let status = output.status.code().unwrap_or(-1);
    (status, text(output.stdout), text(output.stderr))
}

#[test]
fn a_field_or_a_line_of_ones_own_is_printed() {
    let domain = Domain::reserve();
    let writer = history(&domain);
    let (status, printed, said) = echoed(&domain, &["-n", "3", "--field", "size"]);
    assert_eq!((status, printed.as_str()), (0, "7\nnull\nnull\n"), "{said}");
    assert!(
        said.ends_with("-- samples not shown: 1 ends of instances, which have no such fields --\n"),
        "{said}"
    );
    let format = r"{symbol}\t{price} {$sequence_number} {$writer}";
    let (status, printed, said) = echoed(&domain, &["--once", "--format", format]);
    let expected = format!("A\t1 1 {}\n", writer.guid());
    assert_eq!((status, printed), (0, expected), "{said}");
    let (status, printed, said) = echoed(&domain, &["-n", "2", "-o", "json"]);
    let array: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!((status, &array[1]["price"]), (0, &json!(-2)), "{said}");

    for (options, error) in [
        (
            ["--field", "prise"],
            "`test::Quote` has no member `prise`; is `price` meant?",
        ),
        (
            ["--format", "{x}"],
            "`test::Quote` has no member `x`; it has symbol, price, size",
        ),
        (["--filter", "price >"], "at byte 7 of the filter:"),
    ] {
        let (status, _, said) = echoed(&domain, &options);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(error), "{said}");
    }
}

#[test]
fn what_a_filter_is_not_true_of_is_not_shown() {
    let domain = Domain::reserve();
    let _writer = history(&domain);
    let options = ["-n", "2", "--filter", "price > 0 AND symbol <> 'X'"];
    let (status, printed, said) = echoed(&domain, &[&options[..], &["--field", "symbol"]].concat());
    assert_eq!((status, printed.as_str()), (0, "\"A\"\n\"C\"\n"), "{said}");
    assert!(said.contains("-- samples not shown: "), "{said}");
}

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
        // What comes in one datagram has come at one time, and has no rate.
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
    assert!(windows.iter().all(|window| window["scope"] == "window"));
}

#[test]
fn an_echo_that_is_stopped_holds_up_no_writer() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    // Shorter than the lease of the stopped process, by which alone a reliable reader would be let go of.
    let qos = DataWriterQos::default().reliable(Duration::from_secs(5));
    let qos = qos.keep_all().max_unacknowledged_bytes(1 << 16);
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let child = echo(&domain, &["Quotes", "--best-effort"]);
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    kill(pid, Signal::SIGSTOP).expect("it is ours");
    let symbol = "A".repeat(1_000);
    for price in 0..1_000 {
        writer
            .write(&quote(&symbol, price, None))
            .expect("nobody to wait for");
    }
    kill(pid, Signal::SIGKILL).expect("it is ours");
    child.wait_with_output().expect("it was killed");
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

#[test]
fn a_best_effort_reader_has_the_only_sample() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let reader = participant.reader(&topic).expect("a reader");
    let folder = Folder::new("topic-pub-best-effort");
    let sample = r#"{"symbol":"A","price":1}"#;
    for _ in 0..3 {
        let run = tickwire(
            &folder,
            &["topic", "pub", "-d", &domain.id, "Quotes", sample],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let end = "1 sample written, 1 reader now, 1 of them best effort, without confirmation\n";
        assert!(run.stderr.ends_with(end), "{}", run.stderr);
        reader.wait_for_data(PATIENCE).expect("the sample");
        let written: Vec<_> = reader.take().data().cloned().collect();
        assert_eq!(written, [quote("A", 1, None)]);
    }
}

#[test]
fn samples_go_by_the_transport_that_the_command_line_or_a_profile_chooses() {
    let folder = Folder::new("topic-pub-transport");
    let profile = b"[profiles.wire.participant]\ntransports = [\"tcp\"]\n";
    folder.write("wire.toml", profile);
    let in_file = ["--qos-file", "wire.toml", "--qos-profile", "wire"];
    for (options, by_tcp) in [
        (&[][..], false),
        (&["--transport", "tcp"], true),
        (&in_file, true),
    ] {
        let domain = Domain::reserve();
        let all = [Transport::Udp, Transport::Multicast, Transport::Tcp];
        let participant = builder(&domain).transports(all);
        let participant = participant.build().expect("a participant");
        let reader = quotes_reader(&participant);
        let sample = r#"{"symbol":"A","price":1}"#;
        let publish = ["topic", "pub", "-d", &domain.id, "Quotes", sample];
        let run = tickwire(&folder, &[&publish[..], options].concat());
        assert_eq!(run.status, 0, "{options:?}: {}", run.stderr);
        reader.wait_for_data(PATIENCE).expect("the sample");
        let connections = participant.counters().tcp.opened;
        assert_eq!(connections > 0, by_tcp, "{options:?}");
    }
}

#[test]
fn a_wrong_sample_is_told_of_before_readers_are_missed() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let _writer = participant.writer(&topic).expect("a writer");
    let folder = Folder::new("topic-pub-wrong");
    for (sample, error) in [
        (r#"{"symbol":"#, "is no JSON"),
        (r#"{"simbol":"C"}"#, "did you mean `symbol`?"),
        (
            r#"{"symbol":"C","price":1}"#,
            "has 0 of the 1 reader waited for",
        ),
    ] {
        let arguments = ["topic", "pub", "-d", &domain.id, "Quotes", sample];
        let run = tickwire(&folder, &[&arguments[..], &["--timeout", "300ms"]].concat());
        assert!(run.stderr.contains(error), "{sample}: {}", run.stderr);
    }
}

#[test]
fn samples_are_written_by_the_learned_type() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let demanding = DataReaderQos::default()
        .reliable()
        .keep_all()
        .transient_local();
    let reader = participant
        .reader_with(&topic, demanding)
        .expect("a reader");
    let folder = Folder::new("topic-pub");
    let publish = |options: &[&str]| {
        let arguments = ["topic", "pub", "-d", &domain.id, "Quotes"];
        tickwire(&folder, &[&arguments[..], options].concat())
    };
    let run = publish(&[
        r#"{"symbol":"A","price":-9223372036854775808,"size":7}"#,
        r#"{"symbol":"B","price":2}"#,
        r#"{"disposed":{"symbol":"A"}}"#,
    ]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    assert!(
        run.stderr.ends_with("3 samples written, 1 reader now\n"),
        "{}",
        run.stderr
    );
    let samples = reader.take();
    let quotes: Vec<_> = samples.data().cloned().collect();
    assert_eq!(quotes, [quote("A", i64::MIN, Some(7)), quote("B", 2, None)]);
    let ended = samples.iter().filter(|sample| sample.data().is_none());
    let ended: Vec<_> = ended.filter_map(|sample| sample.key_holder()).collect();
    assert!(ended.iter().any(|key| key.symbol == "A"), "{ended:?}");
    drop(samples);

    let run = publish(&[
        r#"{"symbol":"C"}"#,
        "--defaults",
        "--rate",
        "500",
        "--count",
        "3",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let written: Vec<_> = reader.take().data().cloned().collect();
    assert_eq!(written, vec![quote("C", 0, None); 3]);

    let run = publish(&[
        "symbol: D\nprice: 0x10\nsize: 1\n---\nsymbol: E\nprice: -1",
        "--once",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let written: Vec<_> = reader.take().data().cloned().collect();
    assert_eq!(written, [quote("D", 16, Some(1)), quote("E", -1, None)]);

    for (options, error) in [
        (
            [r#"{"symbol":"C"}"#, "--once"],
            "not a sample of test::Quote: the member `price` is not given\nhint: --defaults fills in",
        ),
        (
            [r#"{"simbol":"C"}"#, "--once"],
            "test::Quote has no member `simbol`; did you mean `symbol`?",
        ),
        (
            ["{", "--once"],
            "`{` is no JSON: line 1, column 2: expected",
        ),
        (
            ["{}", "--rate=0"],
            "expected 0.000001 to 1000000 samples a second",
        ),
    ] {
        let run = publish(&options);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains(error), "{}", run.stderr);
    }
}

/// What the profile sets wins over what would match the readers; of the rest, they decide.
#[test]
fn samples_are_written_as_the_profile_says() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let lenient = DataReaderQos::default()
        .reliable()
        .representation([RepresentationId::XCDR1, RepresentationId::XCDR2])
        .by_source_timestamp();
    // Of the reader's partitions the profile chooses one.
    let subscriber = SubscriberQos::default().partition(["desk", "other"]);
    let reader = participant.subscriber(subscriber).reader(&topic, lenient);
    let reader = reader.expect("a reader");
    let folder = Folder::new("topic-pub-profile");
    let profile = "[[profiles.desk.writer]]\ntopic = 'Quote*'\nrepresentation = ['xcdr1']\n\
                   durability = 'transient_local'\nhistory = { kind = 'keep_last', depth = 7 }\n\
                   [[profiles.desk.writer]]\nlifespan = '1ns'\n\
                   [profiles.desk.publisher]\npartition = ['desk']\ngroup_data = [1]\n";
    folder.write("qos.toml", profile.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "pub", "-d", &domain.id, "Quotes", "-"])
        .args(["--qos-file", "qos.toml"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts");
    let mut input = child.stdin.take().expect("it is piped");
    input
        .write_all(b"{\"symbol\":\"A\",\"price\":1}\n")
        .expect("it reads");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let samples: Vec<_> = reader.take().data().cloned().collect();
    assert_eq!(samples, [quote("A", 1, None)]);
    let mut writers = participant.discovery().publications();
    writers.retain(|data| data.topic_name == "Quotes");
    let offers: Vec<_> = writers.iter().map(|data| &data.qos).collect();
    let [offer] = offers.as_slice() else {
        panic!("one writer, not {offers:?}");
    };
    assert_eq!(offer.data_representation, [RepresentationId::XCDR1]);
    assert_eq!(offer.durability, Durability::TransientLocal);
    assert_eq!(
        (&offer.partition[..], &offer.group_data[..]),
        (&["desk".to_owned()][..], &[1][..])
    );
    assert_eq!(offer.destination_order, DestinationOrder::BySourceTimestamp);
    assert_eq!(offer.lifespan, Duration::MAX);
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// The profile's partition is asked for in place of all that writers are in.
#[test]
fn samples_are_read_as_the_profile_says() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let writers = ["other", "desk"].map(|partition| {
        let publisher = participant.publisher(PublisherQos::default().partition([partition]));
        let qos = DataWriterQos::default().transient_local();
        let writer = publisher.writer(&topic, qos).expect("a writer");
        writer.write(&quote(partition, 1, None)).expect("room");
        writer
    });
    let folder = Folder::new("topic-echo-profile");
    folder.write(
        "qos.toml",
        b"[profiles.desk.subscriber]\npartition = ['desk']\n",
    );
    let echo = ["topic", "echo", "-d", &domain.id, "Quotes", "-n", "2"];
    let options = ["--timeout", "2s", "--qos-file", "qos.toml"];
    let run = tickwire(&folder, &[&echo[..], &options].concat());
    let printed = objects(run.stdout.lines().map(str::to_owned));
    assert_eq!(printed.len(), 1, "{}", run.stderr);
    assert_eq!(printed[0]["symbol"], "desk");
    drop(writers);
}

/// Readers of any type do not tell what it is, however many they are, and the writer does.
#[test]
fn who_tells_the_type_is_asked_for_it() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let secretive = builder(&domain).announce_types(false);
    let secretive = secretive.build().expect("a participant");
    let same = secretive.topic::<Quote>("Quotes").expect("a topic");
    let readers = [(); 4].map(|()| secretive.reader(&same).expect("a reader"));
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(4, PATIENCE).expect("a match");
    let run = tickwire(
        &Folder::new("topic-pub-told"),
        &[
            "topic",
            "pub",
            "-d",
            &domain.id,
            "Quotes",
            "symbol: A",
            "--defaults",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        run.stderr,
        "1 sample written, 4 readers now, 4 of them best effort, without confirmation\n"
    );
    drop(readers);
}

/// A reader of quotes that keeps what it gets.
fn quotes_reader(participant: &DomainParticipant) -> tickwire::DataReader<Quote> {
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    participant.reader_with(&topic, qos).expect("a reader")
}

#[test]
fn as_many_readers_as_are_asked_for_are_waited_for() {
    let domain = Domain::reserve();
    let one = participant(&domain);
    let first = quotes_reader(&one);
    let folder = Folder::new("topic-wait");
    let sample = r#"{"symbol":"A","price":1}"#;
    let arguments = [
        "topic", "pub", "-d", &domain.id, "Quotes", sample, "--wait", "2",
    ];
    let run = tickwire(&folder, &[&arguments[..], &["--timeout", "2s"]].concat());
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("topic `Quotes` has 1 of the 2 readers waited for"),
        "{}",
        run.stderr
    );
    assert_eq!(first.take().len(), 0);

    let child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(arguments)
        .args(["--timeout", "30s"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts");
    let two = participant(&domain);
    let second = quotes_reader(&two);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.ends_with("1 sample written, 2 readers now\n"),
        "{said}"
    );
    for reader in [first, second] {
        let samples: Vec<_> = reader.take().data().cloned().collect();
        assert_eq!(samples, [quote("A", 1, None)]);
    }
}

#[test]
fn samples_are_written_from_a_stream_of_json_and_yaml() {
    let domain = Domain::reserve();
    let participant = participant(&domain);
    let reader = quotes_reader(&participant);
    let mut child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "pub", "-d", &domain.id, "Quotes", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts");
    let mut input = child.stdin.take().expect("it is piped");
    input
        .write_all(b"{\"symbol\":\"A\",\"price\":1}\n---\nsymbol: B\nprice: 2\n---\n")
        .expect("it reads");
    // They are written while the stream goes on.
    let mut came = Vec::new();
    while came.len() < 2 {
        reader.wait_for_data(PATIENCE).expect("samples");
        came.extend(reader.take().data().cloned());
    }
    assert_eq!(came, [quote("A", 1, None), quote("B", 2, None)]);
    input.write_all(b"symbol: [C\n").expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("`symbol: [C` is no YAML: line "), "{said}");
}
