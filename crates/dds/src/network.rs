//! A participant's sockets and addresses. Knows nothing of what is sent.
//!
//! ```text
//!               loopback alone        any other interfaces
//!  unicast      bound to 127.0.0.1    bound to every address, lest a change of addresses matters
//!  groups       joined on lo          joined on each interface
//!  multicast    leaves by lo          leaves by the first interface; copies by the others
//!  announced    127.0.0.1             the addresses of those interfaces, loopback's not
//!  TCP          from, to 127.0.0.1    from and to every address
//! ```

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tickwire_base::{Channel, Locator, StreamAddress};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::{Attachment, OwnAddresses};
use tickwire_transport::tcp::{TcpNet, TcpOptions};
use tickwire_transport::{
    Interface, InterfaceSelection, InterfaceWatch, MAX_DATAGRAM_BYTES, ReceiveTimestamps,
    SendError, SocketError, UdpOptions, UdpSocket, interfaces,
};

use crate::clock;
use crate::error::ParticipantError;
use crate::participant::{TcpListen, Transport, Transports};
use crate::ports::Ports;
use crate::signal::lock;

/// The sockets of a participant.
#[derive(Debug)]
pub(crate) struct Network {
    selection: InterfaceSelection,
    /// Discovery and acknowledgements, if by UDP.
    pub(crate) metatraffic: Option<UdpSocket>,
    /// Discovery by multicast.
    pub(crate) metatraffic_group: Option<UdpSocket>,
    /// User data, if by UDP.
    pub(crate) user: Option<UdpSocket>,
    /// User data by multicast.
    pub(crate) user_group: Option<UdpSocket>,
    /// Both by TCP.
    pub(crate) tcp: Option<TcpNet>,
    owner: [u8; 12],
    /// Tells when interfaces change, unless there is only loopback, which does not.
    pub(crate) watch: Option<InterfaceWatch>,
    /// Those of the domain, if they are used.
    ports: Option<Ports>,
    udp: UdpOptions,
    links: Mutex<Links>,
    /// Where copies of multicast leave, one socket for each interface after the first.
    copies: Mutex<Arc<[Arc<CopySocket>]>>,
    /// Whether there are any.
    has_copies: AtomicBool,
}

/// What a participant is attached to at present.
#[derive(Debug)]
struct Links {
    selected: Vec<Interface>,
    /// Every address of this machine.
    local: Vec<Ipv4Addr>,
    /// Which of those could not be joined or used for multicast.
    refused: Arc<[RefusedInterface]>,
}

/// Where copies of multicast leave by an interface.
#[derive(Debug)]
struct CopySocket {
    interface: Interface,
    socket: UdpSocket,
}

/// An interface that a participant was told to use and cannot.
#[derive(Debug)]
pub struct RefusedInterface {
    /// Its name.
    pub interface: String,
    /// Why not.
    pub error: SocketError,
}

impl fmt::Display for RefusedInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.interface, self.error)
    }
}

/// What interfaces have refused, each thing once.
#[derive(Debug, Default)]
struct Attached {
    refused: Vec<RefusedInterface>,
    /// Whether a group could be joined on no interface at all.
    is_cut_off: bool,
}

impl Attached {
    fn note<R>(&mut self, by: &Interface, result: Result<R, SocketError>) -> Option<R> {
        let refused = match result {
            Ok(accepted) => return Some(accepted),
            Err(error) => RefusedInterface {
                interface: by.name.clone(),
                error,
            },
        };
        let is_known = |known: &RefusedInterface| known.to_string() == refused.to_string();
        if !self.refused.iter().any(is_known) {
            self.refused.push(refused);
        }
        None
    }
}

/// What has become of a look at the interfaces.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) attachment: Attachment,
    pub(crate) addresses: OwnAddresses,
    /// Whether all interfaces could be joined and used for multicast. If not, the next look tries
    /// again, and is no news if it fails as before.
    pub(crate) is_complete: bool,
}

/// What to open.
#[derive(Clone, Debug)]
pub(crate) struct NetworkOptions {
    /// The domain's ports; without them any that are free, and no groups.
    pub(crate) ports: Option<Ports>,
    pub(crate) interfaces: InterfaceSelection,
    pub(crate) transports: Transports,
    pub(crate) tcp_listen: TcpListen,
    /// The participant's GUID prefix.
    pub(crate) owner: [u8; 12],
    pub(crate) multicast_ttl: u8,
    pub(crate) receive_buffer_bytes: usize,
    pub(crate) busy_poll: Option<Duration>,
    pub(crate) receive_timestamps: ReceiveTimestamps,
}

