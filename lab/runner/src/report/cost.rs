//! What a message costs.

use super::document::Block;
use super::tables::{class, size};
use super::text::{Align, Table, number};
use crate::compared::Compared;
use crate::record::{Cell, Counted, Totals};
use crate::scenario::Task;
use crate::statistics::Spread;

/// Medians over rounds of what all processes of a cell cost.
pub(super) fn table(compared: &Compared<'_>) -> Vec<Block> {
    let mut table = Table::new(&[
        ("size", Align::Right),
        ("system", Align::Left),
        ("wait", Align::Left),
        ("CPU us (min..max)", Align::Right),
        ("context switches", Align::Right),
        ("system calls", Align::Right),
        ("bytes on the wire", Align::Right),
        ("encoded bytes", Align::Right),
        ("resident MB", Align::Right),
        ("threads", Align::Right),
        ("not counted", Align::Left),
    ]);
    let part = compared.part;
    let is_wanted = |cell: &&Cell| {
        let counted = part.count_calls_at.or(part.sizes.first().copied());
        counted == Some(cell.key.size) || !part.sizes.contains(&cell.key.size)
    };
    for cell in compared.cells().filter(is_wanted) {
        let Some(last) = cell.good().last() else {
            continue;
        };
        let median = |of: fn(&Totals) -> f64| Spread::of(cell.good().map(|it| of(&it.totals)));
        let text = |value: Option<f64>| value.map(number).unwrap_or_default();
        let cpu = median(|it| it.cpu_ns / 1e3);
        let counted = &cell.counted;
        // Without the difference of two runs there is what a whole run moved.
        let whole = last
            .totals
            .wire_bytes
            .map(|bytes| format!("about {}", number(bytes)));
        let wire = counted.wire_bytes.map(number).or(whole);
        let encoded = last.totals.encoded_bytes;
        table.row_of(
            class(compared, cell),
            vec![
                size(compared, cell),
                cell.key.system.clone(),
                cell.key.wait.name().to_owned(),
                cpu.map(|it| {
                    format!(
                        "{} ({}..{})",
                        number(it.median),
                        number(it.min),
                        number(it.max)
                    )
                })
                .unwrap_or_default(),
                text(median(|it| it.switches).map(|it| it.median)),
                counted
                    .system_calls
                    .map(|it| calls(it, counted))
                    .unwrap_or_default(),
                wire.unwrap_or_default(),
                encoded.map(|it| it.to_string()).unwrap_or_default(),
                number(crate::measure::float(last.totals.resident_kb) / 1024.0),
                last.totals.threads.to_string(),
                counted.missing.clone().unwrap_or_default(),
            ],
        );
    }
    if table.is_empty() {
        return Vec::new();
    }
    let hosts = compared.results.hosts.as_ref();
    let sides = match part.task {
        Task::Codec => "",
        _ if hosts.is_some_and(|it| it.has_two_clocks) => {
            ", of all processes together, without a broker"
        }
        _ => ", of all processes together, a broker too",
    };
    let unit = part.unit();
    let caption = format!(
        "What a {unit} costs{sides}. Memory and threads are those of the process that has most. \
         System calls (of those that block, without a broker) and bytes on the wire are the difference between runs of N and 2 N, \
         divided by N. N is 500; of streams 50 000, of their system calls 500 to 50 000, as many as take two seconds under strace, \
         and `below` is said where the difference is no larger than that of two runs of N. `about` is what \
         a whole run moved over the interface between its sides, its beginning too, divided by its messages."
    );
    vec![
        Block::Paragraph(caption),
        Block::Table(table.without_empty_columns()),
    ]
}

/// System calls a message, or what they are fewer than.
fn calls(calls: f64, counted: &Counted) -> String {
    let messages = counted.messages.max(MESSAGES_OF_OLD);
    let least = counted
        .resolution
        .max(1.0 / crate::measure::float(messages));
    match calls > least {
        true => number(calls),
        false => format!("below resolution ({})", number(least)),
    }
}

/// N of runs that do not tell it.
const MESSAGES_OF_OLD: u64 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_equal_runs_may_differ_by_is_no_figure() {
        let counted = |messages, resolution| Counted {
            messages,
            resolution,
            ..Counted::default()
        };
        assert_eq!(calls(0.5, &counted(50_000, 0.01)), number(0.5));
        assert!(calls(0.01, &counted(50_000, 0.01)).starts_with("below"));
        assert!(calls(0.0, &counted(0, 0.0)).starts_with("below resolution (0.002"));
    }
}
