//! Requests and replies of the type lookup service (XTypes 1.3 §7.6.3.3): whole payloads of its
//! four built-in endpoints.
//!
//! ```text
//! request = writer guid (16), sequence number (high32, low32), instance name,
//!           [length, operation32, [length, member type_ids: [length, count, TypeIdentifier...]]]
//! reply   = writer guid (16), sequence number, remote exception32,
//!           [length, operation32, [length, return code32, [length,
//!             member types: [length, count, (TypeIdentifier, TypeObject)...],
//!             member complete_to_minimal: [length, count, (TypeIdentifier, TypeIdentifier)...]]]]
//! ```
//!
//! A question about dependencies has a second member, the continuation point (XTypes 1.3
//! §7.6.3.3.4.2): empty at first, then what the reply before gave. That reply is
//!
//! ```text
//!             member dependent_typeids: [length, count, [length, TypeIdentifier, size32]...],
//!             member continuation_point: [length, bytes...]         (empty when there is no more)
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::information::write_with_size;
use super::object::component_hash;
use super::{Component, EquivalenceKind, TypeId, TypeObjects};
use crate::{
    DecodeError, DecodeErrorKind, EncodeError, Extensibility, LengthCode, MemberHeader, Reader,
    Representation, StructMark, Writer, encapsulated, payload,
};

/// Which request, so that a reply can name it (DDS-RPC 1.0 §7.5.1.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestIdentity {
    /// GUID of the writer of the request.
    pub writer: [u8; 16],
    /// Chosen by the requester.
    pub sequence_number: i64,
}

/// What is asked about types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Their objects.
    Types,
    /// The identifiers of the types that they refer to. Who has read the type information of an
    /// endpoint knows them already; some peers ask all the same.
    Dependencies {
        /// How many were told before: 0, or what the reply before gave as continuation point.
        after: u32,
    },
}

/// A question about types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Which request.
    pub identity: RequestIdentity,
    /// `dds.builtin.TOS.` and the GUID of the asked participant in 32 lower-case hexadecimal
    /// digits.
    pub instance: String,
    /// What is asked.
    pub question: Question,
    /// The types that are asked about. Identifiers that are no hashes are left out.
    /// [`parse`](Self::parse) names each once, so that an answer is no longer than all that is known.
    pub types: Vec<TypeId>,
}

/// An answer with type objects, which lie in the payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply<'a> {
    /// Of the request.
    pub identity: RequestIdentity,
    /// Objects as [`TypeObjects::insert`] takes them, each with the identifier that the peer says
    /// it has.
    pub objects: Vec<(TypeId, &'a [u8])>,
    /// Which minimal object goes with a complete one.
    pub complete_to_minimal: Vec<(TypeId, TypeId)>,
}

impl Request {
    /// Appends the payload.
    pub fn encode(&self, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
        encapsulated(
            Representation::Xcdr2,
            Extensibility::Final,
            buffer,
            |writer| {
                self.identity.write(writer);
                writer.write_string(&self.instance, 255)?;
                let call = writer.begin_struct(Extensibility::Appendable);
                writer.write_u32(self.question.operation());
                let arguments = writer.begin_struct(Extensibility::Mutable);
                member(writer, &arguments, TYPE_IDS, |writer| {
                    let sequence = writer.begin_sequence(false);
                    self.types.iter().try_for_each(|id| id.write(writer))?;
                    writer.end_sequence(sequence, self.types.len())
                })?;
                if let Question::Dependencies { after } = self.question {
                    write_continuation((after > 0).then_some(after), writer, &arguments)?;
                }
                writer.end_struct(arguments)?;
                writer.end_struct(call)
            },
        )
    }

