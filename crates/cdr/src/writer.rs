//! Values to bytes. Primitives, and the headers around structs, members and sequences.
//!
//! A writer knows no types: derived code, and code that follows a [`TypeDescription`] by itself,
//! call it member by member.
//!
//! [`TypeDescription`]: crate::TypeDescription

use alloc::vec::Vec;

use crate::dynamic::MAX_DEPTH;
use crate::layout::{LENGTH_SIZE, align};
use crate::{
    ByteOrder, EncodeError, EncodeErrorKind, Extensibility, LengthCode, Member, Representation,
    UnionDescription,
};

/// Appends encoded values to a buffer. Allocates only when the buffer grows.
///
/// A struct written by hand, with an optional member absent:
///
/// ```
/// use tickwire_cdr::{EncodeError, Extensibility, LengthCode, MemberHeader, Representation, Writer};
///
/// # fn main() -> Result<(), EncodeError> {
/// let mut bytes = Vec::new();
/// let mut writer = Writer::new(&mut bytes, Representation::Xcdr2);
/// let quote = writer.begin_struct(Extensibility::Appendable);
/// let price = writer.begin_member(&quote, MemberHeader::new(0, LengthCode::Eight));
/// writer.write_i64(10_125);
/// writer.end_member(price)?;
/// writer.absent_member(&quote, MemberHeader::new(1, LengthCode::Eight).optional());
/// writer.end_struct(quote)?;
/// assert_eq!(bytes, [9, 0, 0, 0, 0x8d, 0x27, 0, 0, 0, 0, 0, 0, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Writer<'a> {
    buffer: &'a mut Vec<u8>,
    origin: usize,
    representation: Representation,
    order: ByteOrder,
    plain: bool,
    /// Structs that are begun.
    depth: usize,
}

/// What a member's header tells. The header itself is written only where the encoding has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberHeader {
    id: u32,
    optional: bool,
    must_understand: bool,
    length_code: LengthCode,
}

impl MemberHeader {
    /// Of a member with this id (its low 28 bits), whose type has this length code.
    pub const fn new(id: u32, length_code: LengthCode) -> Self {
        Self {
            id,
            optional: false,
            must_understand: false,
            length_code,
        }
    }

    /// Of a union's discriminator, whose type has this length code.
    pub const fn of_discriminator(length_code: LengthCode) -> Self {
        Self::new(UnionDescription::DISCRIMINATOR_ID, length_code).must_understand()
    }

    /// The same of an optional member.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// The same of a member that readers must know. Key members do not say so, although XTypes
    /// asks for it: Connext cannot read it, and Cyclone DDS leaves it out for that reason.
    #[must_use]
    pub const fn must_understand(self) -> Self {
        Self {
            must_understand: true,
            ..self
        }
    }
}

impl From<&Member> for MemberHeader {
    fn from(member: &Member) -> Self {
        Self {
            id: member.id,
            optional: member.optional,
            must_understand: member.must_understand,
            length_code: member.ty.length_code(),
        }
    }
}

/// A struct that was begun.
#[derive(Debug)]
#[must_use = "a struct that is begun must be ended"]
pub struct StructMark {
    extensibility: Extensibility,
    length_at: Option<usize>,
}

/// A member that was begun.
#[derive(Debug)]
#[must_use = "a member that is begun must be ended"]
pub struct MemberMark {
    length_at: Option<usize>,
    origin: usize,
    padded: bool,
}

/// A sequence that was begun.
#[derive(Debug)]
#[must_use = "a sequence that is begun must be ended"]
pub struct SequenceMark {
    length_at: Option<usize>,
    count_at: Option<usize>,
}

impl<'a> Writer<'a> {
    /// Appends to `buffer`, little-endian. Alignment counts from its present end.
    pub fn new(buffer: &'a mut Vec<u8>, representation: Representation) -> Self {
        let origin = buffer.len();
        let order = ByteOrder::Little;
        Self {
            buffer,
            origin,
            representation,
            order,
            plain: false,
            depth: 0,
        }
    }

