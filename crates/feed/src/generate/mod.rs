//! Seeded sample data in two shapes: many small messages, and fewer with repeating groups.
//!
//! The same options always give the same bytes. Knows nothing of files: packets are asked for one
//! by one, and framed or sent by the caller.

mod complex;
mod fields;
mod random;
mod simple;

pub use complex::ComplexOptions;
pub use simple::SimpleOptions;

use core::fmt;
use tickwire_fast::{EncodeError, Encoder, Message, Mode, TemplateError, Templates};

use complex::ComplexMessages;
use simple::SimpleMessages;

/// The templates of the simple data: Quote, New, Change, Remove and Done. Load them leniently.
pub const SIMPLE_TEMPLATES: &str = include_str!("../../templates/simple.xml");

/// The templates of the complex data: MarketData, QuoteRequest and Done. Load them leniently.
pub const COMPLEX_TEMPLATES: &str = include_str!("../../templates/complex.xml");

/// Makes messages and packs them.
///
/// ```
/// use tickwire_feed::generate::{Generator, SimpleOptions};
///
/// let mut generator = Generator::simple(SimpleOptions { messages: 1_000, ..SimpleOptions::default() })?;
/// let mut packet = Vec::new();
/// while generator.next_packet(&mut packet)? {
///     assert!(packet.len() <= 1_024);
/// }
/// assert_eq!(generator.summary().messages, 1_001);
/// # Ok::<(), tickwire_feed::generate::GenerateError>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    templates: Templates,
    encoder: Encoder,
    source: Source,
    max_packet_bytes: usize,
    message: Message,
    /// `message` did not fit the last packet and starts the next.
    pending: bool,
    summary: Summary,
}

/// What has been generated so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Summary {
    /// Messages, the final Done included.
    pub messages: u64,
    /// Packets.
    pub packets: u64,
    /// Bytes of all packets.
    pub bytes: u64,
    /// Elements of all repeating groups.
    pub entries: u64,
    /// Samples on the topics of the default mapping, Done not included: one a message, but one a
    /// security for messages with entries of several.
    pub samples: u64,
}

impl Generator {
    /// Quote, New, Change and Remove in turn, then Done.
    ///
    /// # Errors
    /// When an option is out of its range.
    pub fn simple(options: SimpleOptions) -> Result<Self, GenerateError> {
        let templates = Templates::parse(SIMPLE_TEMPLATES, Mode::Lenient)?;
        let source = Source::Simple(SimpleMessages::new(&templates, options)?);
        Ok(Self::new(&templates, source, options.packet_bytes))
    }

    /// MarketData with a QuoteRequest every 100th message, then Done.
    ///
    /// # Errors
    /// When an option is out of its range.
    pub fn complex(options: ComplexOptions) -> Result<Self, GenerateError> {
        let templates = Templates::parse(COMPLEX_TEMPLATES, Mode::Lenient)?;
        let source = Source::Complex(ComplexMessages::new(&templates, options)?);
        Ok(Self::new(&templates, source, options.packet_bytes))
    }

    /// Replaces `packet` by the next one; false when there is none. A packet starts with fresh
    /// dictionaries, and holds as many messages as fit: at least one, however long it is.
    ///
    /// # Errors
    /// When a message cannot be encoded; the next call goes on with the next packet.
    pub fn next_packet(&mut self, packet: &mut Vec<u8>) -> Result<bool, GenerateError> {
        packet.clear();
        self.encoder.reset();
        while self.pending || self.source.next(&mut self.message, &mut self.summary) {
            self.pending = false;
            let end = packet.len();
            self.encoder.encode(&self.message, packet)?;
            if end > 0 && packet.len() > self.max_packet_bytes {
                packet.truncate(end);
                self.pending = true;
                break;
            }
        }
        if packet.is_empty() {
            return Ok(false);
        }
        self.summary.packets += 1;
        self.summary.bytes += packet.len() as u64;
        Ok(true)
    }

    /// The templates of the messages.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// What the packets so far contain; of the last message, also if it waits for the next packet.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    fn new(templates: &Templates, source: Source, max_packet_bytes: usize) -> Self {
        Self {
            templates: templates.clone(),
            encoder: Encoder::new(templates),
            source,
            max_packet_bytes,
            message: Message::new(),
            pending: false,
            summary: Summary::default(),
        }
    }
}

#[derive(Debug)]
enum Source {
    Simple(SimpleMessages),
    Complex(ComplexMessages),
}

impl Source {
    /// Fills `message` with the next one and counts it; false when there is none.
    fn next(&mut self, message: &mut Message, summary: &mut Summary) -> bool {
        match self {
            Self::Simple(messages) => messages.next(message, summary),
            Self::Complex(messages) => messages.next(message, summary),
        }
    }
}

/// Why sample data cannot be made.
#[derive(Debug)]
pub enum GenerateError {
    /// An option is out of its range.
    Option {
        /// The option's name.
        name: &'static str,
        /// Its smallest value.
        min: u64,
        /// Its largest value.
        max: u64,
    },
    /// The templates that this crate carries did not load.
    Templates(TemplateError),
    /// A message could not be encoded.
    Encode(EncodeError),
}

impl GenerateError {
    fn check(name: &'static str, value: u64, min: u64, max: u64) -> Result<(), Self> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(Self::Option { name, min, max })
    }
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { name, min, max } => write!(f, "{name} must be {min} to {max}"),
            Self::Templates(error) => write!(f, "the built-in templates do not load: {error}"),
            Self::Encode(error) => write!(f, "cannot encode a message: {error}"),
        }
    }
}

impl core::error::Error for GenerateError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Option { .. } => None,
            Self::Templates(error) => Some(error),
            Self::Encode(error) => Some(error),
        }
    }
}

impl From<TemplateError> for GenerateError {
    fn from(error: TemplateError) -> Self {
        Self::Templates(error)
    }
}

impl From<EncodeError> for GenerateError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

#[cfg(test)]
mod tests;
