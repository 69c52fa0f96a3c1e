//! Sequences and arrays of numbers: as views of a sample's memory, and from whatever has a buffer.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PyTuple};
use tickwire::cdr::{ByteOrder, Type};

use crate::errors::fitting;
use crate::memory::Memory;

/// A type of numbers that numpy has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Number {
    pub(crate) fn of(ty: &Type) -> Option<Self> {
        Some(match ty {
            Type::U8 | Type::Byte => Self::U8,
            Type::I8 => Self::I8,
            Type::U16 => Self::U16,
            Type::I16 => Self::I16,
            Type::U32 => Self::U32,
            Type::I32 => Self::I32,
            Type::U64 => Self::U64,
            Type::I64 => Self::I64,
            Type::F32 => Self::F32,
            Type::F64 => Self::F64,
            _ => return None,
        })
    }

    pub(crate) fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    fn kind(self) -> char {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => 'u',
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => 'i',
            Self::F32 | Self::F64 => 'f',
        }
    }

    /// As numpy writes it.
    fn typestr(self, order: ByteOrder) -> String {
        let order = match order {
            _ if self.size() == 1 => '|',
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
        };
        format!("{order}{}{}", self.kind(), self.size())
    }

    /// Whether a buffer of this format (that of the module `struct`) has such numbers, little-endian.
    fn is_format(self, format: &str, item_size: usize) -> bool {
        let (code, native) = match format.as_bytes() {
            [code] => (*code, true),
            [b'@' | b'=', code] => (*code, true),
            [b'<', code] => (*code, false),
            [b'|', code] => (*code, self.size() == 1),
            _ => return false,
        };
        let kind = match code {
            b'b' | b'h' | b'i' | b'l' | b'q' | b'n' => 'i',
            b'B' | b'H' | b'I' | b'L' | b'Q' | b'N' => 'u',
            b'f' | b'd' => 'f',
            _ => return false,
        };
        kind == self.kind()
            && item_size == self.size()
            && (!native || self.size() == 1 || cfg!(target_endian = "little"))
    }

    /// One number.
    pub(crate) fn read<'py>(
        self,
        py: Python<'py>,
        bytes: &[u8],
        order: ByteOrder,
    ) -> PyResult<Bound<'py, PyAny>> {
        macro_rules! number {
            ($ty:ty) => {{
                let mut number = [0; size_of::<$ty>()];
                let len = number.len().min(bytes.len());
                number[..len].copy_from_slice(&bytes[..len]);
                let number = match order {
                    ByteOrder::Little => <$ty>::from_le_bytes(number),
                    ByteOrder::Big => <$ty>::from_be_bytes(number),
                };
                Ok(number.into_pyobject(py)?.into_any())
            }};
        }
        match self {
            Self::U8 => number!(u8),
            Self::I8 => number!(i8),
            Self::U16 => number!(u16),
            Self::I16 => number!(i16),
            Self::U32 => number!(u32),
            Self::I32 => number!(i32),
            Self::U64 => number!(u64),
            Self::I64 => number!(i64),
            Self::F32 => number!(f32),
            Self::F64 => number!(f64),
        }
    }
}

/// Numbers where they lie in a sample, which this keeps. numpy makes arrays of it, by its array interface,
/// without a copy.
#[pyclass(frozen, module = "tickwire._tickwire")]
pub(crate) struct View {
    memory: Memory,
    start: usize,
    number: Number,
    order: ByteOrder,
    shape: Vec<usize>,
}

impl View {
    pub(crate) fn new(
        memory: Memory,
        start: usize,
        number: Number,
        order: ByteOrder,
        shape: Vec<usize>,
    ) -> Self {
        Self {
            memory,
            start,
            number,
            order,
            shape,
        }
    }
}

#[pymethods]
impl View {
    #[getter(__array_interface__)]
    fn array_interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bytes = self.memory.bytes().get(self.start..).unwrap_or_default();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", self.number.typestr(self.order))?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("data", (bytes.as_ptr().expose_provenance(), true))?;
        Ok(interface)
    }
}

/// What makes an array of a view; `None` where there is no numpy.
fn numpy(py: Python<'_>) -> Option<&Bound<'_, PyAny>> {
    static ASARRAY: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let asarray = ASARRAY.get_or_init(py, || {
        let numpy = py.import("numpy").ok()?;
        numpy.getattr("asarray").ok().map(Bound::unbind)
    });
    asarray.as_ref().map(|asarray| asarray.bind(py))
}

/// Numbers as an array that keeps the sample, or without numpy as lists.
pub(crate) fn to_python<'py>(py: Python<'py>, view: View) -> PyResult<Bound<'py, PyAny>> {
    match numpy(py) {
        Some(asarray) => asarray.call1((Py::new(py, view)?,)),
        None => {
            let bytes = view.memory.bytes().get(view.start..).unwrap_or_default();
            lists(py, &view, bytes, &view.shape)
        }
    }
}

/// Lists within lists, one for each dimension.
fn lists<'py>(
    py: Python<'py>,
    view: &View,
    bytes: &[u8],
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let Some((count, inner)) = shape.split_first() else {
        return view.number.read(py, bytes, view.order);
    };
    let stride = inner
        .iter()
        .product::<usize>()
        .saturating_mul(view.number.size());
    let list = PyList::empty(py);
    for part in bytes.chunks_exact(stride.max(1)).take(*count) {
        list.append(lists(py, view, part, inner)?)?;
    }
    Ok(list.into_any())
}

/// The numbers of an object with a buffer of just this format and shape, as bytes; any length where
/// the shape has none. `None` if it has no such buffer.
pub(crate) fn from_buffer<'py>(
    object: &Bound<'py, PyAny>,
    number: Number,
    shape: Option<&[usize]>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let py = object.py();
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Ok(None);
    }
    if let (Ok(bytes), Number::U8, None) = (object.cast::<PyBytes>(), number, shape) {
        return Ok(Some(bytes.clone()));
    }
    let Some(view) = fitting(py, PyMemoryView::from(object))? else {
        return Ok(None);
    };
    let parts = || -> PyResult<(String, usize, Vec<usize>)> {
        Ok((
            view.getattr("format")?.extract()?,
            view.getattr("itemsize")?.extract()?,
            view.getattr("shape")?.extract()?,
        ))
    };
    let Some((format, item_size, found)) = fitting(py, parts())? else {
        return Ok(None);
    };
    let has_shape = match shape {
        Some(shape) => found == shape,
        None => found.len() == 1,
    };
    if !has_shape || !number.is_format(&format, item_size) {
        return Ok(None);
    }
    let bytes = fitting(py, view.call_method0("tobytes"))?;
    Ok(bytes.and_then(|bytes| bytes.cast_into::<PyBytes>().ok()))
}
