//! Publishes quotes to whoever runs the example `subscribe`, in another process.
//!
//! `cargo run --release -p tickwire --example publish`
use std::time::Duration;
use tickwire::{DataWriterQos, DomainParticipant, Topic};

#[derive(Topic, Debug)]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.topic::<Quote>("Quotes")?;
    // Reliable and every sample kept until all readers have it: nothing is lost, writes wait.
    let qos = DataWriterQos::default()
        .reliable(Duration::from_secs(1))
        .keep_all();
    let writer = participant.writer_with(&topic, qos)?;
    writer.wait_for_matched(1, Duration::from_secs(60))?;
    for step in 0..10_000 {
        let symbol = ["TICK", "WIRE"][step % 2].into();
        let price = 100.0 + step as f64 / 100.0;
        writer.write(&Quote { symbol, price })?;
    }
    Ok(writer.wait_for_acknowledgments(Duration::from_secs(10))?)
}
