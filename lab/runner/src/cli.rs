//! The command line.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::environment::{self, Environment};
use crate::hosts::{Hosts, Span, Split, over_words};
use crate::progress::Progress;
use crate::record::{Results, SystemRecord};
use crate::rounds::{Lab, Limits};
use crate::run::Starter;
use crate::scenario::{Scenario, begins_with_any};
use crate::scenarios::{SCENARIOS, scenario};
use crate::second::Sheet;
use crate::systems::{self, Folders, Peer, Place, System};
use crate::{attend, compare, counted, folder, log, prepare, report, rounds};

/// Tickwire's lab: the comparisons of the articles, on this machine.
#[derive(Parser)]
#[command(name = "lab", version, max_term_width = 100)]
struct Cli {
    /// The folder lab/ of Tickwire's sources
    #[arg(long, global = true, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    lab: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(RunArguments),
    Prepare(PrepareArguments),
    /// Run a program until stdin closes, as those are that another machine is asked for
    #[command(hide = true)]
    Attend {
        /// Let it end by itself when stdin closes, for a second
        #[arg(long)]
        grace: bool,
        /// The program, and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        words: Vec<OsString>,
    },
    /// Print what this machine is, and hashes of programs, as another one asks
    #[command(hide = true)]
    Facts {
        /// Wait until the machine has calmed down
        #[arg(long)]
        calm: bool,
        /// Programs
        programs: Vec<PathBuf>,
    },
    /// Compare two folders of results, cell by cell
    Compare {
        /// What was before
        before: PathBuf,
        /// What is now
        after: PathBuf,
    },
    /// Write the report of a folder of results again
    Report {
        /// The folder with data.json
        folder: PathBuf,
        /// Print the results as the articles' programs did, instead
        #[arg(long)]
        style: Option<Style>,
    },
}

/// Run scenarios, and write a report
#[derive(Args)]
#[command(after_help = EXAMPLES)]
struct RunArguments {
    /// Scenarios; `seeds` are those of articles
    scenarios: Vec<String>,
    /// Print scenarios and systems, and which of them can run here
    #[arg(long)]
    list: bool,
    /// Run these alone beside the floor: beginnings of their ids, as `zeromq` or `tickwire-udp`
    #[arg(long, value_delimiter = ',')]
    peers: Vec<String>,
    /// Lengths of payloads in bytes, instead of each scenario's own
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<u32>,
    /// How many rounds, whatever time they take
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Some of the sizes, and short runs: about 4 minutes for all scenarios instead of 33
    #[arg(long)]
    quick: bool,
    /// How long a measured run should last, in milliseconds, instead of 200, or 120 with --quick
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    length: Option<u64>,
    /// Split over two hosts, publishers on the first, subscribers and brokers on the second: `cable` for two network
    /// namespaces that a virtual cable joins, or addresses of this machine and of another, as 10.0.0.1,10.0.0.2
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<Split>,
    /// The words that start a program on the other machine, as `ssh second`, split at spaces alone: quotation marks
    /// within are not understood. Paths are the same there
    #[arg(long, value_name = "WORDS", requires = "hosts", requires = "scratch")]
    over: Option<String>,
    /// Where folders of runs are made, instead of /tmp; with --over, a folder that both machines see
    #[arg(long)]
    scratch: Option<PathBuf>,
    /// What the results are filed under, instead of the name of this machine
    #[arg(long)]
    machine: Option<String>,
    /// Where results are kept, instead of lab/results
    #[arg(long)]
    results: Option<PathBuf>,
    /// What is printed in the end
    #[arg(short, long, default_value = "table")]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    /// `Average latency in milliseconds: 0.185`, and so on
    Seed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// The report's tables
    Table,
    /// All data
    Json,
}

