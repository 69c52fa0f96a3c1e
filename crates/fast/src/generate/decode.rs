//! The functions that decode, as text: one per template, group and sequence, one line per field.

use std::fmt::Write as _;

use super::codec::{Codec, Function, initial, op_text};
use super::model::{ANY_MESSAGE, Member, Message, Type};
use crate::Operator;
use crate::generated::Bits;
use crate::plan::{Kind, Op};

/// Appends the decoding half of the module `codec`.
pub(super) fn write(codec: &Codec<'_>, out: &mut String) {
    let _infallible = messages(codec, out);
    let _infallible = dispatch(codec, out);
    for function in codec.functions() {
        let mut text = String::new();
        let _infallible = self::function(codec, &function, &mut text);
        out.push_str(&text);
    }
    for of in 0..codec.model.enumerations.len() {
        let path = codec.model.enumeration_path(of);
        let _infallible = writeln!(
            out,
            "    impl Choice for super::{path} {{\n        fn of(number: Option<u64>) -> Option<Self> {{\n            Self::from_number(number?)\n        }}\n    }}\n"
        );
    }
    if codec.model.is_dynamic {
        let _infallible = inner(codec, out);
    }
}

/// The struct that a decoder keeps its messages in.
fn messages(codec: &Codec<'_>, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "    /// A message of each template, for a decoder to write into."
    )?;
    writeln!(
        out,
        "    #[derive(Clone, Debug)]\n    pub struct Messages {{"
    )?;
    for (message, name) in codec.messages() {
        writeln!(
            out,
            "        {name}: super::{},",
            codec.model.path(message.of)
        )?;
    }
    writeln!(out, "        spares: Spares,\n    }}\n")?;
    writeln!(
        out,
        "    impl Default for Messages {{\n        fn default() -> Self {{\n            Self {{"
    )?;
    for (message, name) in codec.messages() {
        writeln!(out, "                {name}: {},", codec.blank(message.of))?;
    }
    writeln!(
        out,
        "                spares: Spares::default(),\n            }}\n        }}\n    }}\n"
    )?;
    writeln!(out, "    /// Structs that a shorter message left over.")?;
    writeln!(
        out,
        "    #[derive(Clone, Debug, Default)]\n    struct Spares {{"
    )?;
    for (of, name) in codec.spares() {
        writeln!(
            out,
            "        {name}: Spare<super::{}>,",
            codec.model.path(of)
        )?;
    }
    writeln!(out, "    }}\n")?;
    writeln!(out, "    impl Protocol for Messages {{")?;
    let count = codec.plan.slot_count + 1;
    writeln!(out, "        type Entries = [Entry; {count}];")?;
    writeln!(
        out,
        "        const ENTRIES: Self::Entries = [Entry::UNDEFINED; {count}];"
    )?;
    writeln!(
        out,
        "        const FIELD_PATHS: &'static [&'static str] = &["
    )?;
    for field in &codec.plan.fields {
        writeln!(out, "            {:?},", field.path)?;
    }
    writeln!(out, "        ];")?;
    if codec.model.templates.default_template().is_some() {
        let has_ids = codec.model.templates.has_ids();
        writeln!(out, "        const HAS_DEFAULT: bool = true;")?;
        writeln!(out, "        const HAS_IDS: bool = {has_ids};")?;
    }
    writeln!(out, "    }}\n")
}

