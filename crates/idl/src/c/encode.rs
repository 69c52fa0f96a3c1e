//! Functions that write values.

use super::C;
use super::aggregate::{extensibility, place, union_place};
use super::facts::{Kind, is_pointer, kind, length_code, members_for};
use super::memory::address;
use super::runs::{parts, wire};
use super::text::Text;
use crate::model::{DefinitionId, Extensibility, Member, Struct, Type, Union};

/// How a member is written: the statement for when it cannot be, and whether its key is enough.
struct How {
    fail: String,
    key: bool,
}

impl<'m> C<'m> {
    pub(super) fn encode_struct(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        of: &'m Struct,
        key: bool,
    ) {
        let name = self.names[&id].clone();
        let suffix = if key { "_key" } else { "" };
        text.line("");
        text.line(&format!(
            "bool {name}_encode{suffix}(const {name} *value, tw_cdr_writer *w)"
        ));
        text.open("{");
        if key && !self.facts.definition_is_partial(id) {
            text.line(&format!("return {name}_encode(value, w);"));
            return text.close("}");
        }
        let kind = extensibility(of.extensibility);
        text.line("tw_cdr_mark mark;");
        text.when(
            &format!("!tw_cdr_open_struct(w, {kind}, &mark)"),
            "return false;",
        );
        let members = members_for(self.model, of, key);
        if members.is_empty() {
            text.line("(void)value;");
        }
        for (part, alignment, size) in parts(self.model, &members, of.extensibility) {
            match part {
                [member] => self.encode_member(text, member, &place(member), of.extensibility, key),
                _ => self.encode_run(text, part, alignment, size),
            }
        }
        text.line(&format!("return tw_cdr_close_struct(w, {kind}, &mark);"));
        text.close("}");
    }

