//! The C# of any types, beside their descriptions.

#[path = "languages/any.rs"]
mod any;
#[path = "languages/peer.rs"]
mod peer;
#[path = "languages/random_idl.rs"]
mod random_idl;
#[path = "languages/values.rs"]
mod values;

const LANGUAGE: peer::Language = peer::Language::CSharp;
