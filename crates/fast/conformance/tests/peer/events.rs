//! Messages as lists of what is in them, from our decoder and from fastlib's, and ours as fastlib's encoder asks for it.

use fastlib::{MessageFactory, MessageVisitor, Value as PeerValue, ValueType};
use tickwire_fast::{FieldType, Message, Record, Value};

/// One step through a message. Absent fields are not there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Template(String),
    Value(String, PeerValue),
    Group(String),
    Sequence(String, usize),
    Element,
    Inner(String),
    End,
}

/// What our decoder made.
pub(crate) fn events(message: &Message) -> Vec<Event> {
    let mut events = Vec::new();
    if let Some(template) = message.template() {
        events.push(Event::Template(template.name().to_owned()));
        record(message.record(), &mut events);
    }
    events
}

fn record(fields: Record<'_>, events: &mut Vec<Event>) {
    for (field, value) in fields {
        let name = field.name().to_owned();
        match value {
            Value::Group(inner) => {
                events.push(Event::Group(name));
                record(inner, events);
            }
            Value::Sequence(sequence) => {
                events.push(Event::Sequence(name, sequence.len()));
                for element in sequence.iter() {
                    events.push(Event::Element);
                    record(element, events);
                    events.push(Event::End);
                }
            }
            Value::Template(template, inner) => {
                events.push(Event::Inner(template.name().to_owned()));
                record(inner, events);
            }
            value => {
                events.extend(
                    peer_value(field.field_type(), value).map(|value| Event::Value(name, value)),
                );
                continue;
            }
        }
        events.push(Event::End);
    }
}

/// A value as fastlib has it; `None` if fastlib has no such type.
fn peer_value(field_type: FieldType, value: Value<'_>) -> Option<PeerValue> {
    Some(match (field_type, value) {
        (FieldType::UInt32, Value::Unsigned(value)) => PeerValue::UInt32(value.try_into().ok()?),
        (FieldType::UInt64, Value::Unsigned(value)) => PeerValue::UInt64(value),
        (FieldType::Int32, Value::Signed(value)) => PeerValue::Int32(value.try_into().ok()?),
        (FieldType::Int64, Value::Signed(value)) => PeerValue::Int64(value),
        (FieldType::Decimal, Value::Decimal(value)) => PeerValue::Decimal(fastlib::Decimal::new(
            value.exponent().into(),
            value.mantissa(),
        )),
        (FieldType::Ascii, Value::Text(value)) => PeerValue::ASCIIString(value.to_owned()),
        (FieldType::Unicode, Value::Text(value)) => PeerValue::UnicodeString(value.to_owned()),
        (FieldType::ByteVector, Value::Bytes(value)) => PeerValue::Bytes(value.to_owned()),
        _ => return None,
    })
}

/// What fastlib's decoder made.
#[derive(Debug, Default)]
pub(crate) struct Collected(pub(crate) Vec<Event>);

impl MessageFactory for Collected {
    fn start_template(&mut self, _: u32, name: &str) {
        self.0.push(Event::Template(name.to_owned()));
    }

    fn stop_template(&mut self) {}

    fn set_value(&mut self, _: u32, name: &str, value: Option<PeerValue>) {
        self.0
            .extend(value.map(|value| Event::Value(name.to_owned(), value)));
    }

    fn start_sequence(&mut self, _: u32, name: &str, len: u32) {
        self.0.push(Event::Sequence(name.to_owned(), len as usize));
    }

    fn start_sequence_item(&mut self, _: u32) {
        self.0.push(Event::Element);
    }

    fn stop_sequence_item(&mut self) {
        self.0.push(Event::End);
    }

    fn stop_sequence(&mut self) {
        self.0.push(Event::End);
    }

    fn start_group(&mut self, name: &str) {
        self.0.push(Event::Group(name.to_owned()));
    }

    fn stop_group(&mut self) {
        self.0.push(Event::End);
    }