    fn encode_run(&mut self, text: &mut Text, part: &[&'m Member], alignment: usize, size: usize) {
        for member in part {
            if let Kind::Enum(id, _) = kind(self.model, &member.ty) {
                let how = self.how_written(member, false);
                self.check_literal(text, id, &place(member), &how);
            }
        }
        text.open("{");
        text.line(&format!(
            "uint8_t *at = tw_cdr_room(w, {alignment}, {size});"
        ));
        text.when("at == NULL", "return false;");
        let mut offset = 0;
        for member in part {
            let value = place(member);
            let at = match offset {
                0 => "at".to_owned(),
                offset => format!("at + {offset}"),
            };
            match kind(self.model, &member.ty) {
                Kind::Array(element, dimensions) => {
                    let element = kind(self.model, element);
                    let size = wire(self.model, &element).map_or(1, |(_, size)| size);
                    let count = total(&dimensions);
                    text.line(&format!(
                        "tw_cdr_copy({at}, {value}, {count}, {size}, w->swap);"
                    ));
                    offset += size * count;
                }
                kind => {
                    let Some((name, size)) = wire(self.model, &kind) else {
                        continue;
                    };
                    let cast = match kind {
                        Kind::Enum(..) => format!("({name}_t)"),
                        _ => String::new(),
                    };
                    text.line(&format!("tw_cdr_put_{name}({at}, {cast}{value}, w->swap);"));
                    offset += size;
                }
            }
        }
        text.close("}");
    }

    fn how_written(&self, member: &Member, key: bool) -> How {
        let fail = format!("return tw_cdr_unwritten(w, {});", self.path(&member.name));
        How { fail, key }
    }

    fn check_literal(&self, text: &mut Text, id: DefinitionId, value: &str, how: &How) {
        let name = &self.names[&id];
        text.open(&format!("if (!{name}_is_literal((int32_t){value})) {{"));
        text.line("tw_cdr_refuse(w, TW_CDR_LITERAL);");
        text.line(&how.fail);
        text.close("}");
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
        let target = match is_pointer(self.model, member) {
            true => format!("(*{value})"),
            false => value.to_owned(),
        };
        let has_header = of == Extensibility::Mutable || member.optional;
        if member.optional {
            if of != Extensibility::Mutable {
                text.open(&format!("if ({value} == NULL) {{"));
                text.when(&format!("!tw_cdr_write_absent(w, {id}, {must})"), &how.fail);
                text.turn("} else {");
            } else {
                text.open(&format!("if ({value} != NULL) {{"));
            }
        } else {
            if is_pointer(self.model, member) {
                text.open(&format!("if ({value} == NULL) {{"));
                text.line("tw_cdr_refuse(w, TW_CDR_NULL);");
                text.line(&how.fail);
                text.close("}");
            }
            if has_header {
                text.open("{");
            }
        }
        let (open, close) = match of {
            Extensibility::Mutable => {
                let code = length_code(self.model, &member.ty);
                (
                    format!("tw_cdr_open_member(w, {id}, {must}, {code}, &member)"),
                    "tw_cdr_close_member",
                )
            }
            _ => (
                format!("tw_cdr_open_optional(w, {id}, {must}, &member)"),
                "tw_cdr_close_optional",
            ),
        };
        if has_header {
            text.line("tw_cdr_mark member;");
            text.when(&format!("!{open}"), &how.fail);
        }
        self.encode(text, &member.ty, &target, &how);
        if has_header {
            text.when(&format!("!{close}(w, &member)"), &how.fail);
            text.close("}");
        }
    }

    /// Statements that write a value.
    fn encode(&mut self, text: &mut Text, ty: &'m Type, value: &str, how: &How) {
        let address = address(value);
        let fail = how.fail.as_str();
        let kind = kind(self.model, ty);
        match &kind {
            Kind::String(bound) => {
                text.when(&format!("!tw_cdr_write_string(w, {value}, {bound})"), fail);
            }
            Kind::WString(bound) => {
                text.when(&format!("!tw_cdr_write_wstring(w, {value}, {bound})"), fail);
            }
            Kind::Struct(id) | Kind::Union(id) => {
                let function = self.function(*id, "encode", how.key);
                text.when(&format!("!{function}({address}, w)"), fail);
            }
            Kind::Sequence(element, bound) => {
                if self.is_primitive(element) {
                    let name = self.mangle(ty);
                    text.when(&format!("!{name}_write(w, {address}, {bound})"), fail);
                    return;
                }
                self.encode_elements(text, value, *bound, false, how, |c, text, at| {
                    c.encode(text, element, at, how);
                });
            }
            Kind::Map(key, of, bound) => {
                let primitive = self.is_primitive(key) && self.is_primitive(of);
                let how = How {
                    fail: how.fail.clone(),
                    key: false,
                };
                self.encode_elements(text, value, *bound, primitive, &how, |c, text, at| {
                    c.encode(text, key, &format!("{at}.key"), &how);
                    c.encode(text, of, &format!("{at}.value"), &how);
                });
            }
            Kind::Array(element, dimensions) => {
                if let Kind::Primitive(primitive) = super::facts::kind(self.model, element) {
                    let (name, count) = (super::names::primitive(primitive), total(dimensions));
                    let call = format!("!tw_cdr_write_all_{name}(w, {value}, {count})");
                    text.when(&call, fail);
                    return;
                }
                let mark = format!("mark{}", self.scope.1 + 1);
                text.open("{");
                text.line(&format!("tw_cdr_mark {mark};"));
                text.when(&format!("!tw_cdr_open_array(w, &{mark})"), fail);
                self.each(text, dimensions, |c, text, index| {
                    c.encode(text, element, &format!("{value}{index}"), how);
                });
                text.when(&format!("!tw_cdr_close_elements(w, &{mark})"), fail);
                text.close("}");
            }
            _ => {
                let mut cast = String::new();
                let Some((name, _)) = wire(self.model, &kind) else {
                    return;
                };
                if let Kind::Enum(id, _) = kind {
                    self.check_literal(text, id, value, how);
                    cast = format!("({name}_t)");
                }
                text.when(&format!("!tw_cdr_write_{name}(w, {cast}{value})"), fail);
            }
        }
    }

    fn encode_elements(
        &mut self,
        text: &mut Text,
        value: &str,
        bound: u32,
        primitive: bool,
        how: &How,
        each: impl FnOnce(&mut Self, &mut Text, &str),
    ) {
        let i = self.enter();
        let mark = format!("mark{}", self.scope.1);
        text.open("{");
        text.line(&format!("tw_cdr_mark {mark};"));
        text.when(
            &format!("!tw_cdr_open_sequence(w, {value}.length, {bound}, {primitive}, &{mark})"),
            &how.fail,
        );
        text.open(&format!(
            "for (uint32_t {i} = 0; {i} < {value}.length; {i}++) {{"
        ));
        each(self, text, &format!("{value}.buffer[{i}]"));
        text.close("}");
        text.when(&format!("!tw_cdr_close_elements(w, &{mark})"), &how.fail);
        text.close("}");
        self.scope.1 -= 1;
    }

    pub(super) fn is_primitive(&self, ty: &Type) -> bool {
        matches!(kind(self.model, ty), Kind::Primitive(_))
    }

    pub(super) fn encode_union(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        of: &'m Union,
        key: bool,
    ) {
        let name = self.names[&id].clone();
        let suffix = if key { "_key" } else { "" };
        text.line("");
        text.line(&format!(
            "bool {name}_encode{suffix}(const {name} *value, tw_cdr_writer *w)"
        ));
        text.open("{");
        if key && !self.facts.definition_is_partial(id) {
            text.line(&format!("return {name}_encode(value, w);"));
            return text.close("}");
        }
        let kind = extensibility(of.extensibility);
        let is_mutable = of.extensibility == Extensibility::Mutable;
        text.line("tw_cdr_mark mark;");
        if is_mutable {
            text.line("tw_cdr_mark member;");
        }
        text.when(
            &format!("!tw_cdr_open_struct(w, {kind}, &mark)"),
            "return false;",
        );
        let how = How {
            fail: format!(
                "return tw_cdr_unwritten(w, {});",
                self.path("discriminator")
            ),
            key,
        };
        if is_mutable {
            let code = length_code(self.model, &of.discriminator);
            text.when(
                &format!("!tw_cdr_open_member(w, 0, true, {code}, &member)"),
                &how.fail,
            );
        }
        self.encode(text, &of.discriminator, "value->_d", &how);
        if is_mutable {
            text.when("!tw_cdr_close_member(w, &member)", &how.fail);
        }
        if !(key && of.discriminator_key) {
            self.switch(text, of, "value->_d", |c, text, member| {
                c.encode_member(text, member, &union_place(member), of.extensibility, key);
            });
        }
        text.line(&format!("return tw_cdr_close_struct(w, {kind}, &mark);"));
        text.close("}");
    }
}

/// Elements of an array, in all dimensions.
pub(super) fn total(dimensions: &[u32]) -> usize {
    let counts = dimensions.iter().map(|count| *count as usize);
    counts.fold(1, usize::saturating_mul)
}
