use std::convert::Infallible;

use tickwire_feed::generate::{ComplexOptions, SimpleOptions};
use tickwire_feed::{Chunk, Generator, append_chunk};

use super::*;
use crate::mapping::Mapping;

/// Counts samples by the template of their topic.
#[derive(Default)]
struct Desk {
    samples: Vec<(String, usize)>,
    flushed_after: Option<usize>,
}

impl Publish for Desk {
    type Error = Infallible;
    type Batch = ();

    fn begin_batch(&mut self) {}

    fn publish(
        &mut self,
        topics: &[FeedTopic],
        topic: TopicIndex,
        sample: &Serialized,
    ) -> Result<(), Infallible> {
        let name = topics[topic.0].name.clone();
        self.samples.push((name, sample.payload().len()));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        self.flushed_after = Some(self.samples.len());
        Ok(())
    }
}

fn packets(mut generator: Generator) -> (Templates, Vec<Vec<u8>>) {
    let mut packets = Vec::new();
    let mut packet = Vec::new();
    while generator
        .next_packet(&mut packet)
        .expect("our own messages can be encoded")
    {
        packets.push(packet.clone());
    }
    (generator.templates().clone(), packets)
}

fn simple(messages: u32) -> (Templates, Vec<Vec<u8>>) {
    let options = SimpleOptions {
        messages,
        packet_bytes: 200,
        ..SimpleOptions::default()
    };
    packets(Generator::simple(options).expect("in range"))
}

fn handler(templates: &Templates, options: HandlerOptions) -> FeedHandler<Desk> {
    let mapper = Mapper::new(templates, Mapping::Automatic);
    FeedHandler::new(templates, options, Some(mapper), Desk::default())
}

fn numbered(number: u32, packet: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], packet].concat()
}

#[test]
fn every_message_becomes_samples_and_done_comes_last() {
    let options = ComplexOptions {
        messages: 1_000,
        ..ComplexOptions::default()
    };
    let (templates, packets) = packets(Generator::complex(options).expect("in range"));
    let mut handler = handler(&templates, HandlerOptions::default());
    for packet in &packets {
        assert!(!handler.is_done());
        let Ok(()) = handler.handle_packet(Line::A, packet);
    }
    assert!(handler.is_done());
    let count = |name: &str| {
        let groups = &handler.counters().groups;
        let group = groups
            .iter()
            .find(|group| group.template == name)
            .expect("its template");
        (group.messages, group.samples, group.decode.count())
    };
    assert_eq!(count("QuoteRequest"), (10, 10, 10));
    assert_eq!(count("MarketData").0, 990);
    assert_eq!(count("Done"), (1, 1, 1));
    let samples = handler.publish().samples.len();
    assert_eq!(handler.publish().flushed_after, Some(samples - 1));
    assert_eq!(
        handler
            .publish()
            .samples
            .last()
            .map(|(name, _)| name.as_str()),
        Some("Done")
    );
}

#[test]
fn a_malformed_packet_is_counted_and_the_next_one_handled() {
    let (templates, packets) = simple(400);
    let mut handler = handler(&templates, HandlerOptions::default());
    let cut = &packets[1][..packets[1].len() - 1];
    for packet in [&packets[0][..], cut, &[0xFF; 9], &packets[2]] {
        let Ok(()) = handler.handle_packet(Line::A, packet);
    }
    let counters = handler.counters();
    assert_eq!((counters.packets, counters.malformed), (4, 2));
    let first = counters.first_malformed.clone().expect("one was malformed");
    assert_eq!(first.packet, 1);
    assert!(first.to_string().starts_with("packet 1: byte "), "{first}");
    let decoded: u64 = counters.groups.iter().map(|group| group.messages).sum();
    assert_eq!(handler.publish().samples.len() as u64, decoded);
}

