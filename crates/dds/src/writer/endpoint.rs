//! A writer's machine behind its lock, whatever the type of its samples.

mod straight;

use std::borrow::Cow;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tickwire_base::{Instant, Locator, Pieces, copy};
use tickwire_cdr::filter::Filter;
use tickwire_cdr::{Representation, TypeDescription};
use tickwire_rtps::discovery::{ContentFilterProperty, EndpointData};
use tickwire_rtps::qos::{EndpointQos, PresentationScope, Verdict};
use tickwire_rtps::wire::{Context, GroupDigest, Guid, GuidPrefix, SequenceNumber, Submessage};
use tickwire_rtps::writer::{
    self, EndedSet, Handed, LENT_HEAD_LEN, MAX_COPIED_LEN, ReaderProxy, Writer, WriterConfig,
};
use tickwire_rtps::{Change, Outbox};
use tickwire_transport::shm::{self, Pool};
use tickwire_transport::tcp;

use super::durable::{self, Durable, Written};
use crate::clock;
use crate::core::Core;
use crate::deadline::DeadlineTracker;
use crate::error::{StoreError, WriteError};
use crate::lease::Lease;
use crate::listeners::Listeners;
use crate::loan::Lender;
use crate::outgoing::{self, Scratch};
use crate::publisher::PublisherGroup;
use crate::qos::{DataWriterQos, Liveliness, LivelinessKind, dscp};
use crate::reader::InstanceHandle;
use crate::shm::{CountingLog, OwnLog};
use crate::signal::{Ended, Observers, lock};
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, MatchedStatus, StatusMask,
};
use crate::timer::{Due, earlier};
use crate::type_support::SampleError;

/// What the participant's threads and the application share of a writer.
pub(crate) struct WriterEndpoint {
    pub(crate) core: Arc<Core>,
    pub(crate) guid: Guid,
    pub(crate) representation: Representation,
    autodispose: AtomicBool,
    /// TRANSPORT_PRIORITY of its datagrams.
    dscp: AtomicU8,
    /// LATENCY_BUDGET, in nanoseconds.
    latency_budget_ns: AtomicU64,
    pub(crate) listeners: Listeners,
    pub(crate) topic_name: String,
    pub(crate) observers: Observers,
    max_blocking_time: Duration,
    max_unacknowledged_len: usize,
    /// Whether its writes show that the participant's other manual writers live.
    asserts_participant: bool,
    /// What it lends from, if its samples are bytes.
    pub(crate) lender: Option<Lender>,
    /// The type, if its members are known.
    description: Option<TypeDescription>,
    /// Where the numbers of changes come from, if they have an order across writers.
    group: Option<Arc<PublisherGroup>>,
    is_announced: AtomicBool,
    /// Whether changes went straight to its log when its machine was looked at last.
    goes_straight: AtomicBool,
    /// The same of several at once by datagrams.
    flows: AtomicBool,
    /// What outlives the writer.
    pub(crate) durable: Option<Arc<Durable>>,
    state: Mutex<WriterState>,
    due: Due,
    changes: AtomicU32,
    statuses: Mutex<WriterStatuses>,
}

struct WriterState {
    machine: Writer<OwnLog>,
    deadline: Option<DeadlineTracker>,
    lease: Option<Lease>,
}

#[derive(Default)]
pub(crate) struct WriterStatuses {
    pub(crate) deadline_missed: DeadlineMissedStatus,
    pub(crate) matched: MatchedStatus,
    pub(crate) incompatible_qos: IncompatibleQosStatus,
    pub(crate) liveliness_lost: CountStatus,
}

