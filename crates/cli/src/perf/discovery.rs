//! `tickwire perf discovery`: how long many participants take to find each other, and what it costs
//! each of them. Every participant is a process; they begin together, which is the worst case.
//!
//! ```text
//!  measuring process          members, one process each
//!        │ ◄──── TCP connection ──── started
//!        │ ────────── byte ────────► join the domain, match everybody
//!        │ ◄─── "matched" event ──── all endpoints have all matches
//!        │ ────────── byte ────────► (a second after the last)
//!        │ ◄─── "report" event ───── what it cost
//! ```

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tickwire::{DataReaderQos, DataWriterQos};
use tickwire_transport::clock;

use super::Peer;
use super::bare::Wire;
use super::bytes::{MeasuredDomain, Wait};
use super::process::{cpu_seconds, resident_bytes};
use crate::domain::OwnDomain;
use crate::failure::{Failure, Result};
use crate::output::{ListFormat, stdout, write_list};
use crate::profile::ProfileOptions;
use crate::progress::Progress;
use crate::stage::{Stage, tell};

/// How long many participants take to find each other
#[derive(Args)]
#[command(
    long_about = "\
Starts that many processes with a participant each, on this machine's loopback interface. They join \
the domain together, and every endpoint waits until it is matched with all others of its topic: of \
the endpoints, half are writers and half readers, one of each on as many topics, all reliable.

The table has, for each number of participants: seconds until the last endpoint had its last match \
(slowest and median participant), datagrams and kilobytes sent by a participant until a second \
later, milliseconds of CPU, megabytes of resident memory, and how many kilobytes of these each known \
endpoint of the domain takes.",
    after_help = "\
Examples:
  tickwire perf discovery
  tickwire perf discovery --participants 100 --endpoints 10 -o json"
)]
pub(crate) struct Arguments {
    /// Participants, each a process; may be given several times [default: 1, 10 and 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    participants: Vec<u32>,

    /// Endpoints of each participant, half of them writers
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=1000))]
    endpoints: u32,

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

/// What a member is told.
#[derive(Args)]
pub(crate) struct Member {
    #[command(flatten)]
    peer: Peer,
    #[arg(long)]
    participants: u32,
    #[arg(long)]
    endpoints: u32,
    /// TCP port of the measuring process
    #[arg(long)]
    port: u16,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let counts = match self.participants.is_empty() {
            true => &[1, 10, 50][..],
            false => &self.participants,
        };
        let progress = Progress::new("measuring", counts.len() as u64);
        let mut rows = Vec::new();
        for &participants in counts {
            let domain = OwnDomain::reserve(self.domain.or(self.profile.profile.domain()))?;
            let measured = MeasuredDomain::new(domain.id(), &self.profile, Wait::Block);
            if measured.wire() == Wire::Tcp && participants > MAX_BY_TCP {
                return Err(Failure::usage(format_args!(
                    "by TCP alone {MAX_BY_TCP} participants of a domain know where to look for each other, \
                     not {participants}"
                )));
            }
            rows.push(measure(&measured, participants, self.endpoints)?);
            progress.advance(1);
        }
        progress.finish();
        let columns = [
            "participants",
            "endpoints",
            "matched s",
            "median s",
            "datagrams",
            "KB sent",
            "CPU ms",
            "memory MB",
            "KB/endpoint",
        ];
        let mut out = stdout();
        write_list(&mut out, self.output, &columns, &rows)?;
        Ok(out.flush()?)
    }
}

