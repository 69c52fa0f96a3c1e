//! The extension module of the Python package `tickwire`: participants, topics, writers and readers of
//! samples whose types Python knows, and both ways between Python objects and payloads.
//!
//! What is easier said in Python is there, in `../tickwire`: types from dataclasses, iteration, asyncio,
//! context managers. Two rules hold here. The engine is called without the interpreter's lock
//! ([`errors::run`]), and no lock of the engine is held where Python code runs: objects are encoded before the
//! engine is called, and decoded after it.

#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
mod arrow;
mod bell;
mod condition;
mod decode;
mod encode;
mod errors;
#[cfg(feature = "arrow")]
mod feed;
mod group;
mod idl;
mod listener;
mod memory;
mod numbers;
mod owned;
mod participant;
mod plan;
mod reader;
mod rpc;
mod sample;
mod schema;
mod settings;
mod status;
mod topic;
mod types;
mod wait;
mod writer;

use pyo3::prelude::*;

#[pymodule]
mod _tickwire {
    #[cfg(feature = "arrow")]
    #[pymodule_export]
    use super::arrow::{PyBatch, PyRows};
    #[pymodule_export]
    use super::condition::{PyCondition, PyGuardCondition, PyWaitSet};
    #[cfg(feature = "arrow")]
    #[pymodule_export]
    use super::feed::PyFeed;
    #[pymodule_export]
    use super::group::{PyAccess, PyCoherent, PyPublisher, PySubscriber};
    #[pymodule_export]
    use super::idl::compile_idl;
    #[pymodule_export]
    use super::numbers::View;
    #[pymodule_export]
    use super::owned::has_forked;
    #[pymodule_export]
    use super::participant::PyParticipant;
    #[pymodule_export]
    use super::reader::PyReader;
    #[pymodule_export]
    use super::rpc::{PyPending, PyReplier, PyRequestId, PyRequester};
    #[pymodule_export]
    use super::sample::{PySample, PySampleInfo};
    #[pymodule_export]
    use super::settings::{PyProfile, settings};
    #[pymodule_export]
    use super::topic::{PyFilteredTopic, PyTopic};
    #[pymodule_export]
    use super::types::PyTopicType;
    #[pymodule_export]
    use super::writer::PyWriter;

    #[allow(non_upper_case_globals)]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