    fn start_template_ref(&mut self, name: &str, dynamic: bool) {
        // Fields of a static reference stand in their place.
        if dynamic {
            self.0.push(Event::Inner(name.to_owned()));
        } else {
            self.0.push(Event::Inner(String::new()));
        }
    }

    fn stop_template_ref(&mut self) {
        self.0.push(Event::End);
    }
}

impl Collected {
    /// The events without what fastlib says of static references.
    pub(crate) fn events(self) -> Vec<Event> {
        let mut kept = Vec::new();
        let mut open = Vec::new();
        for event in self.0 {
            let is_static = matches!(&event, Event::Inner(name) if name.is_empty());
            match &event {
                Event::Value(..) | Event::Template(_) => {}
                Event::End if open.pop() == Some(true) => continue,
                Event::End => {}
                _ => open.push(is_static),
            }
            if !is_static {
                kept.push(event);
            }
        }
        kept
    }
}

/// One of our messages, for fastlib's encoder.
pub(crate) struct Offered<'a> {
    message: &'a Message,
    /// The records that are open; what the innermost still has to give.
    records: Vec<Record<'a>>,
    /// The elements of the sequences that are open.
    sequences: Vec<Vec<Record<'a>>>,
    /// For each open reference, whether it is dynamic.
    references: Vec<bool>,
}

impl<'a> Offered<'a> {
    pub(crate) fn new(message: &'a Message) -> Self {
        Self {
            message,
            records: vec![message.record()],
            sequences: Vec::new(),
            references: Vec::new(),
        }
    }

    /// The next value, if its field has this name.
    fn take(&mut self, name: &str) -> Option<(FieldType, Value<'a>)> {
        let record = self.records.last_mut()?;
        let mut rest = *record;
        let (field, value) = rest.next()?;
        if field.name() != name {
            return None;
        }
        *record = rest;
        Some((field.field_type(), value))
    }
}

impl MessageVisitor for Offered<'_> {
    fn get_template_name(&mut self) -> fastlib::Result<String> {
        Ok(self
            .message
            .template()
            .map_or("", |template| template.name())
            .to_owned())
    }

    fn get_value(&mut self, name: &str, _: &ValueType) -> fastlib::Result<Option<PeerValue>> {
        Ok(self
            .take(name)
            .and_then(|(field_type, value)| peer_value(field_type, value)))
    }

    fn select_group(&mut self, name: &str) -> fastlib::Result<bool> {
        match self.take(name) {
            Some((_, Value::Group(group))) => self.records.push(group),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn release_group(&mut self) -> fastlib::Result<()> {
        self.records.pop();
        Ok(())
    }

    fn select_sequence(&mut self, name: &str) -> fastlib::Result<Option<usize>> {
        let Some((_, Value::Sequence(sequence))) = self.take(name) else {
            return Ok(None);
        };
        self.sequences.push(sequence.iter().collect());
        Ok(Some(sequence.len()))
    }

    fn select_sequence_item(&mut self, index: usize) -> fastlib::Result<()> {
        let element = self
            .sequences
            .last()
            .and_then(|elements| elements.get(index));
        self.records.extend(element.copied());
        Ok(())
    }

    fn release_sequence_item(&mut self) -> fastlib::Result<()> {
        self.records.pop();
        Ok(())
    }

    fn release_sequence(&mut self) -> fastlib::Result<()> {
        self.sequences.pop();
        Ok(())
    }

    fn select_template_ref(&mut self, _: &str, dynamic: bool) -> fastlib::Result<Option<String>> {
        self.references.push(dynamic);
        if !dynamic {
            return Ok(None);
        }
        match self.take("templateRef") {
            Some((_, Value::Template(template, inner))) => {
                self.records.push(inner);
                Ok(Some(template.name().to_owned()))
            }
            _ => Ok(None),
        }
    }

    fn release_template_ref(&mut self) -> fastlib::Result<()> {
        if self.references.pop() == Some(true) {
            self.records.pop();
        }
        Ok(())
    }
}
