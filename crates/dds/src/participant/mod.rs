//! The participant: an application's membership in a domain.

mod builder;
mod ignore;
mod limits;
mod peer;
pub(crate) mod thread_cores;
mod transports;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tickwire_rtps::wire::{EntityId, Guid};
use tickwire_transport::UdpSocket;
use tickwire_transport::tcp::{TcpCounts, TcpNet};

pub use builder::DomainParticipantBuilder;
pub use ignore::IgnoreError;
pub use limits::{DiscoveryLimits, FilterLimits, ParticipantLimits, ReaderLimits};
pub use thread_cores::{ParseThreadCoresError, ThreadCores, ThreadCoresError};
pub use transports::{
    ParseTcpListenError, ParseTransportsError, TcpListen, Transport, Transports,
    VARIABLE as TRANSPORT_VARIABLE,
};

use crate::builtin::BuiltinSubscriber;
use crate::content_filter::TopicDescription;
use crate::core::Core;
use crate::endpoints::{self, Factory};
use crate::error::{
    EnableError, EndpointError, ParticipantError, PollError, ServeLogError, TopicError,
};
use crate::group_listener::{DomainParticipantListener, listeners_of_all};
use crate::lifeline::Lifeline;
use crate::network::RefusedInterface;
use crate::outgoing;
use crate::publisher::{Publisher, PublisherQos};
use crate::qos::{DataReaderQos, DataWriterQos};
use crate::shm::SharedMemory;
use crate::status::StatusMask;
use crate::subscriber::{Subscriber, SubscriberQos};
use crate::topic::Topic;
use crate::type_support::TopicSupport;
use crate::view::DiscoveryView;
use crate::writer::ServedLog;
use crate::{DataReader, DataWriter};

/// An application's membership in a domain; everything else is made from it. Clones are the same
/// participant. It leaves the domain when the last of them and of its writers and readers is gone.
#[derive(Clone)]
pub struct DomainParticipant {
    lifeline: Arc<Lifeline>,
}

/// Who does the work of a participant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driving {
    /// Three threads of its own: one for discovery and acknowledgements, one for data and its listeners, and one for what
    /// happens beside the data (multicast, deadlines, matches). With shared memory, and with TCP, one more for data by that,
    /// and its listeners; that of TCP replaces the one for data without UDP.
    ///
    /// A thread of the application that waits for acknowledgements, in a write for room, for a writer's matches or for what
    /// discovery finds takes the part of the first one meanwhile, with its own priority and on its own cores: where it does not
    /// get the processor, heartbeats, repairs and signs of life of this participant wait for it.
    #[default]
    Threaded,
    /// The application, by [`DomainParticipant::poll`]. No thread is started, but for the disk
    /// where logs go there [after an interval](crate::store::SyncPolicy::Interval).
    Polled,
    /// Two threads of its own: one for discovery and acknowledgements, as above, and one for data and its listeners, on
    /// whatever way it comes, and what happens beside it. The latter leaves that to a thread of the application while one
    /// waits in [`DomainParticipant::wait_for_samples`]: what comes is there without a change of threads (Leader/Followers).
    /// It goes on 4 to 8 ms after nobody waits any more.
    Cooperative,
}

impl DomainParticipant {
    /// Joins a domain on this machine's loopback interface, driven by threads of its own.
    ///
    /// # Errors
    /// When the domain is above 232, which takes a rendezvous, or the machine has no sockets or threads to give.
    pub fn new(domain: u32) -> Result<Self, ParticipantError> {
        Self::builder(domain).build()
    }

    /// Joins a domain with other than the default settings.
    pub fn builder(domain: u32) -> DomainParticipantBuilder {
        DomainParticipantBuilder::new(domain)
    }

    /// Has the participant take part in its domain, where it was [built](DomainParticipantBuilder) not
    /// to, and with it what it has made unless its ENTITY_FACTORY says otherwise (DDS 1.4
    /// §2.2.2.1.1.7). Until then it sends and receives nothing; publishers, subscribers, topics, writers
    /// and readers can be made and their QoS and listeners changed, but nothing can be written. Nothing
    /// changes if it is enabled already.
    ///
    /// # Errors
    /// When the machine has no threads to give, or a writer or reader cannot be announced; then the
    /// others are enabled all the same.
    pub fn enable(&self) -> Result<(), EnableError> {
        self.lifeline.start().map_err(EnableError::Thread)?;
        self.core().enabling.enable()
    }

