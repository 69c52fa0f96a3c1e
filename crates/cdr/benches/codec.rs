//! What it costs to encode a sample into a buffer, to decode it into a value that is used again, and to hash its key: the
//! value's, and that of a payload of which a description of the type is known.
//!
//! ```text
//! cargo bench -p tickwire-cdr --bench codec -- [market|request|quote|raw|bytes|floats|structs] [encode|decode|key] [ROUNDS]
//! ```
//!
//! prints nanoseconds of each. Instructions are counted of two runs of different length, and their
//! difference divided by that of the rounds:
//!
//! ```text
//! valgrind --tool=callgrind target/release/deps/codec-... market encode 1000
//! ```

use std::hint::black_box;
use std::time::Instant;

use tickwire_cdr::dynamic::{self, Form};
use tickwire_cdr::{KeyScratch, Representation, Topic, from_payload_into, key_hash, to_payload};

#[derive(Clone, Topic)]
#[topic(final, crate = tickwire_cdr)]
struct Entry {
    update_action: u32,
    price_level: u32,
    entry_type: String,
    open_close_settle_flag: u32,
    security_id_source: u32,
    security_id: u32,
    rpt_seq: u32,
    price: f64,
    time: u32,
    size: i32,
    number_of_orders: u32,
    trading_session_id: String,
    net_change: f64,
    trade_volume: u32,
    trade_condition: String,
    tick_direction: String,
    quote_condition: String,
    aggressor_side: u32,
    match_event_indicator: String,
}

#[derive(Topic)]
#[topic(final, crate = tickwire_cdr)]
struct MarketData {
    is_echo: bool,
    counter: u32,
    #[topic(key)]
    security_id: u32,
    appl_version_id: String,
    message_type: String,
    sender_comp_id: String,
    msg_seq_num: u32,
    sending_time: u32,
    trade_date: u32,
    entries: Vec<Entry>,
}

#[derive(Clone, Topic)]
#[topic(final, crate = tickwire_cdr)]
struct RelatedSymbol {
    symbol: String,
    order_quantity: u64,
    side: u32,
    transact_time: u64,
    quote_type: u32,
    security_id: u32,
    security_id_source: u32,
}

#[derive(Topic)]
#[topic(final, crate = tickwire_cdr)]
struct QuoteRequest {
    is_echo: bool,
    counter: u32,
    #[topic(key)]
    security_id: u32,
    appl_version_id: String,
    message_type: String,
    sender_comp_id: String,
    msg_seq_num: u32,
    sending_time: u32,
    quote_request_id: String,
    related: Vec<RelatedSymbol>,
}

#[derive(Topic)]
#[topic(final, crate = tickwire_cdr)]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: f64,
    size: u32,
}

#[derive(Topic)]
#[topic(final, crate = tickwire_cdr)]
struct Bytes {
    data: Vec<u8>,
}

#[derive(Topic)]
#[topic(final, crate = tickwire_cdr)]
struct Floats {
    data: Vec<f32>,
}

#[derive(Clone, Topic)]
#[topic(final, crate = tickwire_cdr)]
struct Element {
    i: i32,
    j: i32,
    x: f32,
    y: f32,
    z: f32,
    d: f64,
}

#[derive(Topic)]
#[topic(final, crate = tickwire_cdr)]
struct Structs {
    data: Vec<Element>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let says = |word: &str| words.iter().any(|other| other == word);
    let any_case = !CASES.iter().any(|(name, _)| says(name));
    let all = !["encode", "decode", "key"].into_iter().any(says);
    let rounds = words.iter().find_map(|word| word.parse().ok());
    let run = Run {
        encodes: all || says("encode"),
        decodes: all || says("decode"),
        keys: all || says("key"),
        rounds: rounds.unwrap_or(20_000),
    };
    for (name, measure) in CASES {
        if any_case || says(name) {
            measure(name, &run);
        }
    }
}

struct Run {
    encodes: bool,
    decodes: bool,
    keys: bool,
    rounds: u32,
}

type Case = (&'static str, fn(&'static str, &Run));

