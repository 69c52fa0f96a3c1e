//! QoS profiles on the command line: `tickwire qos show`, and commands that follow a profile.

use std::process::{Command, Stdio};

use crate::common::{Domain, Folder, tickwire};
use serde_json::Value;
use tickwire::{DataWriterQos, DomainParticipant, Topic};

const PRICES: &str = "\
[profiles.base.writer]
history.depth = 9

[profiles.prices]
base = 'base'
participant.domain = 7
[[profiles.prices.writer]]
topic = 'Quote*'
lifespan = '2s'
[[profiles.prices.writer]]
durability = 'transient_local'
";

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: i64,
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("qos.toml", PRICES.as_bytes());
    folder
}

/// The cells of a table.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect()
}

#[test]
fn the_profiles_of_a_file_are_listed() {
    let run = tickwire(&folder("qos-list"), &["qos", "show", "qos.toml"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        cells(&run.stdout),
        [
            vec!["profile", "default", "settings", "topic filters"],
            vec!["base", "1"],
            vec!["prices", "3", "Quote*"],
        ]
    );
    assert_eq!(
        run.stderr,
        "none of them is the default: `--qos-profile` or TICKWIRE_QOS_PROFILE names the one to follow\n\
         hint: `tickwire qos show qos.toml PROFILE` shows what one says\n"
    );
}

#[test]
fn the_default_profile_is_marked() {
    let folder = Folder::new("qos-default");
    let list = |file: &str, text: &str| {
        folder.write(file, text.as_bytes());
        let run = tickwire(&folder, &["qos", "show", file, "-o", "csv"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.stdout
    };
    let text = format!("default = 'prices'\n{PRICES}");
    assert_eq!(
        list("qos.toml", &text),
        "profile,default,settings,topic filters\nbase,,1,\nprices,yes,3,Quote*\n"
    );
    // In Fast DDS's XML each kind of entity has its own.
    let text = "<profiles><data_reader profile_name='A' is_default_profile='true'/>\
                <data_writer profile_name='B'/></profiles>";
    assert_eq!(
        list("qos.xml", text),
        "profile,default,settings,topic filters\nA,\"reader, subscriber, topic\",0,\nB,,0,\n"
    );
}

#[test]
fn a_profile_is_shown_with_where_each_value_comes_from() {
    let folder = folder("qos-show");
    let run = tickwire(&folder, &["qos", "show", "qos.toml", "prices"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        cells(&run.stdout),
        [
            vec!["of", "setting", "value", "default", "from"],
            vec!["participant", "domain", "7", "0", "prices, line 6"],
            vec![
                "writer",
                "durability",
                "\"transient_local\"",
                "\"volatile\"",
                "prices, line 11"
            ],
            vec!["writer", "history.depth", "9", "1", "base, line 2"],
        ]
    );
    let run = tickwire(
        &folder,
        &[
            "qos", "show", "qos.toml", "prices", "--topic", "Quotes", "-o", "json",
        ],
    );
    let rows: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let row = |at: usize| (rows[at]["setting"].clone(), rows[at]["from"].clone());
    assert_eq!(row(1), ("history.depth".into(), "base, line 2".into()));
    assert_eq!(row(2), ("lifespan".into(), "prices, line 9".into()));
    let run = tickwire(
        &folder,
        &["qos", "show", "qos.toml", "prices", "--all", "-o", "csv"],
    );
    assert!(
        run.stdout
            .contains("reader,deadline,\"\"\"infinite\"\"\",\"\"\"infinite\"\"\",default")
    );
}

#[test]
fn the_only_profile_of_a_file_needs_no_name() {
    let folder = folder("qos-only");
    folder.write("one.toml", b"[profiles.fast.writer]\nhistory.depth = 9\n");
    let show = |arguments: &[&str]| tickwire(&folder, &[&["qos", "show"], arguments].concat());
    let run = show(&["one.toml"]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "one.toml has one profile, `fast`:\n")
    );
    let setting = vec!["writer", "history.depth", "9", "1", "fast, line 2"];
    assert_eq!(cells(&run.stdout)[1..], [setting]);
    assert!(show(&["one.toml", "--all"]).stdout.contains("deadline"));
    let toml = "[profiles.\"fast\".writer]\nhistory.depth = 9\n\n";
    assert_eq!(show(&["one.toml", "-o", "toml"]).stdout, toml);
    // Programs find in every file what they find in one of several.
    let run = show(&["one.toml", "-o", "csv"]);
    assert_eq!(
        run.stdout,
        "profile,default,settings,topic filters\nfast,yes,1,\n"
    );
    for option in [&["--all"][..], &["--topic", "Quotes"], &["-o", "toml"]] {
        let run = show(&[&["qos.toml"], option].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""));
        assert!(
            run.stderr.contains("for one profile: name it"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_profile_in_xml_becomes_one_in_toml() {
    let folder = Folder::new("qos-toml");
    let xml = "<qos_library name='Lib'><qos_profile name='P'><datareader_qos>\
               <history><kind>KEEP_ALL_HISTORY_QOS</kind></history><batch/>\
               </datareader_qos></qos_profile></qos_library>";
    folder.write("qos.xml", xml.as_bytes());
    let run = tickwire(&folder, &["qos", "show", "qos.xml", "Lib::P", "-o", "toml"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "[profiles.\"P\".reader]\nhistory.kind = \"keep_all\"\n\n"
    );
    let expected = "qos.xml:1: element `batch` is ignored: Tickwire does not have it\n";
    assert_eq!(run.stderr, expected);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let folder = folder("qos-wrong");
    let run = tickwire(&folder, &["qos", "show", "qos.toml", "price"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert_eq!(
        run.stderr,
        "error: qos.toml has no QoS profile `price`; did you mean `prices`?\n"
    );
    folder.write("wrong.toml", b"[profiles.p.writer]\ndedline = '1s'\n");
    let run = tickwire(&folder, &["qos", "show", "wrong.toml"]);
    assert_eq!(run.status, 1);
    let shown = "wrong.toml:2:1: unknown key `dedline`; did you mean `deadline`?";
    assert!(
        run.stderr.contains(shown) && run.stderr.contains("\n  | ^"),
        "{}",
        run.stderr
    );
    // A command that is to follow it does not begin.
    let run = tickwire(&folder, &["topic", "ls", "--qos-file", "wrong.toml"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains(shown), "{}", run.stderr);
    let run = tickwire(&folder, &["topic", "ls", "--qos-profile", "p"]);
    assert_eq!(run.status, 2);
    let expected = "error: the QoS profile `p` is asked for, but no file: set TICKWIRE_QOS_FILE\n\
                    hint: `--qos-file` names it, too\n";
    assert_eq!(run.stderr, expected, "the usage is as it should be");
}

#[test]
fn of_several_profiles_one_has_to_be_chosen() {
    let folder = folder("qos-several");
    let undecided = "none of the QoS profiles in qos.toml is its default: choose one by its name, as \
                     TICKWIRE_QOS_PROFILE does; there are base, prices";
    let hint = "hint: `--qos-profile` names the one to follow\n";
    let run = tickwire(&folder, &["topic", "ls", "--qos-file", "qos.toml"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.stderr, format!("error: {undecided}\n{hint}"));
    // The variable may be meant for a program that chooses one itself.
    let domain = Domain::reserve();
    let told = |variables: &[(&str, &str)]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
            .args(["topic", "ls", "--domain", &domain.id, "--timeout", "10ms"])
            .env("TICKWIRE_QOS_FILE", "qos.toml")
            .envs(variables.iter().copied())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary starts");
        // A stage goes with its parent.
        let _parent = child.stdin.take();
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        stderr
    };
    let expected = format!("{undecided}; none is followed\n{hint}");
    let stderr = told(&[]);
    assert!(stderr.contains(&expected), "{stderr}");
    // Stages, of which a command may have many, do not say it.
    let stderr = told(&[("TICKWIRE_STAGE", "1")]);
    assert!(!stderr.contains(undecided), "{stderr}");
}

#[test]
fn the_only_profile_is_followed() {
    let folder = Folder::new("qos-of-one-kind");
    folder.write("far.toml", b"[profiles.p.participant]\ndomain = 300\n");
    let run = tickwire(&folder, &["topic", "ls", "--qos-file", "far.toml"]);
    assert_eq!(run.status, 2);
    let expected = "error: far.toml:2: domain 300 has no ports";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
}

#[test]
fn of_a_wrong_variable_only_the_error_is_told() {
    let folder = folder("qos-variables");
    let run = |variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tickwire"))
            .args(["topic", "ls"])
            .envs(variables.iter().copied())
            .current_dir(folder.path())
            .output()
            .expect("the built binary starts");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("text")
    };
    let file = ("TICKWIRE_QOS_FILE", "qos.toml");
    assert_eq!(
        run(&[file, ("TICKWIRE_QOS_PROFILE", "price")]),
        "error: qos.toml has no QoS profile `price`; did you mean `prices`?\n"
    );
    let lost = run(&[("TICKWIRE_QOS_FILE", "lost.toml")]);
    assert!(
        lost.starts_with("error: cannot read the QoS file lost.toml: ")
            && lost.lines().count() == 1,
        "{lost}"
    );
}

#[test]
fn a_domain_without_ports_is_refused_with_its_line() {
    let folder = Folder::new("qos-far");
    folder.write("far.toml", b"[profiles.p.participant]\n\ndomain = 300\n");
    let profile = [
        "topic",
        "ls",
        "--qos-file",
        "far.toml",
        "--qos-profile",
        "p",
    ];
    let run = tickwire(&folder, &profile);
    assert_eq!(run.status, 2);
    let expected = "error: far.toml:3: domain 300 has no ports";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    // It is the command line that is wrong.
    let run = tickwire(&folder, &[&profile[..], &["-d", "233"]].concat());
    let expected = "error: domain 233 has no ports";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
}

#[test]
fn a_file_without_profiles_is_told_what_it_is() {
    let folder = Folder::new("qos-none");
    let templates =
        b"<templates><template name='A' id='1'><uInt32 name='X'/></template></templates>";
    folder.write("feed.xml", templates);
    folder.write("none.xml", b"<dds/>");
    for (file, hint) in [
        (
            "feed.xml",
            "it is a file of FAST templates: `tickwire fast templates feed.xml`",
        ),
        ("none.xml", "a profile is "),
    ] {
        let run = tickwire(&folder, &["qos", "show", file]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""));
        let expected = format!("error: {file} has no QoS profile\nhint: {hint}");
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
    }
}

#[test]
fn a_command_does_not_follow_a_file_that_is_none_of_qos() {
    let folder = Folder::new("qos-foreign");
    folder.write("empty.toml", b"\n");
    folder.write("feed.xml", b"<templates/>");
    for (file, refusal) in [
        ("empty.toml", "the QoS file empty.toml is empty"),
        ("feed.xml", "feed.xml:1:1: unknown root element `templates`"),
    ] {
        let run = tickwire(&folder, &["feed", "subscribe", "--qos-file", file]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(refusal), "{}", run.stderr);
    }
}

/// The domain is the profile's, which the environment names.
#[test]
fn commands_follow_the_profile_of_the_environment() {
    let domain = Domain::reserve();
    let id: u32 = domain.id.parse().expect("a number");
    let participant = DomainParticipant::new(id).expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().transient_local();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let symbol = "TICK".to_owned();
    let written = writer.write(&Quote { symbol, price: 3 });
    written.expect("there is room");
    let folder = Folder::new("qos-echo");
    let text = format!(
        "default = 'other'\n[profiles.other]\n[profiles.echo]\nparticipant.domain = {id}\n"
    );
    folder.write("qos.toml", text.as_bytes());
    let output = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "echo", "Quotes", "--once", "--timeout", "30s"])
        .env("TICKWIRE_QOS_FILE", "qos.toml")
        .env("TICKWIRE_QOS_PROFILE", "echo")
        .current_dir(folder.path())
        .output()
        .expect("the built binary starts");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let stdout = String::from_utf8(output.stdout).expect("text");
    assert_eq!(stdout, "{\"symbol\":\"TICK\",\"price\":3}\n");
}

/// Both sides do, or they would not hear each other.
#[test]
fn measurements_follow_a_profile() {
    let folder = Folder::new("qos-perf");
    folder.write(
        "qos.toml",
        b"profiles.tagged.participant.domain_tag = 'blue'\n",
    );
    let arguments = ["perf", "throughput", "--size", "16", "--subscribers", "1"];
    let options = ["--duration", "20ms", "--qos-file", "qos.toml"];
    let profile = ["--qos-profile", "tagged", "-o", "json"];
    let run = tickwire(&folder, &[&arguments[..], &options, &profile].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let rows: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(rows[0]["samples"].as_u64() > Some(0), "{rows}");
}
