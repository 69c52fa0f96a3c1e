//! Feeds as Arrow batches: FAST messages of a file or of lines, without DDS.
//!
//! A thread of its own decodes, and hands batches over by a short queue; it never needs the interpreter's lock.

mod settings;
mod work;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::arrow::{LeftOut, PyBatch, stream};
use crate::errors::{Kind, run};
use crate::owned::{Generation, lock};
use crate::sample::counters;
use crate::wait::PART;
pub(crate) use settings::{FeedSettings, FeedSource};
use work::Work;

/// A feed that is being decoded: an iterator of batches, each of the messages of one template.
///
/// Of a feed of one `message` it is a stream of Arrow's PyCapsule interface, too: `polars.DataFrame(feed)`,
/// `pyarrow.RecordBatchReader.from_stream(feed)`. Whoever takes it so has all batches.
#[pyclass(frozen, module = "tickwire", name = "Feed")]
pub(crate) struct PyFeed {
    batches: Mutex<Option<Batches>>,
    made: Generation,
    /// Of the one message that is meant.
    schema: Option<SchemaRef>,
    messages: Vec<String>,
    unmapped: Vec<(String, String)>,
    counts: Arc<Mutex<Counts>>,
}

/// What the thread that decodes hands over.
struct Given {
    batch: RecordBatch,
    name: Arc<str>,
    left_out: LeftOut,
}

/// What comes from the thread, which ends when this does.
struct Batches {
    /// None once it is dropped.
    receiver: Option<Receiver<Result<Given, String>>>,
    stop: Arc<AtomicBool>,
    made: Generation,
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let receiver = self.receiver.take();
        if !self.made.is_now() {
            mem::forget(receiver);
        }
    }
}

/// What became of a feed's packets and messages, by name.
#[derive(Clone, Default)]
struct Counts(Vec<(&'static str, u64)>);

#[pymethods]
impl PyFeed {
    #[new]
    fn py_new(py: Python<'_>, source: FeedSource, settings: FeedSettings) -> PyResult<Self> {
        let work = run(py, || Work::new(source, &settings))?;
        let work = work.map_err(|error| Kind::Error.error(error))?;
        let counts = Arc::new(Mutex::new(Counts::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = sync_channel(WAITING);
        let feed = Self {
            batches: Mutex::new(Some(Batches {
                receiver: Some(receiver),
                stop: Arc::clone(&stop),
                made: Generation::now(),
            })),
            made: Generation::now(),
            schema: work.schema.clone(),
            messages: work.messages.clone(),
            unmapped: work.unmapped.clone(),
            counts: Arc::clone(&counts),
        };
        thread::Builder::new()
            .name("tickwire feed".to_owned())
            .spawn(move || work.run(sender, &stop, &counts))?;
        Ok(feed)
    }

    /// The templates whose messages become rows.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    /// Templates whose messages cannot be rows, and why.
    #[getter]
    fn unmapped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, reason) in &self.unmapped {
            dict.set_item(name, reason)?;
        }
        Ok(dict)
    }

    /// What became of packets and messages up to the last batch that was finished, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = lock(&self.counts).clone();
        counters(py, counts.0)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// The next batch. The interpreter's lock is released meanwhile, and Ctrl-C is heard.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyBatch>> {
        loop {
            self.check_process()?;
            let next = run(py, || {
                let batches = lock(&self.batches);
                batches.as_ref().map(Batches::next_within_part)
            })?;
            match next {
                None | Some(Next::End) => return Ok(None),
                Some(Next::Batch(given)) => {
                    let Given {
                        batch,
                        name,
                        left_out,
                    } = *given;
                    return Ok(Some(PyBatch::new(batch, name, left_out)));
                }
                Some(Next::Failed(error)) => return Err(Kind::Decode.error(error)),
                Some(Next::Nothing) => py.check_signals()?,
            }
        }
    }

    /// Arrow's PyCapsule interface: all batches of the one `message`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _any = requested_schema;
        self.check_process()?;
        let Some(schema) = self.schema.clone() else {
            let text = "a stream has one kind of rows: say which by `message`";
            return Err(Kind::Error.error(text));
        };
        let batches = run(py, || lock(&self.batches).take())?;
        let Some(batches) = batches else {
            return Err(Kind::Closed.error("the feed is closed, or was taken as a stream before"));
        };
        stream(py, Box::new(FeedStream { schema, batches }))
    }

    /// Ends it. Again is nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.made.is_now() {
            return Ok(());
        }
        run(py, || drop(lock(&self.batches).take()))
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}

impl PyFeed {
    /// The thread that decodes is not there in the child of a fork.
    fn check_process(&self) -> PyResult<()> {
        match self.made.is_now() {
            true => Ok(()),
            false => Err(Generation::error("feed")),
        }
    }
}

enum Next {
    Batch(Box<Given>),
    Failed(String),
    End,
    /// Nothing has come for a while.
    Nothing,
}

impl Batches {
    fn next_within_part(&self) -> Next {
        let Some(receiver) = &self.receiver else {
            return Next::End;
        };
        match receiver.recv_timeout(PART) {
            Ok(Ok(given)) => Next::Batch(Box::new(given)),
            Ok(Err(error)) => Next::Failed(error),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }
}

/// The batches for who takes them without Python.
struct FeedStream {
    schema: SchemaRef,
    batches: Batches,
}

impl Iterator for FeedStream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if !self.batches.made.is_now() {
                return Some(Err(ArrowError::ExternalError(FORKED.into())));
            }
            return match self.batches.next_within_part() {
                Next::Batch(given) => Some(Ok(given.batch)),
                Next::Failed(error) => Some(Err(ArrowError::ExternalError(error.into()))),
                Next::End => None,
                Next::Nothing => continue,
            };
        }
    }
}

impl RecordBatchReader for FeedStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

const FORKED: &str = "the feed belongs to the process that has forked this one";
/// Batches that wait to be taken.
const WAITING: usize = 4;
