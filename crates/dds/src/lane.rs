//! Receiving: from the kernel's datagrams to the machines that they are for.
//!
//! The control lane takes discovery and what is addressed to writers, the data lane what is
//! addressed to readers; the control lane calls no listeners. Every lane understands everything,
//! since peers may send to any of our addresses.
//!
//! A thread of the data lane has nothing else to wait for than one socket, and so sleeps in the
//! call that receives. What readers need besides is done aside, by another thread, and what comes by TCP
//! is delivered by one more, which sleeps until a connection for samples has something to read. The
//! connections for discovery and acknowledgements are the control lane's. What comes by [shared memory](logs)
//! is delivered by one more, too.

mod logs;
mod messages;
mod plain;

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tickwire_base::{Channel, Instant, Timestamp};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::MAX_GATHERED_LEN;
use tickwire_rtps::wire::{
    Arrival, Context, Data, EntityId, Guid, Malformed, SequenceNumber, Submessage,
};
use tickwire_transport::shm::{Copied, MAX_NOTES};
use tickwire_transport::tcp::{self, TcpNet, TcpReceiver};
use tickwire_transport::{
    InterfaceWatch, Poller, ReceiveBatch, ReceiveError, UdpSocket, WaitError,
};

use crate::clock;
use crate::core::Core;
use crate::loan::Holdable;
use crate::reader::endpoint::{ReaderEndpoint, Run};
use crate::routes::{RouteCache, Routes};
use crate::shm::SharedMemory;
use crate::status::StatusMask;
use crate::timer::Timer;
use logs::Logs;
pub(crate) use messages::Messages;
pub(crate) use plain::PlainSamples;

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
    /// Of readers and listeners what comes by TCP. Only threads leave that to it.
    Streams,
    /// Of readers and listeners what comes by logs. Only threads leave that to it.
    Logs,
}

impl LaneKind {
    pub(crate) fn sockets(self, core: &Core) -> impl Iterator<Item = &UdpSocket> {
        let network = &core.network;
        let (unicast, group) = match self {
            Self::Control => (&network.metatraffic, &network.metatraffic_group),
            Self::Data => (&network.user, &network.user_group),
            Self::Aside => (&None, &network.user_group),
            Self::Streams | Self::Logs => (&None, &None),
        };
        unicast.iter().chain(group)
    }

    /// Has `poller` wait for all that is this part's.
    pub(crate) fn poll<'a>(self, core: &'a Core, poller: Poller<'a>) -> Poller<'a> {
        let mut poller = poller.sockets(self.sockets(core));
        if let Some(watch) = self.watch(core) {
            poller = poller.watch(watch);
        }
        if let Some((tcp, channel)) = self.streams(core) {
            poller = poller.connections(tcp, channel);
        }
        match self.shared_memory(core) {
            Some(descriptor) => poller.descriptor(descriptor),
            None => poller,
        }
    }

    /// How many places that takes in the poller.
    pub(crate) fn poll_count(self, core: &Core) -> usize {
        self.shared_memory_place(core) + usize::from(self.shared_memory(core).is_some())
    }

    /// The place of connections in the poller.
    fn streams_place(self, core: &Core) -> usize {
        self.sockets(core).count() + usize::from(self.watch(core).is_some())
    }

    fn watch(self, core: &Core) -> Option<&InterfaceWatch> {
        let watch = core.network.watch.as_ref();
        watch.filter(|_| self == Self::Control)
    }

    /// The connections that it waits for together with sockets.
    fn streams(self, core: &Core) -> Option<(&TcpNet, Channel)> {
        let channel = match self {
            Self::Control => Channel::Control,
            Self::Data => Channel::Data,
            Self::Aside | Self::Streams | Self::Logs => return None,
        };
        Some((core.network.tcp.as_ref()?, channel))
    }

