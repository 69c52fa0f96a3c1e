//! The participant: an application's membership in a domain.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tickwire_base::Locator;
use tickwire_rtps::discovery::{Discovery, DiscoveryConfig, ParticipantData};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, VendorId};
use tickwire_transport::{Interface, Waker, clock};

use crate::core::{Core, CoreParts};
use crate::endpoints;
use crate::error::{EndpointError, ParticipantError, PollError, TopicError};
use crate::lane::{Lane, LaneKind};
use crate::lifeline::Lifeline;
use crate::network::{Network, NetworkOptions, Ports};
use crate::polled::Polled;
use crate::publisher::{Publisher, PublisherQos};
use crate::qos::{DataReaderQos, DataWriterQos};
use crate::subscriber::{Subscriber, SubscriberQos};
use crate::timer::Timer;
use crate::topic::Topic;
use crate::type_support::TopicSupport;
use crate::view::DiscoveryView;
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
    /// Two threads of its own: one for discovery and acknowledgements, one for data and listeners.
    #[default]
    Threaded,
    /// The application, by [`DomainParticipant::poll`]. No thread is started.
    Polled,
}

/// How a participant is to be; see [`DomainParticipant::builder`].
#[derive(Clone, Debug)]
pub struct DomainParticipantBuilder {
    domain: u32,
    name: String,
    interface: String,
    peers: Vec<IpOrSocketAddr>,
    driving: Driving,
    busy_poll: Duration,
    announces_types: bool,
    multicast: bool,
    multicast_ttl: u8,
    lease_duration: Duration,
    receive_buffer_bytes: usize,
    user_data: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum IpOrSocketAddr {
    Ip(IpAddr),
    Socket(SocketAddr),
}

impl DomainParticipant {
    /// Joins a domain on this machine's loopback interface, driven by threads of its own.
    ///
    /// # Errors
    /// When the domain is above 232, or the machine has no sockets or threads to give.
    pub fn new(domain: u32) -> Result<Self, ParticipantError> {
        Self::builder(domain).build()
    }

    /// Joins a domain with other than the default settings.
    pub fn builder(domain: u32) -> DomainParticipantBuilder {
        DomainParticipantBuilder {
            domain,
            name: String::new(),
            interface: "lo".to_owned(),
            peers: Vec::new(),
            driving: Driving::default(),
            busy_poll: Duration::ZERO,
            announces_types: true,
            multicast: true,
            multicast_ttl: 0,
            lease_duration: Duration::from_secs(20),
            receive_buffer_bytes: 4 << 20,
            user_data: Vec::new(),
        }
    }

    /// A topic whose type is known at compile time. The same name and type make the same topic.
    ///
    /// # Errors
    /// When the name is impossible or has another type.
    pub fn topic<T: TopicSupport<Type = ()>>(&self, name: &str) -> Result<Topic<T>, TopicError> {
        self.core().topics.topic(name, ())
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
        self.core().topics.topic(name, ty)
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
    /// When two policies contradict each other, or the QoS is too long to announce.
    pub fn writer_with<T: TopicSupport>(
        &self,
        topic: &Topic<T>,
        qos: DataWriterQos,
    ) -> Result<DataWriter<T>, EndpointError> {
        endpoints::writer(&self.lifeline, topic, &qos)
    }

    /// A reader with the default QoS: best effort, and the last sample of each instance is kept.
    ///
    /// # Errors
    /// See [`reader_with`](Self::reader_with).
    pub fn reader<T: TopicSupport>(
        &self,
        topic: &Topic<T>,
    ) -> Result<DataReader<T>, EndpointError> {
        self.reader_with(topic, DataReaderQos::default())
    }

    /// A reader of the default subscriber.
    ///
    /// # Errors
    /// When two policies contradict each other, or the QoS is too long to announce.
    pub fn reader_with<T: TopicSupport>(
        &self,
        topic: &Topic<T>,
        qos: DataReaderQos,
    ) -> Result<DataReader<T>, EndpointError> {
        endpoints::reader(&self.lifeline, topic, &qos)
    }

    /// Does what is to be done: waits up to `timeout` for datagrams or a deadline, takes one batch
    /// from each socket, and calls listeners. For [`Driving::Polled`].
    ///
    /// Within a listener it does nothing for readers, lest they call the listener again.
    ///
    /// # Errors
    /// When the participant has threads of its own, or the system cannot wait.
    pub fn poll(&self, timeout: Duration) -> Result<(), PollError> {
        let polled = self.core().polled.as_ref().ok_or(PollError::Threaded)?;
        polled.turn(self.core(), clock::now() + timeout)?;
        Ok(())
    }

    /// What discovery has found, and why endpoints do not match.
    pub fn discovery(&self) -> DiscoveryView<'_> {
        DiscoveryView::new(self.core())
    }

