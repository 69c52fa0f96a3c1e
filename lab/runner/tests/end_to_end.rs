//! The whole way: peers are read, programs run, answers verified, and the report written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
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
        Command::new(env!("CARGO_BIN_EXE_lab"))
            .arg("--lab")
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
