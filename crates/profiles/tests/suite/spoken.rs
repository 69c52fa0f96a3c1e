//! Settings that a program names, besides those of a file.

use std::time::Duration;

use tickwire::qos::{Durability, History};
use tickwire_profiles::{Entity, Profile, Profiles, settings};

fn nothing() -> Profile {
    Profiles::default().default_profile()
}

#[test]
fn what_a_program_says_comes_last_and_holds_for_all_topics() {
    let text = r#"
        [profiles.prices.writer]
        latency_budget = "1ms"
        durability = "transient_local"
        [[profiles.prices.reader]]
        topic = "Quotes"
        history.depth = 7
    "#;
    let profiles = Profiles::parse("qos.toml", text).expect("it can be obeyed");
    let profile = profiles.profile("prices").expect("it is there");
    let said = [
        ("writer.latency_budget", "2ms"),
        ("writer.history.kind", "keep_all"),
        ("reader.history.depth", "9"),
        ("participant.domain", "7"),
        ("participant.peers", "10.0.0.1, feed.example:7410"),
    ];
    let said = said
        .into_iter()
        .try_fold(profile.clone(), |profile, (key, value)| {
            profile.with(key, value)
        });
    let said = said.expect("they exist");
    let writer = said.writer("Quotes");
    assert_eq!(writer.policies().latency_budget, Duration::from_millis(2));
    assert_eq!(writer.policies().durability, Durability::TransientLocal);
    assert_eq!(writer.policies().history, History::KeepAll);
    assert_eq!(
        said.reader("Quotes").policies().history,
        History::KeepLast(9)
    );
    assert_eq!(said.domain(), Some(7));
    let peers = said.setting("participant.peers", None);
    assert_eq!(peers.as_deref(), Ok(r#"["10.0.0.1", "feed.example:7410"]"#));
    let before = profile.reader("Quotes");
    assert_eq!(before.policies().history, History::KeepLast(7));
}

#[test]
fn the_last_word_of_a_setting_counts() {
    let profile = nothing().with("writer.reliability", "best_effort");
    let profile = profile.and_then(|it| it.with("writer.reliability.kind", "\"reliable\""));
    let value = profile
        .expect("it exists")
        .setting("writer.reliability", None);
    assert_eq!(value.as_deref(), Ok("\"reliable\""));
}

#[test]
fn every_default_can_be_said_with_and_without_its_quotes() {
    for setting in settings() {
        for entity in Entity::ALL
            .iter()
            .filter(|entity| setting.entities.contains(entity))
        {
            let key = format!("{entity}.{}", setting.key);
            let bare = setting.default.trim_matches(['"', '[', ']']);
            for value in [setting.default, bare] {
                let said = nothing().with(&key, value);
                let said = said.unwrap_or_else(|error| panic!("{value}: {error}"));
                assert_eq!(said.setting(&key, None).as_deref(), Ok(setting.default));
            }
        }
    }
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    let refused = |key: &str, value: &str| {
        let refused = nothing().with(key, value);
        refused.expect_err("it cannot be").to_string()
    };
    let cases = [
        (
            "writer.histroy.kind",
            "keep_all",
            "did you mean `writer.history.kind`?",
        ),
        ("writer.history.kind", "keep_al", "did you mean `keep_all`?"),
        (
            "writer.nothing_like_it",
            "1",
            "docs/qos.md lists those of `writer`",
        ),
        ("nothing", "1", "begins with `participant`, `topic`"),
        ("writer.deadline", "10", "`10` has no unit"),
        (
            "participant.domain",
            "seven",
            "`seven` is no value; one is `0`",
        ),
        ("participant.domain", "", "`` is no value"),
        ("reader.history.depth", "0", "not a whole number from 1"),
        (
            "participant.transports",
            "udp,pigeon",
            "unknown value `pigeon`",
        ),
        ("participant.name", "\"open", "is no value"),
        (
            "reader.resource_limits.max_samples",
            "few",
            "`few` is no value",
        ),
    ];
    for (key, value, expected) in cases {
        let told = refused(key, value);
        assert!(told.contains(expected) && told.contains(key), "{told}");
    }
}
