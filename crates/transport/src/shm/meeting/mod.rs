//! How a reader's participant comes to a log: it connects to a Unix socket of the writer's participant, whose
//! name only announcements tell, and asks. What either may have of the other passes as descriptors.
//!
//! ```text
//! guest                                   host
//!   hello, its ear  --------------------->
//!                   <---------------------  hello, its ear
//!   ask, a log's id --------------------->  Asked
//!   Joined          <---------------------  admit, the log      (or refuse)
//!   leave           --------------------->  Left
//! ```
//!
//! The connection stays open. Its end, which the kernel sees to however a process ends, is how each side learns that the
//! other is gone. Who does not keep to the protocol, or does not take what is sent, is
//! disconnected: nobody is waited for.

mod connection;
mod error;
mod message;
mod party;
mod process;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;
use rustix::rand::{GetRandomFlags, getrandom};
use tickwire_base::Counter;

use super::pool::PoolAdmission;
use super::{Admission, Bell, Ear, Gating, LogFiles, LogReader, Seat};
use crate::WaitError;
use connection::{Arrival, ConnectFailure, Connection, listener};
pub use error::{AskError, MeetingError};
use message::Message;
pub use message::{LogId, Refusal};
use party::{Misplaced, Party, Role};
pub use process::Process;

/// Where a participant can be met: 128 random bits. Who knows them and is the same user may ask for logs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeetingName(pub [u8; 16]);

impl MeetingName {
    fn random() -> Result<Self, Errno> {
        let mut bytes = [0; 16];
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        Ok(Self(bytes))
    }

    /// In the namespace of sockets that has no files, which is the network's.
    fn address(self) -> Result<SocketAddrUnix, Errno> {
        SocketAddrUnix::new_abstract_name(format!("tickwire-{self}").as_bytes())
    }
}

impl fmt::Display for MeetingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for MeetingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What participants ask each other for, and the connections that it takes. Starts no thread: whoever owns it waits until
/// its descriptor is readable, calls [`turn`](Self::turn), and takes the [events](Self::next_event).
///
/// Costs two descriptors and one for each participant that it is connected to.
#[derive(Debug)]
pub struct Meeting {
    name: MeetingName,
    listener: OwnedFd,
    epoll: OwnedFd,
    ear: Arc<Ear>,
    /// By their numbers, which are not used again.
    parties: BTreeMap<u64, Party>,
    hosts: BTreeMap<MeetingName, u64>,
    next_party: u64,
    events: VecDeque<MeetingEvent>,
    counters: Arc<MeetingCounters>,
}

/// A request to another participant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket {
    party: u64,
    request: u32,
}

/// A request of another participant, to be answered by [`Meeting::admit`] or [`Meeting::refuse`].
#[derive(Clone, Debug)]
pub struct Asked {
    ticket: Ticket,
    /// The log that it wants to follow.
    pub log: LogId,
    /// Whether the writer shall wait for it.
    pub gating: Gating,
    /// What rings its ear, for [`LogWriter::seat`](crate::shm::LogWriter::seat).
    pub bell: Arc<Bell>,
}

/// What has become of a meeting.
#[derive(Debug)]
#[non_exhaustive]
pub enum MeetingEvent {
    /// Somebody asks for a log of ours.
    Asked(Asked),
    /// Who had this seat at a log of ours is gone: it is to be [freed](crate::shm::LogWriter::free).
    Left {
        /// The log.
        log: LogId,
        /// The seat.
        seat: Seat,
    },
    /// A log that was asked for may be followed.
    Joined {
        /// The request.
        ticket: Ticket,
        /// What follows it.
        reader: LogReader,
    },
    /// A log that was asked for may not be followed.
    Refused {
        /// The request, which has ended.
        ticket: Ticket,
        /// Why.
        reason: Refusal,
    },
    /// The host is gone. What its log has can still be read.
    Ended {
        /// The request, which has ended.
        ticket: Ticket,
    },
    /// A connection has ended, and what it was for, as was told before: perhaps because the other process has.
    Parted {
        /// Who was there.
        process: Process,
        /// What it is called, if it was asked for logs.
        host: Option<MeetingName>,
        /// The logs of ours that it had asked for, if it asked.
        logs: Vec<LogId>,
    },
}

/// What a meeting has turned away.
#[derive(Debug, Default)]
pub struct MeetingCounters {
    /// Connections of other users.
    pub other_users: Counter,
    /// Connections beyond 256.
    pub crowded: Counter,
    /// Connections that were cut because something came that should not.
    pub malformed: Counter,
    /// Connections that were cut because they did not take what was sent.
    pub slow: Counter,
}