impl WriterEndpoint {
    /// A writer as it is announced. With a log, what is written outlives it, and it takes over what is in
    /// there; without one there is no durability service, and HISTORY alone says what it keeps.
    pub(crate) fn new(
        core: Arc<Core>,
        announced: &EndpointData,
        qos: &DataWriterQos,
        representation: Representation,
        description: Option<&TypeDescription>,
        log: Option<Arc<Durable>>,
    ) -> Result<Self, StoreError> {
        let (guid, policies) = (announced.guid, &announced.qos);
        let config = WriterConfig {
            max_message_len: core.network.max_datagram_len(),
            max_stream_message_len: tcp::MAX_MESSAGE_LEN,
            max_fragment_len: core.max_fragment_bytes,
            filter_limits: core.filter_limits.clone(),
            service: log.as_ref().and_then(|_| durable::service(policies)),
            ..config(guid, qos, policies)
        };
        let mut machine = Writer::with_log(config, OwnLog::default());
        if let Some(log) = &log {
            log.restore(&mut machine)?;
        }
        Ok(Self {
            guid,
            representation,
            autodispose: AtomicBool::new(qos.autodispose_unregistered_instances),
            dscp: AtomicU8::new(dscp(policies.transport_priority)),
            latency_budget_ns: AtomicU64::new(nanos(policies.latency_budget)),
            listeners: Listeners::new(vec![Arc::clone(&core.listener)]),
            topic_name: announced.topic_name.clone(),
            observers: Observers::default(),
            max_blocking_time: policies.reliability.max_blocking_time,
            max_unacknowledged_len: qos.max_unacknowledged_bytes,
            asserts_participant: asserts_participant(&policies.liveliness),
            lender: Lender::new(description, representation, qos),
            description: description.cloned(),
            group: None,
            is_announced: AtomicBool::new(false),
            goes_straight: AtomicBool::new(false),
            flows: AtomicBool::new(false),
            durable: log,
            state: Mutex::new(WriterState {
                machine,
                deadline: DeadlineTracker::new(policies.deadline),
                lease: Lease::new(clock::now(), &policies.liveliness),
            }),
            due: Due::default(),
            changes: AtomicU32::new(0),
            statuses: Mutex::default(),
            core,
        })
    }

    /// Has the publisher number the changes, if it does so, and its listener told.
    pub(crate) fn in_group(mut self, group: &Arc<PublisherGroup>) -> Self {
        let above = vec![Arc::clone(&group.listener), Arc::clone(&self.core.listener)];
        self.listeners = Listeners::new(above);
        self.group = Some(Arc::clone(group)).filter(|group| group.is_group);
        self
    }

    /// Tells the listeners.
    pub(crate) fn call_listener(&self) {
        let panics = &self.core.counters.listener_panics;
        self.listeners.call(StatusMask::NONE, panics);
    }

    /// Begins a coherent set.
    pub(crate) fn begin_set(&self, group_set: SequenceNumber) {
        lock(&self.state).machine.begin_set(group_set);
    }

    /// Ends the coherent set. If the result is something, it is to be [kept](Self::keep_end_of_set)
    /// before the outbox is sent.
    pub(crate) fn end_set(
        &self,
        group_number: SequenceNumber,
        writers: GroupDigest,
        outbox: &mut Outbox,
    ) -> Option<EndedSet> {
        let ended = self.on_machine(clock::now(), outbox, |machine, now, outbox| {
            machine.end_set(now, group_number, writers, outbox)
        });
        ended.filter(|_| self.durable.is_some())
    }

    /// Has the end of a set outlive the writer.
    pub(crate) fn keep_end_of_set(&self, set: EndedSet) {
        if let Some(durable) = &self.durable {
            durable.end_set(self.guid, set, clock::now());
        }
    }

    /// Whether it has written anything in the coherent set that has begun.
    pub(crate) fn has_part(&self) -> bool {
        lock(&self.state).machine.coherent_set() != SequenceNumber::ZERO
    }

    /// Whether others are told of it.
    pub(crate) fn is_announced(&self) -> bool {
        self.is_announced.load(Ordering::Acquire)
    }

    /// Takes leave of the publisher whose changes it numbered; to be called before others are told.
    pub(crate) fn leave_group(&self) {
        if let Some(group) = &self.group {
            group.remove(self);
        }
    }

    /// Lets go of memory of the application's, once the writer is withdrawn: others may know it for some time.
    pub(crate) fn give_back_handed(&self) {
        let mut state = lock(&self.state);
        state.machine.give_back_handed();
        let given_back = mem::take(state.machine.given_back());
        drop(state);
        drop(given_back);
    }

    /// Lets go of the log, once the writer is withdrawn.
    pub(crate) fn close_log(&self) {
        if let Some(durable) = &self.durable
            && durable.close().is_err()
        {
            self.core.counters.store_errors.add(1);
        }
    }

