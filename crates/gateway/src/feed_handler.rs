//! The feed handler: packets of one or two lines in, samples out. Arbitrates, decodes, maps and
//! hands on, on the calling thread; counts and times every stage. Knows neither sockets nor writers:
//! packets are brought to it, and a [`Publish`] takes the samples.

use std::collections::BTreeSet;
use std::fmt;

use tickwire::Instant;
use tickwire::Serialized;
use tickwire_fast::{
    Code, DecodeError, Decoder, DecoderOptions, Message, ResetPolicy, Template, Templates,
};
use tickwire_feed::{
    Arbiter, ArbiterConfig, ArbiterCounters, Line, PacketNumber, Preamble, PreambleError,
    Reassembly, ReassemblyCounters,
};
use tickwire_transport::clock;

use crate::mapping::{FeedTopic, MapError, Mapper, TOO_MANY, TopicIndex};
use crate::timing::Timing;

/// Takes samples.
pub trait Publish {
    /// Why a sample cannot be taken; it ends the feed.
    type Error;

    /// Lives while samples of one packet are handed over.
    type Batch;

    /// The samples of a packet follow: they may be kept back until the batch is dropped.
    fn begin_batch(&mut self) -> Self::Batch;

    /// Takes a sample for a topic. `topics` may have grown since the last call.
    ///
    /// # Errors
    /// The publisher's own.
    fn publish(
        &mut self,
        topics: &[FeedTopic],
        topic: TopicIndex,
        sample: &Serialized,
    ) -> Result<(), Self::Error>;

    /// The feed's last message follows: sees to it that all samples before it have arrived.
    ///
    /// # Errors
    /// The publisher's own.
    fn flush(&mut self) -> Result<(), Self::Error>;
}

/// How a feed is to be handled.
#[derive(Clone, Debug)]
pub struct HandlerOptions {
    /// How messages are decoded; the reset policy is the feed's.
    pub decoder: DecoderOptions,
    /// What precedes the messages of a packet. Without numbers there is no arbitration.
    pub preamble: Preamble,
    /// How two lines are arbitrated.
    pub arbiter: ArbiterConfig,
    /// The template whose message ends the feed. Default `Done`.
    pub done: String,
}

impl Default for HandlerOptions {
    fn default() -> Self {
        Self {
            decoder: DecoderOptions {
                reset: ResetPolicy::Packet,
                ..DecoderOptions::default()
            },
            preamble: Preamble::None,
            arbiter: ArbiterConfig::default(),
            done: "Done".to_owned(),
        }
    }
}

/// What the handler has counted.
#[derive(Debug, Default)]
pub struct HandlerCounters {
    /// Packets brought, of both lines.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets given up at their first byte or in the middle.
    pub malformed: u64,
    /// What was wrong with the first of them.
    pub first_malformed: Option<Malformed>,
    /// How many were given up for each reason, in the order in which the reasons first came.
    pub malformed_by: Vec<(MalformedKind, u64)>,
    /// Template ids that messages ask for and no template has: the first [`MAX_UNKNOWN`].
    pub unknown_templates: BTreeSet<u32>,
    /// Times that packets were lost before they reached the handler, as far as it was told.
    pub losses: u64,
    /// Packets given up, whole or from some message on, because they need values of others that were
    /// lost before them.
    pub unresolved: u64,
    /// Messages that have no sample, since the sequence that is split has no elements.
    pub empty: u64,
    /// Messages that became no sample, or not all of theirs.
    pub refused: u64,
    /// Why, for the first of them.
    pub first_refused: Option<String>,
    /// By template, in the templates' order.
    pub groups: Vec<Group>,
}

/// As many template ids that no template has are told.
pub const MAX_UNKNOWN: usize = 20;

/// What has been counted for one template.
#[derive(Debug)]
pub struct Group {
    /// The template.
    pub template: String,
    /// Messages decoded.
    pub messages: u64,
    /// Samples taken by the publisher.
    pub samples: u64,
    /// Time to decode a message.
    pub decode: Timing,
    /// Time to decode a message and publish its samples, without what is done at the batch's end.
    pub publish: Timing,
}

/// A packet that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Which one of those brought, from 0.
    pub packet: u64,
    /// What was wrong.
    pub reason: MalformedReason,
}

/// Why a packet was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MalformedReason {
    /// It does not have the form of its feed.
    Preamble(PreambleError),
    /// A message in it cannot be decoded; the offset counts from the end of the packet's preamble.
    Message(DecodeError),
}

/// What packets that were given up have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedKind {
    /// They do not have the form of their feed.
    Preamble,
    /// A message in them has this error.
    Code(Code),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {}: ", self.packet)?;
        match &self.reason {
            MalformedReason::Preamble(error) => error.fmt(f),
            MalformedReason::Message(error) => error.fmt(f),
        }
    }
}

/// Handles one feed.
pub struct FeedHandler<P: Publish> {
    preamble: Preamble,
    /// Of each line: a message is whole when one line has brought all its chunks.
    reassembly: [Reassembly; 2],
    arbiter: Arbiter,
    road: Road<P>,
}

