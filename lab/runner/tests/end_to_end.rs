//! The whole way: peers are read, programs run, answers verified, and the report written.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// A folder like `lab/`, with peers that are all the same program. It is removed in the end.
struct Lab {
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

/// Runners that share a network share its ports, so that there is one at a time.
static ALONE: Mutex<()> = Mutex::new(());

impl Lab {
    /// Of programs of .NET, or of others.
    fn new(name: &str, kind: &str) -> Self {
        let id = std::process::id();
        let folder = std::env::temp_dir().join(format!("lab-test-{name}-{id}"));
        let lab = Self {
            folder,
            _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner),
        };
        lab.put(
            "floor/peer.toml",
            &peer("floor", &[("floor-tcp", "")], kind),
        );
        lab.put(
            "peers/tickwire/peer.toml",
            &peer("Tickwire", &[("tickwire-dotnet", "")], kind),
        );
        lab.put(
            "peers/others/peer.toml",
            &peer(
                "Others",
                &[
                    ("good-tcp", ""),
                    ("lossy-tcp", "drop"),
                    ("wrong-tcp", "spoil"),
                    ("shy-tcp", "refuse"),
                ],
                kind,
            ),
        );
        lab.put(
            "peers/gone/peer.toml",
            "name = \"Gone\"\nabsent = \"no package of it exists\"\nmissed = [\"dotnet objects\", \"dotnet raw\"]\n",
        );
        lab
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_by(&[], arguments)
    }

    /// Runs it through a command that is given the program and its arguments, if there is one.
    fn run_by(&self, words: &[&str], arguments: &[&str]) -> Output {
        let words = [words, &[env!("CARGO_BIN_EXE_lab"), "--lab"]].concat();
        Command::new(words[0])
            .args(&words[1..])
            .arg(&self.folder)
            .args(arguments)
            .output()
            .unwrap()
    }

    /// The one folder of results.
    fn results(&self) -> PathBuf {
        let machine = self.folder.join("results/here");
        let mut folders = fs::read_dir(machine).unwrap();
        folders.next().unwrap().unwrap().path()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.folder);
    }
}

fn peer(name: &str, systems: &[(&str, &str)], kind: &str) -> String {
    let program = program();
    let mut text = format!("name = \"{name}\"\n");
    for (id, fault) in systems {
        text += &format!(
            "[[system]]\nid = \"{id}\"\nlabel = \"{id}\"\nprogram = \"{}\"\n\
             arguments = [\"--fault={fault}\"]\ntransport = \"tcp\"\n\
             can = [\"echo\", \"stream\", \"demand\"{kind}]\nwaits = [\"block\"]\n",
            program.display()
        );
    }
    text
}

/// The example beside the runner. `cargo test -p lab-runner` builds it, `--test end_to_end` alone
/// does not.
fn program() -> PathBuf {
    let runner = Path::new(env!("CARGO_BIN_EXE_lab"));
    runner.with_file_name("examples").join("lab-test-peer")
}

const DOTNET: &str = ", \"dotnet\"";

fn cells(data: &Value) -> Vec<&Value> {
    data["cells"].as_array().unwrap().iter().collect()
}

