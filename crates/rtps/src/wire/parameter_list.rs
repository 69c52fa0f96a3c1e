//! Parameter lists: inline QoS, and the payloads of discovery (RTPS 2.5 §9.4.2.11).
//!
//! Splits a list into parameters and knows their ids; what a value says is read elsewhere.

use alloc::vec::Vec;
use core::fmt;

use super::cursor::{Cursor, Malformed, Out};
use super::submessage::InlineQos;
use super::{GroupDigest, Guid, SequenceNumber};
use crate::change::{GroupPlace, OriginalWriter, Place, SampleIdentity};

/// What a parameter is about (RTPS 2.5 §9.6.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterId(pub u16);

macro_rules! parameter_ids {
    ($($(#[$doc:meta])* $name:ident = $value:literal),+ $(,)?) => {
        impl ParameterId {
            $($(#[$doc])* pub const $name: Self = Self($value);)+
        }

        impl fmt::Debug for ParameterId {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$name => f.write_str(concat!("PID_", stringify!($name))),)+
                    Self(other) => write!(f, "PID {other:#06x}"),
                }
            }
        }
    };
}

parameter_ids! {
    /// Nothing.
    PAD = 0x0000,
    /// The end of the list.
    SENTINEL = 0x0001,
    /// How long a participant lives without a sign.
    PARTICIPANT_LEASE_DURATION = 0x0002,
    /// TIME_BASED_FILTER.
    TIME_BASED_FILTER = 0x0004,
    /// A topic's name.
    TOPIC_NAME = 0x0005,
    /// OWNERSHIP_STRENGTH.
    OWNERSHIP_STRENGTH = 0x0006,
    /// A type's name.
    TYPE_NAME = 0x0007,
    /// The domain of a participant.
    DOMAIN_ID = 0x000f,
    /// A participant's protocol version.
    PROTOCOL_VERSION = 0x0015,
    /// A participant's vendor.
    VENDOR_ID = 0x0016,
    /// RELIABILITY.
    RELIABILITY = 0x001a,
    /// LIVELINESS.
    LIVELINESS = 0x001b,
    /// DURABILITY.
    DURABILITY = 0x001d,
    /// DURABILITY_SERVICE.
    DURABILITY_SERVICE = 0x001e,
    /// OWNERSHIP.
    OWNERSHIP = 0x001f,
    /// PRESENTATION.
    PRESENTATION = 0x0021,
    /// DEADLINE.
    DEADLINE = 0x0023,
    /// DESTINATION_ORDER.
    DESTINATION_ORDER = 0x0025,
    /// LATENCY_BUDGET.
    LATENCY_BUDGET = 0x0027,
    /// PARTITION.
    PARTITION = 0x0029,
    /// LIFESPAN.
    LIFESPAN = 0x002b,
    /// USER_DATA.
    USER_DATA = 0x002c,
    /// GROUP_DATA.
    GROUP_DATA = 0x002d,
    /// TOPIC_DATA.
    TOPIC_DATA = 0x002e,
    /// Where an endpoint receives, if not at its participant's default.
    UNICAST_LOCATOR = 0x002f,
    /// Where an endpoint listens to a group, if not at its participant's default.
    MULTICAST_LOCATOR = 0x0030,
    /// Where a participant's endpoints receive.
    DEFAULT_UNICAST_LOCATOR = 0x0031,
    /// Where a participant's discovery receives.
    METATRAFFIC_UNICAST_LOCATOR = 0x0032,
    /// Where a participant's discovery listens to a group.
    METATRAFFIC_MULTICAST_LOCATOR = 0x0033,
    /// A reader's filter.
    CONTENT_FILTER_PROPERTY = 0x0035,
    /// HISTORY.
    HISTORY = 0x0040,
    /// RESOURCE_LIMITS.
    RESOURCE_LIMITS = 0x0041,
    /// Whether a reader wants the writer's QoS with the data.
    EXPECTS_INLINE_QOS = 0x0043,
    /// Where a participant's endpoints listen to a group.
    DEFAULT_MULTICAST_LOCATOR = 0x0048,
    /// TRANSPORT_PRIORITY.
    TRANSPORT_PRIORITY = 0x0049,
    /// A participant's GUID.
    PARTICIPANT_GUID = 0x0050,
    /// The GUID of a publisher or subscriber.
    GROUP_GUID = 0x0052,
    /// The entity id in it.
    GROUP_ENTITY_ID = 0x0053,
    /// Which filters of readers a sample passes.
    CONTENT_FILTER_INFO = 0x0055,
    /// The first sample of a coherent set.
    COHERENT_SET = 0x0056,
    /// Which built-in endpoints a participant has.
    BUILTIN_ENDPOINT_SET = 0x0058,
    /// Names and values.
    PROPERTY_LIST = 0x0059,
    /// An endpoint's GUID.
    ENDPOINT_GUID = 0x005a,
    /// An upper bound of a sample's size.
    TYPE_MAX_SIZE_SERIALIZED = 0x0060,
    /// Who wrote a relayed sample first.
    ORIGINAL_WRITER_INFO = 0x0061,
    /// What an entity is called.
    ENTITY_NAME = 0x0062,
    /// Coherent sets across the writers of a group.
    GROUP_COHERENT_SET = 0x0063,
    /// A sample's place among those of its group.
    GROUP_SEQ_NUM = 0x0064,
    /// The writers that a group has when one of its coherent sets ends.
    WRITER_GROUP_INFO = 0x0065,
    /// The hash of an instance's key.
    KEY_HASH = 0x0070,
    /// Whether an instance is disposed or unregistered.
    STATUS_INFO = 0x0071,
    /// Encodings offered or accepted (XTypes 1.3 §7.6.3.1.1).
    DATA_REPRESENTATION = 0x0073,
    /// How alike types must be (XTypes 1.3 §7.6.3.4).
    TYPE_CONSISTENCY = 0x0074,
    /// Hashes of the type (XTypes 1.3 §7.6.3.2.2).
    TYPE_INFORMATION = 0x0075,
    /// The sample that a sample answers (DDS-RPC 1.0 §7.8.2).
    RELATED_SAMPLE_IDENTITY = 0x0083,
    /// A name that sets domains with one number apart.
    DOMAIN_TAG = 0x4014,
    /// The same as RELATED_SAMPLE_IDENTITY: what older RTI Connext and Fast DDS read.
    LEGACY_RELATED_SAMPLE_IDENTITY = 0x800f,
    /// Tickwire's own: where a participant can be met by others of its machine.
    TICKWIRE_SHARED_MEMORY = 0x8054,
    /// Tickwire's own, where a writer is disposed: the number of the last change that it has written.
    TICKWIRE_LAST_CHANGE = 0x8055,
}

impl ParameterId {
    /// Whether a reader that does not know the id must drop the whole list.
    pub const fn must_understand(self) -> bool {
        self.0 & 0x4000 != 0
    }

    /// Whether the id means what a vendor says.
    pub const fn is_vendor_specific(self) -> bool {
        self.0 & 0x8000 != 0
    }
}

/// One entry of a list.
///
/// ```text
///  0                   1                   2                   3
/// +---------------+---------------+
/// |  parameter id | length (of 4) |  in the byte order of the list
/// +---------------+---------------+
/// ~             value             ~
/// +-------------------------------+
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// What it is about.
    pub id: ParameterId,
    value: Cursor<'a>,
}

