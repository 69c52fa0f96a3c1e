//! OFFERED_INCOMPATIBLE_QOS and REQUESTED_INCOMPATIBLE_QOS (DDS 1.4 §2.2.4.1). Which values agree,
//! the tests of discovery say.

use super::*;
use crate::Guid;
use crate::SubscriberQos;
use crate::qos::{LivelinessKind, PolicyId, Presentation, PresentationScope, RepresentationId};

/// Of what a writer offers less than a reader requests.
struct Case {
    policy: PolicyId,
    offer: fn(DataWriterQos) -> DataWriterQos,
    request: fn(DataReaderQos) -> DataReaderQos,
}

fn cases() -> [Case; 8] {
    const SECOND: Duration = Duration::from_secs(1);
    const BY_TOPIC: LivelinessKind = LivelinessKind::ManualByTopic;
    let case = |policy, offer, request| Case {
        policy,
        offer,
        request,
    };
    [
        case(PolicyId::DURABILITY, |qos| qos, |qos| qos.transient_local()),
        case(PolicyId::DEADLINE, |qos| qos, |qos| qos.deadline(SECOND)),
        case(
            PolicyId::LATENCY_BUDGET,
            |qos| qos.with(|qos| qos.latency_budget = SECOND),
            |qos| qos,
        ),
        case(PolicyId::OWNERSHIP, |qos| qos.exclusive(1), |qos| qos),
        case(
            PolicyId::LIVELINESS,
            |qos| qos,
            |qos| qos.liveliness(BY_TOPIC, Duration::MAX),
        ),
        case(
            PolicyId::RELIABILITY,
            |qos| qos.best_effort(),
            |qos| qos.reliable(),
        ),
        case(
            PolicyId::DESTINATION_ORDER,
            |qos| qos,
            |qos| qos.by_source_timestamp(),
        ),
        case(
            PolicyId::DATA_REPRESENTATION,
            |qos| qos.representation([RepresentationId::XCDR1]),
            |qos| qos.representation([RepresentationId::XCDR2]),
        ),
    ]
}

/// The two listeners of a pair are told that it disagrees on the policy, `total` times by now.
fn assert_told(
    world: &World,
    pair: (&DataWriter<Quote>, &DataReader<Quote>),
    policy: PolicyId,
    total: u32,
) {
    let (writer, reader) = pair;
    let ears = [Ear::of_writer(writer), Ear::of_reader(reader)];
    let of = |told: &Told| match told {
        Told::OfferedIncompatibleQos(status) => Some((status.clone(), reader.guid())),
        Told::RequestedIncompatibleQos(status) => Some((status.clone(), writer.guid())),
        _ => None,
    };
    for ear in ears {
        world.wait_until(|| lock(&ear.0).iter().any(|told| of(told).is_some()));
        let told: Vec<(IncompatibleQosStatus, Guid)> = ear.told().iter().filter_map(of).collect();
        let [(status, other)] = &told[..] else {
            panic!("{policy:?}: {told:?}");
        };
        let counts = (status.total_count, status.total_count_change);
        assert_eq!(counts, (total, 1), "{policy:?}");
        assert_eq!(
            (status.last_policy, status.last),
            (Some(policy), Some(*other))
        );
        let verdict = status.verdict.as_ref().expect("a reason");
        assert!(verdict.incompatible_policies().eq([policy]), "{verdict}");
    }
    assert_eq!(
        writer.offered_incompatible_qos_status().total_count_change,
        0
    );
    assert_eq!(
        reader
            .requested_incompatible_qos_status()
            .total_count_change,
        0
    );
    assert_eq!(writer.publication_matched_status().current_count, 0);
    assert_eq!(reader.subscription_matched_status().current_count, 0);
}

#[test]
fn both_sides_are_told_which_policy_keeps_them_apart() {
    for case in cases() {
        let world = World::new(2);
        let writer = world.writer(0, (case.offer)(DataWriterQos::default()));
        let reader = world.reader(1, (case.request)(DataReaderQos::default()));
        assert_told(&world, (&writer, &reader), case.policy, 1);
    }
}

#[test]
fn so_it_is_with_the_presentation_of_a_publisher() {
    let world = World::new(2);
    let writer = world.writer(0, DataWriterQos::default());
    let presentation = Presentation {
        access_scope: PresentationScope::Topic,
        ..Presentation::default()
    };
    let subscriber = SubscriberQos::default().presentation(presentation);
    let subscriber = world.participants[1].subscriber(subscriber);
    let topic = world.participants[1]
        .topic::<Quote>("Quotes")
        .expect("a topic");
    let reader = subscriber.reader(&topic, DataReaderQos::default());
    let reader = reader.expect("a reader");
    assert_told(&world, (&writer, &reader), PolicyId::PRESENTATION, 1);
}

#[test]
fn a_match_that_a_change_of_qos_ends_is_told_as_incompatible() {
    const SECOND: Duration = Duration::from_secs(1);
    let world = World::new(2);
    let writer = world.writer(0, DataWriterQos::default().deadline(SECOND));
    let qos = DataReaderQos::default().reliable();
    let reader = world.reader(1, qos.deadline(SECOND));
    world.meet(&writer, &reader);
    for total in 1..=2 {
        let longer = DataWriterQos::default().deadline(2 * SECOND);
        writer.set_qos(longer).expect("it may change");
        assert_told(&world, (&writer, &reader), PolicyId::DEADLINE, total);
        let again = DataWriterQos::default().deadline(SECOND);
        writer.set_qos(again).expect("it may change");
        world.meet(&writer, &reader);
    }
    let matched = writer.publication_matched_status();
    assert_eq!((matched.total_count, matched.current_count), (3, 1));
}
