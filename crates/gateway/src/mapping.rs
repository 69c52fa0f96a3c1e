//! Which topic a message of a feed goes to, and which part of it.
//!
//! ```text
//!                          topic-per-type     keyed              topic-per-security
//! MarketData of 17 and 21  MarketData         MarketData (17)    MarketData.17
//!                                             MarketData (21)    MarketData.21
//! Quote of 17              Quote              Quote (17)         Quote.17
//! ```
//!
//! Knows nothing of networks: it gives payloads and the numbers of the topics that they belong to.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use tickwire::Serialized;
use tickwire::cdr::EncodeError;
use tickwire_fast::generate::TopicNames;
use tickwire_fast::{
    ElementPlace, Field, FieldIndex, FieldType, Message, Record, Sequence, Template, TemplateId,
    Templates, Value,
};

use crate::topic_type::{Part, SecurityAt, TopicType, TypeError};

/// How messages are spread over topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mapping {
    /// One topic a security for templates that carry securities in a sequence, one topic a
    /// template for the others.
    #[default]
    Automatic,
    /// One topic a template; a message is a sample.
    TopicPerType,
    /// One topic a template, with the security as key; a message is a sample for each security.
    Keyed,
    /// One topic for each template and security; a message is a sample for each security.
    TopicPerSecurity,
}

/// A topic's place in [`Mapper::topics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicIndex(pub usize);

/// A topic that messages go to.
#[derive(Clone, Debug)]
pub struct FeedTopic {
    /// Its name on the network.
    pub name: String,
    /// The template of its messages.
    pub template: String,
    /// Which of [`Mapper::types`] it has.
    pub type_index: usize,
}

/// Turns messages into samples. After warm-up it allocates only for securities never seen.
#[derive(Debug)]
pub struct Mapper {
    routes: Vec<Route>,
    /// Of the templates that have messages only the default one may be without an id.
    by_id: HashMap<Option<TemplateId>, usize>,
    types: Vec<TopicType>,
    topics: Vec<FeedTopic>,
    securities: Securities,
    max_securities: usize,
    max_topics: usize,
    unmapped: Vec<(String, TypeError)>,
    scratch: Scratch,
}

/// What happens to the messages of one template.
#[derive(Debug)]
struct Route {
    template: String,
    topic_name: String,
    type_index: usize,
    security: Option<SecurityAt>,
    topics: RouteTopics,
}

#[derive(Debug)]
enum RouteTopics {
    One(TopicIndex),
    /// By the security's number.
    BySecurity(Vec<TopicIndex>),
}

#[derive(Debug, Default)]
struct Scratch {
    /// The elements of the sequence that is split, those of one security side by side.
    elements: Vec<(SecurityNumber, ElementPlace)>,
    /// Of each security, its first element and its range of `elements`, in the order of the former.
    groups: Vec<(ElementPlace, Range<usize>)>,
    /// The elements of one security.
    places: Vec<ElementPlace>,
    sample: Serialized,
}

impl Mapper {
    /// A mapper for all templates that can be topics; see [`Self::unmapped`] for the others.
    pub fn new(templates: &Templates, mapping: Mapping) -> Self {
        let mut mapper = Self {
            routes: Vec::new(),
            by_id: HashMap::new(),
            types: Vec::new(),
            topics: Vec::new(),
            securities: Securities::default(),
            max_securities: MAX_SECURITIES,
            max_topics: MAX_TOPICS,
            unmapped: Vec::new(),
            scratch: Scratch::default(),
        };
        let names = TopicNames::new(templates);
        let templates = templates.iter();
        for template in templates.filter(|template| template.has_messages()) {
            mapper.add_route(template, &names, mapping);
        }
        mapper
    }

    /// The topics so far. It grows by topics for each security that is new to
    /// [`Self::map`] or [`Self::add_security`]; indices stay.
    pub fn topics(&self) -> &[FeedTopic] {
        &self.topics
    }