impl<'a> Parameter<'a> {
    /// The value, padding included.
    pub fn value(&self) -> &'a [u8] {
        self.value.rest()
    }

    pub(crate) fn cursor(&self) -> Cursor<'a> {
        self.value
    }
}

/// Iterates over a list up to its sentinel. Padding is left out; a list without a sentinel ends
/// with an error.
#[derive(Clone, Debug)]
pub struct ParameterList<'a> {
    rest: Cursor<'a>,
    done: bool,
}

impl<'a> ParameterList<'a> {
    /// The list at the start of `bytes`.
    pub fn new(bytes: &'a [u8], little_endian: bool) -> Self {
        Self::at(Cursor::new(bytes, 0, little_endian))
    }

    pub(crate) fn at(rest: Cursor<'a>) -> Self {
        Self { rest, done: false }
    }

    /// The next parameter; `None` at the sentinel, whose length says nothing.
    fn parameter(&mut self) -> Result<Option<Parameter<'a>>, Malformed> {
        let id = ParameterId(self.rest.u16("parameter id, or the sentinel, is missing")?);
        let at = self.rest;
        let len = self.rest.u16("parameter length")?;
        if id == ParameterId::SENTINEL {
            return Ok(None);
        }
        if len % 4 != 0 {
            return Err(at.malformed("parameter length is not a multiple of 4"));
        }
        let value = self
            .rest
            .split(usize::from(len), "")
            .map_err(|_| at.malformed("parameter goes past the end"))?;
        Ok(Some(Parameter { id, value }))
    }
}

