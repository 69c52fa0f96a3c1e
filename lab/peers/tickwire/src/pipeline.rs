//! The feed handler and its subscriber: FAST messages become samples on topics, each of which comes back.
//!
//! A packet of the feed has one message and lies in memory. `ping` hands it to the gateway's `FeedHandler`, waits
//! until all its samples are back, and takes the next. `pong` subscribes to all topics and sends each sample back on
//! the topic's echo.

mod decode;
mod ping;
mod pong;

use lab_program::{Options, Payload};
use tickwire::DynamicType;
use tickwire_fast::Templates;
use tickwire_feed::Generator;
use tickwire_feed::generate::{ComplexOptions, SimpleOptions};
use tickwire_gateway::{FeedTopic, Mapper, Mapping};

use crate::told;

pub(crate) use decode::decode;
pub(crate) use ping::ping;
pub(crate) use pong::pong;

/// What the exchange sends.
struct Feed {
    templates: Templates,
    /// Of a message each.
    packets: Vec<Vec<u8>>,
}

impl Feed {
    /// A feed whose messages make at least so many samples.
    fn of(options: &Options, samples: u64) -> Result<Self, String> {
        let messages = u32::try_from(samples).map_err(told)?;
        let generator = match options.payload {
            Payload::Complex => Generator::complex(ComplexOptions {
                messages,
                packet_bytes: 1,
                ..ComplexOptions::default()
            }),
            _ => Generator::simple(SimpleOptions {
                messages,
                packet_bytes: 1,
                ..SimpleOptions::default()
            }),
        };
        let mut generator = generator.map_err(told)?;
        let mut packets = Vec::new();
        while generator.summary().samples < samples {
            let mut packet = Vec::new();
            if !generator.next_packet(&mut packet).map_err(told)? {
                break;
            }
            packets.push(packet);
        }
        Ok(Self {
            templates: generator.templates().clone(),
            packets,
        })
    }

    /// A mapper that has all topics of the feed.
    fn mapper(&self) -> Mapper {
        let mut mapper = Mapper::new(&self.templates, Mapping::Automatic);
        for number in 0..ComplexOptions::default().securities {
            mapper.add_security(&(FIRST_SECURITY + number).to_string());
        }
        mapper
    }
}

/// The topics of a mapper with their types.
fn topics(mapper: &Mapper) -> Vec<(&FeedTopic, DynamicType)> {
    let types = mapper.types();
    let topics = mapper.topics().iter();
    topics
        .map(|topic| {
            let description = types[topic.type_index].description();
            (topic, DynamicType::described(description.clone()))
        })
        .collect()
}

/// Of the generated feed.
const FIRST_SECURITY: u32 = 1_000;
