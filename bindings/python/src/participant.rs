//! Participants, what they have found, and who makes writers and readers.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tickwire::cdr::TypeDescription;
use tickwire::error::{PollError, TypeError};
use tickwire::{DomainParticipant, EndpointData, Publisher, Role, Subscriber};

use crate::errors::{Kind, run};
use crate::group::{PyPublisher, PySubscriber};
use crate::owned::Owned;
use crate::sample::counters;
use crate::settings::{PyProfile, Settings};
use crate::types::PyTopicType;
use crate::wait::{PART, duration, wait};

/// A program's membership in a domain.
#[pyclass(frozen, subclass, module = "tickwire._tickwire", name = "Participant")]
pub(crate) struct PyParticipant {
    pub(crate) participant: Owned<DomainParticipant>,
}

/// Who makes a writer.
pub(crate) enum WriterOwner {
    Participant(DomainParticipant),
    Publisher(Publisher),
}

impl WriterOwner {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(publisher) = object.cast::<PyPublisher>() {
            return Ok(Self::Publisher(publisher.get().publisher.get()?));
        }
        let participant = object.cast::<PyParticipant>()?;
        Ok(Self::Participant(participant.get().participant.get()?))
    }
}

/// Who makes a reader.
pub(crate) enum ReaderOwner {
    Participant(DomainParticipant),
    Subscriber(Subscriber),
}

impl ReaderOwner {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(subscriber) = object.cast::<PySubscriber>() {
            return Ok(Self::Subscriber(subscriber.get().subscriber.get()?));
        }
        let participant = object.cast::<PyParticipant>()?;
        Ok(Self::Participant(participant.get().participant.get()?))
    }
}

#[pymethods]
impl PyParticipant {
    #[new]
    #[pyo3(signature = (domain = None, profile = None, settings = None))]
    fn py_new(
        py: Python<'_>,
        domain: Option<u32>,
        profile: Option<&PyProfile>,
        settings: Option<&str>,
    ) -> PyResult<Self> {
        let builder = Settings::new(profile, settings)?.participant(domain);
        let participant = run(py, move || builder.build())?;
        let participant = participant.map_err(|error| Kind::Error.error(error))?;
        Ok(Self {
            participant: Owned::new("participant", participant),
        })
    }

    /// The domain.
    #[getter]
    fn domain(&self) -> PyResult<u32> {
        Ok(self.participant.get()?.domain())
    }

    /// The participant's name on the network.
    #[getter]
    fn guid(&self) -> PyResult<String> {
        Ok(self.participant.get()?.guid().to_string())
    }

    /// Has the participant take part, where it was made not to.
    fn enable(&self, py: Python<'_>) -> PyResult<()> {
        let participant = self.participant.get()?;
        run(py, move || participant.enable())?.map_err(|error| Kind::Error.error(error))
    }

    /// Does what is to be done, for up to `timeout` seconds, where `driving="polled"`.
    #[pyo3(signature = (timeout = 0.0))]
    fn poll(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let timeout = duration(timeout)?;
        let start = Instant::now();
        loop {
            let participant = self.participant.get()?;
            let part = timeout.saturating_sub(start.elapsed()).min(PART);
            let (polled, is_over) = run(py, || {
                let participant = participant;
                poll(&participant, part, timeout > PART)
            })?;
            polled.map_err(|error| Kind::Error.error(error))?;
            py.check_signals()?;
            if is_over || start.elapsed() >= timeout {
                return Ok(());
            }
        }
    }

    /// Says that all writers of this participant live whose LIVELINESS is MANUAL_BY_PARTICIPANT.
    fn assert_liveliness(&self, py: Python<'_>) -> PyResult<()> {
        let participant = self.participant.get()?;
        run(py, move || participant.assert_liveliness())
    }