    /// Changes ENTITY_FACTORY, for what is made from here on; see
    /// [`DomainParticipantBuilder::autoenable_created_entities`].
    pub fn set_autoenable_created_entities(&self, autoenable: bool) {
        self.core().enabling.set_autoenables(autoenable);
    }

    /// A topic whose type is known at compile time. The same name and type make the same topic.
    ///
    /// # Errors
    /// When the name is impossible or has another type.
    pub fn topic<T: TopicSupport<Type = ()>>(&self, name: &str) -> Result<Topic<T>, TopicError> {
        self.topic_of(name, ())
    }

    /// A topic whose type is a value, as for [`Serialized`](crate::Serialized) samples.
    ///
    /// # Errors
    /// When the name is impossible or has another type.
    pub fn topic_of<T: TopicSupport>(
        &self,
        name: &str,
        ty: T::Type,
    ) -> Result<Topic<T>, TopicError> {
        let core = Arc::downgrade(self.core());
        self.core().topics.topic(core, name, ty)
    }

    /// A publisher, which gives its writers what they have in common.
    pub fn publisher(&self, qos: PublisherQos) -> Publisher {
        Publisher::new(Arc::clone(&self.lifeline), qos)
    }

    /// A subscriber, which gives its readers what they have in common.
    pub fn subscriber(&self, qos: SubscriberQos) -> Subscriber {
        Subscriber::new(Arc::clone(&self.lifeline), qos)
    }

    /// A writer with the default QoS: reliable, and the last sample of each instance is kept.
    ///
    /// # Errors
    /// See [`writer_with`](Self::writer_with).
    pub fn writer<T: TopicSupport>(
        &self,
        topic: &Topic<T>,
    ) -> Result<DataWriter<T>, EndpointError> {
        self.writer_with(topic, DataWriterQos::default())
    }

    /// A writer of the default publisher.
    ///
    /// # Errors
    /// When two policies contradict each other, one is not implemented, or the QoS is too long to
    /// announce.
    pub fn writer_with<T: TopicSupport>(
        &self,
        topic: &Topic<T>,
        qos: DataWriterQos,
    ) -> Result<DataWriter<T>, EndpointError> {
        endpoints::writer(&self.lifeline, topic, &qos, Factory::Participant)
    }

    /// A reader with the default QoS: best effort, and the last sample of each instance is kept.
    ///
    /// # Errors
    /// See [`reader_with`](Self::reader_with).
    pub fn reader<T: TopicSupport>(
        &self,
        topic: &impl TopicDescription<T>,
    ) -> Result<DataReader<T>, EndpointError> {
        self.reader_with(topic, DataReaderQos::default())
    }

    /// A reader of the default subscriber.
    ///
    /// # Errors
    /// When two policies contradict each other, one is not implemented, or the QoS is too long to
    /// announce.
    pub fn reader_with<T: TopicSupport>(
        &self,
        topic: &impl TopicDescription<T>,
        qos: DataReaderQos,
    ) -> Result<DataReader<T>, EndpointError> {
        endpoints::reader(&self.lifeline, topic, &qos, Factory::Participant)
    }

    /// Does what is to be done: waits up to `timeout` for datagrams or a deadline, takes one batch
    /// from each socket, and calls listeners. For [`Driving::Polled`].
    ///
    /// Within a listener it does nothing for readers, lest they call the listener again.
    ///
    /// # Errors
    /// When the participant has threads of its own or is not enabled, or the system cannot wait.
    pub fn poll(&self, timeout: Duration) -> Result<(), PollError> {
        let polled = self.core().polled.as_ref().ok_or(PollError::Threaded)?;
        if !self.core().enabling.is_enabled() {
            return Err(PollError::NotEnabled);
        }
        outgoing::flush();
        polled.poll(self.core(), timeout)
    }

    /// Waits until `ready` finds what it looks for in the participant's readers, for `timeout` at most, and returns that;
    /// `None` at once after [`end_waits`](Self::end_waits). `ready` is asked before, and again when anything has come to a
    /// reader or has changed at it, on whatever thread: samples, instances without writers, statuses, and what built-in
    /// topics tell. It may be asked in vain, and is to be quick.
    ///
    /// Where the application [drives](Driving::Polled) the participant this does so, and calls listeners; with
    /// [`Driving::Cooperative`], too, one thread at a time: others wait for the end of its turn, or for what it delivers to
    /// them. In a listener there it does not wait, but asks `ready` once.
    pub fn wait_for_samples<R>(
        &self,
        timeout: Duration,
        ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let core = self.core();
        let ready = core.ended.or(ready);
        let found = match &core.data_turns {
            Some(turns) if core.enabling.is_enabled() => {
                outgoing::flush();
                turns.wait(core, timeout, ready)
            }
            _ => core.wait(timeout, ready),
        };
        found.flatten()
    }

