//! The decoder, the encoder and what is made of templates, as their users see them.

mod check;
mod conversions;
mod default_template;
mod extension;
mod golden;
#[path = "../common/golden.rs"]
mod golden_file;
mod hostile;
mod operators;
mod references;
mod refusals;
mod resets;
mod rules;
mod session;
mod shortest;
mod states;
mod templates;
mod trace;
mod typed;
