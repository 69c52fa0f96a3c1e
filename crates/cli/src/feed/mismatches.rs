//! Who does not match the endpoints of a `feed` command, and why: told as soon as it is known.

use tickwire::qos::Verdict;
use tickwire::{DomainParticipant, GuidPrefix, Pair};

use crate::output::note;
use crate::survey::participant_name;

/// Tells each reason once of each other participant: hundreds of topics mostly share it.
pub(super) struct Mismatches {
    participant: DomainParticipant,
    told: Vec<(GuidPrefix, Verdict)>,
}

impl Mismatches {
    pub(super) fn of(participant: &DomainParticipant) -> Self {
        Self {
            participant: participant.clone(),
            told: Vec::new(),
        }
    }

    /// Says on standard error what has not been told before.
    pub(super) fn report(&mut self) {
        for pair in self.participant.discovery().pairs() {
            let own = self.participant.guid().prefix;
            let other = match pair.writer.prefix == own {
                true => pair.reader.prefix,
                false => pair.writer.prefix,
            };
            let is_told =
                |(to, verdict): &(GuidPrefix, Verdict)| *to == other && *verdict == pair.verdict;
            if !pair.verdict.is_match() && !self.told.iter().any(is_told) {
                self.tell(&pair, other);
                self.told.push((other, pair.verdict));
            }
        }
    }

    fn tell(&self, pair: &Pair, other: GuidPrefix) {
        let view = self.participant.discovery();
        let writers = view.publications();
        let topic = writers.iter().find(|writer| writer.guid == pair.writer);
        let topic = topic.map_or("?", |writer| writer.topic_name.as_str());
        let participants = view.participants();
        let owner = participants.iter().find(|data| data.guid_prefix == other);
        let owner = owner.map_or_else(|| format!("{other:?}"), |data| participant_name(data));
        let (theirs, ours) = match pair.writer.prefix == other {
            true => ("writer", "reader"),
            false => ("reader", "writer"),
        };
        note(format_args!(
            "topic {topic}: the {theirs} of {owner} does not match this command's {ours}:"
        ));
        for reason in &pair.verdict.mismatches {
            note(format_args!("  {reason}"));
        }
        note("  (`tickwire qos check` names every pair that does not match)");
    }
}
