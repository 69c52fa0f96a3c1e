//! Receiving: from the kernel's datagrams to the machines that they are for.
//!
//! The control lane takes discovery and what is addressed to writers, the data lane what is
//! addressed to readers; the control lane calls no listeners. Every lane understands everything,
//! since peers may send to any of our addresses.
//!
//! A thread of the data lane has nothing else to wait for than one socket, and so sleeps in the
//! call that receives. What readers need besides is done aside, by another thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::MAX_GATHERED_LEN;
use tickwire_rtps::wire::{Arrival, Context, EntityId, Guid, MessageReader, Submessage};
use tickwire_transport::{Poller, ReceiveBatch, ReceiveError, UdpSocket};

use crate::clock;
use crate::core::Core;
use crate::reader::endpoint::{ReaderEndpoint, Received};
use crate::routes::{RouteCache, Routes};
use crate::timer::Timer;

/// Which part of a participant's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneKind {
    /// Discovery and writers.
    Control,
    /// Readers and listeners. A thread leaves all but the unicast socket to [`Aside`](Self::Aside).
    Data,
    /// Of readers and listeners what a thread of `Data` leaves: the group's socket, timers, and
    /// listeners that are told of something else than data.
    Aside,
}

impl LaneKind {
    pub(crate) fn sockets(self, core: &Core) -> impl Iterator<Item = &UdpSocket> {
        let network = &core.network;
        let (unicast, group) = match self {
            Self::Control => (Some(&network.metatraffic), &network.metatraffic_group),
            Self::Data => (Some(&network.user), &network.user_group),
            Self::Aside => (None, &network.user_group),
        };
        unicast.into_iter().chain(group)
    }

    /// Has `poller` wait for all that is this part's.
    pub(crate) fn poll<'a>(self, core: &'a Core, poller: Poller<'a>) -> Poller<'a> {
        let poller = poller.sockets(self.sockets(core));
        match &core.network.watch {
            Some(watch) if self == Self::Control => poller.watch(watch),
            _ => poller,
        }
    }

    /// How many places that takes in the poller.
    pub(crate) fn poll_count(self, core: &Core) -> usize {
        let watches = self == Self::Control && core.network.watch.is_some();
        self.sockets(core).count() + usize::from(watches)
    }

    pub(crate) fn timer(self, core: &Core) -> &Timer {
        match self {
            Self::Control => &core.control,
            Self::Data | Self::Aside => &core.data,
        }
    }
}

/// The memory with which one thread at a time does one part of the work.
pub(crate) struct Lane {
    kind: LaneKind,
    batch: ReceiveBatch,
    routes: RouteCache,
    outbox: Outbox,
    to_tell: Vec<Arc<dyn ReaderEndpoint>>,
}

impl Lane {
    pub(crate) fn new(kind: LaneKind) -> Self {
        Self {
            kind,
            batch: ReceiveBatch::new(),
            routes: RouteCache::default(),
            outbox: Outbox::new(),
            to_tell: Vec::new(),
        }
    }

    /// Works until the participant ends.
    pub(crate) fn run(&mut self, core: &Core) {
        match self.kind {
            LaneKind::Control => self.run_poller(core, core.busy_poll),
            LaneKind::Data => self.run_unicast(core),
            LaneKind::Aside => self.run_poller(core, Duration::ZERO),
        }
    }

    /// Takes what comes to the unicast socket, one system call a batch.
    fn run_unicast(&mut self, core: &Core) {
        let mut spin_until = Instant::ZERO;
        while !core.is_stopping.load(Ordering::Acquire) {
            let spins = !core.busy_poll.is_zero() && clock::now() < spin_until;
            let wait = match spins {
                true => ReceiveBatch::receive,
                false => ReceiveBatch::wait,
            };
            let now = self.receive(core, &core.network.user, wait);
            if let Some(now) = now {
                spin_until = now + core.busy_poll;
            }
        }
    }

    /// Waits for sockets and timers together.
    fn run_poller(&mut self, core: &Core, busy_poll: Duration) {
        let timer = self.kind.timer(core);
        let poller = self.kind.poll(core, Poller::for_waker(timer.waker()));
        let mut poller = poller.busy_poll(busy_poll);
        while !core.is_stopping.load(Ordering::Acquire) {
            let mut until = timer.sleep();
            if self.kind != LaneKind::Control && core.has_listeners_to_call() {
                until = Instant::ZERO;
            }
            let ready = poller.wait(Some(until).filter(|&until| until != Instant::MAX));
            timer.awake();
            match ready {
                Ok(ready) => self.turn(core, |index| ready.socket(index)),
                Err(_) => core.counters.receive_errors.add(1),
            }
        }
    }

