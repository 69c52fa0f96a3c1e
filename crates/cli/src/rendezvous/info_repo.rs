//! The command line of OpenDDS's DCPSInfoRepo, which has long options with a single dash. Knows no option of
//! ours but those that it translates to.

use std::ffi::OsString;

/// `tickwire rendezvous` with DCPSInfoRepo's options as one with ours, and what is to be said about those that
/// have no meaning here. Other commands stay as they are.
pub(crate) fn translate(
    arguments: impl IntoIterator<Item = OsString>,
) -> (Vec<OsString>, Vec<String>) {
    let mut arguments = arguments.into_iter().peekable();
    let mut translated: Vec<_> = arguments.by_ref().take(2).collect();
    let mut notes = Vec::new();
    if translated
        .get(1)
        .is_none_or(|command| command != "rendezvous")
    {
        translated.extend(arguments);
        return (translated, notes);
    }
    while let Some(argument) = arguments.next() {
        let Some(meaning) = argument.to_str().and_then(Meaning::of) else {
            translated.push(argument);
            continue;
        };
        let has_value = match meaning.value {
            Value::None => false,
            Value::One => true,
            Value::Maybe => arguments
                .peek()
                .is_some_and(|next| !next.as_encoded_bytes().starts_with(b"-")),
        };
        let value = arguments.next_if(|_| has_value);
        match meaning.ours {
            None => notes.push(format!(
                "{} is ignored: it has no meaning here",
                argument.display()
            )),
            Some(ours @ "--accept-federates") => translated.push(ours.into()),
            Some(ours) => {
                let value = value.map(|value| match value.to_str() {
                    Some(text) if ours == "--listen" => endpoint(text).into(),
                    _ => value,
                });
                translated.push(ours.into());
                translated.extend(value);
            }
        }
    }
    (translated, notes)
}

/// What an option of DCPSInfoRepo is here.
struct Meaning {
    /// `None` if it has no meaning.
    ours: Option<&'static str>,
    value: Value,
}

enum Value {
    None,
    One,
    /// One that does not look like an option.
    Maybe,
}

impl Meaning {
    fn of(option: &str) -> Option<Self> {
        let (ours, value) = match option {
            "-ORBListenEndpoints" => (Some("--listen"), Value::One),
            "-FederateWith" => (Some("--federate-with"), Value::One),
            // A repository that has an id is one with which others may federate.
            "-FederationId" => (Some("--accept-federates"), Value::One),
            "-NOBITS" | "-z" => (None, Value::None),
            "-a" | "-r" => (None, Value::Maybe),
            "-FederatorConfig" | "-ReassociateDelay" | "-DispatchingCheckDelay" => {
                (None, Value::One)
            }
            other if other.starts_with("-ORB") || other.starts_with("-DCPS") => (None, Value::One),
            _ => return None,
        };
        Some(Self { ours, value })
    }
}

/// `HOST:PORT` of `iiop://VERSION@HOST:PORT/OPTIONS`, of which only the port, or nothing, need be there.
fn endpoint(text: &str) -> String {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['/', ';']).next().unwrap_or_default();
    let text = text.split_once('@').map_or(text, |(_, rest)| rest);
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "0"));
    let host = if host.is_empty() { "0.0.0.0" } else { host };
    format!("{host}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> (String, usize) {
        let words = line.split(' ').map(OsString::from);
        let (arguments, notes) = translate(words);
        let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
        (words.join(" "), notes.len())
    }

    #[test]
    fn options_of_dcpsinforepo_become_ours() {
        for (theirs, ours, notes) in [
            ("-ORBSvcConf lib_tcp.conf -o repo.ior", "-o repo.ior", 1),
            (
                "-ORBListenEndpoints iiop://localhost:12345 -NOBITS -o r",
                "--listen localhost:12345 -o r",
                1,
            ),
            (
                "-ORBListenEndpoints iiop://1.2@h:7/portspan=3",
                "--listen h:7",
                0,
            ),
            ("-ORBListenEndpoints iiop://:8", "--listen 0.0.0.0:8", 0),
            ("-ORBListenEndpoints iiop://h", "--listen h:0", 0),
            ("-a 127.0.0.1:9 -z -r 1 -q", "-q", 3),
            ("-a -z -r -o f", "-o f", 3),
            (
                "-FederationId 7 -FederateWith file://a.ior",
                "--accept-federates --federate-with file://a.ior",
                0,
            ),
            (
                "--listen 127.0.0.1:0 -o f --quiet",
                "--listen 127.0.0.1:0 -o f --quiet",
                0,
            ),
            ("-ORBSvcConf", "", 1),
        ] {
            let (found, count) = translated(&format!("tickwire rendezvous {theirs}"));
            let expected = format!("tickwire rendezvous {ours}");
            assert_eq!(
                (found.as_str(), count),
                (expected.trim_end(), notes),
                "{theirs}"
            );
        }
    }

    #[test]
    fn other_commands_are_left_alone() {
        for line in ["tickwire", "tickwire topic ls -r 1 -ORBSvcConf x"] {
            assert_eq!(translated(line), (line.to_owned(), 0));
        }
    }
}
