//! Aeron as the lab measures it: a stream of bytes each way over `aeron:ipc`, and a media driver in the first
//! process of the passive side.

mod driver;
mod idle;
mod session;

use std::process::ExitCode;

use lab_program::{Job, Payload};
use rusteron_media_driver::Aeron;

use idle::Strategy;
use session::Session;

/// Options of its own.
#[derive(clap::Args)]
struct Own {
    /// What is done when there is nothing [default: spin where it polls, else sleep]
    #[arg(long)]
    idle_strategy: Option<Strategy>,
}

fn main() -> ExitCode {
    let (options, Own { idle_strategy }) = lab_program::parse();
    let has_answers = options.demand.is_some() || matches!(options.job, Job::Ping | Job::Pong);
    let refusal = if options.job == Job::Codec {
        "bytes have no encoding"
    } else if options.payload != Payload::Bytes {
        "has no such payload"
    } else if options.threads.is_some_and(|threads| threads > 1) {
        "has no threads for messages"
    } else if options.publishers > 1 && has_answers {
        "cannot answer several publishers"
    } else {
        return lab_program::finish(&options, || {
            let session = Session::open(&options, idle_strategy)?;
            lab_program::converse(&options, Aeron::version_text(), session)
        });
    };
    lab_program::misused(&options, refusal)
}
