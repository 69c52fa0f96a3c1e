//! The writer's side of the protocol: one machine for best-effort and reliable readers alike
//! (RTPS 2.5 §8.4.7 to §8.4.9). It knows no socket, no clock, no type and no discovery.
//!
//! A change is serialized into the history, sent at once to all matched readers, and kept for as
//! long as somebody may ask for it. Heartbeats say what there is; readers answer with what they
//! lack; repairs and the fragments of large samples go out in bursts of bounded size.

mod acknowledge;
mod compose;
mod config;
mod filter;
mod flight;
mod flow;
mod heartbeat;
mod log;
mod pacer;
mod reader_proxy;
mod repair;
mod restore;
mod retain;
mod room;
mod send;
mod sets;
mod straight;
mod window;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::DerefMut;

use tickwire_base::{Duration, Instant, Locator, copy};

use crate::by_guid::ByGuid;
use crate::change::{Change, GroupPlace, KeyHash, Place};
use crate::crowd::Crowd;
use crate::history::History;
use crate::outbox::Outbox;
use crate::payload::{HandedPayload, Payload};
use crate::tail::MAX_PLAIN_LEN;
use crate::wire::{Guid, GuidPrefix, SequenceNumber};

pub use crate::payload::{Handed, MAX_FRONT_LEN};
pub use crate::pool::MAX_BUFFER_LEN as MAX_COPIED_LEN;
pub use config::{
    FilterLimits, HistoryKind, ResourceLimits, SAMPLE_OVERHEAD_LEN, ServiceHistory, WriteError,
    WriterConfig, WriterCounters,
};
pub use log::{LENT_HEAD_LEN, Lent, Log, NoLog, NothingLent};
pub use reader_proxy::{ReaderLag, ReaderProxy, ReaderStatus};
pub use sets::EndedSet;

use compose::Composer;
use filter::Destinations;
use heartbeat::HeartbeatTimer;
use pacer::Pacer;
use reader_proxy::{MatchedReader, Survey};
use retain::Retained;
use room::Refused;
use sets::OpenSet;
use window::FlowWindow;

/// A writer with its history and the readers that it is matched with.
pub struct Writer<L: Log = NoLog> {
    config: WriterConfig,
    log: L,
    history: History<L::Lent>,
    readers: ByGuid<MatchedReader>,
    /// Where participants are reached instead of where their readers are announced.
    detours: BTreeMap<GuidPrefix, Locator>,
    /// Those of the readers that have not settled.
    crowd: Crowd,
    survey: Survey,
    /// Whether repairs may be left to be sent.
    has_repairs: bool,
    /// The newest change.
    last: SequenceNumber,
    /// What is to be sent next for the first time.
    cursor: Cursor,
    /// Every change up to here has been sent, and acknowledged by all that were matched then.
    released: SequenceNumber,
    /// Bytes of the changes above `released`.
    unreleased_len: usize,
    /// Bytes of the changes from the cursor on, none of which has been sent whole.
    unsent_len: usize,
    /// What `unreleased_len` may be under KEEP_ALL, and what may be in flight of large changes.
    window: FlowWindow,
    /// Bytes sent since acknowledgement was last asked for.
    unasked_len: usize,
    /// Bytes of the repairs being sent that count against the window.
    repaired_len: usize,
    heartbeat: HeartbeatTimer,
    heartbeat_count: u32,
    /// When acknowledgement was last asked for out of turn.
    asked_at: Option<Instant>,
    /// When a heartbeat last followed a change.
    told_at: Option<Instant>,
    pacer: Pacer,
    destinations: Destinations,
    /// Whether plain changes take the [short way](flow).
    flows: bool,
    /// How many payloads must be short before they do again, after one that was too long for it, as the next may be.
    wary_for: u32,
    /// The longest payload that goes in one piece, if not by the log.
    whole_len: usize,
    composer: Composer,
    open_set: Option<OpenSet>,
    /// Ends in the history whose sets have no changes there.
    spared_ends: BTreeSet<SequenceNumber>,
    /// What is kept beyond HISTORY.
    retained: Option<Retained>,
    /// What readers have said beside the log: empty, but while it is heeded.
    said: Vec<(Guid, SequenceNumber)>,
    counters: WriterCounters,
}

/// A place among all fragments of all changes.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    number: SequenceNumber,
    /// From 1.
    fragment: u32,
    /// Bytes of fragments sent since readers were asked for these.
    unasked_len: usize,
}

