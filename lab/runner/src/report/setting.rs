//! Where and with what the figures were taken.

use super::document::Block;
use super::text::{Align, Table};
use crate::environment::{self, Environment};
use crate::hosts::HostsRecord;
use crate::progress::minutes;
use crate::record::Results;
use crate::said;

/// Under which heading the reasons stand for which systems are absent.
pub(super) const NOT_THERE: &str = "Not in this run";

/// The first paragraphs.
pub(super) fn summary(results: &Results) -> Vec<Block> {
    let environment = &results.environment;
    let took = std::time::Duration::from_secs(environment.took_s);
    let kind = if results.is_quick {
        "A quick run"
    } else {
        "A run"
    };
    let runs: usize = results.cells.iter().map(|cell| cell.rounds.len()).sum();
    let failed: usize = results.cells.iter().map(|cell| cell.failures().1).sum();
    let floors = results.systems.iter().filter(|it| it.is_floor).count();
    let systems = results.systems.len() - floors;
    let mut blocks = warnings(results);
    blocks.push(Block::Paragraph(format!(
        "{kind} of {}: {runs} measured runs, {failed} of which failed, of {systems} systems and {floors} floors in {}. \
         Load averages before {}, after {}.{}",
        results.scenarios.join(", "),
        minutes(took),
        environment.load.0,
        environment.load.1,
        stolen(environment),
    )));
    if let Some(second) = &results.second {
        blocks.push(Block::Paragraph(format!(
            "Load averages of the second machine, {}, before: {}.",
            second.machine, second.load.0
        )));
    }
    blocks.push(Block::heading(2, "How to read it"));
    let method = METHOD.iter().map(|&it| it.to_owned());
    blocks.push(Block::List(
        method.chain(hosts(results.hosts.as_ref())).collect(),
    ));
    blocks.push(Block::heading(3, NOT_THERE));
    blocks.push(match results.absent.is_empty() {
        true => Block::Paragraph("Every system that was asked for could run.".to_owned()),
        false => Block::List(
            results
                .absent
                .iter()
                .map(|absent| format!("{} (`{}`): {}", absent.name, absent.id, absent.reason))
                .collect(),
        ),
    });
    blocks
}

/// On which hosts, and what that means for the figures.
fn hosts(record: Option<&HostsRecord>) -> Vec<String> {
    let Some(hosts) = record else {
        return vec![format!("{CORES}, in a network namespace of their own.")];
    };
    let mut texts = vec![format!(
        "The run was {}. Bytes on the wire are those of the first host's interface, both ways.",
        hosts.text()
    )];
    texts.push(match hosts.has_two_clocks {
        true => format!("{CORES}; of the second machine that holds as far as what started the programs there allows it."),
        false => format!("{CORES}."),
    });
    if hosts.has_two_clocks {
        texts.push(TWO_CLOCKS.to_owned());
    }
    texts
}

/// Why the figures may say little.
fn warnings(results: &Results) -> Vec<Block> {
    let mut texts = Vec::new();
    let machines = [
        ("The machine", Some(&results.environment)),
        ("The second machine", results.second.as_ref()),
    ];
    for (name, environment) in machines {
        texts.extend(environment.and_then(|it| busy(name, it)));
    }
    texts.extend(robbed(&results.environment));
    // Who has none has no figure that could mislead.
    let good = results.cells.iter().map(|cell| cell.good().count());
    let measured = good.clone().filter(|&good| good > 0).count();
    let few = good.filter(|good| (1..said::FEW).contains(good)).count();
    if few > 0 {
        texts.push(format!(
            "{few} of {measured} cells (a system at a size and a way to wait) have fewer than {} rounds that went through, \
             too few to tell a difference from chance: no claim is decided by them, and their ratios are hints.",
            said::FEW,
        ));
    }
    texts.into_iter().map(Block::Warning).collect()
}

