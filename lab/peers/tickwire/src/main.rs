//! Tickwire as the lab measures it: two topics, one each way.

mod bytes;
mod codec;
mod inlet;
mod session;
mod typed;

use std::process::ExitCode;

use lab_program::{Job, Payload};

use bytes::Bytes;
use typed::Typed;

/// There are no options of its own.
#[derive(clap::Args)]
struct Own {}

fn main() -> ExitCode {
    let (options, Own {}) = lab_program::parse();
    if options.system != "tickwire-udp" {
        return lab_program::misused(&options, "there is no such system");
    }
    match (options.job, options.payload) {
        (Job::Codec, Payload::Typed) => lab_program::finish(&options, || codec::measure(&options)),
        (Job::Codec, _) => lab_program::misused(&options, "bytes have no encoding"),
        (_, Payload::Bytes) => lab_program::finish(&options, || {
            lab_program::converse(&options, VERSION, Bytes::open(&options)?)
        }),
        (_, Payload::Typed) => lab_program::finish(&options, || {
            lab_program::converse(&options, VERSION, Typed::open(&options)?)
        }),
        _ => lab_program::misused(&options, "has no such payload"),
    }
}

fn told(error: impl std::error::Error) -> String {
    error.to_string()
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
