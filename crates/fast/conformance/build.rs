//! Makes structs of the template files that the tests know when they are built.

use tickwire_fast::build::{Config, Error};

fn main() -> Result<(), Error> {
    let topics = Config::new().lenient().topics().key("Symbol");
    topics.generate("templates/topics.xml")?;
    for name in ["simple", "complex"] {
        let file = format!("../../feed/templates/{name}.xml");
        Config::new().lenient().generate(file)?;
    }
    Ok(())
}
