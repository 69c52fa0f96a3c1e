//! The table of all scenarios, in the order in which they run.
//!
//! Ids of systems are those of `peers/*/peer.toml`; a beginning of an id, up to a hyphen, stands for
//! all that begin with it. A new comparison is an entry here, a new system a folder there.

mod broker;
mod c_extension;
mod dotnet;
mod latency;
mod loss;
mod pipeline;
mod raw;
mod throughput;
mod typed;

use crate::scenario::{Group, Part, Scenario};

/// All of them; those of an article are the seeds.
pub(crate) static SCENARIOS: &[&Scenario] = &[
    &raw::RAW,
    &typed::TYPED,
    &dotnet::DOTNET,
    &latency::LATENCY,
    &throughput::THROUGHPUT,
    &broker::BROKER,
    &pipeline::PIPELINE,
    &c_extension::C_EXTENSION,
    &loss::LOSS,
];

/// The scenario of that name.
pub(crate) fn scenario(name: &str) -> Option<&'static Scenario> {
    SCENARIOS
        .iter()
        .copied()
        .find(|scenario| scenario.name == name)
}

/// The part of that name of a scenario.
pub(crate) fn part(scenario: &str, name: &str) -> Option<&'static Part> {
    self::scenario(scenario)?
        .parts
        .iter()
        .find(|part| part.name == name)
}

/// These stand in the place of the articles' OpenDDS.
const DDS: &[&str] = &["opendds", "cyclone", "fastdds"];
const FASTDDS: &[&str] = &["fastdds-udp"];
const ZEROMQ: &[&str] = &["zeromq-tcp"];
/// Tickwire from C and C++, where it stands beside Rust, which is what the peers are to meet.
const BESIDE_RUST: Group = Group {
    systems: &["tickwire-c", "tickwire-cpp"],
    because: "not from Rust",
};
/// The same where it takes no part, as each system costs its time.
const NOT_FROM_RUST: Group = Group {
    systems: &["tickwire-c", "tickwire-cpp", "tickwire-exchange"],
    because: "what C and C++ cost beside Rust is measured in `raw` one-to-one, `typed` equal, `throughput` stream and \
              `c-extension`",
};
const EXCHANGE: Group = Group {
    systems: &["tickwire-exchange"],
    because: "it has the model of the article on the C extension: see `c-extension`",
};
const ZEROMQ_BOOST: &[&str] = &["zeromq-boost-binary", "zeromq-boost"];
const ZEROMQ_PROTOBUF: &[&str] = &["zeromq-protobuf"];
const ASIO: &[&str] = &["asio-tcp"];
const ASIO_BOOST: &[&str] = &["asio-boost-binary", "asio-boost"];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scenario::Right;

    #[test]
    fn names_are_unique_and_claims_speak_of_parts_that_exist() {
        let mut names = BTreeSet::new();
        for scenario in SCENARIOS {
            assert!(names.insert(scenario.name), "{} twice", scenario.name);
            let parts: BTreeSet<_> = scenario.parts.iter().map(|part| part.name).collect();
            assert_eq!(parts.len(), scenario.parts.len(), "{}", scenario.name);
            for claim in scenario.claims {
                let right = match claim.right {
                    Right::Systems(subject) | Right::Same(subject) => Some(subject),
                    Right::Constant(_) => None,
                };
                for subject in std::iter::once(claim.left).chain(right) {
                    let part = part(scenario.name, subject.part);
                    let part = part.unwrap_or_else(|| panic!("{}: {}", claim.text, subject.part));
                    let sizes = claim.sizes.iter().chain(&subject.size);
                    for size in sizes.filter(|_| part.has_sizes()) {
                        assert!(part.sizes.contains(size), "{}: {size}", claim.text);
                    }
                }
            }
        }
    }

    #[test]
    fn a_quick_run_takes_some_of_the_sizes() {
        for part in SCENARIOS.iter().flat_map(|scenario| scenario.parts) {
            assert!(!part.sizes.is_empty(), "{}", part.name);
            assert!(part.quick.iter().all(|size| part.sizes.contains(size)));
        }
    }
}