    /// Lets go of the endpoints that it remembers.
    pub(crate) fn forget(&mut self) {
        self.routes = RouteCache::default();
    }

    /// Takes what waits on the sockets that `is_ready`, and does what time demands.
    pub(crate) fn turn(&mut self, core: &Core, is_ready: impl Fn(usize) -> bool) {
        for (index, socket) in self.kind.sockets(core).enumerate() {
            if is_ready(index) {
                self.receive_all(core, socket);
            }
        }
        if self.kind == LaneKind::Control && is_ready(self.kind.sockets(core).count()) {
            core.follow_interfaces();
        }
        let now = clock::now();
        if self.kind.timer(core).expired(now) {
            let routes = self.routes.refresh(&core.directory);
            match self.kind {
                LaneKind::Control => core.handle_control_timeout(now, routes, &mut self.outbox),
                _ => core.handle_data_timeout(now, routes, &mut self.outbox),
            }
        }
        if self.kind != LaneKind::Control {
            core.call_listeners(self.routes.refresh(&core.directory));
        }
    }

    /// Takes what waits on a socket, a few batches at most: timers would have us ask again for what
    /// is here already.
    fn receive_all(&mut self, core: &Core, socket: &UdpSocket) {
        for _ in 0..MAX_BATCHES {
            let came = self.receive(core, socket, ReceiveBatch::receive);
            if came.is_none() || !self.batch.is_full() {
                break;
            }
        }
        if self.kind == LaneKind::Control {
            // Many may have spoken, several times each.
            self.outbox.gather(MAX_GATHERED_LEN);
            core.send_unsent();
            core.send_metatraffic(&mut self.outbox);
        }
    }

    /// Takes one batch of datagrams. Says when they came, if any did. The control lane's answers are
    /// left to be sent.
    fn receive(&mut self, core: &Core, socket: &UdpSocket, receive: Receive) -> Option<Instant> {
        match receive(&mut self.batch, socket) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(_) => {
                core.counters.receive_errors.add(1);
                return None;
            }
        }
        let by_multicast = socket.local_address().ip().is_multicast();
        let (now, timestamp) = (clock::now(), clock::timestamp());
        let calls_listeners = self.kind != LaneKind::Control;
        let mut discovered = Discovered::Nothing;
        for datagram in self.batch.iter() {
            let routes = self.routes.refresh(&core.directory);
            let mut dispatch = Dispatch {
                core,
                routes,
                now,
                timestamp,
                outbox: &mut self.outbox,
                calls_listeners,
                discovered: &mut discovered,
                to_tell: &mut self.to_tell,
            };
            dispatch.datagram(
                datagram.bytes,
                Arrival {
                    from: datagram.source.ip(),
                    by_multicast,
                },
            );
            if calls_listeners {
                dispatch.end_discovery();
                // Answers leave before a listener may take its time.
                core.send_user(&mut self.outbox);
            }
            for reader in self.to_tell.drain(..) {
                reader.call_listener();
            }
        }
        core.end_discovery(discovered, &mut self.outbox);
        Some(now)
    }
}

/// Batches that one socket may fill before it is the next one's turn, and then the timers'.
const MAX_BATCHES: u32 = 8;

/// Fills the batch from a socket, and waits for that or not.
type Receive = fn(&mut ReceiveBatch, &UdpSocket) -> Result<usize, ReceiveError>;

/// What it takes to hand on the submessages of a datagram.
struct Dispatch<'a> {
    core: &'a Core,
    routes: &'a Routes,
    now: Instant,
    timestamp: Timestamp,
    outbox: &'a mut Outbox,
    calls_listeners: bool,
    /// What discovery has had that has not taken effect.
    discovered: &'a mut Discovered,
    /// Readers whose listeners are called once the whole datagram has been delivered.
    to_tell: &'a mut Vec<Arc<dyn ReaderEndpoint>>,
}

/// What has come for discovery so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Discovered {
    Nothing,
    /// Heartbeats and acknowledgements.
    Chatter,
    /// Something that others may wait for.
    News,
}

