//! Mono's compiler, where it is there, takes the C# of the corpus without a warning; what C# cannot have
//! is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tickwire_idl::Compilation;

use crate::c::manifest;
use crate::corpus::corpus;
use crate::support::{folder, good, told};

fn csharp(compilation: &Compilation) -> String {
    compilation.csharp().unwrap_or_else(|found| told(&found))
}

/// Runs Mono's compiler; nothing where it is not there.
fn compiles(arguments: &[&Path]) {
    let compiled = Command::new("mcs")
        .args([
            "-langversion:7.2",
            "-target:library",
            "-warn:4",
            "-warnaserror",
        ])
        .args(arguments)
        .output();
    let Ok(compiled) = compiled else { return };
    let told = String::from_utf8_lossy(&compiled.stderr);
    let shown = String::from_utf8_lossy(&compiled.stdout);
    assert!(compiled.status.success(), "{told}{shown}");
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "cs") {
            found.push(path);
        }
    }
}

#[test]
fn compilers_take_it_without_a_warning() {
    let folder = folder("csharp-corpus");
    let dll = library(&folder);
    for (name, compilation) in corpus(&["services.idl"], "cs") {
        let source = folder.join(format!("{name}.cs"));
        fs::write(&source, csharp(&compilation)).expect("it can be written");
        compiles_beside(&dll, &source);
    }
}

/// Compiles the package for .NET in a folder, for what is made of IDL.
pub(crate) fn library(folder: &Path) -> PathBuf {
    let mut library = Vec::new();
    sources(&manifest().join("../../bindings/dotnet/src"), &mut library);
    let dll = folder.join("Tickwire.dll");
    let out = PathBuf::from(format!("-out:{}", dll.display()));
    let mut arguments: Vec<&Path> = vec![Path::new("-unsafe"), &out];
    arguments.extend(library.iter().map(PathBuf::as_path));
    compiles(&arguments);
    dll
}

/// Compiles what is made of IDL.
pub(crate) fn compiles_beside(dll: &Path, source: &Path) {
    let reference = PathBuf::from(format!("-r:{}", dll.display()));
    let out = PathBuf::from(format!("-out:{}", source.with_extension("dll").display()));
    compiles(&[&out, &reference, source]);
}

fn refused(text: &str) -> String {
    match good(text).csharp() {
        Ok(text) => panic!("{text}"),
        Err(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            found.join("\n")
        }
    }
}

#[test]
fn no_text_of_idl_begins_a_line() {
    let idl = "/* a\u{2028}class X {}\u{2029}class Y {}\u{85}class Z {} \u{ffff} */\nstruct A { long a; };\n\
               const string B = \"\u{2028}class X {}\";";
    let text = csharp(&good(idl));
    for line in ['\u{2028}', '\u{2029}', '\u{85}', '\u{ffff}'] {
        assert!(!text.contains(line), "{text}");
    }
    assert!(
        text.contains("class Z {}") && text.contains("\\u2028class X {}"),
        "{text}"
    );
}

#[test]
fn what_csharp_cannot_have_is_told_with_its_place() {
    assert_eq!(
        refused("module m {\n  struct S { long long a; long double b; };\n};"),
        "test.idl:2:27: error: `long double` has no encoding here
  |
2 |   struct S { long long a; long double b; };
  |                           ^^^^
  help: take `double`"
    );
    for (text, expected) in [
        ("interface I {};", "the interface `I` has no operations"),
        (
            "interface I { void f(in long double a); };",
            "`long double` has no encoding here",
        ),
        (
            "interface I { void f(); void IClient(); };",
            "`IClient` of `I` means something else in its client",
        ),
        (
            "interface I { void Dispose(); void Dispose_(); };",
            "`Dispose_` of `I` means something else in its client",
        ),
        (
            "interface I { void f(); void fAsync(); };",
            "`fAsync` of `I` means something else in its client",
        ),
        (
            "interface I { void f(out long Equals, inout long Equals_); };",
            "two parameters of `f` are `Equals_` in C#",
        ),
        (
            "interface I { long f(out long a); }; struct I_f_Out { long a; };",
            "`I_f_Out` and `I` both have `I_f_Out` in C#",
        ),
        (
            "interface I { void f(); }; struct IClient { long a; };",
            "`IClient` and `I` both have `IClient` in C#",
        ),
        (
            "module m { interface I { enum A { B }; void f(); }; module ITypes { const long C = 1; }; };",
            "the module `m::ITypes` is called as a class that there is for `m::I` in C#",
        ),
        (
            "exception E { long Message; long Message_; };",
            "two members of `E` are `Message_` in C#",
        ),
        ("struct S {};", "the struct `S` has no members"),
        (
            "struct A { long x; }; struct ASupport { long x; };",
            "`ASupport` and `A` both have `ASupport` in C#",
        ),
        (
            "struct S { long S; long S_; };",
            "two members of `S` are `S_` in C#",
        ),
        (
            "struct S { long Equals; @key string Equals_; };",
            "two members of `S` are `Equals_` in C#",
        ),
        (
            "struct Equals { long a; };",
            "`Equals` is called as what generated classes have",
        ),
        (
            "module m { struct Constants { long a; }; };",
            "`m::Constants` is called as what generated classes have",
        ),
        (
            "module m { struct S { long a; }; module SSupport { struct T { long a; }; }; };",
            "the module `m::SSupport` is called as a class that there is for `m::S` in C#",
        ),
        (
            "module m { const long A = 1; module Constants { struct T { long a; }; }; };",
            "the module `m::Constants` is called as a class that there is for `m::A` in C#",
        ),
        (
            "module System { struct T { long a; }; };",
            "`System` is the name of another namespace in C#",
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
            "struct S { octet a[2147483647]; };",
            "this array has more elements than arrays of C#",
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
