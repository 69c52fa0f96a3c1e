//! Compilers of C and C++ take the C of the corpus without a warning; what C cannot have is told.

use std::fs;
use std::path::Path;
use std::process::Command;

use tickwire_idl::{CSource, Compilation};

use crate::corpus::corpus;
use crate::support::{folder, good, told};

pub(crate) fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn c(compilation: &Compilation, name: &str) -> CSource {
    compilation.c(name).unwrap_or_else(|found| told(&found))
}

/// Compiles a source file in a folder with all warnings.
pub(crate) fn compiles(compiler: &str, standard: &str, language: &str, source: &Path) {
    // What a variable has is known only where code is made.
    let how = if language == "c" { "-O1" } else { READ };
    run(compiler, &[standard, how], language, source);
}

/// The same without making code.
pub(crate) fn reads(compiler: &str, standard: &str, language: &str, source: &Path) {
    run(compiler, &[standard, READ], language, source);
}

fn run(compiler: &str, options: &[&str], language: &str, source: &Path) {
    let include = manifest().join("../../bindings/c/include");
    let compiled = Command::new(compiler)
        .args(options)
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror"])
        .args(["-x", language, "-c", "-o", "/dev/null", "-I"])
        .arg(include)
        .arg("-I")
        .arg(manifest().join("../../bindings/cpp/include"))
        .arg(source)
        .output();
    let compiled = compiled.unwrap_or_else(|error| panic!("{compiler}: {error}"));
    let told = String::from_utf8_lossy(&compiled.stderr);
    assert!(
        compiled.status.success(),
        "{compiler} {}: {told}",
        source.display()
    );
}

const READ: &str = "-fsyntax-only";

pub(crate) fn is_there(compiler: &str) -> bool {
    let version = Command::new(compiler).arg("--version").output();
    version.is_ok_and(|version| version.status.success())
}

/// Each file by one compiler, which sees more in small ones, and all of the corpus in one program by the others.
#[test]
fn compilers_take_it_without_a_warning() {
    let folder = folder("c-corpus");
    let mut main = String::new();
    for (name, compilation) in corpus(&[], "c") {
        let both = c(&compilation, &name);
        fs::write(folder.join(format!("{name}.h")), &both.header).expect("it can be written");
        let source = folder.join(format!("{name}.c"));
        fs::write(&source, &both.source).expect("it can be written");
        compiles("gcc", "-std=c11", "c", &source);
        // Two of them have some types of the same names.
        if name != "Complex" {
            main.push_str(&format!("#include \"{name}.c\"\n"));
        }
    }
    let all = folder.join("all.c");
    fs::write(&all, main).expect("it can be written");
    for source in [all, folder.join("Complex.c")] {
        compiles("g++", "-std=c++17", "c++", &source);
        if is_there("clang") {
            compiles("clang", "-std=c11", "c", &source);
            compiles("clang++", "-std=c++17", "c++", &source);
        } else {
            compiles("gcc", "-std=c11", "c", &source);
        }
    }
}

/// Headers of several files can be in one program, if no type is in two of them.
#[test]
fn headers_stand_beside_each_other() {
    let folder = folder("c-beside");
    for (name, module) in [("one", "one"), ("two", "two")] {
        let text = format!(
            "module {module} {{ struct T {{ sequence<sequence<octet> > a; map<long, string> b; }}; }};"
        );
        let both = c(&good(&text), name);
        fs::write(folder.join(format!("{name}.h")), &both.header).expect("it can be written");
    }
    let main = folder.join("main.c");
    let text = "#include \"one.h\"\n#include \"two.h\"\n#include \"one.h\"\nint main(void) { return 0; }\n";
    fs::write(&main, text).expect("it can be written");
    compiles("gcc", "-std=c11", "c", &main);
    compiles("g++", "-std=c++17", "c++", &main);
}

fn refused(text: &str) -> String {
    match good(text).c("test") {
        Ok(both) => panic!("{text} gives {}", both.header),
        Err(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            found.join("\n")
        }
    }
}

#[test]
fn what_c_cannot_have_is_told_with_its_place() {
    assert_eq!(
        refused("module m {\n  struct S { long long a; long double b; };\n};"),
        "test.idl:2:28: error: `long double` has no encoding here
  |
2 |   struct S { long long a; long double b; };
  |                            ^^^^
  help: take `double`"
            .replace("2:28", "2:27")
            .replace(
                "                            ^^^^",
                "                           ^^^^"
            )
    );
    for (text, expected) in [
        ("interface I {};", "the interface `I` has no operations"),
        (
            "interface I { void f(in long double a); };",
            "`long double` has no encoding here",
        ),
        (
            "interface I { void client(); };",
            "`I` would have `I_client` twice in C",
        ),
        (
            "interface I { void context(); };",
            "`I` has `context` twice in C",
        ),
        (
            "interface I { void f(); }; struct I_f { long a; };",
            "`I_f` and `I` both have `I_f` in C",
        ),
        (
            "exception E { long a; }; struct E_raise { long a; };",
            "`E_raise` and `E` both have `E_raise` in C",
        ),
        ("struct S {};", "the struct `S` has no members"),
        (
            "module a { struct b_c { long x; }; }; module a_b { struct c { long x; }; };",
            "`a_b::c` and `a::b_c` both have `a_b_c` in C",
        ),
        (
            "struct A { long x; }; struct A_init { long x; };",
            "`A_init` and `A` both have `A_init` in C",
        ),
        (
            "struct S { long class; long class_; };",
            "two members of `S` are `class_` in C",
        ),
        (
            "struct tw_x { long a; };",
            "`tw_x` is `tw_x` in C, as Tickwire's own names are",
        ),
        (
            "enum E { init }; struct E_s { long a; }; enum F { a, b };",
            "",
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
        if expected.is_empty() {
            c(&good(text), "test");
        } else {
            let told = refused(text);
            assert!(told.contains(expected), "{text}: {told}");
        }
    }
}