    /// The types of the topics.
    pub fn types(&self) -> &[TopicType] {
        &self.types
    }

    /// Templates whose messages cannot be samples, by name, and why.
    pub fn unmapped(&self) -> &[(String, TypeError)] {
        &self.unmapped
    }

    /// Sets how many securities are taken, 100,000 at first: each may cost topics and writers, and
    /// the feed decides how many there are.
    pub fn limit_securities(&mut self, max: usize) {
        self.max_securities = max;
    }

    /// Sets how many topics there may be, 10,000 at first. Messages about securities whose topics
    /// would be beyond are refused.
    pub fn limit_topics(&mut self, max: usize) {
        self.max_topics = max;
    }

    /// Makes the topics of a security known ahead of its first message. `security` is its id as
    /// text; nothing happens when there are no topics by security.
    pub fn add_security(&mut self, security: &str) {
        let value = match security.parse() {
            Ok(number) => Value::Unsigned(number),
            Err(_) => Value::Text(security),
        };
        // Beyond the limit its messages will be refused, and counted.
        let _number = self.security_number(value);
    }

    /// Hands the samples of `message` to `emit`, one by one with their topics.
    ///
    /// # Errors
    /// When the message is of a template without topic, has no security where it needs one, or
    /// cannot be written; samples that were handed on before that stay so. `emit`'s own error ends
    /// the message too. A message whose split sequence has no elements is no error, and no sample.
    pub fn map<E>(
        &mut self,
        message: &Message,
        mut emit: impl FnMut(&[FeedTopic], TopicIndex, &Serialized) -> Result<(), E>,
    ) -> Result<(), MapError<E>> {
        let route = |template: Template<'_>| self.by_id.get(&template.id()).copied();
        let (Some(at), record) = (message.template().and_then(route), message.record()) else {
            return Err(MapError::NoTopic);
        };
        match self.routes.get(at).and_then(|route| route.security) {
            Some(SecurityAt::Element { sequence, security }) => {
                let Some(Value::Sequence(sequence)) = record.at(sequence) else {
                    return Ok(());
                };
                self.group_elements(sequence, security)?;
                self.map_elements(at, record, sequence, security, &mut emit)
            }
            Some(SecurityAt::Message(field)) => {
                let security = record.at(field).ok_or(MapError::NoSecurity)?;
                let number = self
                    .security_number(security)
                    .ok_or(MapError::TooManySecurities)?;
                self.emit(at, number, record, Part::WHOLE, &mut emit)
            }
            None => self.emit(at, SecurityNumber(0), record, Part::WHOLE, &mut emit),
        }
    }

    /// Finds the elements of each security. Cost: two sorts, so that a message over many securities
    /// is not much dearer than one over few.
    fn group_elements<E>(
        &mut self,
        sequence: Sequence<'_>,
        security: FieldIndex,
    ) -> Result<(), MapError<E>> {
        self.scratch.elements.clear();
        self.scratch.groups.clear();
        for (place, element) in sequence.places() {
            let value = element.at(security).ok_or(MapError::NoSecurity)?;
            let number = self
                .security_number(value)
                .ok_or(MapError::TooManySecurities)?;
            self.scratch.elements.push((number, place));
        }
        let Scratch {
            elements, groups, ..
        } = &mut self.scratch;
        elements.sort_unstable();
        let mut start = 0;
        for group in elements.chunk_by(|(one, _), (other, _)| one == other) {
            let end = start + group.len();
            groups.extend(group.first().map(|(_, first)| (*first, start..end)));
            start = end;
        }
        groups.sort_unstable_by_key(|(first, _)| *first);
        Ok(())
    }

