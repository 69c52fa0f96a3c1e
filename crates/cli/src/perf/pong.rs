//! Ping-pong between processes over RTPS: each side answers on the thread that receives.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tickwire::{DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant};
use tickwire_gateway::Timing;

use super::bytes::{Bytes, LOOK, MeasuredDomain, PING, PONG, Wait};
use super::schedule::{self, Answers, Schedule};
use crate::failure::{Failure, Result};
use crate::stage::{Stage, tell, wait_for_end, work_until_end};

/// Sends every sample back, until the parent has gone.
pub(super) fn respond(domain: &MeasuredDomain) -> Result<()> {
    let participant = domain.participant()?;
    let pong = domain.writer(
        &participant,
        PONG,
        DataWriterQos::default().keep_last(DEPTH),
    )?;
    pong.wait_for_matched(1, PATIENCE).map_err(Failure::new)?;
    let qos = DataReaderQos::default().reliable().keep_last(DEPTH);
    let ping = domain.reader(&participant, PING, qos)?;
    ping.set_listener(move |ping: &DataReader<Bytes>| {
        for sample in ping.take().data() {
            // A ping without answer is noticed by who waits for it.
            let _sequence_number = pong.write(sample);
        }
    });
    tell(&json!({"event": "ready"}))?;
    match domain.wait {
        Wait::Block => wait_for_end(),
        Wait::Poll => work_until_end(|| {
            let _waits_no_longer = participant.poll(LOOK);
        }),
    }
    Ok(())
}

/// The pinging side, with its responders.
pub(super) struct PingPong {
    participant: DomainParticipant,
    wait: Wait,
    writer: DataWriter<Bytes>,
    /// Dropping it would end it.
    _reader: DataReader<Bytes>,
    shared: Arc<Shared>,
    _responders: Vec<Stage>,
}

struct Shared {
    responders: u32,
    state: Mutex<State>,
    finished: Condvar,
}

struct State {
    ping: Bytes,
    pinging: Pinging,
    rounds_left: u32,
    one_way: Timing,
}

/// When a ping follows.
enum Pinging {
    /// When all have answered.
    Closed { begin: Instant, answers: u32 },
    /// By the clock.
    Open(Answers),
}

impl PingPong {
    pub(super) fn start(domain: &MeasuredDomain, responders: u32) -> Result<Self> {
        let participant = domain.participant()?;
        let qos = DataWriterQos::default().keep_last(DEPTH);
        let writer = domain.writer(&participant, PING, qos)?;
        let qos = DataReaderQos::default().reliable().keep_last(DEPTH);
        let reader = domain.reader(&participant, PONG, qos)?;
        let state = State {
            ping: Bytes::default(),
            pinging: Pinging::Closed {
                begin: Instant::now(),
                answers: 0,
            },
            rounds_left: 0,
            one_way: Timing::new(),
        };
        let shared = Arc::new(Shared {
            responders,
            state: Mutex::new(state),
            finished: Condvar::new(),
        });
        let (listening, pinging) = (Arc::clone(&shared), writer.clone());
        reader.set_listener(move |reader: &DataReader<Bytes>| {
            let answers = reader.take();
            for answer in answers.data() {
                listening.answer(answer, &pinging);
            }
        });
        let arguments = domain.peer("pong");
        let mut stages = Vec::new();
        for _ in 0..responders {
            stages.push(Stage::start("responder", &arguments)?);
        }
        let failed = Failure::new;
        writer
            .wait_for_matched(responders, PATIENCE)
            .map_err(failed)?;
        reader
            .wait_for_matched(responders, PATIENCE)
            .map_err(failed)?;
        for stage in &mut stages {
            stage.wait_for("ready", PATIENCE, |_| {})?;
        }
        Ok(Self {
            participant,
            wait: domain.wait,
            writer,
            _reader: reader,
            shared,
            _responders: stages,
        })
    }

