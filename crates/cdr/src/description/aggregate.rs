//! Structs and unions.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{InvalidDescription, Shared, Type};
use crate::Extensibility;

/// A struct type as data. A topic's type is always one.
#[derive(Clone, Debug)]
pub struct TypeDescription {
    /// Full name with `::` between modules.
    pub name: Shared<str>,
    /// How it may change.
    pub extensibility: Extensibility,
    /// Whether it is only for use inside others (`@nested`); only type objects tell.
    pub nested: bool,
    /// Whether member ids are hashes of names (`@autoid(HASH)`); only type objects tell.
    pub hash_ids: bool,
    /// Its members in order of definition.
    pub members: Shared<[Member]>,
}

/// A member of a struct or a union.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name.
    pub name: Shared<str>,
    /// Its id, below 2^28 - 1, unique in the struct.
    pub id: u32,
    /// Whether it is part of the key. Key members are not optional.
    pub key: bool,
    /// Whether it can be absent.
    pub optional: bool,
    /// Whether a reader that does not know it must drop the sample (mutable structs only). True of
    /// key members without being said (XTypes 1.3 §7.2.2.4.4.4.8).
    pub must_understand: bool,
    /// Whether it is stored apart from its struct (`@external`); only type objects tell.
    pub external: bool,
    /// What its id is the hash of (`@hashid`), empty for its own name; only type objects tell.
    pub hash_id: Option<Shared<str>>,
    /// What a reader does with a value that this type cannot hold.
    pub try_construct: TryConstruct,
    /// Its type.
    pub ty: Type,
}

/// What a reader makes of a member whose value in a sample its own type cannot hold (`@try_construct`, XTypes 1.3 §7.2.2.7): a
/// text, sequence or map longer than its bound, a literal that the enumeration does not have, a union whose discriminator
/// is such a literal, or whatever has such a value in it. Bytes that are no value of any type, such as text that is not
/// UTF-8, are an error all the same, and so is a union by such a literal whose end is not told: a final one, and in XCDR1 an
/// appendable one. What tells a payload by its description alone, as a filter does, has no value where there was none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TryConstruct {
    /// What the member is in cannot be had either: of a topic's type, the sample is dropped.
    #[default]
    Discard,
    /// The member's default: zero, empty, the first literal, absent, or what `@default` says.
    UseDefault,
    /// As much of a text, sequence or map as its bound allows, from its beginning, with no character cut in two. What is
    /// wrong with anything else, or with what is in it, is as with [`Discard`](Self::Discard).
    Trim,
}

/// A union as data (XTypes 1.3 §7.2.2.4.3): a discriminator, and the one member that it selects.
#[derive(Clone, Debug)]
pub struct UnionDescription {
    /// Full name with `::` between modules.
    pub name: Shared<str>,
    /// How it may change.
    pub extensibility: Extensibility,
    /// Whether it is only for use inside others (`@nested`); only type objects tell.
    pub nested: bool,
    /// Type of the discriminator: an integer, boolean, octet, char or enumeration.
    pub discriminator: Type,
    /// Whether the discriminator alone is the union's part of a key.
    pub discriminator_key: bool,
    /// Its members. A value of the discriminator that selects none is a union without a member.
    pub cases: Shared<[Case]>,
}

/// A member of a union, and when it is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The member.
    pub member: Member,
    /// Values of the discriminator that select it.
    pub labels: Shared<[i32]>,
    /// Whether all values that select no other member select this one.
    pub default: bool,
}

impl TypeDescription {
    /// A description made at run time. Checks what the derive checks at compile time, in
    /// quadratic time of the number of members.
    ///
    /// # Errors
    /// The first rule of XTypes that it breaks.
    pub fn new(
        name: &str,
        extensibility: Extensibility,
        members: Vec<Member>,
    ) -> Result<Self, InvalidDescription> {
        if members.is_empty() {
            return Err(InvalidDescription::NoMember);
        }
        for (index, member) in members.iter().enumerate() {
            let earlier = members.iter().take(index);
            if earlier.clone().any(|other| other.id == member.id) {
                return Err(InvalidDescription::DuplicateId(member.id));
            }
            member.check(earlier)?;
            if member.key && member.optional {
                return Err(InvalidDescription::OptionalKey(member.name.clone()));
            }
        }
        Ok(Self {
            name: name.into(),
            extensibility,
            nested: false,
            hash_ids: false,
            members: members.into(),
        })
    }

