//! `tickwire perf`: what a sample costs on this machine, beside what bare system calls cost, and what it
//! costs to find each other, to outlive a writer, and to be there.

mod bare;
mod bytes;
mod cost;
mod discovery;
mod durability;
mod expect;
mod floor;
mod histogram_log;
mod idle;
mod latency;
mod pong;
mod process;
mod schedule;
mod throughput;

use clap::{Args, Subcommand};

use bare::Wire;
use bytes::{MeasuredDomain, Wait};

use crate::failure::Result;
use crate::output::note_debug_build;
use crate::profile::ProfileOptions;

/// Measure latency, throughput, discovery, durability and idleness on this machine
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  tickwire perf latency                            # round trips, beside UDP
  tickwire perf latency --transport shm            # the same by shared memory
  tickwire perf throughput                         # samples a second
  tickwire perf discovery                          # until all are found
  tickwire perf idle                               # what being there takes")]
pub(crate) enum Command {
    Latency(latency::Arguments),
    Throughput(throughput::Arguments),
    Discovery(discovery::Arguments),
    Durability(durability::Arguments),
    Idle(idle::Arguments),
    /// The other side, started by the measuring process
    #[command(subcommand, hide = true)]
    Respond(Respond),
}

/// The other side of a measurement.
#[derive(Subcommand)]
pub(crate) enum Respond {
    /// Sends every UDP datagram back
    Udp(Waiting),
    /// Sends every message by TCP back
    Tcp(Waiting),
    /// Sends every sample back
    Pong(Peer),
    /// Counts samples
    Count(Peer),
    /// Matches everybody
    Member(discovery::Member),
}

/// Where the measuring process is.
#[derive(Args)]
pub(crate) struct Peer {
    /// Its DDS domain
    #[arg(long)]
    domain: u32,

    #[command(flatten)]
    waiting: Waiting,

    #[command(flatten)]
    profile: ProfileOptions,
}

/// How it waits.
#[derive(Args)]
pub(crate) struct Waiting {
    #[arg(long, value_enum, default_value_t)]
    wait: Wait,
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        if !matches!(self, Self::Respond(_)) {
            note_debug_build();
        }
        match self {
            Self::Latency(arguments) => arguments.run(),
            Self::Throughput(arguments) => arguments.run(),
            Self::Discovery(arguments) => arguments.run(),
            Self::Durability(arguments) => arguments.run(),
            Self::Idle(arguments) => arguments.run(),
            Self::Respond(Respond::Udp(waiting)) => floor::respond(Wire::Udp, waiting.wait),
            Self::Respond(Respond::Tcp(waiting)) => floor::respond(Wire::Tcp, waiting.wait),
            Self::Respond(Respond::Pong(peer)) => pong::respond(&peer.domain()),
            Self::Respond(Respond::Count(peer)) => throughput::count(&peer.domain()),
            Self::Respond(Respond::Member(member)) => discovery::join(&member),
        }
    }
}

impl Peer {
    fn domain(&self) -> MeasuredDomain {
        MeasuredDomain::new(self.domain, &self.profile, self.waiting.wait).beside_floor()
    }
}

/// Sizes that are measured unless others are asked for: 16 B to 64 KB.
const SIZES: [usize; 7] = [16, 64, 256, 1_024, 4_096, 16_384, 64_000];

/// Reads a size in bytes.
fn parse_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size) if (MIN_SIZE..=MAX_SIZE).contains(&size) => Ok(size),
        _ => Err(format!("expected {MIN_SIZE} to {MAX_SIZE} bytes")),
    }
}

const MIN_SIZE: usize = 1;
/// What one datagram of bare UDP holds besides headers.
const MAX_SIZE: usize = 65_000;
