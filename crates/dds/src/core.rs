//! What all parts of a participant share: sockets, discovery, routes and timers. It routes; the
//! state is in discovery and in the endpoints.
//!
//! Locks are taken in the order QoS of an entity, content filter, log, unsent announcements, discovery,
//! writers that leave, routes, publisher or subscriber, endpoint; what shared memory is wanted for is noted under a lock of its
//! own, which is the last. While a datagram is sent or a listener is called none is
//! held but, by who changes it or makes an entity of it, an entity's QoS or a content filter.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::{Channel, Counter, Instant, Locator, Pieces};
use tickwire_cdr::TypeDescription;
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::{AddError, Discovery, EndpointData, MAX_GATHERED_LEN, Role};
use tickwire_rtps::qos::EndpointQos;
use tickwire_rtps::wire::{Context, EntityId, Guid, GuidPrefix, SequenceNumber, Submessage};
use tickwire_store::StoreOptions;
use tickwire_transport::InterfaceWatch;

use crate::barrier::Barrier;
use crate::builtin::BuiltinTopics;
use crate::clock;
use crate::enabling::Enabling;
use crate::error::{EndpointError, SetQosError};
use crate::lane::{Discovered, LaneKind};
use crate::leaving::Leaving;
use crate::listeners::GroupListener;
use crate::network::Network;
use crate::outgoing::{self, Scratch};
use crate::participant::{FilterLimits, ReaderLimits, ThreadCores};
use crate::pending::Pending;
use crate::pending_calls::PendingCalls;
use crate::polled::Polled;
use crate::reader::endpoint::ReaderEndpoint;
use crate::routes::{Directory, Routes};
use crate::shm::{Obstacle, SharedMemory};
use crate::signal::{Ended, Signal, lock};
use crate::status::StatusMask;
use crate::timer::{Due, Timer};
use crate::topic::Registry;
use crate::turns::Turns;
use crate::writer::endpoint::WriterEndpoint;
use crate::writer::syncer::Syncer;

/// The shared part of a participant.
pub(crate) struct Core {
    pub(crate) domain: u32,
    pub(crate) prefix: GuidPrefix,
    pub(crate) network: Network,
    /// What it takes to use shared memory, if it is used.
    pub(crate) shm: Option<SharedMemory>,
    /// Why it is not.
    pub(crate) no_shm: Obstacle,
    /// Tells when all is received that was in the sockets.
    pub(crate) barrier: Barrier,
    /// Writers that have left, of whom something is still to be read.
    pub(crate) leaving: Leaving,
    /// What waits for company on its way to the network.
    pub(crate) pending: Pending,
    pub(crate) busy_poll: Duration,
    pub(crate) thread_cores: ThreadCores,
    /// Whether readers count how long their samples take.
    pub(crate) latency_histograms: bool,
    pub(crate) announces_types: bool,
    pub(crate) max_fragment_bytes: usize,
    /// Where writers leave what is to outlive them, if anywhere.
    pub(crate) store: Option<StoreOptions>,
    pub(crate) syncer: Syncer,
    pub(crate) reader_limits: ReaderLimits,
    pub(crate) filter_limits: FilterLimits,
    pub(crate) directory: Directory,
    pub(crate) topics: Registry,
    pub(crate) builtin: BuiltinTopics,
    /// Timers of discovery and writers.
    pub(crate) control: Timer,
    /// Timers of readers.
    pub(crate) data: Timer,
    /// Raised whenever something changed that a thread of the application may wait for.
    pub(crate) signal: Signal,
    pub(crate) counters: CoreCounters,
    /// The participant's listener.
    pub(crate) listener: Arc<GroupListener>,
    /// What the application drives, unless threads do.
    pub(crate) polled: Option<Polled>,
    /// The data lane, if the application drives it while it waits, and a thread else.
    pub(crate) data_turns: Option<Turns>,
    /// The control lane, which who waits for what it brings drives, and a thread else.
    pub(crate) control_turns: Option<Turns>,
    pub(crate) is_stopping: AtomicBool,
    /// Whether nobody is to wait for what discovery finds any more.
    pub(crate) ended: Ended,
    /// Whether the participant takes part.
    pub(crate) enabling: Arc<Enabling>,
    discovery: Mutex<Discovery>,
    /// What endpoints that are not enabled are going to announce. Its lock is taken after discovery's.
    drafts: Mutex<HashMap<Guid, EndpointData>>,
    /// Announcements that the control thread is to send: those of endpoints that are made one after
    /// the other share datagrams.
    unsent: Mutex<Outbox>,
    discovery_due: Due,
    next_entity: AtomicU32,
    pending_calls: PendingCalls,
}

