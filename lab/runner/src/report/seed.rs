//! What the articles' programs printed, with the figures of this run, for those who lay the two side by
//! side or read them by a script. Latencies are the articles' own: elapsed / (2 x messages) / subscribers.

use crate::compared::Compared;
use crate::record::{Cell, Results, Round};
use crate::scenario::{Scenario, Task, Wait, begins_with_any};
use crate::statistics::Spread;

/// Each cell that blocks and that an article had a program for, one after the other; figures are medians
/// over rounds.
pub(crate) fn text(results: &Results) -> String {
    let mut text = String::new();
    for compared in super::parts(results) {
        for cell in compared.cells().filter(|cell| cell.key.wait == Wait::Block) {
            let Some(lines) = lines(&compared, cell) else {
                continue;
            };
            let (scenario, part) = (compared.scenario.name, compared.part.name);
            let (system, size) = (&cell.key.system, cell.key.size);
            text += &format!("# {scenario} {part} {system}, {size} B\n{lines}\n");
        }
    }
    text
}

fn lines(compared: &Compared<'_>, cell: &Cell) -> Option<String> {
    let count = cell.good().last()?.count;
    let median = |figure: fn(&Round) -> Option<f64>| {
        Spread::of(cell.good().filter_map(figure)).map(|spread| spread.median)
    };
    match (compared.scenario.name, compared.part.task) {
        ("raw" | "typed" | "dotnet" | "c-extension", Task::Echo) => {
            let us = median(|round| round.totals.seed_ns)? / 1_000.0;
            let program = Program::of(compared.scenario, &cell.key.system);
            Some(program.latency(us, count, cell.key.size, compared.part.subscribers))
        }
        ("c-extension", Task::Stream) => {
            let rate = median(|round| Some(round.totals.received_per_s))?;
            Some(throughput(rate, count, cell.key.size))
        }
        ("pipeline", _) => Some(statistics(cell)),
        _ => None,
    }
}

/// Whose words a system's result is put into.
#[derive(Clone, Copy)]
enum Program {
    OpenDds,
    ZeroMq,
    Boost,
    DotNet,
}

impl Program {
    fn of(scenario: &Scenario, system: &str) -> Self {
        match scenario.name {
            "dotnet" | "c-extension" => Self::DotNet,
            _ if begins_with_any(system, &["zeromq"]) => Self::ZeroMq,
            _ if begins_with_any(system, &["asio", "floor"]) => Self::Boost,
            _ => Self::OpenDds,
        }
    }

    fn latency(self, us: f64, count: u64, size: u32, subscribers: u8) -> String {
        let ms = us / 1_000.0;
        match self {
            Self::OpenDds => format!(
                "Number of messages is {count}\nMessages size is {size}\nWriting...\n\
                 Average latency in milliseconds: {ms:.3}\n"
            ),
            Self::ZeroMq => format!(
                "message size: {size} [B]\nroundtrip count: {count}\naverage latency: {us:.3} [us]\n"
            ),
            Self::Boost => format!(
                "Sending {count} messages of size {size} to {subscribers} subscribers\n\
                 Average latency in milliseconds: {ms:.3}\nFinished\n"
            ),
            Self::DotNet => format!(
                "message size: {size} [B]\nroundtrip count: {count}\nYour average latency is {us:.2} [us]\n"
            ),
        }
    }
}

/// As local_thr says it.
fn throughput(rate: f64, count: u64, size: u32) -> String {
    let megabits = rate * f64::from(size) * 8.0 / 1e6;
    format!(
        "message size: {size} [B]\nmessage count: {count}\nYour average throughput is {rate:.0} [msg/s]\n\
         Your average throughput is {megabits:.2} [Mb/s]\n"
    )
}

/// The table of the feed handler's stages, in microseconds.
fn statistics(cell: &Cell) -> String {
    let mut text = format!(
        "{:24} {:>9} {:>12} {:>10}\n",
        "name", "count", "sum", "mean"
    );
    for (name, times) in &cell.all_rounds {
        let mean = times.mean / 1_000.0;
        let sum = mean * crate::measure::float(times.count);
        text += &format!("{name:24} {:>9} {sum:>12.0} {mean:>10.3}\n", times.count);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_in_the_words_of_the_articles() {
        let told = |program: Program| program.latency(170.336, 1000, 1000, 1);
        assert_eq!(
            told(Program::ZeroMq),
            "message size: 1000 [B]\nroundtrip count: 1000\naverage latency: 170.336 [us]\n"
        );
        assert_eq!(
            told(Program::OpenDds),
            "Number of messages is 1000\nMessages size is 1000\nWriting...\n\
             Average latency in milliseconds: 0.170\n"
        );
        assert_eq!(
            told(Program::Boost),
            "Sending 1000 messages of size 1000 to 1 subscribers\n\
             Average latency in milliseconds: 0.170\nFinished\n"
        );
        assert!(told(Program::DotNet).ends_with("Your average latency is 170.34 [us]\n"));
        let thr = throughput(2_435_820.0, 1_000_000, 1);
        assert!(thr.ends_with("is 2435820 [msg/s]\nYour average throughput is 19.49 [Mb/s]\n"));
    }
}
