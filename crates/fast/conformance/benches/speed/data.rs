//! What is decoded: two sets of packets and their templates.

use std::path::Path;

use tickwire_fast::{Decoder, Message, Mode, Templates};
use tickwire_feed::framing::{Frames, Framing};
use tickwire_feed::generate::{
    COMPLEX_TEMPLATES, ComplexOptions, Generator, SIMPLE_TEMPLATES, SimpleOptions,
};

/// Packets, each decoded with fresh dictionaries.
pub(crate) struct Data {
    pub(crate) name: &'static str,
    pub(crate) xml: &'static str,
    pub(crate) templates: Templates,
    pub(crate) packets: Vec<Vec<u8>>,
    /// The same packets with zeros behind them, for code that loads 8 bytes wherever a message may end.
    pub(crate) padded: Vec<Vec<u8>>,
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// Zeros behind a padded packet.
pub(crate) const PADDING: usize = 16;

impl Data {
    /// 30,000 messages of four kinds in turn, in packets of at most 1,024 bytes.
    pub(crate) fn simple() -> Result<Self, Box<dyn std::error::Error>> {
        let generator = Generator::simple(SimpleOptions::default())?;
        Self::new("simple", SIMPLE_TEMPLATES, generated(generator)?)
    }

    /// 30,001 messages with repeating groups, one a packet: the file that other decoders were measured with, or, where
    /// it is absent, data of the same shape.
    pub(crate) fn complex() -> Result<Self, Box<dyn std::error::Error>> {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let file = above
            .map(|folder| folder.join("shared/golden/complex30000.dat"))
            .find(|file| file.is_file());
        let packets = match file {
            Some(file) => Frames::new(Framing::U32Le, &std::fs::read(file)?)
                .map(|frame| frame.map(|frame| frame.packet.to_vec()))
                .collect::<Result<_, _>>()?,
            None => {
                eprintln!("complex: generated, for want of shared/golden/complex30000.dat");
                generated(Generator::complex(ComplexOptions::default())?)?
            }
        };
        Self::new("complex", COMPLEX_TEMPLATES, packets)
    }

    fn new(
        name: &'static str,
        xml: &'static str,
        packets: Vec<Vec<u8>>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let templates = Templates::parse(xml, Mode::Lenient)?;
        let padded = packets.iter().map(|packet| {
            let mut padded = packet.clone();
            padded.resize(packet.len() + PADDING, 0);
            padded
        });
        let mut data = Self {
            name,
            xml,
            templates,
            padded: padded.collect(),
            messages: 0,
            bytes: packets.iter().map(Vec::len).sum(),
            packets,
        };
        data.messages = data.decoded()?.len();
        Ok(data)
    }

    /// How many packets have about 500 messages. Encoders get those again and again: a message to be encoded was just
    /// made, so it is in the processor's cache, where all 30,000 together are not.
    pub(crate) fn near_packets(&self) -> usize {
        (500 * self.packets.len()).div_ceil(self.messages)
    }

    /// All messages, kept, with the number of their packet.
    pub(crate) fn decoded(&self) -> Result<Vec<(usize, Message)>, Box<dyn std::error::Error>> {
        let mut decoder = Decoder::new(&self.templates);
        let mut messages = Vec::with_capacity(self.messages);
        for (number, packet) in self.packets.iter().enumerate() {
            decoder.reset();
            let mut rest = &packet[..];
            while !rest.is_empty() {
                let mut message = Message::new();
                let len = decoder.decode(rest, &mut message)?;
                rest = &rest[len..];
                messages.push((number, message));
            }
        }
        Ok(messages)
    }
}

fn generated(mut generator: Generator) -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
    let mut packets = Vec::new();
    let mut packet = Vec::new();
    while generator.next_packet(&mut packet)? {
        packets.push(packet.clone());
    }
    Ok(packets)
}
