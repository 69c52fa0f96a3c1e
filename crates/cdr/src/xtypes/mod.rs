//! Types as peers exchange them (XTypes 1.3 §7.3.4): type objects, identified by a hash of their
//! bytes, and the messages of the type lookup service that carry them.
//!
//! This module knows nothing of who asks whom and when: that is discovery's.
//!
//! A type object exists twice, minimal (without names: what assignability needs) and complete
//! (what it takes to read samples of a type never seen before).

mod assignable;
mod describe;
mod information;
mod lookup;
mod object;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;

use md5::{Digest, Md5};

pub use assignable::{Consistency, Need, NotAssignable, Reason, check_assignable};
pub use describe::DescribeError;
pub use information::{TypeInformation, TypeWithDependencies};
pub use lookup::{Question, Reply, Request, RequestIdentity};

use crate::{
    DecodeError, DecodeErrorKind, EncodeError, Extensibility, Reader, TypeDescription, Writer,
};

/// Which of the two type objects of a type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EquivalenceKind {
    /// Without names.
    Minimal,
    /// With names.
    Complete,
}

/// Identifies a type object: the first 14 bytes of the MD5 of its bytes in little-endian XCDR2
/// (XTypes 1.3 §7.3.1.2.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId {
    /// Which of the two type objects.
    pub kind: EquivalenceKind,
    /// The hash: of the object, or of all objects of its component.
    pub hash: [u8; 14],
    /// Which of several types that contain each other, if it is one (XTypes 1.3 §7.3.4.9).
    pub component: Option<Component>,
}

/// Which of the types of a strongly connected component: types that contain each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Component {
    /// How many types there are.
    pub length: u32,
    /// Which of them, from 1, in order of their names.
    pub index: u32,
}

impl TypeId {
    fn of(kind: EquivalenceKind, object: &[u8]) -> Self {
        let [hash @ .., _, _]: [u8; 16] = Md5::digest(object).into();
        Self {
            kind,
            hash,
            component: None,
        }
    }

    /// This identifier, then those of all other types that contain this one and
    /// are contained in it: their objects are to be asked for together. No others if there are
    /// more than [`describe`](TypeObjects::describe) allows.
    pub fn circle(self) -> impl Iterator<Item = Self> {
        let length = self.component.map_or(0, |component| component.length);
        let length = if length > MAX_COMPONENT { 0 } else { length };
        let others = (1..=length).map(move |index| Self {
            component: Some(Component { length, index }),
            ..self
        });
        core::iter::once(self).chain(others.filter(move |other| *other != self))
    }

    fn write(self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let hash = |writer: &mut Writer<'_>| {
            writer.write_u8(self.kind.discriminator());
            self.hash.iter().for_each(|byte| writer.write_u8(*byte));
        };
        let Some(component) = self.component else {
            hash(writer);
            return Ok(());
        };
        writer.write_u8(TI_STRONGLY_CONNECTED_COMPONENT);
        let mark = writer.begin_struct(Extensibility::Appendable);
        hash(writer);
        writer.write_u32(component.length);
        writer.write_u32(component.index);
        writer.end_struct(mark)
    }

    /// Reads an identifier that has a hash; `None` for any other, of which nothing more is read.
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        match reader.read_u8()? {
            TI_STRONGLY_CONNECTED_COMPONENT => Self::read_component(reader).map(Some),
            kind => match EquivalenceKind::of(kind) {
                Some(kind) => Self::read_hash(kind, reader).map(Some),
                None => Ok(None),
            },
        }
    }

    fn read_component(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let scope = reader.begin_struct(Extensibility::Appendable)?;
        let kind = EquivalenceKind::of(reader.read_u8()?);
        let malformed = reader.error(DecodeErrorKind::MalformedMemberHeader);
        let mut id = Self::read_hash(kind.ok_or(malformed)?, reader)?;
        id.component = Some(Component {
            length: reader.read_u32()?,
            index: reader.read_u32()?,
        });
        reader.end_struct(scope);
        Ok(id)
    }

    fn read_hash(kind: EquivalenceKind, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut hash = [0; 14];
        hash.iter_mut()
            .try_for_each(|byte| reader.read_u8().map(|read| *byte = read))?;
        Ok(Self {
            kind,
            hash,
            component: None,
        })
    }
}

