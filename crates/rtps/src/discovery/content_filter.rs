//! What a reader announces of its content filter (RTPS 2.5 §9.6.3.4). Evaluates nothing.

use alloc::string::String;
use alloc::vec::Vec;

use super::values::{read_string, read_strings, write_string, write_strings};
use crate::wire::{Cursor, Malformed, Out, ParameterId, ParameterListWriter, ParameterTooLong};

/// The filter of a reader, as writers get to know it. A writer may use it to send less; the reader
/// filters in any case.
///
/// ```text
/// string  name of the content-filtered topic    "big trades"
/// string  name of the topic                     "Trades"
/// string  language                              "DDSSQL"
/// string  expression                            "size > %0"
/// sequence<string>  parameters                  "1000"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ContentFilterProperty {
    /// The name of the content-filtered topic, which is local to the reader's participant.
    pub content_filtered_topic_name: String,
    /// The topic that is filtered.
    pub related_topic_name: String,
    /// The language of the expression; [`Self::DDSSQL`] is the one that all implementations know.
    pub filter_class_name: String,
    /// The expression.
    pub filter_expression: String,
    /// What `%0`, `%1` ... stand for.
    pub expression_parameters: Vec<String>,
}

impl ContentFilterProperty {
    /// The language of DDS 1.4 Annex B.
    pub const DDSSQL: &str = "DDSSQL";

    pub(super) fn write(&self, list: &mut ParameterListWriter<'_>) -> Result<(), ParameterTooLong> {
        list.parameter_with(ParameterId::CONTENT_FILTER_PROPERTY, |out: &mut Out<'_>| {
            write_string(out, &self.content_filtered_topic_name);
            write_string(out, &self.related_topic_name);
            write_string(out, &self.filter_class_name);
            write_string(out, &self.filter_expression);
            write_strings(out, &self.expression_parameters);
        })
    }

    pub(super) fn read(from: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            content_filtered_topic_name: read_string(from)?,
            related_topic_name: read_string(from)?,
            filter_class_name: read_string(from)?,
            filter_expression: read_string(from)?,
            expression_parameters: read_strings(from)?,
        })
    }
}
