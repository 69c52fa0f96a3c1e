//! Samples that are one sequence of bytes, of numbers or of plain structs, wherever these lie.
//!
//! ```
//! # use std::time::Duration;
//! use tickwire::{DataWriterQos, DomainParticipant, SequenceInPlace, SequenceType, Topic};
//!
//! #[derive(Topic)]
//! #[topic(name = "risk::Curve", final)]
//! struct Curve {
//!     rates: Vec<f64>,
//! }
//!
//! let participant = DomainParticipant::builder(0).trusts_lenders(true).build()?;
//! let topic = participant.topic::<Curve>("Curves")?;
//! let qos = DataWriterQos::default().max_loan_bytes(1 << 20);
//! let writer = participant.writer_with(&topic, qos)?;
//!
//! let mut rates = writer.loan_elements::<f64>(1_000)?;
//! rates.fill(0.025);
//! rates.write()?;
//!
//! // Usually in another process: the same topic, and a sample that does not copy.
//! # let participant = DomainParticipant::builder(0).trusts_lenders(true).build()?;
//! let topic = participant.topic_of::<SequenceInPlace<f64>>("Curves", SequenceType::of::<Curve>()?)?;
//! let reader = participant.reader(&topic)?;
//! for rates in reader.take().data() {
//!     println!("{} rates from {:?} on, {}", rates.len(), rates.first(), rates.is_in_place());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tickwire_base::{Timestamp, copy};
use tickwire_cdr::{
    Decode, DecodeError, Encapsulation, Encode, EncodeError, Extensibility, KeyHash, KeyScratch,
    Reader, Representation, Topic, Type, TypeDescription, encapsulated,
};
use tickwire_rtps::wire::SequenceNumber;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::layout::{BOTH, Head, Layout, find, is_of_numbers, sequence_of};
use super::lent::{LentBytes, LentPayload};
use super::{Loan, LoanError};
use crate::error::WriteError;
use crate::type_support::{SampleError, Sealed, TopicSupport, Written};
use crate::writer::DataWriter;

/// What sequences can have that are read and written in place: numbers, but not `bool` and `char`, and structs and arrays
/// that are [plain](super::Plain), of which structs are to be final. That any bytes are a value of it, and any value is
/// bytes, the derives of the crate `zerocopy` show when it is compiled.
///
/// They are in memory as in XCDR1, in XCDR2, or in both. XCDR1 aligns members to eight bytes at most, as Rust does, but counts
/// from before the number of elements: a struct with members of eight bytes is to begin with one. XCDR2 aligns them to four, so
/// that `{ i32, f64 }` has no gap there, and none in memory if it is `#[repr(C, packed(4))]`. Elements that are so in one alone
/// are lent by writers of that one, and read in place if they came in it. In the other they are encoded and copied.
pub trait Element:
    Encode + Decode + Copy + Send + Sync + 'static + FromBytes + IntoBytes + KnownLayout + Immutable
{
}

impl<E> Element for E where
    E: Encode
        + Decode
        + Copy
        + Send
        + Sync
        + 'static
        + FromBytes
        + IntoBytes
        + KnownLayout
        + Immutable
{
}

/// A sample of a type that is one sequence, read where its writer wrote it if that is possible, or, if it is
/// longer than 64 KiB, where it has come by the network, in fragments or in a TCP message of its own; else a copy. Only
/// what its writer lends begins at more than a multiple of four, so that elements of eight bytes that came by a network
/// are mostly copies.
///
/// What lies where its writer wrote it stays as it is until this is dropped, or its [`Samples`](crate::Samples) are, whatever the writer
/// does meanwhile. It takes one of its writer's loans that long: of a quarter of them, or 16, a participant holds
/// samples in place, unread ones among them, and of what comes beyond it gets copies. Samples are in place
/// for participants alone that [trust](crate::DomainParticipantBuilder::trusts_lenders) their writers.
pub struct SequenceInPlace<E: Element> {
    own: Vec<E>,
    /// Aligned for the elements, and as long as some of them.
    lent: Option<LentBytes>,
}