/// The road of a packet once it is its turn.
struct Road<P: Publish> {
    preamble: Preamble,
    decoder: Decoder,
    message: Message,
    /// Of the packet that follows the last one, where packets are numbered.
    expected: Option<PacketNumber>,
    /// None: decode only.
    mapper: Option<Mapper>,
    publish: P,
    done_template: String,
    is_done: bool,
    counters: HandlerCounters,
    /// The publisher's error, until the caller has it.
    failure: Option<P::Error>,
}

impl<P: Publish> FeedHandler<P> {
    /// A handler that maps messages by `mapper`, or only decodes them without one.
    pub fn new(
        templates: &Templates,
        options: HandlerOptions,
        mapper: Option<Mapper>,
        publish: P,
    ) -> Self {
        let groups = templates.iter().map(|template| Group::new(template.name()));
        let counters = HandlerCounters {
            groups: groups.collect(),
            ..HandlerCounters::default()
        };
        Self {
            preamble: options.preamble,
            reassembly: [Reassembly::new(), Reassembly::new()],
            arbiter: Arbiter::new(options.arbiter),
            road: Road {
                preamble: options.preamble,
                decoder: Decoder::with_options(templates, options.decoder),
                message: Message::new(),
                expected: None,
                mapper,
                publish,
                done_template: options.done,
                is_done: false,
                counters,
                failure: None,
            },
        }
    }

    /// Handles a packet, and those that waited for it. What is wrong with it is counted, and the
    /// next packet is handled as if nothing had been.
    ///
    /// # Errors
    /// The publisher's; the rest of the packet is lost.
    pub fn handle_packet(&mut self, line: Line, packet: &[u8]) -> Result<(), P::Error> {
        let road = &mut self.road;
        road.counters.packets += 1;
        road.counters.bytes += packet.len() as u64;
        for part in self.preamble.parts(packet) {
            self.part(line, part.packet);
        }
        self.road.failure.take().map_or(Ok(()), Err)
    }

    /// A packet, or a part of it that has a preamble of its own.
    fn part(&mut self, line: Line, part: &[u8]) {
        let road = &mut self.road;
        let [of_a, of_b] = &mut self.reassembly;
        let reassembly = match line {
            Line::A => of_a,
            Line::B => of_b,
        };
        match self.preamble.split(part) {
            Ok((header, content)) => {
                let whole = match header.number.zip(header.chunk) {
                    Some((number, chunk)) => reassembly.handle_chunk(number, chunk, content),
                    None => Some(content),
                };
                match (whole, header.number) {
                    (Some(content), Some(number)) => {
                        let mut deliver = |number, content: &[u8]| road.numbered(number, content);
                        let now = clock::now();
                        self.arbiter
                            .handle_packet(now, line, number, content, &mut deliver);
                    }
                    (Some(content), None) => road.packet(content),
                    (None, _) => {}
                }
            }
            Err(error) => {
                if !self.preamble.has_number() {
                    road.decoder.lose();
                }
                road.malformed(MalformedReason::Preamble(error));
            }
        }
    }

    /// Packets were lost before they could be handled: no value may follow from theirs. Where packets have numbers this
    /// is only counted, since the numbers tell it better.
    pub fn handle_loss(&mut self) {
        self.road.counters.losses += 1;
        if !self.preamble.has_number() {
            self.road.decoder.lose();
        }
    }

    /// When [`Self::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.arbiter.poll_timeout()
    }

    /// Gives up packets that have been missing for too long.
    ///
    /// # Errors
    /// The publisher's.
    pub fn handle_timeout(&mut self) -> Result<(), P::Error> {
        let road = &mut self.road;
        self.arbiter
            .handle_timeout(clock::now(), &mut |number, messages| {
                road.numbered(number, messages)
            });
        self.road.failure.take().map_or(Ok(()), Err)
    }

    /// Handles what still waits, and settles the counters: the feed has ended.
    ///
    /// # Errors
    /// The publisher's.
    pub fn finish(&mut self) -> Result<(), P::Error> {
        self.reassembly.iter_mut().for_each(Reassembly::finish);
        let road = &mut self.road;
        self.arbiter
            .finish(&mut |number, messages| road.numbered(number, messages));
        self.road.failure.take().map_or(Ok(()), Err)
    }

    /// Whether the message that ends the feed has come.
    pub fn is_done(&self) -> bool {
        self.road.is_done
    }

    /// What was counted.
    pub fn counters(&self) -> &HandlerCounters {
        &self.road.counters
    }

    /// What the lines brought; all zeros where packets have no numbers.
    pub fn arbiter_counters(&self) -> &ArbiterCounters {
        self.arbiter.counters()
    }

    /// What became of the chunks of a line; all zeros where messages come whole.
    pub fn reassembly_counters(&self, line: Line) -> ReassemblyCounters {
        let [of_a, of_b] = &self.reassembly;
        match line {
            Line::A => of_a.counters(),
            Line::B => of_b.counters(),
        }
    }

    /// The publisher.
    pub fn publish(&mut self) -> &mut P {
        &mut self.road.publish
    }
}

