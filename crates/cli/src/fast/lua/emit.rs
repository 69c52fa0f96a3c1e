//! The text of a dissector: tables made from the templates, then the decoder that reads by them. Knows nothing of files
//! or options.

use std::collections::HashMap;
use std::fmt::Write;
use std::net::Ipv4Addr;

use tickwire_fast::{
    Field, FieldType, Fields, Instruction, Part, Template, Templates, Value, generate,
};

/// What the dissector is to be, beside the templates.
pub(super) struct Dissector<'a> {
    pub(super) name: &'a str,
    pub(super) ports: &'a [u16],
    pub(super) group: Option<Ipv4Addr>,
    pub(super) reset: &'a str,
    pub(super) preamble: &'a str,
}

impl Dissector<'_> {
    /// The whole script.
    pub(super) fn emit(&self, templates: &Templates) -> String {
        let mut emitter = Emitter {
            name: self.name,
            proto_fields: String::new(),
            tables: String::new(),
            known: HashMap::new(),
            next: 0,
        };
        for template in templates.iter() {
            emitter.template(template);
        }
        let group = self
            .group
            .map_or_else(|| "nil".to_owned(), |group| format!("\"{group}\""));
        let mut ports = String::new();
        for port in self.ports {
            let _ = writeln!(ports, "udp:add({port}, proto)");
        }
        format!(
            "{HEADER}local RESET = \"{}\"\nlocal PREAMBLE = \"{}\"\nlocal GROUP = {group}\n\n\
             {proto}local P = {{}}\n{}\
             local message_pf = ProtoField.none(\"{name}.message\", \"Message\")\n\
             local template_pf = ProtoField.string(\"{name}.template\", \"Template\")\n\
             local template_id_pf = ProtoField.uint32(\"{name}.template_id\", \"Template id\")\n\
             local presence_map_pf = ProtoField.string(\"{name}.presence_map\", \"Presence map\")\n\
             local packet_number_pf = ProtoField.uint64(\"{name}.packet_number\", \"Packet number\")\n\
             P[#P + 1], P[#P + 2], P[#P + 3], P[#P + 4], P[#P + 5] =\n    \
             message_pf, template_pf, template_id_pf, presence_map_pf, packet_number_pf\n\
             proto.fields = P\n\
             local error_info = ProtoExpert.new(\"{name}.malformed\", \"Message that cannot be decoded\",\n    \
             expert.group.MALFORMED, expert.severity.ERROR)\nproto.experts = {{ error_info }}\n\n\
             local templates, DEFAULT = {{}}, nil\n{}\n{RUNTIME}\n\
             local udp = DissectorTable.get(\"udp.port\")\nudp:add_for_decode_as(proto)\n{ports}",
            self.reset,
            self.preamble,
            emitter.proto_fields,
            emitter.tables,
            name = self.name,
            proto = self.proto(),
        )
    }

    /// What registers the protocol. Names depend on Wireshark's version and plugins: only it knows which are taken.
    fn proto(&self) -> String {
        let name = self.name;
        format!(
            "local is_free, proto = pcall(Proto, \"{name}\", \"{name} (FAST)\")\n\
             if not is_free then\n    \
             error(\"Wireshark has a protocol of the name {name}: print this dissector with another, \
             such as `tickwire fast lua --name fast_{name}`\", 0)\nend\n"
        )
    }
}

struct Emitter<'a> {
    name: &'a str,
    proto_fields: String,
    tables: String,
    /// Wireshark's fields by filter and type: the same name in several templates is one field.
    known: HashMap<String, (String, usize)>,
    next: usize,
}

