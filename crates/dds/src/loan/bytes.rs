//! Samples that are bytes, wherever these lie.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use tickwire_base::copy;
use tickwire_cdr::{
    DecodeError, EncodeError, Extensibility, KeyHash, Representation, Topic, TypeDescription,
};
use tickwire_rtps::writer::MAX_COPIED_LEN;
use tickwire_transport::shm::Borrowed;
use tickwire_transport::tcp::LongMessage;

use super::layout::{Layout, bound_of, find};
use crate::type_support::{SampleError, Sealed, TopicSupport, Written};

/// A sample of a type that is one sequence of bytes, read where its writer wrote it if that is possible, or, if it is
/// longer than 64 KiB, where it has come by the network, in fragments or in a TCP message of its own; else a copy. Only
/// what its writer lends begins at more than a multiple of four.
///
/// What lies where its writer wrote it stays as it is until this is dropped, or its [`Samples`](crate::Samples) are, whatever the writer
/// does meanwhile. It takes one of its writer's loans that long: of a quarter of them, or 16, a participant holds
/// samples in place, unread ones among them, and of what comes beyond it gets copies. Samples are in place
/// for participants alone that [trust](crate::DomainParticipantBuilder::trusts_lenders) their writers.
#[derive(Debug, Default)]
pub struct BytesInPlace {
    own: Vec<u8>,
    lent: Option<LentBytes>,
}

impl BytesInPlace {
    /// A sample of these bytes, to be written.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self {
            own: bytes,
            lent: None,
        }
    }

    /// Whether the bytes lie where the writer wrote them.
    pub fn is_in_place(&self) -> bool {
        self.lent.as_ref().is_some_and(LentBytes::is_in_place)
    }
}

impl Deref for BytesInPlace {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.lent {
            Some(lent) => lent,
            None => &self.own,
        }
    }
}

/// The type of [`BytesInPlace`] samples: a struct with one member, a sequence of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct BytesType(Arc<Described>);

#[derive(Debug, PartialEq)]
struct Described {
    description: TypeDescription,
    bound: u32,
    /// In XCDR1 and in XCDR2.
    layouts: [Layout; 2],
}

/// A topic's type is not one sequence of bytes, or nothing is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotBytes;

impl fmt::Display for NotBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the topic's type is not known to be one sequence of bytes: a struct, not a mutable one, \
             whose only member is a sequence of octet or uint8",
        )
    }
}

impl std::error::Error for NotBytes {}

impl BytesType {
    /// That of samples that a program has as `T` elsewhere.
    ///
    /// # Errors
    /// If `T` has other members than one sequence of bytes, or is mutable.
    pub fn of<T: Topic>() -> Result<Self, NotBytes> {
        Self::described(T::description().clone())
    }

    /// That which a description is of.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn described(description: TypeDescription) -> Result<Self, NotBytes> {
        let bound = bound_of(&description).ok_or(NotBytes)?;
        let layout = |representation| Layout::of(&description, representation).ok_or(NotBytes);
        let layouts = [
            layout(Representation::Xcdr1)?,
            layout(Representation::Xcdr2)?,
        ];
        Ok(Self(Arc::new(Described {
            description,
            bound,
            layouts,
        })))
    }
}

impl Sealed for BytesInPlace {}

impl TopicSupport for BytesInPlace {
    type Type = BytesType;

    const BORROWS: bool = true;

    fn type_name(ty: &BytesType) -> &str {
        &ty.0.description.name
    }

    fn extensibility(ty: &BytesType) -> Extensibility {
        ty.0.description.extensibility
    }

    fn has_key(_: &BytesType) -> bool {
        false
    }

    fn description(ty: &BytesType) -> Option<&TypeDescription> {
        Some(&ty.0.description)
    }

    fn initial(_: &BytesType) -> Self {
        Self::default()
    }

    fn write_payload(
        &self,
        ty: &BytesType,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        (**self).payload(ty, representation, buffer)
    }

    fn write_key_payload(
        &self,
        _: &BytesType,
        _: Representation,
        _: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(())
    }

    fn read_payload(&mut self, ty: &BytesType, payload: &[u8]) -> Result<(), DecodeError> {
        let range = find(payload, ty.0.bound)?;
        self.lent = None;
        self.own.clear();
        copy::append(&mut self.own, payload.get(range).unwrap_or_default());
        Ok(())
    }