impl Cursor {
    fn at(number: SequenceNumber) -> Self {
        Self {
            number,
            fragment: 1,
            unasked_len: 0,
        }
    }
}

impl Writer {
    /// A writer without readers that has written nothing.
    pub fn new(config: WriterConfig) -> Self {
        Self::with_log(config, NoLog)
    }

    /// A header, INFO_DST and a HEARTBEAT.
    pub const PROBE_LEN: usize = 20 + 16 + 32;
}

impl<L: Log> Writer<L> {
    /// The same with a log. Whom that reaches is told by [`divert`](Self::divert).
    pub fn with_log(config: WriterConfig, log: L) -> Self {
        let mut writer = Self {
            log,
            history: History::default(),
            readers: ByGuid::new(),
            detours: BTreeMap::new(),
            crowd: Crowd::default(),
            survey: Survey::of(&[]),
            has_repairs: false,
            last: SequenceNumber::ZERO,
            cursor: Cursor::at(SequenceNumber::FIRST),
            released: SequenceNumber::ZERO,
            unreleased_len: 0,
            unsent_len: 0,
            window: FlowWindow::new(config.max_unacknowledged_len),
            unasked_len: 0,
            repaired_len: 0,
            heartbeat: HeartbeatTimer::new(config.heartbeat_period),
            heartbeat_count: 0,
            asked_at: None,
            told_at: None,
            pacer: Pacer::new(config.burst_len, config.burst_interval),
            destinations: Destinations::default(),
            flows: false,
            wary_for: 0,
            whole_len: 0,
            composer: Composer::new(&config),
            open_set: None,
            spared_ends: BTreeSet::new(),
            retained: config.service.map(Retained::new),
            said: Vec::new(),
            counters: WriterCounters::default(),
            config,
        };
        writer.look_whether_it_flows();
        writer
    }

    /// Who this is.
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// The log.
    pub fn log(&mut self) -> &mut L {
        &mut self.log
    }

    /// The newest change; [`SequenceNumber::ZERO`] before the first.
    pub fn last(&self) -> SequenceNumber {
        self.last
    }

    /// Changes in the history.
    pub fn history_len(&self) -> usize {
        self.history.len()
    }

    /// Instances of which the history has changes; without keys, one or none.
    pub fn instance_count(&self) -> usize {
        self.history.instance_count()
    }

    /// What happened so far.
    pub fn counters(&self) -> &WriterCounters {
        &self.counters
    }

    /// How things stand with each matched reader.
    pub fn readers(&self) -> impl Iterator<Item = ReaderStatus> {
        self.readers.iter().map(|reader| ReaderStatus {
            guid: reader.proxy.guid,
            reliable: reader.proxy.reliable,
            acknowledged: reader.acked,
            resent: reader.resent,
            gaps: reader.gaps,
            acknacks: reader.acknacks,
        })
    }

    /// How far a matched reader is behind; `None` of one that is not matched, or acknowledges nothing. Looks at each
    /// sample that it lacks.
    pub fn lag_of(&self, reader: Guid) -> Option<ReaderLag> {
        let reader = &self.readers[self.find(reader).ok()?];
        let lacking = || self.history.above(reader.acked);
        reader.proxy.reliable.then(|| ReaderLag {
            behind: self.last.0.saturating_sub(reader.acked.0).unsigned_abs(),
            samples: lacking().count(),
            bytes: lacking().map(|change| change.payload.len()).sum(),
        })
    }

    /// Begins to serve a reader, or takes over its new locators if it is matched already.
    ///
    /// A reliable reader is sent a heartbeat at once unless it [speaks first](ReaderProxy::speaks_first),
    /// and again until it answers, since it may not have heard of this writer yet. What is older than
    /// the match it gets if it [wants history](ReaderProxy::wants_history), else a GAP.
    pub fn match_reader(&mut self, now: Instant, proxy: ReaderProxy, outbox: &mut Outbox) {
        let reliable = proxy.reliable && self.config.reliable;
        let wants_history = proxy.wants_history && self.config.transient_local && reliable;
        let filter = self.admit_filter(proxy.guid, proxy.filter);
        let proxy = ReaderProxy {
            reliable,
            wants_history,
            filter,
            detour: self.detours.get(&proxy.guid.prefix).copied(),
            ..proxy
        };
        let (guid, speaks_first) = (proxy.guid, proxy.speaks_first);
        match self.find(guid) {
            Ok(index) => {
                let reader = &mut self.readers[index];
                if reader.is_unsettled() {
                    self.crowd.leave(reader.met_at);
                }
                reader.proxy = proxy;
                if reader.is_unsettled() {
                    self.crowd.enter(reader.met_at);
                }
                self.readers_changed();
            }
            Err(index) => {
                let first_relevant = match wants_history {
                    true => SequenceNumber::FIRST,
                    false => self.last.next(),
                };
                let new_until = now + self.config.heartbeat_period * NEW_PERIODS;
                let range = (first_relevant, self.last);
                let mut reader = MatchedReader::new(proxy, range, (now, new_until));
                if reliable {
                    self.crowd.enter(now);
                    let patience = self.crowd.patience(now, now);
                    reader.turn = self.heartbeat.first_turn(now, patience);
                }
                self.readers.insert(index, guid, reader);
                self.readers_changed();
                if reliable && !speaks_first {
                    self.begin(now, index, outbox);
                }
            }
        }
    }

