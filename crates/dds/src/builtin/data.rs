//! The types of the built-in topics (DDS 1.4 §2.2.5; RTPS 2.5 §8.5.4.4). Their values come from discovery,
//! never from a payload: what of them has a place in a type is there for keys and conditions.

use tickwire_cdr::{
    DecodeError, Extensibility, KeyHash, KeyScratch, Representation, TypeDescription,
};
use tickwire_rtps::discovery::{EndpointData, ParticipantData};
use tickwire_rtps::qos::{EndpointQos, Presentation};
use tickwire_rtps::wire::{EntityId, Guid};

use crate::reader::InstanceHandle;
use crate::type_support::{SampleError, Sealed, TopicSupport};

/// Another participant: samples of `DCPSParticipant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParticipantBuiltinTopicData {
    /// Its name on the network.
    pub key: Guid,
    /// USER_DATA.
    pub user_data: Vec<u8>,
}

/// A topic that another participant has an endpoint of: samples of `DCPSTopic`. One that several
/// types are given to is several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicBuiltinTopicData {
    /// Stands for the two names.
    pub key: InstanceHandle,
    /// The topic.
    pub name: String,
    /// The name of its type.
    pub type_name: String,
    /// The policies of a topic, as one of its endpoints had them when the topic was first told of. Others
    /// have their defaults.
    pub qos: EndpointQos,
}

/// A writer of another participant: samples of `DCPSPublication`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicationBuiltinTopicData {
    /// Its name on the network.
    pub key: Guid,
    /// Its participant's.
    pub participant_key: Guid,
    /// Its topic.
    pub topic_name: String,
    /// The name of the topic's type.
    pub type_name: String,
    /// Its policies, with those of its publisher and topic.
    pub qos: EndpointQos,
}

/// A reader of another participant: samples of `DCPSSubscription`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionBuiltinTopicData {
    /// Its name on the network.
    pub key: Guid,
    /// Its participant's.
    pub participant_key: Guid,
    /// Its topic.
    pub topic_name: String,
    /// The name of the topic's type.
    pub type_name: String,
    /// Its policies, with those of its subscriber and topic.
    pub qos: EndpointQos,
}

impl ParticipantBuiltinTopicData {
    pub(super) fn new(data: &ParticipantData) -> Self {
        Self {
            key: data.guid(),
            user_data: data.user_data.clone(),
        }
    }
}

impl TopicBuiltinTopicData {
    pub(super) fn new(data: &EndpointData) -> Self {
        let qos = data.qos.clone();
        Self {
            key: topic_key(data),
            name: data.topic_name.clone(),
            type_name: data.type_name.clone(),
            qos: EndpointQos {
                presentation: Presentation::default(),
                partition: Vec::new(),
                ownership_strength: 0,
                time_based_filter: std::time::Duration::ZERO,
                user_data: Vec::new(),
                group_data: Vec::new(),
                ..qos
            },
        }
    }
}

/// Names the topic of an endpoint by its name and that of its type.
pub(crate) fn topic_key(data: &EndpointData) -> InstanceHandle {
    #[derive(tickwire_derive::Topic)]
    #[topic(crate = tickwire_cdr)]
    struct Names {
        #[topic(key)]
        topic: String,
        #[topic(key)]
        ty: String,
    }
    let names = Names {
        topic: data.topic_name.clone(),
        ty: data.type_name.clone(),
    };
    // Names come out of parameters, which are shorter than what a string may have.
    let hash = TopicSupport::key_hash(
        &names,
        &(),
        Representation::Xcdr2,
        &mut KeyScratch::default(),
    );
    let hash = hash.ok().flatten();
    hash.map_or(InstanceHandle::KEYLESS, |KeyHash(hash)| {
        InstanceHandle(hash)
    })
}

/// The run-time part of a built-in topic's type, which only built-in readers have: nobody writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinType(pub(super) ());

/// A built-in topic's data.
pub(super) trait BuiltinTopicData: TopicSupport<Type = BuiltinType> {
    const TOPIC_NAME: &'static str;
}

/// What of a participant a condition can ask for.
#[derive(tickwire_derive::Topic)]
#[topic(crate = tickwire_cdr)]
struct ParticipantFields {
    #[topic(key)]
    key: [u8; 16],
    user_data: Vec<u8>,
}

/// What of a topic a condition can ask for.
#[derive(tickwire_derive::Topic)]
#[topic(crate = tickwire_cdr)]
struct TopicFields {
    #[topic(key)]
    key: [u8; 16],
    name: String,
    type_name: String,
}

/// What of an endpoint a condition can ask for.
#[derive(tickwire_derive::Topic)]
#[topic(crate = tickwire_cdr)]
struct EndpointFields {
    #[topic(key)]
    key: [u8; 16],
    participant_key: [u8; 16],
    topic_name: String,
    type_name: String,
}

impl From<&ParticipantBuiltinTopicData> for ParticipantFields {
    fn from(data: &ParticipantBuiltinTopicData) -> Self {
        Self {
            key: data.key.to_bytes(),
            user_data: data.user_data.clone(),
        }
    }
}

