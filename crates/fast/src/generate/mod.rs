//! From templates to source text: Rust for programs that know their templates when they are built, IDL for those in other
//! languages. Does no IO; knows the instruction plan and the names of the items that generated code calls.
//!
//! ```text
//! Templates ─► model (structs, members, types, names) ─► types.rs    structs
//!                                                        idl.rs      OMG IDL
//! ```

mod codec;
mod decode;
mod encode;
mod enumerations;
mod idl;
mod model;
mod names;
mod topic_names;
mod types;

pub use idl::idl;
pub use topic_names::TopicNames;

use crate::Templates;
use model::Model;

/// What generated code has beyond plain structs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RustOptions {
    /// Whether structs derive `tickwire::Topic`, so that a decoded message can be published as it is. The crate that
    /// includes the code then needs the package `tickwire` too. `false` by default.
    ///
    /// The type of the topic is the one that `tickwire-gateway` makes of the same template at run time. A struct with a
    /// dynamic template reference in it, or without any field, cannot be one, and derives nothing.
    pub topics: bool,
    /// Names of fields that are keys of the topics of templates that have them, mandatory and not in a group or
    /// sequence. None by default.
    pub keys: Vec<String>,
}

/// A template's or field's name as one of Rust's: `MDEntryPx` is `md_entry_px`.
pub fn member_name(name: &str) -> String {
    names::snake(name)
}

/// Rust source text for all templates that have an id or are the default: a struct each, with a member for each field in the template's order.
///
/// The text is made to be included in a module of its own, from a file that a build script writes (see
/// [`build`](crate::build)), and names what it needs with full paths below `::tickwire_fast`.
pub fn rust(templates: &Templates, options: &RustOptions) -> String {
    let model = Model::new(templates, options);
    let mut text = String::new();
    types::write(&model, &mut text);
    codec::write(&model, &mut text);
    text
}