#[test]
fn a_scenario_is_run_verified_and_reported() {
    let lab = Lab::new("scenario", DOTNET);
    let run = lab.run(&[
        "run",
        "dotnet",
        "--length",
        "10",
        "--rounds",
        "2",
        "--machine",
        "here",
        "-o",
        "json",
    ]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let data: Value = serde_json::from_slice(&run.stdout).unwrap();
    let failures = |id: &str| {
        let of_system = cells(&data).into_iter().filter(|cell| cell["system"] == id);
        let rounds = of_system.flat_map(|cell| cell["rounds"].as_array().unwrap().clone());
        let failures = rounds.map(|round| round["failure"].as_str().unwrap_or("").to_owned());
        failures.collect::<Vec<_>>()
    };
    for id in ["floor-tcp", "good-tcp", "tickwire-dotnet"] {
        let expected = ["", ""];
        // The floor has nothing of .NET, but programs are one here.
        assert_eq!(failures(id), expected, "{id}: {said}");
    }
    assert!(failures("lossy-tcp")[0].contains("lost"), "{said}");
    assert!(failures("wrong-tcp")[0].contains("wrong"), "{said}");
    let folder = lab.results();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(read("dotnet.hlog").contains("Tag=raw/good-tcp/1000B/block/round-trip,"));
    for report in [read("report.md"), read("report.html")] {
        assert!(report.contains("absent: why stands under"));
        assert!(report.contains("no package of it exists"));
        assert!(report.contains("programs say: shy-tcp (pong 0: exit status: 2: can do nothing)"));
        assert!(report.contains("failed 2 of 2: ping 0: "), "{report}");
        assert!(report.contains("Where Tickwire stands"));
        assert!(!report.contains("<script"));
    }
    assert!(read("report.html").contains("<svg"));
    fs::remove_file(folder.join("report.md")).unwrap();
    let again = lab.run(&["report", folder.to_str().unwrap()]);
    assert!(again.status.success());
    assert!(read("report.md").contains("Where Tickwire stands"));
    let folder = folder.to_str().unwrap();
    let compared = lab.run(&["compare", folder, folder]);
    let compared = String::from_utf8_lossy(&compared.stdout);
    assert!(
        compared.contains("3 cells, 0 of them changed"),
        "{compared}"
    );
}

#[test]
fn the_demand_is_searched_for() {
    let lab = Lab::new("demand", "");
    let run = lab.run(&[
        "run",
        "throughput",
        "--sizes",
        "64",
        "--peers",
        "good,lossy",
        "--length",
        "10",
        "--rounds",
        "1",
        "--machine",
        "here",
        "-o",
        "json",
    ]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let data: Value = serde_json::from_slice(&run.stdout).unwrap();
    let cell = |id: &str| {
        let is_wanted = |cell: &&Value| cell["system"] == id && cell["part"] == "demand";
        cells(&data).into_iter().find(is_wanted).unwrap()
    };
    let good = cell("good-tcp");
    let tried = good["search"].as_array().unwrap();
    let demands: Vec<_> = tried
        .iter()
        .map(|it| it["demand"].as_u64().unwrap())
        .collect();
    assert_eq!(demands, [1, 10, 100, 1_000, 10_000]);
    assert!(good["rounds"][0]["failure"].is_null(), "{said}");
    assert!(cell("lossy-tcp")["rounds"][0]["failure"].is_string());
}

#[test]
fn what_there_is_is_listed_and_what_there_is_not_is_an_error() {
    let lab = Lab::new("list", DOTNET);
    let list = lab.run(&["run", "--list"]);
    let text = String::from_utf8_lossy(&list.stdout);
    assert!(
        text.contains("good-tcp") && text.contains("pipeline"),
        "{text}"
    );
    assert!(text.contains("no package of it exists"), "{text}");
    for wrong in [
        &["run", "nothing"][..],
        &["run"],
        &["run", "raw", "--peers", "nobody"],
    ] {
        let run = lab.run(wrong);
        assert_eq!(run.status.code(), Some(2), "{wrong:?}");
    }
}

/// A short run of two systems, and what else is asked for.
fn short_run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let run = ["run", "dotnet", "--peers", "good", "--length", "10"];
    let rest = ["--rounds", "1", "--machine", "here", "-o", "json"];
    [&run[..], &rest, more].concat()
}

/// The failures of all runs of a system.
fn failures(data: &Value, id: &str) -> Vec<Value> {
    let of_system = cells(data).into_iter().filter(|cell| cell["system"] == id);
    let rounds = of_system.flat_map(|cell| cell["rounds"].as_array().unwrap().clone());
    rounds.map(|round| round["failure"].clone()).collect()
}

/// What makes a network namespace, if this user may.
fn own_network() -> Option<Vec<&'static str>> {
    let as_root = vec!["unshare", "--net"];
    let as_user = vec!["unshare", "--user", "--map-root-user", "--net"];
    [as_root, as_user].into_iter().find(|words| {
        let nested = ["unshare", "--net", "sh", "-e", "-c"];
        let script = "ip link add cable type veth peer name far";
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(nested).arg(script);
        command.output().is_ok_and(|it| it.status.success())
    })
}

#[test]
fn two_namespaces_are_joined_by_a_cable() {
    let lab = Lab::new("cable", DOTNET);
    let ipc = peer("Ipc", &[("good-ipc", "")], DOTNET).replace("\"tcp\"", "\"unix\"");
    lab.put("peers/ipc/peer.toml", &ipc);
    let Some(words) = own_network() else {
        eprintln!("no network namespaces here: nothing is run over a cable");
        return;
    };
    let run = lab.run_by(
        &words,
        &short_run(&["--hosts", "cable", "--sizes", "60000"]),
    );
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let data: Value = serde_json::from_slice(&run.stdout).unwrap();
    for id in ["floor-tcp", "good-tcp"] {
        let failures = failures(&data, id);
        assert!(
            !failures.is_empty() && failures.iter().all(Value::is_null),
            "{said}"
        );
    }
    assert!(failures(&data, "good-ipc").is_empty());
    let raw = cells(&data).into_iter().find(|it| it["part"] == "raw");
    let on_the_wire = &raw.unwrap()["rounds"][0]["totals"]["wire_bytes"];
    // 60 000 bytes there and back, with a header for each 1500 of them.
    let with_headers = 120_000.0 * (1.0 + 60.0 / 1_500.0);
    assert!(
        on_the_wire.as_f64().unwrap() > with_headers,
        "{on_the_wire}"
    );
    let report = fs::read_to_string(lab.results().join("report.md")).unwrap();
    assert!(
        report.contains("good-ipc (reaches no further than its host)"),
        "{report}"
    );
    assert!(
        report.contains("subscribers and brokers at 10.73.0.2")
            && report.contains("no longer frames than a network does"),
        "{report}"
    );
}

