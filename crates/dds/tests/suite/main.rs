//! Participants as their users see them, each test in a domain of its own.

mod back_pressure;
mod builtin_topics;
mod change_qos;
mod common;
mod content_filter;
mod cooperative;
mod durability;
mod durability_sets;
mod durability_types;
mod enabling;
mod exchange;
mod fragments;
mod instances;
mod late_joiners;
mod leaving;
mod loans;
mod matching;
mod presentation;
mod request_reply;
mod sequence_loans;
mod several;
mod shared_memory;
mod statuses;
mod tcp;
mod transports;
mod value_loans;
