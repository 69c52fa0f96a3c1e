//! Waiting without the interpreter's lock, in pieces, so that Ctrl-C and who closes the entity are heard.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tickwire::error::Timeout;

use crate::errors::{Kind, run};
use crate::owned::Owned;

/// Seconds as a duration.
pub(crate) fn duration(seconds: f64) -> PyResult<Duration> {
    if seconds.is_nan() || seconds < 0.0 {
        let text = format!("a time of {seconds} seconds cannot be waited for");
        return Err(pyo3::exceptions::PyValueError::new_err(text));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Has `attempt` wait for a part of the time again and again until it succeeds; for ever without a timeout.
pub(crate) fn wait<T: Clone + Send, R: Send>(
    py: Python<'_>,
    entity: &Owned<T>,
    timeout: Option<f64>,
    attempt: impl Fn(&T, Duration) -> Result<R, Timeout> + Sync,
) -> PyResult<R> {
    let waited = timeout.map(duration).transpose()?;
    attempts(py, entity, timeout, attempt)?.map_err(|mut error| {
        error.waited = waited.unwrap_or(error.waited);
        // With what to do about it, unlike its Display.
        Kind::Timeout.error(format_args!("{error:?}"))
    })
}

/// The same, with what the last attempt says if none succeeds in time.
pub(crate) fn attempts<T: Clone + Send, R: Send, E: Send>(
    py: Python<'_>,
    entity: &Owned<T>,
    timeout: Option<f64>,
    attempt: impl Fn(&T, Duration) -> Result<R, E> + Sync,
) -> PyResult<Result<R, E>> {
    let timeout = timeout.map(duration).transpose()?;
    let start = Instant::now();
    loop {
        let handle = entity.get()?;
        let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        let part = left.map_or(PART, |left| left.min(PART));
        let result = run(py, || {
            let handle = handle;
            attempt(&handle, part)
        })?;
        let is_over = timeout.is_some_and(|timeout| start.elapsed() >= timeout);
        if result.is_ok() || is_over {
            return Ok(result);
        }
        py.check_signals()?;
    }
}

/// How long nobody is heard.
pub(crate) const PART: Duration = Duration::from_millis(100);