/// What a participant has seen on its sockets.
#[derive(Debug, Default)]
pub(crate) struct CoreCounters {
    pub(crate) datagrams_received: Counter,
    pub(crate) datagrams_sent: Counter,
    pub(crate) bytes_sent: Counter,
    pub(crate) bytes_received: Counter,
    pub(crate) malformed: Counter,
    pub(crate) unknown_submessages: Counter,
    pub(crate) unrouted: Counter,
    pub(crate) unreachable: Counter,
    pub(crate) receive_errors: Counter,
    pub(crate) send_errors: Counter,
    pub(crate) listener_panics: Counter,
    pub(crate) interface_changes: Counter,
    pub(crate) interface_errors: Counter,
    pub(crate) store_errors: Counter,
}

/// What a core is made of.
pub(crate) struct CoreParts {
    pub(crate) domain: u32,
    pub(crate) network: Network,
    pub(crate) shm: Result<SharedMemory, Obstacle>,
    pub(crate) discovery: Discovery,
    pub(crate) busy_poll: Duration,
    pub(crate) thread_cores: ThreadCores,
    pub(crate) latency_histograms: bool,
    pub(crate) announces_types: bool,
    pub(crate) max_fragment_bytes: usize,
    pub(crate) store: Option<StoreOptions>,
    pub(crate) reader_limits: ReaderLimits,
    pub(crate) filter_limits: FilterLimits,
    pub(crate) control: Timer,
    pub(crate) data: Timer,
    pub(crate) polled: Option<Polled>,
    pub(crate) data_turns: Option<Turns>,
    pub(crate) control_turns: Option<Turns>,
    pub(crate) autoenables: bool,
}

impl Core {
    pub(crate) fn new(parts: CoreParts) -> Self {
        let CoreParts {
            domain,
            network,
            shm,
            discovery,
            busy_poll,
            thread_cores,
            latency_histograms,
            announces_types,
            max_fragment_bytes,
            store,
            reader_limits,
            filter_limits,
            control,
            data,
            polled,
            data_turns,
            control_turns,
            autoenables,
        } = parts;
        let (shm, no_shm) = match shm {
            Ok(shm) => (Some(shm), Obstacle::Pending),
            Err(obstacle) => (None, obstacle),
        };
        let core = Self {
            domain,
            prefix: discovery.participant().guid_prefix,
            barrier: Barrier::new(discovery.participant().guid_prefix),
            leaving: Leaving::default(),
            pending: Pending::new(network.max_datagram_len()),
            network,
            shm,
            no_shm,
            busy_poll,
            thread_cores,
            latency_histograms,
            announces_types,
            max_fragment_bytes,
            store,
            syncer: Syncer::default(),
            reader_limits,
            filter_limits,
            directory: Directory::default(),
            topics: Registry::default(),
            builtin: BuiltinTopics::default(),
            control,
            data,
            signal: Signal::default(),
            counters: CoreCounters::default(),
            listener: Arc::default(),
            polled,
            data_turns,
            control_turns,
            is_stopping: AtomicBool::new(false),
            ended: Ended::default(),
            enabling: Enabling::new(None, autoenables, Box::new(|| Ok(()))),
            discovery_due: Due::default(),
            drafts: Mutex::default(),
            unsent: Mutex::default(),
            discovery: Mutex::new(discovery),
            next_entity: AtomicU32::new(1),
            pending_calls: PendingCalls::default(),
        };
        let first = lock(&core.discovery).poll_timeout();
        if core.discovery_due.set(first, &core.control) {
            core.control.interrupt();
        }
        if !core.network.refused().is_empty() {
            core.counters.interface_errors.add(1);
        }
        core
    }

