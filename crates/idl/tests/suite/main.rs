//! The compiler on whole texts.

mod corpus;
mod errors;
mod model;
mod preprocessor;
mod support;