#[test]
fn programs_of_a_second_machine_are_started_by_words() {
    let lab = Lab::new("machines", DOTNET);
    let scratch = lab.folder.join("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let hosts = ["--hosts", "127.0.0.1,127.0.0.1", "--over", "env SECOND=yes"];
    let more = [&hosts[..], &["--scratch", scratch.to_str().unwrap()]].concat();
    let run = lab.run(&short_run(&more));
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let data: Value = serde_json::from_slice(&run.stdout).unwrap();
    let failures = failures(&data, "good-tcp");
    assert!(
        !failures.is_empty() && failures.iter().all(Value::is_null),
        "{said}"
    );
    let report = fs::read_to_string(lab.results().join("report.html")).unwrap();
    assert!(report.contains("env SECOND=yes"), "{report}");
    assert!(report.contains("second machine"), "{report}");
    let kernel = |machine: &Value| {
        let facts = machine["facts"].as_array().unwrap().clone();
        facts.into_iter().find(|fact| fact[0] == "kernel").unwrap()
    };
    assert_eq!(kernel(&data["environment"]), kernel(&data["second"]));
    let left = fs::read_dir(&scratch).unwrap().count();
    assert_eq!(left, 0, "folders of runs are removed");
}

#[test]
fn options_of_hosts_that_do_not_go_together_are_refused() {
    let lab = Lab::new("hosts", DOTNET);
    for wrong in [
        &["--hosts", "second"][..],
        &["--hosts", "10.0.0.1,10.0.0.2"],
        &["--hosts", "10.0.0.1,10.0.0.2", "--over", "ssh second"],
        &[
            "--hosts",
            "cable",
            "--over",
            "ssh second",
            "--scratch",
            "/tmp",
        ],
        &["--over", "ssh second", "--scratch", "/tmp"],
        &[
            "--hosts",
            "10.0.0.1,10.0.0.2",
            "--over",
            " ",
            "--scratch",
            "/tmp",
        ],
    ] {
        let run = lab.run(&short_run(wrong));
        assert_eq!(run.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_second_machine_that_is_not_prepared_as_this_one_is_refused() {
    let lab = Lab::new("unlike", DOTNET);
    // One that has another runner, which says nothing.
    let hosts = ["--hosts", "127.0.0.1,127.0.0.1", "--over", "true"];
    let run = lab.run(&short_run(&[&hosts[..], &["--scratch", "/tmp"]].concat()));
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(said.contains("does not tell what it is"), "{said}");
    assert!(!lab.folder.join("results").exists(), "nothing was run");
}

/// `lab attend` with a script, in a group of its own.
fn attend(options: &[&str], script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    command
        .arg("attend")
        .args(options)
        .args(["sh", "-c", script]);
    command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

#[test]
fn who_is_attended_ends_as_he_does_or_when_stdin_closes() {
    // Whoever waits through the standard library closes stdin first, unless it was taken.
    let mut ending = attend(&[], "exit 2").spawn().unwrap();
    let open = ending.stdin.take();
    assert_eq!(ending.wait().unwrap().code(), Some(2));
    drop(open);
    // A broker waits for that; another program is killed, with all that it has started.
    let mut broker = attend(&["--grace"], "read end; echo gone").spawn().unwrap();
    drop(broker.stdin.take());
    let broker = broker.wait_with_output().unwrap();
    assert!(broker.status.success() && broker.stdout == b"gone\n");
    let mut deaf = attend(&[], "sleep 1000 & echo there; wait")
        .spawn()
        .unwrap();
    let mut said = BufReader::new(deaf.stdout.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    drop(deaf.stdin.take());
    assert_eq!(
        said.read_to_end(&mut Vec::new()).unwrap(),
        0,
        "nobody holds the other end"
    );
    assert!(!deaf.wait().unwrap().success());
}
