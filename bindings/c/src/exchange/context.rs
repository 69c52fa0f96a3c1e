//! A context: its exchanges and queues, as writers and readers of one topic. Each has a publisher or subscriber of its
//! own, whose PARTITION says what it is bound to.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use dds::error::{Timeout, WriteError};
use dds::status::MatchedStatus;
use dds::{
    BytesInPlace, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    DomainParticipantBuilder, Driving, HandedMemory, Publisher, SequenceNumber, StatusMask,
    Subscriber, Topic,
};
use tickwire_profiles::Profile;

use super::inbox::{Inbox, Message};
use super::names::{End, Names, Scope};
use super::{Patience, deleted, lock};
use crate::failure::{Code, Failure, Result};
use crate::types;

/// `tw_mq`.
pub(crate) struct Context {
    participant: DomainParticipant,
    topic: Topic<BytesInPlace>,
    profile: Profile,
    wiring: Mutex<Wiring>,
    /// By their numbers; a send looks there without a lock.
    exchanges: Box<[OnceLock<Exchange>]>,
    inbox: Inbox,
}

/// Who is bound to whom, and what has that announced.
struct Wiring {
    names: Names,
    publishers: Vec<Publisher>,
    subscribers: Vec<Subscriber>,
}

struct Exchange {
    writer: DataWriter<BytesInPlace>,
    found: Arc<Found>,
}

/// Whether there is a queue to send to.
#[derive(Default)]
struct Found {
    /// How often the last queue has left.
    lost: AtomicU64,
    /// 1 more than that, as it was before a queue was last waited for and found.
    seen: AtomicU64,
}

impl Context {
    pub(super) fn new(builder: DomainParticipantBuilder, profile: Profile) -> Result<Self> {
        let participant = builder
            .driving(Driving::Cooperative)
            .enabled(true)
            .autoenable_created_entities(true)
            .build()?;
        let ty = types::bytes(TYPE, "bytes", 0, types::FINAL)?;
        let topic = participant.topic_of(TOPIC, ty)?;
        let mut id = String::new();
        for byte in participant.guid().to_bytes() {
            // A string takes it all.
            let _ = write!(id, "{byte:02x}");
        }
        let wiring = Wiring {
            names: Names::new(&id),
            publishers: Vec::new(),
            subscribers: Vec::new(),
        };
        Ok(Self {
            participant,
            topic,
            profile,
            wiring: Mutex::new(wiring),
            exchanges: std::iter::repeat_with(OnceLock::new).take(MOST).collect(),
            inbox: Inbox::default(),
        })
    }

    /// Makes an exchange or a queue, which is bound to what was said before it was there; its number.
    pub(super) fn create(&self, end: End, name: &str, scope: Scope) -> Result<u32> {
        let mut wiring = lock(&self.wiring);
        let known = match end {
            End::Exchange => wiring.publishers.len(),
            End::Queue => wiring.subscribers.len(),
        };
        if known >= MOST {
            let message = format!("a context has at most {MOST} of each; make another context");
            return Err(Failure::new(Code::OUT_OF_RESOURCES, message));
        }
        wiring.names.add(end, name, scope)?;
        let partitions = wiring.names.partitions(end).last().unwrap_or_default();
        let made = wiring.announce().and_then(|()| match end {
            End::Exchange => self.make_exchange(&mut wiring, partitions),
            End::Queue => self.make_queue(&mut wiring, partitions),
        });
        if let Err(failure) = made {
            wiring.names.remove_last(end);
            // As it was before.
            let _ = wiring.announce();
            return Err(failure);
        }
        Ok(u32::try_from(known).unwrap_or(u32::MAX))
    }

    fn make_exchange(&self, wiring: &mut Wiring, partitions: Vec<String>) -> Result<()> {
        let qos = self.profile.adjust_publisher(Default::default(), TOPIC);
        let qos = qos.partition(partitions).autoenable_created_entities(true);
        let publisher = self.participant.publisher(qos);
        let writer = publisher.writer(&self.topic, self.writer_qos())?;
        let found = Arc::new(Found::default());
        let watching = Arc::clone(&found);
        let watch = move |_: &DataWriter<BytesInPlace>, status: MatchedStatus| {
            if status.current_count == 0 {
                watching.lost.fetch_add(1, Ordering::AcqRel);
            }
        };
        writer.set_listener_for(StatusMask::PUBLICATION_MATCHED, watch);
        if let Some(place) = self.exchanges.get(wiring.publishers.len()) {
            place.get_or_init(|| Exchange { writer, found });
        }
        wiring.publishers.push(publisher);
        Ok(())
    }

    fn make_queue(&self, wiring: &mut Wiring, partitions: Vec<String>) -> Result<()> {
        let qos = self.profile.adjust_subscriber(Default::default(), TOPIC);
        let qos = qos.partition(partitions).autoenable_created_entities(true);
        let subscriber = self.participant.subscriber(qos);
        let reader = subscriber.reader(&self.topic, self.reader_qos())?;
        self.inbox.add(reader);
        wiring.subscribers.push(subscriber);
        Ok(())
    }

    /// A write that finds no room returns soon, lest nobody can end a send.
    fn writer_qos(&self) -> DataWriterQos {
        self.profile.writer(TOPIC).reliable(BLOCKING).keep_all()
    }

    /// A queue holds its exchanges up when it is full.
    fn reader_qos(&self) -> DataReaderQos {
        let qos = self.profile.reader(TOPIC).reliable().keep_all();
        qos.with(|policies| {
            let limit = &mut policies.resource_limits.max_samples;
            limit.get_or_insert(MAX_MESSAGES);
        })
    }

