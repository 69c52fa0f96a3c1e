//! A meeting point for participants that have no multicast: it tells each participant of a domain what the
//! others announce of themselves (RTPS 2.5 §8.5.3). All else, endpoints and samples, goes between the
//! participants alone; they go on without it once they know each other.
//!
//! To a participant it looks like a peer with a fixed address, of any vendor's DDS: it speaks nothing but
//! announcements. It knows neither sockets nor clocks, and of participants only what they announce.
//!
//! ```text
//!  A                     rendezvous                     B
//!  │──── announcement ──────►│                          │
//!  │◄─── its own, to a ──────│   from a name that only  │
//!  │     name of A's own     │   A's address can know   │
//!  │──── announcement ──────►│                          │
//!  │     to that name        │──── A's announcement ───►│
//!  │◄─── B's announcement ───│                          │
//!  │◄────────── announcement, endpoints, data ─────────►│
//! ```
//!
//! The second announcement may come without that name, if anything else has come to it: Fast DDS announces
//! itself to all alike, and acknowledges by name. What it acknowledges is remembered for the address that it
//! comes from, and only if the name is one that was given in answer to that address.
//!
//! An address is told nothing but the rendezvous' own announcement, of fewer bytes than came, until it has
//! shown that it hears that. So nobody can have it send to a third party more than he sends himself, and
//! participants at addresses that are not theirs are not made known.
//!
//! Rendezvous that federate pass on to each other what came to them from participants, and to participants
//! alone what came from each other. Hence nothing goes around in circles, and each must federate with each.

mod answers;
mod config;
mod federates;
mod greeter;
mod members;
mod receive;

pub use config::{RendezvousConfig, RendezvousCounters, RendezvousEvent};

use alloc::collections::{BTreeSet, VecDeque};
use core::fmt;
use core::hash::BuildHasher;

use tickwire_base::{Duration, Instant, Locator};

use crate::outbox::Outbox;
use crate::wire::{Data, GuidPrefix, MessageReader, SerializedPayload};

use answers::Answers;
use federates::Federates;
use greeter::{ANNOUNCEMENT, Greeter, Greeting};
use members::{Members, Origin};

/// The meeting point itself.
///
/// Its owner hands it the datagrams that come ([`handle`](Self::handle)), calls
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) says, and sends what
/// both leave in the outbox. `S` is a hasher with a secret key, which nobody can guess who sees its results:
/// `std::hash::RandomState`.
pub struct Rendezvous<S> {
    config: RendezvousConfig,
    greeter: Greeter<S>,
    members: Members,
    federates: Federates,
    answers: Answers,
    /// Participants whose news waits, as their last news was just told: with the time until which.
    untold: BTreeSet<(Instant, GuidPrefix)>,
    events: VecDeque<RendezvousEvent>,
    counters: RendezvousCounters,
}

/// A participant that is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered<'a> {
    /// Which one.
    pub prefix: GuidPrefix,
    /// Its domain.
    pub domain: u32,
    /// What it is called, maybe nothing.
    pub name: &'a str,
    /// Whether it is known from another rendezvous.
    pub is_federated: bool,
}

impl<S: BuildHasher> Rendezvous<S> {
    /// A rendezvous that knows nobody yet.
    pub fn new(config: RendezvousConfig, secret: S) -> Self {
        Self {
            greeter: Greeter::new(secret, config.locators.clone()),
            federates: Federates::new(&config.federates, config.accepts_federates),
            config,
            members: Members::default(),
            answers: Answers::default(),
            untold: BTreeSet::new(),
            events: VecDeque::new(),
            counters: RendezvousCounters::default(),
        }
    }

    /// Takes a datagram that came from `source`.
    pub fn handle(&mut self, now: Instant, source: Locator, datagram: &[u8], outbox: &mut Outbox) {
        self.counters.datagrams_received += 1;
        if self.greeter.is_own(&source) {
            self.counters.ignored += 1;
            return;
        }
        let Ok(message) = MessageReader::new(datagram) else {
            self.counters.malformed += 1;
            return;
        };
        // What may go to addresses that have not answered yet.
        let mut allowance = datagram.len();
        for item in message {
            match item {
                Ok((context, submessage)) => {
                    let from = receive::From {
                        now,
                        source,
                        context,
                    };
                    self.submessage(&from, &submessage, &mut allowance, outbox);
                }
                Err(_) => self.counters.malformed += 1,
            }
        }
    }

