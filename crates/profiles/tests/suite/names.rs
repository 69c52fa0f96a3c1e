//! Bases, filters by topic, defaults, and the files of other implementations' users.

use std::time::Duration;

use tickwire::DataWriterQos;
use tickwire::qos::{Durability, History, ReliabilityKind};
use tickwire_profiles::{Entity, LoadError, Profile, Profiles};

fn load(file: &str) -> Profiles {
    let path = format!("{}/tests/files/{file}", env!("CARGO_MANIFEST_DIR"));
    Profiles::load(path).unwrap_or_else(|error| panic!("{error}"))
}

fn parse(text: &str) -> Profiles {
    Profiles::parse("qos", text).unwrap_or_else(|error| panic!("{error}"))
}

fn ignored(profiles: &Profiles) -> Vec<String> {
    let ignored = profiles.ignored().iter();
    ignored
        .map(|ignored| format!("{}: {}", ignored.line, ignored.message))
        .collect()
}

#[test]
fn a_topic_gets_what_is_said_of_it_else_what_is_said_of_all() {
    let profiles = parse(
        r#"
        [profiles.base]
        writer.durability = "transient_local"

        [profiles.prices]
        base = "base"
        [[profiles.prices.writer]]
        topic = "Quote*"
        history.depth = 2
        [[profiles.prices.writer]]
        topic = "Quotes"
        history.depth = 3
        [[profiles.prices.writer]]
        history.depth = 4
        "#,
    );
    let profile = profiles.profile("prices").expect("it is there");
    let history = |topic: &str| profile.writer(topic).policies().history;
    // The first that matches, not the best.
    assert_eq!(history("Quotes"), History::KeepLast(2));
    assert_eq!(history("Trades"), History::KeepLast(4));
    for topic in ["Quotes", "Trades"] {
        let durability = profile.writer(topic).policies().durability;
        assert_eq!(durability, Durability::TransientLocal);
    }
    assert_eq!(profile.topics(), ["Quote*", "Quotes"]);
}

#[test]
fn later_bases_override_earlier_ones_and_a_shared_one_counts_once() {
    let profiles = parse(
        r#"
        profiles.root.writer = { history.depth = 1, transport_priority = 1, lifespan = "1s" }
        profiles.left = { base = "root", writer = { history.depth = 2, transport_priority = 2 } }
        profiles.right = { base = "root", writer.transport_priority = 3 }
        profiles.both = { base = ["left", "right"] }
        "#,
    );
    let both = profiles.profile("both").expect("it is there");
    let writer = both.writer("T");
    let policies = writer.policies();
    assert_eq!(policies.history, History::KeepLast(2));
    assert_eq!(policies.transport_priority, 3);
    assert_eq!(policies.lifespan, Duration::from_secs(1));
    let settings = both.settings(Entity::Writer, None);
    let depth = settings
        .iter()
        .find(|effective| effective.setting.key == "history.depth");
    let depth = depth.expect("writers have a history");
    assert_eq!(depth.value, "2");
    assert_eq!(depth.origin, Some(("left".into(), Some(3))));
}