    /// Writes a change, and waits for room if there is none.
    pub(crate) fn write(
        &self,
        now: Instant,
        change: &Change,
        payload: &impl Fn(&mut Vec<u8>) -> Result<(), Box<SampleError>>,
    ) -> Result<SequenceNumber, WriteError> {
        let payload = |buffer: &mut Vec<u8>| outgoing::serializing(|| payload(buffer));
        if self.goes_straight.load(Ordering::Relaxed)
            && change.key_hash.is_none()
            && !outgoing::is_busy()
            && let Some(number) = self.write_straight(now, change, payload)?
        {
            return Ok(number);
        }
        self.write_by(now, |now| self.try_write(now, change, payload))
    }

    /// Writes `len` bytes in place, and waits for room if there is none.
    pub(crate) fn write_lent(
        &self,
        now: Instant,
        lender: &Lender,
        change: &Change,
        loan: shm::Loan,
        len: usize,
    ) -> Result<SequenceNumber, WriteError> {
        let mut loan = Some(loan);
        self.write_by(now, |now| {
            self.try_write_lent(lender, now, change, &mut loan, len)
        })
    }

    /// Writes a payload that is serialized already, and waits for room if there is none. A long one is handed over, and
    /// memory for another is left in its place.
    pub(crate) fn write_serialized(
        &self,
        now: Instant,
        change: &Change,
        payload: &mut Vec<u8>,
    ) -> Result<SequenceNumber, WriteError> {
        // The history is not to keep much memory for little.
        let is_handed_over =
            payload.len() > MAX_COPIED_LEN && payload.len() >= payload.capacity() / 2;
        if !is_handed_over || self.durable.is_some() {
            return self.write(now, change, &|buffer: &mut Vec<u8>| {
                copy::append(buffer, payload);
                Ok(())
            });
        }
        self.write_by(now, |now| {
            let budget = || self.latency_budget();
            outgoing::publish(&self.core, now, budget, |outbox, _| {
                let written =
                    self.put::<WriteError>(now, change, outbox, |machine, change, outbox| {
                        machine.write_serialized(now, change, payload, outbox)
                    });
                Ok(written?)
            })
        })
    }

    /// Writes a payload that lies in memory of the application's, behind `front` and if it `is_padded` before zeros up to
    /// a multiple of four, and waits for room if there is none. It is sent from there: not from the log of a durable writer,
    /// nor where it is so short that a copy costs less.
    pub(crate) fn write_handed(
        &self,
        now: Instant,
        change: &Change,
        handed: (&[u8], &Handed, bool),
    ) -> Result<SequenceNumber, WriteError> {
        self.write_by(now, |now| {
            let budget = || self.latency_budget();
            outgoing::publish(&self.core, now, budget, |outbox, _| {
                let written =
                    self.put::<WriteError>(now, change, outbox, |machine, change, outbox| {
                        machine.write_handed(now, change, handed, outbox)
                    });
                Ok(written?)
            })
        })
    }

    /// Whether a payload of `len` bytes is sent from where it lies when it is [handed over](Self::write_handed).
    pub(crate) fn sends_handed(&self, len: usize) -> bool {
        len > MAX_COPIED_LEN && self.durable.is_none()
    }

    /// Writes, and waits for room if there is none.
    #[inline]
    fn write_by(
        &self,
        now: Instant,
        mut try_write: impl FnMut(Instant) -> Result<SequenceNumber, Refused>,
    ) -> Result<SequenceNumber, WriteError> {
        if outgoing::is_serializing() {
            return Err(WriteError::Nested);
        }
        let result = try_write(now);
        if self.asserts_participant {
            self.core.assert_liveliness();
        }
        match result {
            Ok(number) => Ok(number),
            Err(refused) => self.write_refused(refused, try_write),
        }
    }

    /// The application says that the writer lives (DDS 1.4 §2.2.2.4.2.22).
    pub(crate) fn assert_liveliness(&self) {
        if self.asserts_participant {
            return self.core.assert_liveliness();
        }
        Scratch::lend(|scratch| {
            self.on_state(clock::now(), &mut scratch.outbox, |state, now, outbox| {
                state.machine.assert_liveliness(outbox);
                if let Some(lease) = &mut state.lease {
                    lease.assert(now);
                }
            });
            self.core.send_in_turn(&mut scratch.outbox);
        });
    }

    /// The participant's manual writers live.
    pub(crate) fn participant_asserted(&self, now: Instant, outbox: &mut Outbox) {
        if self.asserts_participant {
            self.on_state(now, outbox, |state, now, _| {
                if let Some(lease) = &mut state.lease {
                    lease.assert(now);
                }
            });
        }
    }

