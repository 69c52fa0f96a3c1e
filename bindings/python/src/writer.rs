//! Writers.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use tickwire::cdr::dynamic::Form;
use tickwire::cdr::{Extensibility, Representation};
use tickwire::error::{SetQosError, WriteError};
use tickwire::qos::{DataWriterQos, RepresentationId};
use tickwire::{DataWriter, Payload, SequenceNumber, Serialized, Timestamp};

use crate::condition::PyCondition;
use crate::errors::{Kind, run};
use crate::listener::Ear;
use crate::owned::{Owned, lock};
use crate::participant::WriterOwner;
use crate::sample::counters;
use crate::settings::{PyProfile, Settings};
use crate::status::{ToTuple, mask, names};
use crate::topic::PyTopic;
use crate::types::PyTopicType;
use crate::wait::{PART, wait};

/// Publishes samples of a topic.
#[pyclass(
    frozen,
    subclass,
    generic,
    module = "tickwire._tickwire",
    name = "Writer"
)]
pub(crate) struct PyWriter {
    writer: Owned<DataWriter<Serialized>>,
    ty: PyTopicType,
    representation: Representation,
    topic: Py<PyTopic>,
    patience: Patience,
    /// Memory of samples that were written.
    spare: Mutex<Vec<Vec<u8>>>,
}

/// How long a write waits for room: so many times a part of `max_blocking_time`, for which alone the engine
/// waits, so that Ctrl-C and who closes the writer are heard.
#[derive(Clone, Copy)]
struct Patience {
    whole: Duration,
    part: Duration,
    parts: u128,
}

impl Patience {
    fn of(qos: &DataWriterQos) -> Self {
        let whole = qos.policies().reliability.max_blocking_time;
        let parts = whole.as_nanos().div_ceil(PART.as_nanos()).max(1);
        let part = u64::try_from(whole.as_nanos() / parts);
        Self {
            whole,
            part: part.map_or(PART, Duration::from_nanos),
            parts,
        }
    }

    /// What the engine is told.
    fn in_parts(self, qos: DataWriterQos) -> DataWriterQos {
        qos.with(|policies| policies.reliability.max_blocking_time = self.part)
    }
}

/// What becomes of an instance.
#[derive(Clone, Copy)]
enum End {
    Dispose,
    Unregister,
}

impl PyWriter {
    fn write_sample(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        timestamp: Option<i64>,
    ) -> PyResult<i64> {
        let mut payload = lock(&self.spare).pop().unwrap_or_default();
        payload.clear();
        self.ty
            .encode(value, Form::Sample, self.representation, &mut payload)?;
        let written = self.publish(py, timestamp, |writer, made| match made {
            None => writer.write_payload(Payload::new(&payload)),
            Some(at) => writer.write_payload_with_timestamp(Payload::new(&payload), at),
        })?;
        let mut spare = lock(&self.spare);
        if spare.len() < MAX_SPARE && payload.capacity() <= MAX_SPARE_BYTES {
            spare.push(payload);
        }
        drop(spare);
        Ok(written)
    }

    /// Has `attempt` write, with the time at which the sample was made if that is not now, until there is room.
    fn publish(
        &self,
        py: Python<'_>,
        timestamp: Option<i64>,
        attempt: impl Fn(
            &DataWriter<Serialized>,
            Option<Timestamp>,
        ) -> Result<SequenceNumber, WriteError>
        + Sync,
    ) -> PyResult<i64> {
        let mut made = timestamp.map(Timestamp::from_nanos);
        let mut parts = self.patience.parts;
        loop {
            let writer = self.writer.get()?;
            let written = run(py, || {
                let writer = writer;
                attempt(&writer, made)
            })?;
            let Err(WriteError::Timeout { waited }) = written else {
                return sequence_number(written);
            };
            parts -= 1;
            if parts == 0 {
                let waited = self.patience.whole;
                return sequence_number(Err(WriteError::Timeout { waited }));
            }
            made = made.or_else(|| Some(before(waited)));
            py.check_signals()?;
        }
    }

    fn end(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        timestamp: Option<i64>,
        end: End,
    ) -> PyResult<i64> {
        let sample = self.ty.key_sample(key, self.representation)?;
        self.publish(py, timestamp, |writer, made| match (end, made) {
            (End::Dispose, None) => writer.dispose(&sample),
            (End::Dispose, Some(at)) => writer.dispose_with_timestamp(&sample, at),
            (End::Unregister, None) => writer.unregister(&sample),
            (End::Unregister, Some(at)) => writer.unregister_with_timestamp(&sample, at),
        })
    }
}

/// The time so long ago.
fn before(waited: Duration) -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let then = now.unwrap_or_default().saturating_sub(waited);
    Timestamp::from_nanos(i64::try_from(then.as_nanos()).unwrap_or(i64::MAX))
}

