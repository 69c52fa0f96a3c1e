//! A reader that is made to match a topic's writers, for the commands that look at samples.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tickwire::cdr::filter::{FilterError, FilterProblem};
use tickwire::error::ContentFilterError;
use tickwire::qos::{Durability, EndpointQos, Ownership, nearest_name};
use tickwire::{
    DataReader, DataReaderQos, DomainParticipant, DomainParticipantBuilder, Driving, EndpointData,
    Serialized, StateMask, StatusMask, SubscriberQos, Topic, WaitSet,
};
use tickwire_profiles::Profile;
use tickwire_profiles::parse_duration;

use super::ahead::{Ahead, MOMENTS, is_acknowledged_within};
use super::early::{Early, Got, Replaced};
use super::learn::LearnedType;
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
    pub(super) ty: &'a LearnedType,
    /// The samples that were written before, too.
    pub(super) history: bool,
    /// An expression that samples must meet.
    pub(super) filter: Option<&'a str>,
}

/// A topic's writers, and when to end.
pub(super) struct Subscription {
    pub(super) participant: DomainParticipant,
    /// Empty where one matched the reader that was made ahead, and left.
    pub(super) writers: Writers,
    ahead: Option<Ahead<DataReader<Serialized>, DataReaderQos>>,
    /// The one that was made ahead, if it does not do.
    replaced: Option<Replaced>,
    name: String,
    deadline: Option<Instant>,
    interrupt: Interrupt,
    limit: Option<usize>,
    profile: Profile,
    awaits_rendezvous: bool,
    is_best_effort: bool,
}

impl SubscriptionOptions {
    /// Joins the domain, by a participant that `adjust` has adjusted.
    pub(super) fn begin_as(
        &self,
        command: &str,
        adjust: impl FnOnce(DomainParticipantBuilder) -> DomainParticipantBuilder,
    ) -> Result<Subscription> {
        let interrupt = Interrupt::catch()?;
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        Ok(Subscription {
            participant: self.network.join_as(command, |participant| {
                // Whoever stops this command holds up reliable writers for no longer than that.
                let participant = participant.lease_duration(LEASE);
                adjust(participant.driving(Driving::Threaded))
            })?,
            writers: Vec::new(),
            ahead: None,
            replaced: None,
            name: self.name.clone(),
            deadline,
            interrupt,
            limit: self
                .count
                .map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            profile: self.network.profile.clone(),
            awaits_rendezvous: !self.network.rendezvous.is_empty(),
            is_best_effort: self.best_effort,
        })
    }
}

impl Subscription {
    /// Ends after so many samples.
    pub(super) fn limit(&mut self, limit: usize) {
        self.limit = Some(limit);
    }

    /// Makes the reader although there is no writer to match, unless one shows itself in moments: somebody may wait
    /// for a reader before he writes.
    pub(super) fn read_ahead(&mut self, interest: &Interest<'_>) -> Result<()> {
        let Some(ty) = &interest.ty.description else {
            return Ok(());
        };
        let view = self.participant.discovery();
        let found = view.wait_for(self.rest(MOMENTS), || self.find_writers());
        if found.is_err() {
            let qos = self.qos(&[], interest.history);
            let topic = self.topic(interest.ty)?;
            let endpoint = self.make(&topic, &qos, &[], interest.filter)?;
            self.ahead = Some(Ahead {
                guid: endpoint.guid(),
                endpoint,
                ty: ty.clone(),
                qos,
            });
        }
        Ok(())
    }

