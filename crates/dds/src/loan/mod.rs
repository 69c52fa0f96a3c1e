//! Samples that are written and read where they lie, in memory that a writer lends its readers.
//!
//! What is lent is the payload as it travels, and that is what a program has in memory for two kinds of types: one sequence
//! of bytes, as here, or of [other elements](SequenceInPlace), and numbers alone, which are lent as [values](Plain). Knows no
//! RTPS but the room that its heads take.
//!
//! ```
//! # use std::time::Duration;
//! use tickwire::{BytesInPlace, BytesType, DataWriterQos, DomainParticipant, Topic};
//!
//! #[derive(Topic, Clone, Debug)]
//! #[topic(name = "camera::Frame", final)]
//! struct Frame {
//!     pixels: Vec<u8>,
//! }
//!
//! let participant = DomainParticipant::builder(0).trusts_lenders(true).build()?;
//! let topic = participant.topic::<Frame>("Frames")?;
//! let qos = DataWriterQos::default().max_loan_bytes(1 << 20);
//! let writer = participant.writer_with(&topic, qos)?;
//!
//! let mut loan = writer.loan(640 * 480)?;
//! loan.bytes_mut().fill(255);
//! loan.write()?;
//!
//! // Usually in another process: the same topic, and a sample that does not copy.
//! let ty = BytesType::of::<Frame>()?;
//! # let participant = DomainParticipant::builder(0).trusts_lenders(true).build()?;
//! let topic = participant.topic_of::<BytesInPlace>("Frames", ty)?;
//! let reader = participant.reader(&topic)?;
//! for pixels in reader.take().data() {
//!     println!("{} bytes, {}", pixels.len(), pixels.is_in_place());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A loan of 1 MiB costs what one of 64 bytes does where all readers follow the writer's log in shared memory.
//! Otherwise it is memory of the writer's own, which the history takes over if the loan is longer than 64 KiB, and copies
//! if not; and so long a sample that came by a network is mostly read where it has come. What a reader cannot hold
//! is copied; see `docs/shared-memory.md`.

mod layout;
mod lender;
mod lent;
mod plain;
mod sequence;
mod whereabouts;

use std::fmt;
use std::ops::Deref;

use tickwire_base::{Instant, Timestamp};
use tickwire_cdr::Representation;
use tickwire_rtps::qos::RepresentationId;
use tickwire_rtps::wire::SequenceNumber;

pub(crate) use layout::Head;
pub(crate) use lender::Lender;
use lender::Memory;
pub(crate) use lent::Holdable;
pub use lent::{LentBytes, LentPayload};
pub use plain::{InPlace, NotPlain, Plain, PlainType, ValueLoan};
pub use sequence::{
    BytesInPlace, BytesType, Element, NotSequence, SequenceInPlace, SequenceLoan, SequenceType,
};
pub(crate) use whereabouts::{LentMessage, Whereabouts};

use crate::clock;
use crate::error::WriteError;
use crate::type_support::TopicSupport;
use crate::writer::DataWriter;

/// Bytes of a sample that is being written in place; see [`DataWriter::loan`]. Dropped without being written, it
/// leaves nothing.
#[must_use = "what is not written is lost"]
pub struct Loan<'w, T: TopicSupport> {
    writer: Holder<'w, T>,
    /// There until it is written or dropped.
    memory: Option<Memory>,
    len: usize,
}

/// The writer of a loan.
enum Holder<'w, T: TopicSupport> {
    Borrowed(&'w DataWriter<T>),
    Owned(DataWriter<T>),
}

impl<T: TopicSupport> Deref for Holder<'_, T> {
    type Target = DataWriter<T>;

    fn deref(&self) -> &DataWriter<T> {
        match self {
            Self::Borrowed(writer) => writer,
            Self::Owned(writer) => writer,
        }
    }
}

impl<'w, T: TopicSupport> Loan<'w, T> {
    pub(crate) fn new(writer: &'w DataWriter<T>, len: usize) -> Result<Self, LoanError> {
        let lender = writer.lender().filter(|lender| lender.lends_bytes());
        let lender = lender.ok_or(LoanError::NotBytes)?;
        Ok(Self::of(writer, lender.lend(len)?, len))
    }

    fn of(writer: &'w DataWriter<T>, memory: Memory, len: usize) -> Self {
        Self {
            memory: Some(memory),
            writer: Holder::Borrowed(writer),
            len,
        }
    }

