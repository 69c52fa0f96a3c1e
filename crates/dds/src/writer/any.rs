//! A writer of any type, as listeners of publishers and participants see it.

use std::fmt;
use std::sync::Arc;

use tickwire_rtps::wire::Guid;

use super::endpoint::WriterEndpoint;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, MatchedStatus, StatusMask,
};

/// A writer of some type. Clones are the same writer; it does not end later for them.
#[derive(Clone)]
pub struct AnyDataWriter(pub(crate) Arc<WriterEndpoint>);

impl AnyDataWriter {
    /// The writer's name on the network.
    pub fn guid(&self) -> Guid {
        self.0.guid
    }

    /// The name of its topic.
    pub fn topic_name(&self) -> &str {
        &self.0.topic_name
    }

    /// As [`DataWriter::publication_matched_status`](crate::DataWriter::publication_matched_status).
    pub fn publication_matched_status(&self) -> MatchedStatus {
        let mask = StatusMask::PUBLICATION_MATCHED;
        self.0.status(mask, |all| all.matched.read())
    }

    /// As [`DataWriter::offered_incompatible_qos_status`](crate::DataWriter::offered_incompatible_qos_status).
    pub fn offered_incompatible_qos_status(&self) -> IncompatibleQosStatus {
        let mask = StatusMask::OFFERED_INCOMPATIBLE_QOS;
        self.0.status(mask, |all| all.incompatible_qos.read())
    }

    /// As [`DataWriter::offered_deadline_missed_status`](crate::DataWriter::offered_deadline_missed_status).
    pub fn offered_deadline_missed_status(&self) -> DeadlineMissedStatus {
        let mask = StatusMask::OFFERED_DEADLINE_MISSED;
        self.0.status(mask, |all| all.deadline_missed.read())
    }

    /// As [`DataWriter::liveliness_lost_status`](crate::DataWriter::liveliness_lost_status).
    pub fn liveliness_lost_status(&self) -> CountStatus {
        let mask = StatusMask::LIVELINESS_LOST;
        self.0.status(mask, |all| all.liveliness_lost.read())
    }
}

impl fmt::Debug for AnyDataWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyDataWriter")
            .field("guid", &self.guid())
            .field("topic", &self.topic_name())
            .finish()
    }
}
