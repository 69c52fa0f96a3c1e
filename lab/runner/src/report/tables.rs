//! The tables of a part.

use std::collections::BTreeMap;

use super::document::Block;
use super::setting::NOT_THERE;
use super::text::{Align, Table, figure_text, grouped, microseconds, number, times_text};
use crate::compared::{Compared, Kind};
use crate::measure;
use crate::record::{Absent, Cell, Percentiles};
use crate::scenario::{Published, Task, Wait, begins_with_any};
use crate::statistics::Spread;

/// The figures of all systems; what a wide table has beside them comes in one of its own.
pub(super) fn main(compared: &Compared<'_>) -> Vec<Table> {
    let all = figures(compared);
    if all.is_empty() {
        return Vec::new();
    }
    let is_detail = |name: &str| DETAILS.contains(&name);
    let has_details = all.columns.iter().any(|column| is_detail(column.0));
    if all.width() <= WIDE || !has_details {
        return vec![all];
    }
    let mut details = all.columns_that(|name| KEYS.contains(&name) || is_detail(name));
    details.rows.retain(|row| row.class != "absent");
    vec![all.columns_that(|name| !is_detail(name)), details]
}

/// In characters of Markdown.
const WIDE: usize = 200;
/// Columns that say which row it is.
const KEYS: &[&str] = &["size", "system", "wait"];
/// Columns that come in a table of their own.
const DETAILS: &[&str] = &[
    "p90",
    "p99",
    "p99 of rounds",
    "p99.9",
    "max",
    "n",
    "encode",
    "decode",
    "seed us",
];

