//! The reader's side of the protocol: one machine for best-effort and reliable writers alike
//! (RTPS 2.5 §8.4.10 to §8.4.12). It knows no socket, no clock, no type and no discovery.
//!
//! The next change of a writer goes from the receive buffer straight to the sink. A reliable reader
//! keeps what comes early and asks for what lacks; a best-effort reader goes on without it.

mod answer;
mod config;
mod deliver;
mod group;
mod group_writers;
mod limits;
mod originals;
mod publisher_sets;
mod reassembly;
mod reorder;
mod samples;
mod sets;
mod writer_proxy;

use tickwire_base::{Duration, Instant};

use crate::by_guid::ByGuid;
use crate::change::{ChangeKind, Place};
use crate::crowd::Crowd;
use crate::outbox::Outbox;
use crate::wire::{
    Context, Data, DataFrag, FragmentNumberSet, Gap, Guid, Heartbeat, HeartbeatFrag,
    SequenceNumber, SerializedPayload, StatusInfo, VendorId,
};

pub use config::{
    CoherentSet, Delivery, NextChange, ReaderConfig, ReaderCounters, ReaderLimits, ReceivedChange,
    SetEnd, SetPart, Sink,
};
pub use group::{Decision, GroupSets, Member};
pub use publisher_sets::Judgement;
pub use samples::Samples;
pub use writer_proxy::{WriterProxy, WriterStatus};

use deliver::Offer;
use limits::Memory;
use reassembly::{FragmentError, Partial};
use reorder::HeldChange;
use samples::NoMore;
use writer_proxy::{MatchedWriter, Owed};

/// A reader and the writers that it is matched with.
pub struct Reader {
    config: ReaderConfig,
    writers: ByGuid<MatchedWriter>,
    /// Reliable ones that have not settled.
    crowd: Crowd,
    /// Nothing is due before.
    due_at: Option<Instant>,
    /// Whether writers are [owed](writer_proxy::Owed) something.
    is_owing: bool,
    memory: Memory,
    counters: ReaderCounters,
}

impl Reader {
    /// A reader without writers.
    pub fn new(config: ReaderConfig) -> Self {
        Self {
            config,
            writers: ByGuid::new(),
            crowd: Crowd::default(),
            due_at: None,
            is_owing: false,
            memory: Memory::default(),
            counters: ReaderCounters::default(),
        }
    }

    /// Who this is.
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// What happened so far.
    pub fn counters(&self) -> &ReaderCounters {
        &self.counters
    }

    /// How things stand with each matched writer.
    pub fn writers(&self) -> impl Iterator<Item = WriterStatus> {
        self.writers.iter().map(|writer| WriterStatus {
            guid: writer.proxy.guid,
            expected: writer.expected,
            announced: writer.announced,
            delivered: writer.delivered,
            lost: writer.lost,
            duplicates: writer.duplicates,
            heard: writer.synchronized,
        })
    }

    /// What an acknowledgement would say of a writer: up to which number nothing lacks. `None` if the reader does not
    /// acknowledge, or the writer has not been heard yet.
    pub fn has_up_to(&self, writer: Guid) -> Option<SequenceNumber> {
        let writer = &self.writers[self.find(writer).ok()?];
        let acknowledges = writer.proxy.reliable && writer.synchronized;
        acknowledges.then(|| writer.expected.previous())
    }

    /// Begins to listen to a writer, or takes over its new locators if it is matched already. A
    /// reliable writer is asked for a heartbeat at once unless it
    /// [speaks first](WriterProxy::speaks_first), and again until it sends one.
    pub fn match_writer(&mut self, now: Instant, proxy: WriterProxy, outbox: &mut Outbox) {
        let reliable = proxy.reliable && self.config.reliable;
        let proxy = WriterProxy { reliable, ..proxy };
        let guid = proxy.guid;
        match self.find(guid) {
            Ok(index) => {
                let writer = &mut self.writers[index];
                if writer.is_unsettled() {
                    self.crowd.leave(writer.met_at);
                }
                writer.proxy = proxy;
                if writer.is_unsettled() {
                    self.crowd.enter(writer.met_at);
                }
                self.touched(index);
            }
            Err(index) => {
                let mut writer = MatchedWriter::new(proxy, now, &self.config);
                let speaks_first = writer.proxy.speaks_first;
                if reliable {
                    self.crowd.enter(now);
                    writer.greet_at = Some(now + writer.greeting_interval);
                }
                self.writers.insert(index, guid, writer);
                if reliable && !speaks_first {
                    self.greet(now, index, outbox);
                }
                self.touched(index);
            }
        }
    }