impl From<ParticipantFields> for ParticipantBuiltinTopicData {
    fn from(fields: ParticipantFields) -> Self {
        Self {
            key: Guid::from_bytes(fields.key),
            user_data: fields.user_data,
        }
    }
}

impl From<&TopicBuiltinTopicData> for TopicFields {
    fn from(data: &TopicBuiltinTopicData) -> Self {
        Self {
            key: data.key.0,
            name: data.name.clone(),
            type_name: data.type_name.clone(),
        }
    }
}

impl From<TopicFields> for TopicBuiltinTopicData {
    fn from(fields: TopicFields) -> Self {
        Self {
            key: InstanceHandle(fields.key),
            name: fields.name,
            type_name: fields.type_name,
            qos: EndpointQos::writer(),
        }
    }
}

macro_rules! endpoint_data {
    ($data:ident, $default_qos:path) => {
        impl $data {
            pub(super) fn new(data: &EndpointData) -> Self {
                Self {
                    key: data.guid,
                    participant_key: Guid::new(data.guid.prefix, EntityId::PARTICIPANT),
                    topic_name: data.topic_name.clone(),
                    type_name: data.type_name.clone(),
                    qos: data.qos.clone(),
                }
            }
        }

        impl From<&$data> for EndpointFields {
            fn from(data: &$data) -> Self {
                Self {
                    key: data.key.to_bytes(),
                    participant_key: data.participant_key.to_bytes(),
                    topic_name: data.topic_name.clone(),
                    type_name: data.type_name.clone(),
                }
            }
        }

        impl From<EndpointFields> for $data {
            fn from(fields: EndpointFields) -> Self {
                Self {
                    key: Guid::from_bytes(fields.key),
                    participant_key: Guid::from_bytes(fields.participant_key),
                    topic_name: fields.topic_name,
                    type_name: fields.type_name,
                    qos: $default_qos(),
                }
            }
        }
    };
}

endpoint_data!(PublicationBuiltinTopicData, EndpointQos::writer);
endpoint_data!(SubscriptionBuiltinTopicData, EndpointQos::reader);

/// Has the data of a built-in topic stand for its fields where a type is wanted.
macro_rules! builtin_topic {
    ($data:ident, $fields:ident, $topic:literal, $ty:literal) => {
        impl BuiltinTopicData for $data {
            const TOPIC_NAME: &'static str = $topic;
        }

        impl Sealed for $data {}

        impl TopicSupport for $data {
            type Type = BuiltinType;

            fn type_name(_: &BuiltinType) -> &str {
                $ty
            }

            fn extensibility(_: &BuiltinType) -> Extensibility {
                <$fields as TopicSupport>::extensibility(&())
            }

            fn has_key(_: &BuiltinType) -> bool {
                true
            }

            fn description(_: &BuiltinType) -> Option<&TypeDescription> {
                <$fields as TopicSupport>::description(&())
            }

            fn initial(_: &BuiltinType) -> Self {
                <$fields as TopicSupport>::initial(&()).into()
            }

            fn write_payload(
                &self,
                _: &BuiltinType,
                representation: Representation,
                buffer: &mut Vec<u8>,
            ) -> Result<(), SampleError> {
                $fields::from(self).write_payload(&(), representation, buffer)
            }

            fn write_key_payload(
                &self,
                _: &BuiltinType,
                representation: Representation,
                buffer: &mut Vec<u8>,
            ) -> Result<(), SampleError> {
                $fields::from(self).write_key_payload(&(), representation, buffer)
            }

            fn read_payload(&mut self, _: &BuiltinType, payload: &[u8]) -> Result<(), DecodeError> {
                let mut fields = $fields::from(&*self);
                fields.read_payload(&(), payload)?;
                *self = fields.into();
                Ok(())
            }

            fn read_key_payload(
                &mut self,
                _: &BuiltinType,
                payload: &[u8],
            ) -> Result<(), DecodeError> {
                let mut fields = $fields::from(&*self);
                fields.read_key_payload(&(), payload)?;
                *self = fields.into();
                Ok(())
            }

            fn key_hash(
                &self,
                _: &BuiltinType,
                representation: Representation,
                scratch: &mut KeyScratch,
            ) -> Result<Option<KeyHash>, SampleError> {
                TopicSupport::key_hash(&$fields::from(self), &(), representation, scratch)
            }
        }
    };
}

builtin_topic!(
    ParticipantBuiltinTopicData,
    ParticipantFields,
    "DCPSParticipant",
    "DDS::ParticipantBuiltinTopicData"
);
builtin_topic!(
    TopicBuiltinTopicData,
    TopicFields,
    "DCPSTopic",
    "DDS::TopicBuiltinTopicData"
);
builtin_topic!(
    PublicationBuiltinTopicData,
    EndpointFields,
    "DCPSPublication",
    "DDS::PublicationBuiltinTopicData"
);
builtin_topic!(
    SubscriptionBuiltinTopicData,
    EndpointFields,
    "DCPSSubscription",
    "DDS::SubscriptionBuiltinTopicData"
);
