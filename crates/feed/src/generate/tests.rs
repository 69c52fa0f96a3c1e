use std::collections::BTreeMap;

use tickwire_fast::{Decoder, FieldIndex, Template, Templates, Visitor};

use super::*;
use crate::generate::{ComplexOptions, SimpleOptions};

/// What is in a feed.
#[derive(Default)]
struct Census {
    messages: BTreeMap<String, u64>,
    entries: u64,
    /// Distinct securities of each message, added up.
    securities: u64,
    of_message: Vec<u64>,
    security_fields: Vec<FieldIndex>,
}

impl Census {
    fn new(templates: &Templates) -> Self {
        let containers = templates.iter().flat_map(|template| template.fields());
        let security_fields = containers
            .flat_map(|field| field.fields())
            .filter(|field| field.name() == "SecurityID")
            .map(|field| field.index())
            .collect();
        Self {
            security_fields,
            ..Self::default()
        }
    }
}

impl Visitor for Census {
    fn begin_message(&mut self, template: Template<'_>) {
        *self.messages.entry(template.name().to_owned()).or_default() += 1;
        self.of_message.clear();
    }

    fn unsigned(&mut self, field: FieldIndex, value: u64) {
        if self.security_fields.contains(&field) && !self.of_message.contains(&value) {
            self.of_message.push(value);
            self.securities += 1;
        }
    }

    fn begin_element(&mut self, _: FieldIndex, _: u32) {
        self.entries += 1;
    }
}

/// Generates all packets, checks their size, and decodes them as a feed handler would.
fn census(mut generator: Generator, max_packet_bytes: usize) -> (Summary, Census) {
    let mut census = Census::new(generator.templates());
    let mut decoder = Decoder::new(generator.templates());
    let mut packet = Vec::new();
    while generator
        .next_packet(&mut packet)
        .expect("our own messages can be encoded")
    {
        let before: u64 = census.messages.values().sum();
        decoder
            .decode_packet(&packet, &mut census)
            .expect("what was encoded is decoded");
        let after: u64 = census.messages.values().sum();
        assert!(packet.len() <= max_packet_bytes || after == before + 1);
    }
    (*generator.summary(), census)
}

#[test]
fn simple_data_is_a_quarter_of_each_kind_and_done() {
    let options = SimpleOptions::default();
    let (summary, census) = census(Generator::simple(options).expect("defaults"), 1_024);
    let expected = [
        ("Change", 7_500),
        ("Done", 1),
        ("New", 7_500),
        ("Quote", 7_500),
        ("Remove", 7_500),
    ];
    assert_eq!(
        census.messages,
        expected
            .map(|(name, count)| (name.to_owned(), count))
            .into()
    );
    assert_eq!((summary.messages, summary.samples), (30_001, 30_000));
    // At about 12 bytes a message, some 87 share a packet.
    assert!(
        (300..450).contains(&summary.packets),
        "{} packets",
        summary.packets
    );
}

#[test]
fn complex_data_has_the_articles_counts() {
    let options = ComplexOptions::default();
    let (summary, census) = census(Generator::complex(options).expect("defaults"), 1);
    let expected = [("Done", 1), ("MarketData", 29_700), ("QuoteRequest", 300)];
    assert_eq!(
        census.messages,
        expected
            .map(|(name, count)| (name.to_owned(), count))
            .into()
    );
    assert_eq!(summary.packets, 30_001);
    assert_eq!((summary.entries, census.entries), (90_000, 90_000));
    assert_eq!((summary.samples, census.securities), (42_000, 42_000));
}

#[test]
fn one_security_a_message_is_one_sample_a_message() {
    let options = ComplexOptions {
        messages: 2_000,
        one_security: true,
        packet_bytes: 1_400,
        ..ComplexOptions::default()
    };
    let (summary, census) = census(Generator::complex(options).expect("in range"), 1_400);
    assert_eq!((summary.samples, census.securities), (2_000, 2_000));
    assert!(summary.packets < 1_000);
}

#[test]
fn the_average_number_of_entries_is_as_asked() {
    let options = ComplexOptions {
        messages: 9_900,
        entries: 7,
        ..ComplexOptions::default()
    };
    let (summary, _) = census(Generator::complex(options).expect("in range"), 1);
    let mean = (summary.entries - 99) as f64 / 9_801.0;
    assert!((6.9..7.1).contains(&mean), "{mean} entries on average");
}

#[test]
fn the_seed_decides_the_bytes() {
    let bytes = |seed| {
        let mut generator = Generator::simple(SimpleOptions {
            messages: 100,
            seed,
            ..SimpleOptions::default()
        })
        .expect("in range");
        let mut packet = Vec::new();
        generator
            .next_packet(&mut packet)
            .expect("our own messages can be encoded");
        packet
    };
    assert_eq!(bytes(7), bytes(7));
    assert_ne!(bytes(7), bytes(8));
}

#[test]
fn options_out_of_range_are_refused() {
    let no_securities = ComplexOptions {
        securities: 0,
        ..ComplexOptions::default()
    };
    let no_entries = ComplexOptions {
        entries: 0,
        ..ComplexOptions::default()
    };
    for options in [no_securities, no_entries] {
        assert!(matches!(
            Generator::complex(options),
            Err(GenerateError::Option { min: 1, .. })
        ));
    }
    let no_bytes = SimpleOptions {
        packet_bytes: 0,
        ..SimpleOptions::default()
    };
    assert!(Generator::simple(no_bytes).is_err());
}

#[test]
fn no_messages_are_just_done() {
    let options = SimpleOptions {
        messages: 0,
        ..SimpleOptions::default()
    };
    let (summary, census) = census(Generator::simple(options).expect("in range"), 1_024);
    assert_eq!((summary.messages, summary.packets), (1, 1));
    assert_eq!(census.messages.get("Done"), Some(&1));
}
