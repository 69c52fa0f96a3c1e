//! A type as OMG IDL 4.2, with the annotations of XTypes 1.3 that its type object tells.
//!
//! Names come from the wire, so what is no identifier is made one: text for people and compilers,
//! never more than the type.

use std::collections::BTreeSet;
use std::fmt::Write;

use tickwire::cdr::{
    BitmaskDescription, BitsetDescription, EnumDescription, Extensibility, Member, Type,
    TypeDescription, UnionDescription,
};

/// The type, and before it all types that it needs.
pub(super) fn to_idl(ty: &TypeDescription) -> String {
    let mut idl = Idl::default();
    idl.define_struct(ty);
    idl.close_modules(0);
    idl.text
}

#[derive(Default)]
struct Idl {
    text: String,
    /// Modules that are open.
    modules: Vec<String>,
    /// Full names that are defined, or are about to be.
    defined: BTreeSet<String>,
    /// Full names of those that are about to be: what they need comes first.
    begun: BTreeSet<String>,
}

impl Idl {
    /// Defines what a member needs.
    fn define(&mut self, ty: &Type) {
        match ty {
            Type::Struct(of) => self.define_struct(of),
            Type::Union(of) => self.define_union(of),
            Type::Enum(of) => self.define_enum(of),
            Type::Bitmask(of) => self.define_bitmask(of),
            Type::Bitset(of) => self.define_bitset(of),
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.define(element),
            Type::Map { key, value, .. } => {
                self.define(key);
                self.define(value);
            }
            Type::Recursive(link) => {
                if let Some(target) = link.target() {
                    self.define(&target);
                }
            }
            _ => {}
        }
    }

    /// Whether a type is still to be defined. One that contains itself is declared instead where it
    /// is needed first (IDL 4.2 §7.4.1.4.4.4.1).
    fn begin(&mut self, keyword: &str, name: &str) -> bool {
        if self.defined.insert(name.to_owned()) {
            self.begun.insert(name.to_owned());
            return true;
        }
        if self.begun.remove(name) {
            let own = self.open(name);
            self.line(&format!("{keyword} {own};"));
        }
        false
    }

    fn define_struct(&mut self, of: &TypeDescription) {
        if !self.begin("struct", &of.name) {
            return;
        }
        of.members.iter().for_each(|member| self.define(&member.ty));
        self.begun.remove(&*of.name);
        let members: Vec<_> = of.members.iter().collect();
        let declared = self.declare_all(&of.name, &members);
        let name = self.open(&of.name);
        self.annotations(of.extensibility, of.nested);
        if of.hash_ids {
            self.line("@autoid(HASH)");
        }
        self.line(&format!("struct {name} {{"));
        let mut next_id = 0;
        for (member, declared) in members.iter().zip(&declared) {
            let annotations = member_annotations(member, next_id, of.hash_ids);
            next_id = member.id + 1;
            self.line(&format!("  {annotations}{declared};"));
        }
        self.line("};");
    }

    fn define_union(&mut self, of: &UnionDescription) {
        if !self.begin("union", &of.name) {
            return;
        }
        self.define(&of.discriminator);
        of.cases
            .iter()
            .for_each(|case| self.define(&case.member.ty));
        self.begun.remove(&*of.name);
        let members: Vec<_> = of.cases.iter().map(|case| &case.member).collect();
        let declared = self.declare_all(&of.name, &members);
        let name = self.open(&of.name);
        self.annotations(of.extensibility, of.nested);
        let key = if of.discriminator_key { "@key " } else { "" };
        let by = type_name(&of.discriminator);
        self.line(&format!("union {name} switch ({key}{by}) {{"));
        let mut next_id = u32::from(of.extensibility == Extensibility::Mutable);
        for (case, declared) in of.cases.iter().zip(&declared) {
            let labels = case.labels.iter();
            let labels = labels.map(|value| format!("case {}:", label(&of.discriminator, *value)));
            let default = case.default.then(|| "default:".to_owned());
            let labels: Vec<_> = labels.chain(default).collect();
            let annotations = member_annotations(&case.member, next_id, false);
            next_id = case.member.id + 1;
            self.line(&format!("  {} {annotations}{declared};", labels.join(" ")));
        }
        self.line("};");
    }

    fn define_enum(&mut self, of: &EnumDescription) {
        if !self.defined.insert(of.name.to_string()) {
            return;
        }
        let name = self.open(&of.name);
        self.annotations(of.extensibility, false);
        if of.bit_bound != 32 {
            self.line(&format!("@bit_bound({})", of.bit_bound));
        }
        self.line(&format!("enum {name} {{"));
        let mut next = Some(0);
        for (index, literal) in of.literals.iter().enumerate() {
            let value = match next == Some(literal.value) {
                true => String::new(),
                false => format!("@value({}) ", literal.value),
            };
            next = literal.value.checked_add(1);
            let comma = comma(index, of.literals.len());
            self.line(&format!("  {value}{}{comma}", identifier(&literal.name)));
        }
        self.line("};");
    }

