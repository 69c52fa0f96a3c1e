use std::fs;
use std::path::{Path, PathBuf};

use super::format;

fn laid_out(text: &str) -> String {
    format("test.idl", text).unwrap_or_else(|found| {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        panic!("{}", found.join("\n"))
    })
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let out = laid_out(text);
    assert_eq!(out, expected);
    assert_eq!(laid_out(&out), out, "it is laid out as it is");
}

#[test]
fn definitions_stand_on_lines_of_their_own() {
    check(
        "module a{module b {struct S{long x,y;@key string <4>  name [ 2 ] [3];};};struct E{};};",
        "\
module a {
  module b {
    struct S {
      long x, y;
      @key string<4> name[2][3];
    };
  };
  struct E {};
};
",
    );
}

#[test]
fn literals_stand_on_lines_of_their_own() {
    check(
        "@final enum Side {BUY,@value( 3 )SELL // is paid\n ,@default_literal NONE};
         @bit_bound(8)
         bitmask Flags
         {
           @position(1) a, b };",
        "\
@final enum Side {
  BUY,
  @value(3) SELL // is paid
  ,
  @default_literal NONE
};
@bit_bound(8)
bitmask Flags {
  @position(1) a,
  b
};
",
    );
}

#[test]
fn comments_and_empty_lines_stay() {
    check(
        "\n\n// of the file   \r\n\n\n\n/** A type.\n       * Of two lines. */\nstruct S { // behind\n\n\n  long a;   /* of a */ long b; // of b\n\n\n  // last\n\n};\n\n\n\n",
        "\
// of the file

/** A type.
 * Of two lines. */
struct S { // behind

  long a; /* of a */
  long b; // of b

  // last
};
",
    );
}

#[test]
fn lines_end_alike_and_no_mark_comes_before_them() {
    check(
        "\u{feff}#define A(x) \\\r\n  x\r\n/* of\r\n   two */\r\nstruct S {\r\n  long a;\r\n};\r\n",
        "#define A(x) \\\n  x\n/* of\n   two */\nstruct S {\n  long a;\n};\n",
    );
}

#[test]
fn directives_stay_as_they_are() {
    check(
        "#ifndef A\n  #  define   A(x) \\\n     x   // as it is\nstruct S\n#ifdef LONG\n{ long a;\n#else\n{ short a;\n#endif\n};\n#endif",
        "\
#ifndef A
#  define   A(x) \\
     x   // as it is
struct S
#ifdef LONG
{
  long a;
#else
{
  short a;
#endif
};
#endif
",
    );
}

#[test]
fn unions_have_their_members_behind_their_labels() {
    check(
        "union U switch( @key  long ) {case 1:case - 2 : long a; case a::b:\ncase 3:\n@external double c;default:octet d;};",
        "\
union U switch (@key long) {
  case 1: case -2: long a;
  case a::b:
  case 3:
    @external double c;
  default: octet d;
};
",
    );
}

#[test]
fn expressions_have_spaces_around_operators() {
    check(
        "const long A=1<<2|-3+( ~B*4 )>>1 ;const ::a::T b=::c::D;typedef sequence< sequence<long,1+ 2> > x;
         typedef sequence<sequence<octet>> y; typedef map <string , long> z; struct D: ::a::B { };",
        "\
const long A = 1 << 2 | -3 + (~B * 4) >> 1;
const ::a::T b = ::c::D;
typedef sequence<sequence<long, 1 + 2> > x;
typedef sequence<sequence<octet>> y;
typedef map<string, long> z;
struct D : ::a::B {};
",
    );
}

#[test]
fn lines_that_people_broke_stay_broken() {
    check(
        "@verbatim(language=\"comment\", text=\n\"first\" \"\\n\"\n     \"second\")\nstruct S {
           @key
           @id(3)
           long a; };
         interface I { void tell( in long a,
           in long b )raises( E ); @oneway void say();};",
        "\
@verbatim(language = \"comment\", text =
    \"first\" \"\\n\"
    \"second\")
struct S {
  @key
  @id(3)
  long a;
};
interface I {
  void tell(in long a,
      in long b) raises (E);
  @oneway void say();
};
",
    );
}

#[test]
fn macros_are_laid_out_like_what_they_may_be() {
    check(
        "struct S { FIELD( long , a ) PAIR(long,b)[LEVELS]; };",
        "\
struct S {
  FIELD(long, a) PAIR(long, b)[LEVELS];
};
",
    );
}

#[test]
fn what_is_no_token_is_told() {
    let found = format("test.idl", "const string A = \"open;\n").expect_err("it does not end");
    assert_eq!((found[0].line, found[0].column), (1, 18));
    let found = format("test.idl", &";".repeat(2 << 20)).expect_err("it is too long");
    assert!(found[0].message.contains("too much"));
    assert_eq!(laid_out(""), "");
    assert_eq!(laid_out("\n \n"), "");
}

/// Every file of the corpus, also those with errors.
fn corpus(directory: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("there is a corpus") {
        let path = entry.expect("it can be read").path();
        match path.is_dir() {
            true => corpus(&path, all),
            false if path.extension().is_some_and(|ending| ending == "idl") => all.push(path),
            false => {}
        }
    }
}

#[test]
fn the_corpus_is_laid_out_once() {
    let mut all = Vec::new();
    corpus(Path::new("tests"), &mut all);
    assert!(all.len() > 12, "{all:?}");
    for path in all {
        let text = fs::read_to_string(&path).expect("it is text");
        let Ok(once) = format("test.idl", &text) else {
            // That there is what is no token is what it is for.
            assert!(path.starts_with("tests/errors"), "{}", path.display());
            continue;
        };
        assert_eq!(laid_out(&once), once, "{}", path.display());
    }
}
