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
use tickwire_transport::{Waker, clock};

use super::peer::Peer;
use super::{DomainParticipant, Driving, ParticipantLimits};
use crate::core::{Core, CoreParts};
use crate::error::{EnableError, ParticipantError};
use crate::lifeline::Lifeline;
use crate::network::{Network, NetworkOptions};
use crate::polled::Polled;
use crate::ports::Ports;
use crate::rendezvous::Reference;
use crate::timer::Timer;

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
    announces_types: bool,
    announces_process: bool,
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
            announces_types: true,
            announces_process: true,
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
    /// first IPv4 address counts.
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

    /// Whether to use multicast. Without it, and with a [rendezvous](Self::rendezvous) whatever is said
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

    /// Samples that are longer are sent in fragments of so many bytes, at least 64. Default what fits a
    /// datagram that passes all interfaces in one piece, which is also the most.
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
    /// name or an interface does not exist, or the machine has no sockets or threads to give.
    pub fn build(self) -> Result<DomainParticipant, ParticipantError> {
        let domain = self.domain;
        let ports = match Ports::of(domain) {
            _ if !self.rendezvous.is_empty() => None,
            None => return Err(ParticipantError::Domain { domain }),
            ports => ports,
        };
        let mut peers = Vec::new();
        for peer in &self.peers {
            peers.extend(peer.resolve(domain)?);
        }
        peers.extend(self.resolve_rendezvous()?);
        let Ok(interfaces) = self.interface.parse();
        let network = Network::open(&NetworkOptions {
            multicast_ttl: self.multicast_ttl,
            interfaces,
            multicast: self.multicast,
            ports,
            receive_buffer_bytes: self.receive_buffer_bytes,
        })?;
        let config = self.discovery_config(&network, &peers);
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
            max_fragment_bytes: self.max_fragment_bytes,
            store: self.store.clone().unwrap_or_else(store_of_environment),
            reader_limits: self.limits.reader.clone(),
            filter_limits: self.limits.filters.clone(),
            control: Timer::new(control),
            data: Timer::new(data),
            polled,
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

    fn discovery_config(&self, network: &Network, peers: &[Locator]) -> DiscoveryConfig {
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
            ..ParticipantData::new(new_prefix())
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
