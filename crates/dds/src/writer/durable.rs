//! What a TRANSIENT or PERSISTENT writer leaves behind (DDS 1.4 §2.2.3.4): its log, to which every change
//! is appended before the write returns, and from which the next writer of the topic begins. Knows
//! neither readers nor the network.
//!
//! The log has a lock of its own, which a write holds from before its change gets its number until the
//! change is appended, so that the log has the order of the numbers. Only writes of the same writer wait
//! for it; acknowledgements, repairs and timers need the machine's lock alone, which is not held while
//! the kernel is called. To the disk goes what is appended by a [thread of its own](super::syncer), if
//! not by the write.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_cdr::TypeDescription;
use tickwire_rtps::discovery::EndpointData;
use tickwire_rtps::qos::EndpointQos;
use tickwire_rtps::wire::{Guid, SequenceNumber};
use tickwire_rtps::writer::{self, EndedSet, HistoryKind, ServiceHistory, Writer};
use tickwire_rtps::{Change, ChangeKind, OriginalWriter};
use tickwire_store::{
    Log, LogCounters, Operation, Record, RecordKind, Retention, Store, StoreError, SyncPolicy,
};

use super::description;
use super::syncer::SyncQueue;
use crate::clock;
use crate::core::Core;
use crate::error::WriteError;
use crate::participant::thread_cores::ThreadKind;
use crate::qos::{Durability, DurabilityService, History, ResourceLimits};
use crate::signal::lock;

/// The log of a writer, until the writer ends.
pub(crate) struct Durable {
    /// How long after a write it goes to the disk, and who sees to that.
    pub(super) syncing: Option<(Duration, Arc<SyncQueue>)>,
    /// Whether it is in that queue.
    pub(super) is_waiting: AtomicBool,
    pub(super) state: Mutex<Option<State>>,
}

pub(super) struct State {
    log: Log,
    /// What is to be appended.
    payload: Vec<u8>,
    /// What has gone wrong since the last write.
    failed: Option<StoreError>,
}

impl Durable {
    /// Opens the log of a writer that is about to be announced; `None` if nothing of it is to outlive
    /// it.
    pub(crate) fn open(
        core: &Core,
        data: &EndpointData,
        ty: Option<&TypeDescription>,
    ) -> Result<Option<Arc<Self>>, StoreError> {
        let qos = &data.qos;
        let Some(options) = core.store.as_ref().filter(|_| is_durable(qos)) else {
            return Ok(None);
        };
        let (directory, sync) = match qos.durability {
            Durability::Persistent => (&options.persistent, options.sync),
            _ => (&options.transient, SyncPolicy::Never),
        };
        let directory = directory.as_ref().ok_or(StoreError::NoPlace)?;
        let store = Store::open(directory)?;
        let syncing = match sync {
            SyncPolicy::Interval(interval) => {
                let queue = core
                    .syncer
                    .start(core.thread_cores.of(ThreadKind::Sync))
                    .map_err(|error| StoreError::Io {
                        operation: Operation::Sync,
                        path: directory.clone(),
                        kind: error.kind(),
                        reason: format!("no thread for that: {error}"),
                    })?;
                Some((interval, queue))
            }
            SyncPolicy::Never | SyncPolicy::EachWrite => None,
        };
        let retention = retention(&qos.durability_service);
        let log = store.adopt(
            description::describe(core, data, ty),
            |log| description::fits(log, data, ty),
            retention,
            sync,
            clock::timestamp(),
        )?;
        Ok(Some(Self::new(log, syncing)))
    }

    pub(super) fn new(log: Log, syncing: Option<(Duration, Arc<SyncQueue>)>) -> Arc<Self> {
        Arc::new(Self {
            syncing,
            is_waiting: AtomicBool::new(false),
            state: Mutex::new(Some(State {
                log,
                payload: Vec::new(),
                failed: None,
            })),
        })
    }

    /// Gives a machine that has no readers yet what the log keeps.
    pub(crate) fn restore(&self, machine: &mut Writer<impl writer::Log>) -> Result<(), StoreError> {
        match &*lock(&self.state) {
            Some(state) => restore(&state.log, machine),
            None => Ok(()),
        }
    }

