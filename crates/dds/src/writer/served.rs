//! A log that a durability service publishes as long as no writer has it (DDS 1.4 §2.2.3.4): what is in it,
//! with the type of its writer, in its name, and with its QoS but for what only an application can promise.
//! Nothing is written. Does not look for logs.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tickwire_rtps::discovery::{DiscoveryDataError, EndpointData, Role};
use tickwire_rtps::qos::{DurabilityService, EndpointQos};
use tickwire_rtps::wire::{EntityId, Guid};
use tickwire_store::{Description, Retention, Store, StoreError};

use super::WriterCounters;
use super::description::{announced, type_of};
use super::durable::{Durable, retention};
use super::endpoint::WriterEndpoint;
use crate::clock;
use crate::endpoints;
use crate::error::EndpointError;
use crate::lifeline::Lifeline;
use crate::qos::{DataWriterQos, LivelinessKind, offered_representation};

/// A log that a participant publishes; see
/// [`serve_log`](crate::DomainParticipant::serve_log). It is withdrawn, and others may have the log, when
/// this is dropped.
pub struct ServedLog {
    endpoint: Arc<WriterEndpoint>,
    description: Description,
    directory: PathBuf,
    service: DurabilityService,
    lifeline: Arc<Lifeline>,
}

impl ServedLog {
    pub(crate) fn new(lifeline: &Arc<Lifeline>, directory: &Path) -> Result<Self, ServeLogError> {
        let core = &lifeline.core;
        if !core.enabling.is_enabled() {
            return Err(ServeLogError::NotEnabled);
        }
        let keeps = |description: &Description| match announced(description) {
            Ok(data) => retention(&data.qos.durability_service),
            Err(_) => Retention::KEEP_ALL,
        };
        let log = Store::adopt_as_service(directory, keeps, clock::timestamp())?;
        let description = log.description().clone();
        let tag = core.view(|discovery| discovery.participant().domain_tag.clone());
        if (description.key.domain, &description.key.domain_tag) != (core.domain, &tag) {
            return Err(ServeLogError::OtherDomain {
                domain: description.key.domain,
                domain_tag: description.key.domain_tag,
            });
        }
        let mut data = announced(&description).map_err(ServeLogError::Header)?;
        stand_back(&mut data.qos);
        endpoints::check(Role::Writer, &data.qos)?;
        let wanted = data.qos.offered_representation();
        let representation =
            offered_representation(&data.qos).ok_or(EndpointError::Representation { wanted })?;
        let service = data.qos.durability_service;
        let is_keyed = data.guid.entity.is_keyed();
        let entity = EntityId::user_writer(core.next_entity_key()?, is_keyed);
        let guid = Guid::new(core.prefix, entity);
        let ty = type_of(&description);
        let data = EndpointData {
            guid,
            unicast_locators: Vec::new(),
            multicast_locators: Vec::new(),
            ..data
        };
        let endpoint = WriterEndpoint::new(
            Arc::clone(core),
            &data,
            &DataWriterQos::default(),
            representation,
            ty.as_ref(),
            Some(Durable::new(log, None)),
        )?;
        core.draft(data);
        // From here on it is withdrawn with the result.
        let served = Self {
            endpoint: Arc::new(endpoint),
            description,
            directory: directory.to_owned(),
            service,
            lifeline: Arc::clone(lifeline),
        };
        core.add_writer(&served.endpoint, ty.as_ref())?;
        served.endpoint.start();
        Ok(served)
    }

    /// Whether a writer waits for the log, which it does for a second; then this is to be dropped. One
    /// system call.
    pub fn is_wanted(&self) -> bool {
        let durable = self.endpoint.durable.as_ref();
        durable.is_some_and(|durable| durable.is_wanted())
    }

    /// Whose samples these are.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Where the log is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its name on the network.
    pub fn guid(&self) -> Guid {
        self.endpoint.guid
    }

    /// The DURABILITY_SERVICE of the writer, which says how many samples of each instance there are.
    pub fn durability_service(&self) -> DurabilityService {
        self.service
    }

    /// Of how many instances there are samples; without keys, one or none.
    pub fn instance_count(&self) -> usize {
        self.endpoint
            .with_machine(|machine, _, _| machine.instance_count())
    }

    /// What it has sent; [`restored`](WriterCounters::restored) says how many samples it has.
    pub fn counters(&self) -> WriterCounters {
        self.endpoint
            .with_machine(|machine, _, _| *machine.counters())
    }
}

impl Drop for ServedLog {
    fn drop(&mut self) {
        let last_change = self.endpoint.last_for_all();
        self.lifeline
            .core
            .remove_writer(self.endpoint.guid, last_change);
        self.endpoint.close_log();
    }
}

/// Takes back what the writer offered and nobody can keep who does not write.
fn stand_back(qos: &mut EndpointQos) {
    let liveliness = &mut qos.liveliness;
    if liveliness.lease_duration != Duration::MAX {
        // There is no application to say that it lives. Who asks for that does not match.
        liveliness.kind = LivelinessKind::Automatic;
    }
    // A writer that lives owns its instances.
    qos.ownership_strength = i32::MIN;
}

impl fmt::Debug for ServedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedLog")
            .field("guid", &self.guid())
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// Why a log cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServeLogError {
    /// It cannot be had: [`StoreError::Taken`] if a writer has it.
    Store(StoreError),
    /// It is of a domain that the participant is not in.
    OtherDomain {
        /// The log's domain.
        domain: u32,
        /// The tag of that.
        domain_tag: String,
    },
    /// What it says of its writer's QoS is malformed.
    Header(DiscoveryDataError),
    /// A writer with the QoS that it says cannot be.
    Endpoint(EndpointError),
    /// The participant is not [enabled](crate::DomainParticipant::enable).
    NotEnabled,
}

impl From<StoreError> for ServeLogError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<EndpointError> for ServeLogError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

impl fmt::Display for ServeLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::OtherDomain { domain, domain_tag } => write!(
                f,
                "the log is of domain {domain} with the tag {domain_tag:?}; join that one"
            ),
            Self::Header(error) => write!(
                f,
                "the log's header does not say what QoS its writer had, {error}; start the writer again"
            ),
            Self::Endpoint(error) => error.fmt(f),
            Self::NotEnabled => f.write_str("the participant is not enabled; call `enable`"),
        }
    }
}

impl Error for ServeLogError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Header(error) => Some(error),
            Self::Endpoint(error) => Some(error),
            Self::OtherDomain { .. } | Self::NotEnabled => None,
        }
    }
}