impl Network {
    /// Opens the sockets, at the first participant index whose two ports are free; where all are
    /// taken, at ports of the kernel's choice, which others learn from the announcement.
    pub(crate) fn open(options: &NetworkOptions) -> Result<Self, ParticipantError> {
        let ports = options.ports;
        // What changes after the first look is told.
        let watch = InterfaceWatch::new();
        let selected = options.interfaces.find();
        let selected = selected.map_err(ParticipantError::Interface)?;
        // Where others may come, they are awaited.
        let is_loopback = is_loopback(&selected) && !options.interfaces.is_open();
        let udp = UdpOptions {
            receive_buffer_bytes: options.receive_buffer_bytes,
            busy_poll: options.busy_poll,
            receive_timestamps: options.receive_timestamps,
            multicast_ttl: match is_loopback {
                true => 0,
                false => options.multicast_ttl.max(1),
            },
            ..UdpOptions::default()
        };
        let first = own_addresses(&selected).next().ok_or_else(|| {
            let names: Vec<_> = selected.iter().map(|link| link.name.as_str()).collect();
            let interface = names.join(", ");
            ParticipantError::Socket(SocketError::NoAddress { interface })
        })?;
        let bound = match is_loopback {
            true => first,
            false => Ipv4Addr::UNSPECIFIED,
        };
        let has_udp = options.transports.contains(Transport::Udp);
        let unicast = has_udp.then(|| open_unicast(bound, ports, &udp));
        let (metatraffic, user) = unicast.transpose()?.unzip();
        let has_tcp = options.transports.contains(Transport::Tcp);
        let tcp = has_tcp.then(|| open_tcp(bound, options, metatraffic.as_ref()));
        let watch = (!is_loopback).then_some(watch).transpose();
        let join = |port| {
            let group = SocketAddr::from((GROUP, port));
            UdpSocket::group(group, &[], &udp).map_err(ParticipantError::Socket)
        };
        let by_group = options.transports.contains(Transport::Multicast);
        let groups = ports.filter(|_| by_group);
        let network = Self {
            selection: options.interfaces.clone(),
            metatraffic_group: groups
                .map(|ports| join(ports.discovery_group()))
                .transpose()?,
            user_group: groups.map(|ports| join(ports.user_group())).transpose()?,
            metatraffic,
            user,
            tcp: tcp.transpose()?,
            owner: options.owner,
            watch: watch.map_err(ParticipantError::Socket)?,
            ports,
            udp,
            links: Mutex::new(Links {
                selected: selected.clone(),
                local: local_addresses(&interfaces().map_err(ParticipantError::Interface)?),
                refused: Arc::new([]),
            }),
            copies: Mutex::new(Arc::new([])),
            has_copies: AtomicBool::new(false),
        };
        let Attached {
            mut refused,
            is_cut_off,
        } = network.attach(&selected);
        if is_cut_off && !refused.is_empty() {
            return Err(ParticipantError::Socket(refused.swap_remove(0).error));
        }
        lock(&network.links).refused = refused.into();
        Ok(network)
    }

    /// The interfaces that could not be joined or used for multicast.
    pub(crate) fn refused(&self) -> Arc<[RefusedInterface]> {
        Arc::clone(&lock(&self.links).refused)
    }

    /// Looks at the interfaces anew, and joins and uses what has come. `None` if nothing of concern
    /// has changed, and what was refused before still is.
    pub(crate) fn follow(&self) -> Result<Option<Followed>, ParticipantError> {
        let all = interfaces().map_err(ParticipantError::Interface)?;
        Ok(self.follow_to(self.selection.among(&all), local_addresses(&all)))
    }

    /// Has what is sent find its way anew, as addresses or routes are others now.
    pub(crate) fn forget_ways(&self) {
        if let Some(user) = &self.user {
            user.forget_ways();
        }
    }

