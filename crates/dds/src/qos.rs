//! Quality of service, as the standard names it (DDS 1.4 §2.2.3). Every value starts with the
//! standard's defaults and is changed policy by policy:
//!
//! ```
//! use std::time::Duration;
//! use tickwire::qos::{DataReaderQos, DataWriterQos};
//!
//! let offered = DataWriterQos::default()
//!     .reliable(Duration::from_secs(1))
//!     .keep_all()
//!     .transient_local();
//! let requested = DataReaderQos::default().reliable().keep_last(100);
//! assert!(tickwire::qos::check(offered.policies(), requested.policies()).is_match());
//! ```

use std::time::Duration;

use tickwire_cdr::{Extensibility, Representation};
pub use tickwire_rtps::qos::{
    DestinationOrder, Durability, DurabilityService, EndpointQos, History, Inconsistent,
    Liveliness, LivelinessKind, Mismatch, Ownership, PolicyId, Presentation, PresentationScope,
    Reliability, ReliabilityKind, RepresentationId, ResourceLimits, TypeConsistency,
    TypeConsistencyKind, Unmet, Verdict, check, name_matches, nearest_name,
};

use crate::reader::Lifecycle;

/// The QoS of a [`DataWriter`](crate::DataWriter).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataWriterQos {
    pub(crate) policies: EndpointQos,
    pub(crate) autodispose_unregistered_instances: bool,
    pub(crate) max_unacknowledged_bytes: usize,
    pub(crate) max_loan_bytes: usize,
    pub(crate) loan_count: usize,
    pub(crate) multicast_samples: bool,
    pub(crate) related_samples: bool,
}

/// The QoS of a [`DataReader`](crate::DataReader).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataReaderQos {
    pub(crate) policies: EndpointQos,
    pub(crate) lifecycle: Lifecycle,
}

impl Default for DataWriterQos {
    fn default() -> Self {
        Self {
            policies: EndpointQos::writer(),
            autodispose_unregistered_instances: true,
            max_unacknowledged_bytes: 1 << 20,
            max_loan_bytes: 0,
            loan_count: 16,
            multicast_samples: true,
            related_samples: false,
        }
    }
}

impl Default for DataReaderQos {
    fn default() -> Self {
        Self {
            policies: EndpointQos::reader(),
            lifecycle: Lifecycle::FOREVER,
        }
    }
}

