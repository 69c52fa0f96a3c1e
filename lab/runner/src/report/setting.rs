//! Where and with what the figures were taken.

use super::document::Block;
use super::text::{Align, Table};
use crate::claims;
use crate::environment;
use crate::progress::minutes;
use crate::record::Results;

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
         Load averages before {}, after {}.",
        results.scenarios.join(", "),
        minutes(took),
        environment.load.0,
        environment.load.1,
    )));
    blocks.push(Block::heading(2, "How to read it"));
    blocks.push(Block::List(
        METHOD.iter().map(|&it| it.to_owned()).collect(),
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

/// Why the figures may say little.
fn warnings(results: &Results) -> Vec<Block> {
    let environment = &results.environment;
    let mut texts = Vec::new();
    let cores = environment.cores;
    if environment::is_busy(&environment.load.0, cores) {
        let load = environment
            .load
            .0
            .split_whitespace()
            .next()
            .unwrap_or_default();
        texts.push(format!(
            "The machine was busy before the run began: its load average was {load} on {cores} cores. \
             What else ran took time from what was measured; tails above all tell of that."
        ));
    }
    let rounds = results.cells.iter().map(|cell| cell.rounds.len()).max();
    if let Some(rounds) = rounds.filter(|&rounds| rounds < claims::ROUNDS) {
        texts.push(format!(
            "{rounds} {} too few to tell a difference from chance: no claim is decided, and ratios are hints.",
            if rounds == 1 { "round is" } else { "rounds are" }
        ));
    }
    texts.into_iter().map(Block::Warning).collect()
}

/// The machine, and how each system was set up.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let mut machine = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for (name, value) in &results.environment.facts {
        machine.row(vec![name.clone(), value.clone()]);
    }
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
        Block::Table(machine),
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
    "`x floor` is how many times worse than bare sockets, shared memory or copying of the same transport and wait, \
     `x best peer` than the best other system of the same reach (network, or one machine), wait and size. \
     1 is equal, less is better.",
    "`block` sleeps in the system until something comes, `poll` asks again and again. They are never compared with \
     each other.",
    "Each process is bound to one core with all its threads. Who polls in a system that has threads of its own takes \
     their time away, and pays for it. Polling is measured only where there are at least as many cores as processes.",
    "Latencies are one way in microseconds: half of a round trip, or measured on the machine's clock where a part says so. \
     p50 is the median of the rounds' medians; the other percentiles, and n, are of the messages of all rounds together, \
     and left out where fewer than ten messages lie beyond.",
    "A run is good only if every program ended well, all that was sent was received, and nothing was lost, wrong or \
     out of order. Any other is shown as failed with its numbers, and used for nothing.",
    "The active side is bound to core 0, the passive side and brokers to core 1, all at the niceness that the table of the \
     machine shows, in a network namespace of their own.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

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
        results.cells[0].rounds.pop();
        assert_eq!(warned(&results), 2);
    }
}
