//! Stages as processes of this same binary: started, listened to, waited for with a limit, and gone
//! when their parent goes.
//!
//! A stage writes events to its standard output, one JSON object a line. Its standard input is a
//! pipe that nothing is written to: when it closes, the parent has gone or is done with the stage,
//! which goes, too.

use std::io::{BufRead, BufReader, Read, stdin};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::{Failure, Result};

/// A running stage. Dropping it ends the process: it has a second to say good-bye.
pub(crate) struct Stage {
    name: &'static str,
    child: Child,
    events: Receiver<Value>,
}

impl Stage {
    /// Starts `tickwire ARGUMENTS` under a name for messages.
    pub(crate) fn start(name: &'static str, arguments: &[String]) -> Result<Self> {
        let failed = |error| Failure::new(format_args!("cannot start {name}: {error}"));
        let binary = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(binary)
            .args(arguments)
            .env(STAGE_VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let stdout = child.stdout.take();
        let (sender, events) = channel();
        thread::spawn(move || {
            let lines = stdout.map(|stdout| BufReader::new(stdout).lines());
            for line in lines.into_iter().flatten().map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            name,
            child,
            events,
        })
    }

    /// The next event called `kind`; others are handed to `other`.
    ///
    /// Fails when the stage ends before, or says nothing of the kind within `limit`.
    pub(crate) fn wait_for(
        &mut self,
        kind: &str,
        limit: Duration,
        mut other: impl FnMut(Value),
    ) -> Result<Value> {
        let name = self.name;
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) if event["event"] == kind => return Ok(event),
                Ok(event) => other(event),
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = limit.as_secs_f32();
                    return Err(Failure::new(format_args!(
                        "no {kind} from the {name} within {seconds} s"
                    )));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.wait(limit)?;
                    return Err(Failure::new(format_args!(
                        "the {name} ended without {kind}: {status}"
                    )));
                }
            }
        }
    }

    /// Waits for the process to end.
    pub(crate) fn wait(&mut self, patience: Duration) -> Result<ExitStatus> {
        let name = self.name;
        let deadline = Instant::now() + patience;
        let mut pace = crate::pace::Pace::new(Duration::from_millis(5));
        loop {
            let status = self.child.try_wait();
            let status = status.map_err(|error| Failure::new(format_args!("{name}: {error}")))?;
            if let Some(status) = status {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                return Err(Failure::new(format_args!("the {name} does not end")));
            }
            pace.wait();
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ended = self.wait(GOOD_BYE);
        // Both fail only if the process has ended and was waited for.
        let _ended = self.child.kill();
        let _waited_for = self.child.wait();
    }
}

/// In a stage: ends the process when its parent has gone. Nothing in a command that a person
/// started.
pub(crate) fn end_with_parent() {
    if std::env::var_os(STAGE_VARIABLE).is_none() {
        return;
    }
    let waiting = thread::current();
    thread::spawn(move || {
        let mut rest = [0; 64];
        while stdin().read(&mut rest).is_ok_and(|len| len > 0) {}
        match IS_WAITING.load(Ordering::Acquire) {
            true => IS_OVER.store(true, Ordering::Release),
            false => std::process::exit(1),
        }
        waiting.unpark();
    });
}

/// In a stage: waits until its parent has gone or is done with it. To be called by the thread that the
/// stage began with.
pub(crate) fn wait_for_end() {
    IS_WAITING.store(true, Ordering::Release);
    while !IS_OVER.load(Ordering::Acquire) {
        thread::park();
    }
}

/// The same, with `work` to do again and again meanwhile, which must not take long.
pub(crate) fn work_until_end(mut work: impl FnMut()) {
    IS_WAITING.store(true, Ordering::Release);
    while !IS_OVER.load(Ordering::Acquire) {
        work();
    }
}

/// Whether this process is a stage of another.
pub(crate) fn is_stage() -> bool {
    std::env::var_os(STAGE_VARIABLE).is_some()
}

/// Tells the parent something.
pub(crate) fn tell(event: &Value) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{event}")?;
    Ok(out.flush()?)
}

static IS_WAITING: AtomicBool = AtomicBool::new(false);
static IS_OVER: AtomicBool = AtomicBool::new(false);
const GOOD_BYE: Duration = Duration::from_secs(1);
const STAGE_VARIABLE: &str = "TICKWIRE_STAGE";
