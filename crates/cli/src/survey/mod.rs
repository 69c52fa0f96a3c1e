//! What discovery finds in a while: participants, their topics, and who does not match whom.
//!
//! The commands that only look share it. It knows what endpoints announce; it reads no sample.

mod mismatch;
mod names;
mod policies;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tickwire::cdr::xtypes::TypeObjects;
use tickwire::qos::nearest_name;
use tickwire::{
    DiscoveryView, DomainParticipant, EndpointData, Guid, GuidPrefix, ParticipantData, Transport,
};
use tickwire_profiles::parse_duration;

pub(crate) use mismatch::Mismatch;
pub(crate) use names::{Process, kind, participant_name, vendor};
pub(crate) use policies::{history, non_default_policies};
pub(crate) use ways::Ways;

use crate::failure::{Failure, Result};
use crate::network::NetworkOptions;
use crate::output::note;

/// Where to look, and for how long
#[derive(Args)]
pub(crate) struct SurveyOptions {
    #[command(flatten)]
    pub(crate) network: NetworkOptions,

    /// How long to listen, such as 500ms [default: 1.5s, and on while there is news]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
}

/// The form of what is said about one thing.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Lines for people
    #[default]
    Table,
    /// One JSON value
    Json,
}

/// What discovery has found.
pub(crate) struct Survey {
    pub(crate) topics: BTreeMap<String, Endpoints>,
    pub(crate) participants: BTreeMap<GuidPrefix, Arc<ParticipantData>>,
}

/// Writers and readers of one topic.
#[derive(Default)]
pub(crate) struct Endpoints {
    pub(crate) writers: Vec<Arc<EndpointData>>,
    pub(crate) readers: Vec<Arc<EndpointData>>,
    /// What is known of their types.
    pub(crate) types: Arc<TypeObjects>,
}

impl SurveyOptions {
    /// Joins the domain and listens. The participant is for further questions. Says so if a rendezvous does
    /// not answer.
    ///
    /// # Errors
    /// When the domain cannot be joined, or nobody is found since the rendezvous does not answer.
    pub(crate) fn look(&self, command: &str) -> Result<(DomainParticipant, Survey)> {
        let (participant, survey) = self.look_only(command)?;
        let named = self.network.rendezvous.join(", ");
        if !named.is_empty() && !survey.hears_rendezvous() {
            if survey.participants.is_empty() {
                let (domain, interface) = (self.network.domain, &self.network.interface);
                let failure = Failure::new(format_args!(
                    "the rendezvous {named} does not answer, and nobody else is in domain {domain} on {interface}"
                ));
                return Err(failure.hint("`tickwire rendezvous --listen HOST:PORT` starts one"));
            }
            note(format_args!(
                "the rendezvous {named} does not answer: those that it would tell of are missing"
            ));
        }
        Ok((participant, survey))
    }

    /// The same, whether a rendezvous answers or not.
    pub(crate) fn look_only(&self, command: &str) -> Result<(DomainParticipant, Survey)> {
        let participant = self.network.join(command)?;
        let view = participant.discovery();
        self.listen(&view);
        let survey = Survey::new(&view);
        Ok((participant, survey))
    }

    /// Says where to look, too, after nothing was found: who shares no transport is not heard.
    pub(crate) fn hint_at_other_transports(&self) {
        let transports = self.network.transports();
        let (others, names) = match (
            transports.contains(Transport::Udp),
            transports.contains(Transport::Tcp),
        ) {
            (true, true) => return,
            (true, false) => ("by TCP alone", "tcp"),
            (false, _) => ("without TCP", "udp,multicast"),
        };
        note(format_args!(
            "hint: participants that communicate {others} are not heard here: `--transport {names}` looks for them"
        ));
    }

    /// Waits for answers, unless told how long, until they cease.
    fn listen(&self, view: &DiscoveryView<'_>) {
        let _never = view.wait_for(self.timeout.unwrap_or(SHORTEST), || None::<()>);
        let begin = Instant::now();
        let mut known = size(view);
        while self.timeout.is_none() && begin.elapsed() < LONGEST {
            match view.wait_for(QUIET, || Some(size(view)).filter(|size| *size != known)) {
                Ok(size) => known = size,
                Err(_) => return,
            }
        }
    }
}

impl Survey {
    pub(crate) fn new(view: &DiscoveryView<'_>) -> Self {
        let mut topics: BTreeMap<String, Endpoints> = BTreeMap::new();
        for writer in view.publications() {
            let topic = topics.entry(writer.topic_name.clone()).or_default();
            topic.writers.push(writer);
        }
        for reader in view.subscriptions() {
            let topic = topics.entry(reader.topic_name.clone()).or_default();
            topic.readers.push(reader);
        }
        topics.values().for_each(|topic| topic.learn_types(view));
        let types = Arc::new(view.types());
        for topic in topics.values_mut() {
            topic.types = Arc::clone(&types);
        }
        let participants = view.participants().into_iter();
        Self {
            topics,
            participants: participants.map(|data| (data.guid_prefix, data)).collect(),
        }
    }

    /// Whether a rendezvous has said anything.
    pub(crate) fn hears_rendezvous(&self) -> bool {
        let mut participants = self.participants.values();
        participants.any(|participant| participant.is_rendezvous())
    }

