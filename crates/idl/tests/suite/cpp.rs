//! The C++ of the corpus is that which is kept in tests/golden_cpp, and compilers take it without a
//! warning; what C++ cannot have is told. To keep what there is now: `TICKWIRE_BLESS=1 cargo test -p
//! tickwire-idl`.

use std::path::Path;
use std::{env, fs};

use tickwire_idl::{Compilation, Files, Options, compile};

use crate::c::{compiles, folder, is_there, manifest};
use crate::corpus::CORPUS;
use crate::support::good;

fn cpp(compilation: &Compilation, name: &str) -> String {
    compilation.cpp(name).unwrap_or_else(|found| {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        panic!("{}", found.join("\n"))
    })
}

fn corpus() -> Vec<(String, String)> {
    let options = Options {
        search: vec!["tests/corpus/ros".into()],
        ..Options::default()
    };
    let files = CORPUS.iter().chain(&["c_only.idl"]);
    let all = files.map(|name| {
        // Relative, since generated text names it.
        let path = Path::new("tests/corpus").join(name);
        let compilation = compile(&[&path], &options, &mut Files);
        let compilation = compilation.unwrap_or_else(|error| panic!("{error}"));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = cpp(&compilation, &stem);
        (stem.into_owned(), text)
    });
    all.collect()
}

#[test]
fn cpp_is_as_it_is_kept() {
    for (name, text) in corpus() {
        let golden = manifest().join(format!("tests/golden_cpp/{name}.hpp"));
        if env::var_os("TICKWIRE_BLESS").is_some() {
            fs::write(&golden, &text).expect("the golden file can be written");
        }
        let kept = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            text == kept,
            "{name} gives other C++ than {}",
            golden.display()
        );
    }
}

/// All of the corpus in one program, which uses no more than the headers.
#[test]
fn compilers_of_cpp_take_it_without_a_warning() {
    let folder = folder("cpp-corpus");
    let mut main = String::new();
    for (name, text) in corpus() {
        fs::write(folder.join(format!("{name}.hpp")), text).expect("it can be written");
        // Two of them have some types of the same names.
        if name != "Complex" {
            main.push_str(&format!("#include \"{name}.hpp\"\n"));
        }
    }
    let all = folder.join("all.cpp");
    fs::write(&all, main + "int main() { return 0; }\n").expect("it can be written");
    let complex = folder.join("complex.cpp");
    fs::write(&complex, "#include \"Complex.hpp\"\n").expect("it can be written");
    for source in [all, complex] {
        compiles("g++", "-std=c++17", "c++", &source);
        compiles("g++", "-std=c++20", "c++", &source);
        if is_there("clang++") {
            compiles("clang++", "-std=c++17", "c++", &source);
        }
    }
}

fn refused(text: &str) -> String {
    match good(text).cpp("test") {
        Ok(made) => panic!("{text} gives {made}"),
        Err(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            found.join("\n")
        }
    }
}

#[test]
fn what_cpp_cannot_have_is_told_with_its_place() {
    for (text, expected) in [
        (
            "struct S { long long a; long double b; };",
            "test.idl:1:25: error: `long double` has no encoding here",
        ),
        (
            "interface I { void f(); };",
            "the interface `I` has no code in C++",
        ),
        ("struct S {};", "the struct `S` has no members"),
        (
            "struct S { long a; long a_; };",
            "two members of `S` have `a_` in C++",
        ),
        (
            "bitmask Phases { a }; struct PhasesBits { long x; };",
            "`PhasesBits` and `Phases` both have `::PhasesBits` in C++",
        ),
        (
            "union U switch (long long) { case 5000000000: long a; };",
            "the label 5000000000 has more than 32 bits",
        ),
        (
            "struct N; struct N { @optional @external N two[2]; };",
            "`N` contains arrays of itself",
        ),
        (
            "bitset B { bitfield<4>; };",
            "no field of the bitset `B` has a name",
        ),
        (
            "struct S { @try_construct(TRIM) string<3> a; };",
            "`@try_construct` is not supported in C++ yet",
        ),
    ] {
        let told = refused(text);
        assert!(told.contains(expected), "{text}: {told}");
    }
}
