//! What `read` and `take` return, on loan from the reader.

use std::ops::Deref;
use std::sync::Arc;

use super::sample::Sample;
use super::shared::ReaderShared;
use crate::type_support::TopicSupport;

/// Samples in the order of their arrival, across instances: where the standard would have those of
/// an instance together (DDS 1.4 §2.2.2.5.3.8), prices of several securities keep their order. With
/// [ordered access](crate::SubscriberQos::presentation) of INSTANCE scope those of an instance are
/// together; of TOPIC and GROUP scope they are in the order of their source timestamps if
/// DESTINATION_ORDER goes by these.
///
/// When dropped, their memory goes back to the reader, which uses it for the next ones.
pub struct Samples<T: TopicSupport> {
    samples: Vec<Sample<T>>,
    reader: Arc<ReaderShared<T>>,
}

impl<T: TopicSupport> Samples<T> {
    pub(super) fn new(samples: Vec<Sample<T>>, reader: Arc<ReaderShared<T>>) -> Self {
        Self { samples, reader }
    }

    /// The values, without the samples that have none.
    pub fn data(&self) -> impl Iterator<Item = &T> {
        self.samples.iter().filter_map(Sample::data)
    }
}

impl<T: TopicSupport> Deref for Samples<T> {
    type Target = [Sample<T>];

    fn deref(&self) -> &[Sample<T>] {
        &self.samples
    }
}

impl<'a, T: TopicSupport> IntoIterator for &'a Samples<T> {
    type Item = &'a Sample<T>;
    type IntoIter = std::slice::Iter<'a, Sample<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.samples.iter()
    }
}

impl<T: TopicSupport + std::fmt::Debug> std::fmt::Debug for Samples<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.samples).finish()
    }
}

impl<T: TopicSupport> Drop for Samples<T> {
    fn drop(&mut self) {
        self.reader.give_back(std::mem::take(&mut self.samples));
    }
}