    fn follow_to(&self, selected: Vec<Interface>, local: Vec<Ipv4Addr>) -> Option<Followed> {
        let before = self.refused();
        let is_same = {
            let links = lock(&self.links);
            links.selected == selected && links.local == local
        };
        if !is_same {
            self.forget_ways();
        }
        if is_same && before.is_empty() {
            return None;
        }
        // Where no group can be joined, the addresses are announced all the same.
        let refused = self.attach(&selected).refused;
        let told = |all: &[RefusedInterface]| -> Vec<_> {
            all.iter().map(RefusedInterface::to_string).collect()
        };
        let is_news = !is_same || told(&refused) != told(&before);
        let is_complete = refused.is_empty();
        *lock(&self.links) = Links {
            selected,
            local,
            refused: refused.into(),
        };
        is_news.then(|| Followed {
            attachment: self.attachment(),
            addresses: self.addresses(),
            is_complete,
        })
    }

    /// Joins the groups and has multicast leave on all interfaces that carry it. What one refuses
    /// keeps no other from being used, and what is in use stays as it is.
    fn attach(&self, selected: &[Interface]) -> Attached {
        let by: Vec<_> = selected.iter().filter(carries_groups).collect();
        let mut attached = Attached::default();
        for socket in [&self.metatraffic_group, &self.user_group]
            .into_iter()
            .flatten()
        {
            let joined = by.iter().map(|by| attached.note(by, join(socket, by)));
            attached.is_cut_off |= joined.flatten().count() == 0 && !by.is_empty();
        }
        let known = Arc::clone(&lock(&self.copies));
        let mut copies = Vec::new();
        if let Some((first, others)) = by.split_first() {
            for socket in [&self.metatraffic, &self.user].into_iter().flatten() {
                attached.note(first, socket.multicast_by(first));
            }
            for interface in others {
                let known = known.iter().find(|copy| copy.interface == **interface);
                copies.extend(match known {
                    Some(known) => Some(Arc::clone(known)),
                    None => attached.note(interface, self.copy_socket(interface)),
                });
            }
        }
        let has_copies = self.metatraffic_group.is_some() && !copies.is_empty();
        *lock(&self.copies) = copies.into();
        self.has_copies.store(has_copies, Ordering::Relaxed);
        attached
    }

    fn copy_socket(&self, by: &Interface) -> Result<Arc<CopySocket>, SocketError> {
        let udp = UdpOptions {
            multicast_interface: Some(by.clone()),
            // Nothing is received by it.
            busy_poll: None,
            receive_timestamps: ReceiveTimestamps::Off,
            ..self.udp.clone()
        };
        Ok(Arc::new(CopySocket {
            interface: by.clone(),
            socket: UdpSocket::unicast((Ipv4Addr::UNSPECIFIED, 0).into(), &udp)?,
        }))
    }

    /// Where others reach this participant.
    pub(crate) fn addresses(&self) -> OwnAddresses {
        let links = lock(&self.links);
        let transports = usize::from(self.user.is_some()) + usize::from(self.tcp.is_some());
        let max = MAX_ADDRESSES / transports.max(1);
        let addresses: Vec<_> = own_addresses(&links.selected).take(max).collect();
        let at = |socket: &Option<UdpSocket>, channel| {
            let port = socket.as_ref().map(|socket| socket.local_address().port());
            let by_udp = |port| addresses.iter().map(move |&at| Locator::udp_v4(at, port));
            let by_udp = port.into_iter().flat_map(by_udp);
            by_udp.chain(self.streams(&addresses, channel)).collect()
        };
        OwnAddresses {
            metatraffic: at(&self.metatraffic, Channel::Control),
            user: at(&self.user, Channel::Data),
        }
    }

    /// Where others reach it by TCP. Where nobody can connect, the name alone.
    fn streams(&self, addresses: &[Ipv4Addr], channel: Channel) -> impl Iterator<Item = Locator> {
        let port = self.tcp.as_ref().map(|tcp| tcp.port().unwrap_or(0));
        let count = match port {
            None => 0,
            Some(0) => 1,
            Some(_) => addresses.len(),
        };
        let addresses = addresses.iter().take(count);
        addresses.map(move |&address| {
            let address = SocketAddrV4::new(address, port.unwrap_or(0));
            let owner = self.owner;
            let stream = StreamAddress {
                owner,
                address,
                channel,
            };
            stream.to_locator()
        })
    }

