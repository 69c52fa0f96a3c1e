//! One run of one cell: its processes are started by the contract, and their answers collected.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use crate::environment::seconds_now;
use crate::hosts::{Hosts, Side, Span, survives_a_shell};
use crate::proc::{Usage, interface_bytes};
use crate::process::{Event, Process, next};
use crate::record::Answer;
use crate::scenario::{Part, Task, Wait};
use crate::systems::System;
use crate::verify;

/// What is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) part: &'a Part,
    pub(crate) system: &'a System,
    pub(crate) size: u32,
    pub(crate) wait: Wait,
    /// Messages of each publisher that are measured.
    pub(crate) count: u64,
    pub(crate) warmup: u64,
    pub(crate) demand: Option<u64>,
    /// How long it takes if all goes well.
    pub(crate) expected: Duration,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Active side first, each side by index.
    pub(crate) answers: Vec<Answer>,
    pub(crate) failure: Option<String>,
    /// Whether it had to be ended.
    pub(crate) is_late: bool,
    /// Whether a program says that it cannot do such a run.
    pub(crate) is_refused: bool,
    /// What a broker used.
    pub(crate) broker: Option<Usage>,
    /// Bytes over the interface by which the sides reach each other, from the first process to the last.
    pub(crate) wire_bytes: Option<u64>,
    /// Where the samples are; removed with this value.
    pub(crate) folder: Folder,
}

/// A folder that is removed when it is not needed any more.
#[derive(Debug, Default)]
pub(crate) struct Folder(pub(crate) PathBuf);

/// How the processes of all runs are started.
pub(crate) struct Starter {
    /// Where folders of runs are made.
    scratch: Folder,
    runs: u64,
    cores: usize,
    hosts: Hosts,
}

impl Starter {
    /// Makes the folder in which runs have theirs, in this one.
    pub(crate) fn new(within: &Path, hosts: Hosts) -> Result<Self, String> {
        // Processes of two namespaces may have the same number.
        let (id, now) = (std::process::id(), seconds_now());
        let scratch = within.join(format!("tickwire-lab-{now}-{id}"));
        fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            scratch: Folder(scratch),
            runs: 0,
            cores,
            hosts,
        })
    }

    /// Runs it once, each process through `wrapper`, which is a command that is given the program and
    /// its arguments, or nothing.
    pub(crate) fn run(&mut self, run: &Run<'_>, wrapper: &[String]) -> Outcome {
        let number = self.runs;
        self.runs += 1;
        let folder = Folder(self.scratch.0.join(number.to_string()));
        if let Err(error) = fs::create_dir_all(&folder.0) {
            return Outcome::failed(format!("{}: {error}", folder.0.display()));
        }
        if let Some(percent) = run.part.loss
            && let Err(error) = self.hosts.lose(percent)
        {
            return Outcome::failed(error);
        }
        let interface = self.hosts.interface();
        let before = interface_bytes(interface);
        let (sender, events) = mpsc::channel();
        let mut conversation = Conversation {
            run,
            hosts: &self.hosts,
            wrapper,
            folder: &folder.0,
            port: FIRST_PORT + PORTS * u16::try_from(number % RUNS_BEFORE_REUSE).unwrap_or(0),
            last_core: self.cores - 1,
            processes: Vec::new(),
            sender,
            events,
            is_late: false,
            is_refused: false,
            broker: None,
        };
        let result = conversation.hold();
        let (is_late, broker) = (conversation.is_late, conversation.broker);
        let is_refused = conversation.is_refused;
        drop(conversation);
        let wire_bytes = before
            .zip(interface_bytes(interface))
            .map(|(from, to)| to - from);
        let (answers, failure) = match result {
            Ok(mut answers) => {
                if self.hosts.span == Span::TwoClocks {
                    forget_the_start(&mut answers);
                }
                let failure = verify::failure(run.part, run.count, &answers);
                (answers, failure)
            }
            Err(error) => (Vec::new(), Some(error)),
        };
        Outcome {
            answers,
            failure,
            is_late,
            is_refused,
            broker,
            wire_bytes,
            folder,
        }
    }
}

/// The processes of a run. Dropped, it ends those that are left.
struct Conversation<'a> {
    run: &'a Run<'a>,
    hosts: &'a Hosts,
    wrapper: &'a [String],
    folder: &'a PathBuf,
    port: u16,
    last_core: usize,
    processes: Vec<Option<Process>>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    is_late: bool,
    is_refused: bool,
    broker: Option<Usage>,
}

