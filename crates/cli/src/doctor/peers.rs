//! The other participants: who is seen but not reached, and who does not match whom.

use tickwire::qos;
use tickwire::{DiscoveryCounters, LocatorKind, ParticipantData, Transport};
use tickwire_transport::Interface;

use super::Finding;
use crate::network::NetworkOptions;
use crate::output::counted;
use crate::survey::{Mismatch, Survey, participant_name};

/// What discovery has found.
pub(super) fn check(
    survey: &Survey,
    counters: &DiscoveryCounters,
    interfaces: &[Interface],
    network: &NetworkOptions,
) -> Vec<Finding> {
    vec![
        seen(survey),
        reached(survey, interfaces, network),
        announcements(counters),
        matches(survey, network),
        halves(survey, network),
    ]
}

fn seen(survey: &Survey) -> Finding {
    let endpoints = survey.topics.values();
    let (writers, readers) = endpoints.fold((0, 0), |(writers, readers), topic| {
        (writers + topic.writers.len(), readers + topic.readers.len())
    });
    let participants = survey.participants.len() as u64;
    let participants = counted(participants, "participant", "participants");
    Finding::ok(
        "participants",
        format!(
            "{participants}, {}, {}, {}",
            counted(survey.topics.len() as u64, "topic", "topics"),
            counted(writers as u64, "writer", "writers"),
            counted(readers as u64, "reader", "readers")
        ),
    )
}

/// Whether the rendezvous answers, where one is named.
pub(super) fn rendezvous(survey: &Survey, named: &[String]) -> Option<Finding> {
    let check = "rendezvous";
    match (named, survey.hears_rendezvous()) {
        ([], _) => None,
        (named, true) => Some(Finding::ok(
            check,
            format!("{} answers", named.join(" or ")),
        )),
        (named, false) => Some(Finding::fail(
            check,
            format!("{} does not answer", named.join(", ")),
            "start it with `tickwire rendezvous --listen HOST:PORT`, and see that UDP passes both \
             ways: participants that know each other go on, but newcomers find nobody",
        )),
    }
}

/// Participants that announce no address at which data could reach them from here.
fn reached(survey: &Survey, interfaces: &[Interface], network: &NetworkOptions) -> Finding {
    let check = "reachable";
    let is_loopback = interfaces.iter().all(|interface| interface.is_loopback);
    let participants = survey.participants.values();
    let unreached: Vec<_> = participants
        .filter(|participant| !is_reached(participant, is_loopback, network))
        .map(|participant| participant_name(participant))
        .collect();
    match unreached.as_slice() {
        [] => Finding::ok(check, "all announce an address that is reached from here"),
        names => Finding::warn(
            check,
            format!(
                "no address of {} is reached from here by {}",
                names.join(", "),
                network.transports()
            ),
            "let them and this command use one transport on one network: by --transport, and by \
             --interface",
        ),
    }
}

fn is_reached(participant: &ParticipantData, is_loopback: bool, network: &NetworkOptions) -> bool {
    let transports = network.transports();
    let locators = [
        &*participant.default_unicast,
        &*participant.metatraffic_unicast,
    ];
    let mut all = locators.into_iter().flatten();
    all.any(|locator| match locator.to_udp() {
        Some(address) => {
            transports.contains(Transport::Udp) && (is_loopback || !address.ip().is_loopback())
        }
        // Whoever made it, there is a connection: else it would not have been heard.
        None => transports.contains(Transport::Tcp) && locator.kind == LocatorKind::TICKWIRE_TCP,
    })
}

fn announcements(counters: &DiscoveryCounters) -> Finding {
    let check = "announcements";
    let faults = [
        (counters.unusable, "that cannot be read"),
        (counters.misbehaved, "in another participant's name"),
        (
            counters.participants_refused,
            "of participants beyond a limit",
        ),
        (
            counters.participants_displaced,
            "of participants that do not hear us and made way for others",
        ),
        (counters.endpoints_refused, "of endpoints beyond a limit"),
        (
            counters.types_refused + counters.type_objects_refused + counters.type_requests_refused,
            "of types beyond a limit",
        ),
        (
            counters.other_domain,
            "of another domain at this one's ports",
        ),
    ];
    let faults = faults.iter().filter(|(count, _)| *count > 0);
    let faults: Vec<_> = faults
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if faults.is_empty() {
        return Finding::ok(check, "all understood");
    }
    let last = match &counters.last_unusable {
        Some((prefix, error)) => format!("; the last by {prefix:?}: {error}"),
        None => String::new(),
    };
    Finding::warn(
        check,
        format!("{}{last}", faults.join(", ")),
        "look at them with `tshark -i lo -Y rtps -V`, and at the program that sends them",
    )
}

/// Partitions keep endpoints apart on purpose (DDS 1.4 §2.2.3.13), so they are no fault here.
fn matches(survey: &Survey, network: &NetworkOptions) -> Finding {
    let check = "matches";
    let (mut apart, mut pairs) = (0, 0);
    for mismatch in survey.topics.values().flat_map(Mismatch::all_of) {
        let mut reasons = mismatch.verdict.mismatches.iter();
        match reasons.all(|reason| matches!(reason, qos::Mismatch::Partition(_))) {
            true => apart += mismatch.pairs as u64,
            false => pairs += mismatch.pairs as u64,
        }
    }
    match (pairs, apart) {
        (0, 0) => Finding::ok(check, "every writer and reader of a topic match"),
        (0, apart) => Finding::ok(
            check,
            format!(
                "all but {} that partitions keep apart",
                counted(apart, "pair", "pairs")
            ),
        ),
        (pairs, _) => Finding::fail(
            check,
            counted(
                pairs,
                "pair of writer and reader does not match",
                "pairs of writer and reader do not match",
            ),
            format!(
                "`tickwire qos check {}` says why, and what to change",
                network.again()
            ),
        ),
    }
}

fn halves(survey: &Survey, network: &NetworkOptions) -> Finding {
    let check = "topic names";
    let near = survey.topics.iter().find_map(|(name, topic)| {
        let near = survey.hint(name, topic)?;
        Some(format!(
            "{name} has only one half; was it meant to be {near}?"
        ))
    });
    match near {
        None => Finding::ok(check, "none looks misspelt"),
        Some(near) => Finding::warn(
            check,
            near,
            format!(
                "give both sides one name; `tickwire topic ls {}` lists them",
                network.again()
            ),
        ),
    }
}
