//! What discovery tells its owner.

use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_cdr::xtypes::TypeId;

use super::{EndpointData, ParticipantData};
use crate::qos::Verdict;
use crate::reader::WriterProxy;
use crate::wire::{EntityId, Guid, GuidPrefix, SequenceNumber};
use crate::writer::ReaderProxy;

/// What happened, in the order in which it happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A participant was heard of for the first time.
    ParticipantFound(Arc<ParticipantData>),
    /// A participant announces something new of itself.
    ParticipantChanged(Arc<ParticipantData>),
    /// A participant is gone; its endpoints are unmatched already.
    ParticipantLost {
        /// Which one.
        prefix: GuidPrefix,
        /// How that is known.
        reason: LostReason,
    },
    /// A remote endpoint was heard of, or announces something new of itself.
    EndpointFound(Arc<EndpointData>),
    /// A remote endpoint is gone; it is unmatched already.
    EndpointLost {
        /// Which one.
        endpoint: Arc<EndpointData>,
        /// How that is known: [`Left`](LostReason::Left) of itself, else with its participant.
        reason: LostReason,
    },
    /// A reader is to be served by a local writer. Comes again when the reader's data or locators
    /// change.
    ReaderMatched {
        /// The local writer.
        writer: Guid,
        /// The reader; it may be local, too.
        reader: Arc<EndpointData>,
        /// For [`Writer::match_reader`](crate::writer::Writer::match_reader).
        proxy: ReaderProxy,
    },
    /// A reader is no longer to be served by a local writer.
    ReaderUnmatched {
        /// The local writer.
        writer: Guid,
        /// The reader.
        reader: Guid,
    },
    /// A local reader is to listen to a writer. Comes again when the writer's data or locators
    /// change.
    WriterMatched {
        /// The local reader.
        reader: Guid,
        /// The writer; it may be local, too.
        writer: Arc<EndpointData>,
        /// For [`Reader::match_writer`](crate::reader::Reader::match_writer).
        proxy: WriterProxy,
    },
    /// A local reader is no longer to listen to a writer.
    WriterUnmatched {
        /// The local reader.
        reader: Guid,
        /// The writer.
        writer: Guid,
        /// How the writer has gone; `None` if it is there, and the two do not match any more.
        gone: Option<Gone>,
    },
    /// A publisher has these writers now, by what it announces. Told to local readers that are
    /// matched with one of them and look at the sets of a whole publisher (PRESENTATION with coherent
    /// access and GROUP scope): after they were matched with new writers, once for all that came
    /// together, and before they are unmatched from one that is gone. Writers that are not known to
    /// match or not to match are left out; none is told of a publisher with more than 1,024, one of
    /// which a writer is ignored or refused, or any of a participant that has more than 64 of these, or
    /// goes.
    GroupChanged {
        /// The local reader.
        reader: Guid,
        /// The publisher.
        publisher: Guid,
        /// Its writers, ascending.
        writers: Arc<[EntityId]>,
    },
    /// A local endpoint shares a topic with another one but does not match it. Comes once for each
    /// verdict.
    Incompatible {
        /// The local endpoint.
        local: Guid,
        /// The other one; it may be local, too.
        remote: Arc<EndpointData>,
        /// Why.
        verdict: Verdict,
    },
    /// A participant has answered [`Discovery::request_types`](super::Discovery::request_types).
    TypesReceived {
        /// Which one.
        participant: GuidPrefix,
        /// Of the objects asked for, those that came. They are in
        /// [`Discovery::types`](super::Discovery::types).
        types: Vec<TypeId>,
    },
    /// A matched writer's LIVELINESS lease ended without a sign of it, or it is back.
    LivelinessChanged {
        /// The writer.
        writer: Guid,
        /// Whether it is alive now.
        alive: bool,
    },
}

/// How an endpoint has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// How that is known.
    pub reason: LostReason,
    /// The last change that it has written, if it is a writer of ours that has said so as it left.
    pub last_change: Option<SequenceNumber>,
}

impl From<LostReason> for Gone {
    fn from(reason: LostReason) -> Self {
        Self {
            reason,
            last_change: None,
        }
    }
}

/// How it is known that a participant is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// It said so.
    Left,
    /// Nothing was heard of it for as long as it promised to speak.
    LeaseExpired,
    /// The process that it was in has [ended](super::Discovery::process_ended).
    ProcessEnded,
    /// It is not: it had not shown that it hears us, and made way for another one when there were as
    /// many as [`max_participants`](super::DiscoveryLimits::max_participants).
    Displaced,
    /// It may be there, but is [ignored](super::Discovery::ignore_participant) from now on.
    Ignored,
}
