//! The C of the corpus is that which is kept in tests/golden_c, and compilers of C and C++ take it
//! without a warning; what C cannot have is told. To keep what there is now: `TICKWIRE_BLESS=1 cargo
//! test -p tickwire-idl`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tickwire_idl::{CSource, Compilation, Files, Options, compile};

use crate::corpus::CORPUS;
use crate::support::good;

pub(crate) fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn c(compilation: &Compilation, name: &str) -> CSource {
    compilation.c(name).unwrap_or_else(|found| {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        panic!("{}", found.join("\n"))
    })
}

fn corpus() -> Vec<(String, CSource)> {
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
        let both = c(&compilation, &stem);
        (stem.into_owned(), both)
    });
    all.collect()
}

#[test]
fn c_is_as_it_is_kept() {
    for (name, both) in corpus() {
        for (text, ending) in [(&both.header, "h"), (&both.source, "c")] {
            let golden = manifest()
                .join("tests/golden_c")
                .join(format!("{name}.{ending}"));
            if env::var_os("TICKWIRE_BLESS").is_some() {
                fs::write(&golden, text).expect("the golden file can be written");
            }
            let kept = fs::read_to_string(&golden).unwrap_or_default();
            assert!(
                *text == kept,
                "{name} gives other C than {}",
                golden.display()
            );
        }
    }
}

/// Compiles a source file in a folder with all warnings.
pub(crate) fn compiles(compiler: &str, standard: &str, language: &str, source: &Path) {
    let include = manifest().join("../../bindings/c/include");
    let compiled = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-pedantic", "-Werror"])
        // What a variable has is known only where code is made.
        .arg(if language == "c" {
            "-O1"
        } else {
            "-fsyntax-only"
        })
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

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

pub(crate) fn is_there(compiler: &str) -> bool {
    let version = Command::new(compiler).arg("--version").output();
    version.is_ok_and(|version| version.status.success())
}

#[test]
fn compilers_take_it_without_a_warning() {
    let folder = folder("c-corpus");
    for (name, both) in corpus() {
        let source = folder.join(format!("{name}.c"));
        fs::write(folder.join(format!("{name}.h")), &both.header).expect("it can be written");
        fs::write(&source, &both.source).expect("it can be written");
        compiles("gcc", "-std=c11", "c", &source);
        compiles("g++", "-std=c++17", "c++", &source);
        if is_there("clang") {
            compiles("clang", "-std=c11", "c", &source);
            compiles("clang++", "-std=c++17", "c++", &source);
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
        (
            "interface I { void f(); };",
            "the interface `I` has no code in C",
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
        (
            "struct S { @try_construct(TRIM) string<3> a; };",
            "`@try_construct` is not supported in C yet",
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
