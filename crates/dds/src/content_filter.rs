//! Content-filtered topics: a topic as a reader wants to see it (DDS 1.4 §2.2.2.3.3).

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use tickwire_cdr::filter::{Filter, FilterError};
use tickwire_rtps::discovery::{AddError, ContentFilterProperty, EndpointData};

use crate::reader::shared::ReaderShared;
use crate::signal::lock;
use crate::topic::Topic;
use crate::type_support::TopicSupport;

/// What a reader can subscribe to: a [`Topic`], or a [`ContentFilteredTopic`].
pub trait TopicDescription<T: TopicSupport>: private::Sealed<T> {}

impl<T: TopicSupport> TopicDescription<T> for Topic<T> {}
impl<T: TopicSupport> TopicDescription<T> for ContentFilteredTopic<T> {}

/// A topic of which a reader gets those samples only for which an expression is true.
///
/// The language is the SQL subset of DDS 1.4 Annex B, see [`tickwire_cdr::filter`]. The expression
/// is announced, so that writers keep back what a reader does not want; what comes nevertheless is
/// dropped on arrival, before it is decoded, and counted as
/// [`filtered_by_content`](crate::reader::InboxCounters::filtered_by_content). Clones are the same
/// one.
pub struct ContentFilteredTopic<T: TopicSupport> {
    topic: Topic<T>,
    shared: Arc<FilterShared<T>>,
}

/// What the clones and the readers of a content-filtered topic share. Its lock is taken before
/// discovery's, and held while a change is sent.
#[doc(hidden)]
pub struct FilterShared<T: TopicSupport> {
    name: String,
    expression: String,
    state: Mutex<FilterState<T>>,
}

pub(crate) struct FilterState<T: TopicSupport> {
    filter: Filter,
    announced: ContentFilterProperty,
    readers: Vec<Weak<ReaderShared<T>>>,
}

impl<T: TopicSupport> FilterShared<T> {
    /// For who makes a reader: until it is known, lest a change pass it by.
    pub(crate) fn lock(&self) -> MutexGuard<'_, FilterState<T>> {
        lock(&self.state)
    }
}

impl<T: TopicSupport> FilterState<T> {
    /// A filter of its own for a reader, and what the reader is to announce.
    pub(crate) fn for_reader(&self) -> (Filter, ContentFilterProperty) {
        (self.filter.clone(), self.announced.clone())
    }

    /// Has a reader follow changes.
    pub(crate) fn add(&mut self, reader: &Arc<ReaderShared<T>>) {
        self.readers.retain(|known| known.strong_count() > 0);
        self.readers.push(Arc::downgrade(reader));
    }
}

impl<T: TopicSupport> Topic<T> {
    /// The topic's samples for which `expression` is true; `parameters` are what `%0`, `%1` ...
    /// stand for, as literals of the language. `name` is for those who look at the network.
    ///
    /// ```no_run
    /// # use tickwire::{DomainParticipant, Topic};
    /// # #[derive(Topic)]
    /// # struct Quote { #[topic(key)] symbol: String, price: f64 }
    /// # let participant = DomainParticipant::new(0)?;
    /// let quotes = participant.topic::<Quote>("Quotes")?;
    /// let euro = quotes.filtered("Euro", "symbol LIKE %0 AND price > 1.1", &["'EUR%'"])?;
    /// let reader = participant.reader(&euro)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the expression does not fit the type, or the members of the type are not known.
    pub fn filtered(
        &self,
        name: &str,
        expression: &str,
        parameters: &[&str],
    ) -> Result<ContentFilteredTopic<T>, ContentFilterError> {
        let description = T::description(self.ty()).ok_or(ContentFilterError::OpaqueType)?;
        let filter = Filter::new(expression, parameters, description)?;
        let announced = ContentFilterProperty {
            content_filtered_topic_name: name.to_owned(),
            related_topic_name: self.name().to_owned(),
            filter_class_name: ContentFilterProperty::DDSSQL.to_owned(),
            filter_expression: expression.to_owned(),
            expression_parameters: parameters.iter().map(|&text| text.to_owned()).collect(),
        };
        Ok(ContentFilteredTopic {
            topic: self.clone(),
            shared: Arc::new(FilterShared {
                name: name.to_owned(),
                expression: expression.to_owned(),
                state: Mutex::new(FilterState {
                    filter,
                    announced,
                    readers: Vec::new(),
                }),
            }),
        })
    }
}

