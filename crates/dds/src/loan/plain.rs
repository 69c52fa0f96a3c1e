//! Values of plain types, written and read where they lie.
//!
//! ```
//! # use std::time::Duration;
//! use tickwire::{DataWriterQos, DomainParticipant, InPlace, PlainType, Topic};
//! use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
//!
//! #[derive(Topic, FromBytes, IntoBytes, KnownLayout, Immutable)]
//! #[topic(name = "market::Level", final)]
//! #[repr(C)]
//! struct Level {
//!     #[topic(key)]
//!     security: u64,
//!     price: i64,
//!     size: u32,
//!     orders: u32,
//! }
//!
//! let participant = DomainParticipant::builder(0).trusts_lenders(true).build()?;
//! let topic = participant.topic::<Level>("Levels")?;
//! let qos = DataWriterQos::default().max_loan_bytes(size_of::<Level>());
//! let writer = participant.writer_with(&topic, qos)?;
//!
//! let mut level = writer.loan_value()?;
//! *level = Level { security: 7, price: 10_125, size: 300, orders: 2 };
//! level.write()?;
//!
//! // Usually in another process: the same topic, and a sample that does not copy.
//! # let participant = DomainParticipant::builder(0).trusts_lenders(true).build()?;
//! let topic = participant.topic_of::<InPlace<Level>>("Levels", PlainType::new()?)?;
//! let reader = participant.reader(&topic)?;
//! for level in reader.take().data() {
//!     println!("{} of {}, {}", level.price, level.security, level.is_in_place());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

use tickwire_base::{Instant, Timestamp};
use tickwire_cdr::{
    DecodeError, Extensibility, KeyHash, KeyScratch, Representation, Topic, TypeDescription,
    from_payload_into, key_from_payload_into, key_hash, key_to_payload, to_payload,
};
use tickwire_rtps::ChangeKind;
use tickwire_rtps::wire::SequenceNumber;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::LoanError;
use super::layout::{BOTH, Layout};
use super::lender::Memory;
use super::lent::{LentBytes, LentPayload};
use crate::clock;
use crate::error::WriteError;
use crate::type_support::{SampleError, Sealed, TopicSupport};
use crate::writer::DataWriter;

/// A type whose values can be lent: `#[repr(C)]`, of numbers, structs of these that are final, and arrays (in XCDR2, which
/// appendable types have by default, of numbers alone), with nothing between them. XCDR2 aligns numbers to four bytes at most:
/// what that has without gaps, memory has so, too, with `#[repr(C, packed(4))]`. It is not to be mutable, and has no optional
/// members. That any bytes are a value of it, and any value is bytes, the derives of the crate `zerocopy` show when it is
/// compiled; that these are what its payloads have, [`PlainType`] and [`DataWriter::loan_value`] find out when the program
/// runs, of each representation alone: in one that has something else, values are encoded, and read as copies.
pub trait Plain: Topic + Sync + FromBytes + IntoBytes + KnownLayout + Immutable {}

impl<T: Topic + Sync + FromBytes + IntoBytes + KnownLayout + Immutable> Plain for T {}

/// Values of a type are not in memory as in payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPlain;

impl fmt::Display for NotPlain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "values of the type are not in memory as they travel: it must be final or appendable, its members numbers, \
             final structs of such or arrays (in XCDR2 of numbers alone), none of them optional, and none padded, in XCDR1 or \
             XCDR2",
        )
    }
}

impl Error for NotPlain {}

/// The type of [`InPlace`] samples.
pub struct PlainType<T> {
    /// In XCDR1 and in XCDR2, where these have what values have in memory.
    layouts: [Option<Layout>; 2],
    of: PhantomData<fn() -> T>,
}

impl<T: Plain> PlainType<T> {
    /// That of `T`. Encodes and decodes a value of it.
    ///
    /// # Errors
    /// If its values are not in memory as in payloads, be it in XCDR1 or in XCDR2.
    pub fn new() -> Result<Self, NotPlain> {
        let layouts = BOTH.map(plain_layout::<T>);
        let of = PhantomData;
        match layouts {
            [None, None] => Err(NotPlain),
            layouts => Ok(Self { layouts, of }),
        }
    }
}

impl<T> Clone for PlainType<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PlainType<T> {}

impl<T> PartialEq for PlainType<T> {
    fn eq(&self, other: &Self) -> bool {
        self.layouts == other.layouts
    }
}

impl<T> fmt::Debug for PlainType<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainType").finish_non_exhaustive()
    }
}

