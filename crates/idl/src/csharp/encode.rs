//! Functions that write values.

use super::types::{declared, is_primitive, is_value, list, support};
use super::{CSharp, names, types};
use crate::c::facts::{Kind, kind, length_code, members_for};
use crate::c::runs::{parts, wire};
use crate::c::text::Text;
use crate::model::{DefinitionId, Extensibility, Member, Primitive, Struct, Type, Union};

/// How a member is written: the member, for errors, and whether its key is enough.
struct How {
    path: String,
    key: bool,
}

impl How {
    fn fail(&self) -> String {
        format!("return w.Unwritten({});", self.path)
    }

    fn refuse(&self, status: &str) -> String {
        format!("return w.Refuse({STATUS}.{status}, {});", self.path)
    }
}

impl<'m> CSharp<'m> {
    pub(super) fn encode_struct(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        of: &'m Struct,
        key: bool,
    ) {
        if !self.begin_function(text, id, "Encode", "CdrWriter w", key) {
            return;
        }
        let kind = extensibility(of.extensibility);
        text.line(&format!("{CDR}.CdrMark mark;"));
        text.when("value == null", &format!("return w.Refuse({STATUS}.Null);"));
        text.when(&format!("!w.OpenStruct({kind}, out mark)"), "return false;");
        let members = members_for(self.model, of, key);
        for (part, alignment, size) in parts(self.model, &members, of.extensibility) {
            match part {
                [member] => {
                    let at = self.place(member);
                    self.encode_member(text, member, &at, of.extensibility, key);
                }
                _ => self.encode_run(text, part, alignment, size),
            }
        }
        text.line(&format!("return w.CloseStruct({kind}, ref mark);"));
        text.close("}");
    }

