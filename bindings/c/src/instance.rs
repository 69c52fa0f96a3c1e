//! `tw_instance`: the name of an instance.

use dds::InstanceHandle;
use dds::cdr::KeyHash;

use crate::border::In;
use crate::failure::Result;

/// `tw_instance`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instance([u8; 16]);

impl Instance {
    pub(crate) fn handle(self) -> InstanceHandle {
        InstanceHandle(self.0)
    }

    pub(crate) fn key_hash(self) -> KeyHash {
        KeyHash(self.0)
    }
}

impl From<InstanceHandle> for Instance {
    fn from(handle: InstanceHandle) -> Self {
        Self(handle.0)
    }
}

/// None is all zeros.
impl From<Option<InstanceHandle>> for Instance {
    fn from(handle: Option<InstanceHandle>) -> Self {
        handle.map(Self::from).unwrap_or_default()
    }
}

/// The instance, if one is given.
pub(crate) fn optional(instance: &In<Instance>) -> Result<Option<Instance>> {
    instance.get("instance")
}