    /// What becomes readable when there is news of shared memory.
    fn shared_memory(self, core: &Core) -> Option<BorrowedFd<'_>> {
        let shm = core.shm.as_ref()?;
        match self {
            Self::Control => Some(shm.meeting_fd().as_fd()),
            Self::Data => Some(shm.ear.as_fd()),
            Self::Aside | Self::Streams | Self::Logs => None,
        }
    }

    /// The place of that in the poller.
    fn shared_memory_place(self, core: &Core) -> usize {
        self.streams_place(core) + usize::from(self.streams(core).is_some())
    }

    pub(crate) fn timer(self, core: &Core) -> &Timer {
        match self {
            Self::Control => &core.control,
            Self::Data | Self::Aside | Self::Streams | Self::Logs => &core.data,
        }
    }

    /// Whether there is something to do without anything being ready.
    pub(crate) fn is_due(self, core: &Core, now: Instant) -> bool {
        let is_due = self.timer(core).is_due(now);
        match self {
            Self::Control => {
                let has_wants = core.shm.as_ref().is_some_and(SharedMemory::has_wants);
                is_due || has_wants || core.pending.look_at() <= now
            }
            Self::Data | Self::Aside | Self::Streams | Self::Logs => is_due,
        }
    }

    /// Announces to the timer that this part goes to sleep; says until when it may.
    pub(crate) fn sleep(self, core: &Core) -> Instant {
        let until = self.timer(core).sleep();
        match self {
            Self::Control => until.min(core.pending.look_at()),
            Self::Data | Self::Aside | Self::Streams | Self::Logs => until,
        }
    }
}

/// The memory with which one thread at a time does one part of the work.
pub(crate) struct Lane {
    kind: LaneKind,
    batch: ReceiveBatch,
    /// Once something may come by TCP.
    streams: Option<TcpReceiver>,
    logs: Logs,
    work: Work,
    /// How often [`look`](Self::look) has found something since other sockets were asked, and when it did last.
    found_count: u32,
    found_at: Instant,
    /// When other sockets than that were asked last.
    asked_others_at: Instant,
    /// Whether one has found something since the last turn, for which the sockets were not asked then.
    has_looked: bool,
    /// How often connections were asked for a [barrier](crate::barrier) that they have not passed.
    asked_streams: u32,
}

/// What it takes to deliver.
struct Work {
    kind: LaneKind,
    routes: RouteCache,
    outbox: Outbox,
    to_tell: Vec<(Arc<dyn ReaderEndpoint>, StatusMask)>,
    /// What readers have of the writer that has lent them something.
    said: Vec<(EntityId, SequenceNumber)>,
    /// Whether a writer has heard what somebody may wait for.
    has_heard: bool,
}

impl Lane {
    pub(crate) fn new(kind: LaneKind) -> Self {
        Self {
            kind,
            batch: ReceiveBatch::new(),
            streams: None,
            logs: Logs::default(),
            work: Work {
                kind,
                routes: RouteCache::default(),
                outbox: Outbox::new(),
                to_tell: Vec::new(),
                said: Vec::new(),
                has_heard: false,
            },
            found_count: 0,
            found_at: Instant::ZERO,
            asked_others_at: Instant::ZERO,
            has_looked: false,
            asked_streams: 0,
        }
    }

    /// Works until the participant ends, as a thread that nobody takes turns with.
    pub(crate) fn run(&mut self, core: &Core) {
        match self.kind {
            // Threads take turns at it.
            LaneKind::Control => {}
            LaneKind::Data => self.run_unicast(core),
            LaneKind::Aside => self.run_aside(core),
            LaneKind::Streams => self.run_streams(core),
            LaneKind::Logs => self.run_logs(core),
        }
    }

    /// Takes what comes to the unicast socket, one system call a batch, or a datagram where they come alone.
    fn run_unicast(&mut self, core: &Core) {
        let Some(user) = &core.network.user else {
            return;
        };
        let mut spin_until = Instant::ZERO;
        while !core.is_stopping.load(Ordering::Acquire) {
            let spins = !core.busy_poll.is_zero() && clock::now() < spin_until;
            let wait = match spins {
                true => ReceiveBatch::receive_next,
                false => ReceiveBatch::wait,
            };
            let now = self.receive(core, user, wait);
            if let Some(now) = now {
                spin_until = now + core.busy_poll;
            }
        }
    }

