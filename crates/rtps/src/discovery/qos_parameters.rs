//! Policies as parameters (RTPS 2.5 §9.6.3.2). What equals the default may be absent.

use alloc::vec::Vec;

use tickwire_base::Duration;

use super::Role;
use super::values::{
    octets_parameter, read_bool, read_octets, read_strings, write_len, write_strings,
};
use crate::qos::{
    DestinationOrder, Durability, DurabilityService, EndpointQos, History, Liveliness,
    LivelinessKind, Ownership, Presentation, PresentationScope, Reliability, ReliabilityKind,
    RepresentationId, ResourceLimits, TypeConsistency, TypeConsistencyKind,
};
use crate::wire::{
    Cursor, Malformed, Out, Parameter, ParameterId, ParameterListWriter, ParameterTooLong,
    read_duration, write_duration,
};

/// Applies a parameter to `qos`; false if it is no policy.
pub(super) fn read_policy(
    qos: &mut EndpointQos,
    parameter: &Parameter<'_>,
) -> Result<bool, Malformed> {
    let mut value = parameter.cursor();
    let from = &mut value;
    match parameter.id {
        ParameterId::DURABILITY => {
            qos.durability = kind(from, "DURABILITY kind", Durability::from_wire)?;
        }
        ParameterId::DURABILITY_SERVICE => qos.durability_service = read_durability_service(from)?,
        ParameterId::PRESENTATION => qos.presentation = read_presentation(from)?,
        ParameterId::DEADLINE => qos.deadline = read_duration(from, "DEADLINE")?,
        ParameterId::LATENCY_BUDGET => qos.latency_budget = read_duration(from, "LATENCY_BUDGET")?,
        ParameterId::OWNERSHIP => {
            qos.ownership = kind(from, "OWNERSHIP kind", Ownership::from_wire)?;
        }
        ParameterId::OWNERSHIP_STRENGTH => {
            qos.ownership_strength = from.i32("OWNERSHIP_STRENGTH")?;
        }
        ParameterId::LIVELINESS => qos.liveliness = read_liveliness(from)?,
        ParameterId::RELIABILITY => qos.reliability = read_reliability(from)?,
        ParameterId::DESTINATION_ORDER => {
            qos.destination_order =
                kind(from, "DESTINATION_ORDER kind", DestinationOrder::from_wire)?;
        }
        ParameterId::LIFESPAN => qos.lifespan = read_duration(from, "LIFESPAN")?,
        ParameterId::TIME_BASED_FILTER => {
            qos.time_based_filter = read_duration(from, "TIME_BASED_FILTER")?;
        }
        ParameterId::PARTITION => qos.partition = read_strings(from)?,
        ParameterId::HISTORY => qos.history = read_history(from)?,
        ParameterId::RESOURCE_LIMITS => qos.resource_limits = read_limits(from)?,
        ParameterId::TRANSPORT_PRIORITY => {
            qos.transport_priority = from.i32("TRANSPORT_PRIORITY")?;
        }
        ParameterId::DATA_REPRESENTATION => qos.data_representation = read_representations(from)?,
        ParameterId::TYPE_CONSISTENCY => qos.type_consistency = read_type_consistency(from)?,
        ParameterId::USER_DATA => qos.user_data = read_octets(from)?,
        ParameterId::TOPIC_DATA => qos.topic_data = read_octets(from)?,
        ParameterId::GROUP_DATA => qos.group_data = read_octets(from)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Writes the policies that matter for `role`. Those that decide on matching are always there,
/// because peers disagree on what their absence means.
pub(super) fn write_policies(
    list: &mut ParameterListWriter<'_>,
    qos: &EndpointQos,
    role: Role,
) -> Result<(), ParameterTooLong> {
    write_matching_policies(list, qos)?;
    write_shared_policies(list, qos)?;
    match role {
        Role::Writer => write_writer_policies(list, qos),
        Role::Reader => write_reader_policies(list, qos),
    }
}

fn write_matching_policies(
    list: &mut ParameterListWriter<'_>,
    qos: &EndpointQos,
) -> Result<(), ParameterTooLong> {
    list.parameter_with(ParameterId::RELIABILITY, |out| {
        out.u32(qos.reliability.kind.to_wire());
        write_duration(out, qos.reliability.max_blocking_time);
    })?;
    list.parameter_with(ParameterId::DURABILITY, |out| {
        out.u32(qos.durability.to_wire());
    })?;
    list.parameter_with(ParameterId::OWNERSHIP, |out| {
        out.u32(qos.ownership.to_wire());
    })?;
    // Also of readers, though it is a policy of writers alone (DDS 1.4 §2.2.3.10), and the default:
    // RustDDS takes whoever is EXCLUSIVE without a strength for SHARED.
    if qos.ownership == Ownership::Exclusive || qos.ownership_strength != 0 {
        list.parameter_with(ParameterId::OWNERSHIP_STRENGTH, |out| {
            out.i32(qos.ownership_strength);
        })?;
    }
    list.parameter_with(ParameterId::LIVELINESS, |out| {
        out.u32(qos.liveliness.kind.to_wire());
        write_duration(out, qos.liveliness.lease_duration);
    })?;
    list.parameter_with(ParameterId::DESTINATION_ORDER, |out| {
        out.u32(qos.destination_order.to_wire());
    })?;
    list.parameter_with(ParameterId::DATA_REPRESENTATION, |out| {
        let representations = match qos.data_representation.as_slice() {
            [] => &[RepresentationId::XCDR1],
            representations => representations,
        };
        write_len(out, representations.len());
        for representation in representations {
            out.u16(representation.0.cast_unsigned());
        }
    })
}

fn write_shared_policies(
    list: &mut ParameterListWriter<'_>,
    qos: &EndpointQos,
) -> Result<(), ParameterTooLong> {
    if qos.presentation != Presentation::default() {
        list.parameter_with(ParameterId::PRESENTATION, |out| {
            let Presentation {
                access_scope,
                coherent_access,
                ordered_access,
            } = qos.presentation;
            out.u32(access_scope.to_wire());
            out.raw(&[u8::from(coherent_access), u8::from(ordered_access)]);
        })?;
    }
    duration_parameter(list, ParameterId::DEADLINE, qos.deadline, Duration::MAX)?;
    let none = Duration::ZERO;
    duration_parameter(list, ParameterId::LATENCY_BUDGET, qos.latency_budget, none)?;
    if !qos.partition.is_empty() {
        list.parameter_with(ParameterId::PARTITION, |out| {
            write_strings(out, &qos.partition);
        })?;
    }
    if qos.history != History::default() {
        list.parameter_with(ParameterId::HISTORY, |out| write_history(out, qos.history))?;
    }
    if qos.resource_limits != ResourceLimits::default() {
        list.parameter_with(ParameterId::RESOURCE_LIMITS, |out| {
            write_limits(out, &qos.resource_limits);
        })?;
    }
    octets_parameter(list, ParameterId::USER_DATA, &qos.user_data)?;
    octets_parameter(list, ParameterId::TOPIC_DATA, &qos.topic_data)?;
    octets_parameter(list, ParameterId::GROUP_DATA, &qos.group_data)
}

fn write_writer_policies(
    list: &mut ParameterListWriter<'_>,
    qos: &EndpointQos,
) -> Result<(), ParameterTooLong> {
    if qos.durability_service != DurabilityService::default() {
        list.parameter_with(ParameterId::DURABILITY_SERVICE, |out| {
            write_duration(out, qos.durability_service.cleanup_delay);
            write_history(out, qos.durability_service.history);
            write_limits(out, &qos.durability_service.resource_limits);
        })?;
    }
    if qos.transport_priority != 0 {
        list.parameter_with(ParameterId::TRANSPORT_PRIORITY, |out| {
            out.i32(qos.transport_priority);
        })?;
    }
    duration_parameter(list, ParameterId::LIFESPAN, qos.lifespan, Duration::MAX)
}

fn write_reader_policies(
    list: &mut ParameterListWriter<'_>,
    qos: &EndpointQos,
) -> Result<(), ParameterTooLong> {
    if qos.type_consistency != TypeConsistency::default() {
        list.parameter_with(ParameterId::TYPE_CONSISTENCY, |out| {
            write_type_consistency(out, &qos.type_consistency);
        })?;
    }
    let none = Duration::ZERO;
    duration_parameter(
        list,
        ParameterId::TIME_BASED_FILTER,
        qos.time_based_filter,
        none,
    )
}

/// Writes a duration unless it is the default.
fn duration_parameter(
    list: &mut ParameterListWriter<'_>,
    id: ParameterId,
    duration: Duration,
    default: Duration,
) -> Result<(), ParameterTooLong> {
    match duration == default {
        true => Ok(()),
        false => list.parameter_with(id, |out| write_duration(out, duration)),
    }
}

fn kind<T>(
    from: &mut Cursor<'_>,
    what: &'static str,
    from_wire: impl FnOnce(u32) -> Option<T>,
) -> Result<T, Malformed> {
    let at = *from;
    from_wire(from.u32(what)?).ok_or_else(|| at.malformed(what))
}

/// RELIABLE was 3 in the first versions of the protocol, and old peers still say so.
fn read_reliability(from: &mut Cursor<'_>) -> Result<Reliability, Malformed> {
    Ok(Reliability {
        kind: kind(from, "RELIABILITY kind", |number| {
            ReliabilityKind::from_wire(number.min(2))
        })?,
        max_blocking_time: read_duration(from, "RELIABILITY max_blocking_time")?,
    })
}

fn read_liveliness(from: &mut Cursor<'_>) -> Result<Liveliness, Malformed> {
    Ok(Liveliness {
        kind: kind(from, "LIVELINESS kind", LivelinessKind::from_wire)?,
        lease_duration: read_duration(from, "LIVELINESS lease_duration")?,
    })
}

fn read_presentation(from: &mut Cursor<'_>) -> Result<Presentation, Malformed> {
    Ok(Presentation {
        access_scope: kind(from, "PRESENTATION scope", PresentationScope::from_wire)?,
        coherent_access: read_bool(from)?,
        ordered_access: read_bool(from)?,
    })
}

/// Kind 0 keeps the last `depth`, kind 1 all.
fn read_history(from: &mut Cursor<'_>) -> Result<History, Malformed> {
    let at = *from;
    let kind = from.u32("HISTORY kind")?;
    let depth = from.i32("HISTORY depth")?;
    match kind {
        0 => Ok(History::KeepLast(u32::try_from(depth).unwrap_or(1).max(1))),
        1 => Ok(History::KeepAll),
        _ => Err(at.malformed("HISTORY kind")),
    }
}

fn write_history(out: &mut Out<'_>, history: History) {
    match history {
        History::KeepLast(depth) => {
            out.u32(0);
            out.i32(i32::try_from(depth).unwrap_or(i32::MAX));
        }
        History::KeepAll => {
            out.u32(1);
            out.i32(1);
        }
    }
}

/// -1 is no limit.
fn read_limits(from: &mut Cursor<'_>) -> Result<ResourceLimits, Malformed> {
    let mut limit = || {
        from.i32("RESOURCE_LIMITS")
            .map(|limit| u32::try_from(limit).ok())
    };
    Ok(ResourceLimits {
        max_samples: limit()?,
        max_instances: limit()?,
        max_samples_per_instance: limit()?,
    })
}

fn write_limits(out: &mut Out<'_>, limits: &ResourceLimits) {
    let limits = [
        limits.max_samples,
        limits.max_instances,
        limits.max_samples_per_instance,
    ];
    for limit in limits {
        out.i32(limit.map_or(-1, |limit| i32::try_from(limit).unwrap_or(i32::MAX)));
    }
}

fn read_durability_service(from: &mut Cursor<'_>) -> Result<DurabilityService, Malformed> {
    Ok(DurabilityService {
        cleanup_delay: read_duration(from, "DURABILITY_SERVICE cleanup_delay")?,
        history: read_history(from)?,
        resource_limits: read_limits(from)?,
    })
}

fn read_representations(from: &mut Cursor<'_>) -> Result<Vec<RepresentationId>, Malformed> {
    let count = from.count(2, "DATA_REPRESENTATION length")?;
    (0..count)
        .map(|_| {
            let id = from.u16("DATA_REPRESENTATION")?;
            Ok(RepresentationId(id.cast_signed()))
        })
        .collect()
}

/// Peers that know only the kind leave the flags out.
fn read_type_consistency(from: &mut Cursor<'_>) -> Result<TypeConsistency, Malformed> {
    let at = *from;
    let kind = from.u16("TYPE_CONSISTENCY kind")?;
    let default = TypeConsistency::default();
    let mut flag = |default| from.u8("").map_or(default, |flag| flag != 0);
    Ok(TypeConsistency {
        kind: TypeConsistencyKind::from_wire(u32::from(kind))
            .ok_or_else(|| at.malformed("TYPE_CONSISTENCY kind"))?,
        ignore_sequence_bounds: flag(default.ignore_sequence_bounds),
        ignore_string_bounds: flag(default.ignore_string_bounds),
        ignore_member_names: flag(default.ignore_member_names),
        prevent_type_widening: flag(default.prevent_type_widening),
        force_type_validation: flag(default.force_type_validation),
    })
}

fn write_type_consistency(out: &mut Out<'_>, consistency: &TypeConsistency) {
    out.u16(u16::try_from(consistency.kind.to_wire()).unwrap_or(u16::MAX));
    out.raw(&[
        u8::from(consistency.ignore_sequence_bounds),
        u8::from(consistency.ignore_string_bounds),
        u8::from(consistency.ignore_member_names),
        u8::from(consistency.prevent_type_widening),
        u8::from(consistency.force_type_validation),
    ]);
}