    /// Has all return at once who wait in [`poll`](Self::poll), for samples, or for something that
    /// [discovery](Self::discovery) finds, as if their time were over, and whoever comes later: for a thread that is about
    /// to let go of it, while others wait.
    pub fn end_waits(&self) {
        let core = self.core();
        core.ended.set();
        core.raise();
        if let Some(polled) = &core.polled {
            polled.interrupt();
        }
        if let Some(turns) = &core.data_turns {
            turns.raise();
        }
    }

    /// The built-in topics: what others have in the domain, as samples whose changes readers, listeners
    /// and wait sets tell of.
    pub fn builtin_subscriber(&self) -> BuiltinSubscriber {
        BuiltinSubscriber::new(&self.lifeline)
    }

    /// What discovery knows at this moment, for tools: also addresses, types, our own endpoints, and why
    /// endpoints do not match.
    pub fn discovery(&self) -> DiscoveryView<'_> {
        DiscoveryView::new(self.core())
    }

    /// Publishes the log of a TRANSIENT or PERSISTENT writer that has ended, as a durability service (DDS
    /// 1.4 §2.2.3.4): readers that ask for history are given each sample of it once, with its timestamp and
    /// in its writer's name. [`Store::logs`](crate::store::Store::logs) finds logs. What the log keeps is in
    /// memory until the result is dropped.
    ///
    /// It offers what the writer offered, but for two policies: with a finite lease LIVELINESS is AUTOMATIC,
    /// and OWNERSHIP_STRENGTH the least. A reader with a DEADLINE is told that nothing comes.
    ///
    /// # Errors
    /// When a writer or another service has the log, it is damaged, or it is of another domain.
    pub fn serve_log(&self, directory: &Path) -> Result<ServedLog, ServeLogError> {
        ServedLog::new(&self.lifeline, directory)
    }

    /// Says that all writers of this participant live whose LIVELINESS is MANUAL_BY_PARTICIPANT.
    pub fn assert_liveliness(&self) {
        self.core().assert_liveliness();
    }

    /// Has the listener told of what happens to topics, writers and readers of this participant,
    /// where neither these nor their publishers and subscribers have a listener for it (DDS 1.4
    /// §2.2.4.2.3.1).
    pub fn set_listener(&self, listener: impl DomainParticipantListener) {
        self.set_listener_for(StatusMask::ALL, listener);
    }

    /// The same for the statuses in `mask` alone.
    pub fn set_listener_for(&self, mask: StatusMask, listener: impl DomainParticipantListener) {
        let core = Arc::downgrade(self.core());
        self.core()
            .listener
            .set(mask, listeners_of_all(core, listener));
    }

    /// Has nobody told any more, and waits until a call of the listener on another thread has
    /// returned. Not to be called with a lock held that the listener takes.
    pub fn remove_listener(&self) {
        self.core().listener.remove();
    }

    /// What has passed through the participant's sockets.
    pub fn counters(&self) -> ParticipantCounters {
        let counters = &self.core().counters;
        let network = &self.core().network;
        ParticipantCounters {
            datagrams_received: counters.datagrams_received.count(),
            bytes_received: counters.bytes_received.count(),
            datagrams_sent: counters.datagrams_sent.count(),
            bytes_sent: counters.bytes_sent.count(),
            malformed: counters.malformed.count(),
            unknown_submessages: counters.unknown_submessages.count(),
            unrouted: counters.unrouted.count(),
            unreachable: counters.unreachable.count(),
            receive_errors: counters.receive_errors.count(),
            send_errors: counters.send_errors.count(),
            listener_panics: counters.listener_panics.count(),
            interface_changes: counters.interface_changes.count(),
            interface_errors: counters.interface_errors.count(),
            store_errors: counters.store_errors.count(),
            receive_buffer_bytes: network
                .user
                .as_ref()
                .map_or(0, UdpSocket::receive_buffer_bytes),
            tcp: network.tcp.as_ref().map(TcpNet::counts).unwrap_or_default(),
            shared_memory: self
                .core()
                .shm
                .as_ref()
                .map(SharedMemory::counts)
                .unwrap_or_default(),
        }
    }

    /// The interfaces that it was told to use, and on which it could not join groups or use multicast
    /// when it last looked: at its start, or when links changed. One for each reason.
    pub fn refused_interfaces(&self) -> Arc<[RefusedInterface]> {
        self.core().network.refused()
    }

    /// The domain.
    pub fn domain(&self) -> u32 {
        self.core().domain
    }

    /// The participant's name on the network.
    pub fn guid(&self) -> Guid {
        Guid::new(self.core().prefix, EntityId::PARTICIPANT)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.lifeline.core
    }
}

