//! A topic of arrays that are written into loans and read where they have come.

use std::sync::{Arc, Mutex};

use lab_program::{Handler, Idle, Options, Peer, fill};
use tickwire::loan::{Element, SequenceInPlace, SequenceType};
use tickwire::{DataReader, DataWriter};
use zerocopy::IntoBytes;

use crate::content::Content;
use crate::inlet::Inlet;
use crate::session::{Session, deliver};
use crate::told;

/// Of samples `C`, which are one sequence of `E`.
pub(crate) struct Lent<C: Content, E: Element> {
    writer: DataWriter<C>,
    reader: DataReader<SequenceInPlace<E>>,
    outgoing: Mutex<Vec<u8>>,
    count: usize,
    session: Session,
}

impl<C: Content, E: Element> Lent<C, E> {
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        let session = Session::open(options)?;
        let participant = &session.participant;
        let (len, count) = (options.payload_len(), count(options));
        let qos = session.writer_qos().representation(C::REPRESENTATION);
        let qos = qos.max_loan_bytes(len).loan_count(count);
        let topic = participant.topic(&session.topic("array", true));
        let writer = participant.writer_with(&topic.map_err(told)?, qos);
        let ty = SequenceType::of::<C>().map_err(told)?;
        let topic = participant.topic_of(&session.topic("array", false), ty);
        let reader = participant.reader_with(&topic.map_err(told)?, session.reader_qos());
        Ok(Self {
            writer: writer.map_err(told)?,
            reader: reader.map_err(told)?,
            outgoing: Mutex::new(vec![0; len]),
            count,
            session,
        })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), String> {
        self.write_with(bytes.len(), |loan| loan.copy_from_slice(bytes))
    }

    fn write_with(&self, len: usize, fill: impl FnOnce(&mut [u8])) -> Result<(), String> {
        let loan = self.writer.loan_elements::<E>(len / size_of::<E>());
        let mut loan = loan.map_err(told)?;
        fill(loan.as_mut_bytes());
        loan.write().map(drop).map_err(told)
    }
}

impl<C: Content, E: Element> Peer for Lent<C, E> {
    type Message = [u8];

    fn meet(&self) -> Result<(), String> {
        self.session.meet(&self.writer, &self.reader)
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let mut outgoing = self.outgoing.lock().expect("no panic");
        let written = match self.session.reaches_by_memory() {
            // Who has no loans over a network fills what he sends, too.
            false => self.write_with(outgoing.len(), |loan| fill(loan, number, time)),
            true => {
                fill(&mut outgoing, number, time);
                self.write(&outgoing)
            }
        };
        self.session.flush_after(number);
        written
    }

    fn echo(&self, message: &[u8]) -> Result<(), String> {
        self.write(message)
    }

    fn run<H: Handler<[u8]>>(&self, idle: Idle, handler: H) -> H {
        let inlet = Arc::new(Inlet::new(handler));
        deliver(&self.reader, &inlet, |sample| sample.as_bytes());
        self.session.wait(idle, &inlet);
        self.reader.stop_taking();
        inlet.end()
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.session.settings();
        settings.push(("loan_count", self.count.to_string()));
        settings.push(("trusts_lenders", "true".into()));
        settings
    }
}

/// Loans of a writer: 64, fewer if that were more than 64 MB.
fn count(options: &Options) -> usize {
    (MEMORY / options.payload_len()).clamp(8, 64)
}

const MEMORY: usize = 64 << 20;
