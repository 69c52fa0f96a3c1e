//! One profile, as what endpoints and participants are made with.

use std::sync::Arc;

use tickwire::qos::{EndpointQos, GroupQos};
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder, PublisherQos,
    SubscriberQos, Transports,
};

use crate::problem::SettingError;
use crate::resolve::{self, Library};
use crate::value::Value;
use crate::{Entity, Setting, catalogue, policies, toml_file};

/// A profile, with all that it inherits. Clones are the same profile.
///
/// Where a topic's name is asked for, what the profile says of topics with such names holds, else what it
/// says of all others (DDS-XML 1.0 §7.3.2.4.3).
#[derive(Clone, Debug)]
pub struct Profile {
    library: Arc<Library>,
    /// Which profile says what of an entity, in the order of [`Entity::ALL`].
    parts: [Option<usize>; Entity::ALL.len()],
    /// Besides those of the profile.
    rendezvous: Option<Arc<str>>,
    /// What is said besides, and last.
    besides: Option<Arc<resolve::Profile>>,
}

/// What holds of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The setting.
    pub setting: &'static Setting,
    /// Its value, as TOML.
    pub value: String,
    /// The profile that says so, with the line of the file unless it is built into
    /// Connext; `None` for the default.
    pub origin: Option<(Box<str>, Option<u32>)>,
}

impl Profile {
    pub(crate) fn new(
        library: Arc<Library>,
        rendezvous: Option<Arc<str>>,
        part: impl Fn(Entity) -> Option<usize>,
    ) -> Self {
        Self {
            parts: Entity::ALL.map(part),
            library,
            rendezvous,
            besides: None,
        }
    }

    /// The same with one setting more, or another value of it, which holds for all topics. `key` is what
    /// `docs/qos.md` lists behind the name of the entity, as `writer.history.kind`; `value` is the value as
    /// TOML has it, but that the quotes around a text and the brackets around a list may be left out:
    /// `keep_all`, `100ms`, `udp,shm`. Whether policies go together is looked at when an entity is made.
    ///
    /// # Errors
    /// When there is no such setting, or that is no value of it.
    pub fn with(mut self, key: &str, value: &str) -> Result<Self, SettingError> {
        let (entity, setting) = catalogue::named(key)?;
        let value = toml_file::spoken(setting, value);
        let value = value.map_err(|message| SettingError::new(key, message))?;
        let mut besides = match self.besides.take() {
            Some(besides) => Arc::unwrap_or_clone(besides),
            None => resolve::Profile::of_program(),
        };
        besides.say(entity, setting, value);
        self.besides = Some(Arc::new(besides));
        Ok(self)
    }

    /// The value of one setting as TOML, of a topic if one is named.
    ///
    /// # Errors
    /// When there is no such setting.
    pub fn setting(&self, key: &str, topic: Option<&str>) -> Result<String, SettingError> {
        let (entity, setting) = catalogue::named(key)?;
        let effective = self.effective(entity, topic);
        let said = effective.get(setting.key);
        Ok(said.map_or(setting.default.to_owned(), |(_, said)| {
            said.value.to_toml(setting)
        }))
    }

    /// What a participant is to be: it only has to be [built](DomainParticipantBuilder::build).
    pub fn participant(&self) -> DomainParticipantBuilder {
        self.participant_in(self.domain().unwrap_or(0))
    }

    /// The same in another domain than the profile's.
    pub fn participant_in(&self, domain: u32) -> DomainParticipantBuilder {
        self.adjust_participant(DomainParticipant::builder(domain))
    }

    /// A participant that is given, with what the profile says of participants, but for the domain.
    pub fn adjust_participant(
        &self,
        builder: DomainParticipantBuilder,
    ) -> DomainParticipantBuilder {
        let said = self.effective(Entity::Participant, None);
        let said = said.values().map(|(_, said)| said);
        let builder = said.fold(builder, |builder, said| {
            policies::build(builder, said.setting.key, &said.value)
        });
        let besides = self.rendezvous.iter();
        besides.fold(builder, |builder, reference| builder.rendezvous(reference))
    }