/// A sample of a type that is one sequence of bytes.
pub type BytesInPlace = SequenceInPlace<u8>;

impl<E: Element> SequenceInPlace<E> {
    /// A sample of these elements, to be written.
    pub fn new(elements: Vec<E>) -> Self {
        Self {
            own: elements,
            lent: None,
        }
    }

    /// Whether the elements lie where the writer wrote them.
    pub fn is_in_place(&self) -> bool {
        self.lent.as_ref().is_some_and(LentBytes::is_in_place)
    }
}

impl<E: Element> Default for SequenceInPlace<E> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<E: Element> Deref for SequenceInPlace<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        match &self.lent {
            Some(lent) => elements_of(lent).unwrap_or_default(),
            None => &self.own,
        }
    }
}

impl<E: Element + fmt::Debug> fmt::Debug for SequenceInPlace<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The elements that bytes are, if these are aligned and some of them.
fn elements_of<E: Element>(bytes: &[u8]) -> Option<&[E]> {
    <[E]>::ref_from_bytes(bytes).ok()
}

/// The type of [`SequenceInPlace`] samples: a struct with one member, a sequence.
pub struct SequenceType<E> {
    described: Arc<Described>,
    of: PhantomData<fn() -> E>,
}

/// The type of [`BytesInPlace`] samples: a struct with one member, a sequence of bytes.
pub type BytesType = SequenceType<u8>;

#[derive(Debug, PartialEq)]
struct Described {
    description: TypeDescription,
    bound: u32,
    /// In XCDR1 and in XCDR2, where these have what elements have in memory.
    layouts: [Option<Layout>; 2],
}

/// Why samples of a topic's type are not read and written in place as a sequence of the elements that were named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSequence {
    /// Nothing is known of the type but its name.
    Unknown,
    /// The type is not a struct, final or appendable, whose only member is a sequence, neither optional nor a key, nor
    /// `@try_construct`.
    NotOne,
    /// The sequence is of other elements.
    OtherElements,
    /// The elements have more than numbers: `bool`, `char`, text, optional members, structs that are not final.
    NotNumbers,
    /// Memory has the numbers of an element elsewhere than payloads have them, in XCDR1 and in XCDR2.
    Elsewhere,
}

impl fmt::Display for NotSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "nothing is known of the topic's type but its name",
            Self::NotOne => {
                "the topic's type is not one sequence: it is to be a final or appendable struct with a sequence as its only \
                 member, neither optional nor a key, nor @try_construct"
            }
            Self::OtherElements => {
                "the topic's type is one sequence, but of other elements than those that were named (octet and uint8 are `u8`)"
            }
            Self::NotNumbers => {
                "only numbers, and final structs and arrays of numbers, are lent and read in place: no `bool`, `char`, text or \
                 optional member, and no struct that is not final"
            }
            Self::Elsewhere => {
                "memory has the numbers of an element elsewhere than payloads, where XCDR1 aligns each to its size, and XCDR2 to \
                 four bytes at most: put large members first, and add small ones where gaps are left"
            }
        })
    }
}

impl std::error::Error for NotSequence {}

impl<E: Element> SequenceType<E> {
    /// That of samples that a program has as `T` elsewhere.
    ///
    /// # Errors
    /// If `T` has other members than one sequence of `E`, or is mutable, or if these are not in memory as in payloads, be it in
    /// XCDR1 or in XCDR2: [`NotSequence`] says which of these it is.
    pub fn of<T: Topic>() -> Result<Self, NotSequence> {
        Self::described(T::description().clone())
    }

