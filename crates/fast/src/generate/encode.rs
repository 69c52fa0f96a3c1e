//! The functions that encode, as text: one per template, group and sequence, one line per field.

use std::fmt::Write as _;

use super::codec::{Codec, Function, initial, op_text};
use super::model::{ANY_MESSAGE, Member, Owner, Type};
use crate::plan::{Kind, Op};
use crate::{FieldType, Operator};

/// Appends the encoding half of the module `codec`.
pub(super) fn write(codec: &Codec<'_>, out: &mut String) {
    for function in codec.functions() {
        let _infallible = self::function(codec, &function, out);
    }
    if codec.model.is_dynamic {
        let _infallible = inner(codec, out);
    }
}

fn function(codec: &Codec<'_>, function: &Function, out: &mut String) -> std::fmt::Result {
    let Some(of) = codec.model.structs.get(function.of) else {
        return Ok(());
    };
    let mut body = String::new();
    let mut lines = Lines {
        codec,
        out: &mut body,
    };
    for member in &of.members {
        lines.member(member)?;
    }
    let path = codec.model.path(function.of);
    match of.owner {
        Owner::Template(template) => {
            let id = template.id().map(|id| id.0);
            writeln!(out, "    impl Encode<Messages> for super::{path} {{")?;
            writeln!(out, "        const ID: Option<u32> = {id:?};")?;
            if template.is_default() {
                writeln!(out, "        const IS_DEFAULT: bool = true;")?;
            }
            writeln!(
                out,
                "        const NAME: &'static str = {:?};",
                template.name()
            )?;
            writeln!(out, "        const RESETS: bool = {};", template.resets())?;
            writeln!(
                out,
                "        const MAP_BITS: u32 = {};\n",
                function.map_bits
            )?;
            writeln!(
                out,
                "        fn encode(&self, map: &mut MapWriter, writer: &mut Writer<'_>) -> Result<(), Fault> {{"
            )?;
            writeln!(out, "            let message = self;")?;
            for line in body.lines() {
                writeln!(out, "    {line}")?;
            }
            writeln!(out, "            Ok(())\n        }}\n    }}\n")
        }
        Owner::Field(_) => {
            let name = codec.encode_name(function.of);
            writeln!(out, "    #[inline]")?;
            writeln!(
                out,
                "    fn {name}(message: &super::{path}, writer: &mut Writer<'_>) -> Result<(), Fault> {{"
            )?;
            writeln!(
                out,
                "        let map = &mut writer.map({});",
                function.map_bits
            )?;
            out.push_str(&body);
            writeln!(out, "        writer.end(map);\n        Ok(())\n    }}\n")
        }
    }
}

struct Lines<'a> {
    codec: &'a Codec<'a>,
    out: &'a mut String,
}

