//! Requests and replies, for the clients and services that `tickwire/_rpc.py` makes of interfaces.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tickwire::cdr::Representation;
use tickwire::cdr::dynamic::Form;
use tickwire::error::WriteError;
use tickwire::rpc::{
    CallError, CreateError, NoService, PendingReply, Replier, Reply, Requester, ServiceConfig,
};
use tickwire::{SampleIdentity, Serialized};

use crate::errors::{Kind, run};
use crate::memory::Memory;
use crate::owned::{Owned, lock};
use crate::participant::PyParticipant;
use crate::sample::counters;
use crate::types::PyTopicType;
use crate::wait::{attempts, duration, wait};

/// Sends requests and gets the replies to them.
#[pyclass(frozen, module = "tickwire._tickwire", name = "Requester")]
pub(crate) struct PyRequester {
    requester: Owned<Requester<Serialized, Serialized>>,
    request: PyTopicType,
    reply: PyTopicType,
}

#[pymethods]
impl PyRequester {
    #[new]
    #[pyo3(signature = (participant, topics, request, reply))]
    fn py_new(
        py: Python<'_>,
        participant: &PyParticipant,
        topics: (String, String),
        request: PyTopicType,
        reply: PyTopicType,
    ) -> PyResult<Self> {
        let participant = participant.participant.get()?;
        let (asked, answered) = (request.0.dynamic.clone(), reply.0.dynamic.clone());
        let requester = run(py, move || {
            let config = ServiceConfig::topics(&topics.0, &topics.1);
            Requester::of(&participant, config, asked, answered)
        })?;
        Ok(Self {
            requester: Owned::new("client", requester.map_err(cannot_be)?),
            request,
            reply,
        })
    }

    /// Waits until a service is there. Raises NoServiceError after `timeout` seconds, which says what is missing, and that
    /// this took so long, or as long as it is `told`; None is for ever.
    #[pyo3(signature = (timeout = None, told = None))]
    fn wait_for_service(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        told: Option<f64>,
    ) -> PyResult<()> {
        let waited = told
            .or(timeout)
            .map(duration)
            .transpose()?
            .unwrap_or_default();
        let found = attempts(py, &self.requester, timeout, |requester, part| {
            requester.wait_for_service(part)
        })?;
        found.map_err(|why| Kind::NoService.error(NoService { waited, ..why }))
    }

    /// Sends a request.
    fn send(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> PyResult<PyPending> {
        let (requester, request) = (self.requester.get()?, encoded(&self.request, request)?);
        let pending = run(py, move || requester.send(&request))?;
        let pending = Arc::new(Mutex::new(pending.map_err(not_sent)?));
        Ok(PyPending {
            pending: Owned::new("call", pending),
            reply: self.reply.clone(),
        })
    }

    /// Sends a request that nobody replies to.
    fn tell(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> PyResult<()> {
        let (requester, request) = (self.requester.get()?, encoded(&self.request, request)?);
        let told = run(py, move || requester.tell(&request))?;
        told.map(drop).map_err(not_sent)
    }

    /// What it has done and seen, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let requester = self.requester.get()?;
        let of = run(py, move || requester.counters())?;
        counters(
            py,
            [
                ("requests", of.requests),
                ("replies", of.replies),
                ("late", of.late),
                ("given_up", of.given_up),
                ("refused", of.refused),
                ("for_others", of.for_others),
                ("unrelated", of.unrelated),
            ],
        )
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.requester.close(py)
    }
}

type PendingCall = Arc<Mutex<PendingReply<Serialized>>>;

/// A request that was sent. It is given up when nobody has it any more.
#[pyclass(frozen, module = "tickwire._tickwire", name = "Pending")]
pub(crate) struct PyPending {
    pending: Owned<PendingCall>,
    reply: PyTopicType,
}

impl PyPending {
    fn decode<'py>(
        &self,
        py: Python<'py>,
        reply: &Reply<Serialized>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = Memory::Own(reply.payload().into());
        self.reply.decode(py, &memory, Form::Sample)
    }
}