    /// Whether any member is part of the key.
    pub fn has_key(&self) -> bool {
        self.members.iter().any(|member| member.key)
    }
}

impl UnionDescription {
    /// Id of the discriminator where members have headers (mutable unions).
    pub const DISCRIMINATOR_ID: u32 = 0;

    /// A description made at run time. Checks what the derive checks at compile time.
    ///
    /// # Errors
    /// The first rule of XTypes that it breaks.
    pub fn new(
        name: &str,
        extensibility: Extensibility,
        discriminator: Type,
        cases: Vec<Case>,
    ) -> Result<Self, InvalidDescription> {
        if !discriminator.is_discriminator() {
            return Err(InvalidDescription::Discriminator);
        }
        if cases.is_empty() {
            return Err(InvalidDescription::NoMember);
        }
        let mut labels = BTreeSet::new();
        for (index, case) in cases.iter().enumerate() {
            let earlier = || cases.iter().take(index);
            let member = &case.member;
            let headers = extensibility == Extensibility::Mutable;
            if earlier().any(|other| other.member.id == member.id)
                || headers && member.id == Self::DISCRIMINATOR_ID
            {
                return Err(InvalidDescription::DuplicateId(member.id));
            }
            member.check(earlier().map(|other| &other.member))?;
            if case.labels.is_empty() && !case.default {
                return Err(InvalidDescription::NoLabel(member.name.clone()));
            }
            if case.default && earlier().any(|other| other.default) {
                return Err(InvalidDescription::TwoDefaults);
            }
            if let Some(label) = case.labels.iter().find(|label| !labels.insert(**label)) {
                return Err(InvalidDescription::DuplicateLabel(*label));
            }
        }
        Ok(Self {
            name: name.into(),
            extensibility,
            nested: false,
            discriminator,
            discriminator_key: false,
            cases: cases.into(),
        })
    }

    /// The member that a value of the discriminator selects.
    pub fn case(&self, discriminator: i64) -> Option<&Case> {
        let selected = |case: &&Case| case.labels.iter().any(|&l| i64::from(l) == discriminator);
        let default = || self.cases.iter().find(|case| case.default);
        self.cases.iter().find(selected).or_else(default)
    }
}

impl Member {
    /// The largest member id (XTypes 1.3 §7.3.1.2.1.1: the highest are reserved).
    pub const MAX_ID: u32 = 0x0fff_fffe;

    /// A member that is neither key nor optional.
    pub fn new(name: &str, id: u32, ty: Type) -> Self {
        Self {
            name: name.into(),
            id,
            key: false,
            optional: false,
            must_understand: false,
            external: false,
            hash_id: None,
            try_construct: TryConstruct::Discard,
            ty,
        }
    }

    /// What must hold of a member of a struct or a union.
    fn check<'a>(
        &self,
        mut earlier: impl Iterator<Item = &'a Self>,
    ) -> Result<(), InvalidDescription> {
        if earlier.any(|other| other.name == self.name) {
            return Err(InvalidDescription::DuplicateName(self.name.clone()));
        }
        if self.id > Self::MAX_ID {
            return Err(InvalidDescription::IdTooLarge(self.id));
        }
        self.ty.check(&self.name)
    }
}

impl Type {
    /// Arrays have elements, hence every value takes a byte at least; keys of maps can be compared.
    fn check(&self, member: &Shared<str>) -> Result<(), InvalidDescription> {
        match self {
            Self::Array { length: 0, .. } => Err(InvalidDescription::EmptyArray(member.clone())),
            Self::Array { element, .. } | Self::Sequence { element, .. } => element.check(member),
            Self::Map { key, .. } if !key.is_map_key() => {
                Err(InvalidDescription::MapKey(member.clone()))
            }
            Self::Map { value, .. } => value.check(member),
            _ => Ok(()),
        }
    }

    /// Whether maps can have keys of this type (XTypes 1.3 §7.2.2.4.6.3: integers and strings; to
    /// which we add what has no parts).
    pub fn is_map_key(&self) -> bool {
        matches!(self, Self::String { .. } | Self::WString { .. }) || self.is_discriminator()
    }

    /// Whether a union can be discriminated by this type (XTypes 1.3 §7.2.2.4.3).
    pub fn is_discriminator(&self) -> bool {
        let is_number = !matches!(
            self,
            Self::Bitmask(_) | Self::Bitset(_) | Self::F32 | Self::F64
        );
        is_number && self.scalar_size().is_some()
    }
}
