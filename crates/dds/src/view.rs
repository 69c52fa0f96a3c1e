//! What discovery has found.

use std::sync::Arc;
use std::time::Duration;

use tickwire_cdr::xtypes::{
    DescribeError, TypeId, TypeInformation, TypeObjects, TypeWithDependencies,
};
use tickwire_cdr::{ByteOrder, TypeDescription};
pub use tickwire_rtps::discovery::{
    DiscoveryCounters, EndpointData, ParticipantData, Role, SharedMemoryAddress,
};
use tickwire_rtps::qos::Verdict;
use tickwire_rtps::wire::{Guid, GuidPrefix};

use crate::clock;
use crate::core::Core;
use crate::error::{Awaited, Timeout, TypeError};
use crate::shm::{Obstacle, Way};

/// A look at what discovery knows; each call sees the present state.
pub struct DiscoveryView<'a> {
    core: &'a Arc<Core>,
}

/// A writer and a reader of one topic, and whether they match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The writer.
    pub writer: Guid,
    /// The reader.
    pub reader: Guid,
    /// Why they do not match, or that they do.
    pub verdict: Verdict,
    /// By which way samples come to the reader, and why not by shared memory; `None` unless they match.
    pub way: Option<Way>,
}

impl<'a> DiscoveryView<'a> {
    pub(crate) fn new(core: &'a Arc<Core>) -> Self {
        Self { core }
    }

    /// The other participants.
    pub fn participants(&self) -> Vec<Arc<ParticipantData>> {
        self.core
            .view(|discovery| discovery.participants().cloned().collect())
    }

    /// All writers, those of this participant included.
    pub fn publications(&self) -> Vec<Arc<EndpointData>> {
        self.endpoints(Role::Writer)
    }

    /// All readers, those of this participant included.
    pub fn subscriptions(&self) -> Vec<Arc<EndpointData>> {
        self.endpoints(Role::Reader)
    }

    /// Each writer and reader of one topic of which at least one belongs to this participant.
    pub fn pairs(&self) -> Vec<Pair> {
        let pairs: Vec<_> = self.core.view(|discovery| {
            let pair = |(writer, reader, verdict): (Guid, Guid, &Verdict)| {
                (writer, reader, verdict.clone())
            };
            discovery.verdicts().map(pair).collect()
        });
        let offers: Vec<_> = self.participants();
        let offer = |prefix| {
            let of = |other: &&Arc<ParticipantData>| other.guid_prefix == prefix;
            offers.iter().find(of).and_then(|other| other.shared_memory)
        };
        let with_way = |(writer, reader, verdict): (Guid, Guid, Verdict)| Pair {
            writer,
            reader,
            way: verdict.is_match().then(|| self.way(writer, reader, offer)),
            verdict,
        };
        pairs.into_iter().map(with_way).collect()
    }

    /// By which way samples come from a writer to a reader that it matches.
    fn way(
        &self,
        writer: Guid,
        reader: Guid,
        offer: impl Fn(GuidPrefix) -> Option<SharedMemoryAddress>,
    ) -> Way {
        let is_ours = writer.prefix == self.core.prefix;
        let other = if is_ours {
            reader.prefix
        } else {
            writer.prefix
        };
        match &self.core.shm {
            _ if writer.prefix == reader.prefix => Way::Network(Obstacle::SameParticipant),
            None => Way::Network(self.core.no_shm.clone()),
            Some(shm) => shm.way(writer, reader, is_ours, offer(other)),
        }
    }

    /// Whether the participant of `remote` has acknowledged the announcement of an endpoint of this
    /// participant. A match is known to one side before the other: until then, a best-effort reader may
    /// miss what is written. Its coming does not wake [`wait_for`](Self::wait_for).
    pub fn is_known_to(&self, remote: Guid, endpoint: Guid) -> bool {
        let own = self.core.prefix == remote.prefix;
        own || self
            .core
            .view(|discovery| discovery.is_known_to(remote.prefix, endpoint))
    }

