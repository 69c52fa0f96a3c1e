//! `tickwire fast decode`: what the user sees, right and wrong.

use crate::common::{Folder, tickwire};

#[test]
fn every_message_is_a_json_object() {
    let folder = Folder::new("jsonl");
    folder.generate("simple", &["--messages", "8"]);
    let run = tickwire(
        &folder,
        &[
            "fast",
            "decode",
            "simple.dat",
            "-t",
            "simple.xml",
            "-o",
            "jsonl",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let objects: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object"))
        .collect();
    let templates: Vec<_> = objects
        .iter()
        .map(|object| object["template"].as_str())
        .collect();
    let expected = [
        "Quote", "New", "Change", "Remove", "Quote", "New", "Change", "Remove", "Done",
    ];
    assert_eq!(templates, expected.map(Some));
    assert_eq!(objects[4]["SequenceNumber"], 5);
    assert!(objects[3].get("Price").is_none(), "Remove has no price");
}

#[test]
fn statistics_count_each_template() {
    let folder = Folder::new("stats");
    folder.generate("complex", &["--messages", "200"]);
    let run = tickwire(
        &folder,
        &[
            "fast",
            "decode",
            "complex.dat",
            "-t",
            "complex.xml",
            "--stats",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let row = |name| {
        run.stdout
            .lines()
            .find(|line| line.starts_with(name))
            .map(|line| line.split_whitespace().nth(1).map(str::to_owned))
    };
    assert_eq!(row("MarketData"), Some(Some("198".to_owned())));
    assert_eq!(row("QuoteRequest"), Some(Some("2".to_owned())));
    assert!(run.stdout.contains("ns/message"));

    let decode = ["fast", "decode", "complex.dat", "-t", "complex.xml"];
    let json = tickwire(&folder, &[&decode[..], &["--stats", "-o", "json"]].concat());
    let object: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(object["templates"][1]["template"], "MarketData");
    assert_eq!(
        (&object["templates"][1]["messages"], &object["messages"]),
        (&198.into(), &201.into())
    );
    let first = [&decode[..], &["--stats", "-o", "json", "--limit", "2"]].concat();
    let first: serde_json::Value =
        serde_json::from_str(&tickwire(&folder, &first).stdout).expect("JSON");
    assert_eq!(first["messages"], 2);
    // Their packets are behind lengths of 4 bytes.
    let file = folder.read("complex.dat");
    let len = |at: usize| {
        file[at..at + 4]
            .iter()
            .rev()
            .fold(0, |n, b| n << 8 | usize::from(*b))
    };
    assert_eq!(first["bytes"], len(0) + len(4 + len(0)));
    let csv = tickwire(&folder, &[&decode[..], &["--stats", "-o", "csv"]].concat());
    assert!(
        csv.stdout
            .starts_with("template,messages,entries,values\nDone,1,0,1\nMarketData,198,"),
        "{}",
        csv.stdout
    );
    for wrong in [&["-o", "csv"][..], &["--stats", "-o", "jsonl"]] {
        assert_eq!(tickwire(&folder, &[&decode[..], wrong].concat()).status, 2);
    }
}

#[test]
fn a_limit_stops_the_table() {
    let folder = Folder::new("limit");
    folder.generate("simple", &["--messages", "100"]);
    let run = tickwire(
        &folder,
        &[
            "fast",
            "decode",
            "simple.dat",
            "-t",
            "simple.xml",
            "--limit",
            "3",
        ],
    );
    assert_eq!(run.stdout.lines().count(), 1 + 3);
    assert!(
        run.stdout
            .lines()
            .nth(1)
            .is_some_and(|line| line.contains("SequenceNumber=1"))
    );
}

#[test]
fn a_truncated_file_is_decoded_up_to_the_byte_that_is_named() {
    let folder = Folder::new("truncated");
    folder.generate("simple", &["--messages", "1000"]);
    let whole = folder.read("simple.dat");
    folder.write("cut.dat", &whole[..whole.len() - 2]);
    let run = tickwire(&folder, &["fast", "decode", "cut.dat", "-t", "simple.xml"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("cut.dat: byte "), "{}", run.stderr);
    assert!(
        run.stderr.contains("ends inside a packet"),
        "{}",
        run.stderr
    );
    let hint = "hint: the file is cut off inside its last packet";
    assert!(run.stderr.contains(hint), "{}", run.stderr);
    assert!(run.stdout.lines().count() > 100);
    let explain = ["fast", "explain", "cut.dat", "-t", "simple.xml", "--failed"];
    let run = tickwire(&folder, &explain);
    assert!(run.stderr.contains(hint), "{}", run.stderr);
    // Of one packet alone it may also be the framing.
    folder.write("cut.dat", &whole[..200]);
    let run = tickwire(&folder, &["fast", "decode", "cut.dat", "-t", "simple.xml"]);
    let hint = "hint: the file is cut off inside its first packet; if it is not, ";
    assert!(run.stderr.contains(hint), "{}", run.stderr);
}

#[test]
fn the_table_has_no_nonsense_of_another_feeds_templates() {
    let folder = Folder::new("nonsense");
    folder.generate("simple", &[]);
    folder.generate("complex", &["--messages", "4"]);
    let decode = ["fast", "decode", "simple.dat", "-t", "complex.xml"];
    let run = tickwire(&folder, &decode);
    assert_eq!((run.status, &*run.stdout), (1, ""), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("no messages are shown"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("is it the template file of this feed?"),
        "{}",
        run.stderr
    );
    let lines = tickwire(&folder, &[&decode[..], &["-o", "jsonl"]].concat());
    assert_eq!(lines.status, 1);
    assert!(!lines.stdout.is_empty(), "{}", lines.stderr);
}

#[test]
fn a_damaged_message_names_packet_byte_template_and_code() {
    let folder = Folder::new("damaged");
    folder.generate("simple", &["--messages", "4", "--packet-bytes", "1"]);
    // The second packet: presence map, then a template id that does not exist.
    let packets = [[2, 0, 0, 0, 0xC0, 0xE3], [2, 0, 0, 0, 0xC0, 0xD0]].concat();
    folder.write("bad.dat", &packets);
    let run = tickwire(&folder, &["fast", "decode", "bad.dat", "-t", "simple.xml"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("bad.dat: packet 1: byte 11: D9"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("(80)"), "{}", run.stderr);
}

#[test]
fn what_follows_a_bad_packet_is_decoded_and_the_bad_ones_are_counted() {
    let folder = Folder::new("badpackets");
    folder.generate("simple", &["--messages", "4"]);
    let (good, bad) = ([2, 0, 0, 0, 0xC0, 0xE3], [2, 0, 0, 0, 0xC0, 0xD0]);
    folder.write("bad.dat", &[&good[..], &bad.repeat(12), &good].concat());
    let decode = ["fast", "decode", "bad.dat", "-t", "simple.xml"];
    for (options, lines) in [(&["-o", "jsonl"][..], 2), (&["-o", "jsonl", "-n", "1"], 1)] {
        let run = tickwire(&folder, &[&decode[..], options].concat());
        assert_eq!(run.stdout.lines().count(), lines);
        assert_eq!(run.status, i32::from(lines > 1), "{}", run.stderr);
    }
    let run = tickwire(&folder, &[&decode[..], &["--stats"]].concat());
    assert_eq!(run.status, 1);
    assert_eq!(run.stderr.lines().count(), 10 + 2, "{}", run.stderr);
    assert!(run.stderr.contains("12 packets could not be decoded"));
}

#[test]
fn garbage_templates_are_refused_with_line_and_column() {
    let folder = Folder::new("garbage");
    folder.generate("simple", &["--messages", "4"]);
    for (name, text) in [
        ("text.xml", "this is no XML"),
        ("open.xml", "<templates>\n  <template name=\"A\" id=\"1\">"),
        (
            "twice.xml",
            "<templates><template name=\"A\" id=\"1\"><uInt32 name=\"X\"><tail/></uInt32></template></templates>",
        ),
    ] {
        folder.write(name, text.as_bytes());
        let run = tickwire(&folder, &["fast", "decode", "simple.dat", "-t", name]);
        assert_eq!(run.status, 1, "{name}: {}", run.stderr);
        let place = format!("error: {name}: line ");
        assert!(run.stderr.starts_with(&place), "{}", run.stderr);
        assert!(run.stderr.contains(": S"), "{}", run.stderr);
    }
}

#[test]
fn strict_refuses_the_dialect_and_says_so() {
    let folder = Folder::new("strict");
    folder.generate("simple", &["--messages", "4"]);
    let run = tickwire(
        &folder,
        &[
            "fast",
            "decode",
            "simple.dat",
            "-t",
            "simple.xml",
            "--strict",
        ],
    );
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("uInt16"), "{}", run.stderr);
    assert!(
        run.stderr.contains("hint: without `--strict`"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_missing_file_and_bad_arguments_are_told_apart() {
    let folder = Folder::new("missing");
    folder.generate("simple", &["--messages", "4"]);
    let missing = tickwire(
        &folder,
        &["fast", "decode", "nothing.dat", "-t", "simple.xml"],
    );
    assert_eq!(missing.status, 1);
    assert!(
        missing.stderr.contains("cannot read nothing.dat"),
        "{}",
        missing.stderr
    );
    let no_templates = tickwire(&folder, &["fast", "decode", "simple.dat"]);
    assert_eq!(no_templates.status, 2);
    assert!(
        no_templates.stderr.contains("--templates"),
        "{}",
        no_templates.stderr
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let folder = Folder::new("pipe");
    folder.generate("simple", &["--messages", "30000"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args([
            "fast",
            "decode",
            "simple.dat",
            "-t",
            "simple.xml",
            "-o",
            "jsonl",
        ])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    stdout.read_line(&mut line).expect("text");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn threads_change_nothing_that_is_seen() {
    let folder = Folder::new("threads");
    folder.generate("simple", &["--messages", "20000", "--packet-bytes", "60"]);
    let mut file = folder.read("simple.dat");
    // Template ids that do not exist, here and there: the packet's length, presence map, id.
    for at in [0, 40_000, 100_000] {
        let next = (at..).find(|at| file[*at..].starts_with(&[0, 0, 0]));
        let first = next.expect("a length's high bytes") + 3;
        file[first] = 0xc0;
        file[first + 1] = 0xd0;
    }
    folder.write("bad.dat", &file);
    let decode = ["fast", "decode", "bad.dat", "-t", "simple.xml"];
    for options in [
        &["-o", "jsonl"][..],
        &["-o", "table"],
        &["-o", "jsonl", "--limit", "7"],
        &["-o", "table", "--limit", "12345"],
        &["--stats", "-o", "csv"],
    ] {
        let one = tickwire(&folder, &[&decode[..], options].concat());
        for threads in ["2", "5"] {
            let more = tickwire(
                &folder,
                &[&decode[..], options, &["--threads", threads]].concat(),
            );
            assert_eq!(one.stdout.len(), more.stdout.len(), "{options:?} {threads}");
            assert!(one.stdout == more.stdout, "{options:?} {threads}");
            assert_eq!(one.stderr, more.stderr, "{options:?} {threads}");
            assert_eq!(one.status, more.status, "{options:?} {threads}");
        }
    }
}

#[test]
fn packets_that_build_on_each_other_are_not_split() {
    let folder = Folder::new("dependent");
    folder.generate("simple", &["--messages", "4"]);
    let decode = [
        "fast",
        "decode",
        "simple.dat",
        "-t",
        "simple.xml",
        "--threads",
        "2",
    ];
    for (options, words) in [
        (
            ["--reset", "template"],
            "messages of template Quote keep the dictionaries",
        ),
        (["--reset", "never"], "packets build on each other"),
        (
            ["--framing", "none"],
            "a file without packets cannot be split",
        ),
    ] {
        let run = tickwire(&folder, &[&decode[..], &options].concat());
        assert_eq!(run.status, 2, "{}", run.stdout);
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert!(run.stderr.contains("hint: `--threads 1`"), "{}", run.stderr);
    }
    let message = tickwire(&folder, &[&decode[..], &["--reset", "message"]].concat());
    assert_ne!(message.status, 2, "{}", message.stderr);
}

#[test]
fn threads_do_not_count_ahead_of_a_limit() {
    let folder = Folder::new("ahead");
    folder.generate("simple", &["--messages", "400", "--packet-bytes", "60"]);
    let count = [
        "fast",
        "decode",
        "simple.dat",
        "-t",
        "simple.xml",
        "--stats",
        "--limit",
        "10",
    ];
    let more = tickwire(&folder, &[&count[..], &["--threads", "2"]].concat());
    assert_eq!(more.status, 2, "{}", more.stdout);
    assert!(
        more.stderr.contains("hint: `--threads 1`"),
        "{}",
        more.stderr
    );
    let one = tickwire(&folder, &[&count[..], &["-o", "json"]].concat());
    assert!(one.stdout.contains("\"messages\": 10,"), "{}", one.stdout);
}

#[test]
fn threads_that_no_machine_has_are_refused() {
    let folder = Folder::new("thousands");
    folder.generate("simple", &["--messages", "4"]);
    let decode = ["fast", "decode", "simple.dat", "-t", "simple.xml"];
    for (threads, status) in [("0", 2), ("256", 0), ("257", 2)] {
        let run = tickwire(&folder, &[&decode[..], &["--threads", threads]].concat());
        assert_eq!(run.status, status, "{threads}: {}", run.stderr);
    }
}

#[test]
fn what_has_no_end_and_what_is_empty_is_refused() {
    let folder = Folder::new("endless");
    folder.generate("simple", &["--messages", "4"]);
    folder.write("empty.dat", b"");
    let decode = |file: &str| tickwire(&folder, &["fast", "decode", file, "-t", "simple.xml"]);
    let endless = decode("/dev/zero");
    assert_eq!(endless.status, 1);
    assert!(
        endless.stderr.contains("/dev/zero is no file and gives"),
        "{}",
        endless.stderr
    );
    let empty = decode("empty.dat");
    let refusal = "error: empty.dat is empty\n";
    assert_eq!((empty.status, &*empty.stderr), (1, refusal));
}

#[test]
fn what_is_no_file_of_packets_is_told_so() {
    let folder = Folder::new("no-packets");
    folder.generate("simple", &["--messages", "40"]);
    folder.write("feed.json", b"{\"template\": \"A\"}\n");
    let mut noise = 7_u32;
    let noise = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    });
    folder.write("noise.dat", &noise.take(4_000).collect::<Vec<_>>());
    for (file, hint) in [
        (
            "simple.xml",
            "hint: simple.xml is XML, no file of packets\n",
        ),
        ("feed.json", "hint: feed.json is JSON, no file of packets\n"),
        (
            "noise.dat",
            "hint: no `--framing` finds packets in noise.dat",
        ),
    ] {
        let run = tickwire(&folder, &["fast", "decode", file, "-t", "simple.xml"]);
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains(hint), "{}", run.stderr);
        let run = ["feed", "run", "-t", "simple.xml", "--file", file];
        let run = tickwire(&folder, &run);
        assert!(
            run.status == 1 && run.stderr.contains(hint),
            "{}",
            run.stderr
        );
    }
}
