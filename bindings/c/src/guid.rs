//! GUIDs of writers and readers, and whose they are: listeners of publishers, subscribers and participants are told
//! of these by GUID.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use crate::handle::Handle;

/// `tw_guid`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Guid([u8; 16]);

impl From<dds::Guid> for Guid {
    fn from(guid: dds::Guid) -> Self {
        Self(guid.to_bytes())
    }
}

/// None is all zeros.
impl From<Option<dds::Guid>> for Guid {
    fn from(guid: Option<dds::Guid>) -> Self {
        guid.map(Self::from).unwrap_or_default()
    }
}

static ENDPOINTS: RwLock<Option<HashMap<Guid, Handle>>> = RwLock::new(None);

/// While somebody has this, listeners that ask for an endpoint wait: from before it is made until it is noted, lest
/// they hear of it before they can tell whose it is.
pub(crate) struct Noting(RwLockWriteGuard<'static, Option<HashMap<Guid, Handle>>>);

impl Noting {
    pub(crate) fn begin() -> Self {
        Self(ENDPOINTS.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn note(mut self, guid: dds::Guid, handle: Handle) {
        let endpoints = self.0.get_or_insert_with(HashMap::new);
        endpoints.insert(guid.into(), handle);
    }
}

/// The writer or reader of that GUID, if it was made here and is not deleted.
pub(crate) fn endpoint(guid: dds::Guid) -> Option<Handle> {
    let endpoints = ENDPOINTS.read().unwrap_or_else(PoisonError::into_inner);
    endpoints.as_ref()?.get(&guid.into()).copied()
}

pub(crate) fn forget(guid: dds::Guid) {
    let mut endpoints = ENDPOINTS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(endpoints) = &mut *endpoints {
        endpoints.remove(&guid.into());
    }
}
