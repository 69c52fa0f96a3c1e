//! Readers.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use tickwire::cdr::Representation;
use tickwire::cdr::dynamic::Form;
use tickwire::error::SetQosError;
use tickwire::{Condition, DataReader, InstanceHandle, Samples, Serialized, StateMask, StatusMask};

use crate::bell::Bell;
use crate::condition::{PyCondition, literals};
use crate::errors::{Kind, run};
use crate::listener::Ear;
use crate::memory::Memory;
use crate::owned::{Owned, lock};
use crate::participant::ReaderOwner;
use crate::sample::{PySample, counters, handle};
use crate::settings::{PyProfile, Settings};
use crate::status::{ToTuple, mask, names, states};
use crate::topic::{PyFilteredTopic, PyTopic};
use crate::types::PyTopicType;
use crate::wait::wait;

/// Subscribes to a topic.
#[pyclass(
    frozen,
    subclass,
    generic,
    module = "tickwire._tickwire",
    name = "Reader"
)]
pub(crate) struct PyReader {
    reader: Owned<DataReader<Serialized>>,
    /// Whether there are samples that were not read.
    has_data: Owned<Condition>,
    ty: PyTopicType,
    topic: Py<PyTopic>,
    bell: Mutex<Option<Arc<Bell>>>,
    /// What its object is told of.
    told: Mutex<StatusMask>,
}

/// Which samples.
struct Choice {
    max: usize,
    states: StateMask,
    instance: Option<InstanceHandle>,
    query: Option<tickwire::QueryCondition<Serialized>>,
}

impl Choice {
    fn new(
        max: Option<usize>,
        names: &[String],
        instance: Option<&[u8]>,
        query: Option<&PyCondition>,
    ) -> PyResult<Self> {
        Ok(Self {
            max: max.unwrap_or(usize::MAX),
            states: states(names)?,
            instance: instance.map(handle).transpose()?,
            query: query.map(PyCondition::query).transpose()?,
        })
    }

    fn collect(&self, reader: &DataReader<Serialized>, take: bool) -> Samples<Serialized> {
        let mut select = reader.select().max_samples(self.max).states(self.states);
        if let Some(instance) = self.instance {
            select = select.instance(instance);
        }
        if let Some(query) = &self.query {
            select = select.query(query);
        }
        match take {
            true => select.take(),
            false => select.read(),
        }
    }
}

impl PyReader {
    fn collect<'py>(
        &self,
        py: Python<'py>,
        choice: &Choice,
        take: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let reader = self.reader.get()?;
        let samples = run(py, || {
            let reader = reader;
            choice.collect(&reader, take)
        })?;
        let list = PyList::empty(py);
        let mut decoded = Ok(());
        for sample in &*samples {
            decoded = PySample::new(py, &self.ty, sample)
                .and_then(|sample| list.append(Py::new(py, sample)?));
            if decoded.is_err() {
                break;
            }
        }
        // Their memory goes back to the reader, which may be the last to hold on to it.
        run(py, move || drop(samples))?;
        decoded.map(|()| list)
    }

    /// Has the object and the bell told of what they want to know.
    fn set_listener(slf: &Bound<'_, Self>) -> PyResult<()> {
        let (py, this) = (slf.py(), slf.get());
        let reader = this.reader.get()?;
        let (told, bell) = (*lock(&this.told), lock(&this.bell).clone());
        let rung = match bell {
            Some(_) => StatusMask::DATA_AVAILABLE,
            None => StatusMask::NONE,
        };
        let mask = told | rung;
        if mask.is_empty() {
            return run(py, move || reader.remove_listener());
        }
        let ear = Ear::new(slf.as_any(), told, bell)?;
        run(py, move || reader.set_listener_for(mask, ear))
    }
}

