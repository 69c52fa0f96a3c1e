//! `tickwire topic echo` and `pub` that have the type from a file, and begin before anybody is there.

use super::{
    PATIENCE, Quote, builder, echo, lines, objects, participant, publish, quote, quote_idl,
    wait_until_known,
};
use crate::common::{Domain, Folder, tickwire};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tickwire::qos::Durability;
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, Guid, SubscriberQos};

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
    let filter: &[&str] = &["--filter", "price > 0"];
    for (module, filter) in [("test", &[][..]), ("test", filter), ("other", &[])] {
        let domain = Domain::reserve();
        let idl = quote_idl(&folder, module);
        let options = ["Quotes", "-n", "2000", "--timeout", "60s", "--idl", &idl];
        let child = echo(&domain, &[&options[..], filter].concat());
        let participant = participant(&domain);
        reader_ahead(&participant);
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataWriterQos::default().transient_local();
        let writer = participant.writer_with(&topic, qos).expect("a writer");
        for price in 1..=2_000 {
            writer.write(&quote("A", price, None)).expect("room");
            // The history has the last one alone, so that who comes in between misses some.
            if price % 50 == 1 {
                writer
                    .wait_for_acknowledgments(PATIENCE)
                    .expect("it has come");
            }
        }
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8(output.stderr).expect("text");
        let heading = format!(
            "topic `Quotes` of type {module}::Quote: 1 writer offers RELIABLE TRANSIENT_LOCAL, and it is read as \
             RELIABLE TRANSIENT_LOCAL\n"
        );
        // Nothing is said to be lost.
        assert_eq!(said, heading);
        let printed = String::from_utf8(output.stdout).expect("text");
        let samples = objects(printed.lines().map(str::to_owned));
        let prices: Vec<_> = samples.iter().map(|sample| &sample["price"]).collect();
        assert_eq!(prices, (1..=2_000).collect::<Vec<i64>>());
        assert_eq!(output.status.code(), Some(0));
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
