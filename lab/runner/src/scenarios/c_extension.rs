//! Latency and throughput from C, of the fifth article.

use crate::scenario::{
    Claim, Group, Part, Published, Relation, Right, Scenario, Subject, Task, Wait,
};

pub(super) static C_EXTENSION: Scenario = Scenario {
    name: "c-extension",
    article: Some(("004", "C extension for 0MQ")),
    title: "Latency and throughput from C",
    about: "local_lat with remote_lat, and local_thr with remote_thr: round trips and a free stream, from C \
            and from the language that the system is written in. ZeroMQ's own interface is C. Tickwire is called from \
            Rust, C and C++ with a writer and a reader, and from C with exchanges and queues, which are what the \
            article's extension had. The article had two \
            machines with a Gbit link, where 256 bytes and more were limited by it, and 0MQ 0.3, whose \
            figures stand beside ZeroMQ and what is to be called from C. Its extension had one I/O thread and one \
            application thread; neither ZeroMQ nor Tickwire is so limited today.",
    minutes: 2.3,
    parts: &[
        Part {
            name: "lat",
            title: "local_lat, remote_lat",
            quick: &[1],
            published: &[
                figure(1, "C 35.43, C++ 32.7 us"),
                figure(16, "C 36.26, C++ 34.54 us"),
                figure(256, "C 44.04, C++ 42.21 us"),
                figure(4096, "C 88.64, C++ 85.63 us"),
                figure(65_536, "C 651.83, C++ 612.99 us"),
            ],
            ..FROM_C
        },
        Part {
            name: "thr",
            title: "local_thr, remote_thr",
            task: Task::Stream,
            quick: &[1],
            except: Some(Group {
                systems: &[
                    "zeromq-tcp-hwm1000",
                    "tickwire-udp-batched",
                    "tickwire-shm-batched",
                ],
                because: "they stand in `throughput`: ZeroMQ's loses messages at each of these sizes, and what is written \
                          together is nothing that the article's programs did",
            }),
            published: &[
                figure(1, "C 1,624,139/s, C++ 2,435,820/s"),
                figure(16, "C 1,428,036/s, C++ 2,976,623/s"),
                figure(256, "C 447,534/s, C++ 447,126/s"),
                figure(4096, "C 28,893/s, C++ 28,896/s"),
                figure(65_536, "C 1,810/s, C++ 1,810/s"),
            ],
            ..FROM_C
        },
    ],
    claims: &[
        Claim {
            text: "Latency from C is only slightly higher (35.43 against 32.7 us at 1 byte)",
            left: Subject::of("lat", C),
            relation: Relation::Below(1.1),
            right: Right::Systems(Subject::of("lat", RUST)),
            sizes: SIZES,
        },
        Claim {
            text: "Small messages reach about half the throughput from C (1.62 against 2.44 M/s at 1 byte)",
            left: Subject::of("thr", C),
            relation: Relation::Below(0.75),
            right: Right::Systems(Subject::of("thr", RUST)),
            sizes: &[1, 16],
        },
        Claim {
            text: "From 256 bytes on throughput from C is the same",
            left: Subject::of("thr", C),
            relation: Relation::Near(1.1),
            right: Right::Systems(Subject::of("thr", RUST)),
            sizes: &[256, 4096, 65_536],
        },
        Claim {
            text: "Throughput from C would do for OPRA (a million messages a second at 16 bytes)",
            left: Subject::of("thr", C),
            relation: Relation::Above(1.0),
            right: Right::Constant(1_000_000.0),
            sizes: &[16],
        },
    ],
};

const FROM_C: Part = Part {
    sizes: SIZES,
    waits: &[Wait::Block],
    only: Some(Group {
        systems: &["tickwire", "zeromq-tcp"],
        because: "the article compares a library with itself, from C and from its own language; they stand in \
                  `raw` and `throughput`",
    }),
    unlike: Some(Group {
        systems: &[
            "tickwire-udp",
            "tickwire-shm",
            "tickwire-tcp",
            "tickwire-cpp",
        ],
        because: "not from C",
    }),
    ..Part::ECHO
};

const SIZES: &[u32] = &[1, 16, 256, 4096, 65_536];
/// Those of one transport.
const C: &[&str] = &["tickwire-c-udp", "tickwire-exchange"];
const RUST: &[&str] = &["tickwire-udp"];

const fn figure(size: u32, value: &'static str) -> Published {
    Published {
        what: "0MQ 0.3",
        beside: &["omq", "zeromq-tcp", "tickwire-c", "tickwire-exchange"],
        size: Some(size),
        value,
    }
}
