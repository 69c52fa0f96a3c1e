//! Programs in C++: they are compiled against what `cargo xtask install` installs, and run.

mod cmake;
mod common;
mod headers;
mod programs;