impl<T: TopicSupport> ContentFilteredTopic<T> {
    /// The topic that is filtered.
    pub fn related_topic(&self) -> &Topic<T> {
        &self.topic
    }

    /// Its own name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The expression.
    pub fn filter_expression(&self) -> &str {
        &self.shared.expression
    }

    /// What `%0`, `%1` ... stand for now.
    pub fn expression_parameters(&self) -> Vec<String> {
        let state = lock(&self.shared.state);
        state.announced.expression_parameters.clone()
    }

    /// Changes what `%0`, `%1` ... stand for (DDS 1.4 §2.2.2.3.3), in all readers of the topic: what
    /// comes from here on is filtered by it, and it is announced, so that writers do the same. What
    /// they have kept back before does not come again, and what is in the readers stays.
    ///
    /// # Errors
    /// When the expression does not fit the type with these, or they are too long to announce; then
    /// nothing changes, unless there are readers in several participants, of which some may have
    /// announced them already.
    pub fn set_expression_parameters(&self, parameters: &[&str]) -> Result<(), ContentFilterError> {
        let description = T::description(self.topic.ty()).ok_or(ContentFilterError::OpaqueType)?;
        let filter = Filter::new(&self.shared.expression, parameters, description)?;
        let mut state = lock(&self.shared.state);
        let announced = ContentFilterProperty {
            expression_parameters: parameters.iter().map(|&text| text.to_owned()).collect(),
            ..state.announced.clone()
        };
        let mut readers: Vec<_> = state.readers.iter().filter_map(Weak::upgrade).collect();
        // A topic may have readers in several participants.
        while let Some(core) = readers.first().map(|reader| Arc::clone(&reader.core)) {
            let is_own = |reader: &Arc<ReaderShared<T>>| Arc::ptr_eq(&reader.core, &core);
            let (own, others): (Vec<_>, _) = readers.into_iter().partition(is_own);
            let guids: Vec<_> = own.iter().map(|reader| reader.guid).collect();
            let announce = |data: &mut EndpointData| data.content_filter = Some(announced.clone());
            let apply = || own.iter().for_each(|reader| reader.set_filter(&filter));
            let changed = core.change_all(&guids, announce, apply);
            changed.map_err(ContentFilterError::Announcement)?;
            readers = others;
        }
        (state.filter, state.announced) = (filter, announced);
        Ok(())
    }
}

impl<T: TopicSupport> Clone for ContentFilteredTopic<T> {
    fn clone(&self) -> Self {
        Self {
            topic: self.topic.clone(),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: TopicSupport> fmt::Debug for ContentFilteredTopic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentFilteredTopic")
            .field("topic", &self.topic)
            .field("name", &self.name())
            .field("filter_expression", &self.filter_expression())
            .field("expression_parameters", &self.expression_parameters())
            .finish_non_exhaustive()
    }
}

/// What the reader is made from.
pub(crate) mod private {
    use super::{ContentFilteredTopic, FilterShared};
    use crate::topic::Topic;
    use crate::type_support::TopicSupport;

    pub trait Sealed<T: TopicSupport> {
        #[doc(hidden)]
        fn topic(&self) -> &Topic<T>;
        #[doc(hidden)]
        fn filter(&self) -> Option<&FilterShared<T>>;
    }

    impl<T: TopicSupport> Sealed<T> for Topic<T> {
        fn topic(&self) -> &Self {
            self
        }

        fn filter(&self) -> Option<&FilterShared<T>> {
            None
        }
    }

    impl<T: TopicSupport> Sealed<T> for ContentFilteredTopic<T> {
        fn topic(&self) -> &Topic<T> {
            &self.topic
        }

        fn filter(&self) -> Option<&FilterShared<T>> {
            Some(&self.shared)
        }
    }
}

/// Why a topic cannot be filtered so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentFilterError {
    /// The expression does not fit the type.
    Filter(FilterError),
    /// The type's members are not known.
    OpaqueType,
    /// The parameters cannot be announced.
    Announcement(AddError),
}

impl From<FilterError> for ContentFilterError {
    fn from(error: FilterError) -> Self {
        Self::Filter(error)
    }
}

impl fmt::Display for ContentFilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter(error) => error.fmt(f),
            Self::Announcement(error) => error.fmt(f),
            Self::OpaqueType => f.write_str(
                "the members of the type are not known; make the topic with `DynamicType::described`",
            ),
        }
    }
}

impl Error for ContentFilterError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Filter(error) => Some(error),
            Self::Announcement(error) => Some(error),
            Self::OpaqueType => None,
        }
    }
}
