//! Listeners: the engine's threads take the interpreter's lock here, and hold no lock of the engine then.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyWeakrefMethods, PyWeakrefReference};
use tickwire::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus,
};
use tickwire::{
    DataReader, DataReaderListener, DataWriter, DataWriterListener, Serialized, StatusMask, Topic,
};

use crate::bell::Bell;
use crate::status::{ToTuple, names};

/// Tells the Python object of an entity what has happened to it, by its method `_told(name, status)`.
pub(crate) struct Ear {
    /// The object, which may have ended.
    target: Py<PyWeakrefReference>,
    /// What it wants to be told of.
    pub(crate) mask: StatusMask,
    pub(crate) bell: Option<Arc<Bell>>,
}

impl Ear {
    pub(crate) fn new(
        object: &Bound<'_, PyAny>,
        mask: StatusMask,
        bell: Option<Arc<Bell>>,
    ) -> PyResult<Self> {
        Ok(Self {
            target: PyWeakrefReference::new(object)?.unbind(),
            mask,
            bell,
        })
    }

    fn tell(&self, what: StatusMask, status: &dyn ToTuple) {
        if !self.mask.intersects(what) {
            return;
        }
        let name = names(what).first().copied().unwrap_or_default();
        // None is attached when the interpreter ends.
        Python::try_attach(|py| {
            let Some(target) = self.target.bind(py).upgrade() else {
                return;
            };
            let told = status
                .to_tuple(py)
                .and_then(|status| target.call_method1("_told", (name, status)));
            if let Err(error) = told {
                error.write_unraisable(py, Some(&target));
            }
        });
    }
}

/// Nothing to tell besides.
struct Nothing;

impl ToTuple for Nothing {
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Ok(PyTuple::empty(py))
    }
}

impl DataReaderListener<Serialized> for Ear {
    fn on_data_available(&mut self, _: &DataReader<Serialized>) {
        if let Some(bell) = &self.bell {
            bell.ring();
        }
        self.tell(StatusMask::DATA_AVAILABLE, &Nothing);
    }

    fn on_subscription_matched(&mut self, _: &DataReader<Serialized>, status: MatchedStatus) {
        self.tell(StatusMask::SUBSCRIPTION_MATCHED, &status);
    }

    fn on_requested_incompatible_qos(
        &mut self,
        _: &DataReader<Serialized>,
        status: IncompatibleQosStatus,
    ) {
        self.tell(StatusMask::REQUESTED_INCOMPATIBLE_QOS, &status);
    }

    fn on_liveliness_changed(
        &mut self,
        _: &DataReader<Serialized>,
        status: LivelinessChangedStatus,
    ) {
        self.tell(StatusMask::LIVELINESS_CHANGED, &status);
    }

    fn on_requested_deadline_missed(
        &mut self,
        _: &DataReader<Serialized>,
        status: DeadlineMissedStatus,
    ) {
        self.tell(StatusMask::REQUESTED_DEADLINE_MISSED, &status);
    }

    fn on_sample_lost(&mut self, _: &DataReader<Serialized>, status: CountStatus) {
        self.tell(StatusMask::SAMPLE_LOST, &status);
    }

    fn on_sample_rejected(&mut self, _: &DataReader<Serialized>, status: SampleRejectedStatus) {
        self.tell(StatusMask::SAMPLE_REJECTED, &status);
    }
}

impl DataWriterListener<Serialized> for Ear {
    fn on_publication_matched(&mut self, _: &DataWriter<Serialized>, status: MatchedStatus) {
        self.tell(StatusMask::PUBLICATION_MATCHED, &status);
    }

    fn on_offered_deadline_missed(
        &mut self,
        _: &DataWriter<Serialized>,
        status: DeadlineMissedStatus,
    ) {
        self.tell(StatusMask::OFFERED_DEADLINE_MISSED, &status);
    }

    fn on_liveliness_lost(&mut self, _: &DataWriter<Serialized>, status: CountStatus) {
        self.tell(StatusMask::LIVELINESS_LOST, &status);
    }

    fn on_offered_incompatible_qos(
        &mut self,
        _: &DataWriter<Serialized>,
        status: IncompatibleQosStatus,
    ) {
        self.tell(StatusMask::OFFERED_INCOMPATIBLE_QOS, &status);
    }
}

impl tickwire::TopicListener<Serialized> for Ear {
    fn on_inconsistent_topic(&mut self, _: &Topic<Serialized>, status: CountStatus) {
        self.tell(StatusMask::INCONSISTENT_TOPIC, &status);
    }
}