/// The layout of payloads, if what they have is what values have in memory.
fn plain_layout<T: Plain>(representation: Representation) -> Option<Layout> {
    let layout = Layout::of(T::DESCRIPTION, representation)?;
    let is_alike = |seed: u8| {
        let mut value = zeroed::<T>();
        let mut next = seed;
        for byte in value.as_mut_bytes() {
            *byte = next;
            next = next.wrapping_add(37);
        }
        let (mut payload, mut read) = (Vec::new(), zeroed::<T>());
        to_payload(&*value, representation, &mut payload).ok()?;
        from_payload_into(&payload, &mut *read).ok()?;
        let there = payload.get(layout.find_plain(&payload)?)?;
        (there == value.as_bytes() && read.as_bytes() == there).then_some(())
    };
    is_alike(1)?;
    is_alike(130)?;
    Some(layout)
}

/// Why no values are lent in this encoding.
fn not_lent<T: Plain>(representation: Representation) -> LoanError {
    let is_lent = |other: &Representation| {
        let layout = Layout::of(T::DESCRIPTION, *other);
        *other != representation && layout.and_then(|it| it.plain_len()) == Some(size_of::<T>())
    };
    match BOTH.iter().any(is_lent) {
        true => LoanError::OtherRepresentation { representation },
        false => LoanError::NotPlain,
    }
}

/// Large values do not pass the stack.
fn zeroed<T: Plain>() -> Box<T> {
    T::new_box_zeroed().unwrap_or_else(|_| Box::new(T::new_zeroed()))
}

/// A value that is being written in place; see [`DataWriter::loan_value`]. Holds whatever was there before, be it zeros:
/// what is not written to is sent, too. Dropped without being written, it leaves nothing.
#[must_use = "what is not written is lost"]
pub struct ValueLoan<'w, T: Plain> {
    writer: &'w DataWriter<T>,
    place: Place<T>,
}

/// Where the value is.
enum Place<T> {
    /// In memory of the pool, aligned and long enough.
    Lent(Memory),
    Own(Box<T>),
}

impl<T: Plain> DataWriter<T> {
    /// Lends a value to be written in place: see [`loan`](crate::loan). Nothing is copied or encoded where all readers
    /// follow the writer's log in shared memory, a loan is free, and
    /// [`max_loan_bytes`](crate::DataWriterQos::max_loan_bytes) is not less than the size of `T`. Else the value is in memory of
    /// the writer's own, which is allocated, and is encoded when it is written, as [`write`](Self::write) does it.
    ///
    /// # Errors
    /// [`LoanError::NotPlain`] if values of the type are not in memory as in payloads, [`LoanError::OtherRepresentation`] if
    /// they are, but not in those of the writer's representation.
    pub fn loan_value(&self) -> Result<ValueLoan<'_, T>, LoanError> {
        let len = size_of::<T>();
        let look = || plain_layout::<T>(self.representation()).is_some();
        let lender = self.lender().filter(|it| it.lends_values(len, look));
        let lender = lender.ok_or_else(|| not_lent::<T>(self.representation()))?;
        let mut memory = lender.lend(len)?;
        let bytes = lender.bytes_mut(&mut memory).get(..len);
        let fits = bytes.is_some_and(|bytes| T::ref_from_bytes(bytes).is_ok());
        let place = match memory {
            Memory::Lent(_) if fits => Place::Lent(memory),
            Memory::Lent(_) => Place::Own(zeroed()),
            Memory::Own(own) => {
                lender.take_back(own);
                Place::Own(zeroed())
            }
        };
        Ok(ValueLoan {
            writer: self,
            place,
        })
    }
}

impl<T: Plain> ValueLoan<'_, T> {
    /// Whether readers that follow the writer's log will see this very memory; else they get copies.
    pub fn is_lent(&self) -> bool {
        matches!(self.place, Place::Lent(_))
    }

    /// Writes the value, made now.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. Then the loan is lost.
    pub fn write(self) -> Result<SequenceNumber, WriteError> {
        self.write_at(clock::both())
    }

    /// Writes the value that was made at `timestamp`.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. Then the loan is lost.
    pub fn write_with_timestamp(self, timestamp: Timestamp) -> Result<SequenceNumber, WriteError> {
        self.write_at((clock::now(), timestamp))
    }

    fn write_at(
        self,
        (now, timestamp): (Instant, Timestamp),
    ) -> Result<SequenceNumber, WriteError> {
        let writer = self.writer;
        let change = writer.change_to(ChangeKind::Alive, &*self, timestamp, None)?;
        match (self.place, writer.lender()) {
            (Place::Lent(Memory::Lent(loan)), Some(lender)) => {
                writer.write_loan(lender, loan, size_of::<T>(), (now, &change))
            }
            (Place::Own(value), _) => writer.write_with_timestamp(&value, timestamp),
            // Who has lent it lends, and memory of the writer's own has been given back.
            _ => Err(WriteError::NotEnabled),
        }
    }
}