/// The figures of all systems, sizes one after the other.
fn figures(compared: &Compared<'_>) -> Table {
    let part = compared.part;
    let figure = match part.task {
        Task::Stream => "received/s (min..max)",
        Task::Demand => "sent/s (min..max)",
        Task::Codec => "encode + decode us (min..max)",
        Task::Echo | Task::OpenLoop(_) => "p50 us (min..max)",
    };
    let mut table = Table::new(&[
        ("size", Align::Right),
        ("system", Align::Left),
        ("wait", Align::Left),
        (figure, Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("p99 of rounds", Align::Right),
        ("p99.9", Align::Right),
        ("max", Align::Right),
        ("n", Align::Right),
        ("encode", Align::Right),
        ("decode", Align::Right),
        ("seed us", Align::Right),
        ("MB/s", Align::Right),
        ("sent/s", Align::Right),
        ("received/s", Align::Right),
        ("cycle ms", Align::Right),
        ("D", Align::Right),
        ("x floor", Align::Right),
        ("x best peer", Align::Right),
        ("x native", Align::Right),
        ("article", Align::Left),
        ("remarks", Align::Left),
    ]);
    for cell in compared.cells().filter(|cell| !cell.rounds.is_empty()) {
        table.row_of(class(compared, cell), row(compared, cell));
    }
    if !table.is_empty() {
        for absent in compared.absent() {
            table.row_of("absent", absent_row(compared, absent, table.columns.len()));
        }
    }
    table.without_empty_columns()
}

/// Who is not there has a row all the same.
fn absent_row(compared: &Compared<'_>, absent: &Absent, columns: usize) -> Vec<String> {
    let published = compared.part.published.iter();
    let beside = published.filter(|it| begins_with_any(&absent.id, it.beside));
    let texts: Vec<_> = beside.map(published_text).collect();
    let mut row = vec![String::new(); columns];
    row[1].clone_from(&absent.id);
    row[columns - 2] = texts.join("; ");
    row[columns - 1] = format!("absent: why stands under \"{NOT_THERE}\"");
    row
}

fn published_text(published: &Published) -> String {
    let (what, value) = (published.what, published.value);
    match published.size {
        Some(size) => format!("{what} at {size} B: {value}"),
        None => format!("{what}: {value}"),
    }
}

fn row(compared: &Compared<'_>, cell: &Cell) -> Vec<String> {
    let part = compared.part;
    let latencies = measure::latencies(part, cell);
    let latency = |ns: u64, factor: f64| number(measure::float(ns) * factor / 1e3);
    let percentile = |percentile: f64, of: fn(&Percentiles) -> u64| {
        let known = latencies.filter(|(it, _)| it.reaches(percentile));
        let text = known.map(|(it, factor)| latency(of(it), factor));
        text.unwrap_or_default()
    };
    let most = latencies.map(|(it, factor)| latency(it.max, factor));
    let stage = |name: &str| {
        let spread = stage(cell, name).filter(|_| part.task == Task::Codec);
        spread.map(|it| number(it.median / 1e3)).unwrap_or_default()
    };
    let total = |of: fn(&crate::record::Totals) -> f64| {
        Spread::of(cell.good().map(|round| of(&round.totals))).filter(|_| part.is_rate())
    };
    let median = |spread: Option<Spread>, scale: f64, text: fn(f64) -> String| {
        spread.map(|it| text(it.median * scale)).unwrap_or_default()
    };
    let received = total(|it| it.received_per_s);
    let seeds = cell.good().filter_map(|round| round.totals.seed_ns);
    let is_many = part.publishers > 1;
    let is_demand = part.task == Task::Demand;
    let demand = cell.rounds.last().and_then(|round| round.demand);
    vec![
        size(compared, cell),
        cell.key.system.clone(),
        cell.key.wait.name().to_owned(),
        measure::figures(part, cell)
            .map(|it| figure_text(part, it))
            .unwrap_or_default(),
        percentile(90.0, |it| it.p90),
        percentile(99.0, |it| it.p99),
        p99_of_rounds(compared, cell).unwrap_or_default(),
        percentile(99.9, |it| it.p99_9),
        most.unwrap_or_default(),
        latencies
            .map(|(it, _)| grouped(measure::float(it.count)))
            .unwrap_or_default(),
        stage(measure::ENCODE),
        stage(measure::DECODE),
        median(Spread::of(seeds), 1e-3, number),
        median(received, f64::from(cell.key.size) / 1e6, number),
        median(
            total(|it| it.sent_per_s).filter(|_| !is_demand),
            1.0,
            grouped,
        ),
        median(received.filter(|_| is_demand), 1.0, grouped),
        median(total(|it| it.cycle_ns).filter(|_| is_many), 1e-6, number),
        demand.map(|it| it.to_string()).unwrap_or_default(),
        compared
            .times_floor(cell)
            .map(times_text)
            .unwrap_or_default(),
        compared
            .times_peer(cell)
            .map(times_text)
            .unwrap_or_default(),
        compared
            .times_called(cell)
            .map(times_text)
            .unwrap_or_default(),
        article(compared, cell),
        remarks(compared, cell),
    ]
}

/// The least and the largest of the rounds' own, of an open loop: its tails are what it is about, and a single round may
/// have made the one of all messages.
fn p99_of_rounds(compared: &Compared<'_>, cell: &Cell) -> Option<String> {
    let is_open_loop = matches!(compared.part.task, Task::OpenLoop(_));
    let rounds = cell.good().filter(|_| is_open_loop);
    let times = rounds.filter_map(|round| round.stages.get(measure::ONE_WAY));
    let known = times.filter(|times| times.reaches(99.0));
    let spread = Spread::of(known.map(|times| measure::float(times.p99) / 1e3))?;
    Some(format!("{}..{}", number(spread.min), number(spread.max)))
}

/// Why there is no table.
pub(super) fn why_empty(compared: &Compared<'_>) -> String {
    let needs: Vec<_> = compared
        .part
        .capabilities()
        .map(|it| format!("`{it}`"))
        .collect();
    match compared.results.is_quick && compared.part.quick.is_empty() {
        true => "Left out of a quick run.".to_owned(),
        false => format!(
            "Nothing was measured: no system of this run can do {} at these sizes.",
            needs.join(" and ")
        ),
    }
}

/// Who of this run is not asked for all of the table, and why.
pub(super) fn left_out(compared: &Compared<'_>) -> Option<Block> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for left_out in compared.left_out() {
        let systems = by_reason.entry(&left_out.reason).or_default();
        systems.push(&left_out.system);
    }
    let texts: Vec<_> = by_reason
        .iter()
        .map(|(reason, systems)| format!("{} ({reason})", systems.join(", ")))
        .collect();
    (!texts.is_empty()).then(|| Block::Paragraph(format!("Not asked here: {}.", texts.join("; "))))
}