    /// Takes what comes by TCP.
    fn run_streams(&mut self, core: &Core) {
        let Some(tcp) = &core.network.tcp else {
            return;
        };
        let mut spin_until = Instant::ZERO;
        while !core.is_stopping.load(Ordering::Acquire) {
            let spins = !core.busy_poll.is_zero() && clock::now() < spin_until;
            let wait = match spins {
                true => TcpReceiver::look,
                false => TcpReceiver::wait,
            };
            if let Some(now) = self.receive_streams(core, tcp, wait) {
                spin_until = now + core.busy_poll;
            }
        }
    }

    /// Waits for the group's socket and timers together.
    fn run_aside(&mut self, core: &Core) {
        let timer = self.kind.timer(core);
        let mut poller = self.kind.poll(core, Poller::for_waker(timer.waker()));
        while !core.is_stopping.load(Ordering::Acquire) {
            let mut until = self.kind.sleep(core);
            if core.has_listeners_to_call() {
                until = Instant::ZERO;
            }
            if core.barrier.wanted_of_group().is_some() {
                until = Instant::ZERO;
            }
            let ready = poller.wait(Some(until).filter(|&until| until != Instant::MAX));
            timer.awake();
            match ready {
                Ok(ready) => self.turn(core, None, |index| ready.socket(index)),
                Err(_) => core.counters.receive_errors.add(1),
            }
        }
    }

    /// Lets go of the endpoints that it remembers.
    pub(crate) fn forget(&mut self) {
        self.work.routes = RouteCache::default();
        self.logs = Logs::default();
    }

    /// Takes what waits on the sockets that `is_ready`, and does what time demands: at `now`, if the clock has just been
    /// read.
    pub(crate) fn turn(
        &mut self,
        core: &Core,
        now: Option<Instant>,
        is_ready: impl Fn(usize) -> bool,
    ) {
        let wanted = match self.kind {
            LaneKind::Data | LaneKind::Aside => core.barrier.wanted_of_group(),
            LaneKind::Control | LaneKind::Streams | LaneKind::Logs => None,
        };
        let mut is_done = true;
        for (index, socket) in self.kind.sockets(core).enumerate() {
            if wanted.is_some() || is_ready(index) {
                is_done &= self.receive_all(core, socket);
            }
        }
        if let Some(number) = wanted.filter(|_| is_done) {
            core.pass_by_group(number);
        }
        if self.kind.watch(core).is_some() && is_ready(self.kind.sockets(core).count()) {
            core.follow_interfaces();
        }
        self.turn_shared_memory(core, &is_ready);
        let work = &mut self.work;
        let now = now.unwrap_or_else(clock::now);
        let expired = self.kind.timer(core).expired(now);
        if expired {
            let routes = work.routes.refresh(&core.directory);
            match self.kind {
                LaneKind::Control => core.handle_control_timeout(now, routes, &mut work.outbox),
                _ => core.handle_data_timeout(now, routes, &mut work.outbox),
            }
        }
        if let Some((tcp, channel)) = self.kind.streams(core) {
            let is_ready = is_ready(self.kind.streams_place(core));
            match channel {
                // Its deadlines are among those of the timer.
                Channel::Control if is_ready || expired => self.turn_streams(core, tcp),
                Channel::Data if is_ready || core.barrier.wanted_of_streams().is_some() => {
                    self.receive_streams(core, tcp, TcpReceiver::ask);
                }
                _ => {}
            }
        }
        match self.kind {
            LaneKind::Control => core.look_after_pending(now),
            _ if core.has_listeners_to_call() => {
                core.call_listeners(self.work.routes.refresh(&core.directory));
            }
            _ => {}
        }
    }

