//! `tickwire idl` on files, and on a topic of this process.

use crate::common::{Domain, Folder, Run, tickwire};
use serde_json::{Value, json};
use tickwire::{DomainParticipant, Topic};

const MARKET: &str = "\
module md {
  enum Side { BUY, SELL };
  @final @nested struct Level { double price; long size; };
  // What is traded.
  @mutable struct Quote {
    @key @id(1) string<12> symbol;
    @id(2) Side side;
    @id(3) sequence<Level> levels;
  };
  union Change switch (Side) { case BUY: long bid; case SELL: double ask; };
};
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("market.idl", MARKET.as_bytes());
    folder
}

#[track_caller]
fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr))
}

#[test]
fn a_file_that_is_right_is_summed_up() {
    let folder = folder("idl-check");
    let run = tickwire(&folder, &["idl", "check", "market.idl"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let lines: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let expected = [
        "type kind extensibility topic key defined",
        "md::Side enum appendable market.idl:2",
        "md::Level struct final market.idl:3",
        "md::Quote struct mutable yes symbol market.idl:5",
        "md::Change union appendable market.idl:10",
        "",
        "4 types, 1 for topics, 0 warnings",
    ];
    assert_eq!(
        lines.iter().map(|line| line.join(" ")).collect::<Vec<_>>(),
        expected
    );
    let run = tickwire(
        &folder,
        &[
            "idl",
            "check",
            "market.idl",
            "--extensibility",
            "final",
            "-o",
            "json",
        ],
    );
    let report = json_of(&run);
    assert_eq!(report["files"], json!(["market.idl"]));
    let ids = &report["types"][2]["type_ids"];
    let length = |kind: &str| ids[kind].as_str().map(str::len);
    assert_eq!(
        (length("complete"), length("minimal")),
        (Some(28), Some(28))
    );
    assert_eq!(
        report["types"][2],
        json!({
            "name": "md::Quote", "kind": "struct", "extensibility": "mutable", "topic": true,
            "key": ["symbol"], "file": "market.idl", "line": 5, "type_ids": ids,
        })
    );
    assert_eq!(report["types"][0]["extensibility"], "final");
    assert_eq!(report["interfaces"], json!([]));
}

#[test]
fn interfaces_are_listed_behind_types() {
    let folder = Folder::new("idl-interfaces");
    let idl = b"module desk {\n  struct Quote { double price; };\n  interface Desk {\n    \
                readonly attribute long depth;\n    Quote quote(in string symbol);\n  };\n};\n";
    folder.write("desk.idl", idl);
    let run = tickwire(&folder, &["idl", "check", "desk.idl"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let lines = run.stdout.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ")
    });
    let expected = [
        "type kind extensibility topic key defined",
        "desk::Quote struct appendable yes desk.idl:2",
        "desk::Desk interface desk.idl:3",
        "",
        "1 type, 1 for topics, 1 interface, 0 warnings",
    ];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    let run = tickwire(&folder, &["idl", "check", "desk.idl", "-o", "json"]);
    assert_eq!(
        json_of(&run)["interfaces"],
        json!([{
            "name": "desk::Desk", "kind": "interface", "operations": ["quote"],
            "attributes": ["depth"], "file": "desk.idl", "line": 3,
        }])
    );
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let folder = Folder::new("idl-wrong");
    folder.write(
        "wrong.idl",
        b"struct A {\n  Qoute quote;\n  long port;\n};\nstruct Quote { long a; };\n",
    );
    let run = tickwire(&folder, &["idl", "check", "wrong.idl"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    let expected = "\
wrong.idl:2:3: error: nothing is called `Qoute` here
  |
2 |   Qoute quote;
  |   ^^^^^
  help: `Quote` is; is that meant?
wrong.idl:3:8: warning: `port` is a keyword of IDL 4.2
";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    assert!(run.stderr.ends_with("error: 1 error\n"), "{}", run.stderr);
    let run = tickwire(&folder, &["idl", "check", "wrong.idl", "-o", "json"]);
    assert_eq!(run.status, 1);
    let report = json_of(&run);
    let found = &report["found"][0];
    assert_eq!(
        (&found["severity"], &found["line"], &found["column"]),
        (&json!("error"), &json!(2), &json!(3))
    );
    assert_eq!(report["types"], json!([]));
    let run = tickwire(&folder, &["idl", "check", "none.idl"]);
    assert_eq!(run.status, 1);
    assert_eq!(
        run.stderr,
        "error: cannot read none.idl: there is no such file\n"
    );
    let run = tickwire(&folder, &["idl", "check"]);
    assert_eq!(run.status, 2);
}

#[test]
fn includes_and_macros_are_given_by_options() {
    let folder = folder("idl-options");
    std::fs::create_dir(folder.path().join("shared")).expect("the folder is ours");
    folder.write(
        "shared/level.idl",
        b"#pragma once\nstruct Level { double price; };\n",
    );
    folder.write(
        "book.idl",
        b"#include <level.idl>\n#ifdef WITH_SIZE\n#define EXTRA long sizes[DEPTH];\n#else\n#define EXTRA\n#endif\n\
          struct Book { Level levels[DEPTH]; EXTRA };\n",
    );
    let options = ["-I", "shared", "-D", "DEPTH=5", "-D", "WITH_SIZE"];
    let check = [&["idl", "check", "book.idl"], &options[..]].concat();
    let run = tickwire(&folder, &check);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("shared/level.idl:2"), "{}", run.stdout);
    let out = [
        "idl",
        "gen",
        "--lang",
        "rust",
        "book.idl",
        "--out",
        "made/here",
    ];
    let run = tickwire(&folder, &[&out, &options[..]].concat());
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "wrote made/here/book.rs\n")
    );
    let text = String::from_utf8(folder.read("made/here/book.rs")).expect("text");
    assert!(text.contains("pub sizes: [i32; 5],"), "{text}");
}

#[test]
fn c_is_a_header_and_a_source_file() {
    let folder = Folder::new("idl-c");
    folder.write("v1.book.idl", b"struct Book { @key string<4> symbol; };\n");
    let run = tickwire(
        &folder,
        &["idl", "gen", "--lang", "c", "v1.book.idl", "--out", "made"],
    );
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "wrote made/v1.book.h\nwrote made/v1.book.c\n")
    );
    let header = String::from_utf8(folder.read("made/v1.book.h")).expect("text");
    assert!(
        header.contains("#ifndef TICKWIRE_IDL_V1_BOOK_H"),
        "{header}"
    );
    assert!(header.contains("char *symbol;"), "{header}");
    let source = String::from_utf8(folder.read("made/v1.book.c")).expect("text");
    assert!(source.contains("#include \"v1.book.h\""), "{source}");
}

