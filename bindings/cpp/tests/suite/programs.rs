//! The examples, as processes that talk to each other, and a program that uses each thing of the PSM.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{build, build_with, generate, installed, program, source, succeed, temporary};

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
    let idl = ["examples/HelloWorldData.idl"];
    let subscriber = build("examples/hello_subscriber.cpp", &idl);
    let publisher = build("examples/hello_publisher.cpp", &idl);
    let [heard, _] = run([(&subscriber, &["121"]), (&publisher, &["121"])]);
    let expected: String = (1..=10)
        .map(|number| format!("1: hello {number}\n"))
        .collect();
    assert_eq!(heard, expected);
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
fn what_ends_has_ended_and_threads_share_what_they_may() {
    let lifetimes = build_with(
        "tests/programs/lifetimes.cpp",
        &["tests/programs/psm.idl"],
        &SANITIZED,
    );
    succeed(program(&lifetimes).arg("127"));
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
fn samples_that_are_used_again_take_no_memory() {
    let program_of = build(
        "tests/programs/allocation.cpp",
        &["examples/MarketData.idl"],
    );
    succeed(program(&program_of).arg("126"));
}

/// The other compiler takes headers, generated ones and programs without a warning, too.
#[test]
fn clang_takes_it_without_a_warning() {
    if Command::new("clang++").arg("--version").output().is_err() {
        eprintln!("no clang++ here: ./check installs it");
        return;
    }
    let folder = temporary("clang.idl");
    fs::create_dir_all(&folder).expect("the folder can be made");
    for (program, idl) in [
        ("tests/programs/psm.cpp", "tests/programs/psm.idl"),
        ("tests/programs/lifetimes.cpp", "tests/programs/psm.idl"),
        (
            "examples/hello_publisher.cpp",
            "examples/HelloWorldData.idl",
        ),
        (
            "examples/hello_subscriber.cpp",
            "examples/HelloWorldData.idl",
        ),
        ("examples/typed_publisher.cpp", "examples/MarketData.idl"),
        ("examples/typed_subscriber.cpp", "examples/MarketData.idl"),
        ("examples/late_joiner.cpp", "examples/Quotes.idl"),
        ("examples/filter.cpp", "examples/Quotes.idl"),
    ] {
        generate(&source(idl), &folder);
        let include = installed().join("include");
        let mut clang = Command::new("clang++");
        clang.args([
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
            "-fsyntax-only",
        ]);
        clang.arg("-I").arg(&folder).arg("-I").arg(&include);
        clang.arg("-I").arg(include.join("tickwire-cpp"));
        succeed(clang.arg(source(program)));
    }
}

/// Each header stands alone.
#[test]
fn each_header_can_be_included_first() {
    let include = installed().join("include");
    let ours = source("include");
    let mut headers = Vec::new();
    collect(&ours, &mut headers);
    assert!(!headers.is_empty());
    for header in headers {
        let header = header.strip_prefix(&ours).expect("it is there");
        let header = header.display();
        let text = temporary("header.cpp");
        fs::write(&text, format!("#include <{header}>\n")).expect("there is room");
        let mut cc = Command::new("c++");
        cc.args([
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
            "-fsyntax-only",
        ]);
        cc.arg("-I").arg(&include);
        cc.arg("-I").arg(include.join("tickwire-cpp"));
        succeed(cc.arg(&text));
    }
}

fn collect(folder: &Path, headers: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it can be read").path();
        match path.is_dir() {
            true => collect(&path, headers),
            false => headers.push(path),
        }
    }
}

/// A program elsewhere finds the package, its version and its targets.
#[test]
fn cmake_finds_the_package() {
    let project = temporary("cmake");
    fs::create_dir_all(&project).expect("the folder can be made");
    let lists = "\
cmake_minimum_required(VERSION 3.16)
project(finds CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(tickwire 0.1 REQUIRED)
add_executable(finds finds.cpp)
target_link_libraries(finds PRIVATE tickwire::tickwire)
";
    let main = "\
#include <cstdio>
#include <dds/dds.hpp>
int main() { std::puts(tw_version()); }
";
    fs::write(project.join("CMakeLists.txt"), lists).expect("there is room");
    fs::write(project.join("finds.cpp"), main).expect("there is room");
    let built = project.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&project).arg("-B").arg(&built);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installed().display()));
    succeed(&mut configure);
    succeed(Command::new("cmake").arg("--build").arg(&built));
    let told = succeed(&mut program(&built.join("finds"))).stdout;
    assert_eq!(
        String::from_utf8_lossy(&told),
        concat!(env!("CARGO_PKG_VERSION"), "\n")
    );
    assert!(source("examples/CMakeLists.txt").exists());
}

/// With what sanitizers add, g++ takes members of `std::optional` that are not there for not initialized.
const SANITIZED: [&str; 4] = [
    "-O1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-Wno-maybe-uninitialized",
];
