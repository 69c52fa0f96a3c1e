//! How a participant comes to be.

use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use tickwire_base::Locator;
use tickwire_rtps::discovery::{Discovery, DiscoveryConfig, ParticipantData};
use tickwire_rtps::wire::{GuidPrefix, VendorId};
use tickwire_store::{StoreOptions, StoreVariable};
use tickwire_transport::{ReceiveTimestamps, Waker, clock};

use super::peer::Peer;
use super::thread_cores::ThreadCores;
use super::transports::{TcpListen, Transport, Transports};
use super::{DomainParticipant, Driving, ParticipantLimits};
use crate::core::{Core, CoreParts};
use crate::error::{EnableError, ParticipantError};
use crate::lane::LaneKind;
use crate::lifeline::Lifeline;
use crate::network::{Network, NetworkOptions};
use crate::polled::Polled;
use crate::ports::Ports;
use crate::rendezvous::Reference;
use crate::shm::{Obstacle, SharedMemory};
use crate::timer::Timer;
use crate::turns::Turns;

/// How a participant is to be; see [`DomainParticipant::builder`].
#[derive(Clone, Debug)]
pub struct DomainParticipantBuilder {
    domain: u32,
    domain_tag: String,
    name: String,
    interface: String,
    peers: Vec<Peer>,
    rendezvous: Vec<String>,
    driving: Driving,
    busy_poll: Duration,
    socket_busy_poll: Option<Duration>,
    receive_timestamps: ReceiveTimestamps,
    latency_histograms: bool,
    thread_cores: ThreadCores,
    announces_types: bool,
    announces_process: bool,
    transports: Option<Transports>,
    tcp_listen: TcpListen,
    shared_memory: bool,
    trusts_lenders: bool,
    multicast: bool,
    multicast_ttl: u8,
    lease_duration: Duration,
    announce_period: Option<Duration>,
    max_fragment_bytes: usize,
    receive_buffer_bytes: usize,
    user_data: Vec<u8>,
    store: Option<Option<StoreOptions>>,
    limits: ParticipantLimits,
    enabled: bool,
    autoenable_created_entities: bool,
}

impl DomainParticipantBuilder {
    pub(crate) fn new(domain: u32) -> Self {
        Self {
            domain,
            domain_tag: String::new(),
            name: String::new(),
            interface: "lo".to_owned(),
            peers: Vec::new(),
            rendezvous: Vec::new(),
            driving: Driving::default(),
            busy_poll: Duration::ZERO,
            socket_busy_poll: None,
            receive_timestamps: ReceiveTimestamps::Off,
            latency_histograms: false,
            thread_cores: ThreadCores::default(),
            announces_types: true,
            announces_process: true,
            transports: None,
            tcp_listen: TcpListen::Auto,
            shared_memory: true,
            trusts_lenders: false,
            multicast: true,
            multicast_ttl: 0,
            lease_duration: Duration::from_secs(20),
            announce_period: None,
            // Longer than any datagram.
            max_fragment_bytes: 64 << 10,
            receive_buffer_bytes: 4 << 20,
            user_data: Vec::new(),
            store: None,
            limits: ParticipantLimits::default(),
            enabled: true,
            autoenable_created_entities: true,
        }
    }

    /// Sets the participant apart from others in the same domain (RTPS 2.5 §9.6.3.2): only those
    /// with the same tag hear each other. Default "".
    pub fn domain_tag(mut self, tag: &str) -> Self {
        tag.clone_into(&mut self.domain_tag);
        self
    }

    /// What others see the participant called. Default none.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The interfaces to use: names, addresses or subnets (`10.1.0.0/16`), separated by commas, or
    /// `auto` for all that carry traffic. Default loopback, and then nothing leaves this machine.
    ///
    /// The participant is announced on each with the addresses of all; others are reached at one
    /// address, on a network that both are on if there is one. When interfaces or addresses
    /// change, the participant follows and announces itself anew, within milliseconds.
    pub fn interface(mut self, interfaces: &str) -> Self {
        interfaces.clone_into(&mut self.interface);
        self
    }

    /// A machine to announce the participant to, besides the multicast group: at the ports of the
    /// ten participants that came first there. Domains above 232 have none.
    pub fn peer(mut self, address: Ipv4Addr) -> Self {
        self.peers.push(Peer::Machine(address));
        self
    }

