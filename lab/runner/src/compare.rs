//! Two runs side by side, cell by cell.

use std::collections::{BTreeMap, BTreeSet};

use crate::compared::Compared;
use crate::measure;
use crate::record::{Cell, Results};
use crate::report::text::{Align, Table, figure_text, times_text};
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
    let mut beyond = 0;
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
        let to_floor = was.times_floor(old).zip(is.times_floor(new));
        let (times, mark) = match to_floor {
            Some((was, is)) => change(false, was, is),
            None => change(part.is_rate(), old_figure, new_figure),
        };
        beyond += u32::from(!mark.is_empty());
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
    let mut text = format!(
        "{}\n{cells} cells, {beyond} of them changed beyond the spread of their rounds, \
         by what they are to the floor where there is one.\n",
        table.markdown()
    );
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

/// How many times as good it has become, and whether that is more than rounds differ by.
fn change(is_rate: bool, was: Spread, is: Spread) -> (Spread, &'static str) {
    let ratio = |was: f64, is: f64| if is_rate { is / was } else { was / is };
    let median = ratio(was.median, is.median);
    let ends = [ratio(was.min, is.max), ratio(was.max, is.min)];
    let times = Spread {
        median,
        min: ends[0].min(ends[1]),
        max: ends[0].max(ends[1]),
    };
    let mark = match (was.overlaps(&is), median > 1.0) {
        (true, _) => "",
        (false, true) => "better",
        (false, false) => "worse",
    };
    (times, mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Round;
    use crate::sample;

    #[test]
    fn ratios_to_the_floor_are_judged() {
        let before = sample::raw(&[
            ("floor-tcp", "tcp", &[10_000, 20_000]),
            ("asio-tcp", "tcp", &[20_000, 40_000]),
            ("zeromq-tcp", "tcp", &[60_000, 120_000]),
            ("gone-tcp", "tcp", &[60_000]),
            ("iceoryx2", "shm", &[2_000]),
        ]);
        // The machine is half as fast; Asio is as it was, ZeroMQ is not.
        let mut after = sample::raw(&[
            ("floor-tcp", "tcp", &[20_000, 40_000]),
            ("asio-tcp", "tcp", &[40_000, 80_000]),
            ("zeromq-tcp", "tcp", &[60_000, 120_000]),
            ("young-tcp", "tcp", &[60_000]),
            ("iceoryx2", "shm", &[1_000]),
        ]);
        after.cells[2].rounds.push(Round {
            failure: Some("1 lost".to_owned()),
            ..Round::default()
        });
        after.environment.load.0 = "1.00".to_owned();
        let text = table(&before, &after);
        let (table, lists) = text.split_once("4 cells, 2 of them changed").unwrap();
        let line = |id: &str| table.lines().find(|line| line.contains(id)).unwrap();
        assert!(!line("asio").contains("worse"), "{text}");
        assert!(line("zeromq").contains("better") && line("zeromq").contains("2.00"));
        assert!(line("iceoryx2").contains("better") && line("iceoryx2").contains("no floor"));
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
    fn more_messages_a_second_are_better() {
        let spread = |value| Spread::of([value]).unwrap();
        assert_eq!(change(true, spread(10.0), spread(20.0)).1, "better");
        assert_eq!(change(false, spread(10.0), spread(20.0)).1, "worse");
    }
}
