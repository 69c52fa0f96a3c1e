//! The IDL compiler: OMG IDL 4.2 with the annotations of XTypes 1.3, as far as data types go, to a
//! [`Model`] that back ends read, to Rust, C and C++, and to [`Descriptions`] of types for programs that learn
//! them while they run.
//!
//! In a build script, with `tickwire-idl` among the build-dependencies,
//!
//! ```no_run
//! fn main() -> Result<(), tickwire_idl::BuildError> {
//!     tickwire_idl::build("idl/market.idl")
//! }
//! ```
//!
//! makes structs that are types of topics, for a crate that depends on `tickwire`:
//!
//! ```ignore
//! mod market {
//!     include!(concat!(env!("OUT_DIR"), "/market.rs"));
//! }
//! ```
//!
//! The stages are modules, and each knows the one before alone: `preprocess` makes tokens of files,
//! `parse` syntax of tokens, `resolve` the [`model`] of syntax, `rust`, `c` and `cpp` source text of
//! the model; `services` adds to it what interfaces become on the wire.
//! Files are read through a [`Loader`]; only [`Files`] and the build script's functions touch the file
//! system.
//!
//! Whatever a text says, the compiler ends with a model or with [`Diagnostic`]s: nesting, includes,
//! macros, sizes and errors have limits.

#![forbid(unsafe_code)]

mod build_script;
mod c;
mod compile;
mod cpp;
mod csharp;
mod describe;
mod diagnostic;
mod files;
mod format;
mod hash;
mod lexer;
mod limits;
mod literal;
pub mod model;
mod near;
mod parse;
mod preprocess;
mod resolve;
mod rust;
mod services;
mod source;
mod syntax;
mod token;
mod topic_type;

pub use build_script::{BuildConfig, BuildError, build};
pub use c::CSource;
pub use compile::{Compilation, CompileError, Options, compile};
pub use describe::Descriptions;
pub use diagnostic::{Diagnostic, Severity};
pub use files::{Files, Loader};
pub use format::format;
pub use model::Model;
pub use services::{Call, Service, Services, exception_member};
pub use topic_type::TopicTypeError;
