//! A choice among a reader's samples.

use std::sync::Arc;

use super::collect::{Instances, Query};
use super::info::{InstanceHandle, StateMask};
use super::query_condition::{Matcher, QueryCondition};
use super::samples::Samples;
use super::shared::ReaderShared;
use crate::type_support::TopicSupport;

/// Which samples to read or take.
///
/// ```no_run
/// # fn example(reader: &tickwire::DataReader<tickwire::Serialized>) {
/// use tickwire::StateMask;
///
/// let unseen = reader.select().states(StateMask::NOT_READ).max_samples(100).read();
/// # }
/// ```
#[must_use = "nothing is read or taken yet"]
pub struct Select<'a, T: TopicSupport> {
    reader: &'a Arc<ReaderShared<T>>,
    query: Query,
    matcher: Option<Arc<Matcher<T>>>,
}

impl<'a, T: TopicSupport> Select<'a, T> {
    pub(super) fn new(reader: &'a Arc<ReaderShared<T>>) -> Self {
        Self {
            reader,
            query: Query::ALL,
            matcher: None,
        }
    }

    /// Only samples in these states.
    pub fn states(mut self, mask: StateMask) -> Self {
        self.query.mask = mask;
        self
    }

    /// Only samples of this instance.
    pub fn instance(mut self, instance: InstanceHandle) -> Self {
        self.query.instances = Instances::One(instance);
        self
    }

    /// Only samples of one instance: the first one behind `previous` that has samples in the right
    /// states, of all instances if that is `None` (DDS 1.4 §2.2.2.5.3.16). `previous` need not exist
    /// any more, so that a loop takes all samples instance by instance:
    ///
    /// ```no_run
    /// # fn example(reader: &tickwire::DataReader<tickwire::Serialized>) {
    /// let mut previous = None;
    /// loop {
    ///     let samples = reader.select().next_instance(previous).take();
    ///     let Some(first) = samples.first() else { break };
    ///     previous = Some(first.info().instance);
    /// }
    /// # }
    /// ```
    ///
    /// Costs sorting the instances whenever one came or went since the last call.
    pub fn next_instance(mut self, previous: Option<InstanceHandle>) -> Self {
        self.query.instances = Instances::Next(previous);
        self
    }

    /// Only samples in the condition's states for which its expression is true, and ends of
    /// instances in these states.
    pub fn query(mut self, condition: &QueryCondition<T>) -> Self {
        let matcher = condition.matcher();
        self.query.mask = matcher.mask;
        self.matcher = Some(matcher);
        self
    }

    /// At most so many.
    pub fn max_samples(mut self, count: usize) -> Self {
        self.query.max_samples = count;
        self
    }

    /// Returns the samples and leaves them, marked as read.
    pub fn read(self) -> Samples<T> {
        self.collect(false)
    }

    /// Removes and returns the samples.
    pub fn take(self) -> Samples<T> {
        self.collect(true)
    }

    fn collect(self, take: bool) -> Samples<T> {
        let samples = self
            .reader
            .collect(&self.query, self.matcher.as_deref(), take);
        Samples::new(samples, Arc::clone(self.reader))
    }
}
