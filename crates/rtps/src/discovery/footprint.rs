//! How many bytes of memory announced data hold, so that what one peer says can be bounded.
//! Estimates: what allocators and maps add is taken for a constant.

use alloc::string::String;

use tickwire_base::Locator;

use super::{ContentFilterProperty, EndpointData, ParticipantData};
use crate::qos::RepresentationId;

impl EndpointData {
    /// Bytes that it takes to remember the endpoint.
    pub(super) fn footprint(&self) -> usize {
        let qos = &self.qos;
        let octets = [&qos.user_data, &qos.topic_data, &qos.group_data];
        let locators = self.unicast_locators.len() + self.multicast_locators.len();
        // The index of topics has the topic's name, too.
        let names = 2 * self.topic_name.len() + self.type_name.len() + self.entity_name.len();
        size_of::<Self>()
            + ENTRY
            + names
            + strings(&qos.partition)
            + octets.map(alloc::vec::Vec::len).iter().sum::<usize>()
            + locators * size_of::<Locator>()
            + qos.data_representation.len() * size_of::<RepresentationId>()
            + self.type_information.len()
            + self
                .content_filter
                .as_ref()
                .map_or(0, ContentFilterProperty::footprint)
    }
}

impl ContentFilterProperty {
    /// Twice, for what a writer makes of the expression.
    fn footprint(&self) -> usize {
        let texts = [
            &self.content_filtered_topic_name,
            &self.related_topic_name,
            &self.filter_class_name,
            &self.filter_expression,
        ];
        2 * (strings(texts) + strings(&self.expression_parameters))
    }
}

impl ParticipantData {
    /// Bytes that it takes to remember the participant, without its endpoints.
    pub(super) fn footprint(&self) -> usize {
        let locators = self.metatraffic_unicast.len()
            + self.metatraffic_multicast.len()
            + self.default_unicast.len()
            + self.default_multicast.len();
        let properties = self.properties.iter();
        let properties = properties.flat_map(|(name, value)| [name, value]);
        size_of::<Self>()
            + ENTRY
            + self.domain_tag.len()
            + self.entity_name.len()
            + strings(properties)
            + self.user_data.len()
            + locators * size_of::<Locator>()
    }
}

fn strings<'a>(strings: impl IntoIterator<Item = &'a String>) -> usize {
    let bytes = |text: &String| size_of::<String>() + ALLOCATION + text.len();
    strings.into_iter().map(bytes).sum()
}

/// What an allocator adds to a short string.
const ALLOCATION: usize = 16;
/// Nodes of maps and reference counts.
const ENTRY: usize = 256;