#[pymethods]
impl PyReader {
    #[new]
    #[pyo3(signature = (owner, topic, profile = None, settings = None))]
    fn py_new(
        py: Python<'_>,
        owner: &Bound<'_, PyAny>,
        topic: &Bound<'_, PyAny>,
        profile: Option<&PyProfile>,
        settings: Option<&str>,
    ) -> PyResult<Self> {
        let owner = ReaderOwner::of(owner)?;
        let (filtered, topic) = match topic.cast::<PyFilteredTopic>() {
            Ok(filtered) => {
                let filtered = filtered.get();
                (Some(filtered.topic.get()?), filtered.related.clone_ref(py))
            }
            Err(_) => (None, topic.cast::<PyTopic>()?.clone().unbind()),
        };
        let (inner, ty) = (topic.get().topic.get()?, topic.get().ty.clone());
        let qos = Settings::new(profile, settings)?.reader(&topic.get().name);
        let reader = run(py, move || match (owner, filtered) {
            (ReaderOwner::Participant(of), None) => of.reader_with(&inner, qos),
            (ReaderOwner::Participant(of), Some(filtered)) => of.reader_with(&filtered, qos),
            (ReaderOwner::Subscriber(of), None) => of.reader(&inner, qos),
            (ReaderOwner::Subscriber(of), Some(filtered)) => of.reader(&filtered, qos),
        })?;
        let reader = reader.map_err(|error| Kind::Qos.error(error))?;
        let condition = reader.read_condition(StateMask::NOT_READ);
        Ok(Self {
            has_data: Owned::new("reader", condition),
            reader: Owned::new("reader", reader),
            ty,
            topic,
            bell: Mutex::default(),
            told: Mutex::default(),
        })
    }

