//! What is left of latency and throughput where the network loses frames.

use crate::scenario::{Group, Part, Scenario, Task, Wait};

pub(super) static LOSS: Scenario = Scenario {
    name: "loss",
    article: None,
    title: "A network that loses frames",
    about: "Publisher and subscriber are in two network namespaces, and of the frames that come in at either end of the \
            cable between them, 0, 1, 5 or 20 of a hundred are dropped, each for itself: samples, heartbeats, \
            acknowledgements, repairs and announcements alike (nftables, `numgen random mod 100 < P drop` at ingress). \
            A datagram that is longer than the MTU is lost with any of its pieces, so programs are told the MTU and keep \
            to it. Every sample has to arrive, once, intact and in order, or the run has failed. What has to be sent \
            again waits for timers rather than for the processor, so runs last a second, and three of open loops.",
    minutes: 15.0,
    parts: &[
        open("open-0", "1000 messages a second, nothing lost", 0),
        open("open-1", "1000 messages a second, 1 % lost", 1),
        open("open-5", "1000 messages a second, 5 % lost", 5),
        open("open-20", "1000 messages a second, 20 % lost", 20),
        stream("stream-0", "Free stream, nothing lost", 0),
        stream("stream-1", "Free stream, 1 % lost", 1),
        stream("stream-5", "Free stream, 5 % lost", 5),
        stream("stream-20", "Free stream, 20 % lost", 20),
    ],
    claims: &[],
};

/// The one-way time is from when a message was to be sent, whatever held it up.
const fn open(name: &'static str, title: &'static str, loss: u8) -> Part {
    Part {
        name,
        title,
        task: Task::OpenLoop(1_000),
        sizes: &[1024],
        quick: &[1024],
        loss: Some(loss),
        stretch: 15,
        ..LOSSY
    }
}

const fn stream(name: &'static str, title: &'static str, loss: u8) -> Part {
    Part {
        name,
        title,
        task: Task::Stream,
        sizes: &[64, 1024, 65_536, 1_048_576],
        quick: &[1024],
        loss: Some(loss),
        stretch: 5,
        ..LOSSY
    }
}

const LOSSY: Part = Part {
    waits: &[Wait::Block],
    only: Some(Group {
        systems: &["tickwire-udp", "cyclone-udp", "fastdds-udp"],
        because: "implementations of DDS over UDP repeat by themselves what was lost; of TCP the kernel does",
    }),
    except: Some(Group {
        systems: &["fastdds-udp-default"],
        because: "it takes shared memory between two namespaces of a machine",
    }),
    ..Part::ECHO
};
