//! `tickwire perf latency`: one-way latency between processes, beside bare UDP in the same run.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};
use tickwire_gateway::Timing;

use super::bytes::MeasuredDomain;
use super::floor::Floor;
use super::pong::PingPong;
use super::{SIZES, parse_size};
use crate::domain::OwnDomain;
use crate::failure::Result;
use crate::output::{ListFormat, stdout, write_list};
use crate::profile::ProfileOptions;
use crate::progress::Progress;

/// One-way latency by ping-pong, with bare UDP as the floor
#[derive(Args)]
#[command(
    long_about = "\
Measures the one-way latency of a sample between processes: half of the time from writing it until \
each subscriber's answer is there. Topics are reliable and carry bytes.

The floor is the same ping-pong over bare UDP sockets between processes, one blocking system call a \
datagram. Both take turns in the same run, so that they meet the same machine. The ratio is that of \
the medians.",
    after_help = "\
Examples:
  tickwire perf latency
  tickwire perf latency --size 64 --size 1024 --subscribers 1 -o csv
  tickwire perf latency --qos-file qos.toml --qos-profile desk"
)]
pub(crate) struct Arguments {
    /// Bytes in a sample; may be given several times [default: 16 to 64000]
    #[arg(short, long = "size", value_name = "BYTES", value_parser = parse_size)]
    sizes: Vec<usize>,

    /// Subscribers, each a process; may be given several times [default: 1 and 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    subscribers: Vec<u32>,

    /// Round trips for each size and number of subscribers
    #[arg(short, long, value_name = "N", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(10..))]
    rounds: u32,

    /// DDS domain, 0 to 232, or any with a rendezvous [default: the profile's, or one that other runs
    /// will not use]
    #[arg(short, long, value_name = "ID")]
    domain: Option<u32>,

    #[command(flatten)]
    profile: ProfileOptions,

    /// Form of the result
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let sizes = if self.sizes.is_empty() {
            &SIZES[..]
        } else {
            &self.sizes
        };
        let subscribers = if self.subscribers.is_empty() {
            &[1, 3][..]
        } else {
            &self.subscribers
        };
        let steps = sizes.len() * subscribers.len() * TURNS as usize;
        let progress = Progress::new("measuring", steps as u64);
        let domain = OwnDomain::reserve(self.domain.or(self.profile.profile.domain()))?;
        let measured = MeasuredDomain::new(domain.id(), &self.profile);
        let mut rows = Vec::new();
        for &subscribers in subscribers {
            let ping_pong = PingPong::start(&measured, subscribers)?;
            let mut floor = Floor::start(subscribers)?;
            for &size in sizes {
                let (mut ours, mut bare) = (Timing::new(), Timing::new());
                ping_pong.ping(size, WARM_UP, &mut Timing::new())?;
                floor.ping(size, WARM_UP, &mut Timing::new())?;
                for _ in 0..TURNS {
                    ping_pong.ping(size, self.rounds.div_ceil(TURNS), &mut ours)?;
                    floor.ping(size, self.rounds.div_ceil(TURNS), &mut bare)?;
                    progress.advance(1);
                }
                rows.push(row(subscribers, size, &ours, &bare));
            }
        }
        progress.finish();
        let mut out = stdout();
        write_list(&mut out, self.output, &COLUMNS, &rows)?;
        Ok(out.flush()?)
    }
}

fn row(subscribers: u32, size: usize, ours: &Timing, bare: &Timing) -> Vec<Value> {
    let us = |timing: &Timing, quantile| json!(timing.quantile_ns(quantile) as f64 / 1e3);
    let ratio = ours.quantile_ns(0.5) as f64 / bare.quantile_ns(0.5).max(1) as f64;
    vec![
        json!(subscribers),
        json!(size),
        us(ours, 0.5),
        us(ours, 0.99),
        us(ours, 0.999),
        us(bare, 0.5),
        us(bare, 0.99),
        us(bare, 0.999),
        json!(format!("{ratio:.2}")),
    ]
}

const COLUMNS: [&str; 9] = [
    "subscribers",
    "bytes",
    "p50 us",
    "p99 us",
    "p99.9 us",
    "UDP p50 us",
    "UDP p99 us",
    "UDP p99.9 us",
    "ratio",
];

/// Turns that both sides take for each size.
const TURNS: u32 = 10;

/// Round trips that do not count.
const WARM_UP: u32 = 200;
