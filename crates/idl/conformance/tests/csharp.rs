//! The C# of the corpus, beside its Rust.

#[path = "languages/corpus.rs"]
mod corpus;
#[path = "languages/peer.rs"]
mod peer;
#[path = "languages/values.rs"]
mod values;

const LANGUAGE: peer::Language = peer::Language::CSharp;