/// From a template's id to its function.
fn dispatch(codec: &Codec<'_>, out: &mut String) -> std::fmt::Result {
    out.push_str(
        "    impl<H: super::Handler> Decode<H> for Messages {
        #[inline(always)]
        fn decode(
            &mut self,
            id: u32,
            map: Bits<'_>,
            reader: &mut Reader<'_>,
            handler: &mut H,
        ) -> Result<(), Fault> {
            match id {
",
    );
    for (message, name) in codec.messages() {
        let Some(id) = message.template.id() else {
            continue;
        };
        let (id, resets) = (id.0, message.template.resets());
        writeln!(out, "                {id} => {{")?;
        writeln!(out, "                    reader.begin({id}, {resets});")?;
        arm(codec, message, name, out)?;
        writeln!(out, "                }}")?;
    }
    out.push_str(
        "                _ => return Err(Fault::unknown_template(id)),
            }
            Ok(())
        }

",
    );
    default_message(codec, out)?;
    out.push_str(
        "        fn reset(handler: &mut H) {
            handler.reset();
        }
    }

",
    );
    Ok(())
}

/// The method for messages without an id, if a template is their default.
fn default_message(codec: &Codec<'_>, out: &mut String) -> std::fmt::Result {
    let mut messages = codec.messages();
    let Some((message, name)) = messages.find(|(message, _)| message.template.is_default()) else {
        return Ok(());
    };
    writeln!(
        out,
        "        fn decode_default(&mut self, map: Bits<'_>, reader: &mut Reader<'_>, handler: &mut H) -> Result<(), Fault> {{"
    )?;
    let resets = message.template.resets();
    writeln!(out, "                    reader.begin_default({resets});")?;
    arm(codec, message, name, out)?;
    writeln!(out, "                    Ok(())\n        }}\n")
}

/// Decodes a message whose template is known, and gives it to the handler.
fn arm(codec: &Codec<'_>, message: &Message<'_>, name: &str, out: &mut String) -> std::fmt::Result {
    let spares = if codec.uses_spares(message.of) {
        ", &mut self.spares"
    } else {
        ""
    };
    writeln!(
        out,
        "                    self::{name}(&mut self.{name}, map, reader{spares})"
    )?;
    writeln!(
        out,
        "                        .map_err(|fault| fault.in_template({:?}))?;",
        message.template.name()
    )?;
    writeln!(out, "                    handler.{name}(&self.{name});")
}

/// One struct's function.
fn function(codec: &Codec<'_>, function: &Function, out: &mut String) -> std::fmt::Result {
    let Some(of) = codec.model.structs.get(function.of) else {
        return Ok(());
    };
    let name = &function.name;
    if let Some(blank) = codec.blank_function(function.of) {
        out.push_str(&blank);
    }
    let mut body = String::new();
    let mut lines = Lines {
        codec,
        function,
        out: &mut body,
    };
    for member in &of.members {
        lines.member(member)?;
    }
    let path = codec.model.path(function.of);
    let spares = if codec.uses_spares(function.of) {
        ", spares: &mut Spares"
    } else {
        ""
    };
    if function.is_message {
        writeln!(out, "    #[inline(never)]")?;
        writeln!(
            out,
            "    fn {name}(message: &mut super::{path}, mut map: Bits<'_>, reader: &mut Reader<'_>{spares}) -> Result<(), Fault> {{"
        )?;
    } else {
        writeln!(out, "    #[inline(always)]")?;
        writeln!(
            out,
            "    fn {name}(message: &mut super::{path}, reader: &mut Reader<'_>{spares}) -> Result<(), Fault> {{"
        )?;
        if function.map_bits > 0 {
            writeln!(out, "        let mut map = reader.map()?;")?;
        }
    }
    if function.map_bits > Bits::MAX_SHORT {
        writeln!(out, "        let mut map = map.long();")?;
    }
    let mut messages = codec.model.messages.iter();
    let message = messages.find(|message| message.of == function.of);
    let weight = message.map_or(0, |message| message.template.entry.weight);
    if weight > 0 {
        writeln!(out, "        reader.charge({weight})?;")?;
    }
    if !body.contains("message.") {
        writeln!(out, "        let _ = message;")?;
    }
    out.push_str(&body);
    if function.is_message || function.map_bits > 0 {
        writeln!(out, "        reader.end(map)\n    }}\n")
    } else {
        if !body.contains("reader") {
            writeln!(out, "        let _ = reader;")?;
        }
        writeln!(out, "        Ok(())\n    }}\n")
    }
}