    /// Reaches all readers of a participant at `to` instead of where they are announced, from the next
    /// datagram on: those that are matched, and those that will be. With `None`, no more. What was
    /// sent the other way and has not arrived is repaired as after any loss.
    pub fn divert(&mut self, participant: GuidPrefix, to: Option<Locator>) {
        match to {
            Some(to) => drop(self.detours.insert(participant, to)),
            None => drop(self.detours.remove(&participant)),
        }
        for reader in self.readers.iter_mut() {
            if reader.proxy.guid.prefix == participant {
                reader.proxy.detour = to;
            }
        }
        self.readers_changed();
    }

    /// Stops serving a reader; false if it was not matched. What only it was still to acknowledge
    /// no longer holds anything up.
    pub fn unmatch_reader(&mut self, guid: Guid) -> bool {
        let Ok(index) = self.find(guid) else {
            return false;
        };
        let reader = self.readers.remove(index);
        if reader.is_unsettled() {
            self.crowd.leave(reader.met_at);
        }
        self.readers_changed();
        self.release();
        true
    }

    /// Adds a change to the history and sends it.
    ///
    /// `payload` appends the serialized value, encapsulation header included, to the buffer that it
    /// is given; for kinds other than alive the serialized key, or nothing if the key hash must do.
    ///
    /// # Errors
    /// [`WriteError::WouldBlock`] puts a heartbeat into the outbox that asks for the
    /// acknowledgement which makes room. After any error the change has no sequence number.
    #[inline]
    pub fn write<E>(
        &mut self,
        now: Instant,
        change: &Change,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
        outbox: &mut Outbox,
    ) -> Result<SequenceNumber, WriteError<E>> {
        self.write_in_company(now, change, payload, outbox, || None::<&mut Outbox>)
    }

    /// The same of a change that may wait for others. Once its payload is serialized, `company` is asked for the
    /// outbox in which they wait, to share their datagrams; not of what goes to the log, or asks for more than a
    /// place in a datagram. What it gives is dropped before this returns, and has not changed unless the change is in
    /// it.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    #[inline(always)]
    pub fn write_in_company<E, O: DerefMut<Target = Outbox>>(
        &mut self,
        now: Instant,
        change: &Change,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
        outbox: &mut Outbox,
        company: impl FnOnce() -> Option<O>,
    ) -> Result<SequenceNumber, WriteError<E>> {
        let number = self.last.next();
        if self.wary_for > 0 || !self.has_room() || !self.flows(number, change) {
            return self.write_any(now, change, payload, outbox);
        }
        // Where it is to stay.
        if let Err(error) = payload(self.history.stage(number)) {
            self.history.forget_staged();
            return Err(WriteError::Payload(error));
        }
        let mut place = match self.goes_by_log(outbox) {
            true => None,
            false => company(),
        };
        let shared = place.as_deref_mut();
        let has_flown = self.flow(now, number, change, shared.unwrap_or(&mut *outbox));
        drop(place);
        match has_flown {
            true => Ok(number),
            false => self.write_staged(now, change, outbox),
        }
    }