fn sequence_number(written: Result<SequenceNumber, WriteError>) -> PyResult<i64> {
    written.map(|number| number.0).map_err(|error| match error {
        WriteError::Timeout { .. } => Kind::Timeout.error(error),
        WriteError::Sample(_) | WriteError::NoKey => Kind::Encode.error(error),
        error => Kind::Error.error(error),
    })
}

#[pymethods]
impl PyWriter {
    #[new]
    #[pyo3(signature = (owner, topic, profile = None, settings = None))]
    fn py_new(
        py: Python<'_>,
        owner: &Bound<'_, PyAny>,
        topic: Py<PyTopic>,
        profile: Option<&PyProfile>,
        settings: Option<&str>,
    ) -> PyResult<Self> {
        let owner = WriterOwner::of(owner)?;
        let (inner, ty) = (topic.get().topic.get()?, topic.get().ty.clone());
        let qos = Settings::new(profile, settings)?.writer(&topic.get().name);
        let patience = Patience::of(&qos);
        let qos = patience.in_parts(qos);
        let writer = run(py, move || match owner {
            WriterOwner::Participant(participant) => participant.writer_with(&inner, qos),
            WriterOwner::Publisher(publisher) => publisher.writer(&inner, qos),
        })?;
        let writer = writer.map_err(|error| Kind::Qos.error(error))?;
        let announced = writer.qos();
        let representation = match announced.policies().data_representation.first() {
            Some(&RepresentationId::XCDR1) => Representation::Xcdr1,
            Some(_) => Representation::Xcdr2,
            None => default_representation(&ty)?,
        };
        Ok(Self {
            writer: Owned::new("writer", writer),
            ty,
            representation,
            topic,
            patience,
            spare: Mutex::default(),
        })
    }

    /// Writes a sample and returns its sequence number.
    ///
    /// `timestamp` is when it was made, in nanoseconds since 1970; now by default. A reliable writer that
    /// keeps all waits for room, up to `max_blocking_time`, and then raises TimeoutError. The interpreter's
    /// lock is released meanwhile.
    #[pyo3(signature = (sample, timestamp = None))]
    fn write(
        &self,
        py: Python<'_>,
        sample: &Bound<'_, PyAny>,
        timestamp: Option<i64>,
    ) -> PyResult<i64> {
        self.write_sample(py, sample, timestamp)
    }

    /// Writes all samples of something that can be walked through, and returns how many. Each is encoded
    /// first, so that one that does not fit its type stops before it.
    fn write_all(&self, py: Python<'_>, samples: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut count = 0;
        for sample in samples.try_iter()? {
            self.write_sample(py, &sample?, None)?;
            count += 1;
        }
        Ok(count)
    }

    /// Ends the instance of a key: of a sample, or of a dict of the key members.
    #[pyo3(signature = (key, timestamp = None))]
    fn dispose(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        timestamp: Option<i64>,
    ) -> PyResult<i64> {
        self.end(py, key, timestamp, End::Dispose)
    }

    /// Says that this writer has nothing more to say about the instance of a key, and disposes of it unless
    /// the QoS says not to.
    #[pyo3(signature = (key, timestamp = None))]
    fn unregister(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        timestamp: Option<i64>,
    ) -> PyResult<i64> {
        self.end(py, key, timestamp, End::Unregister)
    }