/// The lines of a function's fields.
struct Lines<'a> {
    codec: &'a Codec<'a>,
    function: &'a Function,
    out: &'a mut String,
}

impl Lines<'_> {
    fn member(&mut self, member: &Member<'_>) -> std::fmt::Result {
        let name = &member.name;
        let Some([op, rest @ ..]) = self.codec.plan.ops.get(member.op..) else {
            return Ok(());
        };
        if op.spec.operator == Operator::Constant && !op.spec.optional {
            return Ok(());
        }
        let present = self.present(op);
        let instruction = op_text(op, member.field.field_type());
        match (op.kind, rest) {
            (Kind::Unsigned | Kind::Signed, _) => {
                let method = integer_method(member.ty);
                writeln!(
                    self.out,
                    "        message.{name} = reader.{method}({instruction}, {present})?;"
                )
            }
            (Kind::Decimal, _) => {
                writeln!(
                    self.out,
                    "        message.{name} = reader.decimal({instruction}, {present})?;"
                )
            }
            (Kind::Split, [exponent, mantissa, ..]) => {
                let exponent = op_text(exponent, crate::FieldType::Int32);
                let mantissa = op_text(mantissa, crate::FieldType::Int64);
                let map = if self.function.map_bits > 0 {
                    "&mut map"
                } else {
                    "&mut Bits::NONE"
                };
                writeln!(
                    self.out,
                    "        message.{name} = reader.split_decimal({exponent}, {mantissa}, {map})?;"
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
                    "        reader.{method}({instruction}, {initial}, {present}, &mut message.{name})?;"
                )
            }
            (Kind::BitGroup, _) => self.bit_group(member, &instruction, &present),
            (Kind::Group, _) => self.group(member, op, &present),
            (Kind::Sequence, [length, ..]) => self.sequence(member, op, length),
            (Kind::Template, _) => {
                let (levels, field) = (self.function.levels, op.field);
                writeln!(
                    self.out,
                    "        inner(&mut message.{name}, {levels}, reader, spares)\n            .map_err(|fault| fault.in_field({field}))?;"
                )
            }
            _ => Ok(()),
        }
    }

    fn present(&self, op: &Op) -> String {
        match op.spec.uses_map {
            true => "map.bit()".to_owned(),
            false => "true".to_owned(),
        }
    }

    fn bit_group(
        &mut self,
        member: &Member<'_>,
        instruction: &str,
        present: &str,
    ) -> std::fmt::Result {
        let (Type::Group(of), name) = (member.ty, &member.name) else {
            return Ok(());
        };
        writeln!(
            self.out,
            "        let mut packed = reader.bit_group({instruction}, {present})?;"
        )?;
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
                writeln!(
                    self.out,
                    "        message.{name}.{} = packed.{}({instruction})?;",
                    inner.name,
                    integer_method(inner.ty)
                )?;
            }
        }
        Ok(())
    }

    fn group(&mut self, member: &Member<'_>, op: &Op, present: &str) -> std::fmt::Result {
        let (Type::Group(of), name, field) = (member.ty, &member.name, op.field) else {
            return Ok(());
        };
        let function = self.codec.function_name(of);
        let spares = if self.codec.uses_spares(of) {
            ", spares"
        } else {
            ""
        };
        if !member.optional {
            return writeln!(
                self.out,
                "        {function}(&mut message.{name}, reader{spares})\n            .map_err(|fault| fault.in_field({field}))?;"
            );
        }
        let blank = self.codec.blank_name(of);
        writeln!(self.out, "        if {present} {{")?;
        writeln!(
            self.out,
            "            let group = spares.{function}.group(&mut message.{name}, {blank});"
        )?;
        writeln!(
            self.out,
            "            {function}(group, reader{spares}).map_err(|fault| fault.in_field({field}))?;"
        )?;
        writeln!(self.out, "        }} else {{")?;
        writeln!(
            self.out,
            "            spares.{function}.no_group(&mut message.{name});\n        }}"
        )
    }

    fn sequence(&mut self, member: &Member<'_>, op: &Op, length: &Op) -> std::fmt::Result {
        let (Type::Sequence(of), name, field) = (member.ty, &member.name, op.field) else {
            return Ok(());
        };
        let function = self.codec.function_name(of);
        let spares = if self.codec.uses_spares(of) {
            ", spares"
        } else {
            ""
        };
        let blank = self.codec.blank_name(of);
        let instruction = op_text(length, crate::FieldType::UInt32);
        let present = self.present(length);
        let min_bytes = op.segment.min_bytes;
        let weight = op.segment.weight;
        let (ty, indent) = if member.optional {
            ("Option<u32>", "    ")
        } else {
            ("u32", "")
        };
        writeln!(
            self.out,
            "        let length: {ty} = reader.length({instruction}, {present}, {min_bytes}, {weight})?;"
        )?;
        if member.optional {
            writeln!(self.out, "        if let Some(length) = length {{")?;
            writeln!(
                self.out,
                "            let list = spares.{function}.list(&mut message.{name});"
            )?;
        } else {
            writeln!(self.out, "        let list = &mut message.{name};")?;
        }
        writeln!(
            self.out,
            "{indent}        spares.{function}.begin(list, length);"
        )?;
        writeln!(self.out, "{indent}        for index in 0..length {{")?;
        writeln!(
            self.out,
            "{indent}            let element = spares.{function}.element(list, index, {blank});"
        )?;
        writeln!(
            self.out,
            "{indent}            {function}(element, reader{spares})"
        )?;
        writeln!(
            self.out,
            "{indent}                .map_err(|fault| fault.in_element({field}, index))?;"
        )?;
        writeln!(self.out, "{indent}        }}")?;
        writeln!(
            self.out,
            "{indent}        spares.{function}.truncate(list, length);"
        )?;
        if member.optional {
            writeln!(self.out, "        }} else {{")?;
            writeln!(
                self.out,
                "            spares.{function}.no_list(&mut message.{name});\n        }}"
            )?;
        }
        Ok(())
    }
}

