//! The systems that are compared, from `peer.toml` in `lab/floor` and the folders of `lab/peers`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::hosts::Span;
use crate::record::Absent;
use crate::scenario::{Part, Task, Wait};
use crate::scenarios::SCENARIOS;

/// One folder.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
    /// Debian's packages.
    pub(crate) packages: Vec<String>,
    pub(crate) build: Option<String>,
    /// What it is built of, besides its own folder.
    pub(crate) sources: Vec<PathBuf>,
    /// A command that prints which version is installed.
    pub(crate) version: Option<String>,
    /// Why it cannot be had.
    pub(crate) absent: Option<String>,
    /// Then, the scenarios whose tables say so.
    pub(crate) missed: Vec<String>,
    pub(crate) systems: Vec<System>,
}

/// One way to send.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) id: String,
    pub(crate) label: String,
    /// Where its program is, once built.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) transport: String,
    pub(crate) can: BTreeSet<String>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) max_size: Option<u32>,
    pub(crate) policy: String,
    /// The system that it calls from another language.
    pub(crate) calls: Option<String>,
    pub(crate) build: Option<String>,
    /// Whether it is bare transport, with which the others are compared.
    pub(crate) is_floor: bool,
}

/// Where programs are.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// `lab/`.
    pub(crate) lab: PathBuf,
    /// Those that `build` makes.
    pub(crate) built: PathBuf,
    /// Members of the workspace.
    pub(crate) rust: PathBuf,
}

impl Folders {
    /// By the place of `lab/`.
    pub(crate) fn of(lab: &Path) -> Self {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| lab.join("target"), |target| lab.join(target));
        Self {
            lab: lab.to_owned(),
            built: target.join("peers"),
            rust: target.join("release"),
        }
    }

    /// The note that says why a peer could not be prepared.
    pub(crate) fn absence(&self, folder: &Path) -> PathBuf {
        let name = folder.file_name().unwrap_or_default();
        self.built.join(name).with_extension("absent")
    }
}

/// Reads all of them; the floor comes first, the others by name of their folders.
pub(crate) fn read_peers(folders: &Folders) -> Result<Vec<Peer>, String> {
    let peers = folders.lab.join("peers");
    let entries = fs::read_dir(&peers).map_err(|error| format!("{}: {error}", peers.display()))?;
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    all.sort();
    all.insert(0, folders.lab.join("floor"));
    let mut ids = BTreeSet::new();
    let mut read = Vec::new();
    for folder in all {
        let file = folder.join("peer.toml");
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let peer = parse(&text, &folder, folders)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        for system in &peer.systems {
            if !ids.insert(system.id.clone()) {
                return Err(format!("{}: {} exists twice", file.display(), system.id));
            }
        }
        read.push(peer);
    }
    Ok(read)
}

/// Reads one `peer.toml`.
fn parse(text: &str, folder: &Path, folders: &Folders) -> Result<Peer, String> {
    let document: Document = toml::from_str(text).map_err(|error| error.to_string())?;
    let is_floor = folder == folders.lab.join("floor");
    let system = |entry: Entry| {
        let (built, rust) = (&folders.built, &folders.rust);
        let home = if document.build.is_some() {
            built
        } else {
            rust
        };
        System {
            id: entry.id,
            label: entry.label,
            program: home.join(&entry.program),
            arguments: entry.arguments,
            transport: entry.transport,
            can: entry.can,
            waits: entry.waits,
            max_size: entry.max_size,
            policy: entry
                .policy
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            calls: entry.calls,
            build: document.build.clone(),
            is_floor,
        }
    };
    Ok(Peer {
        folder: folder.to_owned(),
        name: document.name,
        packages: document.packages,
        version: document.version,
        absent: document.absent,
        missed: document.missed,
        sources: document.sources.iter().map(|it| folder.join(it)).collect(),
        systems: document.system.into_iter().map(system).collect(),
        build: document.build,
    })
}

/// Those that can run, and those that cannot with the reason.
pub(crate) fn present(peers: &[Peer], folders: &Folders) -> (Vec<System>, Vec<Absent>) {
    divide(peers, folders, System::is_built)
}

