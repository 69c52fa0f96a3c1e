//! Shared memory: the logs of our writers, and others' that our readers follow.
//!
//! A log carries datagrams: a record is what would be sent by UDP, and is received in the same way. What
//! is sent there is nothing but what goes to readers. Acknowledgements go by the network, but for those of
//! loans, which are notes beside the log, so that whoever misses something, at a change of ways or because it was overrun, has
//! it repaired as after any loss.
//!
//! ```text
//! participant with a reader                  participant with a writer
//!   discovery: a writer matches, whose
//!   participant is met in our machine
//!   ask for that writer's log   ───────────►  makes it, gives a seat,
//!   follow                      ◄───────────  reaches all our readers by it from here on
//!   discovery: no reader is left
//!   leave, or end in any way    ───────────►  reaches our readers by UDP again
//! ```
//!
//! What else than a datagram a record may be, its [tag](record) says: a sample that says nothing besides, in fewer
//! bytes, or where a message lies that is lent.
//!
//! All talking is the control lane's: discovery only notes what it [wants](Want), as no system call is made
//! under its lock.

mod guest;
mod host;
mod note;
mod own_log;
mod parting;
mod way;

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use hashbrown::HashMap;
use tickwire_base::{Counter, Pieces};
use tickwire_rtps::discovery::SharedMemoryAddress;
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix};
use tickwire_transport::Waker;
use tickwire_transport::shm::meeting::{LogId, Meeting, MeetingEvent};
use tickwire_transport::shm::{Ear, LogReader};

use crate::clock;
use crate::core::Core;
use crate::participant::SharedMemoryCounters;
use crate::signal::lock;
use crate::writer::endpoint::WriterEndpoint;
use guest::Guest;
use host::Host;
pub(crate) use note::note;
use own_log::Sent;
pub(crate) use own_log::{CountingLog, OwnLog};
use parting::Parting;
pub use way::{Obstacle, Way};

/// What a participant needs to use shared memory.
pub(crate) struct SharedMemory {
    address: SharedMemoryAddress,
    /// Rung by the writers of the logs that are followed.
    pub(crate) ear: Arc<Ear>,
    /// Readable when somebody has said something.
    meeting_fd: OwnedFd,
    meets: Mutex<Meets>,
    wants: Wants,
    /// Our writers that have one. Locked for writing only when one comes or goes.
    logs: RwLock<Logs>,
    /// What was written to logs that are gone.
    sent_before: Mutex<Sent>,
    notices: Notices,
    /// Ends the sleep of the thread that follows logs.
    pub(crate) waker: Waker,
    pub(crate) counters: ShmCounters,
    /// Whether samples are read where others have written them.
    pub(crate) trusts_lenders: bool,
}

/// What has passed through shared memory.
#[derive(Debug, Default)]
pub(crate) struct ShmCounters {
    pub(crate) records_received: Counter,
    pub(crate) record_bytes_received: Counter,
    pub(crate) records_lost: Counter,
    pub(crate) malformed: Counter,
    pub(crate) refused: Counter,
    pub(crate) loans_received: Counter,
    pub(crate) loans_copied: Counter,
}

type Logs = HashMap<EntityId, Weak<WriterEndpoint>>;

/// Who is met, on both sides.
struct Meets {
    meeting: Meeting,
    guest: Guest,
    host: Host,
    parting: Parting,
}

/// What discovery wants of the control lane.
#[derive(Default)]
struct Wants {
    are_any: AtomicBool,
    queue: Mutex<Vec<Want>>,
}

/// Something that discovery has found out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Want {
    /// A participant is there, which others of its machine may meet.
    Known(GuidPrefix, Option<SharedMemoryAddress>),
    /// It is gone.
    Gone(GuidPrefix),
    /// A reader of ours has matched this writer.
    Follow(Guid),
    /// It writes no more to its log, which is to be read to its end.
    Finish(Guid),
    /// None is left that does.
    Leave(Guid),
    /// The log of this writer does not hold what it should.
    Malformed(Guid),
    /// All has been read of the log of this writer, which is gone.
    Finished(Guid),
}

/// What the lane is told that follows logs.
#[derive(Default)]
struct Notices {
    are_any: AtomicBool,
    queue: Mutex<Vec<Notice>>,
}

/// Which logs there are to follow.
pub(crate) enum Notice {
    /// That one, of this writer.
    Begin(Guid, LogReader),
    /// No more of this writer's than it has now.
    Finish(Guid),
    /// Nothing more of this writer.
    Stop(Guid),
}

