//! Typed data, the second half of the first article.

use super::raw::ARTICLE;
use super::{
    ASIO, ASIO_BOOST, BESIDE_RUST, DDS, NOT_FROM_RUST, ZEROMQ, ZEROMQ_BOOST, ZEROMQ_PROTOBUF,
};
use crate::scenario::{
    Claim, Group, Part, Published, Relation, Right, Scenario, Subject, Task, Wait,
};

pub(super) static TYPED: Scenario = Scenario {
    name: "typed",
    article: Some(ARTICLE),
    title: "Typed data",
    about: "MarketData (3 entries) and QuoteRequest (3 symbols) with the article's fields and values are \
            encoded, sent, decoded, encoded again, echoed and decoded. The article's programs did not send \
            the same mix: OpenDDS had 20 % MarketData, all others 90 %, which are 44 % more bytes. Both are \
            here: as published, and the same 9 to 1 for all. Raw buffers run in the same rounds, so that what \
            types cost can be told from what the way costs.",
    minutes: 1.2,
    parts: &[
        Part {
            name: "equal",
            title: "The same mix for all: 9 MarketData, 1 QuoteRequest",
            mix: Some("equal"),
            quick: TYPED_SIZE,
            unlike: Some(BESIDE_RUST),
            count_calls_at: Some(TYPED_SIZE[0]),
            published: FIGURES,
            ..TYPED_ECHO
        },
        Part {
            name: "as-published",
            title: "The mix of each program of the article",
            mix: Some("published"),
            except: Some(NOT_FROM_RUST),
            published: FIGURES,
            ..TYPED_ECHO
        },
        Part {
            name: "raw",
            title: "Raw buffers of 1000 bytes beside it",
            sizes: &[1000],
            waits: &[Wait::Block],
            only: Some(Group {
                systems: &["tickwire", "cyclone", "fastdds", "zeromq-tcp", "asio-tcp"],
                because: "nothing typed goes over them; their raw buffers are in `raw`",
            }),
            except: Some(NOT_FROM_RUST),
            ..Part::ECHO
        },
        Part {
            name: "codec-marketdata",
            title: "Encoding and decoding alone, MarketData",
            task: Task::Codec,
            mix: Some("marketdata"),
            quick: TYPED_SIZE,
            ..TYPED_ECHO
        },
        Part {
            name: "codec-quoterequest",
            title: "Encoding and decoding alone, QuoteRequest",
            task: Task::Codec,
            mix: Some("quoterequest"),
            ..TYPED_ECHO
        },
    ],
    claims: &[
        Claim {
            text: "Types add little to DDS: 205 us typed, 185 us raw (1.11 times)",
            left: Subject::of("as-published", DDS),
            relation: Relation::Below(1.11),
            right: Right::Same(Subject::of("raw", &[]).at(1000)),
            sizes: &[],
        },
        Claim {
            text: "DDS is faster with typed data than ZeroMQ with Boost.Serialization (205 against 577 us)",
            left: Subject::of("as-published", DDS),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("as-published", ZEROMQ_BOOST)),
            sizes: &[],
        },
        Claim {
            text: "The same, when both send the same mix",
            left: Subject::of("equal", DDS),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("equal", ZEROMQ_BOOST)),
            sizes: &[],
        },
        Claim {
            text: "DDS is faster with typed data than Boost.Asio with Boost.Serialization (205 against 396 us)",
            left: Subject::of("as-published", DDS),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("as-published", ASIO_BOOST)),
            sizes: &[],
        },
        Claim {
            text: "Boost.Asio with Boost.Serialization is faster than ZeroMQ with it (396 against 577 us)",
            left: Subject::of("as-published", ASIO_BOOST),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("as-published", ZEROMQ_BOOST)),
            sizes: &[],
        },
        Claim {
            text: "Protocol Buffers are much faster than Boost.Serialization over ZeroMQ (216 against 577 us)",
            left: Subject::of("as-published", ZEROMQ_PROTOBUF),
            relation: Relation::Below(0.75),
            right: Right::Systems(Subject::of("as-published", ZEROMQ_BOOST)),
            sizes: &[],
        },
        Claim {
            text: "Protocol Buffers over ZeroMQ are not faster than typed DDS (216 against 205 us)",
            left: Subject::of("as-published", ZEROMQ_PROTOBUF),
            relation: Relation::Above(1.0),
            right: Right::Systems(Subject::of("as-published", DDS)),
            sizes: &[],
        },
        Claim {
            text: "Boost.Serialization overwhelms the gain of a light library: Boost.Asio with it is slower than raw \
                   ZeroMQ (396 against 170 us)",
            left: Subject::of("as-published", ASIO_BOOST),
            relation: Relation::Above(1.0),
            right: Right::Systems(Subject::of("raw", ZEROMQ).at(1000)),
            sizes: &[],
        },
        Claim {
            text: "Boost.Serialization costs more than the way of Boost.Asio itself (396 against 75 us)",
            left: Subject::of("as-published", ASIO_BOOST),
            relation: Relation::Above(2.0),
            right: Right::Systems(Subject::of("raw", ASIO).at(1000)),
            sizes: &[],
        },
    ],
};

/// What a typed message has to say; its length is up to the encoding.
const TYPED_SIZE: &[u32] = &[1000];

const TYPED_ECHO: Part = Part {
    payload: "typed",
    sizes: TYPED_SIZE,
    waits: &[Wait::Block],
    ..Part::ECHO
};

const FIGURES: &[Published] = &[
    Published {
        what: "OpenDDS",
        beside: DDS,
        size: None,
        value: "205 us",
    },
    Published {
        what: "ZeroMQ + Boost",
        beside: ZEROMQ_BOOST,
        size: None,
        value: "577 us",
    },
    Published {
        what: "ZeroMQ + protobuf",
        beside: ZEROMQ_PROTOBUF,
        size: None,
        value: "216 us",
    },
    Published {
        what: "Asio + Boost",
        beside: ASIO_BOOST,
        size: None,
        value: "396 us",
    },
];
