//! Includes, conditions and macros.

use tickwire_idl::model::{DefinitionKind, Value};
use tickwire_idl::{Options, compile};

use crate::support::{Memory, bad_files, compile_files, good};

/// The value of the constant `A` of a text.
fn value(text: &str) -> Value {
    let compilation = good(text);
    let (_, definition) = compilation.model.find("A").expect("it is defined");
    match &definition.kind {
        DefinitionKind::Const(_, value) => value.clone(),
        kind => panic!("{}", kind.keyword()),
    }
}

#[test]
fn conditions_are_those_of_c() {
    for (condition, taken) in [
        ("1", true),
        ("0x0", false),
        ("defined(X)", true),
        ("defined Y || !defined(X)", false),
        ("X == 3 && X != 4 && Y == 0", true),
        ("(1 + 2 * 3) == 7 && 1 << 3 > 7", true),
        ("-1 < 0 ? 0 : 1", false),
        ("0 && 1 / 0", false),
        ("defined(Y) && (10 / Y) > 2", false),
        ("X || 1 / 0", true),
        ("X ? 1 : (1 % 0)", true),
        ("1 << 2 == 4 && 4 >> 1 == 2 && 3 > 2", true),
        (
            "10 % 4 == 2 && (6 & 3) == 2 && (6 | 1) == 7 && (6 ^ 3) == 5",
            true,
        ),
        ("~0 == -1", true),
        ("3 >= 3 && 3 <= 3 && 8 >> 2 == 2", true),
        ("X2(1, 2) == 3", true),
        ("4294967296L > 0UL", true),
    ] {
        let text = format!(
            "#define X 3\n#define X2(a, b) ((a) + (b))\n#if {condition}\nconst long A = 1;\n\
             #else\nconst long A = 0;\n#endif\n"
        );
        assert_eq!(value(&text), Value::Integer(taken.into()), "{condition}");
    }
}

#[test]
fn the_first_part_that_is_true_is_taken() {
    let text = "#if 0\n#if 1\nnot this\n#else\nnor this\n#endif\n#elif 1\nconst long A = 2;\n\
                #elif 1\nnor this\n#else\nnor this\n#endif\n";
    assert_eq!(value(text), Value::Integer(2));
}

#[test]
fn comments_may_stand_in_directives() {
    let text = "#/* a */define /* b */ N /* c */ 3 // d\n#/* nothing */\nconst long A = N;";
    assert_eq!(value(text), Value::Integer(3));
}

