//! What a participant announces of one of its writers or readers (SEDP; RTPS 2.5 §8.5.4.2).
//!
//! One type for both roles, as all but a few policies are the same.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tickwire_base::Locator;
use tickwire_cdr::Extensibility;
use tickwire_cdr::xtypes::TypeObjects;

use super::DiscoveryDataError;
use super::content_filter::ContentFilterProperty;
use super::participant_data::{locator_parameters, push_locator};
use super::qos_parameters::{read_policy, write_policies};
use super::type_matching::{self, Agreement, Wanted};
use super::values::{
    open_list, read_bool, read_guid, read_key, read_string, start_list, string_parameter, unknown,
    write_key,
};
use crate::qos::{EndpointQos, Mismatch, Unmet, Verdict, check};
use crate::wire::{
    EntityId, Guid, GuidPrefix, Malformed, Parameter, ParameterId, ParameterTooLong,
    ProtocolVersion, SequenceNumber, VendorId,
};

/// Which end of a topic an endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It writes.
    Writer,
    /// It reads.
    Reader,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
        })
    }
}

/// What comparing two endpoints leads to.
#[derive(Debug)]
pub(super) enum Judgement {
    /// They match, or not.
    Decided(Verdict),
    /// They match if their types do, which these objects tell.
    Undecided(Wanted),
}

/// What is known of a writer or a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointData {
    /// Which end of the topic it is.
    pub role: Role,
    /// Who it is.
    pub guid: Guid,
    /// The topic.
    pub topic_name: String,
    /// The registered name of the topic's type.
    pub type_name: String,
    /// All its policies.
    pub qos: EndpointQos,
    /// Where it receives; empty for its participant's default.
    pub unicast_locators: Vec<Locator>,
    /// Where it listens to groups; empty for its participant's default.
    pub multicast_locators: Vec<Locator>,
    /// Whether a reader wants the writer's QoS with the data. Default no.
    pub expects_inline_qos: bool,
    /// TypeInformation in little-endian XCDR2, as it stands on the wire; it may be followed by up
    /// to three bytes of padding. Empty if not announced, or announced in big-endian.
    pub type_information: Vec<u8>,
    /// How its type may change, if that is known. It is not announced, so only our own endpoints
    /// have it.
    pub extensibility: Option<Extensibility>,
    /// What a reader wants to see of the topic. Default everything.
    pub content_filter: Option<ContentFilterProperty>,
    /// The publisher or subscriber that it belongs to, where that matters: with PRESENTATION of
    /// GROUP scope. Default none.
    pub group: Option<Guid>,
    /// What it is called. Default "".
    pub entity_name: String,
}

impl EndpointData {
    /// An endpoint with the standard's default QoS for its role.
    pub fn new(role: Role, guid: Guid, topic_name: String, type_name: String) -> Self {
        Self {
            role,
            guid,
            topic_name,
            type_name,
            qos: match role {
                Role::Writer => EndpointQos::writer(),
                Role::Reader => EndpointQos::reader(),
            },
            unicast_locators: Vec::new(),
            multicast_locators: Vec::new(),
            expects_inline_qos: false,
            type_information: Vec::new(),
            extensibility: None,
            content_filter: None,
            group: None,
            entity_name: String::new(),
        }
    }

    /// Whether two endpoints of one topic match, and if not, why. `None` if they have no topic in
    /// common or the same role.
    ///
    /// Types agree if both announce the same, or if the writer's is assignable to the reader's as
    /// far as that reader's TYPE_CONSISTENCY_ENFORCEMENT says (XTypes 1.3 §7.6.3.4.2). If they are
    /// not `known`, they agree if they have one name.
    pub fn verdict(&self, other: &Self, known: &TypeObjects) -> Option<Verdict> {
        let types = |writer: &Self, reader: &Self| type_matching::compare(writer, reader, known);
        match self.judge(other, types)? {
            Judgement::Decided(verdict) => Some(verdict),
            Judgement::Undecided(_) => None,
        }
    }

