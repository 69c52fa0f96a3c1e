//! What the proof of the FAST codec is made of: choices, random template files and random messages that suit them. The
//! tests, benchmarks and fuzz targets beside it use the same. Nothing here is published.

#![forbid(unsafe_code)]

mod choice;
pub mod generated;
mod message;
mod template;
mod value;

pub use choice::Choices;
pub use message::{Messages, is_within, scribble};
pub use template::{Shape, Spelling, templates};
