//! Who has answered by another message than an announcement: some announce themselves to all alike, without
//! INFO_DST, and name only in what follows whom they have heard. Does not judge the names.

use alloc::collections::{BTreeMap, VecDeque};

use tickwire_base::Locator;

use crate::wire::GuidPrefix;

/// The names that participants who are not registered have called the rendezvous by.
///
/// Each IP address has its own, so that nobody can change what was said from another one.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Participant and name, the oldest first.
    by_address: BTreeMap<[u8; 16], VecDeque<(GuidPrefix, GuidPrefix)>>,
    count: usize,
}

impl Answers {
    /// A participant has called the rendezvous by a name that it was given; whether another one had to make
    /// way. The name is worth what the addresses make of it that the participant announces.
    pub(super) fn note(
        &mut self,
        participant: GuidPrefix,
        source: &Locator,
        name: GuidPrefix,
    ) -> bool {
        self.forget(participant, source);
        let here = self.by_address.entry(source.address).or_default();
        here.push_back((participant, name));
        self.count += 1;
        let crowded = if here.len() > MAX_ANSWERS_PER_ADDRESS {
            Some(source.address)
        } else if self.count > MAX_ANSWERS {
            self.most_crowded()
        } else {
            None
        };
        if let Some(address) = crowded {
            self.remove(address, |_| true);
        }
        crowded.is_some()
    }

    /// By what name it was, from there; [`GuidPrefix::UNKNOWN`] if by none.
    pub(super) fn name(&self, participant: GuidPrefix, source: &Locator) -> GuidPrefix {
        let mut here = self.by_address.get(&source.address).into_iter().flatten();
        let found = here.find(|(one, _)| *one == participant);
        found.map_or(GuidPrefix::UNKNOWN, |(_, name)| *name)
    }

    /// What a participant has said from there is needed no more.
    pub(super) fn forget(&mut self, participant: GuidPrefix, source: &Locator) {
        self.remove(source.address, |one| one == participant);
    }

    /// The address that most have answered from.
    fn most_crowded(&self) -> Option<[u8; 16]> {
        let all = self.by_address.iter();
        let most = all.max_by_key(|(_, here)| here.len());
        most.map(|(address, _)| *address)
    }

    /// Removes the oldest of an address that is meant, if there is one.
    fn remove(&mut self, address: [u8; 16], is_meant: impl Fn(GuidPrefix) -> bool) {
        let Some(here) = self.by_address.get_mut(&address) else {
            return;
        };
        if let Some(index) = here.iter().position(|(one, _)| is_meant(*one)) {
            here.remove(index);
            self.count -= 1;
        }
        if here.is_empty() {
            self.by_address.remove(&address);
        }
    }
}

/// Participants that are remembered of one IP address. They announce themselves within seconds.
const MAX_ANSWERS_PER_ADDRESS: usize = 256;
/// The same of all.
const MAX_ANSWERS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(number: u32) -> GuidPrefix {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        GuidPrefix(bytes)
    }

    fn at(host: u8) -> Locator {
        Locator::udp_v4([10, 0, 0, host].into(), 7410)
    }

    #[test]
    fn of_one_address_the_oldest_makes_way() {
        let mut answers = Answers::default();
        for participant in 1..=257 {
            assert!(!answers.note(prefix(participant), &at(1), prefix(7)) || participant == 257);
            answers.note(prefix(participant), &at(1), prefix(8));
        }
        assert_eq!(answers.count, MAX_ANSWERS_PER_ADDRESS);
        assert_eq!(answers.name(prefix(1), &at(1)), GuidPrefix::UNKNOWN);
        assert_eq!(answers.name(prefix(2), &at(1)), prefix(8));
        assert_eq!(answers.name(prefix(257), &at(1)), prefix(8));
        assert_eq!(answers.name(prefix(257), &at(2)), GuidPrefix::UNKNOWN);
    }

    #[test]
    fn of_all_the_address_with_most_makes_way() {
        let mut answers = Answers::default();
        answers.note(prefix(1), &at(200), prefix(7));
        for host in 0..32 {
            for participant in 1..=256 {
                answers.note(prefix(participant), &at(host), prefix(7));
            }
        }
        assert_eq!(answers.count, MAX_ANSWERS);
        assert_eq!(answers.name(prefix(1), &at(200)), prefix(7));
        for host in 0..32 {
            for participant in 1..=256 {
                answers.forget(prefix(participant), &at(host));
            }
        }
        answers.forget(prefix(1), &at(200));
        assert_eq!((answers.count, answers.by_address.len()), (0, 0));
    }
}
