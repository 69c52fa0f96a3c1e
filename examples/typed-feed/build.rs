//! Makes structs, a decoder and an encoder of the feed's templates.

use tickwire_fast::build::{Config, Error};

fn main() -> Result<(), Error> {
    // Lenient, because the article's templates say reset="Y"; topics, because main.rs publishes the structs.
    Config::new()
        .lenient()
        .topics()
        .generate("../../crates/feed/templates/complex.xml")
        .map(drop)
}
