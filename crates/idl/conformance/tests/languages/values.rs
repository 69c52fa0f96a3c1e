//! Values of any type.

use tickwire::cdr::dynamic::Data;
use tickwire::cdr::{Type, TypeDescription};

/// A value of a struct, as numbers choose.
pub(crate) fn struct_of(
    description: &TypeDescription,
    choices: &mut impl Iterator<Item = u64>,
    depth: usize,
) -> Data {
    let mut fields = Vec::new();
    for member in description.members.iter() {
        let is_there = !member.optional
            || depth < MAX_DEPTH && choices.next().is_some_and(|choice| choice % 2 == 0);
        if is_there {
            let value = data_of(&member.ty, choices, depth + 1);
            fields.push(((*member.name).into(), value));
        }
    }
    Data::Fields(fields)
}

fn data_of(ty: &Type, choices: &mut impl Iterator<Item = u64>, depth: usize) -> Data {
    let mut next = || choices.next().unwrap_or(0);
    let most = |bound: u32| match (bound, depth < MAX_DEPTH) {
        (_, false) => 0,
        (0, _) => 3,
        (bound, _) => u64::from(bound).min(3),
    };
    let signed = |choice: u64| i128::from(choice.cast_signed());
    match ty {
        Type::Bool => Data::Bool(next() % 2 == 1),
        Type::U8 | Type::Byte => Data::Integer((next() % 256).into()),
        Type::U16 | Type::WChar => Data::Integer((next() % 65_536).into()),
        Type::U32 => Data::Integer((next() >> 32).into()),
        Type::U64 => Data::Integer(next().into()),
        Type::I8 => Data::Integer(signed(next()) >> 56),
        Type::I16 => Data::Integer(signed(next()) >> 48),
        Type::I32 => Data::Integer(signed(next()) >> 32),
        Type::I64 => Data::Integer(signed(next())),
        Type::F32 => Data::Float(f32::from_bits((next() >> 32) as u32).into()),
        Type::F64 => Data::Float(f64::from_bits(next())),
        Type::Char => Data::Text(char::from((next() % 256) as u8).into()),
        Type::String { bound } | Type::WString { bound } => Data::Text(text(next(), *bound)),
        Type::Enum(description) => {
            let index = next() as usize % description.literals.len();
            Data::Text((*description.literals[index].name).into())
        }
        Type::Bitmask(description) => {
            let mask = u64::MAX >> (64 - description.bit_bound);
            Data::Integer((next() & mask).into())
        }
        Type::Bitset(description) => {
            let fields = description.fields.iter().map(|field| {
                let value = match field.ty {
                    Type::Bool => Data::Bool(next() % 2 == 0),
                    _ => Data::Integer(field.value(next())),
                };
                (String::from(&*field.name), value)
            });
            Data::Fields(fields.collect())
        }
        Type::Sequence { element, bound } => {
            let count = next() % (most(*bound) + 1);
            let all = (0..count).map(|_| data_of(element, choices, depth + 1));
            Data::List(all.collect())
        }
        Type::Array { element, length } => {
            let all = (0..*length).map(|_| data_of(element, choices, depth + 1));
            Data::List(all.collect())
        }
        Type::Map { key, value, bound } => {
            let count = next() % (most(*bound) + 1);
            let mut entries: Vec<(String, Data)> = Vec::new();
            for _ in 0..count {
                let key = match data_of(key, choices, depth + 1) {
                    // Of others it depends on the machine where they stand in C++.
                    Data::Text(text) if matches!(**key, Type::Char) && !text.is_ascii() => continue,
                    Data::Text(text) => text,
                    Data::Integer(value) => value.to_string(),
                    Data::Bool(value) => value.to_string(),
                    other => panic!("no key: {other:?}"),
                };
                let value = data_of(value, choices, depth + 1);
                if entries.iter().all(|(other, _)| *other != key) {
                    entries.push((key, value));
                }
            }
            entries.sort_by_key(|(text, _)| order(key, text));
            Data::Fields(entries)
        }
        Type::Recursive(link) => {
            let target = link.target().expect("the type is there");
            data_of(&target, choices, depth + 1)
        }
        Type::Struct(description) => struct_of(description, choices, depth),
        Type::Union(description) => {
            let index = next() as usize % description.cases.len();
            let member = &description.cases[index].member;
            let value = data_of(&member.ty, choices, depth + 1);
            Data::Fields(vec![((*member.name).into(), value)])
        }
    }
}

/// Where a key of a map stands among others in C++, which sorts them.
fn order(ty: &Type, key: &str) -> (i128, Vec<u16>) {
    match ty {
        Type::String { .. } => (0, key.bytes().map(u16::from).collect()),
        Type::WString { .. } => (0, key.encode_utf16().collect()),
        Type::Bool => (i128::from(key == "true"), Vec::new()),
        Type::Enum(of) => {
            let literal = of.literals.iter().find(|it| *it.name == *key);
            (literal.map_or(0, |it| it.value.into()), Vec::new())
        }
        Type::Char => (0, key.encode_utf16().collect()),
        _ => (key.parse().unwrap_or_default(), Vec::new()),
    }
}

fn text(choice: u64, bound: u32) -> String {
    let letters = [
        'a',
        'é',
        '\u{1f4c8}',
        '"',
        '\u{20ac}',
        '\u{1}',
        'Z',
        '\u{7f}',
    ];
    let count = match bound {
        0 => choice % 21,
        bound => choice % 21 % u64::from(bound / 4 + 1),
    };
    // Half of the texts are ASCII alone.
    let letter = |at: u64| match choice >> 63 {
        0 => letters[(choice >> (3 * at % 60)) as usize % 8],
        _ => char::from(b'a' + (at % 26) as u8),
    };
    (0..count).map(letter).collect()
}

/// Values in each other, from where on there are no more than there must be.
const MAX_DEPTH: usize = 9;
