//! Compilers take the C++ of the corpus without a warning; what C++ cannot have is told.

use std::fs;

use crate::c::{compiles, is_there};
use crate::corpus::corpus;
use crate::support::{folder, good, told};

/// All of the corpus in one program, which uses no more than the headers.
#[test]
fn compilers_of_cpp_take_it_without_a_warning() {
    let folder = folder("cpp-corpus");
    let mut main = String::new();
    for (name, compilation) in corpus(&[], "hpp") {
        let text = compilation.cpp(&name).unwrap_or_else(|found| told(&found));
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
        ("interface I {};", "the interface `I` has no operations"),
        (
            "interface I { void f(in long double a); };",
            "`long double` has no encoding here",
        ),
        (
            "interface I { void wait_for_service(); };",
            "`wait_for_service` of `I` means something else in its client",
        ),
        (
            "interface I { void f(); }; struct IClient { long a; };",
            "`IClient` and `I` both have `::IClient` in C++",
        ),
        (
            "exception E { long what; };",
            "two members of `E` have `what` in C++",
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
    ] {
        let told = refused(text);
        assert!(told.contains(expected), "{text}: {told}");
    }
}
