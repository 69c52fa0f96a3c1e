//! Publishes a book whose type is in `idl/market.idl`, and reads it back.
//!
//! `cargo run --release -p idl-types`

use std::time::Duration;

use tickwire::DomainParticipant;

mod market {
    #![allow(missing_docs, unreachable_pub)]
    include!(concat!(env!("OUT_DIR"), "/market.rs"));
}

// A module of IDL is a module of Rust.
use market::exchange::{Book, Level, Side};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.topic::<Book>("Books")?;
    let reader = participant.reader(&topic)?;
    let writer = participant.writer(&topic)?;
    writer.wait_for_matched(1, Duration::from_secs(5))?;
    let level = |side, price| Level {
        side,
        price,
        size: 100,
    };
    writer.write(&Book {
        security_id: "TICK".into(),
        levels: vec![level(Side::Bid, 101.25), level(Side::Ask, 101.5)],
        last_price: None,
    })?;
    reader.wait_for_data(Duration::from_secs(5))?;
    for book in reader.take().data() {
        println!("{} {:?}", book.security_id, book.levels);
    }
    Ok(())
}
