//! QoS by configuration: files that name profiles, and each profile what its participants, publishers,
//! subscribers, topics, writers and readers are to be.
//!
//! ```
//! use tickwire_profiles::Profiles;
//!
//! let profiles = Profiles::parse("qos.toml", r#"
//!     [profiles.market-data]
//!     writer.history = { kind = "keep_all" }
//!     reader.reliability.kind = "reliable"
//!     participant.domain = 7
//! "#)?;
//! let profile = profiles.profile("market-data")?;
//! let participant = profile.participant();     // a builder: .build()? joins domain 7
//! let writer = profile.writer("Quotes");       // a DataWriterQos
//! let reader = profile.reader("Quotes");       // a DataReaderQos
//! # assert!(reader.policies().is_reliable());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Three formats are read, told apart by what they begin with: TOML; the QoS profiles of OMG DDS-XML 1.0,
//! as RTI Connext and Cyclone DDS have them; and the XML profiles of eProsima Fast DDS. What a file says
//! in TOML that cannot be obeyed is refused; what an XML file says besides is reported by
//! [`Profiles::ignored`]. Whatever a profile leaves out has the standard's default, which is not always
//! that of the implementation for which an XML file was written.
//!
//! This crate stands above `tickwire`, so that the core depends on no parser. It knows nothing of how a
//! policy is obeyed.

#![forbid(unsafe_code)]

mod catalogue;
mod document;
mod entity;
mod policies;
mod problem;
mod profile;
mod profiles;
mod resolve;
mod setting;
mod toml_file;
mod toml_text;
mod value;
mod xml;

pub use catalogue::settings;
pub use entity::Entity;
pub use problem::{LoadError, Problem, SettingError, UnknownProfile};
pub use profile::{Effective, Profile};
pub use profiles::{FILE_VARIABLE, PROFILE_VARIABLE, Profiles};
pub use setting::Setting;
pub use toml_text::NotInToml;
pub use value::parse_duration;

/// Profiles in one file.
const MAX_PROFILES: usize = 1_000;
