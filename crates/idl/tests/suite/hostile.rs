//! Texts that were written to make the compiler run or grow without end. Each ends with a model or an
//! error; what takes a time that is the square of the text would not end here.

use std::fmt::Write;

use tickwire_idl::model::DefinitionKind;

use crate::support::{bad, bad_files, good};

/// A text of this many parts.
fn repeated(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect()
}

#[test]
fn a_line_may_be_as_long_as_a_file() {
    let text = repeated(100_000, |i| {
        format!("struct s{i}{{long ä;}};").replace('ä', "a")
    });
    let comment = "/*ä*/";
    let compilation = good(&format!("{comment}{text}"));
    let (_, last) = compilation.model.find("s99999").expect("it is defined");
    let expected = 5 + text.find("s99999{").expect("it is there") as u32 + 1;
    assert_eq!((last.position.line, last.position.column), (1, expected));
}

#[test]
fn tokens_are_bounded() {
    let said = bad(&format!(
        "struct A {{ long a; }};{}",
        ";".repeat((1 << 20) + 1)
    ));
    assert!(
        said.contains("this is more text than any type has"),
        "{said}"
    );
}

#[test]
fn what_is_repeated_is_bounded() {
    let megabyte = "a ".repeat(1 << 19);
    let names = repeated(200, |i| format!("a{i}, ")) + "last";
    for text in [
        format!("struct A {{\n/* {megabyte} */ long {names}; }};"),
        format!("/* {megabyte} */ typedef long {names};"),
        format!("interface A {{\n/* {megabyte} */ attribute long {names}; }};"),
        format!(
            "const string FIRST = \"{megabyte}\";{}",
            repeated(200, |i| format!("const string S{i} = FIRST;"))
        ),
        format!(
            "@annotation a {{ string text default \"{megabyte}\"; }};{}",
            repeated(200, |i| format!("@a struct s{i} {{ long a; }};"))
        ),
        format!("@nobody(\"{megabyte}\") typedef long {names};"),
    ] {
        let said = bad(&text);
        assert!(
            said.contains("this repeats too much text"),
            "{}",
            &text[..40]
        );
    }
}

#[test]
fn names_are_as_long_as_peers_take() {
    let name = "a".repeat(256);
    good(&format!("struct {name} {{ long {name}; }};"));
    let said = bad(&format!("struct A {{ long {name}a; }};"));
    assert!(said.contains("this name is too long"), "{said}");
    let said = bad(&format!("module {name} {{ struct A {{ long a; }}; }};"));
    assert!(said.contains("this name has 259 letters"), "{said}");
}

#[test]
fn inheritance_is_bounded() {
    let members = repeated(2_000, |i| format!("long a{i};"));
    let derived = repeated(2_000, |i| format!("struct d{i} : Base {{ long b; }};"));
    let said = bad(&format!("struct Base {{ {members} }}; {derived}"));
    assert!(said.contains("this inherits too much"), "{said}");
}

#[test]
fn enums_and_unions_may_be_long() {
    let literals = repeated(50_000, |i| format!("l{i},"));
    let cases = repeated(50_000, |i| format!("case l{i}: long m{i};"));
    let text =
        format!("module a {{ enum E {{ {literals} }}; }}; union U switch (a::E) {{ {cases} }};");
    let model = good(&text).model;
    let DefinitionKind::Union(of) = &model.find("U").expect("it is defined").1.kind else {
        panic!("it is a union");
    };
    assert!(of.unlabelled.is_none());
}

#[test]
fn typedefs_of_typedefs_are_bounded() {
    let chain = |count| repeated(count, |i| format!("typedef t{i} t{};", i + 1));
    good(&format!("typedef long t0; {}", chain(48)));
    let said = bad(&format!("typedef long t0; {}", chain(50_000)));
    assert!(
        said.contains("this is a typedef of too many others"),
        "{said}"
    );
}

#[test]
fn annotations_have_few_parameters() {
    let parameters = repeated(10_000, |i| format!("long p{i} default 1;"));
    let said = bad(&format!("@annotation a {{ {parameters} }};"));
    assert!(
        said.contains("an annotation has no more parameters"),
        "{said}"
    );
}

#[test]
fn pragmas_may_be_many() {
    let members = repeated(20_000, |i| format!("long a{i};"));
    let pragmas = repeated(20_000, |i| format!("#pragma keylist A a{i}\n"));
    good(&format!("struct A {{ {members} }};\n{pragmas}"));
    let wrong = pragmas.replace(" a1", " b1");
    let said = bad(&format!("struct A {{ {members} }};\n{wrong}"));
    assert!(
        said.contains("its members are a0, a1, a2, a3, a4, a5, a6, a7\n"),
        "{said}"
    );
}

