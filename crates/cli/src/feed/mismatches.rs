//! Who does not match the endpoints of a `feed` command, and why: told as soon as it is known.

use tickwire::qos::Verdict;
use tickwire::{DomainParticipant, GuidPrefix, Pair};

use crate::output::note;
use crate::survey::participant_name;

/// Tells each reason once of each other participant: hundreds of topics mostly share it. Where they do not, as
/// with types, only the first are told.
pub(super) struct Mismatches {
    participant: DomainParticipant,
    /// Told, the first [`MAX_TOLD`], or only counted.
    known: Vec<(GuidPrefix, Verdict)>,
}

impl Mismatches {
    pub(super) fn of(participant: &DomainParticipant) -> Self {
        Self {
            participant: participant.clone(),
            known: Vec::new(),
        }
    }

    /// Says on standard error what has not been said before.
    pub(super) fn report(&mut self) {
        let known = self.known.len();
        let own = self.participant.guid().prefix;
        for pair in self.participant.discovery().pairs() {
            let other = match pair.writer.prefix == own {
                true => pair.reader.prefix,
                false => pair.writer.prefix,
            };
            let is_this =
                |(of, verdict): &(GuidPrefix, Verdict)| *of == other && *verdict == pair.verdict;
            if pair.verdict.is_match() || self.known.iter().any(is_this) {
                continue;
            }
            if self.known.len() < MAX_TOLD {
                self.tell(&pair, other);
            }
            self.known.push((other, pair.verdict));
        }
        let untold = self.known.len().saturating_sub(MAX_TOLD);
        if untold > known.saturating_sub(MAX_TOLD) {
            note(format_args!(
                "and {untold} more: `tickwire qos check` lists them"
            ));
        } else if known == 0 && !self.known.is_empty() {
            note("(`tickwire qos check` names every pair that does not match)");
        }
    }

    /// Names come from the network: they are shown with escapes.
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
            "topic {topic:?}: the {theirs} of {owner:?} does not match this command's {ours}:"
        ));
        for reason in &pair.verdict.mismatches {
            note(format_args!("  {}", visible(&reason.to_string())));
        }
    }
}

/// With escapes for what would move the cursor.
fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for char in text.chars() {
        match char.is_control() {
            true => visible.extend(char.escape_debug()),
            false => visible.push(char),
        }
    }
    visible
}

/// Reasons that are told in full.
const MAX_TOLD: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_moves_the_cursor_is_escaped() {
        assert_eq!(
            visible("`a\u{1b}[2Jb\n`: \"ä\""),
            "`a\\u{1b}[2Jb\\n`: \"ä\""
        );
    }
}
