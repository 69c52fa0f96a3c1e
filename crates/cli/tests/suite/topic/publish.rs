//! `tickwire topic pub`.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{PATIENCE, Quote, builder, participant, quote, quotes_reader};
use crate::common::{Domain, Folder, tickwire};
use tickwire::qos::{DestinationOrder, Durability, RepresentationId};
use tickwire::{DataReaderQos, SubscriberQos};

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
    let end = "topic `Quotes` has 1 of the 2 readers waited for\n\
               hint: start more readers, or write to fewer with `--wait 1`\n";
    assert!(run.stderr.ends_with(end), "{}", run.stderr);
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
