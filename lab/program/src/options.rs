//! The command line that all programs understand.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::Idle;
use crate::message::has_header;

/// A program's options: the common ones, and its own.
#[derive(Parser)]
pub(crate) struct Arguments<E: Args> {
    #[command(flatten)]
    pub(crate) common: Options,
    #[command(flatten)]
    pub(crate) own: E,
}

/// Reads the command line, or ends with status 2.
pub(crate) fn parse<E: Args>() -> Arguments<E> {
    Arguments::parse()
}

/// What the runner asks of a program.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Which of the systems of peer.toml
    #[arg(long)]
    pub system: String,
    /// What to do
    #[arg(long)]
    pub job: Job,
    /// Length of a payload in bytes
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub size: u32,
    /// What messages are
    #[arg(long, default_value = "bytes")]
    pub payload: Payload,
    /// Which typed messages, how often
    #[arg(long, default_value = "equal")]
    pub mix: Mix,
    /// Messages to measure
    #[arg(long, default_value_t = 10_000)]
    pub count: u64,
    /// Messages before them
    #[arg(long, default_value_t = 1_000)]
    pub warmup: u64,
    /// Processes that send first
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub publishers: u8,
    /// Processes that receive first
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub subscribers: u8,
    /// Which one of its kind this is
    #[arg(long, default_value_t = 0)]
    pub index: u8,
    /// Which subscribers echo
    #[arg(long, default_value = "all")]
    pub responders: Responders,
    /// Messages in a burst; after each the sender waits for one answer
    #[arg(long)]
    pub demand: Option<u64>,
    /// Messages a second, by the clock
    #[arg(long)]
    pub rate: Option<u64>,
    /// How to wait for messages
    #[arg(long, default_value = "block")]
    pub wait: Wait,
    /// Threads of the system, where it has such an option
    #[arg(long)]
    pub threads: Option<u32>,
    /// The core that the process is bound to
    #[arg(long)]
    pub core: Option<usize>,
    /// The first of 20 free ports
    #[arg(long, default_value_t = 17_000)]
    pub port: u16,
    /// This process's own address: it listens there, and uses that interface alone
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST)]
    pub here: Ipv4Addr,
    /// The address of the other side
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST)]
    pub there: Ipv4Addr,
    /// An empty folder of this run
    #[arg(long, default_value = ".")]
    pub dir: PathBuf,
    /// Longest datagram in bytes, with its IP header, that is lost as a whole or not at all
    #[arg(long)]
    pub mtu: Option<u32>,
    /// Seconds without a message after which the rest counts as lost
    #[arg(long, default_value_t = 2)]
    pub idle: u64,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Job {
    /// Sends a message, waits for its echoes, sends the next.
    Ping,
    /// Echoes.
    Pong,
    /// Sends messages.
    Send,
    /// Receives them.
    Receive,
    /// Encodes and decodes typed messages without sending them.
    Codec,
}

impl Job {
    /// Whether it is there first, and hears before it sends.
    pub fn is_passive(self) -> bool {
        matches!(self, Self::Pong | Self::Receive)
    }
}

/// What messages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Payload {
    /// Bytes.
    Bytes,
    /// MarketData and QuoteRequest of the first article.
    Typed,
    /// An array of f32.
    Floats,
    /// An array of structures of 28 bytes.
    Structs,
    /// Messages of four kinds as a market-data feed has them, a topic for each.
    Simple,
    /// Messages with sequences that are split by security, a topic for each.
    Complex,
}

/// Which typed messages there are, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mix {
    /// Nine MarketData, one QuoteRequest.
    Equal,
    /// As the article's program of the system had it.
    Published,
    /// MarketData only.
    Marketdata,
    /// QuoteRequest only.
    Quoterequest,
}

/// Which subscribers echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Responders {
    /// Every one.
    All,
    /// Number 0 alone.
    One,
}