/// What has passed through a participant's sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParticipantCounters {
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Bytes of those.
    pub bytes_received: u64,
    /// Datagrams sent, one for each destination.
    pub datagrams_sent: u64,
    /// Bytes of those.
    pub bytes_sent: u64,
    /// Datagrams that are not RTPS, or whose remainder is malformed.
    pub malformed: u64,
    /// Submessages of kinds that nobody here knows.
    pub unknown_submessages: u64,
    /// Submessages for endpoints that do not exist here, or that are not matched.
    pub unrouted: u64,
    /// Matches with endpoints that announce no address that this participant's interfaces reach.
    pub unreachable: u64,
    /// Failed attempts to receive.
    pub receive_errors: u64,
    /// Batches of datagrams of which some could not be sent.
    pub send_errors: u64,
    /// Calls of listeners that ended in a panic, and of [memory that was handed over](crate::HandedMemory), as it was asked for
    /// its bytes or dropped.
    pub listener_panics: u64,
    /// Changes of interfaces or addresses that the participant has followed.
    pub interface_changes: u64,
    /// Changes that it could not follow, or not with [all interfaces](DomainParticipant::refused_interfaces),
    /// its start included. With the next change it tries again, which counts if it makes a difference.
    pub interface_errors: u64,
    /// Logs of TRANSIENT and PERSISTENT writers of which not all may be on the disk, which no write could
    /// tell any more, as the writer has ended.
    pub store_errors: u64,
    /// Room for datagrams that the kernel granted the socket for user data, in bytes; 0 without UDP.
    pub receive_buffer_bytes: usize,
    /// Its connections, if it uses TCP. Messages by TCP are among the datagrams, too.
    pub tcp: TcpCounts,
    /// What has passed through shared memory, which counts nowhere else.
    pub shared_memory: SharedMemoryCounters,
}

/// What has passed through a participant's shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedMemoryCounters {
    /// Datagrams written to logs, once for all that follow one.
    pub records_sent: u64,
    /// Bytes of those.
    pub bytes_sent: u64,
    /// Datagrams that no memory was left for. Reliable readers have them repaired.
    pub records_unsent: u64,
    /// Logs of this participant's writers that somebody follows now.
    pub logs: u64,
    /// The memory of those, in bytes, without a page for each and one for readers.
    pub log_bytes: u64,
    /// Of those the ones that have less memory than they wanted, since the machine had none, or the process may have
    /// no more: readers that lag are overrun sooner.
    pub short_logs: u64,
    /// Datagrams read from logs.
    pub records_received: u64,
    /// Bytes of those.
    pub bytes_received: u64,
    /// Datagrams that were overwritten before they were read. Reliable readers have them repaired.
    pub records_lost: u64,
    /// Logs that were left since something else than records was in them.
    pub malformed: u64,
    /// Logs that could not be followed, here or by others; [`Pair::way`](crate::Pair::way) says why.
    pub refused: u64,
    /// Of the datagrams written to logs, those of which only was told where they lie, in [loans](crate::loan).
    pub loans_sent: u64,
    /// Bytes of those.
    pub loan_bytes_sent: u64,
    /// Of the datagrams read from logs, those that lay in loans. One whose memory was lent anew before it was read is
    /// among those lost.
    pub loans_received: u64,
    /// Of those, copied before they were delivered, as this participant does not
    /// [trust](crate::DomainParticipantBuilder::trusts_lenders) their writers or holds too many.
    pub loans_copied: u64,
}

impl From<Lifeline> for DomainParticipant {
    fn from(lifeline: Lifeline) -> Self {
        Self {
            lifeline: Arc::new(lifeline),
        }
    }
}

impl fmt::Debug for DomainParticipant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DomainParticipant")
            .field("domain", &self.domain())
            .field("guid", &self.guid())
            .finish()
    }
}