    /// What this participant is attached to.
    pub(crate) fn attachment(&self) -> Attachment {
        let links = lock(&self.links);
        let networks = links.selected.iter().flat_map(|link| &link.ipv4_networks);
        Attachment {
            addresses: links.local.clone(),
            networks: networks.copied().collect(),
            is_loopback: is_loopback(&links.selected),
            has_multicast: self.user_group.is_some(),
            has_udp: self.user.is_some(),
            has_tcp: self.tcp.is_some(),
        }
    }

    /// The group that announcements go to.
    pub(crate) fn discovery_group(&self) -> Option<Locator> {
        let socket = self.metatraffic_group.as_ref()?;
        Some(Locator::udp(socket.local_address()))
    }

    /// The group that user data may come by.
    pub(crate) fn user_group(&self) -> Option<Locator> {
        let socket = self.user_group.as_ref()?;
        Some(Locator::udp(socket.local_address()))
    }

    /// The longest datagram to send, in bytes: what passes all interfaces in one piece; on loopback
    /// alone, and by TCP, the most that it takes, where nothing is gained by smaller ones.
    pub(crate) fn max_datagram_len(&self) -> usize {
        let links = lock(&self.links);
        let others = links.selected.iter().filter(|link| !link.is_loopback);
        let others = others.filter(|_| self.user.is_some());
        let shortest = others.map(Interface::max_datagram_len).min();
        shortest.unwrap_or(MAX_LOOPBACK_DATAGRAM.min(MAX_DATAGRAM_BYTES))
    }

    /// Where to announce this participant: the group, the participants that came first on this
    /// machine if it uses loopback, and `peers`.
    pub(crate) fn announced_to(&self, peers: &[Locator]) -> Vec<Locator> {
        let mut to: Vec<_> = self.discovery_group().into_iter().collect();
        let links = lock(&self.links);
        let has_loopback = links.selected.iter().any(|link| link.is_loopback);
        if let Some(ports) = self.ports.filter(|_| has_loopback) {
            let here = Ipv4Addr::LOCALHOST;
            match self.user {
                Some(_) => to.extend(ports.well_known(here)),
                None => to.extend(ports.well_known_streams(here)),
            }
        }
        to.extend_from_slice(peers);
        to
    }

    /// Sends all datagrams, from the socket of that channel. Every one is tried; the first failure is the
    /// result. What TCP cannot take is in its counters.
    pub(crate) fn send(&self, channel: Channel, outbox: &Outbox) -> Result<(), SendError> {
        if let Some(tcp) = &self.tcp {
            tcp.send(outbox.datagrams().flat_map(|(bytes, to)| {
                let streams = to.iter().filter_map(StreamAddress::of);
                streams.map(move |to| (bytes, to))
            }));
        }
        match self.socket(channel) {
            Some(socket) => self.send_from(socket, outbox),
            None => Ok(()),
        }
    }

    /// By which socket one datagram goes to one address, if it takes no other way and no several.
    pub(crate) fn way(&self, channel: Channel, to: &Locator) -> Option<(&UdpSocket, SocketAddr)> {
        let address = to.to_udp().filter(|address| !address.ip().is_multicast())?;
        Some((self.socket(channel)?, address))
    }

    fn socket(&self, channel: Channel) -> Option<&UdpSocket> {
        match channel {
            Channel::Control => self.metatraffic.as_ref(),
            Channel::Data => self.user.as_ref(),
        }
    }

    fn send_from(&self, socket: &UdpSocket, outbox: &Outbox) -> Result<(), SendError> {
        let datagrams = || {
            outbox.marked().flat_map(|(dscp, bytes, to)| {
                let addresses = to.iter().filter_map(Locator::to_udp);
                addresses.map(move |address| (dscp, bytes, address))
            })
        };
        let sent = match outbox.has_marks() {
            true => socket.send_each_marked(datagrams()),
            false => socket.send_each(outbox.by_address(Locator::to_udp)),
        };
        if !self.has_copies.load(Ordering::Relaxed) {
            return sent;
        }
        let to_groups = || datagrams().filter(|(_, _, to)| to.ip().is_multicast());
        if to_groups().next().is_none() {
            return sent;
        }
        // Sent without the lock, lest senders wait for each other's system calls.
        let copies = Arc::clone(&lock(&self.copies));
        let copies = copies
            .iter()
            .map(|copy| copy.socket.send_each_marked(to_groups()));
        copies.fold(sent, Result::and)
    }
}

