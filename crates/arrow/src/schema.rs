//! Columns of a type.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_buffer::{BooleanBufferBuilder, Buffer, MutableBuffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use tickwire::Decimal;
use tickwire::cdr::{
    self, BitmaskDescription, BitsetDescription, Describe, EnumDescription, Shared, Type,
    TypeDescription, UnionDescription,
};

use crate::Options;
use crate::column::{Coding, Column, Length, Member, Node, Struct, Union, is_fixed, no_offsets};
use crate::error::{MAX_COLUMNS, SchemaError};

/// The columns of the members of a type.
pub(crate) fn columns(of: &TypeDescription, options: &Options) -> Result<Struct, SchemaError> {
    if let Some(scale) = options.decimals.filter(|scale| !(0..=38).contains(scale)) {
        return Err(SchemaError::Scale(scale));
    }
    let mut maker = Maker {
        options,
        count: 0,
        path: vec![of.name.to_string()],
    };
    maker.structure(of)
}

struct Maker<'o> {
    options: &'o Options,
    /// Columns so far, those within others counted.
    count: usize,
    /// Names from the type down to the member that is looked at.
    path: Vec<String>,
}

/// What a column is made of.
struct Made {
    data_type: DataType,
    node: Node,
    cost: usize,
    /// The field's.
    metadata: HashMap<String, String>,
}

impl Made {
    fn new(data_type: DataType, node: Node, cost: usize) -> Self {
        Self {
            data_type,
            node,
            cost,
            metadata: HashMap::new(),
        }
    }

    fn number(data_type: DataType, size: usize) -> Self {
        let values = MutableBuffer::default();
        Self::new(data_type, Node::Number { size, values }, size)
    }

    fn text(coding: Coding) -> Self {
        let (offsets, bytes) = (no_offsets(), MutableBuffer::default());
        let node = Node::Text {
            coding,
            offsets,
            bytes,
        };
        Self::new(DataType::Utf8, node, OFFSET)
    }
}