    /// Whether everything has come that the matched reliable writers had when they first answered, or
    /// never will. Best-effort writers have no history to give.
    pub fn has_history(&self) -> bool {
        let mut reliable = self.writers.iter().filter(|writer| writer.proxy.reliable);
        reliable.all(|writer| writer.has_history())
    }

    /// A writer that has left wrote changes up to `last`: what has not come of these is lost, and what came before its turn
    /// is delivered. Of a best-effort writer of which nothing has come, it is not known what was meant for us.
    pub fn has_written(&mut self, guid: Guid, last: SequenceNumber, sink: &mut impl Sink) {
        if let Ok(index) = self.find(guid)
            && self.writers[index].synchronized
            && self.believes(index, last)
        {
            self.advance(index, last.next(), true, sink);
            self.touched(index);
        }
    }

    /// Stops listening to a writer; false if it was not matched. What came before its turn and was
    /// not delivered yet is gone, and [counted](ReaderCounters::abandoned); of a coherent set that
    /// has not ended the sink is told that it is lost.
    pub fn unmatch_writer(&mut self, guid: Guid, sink: &mut impl Sink) -> bool {
        let Ok(index) = self.find(guid) else {
            return false;
        };
        let mut writer = self.writers.remove(index);
        if writer.is_unsettled() {
            self.crowd.leave(writer.met_at);
        }
        self.note_end(guid, writer.had());
        let (memory, counters) = (&mut self.memory, &mut self.counters);
        writer.set.abandon(guid, memory, counters, sink);
        memory.gaps -= writer.reorder.gaps();
        memory.kept -= writer.counted;
        let abandoned = writer.reorder.held() + writer.reassembly.len();
        self.counters.abandoned += abandoned as u64;
        true
    }