/// How a process waits for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Wait {
    /// It sleeps until the system wakes it.
    Block,
    /// It asks again and again.
    Poll,
}

impl Options {
    /// Binds the process, with the threads that are to come, to its core.
    pub(crate) fn bind(&self) -> Result<(), String> {
        let Some(core) = self.core else {
            return Ok(());
        };
        let mut set = CpuSet::new();
        set.set(core)
            .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
            .map_err(|error| format!("cannot be bound to core {core}: {error}"))
    }

    /// Why these options cannot be had together.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let has_publisher = self.payload != Payload::Typed && has_header(self.payload_len());
        match (self.payload_len(), self.publishers) {
            (0, _) => Some("--size is less than one element"),
            (_, 2..) if !has_publisher => {
                Some("messages of several publishers need 16 bytes for their numbers")
            }
            _ => None,
        }
    }

    /// How many echoes a ping waits for.
    pub fn echoes(&self) -> u8 {
        match self.responders {
            Responders::All => self.subscribers,
            Responders::One => 1,
        }
    }

    /// Whether this process echoes pings, or answers bursts.
    pub fn responds(&self) -> bool {
        self.index == 0 || (self.job == Job::Pong && self.responders == Responders::All)
    }

    /// Messages of one publisher, warm-up included.
    pub fn total(&self) -> u64 {
        self.warmup + self.count
    }

    /// Length of a payload: the size, rounded down to whole elements.
    pub fn payload_len(&self) -> usize {
        let element = match self.payload {
            Payload::Floats => 4,
            Payload::Structs => 28,
            _ => 1,
        };
        usize::try_from(self.size / element * element).expect("32 bits")
    }

    /// A DDS domain of this run: runs beside each other do not meet, and its ports are below those that
    /// the kernel gives away (32768).
    pub fn domain(&self) -> u32 {
        u32::from(self.port) / 20 % 100
    }

    /// How long nothing may come.
    pub fn idle(&self) -> Idle {
        Idle {
            first: PATIENCE,
            between: Duration::from_secs(self.idle),
        }
    }
}

/// How long the other side may take to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Args)]
    struct None {}

    fn contradiction(options: &[&str]) -> Option<&'static str> {
        let given = ["program", "--system", "x", "--job", "send"];
        let all = given.iter().chain(options);
        let arguments = Arguments::<None>::try_parse_from(all).expect("options that exist");
        arguments.common.contradiction()
    }

    #[test]
    fn publishers_whose_messages_cannot_tell_them_apart_are_refused() {
        let short = ["--publishers", "2", "--size", "15"];
        assert!(contradiction(&short).is_some_and(|it| it.contains("16 bytes")));
        assert!(contradiction(&["--publishers", "2", "--payload", "typed"]).is_some());
        assert_eq!(contradiction(&["--publishers", "2", "--size", "16"]), None);
        assert_eq!(contradiction(&["--payload", "typed", "--size", "1"]), None);
    }

    #[test]
    fn arrays_have_whole_elements() {
        let given = ["program", "--system", "x", "--job", "send", "--size", "100"];
        let of = |payload| {
            let all = given.iter().copied().chain(["--payload", payload]);
            let arguments = Arguments::<None>::try_parse_from(all).expect("options that exist");
            arguments.common.payload_len()
        };
        assert_eq!((of("bytes"), of("floats"), of("structs")), (100, 100, 84));
        assert!(contradiction(&["--payload", "structs", "--size", "27"]).is_some());
    }

    #[test]
    fn ports_of_domains_are_below_those_of_the_kernel() {
        let given = ["program", "--system", "x", "--job", "send", "--port"];
        for port in (17_000..29_000).step_by(20) {
            let port = port.to_string();
            let all = given.iter().copied().chain([port.as_str()]);
            let options = Arguments::<None>::try_parse_from(all).expect("options that exist");
            assert!(7400 + 250 * options.common.domain() + 250 <= 32_768);
        }
    }
}
