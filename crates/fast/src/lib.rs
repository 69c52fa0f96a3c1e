//! FAST 1.1 (FIX Adapted for STreaming): templates, decoder and encoder.
//!
//! A template file becomes [`Templates`], one flat instruction plan. A [`Decoder`] interprets it over bytes and calls a
//! [`Visitor`] with each value; [`Message`] is the visitor that keeps them, and structs with `#[derive(FastMessage)]`
//! take them by name. An [`Encoder`] writes from the same plan.
//!
//! Programs that know their templates when they are built let a build script make structs of them: see [`build`], the
//! one module with IO. The others read no clock and know neither packets' transport nor DDS.
//!
//! ```
//! use tickwire_fast::{Decoder, Message, Mode, Templates, Value};
//!
//! let xml = r#"<template name="Quote" id="1"><uInt32 name="Bid"/><string name="Symbol"><copy/></string></template>"#;
//! let templates = Templates::parse(xml, Mode::Strict)?;
//! let mut decoder = Decoder::new(&templates);
//! let mut message = Message::new();
//! decoder.decode(&[0xe0, 0x81, 0x9a, 0x58, 0x59, 0xda], &mut message)?;
//! assert_eq!(message.get("Bid"), Some(Value::Unsigned(26)));
//! assert_eq!(message.get("Symbol"), Some(Value::Text("XYZ")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bit_group;
mod block;
pub mod build;
mod builder;
mod code;
mod compile;
mod decoder;
mod dictionary;
mod encode_operator;
mod encoder;
mod error;
mod field;
pub mod generate;
#[doc(hidden)]
pub mod generated;
mod instruction;
pub mod json;
mod meaning;
mod message;
mod operator;
mod output;
mod plan;
pub mod session;
mod templates;
#[doc(hidden)]
pub mod typed;
mod visitor;
mod wire;

pub use block::{append_block_size, read_block_size};
pub use builder::{BuildError, Builder};
pub use code::Code;
pub use compact_str::CompactString;
pub use decoder::{Decoder, DecoderOptions, Part, PresenceBit, ResetPolicy, Step};
pub use dictionary::Previous;
pub use encoder::Encoder;
pub use error::{DecodeError, EncodeError, TemplateError, TemplateWarning};
pub use field::{FieldIndex, FieldType, Operator, TemplateId};
pub use instruction::{Instruction, Instructions, Slot};
pub use meaning::{Element, Elements, Epoch, TimeUnit, Timestamp};
pub use message::{ElementPlace, Message, Record, Sequence, Value};
pub use templates::{Field, Fields, Mode, Template, Templates};
pub use tickwire_base::{Decimal, ParseDecimalError};
pub use tickwire_derive::FastMessage;
pub use typed::{BindError, Binding, FastMessage};
pub use visitor::Visitor;