impl Lines<'_> {
    fn member(&mut self, member: &Member<'_>) -> std::fmt::Result {
        let name = &member.name;
        let Some([op, rest @ ..]) = self.codec.plan.ops.get(member.op..) else {
            return Ok(());
        };
        if op.spec.operator == Operator::Constant && !op.spec.optional {
            let is_sent = self.constant(member, op);
            let field = op.field;
            return writeln!(self.out, "        writer.constant({is_sent}, {field})?;");
        }
        let instruction = op_text(op, member.field.field_type());
        let value = value(member, &format!("message.{name}"));
        match (op.kind, rest) {
            (Kind::Unsigned | Kind::Signed, _) => {
                writeln!(
                    self.out,
                    "        writer.integer({instruction}, {value}, map)?;"
                )
            }
            (Kind::Decimal, _) => {
                writeln!(
                    self.out,
                    "        writer.decimal({instruction}, {value}, map)?;"
                )
            }
            (Kind::Split, [exponent, mantissa, ..]) => {
                let exponent = op_text(exponent, FieldType::Int32);
                let mantissa = op_text(mantissa, FieldType::Int64);
                writeln!(
                    self.out,
                    "        writer.split_decimal({exponent}, {mantissa}, {value}, map)?;"
                )
            }
            (Kind::Ascii | Kind::Unicode | Kind::Bytes, _) => {
                let method = match op.kind {
                    Kind::Ascii => "ascii",
                    Kind::Unicode => "unicode",
                    _ => "bytes",
                };
                let initial = initial(self.codec.plan, op);
                writeln!(
                    self.out,
                    "        writer.{method}({instruction}, {initial}, {value}, map)?;"
                )
            }
            (Kind::BitGroup, _) => self.bit_group(member, &instruction),
            (Kind::Group, _) => self.group(member, op),
            (Kind::Sequence, [length, ..]) => self.sequence(member, op, length),
            (Kind::Template, _) => {
                let field = op.field;
                writeln!(
                    self.out,
                    "        encode__inner(message.{name}.as_deref(), writer)\n            .map_err(|fault| fault.in_field({field}))?;"
                )
            }
            _ => Ok(()),
        }
    }

    /// Whether a mandatory constant's member has the constant, or was left at its default.
    fn constant(&self, member: &Member<'_>, op: &Op) -> String {
        let name = format!("message.{}", member.name);
        let (bits, initial) = (op.spec.value, initial(self.codec.plan, op));
        match (member.ty, op.kind) {
            (Type::Enumeration(_), _) => format!("matches!({name} as u64, 0 | {bits})"),
            (Type::Bool, _) => format!("!{name} || {}", bits != 0),
            (_, Kind::Signed) => format!("matches!({name}, 0 | {})", bits.cast_signed()),
            (_, Kind::Unsigned) => format!("matches!({name}, 0 | {bits})"),
            (_, Kind::Decimal) => format!(
                "{name} == ::tickwire_fast::generated::decimal({}, {}) || {name} == Default::default()",
                bits.cast_signed(),
                op.spec.exponent
            ),
            (_, Kind::Bytes) => format!("{name}.is_empty() || {name} == {initial}"),
            _ => format!("{name}.is_empty() || {name} == {initial}"),
        }
    }

    fn bit_group(&mut self, member: &Member<'_>, instruction: &str) -> std::fmt::Result {
        let (Type::Group(of), name) = (member.ty, &member.name) else {
            return Ok(());
        };
        writeln!(self.out, "        let mut packed = 0;")?;
        for inner in self
            .codec
            .model
            .structs
            .get(of)
            .iter()
            .flat_map(|of| &of.members)
        {
            if let Some(op) = self.codec.plan.ops.get(inner.op) {
                let instruction = op_text(op, inner.field.field_type());
                let value = value(inner, &format!("message.{name}.{}", inner.name));
                writeln!(
                    self.out,
                    "        packed = writer.pack(packed, {instruction}, {value})?;"
                )?;
            }
        }
        writeln!(
            self.out,
            "        writer.bit_group({instruction}, packed, map)?;"
        )
    }

    fn group(&mut self, member: &Member<'_>, op: &Op) -> std::fmt::Result {
        let (Type::Group(of), name, field) = (member.ty, &member.name, op.field) else {
            return Ok(());
        };
        let function = self.codec.encode_name(of);
        if !member.optional {
            return writeln!(
                self.out,
                "        {function}(&message.{name}, writer)\n            .map_err(|fault| fault.in_field({field}))?;"
            );
        }
        writeln!(
            self.out,
            "        writer.bit(message.{name}.is_some(), map);"
        )?;
        writeln!(self.out, "        if let Some(group) = &message.{name} {{")?;
        writeln!(
            self.out,
            "            {function}(group, writer).map_err(|fault| fault.in_field({field}))?;\n        }}"
        )
    }

    fn sequence(&mut self, member: &Member<'_>, op: &Op, length: &Op) -> std::fmt::Result {
        let (Type::Sequence(of), name, field) = (member.ty, &member.name, op.field) else {
            return Ok(());
        };
        let function = self.codec.encode_name(of);
        let instruction = op_text(length, FieldType::UInt32);
        let (len, list) = match member.optional {
            true => (
                format!("message.{name}.as_ref().map(Vec::len)"),
                format!("message.{name}.iter().flatten()"),
            ),
            false => (
                format!("message.{name}.len()"),
                format!("message.{name}.iter()"),
            ),
        };
        writeln!(
            self.out,
            "        writer.length({instruction}, {len}, map)?;"
        )?;
        writeln!(
            self.out,
            "        for (index, element) in (0..).zip({list}) {{"
        )?;
        writeln!(
            self.out,
            "            {function}(element, writer)\n                .map_err(|fault| fault.in_element({field}, index))?;\n        }}"
        )
    }
}

/// A member's value as the writer takes it.
fn value(member: &Member<'_>, place: &str) -> String {
    match (member.ty, member.optional) {
        (Type::Enumeration(_), false) => format!("{place} as u64"),
        (Type::Enumeration(_), true) => format!("{place}.map(|element| element as u64)"),
        (Type::Bool, false) => format!("u64::from({place})"),
        (Type::Bool, true) => format!("{place}.map(u64::from)"),
        (Type::Text, false) => format!("{place}.as_str()"),
        (Type::Bytes, false) => format!("&{place}[..]"),
        (Type::Text | Type::Bytes, true) => format!("{place}.as_deref()"),
        _ => place.to_owned(),
    }
}

/// The function of dynamic template references.
fn inner(codec: &Codec<'_>, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "    fn encode__inner(message: Option<&super::{ANY_MESSAGE}>, writer: &mut Writer<'_>) -> Result<(), Fault> {{
        match message {{"
    )?;
    for (message, _) in codec.messages() {
        let path = codec.model.path(message.of);
        writeln!(
            out,
            "            Some(super::{ANY_MESSAGE}::{path}(message)) => writer.inner::<Messages, _>(message),"
        )?;
    }
    out.push_str("            None => Err(Fault::missing()),\n        }\n    }\n\n");
    Ok(())
}
