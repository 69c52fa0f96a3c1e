//! Receiving from logs in shared memory: records are datagrams, delivered as such.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_rtps::wire::{Arrival, Context, Guid};
use tickwire_transport::shm::{BorrowError, Copied, LogReader, NextError};
use tickwire_transport::{Poller, Ready, WaitError};

use super::{Discovered, Lane, Lies, Work, plain};
use crate::clock;
use crate::core::Core;
use crate::loan::{Holdable, Whereabouts};
use crate::shm::{Notice, SharedMemory, Want, note, record};

/// The logs that a lane follows.
#[derive(Default)]
pub(super) struct Logs {
    followed: Vec<Followed>,
    batch: Batch,
}

/// Records of a log that are delivered together.
#[derive(Default)]
struct Batch {
    /// Where they are copied to, one behind the other. Grows to the longest batch and does not shrink.
    bytes: Vec<u8>,
    /// Where each lies there, and what it is.
    records: Vec<Copied>,
    /// What the record behind them tells of, with its length.
    lent: Option<(Whereabouts, usize)>,
}

impl Batch {
    fn clear(&mut self) {
        self.records.clear();
        self.lent = None;
    }

    /// Where the last record ends.
    fn len(&self) -> usize {
        self.records.last().map_or(0, |last| last.place.end)
    }

    /// The bytes of all records. One alone, the usual case, is spared the beginning of a loop over many.
    fn payload_len(&self) -> usize {
        match self.records.as_slice() {
            [only] => only.place.len(),
            all => all.iter().map(|record| record.place.len()).sum(),
        }
    }

    fn is_full(&self) -> bool {
        self.records.len() >= MAX_RECORDS || self.len() >= MAX_BATCH_LEN || self.lent.is_some()
    }
}

struct Followed {
    writer: Guid,
    /// What is known about all samples in it.
    context: Context<'static>,
    reader: LogReader,
    hold: Hold,
    /// Of its losses, those that have been counted.
    lost: u64,
    /// Whether nothing is added to it any more.
    has_ended: bool,
    is_over: bool,
}

/// What a log waits for before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Free,
    /// That the lane takes what is in its sockets.
    UntilTurn,
    /// That other threads have taken what was in theirs, or that much time has passed.
    UntilPassed(u64, Instant),
}

impl Followed {
    /// Copies the next records. Of what was overrun among them nothing is said but counted.
    fn read(&mut self, shm: &SharedMemory, batch: &mut Batch) {
        batch.clear();
        if self.reader.pool().is_some() {
            self.read_up_to_lent(shm, batch);
        } else {
            let Batch { bytes, records, .. } = batch;
            let run = self
                .reader
                .read_run(MAX_RECORDS, MAX_BATCH_LEN, bytes, records);
            match run {
                Ok(()) => self.is_over |= self.has_ended && records.is_empty(),
                Err(NextError::Overrun(_)) => {}
                Err(_) => self.leave(shm),
            }
        }
        let lost = self.reader.lost().records;
        if lost != self.lost {
            shm.counters.records_lost.add(lost - self.lost);
            self.lost = lost;
        }
    }

    /// Copies the next records of a log that some may tell of lent memory in, one by one up to the first that does.
    fn read_up_to_lent(&mut self, shm: &SharedMemory, batch: &mut Batch) {
        while !batch.is_full() {
            // That there is nothing more the writer is told later, when what there was has been delivered.
            let next = match batch.records.is_empty() {
                true => self.reader.next(),
                false => self.reader.next_of_batch(),
            };
            match next {
                Ok(Some(mut record)) => {
                    let begin = batch.len();
                    let tag = record.tag();
                    let Ok(bytes) = record.read_behind(begin, &mut batch.bytes) else {
                        continue;
                    };
                    let place = begin..begin + bytes.len();
                    match tag {
                        record::LENT => match Whereabouts::parse(bytes) {
                            Some(lies) => batch.lent = Some((lies, place.len())),
                            None => {
                                self.leave(shm);
                                break;
                            }
                        },
                        tag => batch.records.push(Copied { place, tag }),
                    }
                }
                Ok(None) => {
                    self.is_over |= self.has_ended;
                    break;
                }
                Err(NextError::Overrun(_)) => {}
                Err(_) => {
                    self.leave(shm);
                    break;
                }
            }
        }
    }

