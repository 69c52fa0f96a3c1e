//! A type as OMG IDL 4.2, with the annotations of XTypes 1.3 that its type object tells.
//!
//! Names come from the wire, so what is no identifier is made one: text for people and compilers,
//! never more than the type.

mod spelling;

use std::collections::BTreeSet;
use std::fmt::Write;

use tickwire::cdr::{
    BitmaskDescription, BitsetDescription, EnumDescription, Extensibility, Member, TryConstruct,
    Type, TypeDescription, UnionDescription,
};

use spelling::{comma, identifier, label, last, spell, split_array, type_name};

/// The type, and before it all types that it needs.
pub(crate) fn to_idl(ty: &TypeDescription) -> String {
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
        if of.extensibility == Extensibility::Final {
            self.line("@final");
        }
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
    match member.try_construct {
        TryConstruct::Discard => {}
        TryConstruct::UseDefault => add("@try_construct(USE_DEFAULT)"),
        TryConstruct::Trim => add("@try_construct(TRIM)"),
    }
    match member.hash_id.as_deref() {
        Some("") => add("@hashid"),
        Some(text) => add(&format!("@hashid(\"{}\")", text.escape_default())),
        None if hash_ids || member.id == next_id => {}
        None => add(&format!("@id({})", member.id)),
    }
    annotations
}

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
    @final
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
}
