//! Prints the last quote of each symbol once `publish`, in another process, has ended.
//!
//! `cargo run --release -p quotes --bin subscribe`; TICKWIRE_QOS_FILE may name a file of QoS profiles.
use std::collections::BTreeMap;
use std::time::Duration;
use tickwire::{DataReaderQos, Decimal, Topic};
use tickwire_profiles::Profiles;

#[derive(Topic, Debug)]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: Decimal,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profiles = Profiles::from_env()?;
    profiles.check_default()?;
    let profile = profiles.default_profile();
    let participant = profile.participant().build()?;
    let topic = participant.topic::<Quote>("Quotes")?;
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&topic, profile.adjust_reader(qos, "Quotes"))?;
    eprintln!("waiting for `cargo run --release -p quotes --bin publish`, for a minute at most");
    reader.wait_for_matched(1, Duration::from_secs(60))?;
    let (mut count, mut last) = (0, BTreeMap::new());
    // As long as `publish` is there, or something that it has written.
    while reader.wait_for_data(Duration::from_secs(1)).is_ok()
        || reader.subscription_matched_status().current_count > 0
    {
        for quote in reader.take().data() {
            count += 1;
            last.insert(quote.symbol.clone(), quote.price);
        }
    }
    println!("{count} quotes, the last ones:");
    last.iter()
        .for_each(|(symbol, price)| println!("{symbol} {price}"));
    Ok(())
}