impl<T: Plain> Deref for ValueLoan<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.place {
            Place::Own(value) => value,
            Place::Lent(memory) => {
                let bytes = self.writer.lender().map(|lender| lender.bytes(memory));
                let bytes = bytes.and_then(|bytes| bytes.get(..size_of::<T>()));
                let value = bytes.and_then(|bytes| T::ref_from_bytes(bytes).ok());
                value.expect(LOOKED_AT)
            }
        }
    }
}

impl<T: Plain> DerefMut for ValueLoan<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.place {
            Place::Own(value) => value,
            Place::Lent(memory) => {
                let bytes = self.writer.lender().map(|lender| lender.bytes_mut(memory));
                let bytes = bytes.and_then(|bytes| bytes.get_mut(..size_of::<T>()));
                let value = bytes.and_then(|bytes| T::mut_from_bytes(bytes).ok());
                value.expect(LOOKED_AT)
            }
        }
    }
}

impl<T: Plain> fmt::Debug for ValueLoan<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueLoan")
            .field("topic", &self.writer.topic().name())
            .field("is_lent", &self.is_lent())
            .finish()
    }
}

/// A sample of a plain type, read where its writer wrote it if that is possible, else a copy. What is in place stays as it
/// is, and how much of that a participant holds, as [`BytesInPlace`](super::BytesInPlace) says.
pub struct InPlace<T: Plain> {
    own: Box<T>,
    /// Aligned for the type, and as long.
    lent: Option<LentBytes>,
}

impl<T: Plain> InPlace<T> {
    /// A sample that is this value, to be written.
    pub fn new(value: T) -> Self {
        Self {
            own: Box::new(value),
            lent: None,
        }
    }

    /// Whether the value lies where the writer wrote it.
    pub fn is_in_place(&self) -> bool {
        self.lent.as_ref().is_some_and(LentBytes::is_in_place)
    }
}

impl<T: Plain> Deref for InPlace<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.lent {
            Some(lent) => T::ref_from_bytes(lent).expect(LOOKED_AT),
            None => &self.own,
        }
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for InPlace<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Plain> Sealed for InPlace<T> {}

impl<T: Plain> TopicSupport for InPlace<T> {
    type Type = PlainType<T>;

    const BORROWS: bool = true;

    fn type_name(_: &PlainType<T>) -> &str {
        T::TYPE_NAME
    }

    fn extensibility(_: &PlainType<T>) -> Extensibility {
        T::EXTENSIBILITY
    }

    fn has_key(_: &PlainType<T>) -> bool {
        T::HAS_KEY
    }

    fn description(_: &PlainType<T>) -> Option<&TypeDescription> {
        Some(T::DESCRIPTION)
    }

    fn initial(_: &PlainType<T>) -> Self {
        Self {
            own: zeroed(),
            lent: None,
        }
    }

    fn write_payload(
        &self,
        _: &PlainType<T>,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(to_payload(&**self, representation, buffer)?)
    }

    fn write_key_payload(
        &self,
        _: &PlainType<T>,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(key_to_payload(&**self, representation, buffer)?)
    }

    fn read_payload(&mut self, _: &PlainType<T>, payload: &[u8]) -> Result<(), DecodeError> {
        self.lent = None;
        from_payload_into(payload, &mut *self.own)
    }

    fn read_lent_payload(
        &mut self,
        ty: &PlainType<T>,
        payload: LentPayload<'_>,
    ) -> Result<(), DecodeError> {
        let bytes = payload.bytes();
        let layouts = ty.layouts.iter().flatten();
        let mut places = layouts.filter_map(|it| it.find_plain(bytes));
        let fits = |part: &Range<usize>| {
            let part = bytes.get(part.clone());
            part.is_some_and(|part| T::ref_from_bytes(part).is_ok())
        };
        match places.find(fits) {
            Some(part) => self.lent = Some(payload.hold(part)),
            None => self.read_payload(ty, bytes)?,
        }
        Ok(())
    }

    fn let_go(&mut self) {
        self.lent = None;
    }

    fn read_key_payload(&mut self, _: &PlainType<T>, payload: &[u8]) -> Result<(), DecodeError> {
        self.lent = None;
        key_from_payload_into(payload, &mut *self.own)
    }

    fn key_hash(
        &self,
        _: &PlainType<T>,
        representation: Representation,
        scratch: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError> {
        match T::HAS_KEY {
            true => Ok(Some(key_hash(&**self, representation, scratch)?)),
            false => Ok(None),
        }
    }
}

/// The invariant of what is lent: where it lies, and how long it is, does not change.
const LOOKED_AT: &str = "it was found aligned and long enough when it was lent";
