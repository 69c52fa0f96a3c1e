//! The program that the OMG's interoperability suite (omg-dds/dds-rtps on GitHub) calls
//! `shape_main`: it publishes or subscribes to coloured shapes that move. Command line and output
//! are the suite's, whose scripts read the lines, so neither changes here alone.
//!
//! A feature that Tickwire does not have is answered by a line with "not supported".

mod interrupt;
mod options;
mod publisher;
mod report;
mod shape;
mod subscriber;

use std::process::ExitCode;

use clap::Parser;
use tickwire::error::EndpointError;
use tickwire::{Condition, DomainParticipant, Topic};

use options::Options;
use shape::ShapeType;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let options = Options::parse();
    options.warn();
    match run(&options) {
        Ok(()) => {
            println!("Done.");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{}", complaint(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let end = interrupt::condition()?;
    let participant = options.participant().build()?;
    let topics = topics(options, &participant)?;
    match options.publish {
        true => publisher::run(options, &participant, &topics, &end),
        false => subscriber::run(options, &participant, &topics, &end),
    }
}

fn topics(options: &Options, participant: &DomainParticipant) -> Result<Vec<Topic<ShapeType>>> {
    let create = |number| {
        let name = numbered(&options.topic, number);
        println!("Create topic: {name}");
        Ok(participant.topic(&name)?)
    };
    (0..options.num_topics).map(create).collect()
}

/// The name of one of several topics or instances: the first has the plain name.
fn numbered(name: &str, number: u32) -> String {
    match number {
        0 => name.to_owned(),
        number => format!("{name}{number}"),
    }
}

/// Whether the user has asked for the end before `period` was over.
fn pause(end: &Condition, period: std::time::Duration) -> bool {
    let wait_set = tickwire::WaitSet::new();
    wait_set.attach(end);
    wait_set.wait(period).is_ok()
}

fn complaint(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref() {
        Some(EndpointError::UnimplementedQos(policy)) => format!("{policy}: not supported"),
        _ => format!("error: {error}"),
    }
}
