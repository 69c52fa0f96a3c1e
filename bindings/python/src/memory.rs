//! What keeps the bytes of a payload.

use std::sync::Arc;

use tickwire::{Sample, Serialized};

/// A payload that stays where it is while this lives. Clones share it.
#[derive(Clone)]
pub(crate) enum Memory {
    /// A sample of a reader's.
    Sample(Sample<Serialized>),
    /// Bytes of Python's.
    Own(Arc<[u8]>),
}

impl Memory {
    /// The payload, encapsulation header included.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Sample(sample) => sample.key_holder().map_or(&[], Serialized::payload),
            Self::Own(bytes) => bytes,
        }
    }

    /// Whether it has the key alone.
    pub(crate) fn is_key(&self) -> bool {
        match self {
            Self::Sample(sample) => sample.key_holder().is_some_and(Serialized::is_key),
            Self::Own(_) => false,
        }
    }
}
