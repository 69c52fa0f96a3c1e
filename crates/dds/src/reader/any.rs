//! A reader of any type, as listeners of subscribers and participants see it.

use std::fmt;
use std::sync::Arc;

use tickwire_rtps::wire::Guid;

use super::endpoint::ReaderEndpoint;
use super::status::ReaderStatuses;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus, StatusMask,
};

/// A reader of some type. Clones are the same reader; it does not end later for them.
#[derive(Clone)]
pub struct AnyDataReader(pub(crate) Arc<dyn ReaderEndpoint>);

impl AnyDataReader {
    /// The reader's name on the network.
    pub fn guid(&self) -> Guid {
        self.0.guid()
    }

    /// The name of its topic.
    pub fn topic_name(&self) -> &str {
        self.0.topic_name()
    }

    /// As [`DataReader::subscription_matched_status`](crate::DataReader::subscription_matched_status).
    pub fn subscription_matched_status(&self) -> MatchedStatus {
        self.read(StatusMask::SUBSCRIPTION_MATCHED, |all| all.matched.read())
    }

    /// As [`DataReader::requested_incompatible_qos_status`](crate::DataReader::requested_incompatible_qos_status).
    pub fn requested_incompatible_qos_status(&self) -> IncompatibleQosStatus {
        let mask = StatusMask::REQUESTED_INCOMPATIBLE_QOS;
        self.read(mask, |all| all.incompatible_qos.read())
    }

    /// As [`DataReader::liveliness_changed_status`](crate::DataReader::liveliness_changed_status).
    pub fn liveliness_changed_status(&self) -> LivelinessChangedStatus {
        self.read(StatusMask::LIVELINESS_CHANGED, |all| all.liveliness.read())
    }

    /// As [`DataReader::requested_deadline_missed_status`](crate::DataReader::requested_deadline_missed_status).
    pub fn requested_deadline_missed_status(&self) -> DeadlineMissedStatus {
        let mask = StatusMask::REQUESTED_DEADLINE_MISSED;
        self.read(mask, |all| all.deadline_missed.read())
    }

    /// As [`DataReader::sample_lost_status`](crate::DataReader::sample_lost_status).
    pub fn sample_lost_status(&self) -> CountStatus {
        self.read(StatusMask::SAMPLE_LOST, |all| all.lost.read())
    }

    /// As [`DataReader::sample_rejected_status`](crate::DataReader::sample_rejected_status).
    pub fn sample_rejected_status(&self) -> SampleRejectedStatus {
        self.read(StatusMask::SAMPLE_REJECTED, |all| all.rejected.read())
    }

    fn read<R: Default>(
        &self,
        mask: StatusMask,
        mut read: impl FnMut(&mut ReaderStatuses) -> R,
    ) -> R {
        let mut status = R::default();
        self.0.read_status(mask, &mut |all| status = read(all));
        status
    }
}

impl fmt::Debug for AnyDataReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyDataReader")
            .field("guid", &self.guid())
            .field("topic", &self.topic_name())
            .finish()
    }
}
