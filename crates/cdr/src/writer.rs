//! Values to bytes. Primitives, and the headers around structs, members and sequences.
//!
//! A writer knows no types: derived code, and code that follows a [`TypeDescription`] by itself,
//! call it member by member.
//!
//! [`TypeDescription`]: crate::TypeDescription

use alloc::vec::Vec;

use tickwire_base::copy;

use crate::dynamic::MAX_DEPTH;
use crate::layout::{LENGTH_SIZE, align};
use crate::{
    ByteOrder, Encapsulation, EncodeError, EncodeErrorKind, Extensibility, LengthCode, Member,
    Representation, Run, UnionDescription,
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
    /// What is written, and zeros after it.
    buffer: &'a mut Vec<u8>,
    /// Where the next value begins, before it is aligned.
    end: usize,
    /// How many zeros there may be: a value that fits into them costs no call.
    ahead: usize,
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
    /// Zeros that cost less to write than a call.
    pub(crate) const AHEAD_AT_ONCE: usize = 128;

    /// Appends to `buffer`, little-endian. Alignment counts from its present end.
    pub fn new(buffer: &'a mut Vec<u8>, representation: Representation) -> Self {
        let end = buffer.len();
        Self::from(end, buffer, representation)
    }

    /// The same from `origin` on, for whoever puts zeros there.
    fn from(origin: usize, buffer: &'a mut Vec<u8>, representation: Representation) -> Self {
        Self {
            buffer,
            end: origin,
            ahead: 0,
            origin,
            representation,
            order: ByteOrder::Little,
            plain: false,
            depth: 0,
        }
    }

    /// Appends `header` to `buffer`, and then what is written, [ahead](Self::ahead). The first zeros are there: to
    /// have them with the header costs less than a call for them.
    #[inline]
    pub(crate) fn after(
        header: &[u8; Encapsulation::SIZE],
        buffer: &'a mut Vec<u8>,
        representation: Representation,
    ) -> Self {
        let origin = buffer.len() + header.len();
        buffer.extend_from_slice(&[0; Encapsulation::SIZE + Self::AHEAD_AT_ONCE]);
        let room = buffer.get_mut(origin - header.len()..);
        if let Some(room) = room.and_then(|room| room.first_chunk_mut()) {
            *room = *header;
        }
        Self::from(origin, buffer, representation).ahead()
    }

    /// The same for whoever calls [`finish`](Self::finish) before the buffer is looked at.
    pub(crate) fn ahead(self) -> Self {
        Self {
            ahead: AHEAD,
            ..self
        }
    }

    /// Takes back the zeros after what was written.
    pub(crate) fn finish(self) {
        match self.end <= self.buffer.len() {
            true => self.buffer.truncate(self.end),
            false => self.buffer.resize(self.end, 0),
        }
    }

    /// The same, but for as many zeros as make what was written since `start` a multiple of four; says how many.
    #[inline]
    pub(crate) fn finish_padded(self, start: usize) -> usize {
        let padding = start.wrapping_sub(self.end) & 3;
        let end = self.end + padding;
        Self { end, ..self }.finish();
        padding
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

    /// The same in place of what `buffer` has, for whoever calls [`finish`](Self::finish) before that is looked at.
    #[inline]
    pub(crate) fn of_key(buffer: &'a mut Vec<u8>, representation: Representation) -> Self {
        buffer.clear();
        buffer.extend_from_slice(&[0; Self::AHEAD_AT_ONCE]);
        Self {
            end: 0,
            origin: 0,
            ..Self::for_key_hash(buffer, representation).ahead()
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
            self.write_list_end();
        }
        Ok(())
    }

    fn write_list_end(&mut self) {
        self.align(LENGTH_SIZE);
        self.write_u16(XCDR1_MUST_UNDERSTAND | XCDR1_LIST_END);
        self.write_u16(0);
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
                self.origin = self.end;
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
    #[inline]
    pub fn begin_sequence(&mut self, primitive_elements: bool) -> SequenceMark {
        self.begin_elements(true, primitive_elements)
    }

    /// Begins an array, whose length the type tells.
    #[inline]
    pub fn begin_array(&mut self, primitive_elements: bool) -> SequenceMark {
        self.begin_elements(false, primitive_elements)
    }

    #[inline]
    pub(crate) fn begin_elements(&mut self, counted: bool, primitive: bool) -> SequenceMark {
        let delimited = !primitive && self.representation == Representation::Xcdr2;
        let length_at = delimited.then(|| self.reserve_word());
        SequenceMark {
            length_at,
            count_at: counted.then(|| self.reserve_word()),
        }
    }

    /// Ends a sequence or an array of `count` elements.
    #[inline]
    pub fn end_sequence(&mut self, mark: SequenceMark, count: usize) -> Result<(), EncodeError> {
        if let Some(count_at) = mark.count_at {
            let count = u32::try_from(count).map_err(|_| too_long())?;
            self.fill_word(count_at, count);
        }
        mark.length_at
            .map_or(Ok(()), |length_at| self.fill_length(length_at))
    }

    /// Writes a string of at most `bound` bytes, 0 for any length.
    #[inline(always)]
    pub fn write_string(&mut self, value: &str, bound: u32) -> Result<(), EncodeError> {
        let text = value.as_bytes();
        EncodeError::check_bound(text.len(), bound)?;
        // A code or a flag: its length, itself and the NUL, which is one of the zeros, in one word.
        if let [byte] = text
            && self.write_code(*byte).is_some()
        {
            return Ok(());
        }
        match self.write_short_string(text) {
            Some(()) => Ok(()),
            None => self.apart(|writer| writer.write_any_string(text)),
        }
    }

    /// Calls what is not inlined with a copy of this writer: were this one passed, no place of it
    /// could stay in a register in what is around.
    #[inline(always)]
    fn apart<R>(&mut self, call: impl FnOnce(&mut Writer<'_>) -> R) -> R {
        let mut copy = Writer {
            buffer: &mut *self.buffer,
            ..*self
        };
        let result = call(&mut copy);
        self.end = copy.end;
        result
    }

    #[inline(always)]
    fn write_code(&mut self, byte: u8) -> Option<()> {
        let at = self.aligned(LENGTH_SIZE);
        let room = self.buffer.get_mut(at..)?.first_chunk_mut()?;
        if byte == 0 || self.order == ByteOrder::Big {
            return None;
        }
        *room = (2 | u64::from(byte) << 32).to_le_bytes();
        self.end = at + LENGTH_SIZE + 2;
        Some(())
    }

    #[inline(never)]
    fn write_any_string(&mut self, text: &[u8]) -> Result<(), EncodeError> {
        if text.contains(&0) {
            return Err(EncodeError::new(EncodeErrorKind::NulInString));
        }
        let size = u32::try_from(text.len() + 1).map_err(|_| too_long())?;
        self.write_u32(size);
        copy::copy(text, self.room(1, text.len()));
        self.write_u8(0);
        Ok(())
    }

    /// The same if it is short and there are enough zeros to put all words of a short one there,
    /// which costs less than the calls that any string takes: to look for a NUL, and to copy it.
    #[inline(always)]
    fn write_short_string(&mut self, text: &[u8]) -> Option<()> {
        let at = self.aligned(LENGTH_SIZE);
        let room = self.buffer.get_mut(at..)?;
        let room = room.first_chunk_mut::<{ LENGTH_SIZE + MAX_SHORT }>()?;
        let words = short_words(text)?;
        let size = u32::try_from(text.len() + 1).ok()?;
        let (length, room) = room.split_first_chunk_mut()?;
        *length = match self.order {
            ByteOrder::Little => size.to_le_bytes(),
            ByteOrder::Big => size.to_be_bytes(),
        };
        let (rooms, _) = room.as_chunks_mut();
        for (room, word) in rooms.iter_mut().zip(words) {
            *room = word.to_le_bytes();
        }
        // The NUL is one of the zeros.
        self.end = at + LENGTH_SIZE + text.len() + 1;
        Some(())
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
        copy::copy(value, self.room(LENGTH_SIZE, value.len()));
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
            1 => self.write_u8(a),
            2 => self.write_u16(u16::from_le_bytes([a, b])),
            _ => self.write_u32(u32::from_le_bytes([a, b, c, d])),
        }
    }

    /// Writes a bitmask whose bit bound asks for `size` bytes.
    #[inline]
    pub fn write_bits(&mut self, value: u64, size: usize) {
        let [a, b, c, d, ..] = value.to_le_bytes();
        match size {
            1 => self.write_u8(a),
            2 => self.write_u16(u16::from_le_bytes([a, b])),
            4 => self.write_u32(u32::from_le_bytes([a, b, c, d])),
            _ => self.write_u64(value),
        }
    }

    /// Writes numbers that follow each other: see [`Run`].
    #[inline]
    pub fn run<R: Run>(&mut self, values: R) {
        let order = self.order;
        let room = self.room(self.representation.alignment(R::ALIGNMENT), R::SIZE);
        match order {
            ByteOrder::Little => values.put(room, 0, MAX_ALIGNMENT, ByteOrder::Little),
            ByteOrder::Big => values.put(room, 0, MAX_ALIGNMENT, ByteOrder::Big),
        }
    }

    /// Writes structs of this extensibility, which consist of numbers alone, of which `run` tells
    /// those of each. Tells how many it has written: the others are to be written one by one.
    #[inline]
    pub fn runs<T, R: Run>(
        &mut self,
        extensibility: Extensibility,
        values: &[T],
        run: impl Fn(&T) -> R,
    ) -> usize {
        if self.order == ByteOrder::Big || self.depth > MAX_DEPTH {
            return 0;
        }
        match (self.representation, extensibility) {
            (_, Extensibility::Mutable) => 0,
            (Representation::Xcdr2, Extensibility::Appendable) => {
                let length = R::end(LENGTH_SIZE, 4) - LENGTH_SIZE;
                match u32::try_from(length) {
                    Ok(length) => {
                        self.runs_aligned::<4, T, _>(values, |value| (length, run(value)))
                    }
                    Err(_) => 0,
                }
            }
            (Representation::Xcdr2, Extensibility::Final) => {
                self.runs_aligned::<4, T, R>(values, run)
            }
            (Representation::Xcdr1, _) => self.runs_aligned::<8, T, R>(values, run),
        }
    }

    /// The same of structs whose members are aligned to `MAX` bytes at most.
    #[inline(always)]
    fn runs_aligned<const MAX: usize, T, R: Run>(
        &mut self,
        values: &[T],
        run: impl Fn(&T) -> R,
    ) -> usize {
        let len = R::end(0, MAX);
        let stride = align(len, R::ALIGNMENT.min(MAX));
        let mut rest = values;
        while let Some((value, others)) = rest.split_first() {
            let phase = (self.end - self.origin) % MAX;
            if let Some((_, part)) = rest.split_last()
                && phase == 0
                && stride.is_multiple_of(MAX)
                && !part.is_empty()
            {
                // All have the same layout, and all but the last the same bytes.
                self.buffer.truncate(self.end);
                self.buffer.reserve(part.len() * stride + len);
                self.write_parts(part, stride, |values, room| {
                    for (value, room) in values.iter().zip(room.chunks_exact_mut(stride)) {
                        run(value).put(room, 0, MAX, ByteOrder::Little);
                    }
                });
                rest = rest.get(part.len()..).unwrap_or_default();
            } else {
                let from = self.end - phase;
                self.room(1, R::end(phase, MAX) - phase);
                let room = self.buffer.get_mut(from..self.end).unwrap_or_default();
                run(value).put(room, phase, MAX, ByteOrder::Little);
                rest = others;
            }
        }
        values.len()
    }

    /// Writes numbers of `size` bytes each back to back, whose bytes `little` has, each little-endian.
    pub fn write_numbers(&mut self, size: usize, little: &[u8]) {
        if little.is_empty() || size == 0 {
            return;
        }
        self.align(self.representation.alignment(size));
        let start = self.end;
        self.write_bytes(little);
        if self.order == ByteOrder::Big {
            let written = self.buffer.get_mut(start..self.end).unwrap_or_default();
            written.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
    }

    /// Writes bytes back to back.
    #[inline]
    pub(crate) fn write_bytes(&mut self, values: &[u8]) {
        let end = self.end + values.len();
        if let Some(room) = self.buffer.get_mut(self.end..end) {
            copy::copy(values, room);
            self.end = end;
            return;
        }
        self.buffer.resize(self.end, 0);
        copy::append(self.buffer, values);
        self.end = self.buffer.len();
    }

    /// Writes primitives back to back.
    #[inline]
    pub(crate) fn write_primitives<T, const SIZE: usize>(
        &mut self,
        values: &[T],
        to_bytes: impl Fn(&T) -> [u8; SIZE],
    ) {
        if values.is_empty() {
            return;
        }
        self.buffer.truncate(self.end);
        self.buffer.reserve(values.len() * SIZE + SIZE);
        self.align(self.representation.alignment(SIZE));
        let order = self.order;
        self.write_parts(values, SIZE, |values, room| {
            let slots = room.as_chunks_mut::<SIZE>().0.iter_mut().zip(values);
            match order {
                ByteOrder::Little => slots.for_each(|(slot, value)| *slot = to_bytes(value)),
                ByteOrder::Big => slots.for_each(|(slot, value)| {
                    *slot = to_bytes(value);
                    slot.reverse();
                }),
            }
        });
    }

    /// Writes values of `size` bytes each back to back; `put` puts some into as much room, which is zeros but for what
    /// it has put there before.
    #[inline(always)]
    fn write_parts<T>(&mut self, values: &[T], size: usize, put: impl Fn(&[T], &mut [u8])) {
        if values.len() * size <= PART || size > PART {
            return put(values, self.room(1, values.len() * size));
        }
        // Room of the buffer's own would be zeroed before it is written, which takes longer than to copy where it is
        // in no cache.
        let mut bytes = [0; PART];
        for values in values.chunks((PART / size).max(1)) {
            let room = bytes.get_mut(..values.len() * size).unwrap_or_default();
            put(values, room);
            self.write_bytes(room);
        }
    }

    #[inline]
    fn write_primitive<const SIZE: usize>(&mut self, little: [u8; SIZE], big: [u8; SIZE]) {
        let bytes = self.order.bytes(little, big);
        let room = self.room(self.representation.alignment(SIZE), SIZE);
        if let Some(room) = room.first_chunk_mut() {
            *room = bytes;
        }
    }

    /// Where the next value of this alignment, a power of two, begins.
    #[inline]
    fn aligned(&self, alignment: usize) -> usize {
        self.end + (self.origin.wrapping_sub(self.end) & (alignment - 1))
    }

    #[inline]
    fn align(&mut self, alignment: usize) {
        self.room(alignment, 0);
    }

    /// The next `len` bytes, zeros until they are written.
    #[inline(always)]
    fn room(&mut self, alignment: usize, len: usize) -> &mut [u8] {
        let at = self.aligned(alignment);
        let end = at + len;
        if end > self.buffer.len() {
            grow(self.buffer, end, self.ahead);
        }
        self.end = end;
        self.buffer.get_mut(at..end).unwrap_or_default()
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

    #[inline]
    fn reserve_word(&mut self) -> usize {
        self.write_u32(0);
        self.end - LENGTH_SIZE
    }

    /// Fills the word at `at` with the number of bytes after it.
    #[inline]
    fn fill_length(&mut self, at: usize) -> Result<(), EncodeError> {
        let length = self.end - at - LENGTH_SIZE;
        let length = u32::try_from(length).map_err(|_| too_long())?;
        self.fill_word(at, length);
        Ok(())
    }

    #[inline]
    fn fill_word(&mut self, at: usize, value: u32) {
        let bytes = self.order.bytes(value.to_le_bytes(), value.to_be_bytes());
        if let Some(word) = self
            .buffer
            .get_mut(at..)
            .and_then(|rest| rest.first_chunk_mut())
        {
            *word = bytes;
        }
    }
}

/// Takes no more memory than is needed for what ends at `end`, but uses what there is.
#[cold]
#[inline(never)]
fn grow(buffer: &mut Vec<u8>, end: usize, ahead: usize) {
    // A fixed length of zeros takes no call.
    let spare = buffer.capacity() - buffer.len();
    let fits = end - buffer.len() <= Writer::AHEAD_AT_ONCE;
    if ahead > 0 && fits && (Writer::AHEAD_AT_ONCE..AHEAD).contains(&spare) {
        return buffer.extend_from_slice(&[0; Writer::AHEAD_AT_ONCE]);
    }
    buffer.reserve(end - buffer.len());
    let len = buffer.capacity().min(end + ahead);
    buffer.resize(len, 0);
}

/// The bytes of a short text, with zeros after them. `None` if it is longer, or one of them is NUL.
#[inline(always)]
fn short_words(text: &[u8]) -> Option<[u64; MAX_SHORT / 8]> {
    // A longer one is read by its two ends: where they overlap, they are the same.
    match text {
        [] => Some([0, 0]),
        [byte] => (*byte != 0).then_some([u64::from(*byte), 0]),
        [_, _] | [_, _, _] => {
            let first = u64::from(u16::from_le_bytes(*text.first_chunk()?));
            let last = u64::from(u16::from_le_bytes(*text.last_chunk()?));
            let word = first | last << (8 * (text.len() - 2));
            (!has_zero(first | last << 16 | ONES << 32)).then_some([word, 0])
        }
        _ if text.len() < 8 => {
            let first = u64::from(u32::from_le_bytes(*text.first_chunk()?));
            let last = u64::from(u32::from_le_bytes(*text.last_chunk()?));
            let word = first | last << (8 * (text.len() - 4));
            (!has_zero(first | last << 32)).then_some([word, 0])
        }
        _ if text.len() <= MAX_SHORT => {
            let first = u64::from_le_bytes(*text.first_chunk()?);
            let last = u64::from_le_bytes(*text.last_chunk()?);
            let rest = last.unbounded_shr(8 * u32::try_from(MAX_SHORT - text.len()).ok()?);
            (!has_zero(first) && !has_zero(last)).then_some([first, rest])
        }
        _ => None,
    }
}

/// Whether one of the bytes is zero.
#[inline]
fn has_zero(word: u64) -> bool {
    word.wrapping_sub(ONES) & !word & ONES << 7 != 0
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
                    self.write_primitive(value.to_le_bytes(), value.to_be_bytes());
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
/// Zeros that a writer has ready.
const AHEAD: usize = 512;
/// Bytes of a long sequence that are written at once.
const PART: usize = copy::PIECE;
/// Bytes of a string that is short.
const MAX_SHORT: usize = 16;
/// Of the numbers that are aligned to most bytes.
const MAX_ALIGNMENT: usize = 8;
/// Each byte is 1.
const ONES: u64 = 0x0101_0101_0101_0101;