impl SharedMemory {
    /// Opens a place to meet others. Costs five descriptors and a page.
    pub(crate) fn open(trusts_lenders: bool) -> Result<Self, Obstacle> {
        let failed = |error: &dyn std::error::Error| Obstacle::Local(error.to_string());
        let ear = Arc::new(Ear::new().map_err(|error| failed(&error))?);
        let meeting = Meeting::new(Arc::clone(&ear)).map_err(|error| failed(&error))?;
        let meeting_fd = meeting.as_fd().try_clone_to_owned();
        let machine = machine().map_err(|error| failed(&error))?;
        let name = meeting.name().0;
        Ok(Self {
            address: SharedMemoryAddress {
                version: VERSION,
                machine,
                meeting: name,
            },
            ear,
            meeting_fd: meeting_fd.map_err(|error| failed(&error))?,
            meets: Mutex::new(Meets {
                meeting,
                guest: Guest::default(),
                host: Host::default(),
                parting: Parting::default(),
            }),
            wants: Wants::default(),
            logs: RwLock::default(),
            sent_before: Mutex::default(),
            notices: Notices::default(),
            waker: Waker::new().map_err(|error| failed(&error))?,
            counters: ShmCounters::default(),
            trusts_lenders,
        })
    }

    /// What to announce.
    pub(crate) fn address(&self) -> SharedMemoryAddress {
        self.address
    }

    /// What has passed through.
    pub(crate) fn counts(&self) -> SharedMemoryCounters {
        let counters = &self.counters;
        let logs = self.read_logs();
        let (mut log_bytes, mut short_logs, mut sent) = (0, 0, *lock(&self.sent_before));
        for writer in logs.values().filter_map(Weak::upgrade) {
            writer.with_log(|log| {
                log_bytes += log.writer.backed();
                short_logs += u64::from(log.writer.is_short());
                sent += log.sent;
            });
        }
        SharedMemoryCounters {
            logs: logs.len() as u64,
            log_bytes,
            short_logs,
            records_sent: sent.records,
            bytes_sent: sent.bytes,
            records_unsent: sent.unsent,
            records_received: counters.records_received.count(),
            bytes_received: counters.record_bytes_received.count(),
            records_lost: counters.records_lost.count(),
            malformed: counters.malformed.count(),
            refused: counters.refused.count(),
            loans_sent: sent.loans,
            loan_bytes_sent: sent.loan_bytes,
            loans_received: counters.loans_received.count(),
            loans_copied: counters.loans_copied.count(),
        }
    }

    pub(crate) fn meeting_fd(&self) -> &OwnedFd {
        &self.meeting_fd
    }

    /// Has the control lane see to something. To be followed by waking it.
    fn want(&self, want: Want) {
        lock(&self.wants.queue).push(want);
        self.wants.are_any.store(true, Ordering::Release);
    }

    pub(crate) fn has_wants(&self) -> bool {
        self.wants.are_any.load(Ordering::Acquire)
    }

    /// Tells the lane that follows logs, and wakes it.
    fn notify(&self, core: &Core, notice: Notice) {
        lock(&self.notices.queue).push(notice);
        self.notices.are_any.store(true, Ordering::Release);
        match core.has_one_data_lane() {
            true => core.data.waker().wake(),
            false => self.waker.wake(),
        }
    }

    /// Whether the lane that follows logs was told anything. An atomic load.
    pub(crate) fn has_notices(&self) -> bool {
        self.notices.are_any.load(Ordering::Acquire)
    }

    /// What the lane that follows logs was told since. An atomic load if that is nothing.
    pub(crate) fn take_notices(&self) -> Vec<Notice> {
        match self.has_notices() {
            false => Vec::new(),
            true => {
                self.notices.are_any.store(false, Ordering::Release);
                std::mem::take(&mut *lock(&self.notices.queue))
            }
        }
    }

    fn read_logs(&self) -> RwLockReadGuard<'_, Logs> {
        self.logs.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_logs(&self) -> RwLockWriteGuard<'_, Logs> {
        self.logs.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a datagram to the log of a writer of ours. False if there is none, because nobody follows
    /// it any more.
    ///
    /// Two locks, the writer's own among them, one after the other. No system call under either, unless the log gets more
    /// memory; one for each reader that sleeps, after that.
    pub(crate) fn send(&self, writer: EntityId, datagram: Pieces<'_>) -> bool {
        let writer = self.writer_with_log(writer);
        writer.is_some_and(|writer| writer.write_to_log(datagram))
    }

    fn writer_with_log(&self, writer: EntityId) -> Option<Arc<WriterEndpoint>> {
        self.read_logs().get(&writer)?.upgrade()
    }

    /// By which way what `writer` writes comes to a reader of `reader`, one of the two being ours.
    pub(crate) fn way(
        &self,
        writer: Guid,
        reader: Guid,
        is_ours: bool,
        other: Option<SharedMemoryAddress>,
    ) -> Way {
        if let Err(obstacle) = self.meets_at(other) {
            return Way::Network(obstacle);
        }
        let meets = lock(&self.meets);
        match is_ours {
            true => meets.host.way(writer.entity, reader.prefix),
            false => meets.guest.way(writer),
        }
    }