impl<'a> Iterator for ParameterList<'a> {
    type Item = Result<Parameter<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            match self.parameter() {
                Ok(Some(parameter)) if parameter.id == ParameterId::PAD => {}
                Ok(Some(parameter)) => return Some(Ok(parameter)),
                Ok(None) => self.done = true,
                Err(malformed) => {
                    self.done = true;
                    return Some(Err(malformed));
                }
            }
        }
        None
    }
}

/// Bytes of the list at `from`, sentinel included.
pub(crate) fn list_len(from: Cursor<'_>) -> Result<usize, Malformed> {
    let mut list = ParameterList::at(from);
    list.by_ref()
        .try_for_each(|parameter| parameter.map(drop))?;
    Ok(list.rest.offset() - from.offset())
}

/// Appends parameters to a buffer, little-endian, each padded to four bytes.
#[derive(Debug)]
pub struct ParameterListWriter<'a> {
    bytes: &'a mut Vec<u8>,
}

/// A value is longer than the 65,532 bytes that a parameter can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterTooLong {
    /// Which one.
    pub id: ParameterId,
}

impl fmt::Display for ParameterTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is longer than 65,532 bytes", self.id)
    }
}

impl core::error::Error for ParameterTooLong {}

impl<'a> ParameterListWriter<'a> {
    /// Starts a list at the end of `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Appends one parameter.
    ///
    /// # Errors
    /// When the value is too long; then the list is as before.
    pub fn parameter(&mut self, id: ParameterId, value: &[u8]) -> Result<(), ParameterTooLong> {
        self.parameter_with(id, |out| out.raw(value))
    }