    /// Reads a payload; `None` when it asks for something that the standard does not know.
    pub fn parse(payload: &[u8]) -> Result<Option<Self>, DecodeError> {
        let mut reader = payload::reader(payload, Extensibility::Final)?;
        let reader = &mut reader;
        let identity = RequestIdentity::read(reader)?;
        let instance = reader.read_str(255)?.into();
        let call = reader.begin_struct(Extensibility::Appendable)?;
        let mut question = match reader.read_u32()? {
            GET_TYPES => Question::Types,
            GET_DEPENDENCIES => Question::Dependencies { after: 0 },
            _ => return Ok(None),
        };
        let mut types = Vec::new();
        let mut seen = BTreeSet::new();
        let arguments = reader.begin_struct(Extensibility::Mutable)?;
        while let Some(member) = reader.next_member(&arguments)? {
            match member.id {
                TYPE_IDS => {
                    let elements = reader.begin_sequence(0, false, 1)?;
                    for _ in 0..elements.count {
                        match TypeId::read(reader)? {
                            Some(id) if seen.insert(id) => types.push(id),
                            Some(_) => {}
                            // What follows cannot be found without reading it.
                            None => break,
                        }
                    }
                    reader.end_sequence(elements);
                }
                CONTINUATION_POINT if question != Question::Types => {
                    let after = read_continuation(reader)?;
                    question = Question::Dependencies { after };
                }
                _ => reader.skip_unknown(&member)?,
            }
            reader.end_member(member);
        }
        reader.end_struct(arguments);
        reader.end_struct(call);
        Ok(Some(Self {
            identity,
            instance,
            question,
            types,
        }))
    }

    /// Appends the payload of the reply, with what of the answer is known.
    pub fn answer(&self, known: &TypeObjects, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Question::Dependencies { after } = self.question {
            return self.answer_dependencies(known, after, buffer);
        }
        let ids = self.types.iter().copied();
        let objects = ids
            .clone()
            .filter_map(|id| known.get(id).map(|object| (id, object)));
        let pairs = ids
            .clone()
            .filter_map(|id| known.minimal_of(id).map(|minimal| (id, minimal)));
        let reply = Reply {
            identity: self.identity,
            objects: objects.collect(),
            complete_to_minimal: pairs.collect(),
        };
        reply.encode(buffer)
    }

    fn answer_dependencies(
        &self,
        known: &TypeObjects,
        after: u32,
        buffer: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let mut seen = BTreeSet::new();
        let all = self.types.iter().flat_map(|id| known.dependencies_of(*id));
        let told = usize::try_from(after).unwrap_or(usize::MAX);
        let mut left = all.filter(|(id, _)| seen.insert(*id)).skip(told);
        let listed: Vec<_> = left.by_ref().take(MAX_DEPENDENCIES).collect();
        let count = u32::try_from(listed.len()).unwrap_or(u32::MAX);
        let next = left.next().map(|_| after.saturating_add(count));
        write_reply(self.identity, self.question, buffer, |writer, out| {
            member(writer, out, DEPENDENT_TYPE_IDS, |writer| {
                let sequence = writer.begin_sequence(false);
                for (id, size) in &listed {
                    write_with_size(*id, *size, writer)?;
                }
                writer.end_sequence(sequence, listed.len())
            })?;
            write_continuation(next, writer, out)
        })
    }
}

impl Question {
    fn operation(self) -> u32 {
        match self {
            Self::Types => GET_TYPES,
            Self::Dependencies { .. } => GET_DEPENDENCIES,
        }
    }
}

impl<'a> Reply<'a> {
    /// Appends the payload.
    pub fn encode(&self, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
        write_reply(self.identity, Question::Types, buffer, |writer, out| {
            member(writer, out, TYPES, |writer| {
                let sequence = writer.begin_sequence(false);
                for (id, object) in &self.objects {
                    id.write(writer)?;
                    writer.write_delimited(object);
                }
                writer.end_sequence(sequence, self.objects.len())
            })?;
            member(writer, out, COMPLETE_TO_MINIMAL, |writer| {
                let sequence = writer.begin_sequence(false);
                for (complete, minimal) in &self.complete_to_minimal {
                    complete.write(writer)?;
                    minimal.write(writer)?;
                }
                writer.end_sequence(sequence, self.complete_to_minimal.len())
            })
        })
    }