/// What the host of a virtual machine gave to others.
fn stolen(environment: &Environment) -> String {
    match environment.stolen_percent {
        Some(percent) => format!(
            " Of the time in which cores had work, the machine's host took {percent:.1} % for others."
        ),
        None => String::new(),
    }
}

/// What a host that gave much to others did to the figures.
fn robbed(environment: &Environment) -> Option<String> {
    let percent = environment.stolen_percent.filter(|&it| it > MOST_STOLEN)?;
    Some(format!(
        "The machine is virtual, and its host took {percent:.1} % of the time in which cores had work. \
         Tails above all tell of that."
    ))
}

/// What a machine that was busy did to the figures.
fn busy(name: &str, environment: &Environment) -> Option<String> {
    let (load, cores) = (&environment.load.0, environment.cores);
    environment::is_busy(load, cores).then(|| {
        let load = load.split_whitespace().next().unwrap_or_default();
        format!(
            "{name} was busy before the run began: its load average was {load} on {cores} cores. \
             What else ran took time from what was measured; tails above all tell of that."
        )
    })
}

/// What there is of the machine, and of a second one beside it.
fn machines(results: &Results) -> Table {
    let facts = &results.environment.facts;
    let Some(second) = &results.second else {
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
        for (name, value) in facts {
            table.row(vec![name.clone(), value.clone()]);
        }
        return table;
    };
    let left = Align::Left;
    let mut table = Table::new(&[
        ("", left),
        ("first machine", left),
        ("second machine", left),
    ]);
    for (name, value) in facts {
        let theirs = second.facts.iter().find(|it| it.0 == *name);
        let theirs = theirs.map_or_else(|| "unknown".to_owned(), |it| it.1.clone());
        table.row(vec![name.clone(), value.clone(), theirs]);
    }
    table
}

/// The machine, and how each system was set up.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let mut systems = Table::new(&[
        ("system", Align::Left),
        ("what it is", Align::Left),
        ("transport", Align::Left),
        ("version", Align::Left),
        ("configuration", Align::Left),
        ("built by", Align::Left),
    ]);
    for system in &results.systems {
        let settings: Vec<_> = system
            .settings
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let configuration = match settings.is_empty() {
            true => system.policy.clone(),
            false => format!("{} Set: {}.", system.policy, settings.join(", ")),
        };
        let built = system.build.clone();
        systems.row(vec![
            system.id.clone(),
            system.label.clone(),
            system.transport.clone(),
            system.version.clone(),
            configuration,
            built.unwrap_or_else(|| "cargo build --release".to_owned()),
        ]);
    }
    vec![
        Block::heading(2, "Machine and systems"),
        Block::Table(machines(results)),
        Block::Paragraph(BUILDS.to_owned()),
        Block::Table(systems),
    ]
}

const BUILDS: &str = "Libraries of Debian are as it builds them, with -O2. What is built here is in the table: C++ programs as \
     it says, Rust ones (Tickwire, the floors and some peers) by a release build with thin LTO and one codegen unit.";

const METHOD: &[&str] = &[
    "Rounds are interleaved: every system runs once, then every one again, and so on. A figure is the median over rounds, \
     with the least and the largest in parentheses. Absolute figures drift with the machine; ratios are taken within \
     a round, and then their median, so that they do not.",
    said::RULE,
    "`x floor` is how many times worse than bare sockets, shared memory or copying of the same transport and wait, \
     `x best peer` than the best other system of the same reach (network, or one machine), wait and size, \
     `x native` than the same library called from its own language. 1 is equal, less is better.",
    "`block` sleeps in the system until something comes, `poll` asks again and again. They are never compared with \
     each other.",
    "Each process is bound to one core with all its threads. Who polls in a system that has threads of its own takes \
     their time away, and pays for it. Polling is measured only where there are at least as many cores as processes.",
    "Latencies are one way in microseconds: half of a round trip, or measured on the machine's clock where a part says so. \
     p50 is the median of the rounds' medians; the other percentiles, and n, are of the messages of all rounds together, \
     and left out where fewer than ten messages lie beyond. Beside the p99 of an open loop stand the least and the largest of its \
     rounds' own.",
    "A run is good only if every program ended well, all that was sent was received, and nothing was lost, wrong or \
     out of order. Any other is shown as failed with its numbers, and used for nothing.",
];

