//! The feed handler and its subscriber: FAST messages become samples on topics, each of which comes back.
//!
//! A packet of the feed has one message and lies in memory. `ping` hands it to the gateway's `FeedHandler`, waits
//! until all its samples are back, and takes the next. Before that, the article's whole feed has passed once, and is what
//! it has to be. `pong` subscribes to all topics and sends each sample back on
//! the topic's echo.

mod decode;
mod ping;
mod pong;
mod whole;

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
        let (mut packets, mut complete) = (Vec::new(), 0);
        while complete < samples {
            // The message that goes into this packet is counted already, as it did not fit the last one.
            complete = generator.summary().samples;
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
        mapper(&self.templates)
    }
}

/// A mapper that has all topics of a feed of these templates.
fn mapper(templates: &Templates) -> Mapper {
    let mut mapper = Mapper::new(templates, Mapping::Automatic);
    for number in 0..ComplexOptions::default().securities {
        mapper.add_security(&(FIRST_SECURITY + number).to_string());
    }
    mapper
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn a_feed_has_enough_samples_and_all_its_topics() {
        for (payload, topic_count) in [("simple", 5), ("complex", 201)] {
            let given = [
                "program",
                "--system",
                "x",
                "--job",
                "ping",
                "--payload",
                payload,
            ];
            let options = Arguments::parse_from(given).options;
            let feed = Feed::of(&options, 1_000).expect("a feed");
            let mut decoder = tickwire_fast::Decoder::new(&feed.templates);
            let (mut mapper, mut message) = (feed.mapper(), tickwire_fast::Message::new());
            assert_eq!(mapper.topics().len(), topic_count);
            let mut samples = 0;
            for packet in &feed.packets {
                decoder.reset();
                let len = decoder.decode(packet, &mut message).expect("a message");
                assert_eq!(len, packet.len(), "a packet has one message");
                let mapped = mapper.map(&message, |_, _, _| {
                    samples += 1;
                    Ok::<(), ()>(())
                });
                assert!(mapped.is_ok());
            }
            assert!((1_000..1_002).contains(&samples), "{samples}");
            assert_eq!(mapper.topics().len(), topic_count);
        }
    }
}
