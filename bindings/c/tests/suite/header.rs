//! What the headers declare is what the library has.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::common::{installed, source, succeed};

/// A function that a header declares.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The types and names of the arguments, as they are written.
    pub(crate) arguments: Vec<String>,
}

/// All functions, in the order of the headers.
pub(crate) fn functions() -> Vec<Function> {
    let headers = ["include/tickwire.h", "include/tickwire/exchange.h"];
    headers.into_iter().flat_map(functions_of).collect()
}

fn functions_of(header: &str) -> Vec<Function> {
    let text = fs::read_to_string(source(header)).expect("the header is there");
    let mut code = String::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("/*") {
        code.push_str(before);
        rest = behind.split_once("*/").expect("comments end").1;
    }
    code.push_str(rest);
    let lines = code.lines().filter(|line| !line.starts_with('#'));
    let code = lines.collect::<Vec<_>>().join(" ");
    let declarations = code.split(';').map(str::trim);
    let declarations = declarations.filter_map(|declaration| {
        let (before, arguments) = declaration.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        let is_function = before.starts_with("tw_result") || before.starts_with("const char");
        let arguments = arguments.strip_suffix(')')?;
        (is_function && name.starts_with("tw_")).then(|| Function {
            name: name.to_owned(),
            arguments: split(arguments),
        })
    });
    declarations.collect()
}

/// Arguments, of which one may be a function.
fn split(arguments: &str) -> Vec<String> {
    let mut depth = 0;
    let mut split = vec![String::new()];
    for char in arguments.chars() {
        depth += i32::from(char == '(') - i32::from(char == ')');
        match char {
            ',' if depth == 0 => split.push(String::new()),
            _ => split.last_mut().expect("there is one").push(char),
        }
    }
    let words = |argument: &String| argument.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut split: Vec<_> = split.iter().map(words).collect();
    split.retain(|argument| argument != "void");
    split
}

#[test]
fn what_the_headers_declare_is_what_the_library_exports() {
    let declared: BTreeSet<_> = functions().into_iter().map(|it| it.name).collect();
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only", "--format=posix"]);
    let symbols = succeed(nm.arg(installed().join("lib/libtickwire.so"))).stdout;
    let symbols = String::from_utf8(symbols).expect("names are text");
    let names = symbols.lines().filter_map(|line| line.split(' ').next());
    let exported: BTreeSet<_> = names.map(str::to_owned).collect();
    assert_eq!(declared, exported);
    assert!(declared.len() <= 150, "{} are too many", declared.len());
}

#[test]
fn the_headers_are_c_and_cpp() {
    let languages = [
        ("cc", "c", "-std=c11"),
        ("cc", "c", "-std=c17"),
        ("c++", "c++", "-std=c++11"),
        ("c++", "c++", "-std=c++20"),
    ];
    for (compiler, language, standard) in languages {
        let mut compile = Command::new(compiler);
        compile.args([
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
            "-fsyntax-only",
            standard,
        ]);
        compile
            .arg("-I")
            .arg(source("include"))
            .args(["-x", language]);
        succeed(compile.arg(source("tests/programs/includes.c")));
    }
}

#[test]
fn the_library_names_its_version() {
    let mut readelf = Command::new("readelf");
    let read = succeed(
        readelf
            .arg("-d")
            .arg(installed().join("lib/libtickwire.so")),
    )
    .stdout;
    let read = String::from_utf8_lossy(&read);
    assert!(read.contains("[libtickwire.so.0]"), "{read}");
    assert!(installed().join("lib/libtickwire.so.0").exists());
}