/// In percent.
const MOST_STOLEN: f64 = 5.0;

const CORES: &str = "The active side is bound to core 0, the passive side and brokers to the last core, all at the niceness that the \
     table of the machine shows";

const TWO_CLOCKS: &str = "The machines have a clock each. What takes one for both sides, one-way times, is left out. A rate of receiving \
     is by the receiver's clock, from its first measured message to its last, so that what came late, all at once, looks faster than it \
     was. What a broker on the second machine costs is not in the tables of costs. Bytes on the wire are all that go over the first \
     machine's interface: if the words that start programs (ssh) or the shared folder go by the same one, what they send is in them; \
     differences of two runs have little of it, as it is the same in both.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn two_hosts_are_named_and_what_two_clocks_cannot_tell() {
        let record = HostsRecord {
            first: std::net::Ipv4Addr::new(10, 0, 0, 1),
            second: std::net::Ipv4Addr::new(10, 0, 0, 2),
            joined: "a wire".to_owned(),
            mtu: None,
            has_two_clocks: false,
        };
        assert_eq!(hosts(None).len(), 1);
        let texts = hosts(Some(&record));
        assert_eq!(texts.len(), 2);
        for part in ["10.0.0.1", "10.0.0.2", "a wire", "MTU unknown"] {
            assert!(texts[0].contains(part), "{}", texts[0]);
        }
        let two_clocks = HostsRecord {
            has_two_clocks: true,
            ..record
        };
        assert_eq!(hosts(Some(&two_clocks)).len(), 3);
    }

    #[test]
    fn a_second_machine_stands_beside_the_first() {
        let mut results = sample::raw(&[("asio-tcp", "tcp", &[1, 1, 1])]);
        let fact = |value: &str| vec![("kernel".to_owned(), value.to_owned())];
        results.environment.facts = fact("6.1");
        assert_eq!(machines(&results).rows[0].cells, ["kernel", "6.1"]);
        let second = Environment {
            cores: 1,
            facts: fact("6.2"),
            load: ("0.51".to_owned(), String::new()),
            ..Environment::default()
        };
        results.second = Some(second);
        assert_eq!(machines(&results).rows[0].cells, ["kernel", "6.1", "6.2"]);
        let warnings = warnings(&results);
        let [Block::Warning(text)] = &warnings[..] else {
            panic!("one warning");
        };
        assert!(text.starts_with("The second machine was busy"), "{text}");
    }

    #[test]
    fn a_busy_machine_and_few_rounds_come_first() {
        let mut results = sample::raw(&[("asio-tcp", "tcp", &[1, 1, 1])]);
        results.environment.cores = 2;
        results.environment.load.0 = "1.00 0.00 0.00".to_owned();
        let warned = |results: &Results| {
            let blocks = summary(results).into_iter();
            let are = blocks.take_while(|block| matches!(block, Block::Warning(_)));
            are.count()
        };
        assert_eq!(warned(&results), 0);
        results.environment.load.0 = "1.01 0.00 0.00".to_owned();
        assert_eq!(warned(&results), 1);
        results.environment.load.0.clear();
        results.environment.stolen_percent = Some(5.1);
        assert_eq!(warned(&results), 1);
        results.environment.stolen_percent = Some(5.0);
        sample::add(&mut results, "one-to-one", "zeromq-tcp", 1000, &[1, 1, 1]);
        assert_eq!(warned(&results), 0);
        results.cells[1].rounds[2].failure = Some("1 lost".to_owned());
        assert_eq!(warned(&results), 1, "failures cut it down");
        for round in &mut results.cells[1].rounds {
            round.failure = Some("1 lost".to_owned());
        }
        assert_eq!(warned(&results), 0, "it has no figure");
    }
}
