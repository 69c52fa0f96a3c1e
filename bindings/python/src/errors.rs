//! Errors of Rust as exceptions of Python, which `tickwire/_errors.py` defines.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;

/// Which exception.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Whatever has no exception of its own.
    Error,
    Timeout,
    /// No service in time.
    NoService,
    Closed,
    Qos,
    /// A type cannot be described.
    Type,
    /// A value does not fit its topic's type.
    Encode,
    /// An object is of another kind than its topic's type.
    EncodeType,
    /// A payload is not of its topic's type.
    Decode,
    /// Discovery knows no such thing.
    Unknown,
    /// IDL that does not compile.
    Idl,
    /// A filter that does not fit.
    Filter,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::Timeout => "TimeoutError",
            Self::NoService => "NoServiceError",
            Self::Closed => "ClosedError",
            Self::Qos => "QosError",
            Self::Type => "TypeDescriptionError",
            Self::Encode => "EncodeError",
            Self::EncodeType => "EncodeTypeError",
            Self::Decode => "DecodeError",
            Self::Unknown => "UnknownTopicError",
            Self::Idl => "IdlError",
            Self::Filter => "FilterError",
        }
    }

    /// The exception with the text of an error.
    pub(crate) fn error(self, error: impl ToString) -> PyErr {
        let text = error.to_string();
        Python::attach(|py| {
            let raised = py
                .import("tickwire._errors")
                .and_then(|module| module.getattr(self.name()))
                .and_then(|class| class.call1((text,)));
            raised.map_or_else(|error| error, PyErr::from_value)
        })
    }
}

/// Whether an exception says nothing of a value: Ctrl-C, the end of the program, no memory. It goes to the
/// caller as it is.
pub(crate) fn ends(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py) || error.is_instance_of::<PyMemoryError>(py)
}

/// What a call results in; `None` if it fails by an exception that says that the value does not fit.
pub(crate) fn fitting<T>(py: Python<'_>, result: PyResult<T>) -> PyResult<Option<T>> {
    match result {
        Ok(result) => Ok(Some(result)),
        Err(error) if ends(py, &error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Calls into the engine without the interpreter's lock, which its threads need for listeners. A panic
/// becomes an error.
pub(crate) fn run<R: Send>(py: Python<'_>, call: impl FnOnce() -> R + Send) -> PyResult<R> {
    py.detach(|| catch_unwind(AssertUnwindSafe(call)).map_err(|panic| text_of(&*panic)))
        .map_err(|text| Kind::Error.error(format!("internal error: {text}")))
}

/// The same with the interpreter's lock.
pub(crate) fn guarded<R>(call: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = text_of(&*panic);
        Err(Kind::Error.error(format!("internal error: {text}")))
    })
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic".to_owned())
}
