//! What programs do, whatever system they send with.

mod latency;
mod stream;

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::Peer;
use crate::answer::Answer;
use crate::meter::Meter;
use crate::options::{Job, Options};

/// What a job has seen so far.
#[derive(Debug, Default)]
struct Findings {
    sent: u64,
    received: u64,
    lost: u64,
    out_of_order: u64,
    wrong: u64,
    error: Option<String>,
    meter: Meter,
    samples: Vec<u64>,
    /// How late messages were sent, against the clock.
    late: Vec<u64>,
    /// Messages received since the publishers began, and how long that took.
    taken: (u64, u64),
}

impl Findings {
    /// Remembers the first error.
    fn fail(&mut self, error: impl Into<String>) {
        self.error.get_or_insert_with(|| error.into());
    }

    /// A message was not what had been sent.
    fn corrupt(&mut self, number: u64) {
        self.wrong += 1;
        self.fail(format!("message {number} is not what was sent"));
    }

    /// A result of sending; breaks if it failed.
    fn sent(&mut self, result: Result<(), String>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.fail(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// Does the job, once the other side is there.
pub(crate) fn run<P: Peer>(
    options: &Options,
    version: &str,
    peer: &Arc<P>,
) -> Result<Answer, String> {
    if options.job.is_passive() {
        say_ready()?;
    }
    peer.meet()?;
    let findings = match options.job {
        Job::Ping => latency::ping(options, peer),
        Job::Pong => latency::pong(options, peer),
        Job::Send => stream::send(options, peer),
        Job::Receive => stream::receive(options, peer),
        Job::Codec => return Err("has no codec of its own to measure".into()),
    };
    let mut answer = findings.answer(options, version)?;
    answer.encoded_bytes = peer.encoded_bytes();
    let settings = peer.settings().into_iter();
    answer.settings = settings
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Ok(answer)
}

impl Findings {
    fn answer(self, options: &Options, version: &str) -> Result<Answer, String> {
        let (elapsed_ns, cost) = self.meter.result();
        let job = format!("{:?}", options.job).to_lowercase();
        let name = format!("{job}.{}.ns", options.index);
        let samples = save(&options.dir.join(&name), &self.samples)?.then_some(name);
        let name = format!("late.{}.ns", options.index);
        let late = save(&options.dir.join(&name), &self.late)?.then_some(name);
        Ok(Answer {
            system: options.system.clone(),
            version: version.to_owned(),
            job,
            index: options.index,
            sent: self.sent,
            received: self.received,
            lost: self.lost,
            out_of_order: self.out_of_order,
            wrong: self.wrong,
            error: self.error,
            elapsed_ns,
            taken: self.taken.0,
            taken_ns: self.taken.1,
            payload_bytes: u64::try_from(options.payload_len()).unwrap_or_default(),
            cost,
            samples,
            stages: late
                .map(|file| (SENDER_LATE.to_owned(), file))
                .into_iter()
                .collect(),
            ..Answer::default()
        })
    }
}

/// From when a message was to be sent by the clock until the sender came to it.
const SENDER_LATE: &str = "sender late";

/// Says that this process can hear.
pub fn say_ready() -> Result<(), String> {
    println!("ready");
    io::stdout().flush().map_err(|error| error.to_string())
}

/// Writes times into a file; says whether there were any.
pub fn save(path: &Path, samples: &[u64]) -> Result<bool, String> {
    let bytes: Vec<u8> = samples.iter().flat_map(|time| time.to_le_bytes()).collect();
    if !bytes.is_empty() {
        fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(!samples.is_empty())
}
