//! Ping-pong between processes over RTPS: each side answers on the thread that receives.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tickwire::{DataReader, DataReaderQos, DataWriter, DataWriterQos};
use tickwire_gateway::Timing;

use super::bytes::{Bytes, MeasuredDomain, PING, PONG};
use crate::failure::{Failure, Result};
use crate::stage::{Stage, tell, wait_for_end};

/// Sends every sample back, until the parent has gone.
pub(super) fn respond(domain: &MeasuredDomain) -> Result<()> {
    let participant = domain.participant()?;
    let pong = domain.writer(&participant, PONG, DataWriterQos::default())?;
    pong.wait_for_matched(1, PATIENCE).map_err(Failure::new)?;
    let ping = domain.reader(&participant, PING, DataReaderQos::default().reliable())?;
    ping.set_listener(move |ping: &DataReader<Bytes>| {
        for sample in ping.take().data() {
            // A ping without answer is noticed by who waits for it.
            let _sequence_number = pong.write(sample);
        }
    });
    tell(&json!({"event": "ready"}))?;
    wait_for_end();
    Ok(())
}

/// The pinging side, with its responders.
pub(super) struct PingPong {
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
    begin: Instant,
    answers: u32,
    rounds_left: u32,
    one_way: Timing,
}

impl PingPong {
    pub(super) fn start(domain: &MeasuredDomain, responders: u32) -> Result<Self> {
        let participant = domain.participant()?;
        let writer = domain.writer(&participant, PING, DataWriterQos::default())?;
        let reader = domain.reader(
            &participant,
            PONG,
            DataReaderQos::default().reliable().keep_last(16),
        )?;
        let state = State {
            ping: Bytes::default(),
            begin: Instant::now(),
            answers: 0,
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
            for _ in answers.data() {
                listening.answer(&pinging);
            }
        });
        let arguments = domain.peer("pong");
        let mut stages = Vec::new();
        for _ in 0..responders {
            let mut stage = Stage::start("responder", &arguments)?;
            stage.wait_for("ready", PATIENCE, |_| {})?;
            stages.push(stage);
        }
        writer
            .wait_for_matched(responders, PATIENCE)
            .map_err(Failure::new)?;
        reader
            .wait_for_matched(responders, PATIENCE)
            .map_err(Failure::new)?;
        Ok(Self {
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
        let mut state = self.shared.lock();
        state.ping.data.clear();
        state.ping.data.resize(size, 0);
        state.rounds_left = rounds;
        state.one_way = Timing::new();
        state.send(&self.writer);
        loop {
            let before = state.rounds_left;
            let waited = self
                .shared
                .finished
                .wait_timeout_while(state, PATIENCE, |state| state.rounds_left > 0);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.rounds_left == 0 {
                one_way.merge(&state.one_way);
                return Ok(());
            }
            if state.rounds_left == before {
                return Err(Failure::new(format_args!(
                    "no answer to a sample of {size} bytes within {PATIENCE:?}"
                )));
            }
        }
    }
}

impl Shared {
    fn answer(&self, writer: &DataWriter<Bytes>) {
        let mut state = self.lock();
        state.answers += 1;
        if state.answers < self.responders || state.rounds_left == 0 {
            return;
        }
        let round_trip = state.begin.elapsed();
        state.one_way.record(round_trip / 2);
        state.rounds_left -= 1;
        if state.rounds_left == 0 {
            self.finished.notify_all();
        } else {
            state.send(writer);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn send(&mut self, writer: &DataWriter<Bytes>) {
        self.answers = 0;
        self.begin = Instant::now();
        // Without it there is no answer, which is noticed.
        let _sequence_number = writer.write(&self.ping);
    }
}

const PATIENCE: Duration = Duration::from_secs(10);
