//! What is wrong is told with its place and what to do. The cases are in tests/errors: each `.idl`
//! has what the compiler says of it beside it. To keep what it says now:
//! `TICKWIRE_BLESS=1 cargo test -p tickwire-idl`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use tickwire_idl::{CompileError, Files, Options, compile};

use crate::support::{bad, bad_files, good};

#[test]
fn errors_are_told_as_they_are_kept() {
    let directory = Path::new("tests/errors");
    let entries = fs::read_dir(directory).expect("there are cases");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "idl"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let mut said = String::new();
        match compile(&[&path], &Options::default(), &mut Files) {
            Err(error) => writeln!(said, "{error}").expect("memory takes all"),
            Ok(compilation) => {
                let refused = compilation.rust().err().unwrap_or_default();
                for found in compilation.warnings.iter().chain(&refused) {
                    writeln!(said, "{found}").expect("memory takes all");
                }
            }
        }
        let golden = path.with_extension("txt");
        if env::var_os("TICKWIRE_BLESS").is_some() {
            fs::write(&golden, &said).expect("the golden file can be written");
        }
        let kept = fs::read_to_string(&golden).unwrap_or_default();
        assert!(said == kept, "{} gives\n{said}", path.display());
    }
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let none: &[&str] = &["tests/nothing.idl"];
    let error = compile(none, &Options::default(), &mut Files).expect_err("there is none");
    assert!(matches!(error, CompileError::Unreadable { .. }), "{error}");
}

#[test]
fn there_are_at_most_fifty_errors() {
    let text = "struct A { Unknown a; };\n".repeat(500);
    let said = bad(&text);
    assert_eq!(said.matches(": error: ").count(), 50);
}

#[test]
fn nesting_is_bounded() {
    let types = format!(
        "struct A {{ {} long {} a; }};",
        "sequence<".repeat(10_000),
        ">".repeat(10_000)
    );
    assert!(bad(&types).contains("this is nested too deep"));
    let parens = format!(
        "const long A = {}1{};",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert!(bad(&parens).contains("this is nested too deep"));
    let signs = format!("const long A = {}1;", "-".repeat(100_000));
    assert!(bad(&signs).contains("this is nested too deep"));
    let sum = format!("const long A = {}1;", "1+".repeat(100_000));
    assert!(bad(&sum).contains("this is too long"));
    let modules = "module a { ".repeat(100_000);
    assert!(bad(&modules).contains("this is nested too deep"));
    let mut typedefs = String::from("typedef long t0;\n");
    for level in 1..200 {
        writeln!(typedefs, "typedef sequence<t{}> t{level};", level - 1).expect("memory takes all");
    }
    assert!(bad(&typedefs).contains("the type of this is too large"));
}

#[test]
fn chains_of_definitions_are_not_nesting() {
    let mut chain = String::from("struct s0 { long a; };\n");
    for level in 1..20_000 {
        writeln!(chain, "struct s{level} {{ s{} a; }};", level - 1).expect("memory takes all");
    }
    good(&chain);
}

#[test]
fn files_that_include_each_other_are_told() {
    let said = bad_files(&[
        ("a.idl", "#include \"b.idl\"\n"),
        ("b.idl", "#include \"a.idl\"\n"),
    ]);
    assert!(
        said.contains("files include each other without end"),
        "{said}"
    );
    assert_eq!(said.matches("note: included at").count(), 3);
}

#[test]
fn macros_are_bounded() {
    let mut doubling = String::from("#define A0 x x\n");
    for level in 1..40 {
        writeln!(doubling, "#define A{level} A{0} A{0}", level - 1).expect("memory takes all");
    }
    doubling.push_str("A39\n");
    assert!(bad(&doubling).contains("macros make too much of this text"));
    let mut pasting = String::from("#define P(x) Q(x)\n#define Q(x) x##x\n");
    let uses = format!("{}a{}", "P(".repeat(30), ")".repeat(30));
    pasting.push_str(&uses);
    assert!(bad(&pasting).contains("macros make too much of this text"));
    let nested = format!("#define F(x) x\n{}1{}", "F(".repeat(1000), ")".repeat(1000));
    assert!(bad(&nested).contains("macros are nested too deep"));
}
