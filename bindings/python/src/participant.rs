//! Participants, what they have found, and who makes writers and readers.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tickwire::cdr::TypeDescription;
use tickwire::{DomainParticipant, EndpointData, Publisher, Role, Subscriber};

use crate::errors::{Kind, run};
use crate::group::{PyPublisher, PySubscriber};
use crate::owned::Owned;
use crate::sample::counters;
use crate::settings::{PyProfile, Settings};
use crate::types::PyTopicType;
use crate::wait::{duration, wait};

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
        let (participant, timeout) = (self.participant.get()?, duration(timeout)?);
        let polled = run(py, move || participant.poll(timeout))?;
        polled.map_err(|error| Kind::Error.error(error))?;
        py.check_signals()
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
        let found = wait(py, &self.participant, timeout, |participant, part| {
            let view = participant.discovery();
            view.wait_for(part, || {
                let endpoints = endpoints_of(participant, name);
                (!endpoints.is_empty()).then_some(endpoints)
            })
        });
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let participant = self.participant.get()?;
                let nearest = run(py, move || participant.discovery().nearest_topic(name))?;
                let Some(nearest) = nearest else {
                    return Err(
                        match error.is_instance_of::<pyo3::exceptions::PyTimeoutError>(py) {
                            true => Kind::Unknown.error(format!(
                                "nobody on the network writes or reads a topic {name:?}"
                            )),
                            false => error,
                        },
                    );
                };
                return Err(Kind::Unknown.error(format!(
                    "nobody on the network writes or reads a topic {name:?}; did you mean {nearest:?}?"
                )));
            }
        };
        let participant = self.participant.get()?;
        let description = run(py, move || describe(&participant, &found))?;
        let description = description.map_err(|error| Kind::Unknown.error(error))?;
        PyTopicType::new(description, &PyDict::new(py))
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

/// The endpoints of other participants with a topic, those first that say which type it has.
fn endpoints_of(participant: &DomainParticipant, topic: &str) -> Vec<std::sync::Arc<EndpointData>> {
    let view = participant.discovery();
    let mut endpoints = view.publications();
    endpoints.extend(view.subscriptions());
    endpoints.retain(|data| data.topic_name == topic);
    endpoints.sort_by_key(|data| data.type_information.is_empty());
    endpoints
}

/// The type of the first endpoint that tells, under the name that it is registered by.
fn describe(
    participant: &DomainParticipant,
    endpoints: &[std::sync::Arc<EndpointData>],
) -> Result<TypeDescription, String> {
    let view = participant.discovery();
    let mut problem = "nobody tells its type".to_owned();
    for endpoint in endpoints.iter().take(MOST_ASKED) {
        match view.type_of(endpoint.guid, PATIENCE) {
            Ok(mut description) => {
                if *description.name != *endpoint.type_name {
                    description.name = endpoint.type_name.as_str().into();
                }
                return Ok(description);
            }
            Err(error) => {
                problem = format!("the type {} is not known: {error}", endpoint.type_name)
            }
        }
    }
    Err(problem)
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

/// How long to wait for the answer about a type.
const PATIENCE: Duration = Duration::from_secs(3);
/// Participants that are asked for the type.
const MOST_ASKED: usize = 3;