impl Maker<'_> {
    fn column(&mut self, name: &str, nullable: bool, ty: &Type) -> Result<Column, SchemaError> {
        self.count += 1;
        if self.count > MAX_COLUMNS {
            return Err(SchemaError::TooManyColumns);
        }
        self.path.push(name.to_owned());
        if self.path.len() > MAX_DEPTH {
            return Err(SchemaError::TooDeep { path: self.shown() });
        }
        let made = self.made(ty)?;
        self.path.pop();
        let field = Field::new(name, made.data_type, nullable).with_metadata(made.metadata);
        Ok(column(field, made.node, made.cost))
    }

    fn shown(&self) -> String {
        self.path.join(".")
    }

    fn made(&mut self, ty: &Type) -> Result<Made, SchemaError> {
        Ok(match ty {
            Type::Bool => Made::new(
                DataType::Boolean,
                Node::Bool(BooleanBufferBuilder::new(0)),
                1,
            ),
            Type::U8 | Type::Byte => Made::number(DataType::UInt8, 1),
            Type::I8 => Made::number(DataType::Int8, 1),
            Type::U16 => Made::number(DataType::UInt16, 2),
            Type::I16 => Made::number(DataType::Int16, 2),
            Type::U32 => Made::number(DataType::UInt32, 4),
            Type::I32 => Made::number(DataType::Int32, 4),
            Type::U64 => Made::number(DataType::UInt64, 8),
            Type::I64 => Made::number(DataType::Int64, 8),
            Type::F32 => Made::number(DataType::Float32, 4),
            Type::F64 => Made::number(DataType::Float64, 8),
            Type::Char => Made::text(Coding::Char),
            Type::WChar => Made::text(Coding::WChar),
            Type::String { bound } => Made::text(Coding::String { bound: *bound }),
            Type::WString { bound } => Made::text(Coding::WString {
                bound: *bound,
                scratch: String::new(),
            }),
            Type::Sequence { element, bound } if **element == Type::Byte => {
                let (offsets, bytes) = (no_offsets(), MutableBuffer::default());
                let node = Node::Octets {
                    bound: *bound,
                    offsets,
                    bytes,
                };
                Made::new(DataType::Binary, node, OFFSET)
            }
            Type::Sequence { element, bound } => {
                let primitive = element.is_primitive();
                self.list(element, Length::Counted(*bound), primitive)?
            }
            Type::Array { element, length } => self.array(ty, element, *length)?,
            Type::Map { key, value, bound } => self.map(key, value, *bound)?,
            Type::Enum(of) => self.enumeration(of)?,
            Type::Bitmask(of) => bitmask(of),
            Type::Bitset(of) => self.bitset(of)?,
            Type::Struct(_) if *ty == Decimal::TYPE => self.decimal()?,
            Type::Struct(of) => {
                let members = self.structure(of)?;
                let (fields, cost) = of_members(&members.members);
                Made::new(DataType::Struct(fields), Node::Struct(members), cost)
            }
            Type::Union(of) => self.union(of)?,
            Type::Recursive(_) => return Err(SchemaError::Recursive { path: self.shown() }),
        })
    }

    fn structure(&mut self, of: &TypeDescription) -> Result<Struct, SchemaError> {
        Ok(Struct {
            name: of.name.clone(),
            extensibility: of.extensibility,
            has_key: of.has_key(),
            members: self.members(of.members.iter(), false)?,
        })
    }

    /// Columns of members, all of which can be null in a union.
    fn members<'d>(
        &mut self,
        members: impl Iterator<Item = &'d cdr::Member>,
        in_union: bool,
    ) -> Result<Vec<Member>, SchemaError> {
        let mut names = HashSet::new();
        let members = members.map(|member| {
            if !names.insert(&*member.name) {
                return Err(SchemaError::Duplicate(member.name.to_string()));
            }
            let nullable = member.optional || in_union || self.options.key_rows;
            Ok(Member {
                id: member.id,
                is_key: member.key,
                optional: member.optional || in_union,
                try_construct: member.try_construct,
                column: self.column(&member.name, nullable, &member.ty)?,
            })
        });
        members.collect()
    }

    fn list(
        &mut self,
        element: &Type,
        length: Length,
        primitive: bool,
    ) -> Result<Made, SchemaError> {
        let element = self.column(ITEM, false, element)?;
        let field = Arc::clone(&element.field);
        let (data_type, cost) = match length {
            Length::Counted(_) => (DataType::List(field), OFFSET),
            Length::Array { count, .. } => {
                let cost = OFFSET.saturating_add(element.cost.saturating_mul(count));
                let fixed = i32::try_from(count).ok().filter(|_| is_fixed(count));
                let data_type = match fixed {
                    Some(count) => DataType::FixedSizeList(field, count),
                    None => DataType::List(field),
                };
                (data_type, cost)
            }
        };
        let node = Node::List {
            element: Box::new(element),
            length,
            primitive,
            offsets: no_offsets(),
        };
        Ok(Made::new(data_type, node, cost))
    }

    /// A list for each dimension, of which the outermost has the frame.
    fn array(&mut self, ty: &Type, element: &Type, length: u32) -> Result<Made, SchemaError> {
        let (mut flat, mut innermost) = (1_usize, ty);
        while let Type::Array { element, length } = innermost {
            flat = flat.saturating_mul(usize::try_from(*length).unwrap_or(usize::MAX));
            innermost = element;
        }
        let length = Length::Array {
            count: usize::try_from(length).unwrap_or(usize::MAX),
            flat: Some(flat),
        };
        let mut made = self.list(element, length, innermost.is_primitive())?;
        if let Node::List { element, .. } = &mut made.node
            && let Node::List {
                length: Length::Array { flat, .. },
                ..
            } = &mut element.node
        {
            *flat = None;
        }
        Ok(made)
    }

    fn map(&mut self, key: &Type, value: &Type, bound: u32) -> Result<Made, SchemaError> {
        let primitive = key.is_primitive() && value.is_primitive();
        let key = self.column("key", false, key)?;
        let value = self.column("value", false, value)?;
        let entries = Fields::from(vec![Arc::clone(&key.field), Arc::clone(&value.field)]);
        let entries = Field::new("entries", DataType::Struct(entries), false);
        let node = Node::Map {
            key: Box::new(key),
            value: Box::new(value),
            bound,
            primitive,
            offsets: no_offsets(),
        };
        Ok(Made::new(
            DataType::Map(entries.into(), false),
            node,
            OFFSET,
        ))
    }

    fn enumeration(&mut self, of: &Shared<EnumDescription>) -> Result<Made, SchemaError> {
        if of.literals.is_empty() {
            return Err(SchemaError::Incomplete { path: self.shown() });
        }
        let values = MutableBuffer::default();
        let of = of.clone();
        if self.options.enum_numbers {
            let literals = of.literals.iter();
            let literals = literals.map(|literal| (&*literal.name, i128::from(literal.value)));
            let metadata = labelled("tickwire.enum", literals);
            let names = None;
            let node = Node::Enum { of, names, values };
            return Ok(Made {
                metadata,
                ..Made::new(DataType::Int32, node, 4)
            });
        }
        let names = of.literals.iter().map(|literal| &*literal.name);
        let names = text(names).ok_or_else(|| SchemaError::Incomplete { path: self.shown() })?;
        let data_type = name_type();
        let names = Some(names);
        Ok(Made::new(data_type, Node::Enum { of, names, values }, 4))
    }

    fn bitset(&mut self, of: &Shared<BitsetDescription>) -> Result<Made, SchemaError> {
        let fields = of.fields.iter();
        let fields = fields.map(|field| self.column(&field.name, false, &field.ty));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let cost = fields.iter().map(|field| field.cost).sum();
        let types: Fields = fields
            .iter()
            .map(|field| Arc::clone(&field.field))
            .collect();
        let of = of.clone();
        let node = Node::Bitset { of, fields };
        Ok(Made::new(DataType::Struct(types), node, cost))
    }

    fn decimal(&mut self) -> Result<Made, SchemaError> {
        if let Some(scale) = self.options.decimals {
            let values = MutableBuffer::default();
            let node = Node::Decimal { scale, values };
            return Ok(Made::new(DataType::Decimal128(38, scale), node, 16));
        }
        let mantissa = self.column("mantissa", false, &Type::I64)?;
        let exponent = self.column("exponent", false, &Type::I32)?;
        let fields = vec![Arc::clone(&mantissa.field), Arc::clone(&exponent.field)];
        let node = Node::Pair(Box::new([mantissa, exponent]));
        Ok(Made::new(DataType::Struct(fields.into()), node, 12))
    }

    fn union(&mut self, of: &Shared<UnionDescription>) -> Result<Made, SchemaError> {
        let discriminator = self.column(DISCRIMINATOR, false, &of.discriminator)?;
        let members = self.members(of.cases.iter().map(|case| &case.member), true)?;
        let (fields, cost) = of_members(&members);
        let fields: Fields = [&discriminator.field]
            .into_iter()
            .chain(fields.iter())
            .map(Arc::clone)
            .collect();
        let cost = discriminator.cost.saturating_add(cost);
        let union = Union {
            of: of.clone(),
            discriminator,
            members,
        };
        let node = Node::Union(Box::new(union));
        Ok(Made::new(DataType::Struct(fields), node, cost))
    }
}

