//! What a message costs, next to what it would cost by hand.
//!
//! `cargo bench -p tickwire-fast-conformance --bench speed` prints nanoseconds per message, medians of passes that take
//! turns, so that what disturbs the machine disturbs all rows alike. `-- --json` prints them for programs. `-- --once
//! ROW DATA` runs one pass of one row, for callgrind: docs/fast-speed.md has the counts.

mod data;
mod floor;
mod generated;
mod interpreter;

use data::Data;
use nix::time::{ClockId, clock_gettime};

const PASSES: usize = 41;

/// One way to decode or encode one set of data.
struct Row<'a> {
    name: &'static str,
    data: &'a Data,
    /// What it should not exceed, in multiples of the floor, or of another row.
    aim: Option<f64>,
    pass: Box<dyn FnMut() + 'a>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (simple, complex) = (Data::simple()?, Data::complex()?);
    for data in [&simple, &complex] {
        let sums = (floor::total(data), interpreter::total(data)?);
        assert!(
            matches!(sums, (Ok(floor), interpreter) if floor == interpreter),
            "{sums:?}"
        );
    }
    let mut rows = rows(&simple)?;
    rows.extend(self::rows(&complex)?);
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    if let ["--once", name, data, ..] = words[..] {
        let row = rows
            .iter_mut()
            .find(|row| row.name == name && row.data.name == data);
        let row = row.ok_or(format!("no row {name} of {data}"))?;
        (row.pass)();
        measured_pass(row);
        println!("{} messages", row.data.messages);
        return Ok(());
    }
    if let ["--only", names, ..] = words[..] {
        rows.retain(|row| names.split(',').any(|name| name == row.name));
    }
    let medians = measure(&mut rows);
    if words.contains(&"--json") {
        print_json(&rows, &medians);
    } else {
        print_table(&rows, &medians);
    }
    Ok(())
}

fn rows(data: &Data) -> Result<Vec<Row<'_>>, Box<dyn std::error::Error>> {
    let is_simple = data.name == "simple";
    let row = |name, aim, pass| Row {
        name,
        data,
        aim,
        pass,
    };
    let floor: Box<dyn FnMut()> = match is_simple {
        true => Box::new(floor::simple(data)),
        false => Box::new(floor::complex(data)),
    };
    let interpreter_aim = if is_simple { 3.6 } else { 6.5 };
    let mut rows = vec![
        row("floor", None, floor),
        row("generated", Some(1.4), generated::decode(data, false)),
        row(
            "generated-strict",
            Some(1.4 * 1.2),
            generated::decode(data, true),
        ),
        row(
            "interpreter",
            Some(interpreter_aim),
            Box::new(interpreter::decode(data, false)),
        ),
        row(
            "interpreter-strict",
            Some(interpreter_aim * 1.2),
            Box::new(interpreter::decode(data, true)),
        ),
        row("encode-generated", Some(2.8), generated::encode(data)?),
        row(
            "encode-interpreter",
            None,
            Box::new(interpreter::encode(data)?),
        ),
    ];
    match interpreter::fastlib(data) {
        Ok(pass) => rows.push(row("fastlib", None, Box::new(pass))),
        Err(error) => eprintln!("fastlib refuses the {} data: {error}", data.name),
    }
    Ok(rows)
}

/// A function of its own, so that callgrind can count from its start to its end.
#[inline(never)]
fn measured_pass(row: &mut Row<'_>) {
    (row.pass)();
}

/// Median nanoseconds per message of each row.
fn measure(rows: &mut [Row<'_>]) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(PASSES); rows.len()];
    for _ in 0..PASSES {
        for (row, times) in rows.iter_mut().zip(&mut times) {
            let start = processor_time_ns();
            measured_pass(row);
            times.push((processor_time_ns() - start) as f64 / row.data.messages as f64);
        }
    }
    times
        .iter_mut()
        .map(|times| {
            times.sort_by(f64::total_cmp);
            times[PASSES / 2]
        })
        .collect()
}

/// Time that this thread had a processor: what else the machine does counts for little.
fn processor_time_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

fn floor_of(rows: &[Row<'_>], medians: &[f64], data: &Data) -> f64 {
    let floor = rows
        .iter()
        .zip(medians)
        .find(|(row, _)| row.name == "floor" && row.data.name == data.name);
    floor.map_or(f64::NAN, |(_, median)| *median)
}

fn print_table(rows: &[Row<'_>], medians: &[f64]) {
    let mut data_name = "";
    for (row, median) in rows.iter().zip(medians) {
        if row.data.name != data_name {
            data_name = row.data.name;
            println!(
                "{data_name}: {} messages, {:.1} bytes each",
                row.data.messages,
                row.data.bytes as f64 / row.data.messages as f64
            );
            println!(
                "  {:<20} {:>10} {:>9} {:>6}",
                "", "ns/message", "x floor", "aim"
            );
        }
        let ratio = median / floor_of(rows, medians, row.data);
        let aim = row.aim.map_or(String::new(), |aim| format!("{aim:.2}"));
        println!("  {:<20} {median:10.1} {ratio:9.2} {aim:>6}", row.name);
    }
}

fn print_json(rows: &[Row<'_>], medians: &[f64]) {
    for (row, median) in rows.iter().zip(medians) {
        let ratio = median / floor_of(rows, medians, row.data);
        let aim = row.aim.map_or(String::from("null"), |aim| aim.to_string());
        println!(
            r#"{{"data":"{}","row":"{}","ns_per_message":{median:.2},"floors":{ratio:.3},"aim":{aim}}}"#,
            row.data.name, row.name
        );
    }
}
