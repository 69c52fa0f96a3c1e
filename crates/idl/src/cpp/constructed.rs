//! Constants, enums, bitmasks and bitsets.

use super::{Cpp, names, print};
use crate::c::facts::{Kind, bitset_bits, bitset_fields, bytes_of, kind};
use crate::c::integer;
use crate::model::{Bitmask, Bitset, Definition, DefinitionId, Enum, Primitive, Type, Value};

impl Cpp<'_> {
    pub(super) fn constant(&mut self, name: &str, ty: &Type, value: &Value) {
        let how = match kind(self.model, ty) {
            Kind::String(_) | Kind::WString(_) => "const",
            _ => "constexpr",
        };
        let (ty, value) = (self.ty(ty), self.value(value, ty));
        self.text
            .line(&format!("inline {how} {ty} {name} = {value};"));
    }

    pub(super) fn enumeration(&mut self, definition: &Definition, name: &str, of: &Enum) {
        let text = &mut self.text;
        text.open(&format!("enum class {name} : std::int32_t {{"));
        for (index, literal) in of.literals.iter().enumerate() {
            text.doc(literal.doc.as_deref().unwrap_or_default());
            let comma = if index + 1 < of.literals.len() {
                ","
            } else {
                ""
            };
            let value = integer(literal.value.into(), 4);
            let literal = names::identifier(&literal.name);
            text.line(&format!("{literal} = {value}{comma}"));
        }
        text.close("};");
        // IDL has literals in the scope around the enum, too.
        for literal in &of.literals {
            let constant = names::constant(definition, &literal.name);
            let literal = names::identifier(&literal.name);
            text.line(&format!(
                "inline constexpr {name} {constant} = {name}::{literal};"
            ));
        }
        let first = of.literals.get(of.default as usize);
        let first = first.map_or_else(String::new, |first| names::identifier(&first.name));
        let full_name = names::qualified(self.model, definition);
        let here = self.namespaces.clone();
        self.enter(&[]);
        let text = &mut self.text;
        text.line("");
        text.line("template <>");
        text.open(&format!("struct tickwire::cdr::Literals<{full_name}> {{"));
        text.line(&format!(
            "static constexpr {full_name} first = {full_name}::{first};"
        ));
        text.open("static constexpr bool has(std::int32_t value) {");
        text.open("switch (value) {");
        for literal in &of.literals {
            text.label(&format!("case {}:", integer(literal.value.into(), 4)));
        }
        text.line("return true;");
        text.label("default:");
        text.line("return false;");
        text.close("}");
        text.close("}");
        text.close("};");
        self.enter(&here);
        self.print_enum(definition, of);
    }

    pub(super) fn bitmask(&mut self, name: &str, of: &Bitmask) {
        let bits = bytes_of(of.bit_bound) * 8;
        let text = &mut self.text;
        text.line(&format!("using {name} = std::uint{bits}_t;"));
        text.open(&format!("struct {name}Bits {{"));
        text.open(&format!("enum : std::uint{bits}_t {{"));
        for (index, flag) in of.flags.iter().enumerate() {
            text.doc(flag.doc.as_deref().unwrap_or_default());
            let comma = if index + 1 < of.flags.len() { "," } else { "" };
            let value = integer(1 << flag.bit, bits / 8);
            let flag = names::identifier(&flag.name);
            text.line(&format!("{flag} = {value}{comma}"));
        }
        text.close("};");
        text.close("};");
    }

    pub(super) fn bitset(&mut self, id: DefinitionId, name: &str, of: &Bitset) {
        let width = bytes_of(bitset_bits(self.model, of)) * 8;
        let fields = bitset_fields(self.model, of);
        let own: Vec<_> = of.fields.iter().filter(|it| it.name.is_some()).collect();
        let member = |name: &Option<String>| names::identifier(name.as_deref().unwrap_or_default());
        let base = of.base.map(|id| format!(" : {}", self.name(id)));
        let text = &mut self.text;
        text.open(&format!("struct {name}{} {{", base.unwrap_or_default()));
        for field in &own {
            text.doc(field.doc.as_deref().unwrap_or_default());
            let (ty, field, bits) = (names::primitive(field.ty), member(&field.name), field.bits);
            text.line(&format!("{ty} {field} : {bits};"));
        }
        let zeros: Vec<String> = own
            .iter()
            .map(|it| format!("{}(0)", member(&it.name)))
            .collect();
        let colon = if zeros.is_empty() { "" } else { " : " };
        text.line("");
        text.line(&format!("{name}(){colon}{} {{}}", zeros.join(", ")));
        text.line("");
        text.open(&format!(
            "friend bool operator==(const {name} &_a, const {name} &_b) {{"
        ));
        let same = fields.iter().map(|it| {
            let field = member(&it.name);
            format!("_a.{field} == _b.{field}")
        });
        text.line(&format!(
            "return {};",
            same.collect::<Vec<_>>().join(" && ")
        ));
        text.close("}");
        text.line(&format!(
            "friend bool operator!=(const {name} &_a, const {name} &_b) {{ return !(_a == _b); }}"
        ));
        text.close("};");
        let full_name = self.name(id);
        let shown = fields.iter().map(|it| {
            let name = it.name.as_deref().unwrap_or_default();
            (name, format!("v.{}", member(&it.name)))
        });
        let shown: Vec<_> = shown.collect();
        print::print_members(&mut self.text, &full_name, &shown);

        let text = &mut self.traits;
        text.line("");
        text.line("template <>");
        text.open(&format!("struct BitsetCodec<{full_name}> {{"));
        text.open(&format!(
            "static std::uint{width}_t pack(const {full_name} &v) {{"
        ));
        let parts = fields.iter().map(|field| {
            let (mask, at) = (mask(field.bits), field.position);
            format!(
                "(static_cast<std::uint64_t>(v.{}) & {mask}) << {at}",
                member(&field.name)
            )
        });
        let parts: Vec<String> = parts.collect();
        text.line(&format!(
            "return static_cast<std::uint{width}_t>({});",
            parts.join(" | ")
        ));
        text.close("}");
        text.open(&format!(
            "static void unpack(std::uint64_t bits, {full_name} &v) {{"
        ));
        for field in &fields {
            let ty = names::primitive(field.ty);
            let (mask, at, name) = (mask(field.bits), field.position, member(&field.name));
            let signed = field.ty.integer_range().is_some_and(|(least, _)| least < 0);
            let value = match (field.ty, signed) {
                (Primitive::Boolean, _) => format!("(bits >> {at} & {mask}) != 0"),
                (_, true) => format!(
                    "static_cast<{ty}>(signed_bits(bits >> {at}, {}))",
                    field.bits
                ),
                _ => format!("static_cast<{ty}>(bits >> {at} & {mask})"),
            };
            text.line(&format!("v.{name} = {value};"));
        }
        text.close("}");
        text.close("};");
    }
}

fn mask(bits: u16) -> String {
    let mask = match bits {
        64 => u64::MAX,
        bits => (1 << bits) - 1,
    };
    format!("UINT64_C({mask:#x})")
}
