//! What has to be there before a run: packages and programs. Whoever cannot be had is noted with the
//! reason, which the report repeats.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::environment::first_line;
use crate::progress::Builds;
use crate::scenario::begins_with_any;
use crate::systems::{self, Folders, Peer};

/// Prepares all peers, or those that have a system whose id is, or begins with, one of these names.
pub(crate) fn prepare(folders: &Folders, names: &[String]) -> Result<(), String> {
    let peers = systems::read_peers(folders)?;
    fs::create_dir_all(&folders.built)
        .map_err(|error| format!("{}: {error}", folders.built.display()))?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let is_named = |peer: &Peer| {
        let mut systems = peer.systems.iter();
        systems.any(|system| begins_with_any(&system.id, &names))
    };
    let is_wanted = |peer: &&Peer| {
        names.is_empty() || peer.folder == folders.lab.join("floor") || is_named(peer)
    };
    let wanted: Vec<&Peer> = peers.iter().filter(is_wanted).collect();
    install(&wanted);
    let mut builds = Builds::new(
        wanted
            .iter()
            .filter(|it| is_to_be_built(folders, it))
            .count(),
    );
    for peer in wanted {
        let note = folders.absence(&peer.folder);
        let result = match &peer.absent {
            Some(reason) => Err(reason.clone()),
            None => ready(folders, peer, &mut builds),
        };
        match result {
            Ok(()) => {
                if note.exists() {
                    fs::remove_file(&note).map_err(|error| error.to_string())?;
                }
            }
            Err(reason) => {
                let first = reason.lines().next().unwrap_or_default();
                builds.say(&format!("{}: cannot be had: {first}", peer.name));
                fs::write(&note, reason).map_err(|error| error.to_string())?;
            }
        }
    }
    builds.finish();
    Ok(())
}

/// The versions that the `version` commands of the peers print.
pub(crate) fn versions(folders: &Folders, peers: &[Peer]) -> Vec<(String, String)> {
    let mut versions: Vec<(String, String)> = peers
        .iter()
        .filter(|peer| peer.absent.is_none())
        .filter_map(|peer| {
            Some((
                peer.name.clone(),
                first_line(&peer.folder, peer.version.as_deref()?)?,
            ))
        })
        .collect();
    let cargo = fs::read_to_string(folders.lab.join("Cargo.toml")).unwrap_or_default();
    let profile = cargo.split("[profile.release]").nth(1).unwrap_or_default();
    let profile = profile.split("\n[").next().unwrap_or_default();
    let profile: Vec<_> = profile.split_whitespace().collect();
    versions.push(("profile of Rust programs".to_owned(), profile.join(" ")));
    versions
}

/// Installs what is missing, with one call of apt; what fails shows where it is built.
fn install(peers: &[&Peer]) {
    let missing: Vec<&str> = peers
        .iter()
        .flat_map(|peer| &peer.packages)
        .map(String::as_str)
        .chain(TOOLS.iter().copied())
        .filter(|package| !is_installed(package))
        .collect();
    if missing.is_empty() {
        return;
    }
    let count = missing.len();
    eprintln!("installing {count} packages: {}", missing.join(" "));
    let install = |packages: &[&str]| {
        let options = ["install", "-y", "-q", "--no-install-recommends"];
        let mut command = Command::new("apt-get");
        command.args(options).args(packages);
        run(command.env("DEBIAN_FRONTEND", "noninteractive"))
    };
    if install(&missing).is_err() {
        // The lists may be old, or one of them may not exist: the others are wanted all the same.
        let _old_lists = run(Command::new("apt-get").args(["update", "-q"]));
        for package in missing {
            if let Err(error) = install(&[package]) {
                let last = error.lines().last().unwrap_or_default();
                eprintln!("{package} cannot be installed: {last}");
            }
        }
    }
}

