//! The types of the corpus, each file in a module of its own.
#![forbid(unsafe_code)]

macro_rules! corpus {
    ($($name:ident $file:literal $what:literal;)*) => {$(
        #[doc = $what]
        #[allow(clippy::use_self, reason = "types that contain themselves are named as in IDL")]
        #[allow(missing_docs, reason = "not all that IDL defines has a comment")]
        pub mod $name {
            include!(concat!(env!("OUT_DIR"), "/", $file, ".rs"));
        }
    )*};
}

corpus! {
    raw_buffer "RawBuffer" "The middleware comparison's buffer.";
    market_data "MarketData" "The middleware comparison's typed messages.";
    simple "Simple" "The feed article's simple messages.";
    complex "Complex" "The feed article's complex messages.";
    cyclone "cyclone" "Keys by pragmas.";
    kinds "kinds" "Every kind of type.";
    encodings "encodings" "What the encoding makes a difference of.";
    rare "rare" "What is rare.";
    services "services" "Interfaces.";
    ros "BatteryState" "A message of ROS 2 with those that it includes.";
}
