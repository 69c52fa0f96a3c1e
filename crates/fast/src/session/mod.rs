//! The session control protocol, SCP 1.1: greeting, alert, reset, and templates that are exchanged as messages. Its messages
//! are FAST messages of [`templates`]; knows nothing of connections, and decides nothing about when to send what.
//!
//! ```
//! use tickwire_fast::{Decoder, Encoder, Message, Mode, Templates, session};
//!
//! let market = Templates::parse(r#"<template name="Quote" id="1"><uInt32 name="Bid"/></template>"#, Mode::Strict)?;
//! // The sender announces its templates ...
//! let mut bytes = Vec::new();
//! let mut encoder = Encoder::new(session::templates());
//! for definition in session::definitions(&market)? {
//!     encoder.encode(&definition, &mut bytes)?;
//! }
//! // ... and the receiver has them.
//! let mut received = session::Received::default();
//! let mut message = Message::new();
//! Decoder::new(session::templates()).decode(&bytes, &mut message)?;
//! received.take(&message)?;
//! let (templates, refused) = received.templates();
//! assert!(templates.by_name("Quote").is_some() && refused.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod receive;
mod send;

use std::sync::OnceLock;

use crate::{Mode, TemplateId, Templates};

pub use receive::{ReceiveError, Received, Refused};
pub use send::{Unsendable, declarations, definitions};

/// The templates of session messages: Hello (16002), Alert (16003), Reset (120), TemplateDecl (16010), TemplateDef (16011)
/// and those of the instructions and operators that a definition is made of (16012 to 16033).
pub fn templates() -> &'static Templates {
    static TEMPLATES: OnceLock<Templates> = OnceLock::new();
    TEMPLATES.get_or_init(|| Templates::parse(XML, Mode::Strict).unwrap_or_else(|_| empty()))
}

/// Never reached: a test parses the text. It keeps [`templates`] free of panics.
fn empty() -> Templates {
    Templates::of(Default::default())
}

/// Whether a template of this namespace and id is the session's own: by its name, or because its id is that of a session
/// message. SCP reserves 120 to 127 and 16000 to 16383, but venues use some of them.
fn is_session(namespace: &str, id: Option<TemplateId>) -> bool {
    namespace == NAMESPACE || id.is_some_and(|id| templates().by_id(id).is_some())
}

/// Template id of the session's reset message, which decoders know also where templates do not define it: see
/// [`ResetPolicy`](crate::ResetPolicy).
pub const RESET: TemplateId = TemplateId(120);

/// Appends the reset message: a presence map with the bit of the template id, unless that is known, and nothing else.
pub(crate) fn append_reset(known_id: Option<u32>, out: &mut Vec<u8>) {
    match known_id == Some(RESET.0) {
        true => out.push(0x80),
        false => out.extend([0xc0, 0xf8]),
    }
}

/// Namespace of the session's template names.
pub const NAMESPACE: &str = "http://www.fixprotocol.org/ns/fast/scp/1.1";

const XML: &str = include_str!("scp.xml");
