//! What the proof of the FAST codec is made of: choices, random template files and random messages that suit them. The
//! tests, benchmarks and fuzz targets beside it use the same. Nothing here is published.

#![forbid(unsafe_code)]

mod choice;

pub use choice::Choices;
