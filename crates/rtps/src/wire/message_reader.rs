//! Takes a datagram apart. Knows what a submessage says, not what to do about it.

use core::net::IpAddr;

use tickwire_base::Timestamp;

use super::cursor::{Cursor, Malformed};
use super::header::{Header, ProtocolVersion};
use super::locator_list::LocatorList;
use super::submessage::{Submessage, SubmessageId};
use super::{EntityId, Guid, GuidPrefix, VendorId, time};

/// What the header and the INFO_* submessages say about the submessage after them
/// (RTPS 2.5 §8.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// The version of the source.
    pub version: ProtocolVersion,
    /// The implementation of the source.
    pub vendor: VendorId,
    /// The participant that the submessage comes from.
    pub source_prefix: GuidPrefix,
    /// The participant that it is for; [`GuidPrefix::UNKNOWN`] is everybody.
    pub destination_prefix: GuidPrefix,
    /// When the source made what follows, if it says so.
    pub source_timestamp: Option<Timestamp>,
    /// Where the source wants unicast answers; empty if it does not say.
    pub unicast_reply: LocatorList<'a>,
    /// Where the source wants multicast answers; empty if it does not say.
    pub multicast_reply: LocatorList<'a>,
    /// How the datagram came, if its receiver says so.
    pub arrival: Option<Arrival>,
}

/// How a datagram came to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The address that it was sent from.
    pub from: IpAddr,
    /// Whether it was sent to a multicast group.
    pub by_multicast: bool,
}

impl Context<'_> {
    fn new(header: &Header) -> Self {
        Self {
            version: header.version,
            vendor: header.vendor,
            source_prefix: header.prefix,
            destination_prefix: GuidPrefix::UNKNOWN,
            source_timestamp: None,
            unicast_reply: LocatorList::default(),
            multicast_reply: LocatorList::default(),
            arrival: None,
        }
    }

    /// Whether the submessage is for the participant `prefix`.
    pub fn is_for(&self, prefix: GuidPrefix) -> bool {
        self.destination_prefix == GuidPrefix::UNKNOWN || self.destination_prefix == prefix
    }

    /// An entity of the source.
    pub fn source(&self, entity: EntityId) -> Guid {
        Guid::new(self.source_prefix, entity)
    }
}

/// Iterates over the submessages of a datagram that concern writers and readers.
///
/// INFO_* submessages change the [`Context`] of the next ones, PAD says nothing, and unknown ones
/// are counted ([`skipped`](Self::skipped)). An error ends the datagram; what came before it
/// stands (RTPS 2.5 §8.3.4.1).
///
/// ```text
///  0                   1                   2                   3
/// +-------+-------+---------------+
/// |  id   | flags | octets to next|  flag 01: little-endian;
/// +-------+-------+---------------+  0 octets: up to the end of the datagram
/// ~             body              ~  (in PAD and INFO_TS: none)
/// +-------------------------------+
/// ```
#[derive(Clone, Debug)]
pub struct MessageReader<'a> {
    rest: Cursor<'a>,
    context: Context<'a>,
    skipped_count: u32,
    failed: bool,
}

impl<'a> MessageReader<'a> {
    /// Starts on a datagram.
    ///
    /// # Errors
    /// See [`Header::read`].
    pub fn new(datagram: &'a [u8]) -> Result<Self, Malformed> {
        let header = Header::read(datagram)?;
        let mut rest = Cursor::new(datagram, 0, false);
        rest.bytes(Header::LEN, "header")?;
        Ok(Self {
            rest,
            context: Context::new(&header),
            skipped_count: 0,
            failed: false,
        })
    }

    /// Says how the datagram came.
    pub fn arrived(mut self, arrival: Arrival) -> Self {
        self.context.arrival = Some(arrival);
        self
    }

