//! Captures of network traffic, pcap and pcapng: the UDP datagrams in them. Knows nothing of what these carry.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use etherparse::{EtherType, IpNumber, NetSlice, SlicedPacket, TransportSlice};
use pcap_parser::nom;
use pcap_parser::pcapng::{Block, parse_block_be, parse_block_le};
use pcap_parser::{
    Linktype, PcapError, PcapHeader, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_frame_modified, parse_pcap_header,
};
use tickwire_feed::Frame;

/// Whether a file is a capture by its first bytes. No file of ours begins so: as a length they are beyond any packet.
pub(super) fn is_capture(bytes: &[u8]) -> bool {
    bytes.starts_with(&PCAPNG_MAGIC) || parse_pcap_header(bytes).is_ok()
}

/// The UDP datagrams of a capture, in order; whatever else is in it is passed over.
pub(super) struct Capture<'a> {
    bytes: &'a [u8],
    rest: &'a [u8],
    form: Form,
    to: Option<Destination>,
}

/// Which datagrams of a capture are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Those to a port.
    Port(u16),
    /// Those to an address.
    Address(SocketAddr),
    /// Those to either of two addresses, the lines of a feed.
    Lines(SocketAddr, SocketAddr),
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(port) => write!(f, "port {port}"),
            Self::Address(address) => address.fmt(f),
            Self::Lines(a, b) => write!(f, "{a} or {b}"),
        }
    }
}

/// A port, or an address and its port.
impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address = || text.parse().map(Self::Address);
        let port = text.trim_start_matches(':').parse().map(Self::Port);
        port.or_else(|_| address()).map_err(|_| {
            "expected a port, or an address and port as in 224.1.2.133:13014".to_owned()
        })
    }
}

/// Where the datagrams of a capture go, and how many to each destination.
pub(super) fn destinations(bytes: &[u8]) -> BTreeMap<SocketAddr, u64> {
    let mut destinations = BTreeMap::new();
    let mut capture = Capture::new(bytes, None);
    while let Some(datagram) = capture.next_datagram() {
        if let Ok((to, _)) = datagram {
            *destinations.entry(to).or_default() += 1;
        }
    }
    destinations
}

/// Of which form the next record is.
enum Form {
    Unknown,
    Pcap(PcapHeader),
    /// With the links of the section's interfaces.
    Pcapng {
        is_big_endian: bool,
        links: Vec<Linktype>,
    },
}

/// What a capture cannot tell.
#[derive(Debug)]
pub(super) enum CaptureError {
    /// It ends inside a record.
    Truncated { offset: usize },
    /// Bytes that are no record: no more follow.
    Malformed { offset: usize },
    /// A packet that was not captured whole.
    Cut { offset: usize, available: usize },
    /// A datagram in several IP fragments.
    Fragment { offset: usize },
    /// Traffic of a link whose headers are not known.
    Link { offset: usize, link: i32 },
}

/// A record that has a packet.
struct Record<'a> {
    data: &'a [u8],
    original_len: u32,
    link: Linktype,
}

impl<'a> Capture<'a> {
    /// Reads `bytes` from their start.
    pub(super) fn new(bytes: &'a [u8], to: Option<Destination>) -> Self {
        Self {
            bytes,
            rest: bytes,
            form: Form::Unknown,
            to,
        }
    }

    /// The next record; `None` inside if it has no packet.
    fn record(&mut self) -> Result<Option<Record<'a>>, CaptureError> {
        let offset = self.offset_of(self.rest);
        let parsed = match &mut self.form {
            Form::Unknown if self.rest.starts_with(&PCAPNG_MAGIC) => {
                self.form = Form::Pcapng {
                    is_big_endian: false,
                    links: Vec::new(),
                };
                return Ok(None);
            }
            Form::Unknown => parse_pcap_header(self.rest).map(|(rest, header)| {
                self.form = Form::Pcap(header);
                (rest, None)
            }),
            Form::Pcap(header) => pcap_record(self.rest, header),
            Form::Pcapng {
                is_big_endian,
                links,
            } => pcapng_record(self.rest, is_big_endian, links),
        };
        match parsed {
            Ok((rest, record)) => {
                self.rest = rest;
                Ok(record)
            }
            Err(error) => {
                self.rest = &[];
                Err(match error {
                    nom::Err::Incomplete(_) => CaptureError::Truncated { offset },
                    _ => CaptureError::Malformed { offset },
                })
            }
        }
    }

    /// The next datagram that is meant, and where it goes.
    pub(super) fn next_datagram(
        &mut self,
    ) -> Option<Result<(SocketAddr, Frame<'a>), CaptureError>> {
        while !self.rest.is_empty() {
            let datagram = match self.record() {
                Ok(Some(record)) => self.datagram(&record),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            if let Some(item) = datagram.transpose() {
                return Some(item);
            }
        }
        None
    }

    /// The datagram in a packet; `None` if it is none, or not one that is meant.
    fn datagram(
        &self,
        record: &Record<'a>,
    ) -> Result<Option<(SocketAddr, Frame<'a>)>, CaptureError> {
        let data = record.data;
        let offset = self.offset_of(data);
        let sliced = match record.link {
            Linktype::ETHERNET => SlicedPacket::from_ethernet(data),
            Linktype::LINUX_SLL => SlicedPacket::from_linux_sll(data),
            LINUX_SLL2 => {
                let (ether_type, payload) = cooked_v2(data);
                SlicedPacket::from_ether_type(ether_type, payload)
            }
            Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => SlicedPacket::from_ip(data),
            Linktype::NULL | Linktype::LOOP => {
                SlicedPacket::from_ip(data.get(4..).unwrap_or_default())
            }
            Linktype(link) => return Err(CaptureError::Link { offset, link }),
        };
        let is_cut = data.len() < record.original_len as usize;
        let Ok(packet) = sliced else {
            let available = data.len();
            return match is_cut {
                true => Err(CaptureError::Cut { offset, available }),
                false => Ok(None),
            };
        };
        let Some((to, protocol)) = packet.net.as_ref().and_then(destination) else {
            return Ok(None);
        };
        let is_to_meant = match self.to {
            Some(Destination::Address(meant)) => meant.ip() == to,
            Some(Destination::Lines(a, b)) => a.ip() == to || b.ip() == to,
            _ => true,
        };
        if packet.is_ip_payload_fragmented() && protocol == IpNumber::UDP && is_to_meant {
            return Err(CaptureError::Fragment { offset });
        }
        let Some(TransportSlice::Udp(udp)) = &packet.transport else {
            return Ok(None);
        };
        let port = udp.destination_port();
        let address = SocketAddr::new(to, port);
        let is_meant = match self.to {
            None => true,
            Some(Destination::Port(meant)) => meant == port,
            Some(Destination::Address(meant)) => meant == address,
            Some(Destination::Lines(a, b)) => a == address || b == address,
        };
        let frame = Frame {
            offset: self.offset_of(udp.payload()),
            packet: udp.payload(),
        };
        Ok(is_meant.then_some((address, frame)))
    }

    /// Where a part of the file starts in it.
    fn offset_of(&self, part: &[u8]) -> usize {
        part.as_ptr()
            .addr()
            .saturating_sub(self.bytes.as_ptr().addr())
    }
}

