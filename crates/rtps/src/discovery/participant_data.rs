//! What a participant announces of itself (SPDP; RTPS 2.5 §8.5.3.2 and §9.6.3).
//!
//! Knows the form only; when it is sent and how long it holds is decided elsewhere.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_base::{Duration, Locator};

use super::DiscoveryDataError;
use super::values::{
    octets_parameter, open_list, read_bool, read_guid, read_key, read_octets, read_properties,
    read_string, start_list, string_parameter, unknown, write_key, write_len, write_string,
};
use crate::wire::{
    EntityId, Guid, GuidPrefix, Malformed, Parameter, ParameterId, ParameterListWriter,
    ParameterTooLong, ProtocolVersion, VendorId, read_duration, read_locator, write_duration,
    write_locator,
};

/// Which built-in endpoints a participant has, as a bit set (RTPS 2.5 §9.3.2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct BuiltinEndpoints(pub u32);

impl BuiltinEndpoints {
    /// Announces participants.
    pub const PARTICIPANT_ANNOUNCER: Self = Self(1);
    /// Hears of participants.
    pub const PARTICIPANT_DETECTOR: Self = Self(1 << 1);
    /// Announces writers.
    pub const PUBLICATIONS_ANNOUNCER: Self = Self(1 << 2);
    /// Hears of writers.
    pub const PUBLICATIONS_DETECTOR: Self = Self(1 << 3);
    /// Announces readers.
    pub const SUBSCRIPTIONS_ANNOUNCER: Self = Self(1 << 4);
    /// Hears of readers.
    pub const SUBSCRIPTIONS_DETECTOR: Self = Self(1 << 5);
    /// Asserts liveliness.
    pub const MESSAGE_WRITER: Self = Self(1 << 10);
    /// Hears assertions of liveliness.
    pub const MESSAGE_READER: Self = Self(1 << 11);
    /// Asks for types.
    pub const TYPE_LOOKUP_REQUEST_WRITER: Self = Self(1 << 12);
    /// Is asked for types.
    pub const TYPE_LOOKUP_REQUEST_READER: Self = Self(1 << 13);
    /// Answers about types.
    pub const TYPE_LOOKUP_REPLY_WRITER: Self = Self(1 << 14);
    /// Hears answers about types.
    pub const TYPE_LOOKUP_REPLY_READER: Self = Self(1 << 15);

    /// What a rendezvous has.
    pub(crate) const RENDEZVOUS: Self = Self::PARTICIPANT_ANNOUNCER.and(Self::PARTICIPANT_DETECTOR);

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are there.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Where a participant is met by others that share its machine, to come to its writers' logs in shared
/// memory. A parameter of Tickwire's own, which others skip.
///
/// ```text
/// 0          1                    4                20               36
/// +---------+--------------------+----------------+----------------+
/// | version |  0                 |    machine     |    meeting     |
/// +---------+--------------------+----------------+----------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedMemoryAddress {
    /// What is spoken there: participants of different versions use the network.
    pub version: u8,
    /// Equal for all participants that can meet: a hash of what tells their machine, and their network
    /// namespace in it, from others.
    pub machine: [u8; 16],
    /// The random name of the place.
    pub meeting: [u8; 16],
}

impl SharedMemoryAddress {
    fn to_bytes(self) -> [u8; 36] {
        let mut bytes = [0; 36];
        bytes[0] = self.version;
        bytes[4..20].copy_from_slice(&self.machine);
        bytes[20..].copy_from_slice(&self.meeting);
        bytes
    }

    /// `None` if that are too few bytes. More may come one day.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (&[version, _, _, _], rest) = bytes.split_first_chunk()?;
        let (&machine, rest) = rest.split_first_chunk()?;
        let (&meeting, _) = rest.split_first_chunk()?;
        Some(Self {
            version,
            machine,
            meeting,
        })
    }
}

/// What a participant announces of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParticipantData {
    /// Who it is.
    pub guid_prefix: GuidPrefix,
    /// The protocol that it speaks.
    pub version: ProtocolVersion,
    /// Who made it.
    pub vendor: VendorId,
    /// The domain that it is in, if it says so.
    pub domain_id: Option<u32>,
    /// Sets apart what has the same domain id. Default "".
    pub domain_tag: String,
    /// The built-in endpoints that it has.
    pub builtin_endpoints: BuiltinEndpoints,
    /// Where its discovery receives.
    pub metatraffic_unicast: Vec<Locator>,
    /// Where its discovery listens to groups.
    pub metatraffic_multicast: Vec<Locator>,
    /// Where its endpoints receive, unless they say otherwise.
    pub default_unicast: Vec<Locator>,
    /// Where its endpoints listen to groups, unless they say otherwise.
    pub default_multicast: Vec<Locator>,
    /// How long it counts as there after its last sign. Default 100 s.
    pub lease_duration: Duration,
    /// Whether its built-in readers want inline QoS. Default no.
    pub expects_inline_qos: bool,
    /// What it is called. Default "".
    pub entity_name: String,
    /// Names and values that say more about it.
    pub properties: Vec<(String, String)>,
    /// Bytes that the application attached.
    pub user_data: Vec<u8>,
    /// Where others of its machine come to logs in shared memory, if it offers any. Only believed of
    /// Tickwire's participants.
    pub shared_memory: Option<SharedMemoryAddress>,
}