    /// Meets others, or takes what is in the logs, whichever is this part's.
    fn turn_shared_memory(&mut self, core: &Core, is_ready: impl Fn(usize) -> bool) {
        let Some(shm) = &core.shm else {
            return;
        };
        let is_ready = is_ready(self.kind.shared_memory_place(core));
        match self.kind {
            LaneKind::Control if is_ready || shm.has_wants() => core.meet(),
            LaneKind::Data => {
                if is_ready {
                    shm.ear.drain();
                }
                self.turn_logs(core, shm);
            }
            _ => {}
        }
    }

    /// Sees to connections, and takes what has come on those for discovery.
    fn turn_streams(&mut self, core: &Core, tcp: &TcpNet) {
        let streams = self.streams.get_or_insert_with(TcpReceiver::new);
        let turned = tcp.turn(clock::now(), streams);
        while let Some(received) = streams.next(tcp) {
            self.work.deliver(core, messages(&received), None);
        }
        self.answer(core);
        if turned.connected > 0 {
            core.announce_anew();
        }
        if let Some(at) = tcp.poll_timeout() {
            core.control.arm(at);
        }
    }

    /// Takes what has come on connections for samples, by which `wait` tells, asleep or not. Says when
    /// something came last.
    fn receive_streams(
        &mut self,
        core: &Core,
        tcp: &TcpNet,
        wait: WaitForStreams,
    ) -> Option<Instant> {
        let streams = self.streams.get_or_insert_with(TcpReceiver::new);
        let wanted = core.barrier.wanted_of_streams();
        let mut waited = match wanted {
            None => wait(streams, tcp),
            Some(_) => streams.ask(tcp),
        };
        if let Some(number) = wanted {
            self.asked_streams += 1;
            let is_done = streams.is_done();
            if is_done && !tcp.has_begun_frames() || self.asked_streams >= MAX_ASKS {
                self.asked_streams = 0;
                core.pass_by_streams(number);
            } else if is_done {
                waited = wait(streams, tcp);
            }
        }
        if waited.is_err() {
            core.counters.receive_errors.add(1);
        }
        let mut came = None;
        while let Some(received) = streams.next(tcp) {
            if !received.is_empty() {
                let memory = received.memory().cloned().map(Holdable::Message);
                let messages = messages(&received);
                came = Some(self.work.deliver(core, messages, memory.as_ref()));
            }
        }
        came
    }

    /// Takes what is new in the logs, else from the unicast socket, or what has come by TCP where there is
    /// none, without waiting. Says when that came, if anything did.
    pub(crate) fn look(&mut self, core: &Core) -> Option<Instant> {
        // Several times, as the socket takes a system call.
        let looks = if self.has_logs() { LOG_LOOKS } else { 0 };
        let in_logs = (0..looks).find_map(|_| self.look_at_logs(core));
        let found = in_logs.or_else(|| match (&core.network.user, &core.network.tcp) {
            (Some(user), _) => self.receive(core, user, ReceiveBatch::look),
            (None, Some(tcp)) => self.receive_streams(core, tcp, TcpReceiver::look),
            (None, None) => None,
        });
        if let Some(now) = found {
            self.found_count += 1;
            self.found_at = now;
            self.has_looked = true;
        }
        found
    }

    /// Does what is left after a look that has found something, which is seldom anything.
    pub(crate) fn end_look(&mut self, core: &Core, now: Instant) {
        let barrier = &core.barrier;
        let is_wanted =
            barrier.wanted_of_group().is_some() || barrier.wanted_of_streams().is_some();
        let has_notices = core.shm.as_ref().is_some_and(SharedMemory::has_notices);
        let is_due = self.kind.is_due(core, now);
        if is_wanted || has_notices || is_due || core.has_listeners_to_call() {
            self.turn(core, Some(now), |_| false);
        }
        self.has_looked = false;
    }

    /// False where samples have come for so long that other sockets are to be asked.
    pub(crate) fn may_look(&self) -> bool {
        self.found_count < MAX_BATCHES
            || self.found_at.since(self.asked_others_at) < OTHERS_INTERVAL
    }

    /// Other sockets have been asked.
    pub(crate) fn asked_others(&mut self, now: Instant) {
        self.found_count = 0;
        self.asked_others_at = now;
    }

