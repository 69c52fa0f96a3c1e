//! Makes Rust of `matrix.idl`, and of the interfaces of the IDL compiler's tests.

fn main() -> Result<(), tickwire_idl::BuildError> {
    tickwire_idl::build("matrix.idl")?;
    tickwire_idl::build("../../crates/idl/tests/corpus/services.idl")
}
