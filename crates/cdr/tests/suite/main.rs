//! One binary for all tests that see this crate as its users do.

mod assignability;
mod bitset;
mod cyclone_samples;
mod decimal;
mod derive;
mod dynamic;
mod dynamic_write;
mod evolution;
mod fast_samples;
mod fast_types;
mod filter;
mod fixtures;
mod identity;
mod non_serialized;
mod packed;
mod random;
mod recursive;
mod runs;
mod try_construct;
mod wide;
mod xtypes;
