//! `tickwire topic info|find`, `tickwire node` and `tickwire qos check`, looking at endpoints of this
//! process: both sides of each pair are others' to the command.

use std::time::Duration;

use crate::common::{Domain, Folder, Run, tickwire};
use serde_json::{Value, json};
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, PublisherQos, SubscriberQos, Topic, Transport,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: i64,
}

fn participant(domain: &Domain, name: &str) -> DomainParticipant {
    let id = domain.id.parse().expect("a number");
    let builder = DomainParticipant::builder(id).name(name);
    builder.build().expect("a participant")
}

fn topic(participant: &DomainParticipant, name: &str) -> Topic<Quote> {
    participant.topic(name).expect("a topic")
}

fn run(name: &str, domain: &Domain, arguments: &[&str]) -> Run {
    tickwire(
        &Folder::new(name),
        &[arguments, &["-d", &domain.id]].concat(),
    )
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn info_tells_all_that_endpoints_announce() {
    let domain = Domain::reserve();
    let (one, two) = (participant(&domain, "one"), participant(&domain, "two"));
    let qos = DataWriterQos::default()
        .transient_local()
        .deadline(Duration::from_millis(5));
    let writer = one.publisher(PublisherQos::default().partition(["A"]));
    let writer = writer
        .writer(&topic(&one, "Quotes"), qos)
        .expect("a writer");
    let filtered = topic(&two, "Quotes").filtered("some", "price > %0", &["3"]);
    let reader = two.reader(&filtered.expect("a filter")).expect("a reader");

    let told = json_of(&run(
        "info",
        &domain,
        &["topic", "info", "Quotes", "-o", "json"],
    ));
    assert_eq!(
        (&told["topic"], &told["type"]),
        (&json!("Quotes"), &json!("test::Quote"))
    );
    let [offered, requested] = [&told["endpoints"][0], &told["endpoints"][1]];
    assert_eq!(offered["guid"], writer.guid().to_string());
    assert_eq!(offered["participant"]["name"], "one");
    assert_eq!(offered["participant"]["vendor"], "Tickwire");
    assert_eq!(offered["participant"]["pid"], std::process::id());
    assert_eq!(
        offered["qos"],
        json!({
            "DURABILITY": "TRANSIENT_LOCAL",
            "DEADLINE": "5ms",
            "PARTITION": "[\"A\"]",
            "DATA_REPRESENTATION": "XCDR2",
        })
    );
    assert_eq!(
        offered["type_ids"]["complete"].as_str().map(str::len),
        Some(28)
    );
    assert_eq!(offered["type_ids"], requested["type_ids"]);
    assert!(
        offered["locators"][0]
            .as_str()
            .is_some_and(|at| at.starts_with("udp/127.0.0.1:"))
    );
    assert_eq!(requested["guid"], reader.guid().to_string());
    assert_eq!(
        requested["content_filter"],
        json!({"expression": "price > %0", "parameters": ["3"]})
    );
    let reason = told["mismatches"][0]["reasons"][0].as_str().expect("text");
    assert!(
        reason.starts_with("PARTITION: the reader requests [\"\"]"),
        "{reason}"
    );

    let lines = run("info-lines", &domain, &["topic", "info", "Quotes"]);
    assert_eq!(lines.status, 0, "{}", lines.stderr);
    for part in [
        "of one (Tickwire)",
        "DEADLINE             5ms",
        "price > %0 [\"3\"]",
    ] {
        assert!(lines.stdout.contains(part), "{part} in\n{}", lines.stdout);
    }
    let unknown = run("info-unknown", &domain, &["topic", "info", "quotes"]);
    assert_eq!(unknown.status, 1);
    assert!(
        unknown.stderr.contains("hint: there is a topic `Quotes`"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn where_nothing_is_found_other_transports_are_hinted_at() {
    let domain = Domain::reserve();
    for (transport, hint) in [
        ("udp", "by TCP alone are not heard here: `--transport tcp` "),
        (
            "tcp",
            "without TCP are not heard here: `--transport udp,multicast` ",
        ),
    ] {
        for command in [["topic", "ls"], ["node", "ls"], ["qos", "check"]] {
            let options = ["--transport", transport, "--timeout", "100ms"];
            let none = run("nothing", &domain, &[&command[..], &options].concat());
            assert_eq!(none.status, 0, "{}", none.stderr);
            assert!(none.stderr.contains(hint), "{command:?}: {}", none.stderr);
        }
    }
    let both = [
        "topic",
        "ls",
        "--transport",
        "udp,tcp",
        "--timeout",
        "100ms",
    ];
    let none = run("nothing", &domain, &both);
    assert!(!none.stderr.contains("hint"), "{}", none.stderr);
}

#[test]
fn topics_are_found_by_their_type() {
    let domain = Domain::reserve();
    let one = participant(&domain, "one");
    let _writers = ["A", "B"].map(|name| one.writer(&topic(&one, name)).expect("a writer"));
    for name in ["Quote", "test::Quote"] {
        let found = json_of(&run(
            "find",
            &domain,
            &["topic", "find", name, "-o", "json"],
        ));
        let row =
            |topic| json!({"topic": topic, "type": "test::Quote", "writers": 1, "readers": 0});
        assert_eq!(found, json!([row("A"), row("B")]));
    }
    let none = run("find-none", &domain, &["topic", "find", "Qoute"]);
    assert_eq!((none.status, none.stdout.as_str()), (1, ""));
    let near = run("find-near", &domain, &["topic", "find", "test::Qote"]);
    assert!(
        near.stderr.contains("hint: there is a type `test::Quote`"),
        "{}",
        near.stderr
    );
}

#[test]
fn participants_are_listed_and_told_of() {
    let domain = Domain::reserve();
    let one = participant(&domain, "one");
    let _writer = one.writer(&topic(&one, "Quotes")).expect("a writer");
    let prefix = format!("{:?}", one.guid().prefix);

    let list = json_of(&run("node-ls", &domain, &["node", "ls", "-o", "json"]));
    let row = &list[0];
    assert_eq!(
        (&row["participant"], &row["name"]),
        (&json!(prefix), &json!("one"))
    );
    assert_eq!((&row["writers"], &row["readers"]), (&json!(1), &json!(0)));
    assert_eq!(
        (&row["pid"], &row["lease_s"]),
        (&json!(std::process::id()), &json!(20.0))
    );
    assert!(row["age_s"].is_u64(), "{row}");

    for name in ["one", &prefix[..8]] {
        let told = json_of(&run(
            "node-info",
            &domain,
            &["node", "info", name, "-o", "json"],
        ));
        assert_eq!(told[0]["participant"], prefix);
        assert_eq!(told[0]["endpoints"][0]["topic"], "Quotes");
    }
    let lines = run("node-info-lines", &domain, &["node", "info", "one"]);
    for part in [
        "participant          one (Tickwire)",
        "writer               Quotes (test::Quote)",
    ] {
        assert!(lines.stdout.contains(part), "{part} in\n{}", lines.stdout);
    }
    let none = run("node-none", &domain, &["node", "info", "On"]);
    assert_eq!(none.status, 1);
}

#[test]
fn all_pairs_that_do_not_match_are_explained() {
    let domain = Domain::reserve();
    let (one, two) = (participant(&domain, "one"), participant(&domain, "two"));
    let best_effort = DataWriterQos::default().best_effort();
    let _writer = one
        .writer_with(&topic(&one, "Quotes"), best_effort)
        .expect("a writer");
    let quotes = topic(&two, "Quotes");
    let reader = two.reader_with(&quotes, DataReaderQos::default().reliable());
    let _reader = reader.expect("a reader");
    let _content = two.reader(&quotes).expect("a reader");
    let elsewhere = two.subscriber(SubscriberQos::default().partition(["B"]));
    let elsewhere = elsewhere.reader(&quotes, DataReaderQos::default());
    let _elsewhere = elsewhere.expect("a reader");
    let _misspelt = two.reader(&topic(&two, "Qoutes")).expect("a reader");

    let checked = run("check", &domain, &["qos", "check", "-o", "json"]);
    assert_eq!(checked.status, 1, "{}", checked.stderr);
    let told = json_of(&checked);
    assert_eq!(
        (&told["matching_pairs"], &told["mismatched_pairs"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        told["near_misses"],
        json!([{"topic": "Qoutes", "has": "reader", "lacks": "writer", "nearest": "Quotes"}])
    );
    let reasons = |index: usize| told["mismatches"][index]["reasons"][0].clone();
    let mut reasons = [reasons(0), reasons(1)];
    reasons.sort_by_key(|reason| reason["policy"].to_string());
    assert_eq!(
        reasons,
        [
            json!({
                "policy": "PARTITION",
                "requested": "[\"B\"]",
                "offered": "[\"\"]",
                "change": "share one partition name, or use a pattern on one side",
            }),
            json!({
                "policy": "RELIABILITY",
                "requested": "RELIABLE",
                "offered": "BEST_EFFORT",
                "change": "make the writer RELIABLE or the reader BEST_EFFORT",
            }),
        ]
    );
    let lines = run("check-lines", &domain, &["qos", "check", "Quotes"]);
    assert_eq!(lines.status, 1);
    for part in [
        "Quotes: a writer and a reader do not match",
        "  RELIABILITY  RELIABLE             BEST_EFFORT        make the writer RELIABLE",
        "1 topic, 1 pair matches, 2 do not",
    ] {
        assert!(lines.stdout.contains(part), "{part} in\n{}", lines.stdout);
    }
}

#[test]
fn nothing_to_complain_of_is_no_failure() {
    let domain = Domain::reserve();
    let one = participant(&domain, "one");
    let quotes = topic(&one, "Quotes");
    let _pair = (
        one.writer(&quotes).expect("a writer"),
        one.reader(&quotes).expect("a reader"),
    );
    let checked = run("check-fine", &domain, &["qos", "check"]);
    assert_eq!(
        (checked.status, checked.stdout.as_str()),
        (0, "1 topic, 1 pair matches, 0 do not\n")
    );
}

#[test]
fn a_match_without_a_transport_in_common_is_a_failure() {
    let domain = Domain::reserve();
    let by = |transports: &[Transport]| {
        let id = domain.id.parse().expect("a number");
        let builder = DomainParticipant::builder(id).transports(transports.iter().copied());
        builder.build().expect("a participant")
    };
    let (one, two) = (by(&[Transport::Udp]), by(&[Transport::Tcp]));
    let _pair = (
        one.writer(&topic(&one, "Quotes")).expect("a writer"),
        two.reader(&topic(&two, "Quotes")).expect("a reader"),
    );
    let check = ["qos", "check", "--transport", "udp,tcp"];
    let checked = run("check-transports", &domain, &check);
    let apart = "Quotes: 1 pair matches, but samples go by nothing: the writer's participant has UDP alone and the \
                 reader's TCP alone";
    assert!(checked.stdout.starts_with(apart), "{}", checked.stdout);
    let why = "error: 1 pair of writer and reader has no transport in common\n";
    assert_eq!((checked.status, checked.stderr.as_str()), (1, why));
    let told = json_of(&run(
        "check-both",
        &domain,
        &[&check[..], &["-o", "json"]].concat(),
    ));
    assert_eq!(told["apart"][0]["apart"], json!(["UDP", "TCP"]));
    assert_eq!(told["apart"][0]["way"], Value::Null);
}

#[test]
fn what_only_partitions_keep_apart_is_no_failure() {
    let domain = Domain::reserve();
    let one = participant(&domain, "one");
    let quotes = topic(&one, "Quotes");
    let _writer = one.writer(&quotes).expect("a writer");
    let elsewhere = one.subscriber(SubscriberQos::default().partition(["B"]));
    let _reader = elsewhere
        .reader(&quotes, DataReaderQos::default())
        .expect("a reader");
    let checked = run("check-apart", &domain, &["qos", "check"]);
    assert_eq!(checked.status, 0, "{}", checked.stderr);
    assert!(
        checked
            .stdout
            .ends_with("1 topic, 0 pairs match, 1 do not\n"),
        "{}",
        checked.stdout
    );
}

#[test]
fn a_process_can_keep_to_itself_where_it_runs() {
    let domain = Domain::reserve();
    let id = domain.id.parse().expect("a number");
    let builder = DomainParticipant::builder(id).announce_process(false);
    let _silent = builder.build().expect("a participant");
    let list = json_of(&run("node-quiet", &domain, &["node", "ls", "-o", "json"]));
    assert_eq!(
        (&list[0]["host"], &list[0]["pid"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn a_type_is_printed_as_idl() {
    let domain = Domain::reserve();
    let one = participant(&domain, "one");
    // A reader is enough.
    let _reader = one.reader(&topic(&one, "Quotes")).expect("a reader");
    let idl = run("type", &domain, &["topic", "type", "Quotes"]);
    assert_eq!(idl.status, 0, "{}", idl.stderr);
    let expected = "\
module test {
  @appendable
  struct Quote {
    @key string symbol;
    int64 price;
  };
};
";
    assert_eq!(idl.stdout, expected);
    let told = json_of(&run(
        "type-json",
        &domain,
        &["topic", "type", "Quotes", "-o", "json"],
    ));
    assert_eq!(
        (&told[0]["type"], &told[0]["idl"]),
        (&json!("test::Quote"), &json!(expected))
    );
}

/// Of another name than the type of the topic's other endpoints.
#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Trade")]
struct Trade {
    price: i64,
}

#[test]
fn a_second_type_of_a_topic_that_nobody_tells_is_named() {
    let domain = Domain::reserve();
    let one = participant(&domain, "one");
    let _reader = one.reader(&topic(&one, "Quotes")).expect("a reader");
    let id = domain.id.parse().expect("a number");
    let silent = DomainParticipant::builder(id)
        .name("silent")
        .announce_types(false);
    let silent = silent.build().expect("a participant");
    let _same = silent.reader(&topic(&silent, "Quotes")).expect("a reader");
    let ask = || run("type-silent", &domain, &["topic", "type", "Quotes"]);
    // What it is like another one tells.
    assert_eq!(ask().stderr, "");
    let other = DomainParticipant::builder(id)
        .name("other")
        .announce_types(false);
    let other = other.build().expect("a participant");
    let trades = other.topic::<Trade>("Quotes").expect("a topic");
    let _trades = other.writer(&trades).expect("a writer");
    let asked = ask();
    assert_eq!(asked.status, 0, "{}", asked.stderr);
    assert!(asked.stdout.contains("struct Quote"), "{}", asked.stdout);
    let told = asked.stderr.lines().collect::<Vec<_>>();
    let is_told = matches!(told[..], [line] if line.starts_with("the type of writer "));
    assert!(is_told && told[0].contains("other"), "{told:?}");
}

#[test]
fn the_doctor_sees_what_does_not_match() {
    let domain = Domain::reserve();
    let one = participant(&domain, "one");
    let quotes = topic(&one, "Quotes");
    let best_effort = DataWriterQos::default().best_effort();
    let writer = one.writer_with(&quotes, best_effort).expect("a writer");
    let _content = one.reader(&quotes).expect("a reader");
    let elsewhere = one.subscriber(SubscriberQos::default().partition(["B"]));
    let elsewhere = elsewhere.reader(&quotes, DataReaderQos::default());
    let _elsewhere = elsewhere.expect("a reader");
    let check = |told: &Value, name: &str| {
        let mut checks = told["checks"].as_array().expect("a list").iter();
        checks
            .find(|check| check["check"] == name)
            .expect(name)
            .clone()
    };

    let told = json_of(&run("doctor", &domain, &["doctor", "-o", "json"]));
    assert_eq!(check(&told, "matches")["status"], "OK");
    let apart = "all but 1 pair that partitions keep apart";
    assert_eq!(check(&told, "matches")["found"], apart);
    assert_eq!(check(&told, "multicast test")["status"], "OK");
    let seen = check(&told, "participants")["found"].clone();
    assert_eq!(seen, "1 participant, 1 topic, 1 writer, 2 readers");
    let ports = check(&told, "ports of the domain")["found"].to_string();
    assert!(
        ports.contains(&format!("({})", std::process::id())),
        "{ports}"
    );

    let demanding = DataReaderQos::default().reliable();
    let _reader = one
        .reader_with(writer.topic(), demanding)
        .expect("a reader");
    let examined = run("doctor-fail", &domain, &["doctor"]);
    assert_eq!(examined.status, 1, "{}", examined.stdout);
    let lines = "FAIL  matches                1 pair of writer and reader does not match\n";
    assert!(examined.stdout.contains(lines), "{}", examined.stdout);
    let mend = format!("-> `tickwire qos check --domain {}` says why", domain.id);
    assert!(examined.stdout.contains(&mend), "{}", examined.stdout);
    let unknown = run(
        "doctor-usage",
        &domain,
        &["doctor", "--interface", "no-such"],
    );
    assert_eq!(unknown.status, 2, "{}", unknown.stderr);
}

#[test]
fn types_that_are_not_assignable_are_told_with_the_member() {
    #[derive(Topic)]
    #[topic(name = "test::Quote")]
    struct Other {
        #[topic(key)]
        symbol: String,
        price: String,
    }

    let domain = Domain::reserve();
    let (one, two) = (participant(&domain, "one"), participant(&domain, "two"));
    let _writer = one.writer(&topic(&one, "Quotes")).expect("a writer");
    let other = two.topic::<Other>("Quotes").expect("a topic");
    let _reader = two.reader(&other).expect("a reader");
    let checked = run("check-types", &domain, &["qos", "check", "-o", "json"]);
    assert_eq!(checked.status, 1, "{}", checked.stderr);
    let reason = json_of(&checked)["mismatches"][0]["reasons"][0].clone();
    assert_eq!(reason["policy"], "types differ", "{reason}");
    assert_eq!(
        reason["offered"],
        "`test::Quote.price`: the writer has int64, the reader string"
    );
}
