//! No name of a text takes the meaning of one that generated code uses. The names are drawn from generated code itself:
//! each becomes a type of every kind, a literal, a member, a module, an operation and a parameter.

use std::collections::BTreeSet;
use std::fs;

use tickwire_idl::{Compilation, Diagnostic};

use crate::c::reads;
use crate::csharp::{compiles_beside, library};
use crate::support::{folder, good, told};

/// Everything of which a language makes code, in names that nobody else has.
const TYPES: &str = r#"
module ownModule {
  const long OWNCONST = 3;
  const string OWNTEXT = "x";
  @bit_bound(8) enum OwnEnum { OWNONE, @default_literal OWNTWO };
  @bit_bound(12) bitmask OwnMask { ownFlag };
  bitset OwnSet { bitfield<3> ownBits; bitfield<5, short> ownMore; };
  @final union OwnUnion switch (long) { case 1: string ownText; default: octet ownOctet; };
  @mutable union OwnByEnum switch (@key OwnEnum) { case OWNONE: @external OwnUnion ownApart; };
  struct OwnNode;
  @final struct OwnBase { @key long ownKey; double ownValue; };
  @mutable struct OwnMutable { @optional long ownId; @key string<3> ownName; };
  struct OwnStruct {
    @key @default(7) long ownNumber;
    OwnEnum ownKind;
    OwnMask ownMask;
    OwnSet ownSet;
    @optional @external OwnNode ownNext;
    sequence<string<3>, 4> ownList;
    map<string, OwnBase> ownMap;
    octet ownArray[2][3];
    wstring ownWide; wchar ownLetter; boolean ownFlag; char ownChar; float ownFloat;
    int8 ownTiny; uint16 ownShort; unsigned long long ownLong;
    OwnByEnum ownUnion;
    @external OwnBase ownFar;
    OwnMutable ownMutable;
  };
  struct OwnNode { sequence<OwnNode> ownNodes; };
};
"#;

const SERVICE: &str = r#"
exception OwnError { string ownReason; };
exception OwnEmpty {};
interface OwnService {
  attribute long ownAttribute;
  double ownAsk(in string ownIn, out long ownOut, inout sequence<long> ownBoth) raises (OwnError, OwnEmpty);
  @oneway void ownTell(in long ownNews);
  void ownNothing();
};
"#;