/// Systems whose programs say that they cannot do this.
pub(super) fn refusals(compared: &Compared<'_>) -> Option<Block> {
    let refused = compared
        .cells()
        .filter_map(|cell| Some((cell.key.system.as_str(), cell.refusal.as_deref()?)));
    let reasons: BTreeMap<_, _> = refused.collect();
    if let Some(threads) = compared.part.threads.filter(|_| !reasons.is_empty()) {
        let systems: Vec<_> = reasons.into_keys().collect();
        let is_tickwire = systems.iter().any(|id| begins_with_any(id, &["tickwire"]));
        return Some(Block::Paragraph(format!(
            "Not run with {threads} threads, since how many they have is no option of theirs: {}.{}",
            systems.join(", "),
            if is_tickwire { TICKWIRE_THREADS } else { "" },
        )));
    }
    let texts: Vec<_> = reasons
        .iter()
        .map(|(system, reason)| format!("{system} ({reason})"))
        .collect();
    (!texts.is_empty()).then(|| {
        let texts = texts.join("; ");
        Block::Paragraph(format!("Cannot take part, as their programs say: {texts}."))
    })
}

/// Why Tickwire has no such option.
const TICKWIRE_THREADS: &str = " Tickwire needs none: each participant has three of its own, for samples, for what \
     comes by multicast and for acknowledgements; there is no pool and no broker that more of them could speed up.";

/// The article's figures that stand beside no row.
pub(super) fn published_alone(compared: &Compared<'_>) -> Option<Block> {
    let is_alone = |published: &&Published| {
        let mut absent = compared.absent();
        !compared.cells().any(|cell| stands_beside(published, cell))
            && !absent.any(|it| begins_with_any(&it.id, published.beside))
    };
    let alone = compared.part.published.iter().filter(is_alone);
    let texts: Vec<_> = alone.map(published_text).collect();
    (!texts.is_empty()).then(|| {
        let texts = texts.join("; ");
        Block::Paragraph(format!(
            "Published, with nothing measured beside it: {texts}."
        ))
    })
}

/// Slopes and intercepts of the lines through the medians.
pub(super) fn lines(compared: &Compared<'_>) -> Option<Block> {
    let mut table = Table::new(&[
        ("system", Align::Left),
        ("wait", Align::Left),
        ("a byte costs, ns (min..max)", Align::Right),
        ("a message costs, us", Align::Right),
    ]);
    let mut seen: Vec<(&str, Wait)> = Vec::new();
    for cell in compared.cells() {
        let series = (cell.key.system.as_str(), cell.key.wait);
        let Some(line) = compared.line(cell).filter(|_| !seen.contains(&series)) else {
            continue;
        };
        seen.push(series);
        let slopes = Spread::of(compared.slopes(cell).into_values());
        let slopes = slopes.map(|it| format!(" ({}..{})", number(it.min), number(it.max)));
        let slope = format!("{}{}", number(line.slope), slopes.unwrap_or_default());
        table.row_of(
            class(compared, cell),
            vec![
                cell.key.system.clone(),
                cell.key.wait.name().to_owned(),
                slope,
                number(line.intercept / 1e3),
            ],
        );
    }
    (!table.is_empty()).then_some(Block::Table(table))
}