    /// The same loan, which keeps its writer: for who cannot tell by a scope how long it lives.
    pub fn into_owned(mut self) -> Loan<'static, T> {
        Loan {
            writer: Holder::Owned(self.writer.clone()),
            memory: self.memory.take(),
            len: self.len,
        }
    }

    /// The bytes, which begin at a multiple of 64 if they are [lent](Self::is_lent). Hold whatever was there before:
    /// what is not written to is sent, too.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let lender = self.writer.lender();
        let bytes = lender.zip(self.memory.as_mut());
        let bytes = bytes.map(|(lender, memory)| lender.bytes_mut(memory));
        bytes
            .and_then(|it| it.get_mut(..self.len))
            .unwrap_or_default()
    }

    /// The same to be looked at.
    fn bytes(&self) -> &[u8] {
        let lender = self.writer.lender();
        let bytes = lender.zip(self.memory.as_ref());
        let bytes = bytes.map(|(lender, memory)| lender.bytes(memory));
        bytes.and_then(|it| it.get(..self.len)).unwrap_or_default()
    }

    /// Makes it shorter.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Whether readers that follow the writer's log will see this very memory; else they get copies.
    pub fn is_lent(&self) -> bool {
        matches!(self.memory, Some(Memory::Lent(_)))
    }

    /// Writes the sample, made now.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. Then the loan is lost.
    pub fn write(self) -> Result<SequenceNumber, WriteError> {
        self.write_at(clock::both())
    }

    /// Writes the sample that was made at `timestamp`.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. Then the loan is lost.
    pub fn write_with_timestamp(self, timestamp: Timestamp) -> Result<SequenceNumber, WriteError> {
        self.write_at((clock::now(), timestamp))
    }

    fn write_at(mut self, time: (Instant, Timestamp)) -> Result<SequenceNumber, WriteError> {
        match (self.memory.take(), self.writer.lender()) {
            (Some(Memory::Lent(loan)), Some(lender)) => {
                self.writer.write_lent(lender, loan, self.len, time)
            }
            (Some(Memory::Own(mut own)), Some(lender)) => {
                lender.complete(&mut own, self.len);
                let written = self.writer.write_serialized(&mut own, time);
                lender.take_back(own);
                written
            }
            // It is taken here and when it is dropped, and who has lent it lends.
            _ => Err(WriteError::NotEnabled),
        }
    }
}

impl<T: TopicSupport> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        if let (Some(Memory::Own(own)), Some(lender)) = (self.memory.take(), self.writer.lender()) {
            lender.take_back(own);
        }
    }
}

impl<T: TopicSupport> fmt::Debug for Loan<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan")
            .field("topic", &self.writer.topic().name())
            .field("len", &self.len)
            .field("is_lent", &self.is_lent())
            .finish()
    }
}

/// Why there is no loan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoanError {
    /// The topic's type is not one sequence of bytes, or nothing is known of it.
    NotBytes,
    /// The topic's type is not one sequence of such elements, or these are not in memory as in payloads.
    NotSequence(NotSequence),
    /// Values of the topic's type are not in memory as in payloads.
    NotPlain,
    /// Elements or values are in memory as in payloads, but not in those of the writer's representation: in the other one's.
    OtherRepresentation {
        /// The writer's.
        representation: Representation,
    },
    /// No sample of the topic's type is that long.
    TooLong {
        /// The length that was asked for, in bytes.
        len: usize,
        /// The longest, in bytes.
        max: usize,
    },
}

impl fmt::Display for LoanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBytes => f.write_str(
                "the topic's type is not known to be one sequence of bytes: a struct, not a mutable one, whose only member is \
                 a sequence of octet or uint8",
            ),
            Self::NotSequence(cause) => cause.fmt(f),
            Self::NotPlain => NotPlain.fmt(f),
            Self::OtherRepresentation { representation } => {
                let (this, other) = match representation {
                    Representation::Xcdr1 => (RepresentationId::XCDR1, RepresentationId::XCDR2),
                    Representation::Xcdr2 => (RepresentationId::XCDR2, RepresentationId::XCDR1),
                };
                write!(
                    f,
                    "memory has the type's numbers where payloads in {other} have them, but the writer's representation is {this}: \
                     a writer whose QoS has `representation([RepresentationId::{other}])` lends them"
                )
            }
            Self::TooLong { len, max } => write!(
                f,
                "a loan of {len} bytes is longer than the {max} that the topic's type has at most"
            ),
        }
    }
}

impl std::error::Error for LoanError {}

impl From<NotSequence> for LoanError {
    fn from(cause: NotSequence) -> Self {
        Self::NotSequence(cause)
    }
}