impl<P: Publish> Road<P> {
    /// A packet whose number tells whether others were lost before it. No value may then follow from
    /// theirs.
    fn numbered(&mut self, number: PacketNumber, content: &[u8]) {
        if self.expected.is_some_and(|expected| expected != number) {
            self.decoder.lose();
        }
        self.expected = Some(number.next());
        self.packet(content);
    }

    /// What follows the preamble of a packet.
    fn packet(&mut self, content: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        self.decoder.begin_packet();
        let _batch = self.publish.begin_batch();
        for block in self.preamble.blocks(content) {
            let is_done = match block {
                Ok(block) => self.messages(block.offset, block.packet),
                Err(error) => {
                    self.decoder.lose();
                    self.malformed(MalformedReason::Preamble(error));
                    false
                }
            };
            if !is_done {
                return;
            }
        }
    }

    /// Messages, the first at `start` of the packet; false if the rest of the packet is given up.
    fn messages(&mut self, start: usize, messages: &[u8]) -> bool {
        let mut offset = 0;
        let mut begin = clock::now();
        while let Some(rest @ [_, ..]) = messages.get(offset..) {
            match self.decoder.decode(rest, &mut self.message) {
                Ok(len) => offset += len,
                Err(error) if error.code == Code::Lost => {
                    self.counters.unresolved += 1;
                    return false;
                }
                Err(error) => {
                    let offset = start + offset + error.offset;
                    self.malformed(MalformedReason::Message(DecodeError { offset, ..error }));
                    return false;
                }
            }
            let decoded = clock::now();
            if let Err(error) = self.message(begin, decoded) {
                self.failure = Some(error);
                return false;
            }
            begin = clock::now();
        }
        true
    }

    /// Publishes the message that was decoded between two instants.
    fn message(&mut self, begin: Instant, decoded: Instant) -> Result<(), P::Error> {
        let Some(template) = self.message.template() else {
            return Ok(());
        };
        let is_done = template.name() == self.done_template;
        let group = group_of(&mut self.counters.groups, template);
        if is_done {
            self.is_done = true;
            self.publish.flush()?;
        }
        let mut samples = 0;
        let mapped = match &mut self.mapper {
            Some(mapper) => {
                let publish = &mut self.publish;
                mapper.map(&self.message, |topics, topic, sample| {
                    publish.publish(topics, topic, sample)?;
                    samples += 1;
                    Ok(())
                })
            }
            None => Ok(()),
        };
        if let Some(group) = group {
            group.messages += 1;
            group.samples += samples;
            group.decode.record(decoded.since(begin));
            if samples > 0 && !is_done {
                group.publish.record(clock::now().since(begin));
            }
        }
        match mapped {
            Ok(()) => {
                self.counters.empty += u64::from(self.mapper.is_some() && samples == 0);
                Ok(())
            }
            Err(MapError::Emit(error)) => Err(error),
            Err(MapError::NoTopic) => self.refused(&"its template has no topic"),
            Err(MapError::NoSecurity) => self.refused(&"it names no security"),
            Err(MapError::TooManySecurities) => self.refused(&TOO_MANY),
            Err(MapError::Encode(error)) => self.refused(&error),
        }
    }

    fn refused(&mut self, reason: &dyn fmt::Display) -> Result<(), P::Error> {
        self.counters.refused += 1;
        if self.counters.first_refused.is_none() {
            let template = self.message.template().map_or("", Template::name);
            self.counters.first_refused = Some(format!("{template}: {reason}"));
        }
        Ok(())
    }

    fn malformed(&mut self, reason: MalformedReason) {
        let counters = &mut self.counters;
        counters.malformed += 1;
        let kind = match &reason {
            MalformedReason::Preamble(_) => MalformedKind::Preamble,
            MalformedReason::Message(error) => {
                let unknown = error.unknown_template;
                if let Some(id) = unknown.filter(|_| error.code == Code::D9)
                    && counters.unknown_templates.len() < MAX_UNKNOWN
                {
                    counters.unknown_templates.insert(id.0);
                }
                MalformedKind::Code(error.code)
            }
        };
        match counters.malformed_by.iter_mut().find(|(of, _)| *of == kind) {
            Some((_, count)) => *count += 1,
            None => counters.malformed_by.push((kind, 1)),
        }
        let packet = counters.packets - 1;
        counters
            .first_malformed
            .get_or_insert(Malformed { packet, reason });
    }
}

impl Group {
    fn new(template: &str) -> Self {
        Self {
            template: template.to_owned(),
            messages: 0,
            samples: 0,
            decode: Timing::new(),
            publish: Timing::new(),
        }
    }
}

/// A template file has few templates: looking at each is faster than hashing.
fn group_of<'a>(groups: &'a mut [Group], template: Template<'_>) -> Option<&'a mut Group> {
    groups
        .iter_mut()
        .find(|group| group.template == template.name())
}

#[cfg(test)]
mod tests;