    /// What has passed through its sockets, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let participant = self.participant.get()?;
        let of = run(py, move || participant.counters())?;
        counters(
            py,
            [
                ("datagrams_received", of.datagrams_received),
                ("bytes_received", of.bytes_received),
                ("datagrams_sent", of.datagrams_sent),
                ("bytes_sent", of.bytes_sent),
                ("malformed", of.malformed),
                ("unknown_submessages", of.unknown_submessages),
                ("unrouted", of.unrouted),
                ("unreachable", of.unreachable),
                ("receive_errors", of.receive_errors),
                ("send_errors", of.send_errors),
                ("listener_panics", of.listener_panics),
                ("interface_changes", of.interface_changes),
                ("interface_errors", of.interface_errors),
                ("store_errors", of.store_errors),
                ("shm_records_sent", of.shared_memory.records_sent),
                ("shm_bytes_sent", of.shared_memory.bytes_sent),
                ("shm_records_unsent", of.shared_memory.records_unsent),
                ("shm_records_received", of.shared_memory.records_received),
                ("shm_bytes_received", of.shared_memory.bytes_received),
                ("shm_records_lost", of.shared_memory.records_lost),
            ],
        )
    }

    /// Other participants that discovery knows: dicts with `guid`, `name`, `vendor`, `domain`, `lease`
    /// (seconds), `properties`.
    fn discovered_participants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let participant = self.participant.get()?;
        let found = run(py, move || participant.discovery().participants())?;
        let list = PyList::empty(py);
        for data in found.iter().filter(|data| !data.is_rendezvous()) {
            let dict = PyDict::new(py);
            dict.set_item("guid", data.guid().to_string())?;
            dict.set_item("name", &data.entity_name)?;
            dict.set_item("vendor", data.vendor.0)?;
            dict.set_item("domain", data.domain_id)?;
            dict.set_item("lease", data.lease_duration.as_secs_f64())?;
            dict.set_item("user_data", pyo3::types::PyBytes::new(py, &data.user_data))?;
            let properties = PyDict::new(py);
            for (name, value) in &data.properties {
                properties.set_item(name, value)?;
            }
            dict.set_item("properties", properties)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Writers and readers that discovery knows, those of this participant included: dicts with `guid`,
    /// `kind` ("writer" or "reader"), `topic`, `type`, `reliability`, `durability`, `partition`.
    fn discovered_endpoints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let participant = self.participant.get()?;
        let found = run(py, move || {
            let view = participant.discovery();
            let mut found = view.publications();
            found.extend(view.subscriptions());
            found
        })?;
        let list = PyList::empty(py);
        for data in found {
            let dict = PyDict::new(py);
            dict.set_item("guid", data.guid.to_string())?;
            let kind = match data.role {
                Role::Writer => "writer",
                Role::Reader => "reader",
            };
            dict.set_item("kind", kind)?;
            dict.set_item("topic", &data.topic_name)?;
            dict.set_item("type", &data.type_name)?;
            let reliability = match data.qos.is_reliable() {
                true => "reliable",
                false => "best_effort",
            };
            dict.set_item("reliability", reliability)?;
            dict.set_item("durability", snake(&format!("{:?}", data.qos.durability)))?;
            dict.set_item("partition", &data.qos.partition)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Each writer and reader of one topic of which at least one is of this participant: dicts with
    /// `writer`, `reader`, `matches`, `verdict` (why not, and what to change), `way` (by what samples go).
    fn discovered_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let participant = self.participant.get()?;
        let list = PyList::empty(py);
        for pair in run(py, move || participant.discovery().pairs())? {
            let dict = PyDict::new(py);
            dict.set_item("writer", pair.writer.to_string())?;
            dict.set_item("reader", pair.reader.to_string())?;
            dict.set_item("matches", pair.verdict.is_match())?;
            dict.set_item("verdict", pair.verdict.to_string())?;
            dict.set_item("way", pair.way.map(|way| way.to_string()))?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// The type of a topic, as a participant of one of its writers or readers tells.
    #[pyo3(signature = (name, timeout = None))]
    fn _learn(&self, py: Python<'_>, name: &str, timeout: Option<f64>) -> PyResult<PyTopicType> {
        let start = Instant::now();
        let found = wait(py, &self.participant, timeout, |participant, part| {
            let view = participant.discovery();
            view.wait_for(part, || {
                let endpoints = endpoints_of(participant, name);
                (!endpoints.is_empty()).then_some(endpoints)
            })
        });
        let found = match found {
            Err(error) if is_timeout(py, &error) => {
                let participant = self.participant.get()?;
                let nearest = run(py, move || participant.discovery().nearest_topic(name))?;
                let nearest = nearest.map(|nearest| format!("; did you mean {nearest:?}?"));
                return Err(Kind::Unknown.error(format!(
                    "nobody on the network writes or reads a topic {name:?}{}",
                    nearest.unwrap_or_default()
                )));
            }
            found => found?,
        };
        let mut problem = "nobody tells its type".to_owned();
        for endpoint in found.iter().take(MOST_ASKED) {
            let left = timeout.map(|timeout| timeout - start.elapsed().as_secs_f64());
            let left = left.map_or(PATIENCE, |left| left.clamp(0.0, PATIENCE));
            match self.describe(py, endpoint, left)? {
                Ok(description) => return PyTopicType::new(description, &PyDict::new(py)),
                Err(error) => {
                    problem = format!("the type {} is not known: {error}", endpoint.type_name)
                }
            }
        }
        Err(Kind::Unknown.error(problem))
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.participant.is_closed()
    }

    fn _close(&self, py: Python<'_>) -> PyResult<()> {
        self.participant.close(py)
    }
}

impl PyParticipant {
    /// The type of an endpoint, under the name that it is registered by; or why it is not known after so many
    /// seconds.
    fn describe(
        &self,
        py: Python<'_>,
        endpoint: &EndpointData,
        patience: f64,
    ) -> PyResult<Result<TypeDescription, String>> {
        let (start, patience) = (Instant::now(), duration(patience)?);
        let mut description = loop {
            let participant = self.participant.get()?;
            let part = patience.saturating_sub(start.elapsed()).min(PART);
            let guid = endpoint.guid;
            match run(py, move || participant.discovery().type_of(guid, part))? {
                Ok(description) => break description,
                Err(TypeError::NoAnswer { .. }) if start.elapsed() < patience => {
                    py.check_signals()?;
                }
                Err(TypeError::NoAnswer { .. }) => {
                    let waited = patience;
                    return Ok(Err(TypeError::NoAnswer { waited }.to_string()));
                }
                Err(error) => return Ok(Err(error.to_string())),
            }
        };
        if *description.name != *endpoint.type_name {
            description.name = endpoint.type_name.as_str().into();
        }
        Ok(Ok(description))
    }
}

/// The endpoints of other participants with a topic, those first that say which type it has.
fn endpoints_of(participant: &DomainParticipant, topic: &str) -> Vec<std::sync::Arc<EndpointData>> {
    let view = participant.discovery();
    let mut endpoints = view.publications();
    endpoints.extend(view.subscriptions());
    endpoints.retain(|data| data.topic_name == topic);
    endpoints.sort_by_key(|data| data.type_information.is_empty());
    endpoints
}

/// Polls, and says whether anything was done; for sure if `is_asked`.
fn poll(
    participant: &DomainParticipant,
    part: Duration,
    is_asked: bool,
) -> (Result<(), PollError>, bool) {
    if !is_asked {
        return (participant.poll(part), true);
    }
    let received = || {
        let counters = participant.counters();
        (
            counters.datagrams_received,
            counters.shared_memory.records_received,
        )
    };
    let (before, start) = (received(), Instant::now());
    let polled = participant.poll(part);
    // What comes at the very end of the part does not end it earlier.
    (polled, start.elapsed() < part || received() != before)
}

fn is_timeout(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyTimeoutError>(py)
}

/// `TransientLocal` as `transient_local`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for char in name.chars() {
        if char.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(char.to_lowercase());
    }
    snake
}

/// How long to wait for the answer about a type, in seconds.
const PATIENCE: f64 = 3.0;
/// Participants that are asked for the type.
const MOST_ASKED: usize = 3;
