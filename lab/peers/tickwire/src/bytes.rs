//! A topic of bytes.

use std::sync::{Arc, Mutex};

use lab_program::{Handler, Idle, Message, Options, Peer, fill};
use tickwire::{DataReader, DataWriter, Topic};

use crate::inlet::Inlet;
use crate::session::{Session, deliver};
use crate::told;

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "lab::Bytes", final)]
pub(crate) struct Payload {
    data: Vec<u8>,
}

pub(crate) struct Bytes {
    writer: DataWriter<Payload>,
    reader: DataReader<Payload>,
    outgoing: Mutex<Payload>,
    session: Session,
}

impl Bytes {
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        let session = Session::open(options)?;
        let participant = &session.participant;
        let topic = |writes| {
            participant
                .topic::<Payload>(&session.topic("bytes", writes))
                .map_err(told)
        };
        let writer = participant
            .writer_with(&topic(true)?, session.writer_qos())
            .map_err(told)?;
        let reader = participant
            .reader_with(&topic(false)?, session.reader_qos())
            .map_err(told)?;
        Ok(Self {
            writer,
            reader,
            outgoing: Mutex::new(Payload {
                data: vec![0; options.len()],
            }),
            session,
        })
    }
}

impl Peer for Bytes {
    type Message = Payload;

    fn meet(&self) -> Result<(), String> {
        self.session.meet(&self.writer, &self.reader)
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let mut outgoing = self.outgoing.lock().expect("no panic");
        fill(&mut outgoing.data, number, time);
        self.writer.write(&outgoing).map(drop).map_err(told)
    }

    fn echo(&self, message: &Payload) -> Result<(), String> {
        self.writer.write(message).map(drop).map_err(told)
    }

    fn run<H: Handler<Payload>>(&self, idle: Idle, handler: H) -> H {
        let inlet = Arc::new(Inlet::new(handler));
        let taking = Arc::clone(&inlet);
        self.reader
            .set_listener(move |reader: &DataReader<Payload>| {
                deliver(reader, &taking, |payload| payload)
            });
        self.session.wait(idle, &inlet);
        self.reader.remove_listener();
        inlet.into_handler()
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        self.session.settings()
    }
}

impl Message for Payload {
    fn number(&self, expected: u64) -> u64 {
        self.data.number(expected)
    }

    fn time(&self) -> Option<u64> {
        self.data.time()
    }

    fn is_intact(&self, number: u64) -> bool {
        self.data.is_intact(number)
    }
}