impl fmt::Debug for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ", self.kind)?;
        self.hash
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        match self.component {
            Some(Component { length, index }) => write!(f, " ({index} of {length})"),
            None => Ok(()),
        }
    }
}

impl EquivalenceKind {
    fn of(discriminator: u8) -> Option<Self> {
        match discriminator {
            EK_MINIMAL => Some(Self::Minimal),
            EK_COMPLETE => Some(Self::Complete),
            _ => None,
        }
    }

    fn discriminator(self) -> u8 {
        match self {
            Self::Minimal => EK_MINIMAL,
            Self::Complete => EK_COMPLETE,
        }
    }
}

/// The beginning of the MD5 of a name, by which minimal objects know members and literals
/// (XTypes 1.3 §7.3.4.5).
fn name_hash(name: &str) -> [u8; 4] {
    let [a, b, c, d, ..]: [u8; 16] = Md5::digest(name.as_bytes()).into();
    [a, b, c, d]
}

/// Type objects by their identifiers: what a participant can tell of its own types, or has learnt
/// of others'.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TypeObjects {
    objects: BTreeMap<TypeId, Vec<u8>>,
    complete_to_minimal: BTreeMap<TypeId, TypeId>,
    /// Of the types that were added, not of those that came with them.
    dependencies: BTreeMap<TypeId, Vec<(TypeId, u32)>>,
    /// Those that were inserted and not added, in that order, and their bytes.
    learnt: VecDeque<TypeId>,
    learnt_bytes: usize,
}

impl TypeObjects {
    /// Of no type.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the objects of a type and of all types that it refers to, and tells what an endpoint
    /// announces of it.
    pub fn add(&mut self, description: &TypeDescription) -> Result<TypeInformation, EncodeError> {
        let information = object::add(self, description)?;
        for of in [&information.minimal, &information.complete]
            .into_iter()
            .flatten()
        {
            self.own(of.id);
            of.dependencies.iter().for_each(|(id, _)| self.own(*id));
            self.dependencies.insert(of.id, of.dependencies.clone());
        }
        Ok(information)
    }

    /// An object of a type that was added is never forgotten, though a peer may have sent it first.
    fn own(&mut self, id: TypeId) {
        if let Some(index) = self.learnt.iter().position(|learnt| *learnt == id) {
            self.learnt.remove(index);
            self.learnt_bytes -= self.objects.get(&id).map_or(0, Vec::len);
        }
    }

    /// The bytes of an object.
    pub fn get(&self, id: TypeId) -> Option<&[u8]> {
        self.objects.get(&id).map(Vec::as_slice)
    }

    /// The minimal object of the type that has this complete one.
    pub fn minimal_of(&self, complete: TypeId) -> Option<TypeId> {
        self.complete_to_minimal.get(&complete).copied()
    }