    /// Reads a payload; `None` when it answers another question, or with an exception.
    pub fn parse(payload: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        let mut reader = payload::reader(payload, Extensibility::Final)?;
        let reader = &mut reader;
        let identity = RequestIdentity::read(reader)?;
        if reader.read_i32()? != REMOTE_OK {
            return Ok(None);
        }
        let returned = reader.begin_struct(Extensibility::Appendable)?;
        if reader.read_u32()? != GET_TYPES {
            return Ok(None);
        }
        let result = reader.begin_struct(Extensibility::Appendable)?;
        if reader.read_i32()? != RETCODE_OK {
            return Ok(None);
        }
        let mut reply = Self {
            identity,
            objects: Vec::new(),
            complete_to_minimal: Vec::new(),
        };
        let out = reader.begin_struct(Extensibility::Mutable)?;
        while let Some(member) = reader.next_member(&out)? {
            match member.id {
                TYPES => reply.read_objects(reader)?,
                COMPLETE_TO_MINIMAL => reply.read_pairs(reader)?,
                _ => reader.skip_unknown(&member)?,
            }
            reader.end_member(member);
        }
        reader.end_struct(out);
        reader.end_struct(result);
        reader.end_struct(returned);
        Ok(Some(reply))
    }

    /// The objects of the reply that are what their identifiers say: by the hash of their bytes,
    /// or, of types that contain each other, of all their objects with zeros in place of that hash.
    /// Those must be in the reply, too.
    pub fn right_objects(&self) -> Vec<(TypeId, &'a [u8])> {
        let mut right = Vec::new();
        let mut circles: BTreeMap<_, BTreeMap<u32, (TypeId, &'a [u8])>> = BTreeMap::new();
        for &(id, object) in &self.objects {
            match id.component {
                None if TypeId::of(id.kind, object) == id => right.push((id, object)),
                None => {}
                Some(Component { length, index }) => {
                    let circle = circles.entry((id.kind, id.hash, length)).or_default();
                    circle.insert(index, (id, object));
                }
            }
        }
        for ((kind, hash, length), parts) in circles {
            if !parts.keys().copied().eq(1..=length) {
                continue;
            }
            let without_hash = |(_, object): &(_, &[u8])| without_hash(kind, &hash, object);
            let hashed: Vec<_> = parts.values().map(without_hash).collect();
            if component_hash(kind, hashed.iter().map(Vec::as_slice)) == Ok(hash) {
                right.extend(parts.into_values());
            }
        }
        right
    }

    fn read_objects(&mut self, reader: &mut Reader<'a>) -> Result<(), DecodeError> {
        let elements = reader.begin_sequence(0, false, MIN_OBJECT)?;
        for _ in 0..elements.count {
            let id = read_hash(reader)?;
            self.objects.push((id, reader.read_delimited()?));
        }
        reader.end_sequence(elements);
        Ok(())
    }

    fn read_pairs(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let elements = reader.begin_sequence(0, false, MIN_OBJECT)?;
        for _ in 0..elements.count {
            self.complete_to_minimal
                .push((read_hash(reader)?, read_hash(reader)?));
        }
        reader.end_sequence(elements);
        Ok(())
    }
}

impl RequestIdentity {
    fn write(self, writer: &mut Writer<'_>) {
        self.writer.iter().for_each(|byte| writer.write_u8(*byte));
        let [a, b, c, d, e, f, g, h] = self.sequence_number.to_be_bytes();
        writer.write_i32(i32::from_be_bytes([a, b, c, d]));
        writer.write_u32(u32::from_be_bytes([e, f, g, h]));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut writer = [0; 16];
        writer
            .iter_mut()
            .try_for_each(|byte| reader.read_u8().map(|read| *byte = read))?;
        let high = i64::from(reader.read_i32()?) << 32;
        Ok(Self {
            writer,
            sequence_number: high | i64::from(reader.read_u32()?),
        })
    }
}

/// Where the next list of dependencies goes on; nothing if there is none.
fn write_continuation(
    after: Option<u32>,
    writer: &mut Writer<'_>,
    mark: &StructMark,
) -> Result<(), EncodeError> {
    member(writer, mark, CONTINUATION_POINT, |writer| {
        let bytes = after.map(u32::to_be_bytes);
        let sequence = writer.begin_sequence(true);
        let bytes = bytes.iter().flatten();
        bytes.clone().for_each(|byte| writer.write_u8(*byte));
        writer.end_sequence(sequence, bytes.count())
    })
}

/// What we have not written ourselves is after the end.
fn read_continuation(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    let bytes = reader.begin_sequence(MAX_CONTINUATION, true, 1)?;
    let after = match bytes.count {
        0 => 0,
        4 => {
            let [a, b, c, d] = [(); 4].map(|()| reader.read_u8());
            u32::from_be_bytes([a?, b?, c?, d?])
        }
        _ => u32::MAX,
    };
    reader.end_sequence(bytes);
    Ok(after)
}

/// An object with zeros for the hash of its circle.
fn without_hash(kind: EquivalenceKind, hash: &[u8], object: &[u8]) -> Vec<u8> {
    let mut object = object.to_vec();
    let named = [&[kind.discriminator()][..], hash].concat();
    let mut at = 0_usize;
    while let Some(rest) = object.get_mut(at..at.saturating_add(named.len())) {
        if rest == named {
            rest.iter_mut().skip(1).for_each(|byte| *byte = 0);
        }
        at += 1;
    }
    object
}

/// Writes what is around the members of an answer.
fn write_reply(
    identity: RequestIdentity,
    question: Question,
    buffer: &mut Vec<u8>,
    members: impl FnOnce(&mut Writer<'_>, &StructMark) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    encapsulated(
        Representation::Xcdr2,
        Extensibility::Final,
        buffer,
        |writer| {
            identity.write(writer);
            writer.write_i32(REMOTE_OK);
            let returned = writer.begin_struct(Extensibility::Appendable);
            writer.write_u32(question.operation());
            let result = writer.begin_struct(Extensibility::Appendable);
            writer.write_i32(RETCODE_OK);
            let out = writer.begin_struct(Extensibility::Mutable);
            members(writer, &out)?;
            writer.end_struct(out)?;
            writer.end_struct(result)?;
            writer.end_struct(returned)
        },
    )
}

fn read_hash(reader: &mut Reader<'_>) -> Result<TypeId, DecodeError> {
    let id = TypeId::read(reader)?;
    id.ok_or_else(|| reader.error(DecodeErrorKind::MalformedMemberHeader))
}

fn member(
    writer: &mut Writer<'_>,
    mark: &StructMark,
    id: u32,
    encode: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    writer.member(
        mark,
        MemberHeader::new(id, LengthCode::AlsoNextInt),
        "TypeLookup",
        encode,
    )
}

// Operations and members are numbered by the hashes of their names (XTypes 1.3 §7.3.1.2.1.1).
const GET_TYPES: u32 = 0x0182_52d3;
const GET_DEPENDENCIES: u32 = 0x05aa_fb31;
const TYPE_IDS: u32 = 0x0c53_6065;
const TYPES: u32 = 0x0280_4ad1;
const COMPLETE_TO_MINIMAL: u32 = 0x0b8e_6577;
const DEPENDENT_TYPE_IDS: u32 = 0x0ba4_dfc9;
const CONTINUATION_POINT: u32 = 0x0508_e3d2;
const REMOTE_OK: i32 = 0;
const RETCODE_OK: i32 = 0;
/// The most bytes of a continuation point.
const MAX_CONTINUATION: u32 = 32;
/// Dependencies in one reply.
const MAX_DEPENDENCIES: usize = 256;
/// The fewest bytes of an identifier that is a hash, with an object or another identifier.
const MIN_OBJECT: usize = 20;
