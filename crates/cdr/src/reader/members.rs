//! Structs and their members, with or without headers.

use super::Reader;
use crate::dynamic::MAX_DEPTH;
use crate::layout::LENGTH_SIZE;
use crate::writer::{MEMBER_ID_MASK, XCDR1_EXTENDED, XCDR1_LIST_END, XCDR1_MUST_UNDERSTAND};
use crate::{
    Decode, DecodeError, DecodeErrorKind, Extensibility, Representation, UnionDescription,
};

/// A struct that is being read.
#[derive(Debug)]
#[must_use = "a struct that is begun must be ended"]
pub struct StructScope {
    delimited: bool,
    /// Whether missing members at the end are a shorter version of the type, not an error.
    may_end: bool,
    outer_limit: usize,
}

/// A member with a header that is being read.
#[derive(Debug)]
#[must_use = "a member that is begun must be ended"]
pub struct MemberScope {
    /// Its id.
    pub id: u32,
    /// Whether a type that does not know it must reject the sample.
    pub must_understand: bool,
    delimited: bool,
    outer_limit: usize,
    outer_origin: usize,
}

/// A parameter header of XCDR1 or a member header of XCDR2.
struct Header {
    /// `None` ends the list.
    id: Option<u32>,
    must_understand: bool,
    length: usize,
}

