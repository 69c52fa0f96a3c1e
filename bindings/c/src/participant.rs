//! Participants.

use std::fmt::Write as _;

use dds::{DomainParticipant, DomainParticipantBuilder};
use tickwire_profiles::Profile;

use crate::border::{Out, TextOut, export};
use crate::handle::{self, Handle, get};
use crate::qos;
use crate::time::timeout;

/// A participant.
pub(crate) struct Participant {
    pub(crate) dds: DomainParticipant,
}

export! {
    fn tw_participant_create(domain: u32, qos: Handle, participant: Out<Handle>) {
        let participant = participant.place("participant")?;
        let profile = qos::profile(qos)?;
        let dds = builder(&profile, domain).build()?;
        participant.put(handle::add(Handle::NULL, Participant { dds })?);
        Ok(())
    }

    fn tw_participant_poll(participant: Handle, timeout_ns: i64) {
        let participant = get::<Participant>(participant)?;
        participant.dds.poll(timeout(timeout_ns)?)?;
        participant.is_there()
    }

    fn tw_participant_explain(
        participant: Handle,
        buffer: TextOut,
        capacity: usize,
        len: Out<usize>,
    ) {
        let participant = get::<Participant>(participant)?;
        buffer.put(&explain(&participant.dds), capacity, &len)
    }
}

/// What a participant is to be that joins a domain, or that of the profile.
pub(crate) fn builder(profile: &Profile, domain: u32) -> DomainParticipantBuilder {
    match domain {
        OF_QOS => profile.participant(),
        domain => profile.participant_in(domain),
    }
}

/// Each pair of a writer and a reader of one topic: by which way samples go, or why the two do not match.
fn explain(participant: &DomainParticipant) -> String {
    let view = participant.discovery();
    let publications = view.publications();
    let mut text = String::new();
    for pair in view.pairs() {
        let publication = publications.iter().find(|data| data.guid == pair.writer);
        let topic = publication.map_or("?", |data| &data.topic_name);
        // A string takes it all.
        let _ = write!(
            text,
            "{topic}: writer {}, reader {}: ",
            pair.writer, pair.reader
        );
        let _ = match pair.way {
            Some(way) => writeln!(text, "match, by {way}"),
            None => writeln!(text, "{}", pair.verdict),
        };
    }
    text
}

/// `TW_DOMAIN_OF_QOS`.
const OF_QOS: u32 = u32::MAX;
