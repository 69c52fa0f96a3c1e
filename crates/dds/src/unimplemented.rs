//! Policies that discovery can carry but this implementation does not obey. An endpoint that asks
//! for one is not made, rather than promise what nobody keeps; remote endpoints may have them.

use std::fmt;

use tickwire_rtps::discovery::Role;
use tickwire_rtps::qos::{EndpointQos, RepresentationId};

/// A policy's value that is not implemented for our own endpoints (DDS 1.4 §2.2.2.1.1 calls the
/// return code UNSUPPORTED).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnimplementedQos {
    /// DATA_REPRESENTATION in which a reader is to understand something else than XCDR1 and XCDR2.
    Representation(RepresentationId),
}

impl UnimplementedQos {
    /// The first policy of an endpoint that is not implemented. There is none for writers.
    pub(crate) fn find(role: Role, qos: &EndpointQos) -> Option<Self> {
        if role == Role::Writer {
            return None;
        }
        let known = [RepresentationId::XCDR1, RepresentationId::XCDR2];
        let mut accepted = qos.data_representation.iter();
        accepted
            .find(|id| !known.contains(id))
            .map(|&id| Self::Representation(id))
    }
}

impl fmt::Display for UnimplementedQos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Representation(id) => write!(
                f,
                "DATA_REPRESENTATION {id} is not implemented; use XCDR1 or XCDR2"
            ),
        }
    }
}

impl std::error::Error for UnimplementedQos {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why a writer and a reader with this change are refused.
    fn refused(change: impl Fn(&mut EndpointQos)) -> [Option<String>; 2] {
        let (mut writer, mut reader) = (EndpointQos::writer(), EndpointQos::reader());
        change(&mut writer);
        change(&mut reader);
        [(Role::Writer, writer), (Role::Reader, reader)].map(|(role, qos)| {
            UnimplementedQos::find(role, &qos).map(|unimplemented| unimplemented.to_string())
        })
    }

    fn assert_reader_refused(policy: &str, change: impl Fn(&mut EndpointQos)) {
        let [writer, reader] = refused(change);
        // It says nothing about a writer.
        assert_eq!(writer, None);
        let reason = reader.expect("not implemented");
        assert!(reason.starts_with(policy), "{reason}");
        assert!(reason.contains("is not implemented"), "{reason}");
    }

    #[test]
    fn representations_without_a_decoder() {
        assert_reader_refused("DATA_REPRESENTATION", |qos| {
            qos.data_representation = vec![RepresentationId::XCDR2, RepresentationId::XML];
        });
    }
}