#[pymethods]
impl PyPending {
    /// Waits for the reply. Raises TimeoutError after `timeout` seconds; None is for ever.
    #[pyo3(signature = (timeout = None))]
    fn wait<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let waited = timeout.map(duration).transpose()?.unwrap_or_default();
        let reply = attempts(py, &self.pending, timeout, |pending, part| {
            lock(pending).wait_for(part).ok_or(())
        })?;
        let late = |()| Kind::Timeout.error(CallError::<Infallible>::Timeout { waited });
        let reply = reply.map_err(late)?;
        self.decode(py, &reply)
    }

    /// The reply, if it has come, once; else `ring` is called when it comes, on a thread of the participant's.
    fn poll<'py>(&self, py: Python<'py>, ring: Py<PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (pending, waker) = (self.pending.get()?, Waker::from(Arc::new(Ring(ring))));
        let polled = run(py, move || {
            Pin::new(&mut *lock(&pending)).poll(&mut Context::from_waker(&waker))
        })?;
        match polled {
            Poll::Ready(reply) => self.decode(py, &reply).map(Some),
            Poll::Pending => Ok(None),
        }
    }
}

/// A function of Python's that is called when a reply has come.
struct Ring(Py<PyAny>);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        Python::try_attach(|py| {
            if let Err(error) = self.0.call0(py) {
                error.write_unraisable(py, Some(self.0.bind(py)));
            }
        });
    }
}

/// Gets requests and replies to them.
#[pyclass(frozen, module = "tickwire._tickwire", name = "Replier")]
pub(crate) struct PyReplier {
    replier: Owned<Replier<Serialized, Serialized>>,
    request: PyTopicType,
    reply: PyTopicType,
}

#[pymethods]
impl PyReplier {
    #[new]
    #[pyo3(signature = (participant, topics, request, reply))]
    fn py_new(
        py: Python<'_>,
        participant: &PyParticipant,
        topics: (String, String),
        request: PyTopicType,
        reply: PyTopicType,
    ) -> PyResult<Self> {
        let participant = participant.participant.get()?;
        let (asked, answered) = (request.0.dynamic.clone(), reply.0.dynamic.clone());
        let replier = run(py, move || {
            let config = ServiceConfig::topics(&topics.0, &topics.1);
            Replier::of(&participant, config, asked, answered)
        })?;
        Ok(Self {
            replier: Owned::new("service", replier.map_err(cannot_be)?),
            request,
            reply,
        })
    }

    /// Waits for the next request, and returns it with what its reply names it by. Raises DecodeError if it is none.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let request = wait(py, &self.replier, None, Replier::wait)?;
        let memory = Memory::Own(request.payload().into());
        let value = self.request.decode(py, &memory, Form::Sample)?;
        (value, PyRequestId(request.id())).into_pyobject(py)
    }

    /// Replies to a request.
    fn reply(
        &self,
        py: Python<'_>,
        request: &PyRequestId,
        reply: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (replier, reply) = (self.replier.get()?, encoded(&self.reply, reply)?);
        let request = request.0;
        let written = run(py, move || replier.reply_to(request, &reply))?;
        written.map_err(not_written)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.replier.close(py)
    }
}

/// By which a reply names its request.
#[pyclass(frozen, module = "tickwire._tickwire", name = "RequestId")]
pub(crate) struct PyRequestId(SampleIdentity);

/// Requests and replies are mutable types, of which writers offer this representation.
fn encoded(ty: &PyTopicType, value: &Bound<'_, PyAny>) -> PyResult<Serialized> {
    let mut payload = Vec::new();
    ty.encode(value, Form::Sample, Representation::Xcdr2, &mut payload)?;
    Ok(Serialized::from_payload(payload))
}

fn cannot_be(error: CreateError) -> PyErr {
    match error {
        CreateError::Topic(error) => Kind::Type.error(error),
        error => Kind::Qos.error(error),
    }
}

fn not_sent(error: CallError) -> PyErr {
    match error {
        CallError::Write(error) => not_written(error),
        error => Kind::Error.error(error),
    }
}

fn not_written(error: WriteError) -> PyErr {
    match error {
        WriteError::Timeout { .. } => Kind::Timeout.error(error),
        error => Kind::Error.error(error),
    }
}