    /// Whether somebody who announces this can be met.
    fn meets_at(
        &self,
        other: Option<SharedMemoryAddress>,
    ) -> Result<SharedMemoryAddress, Obstacle> {
        match other {
            None => Err(Obstacle::NotOffered),
            Some(other) if other.machine != self.address.machine => Err(Obstacle::OtherMachine),
            Some(other) if other.version != VERSION => Err(Obstacle::OtherVersion),
            Some(other) => Ok(other),
        }
    }
}

impl Core {
    /// Has the control lane see to something about shared memory, if it is used.
    pub(crate) fn want(&self, want: Want) {
        if let Some(shm) = &self.shm {
            shm.want(want);
            self.control.arm(clock::now());
        }
    }

    /// Does what discovery wants, and what others have said. For the control lane.
    pub(crate) fn meet(&self) {
        let Some(shm) = &self.shm else {
            return;
        };
        let mut meets = lock(&shm.meets);
        let Meets {
            meeting,
            guest,
            host,
            parting,
        } = &mut *meets;
        shm.wants.are_any.store(false, Ordering::Release);
        let wants = std::mem::take(&mut *lock(&shm.wants.queue));
        let (mut left, mut finished) = (Vec::new(), Vec::new());
        for want in wants {
            match want {
                Want::Finish(writer) => left.push(writer),
                want => guest.want(self, shm, meeting, want),
            }
            if let Want::Finished(writer) | Want::Malformed(writer) = want {
                finished.push(writer);
            }
        }
        if meeting.turn().is_err() {
            self.counters.receive_errors.add(1);
        }
        while let Some(event) = meeting.next_event() {
            match event {
                MeetingEvent::Asked(asked) => host.asked(self, shm, meeting, &asked),
                MeetingEvent::Left { log, seat } => host.left(self, shm, log, seat),
                MeetingEvent::Parted {
                    process,
                    host,
                    logs,
                } => {
                    let guests = logs.into_iter().filter_map(parse_log_id);
                    let guests = guests.map(|(_, guest)| guest);
                    let hosts = host.and_then(|host| guest.called(host));
                    let participants = guests.chain(hosts).collect();
                    parting.add(clock::now(), participants, process);
                }
                event => guest.heard(self, shm, event),
            }
        }
        // What has been heard by now may have told of their logs.
        for writer in left {
            if !guest.finish(self, shm, meeting, writer) {
                finished.push(writer);
            }
        }
        guest.ask_waiting(self, shm, meeting);
        drop(meets);
        self.leaving.logs_are_read(&finished);
        self.raise();
        self.see_who_ended();
        self.see_who_left();
    }

    /// Lets go of participants whose process has ended.
    pub(crate) fn see_who_ended(&self) {
        let Some(shm) = &self.shm else {
            return;
        };
        let now = clock::now();
        let (ended, again) = {
            let Meets { parting, guest, .. } = &mut *lock(&shm.meets);
            parting.ended(now, |participant| guest.reads(participant))
        };
        if let Some(again) = again {
            self.control.arm(again);
        }
        for participant in ended {
            self.with_discovery(|discovery, _| discovery.process_ended(now, participant));
        }
    }
}

/// A log is asked for by the writer's entity id, and the participant that asks.
fn log_id(writer: EntityId, reader: GuidPrefix) -> Option<LogId> {
    LogId::new(&Guid::new(reader, writer).to_bytes())
}

fn parse_log_id(id: LogId) -> Option<(EntityId, GuidPrefix)> {
    let bytes = id.as_bytes().try_into().ok()?;
    let Guid { prefix, entity } = Guid::from_bytes(bytes);
    Some((entity, prefix))
}

/// What tells this machine and network namespace from others, hashed: since the machine was started,
/// it is the same for all processes in there.
fn machine() -> io::Result<[u8; 16]> {
    let boot = fs::read("/proc/sys/kernel/random/boot_id")?;
    let namespace = fs::metadata("/proc/self/ns/net")?.ino();
    Ok(hash(&[&boot, &namespace.to_le_bytes()]).to_le_bytes())
}

/// FNV-1a of 128 bits.
fn hash(parts: &[&[u8]]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let bytes = parts.iter().flat_map(|part| part.iter());
    bytes.fold(OFFSET, |hash, &byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}

/// What a record of a log is.
pub(crate) mod record {
    /// A message of RTPS.
    pub(crate) const MESSAGE: u8 = 0;
    /// A [`PlainSample`](tickwire_rtps::wire::PlainSample) of the log's writer, with its payload.
    pub(crate) const PLAIN_SAMPLE: u8 = 1;
    /// The [`Whereabouts`](crate::loan::Whereabouts) of a message.
    pub(crate) const LENT: u8 = 2;
}

/// Of what is said at meetings, of what logs hold, and of what their records do.
const VERSION: u8 = 5;