    /// A key that no endpoint of this participant has had.
    pub(crate) fn next_entity_key(&self) -> Result<u32, EndpointError> {
        let next = |key: u32| (key < MAX_ENTITY_KEY).then_some(key + 1);
        self.next_entity
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .map_err(|_| EndpointError::TooManyEndpoints)
    }

    /// Makes a writer known to the routes and to the other participants.
    pub(crate) fn add_writer(
        &self,
        endpoint: &Arc<WriterEndpoint>,
        ty: Option<&TypeDescription>,
    ) -> Result<(), EndpointError> {
        let (guid, entity) = (endpoint.guid, endpoint.guid.entity);
        let endpoint = Arc::clone(endpoint);
        self.directory
            .change(|routes| routes.writers.insert(entity, endpoint));
        let added = self.announce(guid, ty);
        if added.is_err() {
            self.directory
                .change(|routes| routes.writers.remove(&entity));
        }
        added
    }

    /// Makes a reader known to the routes and to the other participants.
    pub(crate) fn add_reader(
        &self,
        endpoint: Arc<dyn ReaderEndpoint>,
        ty: Option<&TypeDescription>,
    ) -> Result<(), EndpointError> {
        let guid = endpoint.guid();
        self.directory
            .change(|routes| routes.readers.insert(guid.entity, endpoint));
        let added = self.announce(guid, ty);
        if added.is_err() {
            self.directory.change(|routes| routes.remove_reader(guid));
        }
        added
    }

    /// Has a reader driven that is announced to nobody.
    pub(crate) fn add_fed_reader(&self, endpoint: Arc<dyn ReaderEndpoint>) {
        let entity = endpoint.guid().entity;
        self.directory
            .change(|routes| routes.readers.insert(entity, endpoint));
    }

    pub(crate) fn remove_writer(&self, guid: Guid, last_change: Option<SequenceNumber>) {
        outgoing::flush();
        self.flush();
        self.directory
            .change(|routes| routes.writers.remove(&guid.entity));
        self.withdraw(guid, last_change);
        if let Some(shm) = &self.shm {
            shm.remove_log(guid.entity);
        }
    }

    pub(crate) fn remove_reader(&self, guid: Guid) {
        self.directory.change(|routes| routes.remove_reader(guid));
        self.withdraw(guid, None);
    }

    /// Keeps what an endpoint is going to announce until it is added.
    pub(crate) fn draft(&self, data: EndpointData) {
        lock(&self.drafts).insert(data.guid, data);
    }

    /// Announces an endpoint by its draft, which stays if that is refused.
    fn announce(&self, guid: Guid, ty: Option<&TypeDescription>) -> Result<(), EndpointError> {
        let mut unsent = lock(&self.unsent);
        let announced = self.on_discovery(&mut unsent, |discovery, outbox| {
            let Some(mut data) = lock(&self.drafts).get(&guid).cloned() else {
                return Ok(());
            };
            if data.role == Role::Writer {
                // Acknowledgements come to the thread that no listener can hold up.
                data.unicast_locators = self.network.addresses().metatraffic;
            }
            if let Some(ty) = ty.filter(|_| self.announces_types) {
                let types = discovery.types_mut();
                let information = types.add(ty).map_err(EndpointError::Type)?;
                let encoded = information.encode(&mut data.type_information);
                encoded.map_err(EndpointError::Type)?;
            }
            let added = discovery.add(clock::now(), data, outbox);
            added.map_err(EndpointError::Announcement)?;
            lock(&self.drafts).remove(&guid);
            Ok(())
        });
        drop(unsent);
        match self.polled.is_some() {
            true => self.send_unsent(),
            false => self.control.arm(clock::now()),
        }
        announced
    }

    /// Sends what has been left to the control thread. To be called before anything else is sent that
    /// others understand only once they know of new endpoints.
    pub(crate) fn send_unsent(&self) {
        let mut outbox = std::mem::take(&mut *lock(&self.unsent));
        self.send_metatraffic(&mut outbox);
    }