/// The same as if everything had been built whose build has not failed yet.
pub(crate) fn possible(peers: &[Peer], folders: &Folders) -> (Vec<System>, Vec<Absent>) {
    divide(peers, folders, |_| true)
}

fn divide(
    peers: &[Peer],
    folders: &Folders,
    is_there: impl Fn(&System) -> bool,
) -> (Vec<System>, Vec<Absent>) {
    let (mut systems, mut absent) = (Vec::new(), Vec::new());
    for peer in peers {
        if let Some(reason) = &peer.absent {
            let id = peer.folder.file_name().unwrap_or_default();
            absent.push(Absent {
                id: id.to_string_lossy().into_owned(),
                name: peer.name.clone(),
                reason: reason.trim().to_owned(),
                missed: peer.missed.clone(),
            });
            continue;
        }
        let note = fs::read_to_string(folders.absence(&peer.folder)).ok();
        for system in &peer.systems {
            let reason = match &note {
                None if is_there(system) => {
                    systems.push(system.clone());
                    continue;
                }
                None => format!("{} has not been built", system.program.display()),
                Some(note) => note.trim().to_owned(),
            };
            absent.push(Absent {
                id: system.id.clone(),
                name: system.label.clone(),
                reason,
                missed: system.parts(),
            });
        }
    }
    (systems, absent)
}

/// On what it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Of each host.
    pub(crate) cores: usize,
    pub(crate) span: Span,
}

impl System {
    /// Why it takes no part in a part at this size and wait, in such a place.
    pub(crate) fn is_left_out(
        &self,
        part: &Part,
        size: u32,
        wait: Wait,
        place: Place,
    ) -> Option<String> {
        let cores = place.cores;
        let unwanted = part.refuses(&self.id).filter(|_| !self.is_floor);
        let unwanted = unwanted.map(|because| format!("because {because}"));
        let processes = part.processes() + usize::from(self.has_broker());
        let has_cores = wait == Wait::Block || processes <= cores;
        let cannot = self.cannot(part, size, wait).or(unwanted);
        let cannot = cannot.or_else(|| self.repeats_nothing(part));
        cannot
            .or_else(|| self.stays_apart(part, place.span))
            .or_else(|| {
                (!has_cores).then(|| {
                format!(
                    "polling takes a core for each of {processes} processes, and there are {cores}"
                )
            })
            })
    }

    /// Why its sides cannot be on two hosts, or say nothing then.
    fn stays_apart(&self, part: &Part, span: Span) -> Option<String> {
        let reaches = REACH_HOSTS.contains(&self.transport.as_str());
        let reason = match (span, part.task) {
            (Span::OneHost, _) | (_, Task::Codec) => return None,
            _ if !reaches => "reaches no further than its host",
            (Span::TwoClocks, Task::OpenLoop(_)) => {
                "one-way times take one clock, and two machines have two"
            }
            _ => return None,
        };
        Some(reason.to_owned())
    }

    /// Why it takes no part where frames get lost.
    fn repeats_nothing(&self, part: &Part) -> Option<String> {
        let is_lost = part.loss.is_some_and(|percent| percent > 0);
        (is_lost && self.is_floor).then(|| "sends nothing again that was lost".to_owned())
    }

    /// What it cannot do of a part at this size and wait.
    fn cannot(&self, part: &Part, size: u32, wait: Wait) -> Option<String> {
        if let Some(missing) = part.capabilities().find(|&name| !self.can.contains(name)) {
            return Some(format!("cannot do `{missing}`"));
        }
        if self.can.contains("typed-only") && part.payload != "typed" {
            return Some("sends typed messages alone".to_owned());
        }
        if self.can.contains(DOTNET) && !part.needs.contains(&DOTNET) {
            return Some("is compared with programs of .NET alone".to_owned());
        }
        if part.publishers > 1 && !self.can.contains("many-publishers") && !self.has_broker() {
            return Some("cannot have several publishers".to_owned());
        }
        if !self.waits.contains(&wait) {
            return Some(format!("cannot {}", wait.name()));
        }
        let limit = self
            .max_size
            .filter(|&limit| part.has_sizes() && size > limit)?;
        Some(format!("carries at most {limit} bytes"))
    }