    /// Takes what waits on a socket, a few batches at most: timers would have us ask again for what
    /// is here already. Whether that was all.
    fn receive_all(&mut self, core: &Core, socket: &UdpSocket) -> bool {
        let is_done = (0..MAX_BATCHES).any(|_| {
            let came = self.receive(core, socket, ReceiveBatch::receive);
            came.is_none() || !self.batch.is_full()
        });
        if self.kind == LaneKind::Control {
            self.answer(core);
        }
        is_done
    }

    /// Sends what the control lane has left.
    fn answer(&mut self, core: &Core) {
        // Many may have spoken, several times each.
        self.work.outbox.gather(MAX_GATHERED_LEN);
        core.send_unsent();
        if !self.work.outbox.is_empty() {
            // Heartbeats tell of samples, which are to be there first.
            core.flush();
        }
        core.send_metatraffic(&mut self.work.outbox);
        self.work.end_waits(core);
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
        let datagrams = self.batch.iter().map(|datagram| {
            let arrival = Arrival {
                from: datagram.source.ip(),
                by_multicast,
                kernel_timestamp: datagram.kernel_timestamp,
            };
            (datagram.bytes, arrival)
        });
        Some(self.work.deliver(core, datagrams, None))
    }
}

impl Work {
    /// Hands on what has come by the network, to where `memory` is if it can be held. Says when that was. The control
    /// lane's answers are left to be sent.
    fn deliver<'a>(
        &mut self,
        core: &Core,
        datagrams: impl Iterator<Item = (&'a [u8], Arrival)>,
        memory: Option<&Holdable>,
    ) -> Instant {
        let time = clock::both();
        let mut discovered = Discovered::Nothing;
        let lies = Lies {
            lender: None,
            memory,
        };
        for (bytes, arrival) in datagrams {
            if core.pass_by_unicast(bytes) {
                continue;
            }
            core.counters.datagrams_received.add(1);
            core.counters.bytes_received.add(bytes.len() as u64);
            if memory.is_none()
                && self.take_plain_datagram(core, time, bytes, arrival, &mut discovered)
            {
                continue;
            }
            self.hand_on(core, time, lies, &mut discovered, |dispatch| {
                dispatch.datagram(bytes, arrival);
            });
            self.call_listeners();
        }
        core.end_discovery(discovered, &mut self.outbox);
        time.0
    }

    /// Hands on what `dispatch` is about, which may lie in memory that its writer lends. Of readers that keep all it is left to [tell](Self::call_listeners).
    fn hand_on(
        &mut self,
        core: &Core,
        (now, timestamp): (Instant, Timestamp),
        lies: Lies<'_>,
        discovered: &mut Discovered,
        hand_on: impl FnOnce(&mut Dispatch<'_>),
    ) {
        let calls_listeners = self.kind != LaneKind::Control;
        let mut dispatch = Dispatch {
            core,
            routes: self.routes.refresh(&core.directory),
            now,
            timestamp,
            lies,
            outbox: &mut self.outbox,
            calls_listeners,
            discovered,
            to_tell: &mut self.to_tell,
            said: &mut self.said,
            has_heard: &mut self.has_heard,
        };
        hand_on(&mut dispatch);
        if calls_listeners {
            dispatch.end_discovery();
            // Answers leave before a listener may take its time.
            core.send_user(&mut self.outbox);
            self.end_waits(core);
        }
    }

    /// Wakes those who may have waited for what writers have heard.
    fn end_waits(&mut self, core: &Core) {
        if std::mem::take(&mut self.has_heard) {
            core.raise_of_locked();
        }
    }

    /// Tells the listeners of readers that keep all what has been handed on.
    fn call_listeners(&mut self) {
        for (reader, news) in self.to_tell.drain(..) {
            reader.call_listener(news);
        }
    }
}

/// What has come by TCP, as datagrams.
fn messages<'a>(received: &tcp::Received<'a>) -> impl Iterator<Item = (&'a [u8], Arrival)> {
    let arrival = Arrival {
        from: received.from,
        by_multicast: false,
        kernel_timestamp: None,
    };
    received.messages().map(move |message| (message, arrival))
}

