//! The stages together: an exchange, a feed handler and a subscriber, each a process.

use std::io::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Domain, Folder, tickwire};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, DynamicType, Serialized};

/// A command that runs beside the test and is killed if the test fails.
struct Beside(Option<Child>);

impl Beside {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary starts");
        Self(Some(child))
    }

    /// Its exit status and standard output.
    fn end(self) -> (Option<i32>, String) {
        let (status, stdout, _) = self.end_with_notes();
        (status, stdout)
    }

    /// The same, and its standard error.
    fn end_with_notes(mut self) -> (Option<i32>, String, String) {
        let child = self.0.take().expect("it was started");
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ended = child.kill();
            let _waited = child.wait();
        }
    }
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A feed from a file, and its subscriber: what both report.
fn file_to_subscriber(folder: &Folder, domain: &str, run: &[&str]) -> (Value, Value) {
    let subscribe = [
        "feed",
        "subscribe",
        "--domain",
        domain,
        "--timeout",
        "60s",
        "-o",
        "json",
    ];
    let subscriber = Beside::start(folder, &subscribe);
    let arguments = [&["feed", "run", "--domain", domain, "-o", "json"], run].concat();
    let run = tickwire(folder, &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let (status, received) = subscriber.end();
    assert_eq!(status, Some(0));
    (object(&run.stdout), object(&received)[0].clone())
}

#[test]
fn the_demo_accounts_for_every_message() {
    let folder = Folder::new("demo");
    let run = tickwire(&folder, &["demo", "--messages", "1000", "-o", "json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let examples = object(&run.stdout);
    for (example, name, samples, topics) in [(0, "simple", 1_000, 4), (1, "complex", 1_400, 200)] {
        let report = &examples[example];
        assert_eq!(report["example"], name);
        assert_eq!(
            (&report["sent"], &report["decoded"]),
            (&1_000.into(), &1_000.into())
        );
        for stage in ["published", "received", "echoed"] {
            assert_eq!(report[stage], samples, "{name} {stage}");
        }
        assert_eq!(report["topics"], topics);
    }
}

#[test]
fn the_demo_says_how_to_go_on_from_where_it_was_started() {
    let folder = Folder::new("demo-next");
    let run = tickwire(
        &folder,
        &["demo", "--example", "simple", "--messages", "100"],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let lies_at = env!("CARGO_BIN_EXE_tickwire");
    let is_quoted = run
        .stderr
        .contains(&format!("\n  '{lies_at}' perf latency "));
    let is_plain = run.stderr.contains(&format!("\n  {lies_at} perf latency "));
    assert!(is_quoted || is_plain, "{}", run.stderr);
}

#[test]
fn the_golden_file_reaches_a_subscriber_whole() {
    // Beside the repository; the folder is not part of it.
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden");
    if !golden.exists() {
        // Past the harness, which keeps what passing tests print to itself.
        let test = "the_golden_file_reaches_a_subscriber_whole";
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN: {test}: no {}",
            golden.display()
        );
        return;
    }
    let file = |name| golden.join(name).display().to_string();
    let (data, templates) = (file("complex30000.dat"), file("complex-templates.xml"));
    let folder = Folder::new("golden");
    let run = ["--templates", &templates, "--file", &data];
    let (handled, received) = file_to_subscriber(&folder, &Domain::reserve().id, &run);
    let samples = |at: usize| {
        (
            &handled["groups"][at]["template"],
            &handled["groups"][at]["samples"],
        )
    };
    assert_eq!(samples(0), (&"MarketData".into(), &41_700.into()));
    assert_eq!(samples(1), (&"QuoteRequest".into(), &300.into()));
    assert_eq!(
        (&handled["decoded"], &handled["echoed"]),
        (&30_000.into(), &42_000.into())
    );
    assert_eq!(
        (&received["topics"], &received["received"]),
        (&200.into(), &42_000.into())
    );
}

#[test]
fn a_keyed_feed_has_one_topic_a_template() {
    let folder = Folder::new("keyed");
    folder.generate("complex", &["--messages", "2000"]);
    let run = [
        "--templates",
        "complex.xml",
        "--file",
        "complex.dat",
        "--map",
        "keyed",
    ];
    let (handled, received) = file_to_subscriber(&folder, &Domain::reserve().id, &run);
    assert_eq!(
        (&handled["published"], &handled["echoed"]),
        (&2_800.into(), &2_800.into())
    );
    assert_eq!(
        (&received["topics"], &received["received"]),
        (&2.into(), &2_800.into())
    );
}

#[test]
fn without_echo_samples_only_arrive() {
    let folder = Folder::new("noecho");
    folder.generate("simple", &["--messages", "2000"]);
    let run = [
        "--templates",
        "simple.xml",
        "--file",
        "simple.dat",
        "--no-echo",
    ];
    let reserved = Domain::reserve();
    let domain = reserved.id.as_str();
    let subscribe = [
        "feed",
        "subscribe",
        "--no-echo",
        "--domain",
        domain,
        "--timeout",
        "60s",
        "-o",
        "csv",
    ];
    let subscriber = Beside::start(&folder, &subscribe);
    let arguments = [&["feed", "run", "--domain", domain], &run[..]].concat();
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        subscriber.end(),
        (Some(0), "topics,received,echoed\n4,2000,0\n".to_owned())
    );
}

/// A process may make no file larger than the limit, as if the disk were full.
#[test]
fn a_full_store_costs_readers_that_are_there_nothing() {
    let folder = Folder::new("full-store");
    folder.generate("simple", &["--messages", "4000"]);
    let profile = b"[profiles.kept]
participant.store = 'store'
writer.durability = 'persistent'
writer.durability_service.history_kind = 'keep_all'
";
    folder.write("qos.toml", profile);
    let reserved = Domain::reserve();
    let domain = reserved.id.as_str();
    let subscribe = ["feed", "subscribe", "--no-echo", "--timeout", "60s"];
    let options = ["-d", domain, "--transport", "udp", "-o", "json"];
    let subscriber = Beside::start(&folder, &[&subscribe[..], &options].concat());
    let run = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let run = Command::new("sh")
        .args(["-c", run, "sh", env!("CARGO_BIN_EXE_tickwire")])
        .args(["feed", "run", "-t", "simple.xml", "-f", "simple.dat"])
        .args(["--no-echo", "--qos-file", "qos.toml"])
        .args(options)
        .current_dir(folder.path())
        .output()
        .expect("there is a shell");
    let notes = String::from_utf8(run.stderr).expect("text");
    assert_eq!(run.status.code(), Some(1), "{notes}");
    assert!(notes.contains("sent but not stored"), "{notes}");
    let report = object(&String::from_utf8(run.stdout).expect("text"));
    assert_eq!(report["published"], 4_000, "{notes}");
    let not_stored = report["not_stored"].as_u64().expect("a number");
    assert!((1..4_001).contains(&not_stored), "{not_stored}");
    let (status, received) = subscriber.end();
    assert_eq!(status, Some(0));
    assert_eq!(object(&received)[0]["received"], 4_000);
}

#[test]
fn a_reader_that_makes_no_room_is_named_and_the_feed_reported() {
    let folder = Folder::new("no-room");
    folder.generate("simple", &["--messages", "2000"]);
    folder.write(
        "qos.toml",
        b"profiles.small.writer.resource_limits.max_samples = 8\n",
    );
    let domain = Domain::reserve();
    let run = ["feed", "run", "-t", "simple.xml", "-f", "simple.dat"];
    let options = ["--no-echo", "--patience", "5s", "--qos-file", "qos.toml"];
    let options = [&options[..], &["-d", &domain.id, "-o", "json"]].concat();
    let handler = Beside::start(&folder, &[&run[..], &options].concat());
    let id = domain.id.parse().expect("a number");
    let builder = DomainParticipant::builder(id).name("sluggish");
    let participant = builder.build().expect("a participant");
    let view = participant.discovery();
    let topics = || Some(view.publications()).filter(|them| them.len() == 5);
    let topics = view.wait_for(Duration::from_secs(20), topics);
    // They take nothing, and have room for two.
    let _readers: Vec<_> = topics
        .expect("the feed's topics")
        .iter()
        .map(|publication| {
            let opaque = DynamicType::opaque(&publication.type_name, false);
            let topic = participant.topic_of::<Serialized>(&publication.topic_name, opaque);
            let qos = DataReaderQos::default().keep_all().reliable();
            let qos = qos.with(|policies| policies.resource_limits.max_samples = Some(2));
            let reader = participant.reader_with(&topic.expect("a sound name"), qos);
            reader.expect("sound QoS")
        })
        .collect();
    let (status, report, notes) = handler.end_with_notes();
    assert_eq!(status, Some(1), "{notes}");
    let told = ": readers made no room for a sample after 5.0s: the reader ";
    assert!(notes.contains(told), "{notes}");
    assert!(notes.contains(" of \"sluggish\" is "), "{notes}");
    assert!(notes.contains("hint: `tickwire topic info "), "{notes}");
    let report = object(&report);
    assert!(report["published"].as_u64() > Some(0), "{notes}");
    assert!(report["blocked"].as_u64() > Some(0));
    assert!(report["blocked_s"].as_f64() >= Some(5.0));
}

/// What a subscriber beside a feed handler is told, and the feed handler.
fn both_notes(name: &str, subscribe: &[&str], run: &[&str]) -> (String, String) {
    let folder = Folder::new(name);
    folder.generate("simple", &["--messages", "8"]);
    folder.write(
        "qos.toml",
        b"profiles.lossy.writer.reliability = 'best_effort'\n",
    );
    let reserved = Domain::reserve();
    let domain = reserved.id.as_str();
    let subscribe = [
        &["feed", "subscribe", "--timeout", "6s", "-d", domain],
        subscribe,
    ];
    let subscriber = Beside::start(&folder, &subscribe.concat());
    let handler = ["feed", "run", "-t", "simple.xml", "-f", "simple.dat"];
    let options = ["--patience", "4s", "-d", domain];
    let handler = tickwire(&folder, &[&handler[..], &options, run].concat());
    assert_eq!(handler.status, 1, "{}", handler.stderr);
    let (status, _, told) = subscriber.end_with_notes();
    assert_eq!(status, Some(1), "{told}");
    (told, handler.stderr)
}

#[test]
fn a_round_trip_of_which_one_side_wants_none_is_explained_by_both() {
    let (subscriber, handler) = both_notes("one-sided", &["--no-echo"], &[]);
    assert!(
        subscriber.contains(".echo\" and expects samples that come back, which `--no-echo`"),
        "{subscriber}"
    );
    let said = "has subscribers, but too few send its samples back on ";
    let hint =
        "hint: start `tickwire feed subscribe` without `--no-echo`, or this with `--no-echo`";
    assert!(
        handler.contains(said) && handler.matches(hint).count() == 2,
        "{handler}"
    );
}

#[test]
fn who_does_not_match_is_named_by_both_with_the_reason() {
    let (subscriber, handler) = both_notes("mismatched", &[], &["--qos-file", "qos.toml"]);
    let reason = "\n  RELIABILITY: the reader requests RELIABLE, the writer offers BEST_EFFORT; ";
    for (told, who) in [
        (subscriber, "the writer of \"tickwire feed run (Tickwire)\""),
        (
            handler,
            "the reader of \"tickwire feed subscribe (Tickwire)\"",
        ),
    ] {
        assert!(told.contains(who), "{told}");
        assert_eq!(
            told.matches(reason).count(),
            1,
            "once for all topics: {told}"
        );
    }
}

#[test]
fn of_many_who_do_not_match_ten_are_named_with_escapes() {
    let folder = Folder::new("many-mismatched");
    let domain = Domain::reserve();
    let id = domain.id.parse().expect("a number");
    // Who writes these names is not to move the cursor of who reads them.
    let _writers = [(); 12].map(|()| {
        let builder = DomainParticipant::builder(id).name("other\u{1b}[2J");
        let participant = builder.build().expect("a participant");
        let opaque = DynamicType::opaque("Type", false);
        let topic = participant.topic_of::<Serialized>("Topic\u{1b}[1A", opaque);
        let qos = DataWriterQos::default().best_effort();
        let writer = participant.writer_with(&topic.expect("a sound name"), qos);
        writer.expect("a writer")
    });
    let run = tickwire(
        &folder,
        &[
            "feed",
            "subscribe",
            "--no-echo",
            "--timeout",
            "3s",
            "-d",
            &domain.id,
        ],
    );
    assert_eq!(run.status, 1, "{}", run.stderr);
    let block =
        r#"topic "Topic\u{1b}[1A": the writer of "other\u{1b}[2J (Tickwire)" does not match"#;
    assert_eq!(run.stderr.matches(block).count(), 10, "{}", run.stderr);
    let more = "and 2 more: `tickwire qos check` lists them\n";
    assert_eq!(run.stderr.matches(more).count(), 1, "{}", run.stderr);
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
}

#[test]
fn decoding_alone_needs_no_subscriber() {
    let folder = Folder::new("decode-only");
    folder.generate("simple", &["--messages", "2000"]);
    let arguments = [
        "feed",
        "run",
        "--templates",
        "simple.xml",
        "--file",
        "simple.dat",
        "--decode-only",
        "-o",
        "json",
    ];
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report = object(&run.stdout);
    assert_eq!(
        (&report["decoded"], &report["published"]),
        (&2_000.into(), &0.into())
    );
    let article = [&arguments[..arguments.len() - 1], &["article"]].concat();
    let run = tickwire(&folder, &article);
    let row = "EmptyBuilder::endMessage\t2001\t";
    assert_eq!(run.stdout.matches(row).count(), 1, "{}", run.stdout);
}

#[test]
fn the_articles_rows_count_samples() {
    let folder = Folder::new("article");
    folder.generate("complex", &["--messages", "2000"]);
    let reserved = Domain::reserve();
    let run = tickwire(
        &folder,
        &[
            "feed",
            "run",
            "-t",
            "complex.xml",
            "--file",
            "complex.dat",
            "--wait",
            "0",
            "--no-echo",
            "-d",
            &reserved.id,
            "-o",
            "article",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    for row in ["::endMessage()\t2780\t", "::endMessage()\t20\t"] {
        assert!(run.stdout.contains(row), "{}", run.stdout);
    }
}

#[test]
fn interfaces_and_durations_are_checked() {
    let folder = Folder::new("checked");
    folder.generate("simple", &["--messages", "8"]);
    let run = ["feed", "run", "-t", "simple.xml", "--file", "simple.dat"];
    for arguments in [
        &[&run[..], &["--dds-interface", "nowhere0"]].concat()[..],
        &["feed", "subscribe", "--interface", "nowhere0"],
        &["topic", "ls", "--interface", "nowhere0"],
    ] {
        let run = tickwire(&folder, arguments);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains("nowhere0"), "{}", run.stderr);
    }
    for arguments in [
        &["feed", "send", "simple.dat", "--pause", "20"][..],
        &["feed", "subscribe", "--pause", "20"],
        &["topic", "ls", "--timeout", "20"],
        &["perf", "throughput", "--duration", "20"],
    ] {
        let run = tickwire(&folder, arguments);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(
            run.stderr.contains("`20` has no unit; write `20ns`"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_damaged_feed_is_handled_as_far_as_it_goes_and_reported() {
    let folder = Folder::new("damaged");
    folder.generate("simple", &["--messages", "2000"]);
    let mut file = folder.read("simple.dat");
    // The first message of the first packet gets a template id that does not exist.
    file[6] = 0xD0;
    folder.write("bad.dat", &file);
    let arguments = [
        "feed",
        "run",
        "--templates",
        "simple.xml",
        "--file",
        "bad.dat",
        "--decode-only",
    ];
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr
            .contains("1 packet malformed, the first: packet 0: byte"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("D9"), "{}", run.stderr);
}

#[test]
fn nobody_to_publish_to_is_said_with_a_hint() {
    let folder = Folder::new("nobody");
    folder.generate("simple", &["--messages", "8"]);
    let reserved = Domain::reserve();
    let domain = reserved.id.as_str();
    let arguments = [
        "feed",
        "run",
        "--templates",
        "simple.xml",
        "--file",
        "simple.dat",
        "--patience",
        "200ms",
        "--domain",
        domain,
    ];
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("topic Quote has too few subscribers"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("hint: start `tickwire feed subscribe` for all topics first"),
        "{}",
        run.stderr
    );
    let alone = tickwire(&folder, &[&arguments[..], &["--wait", "0"]].concat());
    assert_eq!(alone.status, 0, "{}", alone.stderr);
    assert!(
        alone.stderr.contains("wait for no subscriber\n"),
        "{}",
        alone.stderr
    );
}

#[test]
fn two_lines_need_numbers() {
    let folder = Folder::new("numbers");
    folder.generate("simple", &["--messages", "8"]);
    let run = tickwire(
        &folder,
        &[
            "feed",
            "run",
            "--templates",
            "simple.xml",
            "--line-b",
            "224.1.2.134:13014",
        ],
    );
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("--preamble seq"), "{}", run.stderr);
    let domain = tickwire(
        &folder,
        &[
            "feed",
            "run",
            "--templates",
            "simple.xml",
            "--domain",
            "8675309",
        ],
    );
    assert_eq!(domain.status, 2);
}

/// The packets of a file with their numbers before them, as `feed send --preamble seq` sends them.
fn numbered_packets(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut packets) = (file, Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (packet, next) = after.split_at(u32::from_le_bytes(*length) as usize);
        let number = u32::try_from(packets.len()).expect("a small file");
        packets.push([&number.to_le_bytes()[..], packet].concat());
        rest = next;
    }
    packets
}

/// Sends a feed on two lines of which each loses what `is_lost` says, and handles it.
fn lossy_lines(name: &str, is_lost: fn(line: usize, packet: usize) -> bool) -> crate::common::Run {
    let folder = Folder::new(name);
    folder.generate("simple", &["--messages", "2000", "--packet-bytes", "100"]);
    let packets = numbered_packets(&folder.read("simple.dat"));
    // Ports that are free now; the feed handler binds them in a moment.
    let addresses = [0, 1].map(|_: usize| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.local_addr().expect("bound").to_string()
    });
    let run = [
        "feed",
        "run",
        "--templates",
        "simple.xml",
        "--decode-only",
        "--preamble",
        "seq",
        "--group",
        &addresses[0],
        "--line-b",
        &addresses[1],
        "--silence",
        "3s",
        "-o",
        "json",
    ];
    let mut handler = Beside::start(&folder, &run);
    // It says when it receives.
    let stderr = handler
        .0
        .as_mut()
        .and_then(|child| child.stderr.take())
        .expect("piped");
    let mut stderr = BufReader::new(stderr);
    let mut line = String::new();
    stderr.read_line(&mut line).expect("text");
    assert!(line.starts_with("receiving from"), "{line}");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    for (number, packet) in packets.iter().enumerate() {
        for (line, address) in addresses.iter().enumerate() {
            if !is_lost(line, number) {
                sender.send_to(packet, address).expect("loopback takes it");
            }
        }
    }
    let (status, stdout) = handler.end();
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("text");
    crate::common::Run {
        status: status.unwrap_or(-1),
        stdout,
        stderr: said,
    }
}

#[test]
fn what_one_line_loses_the_other_brings() {
    let run = lossy_lines("arbitrated", |line, packet| packet % 20 == 5 + 7 * line);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report = object(&run.stdout);
    assert_eq!(
        (&report["decoded"], &report["lost_packets"]),
        (&2_000.into(), &0.into())
    );
    assert!(
        report["line_a"]["lost"].as_u64() > Some(0) && report["line_b"]["lost"].as_u64() > Some(0)
    );
}

#[test]
fn the_slower_line_is_heard_to_its_end() {
    let run = lossy_lines("whole", |_, _| false);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report = object(&run.stdout);
    let lost = ["line_a", "line_b"].map(|line| report[line]["lost"].as_u64());
    assert_eq!(lost, [Some(0); 2]);
}

#[test]
fn what_both_lines_lose_is_told() {
    let run = lossy_lines("lost", |_, packet| packet == 10 || packet == 11);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("2 packets lost on all lines"),
        "{}",
        run.stderr
    );
    let report = object(&run.stdout);
    assert_eq!(
        (&report["lost_packets"], &report["gaps"]),
        (&2.into(), &1.into())
    );
}

/// The securities of a file are looked for as its feed is decoded: here the second packet goes on from the first.
#[test]
fn securities_are_found_under_the_reset_policy_of_the_feed() {
    let folder = Folder::new("survey");
    let (domain, templates) = (Domain::reserve(), br#"<templates>
        <template name="T" id="1"><sequence name="S"><uInt32 name="SecurityID"><delta/></uInt32></sequence></template>
        <template name="Done" id="99"><uInt32 name="X"><constant value="1"/></uInt32></template></templates>"#);
    folder.write("t.xml", templates);
    let packets = [
        &[4, 0, 0, 0, 0xC0, 0x81, 0x81, 0x85][..],
        &[4, 0, 0, 0, 0xC0, 0x81, 0x81, 0x80],
        &[2, 0, 0, 0, 0xC0, 0xE3],
    ];
    folder.write("t.dat", &packets.concat());
    let run = tickwire(
        &folder,
        &[
            "feed",
            "run",
            "-t",
            "t.xml",
            "--file",
            "t.dat",
            "--reset",
            "never",
            "--wait",
            "0",
            "--no-echo",
            "--domain",
            &domain.id,
            "-o",
            "json",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report = object(&run.stdout);
    assert_eq!(
        (&report["topics"], &report["published"]),
        (&1.into(), &2.into())
    );
}

#[test]
fn a_last_template_that_does_not_exist_is_refused_with_the_names() {
    let folder = Folder::new("nope");
    folder.generate("simple", &["--messages", "8"]);
    let feed = ["--templates", "simple.xml", "--file", "simple.dat"];
    let arguments = [
        &["feed", "run", "--done", "Nope", "--decode-only"],
        &feed[..],
    ]
    .concat();
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("no template is named Nope\nhint: there are Quote, New,"),
        "{}",
        run.stderr
    );
}

/// Starts a command, interrupts it once it has said `cue`, and waits for its end.
fn interrupted(folder: &Folder, arguments: &[&str], cue: &str) -> (Option<i32>, String) {
    let mut command = Beside::start(folder, arguments);
    let child = command.0.as_mut().expect("it was started");
    let id = i32::try_from(child.id()).expect("a process id");
    let stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut lines = stderr.lines().map_while(Result::ok);
    assert!(
        lines.any(|line| line.starts_with(cue)),
        "it never said {cue}"
    );
    kill(Pid::from_raw(id), Signal::SIGINT).expect("it runs");
    command.end()
}

#[test]
fn interrupted_commands_print_what_they_have_counted() {
    let folder = Folder::new("interrupted");
    folder.generate("simple", &["--messages", "8"]);
    let reserved = Domain::reserve();
    let domain = ["--domain", reserved.id.as_str(), "-o", "csv"];
    let subscribe = [&["feed", "subscribe"], &domain[..]].concat();
    assert_eq!(
        interrupted(&folder, &subscribe, "waiting for topics"),
        (Some(0), "topics,received,echoed\n0,0,0\n".to_owned())
    );
    let run = [
        &["feed", "run", "-t", "simple.xml", "--file", "simple.dat"],
        &domain[..],
    ]
    .concat();
    let (status, stdout) = interrupted(&folder, &run, "4 topics wait for 1 subscriber each");
    assert_eq!((status, stdout.lines().count()), (Some(0), 1), "{stdout}");
    let address = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    address
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("not zero");
    let group = address.local_addr().expect("bound").to_string();
    let send = [
        "feed",
        "send",
        "simple.dat",
        "--loop",
        "--group",
        &group,
        "-o",
        "csv",
    ];
    let mut sender = Beside::start(&folder, &send);
    address.recv(&mut [0; 2_048]).expect("the first packet");
    let child = sender.0.as_mut().expect("it was started");
    let id = i32::try_from(child.id()).expect("a process id");
    kill(Pid::from_raw(id), Signal::SIGINT).expect("it runs");
    let (status, stdout) = sender.end();
    assert_eq!((status, stdout.lines().count()), (Some(0), 2), "{stdout}");
}

#[test]
fn another_feed_on_the_same_topics_is_named() {
    let folder = Folder::new("rival");
    folder.generate("simple", &["--messages", "8"]);
    let reserved = Domain::reserve();
    let domain = reserved.id.as_str();
    let rival = DomainParticipant::builder(reserved.id.parse().expect("a number")).name("rival");
    let rival = rival.build().expect("a free domain");
    let opaque = DynamicType::opaque("Quote", false);
    let topic = rival
        .topic_of::<Serialized>("Quote", opaque)
        .expect("a sound name");
    let _writer = rival.writer(&topic).expect("a writer");
    let subscriber = Beside::start(&folder, &["feed", "subscribe", "--domain", domain]);
    let feed = [
        "-t",
        "simple.xml",
        "--file",
        "simple.dat",
        "--domain",
        domain,
    ];
    let run = tickwire(&folder, &[&["feed", "run"], &feed[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("warning: `rival` ("), "{}", run.stderr);
    assert_eq!(subscriber.end().0, Some(0));
}
