//! Which policies of an endpoint may be changed while it lives (DDS 1.4 §2.2.3, "changeable").

use super::EndpointQos;

impl EndpointQos {
    /// The first policy that `other` has another value of and that no endpoint may change, by the
    /// standard's name. Those that may be changed are DEADLINE, LATENCY_BUDGET, OWNERSHIP_STRENGTH,
    /// LIFESPAN, TIME_BASED_FILTER, PARTITION, TRANSPORT_PRIORITY, USER_DATA, TOPIC_DATA and
    /// GROUP_DATA.
    pub fn immutable_difference(&self, other: &Self) -> Option<&'static str> {
        let differences = [
            (self.durability != other.durability, "DURABILITY"),
            (
                self.durability_service != other.durability_service,
                "DURABILITY_SERVICE",
            ),
            (self.presentation != other.presentation, "PRESENTATION"),
            (self.ownership != other.ownership, "OWNERSHIP"),
            (self.liveliness != other.liveliness, "LIVELINESS"),
            (self.reliability != other.reliability, "RELIABILITY"),
            (
                self.destination_order != other.destination_order,
                "DESTINATION_ORDER",
            ),
            (self.history != other.history, "HISTORY"),
            (
                self.resource_limits != other.resource_limits,
                "RESOURCE_LIMITS",
            ),
            (
                self.data_representation != other.data_representation,
                "DATA_REPRESENTATION",
            ),
            (
                self.type_consistency != other.type_consistency,
                "TYPE_CONSISTENCY_ENFORCEMENT",
            ),
        ];
        let mut differences = differences.into_iter();
        differences.find_map(|(differs, name)| differs.then_some(name))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::qos::{Durability, History, Ownership};
    use tickwire_base::Duration;

    fn changed(change: impl FnOnce(&mut EndpointQos)) -> Option<&'static str> {
        let before = EndpointQos::writer();
        let mut after = before.clone();
        change(&mut after);
        before.immutable_difference(&after)
    }

    #[test]
    fn what_decides_how_samples_are_kept_stays() {
        assert_eq!(changed(|_| {}), None);
        assert_eq!(
            changed(|qos| qos.history = History::KeepAll),
            Some("HISTORY")
        );
        assert_eq!(
            changed(|qos| qos.durability = Durability::Transient),
            Some("DURABILITY")
        );
        assert_eq!(
            changed(|qos| qos.ownership = Ownership::Exclusive),
            Some("OWNERSHIP")
        );
    }

    #[test]
    fn what_the_standard_calls_changeable_may_change() {
        let short = Duration::from_millis(1);
        let all = |qos: &mut EndpointQos| {
            qos.deadline = short;
            qos.latency_budget = short;
            qos.ownership_strength = 7;
            qos.lifespan = short;
            qos.time_based_filter = short;
            qos.partition = vec!["a".into()];
            qos.transport_priority = 1;
            qos.user_data = vec![1];
            qos.topic_data = vec![1];
            qos.group_data = vec![1];
        };
        assert_eq!(changed(all), None);
    }
}
