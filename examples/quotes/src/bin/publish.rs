//! Publishes quotes to whoever runs `subscribe`, in another process.
//!
//! `cargo run --release -p quotes --bin publish`; TICKWIRE_QOS_FILE may name a file of QoS profiles.
use std::time::Duration;
use tickwire::{DataWriterQos, Decimal, Topic};
use tickwire_profiles::Profiles;

#[derive(Topic, Debug)]
struct Quote {
    #[topic(key)]
    symbol: String,
    /// Exact: a mantissa and a power of ten.
    price: Decimal,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profiles = Profiles::from_env()?;
    profiles.check_default()?;
    let profile = profiles.default_profile();
    let participant = profile.participant().build()?;
    let topic = participant.topic::<Quote>("Quotes")?;
    // Reliable and every sample kept until all readers have it: nothing is lost, writes wait.
    let qos = DataWriterQos::default()
        .reliable(Duration::from_secs(1))
        .keep_all();
    let writer = participant.writer_with(&topic, profile.adjust_writer(qos, "Quotes"))?;
    eprintln!("waiting for `cargo run --release -p quotes --bin subscribe`, for a minute at most");
    writer.wait_for_matched(1, Duration::from_secs(60))?;
    for step in 0..5_000 {
        for symbol in ["TICK", "WIRE"] {
            let price = Decimal::new(10_000 + step, -2).ok_or("the exponent is out of range")?;
            let symbol = symbol.into();
            writer.write(&Quote { symbol, price })?;
        }
    }
    writer.wait_for_acknowledgments(Duration::from_secs(10))?;
    println!("10000 quotes written; every reliable reader has them");
    Ok(())
}
