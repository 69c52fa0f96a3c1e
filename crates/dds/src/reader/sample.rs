//! What `read` and `take` return.

use std::sync::Arc;

use super::info::SampleInfo;

/// A value and its circumstances.
#[derive(Debug)]
pub struct Sample<T> {
    pub(super) value: Option<Arc<T>>,
    pub(super) info: SampleInfo,
    pub(super) instance_index: usize,
}

impl<T> Sample<T> {
    /// The value; `None` if the sample only tells that its instance was disposed of or has lost its
    /// writers.
    pub fn data(&self) -> Option<&T> {
        self.value.as_deref().filter(|_| self.info.valid_data)
    }

    /// A value whose key fields are those of the instance. Without [`data`](Self::data), the other
    /// fields mean nothing; `None` if the writer did not send the key.
    pub fn key_holder(&self) -> Option<&T> {
        self.value.as_deref()
    }

    /// Its circumstances.
    pub fn info(&self) -> &SampleInfo {
        &self.info
    }
}
