//! iceoryx2 as the lab measures it: two services of bytes, one each way, and events beside them for who
//! sleeps.

mod channel;
mod session;

use std::process::ExitCode;

use lab_program::{Job, Payload};

use session::Session;

/// There are no options of its own.
#[derive(clap::Args)]
struct Own {}

fn main() -> ExitCode {
    let (options, Own {}) = lab_program::parse();
    let has_answers = options.demand.is_some() || matches!(options.job, Job::Ping | Job::Pong);
    let refusal = if options.job == Job::Codec {
        "bytes have no encoding"
    } else if options.payload != Payload::Bytes {
        "has no such payload"
    } else if options.threads.is_some_and(|threads| threads > 1) {
        "has no threads of its own"
    } else if options.publishers > 1 && has_answers {
        "cannot answer several publishers"
    } else {
        return lab_program::finish(&options, || {
            lab_program::converse(&options, VERSION, Session::open(&options)?)
        });
    };
    lab_program::misused(&options, refusal)
}

const VERSION: &str = "0.10";
