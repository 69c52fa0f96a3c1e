//! Every policy that is requested against offered, each value against each, between two discoveries
//! in virtual time (DDS 1.4 §2.2.3): who matches, and which policy is told to both sides if not.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use tickwire_base::Duration;

use super::tests::{MOMENT, Net, config, is_match, reader, writer};
use super::*;
use crate::qos::{
    DestinationOrder, Durability, EndpointQos, LivelinessKind, Ownership, PolicyId,
    PresentationScope, ReliabilityKind, RepresentationId,
};

/// Sets one value of a policy.
type Value = fn(&mut EndpointQos);

/// Has a writer of each value meet a reader of each. A row of `matches` is an offer, a column a
/// request; `x` is a match. Without a match both sides are told of `policy` alone.
fn meet(policy: Option<PolicyId>, values: &[Value], matches: &[&str]) {
    assert_eq!(matches.len(), values.len());
    for (offer, (offered, row)) in values.iter().zip(matches).enumerate() {
        assert_eq!(row.len(), values.len());
        for (request, (requested, expected)) in values.iter().zip(row.chars()).enumerate() {
            let mut net = Net::new([config(1), config(2)]);
            let (mut writer, mut reader) = (writer(1, "Quote"), reader(2, "Quote"));
            offered(&mut writer.qos);
            requested(&mut reader.qos);
            net.add(0, writer);
            net.add(1, reader);
            net.run(MOMENT);
            let place = alloc::format!("{policy:?}: offer {offer}, request {request}");
            for index in [0, 1] {
                let told = policies_told(&mut net, index);
                match expected {
                    'x' => assert_eq!(told, [None], "{place}"),
                    _ => assert_eq!(told, [Some(Vec::from_iter(policy))], "{place}"),
                }
            }
        }
    }
}

/// What a node is told of the pair: a match, or the policies that stand in its way.
fn policies_told(net: &mut Net, index: usize) -> Vec<Option<Vec<PolicyId>>> {
    let mut told = Vec::new();
    net.count(index, |event| {
        match event {
            Event::Incompatible { verdict, .. } => {
                assert!(!verdict.is_match());
                told.push(Some(verdict.incompatible_policies().collect()));
            }
            event if is_match(event) => told.push(None),
            _ => {}
        }
        true
    });
    told
}

/// What is greater satisfies what is less.
const AT_LEAST: [&[&str]; 3] = [
    &["x-", "xx"],
    &["x--", "xx-", "xxx"],
    &["x---", "xx--", "xxx-", "xxxx"],
];
/// What is shorter satisfies what is longer.
const AT_MOST: [&str; 3] = ["xxx", "-xx", "--x"];

#[test]
fn durability() {
    let values: [Value; 4] = [
        |qos| qos.durability = Durability::Volatile,
        |qos| qos.durability = Durability::TransientLocal,
        |qos| qos.durability = Durability::Transient,
        |qos| qos.durability = Durability::Persistent,
    ];
    meet(Some(PolicyId::DURABILITY), &values, AT_LEAST[2]);
}

#[test]
fn presentation() {
    let scopes: [Value; 3] = [
        |qos| qos.presentation.access_scope = PresentationScope::Instance,
        |qos| qos.presentation.access_scope = PresentationScope::Topic,
        |qos| qos.presentation.access_scope = PresentationScope::Group,
    ];
    meet(Some(PolicyId::PRESENTATION), &scopes, AT_LEAST[1]);
    let coherent: [Value; 2] = [|_| {}, |qos| qos.presentation.coherent_access = true];
    meet(Some(PolicyId::PRESENTATION), &coherent, AT_LEAST[0]);
    let ordered: [Value; 2] = [|_| {}, |qos| qos.presentation.ordered_access = true];
    meet(Some(PolicyId::PRESENTATION), &ordered, AT_LEAST[0]);
}

#[test]
fn deadline() {
    let values: [Value; 3] = [
        |qos| qos.deadline = Duration::from_millis(10),
        |qos| qos.deadline = Duration::from_secs(1),
        |qos| qos.deadline = Duration::MAX,
    ];
    meet(Some(PolicyId::DEADLINE), &values, &AT_MOST);
}

#[test]
fn latency_budget() {
    let values: [Value; 3] = [
        |qos| qos.latency_budget = Duration::ZERO,
        |qos| qos.latency_budget = Duration::from_millis(1),
        |qos| qos.latency_budget = Duration::MAX,
    ];
    meet(Some(PolicyId::LATENCY_BUDGET), &values, &AT_MOST);
}