    /// The handle of a key's instance. Instances need no registration before they are written.
    fn register<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let writer = self.writer.get()?;
        let sample = self.ty.key_sample(key, self.representation)?;
        let handle = run(py, move || writer.register(&sample))?;
        let handle = handle.map_err(|error| Kind::Encode.error(error))?;
        Ok(PyBytes::new(py, &handle.0))
    }

    /// Waits until at least `count` readers match, and each reliable one of them gets all that is written
    /// from here on. Raises TimeoutError after `timeout` seconds; None is for ever.
    #[pyo3(signature = (count = 1, timeout = None))]
    fn wait_for_matched(&self, py: Python<'_>, count: u32, timeout: Option<f64>) -> PyResult<()> {
        wait(py, &self.writer, timeout, |writer, part| {
            writer.wait_for_matched(count, part)
        })
    }

    /// Waits until every matched reliable reader has acknowledged everything written so far.
    #[pyo3(signature = (timeout = None))]
    fn wait_for_acknowledgments(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        wait(py, &self.writer, timeout, |writer, part| {
            writer.wait_for_acknowledgments(part)
        })
    }

    /// Says that the writer lives, where its LIVELINESS is manual.
    fn assert_liveliness(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.writer.get()?;
        run(py, move || writer.assert_liveliness())
    }

    /// The readers matched now: dicts with `guid`, `reliable`, `acknowledged` (the number of the last sample
    /// that it has acknowledged), `resent`.
    fn matched_subscriptions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let writer = self.writer.get()?;
        let list = PyList::empty(py);
        for reader in run(py, move || writer.matched_subscriptions())? {
            let dict = PyDict::new(py);
            dict.set_item("guid", reader.guid.to_string())?;
            dict.set_item("reliable", reader.reliable)?;
            dict.set_item("acknowledged", reader.acknowledged.0)?;
            dict.set_item("resent", reader.resent)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// What the writer has done so far, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let writer = self.writer.get()?;
        let of = run(py, move || writer.counters())?;
        counters(
            py,
            [
                ("written", of.written),
                ("restored", of.restored),
                ("would_block", of.would_block),
                ("sent", of.sent),
                ("sent_by_group", of.sent_by_group),
                ("resent", of.resent),
                ("fragments_sent", of.fragments_sent),
                ("fragments_resent", of.fragments_resent),
                ("suppressed", of.suppressed),
                ("filtered", of.filtered),
                ("filters_refused", of.filters_refused),
                ("gaps", of.gaps),
                ("heartbeats", of.heartbeats),
                ("acknacks", of.acknacks),
                ("nack_frags", of.nack_frags),
                ("removed_before_ack", of.removed_before_ack),
                ("expired", of.expired),
                ("from_unmatched", of.from_unmatched),
                ("stale", of.stale),
                ("misbehaved", of.misbehaved),
            ],
        )
    }

    /// Changes what may change while the writer lives: see `Writer` for the keywords.
    fn _set_qos(&self, py: Python<'_>, settings: &str) -> PyResult<()> {
        let (writer, settings) = (self.writer.get()?, Settings::new(None, Some(settings))?);
        let name = &*self.topic.get().name;
        let Patience { whole, .. } = self.patience;
        let changed = run(py, move || {
            let qos = writer.qos();
            let part = qos.policies().reliability.max_blocking_time;
            let qos = qos.with(|policies| policies.reliability.max_blocking_time = whole);
            let qos = settings.change_writer(qos, name).with(|policies| {
                let time = &mut policies.reliability.max_blocking_time;
                if *time == whole {
                    *time = part;
                }
            });
            writer.set_qos(qos)
        });
        changed?.map_err(|error: SetQosError| Kind::Qos.error(error))
    }

    fn _status<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyTuple>> {
        let writer = self.writer.get()?;
        match name {
            "publication_matched" => {
                run(py, move || writer.publication_matched_status())?.to_tuple(py)
            }
            "offered_incompatible_qos" => {
                run(py, move || writer.offered_incompatible_qos_status())?.to_tuple(py)
            }
            "offered_deadline_missed" => {
                run(py, move || writer.offered_deadline_missed_status())?.to_tuple(py)
            }
            "liveliness_lost" => run(py, move || writer.liveliness_lost_status())?.to_tuple(py),
            other => Err(Kind::Error.error(format!("writers have no status `{other}`"))),
        }
    }

    fn _listen(slf: &Bound<'_, Self>, statuses: Vec<String>) -> PyResult<()> {
        let (py, writer, mask) = (slf.py(), slf.get().writer.get()?, mask(&statuses)?);
        if mask.is_empty() {
            return run(py, move || writer.remove_listener());
        }
        let ear = Ear::new(slf.as_any(), mask, None)?;
        run(py, move || writer.set_listener_for(mask, ear))
    }

    /// The statuses that have changed since they were last read, by name.
    #[getter]
    fn status_changes(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let writer = self.writer.get()?;
        Ok(names(run(py, move || writer.status_changes())?))
    }

    /// A condition that holds while one of these statuses has changed.
    #[pyo3(signature = (*statuses))]
    fn status_condition(&self, py: Python<'_>, statuses: Vec<String>) -> PyResult<PyCondition> {
        let (writer, mask) = (self.writer.get()?, mask(&statuses)?);
        Ok(PyCondition::new(run(py, move || {
            writer.status_condition(mask)
        })?))
    }

    /// Has the writer take part, where what made it does not enable it.
    fn enable(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.writer.get()?;
        run(py, move || writer.enable())?.map_err(|error| Kind::Error.error(error))
    }

    /// The topic.
    #[getter]
    fn topic(&self, py: Python<'_>) -> Py<PyTopic> {
        self.topic.clone_ref(py)
    }

    /// The writer's name on the network.
    #[getter]
    fn guid(&self) -> PyResult<String> {
        Ok(self.writer.get()?.guid().to_string())
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.writer.is_closed()
    }

    fn _close(&self, py: Python<'_>) -> PyResult<()> {
        self.writer.close(py)
    }
}

fn default_representation(ty: &PyTopicType) -> PyResult<Representation> {
    Ok(match ty.description()?.extensibility {
        Extensibility::Final => Representation::Xcdr1,
        Extensibility::Appendable | Extensibility::Mutable => Representation::Xcdr2,
    })
}

/// Buffers that a writer keeps, and their size at most.
const MAX_SPARE: usize = 8;
const MAX_SPARE_BYTES: usize = 1 << 20;
