//! A profile that is written as TOML says the same of every topic.

use tickwire_profiles::{Entity, Profile, Profiles};

fn parse(text: &str) -> Profiles {
    Profiles::parse("qos", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Compares what both say of some topics: the values, and which of them are said.
fn assert_same(profile: &Profile, topics: &[&str]) {
    let text = profile.to_toml("p::q", None, false);
    let text = text.unwrap_or_else(|error| panic!("{error}"));
    let again = parse(&text).profile("p::q").expect("it was written");
    let said = |profile: &Profile, entity, topic| -> Vec<_> {
        let settings = profile.settings(entity, topic).into_iter();
        settings
            .map(|of| (of.setting.key, of.value, of.origin.is_some()))
            .collect()
    };
    for topic in topics.iter().copied().map(Some).chain([None]) {
        for entity in Entity::ALL {
            let (before, after) = (said(profile, entity, topic), said(&again, entity, topic));
            assert_eq!(after, before, "{entity} of {topic:?}\n{text}");
        }
        let topic = topic.unwrap_or("T");
        assert_eq!(again.writer(topic), profile.writer(topic), "{text}");
        assert_eq!(again.reader(topic), profile.reader(topic), "{text}");
    }
}

#[test]
fn every_profile_of_every_file_comes_back() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files");
    let topics = [
        "Trade",
        "Trades",
        "Quote",
        "Quotes",
        "Reference",
        "References",
        "Other",
        "",
    ];
    let mut compared = 0;
    for file in std::fs::read_dir(folder).expect("the files are there") {
        let path = file.expect("the files are there").path();
        let profiles = Profiles::load(path).unwrap_or_else(|error| panic!("{error}"));
        for name in profiles.names() {
            assert_same(&profiles.profile(name).expect("it is there"), &topics);
            compared += 1;
        }
    }
    assert!(compared > 6, "{compared} profiles");
}

#[test]
fn filters_of_bases_and_of_the_profile_hold_together() {
    let profiles = parse(
        r#"
        [[profiles.base.writer]]
        topic = "A*"
        history.depth = 2
        [[profiles.base.writer]]
        topic = "B"
        history.depth = 3
        [[profiles.base.writer]]
        history.depth = 4

        [profiles.p]
        base = "base"
        [[profiles.p.writer]]
        topic = "AB*"
        lifespan = "1s"
        [[profiles.p.writer]]
        topic = "A?C"
        lifespan = "2s"
        [[profiles.p.writer]]
        topic = "A*"
        [[profiles.p.writer]]
        topic = "*"
        history.depth = 5
        [[profiles.p.writer]]
        topic = "never"
        lifespan = "3s"
        [[profiles.p.reader]]
        topic = "B*"
        reliability.kind = "best_effort"
        "#,
    );
    let profile = profiles.profile("p").expect("it is there");
    let topics = ["A", "AB", "ABC", "AXC", "AXCD", "B", "BC", "C", "never", ""];
    assert_same(&profile, &topics);
    assert_eq!(
        profile.topics(),
        ["*", "A*", "A?C", "AB*", "B", "B*", "never"]
    );
}

#[test]
fn what_one_profile_cannot_say_is_refused_by_name() {
    let chain = |one: &str, other: &str| {
        let text = format!(
            "[[profiles.base.reader]]\ntopic = '{one}'\nhistory.depth = 2\n\
             [profiles.p]\nbase = 'base'\n[[profiles.p.reader]]\ntopic = '{other}'\ndeadline = '1s'\n"
        );
        let profile = parse(&text).profile("p").expect("it is there");
        profile.to_toml("p", None, false)
    };
    let error = chain("A*", "*B")
        .expect_err("`AB` matches both")
        .to_string();
    let expected = "what holds of the `reader` of topics that match both `A*` and `*B`, of different \
                    profiles, cannot be said by one TOML profile";
    assert_eq!(error, expected);
    assert!(chain("*a*", "[abc]").is_err(), "`a` matches both");
    assert!(chain("A*", "B*").is_ok() && chain("*A", "*B").is_ok());
}