/// The names in generated code that IDL can have, too. Those that differ in case alone are in lists of their own, as IDL
/// takes them for one.
fn drawn(code: &str, is_refused: impl Fn(&str) -> bool) -> Vec<Vec<&str>> {
    let lines = code.lines().filter(|line| {
        let line = line.trim_start();
        !["/", "*", "#"].iter().any(|it| line.starts_with(it))
    });
    let parts = lines.flat_map(|line| line.split('"').step_by(2));
    let words = parts.flat_map(|part| part.split(|char: char| !is_of_name(char)));
    let words: BTreeSet<&str> = words
        .filter(|word| is_name(word) && !is_refused(word))
        .collect();
    let mut lists: Vec<Vec<&str>> = Vec::new();
    // Small letters, which are the most, come first.
    for word in words.into_iter().rev() {
        let is_free = |list: &&mut Vec<&str>| !list.iter().any(|it| it.eq_ignore_ascii_case(word));
        match lists.iter_mut().find(is_free) {
            Some(list) => list.push(word),
            None => lists.push(vec![word]),
        }
    }
    lists
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn is_name(word: &str) -> bool {
    // What was made of names of the text is none of the language, and `name_` keeps a member.
    word.starts_with(|char: char| char.is_ascii_alphabetic())
        && !word.ends_with('_')
        && !word.to_ascii_lowercase().contains("own")
}

/// A module with the text for each of some names, which are `NAME` in it, and `COUNT` which they are.
fn module(name: &str, names: &[&str], text: &str) -> String {
    format!("module {name} {{\n{}\n}};\n", each(names, text))
}

fn each(names: &[&str], text: &str) -> String {
    let all = names.iter().enumerate();
    all.map(|(count, name)| named(text, count, name)).collect()
}

fn named(text: &str, count: usize, name: &str) -> String {
    // With the underscore keywords of IDL are names, too.
    text.replace("NAME", &format!("_{name}"))
        .replace("COUNT", &count.to_string())
}

/// Texts for each of the names, in turn.
fn in_turn(names: &[&str], texts: &[&str]) -> String {
    let all = names.iter().zip(texts.iter().cycle()).enumerate();
    all.map(|(count, (name, text))| named(text, count, name))
        .collect()
}

/// What types and members are called.
fn types(names: &[&str]) -> String {
    let few = |text: &str, of_each: &str| -> String {
        let parts = names.chunks(30).enumerate().map(|(index, part)| {
            let all = each(part, of_each);
            named(text, index, "").replace("ALL", all.trim_end_matches(", "))
        });
        parts.collect()
    };
    let others = [
        "union NAME switch (long) { case 1: string own; };\n",
        "enum NAME { ownCOUNT };\n",
        "bitset NAME { bitfield<3> own; };\n",
        "const long NAME = 1;\n",
        "bitmask NAME { own };\n",
        "typedef sequence<long> NAME;\n",
    ];
    [
        module("ownStructs", names, "struct NAME { @key long own; };\n"),
        format!("module ownOthers {{\n{}}};\n", in_turn(names, &others)),
        module(
            "ownModules",
            names,
            "module NAME { const long OWN = 1; };\n",
        ),
        "module ownModules { struct Own { long own; }; };\n".to_owned(),
        few("enum OwnEnumCOUNT { ALL };\n", "NAME, "),
        "struct OwnBesideLiterals { long own; };\n".to_owned(),
        few("bitmask OwnMaskCOUNT { ALL };\n", "NAME, "),
        few("bitset OwnSetCOUNT { ALL };\n", "bitfield<2> NAME; "),
        few("@final struct OwnFinalCOUNT { ALL };\n", "@key long NAME; "),
        few(
            "@mutable struct OwnMutableCOUNT { ALL };\n",
            "string NAME; ",
        ),
        few(
            "union OwnUnionCOUNT switch (long) { ALL };\n",
            "case COUNT: string NAME; ",
        ),
    ]
    .concat()
}

/// What interfaces, operations and parameters are called, and members of exceptions.
fn services(names: &[&str]) -> String {
    let but =
        |word: &str| -> Vec<&str> { names.iter().copied().filter(|it| *it != word).collect() };
    [
        module(
            "ownInterfaces",
            names,
            "interface NAME { long own(in string ownIn); };\n",
        ),
        // Exceptions and clients have something of these names, which is told.
        format!(
            "exception OwnError {{ {} }};\n",
            each(&but("what"), "string NAME; ")
        ),
        format!(
            "interface OwnService {{ {} }};\n",
            each(&but("wait_for_service"), "long NAME(in string own); ")
        ),
        format!(
            "interface OwnOther {{ {} }};\n",
            each(names, "long ownCOUNT(in string NAME); ")
        ),
    ]
    .concat()
}

/// What is outside of modules.
const OUTSIDE: [&str; 5] = [
    "struct NAME { @key string own; };\n",
    "enum OwnCOUNT { NAME };\n",
    "union NAME switch (long) { case 1: string own; };\n",
    "typedef sequence<string> NAME;\n",
    "const long NAME = 1;\n",
];

/// Texts in which everything is called by these names, which are of code of types and of services.
fn texts(of_types: &[Vec<&str>], of_services: &[Vec<&str>], outside: &[&str]) -> Vec<String> {
    let mut first = String::new();
    for (index, names) in of_types.iter().enumerate() {
        first.push_str(&format!("module own{index} {{\n{}}};\n", types(names)));
    }
    for (index, names) in of_services.iter().enumerate() {
        first.push_str(&format!("module ownOf{index} {{\n{}}};\n", services(names)));
    }
    first.push_str(&each(
        &of_types[0],
        "module NAME { const long OWN = 1; };\n",
    ));
    let others = of_types.iter().map(|names| in_turn(names, outside));
    std::iter::once(first).chain(others).collect()
}

/// What a language makes of these texts, by the names of their files. `code` gives code, and `is_refused` tells names that
/// the language refuses with their places.
fn made<T>(
    code: impl Fn(&Compilation, &str) -> Result<T, Vec<Diagnostic>>,
    text: impl Fn(T) -> String,
    outside: &[&str],
    is_refused: impl Fn(&str) -> bool,
) -> Vec<(String, T)> {
    let make = |idl: &str, name: &str| code(&good(idl), name).unwrap_or_else(|found| told(&found));
    let of_types = text(make(TYPES, "own"));
    let of_services = text(make(SERVICE, "own"));
    let texts = texts(
        &drawn(&of_types, &is_refused),
        &drawn(&of_services, &is_refused),
        outside,
    );
    let all = texts.iter().enumerate().map(|(index, text)| {
        let name = format!("own{index}");
        let made = make(text, &name);
        (name, made)
    });
    all.collect()
}

#[test]
fn names_do_not_clash_in_cpp() {
    let folder = folder("cpp-clashes");
    for (name, text) in made(Compilation::cpp, |text| text, &OUTSIDE, |_| false) {
        let path = folder.join(format!("{name}.cpp"));
        fs::write(&path, text).expect("it can be written");
        reads("g++", "-std=c++17", "c++", &path);
    }
}

#[test]
fn names_do_not_clash_in_c() {
    let folder = folder("c-clashes");
    // Constants are macros: outside of modules they replace their names wherever they stand.
    let outside = &OUTSIDE[..4];
    let is_refused = |word: &str| {
        let word = word.to_ascii_lowercase();
        word.starts_with("tw_") || ["client", "context"].contains(&&*word)
    };
    for (name, both) in made(
        Compilation::c,
        |both| both.header + &both.source,
        outside,
        is_refused,
    ) {
        fs::write(folder.join(format!("{name}.h")), &both.header).expect("it can be written");
        let path = folder.join(format!("{name}.c"));
        fs::write(&path, &both.source).expect("it can be written");
        reads("gcc", "-std=c11", "c", &path);
    }
}

#[test]
fn names_do_not_clash_in_csharp() {
    let folder = folder("csharp-clashes");
    let dll = library(&folder);
    let is_refused = |word: &str| {
        let words = [
            "Constants",
            "Discriminator",
            "Equals",
            "GetHashCode",
            "GetType",
            "ReferenceEquals",
            "System",
            "Tickwire",
            "ToString",
            "MemberwiseClone",
        ];
        words.contains(&word) || word.ends_with("Async")
    };
    for (name, text) in made(|it, _| it.csharp(), |text| text, &OUTSIDE, is_refused) {
        let path = folder.join(format!("{name}.cs"));
        fs::write(&path, text).expect("it can be written");
        compiles_beside(&dll, &path);
    }
}