    #[inline(never)]
    fn write_any<E>(
        &mut self,
        now: Instant,
        change: &Change,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
        outbox: &mut Outbox,
    ) -> Result<SequenceNumber, WriteError<E>> {
        if self.destinations.are_stale {
            self.find_destinations();
        }
        self.admit(now, change, outbox)?;
        let mut bytes = self.history.buffer();
        if let Err(error) = payload(&mut bytes) {
            self.history.give_back(bytes);
            return Err(WriteError::Payload(error));
        }
        let number = self.last.next();
        self.wary_for = match bytes.len() > MAX_PLAIN_LEN {
            true => WARY_FOR,
            false => self.wary_for.saturating_sub(1),
        };
        if bytes.len() > MAX_PLAIN_LEN || !self.flows(number, change) {
            return self.write_bytes(now, change, bytes, outbox);
        }
        let staged = self.history.stage(number);
        copy::append(staged, &bytes);
        self.history.give_back(bytes);
        match self.flow(now, number, change, outbox) {
            true => Ok(number),
            false => self.write_staged(now, change, outbox),
        }
    }

    /// Writes a change whose payload is staged in the history, but asks for more.
    #[cold]
    fn write_staged<E>(
        &mut self,
        now: Instant,
        change: &Change,
        outbox: &mut Outbox,
    ) -> Result<SequenceNumber, WriteError<E>> {
        let bytes = self.history.unstage();
        if bytes.len() > MAX_PLAIN_LEN {
            self.wary_for = WARY_FOR;
        }
        self.write_bytes(now, change, bytes, outbox)
    }