    /// Waits until the topic has writers.
    pub(super) fn wait_for_writers(&mut self, network: &NetworkOptions) -> Result<()> {
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

    /// The topic's writers, as far as they are known. An empty list where the reader that was made ahead had one, which
    /// has left.
    fn find_writers(&self) -> Option<Writers> {
        let mut writers = self.participant.discovery().publications();
        writers.retain(|writer| writer.topic_name == self.name);
        // To read the status itself would hide from who reports it that the writer has left.
        let has_matched = |ahead: &Ahead<DataReader<Serialized>, _>| {
            let changes = ahead.endpoint.status_changes();
            changes.intersects(StatusMask::SUBSCRIPTION_MATCHED)
        };
        let is_found = !writers.is_empty() || self.ahead.as_ref().is_some_and(has_matched);
        is_found.then_some(writers)
    }

    /// The topic that was probably meant.
    fn near_name(&self) -> Option<String> {
        let writers = self.participant.discovery().publications();
        let names = writers.iter().map(|writer| writer.topic_name.as_str());
        nearest_name(&self.name, names).map(str::to_owned)
    }

    /// Asks for as much as all writers offer: the reader that was made ahead, if it does, or one in its place.
    pub(super) fn reader(&mut self, interest: &Interest<'_>) -> Result<DataReader<Serialized>> {
        // Others may have shown up while the type was asked for.
        let found = self.find_writers();
        let writers = found.unwrap_or_else(|| self.writers.clone());
        let qos = self.qos(&writers, interest.history);
        let ty = interest.ty.description.as_ref();
        let view = self.participant.discovery();
        let serves = |ahead: &Ahead<_, _>| ty.is_some_and(|ty| ahead.serves(&view, ty, &qos));
        let mut ahead = self.ahead.take();
        let replaced = ahead.take_if(|ahead| !serves(ahead));
        self.replaced = replaced.map(|replaced| {
            let has_type = ty.is_some_and(|ty| replaced.has_type(&view, ty));
            Replaced::new(replaced.endpoint, has_type)
        });
        let ty = match (&ahead, &self.replaced) {
            (Some(Ahead { endpoint, .. }), _) | (_, Some(Replaced::Reading(endpoint))) => {
                endpoint.topic().clone()
            }
            _ => self.topic(interest.ty)?,
        };
        let policies = qos.policies();
        note(format_args!(
            "topic `{}` of type {}: {}, and it is read as {} {}",
            self.name,
            ty.type_name(),
            match writers.len() {
                0 => "its writer has left".to_owned(),
                count => format!(
                    "{} {}",
                    counted(count as u64, "writer offers", "writers offer"),
                    distinct(writers.iter().map(loss_policies))
                ),
            },
            policies.reliability.kind,
            policies.durability,
        ));
        match ahead {
            Some(ahead) => Ok(ahead.endpoint),
            None => self.make(&ty, &qos, &writers, interest.filter),
        }
    }

    /// What comes before all else where the reader has taken the place of another: what that one got, and history, of
    /// which a durable writer repeats to this one what it still has.
    pub(super) fn early(&mut self, reader: &DataReader<Serialized>) -> Early {
        let got = match self.replaced.take() {
            Some(Replaced::Reading(replaced)) => self.got_until_in_place(&replaced, reader),
            Some(Replaced::Gone(got)) => *got,
            None => return Early::default(),
        };
        if got.is_empty() {
            return Early::new(got, None);
        }
        if reader.qos().policies().durability != Durability::Volatile {
            // Who has left repeats nothing, and the others may take their time.
            let _late = reader.wait_for_historical_data(self.rest(PATIENCE));
        }
        Early::new(got, Some(reader.take()))
    }

    /// What the replaced reader gets until the other is in its place. Until the writers know that, they send to the first
    /// alone; and what it has asked for again may not be sent to another.
    fn got_until_in_place(
        &self,
        replaced: &DataReader<Serialized>,
        reader: &DataReader<Serialized>,
    ) -> Got {
        let view = self.participant.discovery();
        let mut got = Got::default();
        let is_in_place = || {
            let mut writers = replaced.matched_publications().into_iter();
            let is_known = writers.all(|writer| view.is_known_to(writer.guid, reader.guid()));
            got.add(replaced, reader) && is_known || self.is_over()
        };
        let _late = is_acknowledged_within(PATIENCE, &view, is_in_place);
        got
    }

    /// Asks for as much as all offer; where nobody does, for what writers usually offer.
    fn qos(&self, writers: &[Arc<EndpointData>], history: bool) -> DataReaderQos {
        let all = |offer: fn(&EndpointQos) -> bool| writers.iter().all(|data| offer(&data.qos));
        let is_any = !writers.is_empty();
        let mut qos = DataReaderQos::default().keep_last(DEPTH);
        if all(EndpointQos::is_reliable) && !self.is_best_effort {
            qos = qos.reliable();
        }
        if is_any && history && all(|offered| offered.durability >= Durability::TransientLocal) {
            qos = qos.transient_local();
        }
        if is_any && all(|offered| offered.ownership == Ownership::Exclusive) {
            qos = qos.exclusive();
        }
        self.profile.adjust_reader(qos, &self.name)
    }

    fn topic(&self, ty: &LearnedType) -> Result<Topic<Serialized>> {
        let topic = self.participant.topic_of(&self.name, ty.to_dynamic());
        topic.map_err(Failure::new)
    }

    fn make(
        &self,
        topic: &Topic<Serialized>,
        qos: &DataReaderQos,
        writers: &[Arc<EndpointData>],
        filter: Option<&str>,
    ) -> Result<DataReader<Serialized>> {
        // A pattern matches no other pattern, so those that are there are asked for by name.
        let mut partitions = partitions(writers);
        partitions.extend([String::new(), "*".to_owned()]);
        let subscriber = SubscriberQos::default().partition(partitions);
        let subscriber = self.profile.adjust_subscriber(subscriber, &self.name);
        // Whatever the profile says, the reader takes part at once.
        let subscriber = subscriber.autoenable_created_entities(true);
        let subscriber = self.participant.subscriber(subscriber);
        let Some(expression) = filter else {
            return subscriber.reader(topic, qos.clone()).map_err(Failure::new);
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
        subscriber
            .reader(&filtered, qos.clone())
            .map_err(Failure::new)
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
