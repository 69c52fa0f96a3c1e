//! Programs in C++: they are compiled against what `cargo xtask install` installs, and run.

mod common;
mod programs;