    /// That which a description is of.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn described(description: TypeDescription) -> Result<Self, NotSequence> {
        let (element, bound) = sequence_of(&description).ok_or(NotSequence::NotOne)?;
        let is_alike = *element == E::TYPE || (*element == Type::Byte && E::TYPE == Type::U8);
        if !is_alike {
            return Err(NotSequence::OtherElements);
        }
        if !is_of_numbers(element) {
            return Err(NotSequence::NotNumbers);
        }
        let mut described = Described {
            bound,
            layouts: [None; 2],
            description,
        };
        described.layouts = BOTH.map(|representation| {
            let layout = Layout::of(&described.description, representation)?;
            let is_alike = described.has_what_is_in_memory::<E>(&layout);
            is_alike.then_some(layout)
        });
        match described.layouts {
            [None, None] => Err(NotSequence::Elsewhere),
            _ => Ok(Self {
                described: Arc::new(described),
                of: PhantomData,
            }),
        }
    }
}

impl Described {
    /// Where elements are in memory as in this encoding, the payload around them.
    fn layout(&self, representation: Representation) -> Option<&Layout> {
        let [xcdr1, xcdr2] = &self.layouts;
        match representation {
            Representation::Xcdr1 => xcdr1.as_ref(),
            Representation::Xcdr2 => xcdr2.as_ref(),
        }
    }

    /// Whether the codec takes what elements have in memory for these elements.
    fn has_what_is_in_memory<E: Element>(&self, layout: &Layout) -> bool {
        let len = 2 * size_of::<E>();
        let is_alike = |seed: u8| {
            let steps = (0..len).map(|at| (at * 37).to_le_bytes()[0]);
            let bytes: Vec<u8> = steps.map(|step| step.wrapping_add(seed)).collect();
            let (mut payload, mut read) = (Vec::<u8>::new(), Vec::<E>::new());
            layout.write(&bytes, &mut payload);
            self.decode(&payload, &mut read).is_ok() && read.as_bytes() == bytes
        };
        len > 0 && is_alike(1) && is_alike(130)
    }

    /// Reads the elements of any payload.
    fn decode<E: Element>(&self, payload: &[u8], to: &mut Vec<E>) -> Result<(), DecodeError> {
        let (encapsulation, body) = Encapsulation::parse(payload)?;
        let mut reader = Reader::new(body, encapsulation);
        let extensibility = match encapsulation.representation {
            // It does not tell them apart.
            Representation::Xcdr1 => self.description.extensibility,
            Representation::Xcdr2 => encapsulation.extensibility,
        };
        let whole = reader.begin_struct(extensibility)?;
        let all = reader.begin_sequence(self.bound, E::PRIMITIVE, E::MIN_SIZE)?;
        E::decode_vec(to, all.count, &mut reader)?;
        reader.end_sequence(all);
        reader.end_struct(whole);
        Ok(())
    }

    /// Appends the payload of any elements.
    fn encode<E: Element>(
        &self,
        elements: &[E],
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let extensibility = self.description.extensibility;
        EncodeError::check_bound(elements.len(), self.bound)?;
        encapsulated(representation, extensibility, buffer, |writer| {
            let whole = writer.begin_struct(extensibility);
            let all = writer.begin_sequence(E::PRIMITIVE);
            E::encode_all(elements, writer)?;
            writer.end_sequence(all, elements.len())?;
            writer.end_struct(whole)
        })
    }
}

impl<E> Clone for SequenceType<E> {
    fn clone(&self) -> Self {
        Self {
            described: Arc::clone(&self.described),
            of: PhantomData,
        }
    }
}

impl<E> PartialEq for SequenceType<E> {
    fn eq(&self, other: &Self) -> bool {
        self.described == other.described
    }
}

impl<E> fmt::Debug for SequenceType<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let description = &self.described.description;
        f.debug_tuple("SequenceType").field(description).finish()
    }
}

impl<E: Element> Sealed for SequenceInPlace<E> {}

impl<E: Element> TopicSupport for SequenceInPlace<E> {
    type Type = SequenceType<E>;

    const BORROWS: bool = true;

    fn type_name(ty: &SequenceType<E>) -> &str {
        &ty.described.description.name
    }

    fn extensibility(ty: &SequenceType<E>) -> Extensibility {
        ty.described.description.extensibility
    }

