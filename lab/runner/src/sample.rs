//! Results for tests, as if they had been measured.

use std::collections::BTreeMap;

use crate::compared::Compared;
use crate::environment::Environment;
use crate::measure::ROUND_TRIP;
use crate::record::{Answer, Cell, Key, Percentiles, Results, Round, SystemRecord, Totals};
use crate::scenario::Wait;
use crate::scenarios;
use crate::systems::System;

/// Systems of a transport with their round trips at 1000 bytes in each round, nanoseconds.
pub(crate) fn raw(systems: &[(&str, &str, &[u64])]) -> Results {
    let mut results = empty();
    for (id, transport, rounds) in systems {
        add_system(&mut results, id, transport);
        add(&mut results, "one-to-one", id, 1000, rounds);
    }
    results
}

/// One that nothing has been measured for.
pub(crate) fn empty() -> Results {
    Results {
        schema: 1,
        scenarios: vec!["raw".to_owned()],
        is_quick: false,
        hosts: None,
        environment: Environment::default(),
        second: None,
        systems: Vec::new(),
        absent: Vec::new(),
        left_out: Vec::new(),
        cells: Vec::new(),
    }
}

/// A system.
pub(crate) fn add_system(results: &mut Results, id: &str, transport: &str) {
    results.systems.push(SystemRecord {
        id: id.to_owned(),
        label: format!("the {id}"),
        transport: transport.to_owned(),
        is_floor: id.starts_with("floor-"),
        version: "1.0".to_owned(),
        build: None,
        policy: String::new(),
        calls: None,
        settings: BTreeMap::new(),
    });
}

/// A cell with the round trips of its rounds.
pub(crate) fn add(results: &mut Results, part: &str, id: &str, size: u32, round_trips: &[u64]) {
    let mut cell = Cell::new(Key {
        scenario: results.scenarios[0].clone(),
        part: part.to_owned(),
        size,
        wait: Wait::Block,
        system: id.to_owned(),
    });
    cell.rounds = (0..)
        .zip(round_trips)
        .map(|(n, &ns)| round(n, ns))
        .collect();
    // As if the last were all.
    let last = cell.rounds.last();
    cell.all_rounds = last.map(|it| it.stages.clone()).unwrap_or_default();
    results.cells.push(cell);
}

/// A round that went through.
pub(crate) fn round(number: u32, round_trip_ns: u64) -> Round {
    let times = Percentiles {
        count: 100,
        p50: round_trip_ns,
        p90: round_trip_ns * 2,
        p99: round_trip_ns * 3,
        p99_9: round_trip_ns * 4,
        max: round_trip_ns * 5,
        curve: crate::statistics::CURVE
            .iter()
            .map(|_| round_trip_ns)
            .collect(),
        ..Percentiles::default()
    };
    Round {
        round: number,
        count: 100,
        stages: BTreeMap::from([(ROUND_TRIP.to_owned(), times)]),
        totals: Totals {
            seed_ns: Some(1.0),
            ..Totals::default()
        },
        answers: vec![Answer::default()],
        ..Round::default()
    }
}

/// The part that [`raw`] fills.
pub(crate) fn compared(results: &Results) -> Compared<'_> {
    Compared {
        results,
        scenario: scenarios::scenario("raw").expect("in the table"),
        part: scenarios::part("raw", "one-to-one").expect("in the table"),
    }
}

/// A system that can do this, over tcp, blocking.
pub(crate) fn system(id: &str, can: &[&str]) -> System {
    System {
        id: id.to_owned(),
        label: id.to_owned(),
        program: "program".into(),
        arguments: Vec::new(),
        transport: "tcp".to_owned(),
        can: can.iter().map(|&it| it.to_owned()).collect(),
        waits: vec![Wait::Block],
        max_size: None,
        policy: String::new(),
        calls: None,
        build: None,
        is_floor: false,
    }
}
