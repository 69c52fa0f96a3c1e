//! A reader that may have ended.

use std::sync::{Arc, Weak};

use super::shared::ReaderShared;
use super::{DataReader, Handle};
use crate::type_support::TopicSupport;

/// Leads to a reader as long as the application has it.
pub(crate) struct WeakDataReader<T: TopicSupport>(Weak<Handle<T>>);

impl<T: TopicSupport> WeakDataReader<T> {
    /// The reader. Who drops the last one ends it, which takes discovery's lock.
    pub(crate) fn upgrade(&self) -> Option<DataReader<T>> {
        self.0.upgrade().map(|handle| DataReader { handle })
    }
}

impl<T: TopicSupport> Default for WeakDataReader<T> {
    fn default() -> Self {
        Self(Weak::new())
    }
}

impl<T: TopicSupport> DataReader<T> {
    pub(crate) fn downgrade(&self) -> WeakDataReader<T> {
        WeakDataReader(Arc::downgrade(&self.handle))
    }

    pub(crate) fn shared(&self) -> &Arc<ReaderShared<T>> {
        &self.handle.shared
    }
}