    /// The policies that an endpoint of ours has announced, or is going to.
    pub(crate) fn policies_of(&self, guid: Guid) -> Option<EndpointQos> {
        self.view(|discovery| self.data_of(discovery, guid).map(|data| data.qos))
    }

    fn data_of(&self, discovery: &Discovery, guid: Guid) -> Option<EndpointData> {
        let announced = discovery.endpoint(guid).map(|data| (**data).clone());
        announced.or_else(|| lock(&self.drafts).get(&guid).cloned())
    }

    /// Takes over the changed data of an endpoint of ours, announced or not.
    fn put_data(
        &self,
        discovery: &mut Discovery,
        data: EndpointData,
        outbox: &mut Outbox,
    ) -> Result<(), AddError> {
        if discovery.endpoint(data.guid).is_some() {
            return discovery.add(clock::now(), data, outbox);
        }
        discovery.check(&data)?;
        self.draft(data);
        Ok(())
    }

    /// Announces an endpoint of ours with other policies, matches it anew, and has them `apply`. All
    /// under discovery's lock, so that of several changes the last one announced is the one in force.
    /// Nothing changes if the endpoint is gone.
    pub(crate) fn change_policies(
        &self,
        guid: Guid,
        change: impl FnOnce(&mut EndpointQos) -> Result<(), SetQosError>,
        apply: impl FnOnce(&EndpointQos),
    ) -> Result<(), SetQosError> {
        self.with_discovery(|discovery, outbox| {
            let Some(mut data) = self.data_of(discovery, guid) else {
                return Ok(());
            };
            change(&mut data.qos)?;
            let qos = data.qos.clone();
            self.put_data(discovery, data, outbox)
                .map_err(SetQosError::Announcement)?;
            apply(&qos);
            Ok(())
        })
    }

    /// Announces several endpoints of ours with other data and has them `apply`: all of them, or none
    /// if that is refused for one. What `apply` changes is in force before a writer hears of it.
    pub(crate) fn change_all(
        &self,
        guids: &[Guid],
        change: impl Fn(&mut EndpointData),
        apply: impl FnOnce(),
    ) -> Result<(), AddError> {
        self.with_discovery(|discovery, outbox| {
            let known = guids.iter();
            let known = known.filter_map(|&guid| self.data_of(discovery, guid));
            let mut all: Vec<EndpointData> = known.collect();
            for data in &mut all {
                change(data);
                discovery.check(data)?;
            }
            apply();
            all.into_iter()
                .try_for_each(|data| self.put_data(discovery, data, outbox))
        })
    }

    fn withdraw(&self, guid: Guid, last_change: Option<SequenceNumber>) {
        lock(&self.drafts).remove(&guid);
        self.with_discovery(|discovery, outbox| {
            discovery.remove(clock::now(), guid, last_change, outbox)
        });
    }

    /// Runs `call` on discovery, does what it tells to do, and sends what it leaves.
    pub(crate) fn with_discovery<R>(
        &self,
        call: impl FnOnce(&mut Discovery, &mut Outbox) -> R,
    ) -> R {
        Scratch::lend(|scratch| {
            let result = self.on_discovery(&mut scratch.outbox, call);
            self.send_unsent();
            self.send_metatraffic(&mut scratch.outbox);
            result
        })
    }

    /// Runs `call` on discovery and does what it tells to do; what it leaves is for the caller to
    /// send. Events are applied under discovery's lock, lest they overtake each other.
    pub(crate) fn on_discovery<R>(
        &self,
        outbox: &mut Outbox,
        call: impl FnOnce(&mut Discovery, &mut Outbox) -> R,
    ) -> R {
        let mut discovery = lock(&self.discovery);
        let result = call(&mut discovery, outbox);
        self.follow(discovery, outbox);
        self.raise();
        result
    }

    /// Does what discovery tells to do and lets go of it.
    fn follow(&self, mut discovery: MutexGuard<'_, Discovery>, outbox: &mut Outbox) {
        let events = std::iter::from_fn(|| discovery.poll_event());
        self.apply(events, outbox);
        let due = discovery.poll_timeout();
        let is_first = self.discovery_due.set(due, &self.control);
        drop(discovery);
        if is_first {
            self.control.interrupt();
        }
    }

