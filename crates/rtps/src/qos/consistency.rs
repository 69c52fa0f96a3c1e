//! Whether the policies of one endpoint agree among themselves (DDS 1.4 §2.2.3).

use core::fmt;

use super::{EndpointQos, History, ResourceLimits};

/// Two policies of one endpoint that cannot both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconsistent {
    /// HISTORY keeps the last 0 samples.
    DepthIsZero,
    /// HISTORY keeps more than RESOURCE_LIMITS allow for an instance.
    DepthAboveLimit,
    /// RESOURCE_LIMITS allow fewer samples in all than for one instance.
    SamplesBelowSamplesPerInstance,
    /// TIME_BASED_FILTER holds samples back for longer than DEADLINE allows.
    FilterAboveDeadline,
}

impl EndpointQos {
    /// Checks the policies that depend on each other.
    ///
    /// # Errors
    /// The first two that cannot both hold.
    pub fn check_consistency(&self) -> Result<(), Inconsistent> {
        let ResourceLimits {
            max_samples,
            max_samples_per_instance,
            ..
        } = self.resource_limits;
        let exceeds = |lower: Option<u32>, upper: Option<u32>| matches!((lower, upper), (Some(lower), Some(upper)) if lower > upper);
        let depth = match self.history {
            History::KeepLast(0) => return Err(Inconsistent::DepthIsZero),
            History::KeepLast(depth) => Some(depth),
            History::KeepAll => None,
        };
        if exceeds(depth, max_samples_per_instance) {
            return Err(Inconsistent::DepthAboveLimit);
        }
        if exceeds(max_samples_per_instance, max_samples) {
            return Err(Inconsistent::SamplesBelowSamplesPerInstance);
        }
        if self.time_based_filter > self.deadline {
            return Err(Inconsistent::FilterAboveDeadline);
        }
        Ok(())
    }
}

impl fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DepthIsZero => "HISTORY: a depth of 0 keeps nothing; use 1 or more",
            Self::DepthAboveLimit => {
                "HISTORY: the depth is above RESOURCE_LIMITS.max_samples_per_instance"
            }
            Self::SamplesBelowSamplesPerInstance => {
                "RESOURCE_LIMITS: max_samples is below max_samples_per_instance"
            }
            Self::FilterAboveDeadline => {
                "TIME_BASED_FILTER: the minimum separation is above the DEADLINE period"
            }
        })
    }
}

impl core::error::Error for Inconsistent {}