impl ParticipantData {
    /// The standard's lease for those who announce none (RTPS 2.5 §9.6.3.2).
    pub const DEFAULT_LEASE: Duration = Duration::from_secs(100);

    /// One of ours, not reachable yet.
    pub fn new(guid_prefix: GuidPrefix) -> Self {
        Self {
            guid_prefix,
            version: ProtocolVersion::CURRENT,
            vendor: VendorId::TICKWIRE,
            domain_id: None,
            domain_tag: String::new(),
            builtin_endpoints: BuiltinEndpoints::default(),
            metatraffic_unicast: Vec::new(),
            metatraffic_multicast: Vec::new(),
            default_unicast: Vec::new(),
            default_multicast: Vec::new(),
            lease_duration: Self::DEFAULT_LEASE,
            expects_inline_qos: false,
            entity_name: String::new(),
            properties: Vec::new(),
            user_data: Vec::new(),
            shared_memory: None,
        }
    }

    /// Whether it is a [`Rendezvous`](crate::rendezvous::Rendezvous): of ours, only these have nothing
    /// but announcements.
    pub fn is_rendezvous(&self) -> bool {
        self.vendor == VendorId::TICKWIRE && self.builtin_endpoints == BuiltinEndpoints::RENDEZVOUS
    }

    /// Its GUID.
    pub fn guid(&self) -> Guid {
        Guid::new(self.guid_prefix, EntityId::PARTICIPANT)
    }

    /// Appends the announcement, encapsulation header included.
    ///
    /// # Errors
    /// When a name, the user data or the properties are too long for a parameter.
    pub fn write(&self, payload: &mut Vec<u8>) -> Result<(), ParameterTooLong> {
        let mut list = start_list(payload);
        let VendorId(vendor) = self.vendor;
        let version = [self.version.major, self.version.minor];
        list.parameter(ParameterId::PROTOCOL_VERSION, &version)?;
        list.parameter(ParameterId::VENDOR_ID, &vendor)?;
        list.parameter(ParameterId::PARTICIPANT_GUID, &self.guid().to_bytes())?;
        if let Some(domain_id) = self.domain_id {
            list.parameter_with(ParameterId::DOMAIN_ID, |out| out.u32(domain_id))?;
        }
        if !self.domain_tag.is_empty() {
            string_parameter(&mut list, ParameterId::DOMAIN_TAG, &self.domain_tag)?;
        }
        list.parameter_with(ParameterId::BUILTIN_ENDPOINT_SET, |out| {
            out.u32(self.builtin_endpoints.0);
        })?;
        list.parameter_with(ParameterId::PARTICIPANT_LEASE_DURATION, |out| {
            write_duration(out, self.lease_duration);
        })?;
        self.write_locators(&mut list)?;
        self.write_names(&mut list)?;
        list.finish();
        Ok(())
    }

    fn write_locators(&self, list: &mut ParameterListWriter<'_>) -> Result<(), ParameterTooLong> {
        let locators = [
            (
                ParameterId::METATRAFFIC_UNICAST_LOCATOR,
                &self.metatraffic_unicast,
            ),
            (
                ParameterId::METATRAFFIC_MULTICAST_LOCATOR,
                &self.metatraffic_multicast,
            ),
            (ParameterId::DEFAULT_UNICAST_LOCATOR, &self.default_unicast),
            (
                ParameterId::DEFAULT_MULTICAST_LOCATOR,
                &self.default_multicast,
            ),
        ];
        locators
            .into_iter()
            .try_for_each(|(id, locators)| locator_parameters(list, id, locators))
    }

    fn write_names(&self, list: &mut ParameterListWriter<'_>) -> Result<(), ParameterTooLong> {
        if self.expects_inline_qos {
            list.parameter(ParameterId::EXPECTS_INLINE_QOS, &[1])?;
        }
        if !self.entity_name.is_empty() {
            string_parameter(list, ParameterId::ENTITY_NAME, &self.entity_name)?;
        }
        if !self.properties.is_empty() {
            list.parameter_with(ParameterId::PROPERTY_LIST, |out| {
                write_len(out, self.properties.len());
                for (name, value) in &self.properties {
                    write_string(out, name);
                    write_string(out, value);
                }
                // No binary properties.
                out.u32(0);
            })?;
        }
        if let Some(address) = self.shared_memory {
            list.parameter(ParameterId::TICKWIRE_SHARED_MEMORY, &address.to_bytes())?;
        }
        octets_parameter(list, ParameterId::USER_DATA, &self.user_data)
    }