    fn has_key(_: &SequenceType<E>) -> bool {
        false
    }

    fn description(ty: &SequenceType<E>) -> Option<&TypeDescription> {
        Some(&ty.described.description)
    }

    fn initial(_: &SequenceType<E>) -> Self {
        Self::default()
    }

    fn write_payload(
        &self,
        ty: &SequenceType<E>,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        (**self).payload(ty, representation, buffer)
    }

    fn write_key_payload(
        &self,
        _: &SequenceType<E>,
        _: Representation,
        _: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(())
    }

    fn read_payload(&mut self, ty: &SequenceType<E>, payload: &[u8]) -> Result<(), DecodeError> {
        let Described { layouts, bound, .. } = &*ty.described;
        let range = find(payload, layouts, *bound)?;
        let bytes = range.and_then(|range| payload.get(range));
        self.lent = None;
        match bytes.and_then(elements_of) {
            Some(elements) => {
                self.own.clear();
                copy::append(&mut self.own, elements);
                Ok(())
            }
            None => ty.described.decode(payload, &mut self.own),
        }
    }

    fn read_lent_payload(
        &mut self,
        ty: &SequenceType<E>,
        payload: LentPayload<'_>,
    ) -> Result<(), DecodeError> {
        let Described { layouts, bound, .. } = &*ty.described;
        let bytes = payload.bytes();
        let range = find(bytes, layouts, *bound)?;
        let fits = |bytes| elements_of::<E>(bytes).is_some();
        match range.filter(|range| bytes.get(range.clone()).is_some_and(fits)) {
            Some(range) => {
                self.lent = Some(payload.hold(range));
                Ok(())
            }
            None => self.read_payload(ty, bytes),
        }
    }

    fn let_go(&mut self) {
        self.lent = None;
    }

    fn read_key_payload(&mut self, _: &SequenceType<E>, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }

    fn key_hash(
        &self,
        _: &SequenceType<E>,
        _: Representation,
        _: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError> {
        Ok(None)
    }
}

impl<E: Element> SequenceType<E> {
    /// What a payload of so many bytes of elements has before them, if it has a front and they lie there as in memory.
    pub(crate) fn front(&self, representation: Representation, len: usize) -> Option<Head> {
        let layout = self.described.layout(representation)?;
        (len <= layout.max_len()).then(|| layout.head(len).0)
    }
}

impl<E: Element> Written<SequenceInPlace<E>> for [E] {
    fn payload(
        &self,
        ty: &SequenceType<E>,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        let Some(layout) = ty.described.layout(representation) else {
            return Ok(ty.described.encode(self, representation, buffer)?);
        };
        // The bound, or what a payload can have.
        let most = layout.max_len() / size_of::<E>();
        EncodeError::check_bound(self.len(), u32::try_from(most).unwrap_or(u32::MAX))?;
        layout.write(self.as_bytes(), buffer);
        Ok(())
    }

    fn key_payload(
        &self,
        _: &SequenceType<E>,
        _: Representation,
        _: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(())
    }