impl<'a> Iterator for Capture<'a> {
    type Item = Result<Frame<'a>, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let datagram = self.next_datagram()?;
        Some(datagram.map(|(_, frame)| frame))
    }
}

type Parsed<'a> = Result<(&'a [u8], Option<Record<'a>>), nom::Err<PcapError<&'a [u8]>>>;

fn pcap_record<'a>(bytes: &'a [u8], header: &PcapHeader) -> Parsed<'a> {
    let (rest, record) = if header.is_bigendian() {
        parse_pcap_frame_be(bytes)
    } else if header.is_modified_format() {
        parse_pcap_frame_modified(bytes)
    } else {
        parse_pcap_frame(bytes)
    }?;
    let record = Record {
        data: record.data,
        original_len: record.origlen,
        link: header.network,
    };
    Ok((rest, Some(record)))
}

fn pcapng_record<'a>(
    bytes: &'a [u8],
    is_big_endian: &mut bool,
    links: &mut Vec<Linktype>,
) -> Parsed<'a> {
    let (rest, block) = match *is_big_endian {
        true => parse_block_be(bytes),
        false => parse_block_le(bytes),
    }?;
    let link = |interface: u32| links.get(interface as usize).copied();
    let record = match &block {
        Block::SectionHeader(header) => {
            *is_big_endian = header.big_endian();
            links.clear();
            None
        }
        Block::InterfaceDescription(interface) => {
            links.push(interface.linktype);
            None
        }
        Block::EnhancedPacket(packet) => link(packet.if_id).map(|link| Record {
            data: packet
                .data
                .get(..packet.caplen as usize)
                .unwrap_or(packet.data),
            original_len: packet.origlen,
            link,
        }),
        Block::SimplePacket(packet) => link(0).map(|link| Record {
            data: packet
                .data
                .get(..packet.origlen as usize)
                .unwrap_or(packet.data),
            original_len: packet.origlen,
            link,
        }),
        _ => None,
    };
    Ok((rest, record))
}

/// The protocol and payload of a packet in Linux's second cooked form, as `tcpdump -i any` writes it.
///
/// ```text
/// 0        2        4                 8        10   11   12                20
/// +--------+--------+-----------------+--------+----+----+-----------------+---------
/// | ether  | zero   | interface       | ARP    |type| len| link-layer      | payload    big-endian
/// | type   |        | index           | type   |    |    | address         |
/// +--------+--------+-----------------+--------+----+----+-----------------+---------
/// ```
fn cooked_v2(data: &[u8]) -> (EtherType, &[u8]) {
    match data.split_at_checked(20) {
        Some((&[high, low, ..], payload)) => (EtherType(u16::from_be_bytes([high, low])), payload),
        // No IP packet is empty.
        _ => (EtherType::IPV4, &[]),
    }
}

/// To whom an IP packet goes, and of which protocol it is.
fn destination(net: &NetSlice<'_>) -> Option<(IpAddr, IpNumber)> {
    let payload = net.ip_payload_ref()?;
    match net {
        NetSlice::Ipv4(ip) => Some((ip.header().destination_addr().into(), payload.ip_number)),
        NetSlice::Ipv6(ip) => Some((ip.header().destination_addr().into(), payload.ip_number)),
        NetSlice::Arp(_) => None,
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { offset } => {
                write!(f, "byte {offset}: the capture ends inside a record")
            }
            Self::Malformed { offset } => write!(f, "byte {offset}: no record of a capture"),
            Self::Cut { offset, available } => write!(
                f,
                "byte {offset}: only {available} bytes of a packet were captured: capture with `-s 0`"
            ),
            Self::Fragment { offset } => {
                write!(
                    f,
                    "byte {offset}: a fragment of an IP packet, which cannot be put together here"
                )
            }
            Self::Link { offset, link } => {
                write!(
                    f,
                    "byte {offset}: a packet of link type {link}: Ethernet, Linux cooked (SLL, SLL2), loopback and IP are known"
                )
            }
        }
    }
}

const LINUX_SLL2: Linktype = Linktype(276);
const PCAPNG_MAGIC: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