    /// The form that key hashes are made of (RTPS 2.5 §9.6.4.8): big-endian, no headers around
    /// structs, members in order of their ids.
    pub fn for_key_hash(buffer: &'a mut Vec<u8>, representation: Representation) -> Self {
        let order = ByteOrder::Big;
        Self {
            order,
            plain: true,
            ..Self::new(buffer, representation)
        }
    }

    /// Whether this writes the form that is hashed: see [`for_key_hash`](Self::for_key_hash).
    pub fn is_key_hash(&self) -> bool {
        self.plain
    }

    /// The version of the encoding.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// Begins a struct.
    #[inline]
    pub fn begin_struct(&mut self, extensibility: Extensibility) -> StructMark {
        self.depth += 1;
        let extensibility = if self.plain {
            Extensibility::Final
        } else {
            extensibility
        };
        let delimited =
            extensibility != Extensibility::Final && self.representation == Representation::Xcdr2;
        StructMark {
            extensibility,
            length_at: delimited.then(|| self.reserve_word()),
        }
    }

    /// Ends a struct: fills in its length, or ends its list of members.
    #[inline]
    pub fn end_struct(&mut self, mark: StructMark) -> Result<(), EncodeError> {
        self.check_depth()?;
        self.depth = self.depth.saturating_sub(1);
        if let Some(length_at) = mark.length_at {
            return self.fill_length(length_at);
        }
        if mark.extensibility == Extensibility::Mutable {
            self.align(LENGTH_SIZE);
            self.write_u16(XCDR1_MUST_UNDERSTAND | XCDR1_LIST_END);
            self.write_u16(0);
        }
        Ok(())
    }

    /// Begins a member that is present; its value is to be written next.
    ///
    /// Costs nothing in a final or appendable struct unless the member is optional.
    #[inline]
    pub fn begin_member(&mut self, mark: &StructMark, member: MemberHeader) -> MemberMark {
        let mutable = mark.extensibility == Extensibility::Mutable;
        let mut length_at = None;
        let origin = self.origin;
        match self.representation {
            Representation::Xcdr2 if mutable => length_at = self.write_member_header(member),
            Representation::Xcdr1 if mutable || member.optional => {
                length_at = Some(self.write_parameter_header(member));
                self.origin = self.buffer.len();
            }
            Representation::Xcdr2 if member.optional => self.write_bool(true),
            _ => {}
        }
        MemberMark {
            length_at,
            origin,
            padded: mutable && length_at.is_some(),
        }
    }

    /// Ends a member.
    #[inline]
    pub fn end_member(&mut self, mark: MemberMark) -> Result<(), EncodeError> {
        let Some(length_at) = mark.length_at else {
            return Ok(());
        };
        // Lengths in XCDR1 lists are multiples of 4: what RTPS parameter lists do and some peers
        // require, though XTypes 1.3 does not.
        if mark.padded && self.representation == Representation::Xcdr1 {
            self.align(LENGTH_SIZE);
        }
        self.origin = mark.origin;
        self.fill_length(length_at)
    }

    /// Says that an optional member is absent. A mutable struct says nothing.
    #[inline]
    pub fn absent_member(&mut self, mark: &StructMark, member: MemberHeader) {
        match self.representation {
            _ if mark.extensibility == Extensibility::Mutable => {}
            Representation::Xcdr1 => {
                self.write_parameter_header(member);
            }
            Representation::Xcdr2 => self.write_bool(false),
        }
    }

    /// Values of types that contain themselves nest no deeper than readers accept.
    #[inline]
    fn check_depth(&self) -> Result<(), EncodeError> {
        match self.depth > MAX_DEPTH + 1 {
            true => Err(EncodeError::new(EncodeErrorKind::TooDeep)),
            false => Ok(()),
        }
    }

    /// Writes a member that is present, and names it in the error if `encode` has one.
    ///
    /// # Errors
    /// That of `encode`; [`EncodeErrorKind::TooDeep`] in a struct that 65 others are around.
    #[inline]
    pub fn member(
        &mut self,
        mark: &StructMark,
        member: MemberHeader,
        name: &'static str,
        encode: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.check_depth()?;
        let member = self.begin_member(mark, member);
        encode(self).map_err(|error| error.within(name))?;
        self.end_member(member)
    }

