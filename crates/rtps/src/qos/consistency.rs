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
    /// DURABILITY_SERVICE keeps the last 0 samples.
    ServiceDepthIsZero,
    /// DURABILITY_SERVICE keeps more than its own limits allow for an instance.
    ServiceDepthAboveLimit,
    /// DURABILITY_SERVICE allows fewer samples in all than for one instance.
    ServiceSamplesBelowSamplesPerInstance,
}

impl EndpointQos {
    /// Checks the policies that depend on each other.
    ///
    /// # Errors
    /// The first two that cannot both hold.
    pub fn check_consistency(&self) -> Result<(), Inconsistent> {
        match check_history(self.history, &self.resource_limits) {
            Ok(()) => {}
            Err(Excess::DepthIsZero) => return Err(Inconsistent::DepthIsZero),
            Err(Excess::DepthAboveLimit) => return Err(Inconsistent::DepthAboveLimit),
            Err(Excess::SamplesPerInstance) => {
                return Err(Inconsistent::SamplesBelowSamplesPerInstance);
            }
        }
        let service = &self.durability_service;
        match check_history(service.history, &service.resource_limits) {
            Ok(()) => {}
            Err(Excess::DepthIsZero) => return Err(Inconsistent::ServiceDepthIsZero),
            Err(Excess::DepthAboveLimit) => return Err(Inconsistent::ServiceDepthAboveLimit),
            Err(Excess::SamplesPerInstance) => {
                return Err(Inconsistent::ServiceSamplesBelowSamplesPerInstance);
            }
        }
        if self.time_based_filter > self.deadline {
            return Err(Inconsistent::FilterAboveDeadline);
        }
        Ok(())
    }
}

/// What is wrong between a history and its bounds.
enum Excess {
    DepthIsZero,
    DepthAboveLimit,
    SamplesPerInstance,
}

/// DDS 1.4 §2.2.3.19: the depth fits the limit of an instance, and that the limit of all.
fn check_history(history: History, limits: &ResourceLimits) -> Result<(), Excess> {
    let exceeds = |lower: Option<u32>, upper: Option<u32>| matches!((lower, upper), (Some(lower), Some(upper)) if lower > upper);
    let depth = match history {
        History::KeepLast(0) => return Err(Excess::DepthIsZero),
        History::KeepLast(depth) => Some(depth),
        History::KeepAll => None,
    };
    let per_instance = limits.max_samples_per_instance;
    match () {
        () if exceeds(depth, per_instance) => Err(Excess::DepthAboveLimit),
        () if exceeds(per_instance, limits.max_samples) => Err(Excess::SamplesPerInstance),
        () => Ok(()),
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
            Self::ServiceDepthIsZero => {
                "DURABILITY_SERVICE: a depth of 0 keeps nothing; use 1 or more"
            }
            Self::ServiceDepthAboveLimit => {
                "DURABILITY_SERVICE: the depth is above its max_samples_per_instance"
            }
            Self::ServiceSamplesBelowSamplesPerInstance => {
                "DURABILITY_SERVICE: max_samples is below max_samples_per_instance"
            }
        })
    }
}

impl core::error::Error for Inconsistent {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_obeys_the_same_bounds_as_a_history() {
        let check = |history, limits| {
            let mut qos = EndpointQos::writer();
            qos.durability_service.history = history;
            qos.durability_service.resource_limits = limits;
            qos.check_consistency()
        };
        let limits = ResourceLimits {
            max_samples: Some(10),
            max_samples_per_instance: Some(5),
            ..ResourceLimits::default()
        };
        assert_eq!(check(History::KeepLast(5), limits), Ok(()));
        assert_eq!(
            check(History::KeepLast(6), limits),
            Err(Inconsistent::ServiceDepthAboveLimit)
        );
        assert_eq!(
            check(History::KeepLast(0), limits),
            Err(Inconsistent::ServiceDepthIsZero)
        );
        let limits = ResourceLimits {
            max_samples: Some(4),
            ..limits
        };
        assert_eq!(
            check(History::KeepAll, limits),
            Err(Inconsistent::ServiceSamplesBelowSamplesPerInstance)
        );
    }
}