    /// A discovery port to announce the participant to, besides the multicast group.
    pub fn peer_at(mut self, address: SocketAddrV4) -> Self {
        self.peers.push(Peer::Port(address));
        self
    }

    /// The same by the name of a machine: `HOST`, or `HOST:PORT` for a discovery port. It is looked up
    /// when the participant is built, which may take as long as the system's resolver has patience; its
    /// first IPv4 address counts. With `tcp/` before it, it is connected to by TCP, and so is one without
    /// where there is no UDP: at its port, again and again, or without one at the ports that the first
    /// ten participants of the domain take there.
    pub fn peer_named(mut self, name: &str) -> Self {
        self.peers.push(Peer::Named(name.to_owned()));
        self
    }

    /// A rendezvous at which participants of the domain find each other, as [`Reference`] says it:
    /// `HOST:PORT` or a file. May be called for several. With one, the participant uses no multicast and
    /// takes any free ports, so that every domain of 32 bits is possible. Others that were given the same
    /// one are found, whatever their implementation; then the rendezvous is not needed any more.
    pub fn rendezvous(mut self, reference: &str) -> Self {
        self.rendezvous.push(reference.to_owned());
        self
    }

    /// Who does the work. Default threads of its own.
    pub fn driving(mut self, driving: Driving) -> Self {
        self.driving = driving;
        self
    }

    /// How long to look for datagrams again and again before the thread sleeps: lower latency for
    /// busy processors, one for discovery and acknowledgements and one for data. Default not at all.
    pub fn busy_poll(mut self, duration: Duration) -> Self {
        self.busy_poll = duration;
        self
    }

    /// How long the kernel looks into the queue of the network interface before a thread that waits for
    /// a UDP socket sleeps (SO_BUSY_POLL), in whole microseconds: datagrams come without an interrupt, at
    /// the price of a busy processor. Default as `net.core.busy_read` says, to exceed which takes
    /// CAP_NET_ADMIN: where the kernel refuses, the participant is not built. Drivers need NAPI for it, so
    /// that on loopback nothing changes. The control and aside threads wait for several sockets together,
    /// for which `net.core.busy_poll` must not be 0 either.
    pub fn socket_busy_poll(mut self, duration: Duration) -> Self {
        self.socket_busy_poll = Some(duration);
        self
    }

    /// Whether the kernel notes when datagrams come by UDP, which is then in
    /// [`SampleInfo`](crate::SampleInfo::kernel_timestamp): what is late there was late on its way here.
    /// Default off: it costs about 0.1 µs a datagram, though no system call.
    pub fn receive_timestamps(mut self, timestamps: ReceiveTimestamps) -> Self {
        self.receive_timestamps = timestamps;
        self
    }

    /// Whether each reader counts how long its samples take from hop to hop, for
    /// [`DataReader::latency`](crate::DataReader::latency). Default no; costs 136 KiB a reader.
    pub fn latency_histograms(mut self, count: bool) -> Self {
        self.latency_histograms = count;
        self
    }

    /// On which cores the participant's threads run: `"0-1 data=2".parse()?` has the one that delivers samples
    /// for itself. Default wherever the kernel likes. The application's own threads, which drive a
    /// [polled](Driving::Polled) participant, stay where they are.
    pub fn thread_cores(mut self, cores: ThreadCores) -> Self {
        self.thread_cores = cores;
        self
    }

    /// Whether to tell others what the types look like, not only what they are called. Default yes:
    /// peers can check them, and tools can show samples of types that they have never seen.
    pub fn announce_types(mut self, announce: bool) -> Self {
        self.announces_types = announce;
        self
    }

    /// Whether to tell everybody in the domain the name of the host, the process id and the path of
    /// the program (the properties `dds.sys_info.*`). Default yes: tools say who is who by them.
    pub fn announce_process(mut self, announce: bool) -> Self {
        self.announces_process = announce;
        self
    }

