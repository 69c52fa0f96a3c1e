//! A participant that counts aloud and listens to others who do, until its standard input closes:
//! what `interop/network.py` starts in network namespaces. It says every 20 ms whom it hears, as a
//! line of JSON: by name the last number heard, and how many were missed before it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, StateMask, Topic, WaitSet};

#[derive(Parser)]
struct Options {
    /// What it calls itself
    name: String,
    #[arg(long, default_value = "auto")]
    interface: String,
    #[arg(long, default_value_t = 20_000)]
    lease_ms: u64,
    /// Somebody to announce itself to, without multicast
    #[arg(long)]
    peer: Option<std::net::Ipv4Addr>,
}

#[derive(Topic, Clone, Debug, Default, PartialEq)]
struct Count {
    #[topic(key)]
    who: String,
    number: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let mut builder = DomainParticipant::builder(0)
        .name(&options.name)
        .interface(&options.interface)
        .lease_duration(Duration::from_millis(options.lease_ms));
    if let Some(peer) = options.peer {
        builder = builder.multicast(false).peer(peer);
    }
    let participant = builder.build()?;
    let topic = participant.topic::<Count>("Count")?;
    let reader =
        participant.reader_with(&topic, DataReaderQos::default().reliable().keep_last(1000))?;
    let writer = participant.writer_with(&topic, DataWriterQos::default().keep_last(1000))?;
    thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });

    let waiting = WaitSet::new();
    waiting.attach(&reader.read_condition(StateMask::ANY));
    let mut heard: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut sample = Count {
        who: options.name,
        number: 0,
    };
    loop {
        sample.number += 1;
        // Without room, the number is missed, and the others say so.
        let _ = writer.write(&sample);
        let next = Instant::now() + PERIOD;
        loop {
            let left = next.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let _ = waiting.wait(left);
            for count in reader.take().data().filter(|count| count.who != sample.who) {
                let entry = heard.entry(count.who.clone());
                let (last, missed) = entry.or_insert((count.number - 1, 0));
                *missed += count.number.saturating_sub(*last + 1);
                *last = count.number;
            }
        }
        let others = participant.discovery().participants().len();
        let heard = heard
            .iter()
            .map(|(who, (last, missed))| format!(r#""{who}": [{last}, {missed}]"#))
            .collect::<Vec<_>>()
            .join(", ");
        let counters = participant.counters();
        let line = format!(
            r#"{{"others": {others}, "unreachable": {}, "send_errors": {}, "moves": {}, "heard": {{{heard}}}}}"#,
            counters.unreachable, counters.send_errors, counters.interface_changes
        );
        writeln!(std::io::stdout(), "{line}")?;
    }
}

const PERIOD: Duration = Duration::from_millis(20);