    /// How long a sample may wait for company.
    fn latency_budget(&self) -> Duration {
        Duration::from_nanos(self.latency_budget_ns.load(Ordering::Relaxed))
    }

    /// Bytes that readers may have to acknowledge.
    pub(crate) fn max_unacknowledged_len(&self) -> usize {
        self.max_unacknowledged_len
    }

    /// What it lends from, where its readers can see it.
    pub(crate) fn pool(&self) -> Option<&Pool> {
        // What goes to the disk first never goes straight to the log.
        let lender = self.lender.as_ref().filter(|_| self.durable.is_none());
        lender.and_then(Lender::pool)
    }

    /// Reaches the readers of a participant by `to` alone, or as they are announced.
    pub(crate) fn divert(&self, participant: GuidPrefix, to: Option<Locator>) {
        lock(&self.state).machine.divert(participant, to);
    }

    /// Has what it writes go straight to that log where all readers follow it, or no more. What goes to
    /// the disk first never does. The log that it had.
    pub(crate) fn set_log(&self, log: Option<Box<CountingLog>>) -> Option<Box<CountingLog>> {
        let goes_straight = self.durable.is_none();
        lock(&self.state).machine.log().set(log, goes_straight)
    }

    /// Adds a datagram to its log, if it has one and there is memory, and wakes the readers that sleep.
    pub(crate) fn write_to_log(&self, datagram: Pieces<'_>) -> bool {
        let (head, body) = match datagram.foot.is_empty() {
            true => (Cow::Borrowed(datagram.head), datagram.body),
            false => (datagram.joined(), &[][..]),
        };
        let mut state = lock(&self.state);
        let log = state.machine.log();
        let is_written = log.write(|log| log.publish(&head, body));
        let ringing = log.take_ringing();
        drop(state);
        drop(ringing);
        is_written
    }

    /// Its log, if it has one.
    pub(crate) fn with_log<R>(&self, call: impl FnOnce(&mut CountingLog) -> R) -> Option<R> {
        lock(&self.state).machine.log().get().map(call)
    }

    /// Whether unregistering disposes.
    pub(crate) fn autodisposes(&self) -> bool {
        self.autodispose.load(Ordering::Relaxed)
    }

    /// Whether its instances end with it. Those of a durable writer live on in its log.
    pub(crate) fn disposes_at_its_end(&self) -> bool {
        self.autodisposes() && self.durable.is_none()
    }

    /// Whether any reader matches.
    pub(crate) fn has_readers(&self) -> bool {
        lock(&self.state).machine.readers().next().is_some()
    }

    /// Takes over what may change of the QoS.
    pub(crate) fn change(&self, policies: &EndpointQos, autodispose: bool) {
        self.autodispose.store(autodispose, Ordering::Relaxed);
        self.dscp
            .store(dscp(policies.transport_priority), Ordering::Relaxed);
        self.latency_budget_ns
            .store(nanos(policies.latency_budget), Ordering::Relaxed);
        Scratch::lend(|scratch| {
            self.on_state(clock::now(), &mut scratch.outbox, |state, now, _| {
                state.machine.set_lifespan(policies.lifespan);
                DeadlineTracker::change(&mut state.deadline, now, policies.deadline);
            });
        });
    }

    /// Begins to watch over deadlines and leases, now that others are told of the writer.
    pub(crate) fn start(&self) {
        self.is_announced.store(true, Ordering::Release);
        Scratch::lend(|scratch| {
            self.on_state(clock::now(), &mut scratch.outbox, |state, now, _| {
                if let Some(lease) = &mut state.lease {
                    lease.assert(now);
                }
            });
        });
    }

    /// Waits for room, and writes.
    #[cold]
    fn write_refused(
        &self,
        refused: Refused,
        mut try_write: impl FnMut(Instant) -> Result<SequenceNumber, Refused>,
    ) -> Result<SequenceNumber, WriteError> {
        if let Refused::Error(error) = refused {
            return Err(*error);
        }
        let waited = self.max_blocking_time;
        let result = self
            .core
            .wait_for_control(waited, || match try_write(clock::now()) {
                Err(Refused::Full) => {
                    // Room comes from acknowledgements: of held samples, and of those asked for.
                    outgoing::flush();
                    self.core.flush();
                    None
                }
                Err(Refused::Error(error)) => Some(Err(*error)),
                Ok(number) => Some(Ok(number)),
            });
        outgoing::had_to_wait();
        if self.asserts_participant {
            self.core.assert_liveliness();
        }
        result.unwrap_or(Err(WriteError::Timeout { waited }))
    }

