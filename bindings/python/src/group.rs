//! Publishers and subscribers, and what several writers or readers do together.

use std::cell::RefCell;
use std::sync::Mutex;

use pyo3::prelude::*;
use tickwire::{CoherentChanges, DomainParticipant, Publisher, Subscriber, SuspendedPublications};

use crate::errors::{Kind, run};
use crate::owned::{Owned, lock};
use crate::participant::PyParticipant;
use crate::settings::{PyProfile, Settings};

/// Makes writers that share PARTITION, PRESENTATION and GROUP_DATA.
#[pyclass(frozen, subclass, module = "tickwire._tickwire", name = "Publisher")]
pub(crate) struct PyPublisher {
    pub(crate) publisher: Owned<Publisher>,
}

#[pymethods]
impl PyPublisher {
    #[new]
    #[pyo3(signature = (participant, profile = None, settings = None))]
    fn py_new(
        py: Python<'_>,
        participant: &PyParticipant,
        profile: Option<&PyProfile>,
        settings: Option<&str>,
    ) -> PyResult<Self> {
        let participant: DomainParticipant = participant.participant.get()?;
        let qos = Settings::new(profile, settings)?.publisher();
        let publisher = run(py, move || participant.publisher(qos))?;
        Ok(Self {
            publisher: Owned::new("publisher", publisher),
        })
    }

    /// Sends what waits for company: all that was written before is sent when this returns.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let publisher = self.publisher.get()?;
        run(py, move || publisher.flush())
    }

    /// Has the publisher take part, where the participant does not enable it.
    fn enable(&self, py: Python<'_>) -> PyResult<()> {
        let publisher = self.publisher.get()?;
        run(py, move || publisher.enable())?.map_err(|error| Kind::Error.error(error))
    }

    fn _begin_coherent(&self, py: Python<'_>) -> PyResult<PyCoherent> {
        let publisher = self.publisher.get()?;
        let set = run(py, move || publisher.begin_coherent_changes())?;
        Ok(PyCoherent(Mutex::new(Some(set))))
    }

    /// Holds back what the calling thread writes; the number is for `_resume`.
    fn _suspend(&self, py: Python<'_>) -> PyResult<u64> {
        let publisher = self.publisher.get()?;
        run(py, move || {
            let suspended = publisher.suspend_publications();
            SUSPENDED.with_borrow_mut(|all| {
                let number = all.last().map_or(0, |(number, _)| number + 1);
                all.push((number, suspended));
                number
            })
        })
    }

    /// Sends what the calling thread has held back since then.
    fn _resume(&self, py: Python<'_>, number: u64) -> PyResult<()> {
        run(py, move || {
            let suspended = SUSPENDED.with_borrow_mut(|all| {
                let at = all.iter().position(|(known, _)| *known == number)?;
                Some(all.remove(at))
            });
            drop(suspended);
        })
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.publisher.is_closed()
    }

    fn _close(&self, py: Python<'_>) -> PyResult<()> {
        self.publisher.close(py)
    }
}

thread_local! {
    /// What the thread holds back, which stays with it.
    static SUSPENDED: RefCell<Vec<(u64, SuspendedPublications)>> = const { RefCell::new(Vec::new()) };
}

/// A coherent set that has not ended.
#[pyclass(frozen, module = "tickwire._tickwire", name = "Coherent")]
pub(crate) struct PyCoherent(Mutex<Option<CoherentChanges>>);

#[pymethods]
impl PyCoherent {
    fn _end(&self, py: Python<'_>) -> PyResult<()> {
        let set = lock(&self.0).take();
        run(py, move || drop(set))
    }
}

/// Makes readers that share PARTITION, PRESENTATION and GROUP_DATA.
#[pyclass(frozen, subclass, module = "tickwire._tickwire", name = "Subscriber")]
pub(crate) struct PySubscriber {
    pub(crate) subscriber: Owned<Subscriber>,
}

#[pymethods]
impl PySubscriber {
    #[new]
    #[pyo3(signature = (participant, profile = None, settings = None))]
    fn py_new(
        py: Python<'_>,
        participant: &PyParticipant,
        profile: Option<&PyProfile>,
        settings: Option<&str>,
    ) -> PyResult<Self> {
        let participant: DomainParticipant = participant.participant.get()?;
        let qos = Settings::new(profile, settings)?.subscriber();
        let subscriber = run(py, move || participant.subscriber(qos))?;
        Ok(Self {
            subscriber: Owned::new("subscriber", subscriber),
        })
    }

    /// Has the subscriber take part, where the participant does not enable it.
    fn enable(&self, py: Python<'_>) -> PyResult<()> {
        let subscriber = self.subscriber.get()?;
        run(py, move || subscriber.enable())?.map_err(|error| Kind::Error.error(error))
    }

    /// Begins to look at all readers together.
    fn _begin_access(&self, py: Python<'_>) -> PyResult<PyAccess> {
        let subscriber = self.subscriber.get()?;
        let access = run(py, move || subscriber.begin_access())?;
        Ok(PyAccess(Mutex::new(Some(access))))
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.subscriber.is_closed()
    }

    fn _close(&self, py: Python<'_>) -> PyResult<()> {
        self.subscriber.close(py)
    }
}

/// A look at all readers of a subscriber, in which no coherent set appears.
#[pyclass(frozen, module = "tickwire._tickwire", name = "Access")]
pub(crate) struct PyAccess(Mutex<Option<tickwire::Access>>);

#[pymethods]
impl PyAccess {
    fn _end(&self, py: Python<'_>) -> PyResult<()> {
        let access = lock(&self.0).take();
        run(py, move || drop(access))
    }
}
