//! What the articles' programs printed, with the figures of this run, for those who lay the two side by
//! side or read them by a script. Latencies are the articles' own: elapsed / (2 x messages) / subscribers.

use crate::compared::Compared;
use crate::measure::float;
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
        ("pipeline", task) => Some(statistics(cell, task)),
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

/// The table of the feed handler's stages, in microseconds, of the messages of all rounds. It has none of the article's
/// columns of recursions: no stage is entered while it is under way. The article timed each message; what `codec` measures
/// are means of batches, so that count and sum are scaled to messages, and the deviation stays that of the means.
fn statistics(cell: &Cell, task: Task) -> String {
    let line = |name: &str, count: &str, sum: &str, mean: &str, std_dev: &str| {
        format!("  {name:24} {count:>9} {sum:>12} {mean:>10} {std_dev:>10}\n")
    };
    let is_codec = task == Task::Codec;
    let elapsed = cell.good().filter_map(|round| {
        let answers = round.answers.iter();
        answers.map(|answer| answer.elapsed_ns).max()
    });
    let elapsed_us = elapsed.sum::<u64>() / 1_000;
    let mut text = format!(
        "# microseconds, all rounds together; without the columns recursions, rsum, rmean, rstd_dev: there are none{}\n\
         \u{20} Elapsed time from first start time to last end time: {elapsed_us}\n",
        if is_codec { MEANS } else { "" },
    );
    text += &line("name", "count", "sum", "mean", "std_dev");
    let messages = if is_codec { BATCH } else { 1 };
    for (name, times) in &cell.all_rounds {
        let us = |ns: f64| format!("{:.3}", ns / 1_000.0);
        let std_dev = times.std_dev.map_or_else(|| "-".to_owned(), us);
        let sum = times.sum() * float(messages) / 1_000.0;
        text += &line(
            name,
            &(times.count * messages).to_string(),
            &format!("{sum:.0}"),
            &us(times.mean),
            &std_dev,
        );
    }
    text
}

/// How many messages a mean of `codec` is of.
const BATCH: u64 = 100;
const MEANS: &str =
    "; times are means of batches of 100 messages, and std_dev is that of the means";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::ROUND_TRIP;
    use crate::sample;

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

    #[test]
    fn stages_are_told_with_their_deviation_if_it_is_known() {
        let mut results = sample::raw(&[("tickwire-udp", "udp", &[2_000])]);
        let cell = &mut results.cells[0];
        let times = cell.all_rounds.get_mut(ROUND_TRIP).unwrap();
        (times.mean, times.std_dev) = (2_500.0, Some(125.0));
        let row = |cell: &Cell, task| {
            let text = statistics(cell, task);
            let last = text.lines().last().unwrap().split_whitespace();
            last.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            row(cell, Task::Echo),
            ["round", "trip", "100", "250", "2.500", "0.125"]
        );
        // Those are means of a hundred messages each.
        assert_eq!(
            row(cell, Task::Codec),
            ["round", "trip", "10000", "25000", "2.500", "0.125"]
        );
        cell.all_rounds.get_mut(ROUND_TRIP).unwrap().std_dev = None;
        assert_eq!(row(cell, Task::Echo).last().unwrap(), "-");
    }

    #[test]
    fn the_table_of_stages_begins_as_the_article_s() {
        let mut results = sample::raw(&[("tickwire-udp", "udp", &[2_000, 2_000, 2_000])]);
        let cell = &mut results.cells[0];
        for round in &mut cell.rounds {
            round.answers[0].elapsed_ns = 1_500_000;
        }
        cell.rounds[2].failure = Some("1 lost".to_owned());
        let text = statistics(cell, Task::Codec);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("# ") && lines[0].contains("means of batches"));
        assert_eq!(
            lines[1],
            "  Elapsed time from first start time to last end time: 3000"
        );
        let columns: Vec<_> = lines[2].split_whitespace().collect();
        assert_eq!(columns, ["name", "count", "sum", "mean", "std_dev"]);
        assert!(!statistics(cell, Task::Echo).contains("batches"));
    }
}
