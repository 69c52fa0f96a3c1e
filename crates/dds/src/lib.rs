//! Publish/subscribe for market data: an OMG DDS in Rust, on the wire with Cyclone DDS, Fast DDS
//! and others.
//!
//! ```
//! use std::time::Duration;
//! use tickwire::{DomainParticipant, Topic};
//!
//! #[derive(Topic, Debug, PartialEq)]
//! struct Quote {
//!     #[topic(key)]
//!     symbol: String,
//!     price: f64,
//! }
//!
//! let participant = DomainParticipant::new(0)?;
//! let topic = participant.topic::<Quote>("Quotes")?;
//! let reader = participant.reader(&topic)?;
//! let writer = participant.writer(&topic)?;
//! writer.wait_for_matched(1, Duration::from_secs(5))?;
//! writer.write(&Quote { symbol: "TICK".into(), price: 101.25 })?;
//! reader.wait_for_data(Duration::from_secs(5))?;
//! reader.take().data().for_each(|quote| println!("{quote:?}"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`DomainParticipant`]. A sample goes from [`DataWriter::write`] to the system call on
//! the caller's thread, and from the system call into the [`DataReader`] on the thread that receives.
//! This crate drives the engines of `tickwire-rtps` with the sockets of `tickwire-transport`; it
//! knows neither what a submessage looks like nor how a value is encoded.

#![forbid(unsafe_code)]

pub use tickwire_base::{Decimal, Instant, Locator, LocatorKind, Timestamp};
pub use tickwire_cdr as cdr;
pub use tickwire_derive::Topic;
pub use tickwire_rtps::SampleIdentity;
pub use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, SequenceNumber};

#[cfg(test)]
extern crate self as tickwire;

mod barrier;
mod builtin;
mod clock;
mod content_filter;
mod core;
mod deadline;
mod enabling;
mod endpoints;
pub mod error;
mod events;
mod group_listener;
mod lane;
mod lease;
mod leaving;
mod lifeline;
mod listener;
mod listeners;
pub mod loan;
mod network;
mod outgoing;
mod participant;
mod pending;
mod pending_calls;
mod polled;
mod ports;
mod publisher;
pub mod qos;
pub mod reader;
pub mod rendezvous;
mod routes;
pub mod rpc;
mod shm;
mod sign_of_life;
mod signal;
pub mod status;
#[cfg(test)]
mod status_tests;
mod subscriber;
mod timer;
mod topic;
mod turns;
mod type_support;
mod unimplemented;
mod view;
mod wait_set;
pub mod writer;

pub use builtin::{
    BuiltinSubscriber, ParticipantBuiltinTopicData, PublicationBuiltinTopicData,
    SubscriptionBuiltinTopicData, TopicBuiltinTopicData,
};
pub use content_filter::{ContentFilteredTopic, TopicDescription};
pub use group_listener::{DomainParticipantListener, PublisherListener, SubscriberListener};
pub use loan::{
    BytesInPlace, BytesType, InPlace, Loan, PlainType, SequenceInPlace, SequenceLoan, SequenceType,
    ValueLoan,
};
pub use network::RefusedInterface;
pub use outgoing::SuspendedPublications;
pub use participant::{
    DiscoveryLimits, DomainParticipant, DomainParticipantBuilder, Driving, FilterLimits,
    ParseTcpListenError, ParseThreadCoresError, ParseTransportsError, ParticipantCounters,
    ParticipantLimits, ReaderLimits, SharedMemoryCounters, TRANSPORT_VARIABLE, TcpListen,
    ThreadCores, Transport, Transports,
};
pub use publisher::{CoherentChanges, Publisher, PublisherQos};
pub use qos::{DataReaderQos, DataWriterQos};
pub use reader::{
    AnyDataReader, DataReader, DataReaderListener, InstanceHandle, InstanceState, QueryCondition,
    ReaderLatency, Sample, SampleInfo, SampleState, Samples, StateMask, ViewState,
};
pub use shm::{Obstacle, Way};
pub use status::StatusMask;
pub use subscriber::{Access, Subscriber, SubscriberQos};
pub use tickwire_base::LatencyHistogram;
pub use tickwire_store as store;
pub use tickwire_transport::ReceiveTimestamps;
pub use tickwire_transport::tcp::TcpCounts;
pub use topic::{Topic, TopicListener};
pub use type_support::{DynamicType, Payload, SampleError, Serialized, TopicSupport};
pub use view::{
    DiscoveryCounters, DiscoveryView, EndpointData, Pair, ParticipantData, Role,
    SharedMemoryAddress,
};
pub use wait_set::{Condition, GuardCondition, WaitSet};
pub use writer::{
    AnyDataWriter, COPIED_LEN, DataWriter, DataWriterListener, HandedMemory, ServedLog,
};
