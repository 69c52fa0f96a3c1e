//! Latency by size, of the second article.

use super::{FASTDDS, NOT_FROM_RUST, ZEROMQ};
use crate::scenario::{Claim, Part, Quantity, Relation, Right, Scenario, Subject, Task, Wait};

pub(super) static LATENCY: Scenario = Scenario {
    name: "latency",
    article: Some(ARTICLE),
    title: "Latency by size",
    about: "Round trips at each size, with the line that fits the medians best: its slope is what a byte \
            costs, its intercept what a message costs. With three subscribers all receive and number 0 alone \
            answers. The article printed plots without figures.",
    minutes: 5.5,
    parts: &[
        Part {
            name: "one-to-one",
            title: "One publisher, one subscriber",
            sizes: SIZES,
            quick: &[16, 16_384],
            waits: &[Wait::Block],
            except: Some(NOT_FROM_RUST),
            is_line: true,
            ..Part::ECHO
        },
        Part {
            name: "one-to-one-polling",
            title: "The same with both sides polling",
            sizes: &[16, 128, 1024, 16_384],
            waits: &[Wait::Poll],
            except: Some(NOT_FROM_RUST),
            is_line: true,
            ..Part::ECHO
        },
        Part {
            name: "one-to-three",
            title: "One publisher, three subscribers, one of which answers",
            sizes: SIZES,
            quick: &[16_384],
            subscribers: 3,
            one_responder: true,
            waits: &[Wait::Block],
            except: Some(NOT_FROM_RUST),
            is_line: true,
            ..Part::ECHO
        },
        Part {
            name: "copy",
            title: "Copied in and copied out in one thread, the least that bytes cost",
            task: Task::Codec,
            sizes: &[64, 1024, 16_384, 65_536],
            waits: &[Wait::Poll],
            ..Part::ECHO
        },
    ],
    claims: &[
        Claim {
            text: "ZeroMQ is faster with messages of 16 to 128 bytes",
            left: Subject::of("one-to-one", ZEROMQ),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("one-to-one", FASTDDS)),
            sizes: &[16, 32, 64, 128],
        },
        Claim {
            text: "Fast DDS is faster with large messages",
            left: Subject::of("one-to-one", FASTDDS),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("one-to-one", ZEROMQ)),
            sizes: &[4096, 16_384],
        },
        Claim {
            text: "Fast DDS has the smaller slope",
            left: Subject::of("one-to-one", FASTDDS).measured_as(Quantity::Slope),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("one-to-one", ZEROMQ).measured_as(Quantity::Slope)),
            sizes: &[],
        },
        Claim {
            text: "With three subscribers and small messages both are very similar (here: within a quarter)",
            left: Subject::of("one-to-three", FASTDDS),
            relation: Relation::Near(1.25),
            right: Right::Systems(Subject::of("one-to-three", ZEROMQ)),
            sizes: &[16, 32, 64, 128],
        },
        Claim {
            text: "With three subscribers and 16 KB Fast DDS is faster",
            left: Subject::of("one-to-three", FASTDDS),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("one-to-three", ZEROMQ)),
            sizes: &[16_384],
        },
        Claim {
            text: "The difference there is as high as 200 us",
            left: Subject::of("one-to-three", ZEROMQ),
            relation: Relation::AboveBy(200_000.0),
            right: Right::Systems(Subject::of("one-to-three", FASTDDS)),
            sizes: &[16_384],
        },
    ],
};

/// The second article.
pub(super) const ARTICLE: (&str, &str) = ("001", "ZeroMQ and Fast DDS compared");

/// The close-up of the article is 16 to 128.
const SIZES: &[u32] = &[16, 32, 64, 128, 1024, 4096, 16_384];