    /// Says that all manual writers of the participant live. Others are told at most eight times in
    /// each lease; besides that it costs two locks and one for each manual writer.
    pub(crate) fn assert_liveliness(&self) {
        let now = clock::now();
        self.with_discovery(|discovery, outbox| discovery.assert_liveliness(now, outbox));
        let routes = self.directory.snapshot();
        Scratch::lend(|scratch| {
            for writer in routes.writers.values() {
                writer.participant_asserted(now, &mut scratch.outbox);
            }
        });
    }

    /// Looks at what discovery knows.
    pub(crate) fn view<R>(&self, look: impl FnOnce(&Discovery) -> R) -> R {
        look(&lock(&self.discovery))
    }

    /// Hands a submessage to discovery; [`end_discovery`](Self::end_discovery) is to follow.
    pub(crate) fn handle_discovery(
        &self,
        now: Instant,
        context: &Context<'_>,
        submessage: &Submessage<'_>,
        outbox: &mut Outbox,
    ) {
        lock(&self.discovery).handle(now, context, submessage, outbox);
    }

    /// Does what the submessages that discovery has [handled](Self::handle_discovery) demand. Those
    /// who wait are woken if they may have taught discovery something.
    #[inline]
    pub(crate) fn end_discovery(&self, discovered: Discovered, outbox: &mut Outbox) {
        if discovered != Discovered::Nothing {
            self.follow_discovered(discovered, outbox);
        }
    }

    fn follow_discovered(&self, discovered: Discovered, outbox: &mut Outbox) {
        self.follow(lock(&self.discovery), outbox);
        if discovered == Discovered::News {
            self.raise();
        }
    }

    /// Runs the timers of discovery and of all writers that are due.
    pub(crate) fn handle_control_timeout(
        &self,
        now: Instant,
        routes: &Routes,
        outbox: &mut Outbox,
    ) {
        self.send_unsent();
        self.see_who_ended();
        self.see_who_left();
        match self.discovery_due.at() {
            at if at <= now => {
                self.on_discovery(outbox, |discovery, outbox| {
                    self.discovery_due.forget();
                    for writer in discovery.silent_writers(now) {
                        if let Some(sign) = routes.leased.get(&writer)
                            && let Some(ends) = discovery.writer_heard(sign.note_silence(), writer)
                            && ends > now
                        {
                            sign.end_silence();
                        }
                    }
                    discovery.handle_timeout(now, outbox);
                });
                self.send_metatraffic(outbox);
            }
            at => self.control.arm(at),
        }
        for writer in routes.writers.values() {
            match writer.due() {
                at if at <= now => {
                    let has_news = writer.handle_timeout(now, outbox);
                    if has_news {
                        self.call_listener_later(writer.guid.entity);
                    }
                }
                at => self.control.arm(at),
            }
        }
        // Several writers may have spoken to the same participants.
        outbox.gather(MAX_GATHERED_LEN);
        self.send_in_turn(outbox);
    }

    /// Runs the timers of all readers that are due.
    pub(crate) fn handle_data_timeout(&self, now: Instant, routes: &Routes, outbox: &mut Outbox) {
        for reader in routes.readers.values() {
            match reader.due() {
                at if at <= now => {
                    let has_news = reader.handle_timeout(now, outbox);
                    if has_news {
                        self.call_listener_later(reader.guid().entity);
                    }
                }
                at => self.data.arm(at),
            }
        }
        outbox.gather(MAX_GATHERED_LEN);
        self.send_user(outbox);
    }

    /// Has the listener of an endpoint called by the thread that delivers data.
    pub(crate) fn call_listener_later(&self, entity: EntityId) {
        self.pending_calls.add(entity);
        self.data.interrupt();
    }

