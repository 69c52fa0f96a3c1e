//! Two runs side by side, cell by cell.

use std::collections::{BTreeMap, BTreeSet};

use crate::compared::Compared;
use crate::hosts::HostsRecord;
use crate::measure;
use crate::record::{Cell, Results};
use crate::report::text::{Align, Table, figure_text, times_text};
use crate::said::{self, Said, said};
use crate::scenarios;
use crate::statistics::Spread;

/// The table of all cells that both have, and what only one of them has.
pub(crate) fn table(before: &Results, after: &Results) -> String {
    let mut table = Table::new(&[
        ("part", Align::Left),
        ("system", Align::Left),
        ("wait", Align::Left),
        ("size", Align::Right),
        ("x floor before", Align::Right),
        ("x floor after", Align::Right),
        ("times as good", Align::Right),
        ("", Align::Left),
        ("us, or messages/s before", Align::Right),
        ("after", Align::Right),
    ]);
    let (mut beyond, mut hints) = (0, 0);
    for new in &after.cells {
        let Some((old, was, is)) = pair(before, after, new) else {
            continue;
        };
        let (part, key) = (is.part, &new.key);
        let figures = measure::figures(part, old).zip(measure::figures(part, new));
        let Some((old_figure, new_figure)) = figures else {
            continue;
        };
        // The machine drifts; what it does to the floor in a round it does to all.
        let ratios = (was.rounds_to_floor(old), is.rounds_to_floor(new));
        let rounds_to_floor = ratios.0.len().min(ratios.1.len());
        let to_floor = Spread::of(ratios.0).zip(Spread::of(ratios.1));
        let (times, rounds) = match to_floor {
            Some((was, is)) => (change(false, was, is), rounds_to_floor),
            None => (
                change(part.is_rate(), old_figure, new_figure),
                old.good().count().min(new.good().count()),
            ),
        };
        let mark = mark(times, rounds);
        beyond += u32::from(!mark.is_empty() && !mark.ends_with('?'));
        hints += u32::from(mark.ends_with('?'));
        let ratio = |it: Option<Spread>| it.map_or_else(|| "no floor".to_owned(), times_text);
        table.row(vec![
            format!("{} {}", key.scenario, key.part),
            key.system.clone(),
            key.wait.name().to_owned(),
            key.size.to_string(),
            ratio(to_floor.map(|it| it.0)),
            ratio(to_floor.map(|it| it.1)),
            times_text(times),
            mark.to_owned(),
            figure_text(part, old_figure),
            figure_text(part, new_figure),
        ]);
    }
    let cells = table.len();
    let mut text = unlike_hosts(before, after).unwrap_or_default();
    text += &format!(
        "{}\n{cells} cells, {beyond} of them changed beyond the spread of their rounds, \
         by what they are to the floor where there is one.\n",
        table.markdown()
    );
    if hints > 0 {
        text += &format!(
            "better? or worse? marks {hints} more, whose rounds do not overlap, but are fewer than {} in one of \
             the runs, with less than {:.0} % between, or fewer than {}. Of two runs of equals, three rounds and three do not \
             overlap in one of 10 cases, five and five in one of 126.\n",
            said::MANY,
            (said::MARGIN - 1.0) * 100.0,
            said::FEW,
        );
    }
    let fails = |cell: &Cell| cell.failures().1 > 0 || cell.refusal.is_some();
    let is_in = |all: &Results, cell: &Cell| all.cells.iter().any(|it| it.key == cell.key);
    let failed = |all: &Results, cell: &Cell| {
        let same = all.cells.iter().find(|it| it.key == cell.key);
        same.map(fails)
    };
    for (title, cells) in [
        ("Gone", names(before, |cell| !is_in(after, cell))),
        ("New", names(after, |cell| !is_in(before, cell))),
        (
            "Fail now",
            names(after, |it| fails(it) && failed(before, it) == Some(false)),
        ),
        (
            "Fail no more",
            names(before, |it| fails(it) && failed(after, it) == Some(false)),
        ),
        ("Different around it", environments(before, after)),
    ] {
        if !cells.is_empty() {
            let lines: String = cells.iter().map(|it| format!("- {it}\n")).collect();
            text += &format!("\n{title}:\n\n{lines}");
        }
    }
    text
}

