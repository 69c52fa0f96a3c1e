//! Processes that are started, watched, and ended if they are late.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// A process with a group of its own, which ends with this value.
pub(crate) struct Process {
    pub(crate) name: String,
    /// Whether it may still write.
    pub(crate) is_open: bool,
    /// Whether something attends it on another machine.
    is_attended: bool,
    child: Child,
    stdin: Option<ChildStdin>,
    stderr: Option<thread::JoinHandle<String>>,
    last_line: Option<String>,
    status: Option<ExitStatus>,
}

/// What a process of the run did; the number says which.
pub(crate) enum Event {
    /// It wrote a line.
    Line(usize, String),
    /// It will write no more.
    Closed(usize),
}

/// How a process ended.
pub(crate) struct Ended {
    pub(crate) is_success: bool,
    /// Whether it says by its status that it cannot do what its options ask for.
    pub(crate) is_refusal: bool,
    /// The last line on stdout.
    pub(crate) answer: Option<String>,
    /// Status and what it said on stderr.
    pub(crate) complaint: String,
}

impl Process {
    /// Starts a command; its lines come as events of `number`.
    pub(crate) fn start(
        name: String,
        command: &mut Command,
        number: usize,
        events: &Sender<Event>,
    ) -> Result<Self, String> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy();
            format!("{program} cannot be started: {error}")
        })?;
        let stdin = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            let events = events.clone();
            thread::spawn(move || {
                let lines = BufReader::new(stdout).lines();
                for line in lines.map_while(Result::ok) {
                    // Nobody listens any more when the run is over.
                    let _unheard = events.send(Event::Line(number, line));
                }
                let _unheard = events.send(Event::Closed(number));
            });
        }
        let stderr = child
            .stderr
            .take()
            .map(|stderr| thread::spawn(move || end_of(stderr)));
        Ok(Self {
            name,
            is_open: true,
            is_attended: false,
            child,
            stdin,
            stderr,
            last_line: None,
            status: None,
        })
    }

    /// Something attends it, on another machine perhaps: `lab attend`, which ends it when its stdin closes, and then ends.
    pub(crate) fn attended(mut self) -> Self {
        self.is_attended = true;
        self
    }

    /// It wrote a line.
    pub(crate) fn note(&mut self, line: String) {
        if !line.trim().is_empty() {
            self.last_line = Some(line);
        }
    }

    /// Whether it wrote something.
    pub(crate) fn has_answer(&self) -> bool {
        self.last_line.is_some()
    }

    /// Its number with the kernel, and that of its group.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes its stdin, which asks a broker to end.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end, at most so long, and ends it then.
    pub(crate) fn end(mut self, patience: Duration) -> Ended {
        self.wait(patience);
        let status = self.status;
        self.kill();
        let said = self.stderr.take().and_then(|stderr| stderr.join().ok());
        let said = said.unwrap_or_default();
        let said = said.trim();
        let status_text = status.map_or_else(|| "did not end".to_owned(), |s| s.to_string());
        Ended {
            is_success: status.is_some_and(|status| status.success()),
            is_refusal: status.is_some_and(|status| status.code() == Some(2)),
            answer: self.last_line.take(),
            complaint: match said.is_empty() {
                true => format!("{}: {status_text}", self.name),
                false => format!("{}: {status_text}: {said}", self.name),
            },
        }
    }

    /// Waits for its end, at most so long.
    fn wait(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        #[expect(
            clippy::disallowed_methods,
            reason = "a child's end comes as no event, and its stdout is closed already"
        )]
        while self.status.is_none() && Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(Some(status)) => self.status = Some(status),
                Ok(None) => thread::sleep(Duration::from_millis(1)),
                Err(_) => break,
            }
        }
    }

    /// Ends the process and those that it started.
    fn kill(&mut self) {
        if self.is_attended {
            // To kill what started it would leave it on the other machine, where the next is measured.
            self.stdin = None;
            self.wait(FAR_END);
        }
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // The group exists as long as the child is not waited for, or somebody is left in it.
            let _gone = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The next event, unless it is too late.
pub(crate) fn next(events: &Receiver<Event>, deadline: Instant) -> Option<Event> {
    let left = deadline.saturating_duration_since(Instant::now());
    events.recv_timeout(left).ok()
}

/// The last of what somebody writes, while all of it is read.
fn end_of(mut from: impl Read) -> String {
    let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(len) = from.read(&mut buffer)
        && len > 0
    {
        kept.extend_from_slice(&buffer[..len]);
        if kept.len() > 2 * KEPT_LEN {
            kept.drain(..kept.len() - KEPT_LEN);
        }
    }
    let begin = kept.len().saturating_sub(KEPT_LEN);
    String::from_utf8_lossy(&kept[begin..]).into_owned()
}

/// How long it may take until a program on another machine is gone. If the connection is broken, it does not help to wait.
const FAR_END: Duration = Duration::from_secs(3);
/// How much of stderr is kept, in bytes.
const KEPT_LEN: usize = 1000;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn shell(script: &str, events: &Sender<Event>) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start("a shell".into(), &mut command, 7, events).unwrap()
    }

    #[test]
    fn the_last_line_and_the_complaint_are_kept() {
        let (sender, events) = mpsc::channel();
        let mut process = shell("echo one; echo two; echo no >&2; exit 3", &sender);
        let deadline = Instant::now() + Duration::from_secs(60);
        while let Some(Event::Line(7, line)) = next(&events, deadline) {
            process.note(line);
        }
        let ended = process.end(Duration::from_secs(60));
        assert_eq!(ended.answer.as_deref(), Some("two"));
        assert!(!ended.is_success);
        assert!(
            ended.complaint.ends_with("exit status: 3: no"),
            "{}",
            ended.complaint
        );
    }

    #[test]
    fn who_does_not_end_is_ended_with_those_it_started() {
        let (sender, events) = mpsc::channel();
        let process = shell("sleep 1000 & echo $!; wait", &sender);
        let deadline = Instant::now() + Duration::from_secs(60);
        let Some(Event::Line(_, pid)) = next(&events, deadline) else {
            panic!("the shell says the pid");
        };
        let ended = process.end(Duration::ZERO);
        assert!(!ended.is_success && ended.complaint.contains("did not end"));
        let is_closed = |event| matches!(event, Some(Event::Closed(7)));
        assert!(
            is_closed(next(&events, deadline)),
            "{pid} holds the other end no more"
        );
    }

    #[test]
    fn who_is_attended_is_told_by_its_stdin_and_waited_for() {
        let (sender, events) = mpsc::channel();
        let process = shell("read end; echo gone", &sender).attended();
        let ended = process.end(Duration::ZERO);
        assert!(ended.complaint.contains("did not end"), "by itself");
        let deadline = Instant::now() + Duration::from_secs(60);
        let is_gone = |event| matches!(event, Some(Event::Line(7, line)) if line == "gone");
        assert!(is_gone(next(&events, deadline)), "it was not killed before");
    }
}
