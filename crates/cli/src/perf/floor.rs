//! The floor: the same ping-pong over bare sockets, by UDP one system call a datagram, by TCP one or two a
//! message, which block or are made again and again.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tickwire_gateway::Timing;

use super::bare::{Bare, Datagrams, Stream, Wire};
use super::bytes::{SPIN, Wait};
use super::schedule::{self, Answers, Schedule};
use crate::failure::{Failure, Result};
use crate::stage::{Stage, tell};

/// Sends every message back, until the parent has gone.
pub(super) fn respond(wire: Wire, wait: Wait) -> Result<()> {
    let tell_where =
        |address: SocketAddr| tell(&json!({"event": "ready", "address": address.to_string()}));
    let mut idle = Idle::new(wait);
    match wire {
        Wire::Udp => {
            let mut datagrams = Datagrams::bind(wait)?;
            let mut answers = Datagrams::of(datagrams.socket.try_clone().map_err(failed)?);
            tell_where(answers.socket.local_addr().map_err(failed)?)?;
            loop {
                let received = datagrams.receive().map_err(failed)?;
                let has_come = received.is_some();
                if let Some((bytes, from)) = received {
                    answers.send(bytes, from).map_err(failed)?;
                    // There is one who pings.
                    if answers.peer.is_none() {
                        answers.connect(from).map_err(failed)?;
                        datagrams.peer = Some(from);
                    }
                }
                idle.note(has_come, |polls| answers.socket.set_nonblocking(polls))?;
            }
        }
        Wire::Tcp => {
            let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
            tell_where(listener.local_addr().map_err(failed)?)?;
            let socket = listener.accept().map_err(failed)?.0;
            let mut answers = Stream::new(socket.try_clone().map_err(failed)?, wait)?;
            let mut pings = Stream::new(socket, wait)?;
            loop {
                let received = match pings.receive() {
                    // Whoever measures has enough.
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                    received => received.map_err(failed)?,
                };
                if let Some(bytes) = received {
                    answers.send(bytes).map_err(failed)?;
                }
                let has_come = received.is_some();
                idle.note(has_come, |polls| answers.socket.set_nonblocking(polls))?;
            }
        }
    }
}

/// Who polls sleeps where nothing has come for a while: it is not its turn, and the processor is for who
/// has it.
struct Idle {
    polls: bool,
    is_asleep: bool,
    since: Instant,
}

impl Idle {
    fn new(wait: Wait) -> Self {
        Self {
            polls: wait == Wait::Poll,
            is_asleep: false,
            since: Instant::now(),
        }
    }

    /// Has the socket block, or not any more, by whether something has come.
    fn note(&mut self, has_come: bool, set: impl FnOnce(bool) -> io::Result<()>) -> Result<()> {
        if !self.polls {
            return Ok(());
        }
        if has_come {
            self.since = Instant::now();
        }
        let sleeps = !has_come && self.since.elapsed() > SPIN;
        if sleeps != self.is_asleep {
            self.is_asleep = sleeps;
            set(!sleeps).map_err(failed)?;
        }
        Ok(())
    }
}

/// The pinging side, with its responders.
pub(super) struct Floor {
    bare: Bare,
    wait: Wait,
    responders: Vec<Stage>,
    datagram: Vec<u8>,
    /// Answers that have not come.
    lost: u64,
}

impl Floor {
    pub(super) fn start(responders: u32, wire: Wire, wait: Wait) -> Result<Self> {
        let wait_name = match wait {
            Wait::Block => "block",
            Wait::Poll => "poll",
        };
        let start = || {
            let name = match wire {
                Wire::Udp => "UDP responder",
                Wire::Tcp => "TCP responder",
            };
            let arguments = ["perf", "respond", wire.command(), "--wait", wait_name];
            let mut stage = Stage::start(name, &arguments.map(str::to_owned))?;
            let ready = stage.wait_for("ready", Duration::from_secs(20), |_| {})?;
            let address = ready["address"].as_str().and_then(|text| text.parse().ok());
            let missing = || Failure::new(format_args!("the {name} has no address"));
            Ok((stage, address.ok_or_else(missing)?))
        };
        let started = (0..responders).map(|_| start());
        let started = started.collect::<Result<Vec<(Stage, SocketAddr)>>>()?;
        let (responders, addresses) = started.into_iter().unzip();
        Ok(Self {
            bare: Bare::connect(wire, addresses, wait, QUIET)?,
            responders,
            wait,
            datagram: Vec::new(),
            lost: 0,
        })
    }