    fn define_bitmask(&mut self, of: &BitmaskDescription) {
        if !self.defined.insert(of.name.to_string()) {
            return;
        }
        let name = self.open(&of.name);
        self.line(&format!("@bit_bound({})", of.bit_bound));
        self.line(&format!("bitmask {name} {{"));
        for (index, flag) in of.flags.iter().enumerate() {
            let comma = comma(index, of.flags.len());
            let (position, name) = (flag.position, identifier(&flag.name));
            self.line(&format!("  @position({position}) {name}{comma}"));
        }
        self.line("};");
    }

    fn define_bitset(&mut self, of: &BitsetDescription) {
        if !self.defined.insert(of.name.to_string()) {
            return;
        }
        let name = self.open(&of.name);
        self.line(&format!("bitset {name} {{"));
        let mut next = 0;
        for field in of.fields.iter() {
            if field.position > next {
                // Bits that have no name.
                self.line(&format!("  bitfield<{}>;", field.position - next));
            }
            next = field.position + u16::from(field.bits);
            let (bits, ty, name) = (field.bits, &field.ty, identifier(&field.name));
            self.line(&format!("  bitfield<{bits}, {ty}> {name};"));
        }
        self.line("};");
    }

    /// Members as `type name`, after a definition of each array that stands in a collection, which
    /// has no other form.
    fn declare_all(&mut self, of: &str, members: &[&Member]) -> Vec<String> {
        let mut declared = Vec::new();
        for member in members {
            let mut definitions = Vec::new();
            let name = identifier(&member.name);
            let prefix = format!("{}_{name}", identifier(last(of)));
            let (base, dimensions) = split_array(&member.ty);
            let base = spell(base, &prefix, &mut definitions);
            for definition in definitions {
                self.open(of);
                self.line(&definition);
            }
            declared.push(format!("{base} {name}{dimensions}"));
        }
        declared
    }

    fn annotations(&mut self, extensibility: Extensibility, nested: bool) {
        self.line(match extensibility {
            Extensibility::Final => "@final",
            Extensibility::Appendable => "@appendable",
            Extensibility::Mutable => "@mutable",
        });
        if nested {
            self.line("@nested");
        }
    }

    /// Enters the modules of a type; returns its name in them.
    fn open(&mut self, name: &str) -> String {
        let mut modules: Vec<_> = name.split("::").map(identifier).collect();
        let own = modules.pop().unwrap_or_default();
        let shared = modules.iter().zip(&self.modules);
        let shared = shared.take_while(|(new, old)| new == old).count();
        self.close_modules(shared);
        for module in modules.into_iter().skip(shared) {
            self.line(&format!("module {module} {{"));
            self.modules.push(module);
        }
        own
    }

    fn close_modules(&mut self, left: usize) {
        while self.modules.len() > left {
            self.modules.pop();
            self.line("};");
        }
    }

    fn line(&mut self, text: &str) {
        let indent = 2 * self.modules.len();
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }
}

fn member_annotations(member: &Member, next_id: u32, hash_ids: bool) -> String {
    let mut annotations = String::new();
    let mut add = |text: &str| {
        annotations.push_str(text);
        annotations.push(' ');
    };
    if member.key {
        add("@key");
    }
    if member.optional {
        add("@optional");
    }
    if member.must_understand && !member.key {
        add("@must_understand");
    }
    if member.external {
        add("@external");
    }
    match member.hash_id.as_deref() {
        Some("") => add("@hashid"),
        Some(text) => add(&format!("@hashid(\"{}\")", text.escape_default())),
        None if hash_ids || member.id == next_id => {}
        None => add(&format!("@id({})", member.id)),
    }
    annotations
}

/// An array's innermost element, and its dimensions.
fn split_array(mut ty: &Type) -> (&Type, String) {
    let mut dimensions = String::new();
    while let Type::Array { element, length } = ty {
        dimensions.push_str(&format!("[{length}]"));
        ty = element;
    }
    (ty, dimensions)
}

