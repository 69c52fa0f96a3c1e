//! A reader that is made to match a topic's writers, for the commands that look at samples.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tickwire::cdr::filter::{FilterError, FilterProblem};
use tickwire::error::ContentFilterError;
use tickwire::qos::{Durability, EndpointQos, Ownership, nearest_name};
use tickwire::{
    DataReader, DataReaderQos, DomainParticipant, DomainParticipantBuilder, Driving, DynamicType,
    EndpointData, Serialized, StateMask, StatusMask, SubscriberQos, WaitSet,
};
use tickwire_profiles::Profile;
use tickwire_profiles::parse_duration;

use super::losses::Losses;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{counted, note};
use crate::survey::distinct;

/// Which topic, and for how long
#[derive(Args)]
pub(super) struct SubscriptionOptions {
    /// Name of the topic
    #[arg(value_name = "NAME")]
    pub(super) name: String,

    #[command(flatten)]
    pub(super) network: NetworkOptions,

    /// End after so many samples
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: Option<u64>,

    /// End after so long, such as 5s; it is a failure if not as many samples came as were asked for,
    /// or none at all [default: wait for ever]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Do not ask for samples again that were lost on the way: then no writer waits, also while this command is stopped;
    /// what is lost at the end of a stream is counted as its writer leaves, unless that was killed, is another vendor's,
    /// or filters for some reader
    #[arg(long)]
    best_effort: bool,
}

/// All of one topic.
pub(super) type Writers = Vec<Arc<EndpointData>>;

/// What a command wants of the samples.
pub(super) struct Interest<'a> {
    pub(super) ty: DynamicType,
    /// The samples that were written before, too.
    pub(super) history: bool,
    /// An expression that samples must meet.
    pub(super) filter: Option<&'a str>,
}

/// A topic's writers, found, and when to end.
pub(super) struct Subscription {
    pub(super) participant: DomainParticipant,
    pub(super) writers: Writers,
    name: String,
    deadline: Option<Instant>,
    interrupt: Interrupt,
    limit: Option<usize>,
    profile: Profile,
    awaits_rendezvous: bool,
    is_best_effort: bool,
}

impl SubscriptionOptions {
    /// Joins the domain and waits for writers of the topic.
    pub(super) fn begin(&self, command: &str) -> Result<Subscription> {
        self.begin_as(command, |participant| participant)
    }

    /// The same as a participant that `adjust` has adjusted.
    pub(super) fn begin_as(
        &self,
        command: &str,
        adjust: impl FnOnce(DomainParticipantBuilder) -> DomainParticipantBuilder,
    ) -> Result<Subscription> {
        let interrupt = Interrupt::catch()?;
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut subscription = Subscription {
            participant: self.network.join_as(command, |participant| {
                // Whoever stops this command holds up reliable writers for no longer than that.
                let participant = participant.lease_duration(LEASE);
                adjust(participant.driving(Driving::Threaded))
            })?,
            writers: Vec::new(),
            name: self.name.clone(),
            deadline,
            interrupt,
            limit: self
                .count
                .map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            profile: self.network.profile.clone(),
            awaits_rendezvous: !self.network.rendezvous.is_empty(),
            is_best_effort: self.best_effort,
        };
        subscription.wait_for_writers(&self.network)?;
        Ok(subscription)
    }
}

impl Subscription {
    /// Ends after so many samples.
    pub(super) fn limit(&mut self, limit: usize) {
        self.limit = Some(limit);
    }

    fn wait_for_writers(&mut self, network: &NetworkOptions) -> Result<()> {
        let domain = network.domain;
        let begin = Instant::now();
        let mut is_said = false;
        loop {
            let view = self.participant.discovery();
            if let Ok(writers) = view.wait_for(self.rest(LOOK_EVERY), || self.find_writers()) {
                self.writers = writers;
                return Ok(());
            }
            if self.is_over() {
                let failure = Failure::new(format_args!(
                    "nobody in domain {domain} writes the topic `{}`",
                    self.name
                ));
                return Err(failure.hint(match self.near_name() {
                    Some(name) => format!("there is a topic `{name}`"),
                    None => format!("`tickwire topic ls {}` lists the topics", network.again()),
                }));
            }
            if !is_said && begin.elapsed() > PATIENCE {
                is_said = true;
                note(format_args!(
                    "waiting for a writer of the topic `{}`",
                    self.name
                ));
                match self.near_name() {
                    Some(name) => note(format_args!("hint: there is a topic `{name}`")),
                    None => note(format_args!(
                        "hint: `tickwire topic ls {}` lists the topics",
                        network.again()
                    )),
                }
                let participants = self.participant.discovery().participants();
                if self.awaits_rendezvous && !participants.iter().any(|one| one.is_rendezvous()) {
                    note(format_args!("hint: the rendezvous does not answer"));
                }
            }
        }
    }

    /// The topic's writers, as far as they are known.
    fn find_writers(&self) -> Option<Writers> {
        let mut writers = self.participant.discovery().publications();
        writers.retain(|writer| writer.topic_name == self.name);
        (!writers.is_empty()).then_some(writers)
    }

    /// The topic that was probably meant.
    fn near_name(&self) -> Option<String> {
        let writers = self.participant.discovery().publications();
        let names = writers.iter().map(|writer| writer.topic_name.as_str());
        nearest_name(&self.name, names).map(str::to_owned)
    }