    /// Binds an exchange to a queue, of which one is here.
    pub(super) fn bind(&self, exchange: &str, queue: &str) -> Result<()> {
        let mut wiring = lock(&self.wiring);
        if !wiring.names.bind(exchange, queue)? {
            return Ok(());
        }
        let announced = wiring.announce();
        if announced.is_err() {
            wiring.names.unbind_last();
            // As it was before.
            let _ = wiring.announce();
        }
        announced
    }

    /// Sends a message to all queues that are bound, and waits for the first of them, and for room.
    pub(super) fn send(&self, exchange: u32, bytes: &[u8], timeout: Duration) -> Result<()> {
        self.send_by(exchange, timeout, |writer| writer.write_bytes(bytes))
    }

    /// The same of one in memory that is handed over.
    pub(super) fn send_handed(
        &self,
        exchange: u32,
        memory: &HandedMemory,
        timeout: Duration,
    ) -> Result<()> {
        self.send_by(exchange, timeout, |writer| {
            writer.write_handed(memory, None)
        })
    }

    #[inline]
    fn send_by(
        &self,
        exchange: u32,
        timeout: Duration,
        write: impl Fn(&DataWriter<BytesInPlace>) -> std::result::Result<SequenceNumber, WriteError>,
    ) -> Result<()> {
        let exchange = self.exchange(exchange)?;
        let mut patience = Patience::new(timeout);
        loop {
            if !exchange.found.is_one() {
                self.find(exchange, 1, &mut patience)?;
            }
            match write(&exchange.writer) {
                Ok(_) => return Ok(()),
                Err(WriteError::Timeout { .. }) => self.go_on(&mut patience, FULL)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn wait_for_bound(
        &self,
        exchange: u32,
        count: u32,
        timeout: Duration,
    ) -> Result<()> {
        let exchange = self.exchange(exchange)?;
        self.find(exchange, count, &mut Patience::new(timeout))
    }

    pub(super) fn wait_for_acknowledgments(&self, timeout: Duration) -> Result<()> {
        let mut patience = Patience::new(timeout);
        let exchanges = self.exchanges.iter().map_while(OnceLock::get);
        for exchange in exchanges {
            let waited = exchange.writer.wait_for_acknowledgments(patience.left());
            self.waited(waited, FULL)?;
        }
        Ok(())
    }

    /// The next message of any queue.
    pub(super) fn receive(&self, timeout: Duration) -> Result<Message> {
        self.inbox.receive(&self.participant, timeout)
    }

    /// The context is deleted: who waits does so no more.
    pub(crate) fn close(&self) {
        self.inbox.close();
        self.participant.end_waits();
        for exchange in self.exchanges.iter().map_while(OnceLock::get) {
            exchange.writer.end_waits();
        }
    }

    fn exchange(&self, number: u32) -> Result<&Exchange> {
        let place = usize::try_from(number).ok();
        let place = place.and_then(|place| self.exchanges.get(place));
        place.and_then(OnceLock::get).ok_or_else(|| {
            let message = format!("the context has no exchange {number}");
            Failure::new(Code::NOT_FOUND, message)
        })
    }

    fn find(&self, exchange: &Exchange, count: u32, patience: &mut Patience) -> Result<()> {
        let lost = exchange.found.lost.load(Ordering::Acquire);
        let waited = exchange.writer.wait_for_matched(count, patience.left());
        self.waited(waited, UNBOUND)?;
        if count > 0 {
            exchange.found.seen.store(lost + 1, Ordering::Release);
        }
        Ok(())
    }

    /// What has become of a wait, which ends early when the context is deleted.
    fn waited(&self, waited: std::result::Result<(), Timeout>, why_not: &str) -> Result<()> {
        waited.map_err(|_| match self.inbox.is_closed() {
            true => deleted(),
            false => Failure::new(Code::TIMEOUT, why_not),
        })
    }

    fn go_on(&self, patience: &mut Patience, why_not: &str) -> Result<()> {
        match patience.left() {
            _ if self.inbox.is_closed() => Err(deleted()),
            Duration::ZERO => Err(Failure::new(Code::TIMEOUT, why_not)),
            _ => Ok(()),
        }
    }
}

impl Found {
    /// Whether one was found, and one has been there since.
    #[inline]
    fn is_one(&self) -> bool {
        self.seen.load(Ordering::Acquire) == self.lost.load(Ordering::Acquire) + 1
    }
}

impl Wiring {
    /// Announces what has changed.
    fn announce(&self) -> Result<()> {
        let exchanges = self.names.partitions(End::Exchange);
        for (publisher, partitions) in self.publishers.iter().zip(exchanges) {
            let before = publisher.qos();
            let now = before.clone().partition(partitions);
            if now != before {
                publisher.set_qos(now)?;
            }
        }
        let queues = self.names.partitions(End::Queue);
        for (subscriber, partitions) in self.subscribers.iter().zip(queues) {
            let before = subscriber.qos();
            let now = before.clone().partition(partitions);
            if now != before {
                subscriber.set_qos(now)?;
            }
        }
        Ok(())
    }
}

/// What messages are, to all other participants.
const TOPIC: &str = "tickwire/messages";
const TYPE: &str = "tickwire::Message";
/// Exchanges of a context, and queues.
const MOST: usize = 1024;
/// Messages that a queue has room for, unless its QoS says otherwise.
const MAX_MESSAGES: u32 = 10_000;
/// After this long, who waits for room looks whether the context is still there.
const BLOCKING: Duration = Duration::from_millis(10);
const UNBOUND: &str =
    "no queue is bound to the exchange, or not as many; bind one, or start the program that has it";
const FULL: &str = "a queue that is bound to the exchange is full: its program receives too slowly";