/// One row of the table.
fn measure(domain: &MeasuredDomain, participants: u32, endpoints: u32) -> Result<Vec<Value>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut arguments = domain.peer("member");
    let port = u32::from(listener.local_addr()?.port());
    for (option, value) in [
        ("--participants", participants),
        ("--endpoints", endpoints),
        ("--port", port),
    ] {
        arguments.extend([option.to_owned(), value.to_string()]);
    }
    let mut members = Vec::new();
    for _ in 0..participants {
        let stage = Stage::start("participant", &arguments)?;
        members.push((stage, listener.accept()?.0));
    }
    let begin = clock::now();
    go(&mut members)?;
    let mut seconds = Vec::new();
    for (stage, _) in &mut members {
        let matched = stage.wait_for("matched", PATIENCE, |_| {})?;
        let at = matched["at_ns"].as_u64().unwrap_or_default();
        seconds.push(at.saturating_sub(begin.as_nanos()) as f64 / 1e9);
    }
    seconds.sort_by(f64::total_cmp);
    #[expect(
        clippy::disallowed_methods,
        reason = "what is sent while nothing happens any more is counted, too"
    )]
    std::thread::sleep(SETTLE);
    go(&mut members)?;
    let mut totals = [0.0; 5];
    for (stage, _) in &mut members {
        let report = stage.wait_for("report", PATIENCE, |_| {})?;
        let values = ["datagrams", "bytes", "cpu_s", "memory_bytes", "grown_bytes"];
        for (total, name) in totals.iter_mut().zip(values) {
            *total += report[name].as_f64().unwrap_or_default() / f64::from(participants);
        }
    }
    let [datagrams, bytes, cpu_s, memory, grown] = totals;
    let known = f64::from(participants) * f64::from(endpoints);
    Ok(vec![
        json!(participants),
        json!(endpoints),
        json!(seconds.last()),
        json!(seconds.get(seconds.len() / 2)),
        json!(datagrams.round() as u64),
        json!(bytes / 1e3),
        json!(cpu_s * 1e3),
        json!(memory / 1e6),
        json!(grown / known / 1e3),
    ])
}

/// Has all members go on.
fn go(members: &mut [(Stage, TcpStream)]) -> Result<()> {
    for (_, connection) in members {
        connection.write_all(b"g")?;
    }
    Ok(())
}

/// Joins the domain when told to, and says what it costs.
pub(super) fn join(member: &Member) -> Result<()> {
    let mut go = TcpStream::connect((Ipv4Addr::LOCALHOST, member.port))?;
    go.read_exact(&mut [0])?;
    let domain = member.peer.domain();
    let peers = match domain.wire() {
        Wire::Udp => Vec::new(),
        Wire::Tcp => later_ports(member.peer.domain, member.participants),
    };
    let participant = domain.participant_with(&peers)?;
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    for topic in 0..member.endpoints / 2 {
        let name = format!("perf.discovery.{topic}");
        writers.push(domain.writer(&participant, &name, DataWriterQos::default())?);
        let qos = DataReaderQos::default().reliable();
        readers.push(domain.reader(&participant, &name, qos)?);
    }
    let before = resident_bytes();
    for (writer, reader) in writers.iter().zip(&readers) {
        let all = member.participants;
        let matched = writer.wait_for_matched(all, PATIENCE);
        let matched = matched.and_then(|()| reader.wait_for_matched(all, PATIENCE));
        matched.map_err(Failure::new)?;
    }
    tell(&json!({"event": "matched", "at_ns": clock::now().as_nanos()}))?;
    go.read_exact(&mut [0])?;
    let counters = participant.counters();
    let memory = resident_bytes();
    tell(&json!({
        "event": "report",
        "datagrams": counters.datagrams_sent,
        "bytes": counters.bytes_sent,
        "cpu_s": cpu_seconds(),
        "memory_bytes": memory,
        "grown_bytes": memory.saturating_sub(before),
    }))?;
    // Whoever measures ends this process when all have said what it cost them.
    loop {
        std::thread::park();
    }
}

/// Where those listen by TCP whom nobody finds unasked, as they are not among the domain's first ten.
fn later_ports(domain: u32, participants: u32) -> Vec<String> {
    let ports = (10..participants).map(|index| 7_410 + 250 * domain + 2 * index);
    ports.map(|port| format!("tcp/127.0.0.1:{port}")).collect()
}

/// What still comes after the last match is counted, too: repeated announcements, acknowledgements.
const SETTLE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);
/// Participants of a domain on one machine whose ports are known beforehand.
const MAX_BY_TCP: u32 = 120;