    /// Finds the message that a record tells of, in place if the writer is trusted and as long as not too much is
    /// held, else as a copy. One that is gone is as lost as a record that was overrun.
    fn take_lent(
        &mut self,
        shm: &SharedMemory,
        lies: Whereabouts,
        buffer: &mut Vec<u8>,
        hand_on: impl FnOnce(&[u8], Lies<'_>),
    ) {
        let counters = &shm.counters;
        let copied = Lies {
            lender: Some(self.writer),
            memory: None,
        };
        let Some(pool) = self.reader.pool() else {
            return self.leave(shm);
        };
        let borrowed = shm.trusts_lenders.then(|| pool.borrow(lies.place));
        let error = match borrowed {
            Some(Ok(borrowed)) => {
                counters.loans_received.add(1);
                let memory = Holdable::Lent(borrowed);
                let in_place = Lies {
                    memory: Some(&memory),
                    ..copied
                };
                return hand_on(lies.message(memory.bytes()), in_place);
            }
            None | Some(Err(BorrowError::TooMany { .. })) => match pool.read(lies.place, buffer) {
                Ok(bytes) => {
                    counters.loans_received.add(1);
                    counters.loans_copied.add(1);
                    return hand_on(lies.message(bytes), copied);
                }
                Err(error) => error,
            },
            Some(Err(error)) => error,
        };
        match error {
            BorrowError::Reused => counters.records_lost.add(1),
            _ => self.leave(shm),
        }
    }

    /// Something else than records is in the log.
    fn leave(&mut self, shm: &SharedMemory) {
        self.is_over = true;
        shm.counters.malformed.add(1);
    }

    fn is_free(&self) -> bool {
        self.hold == Hold::Free
    }

    /// Whether there is anything to [`read`](Self::read). Where there is not, the writer is told that.
    #[inline]
    fn has_news(&mut self) -> bool {
        if !self.is_free() {
            return false;
        }
        let has_news = self.has_ended || self.reader.has_next();
        if !has_news {
            self.reader.tell_all();
        }
        has_news
    }
}

impl Lane {
    /// Follows logs, on a thread of its own.
    pub(super) fn run_logs(&mut self, core: &Core) {
        let Some(shm) = &core.shm else {
            return;
        };
        let mut poller = Poller::for_waker(&shm.waker).descriptor(shm.ear.as_fd());
        let mut spin_until = Instant::ZERO;
        while !core.is_stopping.load(Ordering::Acquire) {
            self.take_notices(core, shm);
            self.free_passed(core);
            if let Some(came) = self.look_at_logs(core) {
                spin_until = came + core.busy_poll;
            } else if !core.busy_poll.is_zero() && clock::now() < spin_until {
                std::hint::spin_loop();
            } else {
                match self.sleep(shm, &mut poller) {
                    Ok(ready) if ready.socket(0) => shm.ear.drain(),
                    Ok(_) => {}
                    Err(_) => core.counters.receive_errors.add(1),
                }
            }
        }
        self.logs = Logs::default();
    }

    /// Sleeps until there is news, or a log has waited for long enough.
    fn sleep(&self, shm: &SharedMemory, poller: &mut Poller<'_>) -> Result<Ready, WaitError> {
        let waits = self.logs.followed.iter().filter_map(|log| match log.hold {
            Hold::UntilPassed(_, until) => Some(until),
            _ => None,
        });
        let until = waits.min();
        let waited = match self.lie_down(shm) {
            true => poller.wait(until),
            false => Ok(Ready::default()),
        };
        shm.ear.wake();
        waited
    }

    /// Says to the writers of the logs that the thread is about to sleep, which [`Ear::wake`] ends. False
    /// if there is news.
    ///
    /// [`Ear::wake`]: tickwire_transport::shm::Ear::wake
    pub(crate) fn lie_down(&self, shm: &SharedMemory) -> bool {
        let followed = self.logs.followed.iter();
        let free = followed.filter(|log| log.is_free());
        let lies = shm.ear.lie_down(free.map(|log| &log.reader));
        let mut followed = self.logs.followed.iter();
        lies && followed.all(|log| match log.hold {
            Hold::Free => !log.has_ended,
            Hold::UntilTurn => false,
            Hold::UntilPassed(..) => true,
        })
    }

    /// Whether it follows any.
    pub(crate) fn has_logs(&self) -> bool {
        !self.logs.followed.is_empty()
    }

    /// Takes what is new in the logs, after what was in the sockets, and what there is to follow. For a lane
    /// that has both.
    pub(super) fn turn_logs(&mut self, core: &Core, shm: &SharedMemory) {
        // A look has taken what was in the logs, and not what is in the sockets.
        if !std::mem::take(&mut self.has_looked) {
            let held = self.logs.followed.iter_mut();
            for log in held.filter(|log| log.hold == Hold::UntilTurn) {
                log.hold = Hold::Free;
            }
            self.look_at_logs(core);
        }
        if shm.has_notices() {
            self.take_notices(core, shm);
        }
    }