    pub(crate) fn parameter_with(
        &mut self,
        id: ParameterId,
        value: impl FnOnce(&mut Out<'_>),
    ) -> Result<(), ParameterTooLong> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&id.0.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 2]);
        value(&mut Out {
            bytes: self.bytes,
            little_endian: true,
        });
        let padding = start.wrapping_sub(self.bytes.len()) % 4;
        self.bytes.extend_from_slice(&[0; 3][..padding]);
        match u16::try_from(self.bytes.len() - start - 4) {
            Ok(len) => {
                self.bytes[start + 2..start + 4].copy_from_slice(&len.to_le_bytes());
                Ok(())
            }
            Err(_) => {
                self.bytes.truncate(start);
                Err(ParameterTooLong { id })
            }
        }
    }

    /// KEY_HASH.
    pub fn key_hash(&mut self, hash: [u8; 16]) {
        self.fixed(ParameterId::KEY_HASH, &hash);
    }

    /// STATUS_INFO.
    pub fn status_info(&mut self, status: StatusInfo) {
        self.fixed(ParameterId::STATUS_INFO, &status.0.to_be_bytes());
    }

    /// COHERENT_SET, GROUP_SEQ_NUM, GROUP_COHERENT_SET and WRITER_GROUP_INFO, each unless it says
    /// nothing.
    pub fn place(&mut self, place: &Place) {
        let parameters = [
            (ParameterId::COHERENT_SET, place.coherent_set),
            (ParameterId::GROUP_SEQ_NUM, place.group.number),
            (ParameterId::GROUP_COHERENT_SET, place.group.coherent_set),
        ];
        for (id, number) in parameters {
            if number != SequenceNumber::ZERO {
                let written = self.parameter_with(id, |out| number.write(out));
                debug_assert_eq!(written, Ok(()));
            }
        }
        if place.group.writers != GroupDigest::NONE {
            self.fixed(ParameterId::WRITER_GROUP_INFO, &place.group.writers.0);
        }
    }

    /// ORIGINAL_WRITER_INFO (RTPS 2.5 §9.6.4.6), without QoS of that writer.
    ///
    /// ```text
    /// +---------------+---------------+
    /// |      61       |      28       |
    /// +---------------+---------------+
    /// ~          writer GUID          ~  16 bytes
    /// +-------------------------------+
    /// ~        sequence number        ~  high, low
    /// +---------------+---------------+
    /// |       1       |       0       |  an empty parameter list
    /// +---------------+---------------+
    /// ```
    pub fn original_writer(&mut self, original: &OriginalWriter) {
        let written = self.parameter_with(ParameterId::ORIGINAL_WRITER_INFO, |out| {
            out.raw(&original.guid.to_bytes());
            original.sequence_number.write(out);
            out.raw(&[1, 0, 0, 0]);
        });
        debug_assert_eq!(written, Ok(()));
    }

    /// RELATED_SAMPLE_IDENTITY, by both of its ids: peers read the one or the other.
    ///
    /// ```text
    /// +---------------+---------------+
    /// |   83, 800f    |      24       |
    /// +---------------+---------------+
    /// ~          writer GUID          ~  16 bytes
    /// +-------------------------------+
    /// ~        sequence number        ~  high, low
    /// +-------------------------------+
    /// ```
    pub fn related_sample(&mut self, related: &SampleIdentity) {
        for id in [
            ParameterId::RELATED_SAMPLE_IDENTITY,
            ParameterId::LEGACY_RELATED_SAMPLE_IDENTITY,
        ] {
            let written = self.parameter_with(id, |out| {
                out.raw(&related.writer.to_bytes());
                related.sequence_number.write(out);
            });
            debug_assert_eq!(written, Ok(()));
        }
    }

    /// Ends the list.
    pub fn finish(self) {
        self.bytes.extend_from_slice(&[1, 0, 0, 0]);
    }

    /// A value of a few bytes, which is never too long.
    fn fixed(&mut self, id: ParameterId, value: &[u8]) {
        let written = self.parameter(id, value);
        debug_assert_eq!(written, Ok(()));
    }
}

/// What a DATA says about its instance (RTPS 2.5 §9.6.4.4); big-endian in every list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StatusInfo(pub u32);

impl StatusInfo {
    /// The instance is gone.
    pub const DISPOSED: Self = Self(1);
    /// The writer no longer speaks for the instance.
    pub const UNREGISTERED: Self = Self(2);
    /// The writer's filter held the sample back.
    pub const FILTERED: Self = Self(4);

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is said.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl<'a> InlineQos<'a> {
    /// The parameters.
    pub fn iter(&self) -> ParameterList<'a> {
        ParameterList {
            rest: Cursor::new(self.bytes, 0, self.little_endian),
            done: self.bytes.is_empty(),
        }
    }

    /// A list of nothing but the hash of the instance's key, little-endian, as our samples have it.
    pub(crate) fn of_key_hash(hash: [u8; 16]) -> [u8; KEY_HASH_LIST_LEN] {
        let mut list = [0; KEY_HASH_LIST_LEN];
        let (head, rest) = list.split_at_mut(4);
        head.copy_from_slice(&KEY_HASH_HEAD);
        let (value, end) = rest.split_at_mut(16);
        value.copy_from_slice(&hash);
        end.copy_from_slice(&LIST_END);
        list
    }

    /// That hash, if these parameters are such a list.
    #[inline]
    pub fn key_hash_alone(&self) -> Option<[u8; 16]> {
        let list: &[u8; KEY_HASH_LIST_LEN] = self.bytes.try_into().ok()?;
        let (head, rest) = list.split_first_chunk()?;
        let (hash, end) = rest.split_first_chunk()?;
        (self.little_endian && *head == KEY_HASH_HEAD && *end == LIST_END).then_some(*hash)
    }

    /// The hash of the instance's key, if the writer sent it.
    pub fn key_hash(&self) -> Option<[u8; 16]> {
        self.find(ParameterId::KEY_HASH)?.array("KEY_HASH").ok()
    }

