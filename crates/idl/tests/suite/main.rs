//! The compiler on whole texts.

mod c;
mod clashes;
mod corpus;
mod cpp;
mod csharp;
mod errors;
mod golden;
mod hostile;
mod model;
mod preprocessor;
mod support;