    /// Delivers what is new in the logs, a bounded part of each. Says when that was, if anything came. No
    /// system call but for the answers.
    pub(super) fn look_at_logs(&mut self, core: &Core) -> Option<Instant> {
        let shm = core.shm.as_ref()?;
        let Logs { followed, batch } = &mut self.logs;
        let (mut came, mut is_over) = (None, false);
        for log in followed {
            if !log.has_news() {
                continue;
            }
            came = self.work.take_records(core, shm, log, batch).or(came);
            is_over |= log.is_over;
        }
        if is_over {
            self.logs.followed.retain(|log| !log.is_over);
        }
        came
    }

    /// Frees the logs for which nothing is to be received any more.
    fn free_passed(&mut self, core: &Core) {
        for log in &mut self.logs.followed {
            if let Hold::UntilPassed(number, until) = log.hold
                && (core.barrier.is_passed(number) || clock::now() >= until)
            {
                log.hold = Hold::Free;
            }
        }
    }

    fn take_notices(&mut self, core: &Core, shm: &SharedMemory) {
        for notice in shm.take_notices() {
            let followed = &mut self.logs.followed;
            match notice {
                Notice::Begin(writer, reader) => followed.push(Followed {
                    writer,
                    context: plain::context(writer.prefix),
                    reader,
                    hold: match core.has_one_data_lane() {
                        true => Hold::UntilTurn,
                        false => Hold::UntilPassed(core.raise_barrier(), clock::now() + PATIENCE),
                    },
                    lost: 0,
                    has_ended: false,
                    is_over: false,
                }),
                Notice::Finish(writer) => {
                    for log in followed.iter_mut().filter(|log| log.writer == writer) {
                        log.has_ended = true;
                    }
                }
                Notice::Stop(writer) => followed.retain(|log| log.writer != writer),
            }
        }
    }
}

impl Work {
    /// Delivers what is new in a log, a bounded part of it. Says when that was, if anything came.
    fn take_records(
        &mut self,
        core: &Core,
        shm: &SharedMemory,
        log: &mut Followed,
        batch: &mut Batch,
    ) -> Option<Instant> {
        let mut came = None;
        for _ in 0..MAX_BATCHES {
            log.read(shm, batch);
            let mut discovered = Discovered::Nothing;
            if !batch.records.is_empty() {
                let time = clock::both();
                came = Some(time.0);
                count(shm, batch.records.len(), batch.payload_len());
                let (writer, bytes) = (log.writer, &batch.bytes);
                let batch = (bytes.as_slice(), batch.records.as_slice());
                let of = (writer.entity, &mut log.context);
                let rest = self.take_plain(core, of, time, batch, &mut discovered);
                if !rest.is_empty() {
                    self.hand_on(core, time, Lies::default(), &mut discovered, |dispatch| {
                        dispatch.records(writer, bytes, rest);
                    });
                    self.call_listeners();
                }
            }
            let lent = batch.lent;
            if let Some((lies, len)) = lent {
                let time = clock::both();
                came = Some(time.0);
                count(shm, 1, len);
                // What was copied before has been delivered.
                log.take_lent(shm, lies, &mut batch.bytes, |bytes, lies| {
                    self.hand_on(core, time, lies, &mut discovered, |dispatch| {
                        dispatch.datagram(bytes, FROM_HERE);
                    });
                });
                for (place, (reader, has)) in self.said.drain(..).enumerate() {
                    log.reader.leave_note(place, note(reader, has));
                }
                self.call_listeners();
            }
            core.end_discovery(discovered, &mut self.outbox);
            if lent.is_none() {
                break;
            }
        }
        if log.is_over {
            core.want(match log.has_ended {
                true => Want::Finished(log.writer),
                false => Want::Malformed(log.writer),
            });
        }
        came
    }
}

/// Counts records and their bytes, which one lane alone receives.
fn count(shm: &SharedMemory, records: usize, len: usize) {
    shm.counters.records_received.add_alone(records as u64);
    shm.counters.record_bytes_received.add_alone(len as u64);
}

/// Batches of one log that are taken before it is the next one's turn, each of which but the last ends with what is
/// lent.
const MAX_BATCHES: usize = 64;

/// Records of one log that are taken before it is the next one's turn, and bytes after which no other is.
const MAX_RECORDS: usize = 64;
const MAX_BATCH_LEN: usize = 64 << 10;

/// How long a log waits for what came by UDP: the datagram that tells may be lost.
const PATIENCE: Duration = Duration::from_millis(100);

/// How what is in a log comes.
pub(super) const FROM_HERE: Arrival = Arrival {
    from: IpAddr::V4(Ipv4Addr::LOCALHOST),
    by_multicast: false,
    kernel_timestamp: None,
};