fn ready(folders: &Folders, peer: &Peer, builds: &mut Builds) -> Result<(), String> {
    let missing: Vec<_> = peer
        .packages
        .iter()
        .filter(|package| !is_installed(package))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        return Err(format!("not to be installed here: {}", missing.join(", ")));
    }
    if !is_to_be_built(folders, peer) {
        return Ok(());
    }
    let mut command = match &peer.build {
        Some(build) => {
            let mut shell = Command::new("sh");
            shell.args(["-e", "-c", build]).env("OUT", &folders.built);
            shell
        }
        None => {
            let mut cargo = Command::new("cargo");
            cargo.args(["build", "--release"]);
            // Tells how many crates there are, also where it is no terminal that reads.
            cargo.env("CARGO_TERM_PROGRESS_WHEN", "always");
            cargo.env("CARGO_TERM_PROGRESS_WIDTH", "80");
            cargo
        }
    };
    builds.begin(&peer.name);
    let built = run_watched(command.current_dir(&peer.folder), |step| builds.at(step));
    built.map_err(|error| format!("cannot be built: {error}"))
}

/// Whether there is something to build: with a command only if a file is newer than the program, of those, too, that
/// programs of its kind share, and of its `sources`. Cargo knows itself.
fn is_to_be_built(folders: &Folders, peer: &Peer) -> bool {
    if peer.absent.is_some() {
        return false;
    }
    if peer.build.is_none() {
        return peer.folder.join("Cargo.toml").exists();
    }
    let programs = peer.systems.iter().map(|system| &system.program);
    let oldest = programs.map(|it| modified(it)).min().flatten();
    let shared = match peer.folder.join("Cargo.toml").exists() {
        true => "program",
        false => "cpp",
    };
    let shared = folders.lab.join(shared);
    let made_of = [&peer.folder, &shared].into_iter().chain(&peer.sources);
    oldest.is_none() || made_of.filter_map(|it| newest(it)).max() > oldest
}

fn is_installed(package: &str) -> bool {
    let query = Command::new("dpkg-query")
        .args(["-W", "-f", "${db:Status-Status}", package])
        .output();
    query.is_ok_and(|it| it.status.success() && it.stdout == b"installed")
}

/// Runs a command; what it says is told only if it fails.
fn run(command: &mut Command) -> Result<(), String> {
    run_watched(command, |_| ())
}

/// The same; `at` is told how far Cargo is, as `34/78: tickwire-rtps`.
fn run_watched(command: &mut Command, mut at: impl FnMut(&str)) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        format!("{program}: {error}")
    })?;
    let mut said = String::new();
    if let Some(stderr) = child.stderr.take() {
        // A line that replaces itself ends with a carriage return.
        for line in BufReader::new(stderr).split(b'\r').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&line);
            let (before, bar) = text.split_once("Building [").unwrap_or((&text, ""));
            said.push_str(before);
            if let Some((_, step)) = bar.split_once("] ") {
                at(step.trim());
            }
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let lines: Vec<_> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let errors = lines.iter().filter(|line| line.contains("error"));
    let first = errors.chain(&lines).next().copied();
    Err(first.unwrap_or("it says nothing").trim().to_owned())
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// When something in a folder changed last.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let times = entries.map(|entry| match entry.path() {
        path if path.is_dir() => newest(&path),
        path => modified(&path),
    });
    times.max().flatten()
}

/// Packages that the runner itself uses: for system calls, for the network namespace, and for frames that get lost.
const TOOLS: &[&str] = &["strace", "iproute2", "nftables"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_of_many_lines_is_the_reason() {
        let script = "echo in main.cpp >&2; echo 'main.cpp:1: error: no' >&2; exit 1";
        let error = run(Command::new("sh").args(["-c", script])).unwrap_err();
        assert_eq!(error, "main.cpp:1: error: no");
        assert_eq!(run(&mut Command::new("true")), Ok(()));
    }

    #[test]
    fn cargo_says_how_far_it_is() {
        let script = r"printf '   Compiling a v1\n    Building [==>  ] 1/3: a\r   Compiling b v1\n    Building [====>] 2/3: b\r' >&2";
        let mut steps = Vec::new();
        let mut shell = Command::new("sh");
        run_watched(shell.args(["-c", script]), |step| {
            steps.push(step.to_owned())
        })
        .unwrap();
        assert_eq!(steps, ["1/3: a", "2/3: b"]);
    }

    #[test]
    fn a_package_that_does_not_exist_is_not_installed() {
        assert!(!is_installed("no-such-package-of-debian"));
    }
}
