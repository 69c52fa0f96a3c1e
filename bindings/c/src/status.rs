//! Statuses as structs of C, and the functions that return them.

use std::fmt::Write as _;

use crate::border::{Out, export};
use crate::either::either;
use crate::guid::Guid;
use crate::handle::{Handle, get};
use crate::instance::Instance;
use crate::reader::Reader;
use crate::topic::Topic;
use crate::writer::Writer;

/// `tw_matched_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedStatus {
    total_count: u32,
    total_count_change: u32,
    current_count: u32,
    current_count_change: i32,
    last: Guid,
}

impl From<dds::status::MatchedStatus> for MatchedStatus {
    fn from(status: dds::status::MatchedStatus) -> Self {
        Self {
            total_count: status.total_count,
            total_count_change: status.total_count_change,
            current_count: status.current_count,
            current_count_change: status.current_count_change,
            last: status.last.into(),
        }
    }
}

/// `tw_incompatible_qos_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncompatibleQosStatus {
    total_count: u32,
    total_count_change: u32,
    last_policy_id: u32,
    last: Guid,
    why: [u8; WHY],
}

impl From<dds::status::IncompatibleQosStatus> for IncompatibleQosStatus {
    fn from(status: dds::status::IncompatibleQosStatus) -> Self {
        let mut text = String::new();
        if let Some(verdict) = &status.verdict {
            // A string takes it all.
            let _ = write!(text, "{verdict}");
        }
        let mut fits = text.len().min(WHY - 1);
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        let mut why = [0; WHY];
        for (to, from) in why.iter_mut().zip(&text.as_bytes()[..fits]) {
            *to = *from;
        }
        Self {
            total_count: status.total_count,
            total_count_change: status.total_count_change,
            last_policy_id: status.last_policy.map_or(0, |policy| policy.0),
            last: status.last.into(),
            why,
        }
    }
}

/// `tw_count_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountStatus {
    total_count: u64,
    total_count_change: u64,
}

impl From<dds::status::CountStatus> for CountStatus {
    fn from(status: dds::status::CountStatus) -> Self {
        Self {
            total_count: status.total_count,
            total_count_change: status.total_count_change,
        }
    }
}

/// `tw_sample_rejected_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleRejectedStatus {
    total_count: u64,
    total_count_change: u64,
    last_reason: u32,
    last_instance: Instance,
}

impl From<dds::status::SampleRejectedStatus> for SampleRejectedStatus {
    fn from(status: dds::status::SampleRejectedStatus) -> Self {
        use dds::reader::SampleRejectedReason::{Instances, Samples, SamplesPerInstance};
        Self {
            total_count: status.count.total_count,
            total_count_change: status.count.total_count_change,
            last_reason: match status.last_reason {
                None => 0,
                Some(Instances) => 1,
                Some(Samples) => 2,
                Some(SamplesPerInstance) => 3,
            },
            last_instance: status.last_instance.into(),
        }
    }
}

/// `tw_deadline_missed_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeadlineMissedStatus {
    total_count: u64,
    total_count_change: u64,
    last_instance: Instance,
}

impl From<dds::status::DeadlineMissedStatus> for DeadlineMissedStatus {
    fn from(status: dds::status::DeadlineMissedStatus) -> Self {
        Self {
            total_count: status.count.total_count,
            total_count_change: status.count.total_count_change,
            last_instance: status.last_instance.into(),
        }
    }
}

/// `tw_liveliness_changed_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LivelinessChangedStatus {
    alive_count: u32,
    not_alive_count: u32,
    alive_count_change: i32,
    not_alive_count_change: i32,
    last: Guid,
}

impl From<dds::status::LivelinessChangedStatus> for LivelinessChangedStatus {
    fn from(status: dds::status::LivelinessChangedStatus) -> Self {
        Self {
            alive_count: status.alive_count,
            not_alive_count: status.not_alive_count,
            alive_count_change: status.alive_count_change,
            not_alive_count_change: status.not_alive_count_change,
            last: status.last.into(),
        }
    }
}

/// Functions that read a status, which clears its change.
macro_rules! statuses {
    ($($name:ident: $object:ident.$method:ident() -> $status:ident;)*) => {
        export! {$(
            fn $name(entity: Handle, status: Out<$status>) {
                let status = status.place("status")?;
                let entity = get::<$object>(entity)?;
                status.put(either!(&entity.dds, dds => dds.$method()).into());
                Ok(())
            }
        )*}
    };
}

statuses! {
    tw_writer_publication_matched: Writer.publication_matched_status() -> MatchedStatus;
    tw_writer_offered_incompatible_qos: Writer.offered_incompatible_qos_status() -> IncompatibleQosStatus;
    tw_writer_offered_deadline_missed: Writer.offered_deadline_missed_status() -> DeadlineMissedStatus;
    tw_writer_liveliness_lost: Writer.liveliness_lost_status() -> CountStatus;
    tw_reader_subscription_matched: Reader.subscription_matched_status() -> MatchedStatus;
    tw_reader_requested_incompatible_qos: Reader.requested_incompatible_qos_status() -> IncompatibleQosStatus;
    tw_reader_requested_deadline_missed: Reader.requested_deadline_missed_status() -> DeadlineMissedStatus;
    tw_reader_liveliness_changed: Reader.liveliness_changed_status() -> LivelinessChangedStatus;
    tw_reader_sample_lost: Reader.sample_lost_status() -> CountStatus;
    tw_reader_sample_rejected: Reader.sample_rejected_status() -> SampleRejectedStatus;
    tw_topic_inconsistent: Topic.inconsistent_topic_status() -> CountStatus;
}

/// `TW_WHY_MAX`.
const WHY: usize = 512;
