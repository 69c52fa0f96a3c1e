//! Bytes to values. Primitives, and the headers around structs, members and sequences.
//!
//! A reader knows no types: derived code and [`dynamic`](crate::dynamic) call it member by member.

mod members;

pub use members::{MemberScope, StructScope};

use alloc::string::String;

use crate::dynamic::MAX_DEPTH;
use crate::layout::{LENGTH_SIZE, align};
use crate::{
    ByteOrder, DecodeError, DecodeErrorKind, Encapsulation, Extensibility, Representation, Run,
};

/// Takes values from the front of bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    whole: &'a [u8],
    /// Up to the end of the innermost struct, sequence or member that told its length.
    bytes: &'a [u8],
    position: usize,
    /// Where alignment counts from: the body's beginning, or the end of a header of XCDR1.
    origin: usize,
    representation: Representation,
    order: ByteOrder,
    /// Bytes of memory that sequences may still take.
    allowance: usize,
    /// Structs and unions that have begun and not ended.
    depth: usize,
    /// Members that are tried, within each other.
    tries: u32,
    /// Whether the innermost of them has a value that its type cannot hold.
    failed: bool,
}

/// A member that is tried ([`TryConstruct`](crate::TryConstruct)).
#[derive(Debug)]
#[must_use = "what is tried must be ended"]
pub struct TryScope {
    outer_failed: bool,
}

/// A sequence or an array that is being read.
#[derive(Debug)]
#[must_use = "a sequence that is begun must be ended"]
pub struct SequenceScope {
    /// Number of elements.
    pub count: usize,
    delimited: bool,
    outer_limit: usize,
}

impl<'a> Reader<'a> {
    /// Reads a body, the bytes after the encapsulation header, as that header says.
    ///
    /// The memory that sequences take together is limited to 256 times the body's length: a
    /// handful of bytes can announce a thousand structs of which every member is absent.
    pub fn new(body: &'a [u8], encapsulation: Encapsulation) -> Self {
        Self {
            whole: body,
            bytes: body,
            position: 0,
            origin: 0,
            representation: encapsulation.representation,
            order: encapsulation.order,
            allowance: body.len().saturating_mul(ALLOWANCE_PER_BYTE),
            depth: 0,
            tries: 0,
            failed: false,
        }
    }

