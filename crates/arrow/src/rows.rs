//! Payloads in, record batches out.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, make_array};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use tickwire::SampleInfo;
use tickwire::cdr::dynamic::Form;
use tickwire::cdr::{DecodeErrorKind, Encapsulation, Reader, TypeDescription};

use crate::Options;
use crate::column::{Room, Struct};
use crate::error::{RowError, SchemaError};
use crate::info::InfoColumn;
use crate::schema::columns;

/// Rows of one type, until they are a batch.
pub struct Rows {
    schema: SchemaRef,
    members: Struct,
    info: Vec<InfoColumn>,
    len: usize,
    weight: usize,
}

impl Rows {
    /// None yet, of a type.
    ///
    /// # Errors
    /// What columns cannot be: see [`SchemaError`].
    pub fn new(of: &TypeDescription, options: &Options) -> Result<Self, SchemaError> {
        let members = columns(of, options)?;
        let info = options.info.iter();
        let info: Vec<_> = info
            .map(|(info, name)| InfoColumn::new(*info, name))
            .collect();
        let fields = members.members.iter().map(|member| &member.column.field);
        let fields = fields.chain(info.iter().map(|column| &column.field));
        let fields: Vec<_> = fields.map(Arc::clone).collect();
        let mut names = HashSet::new();
        if let Some(twice) = fields.iter().find(|field| !names.insert(field.name())) {
            return Err(SchemaError::Duplicate(twice.name().clone()));
        }
        Ok(Self {
            schema: Arc::new(Schema::new(fields)),
            members,
            info,
            len: 0,
            weight: 0,
        })
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that they take, about: payloads, and what was made up for members that were absent.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Adds the row of a payload, encapsulation header included. [`Form::Key`] needs
    /// [`key_rows`](Options::key_rows).
    ///
    /// # Errors
    /// The payload is no value of the type, or does not fit. No row is added then.
    pub fn append(
        &mut self,
        payload: &[u8],
        form: Form,
        info: Option<&SampleInfo>,
    ) -> Result<(), RowError> {
        let mut room = Room::new();
        if let Err(error) = self.read(payload, form, &mut room) {
            self.members.truncate(self.len);
            return Err(error.within(&self.members.name));
        }
        if let Some(info) = info {
            self.info.iter_mut().for_each(|column| column.push(info));
        }
        self.len += 1;
        self.weight = self
            .weight
            .saturating_add(payload.len())
            .saturating_add(room.used());
        Ok(())
    }

    /// Adds a row without any member, for a sample that does not even say its key.
    pub fn append_nothing(&mut self, info: Option<&SampleInfo>) -> Result<(), RowError> {
        let mut room = Room::new();
        let mut members = self.members.members.iter_mut();
        let filled = members.try_for_each(|member| member.column.fill(false, &mut room));
        if let Err(error) = filled {
            self.members.truncate(self.len);
            return Err(error.within(&self.members.name));
        }
        if let Some(info) = info {
            self.info.iter_mut().for_each(|column| column.push(info));
        }
        self.len += 1;
        self.weight = self.weight.saturating_add(room.used());
        Ok(())
    }

    fn read(&mut self, payload: &[u8], form: Form, room: &mut Room) -> Result<(), RowError> {
        let (encapsulation, body) = Encapsulation::parse(payload)?;
        let representation = encapsulation.representation;
        let expected = Encapsulation::new(representation, self.members.extensibility);
        let mut reader = Reader::new(body, encapsulation);
        if encapsulation.extensibility != expected.extensibility {
            return Err(reader.error(DecodeErrorKind::WrongExtensibility).into());
        }
        self.members.read(self.len, &mut reader, form, room)
    }

    /// All rows so far as a batch. Begins anew.
    ///
    /// # Errors
    /// None that payloads can bring about.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let len = std::mem::take(&mut self.len);
        self.weight = 0;
        let members = self.members.members.iter_mut();
        let members = members.map(|member| member.column.finish());
        let info = self.info.iter_mut().map(|column| column.finish(len));
        // All are finished before one that failed is told of.
        let arrays: Vec<_> = members.chain(info).collect();
        let arrays = arrays.into_iter().map(|array| array.map(make_array));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(len));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
    }
}
