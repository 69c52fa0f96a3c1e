//! Any text as a content filter, and any bytes as a payload for it: each compiles or says why not,
//! and what compiles is evaluated without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_cdr::dynamic::Form;
use tickwire_cdr::filter::Filter;
use tickwire_cdr::{Representation, Topic, to_payload};

#[derive(Topic, Clone, Copy, Default)]
#[topic(crate = tickwire_cdr)]
enum Side {
    #[default]
    Buy,
    Sell,
}

#[derive(Topic, Default)]
#[topic(crate = tickwire_cdr)]
struct Level {
    price: f64,
    size: u32,
}

#[derive(Topic, Default)]
#[topic(crate = tickwire_cdr)]
struct Quote {
    #[topic(key)]
    symbol: String,
    side: Side,
    ratio: f32,
    is_open: bool,
    change: i64,
    note: Option<String>,
    levels: Vec<Level>,
    best: Level,
}

fuzz_target!(|input: (&str, Vec<&str>, &[u8])| {
    let (expression, parameters, payload) = input;
    let Ok(mut filter) = Filter::new(expression, &parameters, Quote::description()) else {
        return;
    };
    let _ = filter.passes(payload, Form::Sample);
    let _ = filter.passes(payload, Form::Key);
    let mut own = Vec::new();
    to_payload(&Quote::default(), Representation::Xcdr2, &mut own).expect("a small sample");
    let first = filter
        .passes(&own, Form::Sample)
        .expect("a payload of the type");
    assert_eq!(filter.passes(&own, Form::Sample), Ok(first));
});
