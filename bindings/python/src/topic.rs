//! Topics, and topics as a reader wants to see them.

use pyo3::prelude::*;
use tickwire::{ContentFilteredTopic, Serialized, Topic};

use crate::condition::{PyCondition, literals};
use crate::errors::{Kind, run};
use crate::listener::Ear;
use crate::owned::Owned;
use crate::status::{ToTuple, mask, names};
use crate::types::PyTopicType;

/// What samples are published under: a name, and the type that they all have.
#[pyclass(
    frozen,
    subclass,
    generic,
    module = "tickwire._tickwire",
    name = "Topic"
)]
pub(crate) struct PyTopic {
    pub(crate) topic: Owned<Topic<Serialized>>,
    pub(crate) name: String,
    pub(crate) ty: PyTopicType,
}

impl PyTopic {
    pub(crate) fn new(topic: Topic<Serialized>, ty: PyTopicType) -> Self {
        Self {
            name: topic.name().to_owned(),
            topic: Owned::new("topic", topic),
            ty,
        }
    }
}

#[pymethods]
impl PyTopic {
    #[new]
    #[pyo3(signature = (participant, name, ty))]
    fn py_new(
        py: Python<'_>,
        participant: &crate::participant::PyParticipant,
        name: &str,
        ty: PyTopicType,
    ) -> PyResult<Self> {
        let participant = participant.participant.get()?;
        let dynamic = ty.0.dynamic.clone();
        let topic = run(py, move || {
            participant.topic_of::<Serialized>(name, dynamic)
        })?;
        Ok(Self::new(
            topic.map_err(|error| Kind::Type.error(error))?,
            ty,
        ))
    }

    /// The topic's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    #[getter]
    fn r#type(&self) -> PyTopicType {
        self.ty.clone()
    }

    /// The name of its type.
    #[getter]
    fn type_name(&self) -> PyResult<String> {
        Ok(self.topic.get()?.type_name().to_owned())
    }

    fn _status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        let topic = self.topic.get()?;
        run(py, move || topic.inconsistent_topic_status())?.to_tuple(py)
    }

    fn _listen(slf: &Bound<'_, Self>, statuses: Vec<String>) -> PyResult<()> {
        let topic = slf.get().topic.get()?;
        let py = slf.py();
        let statuses = mask(&statuses)?;
        if statuses.is_empty() {
            return run(py, move || topic.remove_listener());
        }
        let ear = Ear::new(slf.as_any(), statuses, None)?;
        run(py, move || topic.set_listener(ear))
    }

    /// The statuses that have changed since they were last read, by name.
    #[getter]
    fn status_changes(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let topic = self.topic.get()?;
        Ok(names(run(py, move || topic.status_changes())?))
    }

    /// A condition that holds while one of these statuses has changed.
    #[pyo3(signature = (*statuses))]
    fn status_condition(&self, py: Python<'_>, statuses: Vec<String>) -> PyResult<PyCondition> {
        let (topic, mask) = (self.topic.get()?, mask(&statuses)?);
        Ok(PyCondition::new(run(py, move || {
            topic.status_condition(mask)
        })?))
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.topic.is_closed()
    }

    fn _close(&self, py: Python<'_>) -> PyResult<()> {
        let topic = self.topic.get();
        if let Ok(topic) = topic {
            run(py, move || topic.remove_listener())?;
        }
        self.topic.close(py)
    }

    fn __repr__(&self) -> String {
        format!("<tickwire.Topic {:?}>", self.name)
    }
}

/// A topic of which a reader gets those samples only for which an expression is true.
#[pyclass(
    frozen,
    subclass,
    generic,
    module = "tickwire._tickwire",
    name = "FilteredTopic"
)]
pub(crate) struct PyFilteredTopic {
    pub(crate) topic: Owned<ContentFilteredTopic<Serialized>>,
    pub(crate) related: Py<PyTopic>,
}

#[pymethods]
impl PyFilteredTopic {
    #[new]
    #[pyo3(signature = (topic, expression, parameters, name))]
    fn py_new(
        py: Python<'_>,
        topic: Py<PyTopic>,
        expression: &str,
        parameters: Vec<Bound<'_, PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let (inner, parameters) = (topic.get().topic.get()?, literals(&parameters)?);
        let filtered = run(py, move || {
            let parameters: Vec<_> = parameters.iter().map(String::as_str).collect();
            inner.filtered(name, expression, &parameters)
        });
        let filtered = filtered?.map_err(|error| Kind::Filter.error(error))?;
        Ok(Self {
            topic: Owned::new("filtered topic", filtered),
            related: topic,
        })
    }

    /// The topic that is filtered.
    #[getter]
    fn topic(&self, py: Python<'_>) -> Py<PyTopic> {
        self.related.clone_ref(py)
    }

    /// The expression.
    #[getter]
    fn expression(&self) -> PyResult<String> {
        Ok(self.topic.get()?.filter_expression().to_owned())
    }

    /// What `%0`, `%1` ... stand for now.
    #[getter]
    fn parameters(&self) -> PyResult<Vec<String>> {
        Ok(self.topic.get()?.expression_parameters())
    }

    /// Changes what `%0`, `%1` ... stand for, in all its readers, for what comes from here on.
    #[pyo3(signature = (*parameters))]
    fn set_parameters(&self, py: Python<'_>, parameters: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let (topic, parameters) = (self.topic.get()?, literals(&parameters)?);
        let changed = run(py, move || {
            let parameters: Vec<_> = parameters.iter().map(String::as_str).collect();
            topic.set_expression_parameters(&parameters)
        });
        changed?.map_err(|error| Kind::Filter.error(error))
    }
}
