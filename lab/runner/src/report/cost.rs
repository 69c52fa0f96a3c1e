//! What a message costs.

use super::document::Block;
use super::tables::{class, size};
use super::text::{Align, Table, number};
use crate::compared::Compared;
use crate::record::{Cell, Totals};
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
                text(counted.system_calls),
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
    let sides = match part.task {
        Task::Codec => "",
        _ => ", of all processes together, a broker too",
    };
    let unit = part.unit();
    let caption = format!(
        "What a {unit} costs{sides}. Memory and threads are those of the process that has most. \
         System calls (of those that block, without a broker) and bytes on the wire are the difference between runs of 500 and 1000; `about` is what \
         a whole run moved over the loopback interface, its beginning too, divided by its messages."
    );
    vec![
        Block::Paragraph(caption),
        Block::Table(table.without_empty_columns()),
    ]
}
