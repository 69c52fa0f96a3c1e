//! Every policy, in every format that can say it.

use std::net::SocketAddrV4;
use std::time::Duration;

use tickwire::qos::{
    DestinationOrder, Durability, DurabilityService, EndpointQos, GroupQos, History, Liveliness,
    LivelinessKind, Ownership, Presentation, PresentationScope, Reliability, ReliabilityKind,
    RepresentationId, ResourceLimits, TypeConsistency, TypeConsistencyKind,
};
use tickwire::store::{StoreOptions, SyncPolicy};
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder, Driving,
    ReceiveTimestamps, TcpListen, Transport,
};
use tickwire_profiles::{Entity, Profiles, Setting};

fn load(file: &str) -> Profiles {
    let path = format!("{}/tests/files/{file}", env!("CARGO_MANIFEST_DIR"));
    let profiles = Profiles::load(path).unwrap_or_else(|error| panic!("{error}"));
    let ignored: String = profiles.ignored().iter().map(ToString::to_string).collect();
    assert_eq!(ignored, "");
    profiles
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const PRESENTATION: Presentation = Presentation {
    access_scope: PresentationScope::Group,
    coherent_access: true,
    ordered_access: true,
};

fn partition() -> [String; 2] {
    ["eu".to_owned(), "us*".to_owned()]
}

/// What writers and readers have in common.
fn common(qos: &mut EndpointQos) {
    qos.deadline = ms(1_000);
    qos.latency_budget = ms(2);
    qos.destination_order = DestinationOrder::BySourceTimestamp;
    qos.resource_limits = ResourceLimits {
        max_samples: Some(600),
        max_instances: Some(70),
        max_samples_per_instance: Some(8),
    };
    qos.ownership = Ownership::Exclusive;
    qos.presentation = PRESENTATION;
    qos.partition = partition().to_vec();
    qos.group_data = b"g".to_vec();
    qos.topic_data = vec![1, 2, 0xff];
}

fn writer() -> DataWriterQos {
    let qos = DataWriterQos::default()
        .autodispose_unregistered_instances(false)
        .max_unacknowledged_bytes(64 << 10)
        .max_loan_bytes(3 << 20)
        .loan_count(32)
        .multicast_samples(false);
    qos.with(|qos| {
        common(qos);
        qos.durability = Durability::Transient;
        qos.liveliness = Liveliness {
            kind: LivelinessKind::ManualByTopic,
            lease_duration: ms(3_000),
        };
        qos.reliability = Reliability {
            kind: ReliabilityKind::BestEffort,
            max_blocking_time: ms(4),
        };
        qos.history = History::KeepLast(5);
        qos.user_data = b"w".to_vec();
        qos.data_representation = vec![RepresentationId::XCDR2, RepresentationId::XCDR1];
        qos.ownership_strength = -9;
        qos.transport_priority = 10;
        qos.lifespan = ms(660_000);
        qos.durability_service = DurabilityService {
            cleanup_delay: ms(12_000),
            history: History::KeepLast(13),
            resource_limits: ResourceLimits {
                max_samples: Some(1_400),
                max_instances: Some(15),
                max_samples_per_instance: Some(16),
            },
        };
    })
}

fn reader() -> DataReaderQos {
    let qos = DataReaderQos::default()
        .autopurge_nowriter_samples_delay(ms(1_500))
        .autopurge_disposed_samples_delay(ms(60_000));
    qos.with(|qos| {
        common(qos);
        qos.durability = Durability::TransientLocal;
        qos.liveliness = Liveliness {
            kind: LivelinessKind::ManualByParticipant,
            lease_duration: ms(3_000),
        };
        qos.reliability = Reliability {
            kind: ReliabilityKind::Reliable,
            max_blocking_time: ms(4),
        };
        qos.history = History::KeepAll;
        qos.user_data = b"r".to_vec();
        qos.data_representation = vec![RepresentationId::XCDR2];
        qos.time_based_filter = Duration::from_micros(17);
        qos.type_consistency = TypeConsistency {
            kind: TypeConsistencyKind::DisallowTypeCoercion,
            ignore_sequence_bounds: false,
            ignore_string_bounds: false,
            ignore_member_names: true,
            prevent_type_widening: true,
            force_type_validation: true,
        };
    })
}

fn group() -> GroupQos {
    let qos = GroupQos::default().partition(partition());
    qos.presentation(PRESENTATION)
        .group_data(*b"g")
        .autoenable_created_entities(false)
}

/// The settings of a participant, of which the builder tells no other way.
fn debug(builder: DomainParticipantBuilder) -> String {
    format!("{builder:?}")
}

#[test]
fn every_setting_in_toml() {
    let profile = load("every.toml").default_profile();
    assert_eq!(profile.writer("Quotes"), writer());
    assert_eq!(profile.reader("Quotes"), reader());
    assert_eq!(profile.publisher(), group());
    assert_eq!(profile.subscriber(), group());
    let expected = DomainParticipant::builder(7)
        .domain_tag("blue")
        .name("the feed handler")
        .interface("eth0")
        .transports([Transport::Udp, Transport::Tcp])
        .tcp_listen(TcpListen::Port(7500))
        .peer([10, 0, 0, 2].into())
        .peer_at(SocketAddrV4::new([10, 0, 0, 3].into(), 7412))
        .peer_named("tcp/10.0.0.4:7410")
        .rendezvous("10.0.0.9:7399")
        .multicast(false)
        .multicast_ttl(3)
        .receive_buffer_bytes(16 << 20)
        .lease_duration(ms(5_000))
        .announce_period(ms(2_000))
        .max_fragment_bytes(1 << 10)
        .driving(Driving::Polled)
        .busy_poll(Duration::from_micros(50))
        .socket_busy_poll(Duration::from_micros(60))
        .receive_timestamps(ReceiveTimestamps::Hardware)
        .latency_histograms(true)
        .trusts_lenders(true)
        .thread_cores("0-1 data=2 shm=3".parse().expect("cores"))
        .announce_types(false)
        .announce_process(false)
        .store(StoreOptions {
            transient: Some("/run/desk".into()),
            persistent: Some("/srv/desk".into()),
            sync: SyncPolicy::Interval(ms(7)),
        })
        .user_data(*b"p")
        .limits(|limits| {
            limits.discovery.max_participants = 1;
            limits.discovery.max_endpoints_per_participant = 2;
            limits.discovery.max_endpoints = 3;
            limits.discovery.max_announcement_bytes = 4 << 10;
            limits.discovery.max_bytes_per_participant = 5 << 10;
            limits.discovery.max_bytes = 6 << 10;
            limits.discovery.max_types_per_participant = 7;
            limits.discovery.max_types = 8;
            limits.discovery.max_type_bytes_per_participant = 9 << 10;
            limits.discovery.max_type_bytes = 10 << 10;
            limits.discovery.max_amplification = 11;
            limits.reader.max_held = 12;
            limits.reader.max_held_bytes = 13 << 10;
            limits.reader.max_partial = 14;
            limits.reader.max_partial_bytes = 15 << 10;
            limits.reader.max_jump = 16;
            limits.reader.max_set = 19;
            limits.reader.max_set_bytes = 20 << 10;
            limits.filters.max_filters = 17;
            limits.filters.max_comparisons = 18;
        })
        .autoenable_created_entities(false);
    assert_eq!(debug(profile.participant()), debug(expected));
}

#[test]
fn every_policy_in_dds_xml() {
    let profile = load("every-dds.xml").default_profile();
    assert_eq!(
        profile.writer("Quotes"),
        writer()
            .max_unacknowledged_bytes(1 << 20)
            .max_loan_bytes(0)
            .loan_count(16)
            .multicast_samples(true)
    );
    assert_eq!(profile.reader("Quotes"), reader());
    assert_eq!(profile.publisher(), group());
    assert_eq!(profile.subscriber(), group());
    let expected = DomainParticipant::builder(0)
        .user_data(*b"p")
        .autoenable_created_entities(false);
    assert_eq!(debug(profile.participant()), debug(expected));
}

/// What Fast DDS's schema has no element for keeps its default.
#[test]
fn every_policy_in_fast_dds_xml() {
    let profile = load("every-fast.xml").default_profile();
    let expected = writer()
        .max_unacknowledged_bytes(1 << 20)
        .max_loan_bytes(0)
        .loan_count(16)
        .multicast_samples(true)
        .autodispose_unregistered_instances(true)
        .with(|qos| {
            qos.transport_priority = 0;
            qos.ownership_strength = 9;
            qos.data_representation.clear();
        });
    assert_eq!(profile.writer("Quotes"), expected);
    // The topic's data, said of its writer, is the reader's too.
    let kept = reader()
        .autopurge_nowriter_samples_delay(Duration::MAX)
        .autopurge_disposed_samples_delay(Duration::MAX);
    let expected = kept.with(|qos| {
        qos.data_representation.clear();
        qos.type_consistency = TypeConsistency::default();
    });
    assert_eq!(profile.reader("Quotes"), expected);
    let group = group().autoenable_created_entities(true);
    assert_eq!(profile.publisher(), group);
    assert_eq!(profile.subscriber(), group);
    let expected = DomainParticipant::builder(7)
        .name("the feed handler")
        .interface("eth0")
        .peer([10, 0, 0, 2].into())
        .peer_at(SocketAddrV4::new([10, 0, 0, 3].into(), 7412))
        .multicast_ttl(3)
        .receive_buffer_bytes(16 << 20)
        .lease_duration(ms(5_000))
        .announce_period(ms(2_000))
        .user_data(*b"p");
    assert_eq!(debug(profile.participant()), debug(expected));
}

/// Whether a format can say something.
type CanSay<'a> = &'a dyn Fn(&Setting) -> bool;

/// The files above leave out nothing that their format can say.
#[test]
fn no_setting_is_left_out_of_the_examples() {
    // Only Connext has elements for these; its own example has them.
    let connext = ["discovery", "participant_name"];
    let is_standard = |path: &str| !connext.iter().any(|vendors| path.starts_with(vendors));
    let can_say: [(&str, CanSay); 3] = [
        ("every.toml", &|_| true),
        ("every-dds.xml", &|setting| {
            !setting.dds_xml.is_empty() && is_standard(setting.dds_xml)
        }),
        ("every-fast.xml", &|setting| !setting.fast_dds.is_empty()),
    ];
    for (file, can_say) in can_say {
        let profile = load(file).default_profile();
        for entity in Entity::ALL {
            for effective in profile.settings(entity, Some("Quotes")) {
                let is_said = effective.origin.is_some() || !can_say(effective.setting);
                assert!(is_said, "{file}: {entity}.{}", effective.setting.key);
            }
        }
    }
}

/// What is printed as TOML means the same when it is read again.
#[test]
fn what_is_printed_can_be_read() {
    for file in ["every.toml", "every-dds.xml", "every-fast.xml"] {
        let profile = load(file).default_profile();
        let mut text = String::new();
        for entity in Entity::ALL {
            text += &format!("[profiles.again.{entity}]\n");
            for effective in profile.settings(entity, Some("Quotes")) {
                text += &format!("{} = {}\n", effective.setting.key, effective.value);
            }
        }
        let again = Profiles::parse("again.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        let again = again.profile("again").expect("it is there");
        assert_eq!(again.writer("Quotes"), profile.writer("Quotes"), "{file}");
        assert_eq!(again.reader("Quotes"), profile.reader("Quotes"), "{file}");
        assert_eq!(again.publisher(), profile.publisher(), "{file}");
        assert_eq!(
            debug(again.participant()),
            debug(profile.participant()),
            "{file}"
        );
    }
}

#[test]
fn a_profile_that_says_nothing_is_the_standards_default() {
    let profile = Profiles::default().default_profile();
    assert_eq!(profile.writer("Quotes"), DataWriterQos::default());
    assert_eq!(profile.reader("Quotes"), DataReaderQos::default());
    assert_eq!(profile.publisher(), GroupQos::default());
    let expected = DomainParticipant::builder(0);
    assert_eq!(debug(profile.participant()), debug(expected));
    assert_eq!(profile.domain(), None);
    // And the defaults of the table are those of the code.
    let mut text = String::new();
    for entity in Entity::ALL {
        text += &format!("[profiles.defaults.{entity}]\n");
        for effective in profile.settings(entity, None) {
            text += &format!("{} = {}\n", effective.setting.key, effective.value);
        }
    }
    let said = Profiles::parse("defaults.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    let said = said.profile("defaults").expect("it is there");
    assert_eq!(said.writer("Quotes"), DataWriterQos::default());
    assert_eq!(said.reader("Quotes"), DataReaderQos::default());
    assert_eq!(
        debug(said.participant()),
        debug(DomainParticipant::builder(0))
    );
}