    /// One round trip after the other: half of the time of each goes into `one_way`.
    ///
    /// With several responders, the trip ends with the last answer.
    pub(super) fn ping(&self, size: usize, rounds: u32, one_way: &mut Timing) -> Result<()> {
        let pinging = Pinging::Closed {
            begin: Instant::now(),
            answers: 0,
        };
        self.begin(size, rounds, pinging).send(&self.writer);
        self.finish(size, one_way)
    }

    /// Pings at `rate` a second, whether the last one was answered or not: what each was sent late, and half
    /// of the time from then until its last answer, goes into `one_way`. Says how late this side was.
    pub(super) fn ping_at(
        &self,
        size: usize,
        rounds: u32,
        rate: u32,
        one_way: &mut Timing,
    ) -> Result<Timing> {
        let schedule = Schedule::new(rate, rounds);
        let answers = Answers::new(&schedule, self.shared.responders);
        drop(self.begin(size, rounds, Pinging::Open(answers)));
        let mut data = vec![0; size];
        let mut late = Timing::new();
        for index in 0..rounds {
            let lateness = schedule.wait_for(index, self.wait, || self.turn(Duration::ZERO));
            late.record(lateness);
            schedule::mark(&mut data, index);
            let sample = Bytes { data };
            self.writer.write(&sample).map_err(Failure::new)?;
            data = sample.data;
        }
        self.finish(size, one_way)?;
        Ok(late)
    }

    fn begin(&self, size: usize, rounds: u32, pinging: Pinging) -> MutexGuard<'_, State> {
        let mut state = self.shared.lock();
        state.ping.data.clear();
        state.ping.data.resize(size, 0);
        state.pinging = pinging;
        state.rounds_left = rounds;
        state.one_way = Timing::new();
        state
    }

    /// Waits for the last answer.
    fn finish(&self, size: usize, one_way: &mut Timing) -> Result<()> {
        let mut state = self.shared.lock();
        let (mut before, mut seen_at) = (state.rounds_left, Instant::now());
        while state.rounds_left > 0 {
            state = match self.wait {
                Wait::Block => {
                    let finished = &self.shared.finished;
                    let waited = finished.wait_timeout(state, LOOK);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Wait::Poll => {
                    drop(state);
                    self.turn(LOOK);
                    self.shared.lock()
                }
            };
            if state.rounds_left < before {
                (before, seen_at) = (state.rounds_left, Instant::now());
            } else if seen_at.elapsed() > PATIENCE {
                return Err(Failure::new(format_args!(
                    "no answer to a sample of {size} bytes within {PATIENCE:?}"
                )));
            }
        }
        one_way.merge(&state.one_way);
        Ok(())
    }

    /// Drives the participant, where nobody else does.
    fn turn(&self, timeout: Duration) {
        if self.wait == Wait::Poll {
            // It takes part, and has no threads.
            let _driven = self.participant.poll(timeout);
        }
    }
}

impl Shared {
    fn answer(&self, answer: &Bytes, writer: &DataWriter<Bytes>) {
        let mut state = self.lock();
        let state = &mut *state;
        if state.rounds_left == 0 {
            return;
        }
        let one_way = match &mut state.pinging {
            Pinging::Closed { begin, answers } => {
                *answers += 1;
                if *answers < self.responders {
                    return;
                }
                begin.elapsed() / 2
            }
            Pinging::Open(answers) => match answers.note(&answer.data) {
                Some(one_way) => one_way,
                None => return,
            },
        };
        state.one_way.record(one_way);
        state.rounds_left -= 1;
        if state.rounds_left == 0 {
            self.finished.notify_all();
        } else if let Pinging::Closed { .. } = state.pinging {
            state.send(writer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn send(&mut self, writer: &DataWriter<Bytes>) {
        self.pinging = Pinging::Closed {
            begin: Instant::now(),
            answers: 0,
        };
        // Without it there is no answer, which is noticed.
        let _sequence_number = writer.write(&self.ping);
    }
}

const PATIENCE: Duration = Duration::from_secs(10);
/// Samples by which one of several responders, or all of them at a rate, may be behind.
const DEPTH: u32 = 1_000;
