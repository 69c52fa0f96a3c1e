//! Objects of .NET, of the first article.

use super::raw::ARTICLE;
use crate::scenario::{Claim, Part, Published, Relation, Right, Scenario, Subject, Wait};
use crate::systems;

pub(super) static DOTNET: Scenario = Scenario {
    name: "dotnet",
    article: Some(ARTICLE),
    title: "Objects of .NET",
    about: "C# programs turn MarketData and QuoteRequest objects into bytes, with BinaryFormatter as in \
            the article or otherwise, and send them through whatever they are bound to. Raw buffers of \
            1000 bytes from the same runtime stand beside it. BinaryFormatter is gone from .NET 9 on.",
    minutes: 0.4,
    parts: &[
        Part {
            name: "objects",
            title: "MarketData and QuoteRequest objects, 9 to 1",
            payload: "typed",
            mix: Some("equal"),
            sizes: &[1000],
            quick: &[1000],
            waits: &[Wait::Block],
            needs: DOTNET_PROGRAM,
            count_calls_at: Some(1000),
            published: FIGURES,
            ..Part::ECHO
        },
        Part {
            name: "raw",
            title: "Raw buffers of 1000 bytes from .NET",
            sizes: &[1000],
            waits: &[Wait::Block],
            needs: DOTNET_PROGRAM,
            ..Part::ECHO
        },
    ],
    claims: &[
        Claim {
            text: "Objects are faster over TCP than over ZeroMQ (413 against 537 us)",
            left: Subject::of("objects", TCP),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("objects", ZEROMQ)),
            sizes: &[],
        },
        Claim {
            text: "Objects are faster over ZeroMQ than through raw DDS topics (537 against 630 us)",
            left: Subject::of("objects", ZEROMQ),
            relation: Relation::Below(1.0),
            right: Right::Systems(Subject::of("objects", TICKWIRE)),
            sizes: &[],
        },
        Claim {
            text: "Objects cost far more than raw buffers (537 against 170 us)",
            left: Subject::of("objects", ZEROMQ),
            relation: Relation::Above(2.0),
            right: Right::Same(Subject::of("raw", &[]).at(1000)),
            sizes: &[],
        },
    ],
};

/// What a program of the runtime says of itself.
const DOTNET_PROGRAM: &[&str] = &[systems::DOTNET];
const TCP: &[&str] = &["mono-tcp", "dotnet-tcp"];
const ZEROMQ: &[&str] = &["mono-zeromq", "dotnet-zeromq"];
const TICKWIRE: &[&str] = &["tickwire-dotnet-raw"];

const FIGURES: &[Published] = &[
    Published {
        what: "OpenDDS",
        beside: TICKWIRE,
        size: None,
        value: "630 us",
    },
    Published {
        what: "ZeroMQ",
        beside: ZEROMQ,
        size: None,
        value: "537 us",
    },
    Published {
        what: "Boost.Asio",
        beside: TCP,
        size: None,
        value: "413 us",
    },
];
