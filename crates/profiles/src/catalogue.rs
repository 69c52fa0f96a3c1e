//! Every setting there is: the one table that the readers of all formats, the printed QoS and
//! `docs/qos.md` follow. Knows no file.

use tickwire::Transport;
use tickwire_base::nearest_name;

use crate::Entity::{self, Participant, Publisher, Reader, Subscriber, Topic, Writer};
use crate::problem::SettingError;
use crate::setting::{Kind, Setting, Words};
use crate::value;

/// All settings, by entity and policy.
pub fn settings() -> &'static [Setting] {
    SETTINGS
}

/// The settings of an entity.
pub(crate) fn of(entity: Entity) -> impl Iterator<Item = &'static Setting> + Clone {
    SETTINGS
        .iter()
        .filter(move |setting| setting.entities.contains(&entity))
}

/// The setting of an entity with that key.
pub(crate) fn find(entity: Entity, key: &str) -> Option<&'static Setting> {
    of(entity).find(|setting| setting.key == key)
}

/// The setting that a program means by its entity and key: `writer.history.kind`.
pub(crate) fn named(name: &str) -> Result<(Entity, &'static Setting), SettingError> {
    let found = name.split_once('.').and_then(|(entity, key)| {
        let mut entities = Entity::ALL.into_iter();
        let entity = entities.find(|known| known.name() == entity)?;
        // `reliability` is short for its kind.
        let setting = find(entity, key).or_else(|| find(entity, &format!("{key}.kind")));
        Some((entity, setting?))
    });
    found.ok_or_else(|| {
        let full = |entity: Entity| of(entity).map(move |it| format!("{entity}.{}", it.key));
        let known: Vec<_> = Entity::ALL.into_iter().flat_map(full).collect();
        let entity = name.split_once('.').map_or(name, |(entity, _)| entity);
        let is_entity = Entity::ALL.iter().any(|known| known.name() == entity);
        let message = match nearest_name(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if is_entity => format!("docs/qos.md lists those of `{entity}`"),
            None => {
                let entities = Entity::ALL.map(|entity| entity.name().to_owned());
                let entities = value::alternatives(entities.into_iter());
                format!("the name begins with {entities} and a dot")
            }
        };
        SettingError::new(name, format!("there is no such setting; {message}"))
    })
}

/// The number of a transport's word.
pub(crate) fn transport(transport: Transport) -> u32 {
    // The table has all of them, as a test sees to.
    TRANSPORTS.number(transport.name()).unwrap_or(u32::MAX)
}

const BOTH: &[Entity] = &[Writer, Reader];
const GROUPS: &[Entity] = &[Publisher, Subscriber];

const DURABILITY: Words = Words::new(
    0,
    "_DURABILITY_QOS",
    &["volatile", "transient_local", "transient", "persistent"],
);
const RELIABILITY: Words = Words::new(1, "_RELIABILITY_QOS", &["best_effort", "reliable"]);
const HISTORY: Words = Words::new(0, "_HISTORY_QOS", &["keep_last", "keep_all"]);
const LIVELINESS: Words = Words::new(
    0,
    "_LIVELINESS_QOS",
    &["automatic", "manual_by_participant", "manual_by_topic"],
);
const OWNERSHIP: Words = Words::new(0, "_OWNERSHIP_QOS", &["shared", "exclusive"]);
const ORDER: Words = Words::new(
    0,
    "_DESTINATIONORDER_QOS",
    &["by_reception_timestamp", "by_source_timestamp"],
);
const SCOPE: Words = Words::new(0, "_PRESENTATION_QOS", &["instance", "topic", "group"]);
const COERCION: Words = Words::new(1, "", &["disallow_type_coercion", "allow_type_coercion"]);
const REPRESENTATION: Words = Words::new(0, "_DATA_REPRESENTATION", &["xcdr1", "xml", "xcdr2"]);
const TRANSPORTS: Words = Words::new(0, "", &["udp", "multicast", "tcp", "shm"]);
const STAMPS: Words = Words::new(0, "", &["off", "software", "hardware"]);
const DRIVING: Words = Words::new(0, "", &["threaded", "polled"]);

