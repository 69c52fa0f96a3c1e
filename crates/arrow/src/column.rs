//! The builder of a column: reads one value after the other from payloads.

use std::mem;

use arrow_buffer::{BooleanBufferBuilder, MutableBuffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::FieldRef;
use tickwire::Decimal;
use tickwire::cdr::dynamic::Form;
use tickwire::cdr::{
    BitsetDescription, ByteOrder, DecodeErrorKind, EnumDescription, Extensibility, Reader, Shared,
    Trim, TryConstruct, UnionDescription, WString,
};

use crate::error::{Problem, RowError};

/// A column, or one within another.
pub(crate) struct Column {
    pub(crate) field: FieldRef,
    pub(crate) node: Node,
    pub(crate) len: usize,
    pub(crate) validity: NullBufferBuilder,
    /// Bytes of a value that is made up, about.
    pub(crate) cost: usize,
}

/// How values are read, and what has been.
pub(crate) enum Node {
    Bool(BooleanBufferBuilder),
    /// Numbers of so many bytes.
    Number {
        size: usize,
        values: MutableBuffer,
    },
    Text {
        coding: Coding,
        offsets: Vec<i32>,
        bytes: MutableBuffer,
    },
    Octets {
        bound: u32,
        offsets: Vec<i32>,
        bytes: MutableBuffer,
    },
    Enum {
        of: Shared<EnumDescription>,
        /// The names, where values are their places.
        names: Option<ArrayData>,
        values: MutableBuffer,
    },
    /// A bitmask of so many bytes.
    Bits {
        size: usize,
        values: MutableBuffer,
    },
    Bitset {
        of: Shared<BitsetDescription>,
        fields: Vec<Column>,
    },
    /// Of one number with so many digits behind the point.
    Decimal {
        scale: i8,
        values: MutableBuffer,
    },
    /// Mantissa and exponent.
    Pair(Box<[Column; 2]>),
    Struct(Struct),
    Union(Box<Union>),
    List {
        element: Box<Column>,
        length: Length,
        primitive: bool,
        offsets: Vec<i32>,
    },
    Map {
        key: Box<Column>,
        value: Box<Column>,
        bound: u32,
        primitive: bool,
        offsets: Vec<i32>,
    },
}

/// How text is encoded.
pub(crate) enum Coding {
    Char,
    WChar,
    String { bound: u32 },
    WString { bound: u32, scratch: String },
}

/// How many elements a list has.
#[derive(Clone, Copy)]
pub(crate) enum Length {
    /// As it says, up to this; 0 for any.
    Counted(u32),
    /// An array of several dimensions has one frame: `flat` is the number of its elements, of the outermost one only.
    Array { count: usize, flat: Option<usize> },
}

/// The members of a struct.
pub(crate) struct Struct {
    pub(crate) name: Shared<str>,
    pub(crate) extensibility: Extensibility,
    pub(crate) has_key: bool,
    pub(crate) members: Vec<Member>,
}

/// A member of a struct or a union.
pub(crate) struct Member {
    pub(crate) id: u32,
    pub(crate) is_key: bool,
    pub(crate) optional: bool,
    pub(crate) try_construct: TryConstruct,
    pub(crate) column: Column,
}

/// The members of a union, of which each row has one at most.
pub(crate) struct Union {
    pub(crate) of: Shared<UnionDescription>,
    pub(crate) discriminator: Column,
    pub(crate) members: Vec<Member>,
}

/// What a row may still make up.
pub(crate) struct Room(usize);

impl Room {
    pub(crate) fn new() -> Self {
        Self(MAX_MADE_UP)
    }

    /// Bytes that have been made up.
    pub(crate) fn used(&self) -> usize {
        MAX_MADE_UP - self.0
    }

    fn take(&mut self, bytes: usize) -> Result<(), RowError> {
        let left = self.0.checked_sub(bytes.max(1));
        self.0 = left.ok_or(Problem::MadeUp)?;
        Ok(())
    }
}

impl Column {
    /// Appends the value that is read next.
    pub(crate) fn read(
        &mut self,
        reader: &mut Reader<'_>,
        form: Form,
        room: &mut Room,
    ) -> Result<(), RowError> {
        match &mut self.node {
            Node::Bool(values) => values.append(reader.read_bool()?),
            Node::Number { size, values } => {
                let bytes = reader.read_numbers(1, *size)?;
                extend(values, bytes, *size, reader.byte_order());
            }
            Node::Text {
                coding,
                offsets,
                bytes,
            } => read_text(coding, offsets, bytes, reader)?,
            Node::Octets {
                bound,
                offsets,
                bytes,
            } => {
                let scope = reader.begin_sequence(*bound, true, 1)?;
                push_bytes(offsets, bytes, reader.read_numbers(scope.count, 1)?)?;
                reader.end_sequence(scope);
            }
            Node::Enum { of, names, values } => {
                let value = reader.read_enum(of.size())?;
                let place = of.literals.iter().position(|known| known.value == value);
                if place.is_none() {
                    reader.not_constructed(DecodeErrorKind::UnknownLiteral(value))?;
                }
                // Of what is dropped it may be any.
                let place = place.unwrap_or_default();
                values.push(match names {
                    Some(_) => i32::try_from(place).unwrap_or(i32::MAX),
                    None => value,
                });
            }
            Node::Bits { size, values } => {
                let bits = reader.read_bits(*size)?;
                push_number(values, *size, bits.into());
            }
            Node::Bitset { of, fields } => {
                let bits = reader.read_bits(of.size())?;
                for (column, field) in fields.iter_mut().zip(of.fields.iter()) {
                    column.push(field.value(bits));
                }
            }
            Node::Decimal { scale, values } => {
                let value = read_decimal(reader)?;
                let number = scaled(value, *scale);
                let scale = *scale;
                values.push(number.ok_or(Problem::Decimal { value, scale })?);
            }
            Node::Pair(parts) => {
                let value = read_decimal(reader)?;
                let [mantissa, exponent] = &mut **parts;
                mantissa.push(value.mantissa().into());
                exponent.push(value.exponent().into());
            }
            Node::Struct(of) => of.read(self.len, reader, form, room)?,
            Node::Union(of) => of.read(reader, form, room)?,
            Node::List {
                element,
                length,
                primitive,
                offsets,
            } => {
                read_elements(element, *length, *primitive, reader, form, room)?;
                offsets.push(place(element.len)?);
            }
            Node::Map {
                key,
                value,
                bound,
                primitive,
                offsets,
            } => {
                let scope = reader.begin_sequence(*bound, *primitive, 2)?;
                for _ in 0..scope.count {
                    key.read(reader, form, room)?;
                    value.read(reader, form, room)?;
                }
                reader.end_sequence(scope);
                offsets.push(place(key.len)?);
            }
        }
        self.validity.append_non_null();
        self.len += 1;
        Ok(())
    }

    /// Appends as much of the text, list or map that is read next as its bound allows.
    fn read_trimmed(
        &mut self,
        reader: &mut Reader<'_>,
        form: Form,
        room: &mut Room,
    ) -> Result<(), RowError> {
        let bound = self.bound().map(mem::take).unwrap_or_default();
        let read = self.read(reader, form, room);
        if let Some(kept) = self.bound() {
            *kept = bound;
        }
        read?;
        if bound > 0 {
            self.trim(bound);
        }
        Ok(())
    }

    /// The largest length of a text, list or map; 0 for any.
    fn bound(&mut self) -> Option<&mut u32> {
        match &mut self.node {
            Node::Text {
                coding: Coding::String { bound } | Coding::WString { bound, .. },
                ..
            }
            | Node::Octets { bound, .. }
            | Node::List {
                length: Length::Counted(bound),
                ..
            }
            | Node::Map { bound, .. } => Some(bound),
            _ => None,
        }
    }

    /// Drops what the last value has more than a bound allows.
    fn trim(&mut self, bound: u32) {
        let most = usize::try_from(bound).unwrap_or(usize::MAX);
        match &mut self.node {
            Node::Text {
                coding,
                offsets,
                bytes,
            } => {
                let start = last_start(offsets);
                let text = bytes.as_slice().get(start..).unwrap_or_default();
                let mut text = WString(String::from_utf8_lossy(text).into_owned());
                match coding {
                    Coding::WString { .. } => text.trim(bound),
                    _ => text.0.trim(bound),
                }
                bytes.truncate(cut(offsets, start.saturating_add(text.0.len())));
            }
            Node::Octets { offsets, bytes, .. } => {
                let end = last_start(offsets).saturating_add(most);
                bytes.truncate(cut(offsets, end));
            }
            Node::List {
                element, offsets, ..
            } => {
                let end = last_start(offsets).saturating_add(most);
                element.truncate(cut(offsets, end));
            }
            Node::Map {
                key,
                value,
                offsets,
                ..
            } => {
                let end = last_start(offsets).saturating_add(most);
                let end = cut(offsets, end);
                key.truncate(end);
                value.truncate(end);
            }
            _ => {}
        }
    }

    /// Appends null, or what stands for a member that is not there.
    pub(crate) fn fill(&mut self, valid: bool, room: &mut Room) -> Result<(), RowError> {
        room.take(match &self.node {
            // Large arrays have no elements where they are null.
            Node::List {
                length: Length::Array { count, .. },
                ..
            } if !valid && !is_fixed(*count) => size_of::<i32>(),
            _ => self.cost,
        })?;
        self.pad(valid);
        Ok(())
    }

    /// The same, of which the cost is known.
    fn pad(&mut self, valid: bool) {
        match &mut self.node {
            Node::Bool(values) => values.append(false),
            Node::Number { size, values } | Node::Bits { size, values } => {
                values.extend_zeros(*size);
            }
            Node::Text { offsets, .. }
            | Node::Octets { offsets, .. }
            | Node::Map { offsets, .. } => again(offsets),
            Node::Enum { of, names, values } => {
                let first = of.literals.first().map_or(0, |first| first.value);
                values.push(if names.is_some() { 0 } else { first });
            }
            Node::Bitset { fields, .. } => fields.iter_mut().for_each(|field| field.pad(true)),
            Node::Decimal { values, .. } => values.push(0_i128),
            Node::Pair(parts) => parts.iter_mut().for_each(|part| part.pad(true)),
            Node::Struct(of) => {
                for member in &mut of.members {
                    member.column.pad(!member.optional);
                }
            }
            Node::Union(of) => of.pad(),
            Node::List {
                element,
                length,
                offsets,
                ..
            } => {
                if let Length::Array { count, .. } = *length
                    && (valid || is_fixed(count))
                {
                    (0..count).for_each(|_| element.pad(true));
                }
                offsets.push(i32::try_from(element.len).unwrap_or(i32::MAX));
            }
        }
        self.validity.append(valid);
        self.len += 1;
    }

    /// Appends a number to a column of integers, booleans, characters or literals.
    fn push(&mut self, value: i128) {
        match &mut self.node {
            Node::Bool(values) => values.append(value != 0),
            Node::Number { size, values } => push_number(values, *size, value),
            Node::Enum { of, names, values } => {
                let literals = of.literals.iter();
                let place = literals
                    .clone()
                    .position(|known| i128::from(known.value) == value);
                let number = match names {
                    Some(_) => place.and_then(|place| i32::try_from(place).ok()),
                    None => i32::try_from(value).ok(),
                };
                values.push(number.unwrap_or(0));
            }
            Node::Text { offsets, bytes, .. } => {
                let code = u32::try_from(value).ok().and_then(char::from_u32);
                let char = code.unwrap_or(char::REPLACEMENT_CHARACTER);
                bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                offsets.push(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
            }
            // No discriminator and no field of a bitset is of another type.
            _ => return self.pad(true),
        }
        self.validity.append_non_null();
        self.len += 1;
    }

    /// Drops all rows from `len` on, and what a row has left half done.
    pub(crate) fn truncate(&mut self, len: usize) {
        match &mut self.node {
            Node::Bool(values) => values.truncate(len),
            Node::Number { size, values } | Node::Bits { size, values } => {
                values.truncate(len * *size);
            }
            Node::Text { offsets, bytes, .. } | Node::Octets { offsets, bytes, .. } => {
                bytes.truncate(shorten(offsets, len));
            }
            Node::Enum { values, .. } => values.truncate(len * size_of::<i32>()),
            Node::Bitset { fields, .. } => fields.iter_mut().for_each(|field| field.truncate(len)),
            Node::Decimal { values, .. } => values.truncate(len * size_of::<i128>()),
            Node::Pair(parts) => parts.iter_mut().for_each(|part| part.truncate(len)),
            Node::Struct(of) => of.truncate(len),
            Node::Union(of) => {
                of.discriminator.truncate(len);
                let members = of.members.iter_mut();
                members.for_each(|member| member.column.truncate(len));
            }
            Node::List {
                element, offsets, ..
            } => element.truncate(shorten(offsets, len)),
            Node::Map {
                key,
                value,
                offsets,
                ..
            } => {
                let len = shorten(offsets, len);
                key.truncate(len);
                value.truncate(len);
            }
        }
        self.validity.truncate(len);
        self.len = len;
    }
}

impl Struct {
    /// Appends a value of each member to columns that have `row`.
    pub(crate) fn read(
        &mut self,
        row: usize,
        reader: &mut Reader<'_>,
        form: Form,
        room: &mut Room,
    ) -> Result<(), RowError> {
        let all = form == Form::Sample || !self.has_key;
        let scope = reader.begin_struct(self.extensibility)?;
        if self.extensibility == Extensibility::Mutable {
            while let Some(header) = reader.next_member(&scope)? {
                let mut members = self.members.iter_mut();
                match members.find(|member| member.id == header.id && (all || member.is_key)) {
                    Some(member) => {
                        // The last one of a member that comes twice holds.
                        if member.column.len > row {
                            member.column.truncate(row);
                        }
                        member.read(reader, form, room)?;
                    }
                    None => reader.skip_unknown(&header)?,
                }
                reader.end_member(header);
            }
        } else {
            for member in &mut self.members {
                if !all && !member.is_key {
                    continue;
                }
                if !reader.has_member(&scope) {
                    break;
                }
                if !member.optional {
                    member.read(reader, form, room)?;
                } else if let Some(header) = reader.begin_optional(member.id)? {
                    member.read(reader, form, room)?;
                    reader.end_member(header);
                }
            }
        }
        reader.end_struct(scope);
        for member in &mut self.members {
            if member.column.len == row {
                let valid = !member.optional && (all || member.is_key);
                member.column.fill(valid, room)?;
            }
        }
        Ok(())
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        for member in &mut self.members {
            member.column.truncate(len);
        }
    }
}

impl Member {
    fn read(
        &mut self,
        reader: &mut Reader<'_>,
        form: Form,
        room: &mut Room,
    ) -> Result<(), RowError> {
        let row = self.column.len;
        let tried = match self.try_construct {
            TryConstruct::UseDefault => Some(reader.begin_try()),
            TryConstruct::Discard | TryConstruct::Trim => None,
        };
        let read = match self.try_construct {
            TryConstruct::Trim => self.column.read_trimmed(reader, form, room),
            TryConstruct::Discard | TryConstruct::UseDefault => {
                self.column.read(reader, form, room)
            }
        };
        read.map_err(|error| error.within(self.column.field.name()))?;
        // It is as one that is not there then.
        if tried.is_some_and(|tried| reader.end_try(tried)) {
            self.column.truncate(row);
        }
        Ok(())
    }
}

impl Union {
    fn read(
        &mut self,
        reader: &mut Reader<'_>,
        form: Form,
        room: &mut Room,
    ) -> Result<(), RowError> {
        let headers = self.of.extensibility == Extensibility::Mutable;
        let scope = reader.begin_struct(self.of.extensibility)?;
        let header = match headers {
            true => reader.next_member(&scope)?,
            false => None,
        };
        let id = header.as_ref().map(|header| header.id);
        if headers && id != Some(UnionDescription::DISCRIMINATOR_ID) {
            return Err(reader.error(DecodeErrorKind::MalformedMemberHeader).into());
        }
        let row = self.discriminator.len;
        let label = self.discriminator.label(&mut reader.clone())?;
        self.discriminator.read(reader, form, room)?;
        if let Some(header) = header {
            reader.end_member(header);
        }
        let is_key = form == Form::Key && self.of.discriminator_key;
        // One that is not known is an error, unless it is being tried: then it is not known either what follows.
        let is_unknown = reader.is_trying()
            && match &self.discriminator.node {
                Node::Enum { of, .. } => {
                    let mut literals = of.literals.iter();
                    literals.all(|known| i64::from(known.value) != label)
                }
                _ => false,
            };
        let selected = self.of.case(label).filter(|_| !is_key && !is_unknown);
        let selected = selected.map(|case| case.member.id);
        if is_unknown {
            reader.unknown_case(&scope, self.of.extensibility, label, "")?;
        } else if headers {
            while let Some(header) = reader.next_member(&scope)? {
                match self.member(selected.filter(|id| *id == header.id)) {
                    Some(member) => {
                        if member.column.len > row {
                            member.column.truncate(row);
                        }
                        member.read(reader, form, room)?;
                    }
                    None => reader.skip_unknown(&header)?,
                }
                reader.end_member(header);
            }
        } else if let Some(member) = self.member(selected) {
            member.read(reader, form, room)?;
        }
        reader.end_struct(scope);
        for member in &mut self.members {
            if member.column.len == row {
                member.column.fill(Some(member.id) == selected, room)?;
            }
        }
        Ok(())
    }

    fn member(&mut self, id: Option<u32>) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| Some(member.id) == id)
    }

    /// The first member that a label selects.
    fn pad(&mut self) {
        let labelled = self.of.cases.iter().find_map(|case| {
            let label = case.labels.first()?;
            Some((case.member.id, *label))
        });
        match labelled {
            Some((_, label)) => self.discriminator.push(label.into()),
            None => self.discriminator.pad(true),
        }
        for member in &mut self.members {
            let valid = labelled.is_some_and(|(id, _)| id == member.id);
            member.column.pad(valid);
        }
    }
}