    /// Says that all writers of this participant live whose LIVELINESS is MANUAL_BY_PARTICIPANT.
    pub fn assert_liveliness(&self) {
        self.core().with_discovery(|discovery, outbox| {
            discovery.assert_liveliness(clock::now(), outbox);
        });
    }

    /// What has passed through the participant's sockets.
    pub fn counters(&self) -> ParticipantCounters {
        let counters = &self.core().counters;
        let network = &self.core().network;
        ParticipantCounters {
            datagrams_received: counters.datagrams_received.count(),
            bytes_received: counters.bytes_received.count(),
            malformed: counters.malformed.count(),
            unknown_submessages: counters.unknown_submessages.count(),
            unrouted: counters.unrouted.count(),
            unreachable: counters.unreachable.count(),
            receive_errors: counters.receive_errors.count(),
            send_errors: counters.send_errors.count(),
            receive_buffer_bytes: network.user.receive_buffer_bytes(),
        }
    }

    /// The domain.
    pub fn domain(&self) -> u32 {
        self.core().domain
    }

    /// The participant's name on the network.
    pub fn guid(&self) -> Guid {
        Guid::new(self.core().prefix, EntityId::PARTICIPANT)
    }

    fn core(&self) -> &Arc<Core> {
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
    /// Datagrams that are not RTPS, or whose remainder is malformed.
    pub malformed: u64,
    /// Submessages of kinds that nobody here knows.
    pub unknown_submessages: u64,
    /// Submessages for endpoints that do not exist here, or that are not matched.
    pub unrouted: u64,
    /// Matches with endpoints that announce no address that this participant's interface reaches.
    pub unreachable: u64,
    /// Failed attempts to receive.
    pub receive_errors: u64,
    /// Batches of datagrams of which some could not be sent.
    pub send_errors: u64,
    /// Room for datagrams that the kernel granted the socket for user data, in bytes.
    pub receive_buffer_bytes: usize,
}

impl DomainParticipantBuilder {
    /// What others see the participant called. Default none.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The interface to use, by its name or its address. Default loopback.
    pub fn interface(mut self, name_or_address: &str) -> Self {
        name_or_address.clone_into(&mut self.interface);
        self
    }

    /// A machine to announce the participant to, besides the multicast group: at the ports of the
    /// ten participants that came first there.
    pub fn peer(mut self, address: IpAddr) -> Self {
        self.peers.push(IpOrSocketAddr::Ip(address));
        self
    }

    /// A discovery port to announce the participant to, besides the multicast group.
    pub fn peer_at(mut self, address: SocketAddr) -> Self {
        self.peers.push(IpOrSocketAddr::Socket(address));
        self
    }

    /// Who does the work. Default threads of its own.
    pub fn driving(mut self, driving: Driving) -> Self {
        self.driving = driving;
        self
    }

    /// How long to look for datagrams again and again before the thread sleeps: lower latency for
    /// busy processors, one for each of the two threads. Default not at all.
    pub fn busy_poll(mut self, duration: Duration) -> Self {
        self.busy_poll = duration;
        self
    }

    /// Whether to tell others what the types look like, not only what they are called. Default yes:
    /// peers can check them, and tools can show samples of types that they have never seen.
    pub fn announce_types(mut self, announce: bool) -> Self {
        self.announces_types = announce;
        self
    }

    /// Whether to use multicast. Without it, participants find each other by their peers alone.
    /// Default yes.
    pub fn multicast(mut self, multicast: bool) -> Self {
        self.multicast = multicast;
        self
    }

    /// How many routers multicast may pass, plus one. Default 0: it stays on this machine when sent
    /// by loopback, and on the interface's network otherwise.
    pub fn multicast_ttl(mut self, ttl: u8) -> Self {
        self.multicast_ttl = ttl;
        self
    }

    /// How long the participant counts as present after its last announcement. Default 20 s.
    pub fn lease_duration(mut self, duration: Duration) -> Self {
        self.lease_duration = duration;
        self
    }

    /// Room to ask of the kernel for datagrams that wait, in bytes per socket. Default 4 MiB; what
    /// was granted is in [`ParticipantCounters`].
    pub fn receive_buffer_bytes(mut self, bytes: usize) -> Self {
        self.receive_buffer_bytes = bytes;
        self
    }

