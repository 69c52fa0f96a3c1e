//! `TypeInformation`: what an endpoint announces of its type (XTypes 1.3 §7.6.3.2.2), the value of
//! the discovery parameter 0x0075.

use alloc::vec::Vec;

use super::TypeId;
use crate::{
    ByteOrder, DecodeError, Encapsulation, EncodeError, Extensibility, LengthCode, MemberHeader,
    Reader, Representation, Writer,
};

/// Identifiers of a type's objects. A peer may leave out either.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TypeInformation {
    /// Of the minimal objects.
    pub minimal: Option<TypeWithDependencies>,
    /// Of the complete objects.
    pub complete: Option<TypeWithDependencies>,
}

/// A type and all types that it refers to, directly or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeWithDependencies {
    /// The type's object.
    pub id: TypeId,
    /// Length of that object in bytes.
    pub size: u32,
    /// The objects that it refers to, with their lengths. Peers may leave some or all out.
    pub dependencies: Vec<(TypeId, u32)>,
}

impl TypeInformation {
    /// Appends the value of the discovery parameter: little-endian XCDR2, aligned from its start.
    pub fn encode(&self, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
        let mut writer = Writer::new(buffer, Representation::Xcdr2);
        let mark = writer.begin_struct(Extensibility::Mutable);
        for (id, of) in [(MINIMAL, &self.minimal), (COMPLETE, &self.complete)] {
            if let Some(of) = of {
                let header = MemberHeader::new(id, LengthCode::NextInt);
                writer.member(&mark, header, "TypeInformation", |writer| of.write(writer))?;
            }
        }
        writer.end_struct(mark)
    }

    /// Reads the value of the discovery parameter, which is in the byte order of its list.
    ///
    /// Identifiers that have no hash count as absent.
    pub fn parse(bytes: &[u8], order: ByteOrder) -> Result<Self, DecodeError> {
        let extensibility = Extensibility::Mutable;
        let representation = Representation::Xcdr2;
        let encapsulation = Encapsulation {
            representation,
            order,
            extensibility,
        };
        let mut reader = Reader::new(bytes, encapsulation);
        let scope = reader.begin_struct(Extensibility::Mutable)?;
        let mut information = Self::default();
        while let Some(member) = reader.next_member(&scope)? {
            match member.id {
                MINIMAL => information.minimal = TypeWithDependencies::read(&mut reader)?,
                COMPLETE => information.complete = TypeWithDependencies::read(&mut reader)?,
                _ => reader.skip_unknown(&member)?,
            }
            reader.end_member(member);
        }
        reader.end_struct(scope);
        Ok(information)
    }
}

impl TypeWithDependencies {
    fn write(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_struct(Extensibility::Appendable);
        write_with_size(self.id, self.size, writer)?;
        writer.write_u32(u32::try_from(self.dependencies.len()).unwrap_or(u32::MAX));
        let sequence = writer.begin_sequence(false);
        for (id, size) in &self.dependencies {
            write_with_size(*id, *size, writer)?;
        }
        writer.end_sequence(sequence, self.dependencies.len())?;
        writer.end_struct(mark)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let scope = reader.begin_struct(Extensibility::Appendable)?;
        let own = read_with_size(reader)?;
        // The count may be -1: "not all are listed".
        reader.read_i32()?;
        let elements = reader.begin_sequence(0, false, MIN_WITH_SIZE)?;
        let mut dependencies = Vec::with_capacity(elements.count);
        for _ in 0..elements.count {
            dependencies.extend(read_with_size(reader)?);
        }
        reader.end_sequence(elements);
        reader.end_struct(scope);
        Ok(own.map(|(id, size)| Self {
            id,
            size,
            dependencies,
        }))
    }
}

pub(super) fn write_with_size(
    id: TypeId,
    size: u32,
    writer: &mut Writer<'_>,
) -> Result<(), EncodeError> {
    let mark = writer.begin_struct(Extensibility::Appendable);
    id.write(writer)?;
    writer.write_u32(size);
    writer.end_struct(mark)
}

fn read_with_size(reader: &mut Reader<'_>) -> Result<Option<(TypeId, u32)>, DecodeError> {
    let scope = reader.begin_struct(Extensibility::Appendable)?;
    let id = TypeId::read(reader)?;
    let size = if id.is_some() { reader.read_u32()? } else { 0 };
    reader.end_struct(scope);
    Ok(id.map(|id| (id, size)))
}

const MINIMAL: u32 = 0x1001;
const COMPLETE: u32 = 0x1002;
/// The fewest bytes of an identifier with its size: both lengths and a discriminator.
const MIN_WITH_SIZE: usize = 9;