    /// Removes samples and returns them as a list: all, or at most `max`, of those in all of the `states`
    /// ("not_read", "read", "new", "not_new", "alive", "not_alive"), of one `instance` (a handle, as
    /// `info.instance` has it), and for which a `query` holds (of `query_condition`).
    #[pyo3(signature = (max = None, *, states = Vec::new(), instance = None, query = None))]
    fn take<'py>(
        &self,
        py: Python<'py>,
        max: Option<usize>,
        states: Vec<String>,
        instance: Option<&[u8]>,
        query: Option<&PyCondition>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.collect(py, &Choice::new(max, &states, instance, query)?, true)
    }

    /// Returns samples and leaves them in the reader, marked as read: see `take`.
    #[pyo3(signature = (max = None, *, states = Vec::new(), instance = None, query = None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        max: Option<usize>,
        states: Vec<String>,
        instance: Option<&[u8]>,
        query: Option<&PyCondition>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.collect(py, &Choice::new(max, &states, instance, query)?, false)
    }

    /// Adds samples to rows, and says how many they are: of so many at most, of which states and which instance.
    #[cfg(feature = "arrow")]
    fn _append(
        &self,
        py: Python<'_>,
        rows: &crate::arrow::PyRows,
        take: bool,
        chosen: (usize, Vec<String>, Option<Vec<u8>>),
        query: Option<&PyCondition>,
    ) -> PyResult<usize> {
        let (max, states, instance) = chosen;
        let choice = Choice::new(Some(max), &states, instance.as_deref(), query)?;
        let reader = self.reader.get()?;
        run(py, || {
            let reader = reader;
            let samples = choice.collect(&reader, take);
            rows.append(&samples);
            samples.len()
        })
    }

    /// Whether there are samples that were not read.
    #[getter]
    fn has_data(&self, py: Python<'_>) -> PyResult<bool> {
        let condition = self.has_data.get()?;
        run(py, move || condition.holds())
    }

    /// Waits until there is a sample that was not read. Raises TimeoutError after `timeout` seconds; None is
    /// for ever. The interpreter's lock is released meanwhile, and Ctrl-C is heard.
    #[pyo3(signature = (timeout = None))]
    fn wait_for_data(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        wait(py, &self.reader, timeout, |reader, part| {
            reader.wait_for_data(part)
        })
    }

    /// Waits until at least `count` writers match.
    #[pyo3(signature = (count = 1, timeout = None))]
    fn wait_for_matched(&self, py: Python<'_>, count: u32, timeout: Option<f64>) -> PyResult<()> {
        wait(py, &self.reader, timeout, |reader, part| {
            reader.wait_for_matched(count, part)
        })
    }

    /// Waits until what the writers that match now had written before they matched has come, or never will.
    #[pyo3(signature = (timeout = None))]
    fn wait_for_historical_data(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        wait(py, &self.reader, timeout, |reader, part| {
            reader.wait_for_historical_data(part)
        })
    }

    /// The handle of the instance of a key, of a sample or of a dict of the key members; None if it is not
    /// known.
    fn lookup_instance<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let reader = self.reader.get()?;
        let sample = self.ty.key_sample(key, Representation::Xcdr2)?;
        let handle = run(py, move || reader.lookup_instance(&sample))?;
        Ok(handle.map(|handle| PyBytes::new(py, &handle.0)))
    }

    /// A dict of the key members of an instance; None if it is not known.
    fn key_value<'py>(
        &self,
        py: Python<'py>,
        instance: &[u8],
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (reader, instance) = (self.reader.get()?, handle(instance)?);
        let Some(sample) = run(py, move || reader.key_value(instance))? else {
            return Ok(None);
        };
        let form = match sample.is_key() {
            true => Form::Key,
            false => Form::Sample,
        };
        let memory = Memory::Own(sample.payload().into());
        let value = self.ty.decode(py, &memory, form)?;
        if form == Form::Key {
            return Ok(Some(value));
        }
        let mut payload = Vec::new();
        self.ty
            .encode(&value, Form::Key, Representation::Xcdr2, &mut payload)?;
        self.ty
            .decode(py, &Memory::Own(payload.into()), Form::Key)
            .map(Some)
    }

    /// The writers matched now: dicts with `guid`, `expected` (the number of the next sample), `announced`
    /// (of the newest one known to exist), `delivered`, `lost`, `duplicates`.
    fn matched_publications<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let reader = self.reader.get()?;
        let list = PyList::empty(py);
        for writer in run(py, move || reader.matched_publications())? {
            let dict = PyDict::new(py);
            dict.set_item("guid", writer.guid.to_string())?;
            dict.set_item("expected", writer.expected.0)?;
            dict.set_item("announced", writer.announced.0)?;
            dict.set_item("delivered", writer.delivered)?;
            dict.set_item("lost", writer.lost)?;
            dict.set_item("duplicates", writer.duplicates)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// What arrived by the protocol, and what became of it, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reader = self.reader.get()?;
        let (of, inbox) = run(py, move || (reader.counters(), reader.inbox_counters()))?;
        counters(
            py,
            [
                ("delivered", of.delivered),
                ("sets_discarded", of.sets_discarded),
                ("set_changes_discarded", of.set_changes_discarded),
                ("duplicates", of.duplicates),
                ("known", of.known),
                ("forgotten", of.forgotten),
                ("held", of.held),
                ("dropped", of.dropped),
                ("refused", of.refused),
                ("lost", of.lost),
                ("not_understood", of.not_understood),
                ("abandoned", of.abandoned),
                ("gaps", of.gaps),
                ("fragments", of.fragments),
                ("partial_dropped", of.partial_dropped),
                ("heartbeats", of.heartbeats),
                ("acknacks", of.acknacks),
                ("nack_frags", of.nack_frags),
                ("from_unmatched", of.from_unmatched),
                ("stale", of.stale),
                ("misbehaved", of.misbehaved),
                ("restarts", of.restarts),
                ("jumps", of.jumps),
                ("stored", inbox.stored),
                ("replaced", inbox.replaced),
                ("filtered", inbox.filtered),
                ("too_early", inbox.too_early),
                ("expired", inbox.expired),
                ("purged", inbox.purged),
                ("filtered_by_content", inbox.filtered_by_content),
                ("undecodable", inbox.undecodable),
                ("discarded_with_set", inbox.discarded_with_set),
                ("parts_guessed", inbox.parts_guessed),
                ("ignored", inbox.ignored),
            ],
        )
    }

    /// Changes what may change while the reader lives.
    fn _set_qos(&self, py: Python<'_>, settings: &str) -> PyResult<()> {
        let (reader, settings) = (self.reader.get()?, Settings::new(None, Some(settings))?);
        let name = &*self.topic.get().name;
        let changed = run(py, move || {
            let qos = settings.change_reader(reader.qos(), name);
            reader.set_qos(qos)
        });
        changed?.map_err(|error: SetQosError| Kind::Qos.error(error))
    }

    fn _status<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyTuple>> {
        let reader = self.reader.get()?;
        match name {
            "subscription_matched" => {
                run(py, move || reader.subscription_matched_status())?.to_tuple(py)
            }
            "requested_incompatible_qos" => {
                run(py, move || reader.requested_incompatible_qos_status())?.to_tuple(py)
            }
            "liveliness_changed" => {
                run(py, move || reader.liveliness_changed_status())?.to_tuple(py)
            }
            "sample_lost" => run(py, move || reader.sample_lost_status())?.to_tuple(py),
            "sample_rejected" => run(py, move || reader.sample_rejected_status())?.to_tuple(py),
            "requested_deadline_missed" => {
                run(py, move || reader.requested_deadline_missed_status())?.to_tuple(py)
            }
            other => Err(Kind::Error.error(format!("readers have no status `{other}`"))),
        }
    }

    fn _listen(slf: &Bound<'_, Self>, statuses: Vec<String>) -> PyResult<()> {
        let mask = mask(&statuses)?;
        *lock(&slf.get().told) = mask;
        Self::set_listener(slf)
    }

    /// A descriptor that can be read once samples have come, until `_hear` is called.
    fn _bell(slf: &Bound<'_, Self>) -> PyResult<i32> {
        let this = slf.get();
        let known = lock(&this.bell).as_ref().map(|bell| bell.descriptor());
        if let Some(descriptor) = known {
            return Ok(descriptor);
        }
        let bell = Arc::new(Bell::new()?);
        let descriptor = bell.descriptor();
        *lock(&this.bell) = Some(bell);
        Self::set_listener(slf)?;
        Ok(descriptor)
    }

    fn _hear(&self) {
        let bell = lock(&self.bell).clone();
        if let Some(bell) = bell {
            bell.hear();
        }
    }

    /// The statuses that have changed since they were last read, by name.
    #[getter]
    fn status_changes(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let reader = self.reader.get()?;
        Ok(names(run(py, move || reader.status_changes())?))
    }

    /// A condition that holds while one of these statuses has changed.
    #[pyo3(signature = (*statuses))]
    fn status_condition(&self, py: Python<'_>, statuses: Vec<String>) -> PyResult<PyCondition> {
        let (reader, mask) = (self.reader.get()?, mask(&statuses)?);
        Ok(PyCondition::new(run(py, move || {
            reader.status_condition(mask)
        })?))
    }

    /// A condition that holds while there are samples in all of these states; see `take`.
    #[pyo3(signature = (*states))]
    fn read_condition(&self, py: Python<'_>, states: Vec<String>) -> PyResult<PyCondition> {
        let (reader, mask) = (self.reader.get()?, crate::status::states(&states)?);
        Ok(PyCondition::new(run(py, move || {
            reader.read_condition(mask)
        })?))
    }

    fn _query_condition(
        &self,
        py: Python<'_>,
        expression: &str,
        parameters: Vec<Bound<'_, PyAny>>,
        states: Vec<String>,
    ) -> PyResult<PyCondition> {
        let (reader, mask) = (self.reader.get()?, crate::status::states(&states)?);
        let parameters = literals(&parameters)?;
        let condition = run(py, move || {
            let parameters: Vec<_> = parameters.iter().map(String::as_str).collect();
            reader.query_condition(mask, expression, &parameters)
        });
        let condition = condition?.map_err(|error| Kind::Filter.error(error))?;
        Ok(PyCondition::of_query(condition))
    }

    /// Has the reader take part, where what made it does not enable it.
    fn enable(&self, py: Python<'_>) -> PyResult<()> {
        let reader = self.reader.get()?;
        run(py, move || reader.enable())?.map_err(|error| Kind::Error.error(error))
    }

    /// The topic.
    #[getter]
    fn topic(&self, py: Python<'_>) -> Py<PyTopic> {
        self.topic.clone_ref(py)
    }

    /// The reader's name on the network.
    #[getter]
    fn guid(&self) -> PyResult<String> {
        Ok(self.reader.get()?.guid().to_string())
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.reader.is_closed()
    }

    fn _close(&self, py: Python<'_>) -> PyResult<()> {
        self.has_data.close(py)?;
        self.reader.close(py)
    }
}