impl Meeting {
    /// Opens a place to meet. `ear` is what all logs that are followed shall ring.
    pub fn new(ear: Arc<Ear>) -> Result<Self, MeetingError> {
        let failed = |errno: Errno| MeetingError {
            source: errno.into(),
        };
        let name = MeetingName::random().map_err(failed)?;
        let listener = name.address().and_then(|address| listener(&address));
        let listener = listener.map_err(failed)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
        let data = EventData::new_u64(LISTENER);
        epoll::add(&epoll, &listener, data, EventFlags::IN).map_err(failed)?;
        Ok(Self {
            name,
            listener,
            epoll,
            ear,
            parties: BTreeMap::new(),
            hosts: BTreeMap::new(),
            next_party: LISTENER + 1,
            events: VecDeque::new(),
            counters: Arc::default(),
        })
    }

    /// Where others can meet it.
    pub fn name(&self) -> MeetingName {
        self.name
    }

    /// What was turned away.
    pub fn counters(&self) -> &Arc<MeetingCounters> {
        &self.counters
    }

    /// What has happened, in order.
    pub fn next_event(&mut self) -> Option<MeetingEvent> {
        self.events.pop_front()
    }

    /// Takes what has come, without waiting. A bounded part of it: what is left keeps the descriptor readable.
    pub fn turn(&mut self) -> Result<(), WaitError> {
        let mut ready = [EMPTY; 32];
        let ready = match epoll::wait(&self.epoll, &mut ready[..], Some(&NO_TIME)) {
            Ok(count) => ready.get(..count).unwrap_or_default(),
            Err(Errno::INTR) => return Ok(()),
            Err(errno) => {
                let source = errno.into();
                return Err(WaitError { source });
            }
        };
        for event in ready {
            match event.data.u64() {
                LISTENER => self.accept(),
                party => self.receive(party),
            }
        }
        Ok(())
    }

    /// Asks the participant with that name for a log. [`Joined`](MeetingEvent::Joined) or
    /// [`Refused`](MeetingEvent::Refused) follows, or [`Ended`](MeetingEvent::Ended).
    pub fn ask(
        &mut self,
        host: MeetingName,
        log: LogId,
        gating: Gating,
    ) -> Result<Ticket, AskError> {
        let party = match self.hosts.get(&host) {
            Some(&party) => party,
            None => self.connect(host)?,
        };
        let Some(Party {
            connection,
            role:
                Role::Host {
                    requests,
                    next_request,
                    ..
                },
            ..
        }) = self.parties.get_mut(&party)
        else {
            return Err(AskError::Gone);
        };
        if requests.values().filter(|answered| !**answered).count() >= MAX_UNANSWERED {
            return Err(AskError::Busy);
        }
        let request = *next_request;
        *next_request = next_request.wrapping_add(1);
        let ask = Message::Ask {
            request,
            gating,
            log,
        };
        if connection.send(&ask, &[]).is_err() {
            self.counters.slow.add(1);
            self.end(party);
            return Err(AskError::Gone);
        }
        requests.insert(request, false);
        Ok(Ticket { party, request })
    }

    /// Gives back what was asked for. Nothing more is heard of the request.
    pub fn leave(&mut self, ticket: Ticket) {
        let Some(party) = self.parties.get_mut(&ticket.party) else {
            return;
        };
        let Role::Host { requests, .. } = &mut party.role else {
            return;
        };
        if requests.remove(&ticket.request).is_none() {
            return;
        }
        let request = ticket.request;
        let sent = party.connection.send(&Message::Leave { request }, &[]);
        if sent.is_err() {
            self.counters.slow.add(1);
            self.end(ticket.party);
        }
    }

    /// Gives who has asked a seat that the writer of `files` has given. If it is gone,
    /// [`Left`](MeetingEvent::Left) follows.
    pub fn admit(&mut self, asked: &Asked, files: &LogFiles, admission: &Admission) {
        let Ticket { party, request } = asked.ticket;
        let (log, seat) = (asked.log, admission.seat());
        let left = MeetingEvent::Left { log, seat };
        let Some(connection) = self.note(asked.ticket, Some(seat)) else {
            return self.events.push_back(left);
        };
        let Admission { start, pool } = admission;
        let admit = Message::Admit {
            request,
            start: *start,
            pool: pool.as_ref().map(|pool| pool.shape),
        };
        let mut descriptors = files.descriptors().to_vec();
        descriptors.extend(pool.iter().flat_map(PoolAdmission::descriptors));
        if connection.send(&admit, &descriptors).is_err() {
            self.counters.slow.add(1);
            self.end(party);
        }
    }

    /// Tells who has asked that it does not get the log.
    pub fn refuse(&mut self, asked: &Asked, reason: Refusal) {
        let Ticket { party, request } = asked.ticket;
        let Some(connection) = self.note(asked.ticket, None) else {
            return;
        };
        let refuse = Message::Refuse { request, reason };
        if connection.send(&refuse, &[]).is_err() {
            self.counters.slow.add(1);
            self.end(party);
        }
    }