#[test]
fn macros_have_arguments_strings_and_pasted_names() {
    for (text, expected) in [
        ("#define N 1 + 2\nconst long A = N * 2;", Value::Integer(5)),
        (
            "#define F(x, y) x - y\nconst long A = F((1, 2\n), 3);",
            Value::Bool(false),
        ),
        (
            "#define TWICE(x) (x) * 2\nconst long A = TWICE(TWICE(3));",
            Value::Integer(12),
        ),
        (
            "#define TEXT(x) #x\nconst string A = TEXT(a  \"b\");",
            Value::String("a \"b\"".into()),
        ),
        (
            "#define NAME(x) x##A\nconst long NAME() = 4;",
            Value::Integer(4),
        ),
        (
            "#define NAME(x, y) x ## y\nconst long A = NAME(1, 2);",
            Value::Integer(12),
        ),
        ("#define A A\nconst long A = 5;", Value::Integer(5)),
        (
            "#define F(x) x\nconst long F = 1; const long A = F;",
            Value::Integer(1),
        ),
        (
            "#define N 1\n#undef N\nconst long N = 6; const long A = N;",
            Value::Integer(6),
        ),
        (
            "#define LONG \\\n const long \\\n A\nLONG = 7;",
            Value::Integer(7),
        ),
    ] {
        if expected == Value::Bool(false) {
            // A parenthesis keeps a comma from being one between arguments, and IDL has none.
            assert!(compile_files(&[("test.idl", text)]).is_err());
            continue;
        }
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn files_are_found_beside_and_read_once() {
    let compilation = compile_files(&[
        (
            "idl/main.idl",
            "#include \"sub/a.idl\"\n#include <idl/none.idl>\n",
        ),
        (
            "idl/sub/a.idl",
            "#include \"../b.idl\"\n#include \"./../b.idl\"\nstruct A { B b; };",
        ),
        ("idl/b.idl", "#pragma once\nstruct B { long a; };"),
    ]);
    let error = compilation.expect_err("one file is not there").to_string();
    assert!(
        error.starts_with("idl/main.idl:2:10: error: there is no file `idl/none.idl`"),
        "{error}"
    );
    let guarded = "#ifndef B_IDL\n#define B_IDL\nstruct B { long a; };\n#endif\n";
    let compilation = compile_files(&[
        (
            "main.idl",
            "#include \"b.idl\"\n#include \"b.idl\"\nstruct A { B b; };",
        ),
        ("b.idl", guarded),
    ]);
    let model = compilation.expect("it is right").model;
    let included: Vec<bool> = model.files().iter().map(|file| file.included).collect();
    assert_eq!(included, [false, false, true, true]);
    let (_, of_b) = model.find("B").expect("it is defined");
    let file = &model.files()[of_b.position.file as usize];
    assert_eq!(
        (file.path.as_str(), of_b.position.line, of_b.position.column),
        ("b.idl", 3, 8)
    );
}

#[test]
fn errors_behind_includes_and_macros_have_their_places() {
    let said = bad_files(&[
        ("main.idl", "\n  #include \"b.idl\"\n"),
        (
            "b.idl",
            "#define FIELD(name) Unknown name\nstruct B { FIELD(a); };",
        ),
    ]);
    let expected = "\
b.idl:2:12: error: nothing is called `Unknown` here
  |
2 | struct B { FIELD(a); };
  |            ^^^^^
  help: define it before, or include the file that does
  note: this comes out of the macro `FIELD`, defined at b.idl:1:9
  note: included at main.idl:2:12";
    assert_eq!(said, expected);
}

#[test]
fn text_that_was_pasted_compiles_with_a_warning() {
    let compilation = good("struct A {\n\u{a0}\u{a0}long a;\u{a0}// b\u{a0}c\n};");
    let [warning] = compilation.warnings.as_slice() else {
        panic!("{:?}", compilation.warnings);
    };
    assert_eq!((warning.line, warning.column), (2, 1));
    assert!(warning.message.contains("2 more"), "{warning}");
}

#[test]
fn files_of_before_utf_8_are_read() {
    let mut memory = Memory::default();
    let text = b"// gr\xfc\xdfe\nconst string A = \"\xe4\";".to_vec();
    memory.0.insert("old.idl".into(), text);
    let options = Options::default();
    let compilation = compile(&["old.idl"], &options, &mut memory);
    let model = compilation.expect("it is right").model;
    let (_, definition) = model.find("A").expect("it is defined");
    assert_eq!(definition.doc.as_deref(), Some("grüße"));
}

#[test]
fn the_encoding_of_a_file_that_is_not_read_is_told() {
    let text = "struct A { long a; };\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let wide: Vec<u8> = text
        .chars()
        .flat_map(|char| u32::from(char).to_le_bytes())
        .collect();
    for (bytes, encoding) in [
        ([&[0xff, 0xfe], &*little].concat(), "UTF-16"),
        ([&[0xfe, 0xff], &*big].concat(), "UTF-16"),
        (little, "UTF-16LE"),
        (big, "UTF-16BE"),
        ([&[0xff, 0xfe, 0, 0], &*wide].concat(), "UTF-32"),
    ] {
        let told = format!(
            "it is in {encoding}; write it in UTF-8, as `iconv -f {encoding} -t UTF-8` does"
        );
        let mut files = Memory([("wide.idl".to_owned(), bytes.clone())].into());
        let error = compile(&["wide.idl"], &Options::default(), &mut files);
        let error = error.expect_err("it is not read").to_string();
        assert_eq!(error, format!("cannot read wide.idl: {told}"));
        files
            .0
            .insert("a.idl".to_owned(), b"#include \"wide.idl\"\n".to_vec());
        let error = compile(&["a.idl"], &Options::default(), &mut files);
        let error = error.expect_err("it is not read").to_string();
        assert!(error.contains(&told), "{error}");
    }
}
