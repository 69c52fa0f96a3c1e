//! Any text as a file of QoS profiles: it is refused with places, or every profile can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_profiles::{Entity, LoadError, Profiles};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match Profiles::parse("fuzz", &text) {
        Ok(profiles) => {
            for name in profiles.names().take(16) {
                let profile = profiles.profile(name).expect("it was named");
                let topics: Vec<_> = profile.topics().into_iter().take(4).collect();
                for topic in topics.into_iter().chain(["Quotes"]) {
                    let _ = (profile.writer(topic), profile.reader(topic));
                    for entity in Entity::ALL {
                        let _ = profile.settings(entity, Some(topic));
                    }
                }
                let _ = (profile.publisher(), profile.participant());
            }
            let _ = profiles.default_profile().writer("Quotes");
        }
        Err(LoadError::Invalid { problems, .. }) => {
            assert!(!problems.is_empty() && problems.len() <= 50);
            for problem in problems {
                assert!(problem.line > 0 && problem.column > 0);
                let _ = problem.to_string();
            }
        }
        Err(other) => panic!("{other}"),
    }
});