/// The policies that writers and readers set alike.
macro_rules! common_policies {
    ($name:ident) => {
        impl $name {
            /// All policies that discovery announces.
            pub fn policies(&self) -> &EndpointQos {
                &self.policies
            }

            /// The same with any policies changed. Values that are not implemented are refused
            /// when the endpoint is made, see
            /// [`UnimplementedQos`](crate::error::UnimplementedQos).
            pub fn with(mut self, change: impl FnOnce(&mut EndpointQos)) -> Self {
                change(&mut self.policies);
                self
            }

            /// RELIABILITY: what is lost stays lost.
            pub fn best_effort(self) -> Self {
                self.with(|qos| qos.reliability.kind = ReliabilityKind::BestEffort)
            }

            /// HISTORY: the last `depth` samples of each instance. The default is 1.
            pub fn keep_last(self, depth: u32) -> Self {
                self.with(|qos| qos.history = History::KeepLast(depth))
            }

            /// HISTORY: all samples, as far as RESOURCE_LIMITS allow.
            pub fn keep_all(self) -> Self {
                self.with(|qos| qos.history = History::KeepAll)
            }

            /// RESOURCE_LIMITS. The default is none.
            pub fn resource_limits(self, limits: ResourceLimits) -> Self {
                self.with(|qos| qos.resource_limits = limits)
            }

            /// DURABILITY: what the writer's history holds is for readers that come later, too.
            pub fn transient_local(self) -> Self {
                self.with(|qos| qos.durability = Durability::TransientLocal)
            }

            /// DURABILITY: samples outlive their writer and its process, in the machine's memory
            /// (DDS 1.4 §2.2.3.4). A reader that asks for it matches writers that offer it or
            /// [`persistent`](Self::persistent), and gets each sample once, whoever gives it.
            ///
            /// Before a write returns, the sample is in the writer's log. The next writer of the
            /// topic, with the same type's name and partition, takes the log over and offers what
            /// DURABILITY_SERVICE keeps of it; until there is one, nobody does. Where the logs are:
            /// [`DomainParticipantBuilder::store`](crate::DomainParticipantBuilder::store).
            /// Coherent sets are not restored as sets.
            pub fn transient(self) -> Self {
                self.with(|qos| qos.durability = Durability::Transient)
            }

            /// DURABILITY: the same on disk, so that samples outlive the machine's running, too. A
            /// loss of power loses what the kernel has not yet brought to the disk, see
            /// [`StoreOptions::sync`](crate::store::StoreOptions). A reader that asks for it matches
            /// only writers that offer it.
            pub fn persistent(self) -> Self {
                self.with(|qos| qos.durability = Durability::Persistent)
            }

            /// DEADLINE: each instance is written at least this often.
            pub fn deadline(self, period: Duration) -> Self {
                self.with(|qos| qos.deadline = period)
            }

            /// LIVELINESS: who shows that the writer lives, and how often at least.
            pub fn liveliness(self, kind: LivelinessKind, lease_duration: Duration) -> Self {
                self.with(|qos| {
                    qos.liveliness = Liveliness {
                        kind,
                        lease_duration,
                    }
                })
            }

            /// LATENCY_BUDGET: how late samples may come (DDS 1.4 §2.2.3.8). The default is zero. A
            /// reader matches writers whose budget is not longer than its own.
            ///
            /// A writer lets its samples wait that long, though no longer than 100 ms, for others of
            /// the participant that go the same way, with which they share datagrams and system
            /// calls. They leave earlier when 60,000 bytes wait, when another sample that may not
            /// wait is written, and with [`Publisher::flush`](crate::Publisher::flush). With a
            /// budget of zero, samples leave within the call that writes them, unless a thread
            /// writes more than 16 in a row and does nothing else: further ones may wait for a quarter of
            /// the time for which it has done so, 250 µs at most, and the last ones 500 µs more once it stops.
            pub fn latency_budget(self, duration: Duration) -> Self {
                self.with(|qos| qos.latency_budget = duration)
            }

            /// DESTINATION_ORDER: a sample made earlier than one that is already there is dropped.
            pub fn by_source_timestamp(self) -> Self {
                self.with(|qos| qos.destination_order = DestinationOrder::BySourceTimestamp)
            }

            /// DATA_REPRESENTATION: the encodings, of which a writer uses the first. By default a
            /// writer uses XCDR1 for final types and XCDR2 for others, which every peer reads, and
            /// a reader understands both.
            pub fn representation(self, list: impl IntoIterator<Item = RepresentationId>) -> Self {
                let list = list.into_iter().collect();
                self.with(|qos| qos.data_representation = list)
            }

            /// USER_DATA: octets that discovery carries along.
            pub fn user_data(self, octets: impl Into<Vec<u8>>) -> Self {
                let octets = octets.into();
                self.with(|qos| qos.user_data = octets)
            }
        }
    };
}

common_policies!(DataWriterQos);
common_policies!(DataReaderQos);

impl DataWriterQos {
    /// RELIABILITY: what is lost is sent again to readers that ask for it, which is the default. A
    /// write waits up to `max_blocking_time` for room; the default is 100 ms. Meanwhile its thread does the work of the
    /// [control thread](crate::Driving::Threaded), unless another one that waits does: it may return later by what that takes,
    /// which is microseconds but while many others are discovered.
    pub fn reliable(self, max_blocking_time: Duration) -> Self {
        let kind = ReliabilityKind::Reliable;
        self.with(|qos| {
            qos.reliability = Reliability {
                kind,
                max_blocking_time,
            }
        })
    }

    /// DURABILITY_SERVICE: what the log of a [transient](Self::transient) or
    /// [persistent](Self::persistent) writer keeps (DDS 1.4 §2.2.3.5), and while the writer lives its
    /// memory, once all reliable readers have it: HISTORY and RESOURCE_LIMITS are for what some of
    /// them lack. Where there is too much for its limits, the oldest make way. The default is the last sample of each instance,
    /// and nothing of instances that are disposed and unregistered.
    pub fn durability_service(self, service: DurabilityService) -> Self {
        self.with(|qos| qos.durability_service = service)
    }

    /// LIFESPAN: how long a sample is worth reading, counted from its source timestamp (DDS 1.4
    /// §2.2.3.16). The default is for ever. Readers remove what is older, though nobody took it,
    /// and count it in [`InboxCounters::expired`](crate::reader::InboxCounters); the writer neither
    /// repeats it nor gives it to late joiners. The clocks of the machines must agree.
    pub fn lifespan(self, duration: Duration) -> Self {
        self.with(|qos| qos.lifespan = duration)
    }

    /// TRANSPORT_PRIORITY: how routers and queues on the way are to treat the writer's datagrams (DDS
    /// 1.4 §2.2.3.15). The value is the DSCP of their IP headers (RFC 2474), so that 46 is expedited
    /// forwarding and 8 the background; values below 0 count as 0, above 63 as 63. The default is 0,
    /// which leaves the headers as they are.
    pub fn transport_priority(self, priority: i32) -> Self {
        self.with(|qos| qos.transport_priority = priority)
    }