    fn write_bytes<E>(
        &mut self,
        now: Instant,
        change: &Change,
        bytes: Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<SequenceNumber, WriteError<E>> {
        if u32::try_from(bytes.len()).is_err() {
            self.history.give_back(bytes);
            return Err(WriteError::TooLarge);
        }
        self.add(now, change, Payload::of(bytes), outbox);
        Ok(self.last)
    }

    /// The same of a change whose payload is serialized already: the history takes it over, and leaves memory that it has
    /// done with in its place, with what was there, or none. After an error the payload is as it was. For payloads of
    /// more than [`MAX_COPIED_LEN`]; shorter ones are better off among others, where [`write`](Self::write) puts them.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_serialized<E>(
        &mut self,
        now: Instant,
        change: &Change,
        payload: &mut Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<SequenceNumber, WriteError<E>> {
        if u32::try_from(payload.len()).is_err() {
            return Err(WriteError::TooLarge);
        }
        if self.destinations.are_stale {
            self.find_destinations();
        }
        self.admit(now, change, outbox)?;
        let next = self.history.used_buffer();
        let payload = Payload::of(core::mem::replace(payload, next));
        self.add(now, change, payload, outbox);
        Ok(self.last)
    }

    /// The same of a change whose payload lies in memory of the application's behind `front`, words of up to
    /// [`MAX_FRONT_LEN`] bytes, and if it `is_padded` before zeros up to a multiple of four: nothing of it is copied until it is sent, and it is sent from there. Once nobody needs it
    /// any more it is among what is [given back](Self::given_back). For payloads of more than
    /// [`MAX_COPIED_LEN`].
    ///
    /// # Errors
    /// As [`write`](Self::write); [`WriteError::TooLarge`], too, for another front.
    pub fn write_handed<E>(
        &mut self,
        now: Instant,
        change: &Change,
        (front, memory, is_padded): (&[u8], &Handed, bool),
        outbox: &mut Outbox,
    ) -> Result<SequenceNumber, WriteError<E>> {
        let payload = HandedPayload::new(front, memory.clone(), is_padded);
        let payload = payload.filter(|payload| u32::try_from(payload.len()).is_ok());
        let Some(payload) = payload else {
            return Err(WriteError::TooLarge);
        };
        if self.destinations.are_stale {
            self.find_destinations();
        }
        self.admit(now, change, outbox)?;
        self.add(now, change, Payload::Handed(Box::new(payload)), outbox);
        Ok(self.last)
    }

    /// The writer has ended: what lies in memory of the application's is not written any more.
    pub fn give_back_handed(&mut self) {
        while let Some(number) = self.history.first_handed() {
            self.remove(number);
        }
    }

    /// Memory of the application's that is not needed any more. It is to be dropped when no lock is held, as that may call
    /// code of the application's.
    #[inline]
    pub fn given_back(&mut self) -> &mut Vec<Handed> {
        self.history.given_back()
    }

    /// The same of a change that is alive and of no instance, whose payload of `len` bytes lies in memory that
    /// readers of the log can see. `lend` is given what a message to all readers has before that,
    /// [`LENT_HEAD_LEN`] bytes, to put it there, and lets them see it. Where that message will do as it is, the log tells them of it, and else
    /// they get copies.
    ///
    /// # Errors
    /// As [`write`](Self::write); `lend` is called only if there is room.
    pub fn write_lent<E>(
        &mut self,
        now: Instant,
        change: &Change,
        len: usize,
        lend: impl FnOnce(&[u8; LENT_HEAD_LEN]) -> Result<L::Lent, E>,
        outbox: &mut Outbox,
    ) -> Result<SequenceNumber, WriteError<E>> {
        if u32::try_from(len).is_err() {
            return Err(WriteError::TooLarge);
        }
        self.hear_log(now, HEARD_PER_LOAN);
        self.admit(now, change, outbox)?;
        let head = self.composer.lent_head(change, self.last.next(), len);
        let lent = lend(&head).map_err(WriteError::Payload)?;
        self.add(now, change, Payload::Lent(lent), outbox);
        Ok(self.last)
    }

    /// Makes room for a change.
    #[inline(always)]
    fn admit<E>(
        &mut self,
        now: Instant,
        change: &Change,
        outbox: &mut Outbox,
    ) -> Result<(), WriteError<E>> {
        match self.flows && self.has_room() {
            true => Ok(()),
            false => self.admit_any(now, change, outbox),
        }
    }

    /// Whether a change that flows need not wait for an acknowledgement.
    #[inline]
    fn has_room(&self) -> bool {
        self.unreleased_len < self.window.len() || self.keeps_last()
    }

    #[inline(never)]
    fn admit_any<E>(
        &mut self,
        now: Instant,
        change: &Change,
        outbox: &mut Outbox,
    ) -> Result<(), WriteError<E>> {
        self.expire(now);
        let Err(mut refused) = self.make_room(change.key_hash) else {
            return Ok(());
        };
        self.hear_log(now, usize::MAX);
        if self.released < self.acknowledged() {
            self.release();
            match self.make_room(change.key_hash) {
                Ok(()) => return Ok(()),
                Err(still) => refused = still,
            }
        }
        Err(match refused {
            Refused::Full => {
                self.counters.would_block += 1;
                self.ask_acknowledgement(now, outbox);
                WriteError::WouldBlock
            }
            Refused::TooManyInstances => WriteError::TooManyInstances,
        })
    }

    /// Gives a change its number, keeps it and sends it.
    #[inline]
    fn add(
        &mut self,
        now: Instant,
        change: &Change,
        payload: Payload<L::Lent>,
        outbox: &mut Outbox,
    ) {
        if self.depth() < usize::MAX {
            self.make_way(change.key_hash);
        }
        let before = self.last;
        self.last = before.next();
        let cost = cost(payload.counted_len());
        self.unreleased_len += cost;
        self.unsent_len += cost;
        let expires_at = self.lifespan_of(change).map(|lifespan| now + lifespan);
        let place = self.place(change.group_number);
        self.history
            .push(self.last, *change, payload, expires_at, place);
        if self.config.presents {
            self.forget_end(before);
        }
        if self.retained.is_some() {
            self.note_written(now, change, Duration::ZERO);
        }
        self.counters.written += 1;
        self.send_new(now, outbox);
        if self.destinations.become_log {
            self.begin_log();
        }
    }

    /// How long a change is worth keeping, if not for ever.
    fn lifespan_of(&self, change: &Change) -> Option<Duration> {
        let lifespan = Some(self.config.lifespan).filter(|&lifespan| lifespan < Duration::MAX);
        // What tells of an instance's end does not go stale.
        lifespan.filter(|_| change.kind.is_alive())
    }

    /// Changes [`WriterConfig::lifespan`] for what is written from here on.
    pub fn set_lifespan(&mut self, lifespan: Duration) {
        self.config.lifespan = lifespan;
        self.look_whether_it_flows();
    }

    /// Whether all matched reliable readers have everything up to `number`, and it has been sent.
    /// Numbers that were never written are not acknowledged.
    pub fn is_acknowledged(&self, number: SequenceNumber) -> bool {
        number <= self.acknowledged()
    }

    /// Whether a reliable reader has the newest change of an instance.
    pub(crate) fn has_given(&self, reader: Guid, key: KeyHash) -> bool {
        let Ok(index) = self.find(reader) else {
            return false;
        };
        let acked = self.readers[index].acked;
        let newest = self.history.newest_of(Some(key)).next();
        newest.is_some_and(|number| number <= acked)
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.flows && !self.has_backlog() {
            return self.heartbeat.at();
        }
        let burst = self.has_backlog().then(|| self.pacer.refill_at());
        let first = earlier(self.heartbeat.at(), burst);
        let first = earlier(first, earlier(self.next_expiry(), self.next_cleanup()));
        first.filter(|&first| first < Instant::MAX)
    }

    /// Sends what is due: the next burst of repairs and fragments, and heartbeats.
    pub fn handle_timeout(&mut self, now: Instant, outbox: &mut Outbox) {
        self.expire(now);
        self.hear_log(now, usize::MAX);
        if core::mem::take(&mut self.has_repairs) {
            for index in 0..self.readers.len() {
                self.send_repairs(now, index, outbox);
            }
        }
        self.send_new(now, outbox);
        if self.heartbeat.at().is_some_and(|at| at <= now) {
            self.beat(now, outbox);
        }
    }

    /// Whether any reader filters, and so may not be sent what is written.
    pub fn has_filters(&self) -> bool {
        self.destinations.filters
    }

    /// Says that the writer is alive without writing (MANUAL_BY_TOPIC; RTPS 2.5 §8.4.13).
    pub fn assert_liveliness(&mut self, outbox: &mut Outbox) {
        self.send_heartbeat_to_all(true, true, outbox);
    }

    /// Removes what has outlived its LIFESPAN. What is being sent stays until it is, and what expires
    /// later meanwhile stays as long.
    fn expire(&mut self, now: Instant) {
        if self.retained.is_some() {
            self.clean_up(now);
        }
        while let Some((at, number)) = self.history.next_expiry()
            && at <= now
            && !self.is_under_way(Some(number))
        {
            self.remove(number);
            self.counters.expired += 1;
        }
    }

    /// When the next change expires.
    fn next_expiry(&self) -> Option<Instant> {
        let (at, number) = self.history.next_expiry()?;
        (!self.is_under_way(Some(number))).then_some(at)
    }

    fn is_under_way(&self, number: Option<SequenceNumber>) -> bool {
        self.cursor.fragment > 1 && number == Some(self.cursor.number)
    }

    /// Removes a change from the history.
    fn remove(&mut self, number: SequenceNumber) {
        let retained = self.retained.as_ref();
        let retained = retained.and_then(|_| self.history.get(number));
        let retained = retained.map(|change| change.key_hash());
        let retained = retained.map(|key| (key, self.history.newer_than(number)));
        let Some(removed) = self.history.remove(number) else {
            return;
        };
        if let Some((key, newer)) = retained {
            self.note_removed(number, key, newer);
        }
        if removed.number > self.released {
            self.unreleased_len = self
                .unreleased_len
                .saturating_sub(cost(removed.counted_len));
            if removed.number >= self.cursor.number {
                self.unsent_len = self.unsent_len.saturating_sub(cost(removed.counted_len));
            }
            // It may be acknowledged all the same.
            let is_early = removed.number > self.acknowledged();
            self.counters.removed_before_ack += u64::from(is_early);
        }
        if removed.coherent_set != SequenceNumber::ZERO {
            self.forget_end_of(removed.coherent_set);
        }
    }

    /// Every change up to here has been sent and acknowledged by all reliable readers.
    fn acknowledged(&self) -> SequenceNumber {
        self.sent().min(self.survey.acked)
    }

    /// The last change that has been sent whole.
    pub fn sent(&self) -> SequenceNumber {
        self.cursor.number.previous()
    }

    fn find(&self, guid: Guid) -> Result<usize, usize> {
        self.readers.find(guid)
    }
}

impl<L: Log> core::fmt::Debug for Writer<L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Writer")
            .field("guid", &self.config.guid)
            .field("last", &self.last)
            .field("history_len", &self.history.len())
            .field("readers", &self.readers.len())
            .finish_non_exhaustive()
    }
}

/// The earlier of two points in time.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// What a payload that counts as `len` bytes costs of `max_unacknowledged_len`.
fn cost(len: usize) -> usize {
    len + SAMPLE_OVERHEAD_LEN
}

/// For so many heartbeat periods after a match, samples carry heartbeats to a reader that says
/// nothing. They ask everybody else for acknowledgement, too, hence no longer.
const NEW_PERIODS: u32 = 10;

/// Participants that are heard beside the log at each loan: so that it costs the same however many there are.
const HEARD_PER_LOAN: usize = 4;

/// After so many short payloads it costs little to serialize a long one in vain.
const WARY_FOR: u32 = 64;