#[test]
fn a_packet_shorter_than_its_number_is_counted() {
    let (templates, _) = simple(4);
    let options = HandlerOptions {
        preamble: Preamble::SequenceNumber,
        ..HandlerOptions::default()
    };
    let mut handler = handler(&templates, options);
    let Ok(()) = handler.handle_packet(Line::A, &[1, 2, 3]);
    assert_eq!(handler.counters().malformed, 1);
}

/// Each line loses every 50th packet, at different places: the samples are those of the whole feed.
#[test]
fn what_one_line_loses_the_other_brings() {
    let (templates, packets) = simple(4_000);
    let mut whole = handler(&templates, HandlerOptions::default());
    let options = HandlerOptions {
        preamble: Preamble::SequenceNumber,
        ..HandlerOptions::default()
    };
    let mut arbitrated = handler(&templates, options);
    for (number, packet) in (0..).zip(&packets) {
        let Ok(()) = whole.handle_packet(Line::A, packet);
        for (line, lost_at) in [(Line::A, 7), (Line::B, 31)] {
            if number % 50 != lost_at {
                let Ok(()) = arbitrated.handle_packet(line, &numbered(number, packet));
            }
        }
    }
    let Ok(()) = arbitrated.finish();
    assert!(arbitrated.is_done());
    assert_eq!(arbitrated.publish().samples, whole.publish().samples);
    let counters = *arbitrated.arbiter_counters();
    assert_eq!(counters.lost, 0);
    assert!(counters.a.lost > 0 && counters.b.lost > 0);
}

#[test]
fn without_a_mapper_messages_are_only_decoded() {
    let (templates, packets) = simple(400);
    let mut handler =
        FeedHandler::new(&templates, HandlerOptions::default(), None, Desk::default());
    for packet in &packets {
        let Ok(()) = handler.handle_packet(Line::A, packet);
    }
    assert!(handler.is_done() && handler.publish().samples.is_empty());
    let decoded: u64 = handler
        .counters()
        .groups
        .iter()
        .map(|group| group.messages)
        .sum();
    assert_eq!(decoded, 401);
}

const DELTAS: &str = r#"<templates>
  <template name="T" id="1">
    <uInt32 name="A"><copy value="1"/></uInt32><uInt32 name="B"><increment value="1"/></uInt32>
  </template></templates>"#;

/// Packet 1 is lost: what was copied from before it, or would have been initial, is not used. What is sent whole is.
#[test]
fn no_value_after_a_gap_follows_from_what_was_lost() {
    let templates = Templates::parse(DELTAS, tickwire_fast::Mode::Strict).expect("sound");
    for reset in [ResetPolicy::Template, ResetPolicy::Never] {
        let mut options = HandlerOptions {
            preamble: Preamble::SequenceNumber,
            ..HandlerOptions::default()
        };
        options.decoder.reset = reset;
        options.arbiter.hold = std::time::Duration::ZERO;
        let mut handler = handler(&templates, options);
        let packets = [
            (0, &[0xF0, 0x81, 0x85, 0x85][..]),
            (2, &[0x80]),
            (3, &[0xC0, 0x81]),
            (4, &[0xE0, 0x81, 0x86]),
            (5, &[0xF0, 0x81, 0x87, 0x87]),
            (6, &[0x80]),
        ];
        for (number, packet) in packets {
            let Ok(()) = handler.handle_packet(Line::A, &numbered(number, packet));
        }
        let counters = handler.counters();
        assert_eq!(
            (counters.unresolved, counters.malformed),
            (3, 0),
            "{reset:?}"
        );
        assert_eq!(handler.publish().samples.len(), 3);
    }
}

