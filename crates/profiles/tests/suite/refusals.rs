//! What cannot be obeyed is refused with its place: each error word by word.

use tickwire_profiles::{LoadError, Profiles};

/// The errors of a file, `LINE:COLUMN: MESSAGE`.
fn errors(text: &str) -> Vec<String> {
    match Profiles::parse("qos", text) {
        Ok(profiles) => panic!("accepted: {profiles:?}"),
        Err(LoadError::Invalid { problems, .. }) => problems
            .iter()
            .map(|problem| format!("{}:{}: {}", problem.line, problem.column, problem.message))
            .collect(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn an_error_is_shown_with_its_line_and_a_caret() {
    let text =
        "[profiles.prices.writer]\nhistory.kind = \"keep_all\"\nrelaibility.kind = \"reliable\"\n";
    let error = Profiles::parse("qos.toml", text).expect_err("a slip of the pen");
    assert_eq!(
        error.to_string(),
        "qos.toml:3:1: unknown key `relaibility`; did you mean `reliability`?\n\
         \x20 |\n\
         3 | relaibility.kind = \"reliable\"\n\
         \x20 | ^"
    );
}

/// What is said of a writer, and the error.
const OF_A_WRITER: &[(&str, &str)] = &[
    (
        "reliability = true",
        "2:1: `reliability` has parts: set `reliability.kind` or `reliability.max_blocking_time`",
    ),
    (
        "reliability = \"relaible\"",
        "2:15: unknown value `relaible`; did you mean `reliable`?",
    ),
    (
        "reliability.kind = \"relaible\"",
        "2:20: unknown value `relaible`; did you mean `reliable`?",
    ),
    (
        "reliability.kind = \"sure\"",
        "2:20: unknown value `sure`; use `best_effort` or `reliable`",
    ),
    (
        "reliability.kid = \"reliable\"",
        "2:13: unknown key of `reliability`, `kid`; did you mean `kind`?",
    ),
    (
        "reliability.kind = true",
        "2:20: `reliability.kind` takes a word in quotes, not boolean",
    ),
    (
        "durability.kind = \"transient_local\"",
        "2:1: `durability` has no `kind`: write `durability = \"transient_local\"`",
    ),
    (
        "deadline = { period = \"1s\" }",
        "2:12: `deadline` has no `period`: write `deadline = \"1s\"`",
    ),
    (
        "durability.depth = 7",
        "2:1: `durability` takes a word in quotes, not table, as in `durability = \"volatile\"`",
    ),
    (
        "dedline = \"1s\"",
        "2:1: unknown key `dedline`; did you mean `deadline`?",
    ),
    (
        "deadline = 100",
        "2:12: `deadline` takes a duration such as \"100ms\" or \"10s\", not integer",
    ),
    (
        "deadline = \"100\"",
        "2:12: `100` has no unit; write `100ns`, `100us`, `100ms`, `100s`, `100min` or `100h`",
    ),
    (
        "deadline = \"100MS\"",
        "2:12: unknown unit `MS`; did you mean `100ms`?",
    ),
    (
        "deadline = \"3 weeks\"",
        "2:12: unknown unit ` weeks`; use `ns`, `us`, `ms`, `s`, `min` or `h`",
    ),
    (
        "deadline = \"soon\"",
        "2:12: `soon` is no duration; write one as \"100ms\", \"10s\" or \"infinite\"",
    ),
    (
        "deadline = \"99999999999h\"",
        "2:12: `99999999999h` is longer than 2147483646s",
    ),
    (
        "history.depth = 0",
        "2:17: `0` is not a whole number from 1 to 2147483647",
    ),
    (
        "history.depth = 99999999999999999999",
        "2:17: `99999999999999999999` is not a whole number from 1 to 2147483647",
    ),
    (
        "resource_limits.max_samples = 0",
        "2:31: `0` is neither a whole number from 1 to 2147483647 nor unlimited",
    ),
    (
        "resource_limits.max_samples = \"many\"",
        "2:31: `resource_limits.max_samples` takes a whole number or \"unlimited\", not string",
    ),
    (
        "max_unacknowledged = \"4mib\"",
        "2:22: unknown unit `mib`; did you mean `4MiB`?",
    ),
    (
        "max_unacknowledged = \"4\"",
        "2:22: `4` has no unit; write `4B`, `4kB`, `4KiB`, `4MB`, `4MiB`, `4GB` or `4GiB`",
    ),
    (
        "max_unacknowledged = \"2GiB\"",
        "2:22: `2GiB` is more than 1GiB",
    ),
    (
        "user_data = [1, 256]",
        "2:17: `user_data` takes text, or a list of numbers from 0 to 255, not array",
    ),
    (
        "representation = [\"xcdr\"]",
        "2:19: unknown value `xcdr`; did you mean `xcdr1`?",
    ),
    (
        "time_based_filter = \"1s\"",
        "2:1: `time_based_filter` is a setting of `reader`, not of `writer`",
    ),
    (
        "partition = [\"a\"]",
        "2:1: `partition` is a setting of `publisher` or `subscriber`, not of `writer`",
    ),
    ("topic = 7", "2:9: expected a name in quotes, found integer"),
    ("deadline = \"1s\"\ndeadline = \"2s\"", "3:1: duplicate key"),
    (
        "deadline = 1s",
        "2:12: string values must be quoted, expected literal string",
    ),
    // Policies that contradict each other.
    (
        "history.depth = 9\nresource_limits.max_samples_per_instance = 8",
        "3:44: HISTORY: the depth is above RESOURCE_LIMITS.max_samples_per_instance (`history.depth` is in line 2)",
    ),
    (
        "resource_limits.max_samples_per_instance = 8\nresource_limits.max_samples = 7",
        "3:31: RESOURCE_LIMITS: max_samples is below max_samples_per_instance (`resource_limits.max_samples_per_instance` is in line 2)",
    ),
    (
        "durability_service.history_depth = 9\ndurability_service.max_samples_per_instance = 8",
        "3:47: DURABILITY_SERVICE: the depth is above its max_samples_per_instance (`durability_service.history_depth` is in line 2)",
    ),
];

#[test]
fn of_a_writer_in_toml() {
    for (said, error) in OF_A_WRITER {
        assert_eq!(
            errors(&format!("[profiles.p.writer]\n{said}\n")),
            [*error],
            "{said}"
        );
    }
}

/// Whole files in TOML, and their errors.
const TOML: &[(&str, &[&str])] = &[
    (
        "[writer]\n",
        &["1:2: `writer` belongs in a profile: [profiles.NAME.writer]"],
    ),
    (
        "[profile.p]\n",
        &["1:2: unknown key `profile`; did you mean `profiles`?"],
    ),
    (
        "profiles = 1\n",
        &["1:1: expected tables, as [profiles.NAME.writer]"],
    ),
    (
        "default = 'pirces'\n[profiles.prices]\n",
        &["1:11: unknown profile `pirces`; did you mean `prices`?"],
    ),
    (
        "[profiles.p]\nbase = ['q', 'p']\n",
        &[
            "2:9: unknown profile `q`; there are p",
            "1:11: the bases of `p` lead back to themselves",
        ],
    ),
    (
        "[profiles.a]\nbase = 'b'\n[profiles.b]\nbase = 'a'\n",
        &["1:11: the bases of `a` lead back to themselves"],
    ),
    (
        "[profiles.p]\nraeder.deadline = '1s'\n",
        &["2:1: unknown key `raeder`; did you mean `reader`?"],
    ),
    (
        "[profiles.p]\nreader = 1\n",
        &["2:1: `reader` is a table: [profiles.NAME.reader]"],
    ),
    (
        "[[profiles.p.reader]]\ndeadline = '1s'\n[[profiles.p.reader]]\ndeadline = '2s'\n",
        &["4:12: a second `reader` for all topics; which topic is it for?"],
    ),
    (
        "[profiles.p.reader]\n[[profiles.p.reader]]\ntopic = 'T'\n",
        &[
            "2:14: duplicate key; several parts for different topics are each [[profiles.NAME.reader]]",
        ],
    ),
    (
        "[profiles.p.reader]\ndeadline = '1s'\ntime_based_filter = '2s'\n",
        &[
            "3:21: TIME_BASED_FILTER: the minimum separation is above the DEADLINE period (`deadline` is in line 2)",
        ],
    ),
    (
        "[profiles.p.participant]\ndomain = 4294967296\n",
        &["2:10: `4294967296` is not a whole number from 0 to 4294967295"],
    ),
    (
        "[profiles.p.participant]\npeers = ['tokyo', '10.0.0.300']\n",
        &[
            "2:19: `10.0.0.300` is no address or name; write one as \"10.0.0.2\", \"feed.example\" or \"10.0.0.2:7410\"",
        ],
    ),
    (
        "[profiles.p.participant]\npeers = ['tokyo:0']\n",
        &[
            "2:10: `tokyo:0` is no address or name; write one as \"10.0.0.2\", \"feed.example\" or \"10.0.0.2:7410\"",
        ],
    ),
    (
        "[profiles.p.participant]\npeers = ['fe80::1']\n",
        &["2:10: `fe80::1` is an IPv6 address; peers are reached over IPv4"],
    ),
    (
        "[profiles.p.participant]\nbusy_poll = 'infinite'\n",
        &["2:13: `busy_poll` cannot be infinite"],
    ),
    (
        "[profiles.p.participant]\nthread_cores = '0-1 dat=2'\n",
        &["2:16: there is no thread `dat`; did you mean `data`?"],
    ),
    (
        "[profiles.p.participant]\nmulticast_ttl = 256\n",
        &["2:17: `256` is not a whole number from 0 to 255"],
    ),
    // Several errors of one run.
    (
        "[profiles.p.writer]\ndedline = '1s'\nlifespan = 'long'\n[profiles.p.raeder]\n",
        &[
            "2:1: unknown key `dedline`; did you mean `deadline`?",
            "3:12: `long` is no duration; write one as \"100ms\", \"10s\" or \"infinite\"",
            "4:13: unknown key `raeder`; did you mean `reader`?",
        ],
    ),
    // A base that is sound, and what makes it unsound.
    (
        "[profiles.b.writer]\nhistory.depth = 9\n[profiles.p]\nbase = 'b'\nwriter.resource_limits.max_samples_per_instance = 8\n",
        &[
            "5:51: HISTORY: the depth is above RESOURCE_LIMITS.max_samples_per_instance (`history.depth` is in line 2)",
        ],
    ),
];

#[test]
fn files_in_toml() {
    for (text, expected) in TOML {
        let mut expected = expected.to_vec();
        let mut errors = errors(text);
        errors.sort();
        expected.sort_unstable();
        assert_eq!(errors, expected, "{text}");
    }
}

/// What is said in `<datawriter_qos>`, and the error.
const DDS_XML: &[(&str, &str)] = &[
    (
        "<relaibility/>",
        "1:74: unknown element `relaibility`; did you mean `reliability`?",
    ),
    (
        "<reliability><kind>RELAIBLE_RELIABILITY_QOS</kind></reliability>",
        "1:93: unknown value `RELAIBLE_RELIABILITY_QOS`; did you mean `RELIABLE_RELIABILITY_QOS`?",
    ),
    (
        "<reliability><kind>sure</kind></reliability>",
        "1:93: unknown value `sure`; use `BEST_EFFORT` or `RELIABLE`",
    ),
    (
        "<reliability><kind><a/></kind></reliability>",
        "1:93: `kind` holds a value, no elements",
    ),
    (
        "<reliability>RELIABLE</reliability>",
        "1:87: text in `reliability`, which holds elements",
    ),
    (
        "<reliability kind=\"RELIABLE\"/>",
        "1:87: `kind` is an element of `reliability`, not an attribute: write `<kind>RELIABLE</kind>`",
    ),
    (
        "<history><depth>0</depth></history>",
        "1:90: `0` is not a whole number from 1 to 2147483647",
    ),
    (
        "<history><depth>1</depth><depth>2</depth></history>",
        "1:106: `history.depth` is set a second time",
    ),
    (
        "<deadline><period><sec>1s</sec></period></deadline>",
        "1:97: `1s` is no `sec`: use a whole number from 0 to 2147483647 or DURATION_INFINITY",
    ),
    (
        "<deadline><period><nanosec>1000000000</nanosec></period></deadline>",
        "1:101: `1000000000` is no `nanosec`: use a whole number from 0 to 999999999 or DURATION_INFINITY",
    ),
    (
        "<deadline><period><secs>1</secs></period></deadline>",
        "1:92: unknown element `secs`; did you mean `sec`?",
    ),
    (
        "<deadline><period/></deadline>",
        "1:84: `period` has neither `sec` nor `nanosec`",
    ),
    (
        "<resource_limits><max_samples>0</max_samples></resource_limits>",
        "1:104: `0` is neither a number from 1 to 2147483647 nor LENGTH_UNLIMITED",
    ),
    (
        "<user_data><value>1,300</value></user_data>",
        "1:92: `300` is no octet; write them as 72, 0x69",
    ),
    (
        "<user_data><valueB64>?</valueB64></user_data>",
        "1:95: `?` is no digit of base 64",
    ),
    (
        "<writer_data_lifecycle><autodispose_unregistered_instances>yes</autodispose_unregistered_instances></writer_data_lifecycle>",
        "1:133: `yes` is neither `true` nor `false`",
    ),
];

#[test]
fn of_a_writer_in_dds_xml() {
    for (said, error) in DDS_XML {
        let text = format!(
            "<dds><qos_library name='L'><qos_profile name='p'><datawriter_qos>        {said}\
             </datawriter_qos></qos_profile></qos_library></dds>"
        );
        assert_eq!(errors(&text), [*error], "{said}");
    }
}

/// Whole files in XML, and their errors.
const XML: &[(&str, &[&str])] = &[
    (
        "<dds>",
        &["1:1: no well-formed XML: the root node was opened but never closed"],
    ),
    (
        "<!DOCTYPE dds><dds/>",
        &["1:1: no well-formed XML: XML with DTD detected"],
    ),
    (
        "<templates><template name='A' id='1'/></templates>",
        &[
            "1:1: unknown root element `templates`; there are dds, profiles, qos_library, qos_profile",
        ],
    ),
    (
        "<dds><qos_libary/></dds>",
        &["1:6: unknown element `qos_libary`; did you mean `qos_library`?"],
    ),
    (
        "<qos_library><qos_profile/></qos_library>",
        &["1:1: `qos_library` needs a name"],
    ),
    (
        "<qos_library name='L'><qos_profile/></qos_library>",
        &["1:23: `qos_profile` needs a name"],
    ),
    (
        "<qos_library name='L'><qos_profile name='p'/><qos_profile name='p'/></qos_library>",
        &["1:65: a second profile `L::p`"],
    ),
    (
        "<qos_library name='L'><qos_profile name='p' base_name='q'/></qos_library>",
        &["1:56: unknown profile `q`; there are L::p"],
    ),
    (
        "<qos_library name='L'><qos_profile name='p' base_name='BuiltinQosLib::Pattern.Status'/></qos_library>",
        &[
            "1:56: Tickwire does not have `BuiltinQosLib::Pattern.Status`, which sets RELIABILITY and other policies: \
           write these out here in place of the base",
        ],
    ),
    (
        "<qos_library name='L'><qos_profile name='p' bas_name='q'/></qos_library>",
        &["1:45: unknown attribute `bas_name`; did you mean `base_name`?"],
    ),
    (
        "<qos_library name='L'><qos_profile name='p' is_default_qos='yes'/></qos_library>",
        &["1:61: `is_default_qos` is `true` or `false`, not `yes`"],
    ),
    (
        "<qos_library name='L'><qos_profile name='p'><datawriter_qso/></qos_profile></qos_library>",
        &["1:45: unknown element `datawriter_qso`; did you mean `datawriter_qos`?"],
    ),
    (
        "<qos_library name='L'><qos_profile name='p'><datareader_qos/><datareader_qos/></qos_profile></qos_library>",
        &["1:62: a second `datareader_qos` for the same topics"],
    ),
    (
        "<qos_library name='L'><qos_profile name='p'><publisher_qos topic_filter='a'/></qos_profile></qos_library>",
        &["1:74: a `publisher` has no topic to filter"],
    ),
    (
        "<profiles><data_writer/></profiles>",
        &["1:11: `data_writer` needs a `profile_name`"],
    ),
    (
        "<profiles><data_writre profile_name='p'/></profiles>",
        &["1:11: unknown element `data_writre`; did you mean `data_writer`?"],
    ),
    (
        "<profiles><data_writer profile_name='p'/><publisher profile_name='p'/></profiles>",
        &["1:67: a second `publisher` with the profile name `p`"],
    ),
    (
        "<profiles><data_writer profile_name='p'><qos><durability><kind>VOLATIL</kind></durability></qos></data_writer></profiles>",
        &["1:64: unknown value `VOLATIL`; did you mean `VOLATILE`?"],
    ),
    (
        "<profiles><data_writer profile_name='p'><qos><lifespam/></qos></data_writer></profiles>",
        &["1:46: unknown element `lifespam`; did you mean `lifespan`?"],
    ),
    (
        "<profiles><participant profile_name='p'><rtps><userTransports><transport_id>udp</transport_id></userTransports></rtps></participant></profiles>",
        &["1:77: unknown transport `udp`; there are none"],
    ),
    (
        "<profiles><participant profile_name='p'><domainId>4294967296</domainId></participant></profiles>",
        &["1:51: `4294967296` is not a whole number from 0 to 4294967295"],
    ),
];

#[test]
fn files_in_xml() {
    for (text, expected) in XML {
        assert_eq!(errors(text), *expected, "{text}");
    }
}

#[test]
fn no_file_makes_work_without_end() {
    let deep = format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Profiles::parse("qos", &deep).is_err());
    let deep = format!("<dds>{}", "<a>".repeat(100_000));
    assert!(Profiles::parse("qos", &deep).is_err());
    let crowded: String = (0..100_000).map(|n| format!(" a{n}=''")).collect();
    assert_eq!(
        errors(&format!("<dds{crowded}/>")),
        ["1:1: more than 64 attributes"]
    );
    let many: String = (0..2_000).map(|n| format!("[profiles.p{n}]\n")).collect();
    assert_eq!(errors(&many).len(), 1);
    let chain: String = (0..100)
        .map(|n| format!("[profiles.p{n}]\nbase='p{}'\n", n + 1))
        .collect();
    assert_eq!(errors(&format!("{chain}[profiles.p100]\n")).len(), 50);
    let wrong: String = (0..2_000).map(|n| format!("x{n} = 1\n")).collect();
    assert_eq!(errors(&wrong).len(), 50);
}