    /// Takes a change (RTPS 2.5 §8.4.12.2). After this, as after fragments and gaps, writers may be
    /// [owed an answer](Self::answer_owed).
    #[inline]
    pub fn handle_data<'a>(
        &mut self,
        now: Instant,
        context: &Context<'a>,
        data: &Data<'a>,
        sink: &mut impl Sink,
    ) {
        self.handle_samples(now, *data, &mut NoMore(context), sink);
    }

    /// The same with the samples that follow it, for which what all those of a stream have in common is looked up once.
    #[inline]
    pub fn handle_samples<'a>(
        &mut self,
        now: Instant,
        first: Data<'a>,
        samples: &mut impl Samples<'a>,
        sink: &mut impl Sink,
    ) {
        let mut next = Some(first);
        while let Some(data) = next {
            let writer = samples.context().source(data.writer);
            let index = self.writer_of(writer, data.sequence_number);
            next = match index {
                Some(index) if self.is_plain_and_next(index, &data) => {
                    self.take_stream(now, index, &data, samples, sink)
                }
                Some(index) => {
                    self.take_data(now, index, samples.context(), &data, sink);
                    self.look_what_is_owed(index);
                    self.touched(index);
                    samples.next_sample()
                }
                None => samples.next_sample(),
            };
        }
    }

    /// Whether a change is its writer's next and says nothing besides, or the hash of its key alone, and nothing else of the writer is
    /// kept or due: so are all changes of a stream that loses nothing.
    #[inline]
    fn is_plain_and_next(&self, index: usize, data: &Data<'_>) -> bool {
        let qos = &data.inline_qos;
        let is_plain = qos.bytes.is_empty() || qos.key_hash_alone().is_some();
        let writer = &self.writers[index];
        is_plain
            && data.payload != SerializedPayload::None
            && data.sequence_number == writer.expected
            && self.flows(index)
    }

    /// Whether a writer's next change needs none of the checks of others, if it says nothing besides.
    #[inline]
    fn flows(&self, index: usize) -> bool {
        self.writers[index].flows && !self.config.coherent && self.memory.originals.is_empty()
    }

    /// The number that a writer's next change has, if nothing else is kept of it or due. Whoever has taken changes from
    /// there on that say nothing besides says so by [`went_on`](Self::went_on), in place of
    /// [`handle_samples`](Self::handle_samples).
    #[inline]
    pub fn expects(&self, writer: Guid) -> Option<SequenceNumber> {
        let index = self.find(writer).ok()?;
        self.flows(index).then(|| self.writers[index].expected)
    }

    /// A writer's changes before this number have been taken.
    #[inline]
    pub fn went_on(&mut self, writer: Guid, next: SequenceNumber) {
        if let Ok(index) = self.find(writer) {
            let writer = &mut self.writers[index];
            writer.jump_to = None;
            self.counters.delivered += writer.went_on(next);
        }
    }

    /// Delivers such a change and those that follow it, which need none of the checks of others. The result is the
    /// first that does not.
    #[inline(always)]
    fn take_stream<'a>(
        &mut self,
        now: Instant,
        index: usize,
        first: &Data<'a>,
        samples: &mut impl Samples<'a>,
        sink: &mut impl Sink,
    ) -> Option<Data<'a>> {
        let kernel_timestamp = samples.context().kernel_timestamp();
        let writer = &mut self.writers[index];
        let guid = writer.proxy.guid;
        writer.jump_to = None;
        let mut next = *first;
        loop {
            let Data {
                sequence_number: number,
                payload,
                inline_qos,
                ..
            } = next;
            let change = ReceivedChange {
                writer: guid,
                sequence_number: number,
                kind: ChangeKind::Alive,
                source_timestamp: samples.context().source_timestamp,
                kernel_timestamp,
                key_hash: inline_qos.key_hash_alone(),
                place: Place::default(),
                original: None,
                related: None,
                payload,
                memory: None,
            };
            if sink.deliver(&change) == Delivery::Full {
                writer.announced = writer.announced.max(number);
                self.counters.refused += 1;
                // A copy, lest a change that is delivered has all of this in memory.
                self.keep(now, index, &{ change });
                self.touched(index);
                return samples.next_sample();
            }
            self.counters.delivered += writer.went_on(number.next());
            next = samples.next_sample()?;
            if !is_next(&next, writer.expected) {
                return Some(next);
            }
            let mut run = Run {
                samples: &mut *samples,
                next: Some(next),
                expected: writer.expected,
            };
            sink.deliver_run((guid, number), || run.next());
            let Run {
                next: left,
                expected,
                ..
            } = run;
            self.counters.delivered += writer.went_on(expected);
            next = match left {
                Some(next) => next,
                None => samples.next_sample()?,
            };
            if !is_next(&next, writer.expected) {
                return Some(next);
            }
        }
    }

    fn take_data(
        &mut self,
        now: Instant,
        index: usize,
        context: &Context<'_>,
        data: &Data<'_>,
        sink: &mut impl Sink,
    ) {
        if !self.believes(index, data.sequence_number) {
            return;
        }
        if !data.inline_qos.is_understood() {
            return self.pass_over(index, data.sequence_number, sink);
        }
        self.writers[index].came(now, data.sequence_number);
        let status = data.inline_qos.status_info();
        if status.contains(StatusInfo::FILTERED) {
            let number = data.sequence_number;
            return self.skip(index, number, number.next(), sink);
        }
        let says_nothing = data.payload == SerializedPayload::None;
        let place = match self.config.places || self.config.coherent || says_nothing {
            true => data.inline_qos.place().of(data.sequence_number),
            false => Place::default(),
        };
        let change = ReceivedChange {
            writer: self.writers[index].proxy.guid,
            sequence_number: data.sequence_number,
            kind: ChangeKind::from_status_info(status.0),
            source_timestamp: context.source_timestamp,
            kernel_timestamp: context.kernel_timestamp(),
            key_hash: data.inline_qos.key_hash(),
            place,
            original: match self.config.originals {
                true => data.inline_qos.original_writer(),
                false => None,
            },
            related: data.inline_qos.related_sample(),
            payload: data.payload,
            memory: None,
        };
        if !self.config.coherent && change.is_end_of_set() {
            let number = data.sequence_number;
            return self.skip(index, number, number.next(), sink);
        }
        if self.offer(index, &change, sink) == Offer::Keep {
            self.keep(now, index, &change);
        }
    }

    fn keep(&mut self, now: Instant, index: usize, change: &ReceivedChange<'_>) {
        let held = HeldChange::copy(change, &mut self.memory.pool);
        self.hold(now, index, change.sequence_number, held);
    }

    /// Takes fragments of a change (RTPS 2.5 §8.4.14).
    pub fn handle_data_frag(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        data: &DataFrag<'_>,
        sink: &mut impl Sink,
    ) {
        if let Some(index) = self.writer_of(context.source(data.writer), data.sequence_number) {
            self.take_fragments(now, index, context, data, sink);
            self.look_what_is_owed(index);
            self.touched(index);
        }
    }

    fn take_fragments(
        &mut self,
        now: Instant,
        index: usize,
        context: &Context<'_>,
        data: &DataFrag<'_>,
        sink: &mut impl Sink,
    ) {
        let number = data.sequence_number;
        if !self.believes(index, number) {
            return;
        }
        let room = self.room_for_fragments(index);
        let writer = &mut self.writers[index];
        writer.came(now, number);
        let known = number < writer.expected || writer.reorder.contains(number);
        if known && (writer.proxy.reliable || writer.synchronized) {
            return;
        }
        if !data.inline_qos.is_understood() {
            return self.pass_over(index, number, sink);
        }
        let status = data.inline_qos.status_info();
        if status.contains(StatusInfo::FILTERED) {
            return self.skip(index, number, number.next(), sink);
        }
        self.counters.fragments += 1;
        let timestamp = context.source_timestamp;
        let newest_first = !writer.proxy.reliable;
        let evicted = writer.reassembly.evicted();
        let (config, pool) = (&self.config, &mut self.memory.pool);
        let begun = match writer.reassembly.contains(number) {
            true => Ok(()),
            false => Partial::new(now, data, timestamp, config)
                .and_then(|partial| writer.reassembly.begin(partial, newest_first, room, config)),
        };
        let was_owed = writer.reassembly.is_asked_of(number);
        let inserted = begun.and_then(|()| writer.reassembly.insert(now, data, config, pool));
        self.counters.partial_dropped += writer.reassembly.evicted() - evicted;
        match inserted {
            Ok(None) if writer.reassembly.owes_answer(number) => {
                writer.owed = Owed::Fragments(number);
                self.is_owing = true;
            }
            Ok(None) => {}
            Ok(Some(mut held)) => {
                // The acknowledgement of fragments has become one of the whole.
                writer.owes_answer |= was_owed && writer.synchronized;
                held.kernel_timestamp = context.kernel_timestamp();
                let guid = writer.proxy.guid;
                match self.offer(index, &held.as_received(guid, number), sink) {
                    Offer::Keep => self.hold(now, index, number, held),
                    Offer::Done => held.bytes.give_back(&mut self.memory.pool),
                }
            }
            Err(FragmentError::Misbehaved) => self.counters.misbehaved += 1,
            Err(FragmentError::NoRoom) => self.counters.partial_dropped += 1,
        }
    }

    /// Takes note of what a writer holds, and answers: at once if nothing lacks, after
    /// [`nack_delay`](ReaderConfig::nack_delay) otherwise (RTPS 2.5 §8.4.12.2).
    pub fn handle_heartbeat(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        heartbeat: &Heartbeat,
        sink: &mut impl Sink,
        outbox: &mut Outbox,
    ) {
        if let Some(index) = self.writer_of(context.source(heartbeat.writer), heartbeat.first) {
            self.take_heartbeat(now, index, heartbeat, sink, outbox);
            self.touched(index);
        }
    }

    fn take_heartbeat(
        &mut self,
        now: Instant,
        index: usize,
        heartbeat: &Heartbeat,
        sink: &mut impl Sink,
        outbox: &mut Outbox,
    ) {
        if heartbeat.last < heartbeat.first.previous() || heartbeat.last.0 == i64::MAX {
            self.counters.misbehaved += 1;
            return;
        }
        if !self.writers[index].proxy.reliable
            || !self.believes(index, heartbeat.last)
            || !self.is_news(now, index, heartbeat, sink)
        {
            return;
        }
        self.counters.heartbeats += 1;
        let first_one = !self.writers[index].synchronized;
        if first_one {
            self.synchronize(index, heartbeat, sink);
        }
        self.advance(index, heartbeat.first, !first_one, sink);
        let patience = self.patience_with(now, index);
        let writer = &mut self.writers[index];
        writer.announced = writer.announced.max(heartbeat.last);
        if writer.first_hole().is_some() {
            match first_one {
                // History is asked for without delay.
                true => self.answer(now, index, outbox),
                false => {
                    writer.ask_soon(now, patience, &self.config);
                    writer.owes_answer |= !heartbeat.is_final;
                }
            }
        } else if !heartbeat.is_final {
            self.answer(now, index, outbox);
        }
    }

    /// Takes note of how far a writer has sent a change (RTPS 2.5 §8.4.14), and asks soon for what lacks of
    /// it. A writer of ours is told if nothing does, so that it need not wait with the rest.
    pub fn handle_heartbeat_frag(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        heartbeat: &HeartbeatFrag,
        outbox: &mut Outbox,
    ) {
        let number = heartbeat.sequence_number;
        let Some(index) = self.writer_of(context.source(heartbeat.writer), number) else {
            return;
        };
        let writer = &mut self.writers[index];
        if !writer.proxy.reliable {
            return;
        }
        if !writer.heartbeat_frag_count.accept(now, heartbeat.count) {
            self.counters.stale += 1;
            return;
        }
        let Some(partial) = writer.reassembly.get_mut(number) else {
            return;
        };
        partial.announced = partial.announced.max(heartbeat.last_fragment);
        let is_ours = writer.proxy.guid.prefix.vendor() == VendorId::TICKWIRE;
        if partial.has_announced() {
            if is_ours {
                let next = partial.announced.saturating_add(1);
                self.nack_frag(index, number, FragmentNumberSet::empty(next), outbox);
            }
            return;
        }
        partial.owes_answer = is_ours;
        // What lacks before the first heartbeat is not known, so that an answer would ask for all.
        if writer.synchronized {
            let at = now + writer.nack_interval(&self.config);
            writer.answer_at = Some(writer.answer_at.map_or(at, |armed| armed.min(at)));
            self.touched(index);
        }
    }

    /// Takes note of changes that are not for this reader (RTPS 2.5 §8.4.12.2).
    pub fn handle_gap(&mut self, context: &Context<'_>, gap: &Gap, sink: &mut impl Sink) {
        let Some(index) = self.writer_of(context.source(gap.writer), gap.start) else {
            return;
        };
        if gap.list.base < gap.start {
            self.counters.misbehaved += 1;
            return;
        }
        if !self.believes(index, gap.list.base) {
            return;
        }
        self.counters.gaps += 1;
        let mut is_news = self.pass(index, gap.start, gap.list.base);
        for number in gap.list.iter() {
            is_news |= self.pass(index, number, number.next());
        }
        if is_news {
            self.drain(index, sink);
            self.look_what_is_owed(index);
            self.touched(index);
        }
    }

    /// Has a heartbeat be answered that came before what it tells of, if all of that is there.
    fn look_what_is_owed(&mut self, index: usize) {
        let writer = &mut self.writers[index];
        if writer.owes_answer && writer.first_hole().is_none() {
            writer.owed = Owed::Acknowledgement;
            self.is_owing = true;
        }
    }

    /// Offers again what the sink refused before, and acknowledges what it takes. To be called when
    /// the sink has room again.
    pub fn resume(&mut self, now: Instant, sink: &mut impl Sink, outbox: &mut Outbox) {
        for index in 0..self.writers.len() {
            let before = self.writers[index].expected;
            self.drain(index, sink);
            let writer = &self.writers[index];
            if writer.proxy.reliable && writer.synchronized && writer.expected > before {
                self.answer(now, index, outbox);
            }
            self.touched(index);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.due_at
    }

    /// Sends the answers and greetings that are due and gives up samples whose fragments stopped
    /// coming.
    pub fn handle_timeout(&mut self, now: Instant, outbox: &mut Outbox) {
        if self.due_at.is_none_or(|at| at > now) {
            return;
        }
        self.due_at = None;
        for index in 0..self.writers.len() {
            let patience = self.patience_with(now, index);
            let writer = &mut self.writers[index];
            self.counters.partial_dropped += writer.reassembly.expire(now, &self.config);
            // More may have come meanwhile.
            let earliest = writer.greeted_at + patience;
            writer.greet_at = writer.greet_at.map(|at| at.max(earliest));
            let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
            let (answer, greet) = (due(writer.answer_at), due(writer.greet_at));
            if answer {
                match writer.may_answer(now, &self.config) {
                    Ok(()) => self.answer(now, index, outbox),
                    // Some of it has come since.
                    Err(at) => writer.answer_at = Some(at),
                }
            }
            if greet {
                self.greet(now, index, outbox);
            }
            self.touched(index);
        }
    }

    /// To be called after anything was done about a writer, but for the delivery of a change that was all there was to
    /// it: what is kept of it, whether it has settled, whether it flows, and when something is due.
    #[inline]
    fn touched(&mut self, index: usize) {
        if !self.writers[index].is_at_rest() {
            self.settle(index);
        }
        let writer = &mut self.writers[index];
        writer.flows = writer.is_flowing();
    }

    fn settle(&mut self, index: usize) {
        self.count_kept(index);
        let writer = &mut self.writers[index];
        if writer.is_unsettled() && writer.has_history() {
            writer.has_settled = true;
            self.crowd.leave(writer.met_at);
        }
        let due_at = writer.timeout(&self.config);
        self.due_at = [self.due_at, due_at].into_iter().flatten().min();
    }

    /// How much longer than others a writer may take to answer, as it is one of many newcomers.
    fn patience_with(&self, now: Instant, index: usize) -> Duration {
        let writer = self.writers.get(index);
        let newcomer = writer.filter(|writer| writer.is_unsettled());
        newcomer.map_or(Duration::ZERO, |writer| {
            self.crowd.patience(now, writer.met_at)
        })
    }

    /// The matched writer, if `number` is one that it can have.
    #[inline]
    fn writer_of(&mut self, guid: Guid, number: SequenceNumber) -> Option<usize> {
        let Ok(index) = self.find(guid) else {
            self.counters.from_unmatched += 1;
            return None;
        };
        if number < SequenceNumber::FIRST || number.0 == i64::MAX {
            self.counters.misbehaved += 1;
            return None;
        }
        let writer = &self.writers[index];
        debug_assert_eq!(
            writer.flows,
            writer.is_flowing(),
            "touched after each change"
        );
        Some(index)
    }

    #[inline]
    fn find(&self, guid: Guid) -> Result<usize, usize> {
        self.writers.find(guid)
    }
}

