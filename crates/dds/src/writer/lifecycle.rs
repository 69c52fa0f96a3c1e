//! WRITER_DATA_LIFECYCLE where the writer itself ends (DDS 1.4 §2.2.3.21).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use tickwire_rtps::{Change, ChangeKind};

use super::endpoint::WriterEndpoint;
use crate::clock;
use crate::lifeline::Lifeline;
use crate::outgoing::SuspendedPublications;
use crate::signal::lock;
use crate::type_support::SampleError;

/// The instances that a writer has written and not ended, by the hashes of their keys; the keys are as
/// the readers get them. Something like 80 bytes each, besides the key.
#[derive(Default)]
pub(super) struct Instances(Mutex<HashMap<[u8; 16], Box<[u8]>>>);

impl Instances {
    /// An instance is written; `key` serializes its key if it is new.
    pub(super) fn written(
        &self,
        hash: [u8; 16],
        key: impl FnOnce(&mut Vec<u8>) -> Result<(), SampleError>,
    ) -> Result<(), SampleError> {
        let mut instances = lock(&self.0);
        if let Entry::Vacant(new) = instances.entry(hash) {
            let mut payload = Vec::new();
            key(&mut payload)?;
            new.insert(payload.into());
        }
        Ok(())
    }

    /// An instance has ended.
    pub(super) fn ended(&self, hash: [u8; 16]) {
        lock(&self.0).remove(&hash);
    }

    /// Unregisters and disposes of all that is left, if anybody is there to hear of it, as long as
    /// that does not take longer than `patience`.
    pub(super) fn end_all(
        &self,
        endpoint: &WriterEndpoint,
        lifeline: &Arc<Lifeline>,
        patience: Duration,
    ) {
        if !endpoint.disposes_at_its_end() || !endpoint.has_readers() {
            return;
        }
        let end = clock::now() + patience;
        let _together = SuspendedPublications::new(lifeline);
        for (hash, key) in lock(&self.0).drain() {
            let (now, timestamp) = clock::both();
            let change = Change {
                kind: ChangeKind::DisposedUnregistered,
                source_timestamp: Some(timestamp),
                key_hash: Some(hash),
                ..Change::default()
            };
            let written = endpoint.write(now, &change, &|buffer: &mut Vec<u8>| {
                buffer.extend_from_slice(&key);
                Ok(())
            });
            if written.is_err() || clock::now() > end {
                return;
            }
        }
    }
}