    /// One round trip after the other: half of the time of each goes into `one_way`.
    ///
    /// With several responders each ping goes to all, and the trip ends with the last answer. A trip of which answers get lost
    /// counts for nothing but these.
    pub(super) fn ping(&mut self, size: usize, rounds: u32, one_way: &mut Timing) -> Result<()> {
        self.resize(size);
        let mut heard_at = Instant::now();
        for _ in 0..rounds {
            let begin = Instant::now();
            self.send()?;
            let answers = self.receive()?;
            if answers > 0 {
                heard_at = Instant::now();
            } else if heard_at.elapsed() >= PATIENCE {
                return Err(Failure::new(format_args!(
                    "bare sockets on 127.0.0.1: no answer to {size} B within {PATIENCE:?}"
                )));
            }
            match self.responders.len() - answers {
                0 => one_way.record(begin.elapsed() / 2),
                missing => self.lost += missing as u64,
            }
        }
        Ok(())
    }

    /// Pings at `rate` a second, whether the last one was answered or not: what each was sent late, and half
    /// of the time from then until its last answer, goes into `one_way`.
    pub(super) fn ping_at(
        &mut self,
        size: usize,
        rounds: u32,
        rate: u32,
        one_way: &mut Timing,
    ) -> Result<()> {
        self.resize(size);
        let responders = u32::try_from(self.responders.len()).unwrap_or(u32::MAX);
        let schedule = Schedule::new(rate, rounds);
        let answers = Answers::new(&schedule, responders);
        let timing = match self.wait {
            Wait::Poll => self.stream_polling(&schedule, answers, rounds),
            Wait::Block => self.stream_blocking(&schedule, answers, rounds),
        };
        one_way.merge(&timing?);
        Ok(())
    }

    /// How many answers have not come since it began.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// One thread sends and looks for answers meanwhile.
    fn stream_polling(
        &mut self,
        schedule: &Schedule,
        mut answers: Answers,
        rounds: u32,
    ) -> Result<Timing> {
        let mut one_way = Timing::new();
        for index in 0..rounds {
            schedule.wait_for(index, self.wait, || {
                if let Ok(Some(answer)) = self.bare.receive() {
                    answers.note_in(answer, &mut one_way);
                }
            });
            schedule::mark(&mut self.datagram, index);
            self.send()?;
        }
        let mut heard_at = Instant::now();
        while !answers.are_complete() && heard_at.elapsed() < QUIET {
            if let Some(answer) = self.bare.receive().map_err(failed)? {
                answers.note_in(answer, &mut one_way);
                heard_at = Instant::now();
            }
        }
        self.lost += answers.missing();
        Ok(one_way)
    }

    /// One thread sends, one waits for answers.
    fn stream_blocking(
        &mut self,
        schedule: &Schedule,
        mut answers: Answers,
        rounds: u32,
    ) -> Result<Timing> {
        let mut bare = self.bare.try_clone().map_err(failed)?;
        let is_all_sent = &AtomicBool::new(false);
        let (one_way, missing) = thread::scope(|scope| {
            let receiving = scope.spawn(move || {
                let mut one_way = Timing::new();
                while !answers.are_complete() {
                    let is_last = is_all_sent.load(Ordering::Acquire);
                    match bare.receive().map_err(failed)? {
                        Some(answer) => answers.note_in(answer, &mut one_way),
                        None if is_last => break,
                        None => {}
                    }
                }
                Ok((one_way, answers.missing()))
            });
            for index in 0..rounds {
                schedule.wait_for(index, self.wait, || {});
                schedule::mark(&mut self.datagram, index);
                self.send()?;
            }
            is_all_sent.store(true, Ordering::Release);
            let ended = receiving.join();
            ended.unwrap_or_else(|_| {
                Err(Failure::new("bare sockets: the receiving thread panicked"))
            })
        })?;
        self.lost += missing;
        Ok(one_way)
    }

    fn resize(&mut self, size: usize) {
        self.datagram.clear();
        self.datagram.resize(size.clamp(1, MAX_MESSAGE), 0);
    }

    fn send(&mut self) -> Result<()> {
        self.bare.send(&self.datagram).map_err(failed)
    }

    /// How many answers come before none does any more.
    fn receive(&mut self) -> Result<usize> {
        let patience = if self.bare.may_lose() {
            QUIET
        } else {
            PATIENCE
        };
        let mut deadline = Instant::now() + patience;
        let mut answers = 0;
        while answers < self.responders.len() {
            match self.bare.receive().map_err(failed)? {
                Some(_) => {
                    answers += 1;
                    deadline = Instant::now() + patience;
                }
                None if Instant::now() < deadline => {}
                None => break,
            }
        }
        Ok(answers)
    }
}

fn failed(error: io::Error) -> Failure {
    Failure::new(format_args!("bare sockets on 127.0.0.1: {error}"))
}

/// What a datagram holds.
const MAX_MESSAGE: usize = 65_507;
const PATIENCE: Duration = Duration::from_secs(5);
/// An answer that has not come when none has for so long is lost.
const QUIET: Duration = Duration::from_millis(500);