#[test]
fn what_a_language_cannot_have_is_told_and_nothing_written() {
    let folder = Folder::new("idl-refused");
    folder.write("set.idl", b"bitset Status { bitfield<3>; };\n");
    let run = tickwire(
        &folder,
        &["idl", "gen", "--lang", "rust", "set.idl", "--out", "."],
    );
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.starts_with("set.idl:1:8: error: "),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join("set.rs").exists());
    folder.write("wide.idl", b"struct S { long double wide; };\n");
    let run = tickwire(
        &folder,
        &["idl", "gen", "--lang", "c", "wide.idl", "--out", "."],
    );
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.starts_with("wide.idl:1:12: error: "),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join("wide.h").exists());
    let run = tickwire(
        &folder,
        &["idl", "gen", "--lang", "cobol", "set.idl", "--out", "."],
    );
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("[possible values: rust, c, cpp, csharp]"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_types_beside_an_interface_are_written_without_it_if_that_is_meant() {
    let folder = Folder::new("idl-types-only");
    let text = "exception Gone {}; struct S { long a; };\n\
                interface I { enum E { A }; void f() raises (Gone); };\n";
    folder.write("service.idl", text.as_bytes());
    for (lang, file) in [
        ("c", "service.h"),
        ("cpp", "service.hpp"),
        ("csharp", "service.cs"),
    ] {
        let generate = ["idl", "gen", "--lang", lang, "service.idl", "--out", "."];
        let run = tickwire(&folder, &[&generate[..], &["--types-only"]].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let said = "service.idl:2:11: warning: the interface `I` is left out";
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert!(run.stderr.contains("the exception `Gone` is left out"));
        assert!(folder.path().join(file).exists());
    }
}

#[test]
fn interfaces_are_compared_by_what_they_send() {
    let folder = Folder::new("idl-diff-services");
    folder.write(
        "old.idl",
        b"interface I { void f(in long a); void g(); };\n",
    );
    folder.write(
        "new.idl",
        b"interface I { void f(in string a); void g(); long h(); };\n",
    );
    let run = tickwire(&folder, &["idl", "diff", "old.idl", "new.idl"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout.contains("detail::I_g_In: the same"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("detail::I_h_In: only in new.idl"),
        "{}",
        run.stdout
    );
    let request = "detail::I_Request\n  a reader of new.idl cannot read samples of old.idl:";
    assert!(run.stdout.contains(request), "{}", run.stdout);
}

#[test]
fn files_are_laid_out_once() {
    let folder = folder("idl-fmt");
    folder.write("good.idl", b"struct A {\n  long a; // behind\n};\n");
    let check = ["idl", "fmt", "--check", "market.idl", "good.idl"];
    let run = tickwire(&folder, &check);
    assert_eq!((run.status, run.stdout.as_str()), (1, "market.idl\n"));
    assert_eq!(
        run.stderr,
        "error: 1 file is not laid out\nhint: run it without `--check`\n"
    );
    assert_eq!(
        folder.read("market.idl"),
        MARKET.as_bytes(),
        "nothing changes"
    );
    let run = tickwire(&folder, &["idl", "fmt", "market.idl", "good.idl"]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "laid out market.idl\n")
    );
    let text = String::from_utf8(folder.read("market.idl")).expect("text");
    assert!(
        text.contains("  enum Side {\n    BUY,\n    SELL\n  };\n"),
        "{text}"
    );
    assert_eq!(tickwire(&folder, &check).status, 0);
    folder.write("open.idl", b"struct A { }; /* and on\n");
    let run = tickwire(&folder, &["idl", "fmt", "open.idl"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr
            .starts_with("open.idl:1:15: error: this comment does not end"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_that_cannot_be_laid_out_is_told_once_and_keeps_no_other_back() {
    let folder = folder("idl-fmt-wrong");
    folder.write("latin1.idl", b"struct A { long \xe4; };\n");
    folder.write("open.idl", b"struct A { }; /* and on\n");
    let files = ["open.idl", "latin1.idl", "market.idl"];
    let check = tickwire(&folder, &[&["idl", "fmt", "--check"], &files[..]].concat());
    assert_eq!((check.status, check.stdout.as_str()), (1, "market.idl\n"));
    let summary = "error: 2 files cannot be laid out, 1 file is not laid out\n\
                   hint: run it without `--check`\n";
    assert!(check.stderr.ends_with(summary), "{}", check.stderr);
    let run = tickwire(&folder, &[&["idl", "fmt"], &files[..]].concat());
    assert_eq!(run.status, 1);
    let rest = "error: cannot lay out open.idl: 1 error\n\
                error: cannot read latin1.idl: stream did not contain valid UTF-8\n\
                hint: convert it to UTF-8\n\
                laid out market.idl\n\
                error: 2 files cannot be laid out\n";
    assert!(
        run.stderr.starts_with("open.idl:1:15: error: "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.ends_with(rest), "{}", run.stderr);
    assert_eq!(run.stderr.matches("error: ").count(), 4, "{}", run.stderr);
    let alone = tickwire(&folder, &["idl", "fmt", "latin1.idl"]);
    assert_eq!(
        alone.stderr.matches("error: ").count(),
        1,
        "{}",
        alone.stderr
    );
    let help = tickwire(&folder, &["idl", "fmt", "--help"]).stdout;
    assert!(
        help.contains("CRLF") && help.contains("byte order mark"),
        "{help}"
    );
}

#[test]
fn types_of_two_files_are_compared_in_both_directions() {
    let folder = folder("idl-diff");
    let new = MARKET
        .replace(
            "double price; long size",
            "double price; long size; long orders",
        )
        .replace(
            "@id(2) Side side;",
            "@id(2) Side side; @optional @id(9) long venue;",
        )
        .replace("union Change", "struct New { octet a; }; union Change");
    folder.write("new.idl", new.as_bytes());
    let run = tickwire(&folder, &["idl", "diff", "market.idl", "new.idl"]);
    let expected = "\
md::Change: the same
md::Level
  a reader of new.idl cannot read samples of market.idl:
    `md::Level.orders`: the writer does not have it, but the type is final
  a reader of market.idl cannot read samples of new.idl:
    `md::Level.orders`: the reader does not have it, but the type is final
md::New: only in new.idl
md::Quote
  a reader of new.idl cannot read samples of market.idl:
    `md::Quote.levels[].orders`: the writer does not have it, but the type is final
  a reader of market.idl cannot read samples of new.idl:
    `md::Quote.levels[].orders`: the reader does not have it, but the type is final
md::Side: the same
";
    assert_eq!((run.status, run.stdout.as_str()), (1, expected));
    assert_eq!(
        run.stderr,
        "error: 2 types cannot be read in both directions\n"
    );
    let run = tickwire(
        &folder,
        &["idl", "diff", "market.idl", "new.idl", "-o", "json"],
    );
    let list = json_of(&run);
    assert_eq!(list[1]["new_reads_old"]["readable"], false);
    assert_eq!(
        list[1]["old_reads_new"]["reasons"][0]["path"],
        "md::Level.orders"
    );
    assert_eq!(
        list[2],
        json!({"type": "md::New", "kind": "struct", "same": false, "only_in": "new"})
    );
}

#[test]
fn what_may_change_changes_without_a_fault() {
    let folder = folder("idl-diff-good");
    let new = MARKET.replace("@id(2) Side side;", "@id(2) Side side; @id(9) long venue;");
    folder.write("new.idl", new.as_bytes());
    let run = tickwire(&folder, &["idl", "diff", "market.idl", "new.idl"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let expected = "\
md::Quote
  a reader of new.idl reads samples of market.idl
  a reader of market.idl reads samples of new.idl
";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    // Unions are compared though they are types of no topic, and what has no description is told.
    let new = MARKET
        .replace("case BUY: long bid", "case BUY: short bid")
        .replace("long size;", "long double size;");
    folder.write("new.idl", new.as_bytes());
    let run = tickwire(&folder, &["idl", "diff", "market.idl", "new.idl"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout
            .contains("    `md::Change.bid`: the writer has int32, the reader int16\n"),
        "{}",
        run.stdout
    );
    let unknown = "md::Level: not compared: `size` is of `long double`, which is not known here\n";
    assert!(run.stdout.contains(unknown), "{}", run.stdout);
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Tree", mutable)]
struct Tree {
    #[topic(key, bound = 8)]
    name: String,
    #[topic(id = 7, octet)]
    raw: Vec<u8>,
    grid: [[u64; 3]; 2],
    children: Vec<Self>,
    #[topic(rename = "uint8")]
    keyword: Option<i8>,
}

#[test]
fn a_topic_on_the_network_becomes_a_file_that_compiles() {
    let domain = Domain::reserve();
    let id = domain.id.parse().expect("a number");
    let participant = DomainParticipant::builder(id)
        .build()
        .expect("a participant");
    let topic = participant.topic::<Tree>("Trees").expect("a topic");
    let _writer = participant.writer(&topic).expect("a writer");
    let folder = Folder::new("idl-from-wire");
    let from_wire = ["idl", "from-wire", "Trees", "-d", &domain.id];
    let run = tickwire(&folder, &[&from_wire[..], &["--out", "trees.idl"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, "wrote trees.idl\n"));
    let run = tickwire(&folder, &["idl", "check", "trees.idl", "-o", "json"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let report = json_of(&run);
    assert_eq!(report["found"], json!([]));
    assert_eq!(report["types"][0]["name"], "test::Tree");
    let run = tickwire(&folder, &["idl", "fmt", "--check", "trees.idl"]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    // It is what `topic type` prints, but for the line that names the topic.
    let text = String::from_utf8(folder.read("trees.idl")).expect("text");
    let printed = tickwire(&folder, &["topic", "type", "Trees", "-d", &domain.id]).stdout;
    assert_eq!(
        text,
        format!("// The type of the topic \"Trees\".\n\n{printed}")
    );
    let run = tickwire(&folder, &["idl", "from-wire", "None", "-d", &domain.id]);
    assert_eq!(run.status, 1);
}

#[test]
fn what_no_language_has_is_a_warning() {
    let folder = Folder::new("idl-check-languages");
    let text = "struct S {\n  long double wide;\n};\n\
                struct T { @try_construct(TRIM) string<3> a; @non_serialized long b; };\n\
                bitset B { bitfield<3> a; };\n";
    folder.write("wide.idl", text.as_bytes());
    let run = tickwire(&folder, &["idl", "check", "wide.idl", "-o", "json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report = json_of(&run);
    let found = report["found"].as_array().map_or(&[][..], Vec::as_slice);
    let found = found
        .iter()
        .map(|one| format!("{}: {}: {}", one["line"], one["severity"], one["message"]));
    let found: Vec<String> = found.map(|line| line.replace('"', "")).collect();
    assert_eq!(
        found,
        ["2: warning: no language has this: `long double` has no encoding here",]
    );
}

#[test]
fn options_that_can_have_no_effect_are_refused() {
    let folder = folder("idl-options");
    for (option, value, told) in [
        ("-I", "absent", "there is no such directory"),
        ("-I", "market.idl", "there is no such directory"),
        (
            "-D",
            "A B",
            "`A B` is no name of a macro: write NAME or NAME=VALUE",
        ),
        ("-D", "=1", "`` is no name of a macro"),
    ] {
        let run = tickwire(&folder, &["idl", "check", option, value, "market.idl"]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
}
