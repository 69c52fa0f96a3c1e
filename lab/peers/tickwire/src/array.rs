//! A topic of arrays.

use std::sync::{Arc, Mutex};

use lab_program::{Handler, Idle, Options, Peer};
use tickwire::{DataReader, DataWriter};

use crate::content::Content;
use crate::inlet::Inlet;
use crate::session::{Session, deliver};
use crate::told;

pub(crate) struct Array<C: Content> {
    writer: DataWriter<C>,
    reader: DataReader<C>,
    outgoing: Mutex<Outgoing<C>>,
    session: Session,
}

struct Outgoing<C> {
    scratch: Vec<u8>,
    /// The first are to be written.
    samples: Vec<C>,
    count: usize,
}

impl<C: Content> Array<C> {
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        let session = Session::open(options)?;
        let participant = &session.participant;
        let topic = |writes| {
            participant
                .topic::<C>(&session.topic("array", writes))
                .map_err(told)
        };
        let qos = session.writer_qos().representation(C::REPRESENTATION);
        let writer = participant.writer_with(&topic(true)?, qos).map_err(told)?;
        let reader = participant
            .reader_with(&topic(false)?, session.reader_qos())
            .map_err(told)?;
        Ok(Self {
            writer,
            reader,
            outgoing: Mutex::new(Outgoing {
                scratch: vec![0; options.payload_len()],
                samples: vec![C::default()],
                count: 0,
            }),
            session,
        })
    }
}

impl<C: Content> Peer for Array<C> {
    type Message = C;

    fn meet(&self) -> Result<(), String> {
        self.session.meet(&self.writer, &self.reader)
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let mut outgoing = self.outgoing.lock().expect("no panic");
        let Outgoing {
            scratch,
            samples,
            count,
        } = &mut *outgoing;
        if *count == samples.len() {
            samples.push(C::default());
        }
        samples[*count].fill(number, time, scratch);
        if !self.session.is_batched() {
            let written = self.writer.write(&samples[0]);
            self.session.flush_after(number);
            return written.map(drop).map_err(told);
        }
        *count += 1;
        if *count < self.session.at_once() && !self.session.ends_burst(number) {
            return Ok(());
        }
        let whole = &samples[..std::mem::take(count)];
        let write = || self.writer.write_all(whole);
        self.session.write_held(number, write).map_err(told)
    }

    fn echo(&self, message: &C) -> Result<(), String> {
        self.writer.write(message).map(drop).map_err(told)
    }

    fn run<H: Handler<C>>(&self, idle: Idle, handler: H) -> H {
        let inlet = Arc::new(Inlet::new(handler));
        deliver(&self.reader, &inlet, |sample| sample);
        self.session.wait(idle, &inlet);
        self.reader.stop_taking();
        inlet.end()
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        self.session.settings()
    }
}
