//! QoS in words: what an endpoint asks for or offers beyond the standard's defaults.

use std::time::Duration;

use tickwire::Role;
use tickwire::qos::{
    EndpointQos, History, RepresentationId, ResourceLimits, TypeConsistency, TypeConsistencyKind,
};

/// Each policy that is not the standard's default for the role, by its name (DDS 1.4 §2.2.3).
pub(crate) fn non_default_policies(role: Role, qos: &EndpointQos) -> Vec<(&'static str, String)> {
    let default = match role {
        Role::Writer => EndpointQos::writer(),
        Role::Reader => EndpointQos::reader(),
    };
    let all = policies(role, qos)
        .into_iter()
        .zip(policies(role, &default));
    all.filter(|(announced, default)| announced != default)
        .map(|(announced, _)| announced)
        .collect()
}

/// The policies in one order, each in words.
fn policies(role: Role, qos: &EndpointQos) -> Vec<(&'static str, String)> {
    let reliability = match role {
        // Only writers wait.
        Role::Writer => format!(
            "{}, max_blocking_time {}",
            qos.reliability.kind,
            time(qos.reliability.max_blocking_time)
        ),
        Role::Reader => qos.reliability.kind.to_string(),
    };
    let service = &qos.durability_service;
    vec![
        ("RELIABILITY", reliability),
        ("DURABILITY", qos.durability.to_string()),
        (
            "DURABILITY_SERVICE",
            format!(
                "{}, cleanup after {}{}",
                history(service.history),
                time(service.cleanup_delay),
                limits(&service.resource_limits)
            ),
        ),
        ("HISTORY", history(qos.history)),
        ("RESOURCE_LIMITS", limits(&qos.resource_limits)),
        ("PRESENTATION", qos.presentation.to_string()),
        ("DEADLINE", time(qos.deadline)),
        ("LATENCY_BUDGET", time(qos.latency_budget)),
        ("OWNERSHIP", qos.ownership.to_string()),
        ("OWNERSHIP_STRENGTH", qos.ownership_strength.to_string()),
        ("LIVELINESS", qos.liveliness.to_string()),
        ("DESTINATION_ORDER", qos.destination_order.to_string()),
        ("LIFESPAN", time(qos.lifespan)),
        ("TIME_BASED_FILTER", time(qos.time_based_filter)),
        ("PARTITION", names(&qos.partition)),
        ("TRANSPORT_PRIORITY", qos.transport_priority.to_string()),
        (
            "DATA_REPRESENTATION",
            representations(&qos.data_representation),
        ),
        ("TYPE_CONSISTENCY", consistency(&qos.type_consistency)),
        ("USER_DATA", octets(&qos.user_data)),
        ("TOPIC_DATA", octets(&qos.topic_data)),
        ("GROUP_DATA", octets(&qos.group_data)),
    ]
}

/// A duration; the longest one is infinite.
fn time(duration: Duration) -> String {
    match duration {
        Duration::MAX => "infinite".to_owned(),
        duration => format!("{duration:?}"),
    }
}

/// Names of partitions; none is the one name "".
fn names(names: &[String]) -> String {
    match names {
        [] => "[\"\"]".to_owned(),
        names => format!("{names:?}"),
    }
}

/// Encodings; none is XCDR1.
fn representations(list: &[RepresentationId]) -> String {
    match list {
        [] => RepresentationId::XCDR1.to_string(),
        list => {
            let texts: Vec<_> = list.iter().map(ToString::to_string).collect();
            texts.join(", ")
        }
    }
}

/// How many samples of each instance.
pub(crate) fn history(history: History) -> String {
    match history {
        History::KeepLast(depth) => format!("KEEP_LAST {depth}"),
        History::KeepAll => "KEEP_ALL".to_owned(),
    }
}

fn limits(limits: &ResourceLimits) -> String {
    let named = [
        ("max_samples", limits.max_samples),
        ("max_instances", limits.max_instances),
        ("max_samples_per_instance", limits.max_samples_per_instance),
    ];
    let set = named
        .into_iter()
        .filter_map(|(name, limit)| Some(format!("{name} {}", limit?)));
    set.collect::<Vec<_>>().join(", ")
}

fn consistency(policy: &TypeConsistency) -> String {
    let kind = match policy.kind {
        TypeConsistencyKind::AllowTypeCoercion => "ALLOW_TYPE_COERCION",
        TypeConsistencyKind::DisallowTypeCoercion => "DISALLOW_TYPE_COERCION",
    };
    let flags = [
        ("ignore_sequence_bounds", policy.ignore_sequence_bounds),
        ("ignore_string_bounds", policy.ignore_string_bounds),
        ("ignore_member_names", policy.ignore_member_names),
        ("prevent_type_widening", policy.prevent_type_widening),
        ("force_type_validation", policy.force_type_validation),
    ];
    let set = flags.into_iter().filter(|(_, is_set)| *is_set);
    let words: Vec<_> = std::iter::once(kind)
        .chain(set.map(|(name, _)| name))
        .collect();
    words.join(", ")
}

/// Octets as text if they are printable, else in hexadecimal.
fn octets(octets: &[u8]) -> String {
    match std::str::from_utf8(octets) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => octets.iter().map(|octet| format!("{octet:02x}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickwire::{DataReaderQos, DataWriterQos};

    #[test]
    fn defaults_are_not_said() {
        let writer = DataWriterQos::default();
        assert_eq!(non_default_policies(Role::Writer, writer.policies()), []);
        let reader = DataReaderQos::default();
        assert_eq!(non_default_policies(Role::Reader, reader.policies()), []);
    }

    #[test]
    fn what_differs_is_said_in_the_standards_words() {
        let reader = DataReaderQos::default()
            .reliable()
            .keep_all()
            .deadline(Duration::from_millis(5))
            .user_data(*b"\x00\xff")
            .with(|qos| qos.partition = vec!["A".into(), "B*".into()]);
        assert_eq!(
            non_default_policies(Role::Reader, reader.policies()),
            [
                ("RELIABILITY", "RELIABLE".to_owned()),
                ("HISTORY", "KEEP_ALL".to_owned()),
                ("DEADLINE", "5ms".to_owned()),
                ("PARTITION", "[\"A\", \"B*\"]".to_owned()),
                ("USER_DATA", "00ff".to_owned()),
            ]
        );
    }
}