/// Install the packages that peers need, and build them; who cannot be had is noted with the reason
#[derive(Args)]
struct PrepareArguments {
    /// Those of these systems alone: beginnings of their ids
    #[arg(long, value_delimiter = ',')]
    peers: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  lab/run seeds                            everything, about 33 minutes
  lab/run seeds --quick                    the same in about 4
  lab/run --list                           what there is
  lab/run raw --peers tickwire,zeromq      one scenario, two peers and the floor
  lab/run latency --sizes 64,1024 --rounds 9
  lab/run typed -o json > typed.json
  lab/run raw --hosts cable                over two network namespaces of this machine
  lab/run loss                             the same, with frames lost on the way, about 15 minutes
  lab/run raw --hosts 10.0.0.1,10.0.0.2 --over 'ssh second' --scratch /shared
  lab/compare lab/results/here/A lab/results/here/B";

/// Does what the command line says.
pub(crate) fn main() -> Result<ExitCode, String> {
    let cli = Cli::parse();
    if let Command::Attend { grace, words } = &cli.command {
        return attend::attend(words, *grace);
    }
    let lab =
        fs::canonicalize(&cli.lab).map_err(|error| format!("{}: {error}", cli.lab.display()))?;
    let folders = Folders::of(&lab);
    match cli.command {
        Command::Run(arguments) if arguments.list => list(&folders),
        Command::Run(arguments) => return run(&folders, &arguments),
        Command::Attend { .. } => Ok(()),
        Command::Facts { calm, programs } => facts(&folders, calm, &programs),
        Command::Prepare(arguments) => prepare::prepare(&folders, &arguments.peers),
        Command::Compare { before, after } => {
            let (before, after) = (folder::read(&before)?, folder::read(&after)?);
            print(&compare::table(&before, &after))
        }
        Command::Report { folder, style } => {
            let results = folder::read(&folder)?;
            match style {
                Some(Style::Seed) => print(&report::seed::text(&results)),
                None => report::write(&results, &folder),
            }
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

fn run(folders: &Folders, arguments: &RunArguments) -> Result<ExitCode, String> {
    let scenarios = match chosen(&arguments.scenarios) {
        Ok(scenarios) => scenarios,
        Err(error) => {
            eprintln!("lab: {error}");
            return Ok(ExitCode::from(2));
        }
    };
    if let Some(error) = arguments.contradiction(&scenarios) {
        eprintln!("lab: {error}");
        return Ok(ExitCode::from(2));
    }
    let peers = systems::read_peers(folders)?;
    let (mut systems, mut absent) = systems::present(&peers, folders);
    if !arguments.peers.is_empty() {
        let wanted: Vec<&str> = arguments.peers.iter().map(String::as_str).collect();
        for &name in &wanted {
            if !systems.iter().any(|it| begins_with_any(&it.id, &[name])) {
                eprintln!("lab: no system that can run is called `{name}`; see `lab/run --list`");
                return Ok(ExitCode::from(2));
            }
        }
        systems.retain(|system| system.is_floor || begins_with_any(&system.id, &wanted));
        absent.clear();
    }
    let machine = arguments.machine.clone();
    let machine = machine.unwrap_or_else(environment::host_name);
    let kept = arguments.results.clone();
    let kept = kept.unwrap_or_else(|| folders.lab.join("results"));
    let set = arguments.scenarios.join("+");
    let hosts = arguments.hosts(&scenarios)?;
    if arguments.is_full() {
        environment::wait_until_calm(|what| eprintln!("{what}"));
    }
    let versions = prepare::versions(folders, &peers);
    let environment = Environment::capture(machine, &versions);
    let second = match &arguments.over {
        None => None,
        Some(over) => {
            let here = Sheet::of_this(environment.clone(), versions, &on_both(&systems));
            Some(second_machine(&here, over, folders, arguments.is_full())?)
        }
    };
    let to = folder::create(&kept, &environment, &set)?;
    let mut results = Results {
        schema: 1,
        scenarios: scenarios.iter().map(|it| it.name.to_owned()).collect(),
        is_quick: arguments.quick,
        hosts: hosts.record(),
        environment,
        second,
        systems: systems.iter().map(record).collect(),
        absent,
        left_out: Vec::new(),
        cells: Vec::new(),
    };
    measure(&systems, &scenarios, arguments, hosts, &mut results, &to)?;
    report::write(&results, &to)?;
    match arguments.output {
        Output::Json => print(&folder::json(&results)?)?,
        Output::Table => print(&report::summary(&results))?,
    }
    eprintln!("{}", to.join("report.html").display());
    Ok(ExitCode::SUCCESS)
}

/// The programs that run on a second machine, too.
fn on_both(systems: &[System]) -> Vec<PathBuf> {
    let reach = |it: &&System| systems::REACH_HOSTS.contains(&it.transport.as_str());
    let programs = systems.iter().filter(reach);
    programs.map(|it| it.program.clone()).collect()
}

/// What the second machine is: an error if it is not prepared as this one.
fn second_machine(
    here: &Sheet,
    over: &str,
    folders: &Folders,
    is_calm: bool,
) -> Result<Environment, String> {
    let there = Sheet::over(&over_words(over), folders, here.programs(), is_calm)?;
    let unlike = here.unlike(&there);
    match unlike.is_empty() {
        true => Ok(there.environment),
        false => Err(format!(
            "the second machine is not prepared as this one: {}. \
             `lab prepare` on one of them, and a copy of lab/ on the other, make them alike",
            unlike.join("; ")
        )),
    }
}

/// What another machine is told of this one.
fn facts(folders: &Folders, is_calm: bool, programs: &[PathBuf]) -> Result<(), String> {
    if is_calm {
        environment::wait_until_calm(|what| eprintln!("the second machine: {what}"));
    }
    // What is asked of the sources is asked where they are.
    std::env::set_current_dir(&folders.lab).map_err(|error| error.to_string())?;
    let versions = prepare::versions(folders, &systems::read_peers(folders)?);
    let environment = Environment::capture(environment::host_name(), &versions);
    let sheet = Sheet::of_this(environment, versions, programs);
    let text = serde_json::to_string(&sheet).map_err(|error| error.to_string())?;
    print(&(text + "\n"))
}

fn measure(
    systems: &[System],
    scenarios: &[&'static Scenario],
    arguments: &RunArguments,
    hosts: Hosts,
    results: &mut Results,
    to: &Path,
) -> Result<(), String> {
    let begun = Instant::now();
    let share = if arguments.quick { QUICK_SHARE } else { 1.0 };
    let budget = |scenario: &Scenario| match arguments.rounds {
        Some(_) => Duration::ZERO,
        None => Duration::from_secs_f64(scenario.minutes * 60.0 * share),
    };
    let (least, most) = match (arguments.rounds, arguments.quick) {
        (Some(rounds), _) => (rounds, rounds),
        (None, true) => (2, 3),
        (None, false) => (3, 9),
    };
    let scratch = arguments.scratch.clone();
    let scratch = scratch.unwrap_or_else(std::env::temp_dir);
    // Programs on another machine begin in another folder.
    let scratch = std::path::absolute(scratch).map_err(|error| error.to_string())?;
    let mut lab = Lab {
        systems,
        limits: Limits {
            length: match (arguments.length, arguments.quick) {
                (Some(length), _) => Duration::from_millis(length),
                (None, true) => QUICK_RUN,
                (None, false) => RUN,
            },
            least,
            most,
            is_quick: arguments.quick,
            place: Place {
                cores: results.environment.cores,
                span: hosts.span,
            },
            sizes: arguments.sizes.clone(),
        },
        starter: Starter::new(&scratch, hosts)?,
        strace: counted::strace_works(),
        progress: Progress::new(scenarios.iter().map(|it| budget(it)).sum()),
    };
    for scenario in scenarios {
        let path = to.join(format!("{}.hlog", scenario.name));
        let mut log = log::Log::new(path);
        let cells = lab.run(scenario, budget(scenario), &mut log);
        results.left_out.extend(lab.left_out(scenario));
        results.cells.extend(cells);
        complete_systems(results);
        results.environment.finish(begun.elapsed().as_secs());
        folder::write(results, to)?;
    }
    lab.progress.finish();
    Ok(())
}

impl RunArguments {
    /// Whether it takes all the time there is for it.
    fn is_full(&self) -> bool {
        !self.quick && self.rounds.is_none()
    }

    /// Why the options about hosts do not go together.
    fn contradiction(&self, scenarios: &[&Scenario]) -> Option<&'static str> {
        let (mut lossy, mut others) = (false, false);
        for scenario in scenarios {
            lossy |= scenario.is_lossy();
            others |= !scenario.is_lossy();
        }
        match (self.hosts, &self.over) {
            (Some(Split::Machines(..)), _) if lossy => {
                Some("frames are lost on the cable alone, not between two machines")
            }
            (None, _) if lossy && others => Some(
                "frames are lost on the cable alone: `loss` by itself, or all with --hosts cable",
            ),
            (Some(Split::Machines(..)), None) => Some(
                "how are programs started on the second machine? --over 'ssh second' --scratch DIR",
            ),
            (Some(Split::Cable), Some(_)) => {
                Some("the cable is on this machine: --over has nothing to do")
            }
            (_, Some(over)) if over.trim().is_empty() => Some("--over has no words"),
            _ => None,
        }
    }

    fn hosts(&self, scenarios: &[&Scenario]) -> Result<Hosts, String> {
        let lossy = scenarios.iter().any(|it| it.is_lossy());
        match (self.hosts, &self.over) {
            (Some(Split::Cable), _) => Hosts::cable(),
            (None, _) if lossy => Hosts::cable(),
            (Some(Split::Machines(first, second)), Some(over)) => {
                Hosts::machines(first, second, over)
            }
            _ => Ok(Hosts::one()),
        }
    }
}

/// The scenarios of these names.
fn chosen(names: &[String]) -> Result<Vec<&'static Scenario>, String> {
    let all = || SCENARIOS.iter().map(|it| it.name).collect::<Vec<_>>();
    if names.is_empty() {
        return Err(format!(
            "which scenario? `seeds`, or of {}",
            all().join(", ")
        ));
    }
    if names.iter().any(|name| name == "seeds") {
        let seeds = SCENARIOS.iter().copied();
        return Ok(seeds.filter(|it| it.article.is_some()).collect());
    }
    let find = |name: &String| {
        scenario(name).ok_or_else(|| {
            let all = all().join(", ");
            format!(
                "there is no scenario `{name}`; there are {all}, and `seeds` for those of articles"
            )
        })
    };
    names.iter().map(find).collect()
}

fn record(system: &System) -> SystemRecord {
    SystemRecord {
        id: system.id.clone(),
        label: system.label.clone(),
        transport: system.transport.clone(),
        is_floor: system.is_floor,
        version: String::new(),
        build: system.build.clone(),
        policy: system.policy.clone(),
        calls: system.calls.clone(),
        settings: Default::default(),
    }
}

/// Versions and settings are known once programs have answered, and are kept once.
fn complete_systems(results: &mut Results) {
    for system in &mut results.systems {
        let cells = results.cells.iter_mut();
        let own = cells.filter(|it| it.key.system == system.id);
        let rounds = own.flat_map(|it| &mut it.rounds);
        for answer in rounds.flat_map(|it| &mut it.answers) {
            let version = std::mem::take(&mut answer.version);
            if system.version.is_empty() {
                system.version = version;
            } else if !version.is_empty() && !system.version.split(" and ").any(|it| it == version)
            {
                // Two machines, or what was built anew meanwhile.
                system.version = format!("{} and {version}", system.version);
            }
            for (name, value) in std::mem::take(&mut answer.settings) {
                // Latency and throughput are set up differently.
                let all = system.settings.entry(name).or_insert_with(|| value.clone());
                if !all.split(" or ").any(|it| it == value) {
                    *all = format!("{all} or {value}");
                }
            }
            answer.system.clear();
        }
    }
}

fn list(folders: &Folders) -> Result<(), String> {
    let peers = systems::read_peers(folders)?;
    let (systems, absent) = systems::possible(&peers, folders);
    let place = Place {
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        span: Span::OneHost,
    };
    let mut text = String::from("Scenarios\n");
    for scenario in SCENARIOS {
        let (name, title) = (scenario.name, scenario.title);
        let article = scenario.article.map_or_else(
            || format!("about {} minutes, not of the seeds", scenario.minutes),
            |(number, _)| format!("article {number}"),
        );
        let parts: Vec<_> = scenario.parts.iter().map(|part| part.name).collect();
        let cells = rounds::cells(scenario, &systems, place);
        text += &format!("  {name:12} {title} ({article}, ");
        text += &format!("{cells} cells): {}\n", parts.join(", "));
    }
    text += "\nSystems that can run here, as far as is known\n";
    let built = systems.iter().filter(|system| system.is_built()).count();
    if built < systems.len() {
        text += &format!(
            "({built} of {} are built: `lab/run` builds the rest)\n",
            systems.len()
        );
    }
    for system in &systems {
        let takes_part =
            |scenario: &&&Scenario| scenario.parts.iter().any(|it| system.takes_part(it));
        let names = SCENARIOS.iter().filter(takes_part).map(|it| it.name);
        let names: Vec<_> = names.collect();
        let (id, label) = (&system.id, &system.label);
        text += &format!(
            "  {id:24} {label} ({}): {}\n",
            system.transport,
            names.join(", ")
        );
    }
    let reach = systems::REACH_HOSTS.join(" and ");
    text += &format!("Those of {reach} run over two hosts, too: --hosts\n");
    text += "\nAbsent\n";
    for absent in &absent {
        text += &format!("  {:24} {}\n", absent.name, absent.reason);
    }
    let packages: usize = peers.iter().map(|peer: &Peer| peer.packages.len()).sum();
    text += &format!(
        "\n{packages} packages of Debian are needed; `lab/run` installs those that are missing.\n"
    );
    print(&text)
}

fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// How long a measured run is, and one of a quick run.
const RUN: Duration = Duration::from_millis(200);
const QUICK_RUN: Duration = Duration::from_millis(120);
/// Of the time of a full run.
const QUICK_SHARE: f64 = 0.19;
