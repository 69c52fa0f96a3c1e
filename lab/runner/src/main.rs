//! The runner of Tickwire's lab: it starts the programs of each system by `lab/CONTRACT.md`, in rounds
//! that interleave them, verifies what they answer, and writes the report.
//!
//! [`scenarios`] is the table of what is compared; `lab/peers/*/peer.toml` say with what. A scenario's
//! [`rounds`] make [`record`]s, and everything in [`report`] is made from those.

mod attend;
mod cable;
mod claims;
mod cli;
mod compare;
mod compared;
mod counted;
mod counts;
mod demand;
mod environment;
mod folder;
mod hosts;
mod log;
mod measure;
mod prepare;
mod proc;
mod process;
mod progress;
mod record;
mod report;
mod rounds;
mod run;
mod said;
#[cfg(test)]
mod sample;
mod scenario;
mod scenarios;
mod second;
mod statistics;
mod systems;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::main() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}