#[test]
fn a_message_without_entries_is_counted_apart() {
    let xml = r#"<templates><template name="T" id="1">
      <sequence name="S"><uInt32 name="SecurityID"/></sequence></template></templates>"#;
    let templates = Templates::parse(xml, tickwire_fast::Mode::Strict).expect("sound");
    let mut handler = handler(&templates, HandlerOptions::default());
    for packet in [&[0xC0, 0x81, 0x80][..], &[0xC0, 0x81, 0x81, 0x87]] {
        let Ok(()) = handler.handle_packet(Line::A, packet);
    }
    let counters = handler.counters();
    assert_eq!((counters.empty, counters.refused), (1, 0));
    assert_eq!(handler.publish().samples.len(), 1);
}

#[test]
fn packets_that_are_given_up_are_counted_by_error_code() {
    let (templates, _) = simple(4);
    let options = HandlerOptions {
        preamble: Preamble::Opra,
        ..HandlerOptions::default()
    };
    let mut handler = handler(&templates, options);
    let header = b"\x01\x020000000001001";
    let bad: [&[u8]; 4] = [
        b"\x02\xC0\xD0\x03",
        b"\x00\x03",
        b"\x02\xC0\xD1\x03",
        b"\x01\xC0\x03",
    ];
    for messages in bad {
        let Ok(()) = handler.handle_packet(Line::A, &[header, messages].concat());
    }
    let kinds = [
        (MalformedKind::Code(Code::D9), 2),
        (MalformedKind::Preamble, 1),
        (MalformedKind::Code(Code::Truncated), 1),
    ];
    assert_eq!(handler.counters().malformed_by, kinds);
    let first = handler.counters().first_malformed.clone();
    let first = first.expect("one was malformed").to_string();
    assert!(first.starts_with("packet 0: byte 2: D9"), "{first}");
}

/// The first line loses the first chunk of one message and the second line that of another.
#[test]
fn chunks_are_put_together_on_each_line_and_then_arbitrated() {
    let (templates, packets) = simple(400);
    let mut whole = handler(&templates, HandlerOptions::default());
    let options = HandlerOptions {
        preamble: Preamble::B3,
        ..HandlerOptions::default()
    };
    let mut chunked = handler(&templates, options);
    for (number, packet) in (0..).zip(&packets) {
        let Ok(()) = whole.handle_packet(Line::A, packet);
        let (head, tail) = packet.split_at(packet.len() / 2);
        for (line, lost_at) in [(Line::A, 3), (Line::B, 5)] {
            for (index, part) in [(1, tail), (0, head)] {
                let chunk = Chunk { index, count: 2 };
                let mut bytes = Vec::new();
                let appended = append_chunk(PacketNumber(number), chunk, part, &mut bytes);
                appended.expect("short");
                if (number, index) != (lost_at, 0) {
                    let Ok(()) = chunked.handle_packet(line, &bytes);
                }
            }
        }
    }
    let Ok(()) = chunked.finish();
    assert_eq!(chunked.publish().samples, whole.publish().samples);
    assert_eq!(chunked.arbiter_counters().lost, 0);
    for line in [Line::A, Line::B] {
        let counters = chunked.reassembly_counters(line);
        let expected = (packets.len() as u64 - 1, 1);
        assert_eq!((counters.whole, counters.incomplete), expected);
    }
}

/// Without numbers only who lost them knows that packets are missing.
#[test]
fn no_value_after_a_loss_that_was_told_follows_from_what_was_lost() {
    let templates = Templates::parse(DELTAS, tickwire_fast::Mode::Strict).expect("sound");
    let mut options = HandlerOptions::default();
    options.decoder.reset = ResetPolicy::Template;
    let mut handler = handler(&templates, options);
    let Ok(()) = handler.handle_packet(Line::A, &[0xF0, 0x81, 0x85, 0x85]);
    handler.handle_loss();
    for packet in [&[0x80][..], &[0xF0, 0x81, 0x87, 0x87], &[0x80]] {
        let Ok(()) = handler.handle_packet(Line::A, packet);
    }
    let counters = handler.counters();
    assert_eq!((counters.losses, counters.unresolved), (1, 1));
    assert_eq!(handler.publish().samples.len(), 3);
}
