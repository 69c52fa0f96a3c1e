//! Samples as JSON, one object a line.
//!
//! A sample is the object that its type makes it. One without a value says which instance has ended,
//! as `{"disposed":{KEY}}` or `{"unregistered":{KEY}}`. What cannot be read is `{"hex":"..."}`, with
//! the reason as `"error"` unless no sample can be.

use std::fmt::Write;

use tickwire::cdr::TypeDescription;
use tickwire::cdr::dynamic::{Form, key_payload, to_json};
use tickwire::{InstanceState, Sample, SampleInfo, SequenceNumber, Serialized, Timestamp};

use super::field::FieldPath;
use super::template::{Info, Template};

/// What is shown of a sample.
pub(super) enum Shape {
    /// Its value.
    Value,
    /// Its value, and where it comes from.
    WithInfo,
    /// A part of its value; `null` where that is absent.
    Field(FieldPath),
    /// What the user wants.
    Template(Template),
}

/// Makes the lines, in memory that it keeps.
pub(super) struct Lines {
    /// The type; `None` if it is unknown.
    ty: Option<TypeDescription>,
    shape: Shape,
    line: String,
    key: Vec<u8>,
}

impl Lines {
    pub(super) fn new(ty: Option<TypeDescription>, shape: Shape) -> Self {
        Self {
            ty,
            shape,
            line: String::new(),
            key: Vec::new(),
        }
    }

    /// The sample's line, without its end. `None` for the end of an instance, where a part of a
    /// value is wanted.
    pub(super) fn line(&mut self, sample: &Sample<Serialized>) -> Option<&str> {
        self.line.clear();
        let is_part = matches!(self.shape, Shape::Field(_) | Shape::Template(_));
        if !is_part {
            self.whole(sample);
            return Some(&self.line);
        }
        self.value(sample.data()?.payload(), Form::Sample);
        let value = std::mem::take(&mut self.line);
        match &self.shape {
            Shape::Field(field) => self.line.push_str(field.of(&value).unwrap_or("null")),
            Shape::Template(template) => {
                let info = |what| text_of(what, sample.info());
                template.fill(&value, info, &mut self.line);
            }
            Shape::Value | Shape::WithInfo => {}
        }
        Some(&self.line)
    }

    fn whole(&mut self, sample: &Sample<Serialized>) {
        let info = sample.info();
        let with_info = matches!(self.shape, Shape::WithInfo);
        let (label, is_wrapped) = match (info.valid_data, info.instance_state) {
            (true, _) => ("data", with_info),
            (false, InstanceState::NoWriters) => ("unregistered", true),
            (false, _) => ("disposed", true),
        };
        if is_wrapped {
            self.line.push('{');
            if with_info {
                self.info(info);
            }
            self.append(format_args!("\"{label}\":"));
        }
        match (sample.data(), sample.key_holder()) {
            (Some(value), _) => self.value(value.payload(), Form::Sample),
            (None, Some(holder)) => self.key_of(holder),
            (None, None) => self.append(format_args!("{{\"key_hash\":\"{:?}\"}}", info.instance)),
        }
        if is_wrapped {
            self.line.push('}');
        }
    }

    /// The members that come before the value.
    fn info(&mut self, info: &SampleInfo) {
        self.append(format_args!("\"writer\":\"{}\",", info.writer));
        // A writer that has vanished sends no change of its own.
        if info.sequence_number != SequenceNumber::UNKNOWN {
            let number = info.sequence_number.0;
            self.append(format_args!("\"sequence_number\":{number},"));
        }
        if info.source_timestamp.is_some() {
            let [sent, latency] = [Info::Time, Info::Latency].map(|what| text_of(what, info));
            self.append(format_args!(
                "\"source_timestamp\":\"{sent}\",\"latency_us\":{latency},"
            ));
        }
    }

    /// The key members of a sample, whatever else is in it.
    fn key_of(&mut self, holder: &Serialized) {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let extracted = match &self.ty {
            Some(ty) if !holder.is_key() => key_payload(ty, holder.payload(), &mut key).is_ok(),
            _ => false,
        };
        let payload = if extracted { &key } else { holder.payload() };
        self.value(payload, Form::Key);
        self.key = key;
    }

    fn value(&mut self, payload: &[u8], form: Form) {
        let ty = self.ty.as_ref();
        let error = match ty.map(|ty| to_json(ty, payload, form, &mut self.line)) {
            Some(Ok(())) => return,
            Some(Err(error)) => Some(error),
            None => None,
        };
        self.line.push_str("{\"hex\":\"");
        for byte in payload {
            self.append(format_args!("{byte:02x}"));
        }
        self.line.push('"');
        if let Some(error) = error {
            let error = serde_json::Value::String(error.to_string());
            self.append(format_args!(",\"error\":{error}"));
        }
        self.line.push('}');
    }

    fn append(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = self.line.write_fmt(arguments);
    }
}

/// What is known of a sample, as text; empty if it is not known.
fn text_of(what: Info, info: &SampleInfo) -> String {
    let sent = info.source_timestamp;
    match what {
        Info::Writer => info.writer.to_string(),
        Info::SequenceNumber => info.sequence_number.0.to_string(),
        Info::Time => sent.map_or_else(String::new, |sent| Calendar(sent).to_string()),
        Info::Latency => sent.map_or_else(String::new, |sent| {
            let arrived_ns = info.reception_timestamp.as_nanos();
            let latency_ns = arrived_ns.saturating_sub(sent.as_nanos());
            let sign = if latency_ns < 0 { "-" } else { "" };
            let latency_ns = latency_ns.unsigned_abs();
            let (us, ns) = (latency_ns / 1_000, latency_ns % 1_000);
            format!("{sign}{us}.{ns:03}")
        }),
    }
}

/// A timestamp as ISO 8601 has it, in UTC.
struct Calendar(Timestamp);

impl std::fmt::Display for Calendar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ns = self.0.as_nanos();
        let (seconds, ns) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Years begin in March here, so that the leap day is the last one.
        let days = days + DAYS_TO_1970;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 {
            (month + 3, 0)
        } else {
            (month - 9, 1)
        };
        let year = era * 400 + year + next;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ns:09}Z"
        )
    }
}

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_dates() {
        let text = |ns| Calendar(Timestamp::from_nanos(ns)).to_string();
        assert_eq!(text(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(
            text(951_782_400_000_000_001),
            "2000-02-29T00:00:00.000000001Z"
        );
        assert_eq!(
            text(1_795_259_522_123_456_789),
            "2026-11-21T11:12:02.123456789Z"
        );
        assert_eq!(text(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(
            text(4_107_542_399_000_000_000),
            "2100-02-28T23:59:59.000000000Z"
        );
        assert_eq!(
            text(4_107_542_400_000_000_000),
            "2100-03-01T00:00:00.000000000Z"
        );
    }
}
