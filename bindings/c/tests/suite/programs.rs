//! Programs in C: the examples, and one that uses each feature.

use std::process::Stdio;

use crate::common::{build, program, source, succeed};

#[test]
fn the_greetings_arrive() {
    let publisher = build(&source("examples/hello_publisher.c"), "hello-publisher");
    let subscriber = build(&source("examples/hello_subscriber.c"), "hello-subscriber");
    let mut listening = program(&subscriber);
    listening.arg(HELLO_DOMAIN).stdout(Stdio::piped());
    let listening = listening.spawn().expect("it was built");
    let published = program(&publisher).arg(HELLO_DOMAIN).output();
    let heard = listening.wait_with_output().expect("it ends");
    assert!(published.is_ok_and(|it| it.status.success()) && heard.status.success());
    let expected: String = (1..=10).map(|number| format!("hello {number}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&heard.stdout), expected);
}

#[test]
fn every_feature_works() {
    let features = build(&source("tests/programs/features.c"), "features");
    let tag = format!("features-{}", std::process::id());
    succeed(program(&features).arg(tag));
}

const HELLO_DOMAIN: &str = "118";
