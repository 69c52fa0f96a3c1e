//! `tickwire topic echo`.

use std::time::Duration;

use super::{
    PATIENCE, Quote, builder, echo, echoed, history, lines, objects, participant, quote,
    quotes_reader,
};
use crate::common::{Domain, Folder, tickwire};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tickwire::{DataWriterQos, PublisherQos, Transport};

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
