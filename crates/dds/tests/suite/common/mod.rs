//! What tests between participants have in common.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::time::Duration;

use tickwire::{DomainParticipant, DomainParticipantBuilder, Topic, Way};

/// Long enough that only a fault reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
pub(crate) struct Quote {
    #[topic(key)]
    pub(crate) symbol: String,
    pub(crate) price: i64,
}

pub(crate) fn quote(symbol: &str, price: i64) -> Quote {
    Quote {
        symbol: symbol.to_owned(),
        price,
    }
}

/// A domain of its own for each test and a tag for each run, so that they do not see each other.
pub(crate) fn builder(domain: u32) -> DomainParticipantBuilder {
    DomainParticipant::builder(domain).domain_tag(&std::process::id().to_string())
}

pub(crate) fn participant(domain: u32) -> DomainParticipant {
    builder(domain).build().expect("a participant")
}

/// Waits until so many of a participant's pairs go by shared memory.
pub(crate) fn wait_for_logs(participant: &DomainParticipant, count: usize) {
    let view = participant.discovery();
    let by_log = || {
        let pairs = view.pairs().into_iter();
        let by_log = pairs.filter(|pair| pair.way == Some(Way::SharedMemory));
        (by_log.count() == count).then_some(())
    };
    let found = view.wait_for(PATIENCE, by_log);
    found.unwrap_or_else(|_| panic!("not {count} by log: {:?}", view.pairs()));
}
