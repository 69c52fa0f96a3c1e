//! The `tickwire` command: a folder for each subcommand, and what they share.
//!
//! Data goes to standard output, everything else to standard error. The exit status is 0 when the
//! work is done, 1 when it failed, 2 when the command line was wrong.
#![forbid(unsafe_code)]

mod demo;
mod doctor;
mod domain;
mod durability;
mod failure;
mod fast;
mod feed;
mod idl;
mod interrupt;
mod network;
mod node;
mod output;
mod pace;
mod perf;
mod profile;
mod progress;
mod qos;
mod rendezvous;
mod stage;
mod survey;
mod topic;

use std::error::Error;
use std::num::{IntErrorKind, ParseIntError};
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

fn main() -> ExitCode {
    stage::end_with_parent();
    let (arguments, notes) = rendezvous::translate(std::env::args_os());
    let matches = Cli::command()
        .try_get_matches_from(arguments)
        .unwrap_or_else(|error| with_tip_of_form(without_escape_tip(error)).exit());
    // The command line is well-formed; what a profile says may be wrong still.
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    notes.iter().for_each(output::note);
    let result = match cli.command {
        Command::Demo(arguments) => arguments.run(),
        Command::Doctor(arguments) => arguments.run(),
        Command::Durability(command) => command.run(),
        Command::Fast(command) => command.run(),
        Command::Feed(command) => command.run(),
        Command::Idl(command) => command.run(),
        Command::Node(command) => command.run(),
        Command::Perf(command) => command.run(),
        Command::Qos(command) => command.run(),
        Command::Rendezvous(arguments) => arguments.run(),
        Command::Topic(command) => command.run(),
    };
    let _signals_wait = interrupt::last_word();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The error without the tip to say `-- --option` for an option that there is not: hardly an argument of ours
/// begins with a hyphen.
fn without_escape_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested)
    {
        tips.retain(|tip| !tip.to_string().contains("'-- "));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    error
}

/// The error with the form of a value that should have been a number: the parser of numbers tells only that it is
/// none.
fn with_tip_of_form(mut error: clap::Error) -> clap::Error {
    let is_no_number = error.source().is_some_and(|source| {
        let source = source.downcast_ref::<ParseIntError>();
        let kind = source.map(ParseIntError::kind);
        matches!(kind, Some(IntErrorKind::InvalidDigit | IntErrorKind::Empty))
    });
    if is_no_number {
        let tip = StyledStr::from("a whole number is expected, in digits alone");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Publish/subscribe for market data.
#[derive(Parser)]
#[command(
    name = "tickwire",
    version,
    about,
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    #[command(subcommand)]
    Durability(durability::Command),
    #[command(subcommand)]
    Fast(fast::Command),
    #[command(subcommand)]
    Feed(feed::Command),
    #[command(subcommand)]
    Idl(idl::Command),
    #[command(subcommand)]
    Node(node::Command),
    #[command(subcommand)]
    Perf(perf::Command),
    #[command(subcommand)]
    Qos(qos::Command),
    Rendezvous(rendezvous::Arguments),
    #[command(subcommand)]
    Topic(topic::Command),
}

const LONG_ABOUT: &str = "\
Publish/subscribe for market data: decodes an exchange's FAST feed and publishes it as typed \
topics over RTPS, which any DDS can read.

Everything runs on this machine's loopback interface unless a command is told otherwise.";

const AFTER_HELP: &str = "\
Examples:
  tickwire demo                                     # the whole road on this machine
  tickwire feed generate simple --out simple.dat    # make a feed, then look inside it:
  tickwire fast decode simple.dat --templates simple.xml
  tickwire topic ls                                 # what is on the network
  tickwire doctor                                   # what is wrong with it
  tickwire rendezvous                               # where there is no multicast

Exit status:
  0  done
  1  the work failed, or something was lost on the way; standard error says what
  2  the command line cannot be obeyed
Ctrl-C and SIGTERM have commands that run on, such as `topic echo`, end with what they have so far; others end \
with 128 and the signal's number, as shells have it: 130 after Ctrl-C.";
