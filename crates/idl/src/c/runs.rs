//! Members that are read and written together.

use super::facts::{Kind, bitset_bits, bytes_of, kind, primitive_size};
use crate::model::{Extensibility, Member, Model, Primitive, TryConstruct};

/// A member that is a number, or an array of numbers, and always there.
struct Plain {
    /// Bytes of one number.
    size: usize,
    /// Bytes of all.
    total: usize,
}

fn plain(model: &Model, member: &Member) -> Option<Plain> {
    if member.optional || member.external || member.try_construct != TryConstruct::Discard {
        return None;
    }
    match kind(model, &member.ty) {
        Kind::Array(element, dimensions) => match kind(model, element) {
            Kind::Primitive(Primitive::Boolean) => None,
            Kind::Primitive(primitive) => {
                let size = primitive_size(primitive);
                let counts = dimensions.iter().map(|count| *count as usize);
                let total = counts.fold(size, usize::saturating_mul);
                Some(Plain { size, total })
            }
            _ => None,
        },
        other => {
            let (_, size) = wire(model, &other)?;
            Some(Plain { size, total: size })
        }
    }
}

/// Members in parts, with the alignment and the bytes of each. The members of a part are all plain, the
/// first the longest, and each at a multiple of its size behind the first, so that nothing is between
/// them wherever the first is aligned.
pub(crate) fn parts<'a, 'b>(
    model: &Model,
    members: &'a [&'b Member],
    extensibility: Extensibility,
) -> Vec<(&'a [&'b Member], usize, usize)> {
    let mut rest = members;
    let mut parts = Vec::new();
    while let Some(first) = rest.first() {
        let first = plain(model, first);
        let first = first.filter(|_| extensibility != Extensibility::Mutable);
        let longest = first.map_or(0, |plain| plain.size);
        let (mut count, mut end) = (0, 0_usize);
        for member in rest {
            match plain(model, member) {
                Some(plain)
                    if plain.size <= longest
                        && end.is_multiple_of(plain.size)
                        && plain.total <= MAX_RUN - end.min(MAX_RUN) =>
                {
                    end += plain.total;
                    count += 1;
                }
                _ => break,
            }
        }
        let (part, others) = rest.split_at(count.max(1));
        parts.push((part, longest, end));
        rest = others;
    }
    parts
}

/// The name of a number in functions of `tickwire/cdr.h`, and its bytes.
pub(crate) fn wire(model: &Model, kind: &Kind<'_>) -> Option<(String, usize)> {
    let (sign, size) = match kind {
        Kind::Primitive(primitive) => {
            let name = super::names::primitive(*primitive).to_owned();
            return Some((name, primitive_size(*primitive)));
        }
        Kind::Enum(_, of) => ("", bytes_of(of.bit_bound)),
        Kind::Bitmask(_, of) => ("u", bytes_of(of.bit_bound)),
        Kind::Bitset(_, of) => ("u", bytes_of(bitset_bits(model, of))),
        _ => return None,
    };
    Some((format!("{sign}int{}", size * 8), size))
}

/// Bytes of members that are read and written together; arrays may be of any length.
const MAX_RUN: usize = 1 << 16;
