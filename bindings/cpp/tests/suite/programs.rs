//! The examples, as processes that talk to each other.

use std::process::Stdio;

use crate::common::{build, program};

/// Runs a program that ends by itself beside another one; returns what both print.
fn beside(first: &str, second: &str, idl: &str, arguments: &[&str]) -> [String; 2] {
    let (first, second) = (build(first, &[idl]), build(second, &[idl]));
    let start = |path| {
        let mut program = program(path);
        program.args(arguments).stdout(Stdio::piped());
        program.spawn().expect("it was built")
    };
    let running = [start(&first), start(&second)];
    running.map(|program| {
        let output = program.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", output.status);
        String::from_utf8(output.stdout).expect("it is text")
    })
}

#[test]
fn the_greetings_arrive() {
    let [heard, _] = beside(
        "examples/hello_subscriber.cpp",
        "examples/hello_publisher.cpp",
        "examples/HelloWorldData.idl",
        &["121"],
    );
    let expected: String = (1..=10)
        .map(|number| format!("1: hello {number}\n"))
        .collect();
    assert_eq!(heard, expected);
}
