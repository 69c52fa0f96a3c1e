//! Any text is refused with places or can be used; any sound values come back as they were.

use proptest::prelude::*;
use tickwire_profiles::{Entity, LoadError, Profiles, settings};

/// Uses all that a file says.
fn exercise(text: &str) {
    match Profiles::parse("qos", text) {
        Ok(profiles) => {
            for name in profiles.names() {
                let profile = profiles.profile(name).expect("it was named");
                for topic in profile.topics().into_iter().chain(["Quotes"]) {
                    let _ = (profile.writer(topic), profile.reader(topic));
                    let _ = profile.settings(Entity::Writer, Some(topic));
                }
                let _ = (profile.subscriber(), profile.participant());
            }
        }
        Err(LoadError::Invalid { problems, .. }) => {
            assert!(!problems.is_empty() && problems.len() <= 50);
            for problem in problems {
                assert!(problem.line > 0 && problem.column > 0);
                assert_eq!(problem.excerpt().lines().count(), 3);
            }
        }
        Err(other) => panic!("{other}"),
    }
}

/// Pieces of files.
fn piece() -> impl Strategy<Value = String> {
    let keys = settings().iter().map(|setting| setting.key.to_owned());
    let defaults = settings().iter().map(|setting| setting.default.to_owned());
    let elements = settings().iter().flat_map(|setting| {
        let paths = [setting.dds_xml, setting.fast_dds].into_iter();
        paths
            .flat_map(|path| path.split('/'))
            .flat_map(|name| [format!("<{name}>"), format!("</{name}>")])
    });
    let words = [
        "[profiles.",
        "p",
        "q",
        "]\n",
        "[[",
        "]]",
        "writer",
        "reader",
        ".",
        " = ",
        "{",
        "}",
        "\n",
        ",",
        "base = 'p'\n",
        "topic = 'Q*'\n",
        "\"",
        "'",
        "0",
        "-1",
        "99999999999999999999",
        "\"1h\"",
        "é\u{0}",
        "<dds>",
        "</dds>",
        "<qos_library name='L'>",
        "<qos_profile name='p' base_name='q'>",
        "</qos_profile>",
        "<datawriter_qos topic_filter='*'>",
        "</datawriter_qos>",
        "<profiles>",
        "<data_writer profile_name='p'>",
        "</data_writer>",
        "</profiles>",
        "<element>",
        "</element>",
        "KEEP_ALL_HISTORY_QOS",
        "DURATION_INFINITY",
        "LENGTH_UNLIMITED",
        "<!--",
        "-->",
        "&amp;",
        "&lt",
    ];
    let words = words.into_iter().map(str::to_owned);
    let pieces: Vec<_> = keys.chain(defaults).chain(elements).chain(words).collect();
    prop::sample::select(pieces)
}

/// Values of settings, as TOML.
fn value(default: &'static str) -> BoxedStrategy<String> {
    let numbers = (1_u32..=i32::MAX as u32).prop_map(|number| number.to_string());
    let durations = (
        0_u64..=2_000_000_000,
        prop::sample::select(vec!["ns", "us", "ms", "s"]),
    );
    let durations = durations.prop_map(|(number, unit)| format!("\"{number}{unit}\""));
    let sizes = (0_u32..=1 << 20, prop::sample::select(vec!["B", "KiB"]));
    let sizes = sizes.prop_map(|(number, unit)| format!("\"{number}{unit}\""));
    let octets = prop::collection::vec(any::<u8>(), 0..9).prop_map(|octets| format!("{octets:?}"));
    let names = prop::collection::vec("[ -~]{0,9}", 0..4).prop_map(|names| format!("{names:?}"));
    let text = "[ -~]{0,9}".prop_map(|text| format!("{text:?}"));
    match default {
        "true" | "false" => any::<bool>().prop_map(|yes| yes.to_string()).boxed(),
        "\"infinite\"" => prop_oneof![Just(default.to_owned()), durations].boxed(),
        "\"100ms\"" | "\"0s\"" | "\"20s\"" => durations.boxed(),
        "\"unlimited\"" => prop_oneof![Just(default.to_owned()), numbers].boxed(),
        "\"4MiB\"" | "\"1MiB\"" => sizes.boxed(),
        "0" | "1" => prop::sample::select(vec!["1", "2", "200"])
            .prop_map(str::to_owned)
            .boxed(),
        "\"\"" => prop_oneof![octets, text].boxed(),
        "[]" => names.boxed(),
        _ => Just(default.to_owned()).boxed(),
    }
}

/// Some settings of an entity, each with a value that it may take or not.
fn said(entity: Entity) -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let settings = settings().iter();
    let settings = settings.filter(move |setting| setting.entities.contains(&entity));
    let settings = settings.map(|setting| {
        let value = value(setting.default).prop_map(|value| (setting.key, value));
        prop::option::of(value)
    });
    let settings: Vec<_> = settings.collect();
    settings.prop_map(|said| said.into_iter().flatten().collect())
}

proptest! {
    #[test]
    fn any_text_is_refused_or_used(text in ".{0,200}") {
        exercise(&text);
    }

    #[test]
    fn any_pieces_are_refused_or_used(pieces in prop::collection::vec(piece(), 0..60)) {
        exercise(&pieces.concat());
        exercise(&format!("<dds><qos_library name='L'><qos_profile name='p'>{}", pieces.concat()));
    }

    /// What is accepted is printed so that it means the same.
    #[test]
    fn what_is_said_comes_back(
        said in prop::sample::select(Entity::ALL.to_vec()).prop_flat_map(|entity| {
            said(entity).prop_map(move |said| (entity, said))
        }),
    ) {
        let (entity, said) = said;
        // One by one, so that one that is refused does not hide the others.
        for (key, value) in said {
            let text = format!("[profiles.p.{entity}]\n{key} = {value}\n");
            let Ok(profiles) = Profiles::parse("qos", &text) else {
                continue;
            };
            let profile = profiles.profile("p").expect("it is there");
            let settings = profile.settings(entity, None);
            let effective = settings.iter().find(|effective| effective.setting.key == key);
            let printed = &effective.expect("it is a setting").value;
            let again = format!("[profiles.p.{entity}]\n{key} = {printed}\n");
            let again = Profiles::parse("again", &again).expect("it was accepted before");
            let again = again.profile("p").expect("it is there");
            prop_assert_eq!(again.settings(entity, None)[0].value.clone(), settings[0].value.clone());
            prop_assert_eq!(again.writer("T"), profile.writer("T"));
            prop_assert_eq!(again.reader("T"), profile.reader("T"));
            let debug = |profile: &tickwire_profiles::Profile| format!("{:?}", profile.participant());
            prop_assert_eq!(debug(&again), debug(&profile));
        }
    }
}
