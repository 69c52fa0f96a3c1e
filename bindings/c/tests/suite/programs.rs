//! Programs in C: the examples, and one that uses each feature.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tickwire_idl::{Files, Options, compile};

use crate::common::{build, build_all, build_with, installed, program, source, succeed, temporary};

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

/// The program that the page begins with, as it stands there.
#[test]
fn the_first_program_of_the_page_runs() {
    let page = fs::read_to_string(source("README.md")).expect("the page is there");
    let block = page.split_once("```c\n").and_then(|(_, behind)| {
        let (block, _) = behind.split_once("\n```\n")?;
        Some(block)
    });
    let folder = temporary("page");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let hello = folder.join("hello.c");
    let block = block.expect("the page has a program");
    fs::write(&hello, format!("{block}\n")).expect("there is room");
    succeed(&mut program(&build(&hello, "page-hello")));
}

/// What an example prints whose types are in `examples/market.idl`.
fn market_example(name: &str, domain: &str) -> String {
    let compiled = compile(
        &[source("examples/market.idl")],
        &Options::default(),
        &mut Files,
    );
    let made = compiled.expect("it is right").c("market");
    let made = made.expect("C has it all");
    // Each test has files of its own: others write theirs at the same time.
    let folder = temporary("market").join(name);
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join("market.h"), made.header).expect("there is room");
    let code = folder.join("market.c");
    fs::write(&code, made.source).expect("there is room");
    let example = source(&format!("examples/{name}.c"));
    let example = build_with(&[&example, &code], name, &folder);
    let output = succeed(program(&example).arg(domain));
    String::from_utf8(output.stdout).expect("it is text")
}

#[test]
fn market_data_has_instances() {
    let told = market_example("market_data", "127");
    let quotes = "ESZ6 101 101.5\nNQZ6 201 201.5\nESZ6 102 102.5\nNQZ6 202 202.5\nESZ6 ended\n";
    assert_eq!(told, quotes);
}

#[test]
fn who_comes_late_gets_the_last_of_each() {
    let told = market_example("late_joiner", "128");
    assert_eq!(told, "ESZ6 100\nNQZ6 100\nYMZ6 100\n");
}

#[test]
fn filters_select() {
    assert_eq!(market_example("filter", "129"), "ESZ6 3\nESZ6 4\n");
}

#[test]
fn requests_are_answered() {
    let told = market_example("request_reply", "130");
    assert_eq!(
        told,
        "1 cost 101.25\n100 cost 10125\nunknown: TOCK\nunknown: TICK\n"
    );
}

#[test]
fn every_feature_works() {
    let features = build(&source("tests/programs/features.c"), "features");
    let tag = format!("features-{}", std::process::id());
    succeed(program(&features).arg(tag));
}

#[test]
fn waits_end() {
    let waits = build(&source("tests/programs/waits.c"), "waits");
    let tag = format!("waits-{}", std::process::id());
    succeed(program(&waits).arg(tag));
}

/// A program with what is made of a file of IDL beside it.
fn build_with_idl(name: &str, idl: &str) -> PathBuf {
    let idl_file = [source(&format!("tests/programs/{idl}.idl"))];
    let compiled = compile(&idl_file, &Options::default(), &mut Files).expect("it is right");
    let made = compiled.c(&format!("c-{idl}")).expect("C has it all");
    let header = temporary(&format!("{idl}.h"));
    let code = temporary(&format!("{idl}.c"));
    fs::write(header, made.header).expect("there is room");
    fs::write(&code, made.source).expect("there is room");
    build_all(&[&source(&format!("tests/programs/{name}.c")), &code], name)
}

#[test]
fn structs_of_idl_go_through() {
    let structs = build_with_idl("structs", "quotes");
    let tag = format!("structs-{}", std::process::id());
    succeed(program(&structs).arg(tag));
}

#[test]
fn services_are_called() {
    let services = build_with_idl("services", "services");
    succeed(program(&services).arg("132"));
}

#[test]
fn the_static_library_is_enough() {
    let prefix = installed();
    let mut ask = Command::new("pkg-config");
    ask.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = succeed(ask.args(["--static", "--cflags", "--libs", "tickwire"])).stdout;
    let flags = String::from_utf8(flags).expect("flags are text");
    let program = temporary("static");
    let mut cc = Command::new("cc");
    cc.arg("-o")
        .arg(&program)
        .arg(source("examples/hello_publisher.c"));
    cc.args(
        flags
            .replace("-ltickwire", "-l:libtickwire.a")
            .split_whitespace(),
    );
    succeed(&mut cc);
    let needed = succeed(Command::new("ldd").arg(&program)).stdout;
    assert!(!String::from_utf8_lossy(&needed).contains("libtickwire"));
}

const HELLO_DOMAIN: &str = "118";