#[test]
fn ownership() {
    let values: [Value; 2] = [
        |qos| qos.ownership = Ownership::Shared,
        |qos| qos.ownership = Ownership::Exclusive,
    ];
    meet(Some(PolicyId::OWNERSHIP), &values, &["x-", "-x"]);
}

#[test]
fn liveliness() {
    let kinds: [Value; 3] = [
        |qos| qos.liveliness.kind = LivelinessKind::Automatic,
        |qos| qos.liveliness.kind = LivelinessKind::ManualByParticipant,
        |qos| qos.liveliness.kind = LivelinessKind::ManualByTopic,
    ];
    meet(Some(PolicyId::LIVELINESS), &kinds, AT_LEAST[1]);
    let leases: [Value; 3] = [
        |qos| qos.liveliness.lease_duration = Duration::from_millis(100),
        |qos| qos.liveliness.lease_duration = Duration::from_secs(1),
        |qos| qos.liveliness.lease_duration = Duration::MAX,
    ];
    meet(Some(PolicyId::LIVELINESS), &leases, &AT_MOST);
}

#[test]
fn reliability() {
    let values: [Value; 2] = [
        |qos| qos.reliability.kind = ReliabilityKind::BestEffort,
        |qos| qos.reliability.kind = ReliabilityKind::Reliable,
    ];
    meet(Some(PolicyId::RELIABILITY), &values, AT_LEAST[0]);
}

#[test]
fn destination_order() {
    let values: [Value; 2] = [
        |qos| qos.destination_order = DestinationOrder::ByReceptionTimestamp,
        |qos| qos.destination_order = DestinationOrder::BySourceTimestamp,
    ];
    meet(Some(PolicyId::DESTINATION_ORDER), &values, AT_LEAST[0]);
}

/// A writer offers the first of its list, and nothing said is XCDR1 (XTypes 1.3 §7.6.3.1.1).
#[test]
fn data_representation() {
    const ONE: RepresentationId = RepresentationId::XCDR1;
    const TWO: RepresentationId = RepresentationId::XCDR2;
    let values: [Value; 5] = [
        |qos| qos.data_representation = vec![],
        |qos| qos.data_representation = vec![ONE],
        |qos| qos.data_representation = vec![TWO],
        |qos| qos.data_representation = vec![ONE, TWO],
        |qos| qos.data_representation = vec![TWO, ONE],
    ];
    let matches = ["xx-xx", "xx-xx", "--xxx", "xx-xx", "--xxx"];
    meet(Some(PolicyId::DATA_REPRESENTATION), &values, &matches);
}

/// A partition that is not shared is no incompatible QoS, but no match either.
#[test]
fn partition() {
    let values: [Value; 7] = [
        |qos| qos.partition = vec![],
        |qos| qos.partition = vec!["".to_string()],
        |qos| qos.partition = vec!["a".to_string()],
        |qos| qos.partition = vec!["b".to_string(), "ab".to_string()],
        |qos| qos.partition = vec!["a*".to_string()],
        |qos| qos.partition = vec!["*".to_string()],
        |qos| qos.partition = vec!["[!a]".to_string()],
    ];
    let matches = [
        "xx---x-", "xx---x-", "--x-xx-", "---xxxx", "--xx---", "xxxx---", "---x---",
    ];
    meet(None, &values, &matches);
}

/// Policies that are no request and no offer keep nobody apart.
#[test]
fn the_others() {
    let values: [Value; 7] = [
        |_| {},
        |qos| qos.lifespan = Duration::from_secs(1),
        |qos| qos.ownership_strength = 7,
        |qos| qos.transport_priority = 7,
        |qos| qos.history = crate::qos::History::KeepAll,
        |qos| qos.time_based_filter = Duration::from_secs(1),
        |qos| qos.user_data = vec![1, 2, 3],
    ];
    meet(None, &values, &["xxxxxxx"; 7]);
}

#[test]
fn all_that_does_not_match_is_told_at_once() {
    let mut net = Net::new([config(1), config(2)]);
    let mut requested = reader(2, "Quote");
    requested.qos.deadline = Duration::from_secs(1);
    requested.qos.durability = Durability::Persistent;
    requested.qos.ownership = Ownership::Exclusive;
    net.add(0, writer(1, "Quote"));
    net.add(1, requested);
    net.run(MOMENT);
    let expected = [
        PolicyId::DURABILITY,
        PolicyId::DEADLINE,
        PolicyId::OWNERSHIP,
    ];
    for index in [0, 1] {
        assert_eq!(policies_told(&mut net, index), [Some(expected.to_vec())]);
    }
}