    /// Calls the listeners that are to be called. Only for the thread that delivers data.
    pub(crate) fn call_listeners(&self, routes: &Routes) {
        // Listeners run without the lock: what they do may want others called.
        for entity in self.pending_calls.take() {
            if let Some(writer) = routes.writers.get(&entity) {
                writer.call_listener();
            } else if let Some(reader) = routes.readers.get(&entity) {
                reader.call_listener(StatusMask::NONE);
            } else if entity == EntityId::PARTICIPANT {
                self.listener.call(&self.counters.listener_panics);
                self.topics.call_listeners(&self.counters.listener_panics);
            }
        }
    }

    /// Whether somebody waits for what comes to readers, under whose lock something has.
    #[inline]
    pub(crate) fn awaits_samples(&self) -> bool {
        let turns = self.data_turns.as_ref();
        self.signal.is_awaited() || turns.is_some_and(Turns::is_awaited)
    }

    /// Has those ask again. To be called without that lock.
    #[inline]
    pub(crate) fn raise_for_samples(&self) {
        self.signal.raise_of_locked();
        if let Some(turns) = &self.data_turns {
            turns.raise_of_locked();
        }
    }

    /// Whether there are listeners to call.
    pub(crate) fn has_listeners_to_call(&self) -> bool {
        self.pending_calls.is_any()
    }

    /// Waits until `ready` has a result, for `timeout` at most; drives the participant meanwhile if
    /// nobody else does.
    pub(crate) fn wait<R>(
        self: &Arc<Self>,
        timeout: Duration,
        mut ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        outgoing::flush();
        self.flush();
        // Who takes no part does nothing while he waits.
        let polled = self.polled.as_ref();
        let Some(polled) = polled.filter(|_| self.enabling.is_enabled()) else {
            return self.signal.wait(timeout, ready);
        };
        let deadline = clock::now() + timeout;
        loop {
            if let Some(result) = ready() {
                return Some(result);
            }
            if clock::now() >= deadline {
                return None;
            }
            if let Some(result) = polled.wait_turn(self, deadline, &mut ready) {
                return Some(result);
            }
        }
    }

    /// The same for what the control lane brings, without which `ready` has none: whoever waits listens for it himself.
    pub(crate) fn wait_for_control<R>(
        self: &Arc<Self>,
        timeout: Duration,
        ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let turns = self.control_turns.as_ref();
        // Who serializes a sample holds a lock that the lane needs.
        let may_drive = self.enabling.is_enabled() && !outgoing::is_serializing();
        let Some(turns) = turns.filter(|_| may_drive && !timeout.is_zero()) else {
            return self.wait(timeout, ready);
        };
        outgoing::flush();
        self.flush();
        turns.wait(self, timeout, ready)
    }

    /// Something has changed that a thread of the application may wait for. To be called after the change.
    pub(crate) fn raise(&self) {
        self.signal.raise();
        if let Some(turns) = &self.control_turns {
            turns.raise();
        }
    }

    /// A writer has changed under its lock. To be called after that.
    #[inline]
    pub(crate) fn raise_of_locked(&self) {
        self.signal.raise_of_locked();
        if let Some(turns) = &self.control_turns {
            turns.raise_of_locked();
        }
    }

    /// Who drives a lane in turns.
    pub(crate) fn turns(&self, lane: LaneKind) -> Option<&Turns> {
        match lane {
            LaneKind::Control => self.control_turns.as_ref(),
            LaneKind::Data => self.data_turns.as_ref(),
            LaneKind::Aside | LaneKind::Streams | LaneKind::Logs => None,
        }
    }

    /// Sends what endpoints have left and empties the outbox.
    #[inline]
    pub(crate) fn send_user(&self, outbox: &mut Outbox) {
        match outbox.is_empty() {
            true => outbox.let_go(),
            false => self.send(Channel::Data, outbox),
        }
    }

    /// Sends what discovery has left and empties the outbox.
    pub(crate) fn send_metatraffic(&self, outbox: &mut Outbox) {
        match outbox.is_empty() {
            true => outbox.let_go(),
            false => self.send(Channel::Control, outbox),
        }
    }