    fn read_lent_payload(
        &mut self,
        ty: &BytesType,
        payload: LentPayload<'_>,
    ) -> Result<(), DecodeError> {
        let range = find(payload.bytes, ty.0.bound)?;
        self.lent = Some(payload.hold(range));
        Ok(())
    }

    fn let_go(&mut self) {
        self.lent = None;
    }

    fn read_key_payload(&mut self, _: &BytesType, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }

    fn key_hash(
        &self,
        _: &BytesType,
        _: Representation,
        _: &mut Vec<u8>,
    ) -> Result<Option<KeyHash>, SampleError> {
        Ok(None)
    }
}

impl Written<BytesInPlace> for [u8] {
    fn payload(
        &self,
        ty: &BytesType,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        let Described { layouts, bound, .. } = &*ty.0;
        EncodeError::check_bound(self.len(), *bound)?;
        let layout = match representation {
            Representation::Xcdr1 => &layouts[0],
            Representation::Xcdr2 => &layouts[1],
        };
        layout.write(self, buffer);
        Ok(())
    }

    fn key_payload(
        &self,
        _: &BytesType,
        _: Representation,
        _: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(())
    }

    fn hash(
        &self,
        _: &BytesType,
        _: Representation,
        _: &mut Vec<u8>,
    ) -> Result<Option<KeyHash>, SampleError> {
        Ok(None)
    }
}

/// Memory in which payloads lie, and which is used for nothing else while it is held.
#[derive(Clone, Debug)]
pub(crate) enum Holdable {
    /// A writer's, who lends it.
    Lent(Borrowed),
    /// That of a long sample, whose fragments were put together there.
    Sample(Arc<Vec<u8>>),
    /// That of a long message.
    Message(LongMessage),
}

impl Holdable {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Lent(lent) => lent.trusted_bytes(),
            Self::Sample(sample) => sample,
            Self::Message(message) => message,
        }
    }

    /// Whether holding a payload of `len` bytes keeps little else from being used. Of a writer's it is up to that.
    fn is_worth_holding_for(&self, len: usize) -> bool {
        let in_use = match self {
            Self::Lent(_) => return true,
            Self::Sample(sample) => sample.capacity(),
            Self::Message(message) => message.len(),
        };
        len > MAX_COPIED_LEN && len >= in_use / 2
    }
}

/// A payload in memory that can be held: its writer lends it, or it is long, and came in a message or in fragments that
/// have memory of their own.
#[derive(Clone, Copy, Debug)]
pub struct LentPayload<'a> {
    bytes: &'a [u8],
    memory: &'a Holdable,
    /// Where in that it begins.
    start: usize,
}

impl<'a> LentPayload<'a> {
    /// `None` if it does not lie there, as it was kept elsewhere meanwhile, or is too little of what would be held.
    pub(crate) fn of(payload: &'a [u8], memory: &'a Holdable) -> Option<Self> {
        let (outer, inner) = (memory.bytes().as_ptr_range(), payload.as_ptr_range());
        let is_within = outer.start <= inner.start && inner.end <= outer.end;
        (is_within && memory.is_worth_holding_for(payload.len())).then(|| Self {
            bytes: payload,
            memory,
            start: inner.start.addr() - outer.start.addr(),
        })
    }

    /// The bytes, encapsulation header included.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Holds a part of it, which is empty if it lies outside. Costs the same for any length.
    pub fn hold(&self, part: Range<usize>) -> LentBytes {
        let part = match self.bytes.get(part.clone()) {
            Some(_) => self.start + part.start..self.start + part.end,
            None => 0..0,
        };
        LentBytes {
            memory: self.memory.clone(),
            part,
        }
    }
}

/// Bytes of a [`LentPayload`], which stay as they are until this is dropped.
#[derive(Clone, Debug)]
pub struct LentBytes {
    memory: Holdable,
    part: Range<usize>,
}

impl LentBytes {
    /// Whether they lie where the writer wrote them.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self.memory, Holdable::Lent(_))
    }
}

impl Deref for LentBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory
            .bytes()
            .get(self.part.clone())
            .unwrap_or_default()
    }
}
