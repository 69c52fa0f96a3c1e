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
            let is_same = |known: &&mut Self| {
                (&known.way, known.protocol, &known.lacking) == (&way, protocol, &lacking)
            };
            match ways.iter_mut().find(is_same) {
                Some(known) => known.pairs += 1,
                None => ways.push(Self {
                    writer: writer.guid,
                    reader: reader.guid,
                    way,
                    protocol,
                    lacking,
                    pairs: 1,
                }),
            }
        }
        ways
    }

    pub(crate) fn to_json(&self) -> Value {
        let (way, obstacle) = match &self.way {
            Way::SharedMemory => ("shared memory", None),
            Way::Network(obstacle) => ("network", Some(obstacle.to_string())),
        };
        json!({
            "writer": self.writer.to_string(),
            "reader": self.reader.to_string(),
            "way": way,
            "protocol": self.protocol,
            "without_shared_memory": self.lacking,
            "why_no_shared_memory": obstacle,
            "pairs": self.pairs,
        })
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