    /// The types known now: our own, and those that others have told.
    pub fn types(&self) -> TypeObjects {
        self.core.view(|discovery| discovery.types().clone())
    }

    /// Of the topics known, the one whose name looks most like `name` without being it.
    pub fn nearest_topic(&self, name: &str) -> Option<String> {
        let owned = |name: &str| name.to_owned();
        self.core
            .view(|discovery| discovery.nearest_topic(name).map(owned))
    }

    /// Waits until `ready` has a result; it is called again whenever discovery has found something.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait_for<R>(
        &self,
        timeout: Duration,
        ready: impl FnMut() -> Option<R>,
    ) -> Result<R, Timeout> {
        let ready = self.core.ended.or(ready);
        let waited = self.core.wait_for_control(timeout, ready);
        waited.flatten().ok_or(Timeout {
            awaited: Awaited::Discovery,
            waited: timeout,
        })
    }

    /// What the type of an endpoint looks like: as its participant tells, which is asked unless the
    /// type is known already.
    ///
    /// # Errors
    /// When the endpoint does not announce its type, or its participant does not answer within
    /// `timeout`.
    pub fn type_of(&self, endpoint: Guid, timeout: Duration) -> Result<TypeDescription, TypeError> {
        let data = self
            .core
            .view(|discovery| discovery.endpoint(endpoint).cloned());
        let data = data.ok_or(TypeError::UnknownEndpoint)?;
        let complete = complete_type(&data.type_information).ok_or(TypeError::NotAnnounced)?;
        let deadline = clock::now() + timeout;
        let mut asked = Vec::new();
        loop {
            let missing = match self.describe(complete.id) {
                Err(DescribeError::Missing(missing)) if !asked.contains(&missing) => missing,
                Err(DescribeError::Missing(_)) => {
                    return Err(TypeError::NoAnswer { waited: timeout });
                }
                result => return result.map_err(TypeError::Description),
            };
            // With the first question go all objects that the type is known to need.
            let mut types: Vec<_> = complete.dependencies.iter().map(|(id, _)| *id).collect();
            types.push(complete.id);
            types.retain(|_| asked.is_empty());
            if !types.contains(&missing) {
                types.push(missing);
            }
            asked.push(missing);
            self.request(endpoint, types)?;
            let rest = deadline.since(clock::now());
            let arrived = || match self.describe(complete.id) {
                Err(DescribeError::Missing(id)) if id == missing => None,
                _ => Some(()),
            };
            let no_answer = TypeError::NoAnswer { waited: timeout };
            let arrived = self.core.ended.or(arrived);
            let waited = self.core.wait_for_control(rest, arrived);
            waited.flatten().ok_or(no_answer)?;
        }
    }

    fn describe(&self, complete: TypeId) -> Result<TypeDescription, DescribeError> {
        self.core
            .view(|discovery| discovery.types().describe(complete))
    }

    fn request(&self, endpoint: Guid, types: Vec<TypeId>) -> Result<(), TypeError> {
        let now = clock::now();
        let requested = self.core.with_discovery(|discovery, outbox| {
            discovery.request_types(now, endpoint.prefix, types, outbox)
        });
        requested.map_err(TypeError::Request)
    }

    /// What discovery has done and seen.
    pub fn counters(&self) -> DiscoveryCounters {
        self.core.view(|discovery| *discovery.counters())
    }

    fn endpoints(&self, role: Role) -> Vec<Arc<EndpointData>> {
        self.core.view(|discovery| {
            let endpoints = discovery.endpoints();
            endpoints
                .filter(|data| data.role == role)
                .cloned()
                .collect()
        })
    }
}

/// The complete type that an endpoint announces, in either byte order.
fn complete_type(information: &[u8]) -> Option<TypeWithDependencies> {
    let parse = |order| TypeInformation::parse(information, order).ok();
    let information = parse(ByteOrder::Little).or_else(|| parse(ByteOrder::Big));
    information.and_then(|information| information.complete)
}