    /// The same, where `types` says whether the types of the writer and the reader agree.
    pub(super) fn judge(
        &self,
        other: &Self,
        types: impl FnOnce(&Self, &Self) -> Agreement,
    ) -> Option<Judgement> {
        let (writer, reader) = match (self.role, other.role) {
            (Role::Writer, Role::Reader) => (self, other),
            (Role::Reader, Role::Writer) => (other, self),
            _ => return None,
        };
        if writer.topic_name != reader.topic_name {
            return None;
        }
        let mut verdict = check(&writer.qos, &reader.qos);
        let keyed = Unmet {
            offered: writer.guid.entity.is_keyed(),
            requested: reader.guid.entity.is_keyed(),
        };
        if keyed.offered != keyed.requested {
            verdict.add(Mismatch::Keyed(keyed));
        }
        match types(writer, reader) {
            Agreement::Agree => {}
            Agreement::Differ(mismatch) => verdict.add(mismatch),
            // What does not match for other reasons is not worth a question.
            Agreement::Undecided(wanted) if verdict.is_match() => {
                return Some(Judgement::Undecided(wanted));
            }
            Agreement::Undecided(_) => {}
        }
        Some(Judgement::Decided(verdict))
    }

    /// Appends the announcement, encapsulation header included.
    ///
    /// # Errors
    /// When a name, octets or the TypeInformation are too long for a parameter.
    pub fn write(&self, payload: &mut Vec<u8>) -> Result<(), ParameterTooLong> {
        let mut list = start_list(payload);
        let participant = Guid::new(self.guid.prefix, EntityId::PARTICIPANT);
        let ProtocolVersion { major, minor } = ProtocolVersion::CURRENT;
        list.parameter(ParameterId::PROTOCOL_VERSION, &[major, minor])?;
        list.parameter(ParameterId::VENDOR_ID, &VendorId::TICKWIRE.0)?;
        list.parameter(ParameterId::ENDPOINT_GUID, &self.guid.to_bytes())?;
        list.parameter(ParameterId::PARTICIPANT_GUID, &participant.to_bytes())?;
        list.parameter(ParameterId::KEY_HASH, &self.guid.to_bytes())?;
        string_parameter(&mut list, ParameterId::TOPIC_NAME, &self.topic_name)?;
        string_parameter(&mut list, ParameterId::TYPE_NAME, &self.type_name)?;
        write_policies(&mut list, &self.qos, self.role)?;
        let unicast = ParameterId::UNICAST_LOCATOR;
        locator_parameters(&mut list, unicast, &self.unicast_locators)?;
        let multicast = ParameterId::MULTICAST_LOCATOR;
        locator_parameters(&mut list, multicast, &self.multicast_locators)?;
        if self.expects_inline_qos {
            list.parameter(ParameterId::EXPECTS_INLINE_QOS, &[1])?;
        }
        if let Some(filter) = &self.content_filter {
            filter.write(&mut list)?;
        }
        if !self.type_information.is_empty() {
            list.parameter(ParameterId::TYPE_INFORMATION, &self.type_information)?;
        }
        if let Some(group) = self.group {
            list.parameter(ParameterId::GROUP_GUID, &group.to_bytes())?;
            list.parameter(ParameterId::GROUP_ENTITY_ID, &group.entity.0)?;
        }
        if !self.entity_name.is_empty() {
            string_parameter(&mut list, ParameterId::ENTITY_NAME, &self.entity_name)?;
        }
        list.finish();
        Ok(())
    }

    /// Reads the announcement of an endpoint of that role. Parameters that nobody here knows are
    /// skipped. `key_hash` is the one of the inline QoS, which names the endpoint if the list does
    /// not.
    ///
    /// # Errors
    /// When it is malformed, says what must be understood but is not, or leaves out the endpoint,
    /// the topic or the type.
    pub fn read(
        role: Role,
        payload: &[u8],
        key_hash: Option<[u8; 16]>,
    ) -> Result<Self, DiscoveryDataError> {
        let guid = key_hash.map_or(Guid::UNKNOWN, Guid::from_bytes);
        let mut data = Self::new(role, guid, String::new(), String::new());
        for parameter in open_list(payload)? {
            let parameter = parameter?;
            if !data.read_own(&parameter)? && !read_policy(&mut data.qos, &parameter)? {
                unknown(parameter.id)?;
            }
        }
        if let Some(group) = &mut data.group
            && group.prefix == GuidPrefix::UNKNOWN
        {
            group.prefix = data.guid.prefix;
        }
        let missing = [
            (data.guid == Guid::UNKNOWN, ParameterId::ENDPOINT_GUID),
            (data.topic_name.is_empty(), ParameterId::TOPIC_NAME),
            (data.type_name.is_empty(), ParameterId::TYPE_NAME),
        ];
        match missing.into_iter().find(|(is_missing, _)| *is_missing) {
            Some((_, id)) => Err(DiscoveryDataError::Missing(id)),
            None => Ok(data),
        }
    }

