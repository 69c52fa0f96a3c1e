//! Instances by the key hashes that XCDR1 writers use. Only kept for types whose hashes differ
//! between the two representations; knows no samples.

use hashbrown::HashMap;

use super::info::InstanceHandle;

/// The two names of each instance that has two.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    by_hash: HashMap<[u8; 16], InstanceHandle>,
    by_instance: HashMap<InstanceHandle, [u8; 16]>,
}

impl Aliases {
    pub(super) fn has(&self, instance: InstanceHandle) -> bool {
        self.by_instance.contains_key(&instance)
    }

    pub(super) fn note(&mut self, instance: InstanceHandle, hash: [u8; 16]) {
        self.by_hash.insert(hash, instance);
        self.by_instance.insert(instance, hash);
    }

    pub(super) fn find(&self, hash: [u8; 16]) -> Option<InstanceHandle> {
        self.by_hash.get(&hash).copied()
    }

    pub(super) fn forget(&mut self, instance: InstanceHandle) {
        if let Some(hash) = self.by_instance.remove(&instance) {
            self.by_hash.remove(&hash);
        }
    }
}