    fn try_write(
        &self,
        now: Instant,
        change: &Change,
        payload: impl Fn(&mut Vec<u8>) -> Result<(), Box<SampleError>>,
    ) -> Result<SequenceNumber, Refused> {
        outgoing::publish(
            &self.core,
            now,
            || self.latency_budget(),
            |outbox, company| {
                let Some(durable) = &self.durable else {
                    let written = self.put(now, change, outbox, |machine, change, outbox| {
                        machine.write_in_company(now, change, payload, outbox, move || {
                            company.place(self.dscp.load(Ordering::Relaxed))
                        })
                    });
                    return Ok(written?);
                };
                let written =
                    durable.write::<Unwritten<SampleError>>(self.guid, change, now, |record| {
                        let payload = |buffer: &mut Vec<u8>| {
                            let start = buffer.len();
                            payload(buffer)?;
                            copy::append(record, buffer.get(start..).unwrap_or_default());
                            Ok::<_, Box<SampleError>>(())
                        };
                        let mut coherent_set = SequenceNumber::ZERO;
                        let number = self.put(now, change, outbox, |machine, change, outbox| {
                            let number = machine.write(now, change, payload, outbox)?;
                            coherent_set = machine.coherent_set();
                            Ok(number)
                        })?;
                        Ok(Written {
                            number,
                            coherent_set,
                        })
                    });
                Ok(written??)
            },
        )
    }

    fn try_write_lent(
        &self,
        lender: &Lender,
        now: Instant,
        change: &Change,
        loan: &mut Option<shm::Loan>,
        len: usize,
    ) -> Result<SequenceNumber, Refused> {
        outgoing::publish(
            &self.core,
            now,
            || self.latency_budget(),
            |outbox, _| {
                let written =
                    self.put::<WriteError>(now, change, outbox, |machine, change, outbox| {
                        let publish = |head: &[u8; LENT_HEAD_LEN]| {
                            // It is there until it is written.
                            let loan = loan
                                .take()
                                .ok_or_else(|| Box::new(WriteError::NotEnabled))?;
                            Ok(lender.publish(loan, len, head))
                        };
                        machine.write_lent(now, change, lender.payload_len(len), publish, outbox)
                    });
                let number = written?;
                // Readers may have acknowledged beside the log. Who waits for room is not to wake itself.
                self.core.raise_of_locked();
                Ok(number)
            },
        )
    }

    /// Has the machine write a change.
    fn put<E>(
        &self,
        now: Instant,
        change: &Change,
        outbox: &mut Outbox,
        write: impl FnOnce(
            &mut Writer<OwnLog>,
            &Change,
            &mut Outbox,
        ) -> Result<SequenceNumber, Unwritten<E>>,
    ) -> Result<SequenceNumber, Unwritten<E>> {
        self.on_state(now, outbox, |state, now, outbox| {
            let numbered;
            let change = match &self.group {
                None => change,
                Some(group) => {
                    let group_number = group.next_number();
                    numbered = Change {
                        group_number,
                        ..*change
                    };
                    &numbered
                }
            };
            let number = write(&mut state.machine, change, outbox)?;
            if let Some(lease) = &mut state.lease {
                lease.assert(now);
                if state.machine.has_filters() && lease.is_to_tell(now) {
                    state.machine.assert_liveliness(outbox);
                }
            }
            if let Some(deadline) = &mut state.deadline {
                let hash = change.key_hash;
                let instance = hash.map_or(InstanceHandle::KEYLESS, InstanceHandle);
                match change.kind.is_alive() {
                    true => deadline.written(instance, now),
                    false => deadline.ended(instance),
                }
            }
            Ok(number)
        })
    }

    /// Runs `call` on the machine, and sends what it leaves once the lock is dropped.
    pub(crate) fn with_machine<R>(
        &self,
        call: impl FnOnce(&mut Writer<OwnLog>, Instant, &mut Outbox) -> R,
    ) -> R {
        Scratch::lend(|scratch| {
            let result = self.on_machine(clock::now(), &mut scratch.outbox, call);
            self.core.send_in_turn(&mut scratch.outbox);
            result
        })
    }

