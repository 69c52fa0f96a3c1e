//! What the headers declare is what the library has.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
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
    HEADERS.into_iter().flat_map(functions_of).collect()
}

/// The headers of the library.
const HEADERS: [&str; 2] = ["include/tickwire.h", "include/tickwire/exchange.h"];

fn functions_of(header: &str) -> Vec<Function> {
    let text = fs::read_to_string(source(header)).expect("the header is there");
    let code = without_comments(&text);
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

/// Structs are laid out on both sides as they are declared: what they have, in which order, of which types.
#[test]
fn structs_of_the_headers_are_those_of_the_library() {
    let headers = HEADERS.map(|header| fs::read_to_string(source(header)).expect("it is there"));
    let headers = without_comments(&headers.concat());
    let rust = rust_sources(&source("src"));
    let mut compared = 0;
    for declared in headers.split("struct ").skip(1) {
        // Of handles there is nothing but the name, and some functions are given a struct.
        let end = declared.find([';', ',', ')']).expect("it ends");
        let Some((name, _)) = declared[..end].split_once(" {") else {
            continue;
        };
        let end = declared.find(&format!("}} {name};"));
        let fields = &declared[name.len() + 2..end.expect("it is a `typedef` of that name")];
        let (_, defined) = rust
            .split_once(&format!("/// `{name}`.\n"))
            .unwrap_or_else(|| panic!("{name} is not in the library"));
        let (_, defined) = defined.split_once("struct ").expect("a struct follows");
        let defined = match defined.find('(') < defined.find('{') {
            // What is nothing but bytes has no names.
            true => vec![("value".to_owned(), "bytes".to_owned())],
            false => {
                let (_, defined) = defined.split_once('{').expect("it has fields");
                let (defined, _) = defined.split_once('}').expect("it ends");
                let grows = rust.contains(&format!("growing! {{\n    /// `{name}`."));
                let size = grows.then(|| ("size".to_owned(), "usize".to_owned()));
                size.into_iter().chain(rust_fields(defined)).collect()
            }
        };
        assert_eq!(c_fields(fields), defined, "{name}");
        compared += 1;
    }
    assert!(compared >= 18, "{compared} were found");
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("/*") {
        code.push_str(before);
        rest = behind.split_once("*/").expect("comments end").1;
    }
    code.push_str(rest);
    code
}

/// All of the library's own text.
fn rust_sources(folder: &Path) -> String {
    let files = fs::read_dir(folder).expect("it is there");
    let paths = files.map(|file| file.expect("it can be read").path());
    let texts = paths.map(|path| match path.is_dir() {
        true => rust_sources(&path),
        false => fs::read_to_string(path).expect("it is text"),
    });
    texts.collect()
}

/// Names and types in C, the latter as Rust has them.
fn c_fields(fields: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for field in fields.split(';').map(str::trim) {
        if let Some((_, function)) = field.split_once("(*") {
            let name = function.split(')').next().unwrap_or_default();
            all.push((name.to_owned(), "function".to_owned()));
            continue;
        }
        if field.is_empty() {
            continue;
        }
        let parts = field.rsplit_once([' ', '*']).map(|(ty, last)| {
            // Several names of one type: `uint64_t a, b`.
            let first = field.find(',').map_or(ty.len(), |comma| {
                field[..comma].rfind(' ').unwrap_or_default()
            });
            match field.contains(',') {
                true => (&field[..first], &field[first..]),
                false => (&field[..ty.len() + 1], last),
            }
        });
        let (ty, names) = parts.expect("a type and a name");
        for name in names.split(',').map(str::trim) {
            let (name, is_array) = match name.split_once('[') {
                Some((name, _)) => (name, true),
                None => (name, false),
            };
            let ty = match ty.trim() {
                _ if is_array => "bytes",
                ty if ty.ends_with('*') => "pointer",
                "uint32_t" => "u32",
                "int32_t" => "i32",
                "uint64_t" => "u64",
                "int64_t" => "i64",
                "size_t" => "usize",
                "tw_guid" => "Guid",
                "tw_instance" => "Instance",
                "tw_sample_info" => "Info",
                other => panic!("{other} of {name}"),
            };
            all.push((name.to_owned(), ty.to_owned()));
        }
    }
    all
}

fn rust_fields(fields: &str) -> Vec<(String, String)> {
    let lines = fields.lines().map(str::trim);
    let text: String = lines.filter(|line| !line.starts_with("//")).collect();
    let fields = text.split(',').filter(|field| !field.is_empty());
    let fields = fields.map(|field| {
        let (name, ty) = field.split_once(':').expect("a name and a type");
        let name = name.trim().trim_start_matches("pub(crate) ");
        let ty = match ty.trim() {
            ty if ty.starts_with('[') => "bytes",
            "Pointer" | "Texts" | "Handle" | "*mut c_void" => "pointer",
            ty if ty == "Free" || ty.contains("Callback") => "function",
            ty => ty,
        };
        (name.to_owned(), ty.to_owned())
    });
    fields.collect()
}