/// A type in a member; arrays in collections get a name, of which the definitions are added.
fn spell(ty: &Type, prefix: &str, definitions: &mut Vec<String>) -> String {
    let mut part = |ty: &Type, what: &str| {
        let (base, dimensions) = split_array(ty);
        let name = format!("{prefix}_{what}");
        let base = spell(base, &name, definitions);
        if dimensions.is_empty() {
            return base;
        }
        definitions.push(format!("typedef {base} {name}{dimensions};"));
        name
    };
    match ty {
        Type::Sequence { element, bound } => {
            bounded("sequence", &[part(element, "element")], *bound)
        }
        Type::Map { key, value, bound } => {
            let (key, value) = (part(key, "key"), part(value, "value"));
            bounded("map", &[key, value], *bound)
        }
        other => type_name(other),
    }
}

/// The name of a type that is no collection.
fn type_name(ty: &Type) -> String {
    let name = match ty {
        Type::Bool => "boolean",
        Type::U8 => "uint8",
        Type::Byte => "octet",
        Type::I8 => "int8",
        Type::U16 => "uint16",
        Type::I16 => "int16",
        Type::U32 => "uint32",
        Type::I32 => "int32",
        Type::U64 => "uint64",
        Type::I64 => "int64",
        Type::F32 => "float",
        Type::F64 => "double",
        Type::Char => "char",
        Type::WChar => "wchar",
        Type::String { bound } => return bounded("string", &[], *bound),
        Type::WString { bound } => return bounded("wstring", &[], *bound),
        Type::Enum(of) => return full_name(&of.name),
        Type::Bitmask(of) => return full_name(&of.name),
        Type::Bitset(of) => return full_name(&of.name),
        Type::Struct(of) => return full_name(&of.name),
        Type::Union(of) => return full_name(&of.name),
        Type::Recursive(link) => {
            let target = link.target();
            return target.map_or_else(|| "any".to_owned(), |target| type_name(&target));
        }
        Type::Sequence { .. } | Type::Array { .. } | Type::Map { .. } => "",
    };
    name.to_owned()
}

fn bounded(name: &str, parameters: &[String], bound: u32) -> String {
    let bound = (bound > 0).then(|| bound.to_string());
    let parameters: Vec<_> = parameters.iter().cloned().chain(bound).collect();
    match parameters.is_empty() {
        true => name.to_owned(),
        // `>>` is one token to older compilers.
        false => format!("{name}<{}>", parameters.join(", ")).replace(">>", "> >"),
    }
}

fn full_name(name: &str) -> String {
    let parts: Vec<_> = name.split("::").map(identifier).collect();
    parts.join("::")
}

/// A label of a union, as its discriminator has it.
fn label(discriminator: &Type, value: i32) -> String {
    match discriminator {
        Type::Bool => if value == 0 { "FALSE" } else { "TRUE" }.to_owned(),
        Type::Char => match u8::try_from(value).map(char::from) {
            Ok(char) if char.is_ascii_graphic() => format!("'{}'", char.escape_default()),
            _ => format!("'\\x{:02x}'", value & 0xff),
        },
        Type::Enum(of) => match of.literal(value) {
            Some(literal) => {
                // A literal's scope is that of its enumeration.
                let scope = of
                    .name
                    .rsplit_once("::")
                    .map(|(modules, _)| full_name(modules));
                let literal = identifier(&literal.name);
                scope.map_or(literal.clone(), |scope| format!("{scope}::{literal}"))
            }
            None => value.to_string(),
        },
        _ => value.to_string(),
    }
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn comma(index: usize, len: usize) -> &'static str {
    if index + 1 < len { "," } else { "" }
}

/// A name as it may stand in IDL: keywords are escaped (IDL 4.2 §7.2.3.2), impossible characters
/// become underscores.
fn identifier(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut text: String = name.chars().map(valid).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert_str(0, "x_");
    }
    // Keywords collide with names that differ in case alone, too.
    match KEYWORDS.contains(&text.to_ascii_lowercase().as_str()) {
        true => format!("_{text}"),
        false => text,
    }
}

const KEYWORDS: [&str; 74] = [
    "abstract",
    "any",
    "alias",
    "attribute",
    "bitfield",
    "bitmask",
    "bitset",
    "boolean",
    "case",
    "char",
    "component",
    "connector",
    "const",
    "consumes",
    "context",
    "custom",
    "default",
    "double",
    "emits",
    "enum",
    "eventtype",
    "exception",
    "factory",
    "false",
    "finder",
    "fixed",
    "float",
    "getraises",
    "home",
    "import",
    "in",
    "inout",
    "interface",
    "local",
    "long",
    "manages",
    "map",
    "mirrorport",
    "module",
    "multiple",
    "native",
    "object",
    "octet",
    "oneway",
    "out",
    "port",
    "porttype",
    "primarykey",
    "private",
    "provides",
    "public",
    "publishes",
    "raises",
    "readonly",
    "sequence",
    "setraises",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "true",
    "truncatable",
    "typedef",
    "typeid",
    "typename",
    "typeprefix",
    "union",
    "unsigned",
    "uses",
    "valuebase",
    "valuetype",
    "void",
    "wchar",
];

