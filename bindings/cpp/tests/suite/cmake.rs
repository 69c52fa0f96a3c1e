//! Projects of CMake find the package, and have it make C++ of IDL.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{installed, program, source, succeed, temporary};

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
    cmake(&project, &built, &[], &[]);
    let told = succeed(&mut program(&built.join("finds"))).stdout;
    assert_eq!(
        String::from_utf8_lossy(&told),
        concat!(env!("CARGO_PKG_VERSION"), "\n")
    );
}

/// Builds targets of a project, or all that it has, with what is installed.
fn cmake(project: &Path, built: &Path, more: &[&str], targets: &[&str]) {
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(project).arg("-B").arg(built);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installed().display()));
    succeed(configure.args(more));
    let mut build = Command::new("cmake");
    build.arg("--build").arg(built);
    if !targets.is_empty() {
        build.arg("--target").args(targets);
    }
    succeed(&mut build);
}

/// The project that the guide takes for a model. One of its programs, as all are made alike, and compiled elsewhere.
#[test]
fn cmake_builds_an_example() {
    let built = temporary("cmake-examples");
    let _ = fs::remove_dir_all(&built);
    let tickwire = format!("-DTICKWIRE_EXECUTABLE={}", command().display());
    let examples = source("examples");
    cmake(&examples, &built, &[&tickwire], &["request_reply"]);
    let told = succeed(program(&built.join("request_reply")).arg("135")).stdout;
    assert!(told.starts_with(b"1 cost 101.25\n"));
}

/// Files that include each other become types that are there once, and headers by the names of all files.
#[test]
fn cmake_makes_what_files_share_once() {
    let project = temporary("cmake-idl");
    let _ = fs::remove_dir_all(&project);
    fs::create_dir_all(project.join("shared")).expect("the folder can be made");
    let lists = "\
cmake_minimum_required(VERSION 3.16)
project(shares CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(tickwire REQUIRED)
add_executable(shares shares.cpp)
target_link_libraries(shares PRIVATE tickwire::tickwire)
tickwire_generate(shares quotes.v1.idl trades.idl INCLUDE shared)
";
    let main = "\
#include \"trades.hpp\"
#include \"quotes.v1.hpp\"
int main() { return a::Quote(shared::Instrument(\"\"), 0) == b::Trade().at() ? 0 : 1; }
";
    for (name, text) in [
        ("CMakeLists.txt", lists),
        ("shares.cpp", main),
        (
            "shared/common.idl",
            "#pragma once\nmodule shared { struct Instrument { string symbol; }; };\n",
        ),
        (
            "quotes.v1.idl",
            "#pragma once\n#include \"common.idl\"\nmodule a { struct Quote { shared::Instrument of; double bid; }; };\n",
        ),
        (
            "trades.idl",
            "#include \"common.idl\"\n#include \"quotes.v1.idl\"\nmodule b { struct Trade { a::Quote at; }; };\n",
        ),
    ] {
        fs::write(project.join(name), text).expect("there is room");
    }
    let tickwire = format!("-DTICKWIRE_EXECUTABLE={}", command().display());
    let built = project.join("build");
    cmake(&project, &built, &[&tickwire], &[]);
    succeed(&mut program(&built.join("shares")));
    // What is included is as good as what is named.
    let changed = "#pragma once\nmodule shared { struct Instrument { string<5> symbol; }; };\n";
    fs::write(project.join("shared/common.idl"), changed).expect("there is room");
    cmake(&project, &built, &[&tickwire], &[]);
    let header = fs::read_to_string(built.join("shares-idl/quotes.v1.hpp"));
    assert!(header.expect("it was made").contains("At most 5 bytes"));
}

/// The program `tickwire`.
fn command() -> PathBuf {
    // Of the whole workspace, so that its dependencies have the features with which tests have built them.
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    succeed(build.args(["build", "--quiet", "--workspace", "--bin", "tickwire"]));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("../debug/tickwire")
}