    /// Begins a sequence whose length may be known only at its end.
    pub fn begin_sequence(&mut self, primitive_elements: bool) -> SequenceMark {
        self.begin_elements(true, primitive_elements)
    }

    /// Begins an array, whose length the type tells.
    pub fn begin_array(&mut self, primitive_elements: bool) -> SequenceMark {
        self.begin_elements(false, primitive_elements)
    }

    pub(crate) fn begin_elements(&mut self, counted: bool, primitive: bool) -> SequenceMark {
        let delimited = !primitive && self.representation == Representation::Xcdr2;
        let length_at = delimited.then(|| self.reserve_word());
        SequenceMark {
            length_at,
            count_at: counted.then(|| self.reserve_word()),
        }
    }

    /// Ends a sequence or an array of `count` elements.
    pub fn end_sequence(&mut self, mark: SequenceMark, count: usize) -> Result<(), EncodeError> {
        if let Some(count_at) = mark.count_at {
            let count = u32::try_from(count).map_err(|_| too_long())?;
            self.fill_word(count_at, count);
        }
        mark.length_at
            .map_or(Ok(()), |length_at| self.fill_length(length_at))
    }

    /// Writes a string of at most `bound` bytes, 0 for any length.
    pub fn write_string(&mut self, value: &str, bound: u32) -> Result<(), EncodeError> {
        let bytes = value.as_bytes();
        if bytes.contains(&0) {
            return Err(EncodeError::new(EncodeErrorKind::NulInString));
        }
        EncodeError::check_bound(bytes.len(), bound)?;
        let size = u32::try_from(bytes.len())
            .ok()
            .and_then(|length| length.checked_add(1));
        self.write_u32(size.ok_or_else(too_long)?);
        self.buffer.reserve(bytes.len() + 1);
        self.buffer.extend_from_slice(bytes);
        self.buffer.push(0);
        Ok(())
    }

    /// Writes a wide string of at most `bound` units of UTF-16, 0 for any length: the number of its
    /// bytes, then the units, without a NUL (XTypes 1.3 §7.4.3.5).
    pub fn write_wstring(&mut self, value: &str, bound: u32) -> Result<(), EncodeError> {
        if value.contains('\0') {
            return Err(EncodeError::new(EncodeErrorKind::NulInString));
        }
        let units = value.encode_utf16().count();
        EncodeError::check_bound(units, bound)?;
        let size = units
            .checked_mul(2)
            .and_then(|size| u32::try_from(size).ok());
        self.write_u32(size.ok_or_else(too_long)?);
        value.encode_utf16().for_each(|unit| self.write_u16(unit));
        Ok(())
    }

    /// Copies a value that starts with its length, in this writer's byte order.
    pub(crate) fn write_delimited(&mut self, value: &[u8]) {
        self.align(LENGTH_SIZE);
        self.buffer.extend_from_slice(value);
    }

    /// Writes a boolean.
    #[inline]
    pub fn write_bool(&mut self, value: bool) {
        self.write_u8(u8::from(value));
    }

    /// Writes the value of an enumeration whose bit bound asks for `size` bytes.
    #[inline]
    pub fn write_enum(&mut self, value: i32, size: usize) {
        let [a, b, c, d] = value.to_le_bytes();
        match size {
            1 => self.write_primitive([a]),
            2 => self.write_primitive([a, b]),
            _ => self.write_primitive([a, b, c, d]),
        }
    }

    /// Writes a bitmask whose bit bound asks for `size` bytes.
    #[inline]
    pub fn write_bits(&mut self, value: u64, size: usize) {
        let [a, b, c, d, ..] = value.to_le_bytes();
        match size {
            1 => self.write_primitive([a]),
            2 => self.write_primitive([a, b]),
            4 => self.write_primitive([a, b, c, d]),
            _ => self.write_u64(value),
        }
    }

