//! `tickwire topic echo`: the samples of a topic, whose type and QoS are learned from its writers.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tickwire::qos::{Durability, EndpointQos, Ownership, nearest_name};
use tickwire::{
    DataReader, DataReaderQos, DomainParticipant, EndpointData, Serialized, StateMask, StatusMask,
    SubscriberQos, WaitSet,
};

use super::learn::LearnedType;
use super::sample::Lines;
use crate::duration::parse_duration;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{note, stdout};

/// Print the samples of a topic
#[derive(Args)]
#[command(
    long_about = "\
Prints each sample of a topic as one JSON object a line. The writers are found by discovery, which \
is waited for; the type is asked of the participant that writes it; the reader is made to match what \
the writers offer. Samples of a type that nobody describes are printed in hexadecimal.

The end of an instance is a line of its own: {\"disposed\":{KEY}} or {\"unregistered\":{KEY}}. With \
--info, samples become {\"writer\":..., \"sequence_number\":..., \"source_timestamp\":..., \
\"latency_us\":..., \"data\":{SAMPLE}}; the latency is by both machines' clocks.

Lost samples are reported on standard error. A paused terminal never slows the writers down: what \
does not fit in memory meanwhile is counted as lost.",
    after_help = "\
Examples:
  tickwire topic echo Quotes
  tickwire topic echo Quotes --once --timeout 5s
  tickwire topic echo MarketData.1012 --info | jq .latency_us"
)]
pub(crate) struct Arguments {
    /// Name of the topic
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    network: NetworkOptions,

    /// End after so many lines
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<NonZeroUsize>,

    /// End after the first line
    #[arg(long, conflicts_with = "count")]
    once: bool,

    /// End after so long, such as 5s; it is a failure if not as many lines came as were asked for,
    /// or none at all [default: wait for ever]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Say with each sample where it comes from, when it was written, and how long it took
    #[arg(short, long)]
    info: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let interrupt = Interrupt::catch()?;
        let end = End {
            deadline: self.timeout.map(|timeout| Instant::now() + timeout),
            interrupt,
        };
        let participant = self.network.join("tickwire topic echo")?;
        let writers = self.wait_for_writers(&participant, &end)?;
        let ty = LearnedType::of(&participant, &writers);
        if ty.description.is_none() {
            note("samples are printed in hexadecimal");
        }
        let reader = self.subscribe(&participant, writers, &ty)?;
        let lines = Lines::new(ty.description, self.info);
        self.print(&reader, lines, &end)
    }

    /// The topic's writers, as far as they are known.
    fn writers(&self, participant: &DomainParticipant) -> Option<Writers> {
        let mut writers = participant.discovery().publications();
        writers.retain(|writer| writer.topic_name == self.name);
        (!writers.is_empty()).then_some(writers)
    }

    fn wait_for_writers(&self, participant: &DomainParticipant, end: &End) -> Result<Writers> {
        let begin = Instant::now();
        let view = participant.discovery();
        let mut is_said = false;
        loop {
            let find = || self.writers(participant);
            if let Ok(writers) = view.wait_for(end.rest(LOOK_EVERY), find) {
                return Ok(writers);
            }
            if end.is_reached() {
                let domain = self.network.domain;
                let failure = Failure::new(format_args!(
                    "nobody in domain {domain} writes the topic `{}`",
                    self.name
                ));
                return Err(failure.hint(match self.near_name(participant) {
                    Some(name) => format!("there is a topic `{name}`"),
                    None => format!("`tickwire topic ls --domain {domain}` lists the topics"),
                }));
            }
            if !is_said && begin.elapsed() > PATIENCE {
                is_said = true;
                note(format_args!(
                    "waiting for a writer of the topic `{}`",
                    self.name
                ));
                if let Some(name) = self.near_name(participant) {
                    note(format_args!("hint: there is a topic `{name}`"));
                }
            }
        }
    }

    /// The topic that was probably meant.
    fn near_name(&self, participant: &DomainParticipant) -> Option<String> {
        let writers = participant.discovery().publications();
        let names = writers.iter().map(|writer| writer.topic_name.as_str());
        nearest_name(&self.name, names).map(str::to_owned)
    }

    /// Asks for as much as all writers offer.
    fn subscribe(
        &self,
        participant: &DomainParticipant,
        found: Writers,
        ty: &LearnedType,
    ) -> Result<DataReader<Serialized>> {
        // Others may have shown up while the type was asked for.
        let writers = self.writers(participant).unwrap_or(found);
        let all = |offer: fn(&EndpointQos) -> bool| writers.iter().all(|data| offer(&data.qos));
        let mut qos = DataReaderQos::default().keep_last(DEPTH);
        if all(EndpointQos::is_reliable) {
            qos = qos.reliable();
        }
        if all(|offered| offered.durability >= Durability::TransientLocal) {
            qos = qos.transient_local();
        }
        if all(|offered| offered.ownership == Ownership::Exclusive) {
            qos = qos.exclusive();
        }
        let partitions = writers.iter().flat_map(|data| match &*data.qos.partition {
            [] => vec![String::new()],
            names => names.to_vec(),
        });
        let mut partitions: Vec<_> = partitions.collect();
        partitions.sort();
        partitions.dedup();
        let subscriber = participant.subscriber(SubscriberQos::default().partition(partitions));
        let policies = qos.policies();
        note(format_args!(
            "topic `{}`, type {}, {} {}, writers: {}",
            self.name,
            ty.name,
            policies.reliability.kind,
            policies.durability,
            writers.len()
        ));
        let topic = participant.topic_of::<Serialized>(&self.name, ty.to_dynamic());
        let topic = topic.map_err(Failure::new)?;
        subscriber.reader(&topic, qos).map_err(Failure::new)
    }

    fn print(&self, reader: &DataReader<Serialized>, mut lines: Lines, end: &End) -> Result<()> {
        let news = WaitSet::new();
        news.attach(&reader.read_condition(StateMask::ANY));
        let told = StatusMask::SAMPLE_LOST
            | StatusMask::REQUESTED_INCOMPATIBLE_QOS
            | StatusMask::SUBSCRIPTION_MATCHED;
        news.attach(&reader.status_condition(told));
        news.attach(&end.interrupt.condition());
        let limit = self.limit();
        let wanted = limit.unwrap_or(usize::MAX);
        let (mut printed, mut losses) = (0, Losses::default());
        let mut out = stdout();
        while printed < wanted && !end.is_reached() {
            // What it was, if anything, shows below.
            let _news = news.wait(end.rest(FOREVER));
            for sample in reader.take().iter().take(wanted - printed) {
                writeln!(out, "{}", lines.line(sample))?;
                printed += 1;
            }
            out.flush()?;
            losses.report(reader);
            report_trouble(reader);
        }
        let expected = match (limit, end.interrupt.is_raised()) {
            (None, true) => 0,
            (limit, _) => limit.unwrap_or(1),
        };
        match printed >= expected {
            true => Ok(()),
            false => Err(Failure::new(format_args!(
                "{printed} of {expected} samples of the topic `{}` came",
                self.name
            ))),
        }
    }

    fn limit(&self) -> Option<usize> {
        let once = self.once.then_some(NonZeroUsize::MIN);
        once.or(self.count).map(NonZeroUsize::get)
    }
}

