//! Tickwire as the lab measures it: two topics, one each way.

mod array;
mod codec;
mod content;
mod inlet;
mod lent;
mod pipeline;
mod session;
mod typed;

use std::process::ExitCode;

use lab_program::{Job, Options, Payload};

use array::Array;
use content::{Bytes, Content, Element, Floats, Structs};
use lent::Lent;
use typed::Typed;

/// There are no options of its own.
#[derive(clap::Args)]
struct Own {}

fn main() -> ExitCode {
    let (options, Own {}) = lab_program::parse();
    match (options.system.as_str(), options.job, options.rate) {
        ("tickwire-udp" | "tickwire-tcp" | "tickwire-shm", ..) => {}
        ("tickwire-udp-batched" | "tickwire-shm-batched", Job::Send | Job::Receive, None) => {}
        ("tickwire-udp-batched" | "tickwire-shm-batched", ..) => {
            return lab_program::misused(&options, "messages that go alone share nothing");
        }
        _ => return lab_program::misused(&options, "there is no such system"),
    }
    if options.threads.is_some_and(|threads| threads > 1) {
        return lab_program::misused(&options, "has no option for more threads");
    }
    match (options.job, options.payload) {
        (_, Payload::Simple | Payload::Complex) => match options.job {
            Job::Ping => lab_program::finish(&options, || pipeline::ping(&options)),
            Job::Pong => lab_program::finish(&options, || pipeline::pong(&options)),
            Job::Codec => lab_program::finish(&options, || pipeline::decode(&options)),
            Job::Send | Job::Receive => lab_program::misused(
                &options,
                "the feed's samples are echoed, one message after the other",
            ),
        },
        (Job::Codec, Payload::Typed) => lab_program::finish(&options, || codec::measure(&options)),
        (Job::Codec, _) => lab_program::misused(&options, "bytes have no encoding"),
        (_, Payload::Bytes) if lends(&options) => lab_program::finish(&options, || {
            lab_program::converse(&options, VERSION, Lent::<Bytes, u8>::open(&options)?)
        }),
        (_, Payload::Floats) if lends(&options) => lab_program::finish(&options, || {
            lab_program::converse(&options, VERSION, Lent::<Floats, f32>::open(&options)?)
        }),
        (_, Payload::Structs) if lends(&options) => lab_program::finish(&options, || {
            lab_program::converse(&options, VERSION, Lent::<Structs, Element>::open(&options)?)
        }),
        (_, Payload::Bytes) => converse::<Bytes>(&options),
        (_, Payload::Floats) => converse::<Floats>(&options),
        (_, Payload::Structs) => converse::<Structs>(&options),
        (_, Payload::Typed) => lab_program::finish(&options, || {
            lab_program::converse(&options, VERSION, Typed::open(&options)?)
        }),
    }
}

fn converse<C: Content>(options: &Options) -> ExitCode {
    lab_program::finish(options, || {
        lab_program::converse(options, VERSION, Array::<C>::open(options)?)
    })
}

fn told(error: impl std::error::Error) -> String {
    error.to_string()
}

/// Whether loans of arrays that long save copies, and more than they cost.
fn lends(options: &Options) -> bool {
    options.payload_len()
        >= match options.system.as_str() {
            "tickwire-shm" => 16 << 10,
            "tickwire-udp" | "tickwire-tcp" => 64 << 10,
            _ => usize::MAX,
        }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