    /// The version of the encoding.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes left in the innermost struct or member that told its length, else in the body.
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// An error at this place.
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, self.position)
    }

    /// What there is if a string or sequence that was read is longer than `bound`: see
    /// [`not_constructed`](Self::not_constructed).
    pub fn check_bound(&mut self, length: usize, bound: u32) -> Result<(), DecodeError> {
        match u32::try_from(length) {
            Ok(length) if length <= bound => Ok(()),
            other => {
                let length = other.unwrap_or(u32::MAX);
                self.not_constructed(DecodeErrorKind::InvalidLength(length))
            }
        }
    }

    /// Begins to try a member: a value in it that its type cannot hold is noted from here on, and read to its end.
    pub fn begin_try(&mut self) -> TryScope {
        self.tries = self.tries.saturating_add(1);
        TryScope {
            outer_failed: core::mem::take(&mut self.failed),
        }
    }

    /// Ends it. True if there was such a value: what was read is to be something else (XTypes 1.3 §7.2.2.7).
    pub fn end_try(&mut self, scope: TryScope) -> bool {
        self.tries = self.tries.saturating_sub(1);
        core::mem::replace(&mut self.failed, scope.outer_failed)
    }

    /// Whether a member is being tried.
    pub fn is_trying(&self) -> bool {
        self.tries > 0
    }

    /// A value that its type cannot hold has been read.
    ///
    /// # Errors
    /// This one, unless a member is being tried: then it is noted.
    pub fn not_constructed(&mut self, kind: DecodeErrorKind) -> Result<(), DecodeError> {
        if self.tries == 0 {
            return Err(self.error(kind));
        }
        self.failed = true;
        Ok(())
    }

    /// Begins a sequence of at most `bound` elements (0 for any number), each of at least
    /// `min_size` bytes.
    #[inline]
    pub fn begin_sequence(
        &mut self,
        bound: u32,
        primitive_elements: bool,
        min_size: usize,
    ) -> Result<SequenceScope, DecodeError> {
        let outer_limit = self.limit();
        let delimited = self.begin_elements(primitive_elements)?;
        let length = self.read_u32()?;
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        if count > self.remaining() / min_size.max(1) {
            return Err(self.error(DecodeErrorKind::InvalidLength(length)));
        }
        if bound != 0 && length > bound {
            self.not_constructed(DecodeErrorKind::InvalidLength(length))?;
        }
        Ok(SequenceScope {
            count,
            delimited,
            outer_limit,
        })
    }

    /// Begins an array of `count` elements, each of at least a byte.
    pub fn begin_array(
        &mut self,
        count: usize,
        primitive_elements: bool,
    ) -> Result<SequenceScope, DecodeError> {
        let outer_limit = self.limit();
        let delimited = self.begin_elements(primitive_elements)?;
        if count > self.remaining() {
            return Err(self.error(DecodeErrorKind::UnexpectedEnd));
        }
        Ok(SequenceScope {
            count,
            delimited,
            outer_limit,
        })
    }

    /// Ends a sequence or an array.
    #[inline]
    pub fn end_sequence(&mut self, scope: SequenceScope) {
        if scope.delimited {
            self.leave(scope.outer_limit);
        }
    }

    /// Takes `bytes` of memory from what this payload may occupy: see [`Reader::new`].
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), DecodeError> {
        let left = self.allowance.checked_sub(bytes);
        self.allowance = left.ok_or_else(|| self.error(DecodeErrorKind::TooLarge))?;
        Ok(())
    }

    /// Reads a boolean.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        match self.read_u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(DecodeError::new(
                DecodeErrorKind::InvalidBool(other),
                self.position - 1,
            )),
        }
    }

    /// Reads the value of an enumeration whose bit bound asks for `size` bytes.
    #[inline]
    pub fn read_enum(&mut self, size: usize) -> Result<i32, DecodeError> {
        match size {
            1 => self.read_i8().map(i32::from),
            2 => self.read_i16().map(i32::from),
            _ => self.read_i32(),
        }
    }

    /// Reads a bitmask whose bit bound asks for `size` bytes.
    #[inline]
    pub fn read_bits(&mut self, size: usize) -> Result<u64, DecodeError> {
        match size {
            1 => self.read_u8().map(u64::from),
            2 => self.read_u16().map(u64::from),
            4 => self.read_u32().map(u64::from),
            _ => self.read_u64(),
        }
    }

    /// Replaces `text` by a wide string of at most `bound` units of UTF-16, 0 for any length. A NUL
    /// at its end, which some write, is left out.
    pub fn read_wstring_into(&mut self, bound: u32, text: &mut String) -> Result<(), DecodeError> {
        let size = self.read_u32()?;
        let start = self.position;
        let count = usize::try_from(size / 2).unwrap_or(usize::MAX);
        if size % 2 != 0 {
            return Err(self.error(DecodeErrorKind::InvalidLength(size)));
        }
        let (units, order) = self.read_primitives::<2>(count)?;
        let unit = |bytes: &[u8; 2]| match order {
            ByteOrder::Little => u16::from_le_bytes(*bytes),
            ByteOrder::Big => u16::from_be_bytes(*bytes),
        };
        let units = match units {
            [units @ .., last] if unit(last) == 0 => units,
            units => units,
        };
        let invalid = |kind| DecodeError::new(kind, start);
        if bound != 0 && u32::try_from(units.len()).is_ok_and(|length| length > bound) {
            self.not_constructed(DecodeErrorKind::InvalidLength(size))?;
        }
        text.clear();
        for char in char::decode_utf16(units.iter().map(unit)) {
            match char {
                Ok('\0') => return Err(invalid(DecodeErrorKind::InvalidString)),
                Ok(char) => text.push(char),
                Err(_) => return Err(invalid(DecodeErrorKind::InvalidUtf16)),
            }
        }
        Ok(())
    }

    /// Replaces `text` by a string of any length.
    #[inline(always)]
    pub(crate) fn read_string_into(&mut self, text: &mut String) -> Result<(), DecodeError> {
        match self.read_short_string_into(text) {
            Some(()) => Ok(()),
            None => self.apart(|reader| reader.read_any_string_into(text)),
        }
    }

    /// Calls what is not inlined with a copy of this reader: were this one passed, no place of it
    /// could stay in a register in what is around.
    #[inline(always)]
    fn apart<R>(&mut self, call: impl FnOnce(&mut Self) -> R) -> R {
        let mut copy = self.clone();
        let result = call(&mut copy);
        self.position = copy.position;
        result
    }

    #[inline(never)]
    fn read_any_string_into(&mut self, text: &mut String) -> Result<(), DecodeError> {
        let read = self.read_str(0)?;
        text.clear();
        text.push_str(read);
        Ok(())
    }

    /// The same if it is some characters of ASCII, which cost less than the calls that any string
    /// takes: to look for a NUL, to look whether it is UTF-8, and to copy it.
    #[inline(always)]
    fn read_short_string_into(&mut self, text: &mut String) -> Option<()> {
        let at = self.aligned(LENGTH_SIZE);
        let rest = self.bytes.get(at..)?;
        if self.order == ByteOrder::Big {
            return None;
        }
        // A code or a flag. Where the next value begins is known before this one is there.
        if let Some(&[a, b, c, d, byte @ 1..0x80, 0]) = rest.first_chunk()
            && u32::from_le_bytes([a, b, c, d]) == 2
        {
            text.clear();
            text.push(char::from(byte));
            self.position = at + LENGTH_SIZE + 2;
            return Some(());
        }
        let (size, rest) = rest.split_first_chunk()?;
        let size = usize::try_from(u32::from_le_bytes(*size)).ok()?;
        if size > MAX_SHORT {
            return None;
        }
        let (0, short) = rest.get(..size)?.split_last()? else {
            return None;
        };
        text.clear();
        for byte in short {
            if !(1..0x80).contains(byte) {
                return None;
            }
            text.push(char::from(*byte));
        }
        self.position = at + LENGTH_SIZE + size;
        Some(())
    }

    /// Reads a string of at most `bound` bytes, 0 for any length, in place.
    ///
    /// The length counts the NUL at the end; a length of 0 is accepted as an empty string.
    pub fn read_str(&mut self, bound: u32) -> Result<&'a str, DecodeError> {
        let length = self.read_u32()?;
        let start = self.position;
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        if size > self.remaining() {
            return Err(self.error(DecodeErrorKind::InvalidLength(length)));
        }
        if bound != 0 && length.saturating_sub(1) > bound {
            self.not_constructed(DecodeErrorKind::InvalidLength(length))?;
        }
        let text = match self.take(size)? {
            [text @ .., 0] if !text.contains(&0) => text,
            [] => &[],
            _ => return Err(DecodeError::new(DecodeErrorKind::InvalidString, start)),
        };
        core::str::from_utf8(text).map_err(|error| {
            DecodeError::new(DecodeErrorKind::InvalidUtf8, start + error.valid_up_to())
        })
    }

    /// A value that starts with its length, with that length, as it lies on the wire.
    pub(crate) fn read_delimited(&mut self) -> Result<&'a [u8], DecodeError> {
        self.align(LENGTH_SIZE)?;
        let start = self.position;
        let length = self.read_u32()?;
        self.position = start;
        let size = usize::try_from(length)
            .unwrap_or(usize::MAX)
            .saturating_add(LENGTH_SIZE);
        self.take(size)
    }

    /// Passes over `count` primitives of `size` bytes each.
    pub(crate) fn skip_primitives(&mut self, count: usize, size: usize) -> Result<(), DecodeError> {
        self.read_numbers(count, size).map(drop)
    }

    /// Passes over a string or a wide string.
    pub(crate) fn skip_string(&mut self) -> Result<(), DecodeError> {
        let length = self.read_u32()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
            .map(drop)
    }

    /// Reads `count` numbers of `size` bytes each, and leaves them as they lie on the wire, in this
    /// [order](Self::byte_order).
    pub fn read_numbers(&mut self, count: usize, size: usize) -> Result<&'a [u8], DecodeError> {
        if count == 0 || size == 0 {
            return Ok(&[]);
        }
        self.align(self.representation.alignment(size))?;
        self.take(count.saturating_mul(size))
    }

    /// The order of the bytes of numbers.
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The next `count` primitives of `SIZE` bytes each, as they are on the wire.
    #[inline]
    pub(crate) fn read_primitives<const SIZE: usize>(
        &mut self,
        count: usize,
    ) -> Result<(&'a [[u8; SIZE]], ByteOrder), DecodeError> {
        if count == 0 {
            return Ok((&[], self.order));
        }
        self.align(self.representation.alignment(SIZE))?;
        let size = count
            .checked_mul(SIZE)
            .ok_or_else(|| self.error(DecodeErrorKind::UnexpectedEnd))?;
        let (values, _) = self.take(size)?.as_chunks::<SIZE>();
        Ok((values, self.order))
    }

    /// Reads little-endian numbers that follow each other. `None` if that is not what there is:
    /// then they are to be read one by one, which tells what is missing, and what that means.
    #[inline]
    pub fn run<R: Run>(&mut self) -> Option<R> {
        let at = self.aligned(self.representation.alignment(R::ALIGNMENT));
        let values = R::get(self.bytes.get(at..)?.get(..R::SIZE)?, 0, MAX_ALIGNMENT)?;
        if self.order == ByteOrder::Big {
            return None;
        }
        self.position = at + R::SIZE;
        Some(values)
    }

    /// Reads little-endian structs of this extensibility, which consist of numbers alone, and has
    /// `put` put each of them into its value. Tells how many it has read: from the first that is not
    /// as it is expected to be, they are to be read one by one.
    #[inline]
    pub fn runs<T, R: Run>(
        &mut self,
        extensibility: Extensibility,
        values: &mut [T],
        put: impl Fn(&mut T, R),
    ) -> usize {
        if self.order == ByteOrder::Big || self.depth > MAX_DEPTH {
            return 0;
        }
        match (self.representation, extensibility) {
            (_, Extensibility::Mutable) => 0,
            (Representation::Xcdr2, Extensibility::Appendable) => {
                let length = R::end(LENGTH_SIZE, 4) - LENGTH_SIZE;
                self.runs_aligned::<4, T, (u32, R)>(values, |value, (told, run)| {
                    put(value, run);
                    usize::try_from(told) == Ok(length)
                })
            }
            (Representation::Xcdr2, Extensibility::Final) => {
                self.runs_aligned::<4, T, R>(values, |value, run| {
                    put(value, run);
                    true
                })
            }
            // Not delimited, and a sequence is never the first to come.
            (Representation::Xcdr1, _) => self.runs_aligned::<8, T, R>(values, |value, run| {
                put(value, run);
                true
            }),
        }
    }

    /// The same of structs whose members are aligned to `MAX` bytes at most; `put` may refuse one.
    #[inline(always)]
    fn runs_aligned<const MAX: usize, T, R: Run>(
        &mut self,
        values: &mut [T],
        put: impl Fn(&mut T, R) -> bool,
    ) -> usize {
        let stride = align(R::end(0, MAX), R::ALIGNMENT.min(MAX));
        let len = R::end(0, MAX);
        let mut done = 0;
        loop {
            let rest = values.get_mut(done..).unwrap_or_default();
            let phase = (self.position - self.origin) % MAX;
            let bytes = self.bytes.get(self.position - phase..).unwrap_or_default();
            let mut count = 0;
            if phase == 0 && stride.is_multiple_of(MAX) {
                // All that are left have the same layout.
                for (value, bytes) in rest.iter_mut().zip(bytes.chunks_exact(stride)) {
                    match R::get(bytes, 0, MAX) {
                        Some(run) if put(value, run) => count += 1,
                        _ => break,
                    }
                }
                self.position += (count * stride).saturating_sub(stride - len);
            } else if let (Some(value), Some(run)) = (rest.first_mut(), R::get(bytes, phase, MAX))
                && put(value, run)
            {
                self.position += R::end(phase, MAX) - phase;
                count = 1;
            }
            done += count;
            if count == 0 || done == values.len() {
                return done;
            }
        }
    }

    #[inline]
    fn read_primitive<T, const SIZE: usize>(
        &mut self,
        from_little: impl Fn([u8; SIZE]) -> T,
        from_big: impl Fn([u8; SIZE]) -> T,
    ) -> Result<T, DecodeError> {
        let at = self.aligned(self.representation.alignment(SIZE));
        let rest = self.bytes.get(at..).unwrap_or_default();
        let Some(&bytes) = rest.first_chunk::<SIZE>() else {
            return Err(self.missing(at));
        };
        self.position = at + SIZE;
        Ok(match self.order {
            ByteOrder::Little => from_little(bytes),
            ByteOrder::Big => from_big(bytes),
        })
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let Some(taken) = rest.get(..count) else {
            return Err(self.error(DecodeErrorKind::UnexpectedEnd));
        };
        self.position += count;
        Ok(taken)
    }

    /// Where the next value of this alignment, a power of two, begins.
    #[inline]
    fn aligned(&self, alignment: usize) -> usize {
        // All origins are multiples of four.
        let origin = if alignment > 4 { self.origin } else { 0 };
        origin + align(self.position - origin, alignment)
    }

    #[inline]
    fn align(&mut self, alignment: usize) -> Result<(), DecodeError> {
        let position = self.aligned(alignment);
        if position > self.limit() {
            return Err(self.error(DecodeErrorKind::UnexpectedEnd));
        }
        self.position = position;
        Ok(())
    }

    /// The error if a value that begins at `at` is not all there.
    #[cold]
    fn missing(&self, at: usize) -> DecodeError {
        let at = if at <= self.limit() {
            at
        } else {
            self.position
        };
        DecodeError::new(DecodeErrorKind::UnexpectedEnd, at)
    }

    fn limit(&self) -> usize {
        self.bytes.len()
    }

    /// Goes to the limit, and on to an outer one.
    #[inline]
    fn leave(&mut self, outer_limit: usize) {
        self.position = self.limit();
        self.bytes = self.whole.get(..outer_limit).unwrap_or(self.whole);
    }

    /// Narrows the limit by the length that comes next.
    #[inline]
    fn begin_delimited(&mut self) -> Result<(), DecodeError> {
        let length = self.read_u32()?;
        self.narrow(usize::try_from(length).unwrap_or(usize::MAX))
    }

    #[inline]
    fn begin_elements(&mut self, primitive: bool) -> Result<bool, DecodeError> {
        let delimited = !primitive && self.representation == Representation::Xcdr2;
        if delimited {
            self.begin_delimited()?;
        }
        Ok(delimited)
    }

    #[inline]
    fn narrow(&mut self, length: usize) -> Result<(), DecodeError> {
        if length > self.remaining() {
            return Err(self.error(DecodeErrorKind::UnexpectedEnd));
        }
        let limit = self.position + length;
        self.bytes = self.bytes.get(..limit).unwrap_or(self.bytes);
        Ok(())
    }
}

macro_rules! read_primitives {
    ($($name:ident $ty:ty),* $(,)?) => {
        impl Reader<'_> {
            $(
                #[doc = concat!("Reads one `", stringify!($ty), "`, aligned.")]
                #[inline]
                pub fn $name(&mut self) -> Result<$ty, DecodeError> {
                    self.read_primitive(<$ty>::from_le_bytes, <$ty>::from_be_bytes)
                }
            )*
        }
    };
}

read_primitives! {
    read_u8 u8, read_i8 i8, read_u16 u16, read_i16 i16, read_u32 u32, read_i32 i32,
    read_u64 u64, read_i64 i64, read_f32 f32, read_f64 f64,
}

const ALLOWANCE_PER_BYTE: usize = 256;
/// Of the numbers that are aligned to most bytes.
const MAX_ALIGNMENT: usize = 8;
/// Bytes of a string that is short, its NUL included.
const MAX_SHORT: usize = 17;
