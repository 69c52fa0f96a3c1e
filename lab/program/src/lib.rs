//! What every program of the lab does but the sending and receiving, by the contract in
//! `lab/CONTRACT.md`: options, messages and their verification, the jobs, what they cost, the answer.
//!
//! A program implements [`Peer`] and hands itself to [`main`].

mod answer;
mod clock;
mod codec;
mod job;
mod message;
mod meter;
mod options;
mod received;
mod start;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

pub use answer::Answer;
pub use clock::now;
pub use codec::{BATCH, measure_codec};
pub use job::{save, say_ready};
pub use message::{HEADER_LEN, fill, has_header, own_number};
pub use meter::Meter;
pub use options::{Job, Mix, Options, Payload, Responders, Wait};

/// One side of a conversation. Clones of the `Arc` that holds it send from wherever they are.
pub trait Peer: Send + Sync + 'static {
    /// A message as the system hands it over.
    type Message: Message + ?Sized;

    /// Waits until the other side is there, all of it.
    fn meet(&self) -> Result<(), String>;

    /// Sends message `number`, made at `time`, to everybody on the other side. Waits for room if there
    /// is none.
    fn send(&self, number: u64, time: u64) -> Result<(), String>;

    /// Sends a message back to where it came from, its content unchanged.
    fn echo(&self, message: &Self::Message) -> Result<(), String>;

    /// Calls the handler for each message, until it breaks or nothing has come for as long as `idle`
    /// says; gives it back. What comes while nobody runs waits for the next call.
    fn run<H: Handler<Self::Message>>(&self, idle: Idle, handler: H) -> H;

    /// Mean length of what was handed to the transport for a message, where it is known.
    fn encoded_bytes(&self) -> Option<u64> {
        None
    }

    /// Options of the system that the program sets, as the report prints them.
    fn settings(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A message that was received.
pub trait Message {
    /// Its number. One of fewer than 16 bytes has the lowest byte alone; then it is the number that
    /// is closest to `expected`.
    fn number(&self, expected: u64) -> u64;

    /// When it was to be sent, if it says so.
    fn time(&self) -> Option<u64>;

    /// Whether all of it is what message `number` has to be.
    fn is_intact(&self, number: u64) -> bool;
}

/// What is done with the messages.
pub trait Handler<M: ?Sized>: Send + 'static {
    /// Takes one; breaks if that was the last.
    fn take(&mut self, message: &M) -> ControlFlow<()>;
}

/// How long nothing may come.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Until the first message.
    pub first: Duration,
    /// After it.
    pub between: Duration,
}

/// Runs a program that has nothing to do but to converse: reads the options, opens the peer, does the
/// job, prints the answer.
///
/// `open` returns when the peer can hear, before the other side is there.
pub fn main<E: clap::Args, P: Peer>(
    version: &str,
    open: impl FnOnce(&Options, &E) -> Result<P, String>,
) -> ExitCode {
    let (options, own) = parse::<E>();
    finish(&options, || {
        converse(&options, version, open(&options, &own)?)
    })
}

/// Reads the command line, and binds the process to its core; ends the process if one of them cannot be.
pub fn parse<E: clap::Args>() -> (Options, E) {
    let arguments = options::parse::<E>();
    let possible = match arguments.common.contradiction() {
        Some(reason) => Err(reason.to_owned()),
        None => arguments.common.bind(),
    };
    if let Err(error) = possible {
        eprintln!("{}: {error}", arguments.common.system);
        std::process::exit(2);
    }
    (arguments.common, arguments.own)
}

/// Does the job with a peer that can hear.
pub fn converse<P: Peer>(options: &Options, version: &str, peer: P) -> Result<Answer, String> {
    job::run(options, version, &Arc::new(peer))
}

/// Prints the answer, or what went wrong.
pub fn finish(options: &Options, job: impl FnOnce() -> Result<Answer, String>) -> ExitCode {
    match job() {
        Ok(answer) => {
            println!("{}", answer.to_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", options.system);
            ExitCode::FAILURE
        }
    }
}

/// Says that an option cannot be had.
pub fn misused(options: &Options, error: &str) -> ExitCode {
    eprintln!("{}: {error}", options.system);
    ExitCode::from(2)
}
