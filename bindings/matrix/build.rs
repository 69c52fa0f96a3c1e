//! Makes Rust of `matrix.idl`.

fn main() -> Result<(), tickwire_idl::BuildError> {
    tickwire_idl::build("matrix.idl")
}