#[test]
fn names_that_are_not_known_may_be_many() {
    let known = repeated(4_000, |i| format!("struct known_{i} {{ long a; }};"));
    let unknown = repeated(50_000, |i| format!("unknown_{i} a{i};"));
    let said = bad(&format!("{known} struct A {{ {unknown} }};"));
    assert_eq!(said.matches(": error: ").count(), 50);
}

#[test]
fn refusals_are_as_many_as_errors() {
    let sets = repeated(50_000, |i| format!("bitset b{i} {{ bitfield<3>; }};"));
    let refused = good(&sets).rust().expect_err("no field has a name");
    assert_eq!(refused.len(), 50);
}

#[test]
fn rust_is_no_longer_than_a_program() {
    let megabyte = "a ".repeat(1 << 19);
    let derived = repeated(200, |i| format!("struct d{i} : Base {{ long b; }};"));
    let text = format!("struct Base {{\n/* {megabyte} */ long a; }}; {derived}");
    let Err(refused) = good(&text).rust() else {
        panic!("it is too much");
    };
    assert_eq!(refused[0].message, "this is too much text in Rust");
}

#[test]
fn what_is_said_of_a_text_is_one_line_and_shows_what_is_there() {
    let said = bad("#error first \\\ncargo:rustc-env=A=B \u{1b}[2J \u{202e}back\n");
    let first = said.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        "test.idl:1:1: error: first  cargo:rustc-env=A=B \u{fffd}[2J \u{fffd}back"
    );
    let said = bad_files(&[("a\nb.idl", "struct A { B b; };")]);
    assert!(said.starts_with("a\u{fffd}b.idl:1:12: error: "), "{said}");
    let rust = good("/* \u{202e}back */ struct A { long a; };").rust();
    assert!(rust.expect("it is right").contains("/// \u{fffd}back"));
}

#[test]
fn devices_are_read_as_far_as_files_may_go() {
    let error = tickwire_idl::compile(
        &["/dev/zero"],
        &tickwire_idl::Options::default(),
        &mut tickwire_idl::Files,
    );
    let said = error.expect_err("it has no end").to_string();
    assert!(said.contains("this is too much text"), "{said}");
}

#[test]
fn macros_in_their_own_arguments_are_not_expanded_anew() {
    let mut text = String::from("#define f(x) x\n#define A f(A)\n");
    writeln!(text, "const long A = 1;").expect("memory takes all");
    assert!(good(&text).model.find("A").is_some());
}

/// C of what many types need, and of what needs many.
#[test]
fn c_ends_whatever_the_types() {
    let declared = repeated(4_000, |i| format!("struct s{i};"));
    let chain = repeated(4_000, |i| {
        format!(
            "@nested struct s{i} {{ long a; sequence<s{}> next; }};",
            (i + 1) % 4_000
        )
    });
    let keyed = chain.replacen("long a", "@key long a", 1);
    let both = good(&format!("{declared}{keyed}"))
        .c("test")
        .expect("C can have it");
    assert!(both.source.contains("s3999_decode_key"));
    // The last needs all others to be complete.
    let chain = repeated(2_000, |i| match i {
        0 => "@nested struct s0 { long a; };".to_owned(),
        _ => format!("@nested struct s{i} {{ s{} a; }};", i - 1),
    });
    good(&chain).c("test").expect("C can have it");
    let declared = repeated(4_000, |i| {
        format!(
            "@nested union u{i} switch (long) {{ case 0: long a; case {i}: @external u{} b; }};",
            (i + 1) % 4_000
        )
        .replace("case 0: long a; case 0:", "case 1: long a; case 0:")
    });
    let ahead = repeated(4_000, |i| format!("union u{i};"));
    good(&format!("{ahead}{declared}"))
        .c("test")
        .expect("C can have it");
    // Each topic's text has all types that it needs.
    let types = repeated(3_000, |i| {
        format!("struct t{i} {{ sequence<t{}> all; }};", (i + 1) % 3_000)
    });
    let ahead = repeated(3_000, |i| format!("struct t{i};"));
    let Err(refused) = good(&format!("{ahead}{types}")).c("test") else {
        panic!("this is too much text");
    };
    assert!(
        refused[0]
            .to_string()
            .contains("this is too much text in C"),
        "{}",
        refused[0]
    );
    let shown = good("/* \u{202e}back */ /* and *\\/ on */ struct A { long a; };").c("test");
    let shown = shown.expect("C can have it");
    assert!(!shown.header.contains('\u{202e}'));
}
