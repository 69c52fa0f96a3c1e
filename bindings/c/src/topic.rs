//! Topics, and those that are filtered by content.

use dds::{BytesInPlace, ContentFilteredTopic, Serialized};

use crate::border::{Out, Text, TextOut, Texts, export};
use crate::either::{Either, either, map};
use crate::failure::{Code, Failure, Result};
use crate::handle::{self, Handle, get};
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

/// A topic of a participant by its name.
pub(crate) fn of_name(participant: Handle, name: &str) -> Option<Handle> {
    let topics = handle::children::<Topic>(participant);
    let mut topics = topics.iter().filter(|topic| topic.filtered.is_none());
    topics
        .find(|topic| topic.name() == name)
        .map(|topic| topic.handle)
}
