//! Makes a trait and a client of `idl/quotes.idl`.

fn main() -> Result<(), tickwire_idl::BuildError> {
    tickwire_idl::build("idl/quotes.idl")
}
