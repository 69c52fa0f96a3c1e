//! Two runs side by side, cell by cell.

use crate::measure;
use crate::record::Results;
use crate::report::text::{Align, Table, figure_text, times_text};
use crate::scenarios;
use crate::statistics::Spread;

/// The table of all cells that both have.
pub(crate) fn table(before: &Results, after: &Results) -> String {
    let mut table = Table::new(&[
        ("part", Align::Left),
        ("system", Align::Left),
        ("wait", Align::Left),
        ("size", Align::Right),
        ("before (min..max)", Align::Right),
        ("after (min..max)", Align::Right),
        ("times as good", Align::Right),
        ("", Align::Left),
    ]);
    let mut beyond = 0;
    for new in &after.cells {
        let old = before.cells.iter().find(|old| old.key == new.key);
        let part = scenarios::part(&new.key.scenario, &new.key.part);
        let (Some(old), Some(part)) = (old, part) else {
            continue;
        };
        let key = &new.key;
        let (Some(was), Some(is)) = (measure::figures(part, old), measure::figures(part, new))
        else {
            continue;
        };
        let change = change(part.is_rate(), was, is);
        beyond += u32::from(!change.1.is_empty());
        table.row(vec![
            format!("{} {}", key.scenario, key.part),
            key.system.clone(),
            key.wait.name().to_owned(),
            key.size.to_string(),
            figure_text(part, was),
            figure_text(part, is),
            times_text(change.0),
            change.1.to_owned(),
        ]);
    }
    let cells = table.len();
    format!(
        "{}\n{cells} cells, {beyond} of them changed beyond the spread of their rounds.\n",
        table.markdown()
    )
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
    use crate::sample;

    #[test]
    fn only_changes_beyond_the_spread_are_marked() {
        let before = sample::raw(&[
            ("asio-tcp", "tcp", &[20_000, 24_000]),
            ("zeromq-tcp", "tcp", &[60_000, 62_000]),
            ("gone", "tcp", &[60_000]),
        ]);
        let after = sample::raw(&[
            ("asio-tcp", "tcp", &[23_000, 25_000]),
            ("zeromq-tcp", "tcp", &[30_000, 31_000]),
        ]);
        let text = table(&before, &after);
        let line = |id: &str| {
            text.lines()
                .find(|line| line.contains(id))
                .unwrap_or_default()
        };
        assert!(!line("asio").contains("worse"), "{text}");
        assert!(
            line("zeromq").contains("better") && line("zeromq").contains("2.00"),
            "{text}"
        );
        assert!(line("gone").is_empty());
        assert!(text.contains("2 cells, 1 of them"), "{text}");
    }

    #[test]
    fn more_messages_a_second_are_better() {
        let spread = |value| Spread::of([value]).unwrap();
        assert_eq!(change(true, spread(10.0), spread(20.0)).1, "better");
        assert_eq!(change(false, spread(10.0), spread(20.0)).1, "worse");
    }
}