/// Stages that programs name besides the part's own.
pub(super) fn stages(compared: &Compared<'_>) -> Option<Block> {
    let mut table = Table::new(&[
        ("size", Align::Right),
        ("system", Align::Left),
        ("wait", Align::Left),
        ("stage", Align::Left),
        ("p50 us (min..max)", Align::Right),
        ("mean", Align::Right),
        ("std dev", Align::Right),
        ("p99", Align::Right),
        ("n", Align::Right),
        ("sum", Align::Right),
    ]);
    for cell in compared.cells() {
        let own = [measure::ROUND_TRIP, measure::ONE_WAY, measure::ENCODE];
        for (name, times) in &cell.all_rounds {
            let is_codec = compared.part.task == Task::Codec && name == measure::DECODE;
            if own.contains(&name.as_str()) || is_codec {
                continue;
            }
            let spread = stage(cell, name);
            let std_dev = times.std_dev.map(|ns| ns / 1e3);
            let p99 = times.reaches(99.0).then(|| measure::float(times.p99) / 1e3);
            table.row(vec![
                size(compared, cell),
                cell.key.system.clone(),
                cell.key.wait.name().to_owned(),
                name.clone(),
                spread.map(microseconds).unwrap_or_default(),
                number(times.mean / 1e3),
                std_dev.map(number).unwrap_or_default(),
                p99.map(number).unwrap_or_default(),
                times.count.to_string(),
                grouped(times.sum() / 1e3),
            ]);
        }
    }
    (!table.is_empty()).then(|| Block::Table(table.without_empty_columns()))
}

/// What came of the search for the demand.
pub(super) fn searches(compared: &Compared<'_>) -> Option<Block> {
    let mut table = Table::new(&[
        ("size", Align::Right),
        ("system", Align::Left),
        ("largest D without loss", Align::Right),
        ("fastest D", Align::Right),
        ("D: sent/s", Align::Left),
    ]);
    for cell in compared.cells().filter(|cell| !cell.search.is_empty()) {
        let good = cell.search.iter().filter(|tried| tried.failure.is_none());
        let largest = good.map(|tried| tried.demand).max();
        let tried = cell.search.iter().map(|tried| match &tried.failure {
            None => format!("{}: {}", tried.demand, grouped(tried.sent_per_s)),
            Some(why) => format!("{}: failed ({why})", tried.demand),
        });
        let fastest = cell.rounds.last().and_then(|round| round.demand);
        table.row_of(
            class(compared, cell),
            vec![
                cell.key.size.to_string(),
                cell.key.system.clone(),
                largest.map_or_else(|| "none".to_owned(), |it| it.to_string()),
                fastest
                    .filter(|_| largest.is_some())
                    .map(|it| it.to_string())
                    .unwrap_or_default(),
                tried.collect::<Vec<_>>().join(", "),
            ],
        );
    }
    (!table.is_empty()).then_some(Block::Table(table))
}