impl Conversation<'_> {
    fn hold(&mut self) -> Result<Vec<Answer>, String> {
        let part = self.run.part;
        let (active, passive) = verify::jobs(part.task);
        let has_broker = self.run.system.has_broker() && part.task != Task::Codec;
        let broker = match has_broker {
            true => Some(self.start("broker", 0, self.last_core)?),
            false => None,
        };
        self.wait_ready(broker.as_slice())?;
        let mut listening = Vec::new();
        if !passive.is_empty() {
            for index in 0..part.subscribers {
                listening.push(self.start(passive, index, self.last_core)?);
            }
        }
        self.wait_ready(&listening)?;
        // Of a process on another machine only what started it is known here.
        let leader = broker
            .filter(|_| self.hosts.span != Span::TwoClocks)
            .and_then(|it| self.processes[it].as_ref())
            .map(Process::id);
        let before = leader.map(Usage::of_group);
        let mut speaking = Vec::new();
        for index in 0..part.publishers {
            speaking.push(self.start(active, index, 0)?);
        }
        let patience = match part.loss {
            Some(_) => LOSSY_PATIENCE,
            None => PATIENCE,
        };
        let deadline = Instant::now() + patience + 4 * self.run.expected;
        let mut answers = self.answers_of(&speaking, deadline)?;
        // Who receives may wait for as long as `--idle` before it gives up.
        let deadline = Instant::now() + PATIENCE;
        answers.extend(self.answers_of(&listening, deadline)?);
        self.broker = leader
            .zip(before)
            .map(|(leader, before)| Usage::of_group(leader).since(before));
        if let Some(mut broker) = broker.and_then(|it| self.processes[it].take()) {
            broker.close_stdin();
            // Whatever it says at its end, the messages have gone through.
            let _ended = broker.end(GRACE);
        }
        Ok(answers)
    }

    fn start(&mut self, job: &str, index: u8, core: usize) -> Result<usize, String> {
        let number = self.processes.len();
        let words = self.words(job, index, core)?;
        let (first, rest) = words.split_first().ok_or("nothing is started")?;
        let mut command = Command::new(first);
        command.args(rest);
        let name = format!("{job} {index}");
        let process = Process::start(name, &mut command, number, &self.sender)?;
        let process = match self.hosts.span {
            Span::TwoClocks => process.attended(),
            Span::OneHost | Span::OneClock => process,
        };
        self.processes.push(Some(process));
        Ok(number)
    }

    /// What starts a program: the words of its host, the wrapper, the program, its arguments.
    fn words(&self, job: &str, index: u8, core: usize) -> Result<Vec<OsString>, String> {
        let mut words: Vec<OsString> = self.wrapper.iter().map(OsString::from).collect();
        if !words.is_empty() {
            let log = self.folder.join(format!("{job}.{index}.calls"));
            words.extend(["-o".into(), log.into()]);
        }
        words.push(self.run.system.program.clone().into());
        words.extend(
            self.arguments(job, index, core)
                .into_iter()
                .map(OsString::from),
        );
        let is_plain = |it: &&OsString| it.to_str().is_some_and(survives_a_shell);
        let twisted = words.iter().find(|it| !is_plain(it));
        match twisted.filter(|_| self.hosts.span == Span::TwoClocks) {
            Some(word) => Err(format!(
                "{} may not come to another machine as it is: it has other signs than letters, digits and -_./,:=+@%",
                word.display()
            )),
            None => Ok([&self.hosts.words(job)[..], &words].concat()),
        }
    }

    fn arguments(&self, job: &str, index: u8, core: usize) -> Vec<String> {
        let (run, part) = (self.run, self.run.part);
        let mut all = vec![];
        let mut option = |name: &str, value: String| all.extend([format!("--{name}"), value]);
        option("system", run.system.id.clone());
        option("job", job.to_owned());
        option("size", run.size.to_string());
        option("payload", part.payload.to_owned());
        if let Some(mix) = part.mix {
            option("mix", mix.to_owned());
        }
        option("count", run.count.to_string());
        option("warmup", run.warmup.to_string());
        option("publishers", part.publishers.to_string());
        option("subscribers", part.subscribers.to_string());
        option("index", index.to_string());
        if part.one_responder {
            option("responders", "one".to_owned());
        }
        if let Some(demand) = run.demand {
            option("demand", demand.to_string());
        }
        if let Task::OpenLoop(rate) = part.task {
            option("rate", rate.to_string());
        }
        option("wait", run.wait.name().to_owned());
        if let Some(threads) = part.threads {
            option("threads", threads.to_string());
        }
        option("core", core.to_string());
        option("port", self.port.to_string());
        if part.loss.is_some() {
            option("idle", LOSSY_IDLE.as_secs().to_string());
            if let Some(mtu) = self.hosts.mtu() {
                option("mtu", mtu.to_string());
            }
        }
        let (here, there) = self.hosts.addresses(Side::of_job(job));
        option("here", here.to_string());
        option("there", there.to_string());
        option("dir", self.folder.display().to_string());
        all.extend(run.system.arguments.iter().cloned());
        all
    }

    /// Waits until each of them has said that it is ready.
    fn wait_ready(&mut self, processes: &[usize]) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        let mut waiting = processes.to_vec();
        while !waiting.is_empty() {
            match next(&self.events, deadline) {
                Some(Event::Line(number, line)) => {
                    if line.trim() == "ready" {
                        waiting.retain(|&it| it != number);
                    } else {
                        self.note(number, line);
                    }
                }
                Some(Event::Closed(number)) => return Err(self.complaint(number)),
                None => {
                    self.is_late = true;
                    return Err(format!("{} is not ready in time", self.name(waiting[0])));
                }
            }
        }
        Ok(())
    }

    /// Waits for the ends of these; any other that ends badly ends the conversation.
    fn answers_of(
        &mut self,
        processes: &[usize],
        deadline: Instant,
    ) -> Result<Vec<Answer>, String> {
        let mut waiting: Vec<usize> = processes
            .iter()
            .copied()
            .filter(|&number| self.is_open(number))
            .collect();
        while !waiting.is_empty() {
            match next(&self.events, deadline) {
                Some(Event::Line(number, line)) => self.note(number, line),
                Some(Event::Closed(number)) => {
                    waiting.retain(|&it| it != number);
                    let has_answer = self.processes[number]
                        .as_ref()
                        .is_some_and(Process::has_answer);
                    if !has_answer {
                        return Err(self.complaint(number));
                    }
                    if let Some(process) = &mut self.processes[number] {
                        process.is_open = false;
                    }
                }
                None => {
                    self.is_late = true;
                    return Err(format!("{} is not done in time", self.name(waiting[0])));
                }
            }
        }
        processes
            .iter()
            .map(|&number| self.answer(number))
            .collect()
    }

    fn answer(&mut self, number: usize) -> Result<Answer, String> {
        let Some(process) = self.processes[number].take() else {
            return Err("a process is asked twice".to_owned());
        };
        let name = process.name.clone();
        let ended = process.end(GRACE);
        if !ended.is_success {
            self.is_refused |= ended.is_refusal;
            return Err(ended.complaint);
        }
        let line = ended.answer.unwrap_or_default();
        serde_json::from_str(&line).map_err(|error| format!("{name} answers {line:?}: {error}"))
    }

    fn is_open(&self, number: usize) -> bool {
        self.processes[number]
            .as_ref()
            .is_some_and(|process| process.is_open)
    }

    fn note(&mut self, number: usize, line: String) {
        if let Some(process) = &mut self.processes[number] {
            process.note(line);
        }
    }

    fn name(&self, number: usize) -> &str {
        self.processes[number]
            .as_ref()
            .map_or("a process", |process| &process.name)
    }

    fn complaint(&mut self, number: usize) -> String {
        match self.processes[number].take() {
            Some(process) => {
                let ended = process.end(GRACE);
                self.is_refused |= ended.is_refusal;
                ended.complaint
            }
            None => "a process ended".to_owned(),
        }
    }
}

/// The publishers' start is of another clock than the time at which messages came: what is left is the receiver's own,
/// from the first measured message to the last.
fn forget_the_start(answers: &mut [Answer]) {
    for answer in answers {
        (answer.taken, answer.taken_ns) = (0, 0);
    }
}

impl Outcome {
    fn failed(error: String) -> Self {
        Self {
            failure: Some(error),
            ..Self::default()
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // What cannot be removed is left to whoever cleans /tmp.
            let _left = fs::remove_dir_all(&self.0);
        }
    }
}

/// Each run has ports of its own, so that none waits for those of the run before to be free again.
const FIRST_PORT: u16 = 17_000;
const PORTS: u16 = 20;
const RUNS_BEFORE_REUSE: u64 = 600;
/// How long a process may take to be ready, and beyond its work.
const PATIENCE: Duration = Duration::from_secs(8);
/// The same where announcements get lost, too, and how long a sample may take that is sent again and again.
const LOSSY_PATIENCE: Duration = Duration::from_secs(15);
const LOSSY_IDLE: Duration = Duration::from_secs(5);
/// How long a process that has answered may take to end.
const GRACE: Duration = Duration::from_secs(2);