const CASES: &[Case] = &[
    ("market", |name, run| run.measure(name, &market_data())),
    ("request", |name, run| run.measure(name, &quote_request())),
    ("quote", |name, run| {
        let symbol = "TICK".into();
        let (price, size) = (101.25, 7);
        run.measure(
            name,
            &Quote {
                symbol,
                price,
                size,
            },
        );
    }),
    // Bytes as many as the market's message has.
    ("raw", |name, run| {
        let data = vec![7; 396];
        run.measure(name, &Bytes { data });
    }),
    ("bytes", |name, run| {
        let data = vec![7; LEN];
        run.measure(name, &Bytes { data });
    }),
    ("floats", |name, run| {
        let data = vec![1.5; LEN / 4];
        run.measure(name, &Floats { data });
    }),
    ("structs", |name, run| {
        let data = vec![element(); LEN / 28];
        run.measure(name, &Structs { data });
    }),
];

impl Run {
    fn measure<T: Topic>(&self, name: &str, value: &T) {
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            let mut payload = Vec::new();
            to_payload(value, representation, &mut payload).expect("it has an encoding");
            let len = payload.len();
            if self.encodes {
                let ns = self.time(|| {
                    payload.clear();
                    to_payload(black_box(value), representation, &mut payload)
                        .expect("it has an encoding");
                });
                println!("{name} {representation:?} {len} B: encode {ns:.1} ns");
            }
            if self.decodes {
                let mut decoded = T::initial();
                let ns = self.time(|| {
                    from_payload_into(black_box(&payload), &mut decoded)
                        .expect("it was encoded here");
                    black_box(&decoded);
                });
                println!("{name} {representation:?} {len} B: decode {ns:.1} ns");
            }
            if self.keys && T::HAS_KEY {
                let (mut scratch, description) = (KeyScratch::default(), T::description());
                let of_value = self.time(|| {
                    let hash = key_hash(black_box(value), representation, &mut scratch);
                    black_box(hash).expect("it has a key");
                });
                let of_payload = self.time(|| {
                    let (payload, form) = (black_box(&payload), Form::Sample);
                    let hash =
                        dynamic::key_hash(description, payload, form, representation, &mut scratch);
                    black_box(hash).expect("it has a key");
                });
                println!(
                    "{name} {representation:?} {len} B: key {of_value:.1} ns, of a payload {of_payload:.1} ns"
                );
            }
        }
    }

    /// Nanoseconds of one call, of the quickest tenth.
    fn time(&self, mut call: impl FnMut()) -> f64 {
        let each = (self.rounds / 10).max(1);
        let parts = (0..10).map(|_| {
            let begin = Instant::now();
            (0..each).for_each(|_| call());
            begin.elapsed().as_secs_f64() * 1e9 / f64::from(each)
        });
        parts.fold(f64::INFINITY, f64::min)
    }
}

/// The values of the lab's `typed` scenario.
fn market_data() -> MarketData {
    let entry = Entry {
        update_action: 1,
        price_level: 2,
        entry_type: "7".into(),
        open_close_settle_flag: 3,
        security_id_source: 9,
        security_id: 99,
        rpt_seq: 2,
        price: 100.0,
        time: 12345,
        size: 50,
        number_of_orders: 10,
        trading_session_id: "2".into(),
        net_change: 10.0,
        trade_volume: 30,
        trade_condition: "W".into(),
        tick_direction: "0".into(),
        quote_condition: "C".into(),
        aggressor_side: 2,
        match_event_indicator: "1".into(),
    };
    MarketData {
        is_echo: false,
        counter: 0,
        security_id: 2112,
        appl_version_id: "1.0".into(),
        message_type: "100".into(),
        sender_comp_id: "Test Exchange".into(),
        msg_seq_num: 4,
        sending_time: 58_781,
        trade_date: 20_100_422,
        entries: vec![entry; 3],
    }
}

fn quote_request() -> QuoteRequest {
    let symbol = RelatedSymbol {
        symbol: "321".into(),
        order_quantity: 25,
        side: 1,
        transact_time: 58_781,
        quote_type: 1,
        security_id: 99,
        security_id_source: 9,
    };
    QuoteRequest {
        is_echo: false,
        counter: 0,
        security_id: 2112,
        appl_version_id: "1.0".into(),
        message_type: "100".into(),
        sender_comp_id: "Test Exchange".into(),
        msg_seq_num: 4,
        sending_time: 58_781,
        quote_request_id: "R".into(),
        related: vec![symbol; 3],
    }
}

fn element() -> Element {
    Element {
        i: 1,
        j: 2,
        x: 3.0,
        y: 4.0,
        z: 5.0,
        d: 6.0,
    }
}

/// Of a sequence, about.
const LEN: usize = 100_000;
