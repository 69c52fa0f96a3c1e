//! The `tickwire` command.

fn main() {}