    /// Notes what a guest has got, or that its request has ended. Its connection, if that request is open.
    fn note(&mut self, ticket: Ticket, got: Option<Seat>) -> Option<&Connection> {
        let party = self.parties.get_mut(&ticket.party)?;
        let Role::Guest(requests) = &mut party.role else {
            return None;
        };
        let request = requests.get_mut(&ticket.request)?;
        request.1 = got;
        if got.is_none() {
            requests.remove(&ticket.request);
        }
        Some(&party.connection)
    }

    /// Takes who wants to ask us.
    fn accept(&mut self) {
        for _ in 0..MAX_ACCEPTS {
            match Connection::accept(&self.listener) {
                Ok(_) if self.parties.len() >= MAX_PARTIES => self.counters.crowded.add(1),
                Ok(connection) => {
                    let greeted = self.meet(connection, Role::Guest(BTreeMap::new()));
                    if greeted.is_err() {
                        self.counters.slow.add(1);
                    }
                }
                Err(ConnectFailure::OtherUser) => self.counters.other_users.add(1),
                Err(ConnectFailure::Kernel(_)) => return,
            }
        }
    }

    fn connect(&mut self, name: MeetingName) -> Result<u64, AskError> {
        if self.parties.len() >= MAX_PARTIES {
            return Err(AskError::Crowded);
        }
        let failed = |source| AskError::Connect { source };
        let address = name.address().map_err(|errno| failed(errno.into()))?;
        let connection = match Connection::connect(&address) {
            Ok(connection) => connection,
            Err(ConnectFailure::OtherUser) => {
                self.counters.other_users.add(1);
                return Err(AskError::OtherUser);
            }
            Err(ConnectFailure::Kernel(source)) => return Err(failed(source)),
        };
        let role = Role::Host {
            name,
            requests: BTreeMap::new(),
            next_request: 0,
        };
        let party = self.meet(connection, role).map_err(failed)?;
        self.hosts.insert(name, party);
        Ok(party)
    }

    /// Says hello.
    fn meet(&mut self, connection: Connection, role: Role) -> io::Result<u64> {
        connection.send(&Message::Hello, &self.ear.descriptors())?;
        let party = self.next_party;
        let data = EventData::new_u64(party);
        epoll::add(&self.epoll, &connection, data, EventFlags::IN)?;
        self.next_party += 1;
        let bell = None;
        self.parties.insert(
            party,
            Party {
                connection,
                bell,
                role,
            },
        );
        Ok(party)
    }

    /// Takes some of what a party has sent.
    fn receive(&mut self, number: u64) {
        for _ in 0..MAX_MESSAGES {
            let Some(party) = self.parties.get_mut(&number) else {
                return;
            };
            let taken = match party.connection.receive() {
                Arrival::Nothing => return,
                Arrival::End => return self.end(number),
                Arrival::Malformed => Err(Misplaced),
                Arrival::Message(message, fds) => party.take(number, message, fds),
            };
            match taken {
                Ok(event) => self.events.extend(event),
                Err(Misplaced) => {
                    self.counters.malformed.add(1);
                    return self.end(number);
                }
            }
        }
    }

    /// Ends a connection and what came of it.
    fn end(&mut self, number: u64) {
        let Some(party) = self.parties.remove(&number) else {
            return;
        };
        let _ = epoll::delete(&self.epoll, &party.connection);
        let process = party.connection.process();
        let (mut host, mut logs) = (None, Vec::new());
        match party.role {
            Role::Guest(requests) => {
                logs.extend(requests.values().map(|&(log, _)| log));
                let seats = requests.into_values();
                let seats = seats.filter_map(|(log, seat)| Some((log, seat?)));
                let left = seats.map(|(log, seat)| MeetingEvent::Left { log, seat });
                self.events.extend(left);
            }
            Role::Host { name, requests, .. } => {
                host = Some(name);
                self.hosts.remove(&name);
                let tickets = requests.into_keys().map(|request| Ticket {
                    party: number,
                    request,
                });
                let ended = tickets.map(|ticket| MeetingEvent::Ended { ticket });
                self.events.extend(ended);
            }
        }
        self.events.push_back(MeetingEvent::Parted {
            process,
            host,
            logs,
        });
    }
}

impl AsFd for Meeting {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// What `epoll` says of the listener; parties are numbered from there.
const LISTENER: u64 = 0;

/// Connections at a time.
const MAX_PARTIES: usize = 256;
/// Connections that one turn takes.
const MAX_ACCEPTS: usize = 16;
/// Messages that one turn takes of each party.
const MAX_MESSAGES: usize = 64;
/// Requests that wait for an answer of one host: the kernel's buffers hold as many.
const MAX_UNANSWERED: usize = 64;

const EMPTY: epoll::Event = epoll::Event {
    flags: EventFlags::empty(),
    data: EventData::new_u64(0),
};
const NO_TIME: rustix::event::Timespec = rustix::event::Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};