    /// OWNERSHIP: of all writers of an instance the strongest one alone is heard.
    pub fn exclusive(self, strength: i32) -> Self {
        self.with(|qos| {
            qos.ownership = Ownership::Exclusive;
            qos.ownership_strength = strength;
        })
    }

    /// WRITER_DATA_LIFECYCLE: whether unregistering an instance also disposes of it (DDS 1.4
    /// §2.2.3.21), and so does the end of the writer, which unregisters all. The default is that they
    /// do. The writer then remembers the key of each instance that it has written; where millions come
    /// and go, dispose of them, or turn it off. What a TRANSIENT or PERSISTENT writer has in its
    /// log outlives the writer in any case.
    pub fn autodispose_unregistered_instances(mut self, autodispose: bool) -> Self {
        self.autodispose_unregistered_instances = autodispose;
        self
    }

    /// Bytes that a KEEP_ALL writer may have under way, besides RESOURCE_LIMITS: a write waits while
    /// more are not acknowledged. Readers' socket buffers should hold as much. Default 1 MiB.
    pub fn max_unacknowledged_bytes(mut self, bytes: usize) -> Self {
        self.max_unacknowledged_bytes = bytes;
        self
    }

    /// The longest [loan](crate::DataWriter::loan) in memory that readers see, in bytes; longer ones are copied. Default
    /// 0: all are.
    ///
    /// The memory, [`loan_count`](Self::loan_count) times as much and up to 256 bytes more for each, is taken when the
    /// first participant follows the writer's log in shared memory, and kept until the writer ends.
    pub fn max_loan_bytes(mut self, bytes: usize) -> Self {
        self.max_loan_bytes = bytes;
        self
    }

    /// How many loans the writer has, if it [has any](Self::max_loan_bytes): those that are written to, those that
    /// its history keeps, and those that readers hold, a quarter of them or 16 for each participant. Taken as 2 if less
    /// and as 512 if more, and not more than fit 1 GiB. Default 16.
    ///
    /// Each that a reliable reader has not acknowledged counts as a part of
    /// [`max_unacknowledged_bytes`](Self::max_unacknowledged_bytes), so that a KEEP_ALL writer waits when three
    /// quarters of them are; a history of KEEP_LAST should be shorter than that. What finds none free is copied.
    pub fn loan_count(mut self, count: usize) -> Self {
        self.loan_count = count;
        self
    }

    /// Whether a sample for several readers that listen to one multicast group goes there, in one datagram
    /// for all, instead of in one to each. Of participants with [`Transport::Multicast`] all readers do so,
    /// those of the same machine that follow a log in shared memory excepted. What is sent again goes to
    /// each alone. Default true; it cannot be changed later.
    ///
    /// To each alone it is quicker by a system call or two of the receiving side for one reader or two, and
    /// nobody else's participants hear it, which on a network without IGMP snooping are all hosts.
    ///
    /// [`Transport::Multicast`]: crate::Transport::Multicast
    pub fn multicast_samples(mut self, multicast: bool) -> Self {
        self.multicast_samples = multicast;
        self
    }

    /// Whether samples can [say which sample they answer](crate::DataWriter::write_related). Default false; it cannot be
    /// changed later. Datagrams then have 56 bytes less for payloads.
    pub fn related_samples(mut self, related: bool) -> Self {
        self.related_samples = related;
        self
    }

    /// The policies for a type, with what the defaults leave to the type.
    pub(crate) fn resolved(&self, extensibility: Extensibility) -> EndpointQos {
        let mut policies = self.policies.clone();
        if policies.data_representation.is_empty() {
            policies.data_representation = vec![match extensibility {
                Extensibility::Final => RepresentationId::XCDR1,
                Extensibility::Appendable | Extensibility::Mutable => RepresentationId::XCDR2,
            }];
        }
        policies
    }
}

impl DataReaderQos {
    /// RELIABILITY: asks for what was lost. The default is best effort.
    pub fn reliable(self) -> Self {
        self.with(|qos| qos.reliability.kind = ReliabilityKind::Reliable)
    }

    /// TIME_BASED_FILTER: at most one value of each instance in `minimum_separation` (DDS 1.4
    /// §2.2.3.12). The default is zero: all of them.
    ///
    /// A reliable reader shows the newest of those that came too early when its time has come, so
    /// that it never misses the last value; a best-effort reader shows the first one after the
    /// separation. What is not shown is counted in
    /// [`InboxCounters::too_early`](crate::reader::InboxCounters). Must not exceed the period of
    /// [`deadline`](Self::deadline).
    pub fn time_based_filter(self, minimum_separation: Duration) -> Self {
        self.with(|qos| qos.time_based_filter = minimum_separation)
    }