/// Says so if one of them ran on one host, and the other on two, or they were joined in another way.
fn unlike_hosts(before: &Results, after: &Results) -> Option<String> {
    let same = before.hosts == after.hosts;
    (!same).then(|| {
        let text = |results: &Results| {
            let hosts = results.hosts.as_ref();
            hosts.map_or_else(|| "on one host".to_owned(), HostsRecord::text)
        };
        format!(
            "Not of the same hosts, so that figures differ for that reason alone. Before: {}. After: {}.\n\n",
            text(before),
            text(after)
        )
    })
}

/// The cell of the same name before, and the two parts that they belong to.
fn pair<'a>(
    before: &'a Results,
    after: &'a Results,
    new: &Cell,
) -> Option<(&'a Cell, Compared<'a>, Compared<'a>)> {
    let old = before.cells.iter().find(|old| old.key == new.key)?;
    let scenario = scenarios::scenario(&new.key.scenario)?;
    let part = scenarios::part(&new.key.scenario, &new.key.part)?;
    let of = |results| Compared {
        results,
        scenario,
        part,
    };
    Some((old, of(before), of(after)))
}

/// Some of the cells, those of a system in one line for each part and wait.
fn names(results: &Results, is_wanted: impl Fn(&Cell) -> bool) -> Vec<String> {
    let mut sizes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cell in results.cells.iter().filter(|cell| is_wanted(cell)) {
        let key = &cell.key;
        let (part, wait) = (&key.part, key.wait.name());
        let name = format!("{} {part} {}, {wait}", key.scenario, key.system);
        sizes.entry(name).or_default().push(key.size.to_string());
    }
    let lines = sizes.into_iter();
    lines
        .map(|(name, sizes)| format!("{name}: {} B", sizes.join(", ")))
        .collect()
}

/// What differs of the machines, what is installed on them, and the systems.
fn environments(before: &Results, after: &Results) -> Vec<String> {
    let facts = |results: &Results| {
        let environment = &results.environment;
        let mut all: BTreeMap<String, String> = environment.facts.iter().cloned().collect();
        let kind = if results.is_quick { "quick" } else { "full" };
        all.insert("kind of run".to_owned(), kind.to_owned());
        all.insert("load before".to_owned(), environment.load.0.clone());
        let versions = results.systems.iter();
        all.extend(versions.map(|it| (format!("version of {}", it.id), it.version.clone())));
        all
    };
    let (was, is) = (facts(before), facts(after));
    let differs = |name: &&String| was.get(*name) != is.get(*name);
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let text = |all: &BTreeMap<String, String>, name: &String| {
        let value = all.get(name).filter(|it| !it.is_empty());
        value.map_or_else(|| "unknown".to_owned(), Clone::clone)
    };
    let different = names.into_iter().filter(differs);
    different
        .map(|name| format!("{name}: {}; then {}", text(&was, name), text(&is, name)))
        .collect()
}

/// How many times as good it has become: of the rounds that are nearest to each other at least, of those that are furthest
/// at most.
fn change(is_rate: bool, was: Spread, is: Spread) -> Spread {
    let ratio = |was: f64, is: f64| if is_rate { is / was } else { was / is };
    let ends = [ratio(was.min, is.max), ratio(was.max, is.min)];
    Spread {
        median: ratio(was.median, is.median),
        min: ends[0].min(ends[1]),
        max: ends[0].max(ends[1]),
    }
}

