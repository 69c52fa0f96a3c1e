//! Conditions and wait sets.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString};
use tickwire::{Condition, GuardCondition, QueryCondition, Serialized, WaitSet};

use crate::errors::{Kind, run};
use crate::owned::{Owned, lock};
use crate::wait::wait;

/// Parameters of filters and queries, as the language has them.
pub(crate) fn literals(parameters: &[Bound<'_, PyAny>]) -> PyResult<Vec<String>> {
    let literal = |parameter: &Bound<'_, PyAny>| {
        if let Ok(yes) = parameter.cast::<PyBool>() {
            return Ok(if yes.is_true() { "TRUE" } else { "FALSE" }.to_owned());
        }
        let text = parameter.str()?;
        let text = text.to_cow()?;
        Ok(match parameter.is_instance_of::<PyString>() {
            true => format!("'{}'", text.replace('\'', "''")),
            false => text.into_owned(),
        })
    };
    parameters.iter().map(literal).collect()
}

/// Something that holds or does not, for a WaitSet.
#[pyclass(frozen, subclass, module = "tickwire", name = "Condition")]
pub(crate) struct PyCondition {
    pub(crate) condition: Owned<Condition>,
    query: Option<Owned<QueryCondition<Serialized>>>,
}

impl PyCondition {
    pub(crate) fn new(condition: Condition) -> Self {
        Self {
            condition: Owned::new("condition", condition),
            query: None,
        }
    }

    pub(crate) fn of_query(query: QueryCondition<Serialized>) -> Self {
        Self {
            condition: Owned::new("condition", query.condition().clone()),
            query: Some(Owned::new("condition", query)),
        }
    }

    pub(crate) fn query(&self) -> PyResult<QueryCondition<Serialized>> {
        match &self.query {
            Some(query) => query.get(),
            None => Err(Kind::Error.error("the condition is none of `query_condition`")),
        }
    }
}

#[pymethods]
impl PyCondition {
    /// Whether it holds now.
    #[getter]
    fn holds(&self, py: Python<'_>) -> PyResult<bool> {
        let condition = self.condition.get()?;
        run(py, move || condition.holds())
    }

    /// Changes what `%0`, `%1` ... stand for, in a condition of `query_condition`: numbers, and text.
    #[pyo3(signature = (*parameters))]
    fn set_parameters(&self, py: Python<'_>, parameters: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let (query, parameters) = (self.query()?, literals(&parameters)?);
        let changed = run(py, move || {
            let parameters: Vec<_> = parameters.iter().map(String::as_str).collect();
            query.set_query_parameters(&parameters)
        });
        changed?.map_err(|error| Kind::Filter.error(error))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.holds(py)
    }
}

/// A condition that is set by hand, from any thread.
#[pyclass(frozen, module = "tickwire", name = "GuardCondition", extends = PyCondition)]
pub(crate) struct PyGuardCondition(GuardCondition);

#[pymethods]
impl PyGuardCondition {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        let guard = GuardCondition::new();
        let condition = PyCondition::new(guard.condition());
        PyClassInitializer::from(condition).add_subclass(Self(guard))
    }

    /// Makes it hold or not.
    #[pyo3(signature = (holds = true))]
    fn set(&self, py: Python<'_>, holds: bool) -> PyResult<()> {
        run(py, || self.0.set(holds))
    }
}

/// Waits for any of several conditions.
///
///     waits = tw.WaitSet(reader.read_condition("not_read"), stop)
///     for condition in waits.wait(timeout=1):
///         ...
#[pyclass(frozen, module = "tickwire", name = "WaitSet")]
pub(crate) struct PyWaitSet {
    waits: Owned<Arc<WaitSet>>,
    conditions: Mutex<Vec<Py<PyCondition>>>,
}

#[pymethods]
impl PyWaitSet {
    #[new]
    #[pyo3(signature = (*conditions))]
    fn new(py: Python<'_>, conditions: Vec<Py<PyCondition>>) -> PyResult<Self> {
        let waits = Self {
            waits: Owned::new("wait set", Arc::default()),
            conditions: Mutex::default(),
        };
        for condition in conditions {
            waits.attach(py, condition)?;
        }
        Ok(waits)
    }

    /// Waits for this condition, too; again is the same as once.
    fn attach(&self, py: Python<'_>, condition: Py<PyCondition>) -> PyResult<()> {
        let (waits, inner) = (self.waits.get()?, condition.get().condition.get()?);
        run(py, move || waits.attach(&inner))?;
        let mut conditions = lock(&self.conditions);
        if !conditions.iter().any(|known| known.is(&condition)) {
            conditions.push(condition);
        }
        Ok(())
    }

    /// No longer waits for this condition; False if it did not.
    fn detach(&self, py: Python<'_>, condition: Py<PyCondition>) -> PyResult<bool> {
        let (waits, inner) = (self.waits.get()?, condition.get().condition.get()?);
        lock(&self.conditions).retain(|known| !known.is(&condition));
        run(py, move || waits.detach(&inner))
    }

    /// Waits until a condition holds, and returns a list of all that do. Raises TimeoutError after `timeout`
    /// seconds; None is for ever.
    #[pyo3(signature = (timeout = None))]
    fn wait<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyList>> {
        let holding = wait(py, &self.waits, timeout, |waits, part| waits.wait(part))?;
        let known: Vec<_> = {
            let conditions = lock(&self.conditions);
            conditions.iter().map(|known| known.clone_ref(py)).collect()
        };
        let list = PyList::empty(py);
        for condition in known {
            let inner = condition.get().condition.get()?;
            if holding.contains(&inner) {
                list.append(condition)?;
            }
        }
        Ok(list)
    }
}