/// All of one topic.
type Writers = Vec<Arc<EndpointData>>;

/// When to end.
struct End {
    deadline: Option<Instant>,
    interrupt: Interrupt,
}

impl End {
    fn is_reached(&self) -> bool {
        let is_late = |deadline| deadline <= Instant::now();
        self.interrupt.is_raised() || self.deadline.is_some_and(is_late)
    }

    /// How long to wait for something, for `longest` at most.
    fn rest(&self, longest: Duration) -> Duration {
        let rest = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        self.deadline.map_or(longest, rest).min(longest)
    }
}

/// Samples that were not printed, as far as that was said.
#[derive(Default)]
struct Losses {
    replaced: u64,
    undecodable: u64,
}

impl Losses {
    /// Says on standard error what has been lost since the last time.
    fn report(&mut self, reader: &DataReader<Serialized>) {
        let lost = reader.sample_lost_status();
        if lost.total_count_change > 0 {
            let (new, all) = (lost.total_count_change, lost.total_count);
            note(format_args!(
                "-- {new} samples lost on the way, {all} so far --"
            ));
        }
        let counters = reader.inbox_counters();
        let replaced = counters.replaced - self.replaced;
        if replaced > 0 {
            note(format_args!(
                "-- {replaced} samples lost because they were not printed fast enough --"
            ));
        }
        let undecodable = counters.undecodable - self.undecodable;
        if undecodable > 0 {
            note(format_args!(
                "-- {undecodable} samples lost that are not of the learned type --"
            ));
        }
        self.replaced = counters.replaced;
        self.undecodable = counters.undecodable;
    }
}

/// Says on standard error which writers are not heard.
fn report_trouble(reader: &DataReader<Serialized>) {
    let incompatible = reader.requested_incompatible_qos_status();
    if let (1.., Some(writer), Some(verdict)) = (
        incompatible.total_count_change,
        incompatible.last,
        incompatible.verdict,
    ) {
        note(format_args!("writer {writer} does not match:"));
        for reason in &verdict.mismatches {
            note(format_args!("  {reason}"));
        }
    }
    let matched = reader.subscription_matched_status();
    if matched.current_count == 0 && matched.current_count_change < 0 {
        note("no writer is left; waiting for another");
    }
}

/// How long to wait before saying that it may take longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the end is thought of while waiting for a writer.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// An hour.
const FOREVER: Duration = Duration::from_secs(3_600);
/// Samples of an instance that wait to be printed.
const DEPTH: u32 = 10_000;