    /// By what datagrams go. Default what the environment's TICKWIRE_TRANSPORT says, as names with commas
    /// between them, else UDP with multicast, and shared memory.
    ///
    /// Endpoints of two participants that have both are matched by UDP where its addresses are known to
    /// lead to each other, and by TCP else. [Shared memory](Self::shared_memory) carries their samples wherever
    /// both can have it.
    pub fn transports(mut self, transports: impl IntoIterator<Item = Transport>) -> Self {
        self.transports = Some(Transports::of(transports));
        self
    }

    /// Where others connect to the participant, if it uses TCP. Default [`TcpListen::Auto`].
    pub fn tcp_listen(mut self, listen: TcpListen) -> Self {
        self.tcp_listen = listen;
        self
    }

    /// Whether samples go by shared memory to and from other participants of this machine and user that
    /// are willing, too, if the [transports](Self::transports) have it. Default yes.
    ///
    /// Costs six descriptors, a thread, and for each writer that is followed a log of four times its
    /// [`max_unacknowledged_bytes`](crate::DataWriterQos::max_unacknowledged_bytes) (4 MiB by default).
    pub fn shared_memory(mut self, shared_memory: bool) -> Self {
        self.shared_memory = shared_memory;
        self
    }

    /// Whether samples in [loans](crate::loan) are read where their writers wrote them, instead of being copied first:
    /// into a [`BytesInPlace`](crate::BytesInPlace) without any copy. Default no.
    ///
    /// The kernel vouches that a writer is a process of the same user, and for nothing else: it can write to what
    /// it lends at any time. One that does so while we read has undefined behaviour here, as if it wrote to our
    /// memory by a debugger. Processes that use this crate do not, whenever they are killed or stopped. So say
    /// yes where all processes of that user are trusted which use the domain.
    pub fn trusts_lenders(mut self, trusts_lenders: bool) -> Self {
        self.trusts_lenders = trusts_lenders;
        self
    }

    /// Whether to use multicast, if the [transports](Self::transports) have it. Without it, and with a [rendezvous](Self::rendezvous) whatever is said
    /// here, participants find each other by their peers and their rendezvous alone. Default yes.
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

    /// Time between announcements of the participant, after some quick ones at the beginning. Default a
    /// third of the [lease](Self::lease_duration), at least 1 ms; with more than the lease others miss it
    /// now and then.
    pub fn announce_period(mut self, period: Duration) -> Self {
        self.announce_period = Some(period);
        self
    }

    /// Samples that are longer are sent in fragments of so many bytes, rounded down to a multiple of 8, at least 64.
    /// Default what fits a datagram that passes all interfaces in one piece, which is also the most.
    pub fn max_fragment_bytes(mut self, bytes: usize) -> Self {
        self.max_fragment_bytes = bytes;
        self
    }

    /// Room to ask of the kernel for datagrams that wait, in bytes per socket. Default 4 MiB; what
    /// was granted is in [`ParticipantCounters`](crate::ParticipantCounters).
    pub fn receive_buffer_bytes(mut self, bytes: usize) -> Self {
        self.receive_buffer_bytes = bytes;
        self
    }

    /// USER_DATA: octets that discovery carries along.
    pub fn user_data(mut self, octets: impl Into<Vec<u8>>) -> Self {
        self.user_data = octets.into();
        self
    }

    /// Where TRANSIENT and PERSISTENT writers leave what is to outlive them; with `None` they leave
    /// nothing.
    ///
    /// Default what the environment's TICKWIRE_STORE says: `off`, or a directory for both, in
    /// `transient` and `persistent`. Without it `/dev/shm/tickwire-UID` and
    /// `$XDG_STATE_HOME/tickwire`, see [`StoreOptions::usual`].
    pub fn store(mut self, store: impl Into<Option<StoreOptions>>) -> Self {
        self.store = Some(store.into());
        self
    }

    /// Changes where what is to outlive writers goes, and when it is brought to the disk, from what
    /// [`store`](Self::store) or else the environment says. No effect where that is nowhere.
    pub fn store_options(mut self, change: impl FnOnce(&mut StoreOptions)) -> Self {
        let mut options = self.store.clone().unwrap_or_else(store_of_environment);
        let before = options.clone();
        if let Some(options) = &mut options {
            change(options);
        }
        if options != before {
            self.store = Some(options);
        }
        self
    }

