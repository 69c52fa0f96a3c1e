//! By which way samples go between others, as far as their announcements tell.

use std::fmt;

use serde_json::{Value, json};
use tickwire::{EndpointData, Guid, LocatorKind, Obstacle, ParticipantData, Way};

use super::{Endpoints, Survey};

/// Pairs of one topic that match and whose samples go by the same way.
pub(crate) struct Ways {
    /// The first pair.
    pub(crate) writer: Guid,
    pub(crate) reader: Guid,
    pub(crate) way: Way,
    /// By which protocol, if they go by the network and the reader's addresses tell.
    pub(crate) protocol: Option<&'static str>,
    /// Whose participants do not offer shared memory: writer, reader.
    pub(crate) lacking: Vec<&'static str>,
    /// The only transports of the writer's and the reader's participant, where these differ: they match, and do not find
    /// each other.
    pub(crate) apart: Option<[&'static str; 2]>,
    /// How many pairs there are.
    pub(crate) pairs: usize,
}

impl Ways {
    /// Looks at each writer of a topic and each reader that it matches.
    pub(crate) fn all_of(survey: &Survey, topic: &Endpoints) -> Vec<Self> {
        let mut ways: Vec<Self> = Vec::new();
        let pairs = topic.writers.iter();
        let pairs =
            pairs.flat_map(|writer| topic.readers.iter().map(move |reader| (writer, reader)));
        for (writer, reader) in pairs {
            let verdict = writer.verdict(reader, &topic.types);
            if !verdict.is_some_and(|verdict| verdict.is_match()) {
                continue;
            }
            let participants = [writer, reader].map(|data| {
                let participant = survey.participants.get(&data.guid.prefix);
                participant.map(|data| &**data)
            });
            let [one, other] = participants;
            let way = way(one, other);
            let (protocol, lacking) = match way {
                Way::SharedMemory => (None, Vec::new()),
                Way::Network(_) => (protocol(reader, other), lacking(participants)),
            };
            let apart = apart(participants);
            let is_same = |known: &&mut Self| {
                let same =
                    (&known.way, known.protocol, &known.lacking) == (&way, protocol, &lacking);
                same && known.apart == apart
            };
            match ways.iter_mut().find(is_same) {
                Some(known) => known.pairs += 1,
                None => ways.push(Self {
                    writer: writer.guid,
                    reader: reader.guid,
                    way,
                    protocol,
                    lacking,
                    apart,
                    pairs: 1,
                }),
            }
        }
        ways
    }

    pub(crate) fn to_json(&self) -> Value {
        let (way, obstacle) = match &self.way {
            _ if self.apart.is_some() => (None, None),
            Way::SharedMemory => (Some("shared memory"), None),
            Way::Network(obstacle) => (Some("network"), Some(obstacle.to_string())),
        };
        json!({
            "writer": self.writer.to_string(),
            "reader": self.reader.to_string(),
            "way": way,
            "protocol": self.protocol.filter(|_| way.is_some()),
            "without_shared_memory": self.lacking,
            "why_no_shared_memory": obstacle,
            "apart": self.apart,
            "pairs": self.pairs,
        })
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([writer, reader]) = self.apart {
            return write!(
                f,
                "nothing: the writer's participant has {writer} alone and the reader's {reader} alone, so that they do not find \
                 each other; have both use one (`participant.transports`, TICKWIRE_TRANSPORT)"
            );
        }
        let Way::Network(obstacle) = &self.way else {
            return self.way.fmt(f);
        };
        let protocol = self.protocol.unwrap_or("the network");
        match (obstacle, &*self.lacking) {
            (Obstacle::NotOffered, [side]) => {
                write!(
                    f,
                    "{protocol} (the {side}'s participant does not offer shared memory)"
                )
            }
            (Obstacle::NotOffered, _) => {
                write!(
                    f,
                    "{protocol} (neither side's participant offers shared memory)"
                )
            }
            _ => write!(f, "{protocol} ({obstacle})"),
        }
    }
}

/// By which protocol a reader is reached, as far as it says: by UDP where it has addresses of both.
fn protocol(reader: &EndpointData, participant: Option<&ParticipantData>) -> Option<&'static str> {
    let own = [&*reader.unicast_locators, &*reader.multicast_locators];
    let all = match participant {
        Some(participant) if own.iter().all(|list| list.is_empty()) => [
            &*participant.default_unicast,
            &*participant.default_multicast,
        ],
        _ => own,
    };
    let mut kinds = all.into_iter().flatten().map(|locator| locator.kind);
    match kinds
        .clone()
        .any(|kind| matches!(kind, LocatorKind::UDP_V4 | LocatorKind::UDP_V6))
    {
        true => Some("UDP"),
        false => kinds
            .any(|kind| kind == LocatorKind::TICKWIRE_TCP)
            .then_some("TCP"),
    }
}

/// The transports of two participants by which they have addresses, if each has but one, and not the same.
fn apart(participants: [Option<&ParticipantData>; 2]) -> Option<[&'static str; 2]> {
    let only = |participant: Option<&ParticipantData>| {
        let participant = participant?;
        let all = [
            &participant.metatraffic_unicast,
            &participant.default_unicast,
        ];
        let mut all = all.into_iter().flatten().map(|locator| match locator.kind {
            LocatorKind::UDP_V4 | LocatorKind::UDP_V6 => Some("UDP"),
            LocatorKind::TICKWIRE_TCP => Some("TCP"),
            _ => None,
        });
        let first = all.next()??;
        all.all(|other| other == Some(first)).then_some(first)
    };
    let [writer, reader] = participants.map(only);
    let apart = [writer?, reader?];
    (apart[0] != apart[1]).then_some(apart)
}

