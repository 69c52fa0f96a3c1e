//! `--help` of every command teaches: what it does and why, and examples.

use crate::common::{Folder, tickwire};

/// The commands that `--help` of `path` lists.
fn commands(help: &str) -> Vec<String> {
    let list = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// What precedes the line of usage.
fn about(help: &str) -> &str {
    help.split("\nUsage:").next().unwrap_or_default().trim()
}

fn check(folder: &Folder, path: &[&str], leaves: &mut Vec<String>) {
    let long = tickwire(folder, &[path, &["--help"]].concat()).stdout;
    let inner = commands(&long);
    for command in &inner {
        check(folder, &[path, &[command]].concat(), leaves);
    }
    let name = path.join(" ");
    assert!(long.contains("\nExamples:\n"), "{name}: {long}");
    let examples = long.split("\nExamples:\n").nth(1).unwrap_or_default();
    let lines = examples.lines().take_while(|line| !line.is_empty());
    for line in lines.filter(|_| !path.is_empty()) {
        // A line that a terminal of 80 columns would wrap could not be pasted.
        assert!(line.chars().count() <= 80, "{name}: {line}");
    }
    if inner.is_empty() {
        let short = tickwire(folder, &[path, &["-h"]].concat()).stdout;
        assert!(about(&long).len() > about(&short).len(), "{name}: {long}");
        leaves.push(name);
    }
}

#[test]
fn every_command_says_more_than_its_summary_and_gives_examples() {
    let folder = Folder::new("help");
    let mut leaves = Vec::new();
    check(&folder, &[], &mut leaves);
    assert!(
        leaves.contains(&"feed generate complex".to_owned()),
        "{leaves:?}"
    );
    let top = tickwire(&folder, &["--help"]).stdout;
    assert!(top.contains("Exit status:"), "{top}");
}

#[test]
fn a_command_line_that_cannot_be_obeyed_ends_with_2() {
    let folder = Folder::new("usage");
    for arguments in [
        &[][..],
        &["feed"],
        &["fed"],
        &["feed", "send", "--rate", "0", "x.dat"],
        &["topic", "ls", "--domain", "233"],
        &["topic", "ls", "--rendezvous", "no-such.ref"],
        &["rendezvous", "--listen", "[::1]:1"],
        &[
            "feed",
            "generate",
            "complex",
            "-o",
            "x.dat",
            "--entries",
            "0",
        ],
        &["feed", "generate", "simple", "-o", "x.xml"],
    ] {
        let run = tickwire(&folder, arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn an_option_that_does_not_exist_is_not_taken_for_a_value() {
    let folder = Folder::new("unknown-option");
    for option in ["--zzz", "-x"] {
        let run = tickwire(&folder, &["topic", "hz", "Quotes", option]);
        assert_eq!(run.status, 2);
        let error = format!("unexpected argument '{option}'");
        assert!(run.stderr.contains(&error), "{}", run.stderr);
        assert!(!run.stderr.contains("tip: "), "{}", run.stderr);
    }
    // One that is nearly right is named.
    let near = tickwire(&folder, &["topic", "ls", "--domian", "1"]).stderr;
    assert!(
        near.contains("tip: ") && near.contains("'--domain'"),
        "{near}"
    );
}
