//! Samples of both kinds: payloads with their encapsulation header, and plain bytes.

/// What there is of samples that are payloads ([`dds::Serialized`]), or that are bytes ([`dds::BytesInPlace`]).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Either<P, B> {
    Payloads(P),
    Bytes(B),
}

/// Does the same with either.
macro_rules! either {
    ($either:expr, $value:pat => $body:expr) => {
        match $either {
            $crate::either::Either::Payloads($value) => $body,
            $crate::either::Either::Bytes($value) => $body,
        }
    };
}

/// Makes either of either.
macro_rules! map {
    ($either:expr, $value:pat => $body:expr) => {
        match $either {
            $crate::either::Either::Payloads($value) => $crate::either::Either::Payloads($body),
            $crate::either::Either::Bytes($value) => $crate::either::Either::Bytes($body),
        }
    };
}

pub(crate) use {either, map};