impl Reader<'_> {
    /// Begins a struct.
    #[inline]
    pub fn begin_struct(
        &mut self,
        extensibility: Extensibility,
    ) -> Result<StructScope, DecodeError> {
        // A type that contains itself would nest as deep as its payload is long.
        if self.depth > MAX_DEPTH {
            return Err(self.error(DecodeErrorKind::TooDeep));
        }
        self.depth += 1;
        let outer_limit = self.limit();
        let delimited =
            extensibility != Extensibility::Final && self.representation == Representation::Xcdr2;
        // XCDR1 does not delimit appendable structs: only the outermost one can tell that it is
        // short.
        let may_end = extensibility != Extensibility::Final && (delimited || self.position == 0);
        if delimited {
            self.begin_delimited()?;
        }
        Ok(StructScope {
            delimited,
            may_end,
            outer_limit,
        })
    }

    /// Ends a struct, skipping the members that this type does not have.
    #[inline]
    pub fn end_struct(&mut self, scope: StructScope) {
        self.depth = self.depth.saturating_sub(1);
        if scope.delimited {
            self.leave(scope.outer_limit);
        }
    }

    /// Whether another member follows in a final or appendable struct. An older version of an
    /// appendable type has fewer.
    #[inline]
    pub fn has_member(&self, scope: &StructScope) -> bool {
        !scope.may_end || self.position < self.limit()
    }

    /// Begins an optional member of a final or appendable struct; `None` when it is absent.
    #[inline]
    pub fn begin_optional(&mut self, id: u32) -> Result<Option<MemberScope>, DecodeError> {
        let (outer_limit, outer_origin) = (self.limit(), self.origin);
        if self.representation == Representation::Xcdr2 {
            let scope = MemberScope {
                id,
                must_understand: false,
                delimited: false,
                outer_limit,
                outer_origin,
            };
            return Ok(self.read_bool()?.then_some(scope));
        }
        let header = self.read_parameter_header()?;
        if header.id != Some(id) {
            return Err(self.error(DecodeErrorKind::MalformedMemberHeader));
        }
        self.begin_member(header)
    }

    /// Begins the next member of a mutable struct; `None` at its end.
    pub fn next_member(&mut self, scope: &StructScope) -> Result<Option<MemberScope>, DecodeError> {
        self.next_member_with(scope, |_| false)
    }

    /// The same where values of members with some ids [have no bytes](Decode::IS_EMPTY).
    #[inline]
    pub fn next_member_with(
        &mut self,
        scope: &StructScope,
        is_empty: impl Fn(u32) -> bool,
    ) -> Result<Option<MemberScope>, DecodeError> {
        loop {
            if scope.delimited && self.position == self.limit() {
                return Ok(None);
            }
            let header = match self.representation {
                Representation::Xcdr1 => self.read_parameter_header()?,
                Representation::Xcdr2 => self.read_member_header()?,
            };
            match header.id {
                None => return Ok(None),
                Some(id) if header.length == 0 && is_empty(id) => {
                    return self.enter_member(id, &header).map(Some);
                }
                // An empty value in an XCDR1 list is an optional member that is absent.
                Some(_) => match self.begin_member(header)? {
                    None => {}
                    member => return Ok(member),
                },
            }
        }
    }

    /// Ends a member, wherever in its value reading stopped.
    #[inline]
    pub fn end_member(&mut self, scope: MemberScope) {
        if scope.delimited {
            self.leave(scope.outer_limit);
            self.origin = scope.outer_origin;
        }
    }

    /// Rejects the sample if a member that the type does not have was marked as indispensable.
    pub fn skip_unknown(&self, member: &MemberScope) -> Result<(), DecodeError> {
        match member.must_understand {
            true => Err(self.error(DecodeErrorKind::MustUnderstand { id: member.id })),
            false => Ok(()),
        }
    }

    /// Reads a member of a final or appendable struct, or sets it to what a member has that the
    /// writer does not know.
    #[inline(always)]
    pub fn member<T: Decode>(
        &mut self,
        scope: &StructScope,
        name: &'static str,
        value: &mut T,
        decode: impl FnOnce(&mut T, &mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        if self.has_member(scope) {
            decode(value, self).map_err(|error| error.within(name))
        } else {
            *value = T::initial();
            Ok(())
        }
    }

    /// Reads an optional member of a final or appendable struct.
    #[inline]
    pub fn optional_member<T: Decode>(
        &mut self,
        scope: &StructScope,
        id: u32,
        name: &'static str,
        value: &mut Option<T>,
        decode: impl FnOnce(&mut T, &mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let member = match self.has_member(scope) {
            true => self
                .begin_optional(id)
                .map_err(|error| error.within(name))?,
            false => None,
        };
        let Some(member) = member else {
            *value = None;
            return Ok(());
        };
        let value = value.get_or_insert_with(T::initial);
        decode(value, self).map_err(|error| error.within(name))?;
        self.end_member(member);
        Ok(())
    }

    /// Reads the discriminator of a union, the first member of it; `None` if its type does not have that value and
    /// the union is passed over, which [`unknown_case`](Self::unknown_case) says when it is.
    pub fn discriminator<T: Decode>(
        &mut self,
        scope: &StructScope,
        extensibility: Extensibility,
        name: &'static str,
    ) -> Result<Option<T>, DecodeError> {
        let mut value = T::initial();
        let member = match extensibility {
            Extensibility::Mutable => {
                let member = self.next_member(scope)?;
                let id = UnionDescription::DISCRIMINATOR_ID;
                let found = member.filter(|member| member.id == id);
                let malformed = DecodeErrorKind::MalformedMemberHeader;
                Some(found.ok_or_else(|| self.error(malformed).within(name))?)
            }
            _ => None,
        };
        let tries = self.tries;
        if !scope.delimited && extensibility != Extensibility::Mutable {
            self.tries = 0;
        }
        let tried = self.is_trying().then(|| self.begin_try());
        value
            .decode_into(self)
            .map_err(|error| error.within(name))?;
        let is_unknown = tried.is_some_and(|tried| self.end_try(tried));
        self.tries = tries;
        if let Some(member) = member {
            self.end_member(member);
        }
        if is_unknown {
            self.skip_union(scope)?;
            return Ok(None);
        }
        Ok(Some(value))
    }

    /// A discriminator selects no member of a union.
    ///
    /// # Errors
    /// That it does, unless a member is being tried and it is known where the union ends, as that of a mutable one and, in
    /// XCDR2, of an appendable one is: then it is noted, and what there is of the union passed over.
    pub fn unknown_case(
        &mut self,
        scope: &StructScope,
        extensibility: Extensibility,
        label: i64,
        name: &'static str,
    ) -> Result<(), DecodeError> {
        let has_end = scope.delimited || extensibility == Extensibility::Mutable;
        if !self.is_trying() || !has_end {
            let error = self.error(DecodeErrorKind::UnknownCase(label));
            return Err(error.within(name));
        }
        self.skip_union(scope)
    }

    /// Notes that a union cannot be had, and passes over its members if its end does not tell them.
    fn skip_union(&mut self, scope: &StructScope) -> Result<(), DecodeError> {
        self.failed = true;
        match scope.delimited {
            true => Ok(()),
            false => self.skip_members(scope),
        }
    }

    /// Reads the member of a union that its discriminator selects; false if it is missing, which only in a
    /// mutable union it may be.
    pub fn union_member<T>(
        &mut self,
        scope: &StructScope,
        extensibility: Extensibility,
        id: u32,
        name: &'static str,
        value: &mut T,
        decode: impl Fn(&mut T, &mut Self) -> Result<(), DecodeError>,
    ) -> Result<bool, DecodeError> {
        if extensibility != Extensibility::Mutable {
            decode(value, self).map_err(|error| error.within(name))?;
            return Ok(true);
        }
        let mut found = false;
        while let Some(member) = self.next_member(scope)? {
            if member.id == id {
                decode(value, self).map_err(|error| error.within(name))?;
                found = true;
            } else {
                self.skip_unknown(&member)?;
            }
            self.end_member(member);
        }
        Ok(found)
    }

    /// Passes over the members that are left of a mutable struct or union.
    pub fn skip_members(&mut self, scope: &StructScope) -> Result<(), DecodeError> {
        while let Some(member) = self.next_member(scope)? {
            self.skip_unknown(&member)?;
            self.end_member(member);
        }
        Ok(())
    }

    /// Begins the value after a header; `None` when it is empty.
    fn begin_member(&mut self, header: Header) -> Result<Option<MemberScope>, DecodeError> {
        match (header.id, header.length) {
            (Some(id), 1..) => self.enter_member(id, &header).map(Some),
            _ => Ok(None),
        }
    }

    fn enter_member(&mut self, id: u32, header: &Header) -> Result<MemberScope, DecodeError> {
        let must_understand = header.must_understand;
        let (outer_limit, outer_origin) = (self.limit(), self.origin);
        self.narrow(header.length)?;
        if self.representation == Representation::Xcdr1 {
            self.origin = self.position;
        }
        Ok(MemberScope {
            id,
            must_understand,
            delimited: true,
            outer_limit,
            outer_origin,
        })
    }

    /// Short and extended parameter headers of XCDR1 (XTypes 1.3 §7.4.1.2.1):
    ///
    /// ```text
    /// |I M id(14)     |length (16)    |   or   |I M 0x3f01 |8 | . M . . id(28) |length (32) |
    /// ```
    fn read_parameter_header(&mut self) -> Result<Header, DecodeError> {
        self.align(LENGTH_SIZE)?;
        let start = self.position;
        let first = self.read_u16()?;
        let length = self.read_u16()?;
        let must_understand = first & XCDR1_MUST_UNDERSTAND != 0;
        match first & XCDR1_ID_MASK {
            XCDR1_LIST_END => Ok(Header {
                id: None,
                must_understand,
                length: 0,
            }),
            XCDR1_EXTENDED if length < XCDR1_EXTENDED_SIZE => Err(DecodeError::new(
                DecodeErrorKind::MalformedMemberHeader,
                start,
            )),
            XCDR1_EXTENDED => {
                let word = self.read_u32()?;
                let length = usize::try_from(self.read_u32()?).unwrap_or(usize::MAX);
                let must_understand = word & XCDR1_EXTENDED_MUST_UNDERSTAND != 0;
                Ok(Header {
                    id: Some(word & MEMBER_ID_MASK),
                    must_understand,
                    length,
                })
            }
            id => Ok(Header {
                id: Some(id.into()),
                must_understand,
                length: length.into(),
            }),
        }
    }

    /// Member header of XCDR2 (XTypes 1.3 §7.4.3.4.2). With length codes 5 to 7 the length is also
    /// the first word of the value.
    ///
    /// ```text
    /// |M|LC(3)|id(28)                  |length (32) with LC 4|
    /// ```
    fn read_member_header(&mut self) -> Result<Header, DecodeError> {
        let word = self.read_u32()?;
        let length = match (word >> 28) & 7 {
            code @ 0..=3 => 1 << code,
            4 => usize::try_from(self.read_u32()?).unwrap_or(usize::MAX),
            code => {
                let unit = match code {
                    5 => 1,
                    6 => 4,
                    _ => 8,
                };
                let count = usize::try_from(self.clone().read_u32()?).unwrap_or(usize::MAX);
                count.saturating_mul(unit).saturating_add(LENGTH_SIZE)
            }
        };
        Ok(Header {
            id: Some(word & MEMBER_ID_MASK),
            must_understand: word >> 31 == 1,
            length,
        })
    }
}

const XCDR1_ID_MASK: u16 = 0x3fff;
const XCDR1_EXTENDED_SIZE: u16 = 8;
const XCDR1_EXTENDED_MUST_UNDERSTAND: u32 = 1 << 30;
