//! Topics, and those that are filtered by content.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dds::status::CountStatus;
use dds::{
    BytesInPlace, ContentFilteredTopic, Serialized, StatusMask, TopicListener, TopicSupport,
};

use crate::border::{Listener, Out, Text, TextOut, Texts, export};
use crate::either::{Either, either, map};
use crate::failure::{Code, Failure, Result};
use crate::handle::{self, Entry, Handle, get};
use crate::listener::Nobody;
use crate::participant::Participant;
use crate::types::Type;

/// A topic, or a content-filtered one, which knows the topic that it is of.
pub(crate) struct Topic {
    pub(crate) dds: Either<dds::Topic<Serialized>, dds::Topic<BytesInPlace>>,
    pub(crate) filtered:
        Option<Either<ContentFilteredTopic<Serialized>, ContentFilteredTopic<BytesInPlace>>>,
}

impl Topic {
    pub(crate) fn name(&self) -> &str {
        either!(&self.dds, topic => topic.name())
    }

    /// The filter, of one that is filtered.
    fn filter(
        &self,
    ) -> Result<&Either<ContentFilteredTopic<Serialized>, ContentFilteredTopic<BytesInPlace>>> {
        self.filtered.as_ref().ok_or_else(|| {
            let message = "the topic is not filtered; tw_topic_filtered makes one that is";
            Failure::new(Code::PRECONDITION, message)
        })
    }
}

export! {
    fn tw_topic_create(participant: Handle, name: Text, ty: Handle, topic: Out<Handle>) {
        let topic = topic.place("topic")?;
        let (entry, ty) = (get::<Participant>(participant)?, get::<Type>(ty)?);
        let name = name.get("name")?;
        let dds = map!(&ty.dds, ty => entry.dds.topic_of(name, ty.clone())?);
        let filtered = None;
        topic.put(handle::add(participant, Topic { dds, filtered })?);
        Ok(())
    }

    fn tw_topic_filtered(
        topic: Handle,
        name: Text,
        expression: Text,
        parameters: Texts,
        parameter_count: usize,
        filtered: Out<Handle>,
    ) {
        let filtered = filtered.place("filtered")?;
        let entry = get::<Topic>(topic)?;
        let (name, expression) = (name.get("name")?, expression.get("expression")?);
        let parameters = parameters.get(parameter_count, "parameters")?;
        if entry.filtered.is_some() {
            let message = "the topic is filtered already; filter the one that it is of";
            return Err(Failure::new(Code::PRECONDITION, message));
        }
        let made = map!(&entry.dds, topic => topic.filtered(name, expression, &parameters)?);
        let made = Topic {
            dds: map!(&entry.dds, topic => topic.clone()),
            filtered: Some(made),
        };
        filtered.put(handle::add(entry.parent, made)?);
        Ok(())
    }

    fn tw_topic_set_parameters(filtered: Handle, parameters: Texts, parameter_count: usize) {
        let filtered = get::<Topic>(filtered)?;
        let parameters = parameters.get(parameter_count, "parameters")?;
        either!(filtered.filter()?, topic => topic.set_expression_parameters(&parameters))?;
        Ok(())
    }

    fn tw_topic_name(topic: Handle, buffer: TextOut, capacity: usize, len: Out<usize>) {
        let topic = get::<Topic>(topic)?;
        buffer.put(topic.name(), capacity, &len)
    }
}

/// Has a listener told of what happens to the topic, in place of the one that was set with any of its handles.
pub(crate) fn listen(topic: &Entry<Topic>, listener: Listener, mask: StatusMask) {
    let set = Set {
        participant: topic.parent,
        name: topic.name().to_owned(),
        topic: topic.handle,
        listener: Arc::new(listener),
    };
    let mut before = None;
    let mut all = listeners();
    // A topic that another thread deletes is forgotten later, or not to be found already.
    if get::<Topic>(topic.handle).is_ok() {
        before = taken(&mut all, |it| it.is_of(topic));
        let own = set.clone();
        either!(&topic.dds, topic => topic.set_listener_for(mask, own));
        all.push(set);
    }
    drop(all);
    drop(before);
}

/// Takes the listener away, whatever handle it was set with, and waits until it has returned.
pub(crate) fn deafen(topic: &Entry<Topic>) {
    let before = taken(&mut listeners(), |it| it.is_of(topic));
    either!(&topic.dds, topic => topic.remove_listener());
    drop(before);
}

/// A handle is deleted: the listener that was set with it is told of nothing more.
pub(crate) fn forget(topic: &Entry<Topic>) {
    let mut all = listeners();
    let before = taken(&mut all, |it| it.topic == topic.handle);
    if before.is_some() {
        either!(&topic.dds, topic => topic.set_listener_for(StatusMask::NONE, Nobody));
    }
    drop(all);
    drop(before);
}

/// The listener that the handles of a topic share, and the one that it was set with.
#[derive(Clone)]
struct Set {
    participant: Handle,
    name: String,
    topic: Handle,
    listener: Arc<Listener>,
}

impl Set {
    fn is_of(&self, topic: &Entry<Topic>) -> bool {
        self.participant == topic.parent && self.name == topic.name()
    }
}

impl<T: TopicSupport> TopicListener<T> for Set {
    fn on_inconsistent_topic(&mut self, _: &dds::Topic<T>, status: CountStatus) {
        let callback = self.listener.callbacks.on_inconsistent_topic;
        self.listener.tell(callback, self.topic, &status.into());
    }
}

/// All that are set. What is taken out is dropped without this lock, as the caller's function then frees the context.
static LISTENERS: Mutex<Vec<Set>> = Mutex::new(Vec::new());

fn listeners() -> MutexGuard<'static, Vec<Set>> {
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken(all: &mut Vec<Set>, is_it: impl FnMut(&Set) -> bool) -> Option<Set> {
    let at = all.iter().position(is_it)?;
    Some(all.swap_remove(at))
}

/// A topic of a participant by its name.
pub(crate) fn of_name(participant: Handle, name: &str) -> Option<Handle> {
    let topics = handle::children::<Topic>(participant);
    let mut topics = topics.iter().filter(|topic| topic.filtered.is_none());
    topics
        .find(|topic| topic.name() == name)
        .map(|topic| topic.handle)
}
