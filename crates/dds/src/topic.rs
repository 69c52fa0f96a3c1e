//! Topics: a name and a type.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use hashbrown::HashMap;

use crate::error::TopicError;
use crate::signal::lock;
use crate::status::CountStatus;
use crate::type_support::TopicSupport;

/// What samples are published under: a name, and the type that they all have. Clones are the same
/// topic.
pub struct Topic<T: TopicSupport> {
    name: Arc<TopicName>,
    ty: T::Type,
}

impl<T: TopicSupport> Topic<T> {
    /// One that other topics may share the name of.
    pub(crate) fn unregistered(name: &str, ty: T::Type) -> Self {
        let name = TopicName::new(name, T::type_name(&ty));
        Self {
            name: Arc::new(name),
            ty,
        }
    }

    /// The topic's name.
    pub fn name(&self) -> &str {
        &self.name.topic
    }

    /// The name of its type.
    pub fn type_name(&self) -> &str {
        &self.name.ty
    }

    /// How often an endpoint of another participant, or another endpoint of ours, was found to give
    /// this topic a type that is not the same (DDS 1.4 §2.2.4.1, INCONSISTENT_TOPIC), and clears the
    /// change. What differs is in the verdicts of
    /// [`DiscoveryView::pairs`](crate::DiscoveryView::pairs).
    pub fn inconsistent_topic_status(&self) -> CountStatus {
        lock(&self.name.inconsistent).read()
    }

    /// What is known of its type only at run time.
    pub fn ty(&self) -> &T::Type {
        &self.ty
    }
}

impl<T: TopicSupport> Clone for Topic<T> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            ty: self.ty.clone(),
        }
    }
}

impl<T: TopicSupport> fmt::Debug for Topic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topic")
            .field("name", &self.name())
            .field("type_name", &self.type_name())
            .finish()
    }
}

/// A topic's name and that of its type.
struct TopicName {
    topic: String,
    ty: String,
    inconsistent: Mutex<CountStatus>,
}

impl TopicName {
    fn new(topic: &str, ty: &str) -> Self {
        Self {
            topic: topic.to_owned(),
            ty: ty.to_owned(),
            inconsistent: Mutex::default(),
        }
    }
}

/// The topics of a participant: one type for each name (DDS 1.4 §2.2.2.2.1.5).
#[derive(Default)]
pub(crate) struct Registry(Mutex<HashMap<String, Weak<TopicName>>>);

impl Registry {
    /// Another endpoint has given the topic another type; false if nobody here has the topic.
    pub(crate) fn found_inconsistent(&self, name: &str) -> bool {
        let topic = lock(&self.0).get(name).and_then(Weak::upgrade);
        if let Some(topic) = &topic {
            lock(&topic.inconsistent).add(1);
        }
        topic.is_some()
    }

    /// The status of a topic, and clears its change.
    pub(crate) fn inconsistent_status(&self, name: &str) -> CountStatus {
        let topic = lock(&self.0).get(name).and_then(Weak::upgrade);
        topic.map_or(CountStatus::default(), |topic| {
            lock(&topic.inconsistent).read()
        })
    }

    pub(crate) fn topic<T: TopicSupport>(
        &self,
        name: &str,
        ty: T::Type,
    ) -> Result<Topic<T>, TopicError> {
        if name.is_empty() || name.len() > MAX_NAME_LEN || name.contains('\0') {
            let name = name.to_owned();
            return Err(TopicError::Name { name });
        }
        let type_name = T::type_name(&ty);
        let mut topics = lock(&self.0);
        if let Some(existing) = topics.get(name).and_then(Weak::upgrade) {
            return match existing.ty == type_name {
                true => Ok(Topic { name: existing, ty }),
                false => Err(TopicError::InconsistentType {
                    name: name.to_owned(),
                    existing: existing.ty.clone(),
                    wanted: type_name.to_owned(),
                }),
            };
        }
        topics.retain(|_, topic| topic.strong_count() > 0);
        let topic = Arc::new(TopicName::new(name, type_name));
        topics.insert(name.to_owned(), Arc::downgrade(&topic));
        Ok(Topic { name: topic, ty })
    }
}

/// What other implementations take for a name, in bytes.
const MAX_NAME_LEN: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::type_support::{DynamicType, Serialized};

    fn topic(registry: &Registry, name: &str, ty: &str) -> Result<Topic<Serialized>, TopicError> {
        registry.topic(name, DynamicType::opaque(ty, false))
    }

    #[test]
    fn a_name_has_one_type_while_it_is_in_use() {
        let registry = Registry::default();
        let first = topic(&registry, "Quotes", "Quote").expect("a new name");
        assert!(topic(&registry, "Quotes", "Quote").is_ok());
        assert!(matches!(
            topic(&registry, "Quotes", "Trade"),
            Err(TopicError::InconsistentType { .. })
        ));
        drop(first);
        assert!(topic(&registry, "Quotes", "Trade").is_ok());
    }

    #[test]
    fn inconsistencies_are_counted_with_the_topic() {
        let registry = Registry::default();
        assert!(!registry.found_inconsistent("Quotes"));
        let quotes = topic(&registry, "Quotes", "Quote").expect("a new name");
        assert!(registry.found_inconsistent("Quotes"));
        let status = quotes.clone().inconsistent_topic_status();
        assert_eq!((status.total_count, status.total_count_change), (1, 1));
        assert_eq!(quotes.inconsistent_topic_status().total_count_change, 0);
    }

    #[test]
    fn impossible_names_are_refused() {
        let registry = Registry::default();
        for name in ["", "a\0b", &"x".repeat(256)] {
            assert!(matches!(
                topic(&registry, name, "Quote"),
                Err(TopicError::Name { .. })
            ));
        }
    }
}
