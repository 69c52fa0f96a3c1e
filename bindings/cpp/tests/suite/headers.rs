//! What compilers say of headers and of what IDL becomes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{generate, installed, source, succeed, temporary};

/// The other compiler takes headers, generated ones and programs without a warning, too. It does so, as well, with what it
/// builds to be run.
#[test]
fn clang_takes_it_without_a_warning() {
    let folder = temporary("clang.idl");
    fs::create_dir_all(&folder).expect("the folder can be made");
    for (program, idl) in [
        ("tests/programs/lifetimes.cpp", "tests/programs/psm.idl"),
        ("tests/programs/large.cpp", "tests/programs/large.idl"),
        ("tests/programs/loans.cpp", "tests/programs/psm.idl"),
        ("tests/programs/text.cpp", "tests/programs/text.idl"),
        ("tests/programs/print.cpp", "tests/programs/print.idl"),
        ("examples/typed_publisher.cpp", "examples/MarketData.idl"),
        ("examples/typed_subscriber.cpp", "examples/MarketData.idl"),
        ("examples/market_data.cpp", "examples/Quotes.idl"),
        ("examples/request_reply.cpp", "examples/RequestReply.idl"),
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

/// Each macro that the headers bring along, as the name of a member, a literal and a type.
#[test]
fn no_macro_of_the_headers_takes_a_name() {
    let folder = temporary("macros.idl");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let text = folder.join("macros.cpp");
    let headers = ["dds/dds.hpp", "iostream", "cmath", "climits", "cfloat"];
    let mut lines: String = headers
        .iter()
        .map(|it| format!("#include <{it}>\n"))
        .collect();
    fs::write(&text, &lines).expect("there is room");
    let include = installed().join("include");
    let compiler = |standard: &str| {
        let mut cc = Command::new("c++");
        cc.arg(format!("-std={standard}")).arg("-pthread");
        cc.arg("-I").arg(&include);
        cc.arg("-I").arg(include.join("tickwire-cpp"));
        cc
    };
    let told = succeed(compiler("gnu++17").args(["-dM", "-E"]).arg(&text)).stdout;
    let told = String::from_utf8(told).expect("it is text");
    let names = told
        .lines()
        .filter_map(|line| line.split([' ', '(']).nth(1));
    let names = names.filter(|it| {
        !["_", "TW_", "TICKWIRE_"]
            .iter()
            .any(|ours| it.starts_with(ours))
    });
    let idl = names.enumerate().map(|(at, name)| {
        format!("module m{at} {{ module e {{ enum E {{ {name} }}; }}; struct S {{ long {name}; }}; }};\nmodule n{at} {{ struct {name} {{ long x; }}; }};\n")
    });
    let idl: String = idl.collect();
    assert!(idl.contains(" EIO ") && idl.contains(" INT32_MAX ") && idl.contains(" NAN "));
    let file = folder.join("macros.idl");
    fs::write(&file, idl).expect("there is room");
    generate(&file, &folder);
    lines.push_str("#include \"macros.hpp\"\n");
    fs::write(&text, &lines).expect("there is room");
    for standard in ["c++17", "gnu++17"] {
        succeed(compiler(standard).arg("-fsyntax-only").arg(&text));
    }
}