    /// Sends what is in the outbox, which is not empty.
    fn send(&self, from: Channel, outbox: &mut Outbox) {
        if let Some((datagram, to)) = outbox.sole()
            && let Some((socket, address)) = self.network.way(from, to)
        {
            self.count_sent(1, datagram.len() as u64);
            self.count_error(socket.send_to(datagram, address).is_err());
            return outbox.clear();
        }
        let (mut datagrams, mut bytes) = (0, 0);
        for (datagram, to) in outbox.datagrams() {
            let count = to.len() - self.send_by_logs(datagram, to);
            datagrams += count as u64;
            bytes += (count * datagram.len()) as u64;
        }
        if datagrams == 0 {
            return outbox.clear();
        }
        self.count_sent(datagrams, bytes);
        self.count_error(self.network.send(from, outbox).is_err());
        outbox.clear();
    }

    /// Whether what is to be sent goes by logs alone.
    pub(crate) fn goes_by_logs(&self, outbox: &Outbox) -> bool {
        let is_log = |to: &Locator| to.to_log().is_some();
        let mut datagrams = outbox.datagrams();
        self.shm.is_some() && datagrams.all(|(_, to)| to.iter().all(is_log))
    }

    fn count_sent(&self, datagrams: u64, bytes: u64) {
        self.counters.datagrams_sent.add(datagrams);
        self.counters.bytes_sent.add(bytes);
    }

    fn count_error(&self, is_error: bool) {
        if is_error {
            self.counters.send_errors.add(1);
        }
    }

    /// Writes a datagram to the logs among its destinations; says how many there are.
    fn send_by_logs(&self, datagram: Pieces<'_>, to: &[Locator]) -> usize {
        let Some(shm) = &self.shm else {
            return 0;
        };
        let mut count = 0;
        for writer in to.iter().filter_map(Locator::to_log) {
            // Where the log is gone, so is who has followed it.
            shm.send(EntityId(writer), datagram);
            count += 1;
        }
        count
    }

    /// Interfaces may have changed: uses them as they are now, and tells others.
    pub(crate) fn follow_interfaces(&self) {
        let watch = self.network.watch.as_ref();
        let changed = watch.map(InterfaceWatch::drain).unwrap_or_default();
        if changed.routes {
            self.network.forget_ways();
        }
        if !changed.interfaces {
            return;
        }
        let followed = match self.network.follow() {
            Ok(None) => return,
            Ok(Some(followed)) => followed,
            Err(_) => return self.counters.interface_errors.add(1),
        };
        self.pending
            .set_max_datagram_len(self.network.max_datagram_len());
        let moved = self.with_discovery(|discovery, outbox| {
            let (now, addresses) = (clock::now(), &followed.addresses);
            discovery.move_to(now, followed.attachment, addresses, outbox)
        });
        if moved.is_ok() {
            self.counters.interface_changes.add(1);
        }
        if moved.is_err() || !followed.is_complete {
            self.counters.interface_errors.add(1);
        }
    }

    /// Somebody has come within reach by TCP who may not know us: tells it.
    pub(crate) fn announce_anew(&self) {
        self.with_discovery(|discovery, _| discovery.announce_anew(clock::now()));
    }

    /// Says good-bye and has the threads end.
    pub(crate) fn stop(&self) {
        self.flush();
        self.with_discovery(|discovery, outbox| discovery.close(outbox));
        self.is_stopping.store(true, Ordering::Release);
        self.control.waker().wake();
        self.data.waker().wake();
        if let Some(user) = &self.network.user {
            user.end_receiving();
        }
        if let Some(tcp) = &self.network.tcp {
            tcp.end_receiving();
        }
        if let Some(shm) = &self.shm {
            shm.waker.wake();
        }
        self.syncer.stop();
        if let Some(polled) = &self.polled {
            polled.forget();
        }
        for turns in self.data_turns.iter().chain(&self.control_turns) {
            turns.stop();
        }
    }

    /// Whether one lane takes all that comes for readers, on whatever way, instead of a thread for each.
    pub(crate) fn has_one_data_lane(&self) -> bool {
        self.polled.is_some() || self.data_turns.is_some()
    }
}

/// Entity keys have 24 bits.
const MAX_ENTITY_KEY: u32 = 0x00ff_ffff;