    /// Scenario and part of all tables that it can have a row in.
    fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        for scenario in SCENARIOS {
            for part in scenario.parts {
                if self.takes_part(part) {
                    parts.push(format!("{} {}", scenario.name, part.name));
                }
            }
        }
        parts
    }

    /// Whether it has a row in the table of a part.
    pub(crate) fn takes_part(&self, part: &Part) -> bool {
        let is_in = |&wait: &Wait| {
            let anywhere = Place {
                cores: usize::MAX,
                span: Span::OneHost,
            };
            self.is_left_out(part, part.sizes[0], wait, anywhere)
                .is_none()
        };
        part.waits.iter().any(is_in)
    }

    /// Whether its program is there.
    pub(crate) fn is_built(&self) -> bool {
        self.program.exists()
    }

    /// Whether its programs meet at a broker.
    pub(crate) fn has_broker(&self) -> bool {
        self.can.contains("broker")
    }
}

/// Transports that reach another host.
pub(crate) const REACH_HOSTS: &[&str] = &["tcp", "udp"];
/// The capability of a program of .NET.
pub(crate) const DOTNET: &str = "dotnet";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: String,
    #[serde(default)]
    packages: Vec<String>,
    build: Option<String>,
    #[serde(default)]
    sources: Vec<PathBuf>,
    version: Option<String>,
    absent: Option<String>,
    #[serde(default)]
    missed: Vec<String>,
    #[serde(default)]
    system: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    label: String,
    program: String,
    #[serde(default)]
    arguments: Vec<String>,
    transport: String,
    can: BTreeSet<String>,
    waits: Vec<Wait>,
    max_size: Option<u32>,
    #[serde(default)]
    policy: String,
    calls: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Right, begins_with_any};

    fn example() -> Peer {
        let text = r#"
            name = "ZeroMQ"
            packages = ["libzmq3-dev"]
            build = "g++ main.cpp -o $OUT/zeromq"
            version = "pkg-config --modversion libzmq"

            [[system]]
            id = "zeromq-tcp"
            label = "ZeroMQ PUB/SUB, tcp"
            program = "zeromq"
            arguments = ["--transport", "tcp"]
            transport = "tcp"
            can = ["echo", "stream"]
            waits = ["block"]
            max_size = 65536
            policy = """as its guide
                        says"""
        "#;
        let folders = Folders::of(Path::new("/lab"));
        parse(text, Path::new("/lab/peers/zeromq"), &folders).unwrap()
    }

    #[test]
    fn a_peer_is_read() {
        let peer = example();
        assert_eq!(peer.packages, ["libzmq3-dev"]);
        let system = &peer.systems[0];
        assert!(system.program.ends_with("peers/zeromq"));
        assert_eq!(system.policy, "as its guide says");
        assert!(!system.is_floor && !system.has_broker());
    }

    #[test]
    fn what_is_not_built_is_absent_and_possible_until_its_build_has_failed() {
        let target = std::env::temp_dir().join(format!("lab-systems-{}", std::process::id()));
        let folders = Folders {
            built: target.clone(),
            ..Folders::of(Path::new("/lab"))
        };
        let mut peer = example();
        peer.systems[0].program = target.join("zeromq");
        let peers = [peer];
        let counts = |(systems, absent): (Vec<System>, Vec<Absent>)| (systems.len(), absent.len());
        let both = || [present(&peers, &folders), possible(&peers, &folders)].map(counts);
        assert_eq!(both(), [(0, 1), (1, 0)]);
        fs::create_dir_all(&target).unwrap();
        fs::write(&peers[0].systems[0].program, "").unwrap();
        assert_eq!(both(), [(1, 0), (1, 0)]);
        fs::write(folders.absence(&peers[0].folder), "no such package").unwrap();
        assert_eq!(both(), [(0, 1), (0, 1)]);
        fs::remove_dir_all(&target).unwrap();
    }

    #[test]
    fn a_word_that_the_contract_does_not_have_is_an_error() {
        let folders = Folders::of(Path::new("/lab"));
        let text = "name = \"x\"\npackage = [\"y\"]";
        let error = parse(text, Path::new("/lab/peers/x"), &folders).unwrap_err();
        assert!(error.contains("package"), "{error}");
    }

    #[test]
    fn what_a_system_cannot_do_is_said() {
        let system = &example().systems[0];
        assert_eq!(system.cannot(&Part::ECHO, 64, Wait::Block), None);
        let reason = |part: &Part, size, wait| system.cannot(part, size, wait).unwrap();
        assert_eq!(reason(&Part::ECHO, 64, Wait::Poll), "cannot poll");
        assert_eq!(
            reason(&Part::ECHO, 65_537, Wait::Block),
            "carries at most 65536 bytes"
        );
        let typed = Part {
            task: Task::Stream,
            payload: "typed",
            ..Part::ECHO
        };
        assert_eq!(reason(&typed, 64, Wait::Block), "cannot do `typed`");
        let mut system = system.clone();
        system
            .can
            .extend(["typed", "typed-only"].map(str::to_owned));
        assert_eq!(system.cannot(&typed, 64, Wait::Block), None);
        assert!(system.cannot(&Part::ECHO, 64, Wait::Block).is_some());
    }

    #[test]
    fn who_reaches_no_other_host_is_named_and_so_is_what_takes_one_clock() {
        let mut system = example().systems.remove(0);
        let open_loop = Part {
            task: Task::OpenLoop(1_000),
            ..Part::ECHO
        };
        let codec = Part {
            task: Task::Codec,
            ..Part::ECHO
        };
        let of = |system: &System| {
            [Span::OneHost, Span::OneClock, Span::TwoClocks].map(|span| {
                let parts = [&Part::ECHO, &open_loop, &codec];
                parts.map(|part| system.stays_apart(part, span).is_some())
            })
        };
        let one_clock = [[false; 3], [false; 3], [false, true, false]];
        assert_eq!(of(&system), one_clock);
        system.transport = "unix".to_owned();
        let network = [[false; 3], [true, true, false], [true, true, false]];
        assert_eq!(of(&system), network);
        let reason = system.stays_apart(&Part::ECHO, Span::OneClock);
        assert_eq!(reason.unwrap(), "reaches no further than its host");
    }

    #[test]
    fn programs_of_dotnet_stand_beside_their_like_alone() {
        let mut system = example().systems.remove(0);
        system.can.insert(DOTNET.to_owned());
        let of_dotnet = Part {
            needs: &[DOTNET],
            ..Part::ECHO
        };
        assert!(system.cannot(&Part::ECHO, 64, Wait::Block).is_some());
        assert_eq!(system.cannot(&of_dotnet, 64, Wait::Block), None);
    }

    /// The folders of this lab: a name in a scenario's table that nothing has would be silent.
    #[test]
    fn what_scenarios_name_exists() {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let peers = read_peers(&Folders::of(&lab)).unwrap();
        let mut ids: Vec<String> = Vec::new();
        for peer in &peers {
            let folder = peer.folder.file_name().unwrap().to_string_lossy();
            ids.extend(peer.absent.is_some().then(|| folder.into_owned()));
            ids.extend(peer.systems.iter().map(|it| it.id.clone()));
            for called in peer.systems.iter().filter_map(|it| it.calls.as_ref()) {
                let mut systems = peers.iter().flat_map(|it| &it.systems);
                assert!(systems.any(|it| it.id == *called), "{called}");
            }
            for missed in &peer.missed {
                let (scenario, part) = missed.split_once(' ').unwrap_or((missed, ""));
                let parts = crate::scenarios::scenario(scenario).expect(missed).parts;
                let mut parts = parts.iter().filter(|it| part.is_empty() || it.name == part);
                // Who brings a transport misses nothing where nothing is sent.
                assert!(parts.clone().next().is_some(), "{missed}");
                assert!(parts.all(|it| it.task != Task::Codec), "{missed}");
            }
        }
        let exists = |name: &&str| ids.iter().any(|id| begins_with_any(id, &[name]));
        for scenario in SCENARIOS {
            let mut named: Vec<&str> = Vec::new();
            for part in scenario.parts {
                named.extend(part.only.iter().flat_map(|only| only.systems));
                named.extend(part.published.iter().flat_map(|it| it.beside));
            }
            for claim in scenario.claims {
                named.extend(claim.left.systems);
                if let Right::Systems(right) | Right::Same(right) = claim.right {
                    named.extend(right.systems);
                }
            }
            for name in named {
                assert!(exists(&name), "{}: {name}", scenario.name);
            }
        }
    }
}
