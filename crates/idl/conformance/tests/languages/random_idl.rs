//! IDL with types of any kind.

use std::fmt::Write;

/// Numbers that look random (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn one<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// Names of what is defined.
#[derive(Default)]
struct Defined {
    /// Whatever can be a member.
    types: Vec<String>,
    /// Those whose values have no map in them, and no member that is tried: which may be a key.
    keys: Vec<String>,
    enums: Vec<(String, Vec<String>)>,
}

/// This many definitions.
pub(crate) fn text(random: &mut Random, count: usize) -> String {
    let mut text = String::from("module random {\n");
    let mut defined = Defined::default();
    for number in 0..count {
        let name = format!("T{number}");
        match random.below(10) {
            0 => enumeration(random, &mut text, &mut defined, name),
            1 => bits(random, &mut text, &mut defined, name),
            2 => {
                let (ty, is_key) = ty(random, &defined, 2);
                let dimensions = dimensions(random, 1);
                writeln!(text, "typedef {ty} {name}{dimensions};").expect("a String");
                defined.add(name, is_key);
            }
            3 | 4 => union(random, &mut text, &mut defined, name),
            _ => structure(random, &mut text, &mut defined, name),
        }
    }
    structure(random, &mut text, &mut defined, "Last".to_owned());
    text.push_str("};\n");
    text
}

impl Defined {
    fn add(&mut self, name: String, is_key: bool) {
        if is_key {
            self.keys.push(name.clone());
        }
        self.types.push(name);
    }
}

const NUMBERS: &[&str] = &[
    "boolean",
    "octet",
    "char",
    "wchar",
    "int8",
    "uint8",
    "short",
    "uint16",
    "long",
    "uint32",
    "long long",
    "uint64",
    "float",
    "double",
];

fn dimensions(random: &mut Random, chance: u64) -> String {
    let mut text = String::new();
    while text.len() < 6 && random.chance(chance + text.len() as u64) {
        text.push_str(&format!("[{}]", 1 + random.below(3)));
    }
    text
}

/// A type, and whether it may be in a key.
fn ty(random: &mut Random, defined: &Defined, depth: usize) -> (String, bool) {
    let bound = match random.below(3) {
        0 => format!("{}", 1 + random.below(9)),
        _ => String::new(),
    };
    let of = |bound: &str| match bound {
        "" => String::new(),
        bound => format!("<{bound}>"),
    };
    let behind = |bound: &str| match bound {
        "" => String::new(),
        bound => format!(", {bound}"),
    };
    match random.below(14) {
        0 | 1 => (format!("string{}", of(&bound)), true),
        2 => (format!("wstring{}", of(&bound)), true),
        3 | 4 if depth > 0 => {
            let (element, is_key) = ty(random, defined, depth - 1);
            (format!("sequence< {element}{} >", behind(&bound)), is_key)
        }
        5 if depth > 0 => {
            let keys = [
                "string",
                "string<5>",
                "wstring",
                "long",
                "uint8",
                "char",
                "wchar",
                "boolean",
                "int64",
            ];
            let key = random.one(&keys);
            let (value, _) = ty(random, defined, depth - 1);
            (format!("map< {key}, {value}{} >", behind(&bound)), false)
        }
        6..=9 if !defined.types.is_empty() => {
            let index = random.below(defined.types.len() as u64) as usize;
            let name = &defined.types[index];
            (name.clone(), defined.keys.contains(name))
        }
        _ => (random.one(NUMBERS).to_owned(), true),
    }
}

fn enumeration(random: &mut Random, text: &mut String, defined: &mut Defined, name: String) {
    let bits = [8, 16, 32][random.below(3) as usize];
    let count = 1 + random.below(4);
    let default = random.below(count);
    let literals: Vec<String> = (0..count).map(|i| format!("L{i}_{name}")).collect();
    let shown = literals.iter().zip(0..).map(|(literal, i)| {
        let default = if i == default {
            "@default_literal "
        } else {
            ""
        };
        format!("{default}@value({}) {literal}", (i as i64) * 30 - 40)
    });
    let shown: Vec<String> = shown.collect();
    writeln!(
        text,
        "@bit_bound({bits}) enum {name} {{ {} }};",
        shown.join(", ")
    )
    .expect("a String");
    defined.enums.push((name.clone(), literals));
    defined.add(name, true);
}

