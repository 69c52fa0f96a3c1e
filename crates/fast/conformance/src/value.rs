//! Random values of every type, and their text in templates. Edges are favoured, and so are values that follow from the
//! one before: the same, one more, the same with another beginning or end.

use tickwire_fast::{Decimal, FieldType};

use crate::choice::Choices;
use crate::template::Shape;

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// In a field of this type.
    Field(FieldType),
    /// In a decimal's exponent.
    Exponent,
    /// In its mantissa.
    Mantissa,
    /// In a sequence's length.
    Length,
}

impl Domain {
    pub(crate) fn field_type(self) -> FieldType {
        match self {
            Self::Field(field_type) => field_type,
            Self::Exponent => FieldType::Int32,
            Self::Mantissa => FieldType::Int64,
            Self::Length => FieldType::UInt32,
        }
    }
}

/// An initial value.
pub(crate) fn text(choices: &mut Choices<'_>, domain: Domain, shape: Shape) -> String {
    match domain {
        Domain::Exponent => exponent(choices).to_string(),
        Domain::Length => choices.below(3).to_string(),
        // fastlib reads no more digits than a mantissa has.
        Domain::Field(FieldType::Decimal) if shape.is_for_peer() => {
            choices.of(&["0", "-12000", "12.50", "0.05"]).to_owned()
        }
        Domain::Field(FieldType::Decimal) => {
            let mantissa = integer(choices, FieldType::Int64, 0);
            i64::try_from(mantissa)
                .ok()
                .and_then(|mantissa| Decimal::new(mantissa, exponent(choices)))
                .unwrap_or_default()
                .to_string()
        }
        Domain::Field(FieldType::ByteVector) => bytes(choices)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        Domain::Field(FieldType::Ascii) => ascii(choices, shape).replace(|c: char| c < ' ', "."),
        Domain::Field(FieldType::Unicode) => unicode(choices),
        Domain::Field(_) | Domain::Mantissa => match shape.is_for_peer() {
            true => small(choices, domain.field_type(), 0),
            false => integer(choices, domain.field_type(), 0),
        }
        .to_string(),
    }
}

/// An integer in the range of its type: often near `near`, often at an edge.
pub(crate) fn integer(choices: &mut Choices<'_>, field_type: FieldType, near: u64) -> i128 {
    let max = i128::from(field_type.max());
    let min = if field_type.is_signed() { -max - 1 } else { 0 };
    let value = match choices.below(10) {
        0 => max - choices.below(2) as i128,
        1 => min + choices.below(2) as i128,
        2 => {
            let shift = choices.below(64);
            i128::from(choices.bits() >> shift)
        }
        3 => {
            let shift = choices.below(64);
            -i128::from(choices.bits() >> shift)
        }
        4 => 0,
        5 => 63 + choices.below(2) as i128,
        _ => i128::from(near % 100),
    };
    value.clamp(min, max)
}

/// An integer whose difference to any other has no more bits than its type, nor has its successor.
pub(crate) fn small(choices: &mut Choices<'_>, field_type: FieldType, near: u64) -> i128 {
    let bound = i128::from(field_type.max()) / 4;
    integer(choices, field_type, near).clamp(-bound, bound)
}

/// An exponent; most are -2 to 0.
pub(crate) fn exponent(choices: &mut Choices<'_>) -> i8 {
    match choices.below(12) {
        0 => Decimal::MAX_EXPONENT,
        1 => -Decimal::MAX_EXPONENT,
        2 => 5,
        n => -i8::try_from(n % 3).unwrap_or_default(),
    }
}

/// An ASCII string; DEL occurs, and NUL at its beginning, which fastlib reads twice.
pub(crate) fn ascii(choices: &mut Choices<'_>, shape: Shape) -> String {
    match choices.below(12) {
        1 | 2 if shape.is_for_peer() => wandering(choices, ["A", "B", "C", "\u{7f}"]),
        0 => String::new(),
        1 => "\0".repeat(1 + choices.below(2)),
        2 => format!("\0{}", wandering(choices, ["A", "B", "C", "\u{7f}"])),
        3 => "long".repeat(choices.below(64)),
        _ => wandering(choices, ["A", "<", "&", "~"]),
    }
}

/// A Unicode string; two characters that differ in their last byte, and one of four bytes, occur.
pub(crate) fn unicode(choices: &mut Choices<'_>) -> String {
    match choices.below(8) {
        0 => String::new(),
        _ => wandering(choices, ["A", "é", "è", "😀"]),
    }
}

/// Bytes with and without bit 7.
pub(crate) fn bytes(choices: &mut Choices<'_>) -> Vec<u8> {
    match choices.below(8) {
        0 => Vec::new(),
        1 => vec![0x80; choices.below(200)],
        _ => wandering(choices, ["\0", "A", "é", "\u{7f}"]).into_bytes(),
    }
}

/// A string that shares its beginning, its end, or both with most others of its kind.
fn wandering(choices: &mut Choices<'_>, alphabet: [&str; 4]) -> String {
    let begin = choices.of(&["", "ES", "ES"]);
    let end = choices.of(&["", "M6", "M6", "H6"]);
    let middle: String = (0..choices.below(4))
        .map(|_| choices.of(&alphabet))
        .collect();
    [begin, &middle, end].concat()
}
