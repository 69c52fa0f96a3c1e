//! `tickwire feed`: generating and sending, right and wrong.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{Domain, Folder, Run, tickwire};

#[test]
fn the_same_seed_makes_the_same_file() {
    let folder = Folder::new("seed");
    folder.generate("complex", &["--messages", "500", "--seed", "7"]);
    let first = folder.read("complex.dat");
    folder.generate("complex", &["--messages", "500", "--seed", "7"]);
    assert_eq!(folder.read("complex.dat"), first);
    folder.generate("complex", &["--messages", "500", "--seed", "8"]);
    assert_ne!(folder.read("complex.dat"), first);
}

#[test]
fn packets_arrive_as_they_are_without_their_length() {
    let folder = Folder::new("send");
    folder.generate("simple", &["--messages", "400", "--packet-bytes", "500"]);
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    receiver
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    let address = receiver.local_addr().expect("bound").to_string();
    let run = tickwire(
        &folder,
        &[
            "feed",
            "send",
            "simple.dat",
            "--group",
            &address,
            "--pause",
            "200us",
            "-o",
            "csv",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let file = folder.read("simple.dat");
    let (mut rest, mut count) = (&file[..], 0);
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (packet, next) = after.split_at(u32::from_le_bytes(*length) as usize);
        let mut datagram = [0; 2_048];
        let size = receiver
            .recv(&mut datagram)
            .expect("a datagram for each packet");
        assert_eq!(&datagram[..size], packet);
        (rest, count) = (next, count + 1);
    }
    let row = run.stdout.lines().nth(1).expect("a row after the names");
    assert_eq!(row.split(',').next(), Some(count.to_string().as_str()));
}

#[test]
fn both_lines_get_each_packet_with_its_number() {
    let folder = Folder::new("lines");
    folder.generate("simple", &["--messages", "200", "--packet-bytes", "500"]);
    let sockets = ["127.0.0.1:0"; 2].map(|any| {
        let socket = UdpSocket::bind(any).expect("a free port");
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a timeout");
        socket
    });
    let [a, b] = [0, 1].map(|at: usize| sockets[at].local_addr().expect("bound").to_string());
    let run = tickwire(
        &folder,
        &[
            "feed",
            "send",
            "simple.dat",
            "--group",
            &a,
            "--line-b",
            &b,
            "--preamble",
            "seq",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    for number in 0..3_u32 {
        let datagrams = sockets.each_ref().map(|socket| {
            let mut datagram = [0; 2_048];
            let size = socket.recv(&mut datagram).expect("at least three packets");
            datagram[..size].to_vec()
        });
        assert_eq!(datagrams[0], datagrams[1]);
        assert_eq!(datagrams[0][..4], number.to_le_bytes());
    }
}

/// The packets of `simple.dat` at these places, with these numbers before them.
fn write_numbered(folder: &Folder, name: &str, packets: impl IntoIterator<Item = (u32, u32)>) {
    let file = folder.read("simple.dat");
    let (mut rest, mut all) = (&file[..], Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (packet, next) = after.split_at(u32::from_le_bytes(*length) as usize);
        all.push(packet);
        rest = next;
    }
    let mut numbered = Vec::new();
    for (place, number) in packets {
        let packet = all[place as usize % all.len()];
        let length = u32::try_from(packet.len() + 4).expect("short");
        numbered.extend(length.to_le_bytes());
        numbered.extend(number.to_le_bytes());
        numbered.extend(packet);
    }
    folder.write(name, &numbered);
}

/// What `feed run` reports of a file of numbered packets.
fn handled(folder: &Folder, name: &str) -> (Run, Value) {
    let run = ["feed", "run", "--decode-only", "-t", "simple.xml"];
    let options = ["--file", name, "--preamble", "seq", "-o", "json"];
    let run = tickwire(folder, &[&run[..], &options].concat());
    let report = serde_json::from_str(&run.stdout);
    let report = report.unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
    (run, report)
}

#[test]
fn packets_that_were_swapped_are_put_in_order() {
    let folder = Folder::new("swapped");
    folder.generate("simple", &["--messages", "200", "--packet-bytes", "200"]);
    let mut order: Vec<u32> = (0..20).collect();
    order.swap(5, 6);
    order.swap(12, 15);
    write_numbered(&folder, "feed.dat", order.iter().map(|&at| (at, at)));
    let (run, report) = handled(&folder, "feed.dat");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let line = serde_json::json!({"won": 20, "duplicate": 0, "late": 0, "stray": 0, "lost": 0});
    assert_eq!(report["line_a"], line);
    // One is missing: nothing else is late for it.
    order.retain(|&at| at != 9);
    write_numbered(&folder, "feed.dat", order.iter().map(|&at| (at, at)));
    let (run, report) = handled(&folder, "feed.dat");
    assert_eq!(run.status, 1);
    let told = "error: 1 packet lost on all lines\n";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    let line = serde_json::json!({"won": 19, "duplicate": 0, "late": 0, "stray": 0, "lost": 1});
    assert_eq!(report["line_a"], line);
}

#[test]
fn packets_that_a_file_lacks_are_told_by_their_numbers() {
    let folder = Folder::new("missing");
    folder.generate("simple", &["--messages", "200", "--packet-bytes", "200"]);
    let numbers = [98, 99, 100, 106, 108, 107, 110].map(|number| (number, number));
    write_numbered(&folder, "feed.dat", numbers);
    let decode = ["fast", "decode", "feed.dat", "-t", "simple.xml"];
    let decode = [&decode[..], &["--preamble", "seq"]].concat();
    for threads in ["1", "2"] {
        let options = ["-o", "jsonl", "--threads", threads];
        let run = tickwire(&folder, &[&decode[..], &options].concat());
        let told = "6 packets missing: 101-105, 109\n";
        assert_eq!((run.status, &*run.stderr), (0, told));
    }
    let run = tickwire(&folder, &[&decode[..], &["--stats", "-o", "json"]].concat());
    let counts: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(counts["missing_packets"], 6);
    let runs = serde_json::json!([[101, 105], [109, 109]]);
    assert_eq!(counts["first_missing"], runs);
    assert_eq!(run.stderr, "6 packets missing: 101-105, 109\n");
}

#[test]
fn a_feed_that_starts_over_is_told_and_loses_nothing() {
    let folder = Folder::new("restart");
    folder.generate("simple", &["--messages", "200", "--packet-bytes", "200"]);
    let session = |count| (1..count).map(|number| (number, number));
    write_numbered(&folder, "feed.dat", session(31).chain(session(21)));
    let (run, report) = handled(&folder, "feed.dat");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        (&report["restarts"], &report["undecided"]),
        (&1.into(), &0.into())
    );
    let line = serde_json::json!({"won": 50, "duplicate": 0, "late": 0, "stray": 0, "lost": 0});
    assert_eq!(report["line_a"], line);
    let run = ["feed", "run", "--decode-only", "-t", "simple.xml"];
    let options = ["--file", "feed.dat", "--preamble", "seq"];
    let table = tickwire(&folder, &[&run[..], &options].concat()).stdout;
    assert!(table.contains("\nrestarts    1\n"), "{table}");

    write_numbered(&folder, "feed.dat", session(31).chain(session(8)));
    let (run, report) = handled(&folder, "feed.dat");
    assert_eq!((run.status, &report["undecided"]), (1, &7.into()));
    let told = "7 packets at the end with numbers that came before";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

#[test]
fn one_damaged_number_is_not_believed() {
    let folder = Folder::new("stray");
    folder.generate("simple", &["--messages", "200", "--packet-bytes", "200"]);
    let numbers = (500..520).map(|number| match number {
        505 => (number, 0x7FFF_FFFF),
        number => (number, number),
    });
    write_numbered(&folder, "feed.dat", numbers);
    let (run, report) = handled(&folder, "feed.dat");
    assert_eq!(run.status, 1);
    let line = serde_json::json!({"won": 19, "duplicate": 0, "late": 0, "stray": 1, "lost": 1});
    assert_eq!(
        (&report["line_a"], &report["lost_packets"]),
        (&line, &1.into())
    );
    let told = "1 packet lost on all lines; 1 packet has a number far ahead of all others";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

#[test]
fn a_feed_of_which_nothing_came_is_a_failure() {
    let folder = Folder::new("nothing");
    folder.generate("simple", &["--messages", "4"]);
    folder.write("empty.dat", b"");
    folder.write("comment.txt", b"# no packet\n");
    // A port that nobody else has as long as this socket is there.
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("bound").port();
    let group = format!("224.1.2.133:{port}");
    let run = ["feed", "run", "--decode-only", "-t", "simple.xml"];
    let silence = ["--group", &group, "--silence", "10ms"];
    let silent = tickwire(&folder, &[&run[..], &silence].concat());
    assert_eq!(silent.status, 1);
    let told = format!("error: no packet came from {group}\nhint: is that the feed's `--group`");
    assert!(silent.stderr.contains(&told), "{}", silent.stderr);
    for (command, file) in [
        (
            &[&run[..], &["--file", "empty.dat"]].concat()[..],
            "empty.dat",
        ),
        (&["feed", "send", "empty.dat"], "empty.dat"),
        (
            &[&run[..], &["--framing", "hex", "--file", "comment.txt"]].concat(),
            "comment.txt",
        ),
    ] {
        let run = tickwire(&folder, command);
        let refusal = format!("error: {file} is empty\n");
        assert_eq!((run.status, run.stderr), (1, refusal));
    }
}

#[test]
fn bad_options_are_refused_with_the_range() {
    let folder = Folder::new("options");
    let no_securities = tickwire(
        &folder,
        &[
            "feed",
            "generate",
            "complex",
            "--out",
            "x.dat",
            "--securities",
            "0",
        ],
    );
    assert_eq!(no_securities.status, 2);
    assert!(
        no_securities
            .stderr
            .contains("securities must be 1 to 100000"),
        "{}",
        no_securities.stderr
    );
    let templates_over_data = tickwire(&folder, &["feed", "generate", "simple", "--out", "x.xml"]);
    assert_eq!(templates_over_data.status, 2);
    let group = ["--group", "224.1.2.3:999", "--line-b", "224.1.2.3:999"];
    for command in [&["send", "x.dat"][..], &["run", "-t", "x.xml"]] {
        let one_line = tickwire(&folder, &[&["feed"], command, &group].concat());
        assert_eq!(one_line.status, 2);
        let told = "`--line-b` is 224.1.2.3:999, as `--group` is";
        assert!(one_line.stderr.contains(told), "{}", one_line.stderr);
    }
    let no_folder = tickwire(
        &folder,
        &["feed", "generate", "simple", "--out", "no/such/x.dat"],
    );
    assert_eq!(no_folder.status, 1);
    assert!(
        no_folder.stderr.contains("no/such/x.dat"),
        "{}",
        no_folder.stderr
    );
}

#[test]
fn what_is_no_number_is_told_what_one_looks_like() {
    let folder = Folder::new("no-number");
    for (command, option, value) in [
        (["feed", "send", "x.dat"], "--rate", "10k"),
        (["topic", "echo", "Quotes"], "--domain", "abc"),
    ] {
        let run = tickwire(&folder, &[&command[..], &[option, value]].concat());
        assert_eq!(run.status, 2);
        let tip = "a whole number is expected, in digits alone";
        assert!(run.stderr.contains(tip), "{}", run.stderr);
    }
}

#[test]
fn templates_of_another_feed_are_told_by_their_ids() {
    let folder = Folder::new("other-templates");
    folder.generate("simple", &["--messages", "400"]);
    let other = br#"<template name="A" id="70"><uInt32 name="X"/></template>"#;
    folder.write("other.xml", other);
    let run = ["feed", "run", "--decode-only", "-t", "other.xml"];
    let of_file = tickwire(&folder, &[&run[..], &["--file", "simple.dat"]].concat());
    // Nobody is waited for to be sent what the file does not say.
    let published = ["feed", "run", "-t", "other.xml", "--file", "simple.dat"];
    let published = tickwire(&folder, &published);
    assert_eq!(published.status, 1);
    let refusal =
        "most of the first packets of simple.dat cannot be decoded, so nothing is published";
    assert!(published.stderr.contains(refusal), "{}", published.stderr);
    // A port that nobody else has as long as this socket is there.
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("bound").port();
    let group = format!("224.1.2.133:{port}");
    let of_line = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args([&run[..], &["--group", &group, "--silence", "200ms"]].concat())
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut of_line = of_line.expect("the built binary starts");
    let mut said = BufReader::new(of_line.stderr.take().expect("it is piped"));
    let mut ready = String::new();
    said.read_line(&mut ready).expect("text");
    let send = tickwire(&folder, &["feed", "send", "simple.dat", "--group", &group]);
    assert_eq!(send.status, 0, "{}", send.stderr);
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    assert_eq!(of_line.wait().expect("it is ours").code(), Some(1));
    for said in [of_file.stderr, published.stderr, rest] {
        let hint = said.lines().rfind(|line| line.starts_with("hint: "));
        let hint = hint.unwrap_or_default();
        let expected = "hint: other.xml has the template ids 70, but ";
        assert!(hint.starts_with(expected), "{said}");
        assert!(hint.contains("packets ask for 1, 2, 3"), "{said}");
    }
}

/// Which option differs is told on both sides.
#[test]
fn who_is_not_asked_for_echoes_is_named() {
    let (folder, domain) = (Folder::new("unasked"), Domain::reserve());
    folder.generate("simple", &["--messages", "40"]);
    let subscriber = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["feed", "subscribe", "-d", &domain.id])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut subscriber = subscriber.expect("the built binary starts");
    let feed = ["feed", "run", "-t", "simple.xml", "--file", "simple.dat"];
    let options = ["-d", &domain.id, "--no-echo", "--patience", "3s"];
    let run = tickwire(&folder, &[&feed[..], &options].concat());
    subscriber.kill().expect("it is ours");
    subscriber.wait().expect("it is ours");
    assert_eq!(run.status, 1);
    let hint = "hint: start `tickwire feed subscribe` with `--no-echo`, too, or this without";
    assert!(
        run.stderr.contains("which `--no-echo` does not ask for"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr.matches(hint).count(), 2, "{}", run.stderr);
}

#[test]
fn of_a_file_that_cannot_be_whole_nothing_is_left() {
    let folder = Folder::new("nothing-left");
    // CME's preamble has no room beside so many bytes.
    let generate = ["feed", "generate", "simple", "--out", "x.dat"];
    let options = ["--venue", "cme", "--packet-bytes", "65507"];
    let run = tickwire(&folder, &[&generate[..], &options].concat());
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(run.stderr.contains("--packet-bytes"), "{}", run.stderr);
    assert!(!folder.path().join("x.dat").exists());
    assert!(!folder.path().join("x.xml").exists());
}

#[test]
fn what_cannot_be_sent_says_why() {
    let folder = Folder::new("unsent");
    folder.generate("simple", &["--messages", "40"]);
    let missing = tickwire(&folder, &["feed", "send", "nothing.dat"]);
    assert_eq!(missing.status, 1);
    assert!(
        missing.stderr.contains("cannot read nothing.dat"),
        "{}",
        missing.stderr
    );
    let unframed = tickwire(&folder, &["feed", "send", "simple.xml"]);
    assert_eq!(unframed.status, 1);
    assert!(
        unframed
            .stderr
            .contains("simple.xml: byte 0: packet length"),
        "{}",
        unframed.stderr
    );
    assert!(
        unframed.stderr.contains("hint: `--framing`"),
        "{}",
        unframed.stderr
    );
    folder.generate("complex", &["--messages", "4", "--venue", "sse"]);
    let step = tickwire(&folder, &["feed", "send", "complex.dat"]);
    assert_eq!(step.status, 1);
    assert!(step.stderr.contains("`--framing step`"), "{}", step.stderr);
    let no_interface = tickwire(
        &folder,
        &["feed", "send", "simple.dat", "--interface", "wire9"],
    );
    assert_eq!(no_interface.status, 2);
    assert!(
        no_interface.stderr.contains("wire9"),
        "{}",
        no_interface.stderr
    );
    let both = tickwire(
        &folder,
        &[
            "feed",
            "send",
            "simple.dat",
            "--pause",
            "1ms",
            "--rate",
            "5",
        ],
    );
    assert_eq!(both.status, 2);
}

#[test]
fn a_closed_standard_error_does_not_stop_the_work() {
    let folder = Folder::new("unread");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["feed", "generate", "simple", "--out", "q.dat"])
        .current_dir(folder.path())
        .stderr(writer)
        .status()
        .expect("the built binary starts");
    assert_eq!(status.code(), Some(0));
    assert!(!folder.read("q.dat").is_empty());
}

#[test]
fn garbage_is_told_once_and_counted_and_a_files_options_need_a_file() {
    let folder = Folder::new("garbage");
    folder.generate("simple", &["--messages", "40", "--venue", "sse"]);
    let step = folder.read("simple.dat");
    folder.write("simple.dat", &[&b"???"[..], &step].concat().repeat(100));
    let run = |options: &[&str]| {
        let command = ["feed", "run", "-t", "simple.xml", "--decode-only"];
        tickwire(&folder, &[&command[..], options].concat())
    };
    let garbage = run(&["--file", "simple.dat", "--venue", "sse"]);
    assert_eq!(garbage.status, 1);
    assert_eq!(garbage.stderr.matches("simple.dat: byte").count(), 1);
    let counted = "100 parts of the file are no packets";
    assert!(garbage.stderr.contains(counted), "{}", garbage.stderr);
    for option in [["--framing", "step"], ["--to", "15001"]] {
        let fileless = run(&option);
        assert_eq!(fileless.status, 2, "{}", fileless.stderr);
        assert!(fileless.stderr.contains("--file"), "{}", fileless.stderr);
    }
}
