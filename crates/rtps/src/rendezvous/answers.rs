//! Who has answered by another message than an announcement: some announce themselves to all alike, without
//! INFO_DST, and name only in what follows whom they have heard. Knows no address, and does not judge.

use alloc::collections::{BTreeMap, VecDeque};

use crate::wire::GuidPrefix;

/// The names that participants who are not registered have called the rendezvous by.
#[derive(Debug, Default)]
pub(super) struct Answers {
    names: BTreeMap<GuidPrefix, GuidPrefix>,
    /// The same participants, the oldest first.
    order: VecDeque<GuidPrefix>,
}

impl Answers {
    /// A participant has called the rendezvous by a name. Anybody can say so: the name is worth what the
    /// addresses make of it that the participant announces.
    pub(super) fn note(&mut self, participant: GuidPrefix, name: GuidPrefix) {
        if self.names.insert(participant, name).is_some() {
            return;
        }
        self.order.push_back(participant);
        if self.order.len() > MAX_ANSWERS
            && let Some(oldest) = self.order.pop_front()
        {
            self.names.remove(&oldest);
        }
    }

    /// By what name it was; [`GuidPrefix::UNKNOWN`] if by none.
    pub(super) fn name(&self, participant: GuidPrefix) -> GuidPrefix {
        let name = self.names.get(&participant);
        name.copied().unwrap_or(GuidPrefix::UNKNOWN)
    }
}

/// Participants that are remembered. They announce themselves within seconds.
const MAX_ANSWERS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded_and_the_oldest_makes_way() {
        let mut answers = Answers::default();
        let prefix = |number: u32| {
            let mut bytes = [0; 12];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            GuidPrefix(bytes)
        };
        for participant in 1..=1025 {
            answers.note(prefix(participant), prefix(7));
            answers.note(prefix(participant), prefix(8));
        }
        assert_eq!(answers.names.len(), MAX_ANSWERS);
        assert_eq!(answers.name(prefix(1)), GuidPrefix::UNKNOWN);
        assert_eq!(answers.name(prefix(2)), prefix(8));
        assert_eq!(answers.name(prefix(1025)), prefix(8));
    }
}