impl Column {
    /// The value of a discriminator. Those beyond `i64` select what no label selects.
    fn label(&self, reader: &mut Reader<'_>) -> Result<i64, RowError> {
        use arrow_schema::DataType;
        Ok(match (&self.node, self.field.data_type()) {
            (Node::Bool(_), _) => reader.read_bool()?.into(),
            (Node::Enum { of, .. }, _) => reader.read_enum(of.size())?.into(),
            (
                Node::Text {
                    coding: Coding::WChar,
                    ..
                },
                _,
            ) => reader.read_u16()?.into(),
            (_, DataType::Int8) => reader.read_i8()?.into(),
            (_, DataType::Int16) => reader.read_i16()?.into(),
            (_, DataType::UInt16) => reader.read_u16()?.into(),
            (_, DataType::Int32) => reader.read_i32()?.into(),
            (_, DataType::UInt32) => reader.read_u32()?.into(),
            (_, DataType::Int64) => reader.read_i64()?,
            (_, DataType::UInt64) => i64::try_from(reader.read_u64()?).unwrap_or(i64::MAX),
            _ => reader.read_u8()?.into(),
        })
    }
}

fn read_text(
    coding: &mut Coding,
    offsets: &mut Vec<i32>,
    bytes: &mut MutableBuffer,
    reader: &mut Reader<'_>,
) -> Result<(), RowError> {
    let char = match coding {
        Coding::Char => char::from(reader.read_u8()?),
        // Half of a character has no UTF-8.
        Coding::WChar => {
            char::from_u32(reader.read_u16()?.into()).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        Coding::String { bound } => {
            return push_bytes(offsets, bytes, reader.read_str(*bound)?.as_bytes());
        }
        Coding::WString { bound, scratch } => {
            reader.read_wstring_into(*bound, scratch)?;
            return push_bytes(offsets, bytes, scratch.as_bytes());
        }
    };
    push_bytes(offsets, bytes, char.encode_utf8(&mut [0; 4]).as_bytes())
}

fn read_elements(
    element: &mut Column,
    length: Length,
    primitive: bool,
    reader: &mut Reader<'_>,
    form: Form,
    room: &mut Room,
) -> Result<(), RowError> {
    let size = match &element.node {
        Node::Number { size, .. } => Some(*size),
        _ => None,
    };
    let (scope, count) = match length {
        Length::Counted(bound) => {
            let scope = reader.begin_sequence(bound, primitive, size.unwrap_or(1))?;
            let count = scope.count;
            (Some(scope), count)
        }
        Length::Array { count, flat: None } => (None, count),
        Length::Array {
            count,
            flat: Some(flat),
        } => (Some(reader.begin_array(flat, primitive)?), count),
    };
    match (size, &mut element.node) {
        // All at once.
        (Some(size), Node::Number { values, .. }) => {
            let bytes = reader.read_numbers(count, size)?;
            extend(values, bytes, size, reader.byte_order());
            element.validity.append_n_non_nulls(count);
            element.len += count;
        }
        _ => {
            for _ in 0..count {
                element.read(reader, form, room)?;
            }
        }
    }
    if let Some(scope) = scope {
        reader.end_sequence(scope);
    }
    Ok(())
}

fn read_decimal(reader: &mut Reader<'_>) -> Result<Decimal, RowError> {
    let (mantissa, exponent) = (reader.read_i64()?, reader.read_i32()?);
    let value = i8::try_from(exponent)
        .ok()
        .and_then(|exponent| Decimal::new(mantissa, exponent));
    let invalid = || reader.error(DecodeErrorKind::InvalidExponent(exponent));
    Ok(value.ok_or_else(invalid)?)
}

/// The number times ten to the power of `scale`, if that is a whole number of 38 digits.
fn scaled(value: Decimal, scale: i8) -> Option<i128> {
    let mantissa = i128::from(value.mantissa());
    let power = i32::from(value.exponent()) + i32::from(scale);
    let ten = 10_i128.checked_pow(power.unsigned_abs());
    let number = match (power >= 0, ten) {
        _ if mantissa == 0 => Some(0),
        (true, ten) => mantissa.checked_mul(ten?),
        (false, Some(ten)) if mantissa % ten == 0 => Some(mantissa / ten),
        (false, _) => None,
    };
    number.filter(|number| number.unsigned_abs() < 10_u128.pow(38))
}

/// Numbers as they lie in a payload.
fn extend(values: &mut MutableBuffer, bytes: &[u8], size: usize, order: ByteOrder) {
    if size == 1 || order == NATIVE {
        return values.extend_from_slice(bytes);
    }
    for number in bytes.chunks_exact(size) {
        let mut turned = [0; 8];
        for (to, from) in turned.iter_mut().zip(number.iter().rev()) {
            *to = *from;
        }
        values.extend_from_slice(turned.get(..size).unwrap_or_default());
    }
}

/// The lowest bytes of a number.
fn push_number(values: &mut MutableBuffer, size: usize, value: i128) {
    let bytes = value.to_le_bytes();
    let bytes = bytes.get(..size).unwrap_or_default();
    extend(values, bytes, size, ByteOrder::Little);
}

fn push_bytes(
    offsets: &mut Vec<i32>,
    bytes: &mut MutableBuffer,
    value: &[u8],
) -> Result<(), RowError> {
    let end = place(bytes.len().saturating_add(value.len()))?;
    bytes.extend_from_slice(value);
    offsets.push(end);
    Ok(())
}

/// Where something ends, in the 31 bits that columns have for it.
fn place(end: usize) -> Result<i32, RowError> {
    Ok(i32::try_from(end).map_err(|_| Problem::Full)?)
}

/// Nothing follows.
fn again(offsets: &mut Vec<i32>) {
    offsets.push(offsets.last().copied().unwrap_or(0));
}

/// Keeps so many rows; says where the last one ends.
fn shorten(offsets: &mut Vec<i32>, len: usize) -> usize {
    offsets.truncate(len + 1);
    let end = offsets.last().copied().unwrap_or(0);
    usize::try_from(end).unwrap_or(0)
}

/// Where the last row begins.
fn last_start(offsets: &[i32]) -> usize {
    let start = offsets.iter().rev().nth(1).copied().unwrap_or_default();
    usize::try_from(start).unwrap_or_default()
}

/// Has the last row end there, unless it ends before; returns where it ends.
fn cut(offsets: &mut [i32], end: usize) -> usize {
    let Some(last) = offsets.last_mut() else {
        return 0;
    };
    *last = (*last).min(i32::try_from(end).unwrap_or(i32::MAX));
    usize::try_from(*last).unwrap_or_default()
}

/// Whether an array of so many elements is a list of fixed size: those have elements where they are null, too.
pub(crate) fn is_fixed(count: usize) -> bool {
    count <= MAX_FIXED
}

/// The places of lists without a row.
pub(crate) fn no_offsets() -> Vec<i32> {
    vec![0]
}

/// All places so far.
pub(crate) fn take_offsets(offsets: &mut Vec<i32>) -> Vec<i32> {
    mem::replace(offsets, no_offsets())
}

const NATIVE: ByteOrder = match cfg!(target_endian = "little") {
    true => ByteOrder::Little,
    false => ByteOrder::Big,
};
const MAX_FIXED: usize = 1_024;
/// Bytes that are made up for one row.
const MAX_MADE_UP: usize = 16 << 20;