impl Dispatch<'_> {
    /// Hands on what a datagram holds. Answers are left to be sent together, so that those to one
    /// participant share a datagram.
    fn datagram(&mut self, bytes: &[u8], arrival: Arrival) {
        let counters = &self.core.counters;
        counters.datagrams_received.add(1);
        counters.bytes_received.add(bytes.len() as u64);
        let Ok(submessages) = MessageReader::new(bytes) else {
            return counters.malformed.add(1);
        };
        let mut submessages = submessages.arrived(arrival);
        for submessage in submessages.by_ref() {
            match submessage {
                Ok((context, submessage)) if context.is_for(self.core.prefix) => {
                    self.submessage(&context, &submessage);
                }
                Ok(_) => {}
                Err(_) => counters.malformed.add(1),
            }
        }
        if submessages.skipped() > 0 {
            counters
                .unknown_submessages
                .add(u64::from(submessages.skipped()));
        }
    }

    fn submessage(&mut self, context: &Context<'_>, submessage: &Submessage<'_>) {
        let (writer, to_reader) = match submessage {
            Submessage::Data(data) => (data.writer, Some(data.reader)),
            Submessage::DataFrag(data) => (data.writer, Some(data.reader)),
            Submessage::Heartbeat(heartbeat) => (heartbeat.writer, Some(heartbeat.reader)),
            Submessage::HeartbeatFrag(heartbeat) => (heartbeat.writer, Some(heartbeat.reader)),
            Submessage::Gap(gap) => (gap.writer, Some(gap.reader)),
            Submessage::AckNack(acknack) => (acknack.writer, None),
            Submessage::NackFrag(nack) => (nack.writer, None),
            _ => return,
        };
        if writer.is_builtin() {
            return self.hand_to_discovery(context, submessage);
        }
        self.end_discovery();
        match to_reader {
            Some(reader) => {
                self.hand_to_readers(context.source(writer), reader, context, submessage)
            }
            None => self.hand_to_writer(writer, context, submessage),
        }
    }

    fn hand_to_discovery(&mut self, context: &Context<'_>, submessage: &Submessage<'_>) {
        if context.source_prefix == self.core.prefix {
            return;
        }
        self.core
            .handle_discovery(self.now, context, submessage, self.outbox);
        match submessage {
            Submessage::Data(_) | Submessage::DataFrag(_) => *self.discovered = Discovered::News,
            _ if *self.discovered == Discovered::Nothing => *self.discovered = Discovered::Chatter,
            _ => {}
        }
    }

    /// What discovery has heard takes effect, once for all of it.
    fn end_discovery(&mut self) {
        let discovered = std::mem::replace(self.discovered, Discovered::Nothing);
        self.core.end_discovery(discovered, self.outbox);
    }

    fn hand_to_readers(
        &mut self,
        writer: Guid,
        reader: EntityId,
        context: &Context<'_>,
        submessage: &Submessage<'_>,
    ) {
        let readers = self.routes.readers_of(reader, writer);
        if readers.is_empty() {
            return self.core.counters.unrouted.add(1);
        }
        let received = Received {
            now: self.now,
            timestamp: self.timestamp,
            context,
            submessage,
        };
        for reader in readers {
            let has_news = reader.receive(&received, self.outbox);
            if has_news && self.calls_listeners && !reader.keeps_all() {
                // Answers leave before a listener may take its time.
                self.core.send_user(self.outbox);
            }
            match has_news {
                false => {}
                true if !self.calls_listeners => {
                    self.core.call_listener_later(reader.guid().entity);
                }
                true if reader.keeps_all() => self.tell_later(reader),
                true => reader.call_listener(),
            }
        }
        if let Some(sign) = self.routes.leased.get(&writer)
            && sign.receive(self.now, submessage)
        {
            self.core.on_discovery(self.outbox, |discovery, _| {
                discovery.writer_heard(self.now, writer);
                sign.end_silence();
            });
        }
    }

    fn tell_later(&mut self, reader: &Arc<dyn ReaderEndpoint>) {
        let last = self.to_tell.last();
        if last.is_none_or(|last| last.guid() != reader.guid()) {
            self.to_tell.push(Arc::clone(reader));
        }
    }

    fn hand_to_writer(
        &mut self,
        writer: EntityId,
        context: &Context<'_>,
        submessage: &Submessage<'_>,
    ) {
        match self.routes.writers.get(&writer) {
            Some(writer) => {
                writer.receive(self.now, context, submessage, self.outbox);
            }
            None => self.core.counters.unrouted.add(1),
        }
    }
}