    /// Applies a parameter that is no policy; false if it is one, or unknown.
    fn read_own(&mut self, parameter: &Parameter<'_>) -> Result<bool, Malformed> {
        let mut from = parameter.cursor();
        match parameter.id {
            ParameterId::ENDPOINT_GUID => self.guid = read_guid(parameter)?,
            ParameterId::KEY_HASH if self.guid == Guid::UNKNOWN => {
                self.guid = read_guid(parameter)?;
            }
            ParameterId::TOPIC_NAME => self.topic_name = read_string(&mut from)?,
            ParameterId::TYPE_NAME => self.type_name = read_string(&mut from)?,
            ParameterId::UNICAST_LOCATOR => push_locator(&mut self.unicast_locators, parameter)?,
            ParameterId::MULTICAST_LOCATOR => {
                push_locator(&mut self.multicast_locators, parameter)?;
            }
            ParameterId::EXPECTS_INLINE_QOS => self.expects_inline_qos = read_bool(&mut from)?,
            ParameterId::CONTENT_FILTER_PROPERTY => {
                self.content_filter = Some(ContentFilterProperty::read(&mut from)?);
            }
            ParameterId::GROUP_GUID => {
                let group = Some(read_guid(parameter)?).filter(names_group);
                self.group = group.or(self.group);
            }
            ParameterId::GROUP_ENTITY_ID if self.group.is_none() => {
                let entity = EntityId(from.array("GROUP_ENTITYID")?);
                self.group = Some(Guid::new(GuidPrefix::UNKNOWN, entity)).filter(names_group);
            }
            ParameterId::GROUP_ENTITY_ID => {}
            ParameterId::TYPE_INFORMATION if from.little_endian => {
                self.type_information = parameter.value().to_vec();
            }
            ParameterId::TYPE_INFORMATION => {}
            ParameterId::ENTITY_NAME => self.entity_name = read_string(&mut from)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Appends the payload of a dispose: which endpoint goes, and what the last change is that it has written.
    pub fn write_end(payload: &mut Vec<u8>, guid: Guid, last_change: Option<SequenceNumber>) {
        write_key(payload, ParameterId::ENDPOINT_GUID, guid, |list| {
            if let Some(number) = last_change {
                let id = ParameterId::TICKWIRE_LAST_CHANGE;
                let written = list.parameter_with(id, |out| number.write(out));
                debug_assert_eq!(written, Ok(()));
            }
        });
    }

    /// The last change that a dispose of ours tells of; `None` of one that no change can have, or of a malformed list.
    pub fn read_last_change(payload: &[u8]) -> Option<SequenceNumber> {
        let id = ParameterId::TICKWIRE_LAST_CHANGE;
        let mut list = open_list(payload).ok()?.map_while(Result::ok);
        let found = list.find(|parameter| parameter.id == id)?;
        let number = SequenceNumber::read(&mut found.cursor(), "the last change").ok()?;
        (number >= SequenceNumber::ZERO && number.0 < i64::MAX).then_some(number)
    }

    /// Reads the payload of a dispose.
    ///
    /// # Errors
    /// When it is malformed or does not say which endpoint goes.
    pub fn read_key(payload: &[u8]) -> Result<Guid, DiscoveryDataError> {
        read_key(payload, ParameterId::ENDPOINT_GUID)?
            .ok_or(DiscoveryDataError::Missing(ParameterId::ENDPOINT_GUID))
    }
}

/// Whether a group is one: GUID_UNKNOWN and ENTITYID_UNKNOWN say that there is none.
fn names_group(group: &Guid) -> bool {
    group.entity != EntityId::UNKNOWN
}
