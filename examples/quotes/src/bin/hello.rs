//! Publishes one quote and reads it back.
//!
//! `cargo run --release -p quotes --bin hello`
use std::time::Duration;
use tickwire::{Decimal, DomainParticipant, Topic};

#[derive(Topic, Debug)]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: Decimal,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.topic::<Quote>("Hello")?;
    let reader = participant.reader(&topic)?;
    let writer = participant.writer(&topic)?;
    writer.wait_for_matched(1, Duration::from_secs(5))?;
    writer.write(&Quote {
        symbol: "TICK".into(),
        price: "101.25".parse()?,
    })?;
    reader.wait_for_data(Duration::from_secs(5))?;
    for quote in reader.take().data() {
        println!("{} {}", quote.symbol, quote.price);
    }
    Ok(())
}