fn integer_method(ty: Type) -> &'static str {
    match ty {
        Type::Enumeration(_) => "enumeration",
        _ => "integer",
    }
}

/// The function of dynamic template references.
fn inner(codec: &Codec<'_>, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "    /// A message of any template within another.
    fn inner(
        place: &mut Option<Box<super::{ANY_MESSAGE}>>,
        levels: u32,
        reader: &mut Reader<'_>,
        spares: &mut Spares,
    ) -> Result<(), Fault> {{
        let (id, map) = reader.begin_inner(levels)?;
        match id {{"
    )?;
    for (message, name) in codec.messages() {
        let Some(id) = message.template.id().map(|id| id.0) else {
            continue;
        };
        let variant = format!("super::{ANY_MESSAGE}::{}", codec.model.path(message.of));
        let blank = codec.blank(message.of);
        let spares = if codec.uses_spares(message.of) {
            ", spares"
        } else {
            ""
        };
        writeln!(
            out,
            "            {id} => {{
                reader.begin({id}, false);
                if !matches!(place.as_deref(), Some({variant}(_))) {{
                    *place = Some(Box::new({variant}({blank})));
                }}
                if let Some({variant}(message)) = place.as_deref_mut() {{
                    self::{name}(message, map, reader{spares})
                        .map_err(|fault| fault.in_template({:?}))?;
                }}
            }}",
            message.template.name()
        )?;
    }
    out.push_str(
        "            _ => return Err(reader.unknown_inner(id)),
        }
        reader.end_inner(levels);
        Ok(())
    }

",
    );
    Ok(())
}