    /// Runs `call` on the machine; what it leaves is for the caller to send.
    fn on_machine<R>(
        &self,
        now: Instant,
        outbox: &mut Outbox,
        call: impl FnOnce(&mut Writer<OwnLog>, Instant, &mut Outbox) -> R,
    ) -> R {
        self.on_state(now, outbox, |state, now, outbox| {
            call(&mut state.machine, now, outbox)
        })
    }

    fn on_state<R>(
        &self,
        now: Instant,
        outbox: &mut Outbox,
        call: impl FnOnce(&mut WriterState, Instant, &mut Outbox) -> R,
    ) -> R {
        let mut state = lock(&self.state);
        outbox.mark(self.dscp.load(Ordering::Relaxed));
        let result = call(&mut state, now, outbox);
        outbox.mark(0);
        let mut due = state.machine.poll_timeout();
        if let Some(deadline) = &state.deadline {
            due = earlier(due, deadline.poll_timeout());
        }
        if let Some(lease) = &state.lease {
            due = earlier(due, lease.poll_timeout());
        }
        let is_first = self.due.set(due, &self.core.control);
        self.look_whether_straight(&state);
        let ringing = state.machine.log().take_ringing();
        outbox.take_given_back(state.machine.given_back());
        drop(state);
        drop(ringing);
        if is_first {
            self.core.control.interrupt();
        }
        result
    }