    /// The domain, if the profile names one.
    pub fn domain(&self) -> Option<u32> {
        match self
            .effective(Entity::Participant, None)
            .get("domain")?
            .1
            .value
        {
            Value::Integer(domain) => u32::try_from(domain).ok(),
            _ => None,
        }
    }

    /// Where the file says of which domain the participant is: `FILE:LINE`.
    pub fn domain_place(&self) -> Option<String> {
        let participant = self.effective(Entity::Participant, None);
        let (_, said) = participant.get("domain")?;
        Some(format!("{}:{}", self.library.file, said.line))
    }

    /// The interface, if the profile names one.
    pub fn interface(&self) -> Option<&str> {
        match &self
            .effective(Entity::Participant, None)
            .get("interface")?
            .1
            .value
        {
            Value::Text(interface) => Some(interface),
            _ => None,
        }
    }

    /// The transports, if the profile names any.
    pub fn transports(&self) -> Option<Transports> {
        match &self
            .effective(Entity::Participant, None)
            .get("transports")?
            .1
            .value
        {
            Value::Choices(numbers) if !numbers.is_empty() => {
                Some(policies::transports(numbers).collect())
            }
            _ => None,
        }
    }

    /// The rendezvous that the profile names, and that of the environment if the profile came
    /// [from there](crate::Profiles::from_env).
    pub fn rendezvous(&self) -> Vec<String> {
        let participant = self.effective(Entity::Participant, None);
        let mut all = match participant.get("rendezvous").map(|(_, said)| &said.value) {
            Some(Value::Names(references)) => references.clone(),
            _ => Vec::new(),
        };
        all.extend(self.rendezvous.as_deref().map(str::to_owned));
        all
    }

    /// The QoS of a publisher.
    pub fn publisher(&self) -> PublisherQos {
        self.adjust_group(PublisherQos::default(), Entity::Publisher, None)
    }

    /// A QoS that is given, with what the profile says of publishers of that topic.
    pub fn adjust_publisher(&self, qos: PublisherQos, topic: &str) -> PublisherQos {
        self.adjust_group(qos, Entity::Publisher, Some(topic))
    }

    /// The QoS of a subscriber.
    pub fn subscriber(&self) -> SubscriberQos {
        self.adjust_group(SubscriberQos::default(), Entity::Subscriber, None)
    }

    /// A QoS that is given, with what the profile says of subscribers of that topic.
    pub fn adjust_subscriber(&self, qos: SubscriberQos, topic: &str) -> SubscriberQos {
        self.adjust_group(qos, Entity::Subscriber, Some(topic))
    }

    /// The QoS of a writer of that topic, with what the profile says of its publisher: a publisher that
    /// makes the writer replaces that by its own.
    pub fn writer(&self, topic: &str) -> DataWriterQos {
        self.adjust_writer(DataWriterQos::default(), topic)
    }

    /// A QoS that is given, with what the profile says of writers of that topic.
    pub fn adjust_writer(&self, mut qos: DataWriterQos, topic: &str) -> DataWriterQos {
        for (_, said) in self.effective(Entity::Writer, Some(topic)).values() {
            qos = match (said.setting.key, &said.value) {
                ("max_unacknowledged", Value::Size(bytes)) => qos.max_unacknowledged_bytes(*bytes),
                ("max_loan", Value::Size(bytes)) => qos.max_loan_bytes(*bytes),
                ("loan_count", Value::Integer(count)) => {
                    qos.loan_count(usize::try_from(*count).unwrap_or_default())
                }
                ("multicast_samples", Value::Bool(yes)) => qos.multicast_samples(*yes),
                ("writer_data_lifecycle.autodispose_unregistered_instances", Value::Bool(yes)) => {
                    qos.autodispose_unregistered_instances(*yes)
                }
                _ => qos,
            };
        }
        qos.with(|policies| self.apply(policies, Entity::Writer, Entity::Publisher, topic))
    }

