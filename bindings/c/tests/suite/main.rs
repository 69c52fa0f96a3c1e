//! The C library as programs in C see it: they are compiled against an installed one, and run.

mod common;
mod exchange;
mod header;
mod misuse;
mod programs;
