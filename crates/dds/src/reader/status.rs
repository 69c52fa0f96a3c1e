//! A reader's statuses.

use super::info::InstanceHandle;
use super::insert::SampleRejectedReason;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus,
};

#[derive(Default)]
pub(crate) struct ReaderStatuses {
    pub(crate) matched: MatchedStatus,
    pub(crate) incompatible_qos: IncompatibleQosStatus,
    pub(crate) liveliness: LivelinessChangedStatus,
    pub(crate) lost: CountStatus,
    pub(crate) deadline_missed: DeadlineMissedStatus,
    pub(crate) rejected: SampleRejectedStatus,
}

impl ReaderStatuses {
    pub(crate) fn reject(
        &mut self,
        reason: SampleRejectedReason,
        instance: Option<InstanceHandle>,
    ) {
        self.rejected.count.add(1);
        self.rejected.last_reason = Some(reason);
        self.rejected.last_instance = instance;
    }
}
