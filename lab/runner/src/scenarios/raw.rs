//! Raw buffers, as the first article begins.

use super::{ASIO, BESIDE_RUST, DDS, EXCHANGE, NOT_FROM_RUST, ZEROMQ};
use crate::scenario::{Claim, Part, Published, Relation, Right, Scenario, Subject, Task, Wait};

pub(super) static RAW: Scenario = Scenario {
    name: "raw",
    article: Some(ARTICLE),
    title: "Raw buffers",
    about: "A publisher sends a buffer, each subscriber echoes it, the publisher waits for all echoes \
            and sends the next. Latency is half a round trip. `seed` is the article's own formula: elapsed time / \
            (2 x messages) / subscribers, which with three subscribers is no one-way latency. The article's programs \
            put the 9 bytes of a filter, `DataFeed` and a zero, into the payload; here nothing but the message is sent, and \
            whoever filters does so on top of it. ZeroMQ's reliable multicast (pgm), which the article mentions, is not \
            run: it sends at a rate that is set beforehand. In the \
            open loop messages go by the clock, whatever has become of those before, and each is \
            measured one way from the moment when it was to be sent: a stall counts for all that had to wait.",
    minutes: 5.4,
    parts: &[
        Part {
            name: "one-to-one",
            title: "One publisher, one subscriber",
            sizes: &[16, 1000, 16_384, 65_536],
            quick: &[1000],
            except: Some(EXCHANGE),
            unlike: Some(BESIDE_RUST),
            count_calls_at: Some(1000),
            published: FIGURES,
            ..Part::ECHO
        },
        Part {
            name: "one-to-three",
            title: "One publisher, three subscribers that all echo",
            sizes: &[16, 1000, 16_384, 65_536],
            quick: &[1000],
            subscribers: 3,
            waits: &[Wait::Block],
            except: Some(NOT_FROM_RUST),
            count_calls_at: Some(1000),
            ..Part::ECHO
        },
        Part {
            name: "open-loop-1000",
            title: "Open loop, 1,000 messages a second",
            task: Task::OpenLoop(1_000),
            sizes: &[64],
            waits: &[Wait::Block],
            except: Some(NOT_FROM_RUST),
            ..Part::ECHO
        },
        Part {
            name: "open-loop-20000",
            title: "Open loop, 20,000 messages a second",
            task: Task::OpenLoop(20_000),
            sizes: &[64],
            quick: &[64],
            except: Some(NOT_FROM_RUST),
            ..Part::ECHO
        },
    ],
    claims: &[
        Claim {
            text: "Boost.Asio is faster than ZeroMQ (75 against 170 us)",
            left: Subject::of("one-to-one", ASIO),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("one-to-one", ZEROMQ)),
            sizes: &[1000],
        },
        Claim {
            text: "ZeroMQ is faster than DDS with raw buffers (170 against 185 us)",
            left: Subject::of("one-to-one", ZEROMQ),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("one-to-one", DDS)),
            sizes: &[1000],
        },
    ],
};

/// The first article.
pub(super) const ARTICLE: (&str, &str) = ("000", "OpenDDS, ZeroMQ and Boost.Asio compared");

const FIGURES: &[Published] = &[
    Published {
        what: "OpenDDS",
        beside: DDS,
        size: Some(1000),
        value: "185 us",
    },
    Published {
        what: "ZeroMQ",
        beside: ZEROMQ,
        size: Some(1000),
        value: "170 us",
    },
    Published {
        what: "Boost.Asio",
        beside: ASIO,
        size: Some(1000),
        value: "75 us",
    },
];