    /// Appends a change once `write` has written it, which copies its payload to where it is told and
    /// says which coherent set it is in.
    pub(crate) fn write<E>(
        self: &Arc<Self>,
        writer: Guid,
        change: &Change,
        now: Instant,
        write: impl FnOnce(&mut Vec<u8>) -> Result<Written, E>,
    ) -> Result<Result<SequenceNumber, E>, WriteError> {
        let mut state = lock(&self.state);
        let Some(state) = &mut *state else {
            return Ok(write(&mut Vec::new()).map(|written| written.number));
        };
        state.payload.clear();
        let written = match write(&mut state.payload) {
            Ok(written) => written,
            Err(error) => return Ok(Err(error)),
        };
        let timestamp = clock::timestamp();
        let record = Record {
            kind: record_kind(change.kind),
            writer: writer.to_bytes(),
            sequence_number: written.number.0,
            source_timestamp: change.source_timestamp.unwrap_or(timestamp),
            key_hash: change.key_hash,
            coherent_set: written.coherent_set.0,
            payload: &state.payload,
        };
        let appended = state.log.append(&record, timestamp);
        match appended.err() {
            Some(error) if !is_of_the_disk(&error) => return Err(WriteError::Store(error)),
            disk => state.keep(disk.map_or(Ok(()), Err)),
        }
        self.sync_after(now);
        match state.failed.take() {
            None => Ok(Ok(written.number)),
            Some(error) => Err(WriteError::Unsynced(error)),
        }
    }

    /// Appends the end of a coherent set, before which nobody who comes late sees anything of it. The
    /// next write tells if that failed.
    pub(crate) fn end_set(self: &Arc<Self>, writer: Guid, set: EndedSet, now: Instant) {
        if let Some(state) = &mut *lock(&self.state) {
            let timestamp = clock::timestamp();
            let record = Record {
                kind: RecordKind::EndOfSet,
                writer: writer.to_bytes(),
                sequence_number: set.end.0,
                source_timestamp: timestamp,
                coherent_set: set.first.0,
                ..Record::default()
            };
            let appended = state.log.append(&record, timestamp);
            state.keep(appended);
            self.sync_after(now);
        }
    }

    /// Has the log brought to the disk when the interval is over.
    pub(super) fn sync_after(self: &Arc<Self>, now: Instant) {
        if let Some((interval, queue)) = &self.syncing
            && !self.is_waiting.swap(true, Ordering::AcqRel)
        {
            queue.push(now + *interval, Arc::clone(self));
        }
    }

    /// Brings what was written to the disk. The next write tells if that failed. Others may write
    /// meanwhile.
    pub(super) fn sync(&self) {
        let unsynced = {
            let state = lock(&self.state);
            // What is written from here on waits for the next time, and who closes the log before syncs.
            self.is_waiting.store(false, Ordering::Release);
            state.as_ref().map(|state| state.log.unsynced())
        };
        let Some(unsynced) = unsynced else {
            return;
        };
        let synced = unsynced.sync();
        if let Some(state) = &mut *lock(&self.state) {
            state.keep(synced);
        }
    }

    pub(crate) fn counters(&self) -> Option<LogCounters> {
        lock(&self.state).as_ref().map(|state| state.log.counters())
    }

    /// Whether a writer wants the log of a durability service.
    pub(super) fn is_wanted(&self) -> bool {
        lock(&self.state)
            .as_ref()
            .is_some_and(|state| state.log.is_wanted())
    }

    /// Lets go of the log.
    ///
    /// # Errors
    /// With what no write has told and none will.
    pub(crate) fn close(&self) -> Result<(), StoreError> {
        let Some(mut state) = mem::take(&mut *lock(&self.state)) else {
            return Ok(());
        };
        if self.is_waiting.load(Ordering::Acquire) {
            let synced = state.log.sync();
            state.keep(synced);
        }
        state.failed.map_or(Ok(()), Err)
    }
}

impl State {
    /// Keeps what went wrong first until a write can tell.
    pub(super) fn keep(&mut self, result: Result<(), StoreError>) {
        if self.failed.is_none() {
            self.failed = result.err();
        }
    }
}