    /// The endpoints of a topic.
    ///
    /// # Errors
    /// When nobody has it; then with the name that is likely meant.
    pub(crate) fn topic(&self, name: &str, network: &NetworkOptions) -> Result<&Endpoints> {
        self.topics.get(name).ok_or_else(|| {
            let domain = network.domain;
            let failure = Failure::new(format_args!(
                "nobody in domain {domain} writes or reads the topic `{name}`"
            ));
            failure.hint(
                match nearest_name(name, self.topics.keys().map(String::as_str)) {
                    Some(near) => format!("there is a topic `{near}`"),
                    None => format!("`tickwire topic ls {}` lists the topics", network.again()),
                },
            )
        })
    }

    /// The name that the readers of a topic without writers were probably meant to have, or its
    /// writers if it has no readers.
    pub(crate) fn hint(&self, name: &str, topic: &Endpoints) -> Option<&str> {
        let is_other_half = |other: &Endpoints| match (&*topic.writers, &*topic.readers) {
            ([], _) => !other.writers.is_empty(),
            (_, []) => !other.readers.is_empty() && other.writers.is_empty(),
            _ => false,
        };
        let others = self.topics.iter().filter(|(_, other)| is_other_half(other));
        nearest_name(name, others.map(|(name, _)| name.as_str()))
    }

    /// What the owner of an endpoint is called.
    pub(crate) fn owner(&self, endpoint: Guid) -> String {
        match self.participants.get(&endpoint.prefix) {
            Some(participant) => participant_name(participant),
            None => "a participant that has left".to_owned(),
        }
    }

    /// The endpoints of a participant.
    pub(crate) fn endpoints_of(
        &self,
        prefix: GuidPrefix,
    ) -> impl Iterator<Item = &Arc<EndpointData>> {
        let all = self.topics.values().flat_map(Endpoints::all);
        all.filter(move |endpoint| endpoint.guid.prefix == prefix)
    }
}

impl Endpoints {
    /// Asks for the types of the topic, if it has several; those that do not come are compared by
    /// name.
    fn learn_types(&self, view: &DiscoveryView<'_>) {
        let all = self.writers.iter().chain(&self.readers);
        let types = all.map(|data| (&data.type_information, data.guid));
        let mut types: BTreeMap<_, _> = types.collect();
        types.retain(|information, _| !information.is_empty());
        if types.len() > 1 {
            for endpoint in types.into_values() {
                let _unknown = view.type_of(endpoint, TYPE_TIMEOUT);
            }
        }
    }

    /// Pairs of writer and reader that match by the names of their types alone: both announce types,
    /// which differ, but do not tell them.
    pub(crate) fn undecided_pairs(&self) -> usize {
        let tells = |data: &&Arc<EndpointData>| !data.type_information.is_empty();
        let mut count = 0;
        for reader in self.readers.iter().filter(tells) {
            let mut strict = EndpointData::clone(reader);
            strict.qos.type_consistency.force_type_validation = true;
            for writer in self.writers.iter().filter(tells) {
                let matches = |reader: &EndpointData| {
                    let verdict = writer.verdict(reader, &self.types);
                    verdict.is_some_and(|verdict| verdict.is_match())
                };
                count += usize::from(matches(reader) && !matches(&strict));
            }
        }
        count
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<EndpointData>> {
        self.writers.iter().chain(&self.readers)
    }

    /// Whether the samples belong to instances, as each endpoint sees it: mostly one answer.
    pub(crate) fn keyed(&self) -> BTreeSet<bool> {
        self.all().map(|data| data.guid.entity.is_keyed()).collect()
    }

    /// Names of the type.
    pub(crate) fn type_names(&self) -> String {
        distinct(self.all().map(|data| &data.type_name))
    }
}

/// Each text once.
pub(crate) fn distinct<T: Display>(texts: impl Iterator<Item = T>) -> String {
    let texts: BTreeSet<_> = texts.map(|text| text.to_string()).collect();
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// How much has been found.
fn size(view: &DiscoveryView<'_>) -> [usize; 3] {
    [
        view.participants().len(),
        view.publications().len(),
        view.subscriptions().len(),
    ]
}

/// Participants answer a new one at once, but the first announcement may get lost.
const SHORTEST: Duration = Duration::from_millis(1_500);
/// Without news for so long, the list is complete.
const QUIET: Duration = Duration::from_millis(300);
/// Where news never ceases, they are listened to for so long.
const LONGEST: Duration = Duration::from_secs(10);
/// A participant tells a type within this time, or it is not waited for.
const TYPE_TIMEOUT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use tickwire::cdr::{Extensibility, Member, Type, TypeDescription};
    use tickwire::{EntityId, Role};

    use super::*;

    fn endpoint(role: Role, entity: EntityId, price: Type) -> Arc<EndpointData> {
        let members = vec![Member::new("price", 0, price)];
        let ty = TypeDescription::new("Quote", Extensibility::Appendable, members);
        let information = TypeObjects::new().add(&ty.expect("one member"));
        let guid = Guid::new(GuidPrefix([1; 12]), entity);
        let mut data = EndpointData::new(role, guid, "Quotes".to_owned(), "Quote".to_owned());
        let encoded = information.expect("a small type");
        encoded.encode(&mut data.type_information).expect("room");
        Arc::new(data)
    }

    #[test]
    fn a_pair_whose_types_nobody_tells_is_no_match() {
        let topic = |read: Type| Endpoints {
            writers: vec![endpoint(
                Role::Writer,
                EntityId::user_writer(1, false),
                Type::F64,
            )],
            readers: vec![endpoint(
                Role::Reader,
                EntityId::user_reader(2, false),
                read,
            )],
            types: Arc::default(),
        };
        assert_eq!(topic(Type::F64).undecided_pairs(), 0);
        assert_eq!(topic(Type::I64).undecided_pairs(), 1);
    }
}
