//! Functions that read values.

use super::aggregate::{extensibility, place, union_place};
use super::encode::total;
use super::facts::{Kind, is_pointer, kind, members_for, non_serialized, trimmed};
use super::memory::address;
use super::runs::{parts, wire};
use super::text::Text;
use super::{C, names};
use crate::model::{
    DefinitionId, Extensibility, Member, Primitive, Struct, TryConstruct, Type, Union,
};

/// How a member is read: the statement for when it cannot be, and whether there is its key alone.
struct How {
    fail: String,
    key: bool,
    /// Whether the beginning is kept of what has more than its bound allows.
    trim: bool,
}

impl How {
    /// How what is in the member is read.
    fn inside(&self, key: bool) -> Self {
        Self {
            fail: self.fail.clone(),
            key,
            trim: false,
        }
    }
}

impl<'m> C<'m> {
    pub(super) fn decode_struct(
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
            "bool {name}_decode{suffix}({name} *value, tw_cdr_reader *r)"
        ));
        text.open("{");
        if key && !self.facts.definition_is_partial(id) {
            text.line(&format!("return {name}_decode(value, r);"));
            return text.close("}");
        }
        let kind = extensibility(of.extensibility);
        let members = members_for(self.model, of, key);
        text.line("tw_cdr_scope scope;");
        if of.extensibility == Extensibility::Mutable {
            text.line("tw_cdr_member member;");
            text.line(&format!("bool seen[{}] = {{ false }};", members.len()));
        }
        text.when(
            &format!("!tw_cdr_enter_struct(r, {kind}, &scope)"),
            "return false;",
        );
        if members.is_empty() {
            text.line("(void)value;");
        }
        match of.extensibility {
            Extensibility::Mutable => self.decode_mutable(text, &members, key),
            extensibility => {
                for (part, alignment, size) in parts(self.model, &members, extensibility) {
                    match part {
                        [member] => self.decode_member(text, member, extensibility, key),
                        _ => self.decode_run(text, part, alignment, size, extensibility),
                    }
                }
            }
        }
        text.line("tw_cdr_leave_struct(r, &scope);");
        // Of what is not all of its key, that is read alone.
        if !key {
            for member in non_serialized(self.model, of) {
                self.reset_member(text, member, &place(member), NO_MEMORY);
            }
        }
        text.line("return true;");
        text.close("}");
    }

    fn decode_mutable(&mut self, text: &mut Text, members: &[&'m Member], key: bool) {
        text.open("while (tw_cdr_next_member(r, &scope, &member)) {");
        text.open("switch (member.id) {");
        for (index, member) in members.iter().enumerate() {
            text.label(&format!("case {}:", member.id));
            text.line(&format!("seen[{index}] = true;"));
            let how = self.how_read(member, key);
            self.decode_target(text, member, &place(member), &how);
            text.line("break;");
        }
        text.label("default:");
        text.when("!tw_cdr_skip_unknown(r, &member)", "return false;");
        text.line("break;");
        text.close("}");
        text.line("tw_cdr_leave_member(r, &member);");
        text.close("}");
        text.when("r->status != TW_CDR_OK", "return false;");
        for (index, member) in members.iter().enumerate() {
            text.open(&format!("if (!seen[{index}]) {{"));
            self.reset_member(text, member, &place(member), NO_MEMORY);
            text.close("}");
        }
    }

    fn decode_run(
        &mut self,
        text: &mut Text,
        part: &[&'m Member],
        alignment: usize,
        size: usize,
        of: Extensibility,
    ) {
        text.open("{");
        let is_final = of == Extensibility::Final;
        let function = if is_final { "take" } else { "peek" };
        text.line(&format!(
            "const uint8_t *at = tw_cdr_{function}(r, {alignment}, {size});"
        ));
        if is_final {
            let fail = part.first().map(|member| self.how_read(member, false).fail);
            text.when("at == NULL", &fail.unwrap_or_default());
        } else {
            text.open("if (at != NULL) {");
        }
        let mut offset = 0;
        for member in part {
            let value = place(member);
            let how = self.how_read(member, false);
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
                        "tw_cdr_copy({value}, {at}, {count}, {size}, r->swap);"
                    ));
                    offset += size * count;
                }
                kind => {
                    let Some((name, size)) = wire(self.model, &kind) else {
                        continue;
                    };
                    match kind {
                        Kind::Primitive(Primitive::Boolean) => {
                            let call = format!("!tw_cdr_get_boolean(r, {at}, &{value})");
                            text.when(&call, &how.fail);
                        }
                        Kind::Enum(id, _) => {
                            let get = format!("tw_cdr_get_{name}({at}, r->swap)");
                            text.open("{");
                            text.line(&format!("int32_t number = {get};"));
                            self.set_literal(text, id, &value, &how);
                            text.close("}");
                        }
                        _ => text.line(&format!("{value} = tw_cdr_get_{name}({at}, r->swap);")),
                    }
                    offset += size;
                }
            }
        }
        if !is_final {
            text.turn("} else {");
            for member in part {
                self.decode_member(text, member, of, false);
            }
            text.close("}");
        }
        text.close("}");
    }

    fn set_literal(&self, text: &mut Text, id: DefinitionId, value: &str, how: &How) {
        let name = &self.names[&id];
        let unknown = "tw_cdr_not_constructed(r, TW_CDR_LITERAL)";
        text.when(
            &format!("!{name}_is_literal(number) && !{unknown}"),
            &how.fail,
        );
        text.line(&format!("{value} = ({name})number;"));
    }

    fn how_read(&self, member: &Member, key: bool) -> How {
        let fail = format!("return tw_cdr_unread(r, {});", self.path(&member.name));
        let trim = member.try_construct == TryConstruct::Trim;
        How { fail, key, trim }
    }

    /// A member of a struct that is not mutable.
    fn decode_member(&mut self, text: &mut Text, member: &'m Member, of: Extensibility, key: bool) {
        let how = self.how_read(member, key);
        let value = place(member);
        if member.optional {
            text.open("{");
            text.line("tw_cdr_member member;");
            text.line("bool present;");
            let id = member.id;
            let enter = format!("!tw_cdr_enter_optional(r, &scope, {id}, &member, &present)");
            text.when(&enter, &how.fail);
            text.open("if (present) {");
            self.decode_target(text, member, &value, &how);
            text.line("tw_cdr_leave_member(r, &member);");
            text.turn("} else {");
            self.free_member(text, member, &value);
            text.close("}");
            return text.close("}");
        }
        if of == Extensibility::Final {
            return self.decode_target(text, member, &value, &how);
        }
        text.open("if (tw_cdr_has_member(r, &scope)) {");
        self.decode_target(text, member, &value, &how);
        text.turn("} else {");
        self.reset_member(text, member, &value, NO_MEMORY);
        text.close("}");
    }

    /// Statements that read a member that is there.
    fn decode_target(&mut self, text: &mut Text, member: &'m Member, value: &str, how: &How) {
        if member.try_construct != TryConstruct::UseDefault {
            return self.decode_present(text, member, value, how);
        }
        text.open("{");
        text.line("bool tw_outer = tw_cdr_begin_try(r);");
        self.decode_present(text, member, value, how);
        text.open("if (tw_cdr_end_try(r, tw_outer)) {");
        self.reset_member(text, member, value, NO_MEMORY);
        text.close("}");
        text.close("}");
    }

    fn decode_present(&mut self, text: &mut Text, member: &'m Member, value: &str, how: &How) {
        if !is_pointer(self.model, member) {
            return self.decode(text, &member.ty, value, how);
        }
        let pointer = self.declare(&member.ty, "*");
        let target = format!("(*{value})");
        text.open(&format!("if ({value} == NULL) {{"));
        text.line(&format!(
            "{value} = ({pointer})tw_cdr_new(r, sizeof *{value});"
        ));
        text.when(&format!("{value} == NULL"), &how.fail);
        let apart = self.facts.apart(self.model, &member.ty);
        if apart > 0 {
            text.when(&format!("!tw_cdr_charge(r, 1, {apart})"), &how.fail);
        }
        self.init(text, &member.ty, &target, NO_MEMORY);
        text.close("}");
        self.decode(text, &member.ty, &target, how);
    }

    /// Statements that read a value.
    fn decode(&mut self, text: &mut Text, ty: &'m Type, value: &str, how: &How) {
        if how.trim {
            return self.decode_trimmed(text, ty, value, how);
        }
        self.decode_kind(text, &kind(self.model, ty), ty, value, how);
    }

    /// The same of what keeps its beginning.
    fn decode_trimmed(&mut self, text: &mut Text, ty: &'m Type, value: &str, how: &How) {
        let (kind, bound) = trimmed(kind(self.model, ty));
        self.decode_kind(text, &kind, ty, value, &how.inside(how.key));
        match kind {
            _ if bound == 0 => {}
            Kind::String(_) => text.line(&format!("tw_cdr_trim_text({value}, {bound});")),
            Kind::WString(_) => text.line(&format!("tw_cdr_trim_wide_text({value}, {bound});")),
            _ => text.when(
                &format!("{value}.length > {bound}"),
                &format!("{value}.length = {bound};"),
            ),
        }
    }

    fn decode_kind(
        &mut self,
        text: &mut Text,
        kind: &Kind<'m>,
        ty: &'m Type,
        value: &str,
        how: &How,
    ) {
        let address = address(value);
        let fail = how.fail.as_str();
        match kind {
            Kind::String(bound) => {
                text.when(&format!("!tw_cdr_read_string(r, {address}, {bound})"), fail);
            }
            Kind::WString(bound) => {
                text.when(
                    &format!("!tw_cdr_read_wstring(r, {address}, {bound})"),
                    fail,
                );
            }
            Kind::Struct(id) | Kind::Union(id) => {
                let function = self.function(*id, "decode", how.key);
                text.when(&format!("!{function}({address}, r)"), fail);
            }
            Kind::Sequence(element, bound) => {
                let name = self.mangle(ty);
                if self.is_primitive(element) {
                    text.when(&format!("!{name}_read(r, {address}, {bound})"), fail);
                    return;
                }
                let least = match how.key && self.facts.is_partial(self.model, element) {
                    true => 1,
                    false => self.facts.least(self.model, element),
                };
                let begin = format!("{bound}, false, {least}");
                let apart = self.facts.apart(self.model, element);
                self.decode_elements(text, &name, value, (&begin, apart), how, |c, text, at| {
                    c.decode(text, element, at, how);
                });
            }
            Kind::Map(key, of, bound) => {
                let name = self.mangle(ty);
                let primitive = self.is_primitive(key) && self.is_primitive(of);
                let (key_least, least) = (
                    self.facts.least(self.model, key),
                    self.facts.least(self.model, of),
                );
                let begin = format!("{bound}, {primitive}, {}", key_least.saturating_add(least));
                let how = how.inside(false);
                let apart = self.facts.apart(self.model, of);
                self.decode_elements(text, &name, value, (&begin, apart), &how, |c, text, at| {
                    c.decode(text, key, &format!("{at}.key"), &how);
                    c.decode(text, of, &format!("{at}.value"), &how);
                });
            }
            Kind::Array(element, dimensions) => {
                if let Kind::Primitive(primitive) = super::facts::kind(self.model, element) {
                    let (name, count) = (names::primitive(primitive), total(dimensions));
                    let call = format!("!tw_cdr_read_all_{name}(r, {value}, {count})");
                    text.when(&call, fail);
                    return;
                }
                let scope = format!("scope{}", self.scope.1 + 1);
                let count = dimensions.first().copied().unwrap_or(1);
                text.open("{");
                text.line(&format!("tw_cdr_scope {scope};"));
                text.when(&format!("!tw_cdr_enter_array(r, {count}, &{scope})"), fail);
                self.each(text, dimensions, |c, text, index| {
                    c.decode(text, element, &format!("{value}{index}"), how);
                });
                text.line(&format!("tw_cdr_leave(r, &{scope});"));
                text.close("}");
            }
            Kind::Enum(id, _) => {
                let Some((name, _)) = wire(self.model, kind) else {
                    return;
                };
                text.open("{");
                text.line("int32_t number;");
                if name == "int32" {
                    text.when("!tw_cdr_read_int32(r, &number)", fail);
                } else {
                    text.line(&format!("{name}_t small;"));
                    text.when(&format!("!tw_cdr_read_{name}(r, &small)"), fail);
                    text.line("number = small;");
                }
                self.set_literal(text, *id, value, how);
                text.close("}");
            }
            _ => {
                if let Some((name, _)) = wire(self.model, kind) {
                    text.when(&format!("!tw_cdr_read_{name}(r, {address})"), fail);
                }
            }
        }
    }

    /// `begin` is bound, whether elements are primitive, and their least size; and what each takes apart.
    fn decode_elements(
        &mut self,
        text: &mut Text,
        name: &str,
        value: &str,
        (begin, apart): (&str, usize),
        how: &How,
        each: impl FnOnce(&mut Self, &mut Text, &str),
    ) {
        let i = self.enter();
        let (scope, length) = (
            format!("scope{}", self.scope.1),
            format!("length{}", self.scope.1),
        );
        text.open("{");
        text.line(&format!("tw_cdr_scope {scope};"));
        text.line(&format!("uint32_t {length};"));
        let size = match apart {
            0 => format!("sizeof *{value}.buffer"),
            apart => format!("sizeof *{value}.buffer + {apart}"),
        };
        text.when(
            &format!("!tw_cdr_enter_sequence(r, {begin}, {size}, &{scope}, &{length})"),
            &how.fail,
        );
        let address = address(value);
        text.when(&format!("!{name}_resize({address}, {length})"), NO_MEMORY);
        text.open(&format!("for (uint32_t {i} = 0; {i} < {length}; {i}++) {{"));
        each(self, text, &format!("{value}.buffer[{i}]"));
        text.close("}");
        text.line(&format!("tw_cdr_leave(r, &{scope});"));
        text.close("}");
        self.scope.1 -= 1;
    }

    pub(super) fn decode_union(
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
            "bool {name}_decode{suffix}({name} *value, tw_cdr_reader *r)"
        ));
        text.open("{");
        if key && !self.facts.definition_is_partial(id) {
            text.line(&format!("return {name}_decode(value, r);"));
            return text.close("}");
        }
        let kind = extensibility(of.extensibility);
        let is_mutable = of.extensibility == Extensibility::Mutable;
        let discriminator = self.declare(&of.discriminator, "d");
        text.line("tw_cdr_scope scope;");
        text.line(&format!("{discriminator};"));
        let discriminated_by = super::facts::kind(self.model, &of.discriminator);
        let by_enum = matches!(discriminated_by, Kind::Enum(..));
        if by_enum {
            text.line("bool tw_tried;");
        }
        if is_mutable {
            text.line("tw_cdr_member member;");
        }
        text.when(
            &format!("!tw_cdr_enter_struct(r, {kind}, &scope)"),
            "return false;",
        );
        let how = How {
            fail: format!("return tw_cdr_unread(r, {});", self.path("discriminator")),
            key,
            trim: false,
        };
        if is_mutable {
            text.when("!tw_cdr_enter_discriminator(r, &scope, &member)", &how.fail);
        }
        // Of a literal that is not known it is not known either what follows.
        if by_enum {
            text.line("tw_tried = tw_cdr_begin_try(r);");
        }
        self.decode(text, &of.discriminator, "d", &how);
        if is_mutable {
            text.line("tw_cdr_leave_member(r, &member);");
        }
        if by_enum {
            let unread = how.fail.trim_start_matches("return ");
            text.when(
                "tw_cdr_end_try(r, tw_tried)",
                &format!("return tw_cdr_skip_union(r, {kind}, &scope) || {unread}"),
            );
        }
        self.charge_case(text, &name, of);
        text.when(&format!("!{name}_select(value, d)"), NO_MEMORY);
        let skip = "!tw_cdr_skip_members(r, &scope)";
        if key && of.discriminator_key {
            if is_mutable {
                text.when(skip, "return false;");
            }
        } else {
            self.open_switch(text, of, "d");
            for case in &of.cases {
                self.labels(text, of, &case.labels, case.default);
                let (member, value) = (&case.member, union_place(&case.member));
                let how = self.how_read(member, key);
                match is_mutable {
                    true => self.decode_case(text, member, &value, &how),
                    false => self.decode_target(text, member, &value, &how),
                }
                text.line("break;");
            }
            if !of.cases.iter().any(|case| case.default) {
                text.label("default:");
                if is_mutable {
                    text.when(skip, "return false;");
                }
                text.line("break;");
            }
            text.close("}");
        }
        text.line("tw_cdr_leave_struct(r, &scope);");
        text.line("return true;");
        text.close("}");
    }

    /// Charges the memory that a union takes elsewhere when the discriminator `d` chooses another member.
    fn charge_case(&mut self, text: &mut Text, name: &str, of: &'m Union) {
        let apart = |c: &Self, member: &Member| c.facts.member_apart(c.model, member);
        if of.cases.iter().all(|case| apart(self, &case.member) == 0) {
            return;
        }
        text.open(&format!("if ({name}_case(value->_d) != {name}_case(d)) {{"));
        self.switch(text, of, "d", |c, text, member| {
            let apart = apart(c, member);
            if apart > 0 {
                text.when(&format!("!tw_cdr_charge(r, 1, {apart})"), "return false;");
            }
        });
        text.close("}");
    }

    /// The member of a mutable union, which may be missing.
    fn decode_case(&mut self, text: &mut Text, member: &'m Member, value: &str, how: &How) {
        text.open("{");
        text.line("bool found = false;");
        text.open("while (tw_cdr_next_member(r, &scope, &member)) {");
        text.open(&format!("if (member.id == {}) {{", member.id));
        text.line("found = true;");
        self.decode_target(text, member, value, how);
        text.turn("} else if (!tw_cdr_skip_unknown(r, &member)) {");
        text.line("return false;");
        text.close("}");
        text.line("tw_cdr_leave_member(r, &member);");
        text.close("}");
        text.when("r->status != TW_CDR_OK", "return false;");
        text.open("if (!found) {");
        self.reset_member(text, member, value, NO_MEMORY);
        text.close("}");
        text.close("}");
    }
}

const NO_MEMORY: &str = "return tw_cdr_reject(r, TW_CDR_NO_MEMORY);";
