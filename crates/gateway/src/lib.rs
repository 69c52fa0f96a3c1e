//! Joins worlds: the feed handler turns FAST messages into samples on topics.
//!
//! ```text
//! Lines ──► FeedHandler: Arbiter ─► Decoder ─► Mapper ──► Publish
//! sockets   packets                 Message    Serialized  writers
//! ```
//!
//! [`Lines`] receives packets, a [`FeedHandler`] takes them one by one through arbitration, decoding
//! and mapping on the caller's thread, and a [`Publish`] takes the samples: [`Publications`] are
//! those of a DDS participant. Packets come from [`files`], too. On the other side, an [`Echo`] subscribes and sends samples back.
#![forbid(unsafe_code)]

pub mod echo;
pub mod feed_handler;
pub mod files;
pub mod lines;
pub mod mapping;
pub mod publications;
pub mod round_trips;
pub mod timing;
pub mod topic_type;

pub use echo::{Echo, EchoCounters, EchoOptions};
pub use feed_handler::{FeedHandler, HandlerCounters, HandlerOptions, Publish};
pub use lines::Lines;
pub use mapping::{FeedTopic, MapError, Mapper, Mapping, TopicIndex};
pub use publications::{
    ECHO_SUFFIX, PublicationCounters, PublicationError, PublicationOptions, Publications,
    SlowReader,
};
pub use round_trips::RoundTrips;
pub use timing::Timing;
pub use topic_type::{TopicType, TypeError};