/// Whether the log has what was to be appended, and only the disk may not.
fn is_of_the_disk(error: &StoreError) -> bool {
    let operation = match error {
        StoreError::Io { operation, .. } => operation,
        _ => return false,
    };
    *operation == Operation::Sync
}

/// A change that a machine has taken.
pub(crate) struct Written {
    pub(crate) number: SequenceNumber,
    /// The first change of the coherent set that it is in.
    pub(crate) coherent_set: SequenceNumber,
}

/// Whether the policies ask for samples that outlive their writer.
pub(crate) fn is_durable(qos: &EndpointQos) -> bool {
    qos.durability >= Durability::Transient
}

/// What a durable writer keeps in memory of what all readers have: what its log keeps, since it is its
/// own durability service.
pub(crate) fn service(qos: &EndpointQos) -> Option<ServiceHistory> {
    let service = &qos.durability_service;
    is_durable(qos).then(|| ServiceHistory {
        history: history(service.history),
        limits: limits(&service.resource_limits),
        cleanup_delay: service.cleanup_delay,
    })
}

pub(super) fn history(history: History) -> HistoryKind {
    match history {
        History::KeepLast(depth) => HistoryKind::KeepLast(depth),
        History::KeepAll => HistoryKind::KeepAll,
    }
}

pub(super) fn limits(limits: &ResourceLimits) -> writer::ResourceLimits {
    let limit =
        |limit: Option<u32>| limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    writer::ResourceLimits {
        max_samples: limit(limits.max_samples),
        max_instances: limit(limits.max_instances),
        max_samples_per_instance: limit(limits.max_samples_per_instance),
    }
}

/// Gives a machine that has no readers yet what a log keeps. A set of GROUP scope becomes one of its
/// writer's alone: what other writers of the publisher had of it is in other logs.
fn restore(log: &Log, machine: &mut Writer<impl writer::Log>) -> Result<(), StoreError> {
    let (now, timestamp) = (clock::now(), clock::timestamp());
    let mut set = None;
    log.read(timestamp, |record, is_whole| {
        // The end of a set may stand behind what was written after it.
        let Some(kind) = change_kind(record.kind) else {
            return;
        };
        let its_set = (record.writer, record.coherent_set);
        let its_set = Some(its_set).filter(|_| record.coherent_set != 0);
        if its_set != set {
            machine.end_restored_set();
            if its_set.is_some() {
                machine.begin_restored_set(is_whole);
            }
            set = its_set;
        }
        let change = Change {
            kind,
            source_timestamp: Some(record.source_timestamp),
            key_hash: record.key_hash,
            group_number: SequenceNumber::ZERO,
            original: Some(OriginalWriter {
                guid: Guid::from_bytes(record.writer),
                sequence_number: SequenceNumber(record.sequence_number),
            }),
            related: None,
        };
        let age = timestamp.since(record.source_timestamp);
        machine.restore(now, change, age, record.payload);
    })?;
    machine.end_restored_set();
    Ok(())
}

/// What a log keeps.
pub(super) fn retention(service: &DurabilityService) -> Retention {
    let limits = service.resource_limits;
    Retention {
        depth: match service.history {
            History::KeepLast(depth) => Some(depth),
            History::KeepAll => None,
        },
        max_samples: limits.max_samples,
        max_instances: limits.max_instances,
        max_samples_per_instance: limits.max_samples_per_instance,
        cleanup_delay: service.cleanup_delay,
    }
}

fn record_kind(kind: ChangeKind) -> RecordKind {
    match kind {
        ChangeKind::Alive => RecordKind::Alive,
        ChangeKind::Disposed => RecordKind::Disposed,
        ChangeKind::Unregistered => RecordKind::Unregistered,
        ChangeKind::DisposedUnregistered => RecordKind::DisposedUnregistered,
    }
}

fn change_kind(kind: RecordKind) -> Option<ChangeKind> {
    Some(match kind {
        RecordKind::Alive => ChangeKind::Alive,
        RecordKind::Disposed => ChangeKind::Disposed,
        RecordKind::Unregistered => ChangeKind::Unregistered,
        RecordKind::DisposedUnregistered => ChangeKind::DisposedUnregistered,
        RecordKind::EndOfSet => return None,
    })
}
