//! What can be wrong with announced data.

use core::fmt;

use tickwire_cdr::DecodeError;

use crate::wire::{Malformed, ParameterId};

/// Why announced data cannot be used. All of these are the announcer's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscoveryDataError {
    /// Some bytes do not say what the standard has there. Offsets count from the encapsulation
    /// header.
    Malformed(Malformed),
    /// A request or a reply cannot be decoded.
    Payload(DecodeError),
    /// The encapsulation is not a parameter list.
    Encapsulation([u8; 2]),
    /// A parameter that the sender wants to be understood is not known here.
    NotUnderstood(ParameterId),
    /// A parameter without which the rest is of no use.
    Missing(ParameterId),
}

impl From<Malformed> for DiscoveryDataError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl fmt::Display for DiscoveryDataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::Payload(error) => error.fmt(f),
            Self::Encapsulation([a, b]) => write!(f, "encapsulation {a:02x}{b:02x} is no PL_CDR"),
            Self::NotUnderstood(id) => write!(f, "{id:?} must be understood but is not known"),
            Self::Missing(id) => write!(f, "{id:?} is missing"),
        }
    }
}

impl core::error::Error for DiscoveryDataError {}