/// How often logs are looked at before the socket is, in about eight times as long as that takes.
const LOG_LOOKS: u32 = 512;

/// Batches that one socket may fill before it is the next one's turn, and then the timers'.
const MAX_BATCHES: u32 = 8;

/// Connections that have something whenever they are asked have had by then what was there at first.
const MAX_ASKS: u32 = 1024;

/// How long other sockets may wait while [`Lane::look`] finds something again and again.
const OTHERS_INTERVAL: Duration = Duration::from_micros(100);

/// Fills the batch from a socket, and waits for that or not.
type Receive = fn(&mut ReceiveBatch, &UdpSocket) -> Result<usize, ReceiveError>;

/// Finds out which connections have something to read, and waits for that or not.
type WaitForStreams = fn(&mut TcpReceiver, &TcpNet) -> Result<(), WaitError>;

/// What it takes to hand on the submessages of a datagram.
struct Dispatch<'a> {
    core: &'a Core,
    routes: &'a Routes,
    now: Instant,
    timestamp: Timestamp,
    lies: Lies<'a>,
    outbox: &'a mut Outbox,
    calls_listeners: bool,
    /// What discovery has had that has not taken effect.
    discovered: &'a mut Discovered,
    /// Readers whose listeners are called once more has been delivered.
    to_tell: &'a mut Vec<(Arc<dyn ReaderEndpoint>, StatusMask)>,
    /// What readers of what was lent have then.
    said: &'a mut Vec<(EntityId, SequenceNumber)>,
    /// Whether a writer has heard what somebody may wait for.
    has_heard: &'a mut bool,
}

