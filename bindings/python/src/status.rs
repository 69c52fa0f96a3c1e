//! Masks of statuses and states, and statuses as tuples, which `tickwire/_status.py` gives names.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tickwire::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus,
};
use tickwire::{InstanceHandle, StateMask, StatusMask};

use crate::errors::Kind;

const STATUSES: [(&str, StatusMask); 13] = [
    ("inconsistent_topic", StatusMask::INCONSISTENT_TOPIC),
    (
        "offered_deadline_missed",
        StatusMask::OFFERED_DEADLINE_MISSED,
    ),
    (
        "requested_deadline_missed",
        StatusMask::REQUESTED_DEADLINE_MISSED,
    ),
    (
        "offered_incompatible_qos",
        StatusMask::OFFERED_INCOMPATIBLE_QOS,
    ),
    (
        "requested_incompatible_qos",
        StatusMask::REQUESTED_INCOMPATIBLE_QOS,
    ),
    ("sample_lost", StatusMask::SAMPLE_LOST),
    ("sample_rejected", StatusMask::SAMPLE_REJECTED),
    ("data_on_readers", StatusMask::DATA_ON_READERS),
    ("data_available", StatusMask::DATA_AVAILABLE),
    ("liveliness_lost", StatusMask::LIVELINESS_LOST),
    ("liveliness_changed", StatusMask::LIVELINESS_CHANGED),
    ("publication_matched", StatusMask::PUBLICATION_MATCHED),
    ("subscription_matched", StatusMask::SUBSCRIPTION_MATCHED),
];

/// The mask of statuses by name.
pub(crate) fn mask(names: &[String]) -> PyResult<StatusMask> {
    names.iter().try_fold(StatusMask::NONE, |mask, name| {
        let known = STATUSES.iter().find(|(known, _)| known == name);
        let (_, status) = known.ok_or_else(|| {
            let all: Vec<_> = STATUSES.iter().map(|(name, _)| *name).collect();
            let all = all.join(", ");
            Kind::Error.error(format!("there is no status `{name}`; there are {all}"))
        })?;
        Ok(mask | *status)
    })
}

/// The names of the statuses in a mask.
pub(crate) fn names(mask: StatusMask) -> Vec<&'static str> {
    let set = STATUSES
        .iter()
        .filter(|(_, status)| mask.intersects(*status));
    set.map(|(name, _)| *name).collect()
}

/// The mask of states by name, all of which must hold.
pub(crate) fn states(names: &[String]) -> PyResult<StateMask> {
    const STATES: [(&str, StateMask); 7] = [
        ("any", StateMask::ANY),
        ("not_read", StateMask::NOT_READ),
        ("read", StateMask::READ),
        ("new", StateMask::NEW),
        ("not_new", StateMask::NOT_NEW),
        ("alive", StateMask::ALIVE),
        ("not_alive", StateMask::NOT_ALIVE),
    ];
    names.iter().try_fold(StateMask::ANY, |mask, name| {
        let known = STATES.iter().find(|(known, _)| known == name);
        let (_, state) = known.ok_or_else(|| {
            let all = STATES.map(|(name, _)| name).join(", ");
            Kind::Error.error(format!("there is no state `{name}`; there are {all}"))
        })?;
        Ok(mask.and(*state))
    })
}

/// A status as a tuple, in the order of the fields of its class.
pub(crate) trait ToTuple {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>>;
}

impl ToTuple for CountStatus {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (self.total_count, self.total_count_change).into_pyobject(py)
    }
}

impl ToTuple for MatchedStatus {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tuple = (
            self.total_count,
            self.total_count_change,
            self.current_count,
            self.current_count_change,
            self.last.map(|guid| guid.to_string()),
        );
        tuple.into_pyobject(py)
    }
}

impl ToTuple for IncompatibleQosStatus {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tuple = (
            self.total_count,
            self.total_count_change,
            self.last_policy.map(|policy| format!("{policy:?}")),
            self.last.map(|guid| guid.to_string()),
            self.verdict.as_ref().map(|verdict| verdict.to_string()),
        );
        tuple.into_pyobject(py)
    }
}

impl ToTuple for LivelinessChangedStatus {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tuple = (
            self.alive_count,
            self.not_alive_count,
            self.alive_count_change,
            self.not_alive_count_change,
            self.last.map(|guid| guid.to_string()),
        );
        tuple.into_pyobject(py)
    }
}

impl ToTuple for DeadlineMissedStatus {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tuple = (
            self.count.total_count,
            self.count.total_count_change,
            self.last_instance
                .map(|instance| instance_bytes(py, instance)),
        );
        tuple.into_pyobject(py)
    }
}

impl ToTuple for SampleRejectedStatus {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tuple = (
            self.count.total_count,
            self.count.total_count_change,
            self.last_reason.map(|reason| format!("{reason:?}")),
            self.last_instance
                .map(|instance| instance_bytes(py, instance)),
        );
        tuple.into_pyobject(py)
    }
}

fn instance_bytes(py: Python<'_>, instance: InstanceHandle) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &instance.0)
}
