//! From the exchange's packet to the subscriber and back, of the fourth article.

use crate::scenario::{
    Claim, Part, Published, Quantity, Relation, Right, Scenario, Subject, Task, Wait,
};

pub(super) static PIPELINE: Scenario = Scenario {
    name: "pipeline",
    article: Some(("003", "QuickFAST and OpenDDS for a market-data feed")),
    title: "Market-data pipeline",
    about: "The gateway's feed handler is given FAST packets of one message each, which lie in memory, decodes them, turns \
            them into samples and publishes those; a subscriber echoes each sample, and the next packet comes when \
            all of the last one are back. `simple` has one topic for each of four templates, `complex` has sequences \
            that are split by security over 200 topics. Stages: `decode` is a message decoded with nothing made of \
            it, `publish` decoding, conversion and writing with the system calls that send; the figure is half the \
            round trip of a sample, from before its write. Nobody but Tickwire has such a program here. The article \
            had two machines with InfiniBand between them; the lab runs on one, over the loopback interface of a network \
            namespace, unless `--hosts` splits it.",
    minutes: 0.8,
    parts: &[
        Part {
            name: "simple",
            title: "Simple messages (as ARCA's)",
            payload: "simple",
            quick: MESSAGE,
            waits: &[Wait::Block, Wait::Poll],
            published: &[
                figure("decode", "0.448 us"),
                figure("publish", "2.1 us"),
                figure("one way", "40 us"),
            ],
            ..FEED
        },
        Part {
            name: "complex",
            title: "Complex messages (as CME's), split by security",
            payload: "complex",
            quick: MESSAGE,
            waits: &[Wait::Block, Wait::Poll],
            published: &[
                figure("decode", "< 2.5 us"),
                figure("publish", "23.56 us MarketData, 5.85 us QuoteRequest"),
                figure("one way", "65 us MarketData, 61 us QuoteRequest"),
            ],
            ..FEED
        },
        Part {
            name: "decode-simple",
            title: "Decoding alone, simple messages",
            task: Task::Codec,
            payload: "simple",
            published: &[figure("decode", "0.448 us")],
            ..FEED
        },
        Part {
            name: "decode-complex",
            title: "Decoding alone, complex messages",
            task: Task::Codec,
            payload: "complex",
            published: &[figure("decode", "< 2.5 us")],
            ..FEED
        },
    ],
    claims: &[
        Claim {
            text: "Simple messages are decoded in less than 500 ns",
            left: Subject::of("decode-simple", FEEDS).measured_as(Quantity::Stage("decode")),
            relation: Relation::Below(1.0),
            right: Right::Constant(500.0),
            sizes: &[],
        },
        Claim {
            text: "Complex messages are decoded in less than 2.5 us",
            left: Subject::of("decode-complex", FEEDS).measured_as(Quantity::Stage("decode")),
            relation: Relation::Below(1.0),
            right: Right::Constant(2500.0),
            sizes: &[],
        },
        Claim {
            text: "Simple samples arrive in about 40 us or less",
            left: Subject::of("simple", FEEDS),
            relation: Relation::Below(1.0),
            right: Right::Constant(40_000.0),
            sizes: &[],
        },
        Claim {
            text: "Complex samples arrive in about 65 us or less",
            left: Subject::of("complex", FEEDS),
            relation: Relation::Below(1.0),
            right: Right::Constant(65_000.0),
            sizes: &[],
        },
        Claim {
            text: "Complex samples take longer than simple ones (65 against 40 us)",
            left: Subject::of("complex", FEEDS),
            relation: Relation::Above(1.0),
            right: Right::Same(Subject::of("simple", &[])),
            sizes: &[],
        },
    ],
};

const FEED: Part = Part {
    sizes: MESSAGE,
    waits: &[Wait::Block],
    ..Part::ECHO
};

/// Messages are as long as the feed has them.
const MESSAGE: &[u32] = &[64];
const FEEDS: &[&str] = &["tickwire"];

const fn figure(what: &'static str, value: &'static str) -> Published {
    Published {
        what,
        beside: FEEDS,
        size: None,
        value,
    }
}
