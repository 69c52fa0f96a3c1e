//! The programs as README has them run, in a domain of their own where they take one.

use std::env;
use std::fs;
use std::process::{Command, Stdio};

fn program(path: &str) -> Command {
    let mut command = Command::new(path);
    command.env_remove("TICKWIRE_TRANSPORT");
    command
}

#[test]
fn hello_prints_its_quote() {
    let output = program(env!("CARGO_BIN_EXE_hello")).output();
    let output = output.expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, "TICK 101.25\n", "{output:?}");
    assert!(output.status.success());
}

#[test]
fn subscribe_has_every_quote_that_publish_has_written() {
    let name = format!("quotes-{}.toml", std::process::id());
    let profile = env::temp_dir().join(name);
    fs::write(
        &profile,
        "[profiles.own.participant]\ndomain_tag = \"quotes-test\"\ndomain = 184\n",
    )
    .expect("room for a file");
    let start = |path| {
        let mut command = program(path);
        command.env("TICKWIRE_QOS_FILE", &profile);
        let started = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        started.expect("it starts")
    };
    let subscribe = start(env!("CARGO_BIN_EXE_subscribe"));
    let publish = start(env!("CARGO_BIN_EXE_publish"));
    let [published, subscribed] = [publish, subscribe].map(|child| {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    fs::remove_file(&profile).expect("it is ours");
    assert_eq!(
        published,
        "10000 quotes written; every reliable reader has them\n"
    );
    let expected = "10000 quotes, the last ones:\nTICK 149.99\nWIRE 149.99\n";
    assert_eq!(subscribed, expected);
}
