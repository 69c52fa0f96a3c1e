//! What the header of a log says of its writer: its announcement and its type. Knows no file.

use tickwire_cdr::TypeDescription;
use tickwire_cdr::xtypes::{Consistency, Reply, RequestIdentity, TypeObjects, check_assignable};
use tickwire_rtps::discovery::{DiscoveryDataError, EndpointData, Role};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix};
use tickwire_store::{Description, LogKey};

use crate::core::Core;
use crate::qos::offered_representation;

/// What a log says of its writer.
pub(super) fn describe(
    core: &Core,
    data: &EndpointData,
    ty: Option<&TypeDescription>,
) -> Description {
    let key = LogKey {
        domain: core.domain,
        domain_tag: core.view(|discovery| discovery.participant().domain_tag.clone()),
        topic: data.topic_name.clone(),
        type_name: data.type_name.clone(),
        partition: data.qos.partition.clone(),
    };
    let entity = EntityId::user_writer(1, data.guid.entity.is_keyed());
    let unnamed = EndpointData {
        guid: Guid::new(GuidPrefix::UNKNOWN, entity),
        ..data.clone()
    };
    let mut announcement = Vec::new();
    // What is too long to announce is refused when it is announced.
    let _ = unnamed.write(&mut announcement);
    Description {
        key,
        announcement,
        types: ty.map(type_objects).unwrap_or_default(),
    }
}

/// The complete type objects of a type, its own first, as a type lookup service would tell them (XTypes
/// 1.3 §7.6.3.3.4.1). Empty if the type cannot be described.
fn type_objects(ty: &TypeDescription) -> Vec<u8> {
    let mut objects = TypeObjects::new();
    let complete = objects.add(ty).ok().and_then(|all| all.complete);
    let Some(complete) = complete else {
        return Vec::new();
    };
    let dependencies = complete.dependencies.iter().map(|(id, _)| *id);
    let ids = std::iter::once(complete.id).chain(dependencies);
    let reply = Reply {
        identity: RequestIdentity {
            writer: [0; 16],
            sequence_number: 0,
        },
        objects: ids
            .filter_map(|id| objects.get(id).map(|object| (id, object)))
            .collect(),
        complete_to_minimal: Vec::new(),
    };
    let mut bytes = Vec::new();
    match reply.encode(&mut bytes) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// What the writer of a log announced.
///
/// # Errors
/// When it is malformed.
pub(super) fn announced(description: &Description) -> Result<EndpointData, DiscoveryDataError> {
    EndpointData::read(Role::Writer, &description.announcement, None)
}

/// The type that a log is of, under the name by which it was registered. `None` if it is not described:
/// not at all, or not in order.
pub(super) fn type_of(description: &Description) -> Option<TypeDescription> {
    let reply = Reply::parse(&description.types).ok()??;
    let (first, _) = reply.objects.first()?;
    let mut objects = TypeObjects::new();
    for (id, object) in reply.right_objects() {
        objects.insert_part(id, object);
    }
    let mut described = objects.describe(*first).ok()?;
    described.name = description.key.type_name.as_str().into();
    Some(described)
}

/// Whether a writer can give in its own name what is in a log: samples in its encoding, of a type that
/// those can read who know the writer's (XTypes 1.3 §7.2.4). What a log does not say is taken to fit, as it
/// is between endpoints that do not describe their types.
pub(super) fn fits(log: &Description, data: &EndpointData, ty: Option<&TypeDescription>) -> bool {
    let Ok(before) = announced(log) else {
        return true;
    };
    let representation = offered_representation(&data.qos);
    let is_alike = offered_representation(&before.qos) == representation
        && before.guid.entity.is_keyed() == data.guid.entity.is_keyed();
    let (Some(ty), Some(representation), Some(log)) = (ty, representation, type_of(log)) else {
        return is_alike;
    };
    let consistency = Consistency {
        representation,
        ..Consistency::default()
    };
    is_alike && check_assignable(ty, &log, consistency).is_ok()
}
