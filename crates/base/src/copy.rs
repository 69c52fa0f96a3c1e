//! Copying many bytes.
//!
//! glibc leaves copies of 2,112 bytes and more to one instruction, `rep movsb`. Processors of AMD's Zen 3 and 4 take 15 to 25
//! times as long for it, 0.35 ns a byte, where the destination lies 1 to some 60 bytes behind the source, as both are
//! counted from the begin of their pages: as it does where a payload is put behind its head. So many bytes are copied
//! in pieces here, which on such a processor takes no longer where that is not so.

use alloc::vec::Vec;

/// Copies all of `from` to `to`, which is as long; no more than there is room for if it is not.
#[inline]
pub fn copy(from: &[u8], to: &mut [u8]) {
    debug_assert_eq!(from.len(), to.len(), "bytes and their place");
    match from.len() == to.len() && from.len() <= PIECE {
        true => to.copy_from_slice(from),
        false => copy_pieces(from, to),
    }
}

/// Appends all of `from`.
#[inline]
pub fn append<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    if size_of_val(from) <= PIECE {
        return to.extend_from_slice(from);
    }
    append_pieces(to, from);
}

#[inline(never)]
fn copy_pieces(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks(PIECE).zip(to.chunks_mut(PIECE)) {
        let len = from.len().min(to.len());
        to[..len].copy_from_slice(&from[..len]);
    }
}

#[inline(never)]
fn append_pieces<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    to.reserve(from.len());
    from.chunks((PIECE / size_of::<T>().max(1)).max(1))
        .for_each(|piece| to.extend_from_slice(piece));
}

/// So many bytes are copied at once, at most.
pub const PIECE: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_copied() {
        let bytes: Vec<u8> = (0..3 * PIECE + 5).map(|at| at.to_le_bytes()[0]).collect();
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, bytes.len()] {
            let mut to = alloc::vec![0xee; len];
            copy(&bytes[..len], &mut to);
            assert_eq!(to, bytes[..len]);
            let mut to = alloc::vec![7; 3];
            append(&mut to, &bytes[..len]);
            assert_eq!((&to[..3], &to[3..]), (&[7; 3][..], &bytes[..len]));
        }
    }
}