/// What follows a change of a stream.
struct Run<'s, 'a, S> {
    samples: &'s mut S,
    /// The sample that was given last, if it has not been given on.
    next: Option<Data<'a>>,
    expected: SequenceNumber,
}

impl<'a, S: Samples<'a>> Run<'_, 'a, S> {
    #[inline(always)]
    fn next(&mut self) -> Option<NextChange<'a>> {
        let data = match self.next.take() {
            Some(data) => data,
            None => self.samples.next_sample()?,
        };
        let SerializedPayload::Data(payload) = data.payload else {
            self.next = Some(data);
            return None;
        };
        if !is_next(&data, self.expected) || !data.inline_qos.bytes.is_empty() {
            self.next = Some(data);
            return None;
        }
        self.expected = data.sequence_number.next();
        Some(NextChange {
            sequence_number: data.sequence_number,
            source_timestamp: self.samples.context().source_timestamp,
            payload,
        })
    }
}

/// Whether a sample is that of the number that is expected.
#[inline(always)]
fn is_next(data: &Data<'_>, expected: SequenceNumber) -> bool {
    data.sequence_number == expected && data.sequence_number.0 < i64::MAX
}

impl core::fmt::Debug for Reader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reader")
            .field("guid", &self.config.guid)
            .field("writers", &self.writers.len())
            .finish_non_exhaustive()
    }
}