    /// What the sample says about its instance; nothing by default.
    pub fn status_info(&self) -> StatusInfo {
        let value = self.find(ParameterId::STATUS_INFO);
        let bytes = value.and_then(|mut value| value.array("STATUS_INFO").ok());
        StatusInfo(bytes.map_or(0, u32::from_be_bytes))
    }

    /// Where the change stands among others; nowhere by default. Numbers that no change can have
    /// count as absent.
    pub fn place(&self) -> Place {
        let number = |id, what| {
            let number = SequenceNumber::read(&mut self.find(id)?, what).ok()?;
            let is_possible = number >= SequenceNumber::FIRST && number.0 < i64::MAX;
            (is_possible || number == SequenceNumber::UNKNOWN).then_some(number)
        };
        let coherent_set = number(ParameterId::COHERENT_SET, "COHERENT_SET");
        let group = GroupPlace {
            number: number(ParameterId::GROUP_SEQ_NUM, "GROUP_SEQ_NUM").unwrap_or_default(),
            coherent_set: number(ParameterId::GROUP_COHERENT_SET, "GROUP_COHERENT_SET")
                .unwrap_or_default(),
            writers: self.group_digest().unwrap_or_default(),
        };
        Place {
            coherent_set: coherent_set.unwrap_or_default(),
            group,
        }
    }

    fn group_digest(&self) -> Option<GroupDigest> {
        let mut from = self.find(ParameterId::WRITER_GROUP_INFO)?;
        from.array("WRITER_GROUP_INFO").ok().map(GroupDigest)
    }

    /// Who wrote the sample first, if it was another writer. Numbers that no change can have count as
    /// absent; that writer's QoS, if it is there, is not read.
    pub fn original_writer(&self) -> Option<OriginalWriter> {
        let what = "ORIGINAL_WRITER_INFO";
        let mut from = self.find(ParameterId::ORIGINAL_WRITER_INFO)?;
        let guid = Guid::from_bytes(from.array(what).ok()?);
        let sequence_number = SequenceNumber::read(&mut from, what).ok()?;
        let is_possible = sequence_number >= SequenceNumber::FIRST && sequence_number.0 < i64::MAX;
        is_possible.then_some(OriginalWriter {
            guid,
            sequence_number,
        })
    }

    /// The sample that this one answers, by either of its ids. A number that no sample can have counts as
    /// absent: requests of Fast DDS name a reader by it.
    pub fn related_sample(&self) -> Option<SampleIdentity> {
        let what = "RELATED_SAMPLE_IDENTITY";
        let mut from = self
            .find(ParameterId::RELATED_SAMPLE_IDENTITY)
            .or_else(|| self.find(ParameterId::LEGACY_RELATED_SAMPLE_IDENTITY))?;
        let writer = Guid::from_bytes(from.array(what).ok()?);
        let sequence_number = SequenceNumber::read(&mut from, what).ok()?;
        let is_possible = sequence_number >= SequenceNumber::FIRST && sequence_number.0 < i64::MAX;
        is_possible.then_some(SampleIdentity {
            writer,
            sequence_number,
        })
    }

    /// Whether every parameter that must be understood is one of those above; if not, the sample
    /// must be dropped (RTPS 2.5 §9.6.3). We know none with that mark in inline QoS.
    pub fn is_understood(&self) -> bool {
        self.iter()
            .all(|parameter| parameter.is_ok_and(|parameter| !parameter.id.must_understand()))
    }

    fn find(&self, id: ParameterId) -> Option<Cursor<'a>> {
        let parameter = self.iter().map_while(Result::ok).find(|p| p.id == id)?;
        Some(parameter.value)
    }
}
/// Bytes of a list that has a key hash and its end.
pub(crate) const KEY_HASH_LIST_LEN: usize = 4 + 16 + 4;
const KEY_HASH_HEAD: [u8; 4] = list_head(ParameterId::KEY_HASH, 16);
const LIST_END: [u8; 4] = list_head(ParameterId::SENTINEL, 0);

/// Id and length of a parameter, little-endian.
const fn list_head(id: ParameterId, len: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (id.0.to_le_bytes(), len.to_le_bytes());
    [a, b, c, d]
}
