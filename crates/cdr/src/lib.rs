//! XCDR1 and XCDR2 (OMG XTypes 1.3 §7.4) encoding of typed values, type descriptions and dynamic
//! data.
//!
//! This crate turns values into bytes and back. It knows nothing of topics on a network, of
//! submessages or QoS: the RTPS engine and this crate meet in a payload, four bytes of
//! encapsulation header followed by the encoded value.
//!
//! [`Topic`] is derived for a user's struct; [`to_payload`] and [`from_payload_into`] are all that
//! a data writer and a data reader call. Types known only at run time are [`TypeDescription`]s,
//! read by [`dynamic`] and written member by member through [`Writer`].
//!
//! Little-endian is written, both orders are read. Nothing here panics on bytes from outside, and
//! decoding allocates at most a fixed multiple of the payload's length ([`Reader::new`]).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bitfield;
mod collections;
#[cfg(feature = "compact_str")]
mod compact_string;
mod decimal;
mod description;
pub mod dynamic;
mod encapsulation;
mod error;
pub mod filter;
mod key_hash;
mod layout;
mod payload;
mod primitives;
mod reader;
mod run;
mod topic;
mod trim;
mod wide;
mod writer;
pub mod xtypes;

pub use bitfield::BitfieldValue;
pub use description::{
    Bitfield, BitmaskDescription, BitsetDescription, Case, Circle, Describe, EnumDescription, Flag,
    InvalidDescription, Link, Literal, Member, Shared, TryConstruct, Type, TypeDescription,
    UnionDescription,
};
pub use encapsulation::{ByteOrder, Encapsulation, Extensibility, Representation};
pub use error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind};
pub use key_hash::{KeyHash, KeyScratch, key_hash};
pub use layout::{LengthCode, bitmask_size, enum_size, min_struct_size};
pub use payload::{
    encapsulated, from_payload_into, key_from_payload_into, key_to_payload, to_payload,
};
pub use reader::{MemberScope, Reader, SequenceScope, StructScope, TryScope};
pub use run::{Number, Run};
pub use tickwire_derive::Topic;
pub use topic::{Decode, Encode, Topic};
pub use trim::{Trim, decode_first_entries};
pub use wide::{WChar, WString};
pub use writer::{MemberHeader, MemberMark, SequenceMark, StructMark, Writer};
