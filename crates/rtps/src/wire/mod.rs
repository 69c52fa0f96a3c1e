//! RTPS on the wire: identifiers, submessages and parameter lists (RTPS 2.5 §8.3 and §9.4).
//!
//! Nothing here keeps state beyond one datagram. [`MessageReader`] takes a datagram apart,
//! [`MessageWriter`] puts one together; both see submessages as the same values. Bytes from
//! outside are read by a forward-only cursor, and every count is bounded by the bytes that are
//! there.

mod cursor;
mod group_digest;
mod guid;
mod header;
mod locator_list;
mod message_reader;
mod message_writer;
mod parameter_list;
mod plain_sample;
mod sequence_number;
mod submessage;
mod submessage_reader;
mod time;

#[cfg(test)]
mod tests;

pub use cursor::Malformed;
pub use group_digest::GroupDigest;
pub use guid::{EntityId, Guid, GuidPrefix, VendorId};
pub use header::{Header, ProtocolVersion};
pub use locator_list::LocatorList;
pub use message_reader::{Arrival, Context, MessageReader};
pub use message_writer::MessageWriter;
pub use parameter_list::{
    Parameter, ParameterId, ParameterList, ParameterListWriter, ParameterTooLong, StatusInfo,
};
pub use plain_sample::PlainSample;
pub use sequence_number::{FragmentNumberSet, SequenceNumber, SequenceNumberSet};
pub use submessage::{
    AckNack, Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InlineQos, NackFrag, SerializedPayload,
    Submessage,
};

pub(crate) use cursor::{Cursor, Out};
pub(crate) use locator_list::{read_locator, write_locator};
pub(crate) use message_writer::SampleHead;
pub(crate) use time::{read_duration, write_duration};