fn bits(random: &mut Random, text: &mut String, defined: &mut Defined, name: String) {
    let bits = 1 + random.below(64);
    if random.chance(2) {
        let at = random.below(bits);
        writeln!(
            text,
            "@bit_bound({bits}) bitmask {name} {{ @position({at}) A }};"
        )
    } else {
        let (first, rest) = (1 + random.below(20), 1 + random.below(30));
        let gap = if random.chance(2) {
            "bitfield<3>; "
        } else {
            ""
        };
        writeln!(
            text,
            "bitset {name} {{ {gap}bitfield<{first}, long> a; {gap}bitfield<{rest}> b; }};"
        )
    }
    .expect("a String");
    defined.add(name, true);
}

fn kind(random: &mut Random, nested: u64) -> String {
    let nested = if random.chance(nested) {
        " @nested"
    } else {
        ""
    };
    format!(
        "{}{nested}",
        random.one(&["@final", "@appendable", "@mutable"])
    )
}

fn structure(random: &mut Random, text: &mut String, defined: &mut Defined, name: String) {
    let kind = kind(random, 3);
    let mut is_key = true;
    let mut members = String::new();
    for i in 0..1 + random.below(9) {
        let (ty, may_be_key) = ty(random, defined, 3);
        let mut annotations = String::new();
        let key = may_be_key && random.chance(4);
        if key {
            annotations.push_str("@key ");
        } else if random.chance(4) {
            annotations.push_str("@optional ");
        }
        if random.chance(8) {
            annotations.push_str("@external ");
        }
        if random.chance(8) {
            annotations.push_str("@must_understand ");
        }
        let is_tried = !key && random.chance(4);
        if is_tried {
            let action = ["", "(USE_DEFAULT)", "(TRIM)", "(DISCARD)"][random.below(4) as usize];
            annotations.push_str(&format!("@try_construct{action} "));
        }
        // Some member is in samples.
        if !key && i > 0 && random.chance(8) {
            annotations.push_str("@non_serialized ");
        }
        if random.chance(5) {
            annotations.push_str(&format!("@id({}) ", 5000 - 20 * i));
        }
        is_key &= may_be_key && !is_tried;
        let dimensions = dimensions(random, 6);
        members.push_str(&format!(" {annotations}{ty} m{i}{dimensions};"));
    }
    writeln!(text, "{kind} struct {name} {{{members} }};").expect("a String");
    defined.add(name, is_key);
}

fn union(random: &mut Random, text: &mut String, defined: &mut Defined, name: String) {
    let kind = kind(random, 3);
    let discriminators = [
        "boolean", "octet", "char", "int8", "uint8", "short", "uint16", "long", "uint32", "int64",
        "uint64",
    ];
    let mut by = random.one(&discriminators).to_owned();
    let mut labels: Vec<String> = match by.as_str() {
        "boolean" => vec!["TRUE".to_owned(), "FALSE".to_owned()],
        "char" => (0..6)
            .map(|i| format!("'{}'", char::from(b'a' + i)))
            .collect(),
        "int8" | "short" | "long" | "int64" => (0..6).map(|i| (i * 20 - 60).to_string()).collect(),
        _ => (0..6).map(|i| (i * 40).to_string()).collect(),
    };
    if let (false, true) = (defined.enums.is_empty(), random.chance(4)) {
        let index = random.below(defined.enums.len() as u64) as usize;
        (by, labels) = defined.enums[index].clone();
    }
    let mut is_key = true;
    let mut cases = String::new();
    let has_default = labels.len() > 2 && random.chance(2);
    let count = 1 + random.below(labels.len() as u64 - u64::from(has_default)) as usize;
    let mut i = 0;
    while i < count {
        let (ty, may_be_key) = ty(random, defined, 2);
        is_key &= may_be_key;
        cases.push_str(&format!(" case {}:", labels[i]));
        let last = i + 1 == count;
        if !last && random.chance(4) {
            i += 1;
            cases.push_str(&format!(" case {}:", labels[i]));
        }
        let external = if random.chance(6) { "@external " } else { "" };
        let tried = random.one(&["", "", "", "@try_construct ", "@try_construct(TRIM) "]);
        is_key &= tried.is_empty();
        let external = format!("{external}{tried}");
        let dimensions = dimensions(random, 6);
        cases.push_str(&format!(" {external}{ty} m{i}{dimensions};"));
        i += 1;
    }
    if has_default {
        let (ty, may_be_key) = ty(random, defined, 2);
        is_key &= may_be_key;
        cases.push_str(&format!(" default: {ty} other;"));
    }
    let key = if random.chance(4) { "@key " } else { "" };
    writeln!(text, "{kind} union {name} switch ({key}{by}) {{{cases} }};").expect("a String");
    defined.add(name, is_key);
}
