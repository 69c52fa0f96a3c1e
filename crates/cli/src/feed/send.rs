//! `tickwire feed send`: what the exchange does. Forwards packets as they are, without looking in.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tickwire_feed::PacketNumber;
use tickwire_profiles::parse_duration;
use tickwire_transport::{UdpOptions, UdpSocket};

use super::options::{
    DEFAULT_GROUP, check_lines, interface, is_multicast, multicast, parse_address,
};
use crate::failure::{Failure, Result};
use crate::fast::packets::PacketOptions;
use crate::fast::source::{FeedOptions, PreambleForm};
use crate::interrupt::Interrupt;
use crate::output::{ListFormat, note, stdout, write_list};
use crate::pace::Pace;
use crate::progress::Progress;
use crate::stage::{is_stage, tell};

/// Send a file's packets to a multicast group
#[derive(Args)]
#[command(
    long_about = "\
Sends each packet of a file as one UDP datagram, as an exchange does. The packet's length in the \
file is not sent. With `--line-b` each packet goes out twice, on two lines that the feed handler \
arbitrates between.

Over loopback nothing leaves this machine (time to live 0); over another `--interface` multicast \
reaches that network and no further (1). Receivers that are not there, or too slow, \
lose packets without notice: that is what `--pause` is for.",
    after_help = "\
Examples:
  tickwire feed send simple.dat
  tickwire feed send simple.dat --rate 10000 --repeat 10   # packets a second
  tickwire feed send simple.dat --preamble seq --line-b 224.1.2.134:13014
  tickwire feed send step.dat --framing step",
    mut_arg("framing", |framing| framing.help(
        "How packets are kept in the file [default: u32le]; captures (pcap, pcapng) are recognized"
    ))
)]
pub(crate) struct Arguments {
    /// File of packets
    file: PathBuf,

    #[command(flatten)]
    packets: PacketOptions,

    /// Where to send to
    #[arg(short, long, value_name = "ADDR:PORT", value_parser = parse_address, default_value_t = DEFAULT_GROUP)]
    group: SocketAddr,

    /// Send each packet here too
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_address)]
    line_b: Option<SocketAddr>,

    /// Name or address of the interface that multicast leaves by
    #[arg(long, value_name = "NAME", default_value = "127.0.0.1")]
    interface: String,

    /// Pause between packets, such as 20us or 1ms
    #[arg(long, value_name = "TIME", default_value = "20us", value_parser = parse_duration)]
    pause: Duration,

    /// Packets a second, instead of a pause; small lateness is caught up, and a rate that was not reached is told
    #[arg(long, value_name = "N", conflicts_with = "pause", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    rate: Option<u32>,

    /// Send the file so many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,

    /// Send the file again and again, until interrupted
    #[arg(long = "loop", conflicts_with = "repeat")]
    forever: bool,

    /// What to put before the messages of each packet
    #[arg(long, value_name = "FORM", value_enum, default_value_t = PreambleForm::None)]
    preamble: PreambleForm,

    /// Form of the result
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        check_lines(self.group, self.line_b)?;
        let interrupt = Interrupt::catch()?;
        let file = self.packets.open(&self.file, &FeedOptions::default())?;
        let packets = file
            .frames()
            .map(|frame| frame.map(|frame| frame.packet))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| {
                let failure = Failure::new(format_args!("{}: {error}", self.file.display()));
                failure.hint(match file.bytes().starts_with(b"8=STEP") {
                    true => "the file has STEP messages: `--framing step`",
                    false => "`--framing` says how the file keeps packets: u32le, block, step, hex or none",
                })
            })?;
        let socket = self.socket()?;
        let mut pace = match self.rate {
            Some(rate) => Pace::at_rate(rate),
            None => Pace::new(self.pause),
        };
        let rounds = if self.forever {
            u64::MAX
        } else {
            u64::from(self.repeat)
        };
        let progress =
            Progress::unless_stage("sending", packets.len() as u64 * rounds.min(1 << 20));
        let begin = Instant::now();
        let mut line = Line::new(&self);
        'rounds: for _ in 0..rounds {
            for packet in &packets {
                pace.wait();
                if interrupt.is_raised() {
                    break 'rounds;
                }
                line.send(&socket, packet)?;
                progress.advance(1);
            }
            if packets.is_empty() {
                break;
            }
        }
        progress.finish();
        let elapsed = begin.elapsed();
        if let Some(rate) = self.rate
            && let Some(shortfall) = shortfall(rate, line.packets, elapsed)
            && !is_stage()
        {
            note(shortfall);
        }
        self.report(&line, elapsed)
    }

    fn socket(&self) -> Result<UdpSocket> {
        let destinations = [Some(self.group), self.line_b];
        let options = match destinations.into_iter().flatten().any(is_multicast) {
            true => multicast(interface(&self.interface)?),
            false => UdpOptions::default(),
        };
        let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        UdpSocket::unicast(any, &options).map_err(Failure::new)
    }

    fn report(&self, line: &Line, elapsed: Duration) -> Result<()> {
        if is_stage() {
            return tell(&json!({"event": "report", "packets": line.packets, "bytes": line.bytes}));
        }
        let seconds = elapsed.as_secs_f64();
        let row = vec![
            json!(line.packets),
            json!(line.bytes),
            json!(seconds),
            json!((line.packets as f64 / seconds.max(1e-9)).round() as u64),
        ];
        let mut out = stdout();
        let columns = ["packets", "bytes", "seconds", "packets/s"];
        Ok(write_list(&mut out, self.output, &columns, &[row])?)
    }
}

/// What is to be said if packets went out slower than planned by more than a twentieth.
fn shortfall(rate: u32, packets: u64, elapsed: Duration) -> Option<String> {
    // One packet has no rate: an interval lies between two.
    let intervals = packets.saturating_sub(1) as f64;
    let achieved = intervals / elapsed.as_secs_f64().max(1e-9);
    (intervals > 0.0 && achieved < f64::from(rate) * 0.95).then(|| {
        format!(
            "the rate was not reached: {rate} packets/s were planned, {achieved:.0} went out\nhint: the machine is \
             busy, or too slow for it"
        )
    })
}

/// The packets as they leave.
struct Line {
    destinations: Vec<SocketAddr>,
    preamble: tickwire_feed::Preamble,
    number: PacketNumber,
    datagram: Vec<u8>,
    packets: u64,
    bytes: u64,
}

impl Line {
    fn new(arguments: &Arguments) -> Self {
        Self {
            destinations: [Some(arguments.group), arguments.line_b]
                .into_iter()
                .flatten()
                .collect(),
            preamble: arguments.preamble.preamble(),
            number: PacketNumber::default(),
            datagram: Vec::new(),
            packets: 0,
            bytes: 0,
        }
    }

    fn send(&mut self, socket: &UdpSocket, packet: &[u8]) -> Result<()> {
        self.datagram.clear();
        self.preamble
            .append_packet(self.number, &[packet], &mut self.datagram)
            .map_err(Failure::new)?;
        self.number = self.number.next();
        for destination in &self.destinations {
            socket
                .send_to(&self.datagram, *destination)
                .map_err(Failure::new)?;
        }
        self.packets += 1;
        self.bytes += self.datagram.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_was_not_reached_is_told() {
        let second = Duration::from_secs(1);
        assert_eq!(shortfall(1_000, 1_001, second), None);
        assert_eq!(shortfall(1_000, 1, second), None);
        assert_eq!(shortfall(1_000, 0, second), None);
        let told = shortfall(1_000, 901, second).expect("900 are too few");
        assert!(
            told.contains("1000 packets/s were planned, 900 went out"),
            "{told}"
        );
    }
}
