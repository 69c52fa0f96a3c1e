//! How long samples take from hop to hop.

use tickwire_base::{Instant, LatencyHistogram};

use super::info::SampleState;
use super::insert::Arrival;
use super::sample::Sample;

/// How long a reader's samples took from one hop to the next, each counted once, if the participant
/// [asks for that](crate::DomainParticipantBuilder::latency_histograms). Between machines the first two
/// are as good as their clocks agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReaderLatency {
    /// From the source timestamp to the kernel's [receipt](crate::SampleInfo::kernel_timestamp), where that
    /// is known.
    pub source_to_kernel: LatencyHistogram,
    /// From the kernel's receipt to reception, where that is known.
    pub kernel_to_reception: LatencyHistogram,
    /// From the source timestamp to reception.
    pub source_to_reception: LatencyHistogram,
    /// From reception to the first `read` or `take` that returns the sample.
    pub reception_to_take: LatencyHistogram,
}

impl ReaderLatency {
    /// Forgets all.
    pub(super) fn reset(&mut self) {
        self.source_to_kernel.reset();
        self.kernel_to_reception.reset();
        self.source_to_reception.reset();
        self.reception_to_take.reset();
    }

    /// A value can be read.
    pub(super) fn received(&mut self, arrival: &Arrival) {
        let reception = arrival.reception_timestamp.as_nanos();
        let source = arrival.source_timestamp.map(|time| time.as_nanos());
        let kernel = arrival.kernel_timestamp.map(|time| time.as_nanos());
        if let Some(source) = source {
            self.source_to_reception
                .record(reception.saturating_sub(source));
        }
        if let Some(kernel) = kernel {
            self.kernel_to_reception
                .record(reception.saturating_sub(kernel));
            if let Some(source) = source {
                self.source_to_kernel.record(kernel.saturating_sub(source));
            }
        }
    }

    /// These have been returned.
    pub(super) fn returned<T>(&mut self, samples: &[Sample<T>], now: Instant) {
        for sample in samples {
            if sample.info.valid_data && sample.info.sample_state == SampleState::NotRead {
                let waited = now.since(sample.received_at).as_nanos();
                let waited = i64::try_from(waited).unwrap_or(i64::MAX);
                self.reception_to_take.record(waited);
            }
        }
    }
}
