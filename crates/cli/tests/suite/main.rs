//! The program as its users run it.

mod common;
mod durability;
mod fast_decode;
mod fast_encode;
mod fast_explain;
mod fast_generate;
mod fast_lua;
mod fast_templates;
mod feed;
mod help;
mod idl;
mod network;
mod pipeline;
mod profiles;
mod rendezvous;
mod survey;
mod topic;
mod venues;
