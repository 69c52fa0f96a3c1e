//! QoS and settings of participants: by keyword, and by profiles of files. Both are read by
//! `tickwire-profiles`, whose catalogue has all of them.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder, PublisherQos,
    SubscriberQos,
};
use tickwire_profiles::{Entity, LoadError, Profile, Profiles};

use crate::errors::{Kind, run};

/// A QoS profile of a file in TOML, DDS-XML or Fast DDS's XML.
///
///     quotes = tw.Profile("market.toml", "quotes")
///     with tw.Participant(qos=quotes) as participant:
///         writer = participant.writer(topic, qos=quotes)
///
/// Without a name it is the file's default, or its only profile. `Profile.parse(text, name)` reads text,
/// and `Profile.from_env()` what TICKWIRE_QOS_FILE and TICKWIRE_QOS_PROFILE say.
#[pyclass(frozen, module = "tickwire", name = "Profile")]
pub(crate) struct PyProfile {
    profile: Profile,
    profiles: Profiles,
}

impl PyProfile {
    fn choose(profiles: Profiles, name: Option<&str>) -> PyResult<Self> {
        let profile = match name {
            Some(name) => profiles
                .profile(name)
                .map_err(|error| Kind::Qos.error(error))?,
            None => {
                profiles
                    .check_default()
                    .map_err(|error| Kind::Qos.error(error))?;
                profiles.default_profile()
            }
        };
        Ok(Self { profile, profiles })
    }
}

#[pymethods]
impl PyProfile {
    #[new]
    #[pyo3(signature = (file, name = None))]
    fn new(py: Python<'_>, file: PathBuf, name: Option<&str>) -> PyResult<Self> {
        let profiles = run(py, || Profiles::load(file))?;
        Self::choose(profiles.map_err(|error| Kind::Qos.error(error))?, name)
    }

    /// A profile of text, in any of the three formats.
    #[staticmethod]
    #[pyo3(signature = (text, name = None))]
    fn parse(text: &str, name: Option<&str>) -> PyResult<Self> {
        let profiles = Profiles::parse("the text", text);
        Self::choose(profiles.map_err(|error| Kind::Qos.error(error))?, name)
    }

    /// The profile that the environment names by TICKWIRE_QOS_FILE and TICKWIRE_QOS_PROFILE, with the
    /// rendezvous of TICKWIRE_RENDEZVOUS; one that says nothing where they are not set.
    #[staticmethod]
    fn from_env(py: Python<'_>) -> PyResult<Self> {
        let profiles = run(py, Profiles::from_env)?;
        Self::choose(profiles.map_err(|error| Kind::Qos.error(error))?, None)
    }

    /// The names of all profiles of the file.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.profiles.names().map(str::to_owned).collect()
    }

    /// What the file says that Tickwire does not have: text with the line of each.
    #[getter]
    fn ignored(&self) -> Vec<String> {
        self.profiles
            .ignored()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    /// What holds of "participant", "topic", "publisher", "subscriber", "writer" or "reader", by key, as TOML.
    #[pyo3(signature = (entity, topic = None))]
    fn settings<'py>(
        &self,
        py: Python<'py>,
        entity: &str,
        topic: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let settings = PyDict::new(py);
        for effective in self.profile.settings(entity_of(entity)?, topic) {
            settings.set_item(effective.setting.key, effective.value)?;
        }
        Ok(settings)
    }

    fn __repr__(&self) -> String {
        format!("<tickwire.Profile of {}>", self.profiles.file())
    }
}

fn entity_of(name: &str) -> PyResult<Entity> {
    let known = Entity::ALL.into_iter().find(|known| known.name() == name);
    known.ok_or_else(|| {
        let all = Entity::ALL.map(Entity::name).join(", ");
        Kind::Qos.error(format!("there is no entity `{name}`; there are {all}"))
    })
}

/// All settings there are: `(key, entities, default, meaning)`.
#[pyfunction]
pub(crate) fn settings(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = tickwire_profiles::settings().iter().map(|setting| {
        let entities: Vec<_> = setting.entities.iter().map(|it| it.name()).collect();
        (setting.key, entities, setting.default, setting.meaning)
    });
    PyList::new(py, all)
}

/// What an entity is to be: what a profile says, and over it what keywords say, as the TOML of a profile.
pub(crate) struct Settings<'s> {
    profile: Option<&'s Profile>,
    keywords: Option<Profile>,
}

impl<'s> Settings<'s> {
    pub(crate) fn new(profile: Option<&'s PyProfile>, toml: Option<&str>) -> PyResult<Self> {
        let keywords = match toml {
            None => None,
            Some(toml) => {
                let profiles =
                    Profiles::parse("keywords", toml).map_err(|error| explain(&error))?;
                Some(profiles.default_profile())
            }
        };
        Ok(Self {
            profile: profile.map(|profile| &profile.profile),
            keywords,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Profile> {
        self.profile.into_iter().chain(&self.keywords)
    }

    pub(crate) fn participant(&self, domain: Option<u32>) -> DomainParticipantBuilder {
        let said = self.profile.and_then(Profile::domain);
        let builder = DomainParticipant::builder(domain.or(said).unwrap_or(0));
        self.all().fold(builder, |builder, profile| {
            profile.adjust_participant(builder)
        })
    }

    pub(crate) fn writer(&self, topic: &str) -> DataWriterQos {
        self.change_writer(DataWriterQos::default(), topic)
    }

    pub(crate) fn reader(&self, topic: &str) -> DataReaderQos {
        self.change_reader(DataReaderQos::default(), topic)
    }

    /// What an entity is to be from now on.
    pub(crate) fn change_writer(&self, qos: DataWriterQos, topic: &str) -> DataWriterQos {
        self.all()
            .fold(qos, |qos, profile| profile.adjust_writer(qos, topic))
    }

    /// The same of a reader.
    pub(crate) fn change_reader(&self, qos: DataReaderQos, topic: &str) -> DataReaderQos {
        self.all()
            .fold(qos, |qos, profile| profile.adjust_reader(qos, topic))
    }

    pub(crate) fn publisher(&self) -> PublisherQos {
        let qos = PublisherQos::default();
        self.all()
            .fold(qos, |qos, profile| profile.adjust_publisher(qos, ""))
    }

    pub(crate) fn subscriber(&self) -> SubscriberQos {
        let qos = SubscriberQos::default();
        self.all()
            .fold(qos, |qos, profile| profile.adjust_subscriber(qos, ""))
    }
}

/// What is wrong with keywords, without the lines of a text that nobody has seen.
fn explain(error: &LoadError) -> PyErr {
    match error {
        LoadError::Invalid { problems, .. } => {
            let messages: Vec<_> = problems.iter().map(|problem| &*problem.message).collect();
            Kind::Qos.error(messages.join("; "))
        }
        other => Kind::Qos.error(other),
    }
}
