//! A topic's type: its description, its classes, and both ways between objects and payloads.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3::{PyTraverseError, PyVisit};
use tickwire::cdr::dynamic::Form;
use tickwire::cdr::{Representation, TypeDescription};
use tickwire::{DynamicType, Serialized, TopicSupport};

use crate::decode::decode;
use crate::encode::encode;
use crate::errors::{Kind, guarded};
use crate::memory::Memory;
use crate::plan::Plan;
use crate::schema;

/// A type of topics.
///
/// `tickwire.describe(cls)` makes one of a dataclass, `tickwire.idl(path)` those of a file, and
/// `participant.topic(name)` one of what others say on the network.
#[pyclass(frozen, from_py_object, module = "tickwire", name = "Type")]
#[derive(Clone)]
pub(crate) struct PyTopicType(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) dynamic: DynamicType,
    pub(crate) plan: Plan,
}

impl PyTopicType {
    /// A type with these classes, by name; what has none is dicts and numbers.
    pub(crate) fn new(description: TypeDescription, classes: &Bound<'_, PyDict>) -> PyResult<Self> {
        let plan = Plan::new(&description, classes)?;
        let dynamic = DynamicType::described(description);
        Ok(Self(Arc::new(Inner { dynamic, plan })))
    }

    pub(crate) fn description(&self) -> PyResult<&TypeDescription> {
        let description = Serialized::description(&self.0.dynamic);
        description.ok_or_else(|| Kind::Type.error("the type is not described"))
    }

    /// Appends the payload of an object.
    pub(crate) fn encode(
        &self,
        object: &Bound<'_, PyAny>,
        form: Form,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> PyResult<()> {
        guarded(|| encode(&self.0.plan, object, form, representation, buffer))
    }

    /// The object of a payload.
    pub(crate) fn decode<'py>(
        &self,
        py: Python<'py>,
        memory: &Memory,
        form: Form,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| decode(py, &self.0.plan, memory, form))
    }

    /// The key of an object, as a sample.
    pub(crate) fn key_sample(
        &self,
        object: &Bound<'_, PyAny>,
        representation: Representation,
    ) -> PyResult<Serialized> {
        let mut payload = Vec::new();
        self.encode(object, Form::Key, representation, &mut payload)?;
        Ok(Serialized::from_key_payload(payload))
    }
}

#[pymethods]
impl PyTopicType {
    #[new]
    #[pyo3(signature = (table, root, classes))]
    fn py_new(
        table: &Bound<'_, PyDict>,
        root: &str,
        classes: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        guarded(|| Self::new(schema::describe(table, root)?, classes))
    }

    /// The name under which peers know the type.
    #[getter]
    fn name(&self) -> &str {
        Serialized::type_name(&self.0.dynamic)
    }

    /// Whether samples belong to instances.
    #[getter]
    fn has_key(&self) -> bool {
        Serialized::has_key(&self.0.dynamic)
    }

    /// How the type may change: "final", "appendable" or "mutable".
    #[getter]
    fn extensibility(&self) -> String {
        Serialized::extensibility(&self.0.dynamic).to_string()
    }

    /// The type and all that it needs, by name.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guarded(|| schema::table(py, self.description()?))
    }

    /// The same type with classes by name, as `_types.py` gives them.
    fn _bind(&self, classes: &Bound<'_, PyDict>) -> PyResult<Self> {
        guarded(|| Self::new(self.description()?.clone(), classes))
    }

    /// The payload of a sample as it travels, encapsulation header included.
    #[pyo3(name = "encode", signature = (value, representation = "xcdr2", key_only = false))]
    fn py_encode<'py>(
        &self,
        py: Python<'py>,
        value: &Bound<'py, PyAny>,
        representation: &str,
        key_only: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut buffer = Vec::new();
        let representation = representation_of(representation)?;
        self.encode(value, form(key_only), representation, &mut buffer)?;
        Ok(PyBytes::new(py, &buffer))
    }

    /// The sample of a payload; with `key_only` a dict of its key.
    #[pyo3(name = "decode", signature = (payload, key_only = false))]
    fn py_decode<'py>(
        &self,
        py: Python<'py>,
        payload: &[u8],
        key_only: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.decode(py, &Memory::Own(payload.into()), form(key_only))
    }

    fn __repr__(&self) -> String {
        format!("<tickwire.Type {}>", self.name())
    }

    /// While others share it, as topics and samples do, it stays.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match Arc::strong_count(&self.0) {
            1 => self.0.plan.traverse(&visit),
            _ => Ok(()),
        }
    }
}

fn form(key_only: bool) -> Form {
    match key_only {
        true => Form::Key,
        false => Form::Sample,
    }
}

fn representation_of(name: &str) -> PyResult<Representation> {
    match name {
        "xcdr1" => Ok(Representation::Xcdr1),
        "xcdr2" => Ok(Representation::Xcdr2),
        other => {
            let text = format!("there is no representation `{other}`; there are xcdr1, xcdr2");
            Err(Kind::Encode.error(text))
        }
    }
}