#[test]
fn the_default_is_the_files_or_the_one_that_was_chosen() {
    let profiles = parse(
        "default = 'a'\n[profiles.a]\nparticipant.domain = 1\n[profiles.b]\nparticipant.domain = 2",
    );
    assert_eq!(profiles.default_profile().domain(), Some(1));
    let error = profiles
        .clone()
        .with_default("bb")
        .expect_err("no such profile");
    assert_eq!(
        error.to_string(),
        "qos has no QoS profile `bb`; there are a, b"
    );
    let profiles = profiles.with_default("b").expect("it is there");
    assert_eq!(profiles.default_profile().domain(), Some(2));
    assert_eq!(profiles.names().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn the_only_profile_is_the_default() {
    let only = parse("[profiles.a]\nparticipant.domain = 1");
    only.check_default().expect("there is no choice");
    assert_eq!(only.default_profile().domain(), Some(1));
    let built_in = parse(
        r#"<dds><qos_library name="L"><qos_profile name="P" base_name="BuiltinQosLibExp::Generic.StrictReliable">
           </qos_profile></qos_library></dds>"#,
    );
    built_in
        .check_default()
        .expect("the base is not the file's");
    let reader = built_in.default_profile().reader("T");
    assert!(reader.policies().is_reliable());
}

#[test]
fn of_several_profiles_without_default_one_has_to_be_chosen() {
    let several = parse("[profiles.a]\nparticipant.domain = 1\n[profiles.b]\nbase = 'a'");
    assert_eq!(several.default_profile().domain(), None);
    let error = several.check_default().expect_err("nobody has chosen");
    assert_eq!(
        error.to_string(),
        "none of the QoS profiles in qos is its default: choose one by its name, as \
         TICKWIRE_QOS_PROFILE does; there are a, b"
    );
    let chosen = several.with_default("b").expect("it is there");
    chosen.check_default().expect("one was chosen");
    assert_eq!(chosen.default_profile().domain(), Some(1));
    parse("").check_default().expect("nothing is left out");
    // Defaults of some entities are a choice, and others keep the standard's.
    let fast = parse(
        "<profiles><data_reader profile_name='r' is_default_profile='true'/>\
         <participant profile_name='p'><domainId>1</domainId></participant></profiles>",
    );
    fast.check_default().expect("the file has chosen");
    assert_eq!(fast.default_profile().domain(), None);
}

#[test]
fn a_word_for_a_policy_is_its_kind() {
    let text = |of: &str| format!("profiles.p.reader = {of}");
    let short =
        "{ reliability = 'reliable', history = 'keep_all', liveliness = 'manual_by_topic' }";
    let long = "{ reliability.kind = 'reliable', history.kind = 'keep_all', \
                liveliness.kind = 'manual_by_topic' }";
    let reader = |of| parse(&text(of)).default_profile().reader("T");
    assert_eq!(reader(short), reader(long));
    assert!(reader(short).policies().is_reliable());
}

#[test]
fn a_qos_that_is_given_keeps_what_the_profile_does_not_say() {
    let profiles = parse(
        "profiles.p.writer = { history = { kind = 'keep_last', depth = 5 } }\n\
         profiles.q.writer = { history.depth = 5 }\n",
    );
    let given = DataWriterQos::default().keep_all().transient_local();
    let adjusted = |name: &str| {
        let profile = profiles.profile(name).expect("it is there");
        profile.adjust_writer(given.clone(), "T")
    };
    assert_eq!(adjusted("p"), given.clone().keep_last(5));
    assert_eq!(adjusted("q"), given);
}

#[test]
fn names_of_libraries_can_be_left_out_where_that_is_clear() {
    let text = r#"<dds>
        <qos_library name="A">
          <qos_profile name="Both"/> <qos_profile name="OnlyA"/>
          <qos_profile name="Derived" base_name="Both"/>
        </qos_library>
        <qos_library name="B">
          <qos_profile name="Both">
            <datawriter_qos><history><depth>2</depth></history></datawriter_qos>
          </qos_profile>
          <qos_profile name="Derived" base_name="Both"/>
          <qos_profile name="Other" base_name="A::Both"/>
        </qos_library>
      </dds>"#;
    let profiles = parse(text);
    assert!(profiles.profile("OnlyA").is_ok());
    let error = profiles.profile("Both").expect_err("which one?");
    assert_eq!(
        error.to_string(),
        "qos has no QoS profile `Both`; there are A::Both, B::Both"
    );
    let history = |name: &str| {
        let profile = profiles.profile(name).expect("it is there");
        profile.writer("T").policies().history
    };
    // A base is looked for in the own library first.
    assert_eq!(history("A::Derived"), History::KeepLast(1));
    assert_eq!(history("B::Derived"), History::KeepLast(2));
    assert_eq!(history("B::Other"), History::KeepLast(1));
}

#[test]
fn peers_may_be_named() {
    let connext = r#"<dds><qos_library name="L"><qos_profile name="P" is_default_qos="true">
        <domain_participant_qos><discovery><initial_peers>
          <element>builtin.udpv4://feed-a.example</element>
          <element>feed-b:7412</element>
        </initial_peers></discovery></domain_participant_qos>
      </qos_profile></qos_library></dds>"#;
    let toml =
        "default = 'p'\n[profiles.p.participant]\npeers = ['feed-a.example', 'feed-b:7412']\n";
    let builder = tickwire::DomainParticipant::builder(0)
        .peer_named("feed-a.example")
        .peer_named("feed-b:7412");
    for text in [connext, toml] {
        let participant = parse(text).default_profile().participant();
        assert_eq!(format!("{participant:?}"), format!("{builder:?}"));
    }
}

#[test]
fn an_element_of_another_entity_is_ignored_as_that() {
    let text = "<dds><qos_library name='l'><qos_profile name='p'><datawriter_qos><time_based_filter/>\
                </datawriter_qos><publisher_qos><partition><name><element>A</element></name></partition>\
                </publisher_qos></qos_profile></qos_library></dds>";
    assert_eq!(
        ignored(&parse(text)),
        ["1: element `time_based_filter` is ignored: it is a setting of `reader`"]
    );
    let bare = text.replace("<element>A</element>", "A");
    let error = Profiles::parse("qos", &bare).expect_err("names are elements");
    let expected = "text in `name`, which holds elements: write `<element>` around it";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_file_of_a_connext_user() {
    let profiles = load("connext.xml");
    assert_eq!(
        ignored(&profiles),
        [
            "13: the limit `4@` is ignored: ten participants are greeted",
            "14: the peer `shmem://` is ignored: Tickwire has no transport `shmem`",
            "31: the property `dds.transport.shmem.builtin.received_message_count_max` is ignored: \
             Tickwire does not have it",
            "40: element `protocol` is ignored: Tickwire does not have it",
            "54: element `initial_samples` is ignored: Tickwire does not have it",
        ]
    );
    let profile = profiles.default_profile();
    let trades = profile.writer("Trades");
    assert_eq!(trades.policies().history, History::KeepAll);
    assert_eq!(trades.policies().resource_limits.max_samples, Some(100_000));
    assert_eq!(trades.policies().durability, Durability::Volatile);
    let quotes = profile.writer("Quotes");
    assert_eq!(quotes.policies().history, History::KeepLast(16));
    assert_eq!(quotes.policies().durability, Durability::TransientLocal);
    let reader = profile.reader("Quotes");
    assert_eq!(reader.policies().history, History::KeepAll);
    assert_eq!(
        reader.policies().reliability.kind,
        ReliabilityKind::Reliable
    );
    let expected = tickwire::DomainParticipant::builder(0)
        .name("prices")
        .peer([10, 1, 0, 7].into())
        .peer([10, 1, 0, 8].into())
        .lease_duration(Duration::from_secs(10))
        .receive_buffer_bytes(8 << 20)
        .interface("eth1");
    assert_eq!(
        format!("{:?}", profile.participant()),
        format!("{expected:?}")
    );
}

#[test]
fn profiles_that_are_built_into_connext_are_bases() {
    let profiles = parse(
        r#"<dds>
          <qos_library name="Quotes_Library">
            <qos_profile name="Strict" base_name="BuiltinQosLibExp::Generic.StrictReliable" is_default_qos="true">
              <datareader_qos>
                <type_consistency><kind>AUTO_TYPE_COERCION</kind></type_consistency>
              </datareader_qos>
            </qos_profile>
            <qos_profile name="Late">
              <base_name>
                <element>BuiltinQosLib::Generic.StrictReliable.LargeData</element>
                <element>BuiltinQosSnippetLib::QosPolicy.Durability.TransientLocal</element>
                <element>BuiltinQosLib::Generic.Monitoring.Common</element>
              </base_name>
              <datawriter_qos>
                <reliability><kind>DDS_BEST_EFFORT_RELIABILITY_QOS</kind></reliability>
                <resource_limits><max_samples>DDS_LENGTH_UNLIMITED</max_samples></resource_limits>
              </datawriter_qos>
            </qos_profile>
          </qos_library>
        </dds>"#,
    );
    assert_eq!(
        ignored(&profiles),
        [
            "10: of the base `BuiltinQosLib::Generic.StrictReliable.LargeData` only \
             `Generic.StrictReliable` counts: Tickwire does not have the rest",
            "12: the base `BuiltinQosLib::Generic.Monitoring.Common` is ignored: Tickwire does not have it",
        ]
    );
    let names: Vec<_> = profiles.names().collect();
    let own = ["Quotes_Library::Strict", "Quotes_Library::Late"];
    assert_eq!(names, own, "those of the file");
    let strict = profiles.default_profile();
    let settings = strict.settings(Entity::Writer, None);
    let origins = settings.into_iter().filter_map(|setting| setting.origin);
    let strict_reliable = ("BuiltinQosLib::Generic.StrictReliable".into(), None);
    assert!(origins.into_iter().all(|origin| origin == strict_reliable));
    assert_eq!(strict.writer("T").policies().history, History::KeepAll);
    let reliability = strict.reader("T").policies().reliability.kind;
    assert_eq!(reliability, ReliabilityKind::Reliable);
    let late = profiles.profile("Late").expect("it is there");
    let writer = late.writer("T");
    assert_eq!(writer.policies().durability, Durability::TransientLocal);
    assert_eq!(writer.policies().history, History::KeepAll);
    let reliability = writer.policies().reliability.kind;
    assert_eq!(reliability, ReliabilityKind::BestEffort);
}

#[test]
fn a_file_of_a_fast_dds_user() {
    let profiles = load("fast-dds.xml");
    assert_eq!(
        ignored(&profiles),
        [
            "10: element `sendBufferSize` is ignored: Tickwire does not have it",
            "16: the transport `shm` is ignored: Tickwire's shared memory is its own, and on by default",
            "39: element `allocated_samples` is ignored: Tickwire does not have it",
            "45: element `publishMode` is ignored: Tickwire does not have it",
            "46: element `data_sharing` is ignored: Tickwire does not have it",
            "49: element `historyMemoryPolicy` is ignored: Tickwire does not have it",
        ]
    );
    let profile = profiles.default_profile();
    let expected = tickwire::DomainParticipant::builder(3)
        .name("prices")
        .receive_buffer_bytes(4 << 20)
        .interface("192.168.1.10,127.0.0.1");
    assert_eq!(
        format!("{:?}", profile.participant()),
        format!("{expected:?}")
    );
    let writer = profile.writer("Quotes");
    assert_eq!(writer.policies().history, History::KeepLast(20));
    assert_eq!(writer.policies().resource_limits.max_samples, Some(5_000));
    assert_eq!(writer.policies().resource_limits.max_instances, None);
    assert_eq!(writer.policies().partition, ["eu"]);
    // The default writer's profile says nothing of readers.
    assert!(!profile.reader("Quotes").policies().is_reliable());
    let reader = profiles.profile("prices_reader").expect("it is there");
    assert!(reader.reader("Quotes").policies().is_reliable());
}

#[test]
fn a_feed_handlers_file() {
    let profiles = load("market-data.toml");
    assert!(ignored(&profiles).is_empty());
    let feed = profiles.profile("feed-handler").expect("it is there");
    assert_eq!(feed.domain(), Some(7));
    let history = |topic: &str| feed.writer(topic).policies().history;
    assert_eq!(history("Quotes"), History::KeepLast(1));
    assert_eq!(history("Trades"), History::KeepAll);
    let desk = profiles.default_profile();
    let filter = |topic: &str| desk.reader(topic).policies().time_based_filter;
    assert_eq!(filter("Quotes"), Duration::from_millis(100));
    assert_eq!(filter("Trades"), Duration::ZERO);
}

#[test]
fn a_file_that_is_not_there_or_too_long_is_named() {
    let error = Profiles::load("no/such/file.toml").expect_err("it is not there");
    assert!(matches!(error, LoadError::Read { .. }));
    assert!(error.to_string().contains("no/such/file.toml"), "{error}");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("too-long.toml");
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).expect("the target folder can be written");
    let error = Profiles::load(&path).expect_err("it is too long");
    assert!(matches!(error, LoadError::TooLong { .. }), "{error}");
}

#[test]
fn transports_of_fast_dds_and_connext_users() {
    let descriptor = |kind: &str, more: &str| {
        format!(
            "<transport_descriptor><transport_id>{kind}</transport_id><type>{kind}</type>{more}</transport_descriptor>"
        )
    };
    let fast = |builtin: &str, ports: &str| {
        let (udp, tcp) = (descriptor("UDPv4", ""), descriptor("TCPv4", ports));
        let text = format!(
            "<profiles><transport_descriptors>{udp}{tcp}</transport_descriptors>\
             <participant profile_name='p' is_default_profile='true'><rtps>\
             <useBuiltinTransports>{builtin}</useBuiltinTransports>\
             <userTransports><transport_id>TCPv4</transport_id></userTransports>\
             </rtps></participant></profiles>"
        );
        Profiles::parse("fast.xml", &text)
            .expect("nothing is wrong")
            .default_profile()
    };
    let names = |profile: &Profile| profile.transports().map(|all| all.to_string());
    let ports = "<listening_ports><port>5100</port></listening_ports>";
    let alone = fast("false", ports);
    assert_eq!(names(&alone).as_deref(), Some("tcp"));
    let debug = format!("{:?}", alone.participant());
    assert!(debug.contains("tcp_listen: Port(5100)"), "{debug}");
    let beside = fast("true", "");
    assert_eq!(names(&beside).as_deref(), Some("udp,multicast,tcp"));
    let debug = format!("{:?}", beside.participant());
    assert!(debug.contains("tcp_listen: Off"), "{debug}");

    let text = "<dds><qos_library name='l'><qos_profile name='p' is_default_qos='true'>\
                <domain_participant_qos><transport_builtin><mask>UDPv4|SHMEM</mask>\
                </transport_builtin></domain_participant_qos></qos_profile></qos_library></dds>";
    let connext = Profiles::parse("connext.xml", text).expect("nothing is wrong");
    let profile = connext.default_profile();
    assert_eq!(names(&profile).as_deref(), Some("udp,multicast"));
    assert_eq!(
        ignored(&connext),
        ["1: the transport `SHMEM` is ignored: Tickwire does not have it"]
    );
}
