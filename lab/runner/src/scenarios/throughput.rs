//! Throughput by size, of the second article.

use super::latency::ARTICLE;
use super::{BESIDE_RUST, EXCHANGE, FASTDDS, NOT_FROM_RUST, ZEROMQ};
use crate::scenario::{Claim, Part, Quantity, Relation, Right, Scenario, Subject, Task, Wait};

pub(super) static THROUGHPUT: Scenario = Scenario {
    name: "throughput",
    article: Some(ARTICLE),
    title: "Throughput by size",
    about: "Messages go in bursts of D, the demand; after each the publisher waits for one answer. In the first \
            round D is searched for: it grows until messages are lost, and the demand without loss that was \
            fastest is kept. The figure is the publisher's, as the article has it, and counts only if the \
            subscriber lost nothing; the subscriber's stands beside it. In the free stream there are no \
            bursts: a system sends as fast as it takes messages without losing any.",
    minutes: 5.4,
    parts: &[
        Part {
            name: "demand",
            title: "Bursts with the best demand, one publisher, one subscriber",
            task: Task::Demand,
            sizes: &[16, 256, 1024, 16_384],
            quick: &[256],
            waits: &[Wait::Block],
            except: Some(NOT_FROM_RUST),
            ..Part::ECHO
        },
        Part {
            name: "stream",
            title: "Free stream, one publisher, one subscriber",
            task: Task::Stream,
            sizes: &[64, 1024, 65_536],
            quick: &[64],
            waits: &[Wait::Block],
            except: Some(EXCHANGE),
            unlike: Some(BESIDE_RUST),
            count_calls_at: Some(64),
            ..Part::ECHO
        },
    ],
    claims: &[
        Claim {
            text: "ZeroMQ carries more small messages",
            left: Subject::of("demand", ZEROMQ),
            relation: Relation::Above(1.0),
            right: Right::Systems(Subject::of("demand", FASTDDS)),
            sizes: &[16, 256],
        },
        Claim {
            text: "Fast DDS carries more of messages larger than 1000 bytes",
            left: Subject::of("demand", FASTDDS).measured_as(Quantity::Megabytes),
            relation: Relation::Above(1.0),
            right: Right::Systems(Subject::of("demand", ZEROMQ).measured_as(Quantity::Megabytes)),
            sizes: &[1024, 16_384],
        },
    ],
};