fn column(field: Field, node: Node, cost: usize) -> Column {
    Column {
        field: field.into(),
        node,
        len: 0,
        validity: NullBufferBuilder::new(0),
        cost,
    }
}

fn of_members(members: &[Member]) -> (Fields, usize) {
    let fields: Vec<FieldRef> = members
        .iter()
        .map(|member| Arc::clone(&member.column.field))
        .collect();
    let costs = members.iter().map(|member| member.column.cost);
    (fields.into(), costs.fold(1, usize::saturating_add))
}

fn bitmask(of: &Shared<BitmaskDescription>) -> Made {
    let size = of.size();
    let data_type = match size {
        1 => DataType::UInt8,
        2 => DataType::UInt16,
        4 => DataType::UInt32,
        _ => DataType::UInt64,
    };
    let flags = of.flags.iter();
    let flags = flags.map(|flag| (&*flag.name, 1 << flag.position.min(64)));
    let values = MutableBuffer::default();
    Made {
        metadata: labelled("tickwire.bitmask", flags),
        ..Made::new(data_type, Node::Bits { size, values }, size)
    }
}

/// Names and numbers as a field's metadata: `BUY=1,SELL=2`.
fn labelled<'n>(
    key: &str,
    names: impl Iterator<Item = (&'n str, i128)>,
) -> HashMap<String, String> {
    let names: Vec<_> = names
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    HashMap::from([(key.to_owned(), names.join(","))])
}

/// A dictionary of text.
pub(crate) fn name_type() -> DataType {
    DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())
}

/// An array of text.
pub(crate) fn text<'t>(values: impl Iterator<Item = &'t str>) -> Option<ArrayData> {
    let (mut offsets, mut bytes) = (no_offsets(), Vec::new());
    for value in values {
        bytes.extend_from_slice(value.as_bytes());
        offsets.push(i32::try_from(bytes.len()).ok()?);
    }
    let array = ArrayData::builder(DataType::Utf8)
        .len(offsets.len() - 1)
        .add_buffer(Buffer::from_vec(offsets))
        .add_buffer(Buffer::from_vec(bytes));
    array.build().ok()
}

/// What the column of a union's discriminator is called.
const DISCRIMINATOR: &str = "$discriminator";
/// What Arrow calls the elements of lists.
const ITEM: &str = "item";
/// Bytes that tell where a value ends.
const OFFSET: usize = size_of::<i32>();
const MAX_DEPTH: usize = 64;