impl Emitter<'_> {
    /// A template's table, by its id or as that of messages without one; nothing if it has no messages.
    fn template(&mut self, template: Template<'_>) {
        let table = match template.id() {
            None if template.is_default() => "DEFAULT".to_owned(),
            None => return,
            Some(id) => format!("templates[{id}]"),
        };
        let (name, resets) = (quoted(template.name()), template.resets());
        let _ = write!(
            self.tables,
            "{table} = {{ name = {name}, reset = {resets}, fields = "
        );
        self.fields(template.fields(), 1);
        self.tables.push_str(" }\n");
        if template.is_default() && template.id().is_some() {
            let _ = writeln!(self.tables, "DEFAULT = {table}");
        }
    }

    fn fields(&mut self, fields: Fields<'_>, depth: usize) {
        self.tables.push_str("{\n");
        for field in fields {
            let _ = write!(self.tables, "{:1$}{{ ", "", 2 * depth);
            self.field(field, depth);
            self.tables.push_str(" },\n");
        }
        let _ = write!(self.tables, "{:1$}}}", "", 2 * depth - 2);
    }

    fn field(&mut self, field: Field<'_>, depth: usize) {
        let kind = kind_of(field);
        let _ = write!(
            self.tables,
            "name = {}, kind = \"{kind}\"",
            quoted(field.name())
        );
        if kind == "reference" {
            return;
        }
        let own = self.proto_field(field);
        let _ = write!(self.tables, ", pf = P[{own}]");
        if field.field_type() == FieldType::Decimal {
            let mantissa = self.part(field, "mantissa", "int64");
            let exponent = self.part(field, "exponent", "int32");
            let _ = write!(
                self.tables,
                ", mantissa_pf = P[{mantissa}], exponent_pf = P[{exponent}]"
            );
        }
        if field.is_boolean() {
            self.tables.push_str(", boolean = true");
        }
        if let Some(elements) = field.set() {
            let names: Vec<_> = elements
                .iter()
                .map(|element| quoted(&element.name))
                .collect();
            let values: Vec<_> = elements.iter().map(|e| e.value.to_string()).collect();
            let _ = write!(
                self.tables,
                ", elements = {{ {} }}, values = {{ {} }}",
                names.join(", "),
                values.join(", ")
            );
        }
        if let Some(width) = field.bit_width() {
            let _ = write!(
                self.tables,
                ", width = {width}, opt = {}",
                field.is_optional()
            );
        }
        for instruction in field.instructions() {
            self.instruction(instruction, kind);
        }
        if field.field_type().is_container() {
            let _ = write!(self.tables, ", map = {}, fields = ", field.map_bits() > 0);
            self.fields(field.fields(), depth + 1);
        }
    }

    fn instruction(&mut self, instruction: Instruction<'_>, kind: &str) {
        let role = match instruction.part() {
            Part::Length => "length",
            Part::Exponent => "exponent",
            Part::Mantissa => "mantissa",
            Part::Value | Part::PresenceMap | Part::TemplateId => "value",
        };
        let kind = match instruction.part() {
            Part::Value => kind,
            _ => integer_kind(instruction.field_type()),
        };
        let (optional, bit) = (instruction.is_optional(), instruction.uses_map());
        let operator = instruction.operator().name();
        let _ = write!(
            self.tables,
            ", {role} = {{ kind = \"{kind}\", op = \"{operator}\", opt = {optional}, bit = {bit}"
        );
        if let Some(slot) = instruction.slot() {
            let tag = instruction.field_type() as u8;
            let _ = write!(self.tables, ", slot = {}, tag = {tag}", slot.number);
        }
        let max = i128::from(instruction.max());
        match kind {
            // Sets, whose sum is less than their type's largest integer.
            "u64" if max <= i64::MAX.into() => drop(write!(
                self.tables,
                ", min = Int64(0), max = {}",
                wide(instruction.max())
            )),
            "u32" => drop(write!(self.tables, ", min = 0, max = {max}")),
            "i32" => drop(write!(self.tables, ", min = {}, max = {max}", -max - 1)),
            _ => {}
        }
        if let Some(initial) = instruction.initial() {
            let _ = write!(self.tables, ", init = {}", literal(initial, kind));
        }
        self.tables.push_str(" }");
    }

    /// The number of a field's entry among Wireshark's.
    fn proto_field(&mut self, field: Field<'_>) -> usize {
        let kind = match field.field_type() {
            _ if field.is_boolean() => "bool",
            _ if field.set().is_some() => "uint64",
            FieldType::UInt64 => "uint64",
            FieldType::Int64 => "int64",
            FieldType::Decimal => "double",
            FieldType::Ascii | FieldType::Unicode | FieldType::ByteVector => "string",
            FieldType::Group | FieldType::Template => "none",
            FieldType::Sequence => "uint32",
            signed if signed.is_signed() => "int32",
            _ => "uint32",
        };
        let names = field.enumeration().map(|elements| {
            let names = elements
                .iter()
                .filter(|element| element.value <= u32::MAX.into());
            let names = names.map(|e| format!("[{}] = {}", e.value, quoted(&e.name)));
            format!("base.DEC, {{ {} }}", names.collect::<Vec<_>>().join(", "))
        });
        self.define(&snake(field.name()), field.name(), kind, names.as_deref())
    }

    fn part(&mut self, field: Field<'_>, part: &str, kind: &str) -> usize {
        let filter = format!("{}.{part}", snake(field.name()));
        self.define(&filter, part, kind, None)
    }

    fn define(&mut self, filter: &str, label: &str, kind: &str, more: Option<&str>) -> usize {
        let key = format!("{kind} {}", more.unwrap_or_default());
        let mut abbreviation = filter.to_owned();
        let mut number = 2;
        loop {
            match self.known.get(&abbreviation) {
                Some((known, at)) if *known == key => return *at,
                None if !RESERVED.contains(&&*abbreviation) => break,
                // The same name with another type has a number.
                _ => abbreviation = format!("{filter}_{number}"),
            }
            number += 1;
        }
        self.next += 1;
        let at = self.next;
        let more = more.map_or_else(String::new, |more| format!(", {more}"));
        let _ = writeln!(
            self.proto_fields,
            "P[{at}] = ProtoField.{kind}(\"{}.{abbreviation}\", {}{more})",
            self.name,
            quoted(label)
        );
        self.known.insert(abbreviation, (key, at));
        at
    }
}

