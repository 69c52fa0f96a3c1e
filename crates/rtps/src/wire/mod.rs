//! RTPS on the wire: identifiers, submessages and parameter lists (RTPS 2.5 §8.3 and §9.4).
//!
//! Nothing here keeps state beyond one datagram.

mod guid;
mod sequence_number;
mod submessage;

pub use guid::{EntityId, Guid, GuidPrefix, VendorId};
pub use sequence_number::{FragmentNumberSet, SequenceNumber, SequenceNumberSet};
pub use submessage::{
    AckNack, Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InlineQos, NackFrag, SerializedPayload,
    Submessage,
};
