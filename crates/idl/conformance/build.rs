//! Makes Rust of the corpus, as a user's build script would.

use tickwire_idl::{BuildConfig, BuildError, build};

fn main() -> Result<(), BuildError> {
    for name in [
        "RawBuffer",
        "Simple",
        "Complex",
        "cyclone",
        "kinds",
        "encodings",
        "rare",
        "services",
    ] {
        build(format!("../tests/corpus/{name}.idl"))?;
    }
    BuildConfig::new()
        .include("../tests/corpus/ros")
        .generate(&["../tests/corpus/ros/sensor_msgs/msg/BatteryState.idl"])?;
    build("../tests/corpus/MarketData.idl")
}
