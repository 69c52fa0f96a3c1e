//! The topics that are measured on.

use tickwire::{DataReader, DataWriter};
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, Topic};

use crate::failure::{Failure, Result};
use crate::network::NetworkOptions;
use crate::profile::ProfileOptions;

/// Nothing but bytes, so that what is measured is the way and not the encoding.
#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "perf::Bytes", final)]
pub(super) struct Bytes {
    pub(super) data: Vec<u8>,
}

pub(super) const PING: &str = "perf.ping";
pub(super) const PONG: &str = "perf.pong";

/// Where is measured, and with which QoS.
pub(super) struct MeasuredDomain {
    network: NetworkOptions,
    arguments: Vec<String>,
}

impl MeasuredDomain {
    pub(super) fn new(domain: u32, profile: &ProfileOptions) -> Self {
        Self {
            network: NetworkOptions::new(Some(domain), None, profile),
            arguments: profile.arguments.clone(),
        }
    }

    /// The command line of the other side.
    pub(super) fn peer(&self, command: &str) -> Vec<String> {
        let domain = self.network.domain.to_string();
        let mut arguments = ["perf", "respond", command, "--domain", &domain].map(str::to_owned);
        arguments
            .iter_mut()
            .map(std::mem::take)
            .chain(self.arguments.iter().cloned())
            .collect()
    }

    pub(super) fn participant(&self) -> Result<DomainParticipant> {
        self.network.join("tickwire perf")
    }

    /// A writer of the QoS, but for what the profile says.
    pub(super) fn writer(
        &self,
        participant: &DomainParticipant,
        name: &str,
        qos: DataWriterQos,
    ) -> Result<DataWriter<Bytes>> {
        let topic = participant.topic::<Bytes>(name).map_err(Failure::new)?;
        let qos = self.network.profile.adjust_writer(qos, name);
        participant.writer_with(&topic, qos).map_err(Failure::new)
    }

    /// A reader of the QoS, but for what the profile says.
    pub(super) fn reader(
        &self,
        participant: &DomainParticipant,
        name: &str,
        qos: DataReaderQos,
    ) -> Result<DataReader<Bytes>> {
        let topic = participant.topic::<Bytes>(name).map_err(Failure::new)?;
        let qos = self.network.profile.adjust_reader(qos, name);
        participant.reader_with(&topic, qos).map_err(Failure::new)
    }
}