    fn hash(
        &self,
        _: &SequenceType<E>,
        _: Representation,
        _: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError> {
        Ok(None)
    }
}

/// Elements of a sample that is being written in place, zeros or what was there before: what is not written to is sent, too.
/// See [`DataWriter::loan_elements`]. Dropped without being written, it leaves nothing. Each use as a slice looks where the
/// elements lie: who writes them one by one does well to take the slice once.
#[must_use = "what is not written is lost"]
pub struct SequenceLoan<'w, T: TopicSupport, E: Element> {
    loan: Loan<'w, T>,
    /// Where memory of the writer's own is not aligned for them: copied there when it is written.
    apart: Option<Vec<E>>,
}

impl<T: TopicSupport> DataWriter<T> {
    /// Lends `count` elements to be written in place, for topics whose type is one sequence of `E`: as
    /// [`loan`](Self::loan) does bytes, and where it says that they are copied, or handed over, so are these. The writer's first
    /// loan decodes some, to see whether memory and payloads have the same: those in the representation that the writer has, by
    /// its QoS, or else XCDR1 if the type is final and XCDR2 if not. In the other one they [may](Element) have something else.
    ///
    /// Where a loan is not in memory that readers see, and elements are aligned to eight bytes, they may be allocated apart, as
    /// zeros, and copied when they are written: in XCDR1, and where two lengths come before them in XCDR2, which costs no
    /// less than [`write`](Self::write).
    ///
    /// # Errors
    /// [`LoanError::NotSequence`] if the type is another one, [`LoanError::OtherRepresentation`] if the writer's representation
    /// has elements otherwise than memory, [`LoanError::TooLong`], in bytes, if it has not so many elements or there is no memory
    /// for them.
    pub fn loan_elements<E: Element>(
        &self,
        count: usize,
    ) -> Result<SequenceLoan<'_, T, E>, LoanError> {
        let look = || -> Result<(), LoanError> {
            let description = T::description(self.topic().ty());
            let description = description.ok_or(NotSequence::Unknown)?;
            let ty = SequenceType::<E>::described(description.clone())?;
            match ty.described.layout(self.representation()) {
                Some(_) => Ok(()),
                None => Err(LoanError::OtherRepresentation {
                    representation: self.representation(),
                }),
            }
        };
        let lender = match self.lender() {
            Some(lender) => lender
                .lends_elements(TypeId::of::<E>(), look)
                .map(|()| lender),
            // Who has elements that are in memory as in its representation has a lender.
            None => look().and(Err(NotSequence::Elsewhere.into())),
        }?;
        let len = count.saturating_mul(size_of::<E>());
        let mut loan = Loan::of(self, lender.lend(len)?, len);
        let apart = match elements_of::<E>(loan.bytes_mut()) {
            Some(_) => None,
            None => {
                let zeros = E::new_vec_zeroed(count);
                Some(zeros.map_err(|_| LoanError::TooLong { len, max: 0 })?)
            }
        };
        Ok(SequenceLoan { loan, apart })
    }
}

impl<T: TopicSupport, E: Element> SequenceLoan<'_, T, E> {
    /// Makes it shorter.
    pub fn truncate(&mut self, count: usize) {
        self.loan.truncate(count.saturating_mul(size_of::<E>()));
        if let Some(apart) = &mut self.apart {
            apart.truncate(count);
        }
    }

    /// Whether readers that follow the writer's log will see this very memory; else they get copies.
    pub fn is_lent(&self) -> bool {
        self.loan.is_lent()
    }

    /// Writes the sample, made now.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. Then the loan is lost.
    pub fn write(self) -> Result<SequenceNumber, WriteError> {
        self.complete().write()
    }

    /// Writes the sample that was made at `timestamp`.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. Then the loan is lost.
    pub fn write_with_timestamp(self, timestamp: Timestamp) -> Result<SequenceNumber, WriteError> {
        self.complete().write_with_timestamp(timestamp)
    }
}

impl<'w, T: TopicSupport, E: Element> SequenceLoan<'w, T, E> {
    /// The same loan, which keeps its writer: for who cannot tell by a scope how long it lives.
    pub fn into_owned(self) -> SequenceLoan<'static, T, E> {
        SequenceLoan {
            loan: self.loan.into_owned(),
            apart: self.apart,
        }
    }

    /// The loan of their bytes.
    fn complete(mut self) -> Loan<'w, T> {
        if let Some(apart) = &self.apart {
            copy::copy(apart.as_bytes(), self.loan.bytes_mut());
        }
        self.loan
    }
}

impl<T: TopicSupport, E: Element> Deref for SequenceLoan<'_, T, E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        match &self.apart {
            Some(apart) => apart,
            None => elements_of(self.loan.bytes()).unwrap_or_default(),
        }
    }
}

