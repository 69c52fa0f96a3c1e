//! Tickwire for programs in C: what `include/tickwire.h` and `include/tickwire/exchange.h` declare and document.
//!
//! A module for each group of functions there; under them [`handle`] (what callers name objects by), [`failure`]
//! (what they are told) and [`border`], which alone touches what callers point to.

mod border;
mod condition;
mod counters;
mod either;
mod entity;
mod exchange;
mod failure;
mod guid;
mod handle;
mod instance;
mod listener;
mod loan;
mod participant;
mod publisher;
mod qos;
mod reader;
mod rpc;
mod samples;
mod slab;
mod status;
mod subscriber;
mod time;
mod topic;
mod types;
mod writer;