#[cfg(test)]
mod tests {
    use super::*;
    use tickwire::Topic;
    use tickwire::cdr::{Bitfield, Topic as _};

    #[derive(Topic, Clone, Copy)]
    #[topic(name = "md::base::Side", bit_bound = 8, crate = tickwire::cdr)]
    enum Side {
        #[topic(rename = "BUY")]
        Buy = 1,
        #[topic(rename = "SELL")]
        Sell = 2,
    }

    #[derive(Topic)]
    #[topic(name = "md::base::Flags", final, flags(OPEN, LATE = 9), crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    struct Flags(u16);

    #[derive(Topic)]
    #[topic(name = "md::Change", final, discriminator = Side, crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    enum Change {
        #[topic(case = Side::Buy)]
        Bid(f64),
        #[topic(case = Side::Sell)]
        Ask(Vec<[i32; 3]>),
    }

    #[derive(Topic)]
    #[topic(name = "md::Order", mutable, crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    struct Order {
        #[topic(key, bound = 8)]
        symbol: String,
        #[topic(id = 9)]
        side: Option<Side>,
        flags: Flags,
        #[topic(rename = "union")]
        change: Change,
        #[topic(octet, bound = 4)]
        raw: Vec<u8>,
        grid: [[u64; 3]; 2],
        names: Vec<Vec<String>>,
        #[topic(hash_id = "other")]
        hashed: i8,
    }

    #[test]
    fn a_type_is_defined_after_what_it_needs() {
        let expected = "\
module md {
  module base {
    @appendable
    @bit_bound(8)
    enum Side {
      @value(1) BUY,
      SELL
    };
    @bit_bound(16)
    bitmask Flags {
      @position(0) OPEN,
      @position(9) LATE
    };
  };
  typedef int32 Change_ask_element[3];
  @final
  union Change switch (md::base::Side) {
    case md::base::BUY: double bid;
    case md::base::SELL: sequence<Change_ask_element> ask;
  };
  @mutable
  struct Order {
    @key string<8> symbol;
    @optional @id(9) md::base::Side side;
    md::base::Flags flags;
    md::Change _union;
    sequence<octet, 4> raw;
    uint64 grid[2][3];
    sequence<sequence<string> > names;
    @hashid(\"other\") int8 hashed;
  };
};
";
        assert_eq!(to_idl(Order::description()), expected);
    }

    #[test]
    fn bits_between_the_fields_of_a_bitset_are_counted() {
        let field = |name: &str, position, bits, ty| Bitfield {
            name: name.into(),
            position,
            bits,
            ty,
        };
        let bitset = BitsetDescription {
            name: "md::Status".into(),
            fields: vec![
                field("open", 0, 1, Type::Bool),
                field("level", 4, 10, Type::I16),
            ]
            .into(),
        };
        let status = Member::new("status", 0, Type::Bitset(bitset.into()));
        let ty = TypeDescription::new("md::Book", Extensibility::Final, vec![status]);
        let expected = "\
module md {
  bitset Status {
    bitfield<1, boolean> open;
    bitfield<3>;
    bitfield<10, int16> level;
  };
  @final
  struct Book {
    md::Status status;
  };
};
";
        assert_eq!(to_idl(&ty.expect("a valid type")), expected);
    }

    #[derive(Topic)]
    #[topic(name = "md::Node", final, crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    struct Node {
        value: Option<Box<Value>>,
        children: Vec<Self>,
    }

    #[derive(Topic)]
    #[topic(name = "md::Value", final, crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    enum Value {
        Number(i64),
        Tree(Node),
    }

    #[test]
    fn a_type_that_contains_itself_is_declared_first() {
        let expected = "\
module md {
  struct Node;
  @final
  union Value switch (int32) {
    case 0: int64 number;
    case 1: md::Node tree;
  };
  @final
  struct Node {
    @optional @external md::Value value;
    sequence<md::Node> children;
  };
};
";
        assert_eq!(to_idl(Node::description()), expected);
    }

    #[test]
    fn names_from_the_wire_stay_names() {
        assert_eq!(identifier("price"), "price");
        assert_eq!(identifier("Struct"), "_Struct");
        assert_eq!(identifier("a;}\nstruct b"), "a___struct_b");
        assert_eq!(identifier("7"), "x_7");
        assert_eq!(identifier(""), "x_");
        let keyword_twice = KEYWORDS.iter().collect::<BTreeSet<_>>();
        assert_eq!(keyword_twice.len(), KEYWORDS.len());
    }
}
