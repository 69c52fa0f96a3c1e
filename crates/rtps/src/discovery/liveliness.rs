//! Who is alive (RTPS 2.5 §8.4.13): says it for our writers, and keeps track of it for others'.
//!
//! AUTOMATIC and MANUAL_BY_PARTICIPANT writers are asserted by messages of their participant;
//! samples assert any writer. Sends nothing itself.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tickwire_base::{Duration, Instant};

use super::event::Event;
use super::{DiscoveryDataError, EndpointData, Role};
use crate::qos::LivelinessKind;
use crate::wire::{Cursor, EntityId, Guid, GuidPrefix};

/// For which of its writers a participant says that they are alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Automatic,
    ManualByParticipant,
}

impl Assertion {
    /// The kind as it stands on the wire: four octets, not an integer.
    const fn kind(self) -> [u8; 4] {
        match self {
            Self::Automatic => [0, 0, 0, 1],
            Self::ManualByParticipant => [0, 0, 0, 2],
        }
    }

    /// The key of the message: participant and kind, which fill the hash.
    pub(super) fn key_hash(self, prefix: GuidPrefix) -> [u8; 16] {
        Guid::new(prefix, EntityId(self.kind())).to_bytes()
    }

    /// Appends a ParticipantMessageData (RTPS 2.5 §9.6.3.1) in plain CDR.
    ///
    /// ```text
    ///  0                   1                   2                   3
    /// +---------------+---------------+
    /// | 0001 (CDR_LE) |       0       |
    /// ~     GUID prefix (12 bytes)    ~
    /// |            kind               |  00000001 automatic, 00000002 manual
    /// |      length of data: 0        |
    /// +-------------------------------+
    /// ```
    pub(super) fn write(self, prefix: GuidPrefix, payload: &mut Vec<u8>) {
        payload.extend_from_slice(&[0, 1, 0, 0]);
        payload.extend_from_slice(&prefix.0);
        payload.extend_from_slice(&self.kind());
        payload.extend_from_slice(&[0; 4]);
    }

    /// Who asserts, and what; `None` for vendors' own kinds.
    pub(super) fn read(payload: &[u8]) -> Result<(GuidPrefix, Option<Self>), DiscoveryDataError> {
        let mut from = Cursor::new(payload, 0, false);
        let encapsulation = from.array("encapsulation header")?;
        if !matches!(encapsulation, [0, 0 | 1 | 6 | 7]) {
            return Err(DiscoveryDataError::Encapsulation(encapsulation));
        }
        from.array::<2>("encapsulation options")?;
        let prefix = GuidPrefix(from.array("participant of a message")?);
        let kind = from.array("kind of a message")?;
        let known = [Self::Automatic, Self::ManualByParticipant];
        Ok((prefix, known.into_iter().find(|one| one.kind() == kind)))
    }
}

/// Says when our writers must be asserted.
#[derive(Debug, Default)]
pub(super) struct LivelinessAsserter {
    /// Local writers with a finite lease.
    leases: BTreeMap<Guid, (LivelinessKind, Duration)>,
    automatic_at: Option<Instant>,
    manual_at: Option<Instant>,
    last_manual: Option<Instant>,
}

impl LivelinessAsserter {
    pub(super) fn add(&mut self, now: Instant, data: &EndpointData) {
        let liveliness = data.qos.liveliness;
        let is_finite = liveliness.lease_duration != Duration::MAX;
        if data.role != Role::Writer || !is_finite {
            self.leases.remove(&data.guid);
            return;
        }
        let lease = (liveliness.kind, liveliness.lease_duration.max(MIN_LEASE));
        self.leases.insert(data.guid, lease);
        if liveliness.kind == LivelinessKind::Automatic {
            self.automatic_at = Some(now);
        }
    }

    pub(super) fn remove(&mut self, guid: Guid) {
        self.leases.remove(&guid);
    }

    /// The application says that its writers are alive.
    pub(super) fn assert_manual(&mut self, now: Instant) {
        let Some(lease) = self.shortest(LivelinessKind::ManualByParticipant) else {
            return;
        };
        let earliest = self.last_manual.map_or(now, |last| last + lease / 8);
        self.manual_at = Some(self.manual_at.unwrap_or_else(|| earliest.max(now)));
    }

