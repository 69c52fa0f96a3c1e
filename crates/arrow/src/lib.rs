//! Samples as columns: payloads of a type that is known at run time become record batches of Apache Arrow.
//!
//! ```text
//! TypeDescription ──► Rows: schema, one column builder a member
//! payload         ──► append ──► ... ──► finish ──► RecordBatch
//! ```
//!
//! [`Rows`] are made of a type, take payload after payload, and give all rows so far as one batch. Each member is a
//! column: structs, unions and bitsets are struct columns, sequences and arrays are lists, maps are maps,
//! enumerations are dictionaries of their literals' names ([`Options`] says what else they may be). What is known of
//! a sample beside its data is put into columns of its own where it is asked for ([`Info`]).
//!
//! A payload that is no value of the type, or does not fit, adds no row and says why. The memory of a batch is a
//! small multiple of its payloads': what is made up for members that are absent is limited for each row. Knows
//! nothing of networks.
#![forbid(unsafe_code)]

mod column;
mod error;
mod finish;
mod info;
mod rows;
mod schema;

pub use error::{RowError, SchemaError};
pub use info::Info;
pub use rows::Rows;

/// What columns are made of where there is a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Decimals: how many digits are behind the point of `decimal128(38, n)`; a decimal that needs more adds no row.
    /// `None`: structs of mantissa and exponent, which have them all.
    pub decimals: Option<i8>,
    /// Enumerations are `int32` instead of dictionaries of names; the field's metadata has the literals then.
    pub enum_numbers: bool,
    /// Rows for payloads with the key alone: all other members are null, so that every column can be.
    pub key_rows: bool,
    /// Columns behind those of the members, and their names.
    pub info: Vec<(Info, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            decimals: Some(9),
            enum_numbers: false,
            key_rows: false,
            info: Vec::new(),
        }
    }
}