    /// The objects that a type which was [added](Self::add) refers to, with their lengths.
    pub fn dependencies_of(&self, id: TypeId) -> &[(TypeId, u32)] {
        self.dependencies.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Adds an object that a peer sent, the serialized union `TypeObject` in little-endian, and
    /// tells its identifier. What is in it is looked at by [`describe`](Self::describe) only.
    pub fn insert(&mut self, object: &[u8]) -> Result<TypeId, DecodeError> {
        let malformed = DecodeError::new(DecodeErrorKind::UnexpectedEnd, object.len());
        let kind = match object.get(4) {
            Some(&EK_MINIMAL) => EquivalenceKind::Minimal,
            Some(&EK_COMPLETE) => EquivalenceKind::Complete,
            _ => return Err(malformed),
        };
        let id = TypeId::of(kind, object);
        self.insert_part(id, object);
        Ok(id)
    }

    /// Adds an object that a peer sent of a type that contains others that contain it, under its
    /// identifier: only all objects together tell whether that is right, which
    /// [`Reply::right_objects`] does.
    pub fn insert_part(&mut self, id: TypeId, object: &[u8]) {
        if self.objects.insert(id, object.into()).is_none() {
            self.learnt.push_back(id);
            self.learnt_bytes += object.len();
        }
    }

    /// Forgets objects that were inserted, the oldest first, until those that are left have at most
    /// `max_bytes`; says how many. Objects of types that were [added](Self::add) stay.
    pub fn forget_inserted(&mut self, max_bytes: usize) -> usize {
        let before = self.learnt.len();
        while self.learnt_bytes > max_bytes
            && let Some(id) = self.learnt.pop_front()
        {
            let forgotten = self.objects.remove(&id);
            self.learnt_bytes -= forgotten.map_or(0, |object| object.len());
        }
        before - self.learnt.len()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The type that an object and those that it refers to describe. From a minimal object, types
    /// have no names, and members are named `#` and the hash of their name.
    ///
    /// Aliases are followed, members of base types come first. An error
    /// [`DescribeError::Missing`] names an object to ask the peer for.
    pub fn describe(&self, id: TypeId) -> Result<TypeDescription, DescribeError> {
        describe::describe(self, id)
    }
}

// Discriminators of the union TypeIdentifier, and kinds of types (XTypes 1.3 §7.3.4.3).
const EK_MINIMAL: u8 = 0xf1;
const EK_COMPLETE: u8 = 0xf2;
const EK_BOTH: u8 = 0xf3;
const TK_NONE: u8 = 0x00;
const TK_BOOLEAN: u8 = 0x01;
const TK_BYTE: u8 = 0x02;
const TK_INT16: u8 = 0x03;
const TK_INT32: u8 = 0x04;
const TK_INT64: u8 = 0x05;
const TK_UINT16: u8 = 0x06;
const TK_UINT32: u8 = 0x07;
const TK_UINT64: u8 = 0x08;
const TK_FLOAT32: u8 = 0x09;
const TK_FLOAT64: u8 = 0x0a;
const TK_INT8: u8 = 0x0c;
const TK_UINT8: u8 = 0x0d;
const TK_CHAR8: u8 = 0x10;
const TK_ALIAS: u8 = 0x30;
const TK_CHAR16: u8 = 0x11;
const TK_ENUM: u8 = 0x40;
const TK_BITMASK: u8 = 0x41;
const TK_STRUCTURE: u8 = 0x51;
const TK_UNION: u8 = 0x52;
const TK_BITSET: u8 = 0x53;
const TK_SEQUENCE: u8 = 0x60;
const TK_ARRAY: u8 = 0x61;
const TK_MAP: u8 = 0x62;
const TI_STRING8_SMALL: u8 = 0x70;
const TI_STRING8_LARGE: u8 = 0x71;
const TI_STRING16_SMALL: u8 = 0x72;
const TI_STRING16_LARGE: u8 = 0x73;
const TI_PLAIN_SEQUENCE_SMALL: u8 = 0x80;
const TI_PLAIN_SEQUENCE_LARGE: u8 = 0x81;
const TI_PLAIN_ARRAY_SMALL: u8 = 0x90;
const TI_PLAIN_ARRAY_LARGE: u8 = 0x91;
const TI_PLAIN_MAP_SMALL: u8 = 0xa0;
const TI_PLAIN_MAP_LARGE: u8 = 0xa1;
const TI_STRONGLY_CONNECTED_COMPONENT: u8 = 0xb0;

/// Types that contain each other.
const MAX_COMPONENT: u32 = 256;

// Flags of types and members (XTypes 1.3 §7.3.4.5.2).
const IS_FINAL: u16 = 1 << 0;
const IS_APPENDABLE: u16 = 1 << 1;
const IS_MUTABLE: u16 = 1 << 2;
const IS_NESTED: u16 = 1 << 3;
const IS_AUTOID_HASH: u16 = 1 << 4;
const TRY_CONSTRUCT_DISCARD: u16 = 1 << 0;
const TRY_CONSTRUCT_USE_DEFAULT: u16 = 1 << 1;
const TRY_CONSTRUCT_TRIM: u16 = TRY_CONSTRUCT_DISCARD | TRY_CONSTRUCT_USE_DEFAULT;
const IS_EXTERNAL: u16 = 1 << 2;
const IS_OPTIONAL: u16 = 1 << 3;
const IS_MUST_UNDERSTAND: u16 = 1 << 4;
const IS_KEY: u16 = 1 << 5;
const IS_DEFAULT: u16 = 1 << 6;
