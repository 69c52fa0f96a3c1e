//! Files of profiles as their users write them.

mod docs;
mod names;
mod policies;
mod random;
mod refusals;
mod spoken;
mod to_toml;
