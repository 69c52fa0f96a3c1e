//! Derive macros of Tickwire.
