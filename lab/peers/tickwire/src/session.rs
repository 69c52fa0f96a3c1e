//! The participant, its QoS, and how it is driven.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lab_program::{Handler, Idle, Job, Options, Responders, Wait, own_number};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Driving, Publisher,
    PublisherQos, SuspendedPublications, TopicSupport, Transport,
};

use crate::inlet::Inlet;
use crate::told;

thread_local! {
    static HELD: RefCell<Option<SuspendedPublications>> = const { RefCell::new(None) };
}

pub(crate) struct Session {
    pub(crate) participant: DomainParticipant,
    publisher: Publisher,
    options: Options,
}

impl Session {
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        let builder = DomainParticipant::builder(options.domain())
            .name("lab")
            .interface(&options.here.to_string())
            .shared_memory(reaches_by_memory(options))
            .trusts_lenders(true);
        let builder = match options.wait {
            Wait::Block => builder,
            Wait::Poll => builder.driving(Driving::Polled).busy_poll(LOOK),
        };
        let builder = match options.system.as_str() {
            "tickwire-tcp" => builder.transports([Transport::Tcp]).peer(options.there),
            _ => builder,
        };
        let participant = builder.build().map_err(told)?;
        Ok(Self {
            publisher: participant.publisher(PublisherQos::default()),
            participant,
            options: options.clone(),
        })
    }

    /// Whether others are reached by shared memory.
    pub(crate) fn reaches_by_memory(&self) -> bool {
        reaches_by_memory(&self.options)
    }

    /// The name of the topic that this side writes, or reads.
    pub(crate) fn topic(&self, name: &str, writes: bool) -> String {
        match self.options.job.is_passive() == writes {
            true => format!("{name} back"),
            false => format!("{name} there"),
        }
    }

    fn streams(&self) -> bool {
        matches!(self.options.job, Job::Send | Job::Receive)
    }

    /// Samples by which who does not answer may be behind those that do.
    fn depth(&self) -> Option<u32> {
        (self.options.responders == Responders::One).then_some(200)
    }

    pub(crate) fn writer_qos(&self) -> DataWriterQos {
        let qos = DataWriterQos::default();
        match (self.streams(), self.depth()) {
            (true, _) => qos.keep_all().reliable(PATIENCE),
            (false, Some(depth)) => qos.keep_last(depth),
            (false, None) => qos,
        }
    }

    pub(crate) fn reader_qos(&self) -> DataReaderQos {
        let qos = DataReaderQos::default().reliable();
        match self.streams() {
            true => qos.keep_all(),
            false => qos.keep_last(self.depth().unwrap_or(16)),
        }
    }

    /// Waits until all of the other side are matched.
    pub(crate) fn meet<W: TopicSupport, R: TopicSupport>(
        &self,
        writer: &DataWriter<W>,
        reader: &DataReader<R>,
    ) -> Result<(), String> {
        if self.options.job == Job::Receive && self.options.demand.is_none() {
            // Who sends waits until this hears, and may have ended before this learns of his reader.
            return Ok(());
        }
        let count = match self.options.job.is_passive() {
            true => self.options.publishers,
            false => self.options.subscribers,
        };
        writer
            .wait_for_matched(u32::from(count), PATIENCE)
            .map_err(told)?;
        reader
            .wait_for_matched(u32::from(count), PATIENCE)
            .map_err(told)
    }

    /// Lets messages come until the handler has enough or they stay away.
    pub(crate) fn wait<H>(&self, idle: Idle, inlet: &Inlet<H>) {
        match self.options.wait {
            Wait::Block => inlet.wait(idle),
            Wait::Poll => inlet.wait_by(idle, || {
                let _waits_no_longer = self.participant.poll(LOOK);
            }),
        }
    }

    /// Whether the participant has no threads.
    pub(crate) fn is_driven(&self) -> bool {
        matches!(self.options.wait, Wait::Poll)
    }

    /// Drives the participant until so it is; false if that takes too long.
    pub(crate) fn drive_until(&self, patience: Duration, is_so: impl Fn() -> bool) -> bool {
        let begin = Instant::now();
        while !is_so() {
            if begin.elapsed() > patience {
                return false;
            }
            let _waits_no_longer = self.participant.poll(LOOK);
        }
        true
    }

    /// As the pipeline has it, which keeps all samples.
    pub(crate) fn settings_of_all(&self) -> BTreeMap<String, String> {
        let driving = if self.is_driven() {
            "polled"
        } else {
            "threads"
        };
        let settings = [
            ("RELIABILITY", "RELIABLE"),
            ("HISTORY", "KEEP_ALL"),
            ("driving", driving),
        ];
        settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    pub(crate) fn is_batched(&self) -> bool {
        self.options.system.ends_with("-batched")
    }

    /// How many messages are written at a time, where that is more than one.
    pub(crate) fn at_once(&self) -> usize {
        match self.options.payload_len() {
            ..=MAX_JOINED_LEN => 64,
            _ => 1,
        }
    }

    /// Writes what ends with message `number`, by datagrams while the publications of this thread are suspended; resumes
    /// them after the last of a burst and of all.
    pub(crate) fn write_held<R>(&self, number: u64, write: impl FnOnce() -> R) -> R {
        if self.options.system == "tickwire-shm-batched" {
            return write();
        }
        HELD.with_borrow_mut(|held| {
            held.get_or_insert_with(|| self.publisher.suspend_publications());
            let written = write();
            if self.ends_burst(number) {
                held.take();
            }
            written
        })
    }

    /// Has what waits for company leave after the last of a burst and of all.
    pub(crate) fn flush_after(&self, number: u64) {
        if self.streams() && self.ends_burst(number) {
            self.publisher.flush();
        }
    }

    /// Whether nothing follows message `number` for now.
    pub(crate) fn ends_burst(&self, number: u64) -> bool {
        let next = own_number(number) + 1;
        let demand = self.options.demand;
        demand.is_some_and(|it| next.is_multiple_of(it)) || next == self.options.total()
    }

    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let history = match self.streams() {
            true => "KEEP_ALL",
            false => "KEEP_LAST",
        };
        let driving = match self.options.wait {
            Wait::Block => "threads",
            Wait::Poll => "polled, busy_poll",
        };
        let publications = match (self.is_batched(), self.at_once()) {
            (true, 1) => "suspended in bursts and streams".into(),
            (true, count) if self.options.system.starts_with("tickwire-udp") => {
                format!("suspended in bursts and streams, up to {count} written at once")
            }
            (true, count) => format!("up to {count} written at once"),
            (false, _) => "not suspended, flushed after bursts".into(),
        };
        vec![
            ("RELIABILITY", "RELIABLE".into()),
            ("HISTORY", history.into()),
            ("driving", driving.into()),
            ("publications", publications),
        ]
    }
}

fn reaches_by_memory(options: &Options) -> bool {
    options.system.starts_with("tickwire-shm")
}

/// Has a reader hand over what comes.
pub(crate) fn deliver<T: TopicSupport, M: ?Sized, H: Handler<M>>(
    reader: &DataReader<T>,
    inlet: &Arc<Inlet<H>>,
    as_message: impl Fn(&T) -> &M + Send + 'static,
) {
    let inlet = Arc::clone(inlet);
    reader.take_each(move |sample| {
        if let Some(data) = sample.data() {
            inlet.take(as_message(data));
        }
    });
}

/// How long the other side may take, and a write may wait for room.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// How long a polling process looks before it looks at the clock.
const LOOK: Duration = Duration::from_millis(100);
/// What samples of more bytes gain by being written together is not worth keeping them.
const MAX_JOINED_LEN: usize = 1 << 10;