    /// The next message that is due.
    pub(super) fn next(&mut self, now: Instant) -> Option<Assertion> {
        if self.automatic_at.is_some_and(|at| at <= now) {
            // Two in each lease, so that one may be late.
            let lease = self.shortest(LivelinessKind::Automatic);
            self.automatic_at = lease.map(|lease| now + lease / 2);
            return lease.map(|_| Assertion::Automatic);
        }
        if self.manual_at.is_some_and(|at| at <= now) {
            self.manual_at = None;
            self.last_manual = Some(now);
            return Some(Assertion::ManualByParticipant);
        }
        None
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        [self.automatic_at, self.manual_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn shortest(&self, kind: LivelinessKind) -> Option<Duration> {
        let of_kind = self.leases.values().filter(|(own, _)| *own == kind);
        of_kind.map(|(_, lease)| *lease).min()
    }
}

/// Keeps track of the writers that local readers are matched with.
#[derive(Debug, Default)]
pub(super) struct LivelinessTracker {
    writers: BTreeMap<Guid, Tracked>,
    /// No lease ends before.
    next_expiry: Option<Instant>,
}

#[derive(Debug)]
struct Tracked {
    kind: LivelinessKind,
    lease: Duration,
    expires_at: Instant,
    is_alive: bool,
}

impl LivelinessTracker {
    /// Begins to track a writer, which counts as alive now, unless its lease is infinite.
    pub(super) fn add(&mut self, now: Instant, writer: &EndpointData) {
        let liveliness = writer.qos.liveliness;
        if liveliness.lease_duration == Duration::MAX || self.writers.contains_key(&writer.guid) {
            return;
        }
        let lease = liveliness.lease_duration.max(MIN_LEASE);
        let expires_at = now + lease;
        let tracked = Tracked {
            kind: liveliness.kind,
            lease,
            expires_at,
            is_alive: true,
        };
        self.writers.insert(writer.guid, tracked);
        self.next_expiry = Some(self.next_expiry.map_or(expires_at, |at| at.min(expires_at)));
    }

    pub(super) fn remove(&mut self, writer: Guid) {
        self.writers.remove(&writer);
    }

    /// A participant says that its writers of a kind are alive. One that asserts by hand is there
    /// by itself, too.
    pub(super) fn asserted(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        assertion: Assertion,
        events: &mut VecDeque<Event>,
    ) {
        let strongest = match assertion {
            Assertion::Automatic => LivelinessKind::Automatic,
            Assertion::ManualByParticipant => LivelinessKind::ManualByParticipant,
        };
        let first = Guid::new(prefix, EntityId([0; 4]));
        let last = Guid::new(prefix, EntityId([0xff; 4]));
        for (&guid, tracked) in self.writers.range_mut(first..=last) {
            if tracked.kind <= strongest {
                tracked.heard(now, guid, &mut self.next_expiry, events);
            }
        }
    }

    /// A writer has shown itself. Says when its lease ends, if it has one.
    pub(super) fn writer_heard(
        &mut self,
        now: Instant,
        writer: Guid,
        events: &mut VecDeque<Event>,
    ) -> Option<Instant> {
        let tracked = self.writers.get_mut(&writer)?;
        tracked.heard(now, writer, &mut self.next_expiry, events);
        Some(tracked.expires_at)
    }

    /// The writers that the next [`handle_timeout`](Self::handle_timeout) will report.
    pub(super) fn silent(&self, now: Instant) -> impl Iterator<Item = Guid> {
        let is_due = self.next_expiry.is_some_and(|at| at <= now);
        let writers = self.writers.iter().filter(move |_| is_due);
        let silent = writers.filter(move |(_, one)| one.is_alive && one.expires_at <= now);
        silent.map(|(&writer, _)| writer)
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.next_expiry
    }

    /// Reports the writers whose lease has ended.
    pub(super) fn handle_timeout(&mut self, now: Instant, events: &mut VecDeque<Event>) {
        if self.next_expiry.is_none_or(|at| at > now) {
            return;
        }
        self.next_expiry = None;
        for (&writer, tracked) in self.writers.iter_mut().filter(|(_, one)| one.is_alive) {
            if tracked.expires_at <= now {
                tracked.is_alive = false;
                let alive = false;
                events.push_back(Event::LivelinessChanged { writer, alive });
            } else {
                let at = tracked.expires_at;
                self.next_expiry = Some(self.next_expiry.map_or(at, |next| next.min(at)));
            }
        }
    }
}

impl Tracked {
    fn heard(
        &mut self,
        now: Instant,
        writer: Guid,
        next_expiry: &mut Option<Instant>,
        events: &mut VecDeque<Event>,
    ) {
        let expires_at = now + self.lease;
        if expires_at <= self.expires_at {
            return;
        }
        self.expires_at = expires_at;
        if !self.is_alive {
            self.is_alive = true;
            let alive = true;
            events.push_back(Event::LivelinessChanged { writer, alive });
            let at = self.expires_at;
            *next_expiry = Some(next_expiry.map_or(at, |next| next.min(at)));
        }
    }
}

/// Whatever a lease says, timers have a pause.
const MIN_LEASE: Duration = Duration::from_millis(1);
