//! Topics: a name and a type.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use hashbrown::HashMap;
use tickwire_base::Counter;
use tickwire_rtps::wire::EntityId;

use crate::core::Core;
use crate::error::TopicError;
use crate::listener::ListenerSlot;
use crate::listeners::{GroupListener, News};
use crate::signal::{Observers, lock};
use crate::status::{CountStatus, StatusMask};
use crate::type_support::TopicSupport;
use crate::wait_set::{Condition, Trigger};

/// What samples are published under: a name, and the type that they all have. Clones are the same
/// topic.
pub struct Topic<T: TopicSupport> {
    name: Arc<TopicName>,
    ty: T::Type,
}

impl<T: TopicSupport> Topic<T> {
    /// One that other topics may share the name of.
    pub(crate) fn unregistered(name: &str, ty: T::Type) -> Self {
        let name = TopicName::new(name, T::type_name(&ty), Weak::new());
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

    /// [`StatusMask::INCONSISTENT_TOPIC`], the only status of topics, if it has changed since it was last
    /// read.
    pub fn status_changes(&self) -> StatusMask {
        self.name.changes()
    }

    /// A condition that holds while one of these statuses has changed.
    pub fn status_condition(&self, mask: StatusMask) -> Condition {
        Condition::new(TopicCondition {
            topic: Arc::clone(&self.name),
            mask,
        })
    }

    /// Has the listener told of what happens to the topic, in place of the participant's; all clones have
    /// one.
    pub fn set_listener(&self, listener: impl TopicListener<T>) {
        self.set_listener_for(StatusMask::ALL, listener);
    }

    /// The same for the statuses in `mask`; without [`StatusMask::INCONSISTENT_TOPIC`] the participant's is told.
    pub fn set_listener_for(&self, mask: StatusMask, mut listener: impl TopicListener<T>) {
        let (weak, ty) = (Arc::downgrade(&self.name), self.ty.clone());
        let callback = move |_| {
            if let Some(name) = weak.upgrade() {
                let topic = Self {
                    name,
                    ty: ty.clone(),
                };
                let status = topic.inconsistent_topic_status();
                listener.on_inconsistent_topic(&topic, status);
            }
        };
        let slot = &self.name.listener;
        let mask = mask.and(StatusMask::INCONSISTENT_TOPIC);
        slot.set(Some(Box::new(callback)), mask);
        if let Some(core) = self.name.core.upgrade() {
            core.call_listener_later(EntityId::PARTICIPANT);
        }
    }

    /// Has nobody but the participant's listener told any more, and waits until a call on another thread
    /// has returned. Not to be called with a lock held that the listener takes.
    pub fn remove_listener(&self) {
        self.name.listener.remove();
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

/// Told of what happens to a topic.
pub trait TopicListener<T: TopicSupport>: Send + 'static {
    /// Another endpoint has given the topic another type.
    fn on_inconsistent_topic(&mut self, topic: &Topic<T>, status: CountStatus);
}

/// A topic's name and that of its type, and what has happened to it.
struct TopicName {
    topic: String,
    ty: String,
    /// Its participant, which it does not keep.
    core: Weak<Core>,
    inconsistent: Mutex<CountStatus>,
    listener: ListenerSlot,
    observers: Observers,
}

impl TopicName {
    fn new(topic: &str, ty: &str, core: Weak<Core>) -> Self {
        Self {
            topic: topic.to_owned(),
            ty: ty.to_owned(),
            core,
            inconsistent: Mutex::default(),
            listener: ListenerSlot::default(),
            observers: Observers::default(),
        }
    }

    fn changes(&self) -> StatusMask {
        match lock(&self.inconsistent).total_count_change {
            0 => StatusMask::NONE,
            _ => StatusMask::INCONSISTENT_TOPIC,
        }
    }
}

struct TopicCondition {
    topic: Arc<TopicName>,
    mask: StatusMask,
}

impl Trigger for TopicCondition {
    fn holds(&self) -> bool {
        self.topic.changes().intersects(self.mask)
    }

    fn observers(&self) -> &Observers {
        &self.topic.observers
    }

    fn core(&self) -> Option<Arc<Core>> {
        self.topic.core.upgrade()
    }
}

/// The topics of a participant: one type for each name (DDS 1.4 §2.2.2.2.1.5).
#[derive(Default)]
pub(crate) struct Registry(Mutex<HashMap<String, Weak<TopicName>>>);

impl Registry {
    /// Another endpoint has given the topic another type. Its own listener is to be told, else the
    /// participant's; what neither is set for waits for its own. Says whether there is one to call.
    pub(crate) fn found_inconsistent(&self, name: &str, participants: &GroupListener) -> bool {
        let topic = lock(&self.0).get(name).and_then(Weak::upgrade);
        let Some(topic) = topic else {
            return false;
        };
        lock(&topic.inconsistent).add(1);
        topic.observers.raise();
        let status = StatusMask::INCONSISTENT_TOPIC;
        if !topic.listener.handles().intersects(status) && participants.handles(status) {
            participants.note(News::InconsistentTopic(name.to_owned()));
            return true;
        }
        topic.listener.note(status)
    }

    /// Tells the listeners of all topics what they have not been told. Only for the threads that deliver
    /// data.
    pub(crate) fn call_listeners(&self, panics: &Counter) {
        let topics: Vec<_> = lock(&self.0).values().filter_map(Weak::upgrade).collect();
        for topic in topics {
            topic.listener.call(StatusMask::NONE, panics);
        }
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
        core: Weak<Core>,
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
        let topic = Arc::new(TopicName::new(name, type_name, core));
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
        registry.topic(Weak::new(), name, DynamicType::opaque(ty, false))
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
        let (registry, nobody) = (Registry::default(), GroupListener::default());
        assert!(!registry.found_inconsistent("Quotes", &nobody));
        let quotes = topic(&registry, "Quotes", "Quote").expect("a new name");
        let condition = quotes.status_condition(StatusMask::INCONSISTENT_TOPIC);
        assert!(!condition.holds());
        assert!(!registry.found_inconsistent("Quotes", &nobody));
        assert!(condition.holds());
        let status = quotes.clone().inconsistent_topic_status();
        assert_eq!((status.total_count, status.total_count_change), (1, 1));
        assert_eq!(quotes.inconsistent_topic_status().total_count_change, 0);
        assert!(!condition.holds());
        assert_eq!(quotes.status_changes(), StatusMask::NONE);
    }

    #[test]
    fn the_topics_own_listener_is_told_before_the_participants() {
        struct Ear(Arc<Mutex<Vec<(String, u64)>>>);
        impl TopicListener<Serialized> for Ear {
            fn on_inconsistent_topic(&mut self, topic: &Topic<Serialized>, status: CountStatus) {
                let heard = (topic.name().to_owned(), status.total_count_change);
                lock(&self.0).push(heard);
            }
        }
        let registry = Registry::default();
        let heard = Arc::default();
        let quotes = topic(&registry, "Quotes", "Quote").expect("a new name");
        quotes.set_listener(Ear(Arc::clone(&heard)));
        let _other = topic(&registry, "Trades", "Trade").expect("a new name");
        let above = GroupListener::default();
        let told = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&told);
        above.set(StatusMask::ALL, move |news| lock(&ear).push(news));
        for name in ["Quotes", "Quotes", "Trades"] {
            assert!(registry.found_inconsistent(name, &above));
        }
        registry.call_listeners(&Counter::default());
        assert_eq!(*lock(&heard), [("Quotes".to_owned(), 2)]);
        quotes.set_listener_for(StatusMask::DATA_AVAILABLE, Ear(Arc::clone(&heard)));
        assert!(registry.found_inconsistent("Quotes", &above));
        above.call(&Counter::default());
        let of = |name: &str| News::InconsistentTopic(name.to_owned());
        assert_eq!(*lock(&told), [of("Trades"), of("Quotes")]);
        above.remove();
        assert!(!registry.found_inconsistent("Quotes", &above));
        quotes.set_listener(Ear(Arc::clone(&heard)));
        registry.call_listeners(&Counter::default());
        assert_eq!(lock(&heard).len(), 2, "what nobody heard waits for it");
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