    /// READER_DATA_LIFECYCLE: how long an instance and its samples are kept after its last writer
    /// has gone (DDS 1.4 §2.2.3.22); they are removed then, though nobody took them, and count in
    /// [`InboxCounters::purged`](crate::reader::InboxCounters). The default is for ever.
    pub fn autopurge_nowriter_samples_delay(mut self, delay: Duration) -> Self {
        self.lifecycle.no_writers = delay;
        self
    }

    /// READER_DATA_LIFECYCLE: how long the samples of an instance are kept after it was disposed,
    /// likewise. The default is for ever.
    pub fn autopurge_disposed_samples_delay(mut self, delay: Duration) -> Self {
        self.lifecycle.disposed = delay;
        self
    }

    /// OWNERSHIP: of all writers of an instance the strongest one alone is heard.
    pub fn exclusive(self) -> Self {
        self.with(|qos| qos.ownership = Ownership::Exclusive)
    }

    pub(crate) fn resolved(&self) -> EndpointQos {
        let mut policies = self.policies.clone();
        if policies.data_representation.is_empty() {
            policies.data_representation = vec![RepresentationId::XCDR1, RepresentationId::XCDR2];
        }
        policies
    }
}

/// The QoS of a [`Publisher`](crate::Publisher) or a [`Subscriber`](crate::Subscriber).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupQos {
    partition: Vec<String>,
    presentation: Presentation,
    group_data: Vec<u8>,
    autoenable_created_entities: bool,
}

impl Default for GroupQos {
    fn default() -> Self {
        Self {
            partition: Vec::new(),
            presentation: Presentation::default(),
            group_data: Vec::new(),
            autoenable_created_entities: true,
        }
    }
}

impl GroupQos {
    /// PARTITION: names or patterns, of which one must be shared. The default is the name "".
    pub fn partition<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.partition = names.into_iter().map(Into::into).collect();
        self
    }

    /// PRESENTATION (DDS 1.4 §2.2.3.6): how changes of several instances or topics hang together.
    /// A publisher offers it, a subscriber requests it: the offered scope must not be less than the
    /// requested one, and each access that is requested must be offered. The default is neither
    /// access, of INSTANCE scope.
    ///
    /// `ordered_access`: whatever the policy says, samples of a writer are read in the order of
    /// writing. With INSTANCE scope those of an instance are returned together; with TOPIC scope all
    /// of a topic in the order that DESTINATION_ORDER goes by.
    ///
    /// `coherent_access`: what was written between
    /// [`begin_coherent_changes`](crate::Publisher::begin_coherent_changes) and its end is seen
    /// together, in each reader for itself. With INSTANCE scope as with TOPIC scope all changes of a
    /// writer belong to its set. With GROUP scope a set is seen in all readers of the subscriber
    /// together. It may wait up to ten seconds for a writer of the publisher that discovery has not
    /// found yet; a set of a writer that left before it was found is not seen, unless all its changes
    /// are there, or the set is older than the reader: then the rest of it is seen.
    pub fn presentation(mut self, presentation: Presentation) -> Self {
        self.presentation = presentation;
        self
    }

    /// GROUP_DATA: octets that discovery carries along.
    pub fn group_data(mut self, octets: impl Into<Vec<u8>>) -> Self {
        self.group_data = octets.into();
        self
    }

    /// ENTITY_FACTORY (DDS 1.4 §2.2.3.20): whether writers and readers take part as soon as they are
    /// made, or, if what makes them is not enabled, together with it. Default yes; else each has to be
    /// enabled by itself.
    pub fn autoenable_created_entities(mut self, autoenable: bool) -> Self {
        self.autoenable_created_entities = autoenable;
        self
    }

    pub(crate) fn autoenables(&self) -> bool {
        self.autoenable_created_entities
    }

    pub(crate) fn presentation_qos(&self) -> Presentation {
        self.presentation
    }

    pub(crate) fn apply(&self, policies: &mut EndpointQos) {
        policies.partition.clone_from(&self.partition);
        policies.presentation = self.presentation;
        policies.group_data.clone_from(&self.group_data);
    }
}

/// The DSCP of the datagrams of a writer with this TRANSPORT_PRIORITY.
pub(crate) fn dscp(transport_priority: i32) -> u8 {
    u8::try_from(transport_priority.clamp(0, MAX_DSCP)).unwrap_or(0)
}

/// What a writer with these policies encodes in; `None` if we have no encoder for it.
pub(crate) fn offered_representation(policies: &EndpointQos) -> Option<Representation> {
    match policies.offered_representation() {
        RepresentationId::XCDR1 => Some(Representation::Xcdr1),
        RepresentationId::XCDR2 => Some(Representation::Xcdr2),
        _ => None,
    }
}

/// A DSCP has six bits.
const MAX_DSCP: i32 = 63;
