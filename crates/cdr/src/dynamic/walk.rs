//! The frames of structs, unions and collections, read by their descriptions. Knows nothing of what
//! is done with the values in them.

use super::{Error, Form};
use crate::{
    Case, DecodeErrorKind, Extensibility, Member, Reader, SequenceScope, Type, TypeDescription,
    UnionDescription,
};

/// What reads the values in a frame.
type Each<'e, P> = &'e mut dyn FnMut(P, &mut Reader<'_>) -> Result<(), Error>;

/// What is in a sequence, an array of any dimensions, or a map.
pub(super) struct Elements<'t> {
    /// Type of the elements, or of the keys.
    pub(super) element: &'t Type,
    /// Type of the values of a map.
    pub(super) value: Option<&'t Type>,
    /// Whether they are counted: not in an array.
    pub(super) counted: bool,
    /// Number of elements of an array; else the largest, 0 for any.
    limit: usize,
}

impl<'t> Elements<'t> {
    /// Of a collection; `None` of any other type.
    pub(super) fn of(ty: &'t Type) -> Option<Self> {
        let bound = |bound: &u32| usize::try_from(*bound).unwrap_or(usize::MAX);
        let (element, value, counted, limit) = match ty {
            Type::Sequence {
                element,
                bound: max,
            } => (&**element, None, true, bound(max)),
            Type::Array { .. } => (ty.innermost(), None, false, ty.flat_count()),
            Type::Map {
                key,
                value,
                bound: max,
            } => (&**key, Some(&**value), true, bound(max)),
            _ => return None,
        };
        Some(Self {
            element,
            value,
            counted,
            limit,
        })
    }

    /// Whether they go without a length in bytes.
    pub(super) fn are_primitive(&self) -> bool {
        self.element.is_primitive() && self.value.is_none_or(Type::is_primitive)
    }

    /// The largest number of elements of a sequence or a map, 0 for any.
    pub(super) fn bound(&self) -> u32 {
        u32::try_from(self.limit).unwrap_or(u32::MAX)
    }

    /// Reads the frame.
    pub(super) fn begin(&self, reader: &mut Reader<'_>) -> Result<SequenceScope, Error> {
        let primitive = self.are_primitive();
        Ok(if self.counted {
            let min_size = 1 + usize::from(self.value.is_some());
            reader.begin_sequence(self.bound(), primitive, min_size)?
        } else {
            reader.begin_array(self.limit, primitive)?
        })
    }

    /// Reads frame and contents; `each` must read a value of the type that it is given. Returns the
    /// number of elements, or of entries of a map.
    pub(super) fn for_each(
        &self,
        reader: &mut Reader<'_>,
        each: Each<'_, &'t Type>,
    ) -> Result<usize, Error> {
        let scope = self.begin(reader)?;
        let count = scope.count;
        for _ in 0..count {
            each(self.element, reader)?;
            if let Some(value) = self.value {
                each(value, reader)?;
            }
        }
        reader.end_sequence(scope);
        Ok(count)
    }
}

/// Reads the frame of a struct; `each` reads a member that is present.
pub(super) fn for_each_member<'d>(
    description: &'d TypeDescription,
    form: Form,
    reader: &mut Reader<'_>,
    each: Each<'_, &'d Member>,
) -> Result<(), Error> {
    let all = form == Form::Sample || !description.has_key();
    let mut members = description
        .members
        .iter()
        .filter(|member| all || member.key);
    let mut named = |member: &'d Member, reader: &mut Reader<'_>| {
        each(member, reader).map_err(|error| error.within(&description.name, member))
    };
    let scope = reader.begin_struct(description.extensibility)?;
    if description.extensibility == Extensibility::Mutable {
        while let Some(header) = reader.next_member(&scope)? {
            match description
                .members
                .iter()
                .find(|member| member.id == header.id)
            {
                Some(member) if all || member.key => named(member, reader)?,
                _ => reader.skip_unknown(&header)?,
            }
            reader.end_member(header);
        }
    } else {
        while let Some(member) = members.next().filter(|_| reader.has_member(&scope)) {
            if !member.optional {
                named(member, reader)?;
            } else if let Some(header) = reader.begin_optional(member.id)? {
                named(member, reader)?;
                reader.end_member(header);
            }
        }
    }
    reader.end_struct(scope);
    Ok(())
}