    /// One sample for each security, in the order of their first elements.
    fn map_elements<E>(
        &mut self,
        route: usize,
        record: Record<'_>,
        sequence: Sequence<'_>,
        security: FieldIndex,
        emit: &mut impl FnMut(&[FeedTopic], TopicIndex, &Serialized) -> Result<(), E>,
    ) -> Result<(), MapError<E>> {
        let mut places = std::mem::take(&mut self.scratch.places);
        let mut emitted = Ok(());
        for at in 0..self.scratch.groups.len() {
            let Scratch {
                elements, groups, ..
            } = &self.scratch;
            let group = groups
                .get(at)
                .and_then(|(_, range)| elements.get(range.clone()));
            let Some(group @ [(number, first), ..]) = group else {
                continue;
            };
            places.clear();
            places.extend(group.iter().map(|(_, place)| *place));
            let part = Part {
                security: sequence.at(*first).and_then(|element| element.at(security)),
                elements: &places,
            };
            emitted = self.emit(route, *number, record, part, emit);
            if emitted.is_err() {
                break;
            }
        }
        self.scratch.places = places;
        emitted
    }

    fn emit<E>(
        &mut self,
        route: usize,
        security: SecurityNumber,
        record: Record<'_>,
        part: Part<'_>,
        emit: &mut impl FnMut(&[FeedTopic], TopicIndex, &Serialized) -> Result<(), E>,
    ) -> Result<(), MapError<E>> {
        let route = self.routes.get(route).ok_or(MapError::NoTopic)?;
        let topic = match &route.topics {
            RouteTopics::One(topic) => *topic,
            RouteTopics::BySecurity(topics) => *topics.get(security.0).ok_or(MapError::NoTopic)?,
        };
        let ty = self.types.get(route.type_index).ok_or(MapError::NoTopic)?;
        ty.write(record, part, &mut self.scratch.sample)?;
        emit(&self.topics, topic, &self.scratch.sample).map_err(MapError::Emit)
    }

    fn add_route(&mut self, template: Template<'_>, names: &TopicNames, mapping: Mapping) {
        let security = security_field(template, mapping);
        let by_security =
            security.is_some() && matches!(mapping, Mapping::Automatic | Mapping::TopicPerSecurity);
        let ty = match TopicType::new(template, names, security, mapping == Mapping::Keyed) {
            Ok(ty) => ty,
            Err(error) => {
                self.unmapped.push((template.name().to_owned(), error));
                return;
            }
        };
        let type_index = self.types.len();
        self.types.push(ty);
        // Topics allow no more characters than types do (DDS 1.4 annex B), and as types they differ.
        let topic_name = names.template(template).to_owned();
        let topics = if by_security {
            RouteTopics::BySecurity(Vec::new())
        } else {
            self.topics.push(FeedTopic {
                name: topic_name.clone(),
                template: template.name().to_owned(),
                type_index,
            });
            RouteTopics::One(TopicIndex(self.topics.len() - 1))
        };
        self.by_id.insert(template.id(), self.routes.len());
        self.routes.push(Route {
            template: template.name().to_owned(),
            topic_name,
            type_index,
            security,
            topics,
        });
    }

    /// The number of a security; a new one gets its topics on every route that has topics by
    /// security. `None` beyond the limit.
    fn security_number(&mut self, security: Value<'_>) -> Option<SecurityNumber> {
        if let Some(number) = self.securities.number(security) {
            return Some(number);
        }
        let by_security = |route: &&Route| matches!(route.topics, RouteTopics::BySecurity(_));
        let added = self.routes.iter().filter(by_security).count();
        let no_room = added > 0 && self.topics.len() + added > self.max_topics;
        if no_room || self.securities.len() >= self.max_securities {
            return None;
        }
        let (number, name) = self.securities.add(security)?;
        for route in &mut self.routes {
            if let RouteTopics::BySecurity(topics) = &mut route.topics {
                topics.push(TopicIndex(self.topics.len()));
                self.topics.push(FeedTopic {
                    name: format!("{}.{name}", route.topic_name),
                    template: route.template.clone(),
                    type_index: route.type_index,
                });
            }
        }
        Some(number)
    }
}