    /// Changes what other participants may have this one keep and send.
    pub fn limits(mut self, change: impl FnOnce(&mut ParticipantLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Whether the participant takes part as soon as it is built (ENTITY_FACTORY of what makes
    /// participants, DDS 1.4 §2.2.3.20). Default yes; else it is silent and deaf until it is
    /// [enabled](DomainParticipant::enable).
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// ENTITY_FACTORY: whether publishers, subscribers, writers and readers of the participant take
    /// part as soon as they are made, or, where it is not enabled, together with it. Default yes; else
    /// each has to be enabled by itself.
    pub fn autoenable_created_entities(mut self, autoenable: bool) -> Self {
        self.autoenable_created_entities = autoenable;
        self
    }

    /// Joins the domain.
    ///
    /// # Errors
    /// When the domain is above 232 and there is no rendezvous, or none where the reference says, a peer's
    /// name, an interface or a core does not exist, the transports reach nobody, or the machine has no
    /// sockets or threads to give.
    pub fn build(self) -> Result<DomainParticipant, ParticipantError> {
        let domain = self.domain;
        let ports = match Ports::of(domain) {
            _ if !self.rendezvous.is_empty() => None,
            None => return Err(ParticipantError::Domain { domain }),
            ports => ports,
        };
        let transports = self.chosen_transports()?;
        let thread_cores = self.thread_cores.resolve();
        let thread_cores = thread_cores.map_err(ParticipantError::ThreadCores)?;
        let (mut peers, mut connected) = (Vec::new(), Vec::new());
        for peer in &self.peers {
            let resolved = peer.resolve(domain, transports)?;
            peers.extend(resolved.locators);
            connected.extend(resolved.connected);
        }
        peers.extend(self.resolve_rendezvous()?);
        let Ok(interfaces) = self.interface.parse();
        let prefix = new_prefix();
        let network = Network::open(&NetworkOptions {
            multicast_ttl: self.multicast_ttl,
            interfaces,
            transports,
            tcp_listen: self.tcp_listen,
            owner: prefix.0,
            ports,
            receive_buffer_bytes: self.receive_buffer_bytes,
            busy_poll: self.socket_busy_poll,
            receive_timestamps: self.receive_timestamps,
        })?;
        if let Some(tcp) = &network.tcp {
            for address in connected {
                tcp.keep_connected(clock::now(), address);
            }
        }
        let shm = match transports.contains(Transport::Shm) {
            true => SharedMemory::open(self.trusts_lenders),
            false => Err(Obstacle::Off),
        };
        let mut config = self.discovery_config(prefix, &network, &peers);
        config.participant.shared_memory = shm.as_ref().ok().map(SharedMemory::address);
        let discovery = Discovery::new(config).map_err(ParticipantError::Announcement)?;
        let waker = || Waker::new().map_err(ParticipantError::Wait);
        let control = waker()?;
        let data = match self.driving {
            Driving::Polled => control.clone(),
            Driving::Threaded | Driving::Cooperative => waker()?,
        };
        let turns = |lane, timer: &Waker| -> Result<_, ParticipantError> {
            let wakers = [waker()?, waker()?];
            Ok(Some(Turns::new(lane, timer.clone(), wakers)))
        };
        let (mut polled, mut data_turns, mut control_turns) = (None, None, None);
        match self.driving {
            Driving::Polled => polled = Some(Polled::new(data.clone(), waker()?)),
            Driving::Threaded => control_turns = turns(LaneKind::Control, &control)?,
            Driving::Cooperative => {
                control_turns = turns(LaneKind::Control, &control)?;
                data_turns = turns(LaneKind::Data, &data)?;
            }
        }
        let core = Arc::new(Core::new(CoreParts {
            domain,
            network,
            shm,
            discovery,
            busy_poll: self.busy_poll,
            thread_cores,
            latency_histograms: self.latency_histograms,
            announces_types: self.announces_types,
            max_fragment_bytes: self.max_fragment_bytes,
            store: self.store.clone().unwrap_or_else(store_of_environment),
            reader_limits: self.limits.reader.clone(),
            filter_limits: self.limits.filters.clone(),
            control: Timer::new(control),
            data: Timer::new(data),
            polled,
            data_turns,
            control_turns,
            autoenables: self.autoenable_created_entities,
        }));
        let participant = DomainParticipant::from(Lifeline::new(core));
        if self.enabled {
            participant.enable().map_err(|error| match error {
                EnableError::Thread(error) => ParticipantError::Thread(error),
                // Only writers and readers are announced, and there are none.
                other => ParticipantError::Thread(io::Error::other(other)),
            })?;
        }
        Ok(participant)
    }

    fn resolve_rendezvous(&self) -> Result<Vec<Locator>, ParticipantError> {
        let mut locators = Vec::new();
        for reference in &self.rendezvous {
            let reference = Reference::resolve(reference).map_err(ParticipantError::Rendezvous)?;
            locators.extend(reference.addresses().iter().copied().map(Locator::udp));
        }
        Ok(locators)
    }

    /// By what datagrams go, if that can reach anybody.
    fn chosen_transports(&self) -> Result<Transports, ParticipantError> {
        let chosen = match self.transports {
            Some(chosen) => chosen,
            None => {
                let said = Transports::from_env().map_err(ParticipantError::TransportVariable)?;
                said.unwrap_or_default()
            }
        };
        let is_used = |one: &Transport| match one {
            Transport::Multicast => self.multicast,
            Transport::Shm => self.shared_memory,
            Transport::Udp | Transport::Tcp => true,
        };
        let used: Transports = chosen.iter().filter(is_used).collect();
        let reason = if chosen.is_empty() {
            "a participant needs a transport: udp, multicast, tcp or shm"
        } else if used.contains(Transport::Udp) {
            return Ok(used);
        } else if !self.rendezvous.is_empty() {
            "there is no rendezvous, which speaks UDP: add `udp` to the transports, or name peers instead"
        } else if self.tcp_listen == TcpListen::Off && self.peers.is_empty() {
            "and nowhere to listen nobody is found: name peers, as `tcp/HOST:PORT`, or have it listen"
        } else {
            return Ok(used);
        };
        Err(ParticipantError::Transports { chosen, reason })
    }

    fn discovery_config(
        &self,
        prefix: GuidPrefix,
        network: &Network,
        peers: &[Locator],
    ) -> DiscoveryConfig {
        let addresses = network.addresses();
        let participant = ParticipantData {
            domain_id: Some(self.domain),
            domain_tag: self.domain_tag.clone(),
            metatraffic_unicast: addresses.metatraffic,
            metatraffic_multicast: network.discovery_group().into_iter().collect(),
            default_unicast: addresses.user,
            default_multicast: network.user_group().into_iter().collect(),
            lease_duration: self.lease_duration,
            entity_name: self.name.clone(),
            properties: match self.announces_process {
                true => process_properties(),
                false => Vec::new(),
            },
            user_data: self.user_data.clone(),
            ..ParticipantData::new(prefix)
        };
        let defaults = DiscoveryConfig::new(participant);
        DiscoveryConfig {
            announce_to: network.announced_to(peers),
            announce_period: self.announce_period.unwrap_or(defaults.announce_period),
            attachment: network.attachment(),
            limits: self.limits.discovery.clone(),
            ..defaults
        }
    }
}

/// Where the environment has writers leave what is to outlive them.
fn store_of_environment() -> Option<StoreOptions> {
    let usual = || StoreOptions::usual(|name| env::var_os(name));
    match StoreVariable::parse(env::var_os("TICKWIRE_STORE")) {
        StoreVariable::Unset => Some(usual()),
        StoreVariable::Off => None,
        StoreVariable::Directory(directory) => Some(StoreOptions::below(&directory)),
    }
}

/// The process, for people who look at the network: the properties that RTI Connext has for it, as
/// no standard names any. What the system does not tell is left out.
fn process_properties() -> Vec<(String, String)> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let program = env::current_exe().ok();
    let properties = [
        ("hostname", host.map(|host| host.trim().to_owned())),
        ("process_id", Some(std::process::id().to_string())),
        (
            "executable_filepath",
            program.and_then(|path| path.to_str().map(str::to_owned)),
        ),
    ];
    let told = properties
        .into_iter()
        .filter_map(|(name, value)| Some((format!("dds.sys_info.{name}"), value?)));
    told.collect()
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