/// Where a message lies.
#[derive(Clone, Copy, Default)]
struct Lies<'a> {
    /// Whose log has told of it, if it was lent.
    lender: Option<Guid>,
    /// Its memory, if that can be held.
    memory: Option<&'a Holdable>,
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
        match Messages::one(bytes, arrival) {
            Ok(mut messages) => self.messages(&mut messages),
            Err(_) => self.core.counters.malformed.add(1),
        }
    }

    /// The same with records of the log of that writer.
    fn records(&mut self, writer: Guid, bytes: &[u8], records: &[Copied]) {
        self.messages(&mut Messages::of_log(writer, bytes, records));
    }

    /// The same with what is left of a datagram, of which the first may have been read.
    fn rest<'a>(&mut self, first: Option<Data<'a>>, rest: &mut Messages<'a>) {
        let first = first.map(|data| Ok(Submessage::Data(data)));
        let first = first.or_else(|| rest.next_submessage());
        self.messages_from(first, rest);
    }

    fn messages(&mut self, messages: &mut Messages<'_>) {
        let first = messages.next_submessage();
        self.messages_from(first, messages);
    }

    fn messages_from<'a>(
        &mut self,
        first: Option<Result<Submessage<'a>, Malformed>>,
        messages: &mut Messages<'a>,
    ) {
        let counters = &self.core.counters;
        let mut next = first;
        while let Some(submessage) = next {
            next = match submessage {
                Ok(submessage) if messages.context().is_for(self.core.prefix) => {
                    self.submessage(submessage, messages)
                }
                Ok(_) => messages.next_submessage(),
                Err(_) => {
                    counters.malformed.add(1);
                    messages.next_submessage()
                }
            };
        }
        if messages.malformed() > 0 {
            counters.malformed.add(messages.malformed());
        }
        if messages.skipped() > 0 {
            counters.unknown_submessages.add(messages.skipped());
        }
    }

    /// Hands on a submessage, and what follows it as far as that goes the same way; the result is
    /// what comes behind.
    fn submessage<'a>(
        &mut self,
        submessage: Submessage<'a>,
        rest: &mut Messages<'a>,
    ) -> Option<Result<Submessage<'a>, Malformed>> {
        let writer = submessage.writer();
        if writer.is_builtin() {
            self.hand_to_discovery(rest.context(), &submessage);
            return rest.next_submessage();
        }
        self.end_discovery();
        let Some(reader) = submessage.to_reader() else {
            self.hand_to_writer(writer, rest.context(), &submessage);
            return rest.next_submessage();
        };
        let writer = rest.context().source(writer);
        let readers = self.routes.readers_of(reader, writer);
        match readers {
            [only] if self.takes_runs(only, writer) => {
                let mut run = self.run(submessage, rest);
                let to_tell = only.receive(&mut run, self.outbox);
                if to_tell.is_any() {
                    self.tell_later(only, to_tell.own);
                }
                self.hear(only, &run);
                run.behind()
            }
            readers => {
                self.hand_to_readers(readers, writer, submessage, rest);
                rest.next_submessage()
            }
        }
    }

    /// Whether a reader may be given all that a datagram has for it at once: its listener is called
    /// only after that, and no sign of life is to be noted for each.
    fn takes_runs(&self, reader: &Arc<dyn ReaderEndpoint>, writer: Guid) -> bool {
        self.calls_listeners && reader.keeps_all() && !self.routes.leased.contains_key(&writer)
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
    #[inline]
    fn end_discovery(&mut self) {
        let discovered = std::mem::replace(self.discovered, Discovered::Nothing);
        self.core.end_discovery(discovered, self.outbox);
    }

    fn hand_to_readers<'a>(
        &mut self,
        readers: &[Arc<dyn ReaderEndpoint>],
        writer: Guid,
        submessage: Submessage<'a>,
        rest: &mut Messages<'a>,
    ) {
        if readers.is_empty() {
            return self.core.counters.unrouted.add(1);
        }
        for reader in readers {
            let mut run = self.run(submessage, rest);
            run.end();
            let to_tell = reader.receive(&mut run, self.outbox);
            self.hear(reader, &run);
            if !to_tell.is_any() {
                continue;
            }
            let news = to_tell.own;
            if !self.calls_listeners {
                reader.call_listener_later(news);
            } else if reader.keeps_all() || self.lies.lender.is_some() {
                // What was lent is acknowledged before a listener may take its time, too.
                self.tell_later(reader, news);
            } else {
                // Answers leave, and who waits for what has come is woken, before a listener may take its time.
                self.core.send_user(self.outbox);
                if std::mem::take(self.has_heard) {
                    self.core.raise_of_locked();
                }
                reader.call_listener(news);
            }
        }
        if let Some(sign) = self.routes.leased.get(&writer)
            && sign.receive(self.now, &submessage)
        {
            self.core.on_discovery(self.outbox, |discovery, _| {
                discovery.writer_heard(self.now, writer);
                sign.end_silence();
            });
        }
    }

    fn run<'r, 'a>(&self, first: Submessage<'a>, rest: &'r mut Messages<'a>) -> Run<'r, 'a>
    where
        Self: 'r,
    {
        let mut run = Run::new(self.now, self.timestamp, first, rest);
        run.memory = self.lies.memory;
        run.asks = self.lies.lender.is_some_and(|it| it == run.writer());
        run
    }

    /// Notes what a reader has said that it has.
    fn hear(&mut self, reader: &Arc<dyn ReaderEndpoint>, run: &Run<'_, '_>) {
        let Some(has) = run.has else {
            return;
        };
        let reader = reader.guid().entity;
        if let Some((_, said)) = self.said.iter_mut().find(|(said, _)| *said == reader) {
            *said = has;
        } else if self.said.len() < MAX_NOTES {
            self.said.push((reader, has));
        }
    }

    fn tell_later(&mut self, reader: &Arc<dyn ReaderEndpoint>, news: StatusMask) {
        match self.to_tell.last_mut() {
            Some((last, to_tell)) if last.guid() == reader.guid() => *to_tell |= news,
            _ => self.to_tell.push((Arc::clone(reader), news)),
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
                *self.has_heard |= writer.receive(self.now, context, submessage, self.outbox);
            }
            None => self.core.counters.unrouted.add(1),
        }
    }
}