/// Where a template tells the security, if the mapping wants to know. A field of that name in a
/// sequence comes before one of the message.
fn security_field(template: Template<'_>, mapping: Mapping) -> Option<SecurityAt> {
    let in_sequence = template
        .fields()
        .filter(|field| field.field_type() == FieldType::Sequence)
        .find_map(|field| {
            let security = field.fields().find(|inner| is_security(*inner))?;
            Some(SecurityAt::Element {
                sequence: field.index(),
                security: security.index(),
            })
        });
    let in_message = || {
        let security = template.fields().find(|field| is_security(*field))?;
        Some(SecurityAt::Message(security.index()))
    };
    match mapping {
        Mapping::TopicPerType => None,
        Mapping::Automatic => in_sequence,
        Mapping::Keyed | Mapping::TopicPerSecurity => in_sequence.or_else(in_message),
    }
}

/// FIX calls it SecurityID (tag 48); templates differ in the case of its letters.
fn is_security(field: Field<'_>) -> bool {
    let kind = field.field_type();
    field.name().eq_ignore_ascii_case("SecurityID")
        && !field.is_optional()
        && (kind.is_integer() || kind.is_string())
}

/// The order in which securities were met, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SecurityNumber(usize);

/// Numbers for securities. They are never forgotten: as many as the feed has, some tens of bytes
/// each.
#[derive(Debug, Default)]
struct Securities {
    by_id: HashMap<i128, SecurityNumber>,
    by_name: HashMap<Box<str>, SecurityNumber>,
}

impl Securities {
    fn len(&self) -> usize {
        self.by_id.len() + self.by_name.len()
    }

    fn number(&self, security: Value<'_>) -> Option<SecurityNumber> {
        match security {
            Value::Unsigned(id) => self.by_id.get(&i128::from(id)).copied(),
            Value::Signed(id) => self.by_id.get(&i128::from(id)).copied(),
            Value::Text(name) => self.by_name.get(name).copied(),
            _ => None,
        }
    }

    /// Numbers a new one and says its name; only integers and text name securities.
    fn add(&mut self, security: Value<'_>) -> Option<(SecurityNumber, String)> {
        let number = SecurityNumber(self.len());
        let id = match security {
            Value::Unsigned(id) => i128::from(id),
            Value::Signed(id) => i128::from(id),
            Value::Text(name) => {
                self.by_name.insert(name.into(), number);
                return Some((number, name.to_owned()));
            }
            _ => return None,
        };
        self.by_id.insert(id, number);
        Some((number, id.to_string()))
    }
}

/// Why a message, or what is left of it, became no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError<E> {
    /// Its template has no topic.
    NoTopic,
    /// It, or one of its elements, is without its security.
    NoSecurity,
    /// It is about a new security, beyond [`Mapper::limit_securities`] or [`Mapper::limit_topics`].
    TooManySecurities,
    /// A value has no encoding: a string with NUL inside.
    Encode(EncodeError),
    /// The sample was not taken.
    Emit(E),
}

impl<E> From<EncodeError> for MapError<E> {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl<E: fmt::Display> fmt::Display for MapError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTopic => f.write_str("the message's template has no topic"),
            Self::NoSecurity => f.write_str("the message names no security"),
            Self::TooManySecurities => f.write_str(TOO_MANY),
            Self::Encode(error) => write!(f, "the message has no encoding: {error}"),
            Self::Emit(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for MapError<E> {}

/// Securities that a mapper takes at first: each may cost topics and writers.
const MAX_SECURITIES: usize = 100_000;

/// Topics that a mapper makes at first: each costs a writer and, with echoes, a reader.
const MAX_TOPICS: usize = 10_000;

pub(crate) const TOO_MANY: &str =
    "its security is new, and there are as many securities or topics as allowed";

#[cfg(test)]
mod tests;
