//! What the programs share: a participant, its topics, and their QoS, which are those of exchanges and queues in C.

use std::error::Error;
use std::time::Duration;

use tickwire::qos::ResourceLimits;
use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, Driving, Samples, Topic,
};
use tickwire_profiles::Profiles;

/// What the programs end with.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Longer than anything takes that succeeds.
pub const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Topic)]
#[topic(name = "tickwire::Message", final)]
struct Message {
    bytes: Vec<u8>,
}

/// The arguments, of which there must be as many as `usage` names.
pub fn arguments(usage: &str) -> Vec<String> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.len() + 1 != usage.split(' ').count() {
        eprintln!("usage: {usage}");
        std::process::exit(2);
    }
    arguments
}

/// A participant that finds others by the rendezvous at `host`, or by multicast if that is `-`; with
/// what `TICKWIRE_QOS_FILE` says of participants. Who waits for samples delivers them.
pub fn participant(host: &str, interfaces: &[&str]) -> Result<DomainParticipant> {
    let profiles = Profiles::from_env()?;
    profiles.check_default()?;
    let mut builder = profiles.default_profile().participant();
    let interfaces = interfaces.iter().filter(|interface| **interface != "-");
    let interfaces: Vec<_> = interfaces
        .map(|interface| interface.split(':').next().unwrap_or_default())
        .collect();
    if !interfaces.is_empty() {
        builder = builder.interface(&interfaces.join(","));
    }
    if host != "-" {
        builder = builder.rendezvous(host);
    }
    Ok(builder.driving(Driving::Cooperative).build()?)
}

fn topic(participant: &DomainParticipant, name: &str) -> Result<Topic<BytesInPlace>> {
    Ok(participant.topic_of(name, BytesType::of::<Message>()?)?)
}

/// A writer that waits for its readers, and loses nothing.
pub fn writer(participant: &DomainParticipant, name: &str) -> Result<DataWriter<BytesInPlace>> {
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    Ok(participant.writer_with(&topic(participant, name)?, qos)?)
}

/// A reader that has its writers wait when 10,000 messages were not taken.
pub fn reader(participant: &DomainParticipant, name: &str) -> Result<DataReader<BytesInPlace>> {
    let limits = ResourceLimits {
        max_samples: Some(10_000),
        ..ResourceLimits::default()
    };
    let qos = DataReaderQos::default().reliable().keep_all();
    Ok(participant.reader_with(&topic(participant, name)?, qos.resource_limits(limits))?)
}

/// What has come to a reader, for which this thread waits.
pub fn receive(
    participant: &DomainParticipant,
    reader: &DataReader<BytesInPlace>,
) -> Result<Samples<BytesInPlace>> {
    let next = || Some(reader.take()).filter(|messages| !messages.is_empty());
    let messages = participant.wait_for_samples(PATIENCE, next);
    Ok(messages.ok_or("no message has come")?)
}
