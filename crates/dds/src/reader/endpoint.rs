//! A reader as the participant's threads see it, whatever the type of its samples.

use std::sync::Arc;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::EndpointData;
use tickwire_rtps::qos::Verdict;
use tickwire_rtps::reader::{Decision, WriterProxy};
use tickwire_rtps::wire::{Context, EntityId, Guid, SequenceNumber, Submessage};

use super::info::StateMask;
use super::room::Room;
use super::status::ReaderStatuses;
use crate::status::StatusMask;

/// A submessage for a reader, and when it came.
pub(crate) struct Received<'a> {
    pub(crate) now: Instant,
    pub(crate) timestamp: Timestamp,
    pub(crate) context: &'a Context<'a>,
    pub(crate) submessage: &'a Submessage<'a>,
}

/// A reader as the participant's threads see it, whatever the type of its samples.
pub(crate) trait ReaderEndpoint: Send + Sync {
    fn guid(&self) -> Guid;

    /// Takes a submessage; says whether the listener has something to hear.
    fn receive(&self, received: &Received<'_>, outbox: &mut Outbox) -> bool;

    /// A writer matches; says whether the listener has something to hear.
    fn match_writer(
        &self,
        now: Instant,
        proxy: WriterProxy,
        writer: &EndpointData,
        outbox: &mut Outbox,
    ) -> bool;

    /// A writer is gone; says whether the listener has something to hear.
    fn unmatch_writer(&self, writer: Guid) -> bool;

    /// A publisher has these writers now; says whether the listener has something to hear.
    fn group_changed(&self, publisher: Guid, writers: &[EntityId]) -> bool;

    /// A writer does not match; says whether the listener has something to hear.
    fn incompatible(&self, writer: Guid, verdict: Arc<Verdict>) -> bool;

    /// A matched writer has fallen silent or is back; says whether the listener has something to
    /// hear.
    fn liveliness_changed(&self, writer: Guid, is_alive: bool) -> bool;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    fn due(&self) -> Instant;

    /// Does what is due; says whether the listener has something to hear.
    fn handle_timeout(&self, now: Instant, outbox: &mut Outbox) -> bool;

    /// Whether samples never make room for each other, so that the listener may be told of several
    /// together.
    fn keeps_all(&self) -> bool;

    /// Tells the listener.
    fn call_listener(&self);

    fn topic_name(&self) -> &str;

    /// Whether data has come since it was last read.
    fn has_news(&self) -> bool;

    /// Tells its own listener of data, if there is any that was not read.
    fn notify(&self);

    /// Reads a status, which clears its change.
    fn read_status(&self, mask: StatusMask, read: &mut dyn FnMut(&mut ReaderStatuses));

    /// Lists its samples in these states for [`Access::datareaders`](crate::Access::datareaders).
    fn list(&self, mask: StateMask, samples: &mut Vec<Listed>);

    /// Whether there is room for its parts in a set of a publisher.
    fn room_for_set(&self, publisher: Guid, set: SequenceNumber) -> Room;

    /// Shows or discards its parts in a set of a publisher. To be called under the subscriber's lock.
    fn decide(&self, decision: &Decision);
}

/// A sample among those of all readers of a subscriber.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) reader: Guid,
    pub(crate) publisher: Guid,
    pub(crate) group_number: SequenceNumber,
    pub(crate) made: Timestamp,
}
