//! Samples as columns, for whatever takes Arrow's C data interface: pyarrow, polars, pandas, DuckDB.

use std::ffi::CStr;
use std::sync::{Arc, Mutex};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use tickwire::cdr::dynamic::Form;
use tickwire::{Sample, Samples, Serialized};
use tickwire_arrow::{Info, Options, Rows};

use crate::errors::{Kind, run};
use crate::owned::lock;
use crate::types::PyTopicType;

/// A batch of rows, one for each sample or message, whose columns are the members of their type.
///
/// It has Arrow's PyCapsule interface: `pyarrow.table(batch)`, `polars.DataFrame(batch)`,
/// `pandas.DataFrame.from_arrow(batch)` and whatever else takes that share its memory.
#[pyclass(frozen, module = "tickwire", name = "Batch")]
pub(crate) struct PyBatch {
    batch: RecordBatch,
    name: Arc<str>,
    left_out: LeftOut,
}

/// What became no row.
#[derive(Clone, Default)]
pub(crate) struct LeftOut {
    /// Samples that are no values of the type, or do not fit.
    undecodable: u64,
    /// Why, of the first ones.
    errors: Vec<String>,
    /// Samples that only tell that their instances have ended.
    ended: u64,
}

impl LeftOut {
    pub(crate) fn is_empty(&self) -> bool {
        self.undecodable == 0 && self.ended == 0
    }

    pub(crate) fn add(&mut self, error: &dyn std::fmt::Display) {
        self.undecodable += 1;
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error.to_string());
        }
    }
}

impl PyBatch {
    pub(crate) fn new(batch: RecordBatch, name: Arc<str>, left_out: LeftOut) -> Self {
        Self {
            batch,
            name,
            left_out,
        }
    }
}

#[pymethods]
impl PyBatch {
    /// The name of the rows' type.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// How many rows it has.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// How many columns it has.
    #[getter]
    fn num_columns(&self) -> usize {
        self.batch.num_columns()
    }

    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.batch.schema();
        let fields = schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// Bytes of memory that it takes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batch.get_array_memory_size()
    }

    /// Samples that became no row, since they are no values of the type or do not fit its columns.
    #[getter]
    fn undecodable(&self) -> u64 {
        self.left_out.undecodable
    }

    /// Why, of the first eight of these.
    #[getter]
    fn errors(&self) -> Vec<String> {
        self.left_out.errors.clone()
    }

    /// Samples that became no row, since they only tell that their instances have ended.
    #[getter]
    fn ended(&self) -> u64 {
        self.left_out.ended
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.batch.num_rows(), self.batch.num_columns());
        format!("<Batch of {rows} {} with {columns} columns>", self.name)
    }

    /// Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.batch.schema());
        PyCapsule::new_with_value(py, schema.map_err(failed)?, SCHEMA)
    }

    /// Arrow's PyCapsule interface. What schema is asked for makes no difference, as it allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _any = requested_schema;
        let array = StructArray::from(self.batch.clone()).into_data();
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&array), ARRAY)?;
        PyTuple::new(py, [self.__arrow_c_schema__(py)?, array])
    }

    /// Arrow's PyCapsule interface: a stream of this batch alone.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _any = requested_schema;
        let batches = [Ok(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        stream(py, Box::new(reader))
    }
}

/// A stream as Arrow's PyCapsule interface has it.
pub(crate) fn stream(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Rows of samples of a reader, until they are a batch.
#[pyclass(frozen, module = "tickwire._tickwire", name = "Rows")]
pub(crate) struct PyRows {
    name: Arc<str>,
    /// Whether samples without data are rows, too.
    has_ended: bool,
    inner: Mutex<Inner>,
}

struct Inner {
    rows: Rows,
    left_out: LeftOut,
}

#[pymethods]
impl PyRows {
    #[new]
    fn py_new(
        ty: &PyTopicType,
        decimals: Option<i8>,
        enums: &str,
        info: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let options = options(decimals, enums, &info);
        let options = options.map_err(|error| Kind::Error.error(error))?;
        let description = ty.description()?;
        let rows = Rows::new(description, &options).map_err(|error| Kind::Type.error(error))?;
        Ok(Self {
            name: Arc::from(&*description.name),
            has_ended: options.key_rows,
            inner: Mutex::new(Inner {
                rows,
                left_out: LeftOut::default(),
            }),
        })
    }

    /// How many there are, those included that became none.
    #[getter]
    fn samples(&self) -> u64 {
        let inner = lock(&self.inner);
        inner.rows.len() as u64 + inner.left_out.undecodable + inner.left_out.ended
    }

    /// Whether they take so much memory that they should be a batch.
    #[getter]
    fn is_large(&self) -> bool {
        lock(&self.inner).rows.weight() >= MAX_WEIGHT
    }

    /// All rows so far, as a batch; begins anew.
    fn finish(&self, py: Python<'_>) -> PyResult<PyBatch> {
        let (batch, left_out) = run(py, || {
            let mut inner = lock(&self.inner);
            let left_out = std::mem::take(&mut inner.left_out);
            (inner.rows.finish(), left_out)
        })?;
        let batch = batch.map_err(failed)?;
        Ok(PyBatch::new(batch, Arc::clone(&self.name), left_out))
    }
}

impl PyRows {
    /// Adds samples. The interpreter's lock is not needed.
    pub(crate) fn append(&self, samples: &Samples<Serialized>) {
        let mut inner = lock(&self.inner);
        for sample in &**samples {
            inner.append(sample, self.has_ended);
        }
    }
}

impl Inner {
    fn append(&mut self, sample: &Sample<Serialized>, has_ended: bool) {
        let info = sample.info();
        let holder = sample.key_holder();
        let appended = match (info.valid_data, holder) {
            (true, Some(data)) => self.rows.append(data.payload(), Form::Sample, Some(info)),
            _ if !has_ended => {
                self.left_out.ended += 1;
                return;
            }
            (false, Some(key)) if key.is_key() => {
                let appended = self.rows.append(key.payload(), Form::Key, Some(info));
                appended.or_else(|_| self.rows.append_nothing(Some(info)))
            }
            _ => self.rows.append_nothing(Some(info)),
        };
        if let Err(error) = appended {
            self.left_out.add(&error);
        }
    }
}

/// What columns are to be, in Python's words.
pub(crate) fn options(
    decimals: Option<i8>,
    enums: &str,
    info: &[(String, String)],
) -> Result<Options, String> {
    let enum_numbers = match enums {
        "names" => false,
        "numbers" => true,
        other => {
            return Err(format!("enums are \"names\" or \"numbers\", not {other:?}"));
        }
    };
    let info = info.iter().map(|(what, name)| {
        let known = Info::find(what).ok_or_else(|| {
            let names: Vec<_> = Info::names().collect();
            format!("there is no info {what:?}; there are {}", names.join(", "))
        })?;
        Ok((known, name.clone()))
    });
    let info = info.collect::<Result<Vec<_>, String>>()?;
    Ok(Options {
        decimals,
        enum_numbers,
        key_rows: info.iter().any(|(what, _)| *what == Info::InstanceState),
        info,
    })
}

pub(crate) fn failed(error: arrow_schema::ArrowError) -> PyErr {
    Kind::Error.error(error)
}

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";
/// Errors that a batch tells.
const MAX_ERRORS: usize = 8;
/// Bytes of rows that are a batch, however few they are.
pub(crate) const MAX_WEIGHT: usize = 64 << 20;
