//! A reader's statuses.

use super::cache::SampleRejectedReason;
use super::info::InstanceHandle;
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus,
};

#[derive(Default)]
pub(super) struct ReaderStatuses {
    pub(super) matched: MatchedStatus,
    pub(super) incompatible_qos: IncompatibleQosStatus,
    pub(super) liveliness: LivelinessChangedStatus,
    pub(super) lost: CountStatus,
    pub(super) deadline_missed: DeadlineMissedStatus,
    pub(super) rejected: SampleRejectedStatus,
}

impl ReaderStatuses {
    pub(super) fn reject(
        &mut self,
        reason: SampleRejectedReason,
        instance: Option<InstanceHandle>,
    ) {
        self.rejected.count.add(1);
        self.rejected.last_reason = Some(reason);
        self.rejected.last_instance = instance;
    }
}
