//! What readers return.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tickwire::cdr::dynamic::Form;
use tickwire::{InstanceState, SampleInfo, SampleState, Serialized, ViewState};

use crate::errors::{Kind, ends, fitting};
use crate::memory::Memory;
use crate::types::PyTopicType;

/// A sample: its `data`, and its `info`.
///
/// `data` is None where the sample only tells that its instance was disposed of or has lost its writers;
/// `key` says which one in any case.
#[pyclass(frozen, generic, module = "tickwire", name = "Sample")]
pub(crate) struct PySample {
    data: Result<Py<PyAny>, PyErr>,
    /// The key alone, where there is no data.
    key: Option<Py<PyAny>>,
    ty: PyTopicType,
    info: SampleInfo,
}

impl PySample {
    pub(crate) fn new(
        py: Python<'_>,
        ty: &PyTopicType,
        sample: &tickwire::Sample<Serialized>,
    ) -> PyResult<Self> {
        let info = *sample.info();
        let (mut data, mut key) = (Ok(py.None()), None);
        let memory = Memory::Sample(sample.clone());
        if info.valid_data {
            data = match ty.decode(py, &memory, Form::Sample) {
                Err(error) if ends(py, &error) => return Err(error),
                decoded => decoded.map(Bound::unbind),
            };
        } else if memory.is_key() {
            let decoded = fitting(py, ty.decode(py, &memory, Form::Key))?;
            key = decoded.map(Bound::unbind);
        }
        Ok(Self {
            data,
            key,
            ty: ty.clone(),
            info,
        })
    }
}

#[pymethods]
impl PySample {
    /// The value, or None if the sample only tells of the end of its instance.
    ///
    /// Raises DecodeError if what the writer sent is no value of the type.
    #[getter]
    fn data(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.data {
            Ok(data) => Ok(data.clone_ref(py)),
            Err(error) => Err(error.clone_ref(py)),
        }
    }

    /// A dict of the key members; None if the writer did not say the key.
    #[getter]
    fn key(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(key) = &self.key {
            return Ok(key.clone_ref(py));
        }
        let data = self.data(py)?;
        if data.is_none(py) {
            return Ok(data);
        }
        let mut payload = Vec::new();
        let representation = tickwire::cdr::Representation::Xcdr2;
        self.ty
            .encode(data.bind(py), Form::Key, representation, &mut payload)?;
        let key = self
            .ty
            .decode(py, &Memory::Own(payload.into()), Form::Key)?;
        Ok(key.unbind())
    }

    /// Its circumstances.
    #[getter]
    fn info(&self) -> PySampleInfo {
        PySampleInfo(self.info)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let data = match &self.data {
            Ok(data) => data.bind(py).repr().map(|text| text.to_string()),
            Err(error) => Ok(error.to_string()),
        };
        let state = instance_state(self.info.instance_state);
        match data {
            Ok(data) if self.info.valid_data => format!("<Sample {data}>"),
            _ => format!("<Sample {state}>"),
        }
    }
}

/// A sample's circumstances, as they were when it was returned (DDS 1.4 §2.2.2.5.5).
#[pyclass(frozen, module = "tickwire", name = "SampleInfo")]
pub(crate) struct PySampleInfo(SampleInfo);

#[pymethods]
impl PySampleInfo {
    /// "read" if it was returned before, else "not_read".
    #[getter]
    fn sample_state(&self) -> &'static str {
        match self.0.sample_state {
            SampleState::Read => "read",
            SampleState::NotRead => "not_read",
        }
    }

    /// "new" if the instance was not seen before, else "not_new".
    #[getter]
    fn view_state(&self) -> &'static str {
        match self.0.view_state {
            ViewState::New => "new",
            ViewState::NotNew => "not_new",
        }
    }

    /// "alive", "disposed" or "no_writers".
    #[getter]
    fn instance_state(&self) -> &'static str {
        instance_state(self.0.instance_state)
    }

    /// Whether there is data.
    #[getter]
    fn valid_data(&self) -> bool {
        self.0.valid_data
    }

    /// When the writer made it, by its clock: nanoseconds since 1970; None if it did not say.
    #[getter]
    fn source_timestamp(&self) -> Option<i64> {
        self.0
            .source_timestamp
            .map(|timestamp| timestamp.as_nanos())
    }

    /// When it arrived, by this machine's clock: nanoseconds since 1970.
    #[getter]
    fn reception_timestamp(&self) -> i64 {
        self.0.reception_timestamp.as_nanos()
    }

    /// When the kernel received it; None unless the participant asks for it (`receive_timestamps`).
    #[getter]
    fn kernel_timestamp(&self) -> Option<i64> {
        self.0
            .kernel_timestamp
            .map(|timestamp| timestamp.as_nanos())
    }

    /// Its instance: a handle of 16 bytes.
    #[getter]
    fn instance<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.instance.0)
    }

    /// The name of the writer on the network.
    #[getter]
    fn writer(&self) -> String {
        self.0.writer.to_string()
    }

    /// Its place in the writer's history.
    #[getter]
    fn sequence_number(&self) -> i64 {
        self.0.sequence_number.0
    }

    /// How often the instance had come back from disposal.
    #[getter]
    fn disposed_generation_count(&self) -> u32 {
        self.0.disposed_generation_count
    }

    /// How often the instance had found a writer again.
    #[getter]
    fn no_writers_generation_count(&self) -> u32 {
        self.0.no_writers_generation_count
    }

    /// Samples of the same instance that follow in the same list.
    #[getter]
    fn sample_rank(&self) -> u32 {
        self.0.sample_rank
    }

    /// Generations between the sample and the last one of its instance in the same list.
    #[getter]
    fn generation_rank(&self) -> u32 {
        self.0.generation_rank
    }

    /// Generations between the sample and the last one of its instance received.
    #[getter]
    fn absolute_generation_rank(&self) -> u32 {
        self.0.absolute_generation_rank
    }

    fn __repr__(&self) -> String {
        format!(
            "<SampleInfo {} {} {} of {} at {:?}>",
            self.sample_state(),
            self.view_state(),
            self.instance_state(),
            self.0.writer,
            self.source_timestamp(),
        )
    }
}

fn instance_state(state: InstanceState) -> &'static str {
    match state {
        InstanceState::Alive => "alive",
        InstanceState::Disposed => "disposed",
        InstanceState::NoWriters => "no_writers",
    }
}

/// A handle of 16 bytes.
pub(crate) fn handle(bytes: &[u8]) -> PyResult<tickwire::InstanceHandle> {
    let bytes = <[u8; 16]>::try_from(bytes);
    bytes.map(tickwire::InstanceHandle).map_err(|_| {
        Kind::Error.error("a handle of an instance has 16 bytes, as `info.instance` has them")
    })
}

/// The counters of something by name.
pub(crate) fn counters<'py, V: IntoPyObject<'py>>(
    py: Python<'py>,
    counters: impl IntoIterator<Item = (&'static str, V)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, count) in counters {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}