/// Whose row it is.
pub(super) fn class(compared: &Compared<'_>, cell: &Cell) -> &'static str {
    match compared.kind(cell) {
        Kind::Floor => "floor",
        Kind::Tickwire => "tickwire",
        Kind::Peer => "",
    }
}

/// The size as the user chose it.
pub(super) fn size(compared: &Compared<'_>, cell: &Cell) -> String {
    match compared.part.has_sizes() {
        true => cell.key.size.to_string(),
        false => String::new(),
    }
}

fn stage(cell: &Cell, name: &str) -> Option<Spread> {
    let stages = cell.good().filter_map(|round| round.stages.get(name));
    Spread::of(stages.map(|stage| measure::float(stage.p50)))
}

fn article(compared: &Compared<'_>, cell: &Cell) -> String {
    let published = compared.part.published.iter();
    let beside = published.filter(|published| stands_beside(published, cell));
    let texts: Vec<_> = beside
        .map(|it| format!("{}: {}", it.what, it.value))
        .collect();
    texts.join("; ")
}

fn stands_beside(published: &Published, cell: &Cell) -> bool {
    cell.key.wait == Wait::Block
        && published.size.is_none_or(|size| size == cell.key.size)
        && begins_with_any(&cell.key.system, published.beside)
}

/// Who is not what was compared, and failed runs with the figures that they would have had.
fn remarks(compared: &Compared<'_>, cell: &Cell) -> String {
    let (runs, failed) = cell.failures();
    let first = cell.rounds.iter().find(|round| round.failure.is_some());
    let unlike = compared.part.is_unlike(&cell.key.system);
    let Some((round, failure)) = first.and_then(|it| Some((it, it.failure.as_ref()?))) else {
        let out_of_order = cell.good().flat_map(|round| &round.answers);
        let most = out_of_order.map(|answer| answer.out_of_order).max();
        return match (unlike, most.unwrap_or_default()) {
            (unlike, 0) => unlike.unwrap_or_default().to_owned(),
            (_, most) => format!("up to {most} messages of a run out of order"),
        };
    };
    let unlike = unlike.map(|it| format!("{it}; ")).unwrap_or_default();
    let figure = measure::figure(compared.part, round)
        .and_then(|figure| Spread::of([figure]))
        .map(|spread| match compared.part.is_rate() {
            true => format!(", {}/s in spite of it", grouped(spread.median)),
            false => format!(", {} us in spite of it", number(spread.median / 1e3)),
        });
    format!(
        "{unlike}failed {failed} of {runs}: {failure}{}",
        figure.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Results;
    use crate::sample;
    use crate::scenarios;

    /// What [`p99_of_rounds`] says of rounds with so many messages each.
    fn p99s(part: &'static str, count: u64) -> Option<String> {
        let mut results = sample::raw(&[("asio-tcp", "tcp", &[10_000, 30_000, 20_000])]);
        let cell = &mut results.cells[0];
        for round in &mut cell.rounds {
            let mut times = round.stages.remove(measure::ROUND_TRIP).unwrap();
            times.count = count;
            round.stages.insert(measure::ONE_WAY.to_owned(), times);
        }
        let compared = Compared {
            part: scenarios::part("raw", part).unwrap(),
            ..sample::compared(&results)
        };
        p99_of_rounds(&compared, &results.cells[0])
    }

    #[test]
    fn tails_of_open_loops_have_a_spread_where_a_round_has_messages_enough() {
        let spread = p99s("open-loop-1000", 1_000);
        assert_eq!(spread.as_deref(), Some("30.00..90.00"));
        assert_eq!(p99s("open-loop-1000", 999), None);
        assert_eq!(p99s("one-to-one", 1_000), None);
    }

    #[test]
    fn stages_say_of_which_wait_and_size_they_are() {
        let mut results = sample::raw(&[("tickwire-udp", "udp", &[10_000])]);
        let cell = &mut results.cells[0];
        let times = cell.all_rounds[measure::ROUND_TRIP].clone();
        cell.all_rounds.insert("sender late".to_owned(), times);
        let Some(Block::Table(table)) = stages(&sample::compared(&results)) else {
            panic!("a table");
        };
        let row = &table.rows[0].cells;
        assert_eq!(row[..4], ["1000", "tickwire-udp", "block", "sender late"]);
    }

    #[test]
    fn who_has_no_option_of_threads_is_named_in_one_line() {
        let mut results = sample::raw(&[("asio-tcp", "tcp", &[]), ("tickwire-udp", "udp", &[])]);
        for cell in &mut results.cells {
            "broker".clone_into(&mut cell.key.scenario);
            "bytes-2-threads".clone_into(&mut cell.key.part);
            cell.refusal = Some("exit status: 2: it has no such option".to_owned());
        }
        let text = |results: &Results| {
            let compared = Compared {
                results,
                scenario: scenarios::scenario("broker").unwrap(),
                part: scenarios::part("broker", "bytes-2-threads").unwrap(),
            };
            match refusals(&compared) {
                Some(Block::Paragraph(text)) => text,
                _ => String::new(),
            }
        };
        let both = text(&results);
        assert!(
            both.contains("theirs: asio-tcp, tickwire-udp. Tickwire needs none"),
            "{both}"
        );
        results.cells.pop();
        assert!(text(&results).ends_with("theirs: asio-tcp."));
    }
}
