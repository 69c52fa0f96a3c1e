//! Publish/subscribe for market data: an OMG DDS in Rust.