    fn encode_run(&mut self, text: &mut Text, part: &[&'m Member], alignment: usize, size: usize) {
        for member in part {
            let how = self.how_written(member, false);
            let at = self.place(member);
            match kind(self.model, &member.ty) {
                Kind::Enum(id, _) => self.check_literal(text, id, &at, &how),
                Kind::Primitive(Primitive::Char) => {
                    text.when(&format!("{at} > 255"), &how.refuse("Text"));
                }
                Kind::Array(element, dimensions) => {
                    text.when(&not_shaped(&at, &dimensions), &how.refuse("Length"));
                    if self.is_char(element) {
                        let flat = self.flat(&at, element, &dimensions);
                        text.when(
                            &format!("!{CDR}.Shape.AreChars({flat})"),
                            &how.refuse("Text"),
                        );
                    }
                }
                _ => {}
            }
        }
        text.when(&format!("!w.Room({alignment}, {size})"), "return false;");
        let mut offset = 0;
        for member in part {
            let at = self.place(member);
            match kind(self.model, &member.ty) {
                Kind::Array(element, dimensions) => {
                    let kind = kind(self.model, element);
                    let size = wire(self.model, &kind).map_or(1, |(_, size)| size);
                    let all = if self.is_char(element) {
                        "AllChars"
                    } else {
                        "All"
                    };
                    let flat = self.flat(&at, element, &dimensions);
                    text.line(&format!("w.Put{all}({offset}, {flat});"));
                    offset += size * total(&dimensions);
                }
                kind => {
                    let Some((name, cast, size)) = self.number(&kind) else {
                        continue;
                    };
                    let number = numeric(&kind, &at, cast);
                    text.line(&format!("w.Put{name}({offset}, {number});"));
                    offset += size;
                }
            }
        }
    }

    fn is_char(&self, ty: &Type) -> bool {
        matches!(kind(self.model, ty), Kind::Primitive(Primitive::Char))
    }

    /// The elements of an array of numbers, in one dimension.
    fn flat(&self, at: &str, element: &Type, dimensions: &[u32]) -> String {
        match dimensions {
            [_] => at.to_owned(),
            _ => {
                let new = types::new_array(self.model, element, &[total(dimensions) as u32]);
                format!("{CDR}.Shape.Flat({at}, {new})")
            }
        }
    }

    /// What a number is in names of functions, its type, and its bytes.
    pub(super) fn number(&self, kind: &Kind<'_>) -> Option<(&'static str, &'static str, usize)> {
        let (_, size) = wire(self.model, kind)?;
        let (name, cast) = match kind {
            Kind::Primitive(primitive) => {
                (names::function(*primitive), names::primitive(*primitive))
            }
            Kind::Enum(..) => names::integer(true, size),
            _ => names::integer(false, size),
        };
        Some((name, cast, size))
    }

    fn how_written(&self, member: &Member, key: bool) -> How {
        How {
            path: self.path(&member.name),
            key,
        }
    }

    fn check_literal(&self, text: &mut Text, id: DefinitionId, value: &str, how: &How) {
        let support = support(self.model, id);
        text.when(
            &format!("!{support}.IsLiteral({value})"),
            &how.refuse("Literal"),
        );
    }

    fn encode_member(
        &mut self,
        text: &mut Text,
        member: &'m Member,
        value: &str,
        of: Extensibility,
        key: bool,
    ) {
        let how = self.how_written(member, key);
        let (id, must) = (member.id, member.must_understand);
        let target = match member.optional && is_value(self.model, &member.ty) {
            true => format!("{value}.Value"),
            false => value.to_owned(),
        };
        let has_header = of == Extensibility::Mutable || member.optional;
        if member.optional && of != Extensibility::Mutable {
            super::block(text, &format!("if ({value} == null)"));
            text.when(&format!("!w.WriteAbsent({id}, {must})"), &how.fail());
            super::otherwise(text);
        } else if member.optional {
            super::block(text, &format!("if ({value} != null)"));
        } else if has_header {
            text.open("{");
        }
        let (open, close) = match of {
            Extensibility::Mutable => {
                let code = length_code(self.model, &member.ty);
                (
                    format!("OpenMember({id}, {must}, {code}, out member)"),
                    "CloseMember",
                )
            }
            _ => (
                format!("OpenOptional({id}, {must}, out member)"),
                "CloseOptional",
            ),
        };
        if has_header {
            text.line(&format!("{CDR}.CdrMark member;"));
            text.when(&format!("!w.{open}"), &how.fail());
        }
        self.encode(text, &member.ty, &target, &how);
        if has_header {
            text.when(&format!("!w.{close}(ref member)"), &how.fail());
            text.close("}");
        }
    }

    /// Statements that write a parameter of an operation.
    pub(super) fn encode_parameter(
        &mut self,
        text: &mut Text,
        ty: &'m Type,
        value: &str,
        name: &str,
    ) {
        let path = self.path(name);
        self.encode(text, ty, value, &How { path, key: false });
    }

    /// Statements that write a value.
    fn encode(&mut self, text: &mut Text, ty: &'m Type, value: &str, how: &How) {
        let fail = how.fail();
        let kind = kind(self.model, ty);
        match &kind {
            Kind::String(bound) => {
                text.when(&format!("!w.WriteString({value}, {bound})"), &fail);
            }
            Kind::WString(bound) => {
                text.when(&format!("!w.WriteWString({value}, {bound})"), &fail);
            }
            Kind::Struct(id) | Kind::Union(id) => {
                let function = self.function(*id, "Encode", how.key);
                text.when(&format!("!{function}({value}, w)"), &fail);
            }
            Kind::Sequence(element, bound) if is_primitive(self.model, element) => {
                let chars = if self.is_char(element) { "Char" } else { "" };
                text.when(&format!("!w.Write{chars}Sequence({value}, {bound})"), &fail);
            }
            Kind::Sequence(element, bound) => {
                let i = self.enter();
                let mark = self.open_elements(text, value, *bound, false, &fail);
                super::block(
                    text,
                    &format!("for (int {i} = 0; {i} < {value}.Count; {i}++)"),
                );
                self.encode(text, element, &format!("{value}[{i}]"), how);
                text.close("}");
                self.close_elements(text, &mark, &fail);
            }
            Kind::Map(key, of, bound) => {
                let primitive = is_primitive(self.model, key) && is_primitive(self.model, of);
                let how = How {
                    path: how.path.clone(),
                    key: false,
                };
                let i = self.enter();
                let mark = self.open_elements(text, value, *bound, primitive, &fail);
                let (key_type, of_type) = (declared(self.model, key), declared(self.model, of));
                super::block(
                    text,
                    &format!(
                        "foreach (global::System.Collections.Generic.KeyValuePair<{key_type}, \
                         {of_type}> {i} in {value})"
                    ),
                );
                self.encode(text, key, &format!("{i}.Key"), &how);
                self.encode(text, of, &format!("{i}.Value"), &how);
                text.close("}");
                self.close_elements(text, &mark, &fail);
            }
            Kind::Array(element, dimensions) => {
                text.when(&not_shaped(value, dimensions), &how.refuse("Length"));
                if is_primitive(self.model, element) {
                    let chars = if self.is_char(element) { "Chars" } else { "" };
                    let flat = self.flat(value, element, dimensions);
                    text.when(&format!("!w.WriteAll{chars}({flat})"), &fail);
                    return;
                }
                let mark = format!("mark{}", self.scope.1 + 1);
                text.open("{");
                text.line(&format!("{CDR}.CdrMark {mark};"));
                text.when(&format!("!w.OpenArray(out {mark})"), &fail);
                self.each(text, dimensions, |c, text, index| {
                    c.encode(text, element, &format!("{value}{index}"), how);
                });
                text.when(&format!("!w.CloseElements(ref {mark})"), &fail);
                text.close("}");
            }
            _ => {
                if let Kind::Enum(id, _) = kind {
                    self.check_literal(text, id, value, how);
                }
                let Some((name, cast, _)) = self.number(&kind) else {
                    return;
                };
                let number = numeric(&kind, value, cast);
                text.when(&format!("!w.Write{name}({number})"), &fail);
            }
        }
    }

    fn open_elements(
        &self,
        text: &mut Text,
        value: &str,
        bound: u32,
        primitive: bool,
        fail: &str,
    ) -> String {
        let mark = format!("mark{}", self.scope.1);
        text.open("{");
        text.line(&format!("{CDR}.CdrMark {mark};"));
        text.when(
            &format!("!w.OpenSequence({value}, {bound}, {primitive}, out {mark})"),
            fail,
        );
        mark
    }

    fn close_elements(&mut self, text: &mut Text, mark: &str, fail: &str) {
        text.when(&format!("!w.CloseElements(ref {mark})"), fail);
        text.close("}");
        self.scope.1 -= 1;
    }

    /// Statements for each element of an array, whose loops this opens and closes.
    pub(super) fn each(
        &mut self,
        text: &mut Text,
        dimensions: &[u32],
        write: impl FnOnce(&mut Self, &mut Text, &str),
    ) {
        let mut index = Vec::new();
        for length in dimensions {
            let i = self.enter();
            super::block(text, &format!("for (int {i} = 0; {i} < {length}; {i}++)"));
            index.push(i);
        }
        write(self, text, &format!("[{}]", index.join(", ")));
        for _ in dimensions {
            self.scope.1 -= 1;
            text.close("}");
        }
    }

    /// The name of another loop's variable.
    pub(super) fn enter(&mut self) -> String {
        self.scope.1 += 1;
        format!("i{}", self.scope.1)
    }

    pub(super) fn encode_union(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        of: &'m Union,
        key: bool,
    ) {
        if !self.begin_function(text, id, "Encode", "CdrWriter w", key) {
            return;
        }
        let kind = extensibility(of.extensibility);
        let is_mutable = of.extensibility == Extensibility::Mutable;
        text.line(&format!("{CDR}.CdrMark mark;"));
        text.when("value == null", &format!("return w.Refuse({STATUS}.Null);"));
        text.when(&format!("!w.OpenStruct({kind}, out mark)"), "return false;");
        let how = How {
            path: self.path("discriminator"),
            key,
        };
        let at = "value.Discriminator";
        if is_mutable {
            let code = length_code(self.model, &of.discriminator);
            text.open("{");
            text.line(&format!("{CDR}.CdrMark member;"));
            text.when(
                &format!("!w.OpenMember(0, true, {code}, out member)"),
                &how.fail(),
            );
        }
        self.encode(text, &of.discriminator, at, &how);
        if is_mutable {
            text.when("!w.CloseMember(ref member)", &how.fail());
            text.close("}");
        }
        if !(key && of.discriminator_key) {
            self.switch(text, of, at, |c, text, member| {
                let at = c.place(member);
                c.encode_member(text, member, &at, of.extensibility, key);
            });
        }
        text.line(&format!("return w.CloseStruct({kind}, ref mark);"));
        text.close("}");
    }
}

/// A number as what it is on the wire.
fn numeric(kind: &Kind<'_>, value: &str, cast: &str) -> String {
    match kind {
        Kind::Enum(..) | Kind::Bitmask(..) | Kind::Bitset(..) => format!("({cast}){value}"),
        _ => value.to_owned(),
    }
}

/// Whether an array is none of these dimensions.
pub(super) fn not_shaped(value: &str, dimensions: &[u32]) -> String {
    match dimensions {
        [length] => format!("{value} == null || {value}.Length != {length}"),
        _ => format!("!{CDR}.Shape.Is({value}, {})", list(dimensions)),
    }
}

/// Elements of an array, in all dimensions.
pub(super) fn total(dimensions: &[u32]) -> usize {
    let counts = dimensions.iter().map(|count| *count as usize);
    counts.fold(1, usize::saturating_mul)
}

pub(super) fn extensibility(extensibility: Extensibility) -> &'static str {
    match extensibility {
        Extensibility::Final => "global::Tickwire.Cdr.Extensibility.Final",
        Extensibility::Appendable => "global::Tickwire.Cdr.Extensibility.Appendable",
        Extensibility::Mutable => "global::Tickwire.Cdr.Extensibility.Mutable",
    }
}

pub(super) const CDR: &str = "global::Tickwire.Cdr";
pub(super) const STATUS: &str = "global::Tickwire.Cdr.CdrStatus";