    /// Asks for as much as all writers offer.
    pub(super) fn reader(&self, interest: Interest<'_>) -> Result<DataReader<Serialized>> {
        // Others may have shown up while the type was asked for.
        let found = self.find_writers();
        let writers = found.as_ref().unwrap_or(&self.writers);
        let all = |offer: fn(&EndpointQos) -> bool| writers.iter().all(|data| offer(&data.qos));
        let mut qos = DataReaderQos::default().keep_last(DEPTH);
        let keep_some =
            interest.history && all(|offered| offered.durability >= Durability::TransientLocal);
        if all(EndpointQos::is_reliable) && !self.is_best_effort {
            qos = qos.reliable();
        }
        if keep_some {
            qos = qos.transient_local();
        }
        if all(|offered| offered.ownership == Ownership::Exclusive) {
            qos = qos.exclusive();
        }
        // A pattern matches no other pattern, so those that are there are asked for by name.
        let mut partitions = partitions(writers);
        partitions.extend([String::new(), "*".to_owned()]);
        let subscriber = SubscriberQos::default().partition(partitions);
        let subscriber = self.profile.adjust_subscriber(subscriber, &self.name);
        // Whatever the profile says, the reader takes part at once.
        let subscriber = subscriber.autoenable_created_entities(true);
        let subscriber = self.participant.subscriber(subscriber);
        let qos = self.profile.adjust_reader(qos, &self.name);
        let policies = qos.policies();
        let topic = self
            .participant
            .topic_of::<Serialized>(&self.name, interest.ty);
        let topic = topic.map_err(Failure::new)?;
        note(format_args!(
            "topic `{}` of type {}: {} {}, and it is read as {} {}",
            self.name,
            topic.type_name(),
            counted(writers.len() as u64, "writer offers", "writers offer"),
            distinct(writers.iter().map(loss_policies)),
            policies.reliability.kind,
            policies.durability,
        ));
        let Some(expression) = interest.filter else {
            return subscriber.reader(&topic, qos).map_err(Failure::new);
        };
        let filtered = topic.filtered("tickwire topic echo", expression, &[]);
        let filtered = filtered.map_err(|error| {
            let is_member_unknown = matches!(
                &error,
                ContentFilterError::Filter(FilterError {
                    problem: FilterProblem::UnknownMember { nearest: None, .. },
                    ..
                })
            );
            let failure = Failure::usage(error);
            match is_member_unknown {
                true => failure.hint(format_args!(
                    "`tickwire topic type {}` shows the members",
                    self.name
                )),
                false => failure,
            }
        })?;
        subscriber.reader(&filtered, qos).map_err(Failure::new)
    }

    /// What wakes a command that waits for samples.
    pub(super) fn news_of(&self, reader: &DataReader<Serialized>) -> WaitSet {
        let news = WaitSet::new();
        news.attach(&reader.read_condition(StateMask::ANY));
        let told = StatusMask::SAMPLE_LOST
            | StatusMask::REQUESTED_INCOMPATIBLE_QOS
            | StatusMask::SUBSCRIPTION_MATCHED;
        news.attach(&reader.status_condition(told));
        news.attach(&self.interrupt.condition());
        news
    }

    /// How many samples are still wanted.
    pub(super) fn wanted(&self, seen: usize) -> usize {
        self.limit.unwrap_or(usize::MAX).saturating_sub(seen)
    }

    /// Whether time is up, or the user wants an end.
    pub(super) fn is_over(&self) -> bool {
        let is_late = |deadline| deadline <= Instant::now();
        self.interrupt.is_raised() || self.deadline.is_some_and(is_late)
    }

    /// How long to wait for something, for `longest` at most.
    pub(super) fn rest(&self, longest: Duration) -> Duration {
        let rest = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        self.deadline.map_or(longest, rest).min(longest)
    }

    /// Says what was not shown, and whether enough was.
    pub(super) fn conclude(&self, seen: usize, losses: &Losses) -> Result<()> {
        losses.sum_up();
        let expected = match (self.limit, self.interrupt.is_raised()) {
            (None, true) => 0,
            (limit, _) => limit.unwrap_or(1),
        };
        let name = &self.name;
        match seen {
            seen if seen >= expected => Ok(()),
            0 => Err(Failure::new(format_args!(
                "no sample of the topic `{name}` came"
            ))),
            _ => Err(Failure::new(format_args!(
                "{seen} of {expected} samples of the topic `{name}` came"
            ))),
        }
    }
}

/// The policies that decide whether samples get lost.
pub(super) fn loss_policies(endpoint: &Arc<EndpointData>) -> String {
    let qos = &endpoint.qos;
    format!("{} {}", qos.reliability.kind, qos.durability)
}

/// All that endpoints are in.
pub(super) fn partitions(endpoints: &[Arc<EndpointData>]) -> Vec<String> {
    let partitions = endpoints
        .iter()
        .flat_map(|data| match &*data.qos.partition {
            [] => vec![String::new()],
            names => names.to_vec(),
        });
    let mut partitions: Vec<_> = partitions.collect();
    partitions.sort();
    partitions.dedup();
    partitions
}

/// How long participants of these commands may say nothing.
const LEASE: Duration = Duration::from_secs(5);

/// How long to wait before saying that it may take longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the end is thought of while waiting for a writer.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Samples of an instance that wait to be looked at.
const DEPTH: u32 = 10_000;