const ANY_I32: Kind = Kind::Integer {
    min: i32::MIN as i64,
    max: i32::MAX as i64,
};
const COUNT: Kind = Kind::Integer {
    min: 1,
    max: i32::MAX as i64,
};
const DEPTH: Kind = Kind::Integer {
    min: 1,
    max: i32::MAX as i64,
};

const SETTINGS: &[Setting] = &[
    // The participant and its transport.
    Setting::new(&[Participant], "domain", Kind::Integer { min: 0, max: u32::MAX as i64 }, "0", "the domain to join; above 232 only with a rendezvous")
        .xml("", "domainId"),
    Setting::new(&[Participant], "domain_tag", Kind::Text, "\"\"", "only participants with the same tag hear each other")
        .xml("", ""),
    Setting::new(&[Participant], "name", Kind::Text, "\"\"", "what others see it called")
        .xml("participant_name/name", "rtps/name"),
    Setting::new(&[Participant], "interface", Kind::Text, "\"lo\"", "the interfaces to use: names, addresses or subnets, separated by commas, or `auto`"),
    Setting::new(&[Participant], "transports", Kind::Choices(TRANSPORTS), "[]", "by what datagrams go: `udp`, `multicast` (has `udp` with it), `tcp`, `shm` (has `udp` with it, unless `tcp` is named); `[]` is as $TICKWIRE_TRANSPORT says, else `udp`, `multicast` and `shm`"),
    Setting::new(&[Participant], "tcp_listen", Kind::Bool, "true", "whether others can connect to it by TCP, if that is among its transports and `tcp_port` names no port"),
    Setting::new(&[Participant], "tcp_port", Kind::Integer { min: 0, max: u16::MAX as i64 }, "0", "where it listens for them, whatever `tcp_listen` says; 0 is the number of its discovery port, or any"),
    Setting::new(&[Participant], "peers", Kind::Peers, "[]", "machines (ADDRESS or NAME) or discovery ports (ADDRESS:PORT or NAME:PORT) to announce it to, besides the multicast group; by TCP with `tcp/` before them")
        .xml("discovery/initial_peers", "rtps/builtin/initialPeersList"),
    Setting::new(&[Participant], "rendezvous", Kind::Names, "[]", "where participants meet, each HOST:PORT or a file of `tickwire rendezvous -o`; then there is no multicast"),
    Setting::new(&[Participant], "multicast", Kind::Bool, "true", "whether to use multicast; without it, peers and a rendezvous alone are found"),
    Setting::new(&[Participant], "multicast_ttl", Kind::Integer { min: 0, max: 255 }, "0", "routers that multicast may pass, plus one; never leaves loopback"),
    Setting::new(&[Participant], "receive_buffer", Kind::Size, "\"4MiB\"", "room to ask of the kernel for datagrams that wait, per socket")
        .xml("", "rtps/listenSocketBufferSize"),
    Setting::new(&[Participant], "lease_duration", Kind::Duration, "\"20s\"", "how long it counts as present after its last announcement")
        .xml("discovery_config/participant_liveliness_lease_duration", "rtps/builtin/discovery_config/leaseDuration"),
    Setting::new(&[Participant], "announce_period", Kind::FiniteDuration, "\"0s\"", "time between its announcements, after some quick ones at the beginning; `0s` is a third of the lease")
        .xml("", "rtps/builtin/discovery_config/leaseAnnouncement"),
    Setting::new(&[Participant], "max_fragment_bytes", Kind::Size, "\"64KiB\"", "longer samples are sent in fragments of so many bytes, rounded down to a multiple of 8, at least 64, and at most what passes all interfaces in one datagram (fragments count without their headers; TCP sends samples of up to 1 MiB whole)"),
    Setting::new(&[Participant], "driving", Kind::Choice(DRIVING), "\"threaded\"", "who does the work: threads of its own, or the application by `poll`"),
    Setting::new(&[Participant], "busy_poll", Kind::FiniteDuration, "\"0s\"", "how long to look for datagrams again and again before a thread sleeps"),
    Setting::new(&[Participant], "socket_busy_poll", Kind::FiniteDuration, "\"0s\"", "how long the kernel looks into the interface's queue before a thread that waits for a UDP socket sleeps (SO_BUSY_POLL); `0s` is as net.core.busy_read says, and more than that takes CAP_NET_ADMIN"),
    Setting::new(&[Participant], "receive_timestamps", Kind::Choice(STAMPS), "\"off\"", "whether the kernel notes when datagrams come by UDP (SO_TIMESTAMPING): by its own clock, or the interface's, where that has one and was told to"),
    Setting::new(&[Participant], "latency_histograms", Kind::Bool, "false", "whether readers count how long their samples take from hop to hop"),
    Setting::new(&[Participant], "thread_cores", Kind::Cores, "\"\"", "cores for its threads: for all, as `0-3,7`, or for one, as `data=2`, or both; threads are `data`, `shm`, `tcp`, `aside`, `control` and `sync`; `\"\"` is wherever the kernel likes"),
    Setting::new(&[Participant], "trusts_lenders", Kind::Bool, "false", "whether samples in loans are read where writers of this machine and user wrote them, which trusts these processes"),
    Setting::new(&[Participant], "announce_types", Kind::Bool, "true", "whether to tell others what the types look like"),
    Setting::new(&[Participant], "announce_process", Kind::Bool, "true", "whether to tell others the host's name, the process id and the program's path"),
    Setting::new(&[Participant], "store", Kind::Text, "\"\"", "directory where TRANSIENT and PERSISTENT writers leave what is to outlive them, or `off`; else as $TICKWIRE_STORE says"),
    Setting::new(&[Participant], "store_transient", Kind::Text, "\"\"", "directory of TRANSIENT writers alone"),
    Setting::new(&[Participant], "store_persistent", Kind::Text, "\"\"", "directory of PERSISTENT writers alone"),
    Setting::new(&[Participant], "store_sync", Kind::Duration, "\"infinite\"", "how long after a write PERSISTENT samples go to the disk; `0s` is before the write returns, `infinite` when the kernel likes"),
    Setting::new(&[Participant], "user_data", Kind::Octets, "\"\"", "USER_DATA: octets that discovery carries along")
        .xml("user_data/value", "rtps/userData/value"),
    // What others may have it keep and send.
    Setting::new(&[Participant], "limits.max_participants", COUNT, "1000", "participants of others; one that has not shown that it hears us makes way for a new one"),
    Setting::new(&[Participant], "limits.max_endpoints_per_participant", COUNT, "10000", "writers and readers of one other participant"),
    Setting::new(&[Participant], "limits.max_endpoints", COUNT, "100000", "writers and readers of all others"),
    Setting::new(&[Participant], "limits.max_announcement_bytes", Kind::Size, "\"512KiB\"", "memory for one announcement: names, properties, user data, filter, type information"),
    Setting::new(&[Participant], "limits.max_bytes_per_participant", Kind::Size, "\"16MiB\"", "memory for all that one participant announces"),
    Setting::new(&[Participant], "limits.max_bytes", Kind::Size, "\"256MiB\"", "memory for all that others announce"),
    Setting::new(&[Participant], "limits.max_types_per_participant", COUNT, "4096", "type objects asked of one participant; beyond, types are compared by name"),
    Setting::new(&[Participant], "limits.max_types", COUNT, "65536", "type objects asked of all participants"),
    Setting::new(&[Participant], "limits.max_type_bytes_per_participant", Kind::Size, "\"4MiB\"", "memory for type objects from one participant"),
    Setting::new(&[Participant], "limits.max_type_bytes", Kind::Size, "\"16MiB\"", "memory for type objects of all others; the oldest are forgotten"),
    Setting::new(&[Participant], "limits.max_amplification", COUNT, "10", "bytes sent for each byte of an announcement until its sender has named us"),
    Setting::new(&[Participant], "limits.max_held", COUNT, "65536", "samples of all writers that wait in a reader for earlier ones"),
    Setting::new(&[Participant], "limits.max_held_bytes", Kind::Size, "\"64MiB\"", "memory for those"),
    Setting::new(&[Participant], "limits.max_partial", COUNT, "1024", "samples of all writers of which a reader has some fragments"),
    Setting::new(&[Participant], "limits.max_partial_bytes", Kind::Size, "\"512MiB\"", "memory for those, each at its full length"),
    Setting::new(&[Participant], "limits.max_set", COUNT, "262144", "changes that a reader keeps of all coherent sets that have not ended; beyond, the largest set is discarded"),
    Setting::new(&[Participant], "limits.max_set_bytes", Kind::Size, "\"256MiB\"", "memory for those"),
    Setting::new(&[Participant], "limits.max_jump", COUNT, "16777216", "sequence numbers that a writer may go ahead before a reader wants it confirmed"),
    Setting::new(&[Participant], "limits.max_filters", COUNT, "64", "content filters that a writer evaluates for its readers"),
    Setting::new(&[Participant], "limits.max_filter_comparisons", COUNT, "1024", "comparisons in all those filters"),
    // What a topic gives both its ends.
    Setting::new(&[Topic], "topic_data", Kind::Octets, "\"\"", "TOPIC_DATA: octets that discovery carries along, from writers and readers of the topic")
        .xml("topic_data/value", "qos/topicData/value"),
    // Publishers and subscribers.
    Setting::new(GROUPS, "partition", Kind::Names, "[]", "PARTITION: names or patterns, of which one must be shared; none is the name \"\"")
        .xml("partition/name", "qos/partition/names"),
    Setting::new(GROUPS, "presentation.access_scope", Kind::Choice(SCOPE), "\"instance\"", "PRESENTATION: among what order and coherence hold")
        .xml("presentation/access_scope", "qos/presentation/access_scope"),
    Setting::new(GROUPS, "presentation.coherent_access", Kind::Bool, "false", "PRESENTATION: sets of changes become visible together")
        .xml("presentation/coherent_access", "qos/presentation/coherent_access"),
    Setting::new(GROUPS, "presentation.ordered_access", Kind::Bool, "false", "PRESENTATION: changes are seen in the order of writing")
        .xml("presentation/ordered_access", "qos/presentation/ordered_access"),
    Setting::new(GROUPS, "group_data", Kind::Octets, "\"\"", "GROUP_DATA: octets that discovery carries along")
        .xml("group_data/value", "qos/groupData/value"),
    Setting::new(&[Participant, Publisher, Subscriber], "entity_factory.autoenable_created_entities", Kind::Bool, "true", "ENTITY_FACTORY: what is made takes part at once")
        .xml("entity_factory/autoenable_created_entities", ""),
    // Writers and readers.
    Setting::new(BOTH, "durability", Kind::Choice(DURABILITY), "\"volatile\"", "DURABILITY: what a reader that comes late gets")
        .xml("durability/kind", "qos/durability/kind"),
    Setting::new(BOTH, "deadline", Kind::Duration, "\"infinite\"", "DEADLINE: the longest time between samples of an instance")
        .xml("deadline/period", "qos/deadline/period"),
    Setting::new(BOTH, "latency_budget", Kind::Duration, "\"0s\"", "LATENCY_BUDGET: how late samples may come; a writer lets them wait so long for company")
        .xml("latency_budget/duration", "qos/latencyBudget/duration"),
    Setting::new(BOTH, "liveliness.kind", Kind::Choice(LIVELINESS), "\"automatic\"", "LIVELINESS: who shows that the writer lives")
        .xml("liveliness/kind", "qos/liveliness/kind"),
    Setting::new(BOTH, "liveliness.lease_duration", Kind::Duration, "\"infinite\"", "LIVELINESS: how long the writer counts as alive without a sign")
        .xml("liveliness/lease_duration", "qos/liveliness/lease_duration"),
    Setting::new(&[Writer], "reliability.kind", Kind::Choice(RELIABILITY), "\"reliable\"", "RELIABILITY: whether lost samples are sent again")
        .xml("reliability/kind", "qos/reliability/kind"),
    Setting::new(&[Reader], "reliability.kind", Kind::Choice(RELIABILITY), "\"best_effort\"", "RELIABILITY: whether to ask for lost samples")
        .xml("reliability/kind", "qos/reliability/kind"),
    Setting::new(BOTH, "reliability.max_blocking_time", Kind::Duration, "\"100ms\"", "RELIABILITY: how long a write may wait for room")
        .xml("reliability/max_blocking_time", "qos/reliability/max_blocking_time"),
    Setting::new(BOTH, "destination_order", Kind::Choice(ORDER), "\"by_reception_timestamp\"", "DESTINATION_ORDER: which of two samples of an instance is the later")
        .xml("destination_order/kind", "qos/destination_order/kind"),
    Setting::new(BOTH, "history.kind", Kind::Choice(HISTORY), "\"keep_last\"", "HISTORY: the last samples of each instance, or all")
        .xml("history/kind", "topic/historyQos/kind"),
    Setting::new(BOTH, "history.depth", DEPTH, "1", "HISTORY: how many samples of each instance keep_last keeps")
        .xml("history/depth", "topic/historyQos/depth"),
    Setting::new(BOTH, "resource_limits.max_samples", Kind::Limit, "\"unlimited\"", "RESOURCE_LIMITS: samples in all")
        .xml("resource_limits/max_samples", "topic/resourceLimitsQos/max_samples"),
    Setting::new(BOTH, "resource_limits.max_instances", Kind::Limit, "\"unlimited\"", "RESOURCE_LIMITS: instances")
        .xml("resource_limits/max_instances", "topic/resourceLimitsQos/max_instances"),
    Setting::new(BOTH, "resource_limits.max_samples_per_instance", Kind::Limit, "\"unlimited\"", "RESOURCE_LIMITS: samples of one instance")
        .xml("resource_limits/max_samples_per_instance", "topic/resourceLimitsQos/max_samples_per_instance"),
    Setting::new(BOTH, "ownership", Kind::Choice(OWNERSHIP), "\"shared\"", "OWNERSHIP: whether only the strongest writer of an instance is heard")
        .xml("ownership/kind", "qos/ownership/kind"),
    Setting::new(BOTH, "user_data", Kind::Octets, "\"\"", "USER_DATA: octets that discovery carries along")
        .xml("user_data/value", "qos/userData/value"),
    Setting::new(BOTH, "representation", Kind::Choices(REPRESENTATION), "[]", "DATA_REPRESENTATION: encodings, of which a writer uses the first; by default those of the type")
        .xml("representation/value", ""),
    // Writers.
    Setting::new(&[Writer], "ownership_strength", ANY_I32, "0", "OWNERSHIP_STRENGTH: who wins exclusive ownership, the greatest")
        .xml("ownership_strength/value", "qos/ownershipStrength/value"),
    Setting::new(&[Writer], "transport_priority", ANY_I32, "0", "TRANSPORT_PRIORITY: the DSCP of the datagrams, 0 to 63")
        .xml("transport_priority/value", ""),
    Setting::new(&[Writer], "lifespan", Kind::Duration, "\"infinite\"", "LIFESPAN: how long a sample is worth reading")
        .xml("lifespan/duration", "qos/lifespan/duration"),
    Setting::new(&[Writer], "writer_data_lifecycle.autodispose_unregistered_instances", Kind::Bool, "true", "WRITER_DATA_LIFECYCLE: whether unregistering an instance disposes of it, and deleting the writer of all")
        .xml("writer_data_lifecycle/autodispose_unregistered_instances", ""),
    Setting::new(&[Writer], "durability_service.service_cleanup_delay", Kind::Duration, "\"0s\"", "DURABILITY_SERVICE: how long an unregistered instance is kept")
        .xml("durability_service/service_cleanup_delay", "qos/durabilityService/service_cleanup_delay"),
    Setting::new(&[Writer], "durability_service.history_kind", Kind::Choice(HISTORY), "\"keep_last\"", "DURABILITY_SERVICE: the last samples of each instance, or all")
        .xml("durability_service/history_kind", "qos/durabilityService/history_kind"),
    Setting::new(&[Writer], "durability_service.history_depth", DEPTH, "1", "DURABILITY_SERVICE: how many samples keep_last keeps")
        .xml("durability_service/history_depth", "qos/durabilityService/history_depth"),
    Setting::new(&[Writer], "durability_service.max_samples", Kind::Limit, "\"unlimited\"", "DURABILITY_SERVICE: samples in all")
        .xml("durability_service/max_samples", "qos/durabilityService/max_samples"),
    Setting::new(&[Writer], "durability_service.max_instances", Kind::Limit, "\"unlimited\"", "DURABILITY_SERVICE: instances")
        .xml("durability_service/max_instances", "qos/durabilityService/max_instances"),
    Setting::new(&[Writer], "durability_service.max_samples_per_instance", Kind::Limit, "\"unlimited\"", "DURABILITY_SERVICE: samples of one instance")
        .xml("durability_service/max_samples_per_instance", "qos/durabilityService/max_samples_per_instance"),
    Setting::new(&[Writer], "max_unacknowledged", Kind::Size, "\"1MiB\"", "Tickwire's own: bytes that a keep_all writer may have under way"),
    Setting::new(&[Writer], "max_loan", Kind::Size, "\"0B\"", "Tickwire's own: the longest loan in memory that readers see; `0B` is none"),
    Setting::new(&[Writer], "loan_count", Kind::Integer { min: 2, max: 512 }, "16", "Tickwire's own: how many loans there are, if there are any"),
    Setting::new(&[Writer], "multicast_samples", Kind::Bool, "true", "Tickwire's own: whether a sample for several readers that share a group goes there, once for all"),
    // Readers.
    Setting::new(&[Reader], "time_based_filter", Kind::Duration, "\"0s\"", "TIME_BASED_FILTER: the shortest time between samples of an instance")
        .xml("time_based_filter/minimum_separation", "qos/timeBasedFilter/minimum_separation"),
    Setting::new(&[Reader], "reader_data_lifecycle.autopurge_nowriter_samples_delay", Kind::Duration, "\"infinite\"", "READER_DATA_LIFECYCLE: how long samples without a writer are kept")
        .xml("reader_data_lifecycle/autopurge_nowriter_samples_delay", ""),
    Setting::new(&[Reader], "reader_data_lifecycle.autopurge_disposed_samples_delay", Kind::Duration, "\"infinite\"", "READER_DATA_LIFECYCLE: how long samples of a disposed instance are kept")
        .xml("reader_data_lifecycle/autopurge_disposed_samples_delay", ""),
    Setting::new(&[Reader], "type_consistency.kind", Kind::Choice(COERCION), "\"allow_type_coercion\"", "TYPE_CONSISTENCY: types must be the same, or assignable")
        .xml("type_consistency/kind", ""),
    Setting::new(&[Reader], "type_consistency.ignore_sequence_bounds", Kind::Bool, "true", "TYPE_CONSISTENCY: bounds of sequences do not count")
        .xml("type_consistency/ignore_sequence_bounds", ""),
    Setting::new(&[Reader], "type_consistency.ignore_string_bounds", Kind::Bool, "true", "TYPE_CONSISTENCY: bounds of strings do not count")
        .xml("type_consistency/ignore_string_bounds", ""),
    Setting::new(&[Reader], "type_consistency.ignore_member_names", Kind::Bool, "false", "TYPE_CONSISTENCY: names of members do not count")
        .xml("type_consistency/ignore_member_names", ""),
    Setting::new(&[Reader], "type_consistency.prevent_type_widening", Kind::Bool, "false", "TYPE_CONSISTENCY: the writer's type may not have less")
        .xml("type_consistency/prevent_type_widening", ""),
    Setting::new(&[Reader], "type_consistency.force_type_validation", Kind::Bool, "false", "TYPE_CONSISTENCY: names of types are not enough")
        .xml("type_consistency/force_type_validation", ""),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toml_file;

    #[test]
    fn no_key_and_no_element_of_an_entity_means_two_things() {
        for entity in Entity::ALL {
            for path in [
                |setting: &Setting| setting.key,
                |setting: &Setting| setting.dds_xml,
                |setting: &Setting| setting.fast_dds,
            ] {
                let mut paths: Vec<_> = of(entity)
                    .map(path)
                    .filter(|path| !path.is_empty())
                    .collect();
                paths.sort_unstable();
                for pair in paths.windows(2) {
                    assert_ne!(pair[0], pair[1], "{entity}");
                }
            }
        }
    }

    #[test]
    fn every_transport_has_a_word() {
        for transport in Transport::ALL {
            assert_eq!(
                TRANSPORTS.word(super::transport(transport)),
                transport.name()
            );
        }
    }

    #[test]
    fn every_default_is_a_value_of_its_setting() {
        for setting in settings() {
            let value = toml_file::value(setting, setting.default);
            let value = value.unwrap_or_else(|error| panic!("{}: {error}", setting.key));
            assert_eq!(value.to_toml(setting), setting.default, "{}", setting.key);
        }
    }
}
