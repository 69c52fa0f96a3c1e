//! The examples, as processes that talk to each other, and a program that uses each thing of the PSM.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tickwire::DomainParticipant;

use crate::common::{build, build_by, build_with, program, succeed};

/// Starts programs beside each other that end by themselves; returns what they print.
fn run<const N: usize>(programs: [(&Path, &[&str]); N]) -> [String; N] {
    let running = programs.map(|(path, arguments)| {
        let mut program = program(path);
        program.args(arguments).stdout(Stdio::piped());
        program.spawn().expect("it was built")
    });
    running.map(|program| {
        let output = program.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", output.status);
        String::from_utf8(output.stdout).expect("it is text")
    })
}

#[test]
fn the_greetings_arrive() {
    greetings("c++", "121");
}

#[test]
fn the_greetings_arrive_by_clang() {
    greetings("clang++", "132");
}

fn greetings(compiler: &str, domain: &str) {
    let idl = ["examples/HelloWorldData.idl"];
    let built = |program| build_by(compiler, program, &idl, &["-O0"]);
    let subscriber = built("examples/hello_subscriber.cpp");
    let publisher = built("examples/hello_publisher.cpp");
    let [heard, _] = run([(&subscriber, &[domain]), (&publisher, &[domain])]);
    let expected: String = (1..=10)
        .map(|number| format!("1: hello {number}\n"))
        .collect();
    assert_eq!(heard, expected);
}

#[test]
fn programs_for_cyclone_dds_need_another_header_of_their_types_and_nothing_else() {
    let idl = ["examples/HelloWorldData.idl"];
    let subscriber = build("tests/programs/ported_subscriber.cpp", &idl);
    let publisher = build("tests/programs/ported_publisher.cpp", &idl);
    let [taken, written] = run([(&subscriber, &["134"]), (&publisher, &["134"])]);
    let shown = "[userID: 1, message: \"Hello World\"]";
    assert_eq!(taken, format!("Waiting for a sample\nTaken {shown}\n"));
    let expected = format!(
        "Waiting for a subscriber\nWriting {shown}\nWaiting for the subscriber to take it\n"
    );
    assert_eq!(written, expected);
}

#[test]
fn market_data_comes_back_from_each_subscriber() {
    let idl = ["examples/MarketData.idl"];
    let subscriber = build("examples/typed_subscriber.cpp", &idl);
    let publisher = build("examples/typed_publisher.cpp", &idl);
    let domain: &[&str] = &["-domain", "122"];
    let [first, second, told] = run([
        (&subscriber, domain),
        (&subscriber, domain),
        (&publisher, &["-num", "200", "-ns", "2", "-domain", "122"]),
    ]);
    let echoed = "Echoed 180 MarketData, 20 QuoteRequest\n";
    assert_eq!([&*first, &*second], [echoed, echoed]);
    let before = "Number of messages is 200\nWriting...\nAverage latency in milliseconds: ";
    assert!(told.starts_with(before), "{told}");
}

#[test]
fn instances_of_market_data_come_and_go() {
    let example = build("examples/market_data.cpp", &["examples/Quotes.idl"]);
    let [told] = run([(&example, &["129"])]);
    let quotes = (1..=3).flat_map(|tick| {
        let of = move |symbol| format!("{symbol} {tick} {tick}.25\n");
        ["ESZ6", "NQZ6"].map(of)
    });
    let expected: String = quotes.collect();
    assert_eq!(
        told,
        expected + "ESZ6 was disposed of\nNQZ6 has no writer\n"
    );
}

#[test]
fn a_request_has_its_reply() {
    let idl = ["examples/RequestReply.idl"];
    let example = build("examples/request_reply.cpp", &idl);
    let [told] = run([(&example, &["130"])]);
    assert_eq!(
        told,
        "1 cost 101.25\n100 cost 10125\nunknown: TOCK\nunknown: TICK\n"
    );
}

#[test]
fn who_comes_late_gets_the_last_of_each() {
    let late = build("examples/late_joiner.cpp", &["examples/Quotes.idl"]);
    let [told] = run([(&late, &["123"])]);
    assert_eq!(told, "ESZ6 100\nNQZ6 100\nYMZ6 100\n");
}