    /// What happened next; `None` when all has been told.
    pub fn poll_event(&mut self) -> Option<RendezvousEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let due = [
            self.members.poll_timeout(),
            self.federates.poll_timeout(),
            self.untold.first().map(|(at, _)| *at),
        ];
        due.into_iter().flatten().min()
    }

    /// Does what is due: the end of leases, news that had to wait, announcements to other rendezvous.
    pub fn handle_timeout(&mut self, now: Instant, outbox: &mut Outbox) {
        for prefix in self.members.expire(now) {
            self.counters.leases_expired += 1;
            self.events.push_back(RendezvousEvent::Left {
                prefix,
                lease_expired: true,
            });
        }
        while let Some((_, prefix)) = self.untold.first().copied().filter(|(at, _)| *at <= now) {
            self.untold.pop_first();
            if self
                .members
                .get(prefix)
                .is_some_and(|member| member.is_untold)
            {
                self.make_known(now, prefix, outbox);
            }
        }
        for silent in self.federates.expire(now) {
            self.events.push_back(RendezvousEvent::FederateLost(silent));
        }
        for federate in self.federates.due(now) {
            let theirs = federate
                .names
                .map_or(GuidPrefix::UNKNOWN, |(theirs, _)| theirs);
            self.greet_federate(now, (theirs, federate.at), usize::MAX, outbox);
        }
    }

    /// The participants that are registered now.
    pub fn participants(&self) -> impl Iterator<Item = Registered<'_>> {
        self.members.iter().map(|(prefix, member)| Registered {
            prefix,
            domain: member.domain.0,
            name: &member.name,
            is_federated: matches!(member.origin, Origin::Federate(_)),
        })
    }

    /// What happened so far.
    pub fn counters(&self) -> &RendezvousCounters {
        &self.counters
    }

    /// Tells a participant and all others of each other, and the other rendezvous of it.
    fn make_known(&mut self, now: Instant, prefix: GuidPrefix, outbox: &mut Outbox) {
        let audience = self.members.audience(prefix);
        let Some(member) = self.members.get_mut(prefix) else {
            return;
        };
        (member.served_at, member.told_at, member.is_untold) = (now, now, false);
        let said = &member.said;
        if !audience.is_empty() {
            self.counters.introductions += audience.len() as u64;
            introduce(said, GuidPrefix::UNKNOWN, &audience, outbox);
        }
        self.introduce_others(now, prefix, (MAX_INTRODUCTIONS, true), outbox);
        self.pass_on(prefix, outbox);
    }

    /// Tells a participant of some of the others.
    fn introduce_others(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        which: (usize, bool),
        outbox: &mut Outbox,
    ) {
        let Some(at) = self
            .members
            .get(prefix)
            .and_then(|member| member.origin.at())
        else {
            return;
        };
        for other in self.members.next_introductions(now, prefix, which) {
            if let Some(other) = self.members.get(other) {
                self.counters.introductions += 1;
                introduce(&other.said, GuidPrefix::UNKNOWN, &[at], outbox);
            }
        }
    }

    /// Tells the other rendezvous of a participant, unless one of them has told us.
    fn pass_on(&mut self, prefix: GuidPrefix, outbox: &mut Outbox) {
        let member = self.members.get(prefix);
        let Some(member) = member.filter(|member| member.origin.at().is_some()) else {
            return;
        };
        for federate in self.federates.joined() {
            let (theirs, _) = federate.names.unwrap_or_default();
            introduce(&member.said, theirs, &[federate.at], outbox);
            self.counters.introductions += 1;
        }
    }

    /// Announces us to a participant that is registered.
    fn greet_member(&self, prefix: GuidPrefix, outbox: &mut Outbox) {
        let Some(member) = self.members.get(prefix) else {
            return;
        };
        if let Some(at) = member.origin.at() {
            let greeting = Greeting {
                name: member.our_name,
                destination: prefix,
                at,
                domain: Some((member.domain.0, &member.domain.1)),
                lease: patience(member.lease),
                max_len: usize::MAX,
            };
            self.greeter.greet(&greeting, outbox);
        }
    }

    /// Announces us to another rendezvous, by its name for us; says how many bytes that took.
    fn greet_federate(
        &self,
        now: Instant,
        (theirs, at): (GuidPrefix, Locator),
        max_len: usize,
        outbox: &mut Outbox,
    ) -> usize {
        let ours = self.federates.our_name_for(&at);
        let greeting = Greeting {
            name: ours.unwrap_or_else(|| self.greeter.name_for(now, GuidPrefix::UNKNOWN, &at, &at)),
            destination: theirs,
            at,
            domain: None,
            lease: federates::LEASE,
            max_len,
        };
        self.greeter.greet(&greeting, outbox)
    }
}

impl<S> fmt::Debug for Rendezvous<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendezvous")
            .field("participants", &self.members.iter().count())
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

/// Says again what a participant has said, in its name. Without a destination, since who is named by one is
/// taken to be known to it.
fn introduce(said: &members::Said, destination: GuidPrefix, to: &[Locator], outbox: &mut Outbox) {
    let mut message = outbox.message_of(&said.header, to);
    if destination != GuidPrefix::UNKNOWN {
        message.info_dst(destination);
    }
    message.data(&Data {
        sequence_number: said.sequence_number,
        payload: SerializedPayload::Data(&said.payload),
        ..ANNOUNCEMENT
    });
}

/// How long a participant is to wait for us: it hears of us as often as it speaks to us.
fn patience(lease: Duration) -> Duration {
    lease.max(federates::LEASE)
}

/// Others that a participant is told of at once when it comes; those that it is not, are told of it.
const MAX_INTRODUCTIONS: usize = 1_000;
/// Others that it is told of again each time it announces itself, since any datagram may be lost.
const REPEATED_INTRODUCTIONS: usize = 32;
/// A participant that announces itself more often is not served more often.
const MIN_PAUSE: Duration = Duration::from_millis(50);
