//! The protocol as those see it who drive it, in virtual time where there is any.

mod announcements;
mod back_pressure;
mod best_effort;
mod coherent;
mod common;
mod content_filter;
mod crowd;
mod detours;
mod durability_service;
mod flow;
mod group_sets;
mod group_writers;
mod groups;
mod handed;
mod history;
mod hostile;
mod logs;
mod loss;
mod originals;
mod reader_rules;
mod related;
mod reliable;
mod rendezvous;
mod samples;
mod writer_rules;