/// Whether that is more than rounds differ by, when there are so many in each run.
fn mark(times: Spread, rounds: usize) -> &'static str {
    match said(times, rounds, 1.0) {
        Said::Above => "better",
        Said::LeansAbove => "better?",
        Said::LeansBelow => "worse?",
        Said::Below => "worse",
        Said::Nothing if times.min > 1.0 => "better?",
        Said::Nothing if times.max < 1.0 => "worse?",
        Said::Nothing | Said::Both => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Round;
    use crate::sample;

    #[test]
    fn ratios_to_the_floor_are_judged() {
        let before = sample::raw(&[
            ("floor-tcp", "tcp", &[10_000, 20_000, 15_000]),
            ("asio-tcp", "tcp", &[20_000, 40_000, 30_000]),
            ("zeromq-tcp", "tcp", &[60_000, 120_000, 90_000]),
            ("gone-tcp", "tcp", &[60_000]),
            ("iceoryx2", "shm", &[2_000]),
        ]);
        // The machine is half as fast; Asio is as it was, ZeroMQ is not.
        let mut after = sample::raw(&[
            ("floor-tcp", "tcp", &[20_000, 40_000, 30_000]),
            ("asio-tcp", "tcp", &[40_000, 80_000, 60_000]),
            ("zeromq-tcp", "tcp", &[60_000, 120_000, 90_000]),
            ("young-tcp", "tcp", &[60_000]),
            ("iceoryx2", "shm", &[1_000]),
        ]);
        after.cells[2].rounds.push(Round {
            failure: Some("1 lost".to_owned()),
            ..Round::default()
        });
        after.environment.load.0 = "1.00".to_owned();
        let text = table(&before, &after);
        let (table, lists) = text.split_once("4 cells, 1 of them changed").unwrap();
        let line = |id: &str| table.lines().find(|line| line.contains(id)).unwrap();
        assert!(!line("asio").contains("worse"), "{text}");
        assert!(line("zeromq").contains("better") && line("zeromq").contains("2.00"));
        assert!(
            !line("zeromq").contains("better?"),
            "three rounds decide by so much"
        );
        assert!(line("iceoryx2").contains("better?") && line("iceoryx2").contains("no floor"));
        assert!(
            lists.contains("\nbetter? or worse? marks 1 more"),
            "{lists}"
        );
        let place = "raw one-to-one";
        for list in [
            format!("Gone:\n\n- {place} gone-tcp, block: 1000 B\n"),
            format!("New:\n\n- {place} young-tcp, block: 1000 B\n"),
            format!("Fail now:\n\n- {place} zeromq-tcp, block: 1000 B\n"),
            "- load before: unknown; then 1.00\n".to_owned(),
        ] {
            assert!(lists.contains(&list), "{list}{lists}");
        }
    }

    #[test]
    fn a_run_over_two_hosts_and_one_on_one_are_not_compared_in_silence() {
        let before = sample::raw(&[("asio-tcp", "tcp", &[20_000, 40_000])]);
        let mut after = sample::raw(&[("asio-tcp", "tcp", &[20_000, 40_000])]);
        assert!(!table(&before, &after).contains("same hosts"));
        after.hosts = Some(HostsRecord {
            first: std::net::Ipv4Addr::new(10, 0, 0, 1),
            second: std::net::Ipv4Addr::new(10, 0, 0, 2),
            joined: "a wire".to_owned(),
            mtu: Some(9000),
            has_two_clocks: true,
        });
        let text = table(&before, &after);
        let first = text.lines().next().unwrap();
        assert!(
            first.contains("Before: on one host. After: split over two hosts"),
            "{first}"
        );
        assert!(first.contains("a wire; MTU 9000"), "{first}");
        assert!(!table(&after, &after).contains("same hosts"));
    }

    #[test]
    fn more_messages_a_second_are_better() {
        let spread = |value| Spread::of([value]).unwrap();
        let marked = |is_rate, rounds| mark(change(is_rate, spread(10.0), spread(20.0)), rounds);
        assert_eq!((marked(true, 3), marked(false, 3)), ("better", "worse"));
        assert_eq!((marked(true, 2), marked(false, 2)), ("better?", "worse?"));
    }

    #[test]
    fn little_between_few_rounds_is_a_hint() {
        let (was, is) = ([10.0, 11.0], [11.5, 12.0]);
        let times = change(false, Spread::of(was).unwrap(), Spread::of(is).unwrap());
        assert_eq!((mark(times, 4), mark(times, 5)), ("worse?", "worse"));
        let touching = change(
            false,
            Spread::of(was).unwrap(),
            Spread::of([11.0, 12.0]).unwrap(),
        );
        assert_eq!(mark(touching, 9), "");
    }
}
