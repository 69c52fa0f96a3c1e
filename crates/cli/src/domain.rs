//! A DDS domain for a run of its own.

use std::net::UdpSocket;

use crate::failure::{Failure, Result};

/// A domain that no other run of this kind on this machine uses at the same time.
pub(crate) struct OwnDomain {
    id: u32,
    /// The last port of the domain, which no participant gets to: it stands for the whole domain.
    _reservation: Option<UdpSocket>,
}

impl OwnDomain {
    /// The domain that was asked for, or one that nobody has reserved.
    pub(crate) fn reserve(wanted: Option<u32>) -> Result<Self> {
        if let Some(id) = wanted {
            return Ok(Self {
                id,
                _reservation: None,
            });
        }
        let first = std::process::id() % CANDIDATES;
        let candidates = (0..CANDIDATES).map(|step| 1 + (first + step) % CANDIDATES);
        let mut reserved = candidates.filter_map(|id| {
            let port = u16::try_from(7_400 + 250 * id + 249).ok()?;
            let reservation = UdpSocket::bind(("127.0.0.1", port)).ok()?;
            Some(Self {
                id,
                _reservation: Some(reservation),
            })
        });
        reserved.next().ok_or_else(|| {
            Failure::new("all DDS domains are reserved by other runs")
                .hint("name one with `--domain`")
        })
    }

    /// The domain's number.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }
}

/// Domains 1 to this number are taken from; 0, the default of all programs, is left to them.
const CANDIDATES: u32 = 220;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_have_two_domains() {
        let first = OwnDomain::reserve(None).expect("some domain is free");
        let second = OwnDomain::reserve(None).expect("some domain is free");
        assert_ne!(first.id(), second.id());
        assert_eq!(OwnDomain::reserve(Some(7)).expect("as asked").id(), 7);
    }
}