    /// Reads an announcement. Parameters that nobody here knows are skipped.
    ///
    /// # Errors
    /// When it is malformed, says what must be understood but is not, or does not say who it is.
    pub fn read(payload: &[u8]) -> Result<Self, DiscoveryDataError> {
        let mut data = Self {
            vendor: VendorId::UNKNOWN,
            ..Self::new(GuidPrefix::UNKNOWN)
        };
        for parameter in open_list(payload)? {
            let parameter = parameter?;
            if !data.read_identity(&parameter)? && !data.read_other(&parameter)? {
                unknown(parameter.id)?;
            }
        }
        // The id means something else to other vendors.
        data.shared_memory = data
            .shared_memory
            .filter(|_| data.vendor == VendorId::TICKWIRE);
        match data.guid_prefix {
            GuidPrefix::UNKNOWN => Err(DiscoveryDataError::Missing(ParameterId::PARTICIPANT_GUID)),
            _ => Ok(data),
        }
    }

    /// Applies a parameter about who and where; false if it is none.
    fn read_identity(&mut self, parameter: &Parameter<'_>) -> Result<bool, Malformed> {
        let mut from = parameter.cursor();
        match parameter.id {
            ParameterId::PROTOCOL_VERSION => {
                let [major, minor] = from.array("PROTOCOL_VERSION")?;
                self.version = ProtocolVersion { major, minor };
            }
            ParameterId::VENDOR_ID => self.vendor = VendorId(from.array("VENDORID")?),
            ParameterId::PARTICIPANT_GUID => self.guid_prefix = read_guid(parameter)?.prefix,
            ParameterId::DOMAIN_ID => self.domain_id = Some(from.u32("DOMAIN_ID")?),
            ParameterId::DOMAIN_TAG => self.domain_tag = read_string(&mut from)?,
            ParameterId::METATRAFFIC_UNICAST_LOCATOR => {
                push_locator(&mut self.metatraffic_unicast, parameter)?;
            }
            ParameterId::METATRAFFIC_MULTICAST_LOCATOR => {
                push_locator(&mut self.metatraffic_multicast, parameter)?;
            }
            ParameterId::DEFAULT_UNICAST_LOCATOR => {
                push_locator(&mut self.default_unicast, parameter)?;
            }
            ParameterId::DEFAULT_MULTICAST_LOCATOR => {
                push_locator(&mut self.default_multicast, parameter)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Applies a parameter about anything else; false if nobody here knows it.
    fn read_other(&mut self, parameter: &Parameter<'_>) -> Result<bool, Malformed> {
        let mut from = parameter.cursor();
        match parameter.id {
            ParameterId::BUILTIN_ENDPOINT_SET => {
                self.builtin_endpoints = BuiltinEndpoints(from.u32("BUILTIN_ENDPOINT_SET")?);
            }
            ParameterId::PARTICIPANT_LEASE_DURATION => {
                self.lease_duration = read_duration(&mut from, "PARTICIPANT_LEASE_DURATION")?;
            }
            ParameterId::EXPECTS_INLINE_QOS => self.expects_inline_qos = read_bool(&mut from)?,
            ParameterId::ENTITY_NAME => self.entity_name = read_string(&mut from)?,
            ParameterId::PROPERTY_LIST => self.properties = read_properties(&mut from)?,
            ParameterId::USER_DATA => self.user_data = read_octets(&mut from)?,
            ParameterId::TICKWIRE_SHARED_MEMORY => {
                self.shared_memory = SharedMemoryAddress::of(parameter.value());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Appends the payload of a dispose: who leaves.
    pub fn write_key(payload: &mut Vec<u8>, guid_prefix: GuidPrefix) {
        let guid = Guid::new(guid_prefix, EntityId::PARTICIPANT);
        write_key(payload, ParameterId::PARTICIPANT_GUID, guid, |_| {});
    }

    /// Reads the payload of a dispose.
    ///
    /// # Errors
    /// When it is malformed or does not say who leaves.
    pub fn read_key(payload: &[u8]) -> Result<GuidPrefix, DiscoveryDataError> {
        let guid = read_key(payload, ParameterId::PARTICIPANT_GUID)?;
        guid.map(|guid| guid.prefix)
            .ok_or(DiscoveryDataError::Missing(ParameterId::PARTICIPANT_GUID))
    }
}

/// Writes one parameter for each locator.
pub(super) fn locator_parameters(
    list: &mut ParameterListWriter<'_>,
    id: ParameterId,
    locators: &[Locator],
) -> Result<(), ParameterTooLong> {
    locators
        .iter()
        .try_for_each(|locator| list.parameter_with(id, |out| write_locator(out, locator)))
}

/// Keeps a locator, as long as there are not absurdly many.
pub(super) fn push_locator(
    locators: &mut Vec<Locator>,
    parameter: &Parameter<'_>,
) -> Result<(), Malformed> {
    let locator = read_locator(&mut parameter.cursor(), "locator")?;
    if locators.len() < MAX_LOCATORS && !locators.contains(&locator) {
        locators.push(locator);
    }
    Ok(())
}

/// Locators kept of each kind. Hosts with more interfaces than this announce some in vain.
const MAX_LOCATORS: usize = 32;
