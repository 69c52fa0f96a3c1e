//! Says on standard output what happens to writers and readers.

use tickwire::qos::PolicyId;
use tickwire::status::{
    DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus, MatchedStatus,
};
use tickwire::{DataReader, DataReaderListener, DataWriter, DataWriterListener, Topic};

use crate::shape::ShapeType;

/// The listener of every endpoint.
#[derive(Clone, Copy)]
pub(crate) struct Report;

impl DataWriterListener<ShapeType> for Report {
    fn on_publication_matched(&mut self, writer: &DataWriter<ShapeType>, status: MatchedStatus) {
        matched("on_publication_matched", writer.topic(), "readers", status);
    }

    fn on_offered_deadline_missed(
        &mut self,
        writer: &DataWriter<ShapeType>,
        status: DeadlineMissedStatus,
    ) {
        deadline_missed("on_offered_deadline_missed", writer.topic(), status);
    }

    fn on_offered_incompatible_qos(
        &mut self,
        writer: &DataWriter<ShapeType>,
        status: IncompatibleQosStatus,
    ) {
        incompatible("on_offered_incompatible_qos", writer.topic(), &status);
    }
}

impl DataReaderListener<ShapeType> for Report {
    fn on_subscription_matched(&mut self, reader: &DataReader<ShapeType>, status: MatchedStatus) {
        matched("on_subscription_matched", reader.topic(), "writers", status);
    }

    fn on_requested_incompatible_qos(
        &mut self,
        reader: &DataReader<ShapeType>,
        status: IncompatibleQosStatus,
    ) {
        incompatible("on_requested_incompatible_qos", reader.topic(), &status);
    }

    fn on_liveliness_changed(
        &mut self,
        reader: &DataReader<ShapeType>,
        status: LivelinessChangedStatus,
    ) {
        let (alive, not_alive) = (status.alive_count, status.not_alive_count);
        let counts = format!("(alive = {alive}, not_alive = {not_alive})");
        say("on_liveliness_changed", reader.topic(), &counts);
    }

    fn on_requested_deadline_missed(
        &mut self,
        reader: &DataReader<ShapeType>,
        status: DeadlineMissedStatus,
    ) {
        deadline_missed("on_requested_deadline_missed", reader.topic(), status);
    }
}

fn matched(event: &str, topic: &Topic<ShapeType>, peers: &str, status: MatchedStatus) {
    let (current, change) = (status.current_count, status.current_count_change);
    let counts = format!("matched {peers} {current} (change = {change})");
    say(event, topic, &counts);
}

fn incompatible(event: &str, topic: &Topic<ShapeType>, status: &IncompatibleQosStatus) {
    let policy = status.last_policy.unwrap_or(PolicyId(0));
    say(event, topic, &format!("{} ({})", policy.0, name(policy)));
}

fn deadline_missed(event: &str, topic: &Topic<ShapeType>, status: DeadlineMissedStatus) {
    let (total, change) = (status.count.total_count, status.count.total_count_change);
    let counts = format!("(total = {total}, change = {change})");
    say(event, topic, &counts);
}

fn say(event: &str, topic: &Topic<ShapeType>, what: &str) {
    let (name, ty) = (topic.name(), topic.type_name());
    println!("{event}() topic: '{name}'  type: '{ty}' : {what}");
}

fn name(policy: PolicyId) -> &'static str {
    match policy {
        PolicyId::DURABILITY => "DURABILITY",
        PolicyId::PRESENTATION => "PRESENTATION",
        PolicyId::DEADLINE => "DEADLINE",
        PolicyId::LATENCY_BUDGET => "LATENCY_BUDGET",
        PolicyId::OWNERSHIP => "OWNERSHIP",
        PolicyId::LIVELINESS => "LIVELINESS",
        PolicyId::RELIABILITY => "RELIABILITY",
        PolicyId::DESTINATION_ORDER => "DESTINATION_ORDER",
        PolicyId::DATA_REPRESENTATION => "DATA_REPRESENTATION",
        _ => "?",
    }
}
