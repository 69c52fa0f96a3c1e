//! GUIDs of writers and readers, and whose they are: listeners of publishers, subscribers and participants are told
//! of these by GUID.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::handle::Handle;

/// `tw_guid`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Guid([u8; 16]);

impl From<Guid> for dds::Guid {
    fn from(guid: Guid) -> Self {
        Self::from_bytes(guid.0)
    }
}

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

static ENDPOINTS: Mutex<Option<Endpoints>> = Mutex::new(None);

/// Something that was being made is noted, or will not be there.
static MADE: Condvar = Condvar::new();

#[derive(Default)]
struct Endpoints {
    known: HashMap<Guid, Handle>,
    /// What is being made, by how many came before.
    being_made: BTreeSet<u64>,
    begun: u64,
}

fn endpoints<R>(call: impl FnOnce(&mut Endpoints) -> R) -> R {
    let mut endpoints = ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner);
    call(endpoints.get_or_insert_default())
}

/// While somebody has this, listeners that ask for an endpoint which nobody knows wait: from before it is made until
/// it is noted, lest they hear of it before they can tell whose it is.
pub(crate) struct Noting(u64);

impl Noting {
    pub(crate) fn begin() -> Self {
        endpoints(|all| {
            all.begun += 1;
            all.being_made.insert(all.begun);
            Self(all.begun)
        })
    }

    pub(crate) fn note(self, guid: dds::Guid, handle: Handle) {
        endpoints(|all| all.known.insert(guid.into(), handle));
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        endpoints(|all| all.being_made.remove(&self.0));
        MADE.notify_all();
    }
}

/// The writer or reader of that GUID, if it was made here and is not deleted. Of one that is not known, what was being
/// made when it was asked for is waited for.
pub(crate) fn endpoint(guid: dds::Guid) -> Option<Handle> {
    let guid = guid.into();
    let endpoints = ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = endpoints.as_ref()?.begun;
    let may_come = |all: &mut Option<Endpoints>| {
        let all = all.as_ref();
        all.is_some_and(|all| {
            let first = all.being_made.first();
            first.is_some_and(|first| *first <= begun) && !all.known.contains_key(&guid)
        })
    };
    let endpoints = MADE.wait_while(endpoints, may_come);
    let endpoints = endpoints.unwrap_or_else(PoisonError::into_inner);
    endpoints.as_ref()?.known.get(&guid).copied()
}

pub(crate) fn forget(guid: dds::Guid) {
    endpoints(|all| all.known.remove(&guid.into()));
}