/// Has `socket` hear the group on one interface, if it does not already.
fn join(socket: &UdpSocket, interface: &Interface) -> Result<(), SocketError> {
    match socket.join(GROUP.into(), interface) {
        Err(error) if error.is_address_in_use() => Ok(()),
        joined => joined,
    }
}

/// Both unicast sockets, at the first index where both ports are free.
fn open_unicast(
    address: Ipv4Addr,
    ports: Option<Ports>,
    options: &UdpOptions,
) -> Result<(UdpSocket, UdpSocket), ParticipantError> {
    // Samples go to few addresses, and often.
    let user_options = UdpOptions {
        connects: true,
        ..options.clone()
    };
    let bind = |port: u16, options| match UdpSocket::unicast((address, port).into(), options) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if error.is_address_in_use() => Ok(None),
        Err(error) => Err(ParticipantError::Socket(error)),
    };
    for (metatraffic, user) in ports.into_iter().flat_map(Ports::pairs) {
        if let Some(metatraffic) = bind(metatraffic, options)?
            && let Some(user) = bind(user, &user_options)?
        {
            return Ok((metatraffic, user));
        }
    }
    let any = |options| {
        UdpSocket::unicast((address, 0).into(), options).map_err(ParticipantError::Socket)
    };
    Ok((any(options)?, any(&user_options)?))
}

/// Connections, accepted where the options say: by default at the number of the UDP port for discovery.
fn open_tcp(
    bound: Ipv4Addr,
    options: &NetworkOptions,
    metatraffic: Option<&UdpSocket>,
) -> Result<TcpNet, ParticipantError> {
    let (key, seed) = random_key();
    let mut tcp = TcpOptions::new(options.owner, key, seed);
    tcp.bound = match bound.is_loopback() {
        true => bound,
        false => Ipv4Addr::UNSPECIFIED,
    };
    tcp.ports = match options.tcp_listen {
        TcpListen::Off => Vec::new(),
        TcpListen::Port(port) => vec![port],
        TcpListen::Auto => {
            let same = metatraffic.map(|socket| socket.local_address().port());
            let well_known = options.ports.into_iter().flat_map(Ports::pairs);
            let well_known = well_known.map(|(metatraffic, _)| metatraffic);
            same.into_iter().chain(well_known).chain([0]).collect()
        }
    };
    let net = TcpNet::new(tcp).map_err(ParticipantError::Socket)?;
    if metatraffic.is_none() {
        // Its endpoints reach each other, which else they do by UDP.
        net.reach_itself(clock::now())
            .map_err(ParticipantError::Socket)?;
    }
    Ok(net)
}

/// What nobody can guess, as far as the standard library's hashes are seeded by the system.
fn random_key() -> ([u8; 16], u64) {
    let random = |number: u64| RandomState::new().hash_one(number);
    let (first, second) = (random(1), random(2));
    let mut key = [0; 16];
    let bytes = first.to_ne_bytes().into_iter().chain(second.to_ne_bytes());
    for (place, byte) in key.iter_mut().zip(bytes) {
        *place = byte;
    }
    (key, random(3))
}

/// Where others reach those interfaces: on loopback only if there is nothing else.
fn own_addresses(selected: &[Interface]) -> impl Iterator<Item = Ipv4Addr> {
    let loopback = is_loopback(selected);
    let links = selected
        .iter()
        .filter(move |link| loopback || !link.is_loopback);
    links.flat_map(move |link| {
        // Whatever else is on loopback is there for something else.
        let count = if loopback { 1 } else { link.ipv4.len() };
        link.ipv4.iter().take(count).copied()
    })
}

fn is_loopback(selected: &[Interface]) -> bool {
    selected.iter().all(|link| link.is_loopback)
}

fn carries_groups(link: &&Interface) -> bool {
    (link.is_multicast || link.is_loopback) && !link.ipv4.is_empty()
}

fn local_addresses(all: &[Interface]) -> Vec<Ipv4Addr> {
    let addresses = all.iter().flat_map(|interface| &interface.ipv4);
    addresses.copied().collect()
}

/// Where SPDP and user data are multicast by default (RTPS 2.5 §9.6.2.4.1).
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// Leaves room for what some hosts put around a datagram.
const MAX_LOOPBACK_DATAGRAM: usize = 65_000;
/// Addresses to announce at most: half of what others can be expected to keep.
const MAX_ADDRESSES: usize = 16;

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