    /// USER_DATA: octets that discovery carries along.
    pub fn user_data(mut self, octets: impl Into<Vec<u8>>) -> Self {
        self.user_data = octets.into();
        self
    }

    /// Joins the domain.
    ///
    /// # Errors
    /// When the domain is above 232, the interface does not exist, or the machine has no sockets or
    /// threads to give.
    pub fn build(self) -> Result<DomainParticipant, ParticipantError> {
        let domain = self.domain;
        let ports = Ports::of(domain).ok_or(ParticipantError::Domain { domain })?;
        let interface = match self.interface.as_str() {
            "lo" => Interface::loopback(),
            other => Interface::find(other),
        };
        let interface = interface.map_err(ParticipantError::Interface)?;
        let network = Network::open(&NetworkOptions {
            domain,
            multicast_ttl: match interface.is_loopback {
                true => 0,
                false => self.multicast_ttl.max(1),
            },
            interface,
            multicast: self.multicast,
            receive_buffer_bytes: self.receive_buffer_bytes,
        })?;
        let config = self.discovery_config(&network, ports);
        let discovery = Discovery::new(config).map_err(ParticipantError::Announcement)?;
        let waker = || Waker::new().map_err(ParticipantError::Wait);
        let control = waker()?;
        let (data, polled) = match self.driving {
            Driving::Threaded => (waker()?, None),
            Driving::Polled => (control.clone(), Some(Polled::new(control.clone()))),
        };
        let core = Arc::new(Core::new(CoreParts {
            domain,
            network,
            discovery,
            busy_poll: self.busy_poll,
            announces_types: self.announces_types,
            control: Timer::new(control),
            data: Timer::new(data),
            polled,
        }));
        start(core, self.driving)
    }

    fn discovery_config(&self, network: &Network, ports: Ports) -> DiscoveryConfig {
        let peers = self.peers.iter().flat_map(|peer| match *peer {
            IpOrSocketAddr::Ip(IpAddr::V4(address)) => ports.well_known(address).collect(),
            IpOrSocketAddr::Ip(IpAddr::V6(_)) => Vec::new(),
            IpOrSocketAddr::Socket(address) => vec![Locator::udp(address)],
        });
        let peers: Vec<_> = peers.collect();
        let participant = ParticipantData {
            domain_id: Some(self.domain),
            metatraffic_unicast: vec![network.metatraffic_unicast()],
            metatraffic_multicast: network.discovery_group().into_iter().collect(),
            default_unicast: vec![network.user_unicast()],
            default_multicast: network.user_group().into_iter().collect(),
            lease_duration: self.lease_duration,
            entity_name: self.name.clone(),
            user_data: self.user_data.clone(),
            ..ParticipantData::new(new_prefix())
        };
        DiscoveryConfig {
            announce_to: network.announced_to(&peers),
            networks: network.interface.ipv4_networks.clone(),
            ..DiscoveryConfig::new(participant)
        }
    }
}

/// Starts the threads, if any, and announces the participant.
fn start(core: Arc<Core>, driving: Driving) -> Result<DomainParticipant, ParticipantError> {
    let mut lifeline = Lifeline::new(Arc::clone(&core));
    if driving == Driving::Threaded {
        for (kind, name) in [
            (LaneKind::Control, "tickwire-ctl"),
            (LaneKind::Data, "tickwire-data"),
        ] {
            let core = Arc::clone(&core);
            let run = move || Lane::new(kind).run(&core, core.busy_poll);
            let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
            lifeline.adopt(thread.map_err(ParticipantError::Thread)?);
        }
    }
    Ok(DomainParticipant {
        lifeline: Arc::new(lifeline),
    })
}

/// A name that no other participant has: our vendor id and ten random bytes.
fn new_prefix() -> GuidPrefix {
    use std::hash::{BuildHasher, RandomState};
    let VendorId([a, b]) = VendorId::TICKWIRE;
    let seed = clock::timestamp().as_nanos();
    let one = RandomState::new().hash_one((seed, std::process::id()));
    let two = RandomState::new().hash_one(seed);
    let mut prefix = [a, b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let random = one.to_ne_bytes().into_iter().chain(two.to_ne_bytes());
    for (byte, random) in prefix.iter_mut().skip(2).zip(random) {
        *byte = random;
    }
    GuidPrefix(prefix)
}

impl fmt::Debug for DomainParticipant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DomainParticipant")
            .field("domain", &self.domain())
            .field("guid", &self.guid())
            .finish()
    }
}
