//! Makes Rust types of `idl/market.idl`.

fn main() -> Result<(), tickwire_idl::BuildError> {
    tickwire_idl::build("idl/market.idl")
}
