//! Query conditions: which samples of a reader's cache an application is after, by their content
//! (DDS 1.4 §2.2.2.5.9).

use std::fmt;
use std::sync::{Arc, Mutex};

use tickwire_cdr::Representation;
use tickwire_cdr::dynamic::Form;
use tickwire_cdr::filter::{self, SortKey};

use super::info::StateMask;
use super::shared::ReaderShared;
use crate::core::Core;
use crate::error::ContentFilterError;
use crate::signal::{Observers, lock};
use crate::topic::Topic;
use crate::type_support::TopicSupport;
use crate::wait_set::{Condition, Trigger};

/// Holds while its reader has samples in certain states for which an expression is true. Made by
/// [`DataReader::query_condition`](crate::DataReader::query_condition); clones are the same one.
///
/// Unlike a [`ContentFilteredTopic`](crate::ContentFilteredTopic) it leaves the other samples in the
/// reader. Each look at it costs encoding and filtering the samples in the right states, and with
/// ORDER BY sorting those that pass.
pub struct QueryCondition<T: TopicSupport> {
    condition: Condition,
    reader: Arc<ReaderShared<T>>,
    matcher: Arc<Matcher<T>>,
}

impl<T: TopicSupport> QueryCondition<T> {
    pub(super) fn new(
        reader: &Arc<ReaderShared<T>>,
        topic: &Topic<T>,
        mask: StateMask,
        expression: &str,
        parameters: &[&str],
    ) -> Result<Self, ContentFilterError> {
        let description = T::description(topic.ty()).ok_or(ContentFilterError::OpaqueType)?;
        let query = filter::Query::new(expression, parameters, description)?;
        let matcher = Arc::new(Matcher {
            mask,
            ty: topic.ty().clone(),
            expression: expression.to_owned(),
            is_ordered: query.is_ordered(),
            state: Mutex::new(MatcherState {
                query,
                parameters: owned(parameters),
                payload: Vec::new(),
            }),
        });
        let condition = Condition::new(Query {
            reader: Arc::clone(reader),
            matcher: Arc::clone(&matcher),
        });
        Ok(Self {
            condition,
            reader: Arc::clone(reader),
            matcher,
        })
    }

    /// The expression.
    pub fn query_expression(&self) -> &str {
        &self.matcher.expression
    }

    /// What `%0`, `%1` ... stand for now.
    pub fn query_parameters(&self) -> Vec<String> {
        lock(&self.matcher.state).parameters.clone()
    }

    /// Changes what `%0`, `%1` ... stand for (DDS 1.4 §2.2.2.5.9): from here on the condition holds for
    /// other samples, of those that are there as of those to come.
    ///
    /// # Errors
    /// When the expression does not fit the type with these; then nothing changes.
    pub fn set_query_parameters(&self, parameters: &[&str]) -> Result<(), ContentFilterError> {
        let Matcher { expression, ty, .. } = &*self.matcher;
        let description = T::description(ty).ok_or(ContentFilterError::OpaqueType)?;
        let query = filter::Query::new(expression, parameters, description)?;
        {
            let mut state = lock(&self.matcher.state);
            state.query = query;
            state.parameters = owned(parameters);
        }
        self.reader.core.signal.raise();
        self.reader.observers.raise();
        Ok(())
    }

    /// The condition, to be attached to a wait set.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    pub(super) fn matcher(&self) -> Arc<Matcher<T>> {
        Arc::clone(&self.matcher)
    }
}

impl<T: TopicSupport> Clone for QueryCondition<T> {
    fn clone(&self) -> Self {
        Self {
            condition: self.condition.clone(),
            reader: Arc::clone(&self.reader),
            matcher: Arc::clone(&self.matcher),
        }
    }
}

impl<T: TopicSupport> fmt::Debug for QueryCondition<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryCondition")
            .field("condition", &self.condition)
            .finish_non_exhaustive()
    }
}

/// Says of samples whether they are wanted.
pub(crate) struct Matcher<T: TopicSupport> {
    pub(super) mask: StateMask,
    ty: T::Type,
    expression: String,
    /// Whether samples are wanted in another order than that of the reader.
    pub(super) is_ordered: bool,
    state: Mutex<MatcherState>,
}

struct MatcherState {
    query: filter::Query,
    parameters: Vec<String>,
    /// Where the query gets its payloads.
    payload: Vec<u8>,
}

fn owned(parameters: &[&str]) -> Vec<String> {
    parameters.iter().map(|&text| text.to_owned()).collect()
}

impl<T: TopicSupport> Matcher<T> {
    /// A value that cannot be encoded is not wanted.
    pub(super) fn accepts(&self, value: &T) -> bool {
        let passes = self.ask(value, |query, payload| {
            query.passes(payload, Form::Sample).ok()
        });
        passes.unwrap_or(false)
    }

    /// What a value is ordered by; `None` if it cannot be encoded.
    pub(super) fn sort_key(&self, value: &T) -> Option<SortKey> {
        self.ask(value, |query, payload| query.sort_key(payload).ok())
    }

    fn ask<R>(
        &self,
        value: &T,
        ask: impl FnOnce(&mut filter::Query, &[u8]) -> Option<R>,
    ) -> Option<R> {
        let mut state = lock(&self.state);
        let MatcherState { query, payload, .. } = &mut *state;
        // Samples that are kept serialized have one representation only.
        let encoded = [Representation::Xcdr2, Representation::Xcdr1]
            .into_iter()
            .any(|representation| {
                payload.clear();
                let written = value.write_payload(&self.ty, representation, payload);
                written.is_ok()
            });
        encoded.then(|| ask(query, payload)).flatten()
    }
}

struct Query<T: TopicSupport> {
    reader: Arc<ReaderShared<T>>,
    matcher: Arc<Matcher<T>>,
}

impl<T: TopicSupport> Trigger for Query<T> {
    fn holds(&self) -> bool {
        self.reader.has_matching(&self.matcher)
    }

    fn observers(&self) -> &Observers {
        &self.reader.observers
    }

    fn core(&self) -> Option<Arc<Core>> {
        Some(Arc::clone(&self.reader.core))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::signal::Signal;
    use crate::{DomainParticipant, Driving};

    #[test]
    fn other_parameters_wake_who_waits_for_it() {
        let builder = DomainParticipant::builder(231).driving(Driving::Polled);
        let participant = builder.build().expect("a participant");
        let reader = participant.builtin_subscriber().publications();
        let query = reader.query_condition(StateMask::ANY, "topic_name = %0", &["'A'"]);
        let query = query.expect("a member");
        let signal = Arc::default();
        reader.shared().observers.add(&signal);
        let mut looks = 0;
        // They change between a look and the sleep that would follow.
        let woken = Signal::wait(&signal, Duration::from_secs(5), || {
            looks += 1;
            let parameters = query.set_query_parameters(&["'B'"]);
            parameters.expect("it fits the type");
            (looks == 2).then_some(())
        });
        assert_eq!(woken, Some(()));
    }
}
