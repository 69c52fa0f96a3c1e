//! The durability store: what TRANSIENT and PERSISTENT writers have written, in one append-only log for
//! each, so that it outlives them (DDS 1.4 §2.2.3.4). A log takes what it is given and gives back what
//! the DURABILITY_SERVICE policy keeps (§2.2.3.5); it knows no type, no reader and no network, and reads
//! no clock.
//!
//! ```
//! use tickwire_base::Timestamp;
//! use tickwire_store::{Description, LogKey, Record, Retention, Store, SyncPolicy};
//! # let directory = std::env::temp_dir().join(format!("tickwire-store-doc-{}", std::process::id()));
//!
//! let store = Store::open(&directory)?;
//! let key = LogKey { domain: 0, topic: "Quotes".into(), ..LogKey::default() };
//! let description = Description { key: key.clone(), ..Description::default() };
//! let (retention, now) = (Retention::KEEP_ALL, Timestamp::from_nanos(0));
//! let mut log = store.adopt(description, |_| true, retention, SyncPolicy::Never, now)?;
//! log.append(&Record { sequence_number: 1, payload: b"...", ..Record::default() }, now)?;
//! drop(log); // or `kill -9`
//!
//! let description = Description { key, ..Description::default() };
//! let mut log = store.adopt(description, |_| true, retention, SyncPolicy::Never, now)?;
//! log.read(now, |record, _| assert_eq!(record.payload, b"..."))?;
//! # std::fs::remove_dir_all(directory).unwrap();
//! # Ok::<(), tickwire_store::StoreError>(())
//! ```
//!
//! # A store on disk
//!
//! ```text
//! DIRECTORY/                          mode 0700, of the user who runs the writer
//!   0.Quotes.1f2e3d4c.0/              domain, topic, a checksum of the whole key, slot
//!     lock                            who has the log: see `Owner`
//!     log                             mode 0600: header, records
//!     log.new                         a compaction under way, or one that was killed
//! ```
//!
//! Two writers of one topic have a slot each. A writer adopts the lowest slot whose log nobody has: that
//! of a writer that has ended, however it ended, since the kernel drops a dead process's locks. A log that
//! cannot be read, or is of another version of the format, keeps its slot and stays as it is; the writer goes
//! to the next one, and begins with nothing.

#![forbid(unsafe_code)]

mod contents;
mod disk;
mod error;
mod format;
mod key;
mod lock;
mod log;
mod options;
mod retention;
mod store;
mod survey;

pub use error::{Damage, Operation, StoreError};
pub use format::{Record, RecordKind, parse};
pub use key::{Description, LogKey};
pub use lock::Owner;
pub use log::{Log, LogCounters, SyncPolicy, Unsynced};
pub use options::{StoreOptions, StoreVariable};
pub use retention::Retention;
pub use store::Store;
pub use survey::LogSummary;