/// Which of a writer's and a reader's participants do not offer shared memory.
fn lacking(participants: [Option<&ParticipantData>; 2]) -> Vec<&'static str> {
    let offers =
        |data: Option<&ParticipantData>| data.is_some_and(|data| data.shared_memory.is_some());
    let sides = ["writer", "reader"].into_iter().zip(participants);
    let sides = sides.filter(|&(_, participant)| !offers(participant));
    sides.map(|(side, _)| side).collect()
}

/// The way between two participants. Whether one of them has refused, only they know.
fn way(one: Option<&ParticipantData>, other: Option<&ParticipantData>) -> Way {
    let prefix = |data: Option<&ParticipantData>| data.map(|data| data.guid_prefix);
    let offer = |data: Option<&ParticipantData>| data.and_then(|data| data.shared_memory);
    let (ours, theirs) = match (offer(one), offer(other)) {
        _ if prefix(one) == prefix(other) => return Way::Network(Obstacle::SameParticipant),
        (Some(ours), Some(theirs)) => (ours, theirs),
        _ => return Way::Network(Obstacle::NotOffered),
    };
    if ours.machine != theirs.machine {
        Way::Network(Obstacle::OtherMachine)
    } else if ours.version != theirs.version {
        Way::Network(Obstacle::OtherVersion)
    } else {
        Way::SharedMemory
    }
}

#[cfg(test)]
mod tests {
    use tickwire::{GuidPrefix, Locator, Role, SharedMemoryAddress};

    use super::*;

    #[test]
    fn what_is_said_names_the_protocol_and_the_side() {
        let mut ours = ParticipantData::new(GuidPrefix([1; 12]));
        ours.shared_memory = Some(SharedMemoryAddress {
            version: 1,
            machine: [1; 16],
            meeting: [9; 16],
        });
        let mut theirs = ParticipantData::new(GuidPrefix([2; 12]));
        let reader = EndpointData::new(
            Role::Reader,
            Guid::UNKNOWN,
            "Quotes".to_owned(),
            "Quote".to_owned(),
        );
        let mut said = |locators: &[Locator]| {
            theirs.default_unicast = locators.to_vec();
            let both = [Some(&ours), Some(&theirs)];
            let ways = Ways {
                writer: Guid::UNKNOWN,
                reader: reader.guid,
                way: way(both[0], both[1]),
                protocol: protocol(&reader, Some(&theirs)),
                lacking: lacking(both),
                apart: None,
                pairs: 1,
            };
            ways.to_string()
        };
        let udp = Locator::udp_v4([127, 0, 0, 1].into(), 7411);
        let mut tcp = udp;
        tcp.kind = LocatorKind::TICKWIRE_TCP;
        let lacks = "(the reader's participant does not offer shared memory)";
        assert_eq!(said(&[tcp, udp]), format!("UDP {lacks}"));
        assert_eq!(said(&[tcp]), format!("TCP {lacks}"));
        assert_eq!(said(&[]), format!("the network {lacks}"));
    }

    #[test]
    fn who_has_no_transport_in_common_is_apart() {
        let udp = Locator::udp_v4([127, 0, 0, 1].into(), 7411);
        let tcp = Locator {
            kind: LocatorKind::TICKWIRE_TCP,
            ..udp
        };
        let strange = Locator {
            kind: LocatorKind(77),
            ..udp
        };
        let participant = |discovery: &[Locator], data: &[Locator]| ParticipantData {
            metatraffic_unicast: discovery.to_vec(),
            default_unicast: data.to_vec(),
            ..ParticipantData::new(GuidPrefix([1; 12]))
        };
        let by_udp = participant(&[udp], &[udp]);
        let of = |other| apart([Some(&by_udp), Some(&other)]);
        assert_eq!(of(participant(&[tcp], &[tcp])), Some(["UDP", "TCP"]));
        for other in [
            participant(&[udp], &[]),
            participant(&[udp], &[tcp]),
            participant(&[tcp, udp], &[tcp]),
            participant(&[tcp], &[strange]),
            participant(&[], &[]),
        ] {
            assert_eq!(of(other), None);
        }
        assert_eq!(apart([Some(&by_udp), None]), None);
    }

    #[test]
    fn announcements_tell_the_way() {
        let participant = |id: u8, shared_memory| ParticipantData {
            shared_memory,
            ..ParticipantData::new(GuidPrefix([id; 12]))
        };
        let at = |machine: u8, version| {
            Some(SharedMemoryAddress {
                version,
                machine: [machine; 16],
                meeting: [9; 16],
            })
        };
        let one = participant(1, at(1, 1));
        let ways = [
            (participant(2, at(1, 1)), Way::SharedMemory),
            (
                participant(2, at(2, 1)),
                Way::Network(Obstacle::OtherMachine),
            ),
            (
                participant(2, at(1, 2)),
                Way::Network(Obstacle::OtherVersion),
            ),
            (participant(2, None), Way::Network(Obstacle::NotOffered)),
            (
                participant(1, at(1, 1)),
                Way::Network(Obstacle::SameParticipant),
            ),
        ];
        for (other, expected) in ways {
            assert_eq!(way(Some(&one), Some(&other)), expected);
        }
    }
}
