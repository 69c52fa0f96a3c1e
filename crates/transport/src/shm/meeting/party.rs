//! Somebody that we are connected to: what it may say, and what that means.

use std::collections::BTreeMap;
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::connection::Connection;
use super::message::Message;
use super::{Asked, LogId, MeetingEvent, MeetingName, Ticket};
use crate::shm::pool::{PoolAdmission, Shape};
use crate::shm::producer::Start;
use crate::shm::{Admission, Bell, LogReader, Seat};

/// Somebody that we are connected to.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) connection: Connection,
    /// What rings its ear, once it has said hello.
    pub(super) bell: Option<Arc<Bell>>,
    pub(super) role: Role,
}

#[derive(Debug)]
pub(super) enum Role {
    /// It asks us. Requests that have not ended, with the seat that was given.
    Guest(BTreeMap<u32, (LogId, Option<Seat>)>),
    /// We ask it. Requests that have not ended, and whether they were answered.
    Host {
        name: MeetingName,
        requests: BTreeMap<u32, bool>,
        next_request: u32,
    },
}

/// What came has no place here: who sent it is to be cut.
#[derive(Debug)]
pub(super) struct Misplaced;

impl Party {
    /// Takes a message of the party with that number.
    pub(super) fn take(
        &mut self,
        number: u64,
        message: Message,
        fds: Vec<OwnedFd>,
    ) -> Result<Option<MeetingEvent>, Misplaced> {
        if message == Message::Hello {
            return self.greet(fds).map(|()| None);
        }
        let bell = self.bell.as_ref().ok_or(Misplaced)?;
        match &mut self.role {
            Role::Guest(_) if !fds.is_empty() => Err(Misplaced),
            Role::Guest(requests) => from_guest(number, requests, bell, message),
            Role::Host { requests, .. } => from_host(number, requests, bell, message, fds),
        }
    }

    fn greet(&mut self, fds: Vec<OwnedFd>) -> Result<(), Misplaced> {
        let [event, memory] = fds.try_into().map_err(|_| Misplaced)?;
        let bell = Bell::new(event, &memory).map_err(|_| Misplaced)?;
        match self.bell.replace(Arc::new(bell)) {
            None => Ok(()),
            Some(_) => Err(Misplaced),
        }
    }
}

fn from_guest(
    party: u64,
    requests: &mut BTreeMap<u32, (LogId, Option<Seat>)>,
    bell: &Arc<Bell>,
    message: Message,
) -> Result<Option<MeetingEvent>, Misplaced> {
    match message {
        Message::Ask {
            request,
            gating,
            log,
        } => {
            if requests.len() >= MAX_REQUESTS || requests.contains_key(&request) {
                return Err(Misplaced);
            }
            requests.insert(request, (log, None));
            Ok(Some(MeetingEvent::Asked(Asked {
                ticket: Ticket { party, request },
                log,
                gating,
                bell: Arc::clone(bell),
            })))
        }
        // It may have been refused meanwhile, or not be answered yet.
        Message::Leave { request } => Ok(requests.remove(&request).and_then(|(log, seat)| {
            let seat = seat?;
            Some(MeetingEvent::Left { log, seat })
        })),
        _ => Err(Misplaced),
    }
}

fn from_host(
    party: u64,
    requests: &mut BTreeMap<u32, bool>,
    bell: &Arc<Bell>,
    message: Message,
    fds: Vec<OwnedFd>,
) -> Result<Option<MeetingEvent>, Misplaced> {
    match message {
        Message::Admit {
            request,
            start,
            pool,
        } => {
            let (log, admission) = admission(start, pool, fds)?;
            // What was left meanwhile is not wanted any more.
            let Some(answered) = requests.get_mut(&request) else {
                return Ok(None);
            };
            if mem::replace(answered, true) {
                return Err(Misplaced);
            }
            let writer = Some(Arc::clone(bell));
            let reader = LogReader::new(log, admission, writer);
            let ticket = Ticket { party, request };
            let reader = reader.map_err(|_| Misplaced)?;
            Ok(Some(MeetingEvent::Joined { ticket, reader }))
        }
        Message::Refuse { request, reason } if fds.is_empty() => {
            let ticket = Ticket { party, request };
            let is_open = requests.remove(&request).is_some();
            Ok(is_open.then_some(MeetingEvent::Refused { ticket, reason }))
        }
        _ => Err(Misplaced),
    }
}

/// A log's descriptors, and what they do not tell.
fn admission(
    start: Start,
    pool: Option<Shape>,
    mut fds: Vec<OwnedFd>,
) -> Result<([OwnedFd; 2], Admission), Misplaced> {
    let of_pool = fds.split_off(fds.len().min(2));
    let log = fds.try_into().map_err(|_| Misplaced)?;
    let pool = match (pool, of_pool.try_into()) {
        (Some(shape), Ok(descriptors)) => Some(PoolAdmission { shape, descriptors }),
        (None, Err(none)) if none.is_empty() => None,
        _ => return Err(Misplaced),
    };
    Ok((log, Admission { start, pool }))
}

/// Logs that one guest may follow.
const MAX_REQUESTS: usize = 4096;
