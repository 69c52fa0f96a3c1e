//! A reader asks for a part of a topic, the writer keeps back the rest, and the reader looks for a part of what
//! has come.
//!
//! `cargo run --release -p quotes --bin filter`
use std::error::Error;
use std::time::Duration;
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, StateMask, Topic};

#[derive(Topic, Clone, Debug, PartialEq)]
struct Trade {
    #[topic(key)]
    symbol: String,
    price: f64,
    size: i32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (exchange, desk) = (DomainParticipant::new(0)?, DomainParticipant::new(0)?);
    let kept_back = filter(&exchange, &desk, |which, trade| {
        println!("{which}: {} {} {}", trade.symbol, trade.price, trade.size);
    })?;
    println!("kept back by the writer: {kept_back}");
    Ok(())
}

fn filter(
    exchange: &DomainParticipant,
    desk: &DomainParticipant,
    mut show: impl FnMut(&str, &Trade),
) -> Result<u64, Box<dyn Error>> {
    let topic = exchange.topic::<Trade>("Trades")?;
    let writer = exchange.writer_with(&topic, DataWriterQos::default().keep_all())?;

    let trades = desk.topic::<Trade>("Trades")?;
    let parameters = ["'EUR%'", "100"];
    let large = trades.filtered("LargeEuro", "symbol LIKE %0 AND size >= %1", &parameters)?;
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = desk.reader_with(&large, qos)?;
    let dear = reader.query_condition(StateMask::ANY, "price > %0", &["1.15"])?;
    writer.wait_for_matched(1, PATIENCE)?;

    for size in [50, 150, 250] {
        for (symbol, price) in [("EURUSD", 1.1), ("EURGBP", 1.2), ("GBPUSD", 1.3)] {
            let symbol = symbol.into();
            writer.write(&Trade {
                symbol,
                price,
                size,
            })?;
        }
    }
    writer.wait_for_acknowledgments(PATIENCE)?;

    for trade in reader.select().query(&dear).take().data() {
        show("dear", trade);
    }
    for trade in reader.take().data() {
        show("other", trade);
    }
    Ok(writer.counters().filtered)
}

const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_trades_come_the_dear_ones_first() {
        let tag = std::process::id().to_string();
        let participant = || DomainParticipant::builder(0).domain_tag(&tag).build();
        let (exchange, desk) = (participant().unwrap(), participant().unwrap());
        let mut shown = Vec::new();
        let show = |which: &str, trade: &Trade| {
            shown.push(format!("{which} {} {}", trade.symbol, trade.size));
        };
        assert_eq!(filter(&exchange, &desk, show).unwrap(), 5);
        let expected = [
            "dear EURGBP 150",
            "dear EURGBP 250",
            "other EURUSD 150",
            "other EURUSD 250",
        ];
        assert_eq!(shown, expected);
    }
}
