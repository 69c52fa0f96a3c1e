//! The logs of our writers, and who has seats there.

use std::collections::BTreeMap;
use std::sync::Arc;

use tickwire_base::Locator;
use tickwire_rtps::wire::{EntityId, GuidPrefix};
use tickwire_transport::shm::meeting::{Asked, LogId, Meeting, Refusal};
use tickwire_transport::shm::{Admission, LogWriter, Seat};

use super::way::NO_MEMORY;
use super::{CountingLog, Obstacle, SharedMemory, Way, parse_log_id};
use crate::core::Core;
use crate::signal::lock;
use crate::writer::endpoint::WriterEndpoint;

/// Who has seats at the logs of our writers.
#[derive(Debug, Default)]
pub(super) struct Host {
    seats: BTreeMap<(EntityId, GuidPrefix), usize>,
    /// Who was refused one, and why.
    refused: BTreeMap<(EntityId, GuidPrefix), Refusal>,
}

impl Host {
    /// Somebody wants to follow a log.
    pub(super) fn asked(
        &mut self,
        core: &Core,
        shm: &SharedMemory,
        meeting: &mut Meeting,
        asked: &Asked,
    ) {
        let Some((entity, guest)) = parse_log_id(asked.log) else {
            return meeting.refuse(asked, Refusal::Unknown);
        };
        let routes = core.directory.snapshot();
        let writer = routes.writers.get(&entity);
        let seat = writer.ok_or(Refusal::Unknown);
        let seat = seat.and_then(|writer| Ok((writer, shm.seat(writer, guest, asked)?)));
        match seat {
            Ok((writer, admission)) => {
                *self.seats.entry((entity, guest)).or_default() += 1;
                self.refused.remove(&(entity, guest));
                let EntityId(name) = entity;
                writer.divert(guest, Some(Locator::log(name)));
                // What goes by UDP has gone when the guest hears that nothing more does.
                core.flush();
                shm.admit(entity, meeting, asked, &admission);
            }
            Err(reason) => {
                shm.counters.refused.add(1);
                if self.refused.len() >= MAX_REFUSED {
                    self.refused.clear();
                }
                self.refused.insert((entity, guest), reason);
                meeting.refuse(asked, reason);
            }
        }
    }

    /// A seat is not used any more.
    pub(super) fn left(&mut self, core: &Core, shm: &SharedMemory, log: LogId, seat: Seat) {
        let Some((entity, guest)) = parse_log_id(log) else {
            return;
        };
        let Some(count) = self.seats.get_mut(&(entity, guest)) else {
            return;
        };
        *count -= 1;
        let routes = core.directory.snapshot();
        let writer = routes.writers.get(&entity);
        if *count == 0 {
            self.seats.remove(&(entity, guest));
            if let Some(writer) = writer {
                writer.divert(guest, None);
            }
        }
        let is_used = self.seats.keys().any(|&(of, _)| of == entity);
        shm.free(entity, seat, is_used);
    }

    /// By which way what a writer of ours writes comes to the readers of a participant.
    pub(super) fn way(&self, writer: EntityId, guest: GuidPrefix) -> Way {
        match (
            self.seats.contains_key(&(writer, guest)),
            self.refused.get(&(writer, guest)),
        ) {
            (true, _) => Way::SharedMemory,
            (false, Some(&reason)) => Way::Network(Obstacle::from(reason)),
            (false, None) => Way::Network(Obstacle::Pending),
        }
    }
}

impl SharedMemory {
    /// A seat at the writer's log, which is made for the first one.
    fn seat(
        &self,
        writer: &Arc<WriterEndpoint>,
        guest: GuidPrefix,
        asked: &Asked,
    ) -> Result<Admission, Refusal> {
        let entity = writer.guid.entity;
        if !self.read_logs().contains_key(&entity) {
            let len = log_len(writer.max_unacknowledged_len());
            let made = match writer.pool() {
                Some(pool) => LogWriter::with_pool(len, pool.clone()),
                None => LogWriter::new(len),
            };
            let made = made.map_err(|_| Refusal::Other(NO_MEMORY))?;
            writer.set_log(Some(Box::new(CountingLog::new(made))));
            self.write_logs().insert(entity, Arc::downgrade(writer));
        }
        let bell = Arc::clone(&asked.bell);
        let seat = writer.with_log(|log| log.seat(bell, guest));
        seat.ok_or(Refusal::Unknown)?.map_err(|_| Refusal::Full)
    }

    /// Tells who has asked that it has a seat.
    fn admit(&self, writer: EntityId, meeting: &mut Meeting, asked: &Asked, seat: &Admission) {
        let writer = self.writer_with_log(writer);
        let files = writer.and_then(|writer| writer.with_log(|log| log.writer.files().clone()));
        if let Some(files) = files {
            meeting.admit(asked, &files, seat);
        }
    }

    /// Gives back a seat, and the log if it `is_used` by nobody.
    fn free(&self, writer: EntityId, seat: Seat, is_used: bool) {
        if !is_used {
            return self.remove_log(writer);
        }
        if let Some(writer) = self.writer_with_log(writer) {
            writer.with_log(|log| log.free(seat));
        }
    }

    /// Lets go of the log of a writer that has ended.
    pub(crate) fn remove_log(&self, writer: EntityId) {
        let mut logs = self.write_logs();
        let gone = logs.remove(&writer).and_then(|writer| writer.upgrade());
        let log = gone.and_then(|writer| writer.set_log(None));
        if let Some(log) = &log {
            *lock(&self.sent_before) += log.sent;
        }
        drop(logs);
        drop(log);
    }
}

/// How long the log of a writer is that has so many bytes unacknowledged at most: four times that, so that
/// readers that acknowledge are not overrun. Always a good deal longer than a datagram.
fn log_len(max_unacknowledged_len: usize) -> usize {
    let len = max_unacknowledged_len.saturating_mul(4);
    len.clamp(MIN_LEN, MAX_LEN).next_power_of_two()
}

const MIN_LEN: usize = 1 << 20;
const MAX_LEN: usize = 64 << 20;

/// Refusals that are remembered.
const MAX_REFUSED: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_long_enough_for_any_datagram_and_the_window() {
        assert_eq!(log_len(0), MIN_LEN);
        assert_eq!(log_len(1 << 20), 4 << 20);
        assert_eq!(log_len((1 << 20) + 1), 8 << 20);
        assert_eq!(log_len(usize::MAX), MAX_LEN);
    }
}