    /// Takes an acknowledgement or a request. Whether anybody may have waited for it: the participant's signal is to be
    /// raised, once what is in the outbox is sent, as who writes next on the same processor would keep that back.
    pub(crate) fn receive(
        &self,
        now: Instant,
        context: &Context<'_>,
        submessage: &Submessage<'_>,
        outbox: &mut Outbox,
    ) -> bool {
        self.on_machine(now, outbox, |machine, now, outbox| match submessage {
            Submessage::AckNack(acknack) => {
                machine.handle_acknack(now, context, acknack, outbox);
                true
            }
            Submessage::NackFrag(nack) => {
                let sent = machine.sent();
                machine.handle_nack_frag(now, context, nack, outbox);
                machine.sent() > sent
            }
            _ => false,
        })
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub(crate) fn due(&self) -> Instant {
        self.due.at()
    }

    /// Does what is due; says whether the listener has something to hear.
    pub(crate) fn handle_timeout(&self, now: Instant, outbox: &mut Outbox) -> bool {
        let mut news = StatusMask::NONE;
        self.on_state(now, outbox, |state, now, outbox| {
            self.due.forget();
            state.machine.handle_timeout(now, outbox);
            if let Some(deadline) = &mut state.deadline {
                deadline.check(now, |instance| {
                    lock(&self.statuses).deadline_missed.missed(instance);
                    news |= StatusMask::OFFERED_DEADLINE_MISSED;
                    true
                });
            }
            if state.lease.as_mut().is_some_and(|lease| lease.check(now)) {
                lock(&self.statuses).liveliness_lost.add(1);
                news |= StatusMask::LIVELINESS_LOST;
            }
        });
        // Readers may have acknowledged beside the log.
        self.core.raise_of_locked();
        !news.is_empty() && self.changed(news)
    }

    /// The last change that was written, if all matched readers were to have each.
    pub(crate) fn last_for_all(&self) -> Option<SequenceNumber> {
        let machine = &lock(&self.state).machine;
        (!machine.has_filters()).then(|| machine.last())
    }

    /// Asks for acknowledgement of what is written so far and waits for it; `None` if it does not
    /// come in time, or the wait has ended.
    pub(crate) fn wait_for_acknowledgments(&self, timeout: Duration, ended: &Ended) -> Option<()> {
        let last = self.with_machine(|machine, now, outbox| {
            machine.ask_acknowledgement(now, outbox);
            machine.last()
        });
        let acknowledged = || {
            lock(&self.state)
                .machine
                .is_acknowledged(last)
                .then_some(())
        };
        let waited = self.core.wait_for_control(timeout, ended.or(acknowledged));
        waited.flatten()
    }

    /// The content filter of a reader, unless there is none or it is in a language or about members
    /// that are not known here. Such a reader is sent everything and filters by itself.
    pub(crate) fn filter_of(&self, reader: &EndpointData) -> Option<Filter> {
        let announced = reader.content_filter.as_ref()?;
        let is_known = announced.filter_class_name == ContentFilterProperty::DDSSQL;
        let description = self.description.as_ref().filter(|_| is_known)?;
        let parameters = &announced.expression_parameters;
        Filter::new(&announced.filter_expression, parameters, description).ok()
    }

    /// A reader matches; says whether there is a listener to tell.
    pub(crate) fn match_reader(
        &self,
        now: Instant,
        proxy: ReaderProxy,
        outbox: &mut Outbox,
    ) -> bool {
        let reader = proxy.guid;
        let known = self.on_machine(now, outbox, |machine, now, outbox| {
            let known = machine.readers().any(|status| status.guid == reader);
            machine.match_reader(now, proxy, outbox);
            known
        });
        if known {
            return false;
        }
        lock(&self.statuses).matched.matched(reader);
        self.changed(StatusMask::PUBLICATION_MATCHED)
    }

    /// A reader is gone; says whether there is a listener to tell.
    pub(crate) fn unmatch_reader(&self, now: Instant, reader: Guid, outbox: &mut Outbox) -> bool {
        let known = self.on_machine(now, outbox, |machine, _, _| machine.unmatch_reader(reader));
        if !known {
            return false;
        }
        lock(&self.statuses).matched.unmatched(reader);
        self.changed(StatusMask::PUBLICATION_MATCHED)
    }

    /// A reader does not match; says whether there is a listener to tell.
    pub(crate) fn incompatible(&self, reader: Guid, verdict: Arc<Verdict>) -> bool {
        if verdict.incompatible_policies().next().is_none() {
            return false;
        }
        lock(&self.statuses).incompatible_qos.found(reader, verdict);
        self.changed(StatusMask::OFFERED_INCOMPATIBLE_QOS)
    }

    /// Statuses that changed since they were last read.
    pub(crate) fn changes(&self) -> StatusMask {
        StatusMask::from_bits(self.changes.load(Ordering::Acquire))
    }

    /// Reads a status, which clears its change.
    pub(crate) fn status<R>(
        &self,
        mask: StatusMask,
        read: impl FnOnce(&mut WriterStatuses) -> R,
    ) -> R {
        self.changes.fetch_and(!mask.bits(), Ordering::AcqRel);
        read(&mut lock(&self.statuses))
    }

    fn changed(&self, mask: StatusMask) -> bool {
        self.changes.fetch_or(mask.bits(), Ordering::AcqRel);
        self.core.raise();
        self.observers.raise();
        self.listeners.note(self.guid, mask)
    }
}

fn config(guid: Guid, qos: &DataWriterQos, policies: &EndpointQos) -> WriterConfig {
    let presentation = &policies.presentation;
    WriterConfig {
        reliable: policies.is_reliable(),
        transient_local: policies.durability != tickwire_rtps::qos::Durability::Volatile,
        history: durable::history(policies.history),
        limits: durable::limits(&policies.resource_limits),
        relays: durable::is_durable(policies),
        relates: qos.related_samples,
        lifespan: policies.lifespan,
        presents: presentation.coherent_access
            || presentation.access_scope == PresentationScope::Group,
        max_unacknowledged_len: qos.max_unacknowledged_bytes,
        multicast: qos.multicast_samples,
        ..WriterConfig::new(guid)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn asserts_participant(liveliness: &Liveliness) -> bool {
    liveliness.kind == LivelinessKind::ManualByParticipant
        && liveliness.lease_duration != Duration::MAX
}

/// Why the machine did not write a sample.
type Unwritten<E> = writer::WriteError<Box<E>>;

/// Why a write must wait, or cannot be. Fits a register, as the number does of what is written: results of many
/// words, moved from call to call, would cost a small sample a tenth of its write.
enum Refused {
    Full,
    Error(Box<WriteError>),
}

impl From<WriteError> for Refused {
    #[cold]
    fn from(error: WriteError) -> Self {
        Self::Error(Box::new(error))
    }
}

impl<E: Into<WriteError>> From<Unwritten<E>> for Refused {
    #[cold]
    fn from(error: Unwritten<E>) -> Self {
        Self::from(match error {
            writer::WriteError::WouldBlock => return Self::Full,
            writer::WriteError::TooManyInstances => WriteError::TooManyInstances,
            writer::WriteError::TooLarge => WriteError::TooLarge,
            writer::WriteError::Payload(error) => (*error).into(),
        })
    }
}
