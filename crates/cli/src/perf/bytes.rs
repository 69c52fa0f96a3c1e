//! The topics that are measured on.

use tickwire::{DataReader, DataWriter};
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, Topic};

use crate::failure::{Failure, Result};

/// Nothing but bytes, so that what is measured is the way and not the encoding.
#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "perf::Bytes", final)]
pub(super) struct Bytes {
    pub(super) data: Vec<u8>,
}

pub(super) const PING: &str = "perf.ping";
pub(super) const PONG: &str = "perf.pong";

pub(super) fn participant(domain: u32) -> Result<DomainParticipant> {
    let participant = DomainParticipant::builder(domain).name("tickwire perf");
    participant.build().map_err(Failure::new)
}

pub(super) fn writer(
    participant: &DomainParticipant,
    name: &str,
    qos: DataWriterQos,
) -> Result<DataWriter<Bytes>> {
    let topic = participant.topic::<Bytes>(name).map_err(Failure::new)?;
    participant.writer_with(&topic, qos).map_err(Failure::new)
}

pub(super) fn reader(
    participant: &DomainParticipant,
    name: &str,
    qos: DataReaderQos,
) -> Result<DataReader<Bytes>> {
    let topic = participant.topic::<Bytes>(name).map_err(Failure::new)?;
    participant.reader_with(&topic, qos).map_err(Failure::new)
}
