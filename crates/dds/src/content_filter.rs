//! Content-filtered topics: a topic as a reader wants to see it (DDS 1.4 §2.2.2.3.3).

use std::error::Error;
use std::fmt;

use tickwire_cdr::filter::{Filter, FilterError};
use tickwire_rtps::discovery::ContentFilterProperty;

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
/// [`filtered_by_content`](crate::reader::InboxCounters::filtered_by_content).
pub struct ContentFilteredTopic<T: TopicSupport> {
    topic: Topic<T>,
    announced: ContentFilterProperty,
    filter: Filter,
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
            announced,
            filter,
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
        &self.announced.content_filtered_topic_name
    }

    /// The expression.
    pub fn filter_expression(&self) -> &str {
        &self.announced.filter_expression
    }

    /// What `%0`, `%1` ... stand for.
    pub fn expression_parameters(&self) -> &[String] {
        &self.announced.expression_parameters
    }
}

impl<T: TopicSupport> Clone for ContentFilteredTopic<T> {
    fn clone(&self) -> Self {
        Self {
            topic: self.topic.clone(),
            announced: self.announced.clone(),
            filter: self.filter.clone(),
        }
    }
}

impl<T: TopicSupport> fmt::Debug for ContentFilteredTopic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentFilteredTopic")
            .field("topic", &self.topic)
            .field("announced", &self.announced)
            .finish_non_exhaustive()
    }
}

/// A filter, and what is announced of it.
pub(crate) type ReaderFilter = (Filter, ContentFilterProperty);

/// What the reader is made from.
pub(crate) mod private {
    use super::{ContentFilteredTopic, ReaderFilter};
    use crate::topic::Topic;
    use crate::type_support::TopicSupport;

    pub trait Sealed<T: TopicSupport> {
        #[doc(hidden)]
        fn topic(&self) -> &Topic<T>;
        #[doc(hidden)]
        fn filter(&self) -> Option<ReaderFilter>;
    }

    impl<T: TopicSupport> Sealed<T> for Topic<T> {
        fn topic(&self) -> &Self {
            self
        }

        fn filter(&self) -> Option<ReaderFilter> {
            None
        }
    }

    impl<T: TopicSupport> Sealed<T> for ContentFilteredTopic<T> {
        fn topic(&self) -> &Topic<T> {
            &self.topic
        }

        fn filter(&self) -> Option<ReaderFilter> {
            Some((self.filter.clone(), self.announced.clone()))
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
            Self::OpaqueType => None,
        }
    }
}
