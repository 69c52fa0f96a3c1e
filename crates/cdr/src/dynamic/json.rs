//! A payload as text.

use alloc::string::String;
use core::fmt::{self, Write};

use super::{Error, Form, Value, Visitor, visit};
use crate::{
    BitmaskDescription, BitsetDescription, Member, Type, TypeDescription, UnionDescription,
};

/// Appends a payload to `out` as one JSON object on one line.
///
/// Integers are exact whatever their size, literals of enumerations are their names, numbers that
/// JSON does not have are the strings `"NaN"`, `"inf"` and `"-inf"`, absent members are left out. A
/// union is an object with the value of its `$discriminator` and the member that it selects, a
/// bitmask a list of the names of the bits that are set, or of their positions where they have no
/// name, a bitset an object of its fields, a map one whose names are the keys. On an error `out` is as it was.
pub fn to_json(
    description: &TypeDescription,
    payload: &[u8],
    form: Form,
    out: &mut String,
) -> Result<(), Error> {
    let start = out.len();
    let mut json = Json {
        out,
        first: true,
        is_key: false,
    };
    let result = visit(description, payload, form, &mut json);
    match result {
        Ok(()) if out.len() == start => out.push_str("{}"),
        Ok(()) => {}
        Err(_) => out.truncate(start),
    }
    result
}

struct Json<'a> {
    out: &'a mut String,
    /// Whether the next element is the first of its sequence or struct, or follows a name.
    first: bool,
    /// Whether the next value is a key of a map.
    is_key: bool,
}

impl Json<'_> {
    fn separate(&mut self) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
    }

    fn open(&mut self, bracket: char) {
        self.separate();
        self.out.push(bracket);
        self.first = true;
    }

    fn close(&mut self, bracket: char) {
        self.out.push(bracket);
        self.first = false;
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for char in text.chars() {
            match char {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\0'..='\x1f' | '\x7f' => self.append(format_args!("\\u{:04x}", u32::from(char))),
                char => self.out.push(char),
            }
        }
        self.out.push('"');
    }

    fn bits(&mut self, description: &BitmaskDescription, bits: u64) {
        self.open('[');
        for position in (0..64).filter(|position| bits >> position & 1 == 1) {
            let mut flags = description.flags.iter();
            self.separate();
            match flags.find(|flag| flag.position == position) {
                Some(flag) => self.string(&flag.name),
                None => self.append(format_args!("{position}")),
            }
        }
        self.close(']');
    }

    fn bitset(&mut self, description: &BitsetDescription, bits: u64) {
        self.open('{');
        for field in description.fields.iter() {
            self.separate();
            self.string(&field.name);
            self.out.push(':');
            match field.value(bits) {
                value if matches!(field.ty, Type::Bool) => {
                    self.append(format_args!("{}", value != 0))
                }
                value => self.append(format_args!("{value}")),
            }
        }
        self.close('}');
    }

    /// The value of a key of a map, as a name of a JSON object.
    fn key(&mut self, value: Value<'_>) {
        self.separate();
        match value {
            Value::Bool(value) => self.append(format_args!("\"{value}\"")),
            Value::Unsigned(value) => self.append(format_args!("\"{value}\"")),
            Value::Signed(value) => self.append(format_args!("\"{value}\"")),
            Value::F32(value) => self.append(format_args!("\"{value:?}\"")),
            Value::F64(value) => self.append(format_args!("\"{value:?}\"")),
            Value::Bits(_, value) | Value::Bitset(_, value) => {
                self.append(format_args!("\"{value}\""))
            }
            Value::Char(value) => self.string(value.encode_utf8(&mut [0; 4])),
            Value::Str(value) => self.string(value),
            Value::Enum(literal) => self.string(&literal.name),
        }
        self.out.push(':');
        self.first = true;
    }

    fn append(&mut self, arguments: fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = self.out.write_fmt(arguments);
    }
}

impl Visitor for Json<'_> {
    fn begin_struct(&mut self, _: &TypeDescription) {
        self.open('{');
    }

    fn end_struct(&mut self) {
        self.close('}');
    }

    fn begin_union(&mut self, _: &UnionDescription) {
        self.open('{');
        self.string(DISCRIMINATOR);
        self.out.push(':');
    }

    fn end_union(&mut self) {
        self.close('}');
    }

    fn member(&mut self, member: &Member) {
        self.separate();
        self.string(&member.name);
        self.out.push(':');
        self.first = true;
    }

    fn begin_sequence(&mut self, _: usize) {
        self.open('[');
    }

    fn end_sequence(&mut self) {
        self.close(']');
    }

    fn begin_map(&mut self, _: usize) {
        self.open('{');
    }

    fn map_key(&mut self) {
        self.is_key = true;
    }

    fn end_map(&mut self) {
        self.close('}');
    }

    fn value(&mut self, value: Value<'_>) {
        if core::mem::take(&mut self.is_key) {
            return self.key(value);
        }
        if let Value::Bits(description, bits) = value {
            return self.bits(description, bits);
        }
        if let Value::Bitset(description, bits) = value {
            return self.bitset(description, bits);
        }
        self.separate();
        match value {
            Value::Bool(value) => self.append(format_args!("{value}")),
            Value::Unsigned(value) => self.append(format_args!("{value}")),
            Value::Signed(value) => self.append(format_args!("{value}")),
            Value::F32(value) if value.is_finite() => self.append(format_args!("{value:?}")),
            Value::F32(value) => self.append(format_args!("\"{value}\"")),
            Value::F64(value) if value.is_finite() => self.append(format_args!("{value:?}")),
            Value::F64(value) => self.append(format_args!("\"{value}\"")),
            Value::Char(value) => self.string(value.encode_utf8(&mut [0; 4])),
            Value::Str(value) => self.string(value),
            Value::Enum(literal) => self.string(&literal.name),
            Value::Bits(..) | Value::Bitset(..) => {}
        }
    }
}

/// The name of a union's discriminator, which no member can have.
pub(super) const DISCRIMINATOR: &str = "$discriminator";