#[test]
fn filters_and_queries_select() {
    let filter = build("examples/filter.cpp", &["examples/Quotes.idl"]);
    let [told] = run([(&filter, &["124"])]);
    assert_eq!(told, "dear: ESZ6 4\ndear: ESZ6 5\nESZ6 3\nESZ6 4\nESZ6 5\n");
}

#[test]
fn all_of_the_psm_works() {
    let psm = build_with(
        "tests/programs/psm.cpp",
        &["tests/programs/psm.idl"],
        &SANITIZED,
    );
    succeed(program(&psm).arg("125"));
}

#[test]
fn all_of_the_psm_works_by_clang() {
    let idl = ["tests/programs/psm.idl"];
    let psm = build_by("clang++", "tests/programs/psm.cpp", &idl, &["-O0"]);
    succeed(program(&psm).arg("133"));
}

#[test]
fn writers_and_readers_announce_the_data_of_their_topic() {
    let built = build("tests/programs/topic_data.cpp", &["tests/programs/psm.idl"]);
    let mut program = program(&built);
    let mut running = program
        .arg("136")
        .stdin(Stdio::piped())
        .spawn()
        .expect("it was built");
    let participant = DomainParticipant::new(136).expect("it can join");
    let view = participant.discovery();
    let announced = || {
        let all = [view.publications(), view.subscriptions()].concat();
        let mut all: Vec<_> = all
            .iter()
            .map(|data| (data.topic_name.clone(), data.qos.topic_data.clone()))
            .collect();
        all.sort();
        (all.len() == 7).then_some(all)
    };
    let announced = view.wait_for(Duration::from_secs(60), announced);
    drop(running.stdin.take());
    assert!(running.wait().expect("it ends").success());
    let expected = [
        ("Described", vec![1, 2, 255]),
        ("Described", vec![1, 2, 255]),
        ("Described", vec![1, 2, 255]),
        ("Described", vec![1, 2, 255]),
        ("Plain", vec![]),
        ("Plain", vec![7]),
        ("Profiled", vec![7]),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(topic, data)| (topic.into(), data))
        .collect();
    assert_eq!(announced.expect("all are found"), expected);
}

#[test]
fn what_ends_has_ended_and_threads_share_what_they_may() {
    let lifetimes = build_with(
        "tests/programs/lifetimes.cpp",
        &["tests/programs/psm.idl"],
        &SANITIZED,
    );
    succeed(program(&lifetimes).arg("127"));
}

#[test]
fn services_count_what_comes_of_requests() {
    let idl = ["tests/programs/services.idl"];
    let services = build_with("tests/programs/services.cpp", &idl, &SANITIZED);
    succeed(program(&services).arg("131"));
}

#[test]
fn unlikely_names_and_values_to_begin_with_hold() {
    let idl = ["tests/programs/names.idl"];
    succeed(&mut program(&build_with(
        "tests/programs/names.cpp",
        &idl,
        &SANITIZED,
    )));
}

#[test]
fn values_of_each_kind_are_shown_by_streams() {
    let idl = ["tests/programs/print.idl"];
    let print = build_with("tests/programs/print.cpp", &idl, &SANITIZED);
    succeed(&mut program(&print));
}

#[test]
fn large_values_are_read_without_much_of_the_stack_or_of_memory() {
    let idl = ["tests/programs/large.idl"];
    let large = build_with("tests/programs/large.cpp", &idl, &SANITIZED);
    succeed(program(&large).arg("128"));
}

#[test]
fn strings_are_looked_at_byte_by_byte_however_short() {
    let idl = ["tests/programs/text.idl"];
    let text = build_with("tests/programs/text.cpp", &idl, &SANITIZED);
    succeed(&mut program(&text));
}

#[test]
fn what_is_lent_is_written_and_read_where_it_lies() {
    let idl = ["tests/programs/psm.idl"];
    let loans = build_with("tests/programs/loans.cpp", &idl, &SANITIZED);
    succeed(program(&loans).arg("131"));
}

#[test]
fn samples_that_are_used_again_take_no_memory() {
    // As users build, with what g++ warns of only then.
    let program_of = build_with(
        "tests/programs/allocation.cpp",
        &["examples/MarketData.idl"],
        &["-O2"],
    );
    succeed(program(&program_of).arg("126"));
}

/// Not optimized, which would take g++ twice as long.
const SANITIZED: [&str; 3] = [
    "-O0",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];