    /// Writes primitives given in little-endian, back to back: one copy on most machines.
    #[inline]
    pub(crate) fn write_primitives<const SIZE: usize>(
        &mut self,
        values: impl ExactSizeIterator<Item = [u8; SIZE]>,
    ) {
        if values.len() == 0 {
            return;
        }
        self.align(self.representation.alignment(SIZE));
        let start = self.buffer.len();
        self.buffer.resize(start + values.len() * SIZE, 0);
        let (_, added) = self.buffer.split_at_mut(start);
        let (slots, _) = added.as_chunks_mut::<SIZE>();
        match self.order {
            ByteOrder::Little => slots
                .iter_mut()
                .zip(values)
                .for_each(|(slot, value)| *slot = value),
            ByteOrder::Big => slots.iter_mut().zip(values).for_each(|(slot, mut value)| {
                value.reverse();
                *slot = value;
            }),
        }
    }

    #[inline]
    fn write_primitive<const SIZE: usize>(&mut self, mut little: [u8; SIZE]) {
        self.align(self.representation.alignment(SIZE));
        if self.order == ByteOrder::Big {
            little.reverse();
        }
        self.buffer.extend_from_slice(&little);
    }

    #[inline]
    fn align(&mut self, alignment: usize) {
        let offset = self.buffer.len() - self.origin;
        let padded = align(offset, alignment);
        if padded != offset {
            self.buffer.resize(self.origin + padded, 0);
        }
    }

    /// `M LC(3) id(28)`, then the length for the code that says so (XTypes 1.3 §7.4.3.4.2).
    fn write_member_header(&mut self, member: MemberHeader) -> Option<usize> {
        let must_understand = u32::from(member.must_understand) << 31;
        let code = u32::from(member.length_code as u8) << 28;
        self.write_u32(must_understand | code | member.id & MEMBER_ID_MASK);
        (member.length_code == LengthCode::NextInt).then(|| self.reserve_word())
    }

    /// The extended parameter header, whatever the id (XTypes 1.3 §7.4.1.2.1): the length is not
    /// known yet when it is written.
    fn write_parameter_header(&mut self, member: MemberHeader) -> usize {
        self.align(LENGTH_SIZE);
        self.write_u16(XCDR1_MUST_UNDERSTAND | XCDR1_EXTENDED);
        self.write_u16(XCDR1_EXTENDED_SIZE);
        let must_understand = u32::from(member.must_understand) << 30;
        self.write_u32(must_understand | member.id & MEMBER_ID_MASK);
        self.reserve_word()
    }

    fn reserve_word(&mut self) -> usize {
        self.write_u32(0);
        self.buffer.len() - LENGTH_SIZE
    }

    /// Fills the word at `at` with the number of bytes after it.
    fn fill_length(&mut self, at: usize) -> Result<(), EncodeError> {
        let length = self.buffer.len() - at - LENGTH_SIZE;
        let length = u32::try_from(length).map_err(|_| too_long())?;
        self.fill_word(at, length);
        Ok(())
    }

    fn fill_word(&mut self, at: usize, value: u32) {
        let bytes = match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        };
        if let Some(word) = self
            .buffer
            .get_mut(at..)
            .and_then(|rest| rest.first_chunk_mut())
        {
            *word = bytes;
        }
    }
}

fn too_long() -> EncodeError {
    EncodeError::new(EncodeErrorKind::TooLong)
}

macro_rules! write_primitives {
    ($($name:ident $ty:ty),* $(,)?) => {
        impl Writer<'_> {
            $(
                #[doc = concat!("Writes one `", stringify!($ty), "`, aligned.")]
                #[inline]
                pub fn $name(&mut self, value: $ty) {
                    self.write_primitive(value.to_le_bytes());
                }
            )*
        }
    };
}

write_primitives! {
    write_u8 u8, write_i8 i8, write_u16 u16, write_i16 i16, write_u32 u32, write_i32 i32,
    write_u64 u64, write_i64 i64, write_f32 f32, write_f64 f64,
}

/// Bits of a member id.
pub(crate) const MEMBER_ID_MASK: u32 = 0x0fff_ffff;
/// Flag of a parameter id: who does not know it must drop the sample.
pub(crate) const XCDR1_MUST_UNDERSTAND: u16 = 0x4000;
/// Parameter id that says that a longer header follows.
pub(crate) const XCDR1_EXTENDED: u16 = 0x3f01;
/// Parameter id that ends a list.
pub(crate) const XCDR1_LIST_END: u16 = 0x3f02;
const XCDR1_EXTENDED_SIZE: u16 = 8;