    /// The QoS of a reader of that topic, with what the profile says of its subscriber: a subscriber that
    /// makes the reader replaces that by its own.
    pub fn reader(&self, topic: &str) -> DataReaderQos {
        self.adjust_reader(DataReaderQos::default(), topic)
    }

    /// A QoS that is given, with what the profile says of readers of that topic.
    pub fn adjust_reader(&self, mut qos: DataReaderQos, topic: &str) -> DataReaderQos {
        for (_, said) in self.effective(Entity::Reader, Some(topic)).values() {
            qos = match (said.setting.key, &said.value) {
                (
                    "reader_data_lifecycle.autopurge_nowriter_samples_delay",
                    Value::Duration(delay),
                ) => qos.autopurge_nowriter_samples_delay(*delay),
                (
                    "reader_data_lifecycle.autopurge_disposed_samples_delay",
                    Value::Duration(delay),
                ) => qos.autopurge_disposed_samples_delay(*delay),
                _ => qos,
            };
        }
        qos.with(|policies| self.apply(policies, Entity::Reader, Entity::Subscriber, topic))
    }

    /// What holds of an entity, setting by setting, with where it comes from; of a topic if one is named.
    pub fn settings(&self, entity: Entity, topic: Option<&str>) -> Vec<Effective> {
        Self::listed(entity, &self.effective(entity, topic))
    }

    /// The same of what holds, with what has its default.
    pub(crate) fn listed(entity: Entity, effective: &resolve::Effective<'_>) -> Vec<Effective> {
        let settings = catalogue::of(entity).map(|setting| match effective.get(setting.key) {
            Some((profile, said)) => Effective {
                setting,
                value: said.value.to_toml(setting),
                origin: Some((
                    profile.name.clone(),
                    (!profile.is_built_in).then_some(said.line),
                )),
            },
            None => Effective {
                setting,
                value: setting.default.to_owned(),
                origin: None,
            },
        });
        settings.collect()
    }

    /// The names and patterns of topics of which the profile, or what it inherits, says something.
    pub fn topics(&self) -> Vec<&str> {
        let filters = Entity::ALL.into_iter().filter_map(|entity| {
            let part = self.part(entity)?;
            Some(self.library.filters(part, entity))
        });
        let filters = filters.flatten().flat_map(|(_, filters)| filters);
        let mut topics: Vec<_> = filters.collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    /// The profile that says what an entity is to be.
    pub(crate) fn part(&self, entity: Entity) -> Option<usize> {
        self.parts.get(entity as usize).copied().flatten()
    }

    fn adjust_group(&self, mut qos: GroupQos, entity: Entity, topic: Option<&str>) -> GroupQos {
        let mut policies = EndpointQos::writer();
        let effective = self.effective(entity, topic);
        policies::apply_all(&mut policies, &effective);
        for (key, (_, said)) in effective {
            qos = match (key, &said.value) {
                ("partition", _) => qos.partition(policies.partition.clone()),
                ("group_data", _) => qos.group_data(policies.group_data.clone()),
                (policies::AUTOENABLE, Value::Bool(yes)) => qos.autoenable_created_entities(*yes),
                (key, _) if key.starts_with("presentation.") => {
                    qos.presentation(policies.presentation)
                }
                _ => qos,
            };
        }
        qos
    }

    fn apply(&self, policies: &mut EndpointQos, own: Entity, group: Entity, topic: &str) {
        for entity in [Entity::Topic, group, own] {
            policies::apply_all(policies, &self.effective(entity, Some(topic)));
        }
    }

    fn effective(&self, entity: Entity, topic: Option<&str>) -> resolve::Effective<'_> {
        let part = self.part(entity);
        let effective = part.map(|part| self.library.effective(part, entity, topic));
        let mut effective = effective.unwrap_or_default();
        if let Some(besides) = &self.besides {
            let said = besides.said(entity);
            effective.extend(said.map(|said| (said.setting.key, (&**besides, said))));
        }
        effective
    }
}
