//! The logs of others that our readers follow, or want to.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_rtps::discovery::SharedMemoryAddress;
use tickwire_rtps::wire::{Guid, GuidPrefix};
use tickwire_transport::shm::meeting::{AskError, Meeting, MeetingEvent, MeetingName, Ticket};
use tickwire_transport::shm::{Gating, LogReader};

use super::{Notice, Obstacle, SharedMemory, Want, Way, log_id};
use crate::core::Core;

/// What became of the wish for a writer's log.
#[derive(Debug)]
enum Follow {
    /// Too many questions are open: it is asked for later.
    Waiting,
    Asked(Ticket),
    Follows(Ticket),
    Failed(Obstacle),
}

/// The logs of others that our readers follow, or want to.
#[derive(Debug, Default)]
pub(super) struct Guest {
    /// Participants that announce a place to meet, ours or not.
    pub(super) known: BTreeMap<GuidPrefix, SharedMemoryAddress>,
    /// By the writer.
    follows: BTreeMap<Guid, Follow>,
    writers: BTreeMap<Ticket, Guid>,
    /// Whose logs are still read, though the connection has ended.
    finishing: BTreeSet<Guid>,
}

impl Guest {
    pub(super) fn want(
        &mut self,
        core: &Core,
        shm: &SharedMemory,
        meeting: &mut Meeting,
        want: Want,
    ) {
        match want {
            Want::Known(prefix, Some(address)) => drop(self.known.insert(prefix, address)),
            Want::Known(prefix, None) | Want::Gone(prefix) => drop(self.known.remove(&prefix)),
            Want::Follow(writer) => {
                let is_open = match self.follows.get(&writer) {
                    None | Some(Follow::Failed(_)) => false,
                    Some(_) => true,
                };
                if !is_open && writer.prefix != core.prefix {
                    self.ask(core, shm, meeting, writer);
                }
            }
            Want::Finish(writer) => drop(self.finish(core, shm, meeting, writer)),
            Want::Finished(writer) => drop(self.finishing.remove(&writer)),
            Want::Leave(writer) => {
                self.finishing.remove(&writer);
                self.leave(meeting, writer);
                shm.notify(core, Notice::Stop(writer));
            }
            Want::Malformed(writer) => {
                self.finishing.remove(&writer);
                self.leave(meeting, writer);
                let failed = Follow::Failed(Obstacle::Malformed);
                self.follows.insert(writer, failed);
            }
        }
    }

    /// Has the log of a writer that writes no more read to its end. False if there is nothing to read any more.
    pub(super) fn finish(
        &mut self,
        core: &Core,
        shm: &SharedMemory,
        meeting: &mut Meeting,
        writer: Guid,
    ) -> bool {
        if let Some(Follow::Follows(_)) = self.follows.get(&writer) {
            self.finishing.insert(writer);
            shm.notify(core, Notice::Finish(writer));
        }
        // Nothing is heard of the end of the connection, which says the same.
        self.leave(meeting, writer);
        self.finishing.contains(&writer)
    }

    fn leave(&mut self, meeting: &mut Meeting, writer: Guid) {
        if let Some(Follow::Asked(ticket) | Follow::Follows(ticket)) = self.follows.remove(&writer)
        {
            self.writers.remove(&ticket);
            meeting.leave(ticket);
        }
    }

    /// Asks for what could not be asked for before, as far as that is possible now.
    pub(super) fn ask_waiting(&mut self, core: &Core, shm: &SharedMemory, meeting: &mut Meeting) {
        let waits = |follow: &Follow| matches!(follow, Follow::Waiting);
        while let Some((&writer, _)) = self.follows.iter().find(|(_, follow)| waits(follow)) {
            self.ask(core, shm, meeting, writer);
            if self.follows.get(&writer).is_some_and(waits) {
                return;
            }
        }
    }

    fn ask(&mut self, core: &Core, shm: &SharedMemory, meeting: &mut Meeting, writer: Guid) {
        let host = shm.meets_at(self.known.get(&writer.prefix).copied());
        let host = host.map(|address| MeetingName(address.meeting));
        let id = log_id(writer.entity, core.prefix).ok_or(Obstacle::NoWriter);
        let follow = match (host, id) {
            (Err(obstacle), _) | (_, Err(obstacle)) => Follow::Failed(obstacle),
            (Ok(host), Ok(id)) => match meeting.ask(host, id, Gating::Overruns) {
                Ok(ticket) => {
                    self.writers.insert(ticket, writer);
                    Follow::Asked(ticket)
                }
                Err(AskError::Busy) => Follow::Waiting,
                Err(error) => {
                    shm.counters.refused.add(1);
                    Follow::Failed(Obstacle::from(&error))
                }
            },
        };
        self.follows.insert(writer, follow);
    }

    /// A host has answered, or is gone.
    pub(super) fn heard(&mut self, core: &Core, shm: &SharedMemory, event: MeetingEvent) {
        match event {
            MeetingEvent::Joined { ticket, reader } => self.joined(core, shm, ticket, reader),
            MeetingEvent::Refused { ticket, reason } => {
                shm.counters.refused.add(1);
                self.ended(ticket, Obstacle::from(reason));
            }
            MeetingEvent::Ended { ticket } => {
                // What the log has is still to be read.
                if let Some(writer) = self.ended(ticket, Obstacle::Ended) {
                    self.finishing.insert(writer);
                    shm.notify(core, Notice::Finish(writer));
                }
            }
            // Of our own logs.
            _ => {}
        }
    }

    fn joined(&mut self, core: &Core, shm: &SharedMemory, ticket: Ticket, reader: LogReader) {
        let Some(&writer) = self.writers.get(&ticket) else {
            return;
        };
        self.follows.insert(writer, Follow::Follows(ticket));
        shm.notify(core, Notice::Begin(writer, reader));
    }

    fn ended(&mut self, ticket: Ticket, obstacle: Obstacle) -> Option<Guid> {
        let writer = self.writers.remove(&ticket)?;
        self.follows.insert(writer, Follow::Failed(obstacle));
        Some(writer)
    }

    /// Whether a log of a participant is still read that is gone.
    pub(super) fn reads(&self, participant: GuidPrefix) -> bool {
        self.finishing
            .iter()
            .any(|writer| writer.prefix == participant)
    }

    /// The participant that is met by that name.
    pub(super) fn called(&self, name: MeetingName) -> Option<GuidPrefix> {
        let mut known = self.known.iter();
        let found = known.find(|(_, address)| address.meeting == name.0);
        found.map(|(&prefix, _)| prefix)
    }

    /// By which way what a writer writes comes here.
    pub(super) fn way(&self, writer: Guid) -> Way {
        match self.follows.get(&writer) {
            Some(Follow::Follows(_)) => Way::SharedMemory,
            Some(Follow::Failed(obstacle)) => Way::Network(obstacle.clone()),
            Some(Follow::Waiting | Follow::Asked(_)) | None => Way::Network(Obstacle::Pending),
        }
    }
}
