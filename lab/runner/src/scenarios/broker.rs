//! Four publishers through a broker to one subscriber, of the third article.

use crate::scenario::{
    Claim, Part, Published, Quantity, Relation, Right, Scenario, Subject, Task, Wait,
};

pub(super) static BROKER: Scenario = Scenario {
    name: "broker",
    article: Some(("002", "Publish-subscribe with IceStorm")),
    title: "Four publishers, one subscriber",
    about: "Four publishers send as fast as they can to one subscriber, through a broker where the system \
            has one. Throughput is the sum of what the subscriber received (1 MB = 1e6 B), the cycle time in \
            what the subscriber receives a message of each publisher. Broker and subscriber have one thread each, as is \
            everybody's default, then two, where that can be chosen: they \
            take messages side by side, so that some come out of order, which fails no run of that part. The \
            article had four machines with one Gbit link each to a fifth, where 468 MB/s were the limit.",
    minutes: 3.0,
    parts: &[
        Part {
            name: "bytes",
            title: "Arrays of bytes, one thread",
            quick: &[100_000],
            published: BYTES,
            ..FOUR_TO_ONE
        },
        Part {
            name: "bytes-2-threads",
            title: "Arrays of bytes, two threads",
            sizes: &[100_000],
            threads: Some(2),
            published: &[figure(100_000, "452 MB/s")],
            ..FOUR_TO_ONE
        },
        Part {
            name: "floats",
            title: "Arrays of floats, one thread",
            payload: "floats",
            published: FLOATS,
            ..FOUR_TO_ONE
        },
        Part {
            name: "structs",
            title: "Arrays of structures, one thread",
            payload: "structs",
            published: STRUCTS,
            ..FOUR_TO_ONE
        },
    ],
    claims: &[
        Claim {
            text: "Two threads carry more than one (452 against 282 MB/s at 100 kB)",
            left: Subject::of("bytes-2-threads", ICESTORM),
            relation: Relation::Above(1.2),
            right: Right::Same(Subject::of("bytes", &[])),
            sizes: &[100_000],
        },
        Claim {
            text: "Throughput is best at 100 kB, not at 10 kB (282 against 178 MB/s)",
            left: MEGABYTES.at(100_000),
            relation: Relation::Above(1.0),
            right: Right::Same(MEGABYTES.at(10_000)),
            sizes: &[],
        },
        Claim {
            text: "Throughput is best at 100 kB, not at 10 MB (282 against 160 MB/s)",
            left: MEGABYTES.at(100_000),
            relation: Relation::Above(1.0),
            right: Right::Same(MEGABYTES.at(10_000_000)),
            sizes: &[],
        },
        Claim {
            text: "Structures are slower than bytes (213 against 282 MB/s at 100 kB)",
            left: Subject::of("structs", ICESTORM),
            relation: Relation::Below(1.0),
            right: Right::Same(Subject::of("bytes", &[])),
            sizes: &[100_000],
        },
    ],
};

const FOUR_TO_ONE: Part = Part {
    task: Task::Stream,
    sizes: &[10_000, 100_000, 1_000_000, 10_000_000],
    publishers: 4,
    waits: &[Wait::Block],
    ..Part::ECHO
};

const ICESTORM: &[&str] = &["icestorm"];
const MEGABYTES: Subject = Subject::of("bytes", ICESTORM).measured_as(Quantity::Megabytes);

const BYTES: &[Published] = &[
    figure(10_000, "0.22 ms, 178 MB/s"),
    figure(100_000, "1.4 ms, 282 MB/s"),
    figure(1_000_000, "22.0 ms, 180 MB/s"),
    figure(10_000_000, "247 ms, 160 MB/s"),
];
const FLOATS: &[Published] = &[
    figure(10_000, "0.24 ms, 165 MB/s"),
    figure(100_000, "1.6 ms, 254 MB/s"),
    figure(1_000_000, "22.5 ms, 179 MB/s"),
    figure(10_000_000, "225 ms, 178 MB/s"),
];
const STRUCTS: &[Published] = &[
    figure(10_000, "0.25 ms, 162 MB/s"),
    figure(100_000, "1.88 ms, 213 MB/s"),
    figure(1_000_000, "23.0 ms, 174 MB/s"),
    figure(10_000_000, "246 ms, 162 MB/s"),
];

const fn figure(size: u32, value: &'static str) -> Published {
    Published {
        what: "IceStorm",
        beside: ICESTORM,
        size: Some(size),
        value,
    }
}
