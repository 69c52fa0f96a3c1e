//! Columns to arrays.

use std::mem;
use std::sync::Arc;

use arrow_buffer::{Buffer, MutableBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Fields};

use crate::column::{Column, Node, take_offsets};

impl Column {
    /// The array of all rows so far. Begins anew, also after an error.
    pub(crate) fn finish(&mut self) -> Result<ArrayData, ArrowError> {
        let len = mem::take(&mut self.len);
        let array = ArrayData::builder(self.field.data_type().clone())
            .len(len)
            .nulls(self.validity.finish());
        let array = match &mut self.node {
            Node::Bool(values) => array.add_buffer(values.finish().into_inner()),
            Node::Number { values, .. }
            | Node::Bits { values, .. }
            | Node::Decimal { values, .. } => array.add_buffer(taken(values)),
            Node::Text { offsets, bytes, .. } | Node::Octets { offsets, bytes, .. } => array
                .add_buffer(Buffer::from_vec(take_offsets(offsets)))
                .add_buffer(taken(bytes)),
            Node::Enum { names, values, .. } => {
                let array = array.add_buffer(taken(values));
                match names {
                    Some(names) => array.add_child_data(names.clone()),
                    None => array,
                }
            }
            Node::Bitset { fields, .. } => array.child_data(finished(fields.iter_mut())?),
            Node::Pair(parts) => array.child_data(finished(parts.iter_mut())?),
            Node::Struct(of) => {
                let members = of.members.iter_mut();
                array.child_data(finished(members.map(|member| &mut member.column))?)
            }
            Node::Union(of) => {
                let members = of.members.iter_mut().map(|member| &mut member.column);
                let columns = [&mut of.discriminator].into_iter().chain(members);
                array.child_data(finished(columns)?)
            }
            Node::List {
                element, offsets, ..
            } => {
                let offsets = take_offsets(offsets);
                let array = match self.field.data_type() {
                    DataType::FixedSizeList(..) => array,
                    _ => array.add_buffer(Buffer::from_vec(offsets)),
                };
                array.add_child_data(element.finish()?)
            }
            Node::Map {
                key,
                value,
                offsets,
                ..
            } => {
                let offsets = take_offsets(offsets);
                let len = key.len;
                let fields = vec![Arc::clone(&key.field), Arc::clone(&value.field)];
                let entries = ArrayData::builder(DataType::Struct(Fields::from(fields)))
                    .len(len)
                    .child_data(finished([&mut **key, &mut **value].into_iter())?)
                    .build()?;
                array
                    .add_buffer(Buffer::from_vec(offsets))
                    .add_child_data(entries)
            }
        };
        array.build()
    }
}

/// Finishes all of them, also where one fails.
fn finished<'c>(
    columns: impl Iterator<Item = &'c mut Column>,
) -> Result<Vec<ArrayData>, ArrowError> {
    let arrays: Vec<_> = columns.map(Column::finish).collect();
    arrays.into_iter().collect()
}

fn taken(values: &mut MutableBuffer) -> Buffer {
    mem::take(values).into()
}
