//! A reader that comes when everything is written gets the last limit of each trader, and then what changes.
//!
//! `cargo run --release -p quotes --bin late_joiner`
use std::error::Error;
use std::time::Duration;
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, Topic};

#[derive(Topic, Clone, Debug, PartialEq)]
struct Limit {
    #[topic(key)]
    trader: String,
    limit: i32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (risk, desk) = (DomainParticipant::new(0)?, DomainParticipant::new(0)?);
    join_late(&risk, &desk, |when, limit| {
        println!("{when}: {} {}", limit.trader, limit.limit);
    })
}

fn join_late(
    risk: &DomainParticipant,
    desk: &DomainParticipant,
    mut show: impl FnMut(&str, &Limit),
) -> Result<(), Box<dyn Error>> {
    // The writer keeps what it has written, the last sample of each instance, for readers that come later.
    let topic = risk.topic::<Limit>("Limits")?;
    let writer = risk.writer_with(&topic, DataWriterQos::default().transient_local())?;
    for trader in ["ann", "bob"] {
        for limit in [100, 200, 300] {
            let trader = trader.into();
            writer.write(&Limit { trader, limit })?;
        }
    }

    let topic = desk.topic::<Limit>("Limits")?;
    let qos = DataReaderQos::default().reliable().transient_local();
    let reader = desk.reader_with(&topic, qos)?;
    reader.wait_for_matched(1, PATIENCE)?;
    reader.wait_for_historical_data(PATIENCE)?;
    for limit in reader.take().data() {
        show("late", limit);
    }

    let trader = "bob".into();
    writer.write(&Limit { trader, limit: 50 })?;
    reader.wait_for_data(PATIENCE)?;
    for limit in reader.take().data() {
        show("new", limit);
    }
    Ok(())
}

const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_limits_come_and_then_the_change() {
        let tag = std::process::id().to_string();
        let participant = || DomainParticipant::builder(0).domain_tag(&tag).build();
        let (risk, desk) = (participant().unwrap(), participant().unwrap());
        let mut shown = Vec::new();
        let show = |when: &str, limit: &Limit| {
            shown.push(format!("{when} {} {}", limit.trader, limit.limit));
        };
        join_late(&risk, &desk, show).unwrap();
        shown[..2].sort();
        assert_eq!(shown, ["late ann 300", "late bob 300", "new bob 50"]);
    }
}
