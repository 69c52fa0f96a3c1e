//! Joins worlds: the feed handler turns FAST messages into samples on topics.
//!
//! [`Mapper`] decides which topic a message goes to and writes its payload; it knows no network.
#![forbid(unsafe_code)]

pub mod mapping;
pub mod topic_type;

pub use mapping::{FeedTopic, MapError, Mapper, Mapping, TopicIndex};
pub use topic_type::{TopicType, TypeError};