fn kind_of(field: Field<'_>) -> &'static str {
    match field.field_type() {
        FieldType::Group if field.bit_width().is_some() => "bits",
        FieldType::Group => "group",
        FieldType::Sequence => "sequence",
        FieldType::Template => "reference",
        FieldType::Decimal => "decimal",
        FieldType::Ascii => "ascii",
        FieldType::Unicode => "unicode",
        FieldType::ByteVector => "bytes",
        // Sets have up to 64 elements.
        _ if field.set().is_some() => "u64",
        integer => integer_kind(integer),
    }
}

fn integer_kind(field_type: FieldType) -> &'static str {
    match field_type {
        FieldType::UInt64 => "u64",
        FieldType::Int64 => "i64",
        signed if signed.is_signed() => "i32",
        _ => "u32",
    }
}

/// The bits of an integer as an Int64.
fn wide(bits: u64) -> String {
    format!("Int64({}, {})", bits & u64::from(u32::MAX), bits >> 32)
}

/// A value as the decoder has it.
fn literal(value: Value<'_>, kind: &str) -> String {
    match value {
        Value::Unsigned(value) if kind == "u64" => wide(value),
        Value::Signed(value) if kind == "i64" => wide(value.cast_unsigned()),
        Value::Unsigned(value) => value.to_string(),
        Value::Signed(value) => value.to_string(),
        Value::Decimal(value) => format!(
            "{{ exponent = {}, mantissa = {} }}",
            value.exponent(),
            wide(value.mantissa().cast_unsigned())
        ),
        Value::Text(text) => quoted(text),
        Value::Bytes(bytes) => quoted_bytes(bytes),
        Value::Group(_) | Value::Sequence(_) | Value::Template(..) => "nil".to_owned(),
    }
}

/// A name as Wireshark's filters allow it.
fn snake(name: &str) -> String {
    let snake = generate::member_name(name);
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    snake.chars().map(legal).collect()
}

fn quoted(text: &str) -> String {
    quoted_bytes(text.as_bytes())
}

/// A Lua string: whatever could end it or be read otherwise is a number.
fn quoted_bytes(bytes: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => {
                let _ = write!(quoted, "\\{byte:03}");
            }
            _ => quoted.push(char::from(byte)),
        }
    }
    quoted.push('"');
    quoted
}

/// Filters of the dissector itself.
const RESERVED: [&str; 6] = [
    "message",
    "template",
    "template_id",
    "presence_map",
    "packet_number",
    "malformed",
];
const HEADER: &str = "\
-- A Wireshark dissector for a FAST feed, printed by `tickwire fast lua`.
-- tshark -X lua_script:THIS_FILE -r CAPTURE; or put it into Wireshark's folder of personal Lua plugins.

";
const RUNTIME: &str = include_str!("runtime.lua");
