//! What the header of a log says of its writer: its announcement and its type. Knows no file.

use tickwire_cdr::TypeDescription;
use tickwire_cdr::xtypes::TypeObjects;
use tickwire_rtps::discovery::{DiscoveryDataError, EndpointData, Role};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix};
use tickwire_store::{Description, LogKey};

use crate::core::Core;

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

/// The complete type objects of a type, its own first, each after its length as a little-endian u32.
/// Empty if the type cannot be described.
fn type_objects(ty: &TypeDescription) -> Vec<u8> {
    let mut objects = TypeObjects::new();
    let complete = objects.add(ty).ok().and_then(|all| all.complete);
    let Some(complete) = complete else {
        return Vec::new();
    };
    let dependencies = complete.dependencies.iter().map(|(id, _)| *id);
    let mut bytes = Vec::new();
    for id in std::iter::once(complete.id).chain(dependencies) {
        let object = objects.get(id).unwrap_or_default();
        bytes.extend_from_slice(&u32::try_from(object.len()).unwrap_or(0).to_le_bytes());
        bytes.extend_from_slice(object);
    }
    bytes
}

/// What the writer of a log announced.
///
/// # Errors
/// When it is malformed.
pub(super) fn announced(description: &Description) -> Result<EndpointData, DiscoveryDataError> {
    EndpointData::read(Role::Writer, &description.announcement, None)
}

/// The type that a log is of, under the name by which it was registered. `None` if it is not described:
/// not at all, not in order, or as one that contains itself.
pub(super) fn type_of(description: &Description) -> Option<TypeDescription> {
    let mut objects = TypeObjects::new();
    let mut first = None;
    let mut rest = description.types.as_slice();
    while let Some((len, others)) = rest.split_first_chunk() {
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        let (object, others) = others.split_at_checked(len)?;
        let id = objects.insert(object).ok()?;
        first.get_or_insert(id);
        rest = others;
    }
    let mut described = objects.describe(first?).ok()?;
    described.name = description.key.type_name.as_str().into();
    Some(described)
}
