//! Numbers that follow each other, which are read and written with one look at what room there is:
//! members of a struct without padding between them, and whole structs of a sequence.

use crate::ByteOrder;
use crate::layout::align;

/// Numbers as nested pairs, `(u32, (f32, ()))`, where `bool` and arrays count as numbers.
///
/// Of numbers that [`Reader::run`](crate::Reader::run) and [`Writer::run`](crate::Writer::run) take,
/// the first is the longest, and each begins at a multiple of its size from the beginning of the
/// first. So wherever the first is aligned, in whatever representation, nothing is between them.
/// Those of [`Reader::runs`](crate::Reader::runs) and [`Writer::runs`](crate::Writer::runs) may have
/// padding before them.
pub trait Run: Copy {
    /// Bytes of all numbers.
    const SIZE: usize;
    /// Bytes of the first one.
    const ALIGNMENT: usize;

    /// Where they end if what is before them ends at `at` bytes after what they are aligned to, each
    /// to its size, `max` at most.
    fn end(at: usize, max: usize) -> usize;

    /// The little-endian numbers that begin, before they are aligned, at `at` in these bytes, if
    /// these are as many, and any that may not be is valid.
    fn get(bytes: &[u8], at: usize, max: usize) -> Option<Self>;

    /// Replaces those bytes, if they are as many. What is between numbers stays.
    fn put(self, bytes: &mut [u8], at: usize, max: usize, order: ByteOrder);
}

/// One of them.
pub trait Number: Copy {
    /// Its bytes.
    const SIZE: usize;
    /// What it is aligned to, in bytes, where alignments are not limited.
    const ALIGNMENT: usize;

    /// The little-endian number at `at` in these bytes, if it is there and valid.
    fn get(bytes: &[u8], at: usize) -> Option<Self>;

    /// Replaces it, if it is there.
    fn put(self, bytes: &mut [u8], at: usize, order: ByteOrder);
}

impl Run for () {
    const SIZE: usize = 0;
    const ALIGNMENT: usize = 1;

    #[inline(always)]
    fn end(at: usize, _: usize) -> usize {
        at
    }

    #[inline(always)]
    fn get(_: &[u8], _: usize, _: usize) -> Option<Self> {
        Some(())
    }

    #[inline(always)]
    fn put(self, _: &mut [u8], _: usize, _: usize, _: ByteOrder) {}
}

impl<N: Number, R: Run> Run for (N, R) {
    const SIZE: usize = N::SIZE + R::SIZE;
    const ALIGNMENT: usize = N::ALIGNMENT;

    #[inline(always)]
    fn end(at: usize, max: usize) -> usize {
        R::end(align(at, N::ALIGNMENT.min(max)) + N::SIZE, max)
    }

    #[inline(always)]
    fn get(bytes: &[u8], at: usize, max: usize) -> Option<Self> {
        let at = align(at, N::ALIGNMENT.min(max));
        Some((N::get(bytes, at)?, R::get(bytes, at + N::SIZE, max)?))
    }

    #[inline(always)]
    fn put(self, bytes: &mut [u8], at: usize, max: usize, order: ByteOrder) {
        let at = align(at, N::ALIGNMENT.min(max));
        self.0.put(bytes, at, order);
        self.1.put(bytes, at + N::SIZE, max, order);
    }
}

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Number for $number {
            const SIZE: usize = size_of::<Self>();
            const ALIGNMENT: usize = size_of::<Self>();

            #[inline(always)]
            fn get(bytes: &[u8], at: usize) -> Option<Self> {
                let bytes = bytes.get(at..)?.first_chunk()?;
                Some(Self::from_le_bytes(*bytes))
            }

            #[inline(always)]
            fn put(self, bytes: &mut [u8], at: usize, order: ByteOrder) {
                let rest = bytes.get_mut(at..).unwrap_or_default();
                if let Some(place) = rest.first_chunk_mut() {
                    *place = order.bytes(self.to_le_bytes(), self.to_be_bytes());
                }
            }
        }
    )*};
}

numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl Number for bool {
    const SIZE: usize = 1;
    const ALIGNMENT: usize = 1;

    #[inline(always)]
    fn get(bytes: &[u8], at: usize) -> Option<Self> {
        match bytes.get(at)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    #[inline(always)]
    fn put(self, bytes: &mut [u8], at: usize, order: ByteOrder) {
        u8::from(self).put(bytes, at, order);
    }
}

/// An array of at least one element.
impl<T: Number + Default, const N: usize> Number for [T; N] {
    const SIZE: usize = N * T::SIZE;
    const ALIGNMENT: usize = T::ALIGNMENT;

    #[inline(always)]
    fn get(bytes: &[u8], at: usize) -> Option<Self> {
        let bytes = bytes.get(at..)?.get(..Self::SIZE)?;
        let mut values = [T::default(); N];
        for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(T::SIZE)) {
            *value = T::get(bytes, 0)?;
        }
        Some(values)
    }

    #[inline(always)]
    fn put(self, bytes: &mut [u8], at: usize, order: ByteOrder) {
        let rest = bytes.get_mut(at..).unwrap_or_default();
        for (value, bytes) in self.into_iter().zip(rest.chunks_exact_mut(T::SIZE)) {
            value.put(bytes, 0, order);
        }
    }
}