/// Reads a sample's struct up to the value of a member, which comes next; `skip` passes over a value. What comes behind it
/// is not looked at. False if the member is not there.
pub(super) fn find_member<'d>(
    description: &'d TypeDescription,
    id: u32,
    reader: &mut Reader<'_>,
    skip: Each<'_, &'d Type>,
) -> Result<bool, Error> {
    let scope = reader.begin_struct(description.extensibility)?;
    if description.extensibility == Extensibility::Mutable {
        while let Some(header) = reader.next_member(&scope)? {
            if header.id == id {
                return Ok(true);
            }
            // The length of each is known.
            if description
                .members
                .iter()
                .all(|member| member.id != header.id)
            {
                reader.skip_unknown(&header)?;
            }
            reader.end_member(header);
        }
        return Ok(false);
    }
    for member in &*description.members {
        if !reader.has_member(&scope) {
            break;
        }
        let header = match member.optional {
            true => match reader.begin_optional(member.id)? {
                None => continue,
                header => header,
            },
            false => None,
        };
        if member.id == id {
            return Ok(true);
        }
        skip(&member.ty, reader).map_err(|error| error.within(&description.name, member))?;
        if let Some(header) = header {
            reader.end_member(header);
        }
    }
    Ok(false)
}

/// What a union consists of.
pub(super) enum Part<'d> {
    /// The discriminator, of this type.
    Discriminator(&'d Type),
    /// The member that it selects.
    Member(&'d Case),
}

/// Reads the frame of a union; `each` must read the discriminator, then the member, if there is one.
pub(super) fn for_each_part<'d>(
    description: &'d UnionDescription,
    form: Form,
    reader: &mut Reader<'_>,
    each: Each<'_, Part<'d>>,
) -> Result<(), Error> {
    let headers = description.extensibility == Extensibility::Mutable;
    let scope = reader.begin_struct(description.extensibility)?;
    let header = match headers {
        true => reader.next_member(&scope)?,
        false => None,
    };
    let is_discriminator = header.as_ref().map(|header| header.id);
    if headers && is_discriminator != Some(UnionDescription::DISCRIMINATOR_ID) {
        return Err(reader.error(DecodeErrorKind::MalformedMemberHeader).into());
    }
    let value = read_label(&description.discriminator, &mut reader.clone())?;
    let is_unknown = || match &description.discriminator {
        Type::Enum(literals) => {
            i32::try_from(value).is_ok_and(|value| literals.literal(value).is_none())
        }
        _ => false,
    };
    // Of a literal that is not known it is not known either what follows.
    if reader.is_trying() && is_unknown() {
        if let Some(header) = header {
            reader.end_member(header);
        } else {
            read_label(&description.discriminator, reader)?;
        }
        reader.unknown_case(&scope, description.extensibility, value, "")?;
        reader.end_struct(scope);
        return Ok(());
    }
    each(Part::Discriminator(&description.discriminator), reader)?;
    if let Some(header) = header {
        reader.end_member(header);
    }
    let is_key = form == Form::Key && description.discriminator_key;
    let case = description.case(value).filter(|_| !is_key);
    let mut named = |case: &'d Case, reader: &mut Reader<'_>| {
        each(Part::Member(case), reader)
            .map_err(|error| error.within(&description.name, &case.member))
    };
    if headers {
        while let Some(header) = reader.next_member(&scope)? {
            match case.filter(|case| case.member.id == header.id) {
                Some(case) => named(case, reader)?,
                None => reader.skip_unknown(&header)?,
            }
            reader.end_member(header);
        }
    } else if let Some(case) = case {
        named(case, reader)?;
    }
    reader.end_struct(scope);
    Ok(())
}

/// The value of a discriminator. Those beyond `i64` select what no label selects.
fn read_label(ty: &Type, reader: &mut Reader<'_>) -> Result<i64, Error> {
    Ok(match ty {
        Type::Bool => reader.read_bool()?.into(),
        Type::I8 => reader.read_i8()?.into(),
        Type::U16 | Type::WChar => reader.read_u16()?.into(),
        Type::I16 => reader.read_i16()?.into(),
        Type::U32 => reader.read_u32()?.into(),
        Type::I32 => reader.read_i32()?.into(),
        Type::U64 => i64::try_from(reader.read_u64()?).unwrap_or(i64::MAX),
        Type::I64 => reader.read_i64()?,
        Type::Enum(description) => reader.read_enum(description.size())?.into(),
        _ => reader.read_u8()?.into(),
    })
}