    /// The state that the next submessage will have.
    pub fn context(&self) -> &Context<'a> {
        &self.context
    }

    /// Submessages passed over so far because nobody here knows their id.
    pub fn skipped(&self) -> u32 {
        self.skipped_count
    }

    /// The next submessage; `None` if it was only for the state.
    fn submessage(&mut self) -> Result<Option<Submessage<'a>>, Malformed> {
        let id = SubmessageId(self.rest.u8("submessage id")?);
        let flags = self.rest.u8("submessage flags")?;
        self.rest.little_endian = flags & 1 != 0;
        let at = self.rest;
        let len = match usize::from(self.rest.u16("octetsToNextHeader")?) {
            0 if id != SubmessageId::PAD && id != SubmessageId::INFO_TS => self.rest.rest().len(),
            len => len,
        };
        let body = self
            .rest
            .split(len, "")
            .map_err(|_| at.malformed("octetsToNextHeader goes past the end"))?;
        if self.info(id, flags, body)? {
            return Ok(None);
        }
        let submessage = Submessage::read(id, flags, body)?;
        if submessage.is_none() {
            self.skipped_count += 1;
        }
        Ok(submessage)
    }

    /// Applies a submessage that only sets state; false if it is none of those.
    fn info(
        &mut self,
        id: SubmessageId,
        flags: u8,
        mut body: Cursor<'a>,
    ) -> Result<bool, Malformed> {
        match id {
            SubmessageId::PAD => {}
            SubmessageId::INFO_TS if flags & 0x02 != 0 => self.context.source_timestamp = None,
            SubmessageId::INFO_TS => {
                let seconds = body.u32("INFO_TS seconds")?;
                let fraction = body.u32("INFO_TS fraction")?;
                self.context.source_timestamp = time::to_timestamp((seconds, fraction));
            }
            SubmessageId::INFO_DST => {
                self.context.destination_prefix = GuidPrefix(body.array("INFO_DST prefix")?);
            }
            SubmessageId::INFO_SRC => self.info_src(body)?,
            SubmessageId::INFO_REPLY => {
                self.context.unicast_reply = LocatorList::read(&mut body, "INFO_REPLY unicast")?;
                self.context.multicast_reply = match flags & 0x02 {
                    0 => LocatorList::default(),
                    _ => LocatorList::read(&mut body, "INFO_REPLY multicast")?,
                };
            }
            SubmessageId::INFO_REPLY_IP4 => {
                self.context.unicast_reply =
                    LocatorList::read_short(&mut body, "INFO_REPLY_IP4 unicast")?;
                self.context.multicast_reply = match flags & 0x02 {
                    0 => LocatorList::default(),
                    _ => LocatorList::read_short(&mut body, "INFO_REPLY_IP4 multicast")?,
                };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A new source brings its own version, and neither time nor reply address of the old one
    /// (RTPS 2.5 §8.3.8.9).
    fn info_src(&mut self, mut body: Cursor<'a>) -> Result<(), Malformed> {
        body.bytes(4, "INFO_SRC unused")?;
        let [major, minor] = body.array("INFO_SRC version")?;
        self.context = Context {
            version: ProtocolVersion { major, minor },
            vendor: VendorId(body.array("INFO_SRC vendor")?),
            source_prefix: GuidPrefix(body.array("INFO_SRC prefix")?),
            destination_prefix: self.context.destination_prefix,
            source_timestamp: None,
            unicast_reply: LocatorList::default(),
            multicast_reply: LocatorList::default(),
            arrival: self.context.arrival,
        };
        Ok(())
    }
}

impl<'a> Iterator for MessageReader<'a> {
    type Item = Result<(Context<'a>, Submessage<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.failed && !self.rest.rest().is_empty() {
            match self.submessage() {
                Ok(Some(submessage)) => return Some(Ok((self.context, submessage))),
                Ok(None) => {}
                Err(malformed) => {
                    self.failed = true;
                    return Some(Err(malformed));
                }
            }
        }
        None
    }
}