impl<T: TopicSupport, E: Element> DerefMut for SequenceLoan<'_, T, E> {
    fn deref_mut(&mut self) -> &mut [E] {
        match &mut self.apart {
            Some(apart) => apart,
            None => <[E]>::mut_from_bytes(self.loan.bytes_mut()).unwrap_or_default(),
        }
    }
}

impl<T: TopicSupport, E: Element> fmt::Debug for SequenceLoan<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.loan.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use tickwire_cdr::to_payload;

    use super::*;

    #[derive(Topic)]
    #[topic(name = "test::Doubles", final)]
    struct Doubles {
        #[topic(bound = 3)]
        _all: Vec<f64>,
    }

    /// In memory as in XCDR2 alone.
    #[derive(
        Topic, FromBytes, IntoBytes, KnownLayout, Immutable, Clone, Copy, Debug, PartialEq,
    )]
    #[topic(name = "test::Fill", nested, final)]
    #[repr(C, packed(4))]
    struct Fill {
        security: i32,
        price: f64,
    }

    #[derive(Topic)]
    #[topic(name = "test::Fills")]
    struct Fills {
        #[topic(bound = 3)]
        all: Vec<Fill>,
    }

    /// Where memory has what payloads have, and where it has not.
    #[test]
    fn payloads_of_either_encoding_are_those_of_the_type() {
        let ty = SequenceType::<Fill>::of::<Fills>().expect("a sequence");
        let has_layout = BOTH.map(|it| ty.described.layout(it).is_some());
        assert_eq!(has_layout, [false, true]);
        let fill = |security| Fill {
            security,
            price: 0.5,
        };
        for representation in BOTH {
            for count in 0..4 {
                let all: Vec<Fill> = (0..count).map(fill).collect();
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                let sample = SequenceInPlace::new(all.clone());
                let written = sample.write_payload(&ty, representation, &mut ours);
                written.expect("within the bound");
                to_payload(&Fills { all: all.clone() }, representation, &mut theirs).expect("one");
                assert_eq!(ours, theirs, "{representation:?}");
                let mut read = SequenceInPlace::default();
                read.read_payload(&ty, &ours).expect("elements");
                assert_eq!(*read, all[..], "{representation:?}");
            }
            let sample = SequenceInPlace::new((0..4).map(fill).collect());
            let written = sample.write_payload(&ty, representation, &mut Vec::new());
            assert!(written.is_err(), "more than the bound");
        }
    }

    fn read(payload: &[u8]) -> Result<Vec<f64>, DecodeError> {
        let ty = SequenceType::of::<Doubles>().expect("a sequence");
        let mut sample = SequenceInPlace::new(vec![9.0]);
        sample.read_payload(&ty, payload)?;
        Ok(sample.to_vec())
    }

    /// Wherever a payload lies, and in whatever order its bytes are.
    #[test]
    fn payloads_of_any_order_and_place_are_read() {
        for (kind, is_aligned_to_eight) in [(0, true), (6, false)] {
            for is_little in [false, true] {
                let mut payload = vec![0, kind + u8::from(is_little), 0, 0];
                let word = |word: u32| match is_little {
                    true => word.to_le_bytes(),
                    false => word.to_be_bytes(),
                };
                payload.extend(word(2));
                payload.extend(&[0; 4][..if is_aligned_to_eight { 4 } else { 0 }]);
                for number in [0.5_f64, -2.0] {
                    payload.extend(match is_little {
                        true => number.to_le_bytes(),
                        false => number.to_be_bytes(),
                    });
                }
                for offset in 0..8 {
                    let mut memory = [0_u64; 8];
                    let memory = memory.as_mut_bytes();
                    memory[offset..offset + payload.len()].copy_from_slice(&payload);
                    let read = read(&memory[offset..offset + payload.len()]);
                    assert_eq!(read, Ok(vec![0.5, -2.0]));
                }
                payload[4..8].copy_from_slice(&word(4));
                assert!(read(&payload).is_err(), "more than the bound");
            }
        }
    }
}
