//! Derive macros of Tickwire. They write out trait implementations and know no encoding.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod fast;
mod topic;

/// Makes a struct or an enum part of a topic's type: see `tickwire::Topic`.
#[proc_macro_derive(Topic, attributes(topic))]
pub fn derive_topic(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    topic::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Lets messages of a FAST template be decoded into a struct: see `tickwire_fast::FastMessage`.
#[proc_macro_derive(FastMessage, attributes(fast))]
pub fn derive_fast_message(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fast::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
