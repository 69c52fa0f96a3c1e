//! The topics that are measured on.

use std::time::Duration;

use clap::ValueEnum;
use tickwire::{DataReader, DataWriter, Driving};
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, Topic, Transport};

use super::bare::Wire;
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

/// Where is measured, with which QoS, and how it is waited.
pub(super) struct MeasuredDomain {
    network: NetworkOptions,
    arguments: Vec<String>,
    pub(super) wait: Wait,
    /// Whether samples go by the network unless it is said that they go by shared memory.
    is_beside_floor: bool,
}

/// How who has nothing to do waits, on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Wait {
    /// Sleep in the system until something comes
    #[default]
    Block,
    /// Ask again and again: lower latency, a busy core for each process
    Poll,
}

impl MeasuredDomain {
    pub(super) fn new(domain: u32, profile: &ProfileOptions, wait: Wait) -> Self {
        Self {
            network: NetworkOptions::new(Some(domain), None, profile),
            arguments: profile.arguments.clone(),
            wait,
            is_beside_floor: false,
        }
    }

    /// Has samples go by UDP, as they do beside bare sockets, unless transports are named.
    pub(super) fn beside_floor(self) -> Self {
        Self {
            is_beside_floor: true,
            ..self
        }
    }

    /// What is beneath it: TCP where there is no UDP.
    pub(super) fn wire(&self) -> Wire {
        let transports = self.network.transports();
        match transports.contains(Transport::Udp) || !transports.contains(Transport::Tcp) {
            true => Wire::Udp,
            false => Wire::Tcp,
        }
    }

    /// Whether samples may go by shared memory, which no bare socket is slower for.
    pub(super) fn has_shared_memory(&self) -> bool {
        let said = self.network.said_transports();
        let transports = said.unwrap_or_default();
        transports.contains(Transport::Shm) && (said.is_some() || !self.is_beside_floor)
    }

    /// The command line of the other side.
    pub(super) fn peer(&self, command: &str) -> Vec<String> {
        let domain = self.network.domain.to_string();
        let wait = match self.wait {
            Wait::Block => "block",
            Wait::Poll => "poll",
        };
        let mut arguments = [
            "perf", "respond", command, "--domain", &domain, "--wait", wait,
        ]
        .map(str::to_owned);
        arguments
            .iter_mut()
            .map(std::mem::take)
            .chain(self.arguments.iter().cloned())
            .collect()
    }

    pub(super) fn participant(&self) -> Result<DomainParticipant> {
        self.participant_with(&[])
    }

    /// The same, which looks for others at `peers`, too.
    pub(super) fn participant_with(&self, peers: &[String]) -> Result<DomainParticipant> {
        self.network.join_as("tickwire perf", |participant| {
            let named = peers.iter();
            let participant = named.fold(participant, |all, peer| all.peer_named(peer));
            let is_named = self.network.said_transports().is_some();
            let participant = participant.shared_memory(is_named || !self.is_beside_floor);
            match self.wait {
                Wait::Block => participant.driving(Driving::Threaded),
                Wait::Poll => participant.driving(Driving::Polled).busy_poll(SPIN),
            }
        })
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

/// How long who polls looks without a pause where nothing comes; then it is not its turn.
pub(super) const SPIN: Duration = Duration::from_millis(2);
/// How long one call looks.
pub(super) const LOOK: Duration = Duration::from_millis(100);
