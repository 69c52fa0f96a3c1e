//! Structs and unions, and the functions of each.

use super::facts::{Kind, initial_case, is_pointer, kind, members_of};
use super::text::{Text, literal};
use super::{C, integer, names};
use crate::model::{
    Definition, DefinitionId, Extensibility, Member, Primitive, Struct, Type, Union, Value,
};

impl<'m> C<'m> {
    pub(super) fn structure(
        &mut self,
        id: DefinitionId,
        definition: &'m Definition,
        of: &'m Struct,
    ) {
        let members = self.model.all_members(of);
        let is_whole = !self.wire.contains(&id);
        for member in &members {
            self.need(&member.ty, id);
        }
        self.begin(definition);
        if !is_whole {
            self.header.doc("For generated code.");
        }
        let name = self.names[&id].clone();
        self.header.open(&format!("struct {name} {{"));
        for member in &members {
            self.member(member);
        }
        if members.is_empty() {
            self.header.line("uint8_t unused;");
        }
        self.header.close("};");
        let topic = (!of.nested).then_some(definition);
        self.prototypes(&name, of.extensibility, topic, is_whole);

        let mut text = Text::default();
        let fail = "return false;";
        text.line("");
        text.line(&format!("bool {name}_init({name} *value)"));
        text.open("{");
        text.line("memset(value, 0, sizeof *value);");
        for member in &members {
            let at = place(member);
            self.init_member(&mut text, member, &at, fail);
        }
        text.line("return true;");
        text.close("}");

        if is_whole && self.facts.definition_has_texts(id) {
            self.open_empty_texts(&mut text, &name);
            for member in &members {
                self.empty_member_texts(&mut text, member, &place(member), fail);
            }
            text.line("return true;");
            text.close("}");
        }

        text.line("");
        text.line(&format!("void {name}_free({name} *value)"));
        text.open("{");
        for member in &members {
            if self.facts.member_owns(self.model, member) {
                self.free_member(&mut text, member, &place(member));
            }
        }
        text.line("memset(value, 0, sizeof *value);");
        text.close("}");

        if is_whole {
            self.copy_struct(&mut text, &name, &members);
        }
        for key in [false, true].into_iter().filter(|key| is_whole || !key) {
            self.encode_struct(&mut text, id, of, key);
            self.decode_struct(&mut text, id, of, key);
        }
        if !of.nested {
            self.topic(&mut text, id, definition, of);
        }
        self.source.out.push_str(&text.out);
    }

    fn copy_struct(&mut self, text: &mut Text, name: &str, members: &[&'m Member]) {
        text.line("");
        text.line(&format!(
            "bool {name}_copy({name} *to, const struct {name} *from)"
        ));
        text.open("{");
        let mut all = members.iter();
        match all.any(|member| self.facts.member_owns(self.model, member)) {
            true => {
                for member in members {
                    self.copy_member(text, member, &names::member(&member.name));
                }
            }
            false => text.line("*to = *from;"),
        }
        text.line("return true;");
        text.close("}");
    }

    /// Begins the function that makes strings empty.
    fn open_empty_texts(&mut self, text: &mut Text, name: &str) {
        let function = format!("bool {name}_empty_texts({name} *value)");
        self.header.line(&format!("{function};"));
        text.line("");
        text.line(&function);
        text.open("{");
    }

    /// What a type of topics has.
    fn topic(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        definition: &Definition,
        of: &'m Struct,
    ) {
        let name = &self.names[&id];
        let extensibility = extensibility(of.extensibility);
        let has_key = members_of(self.model, &definition.kind)
            .iter()
            .any(|member| member.key);
        for (prefix, suffix, is_there) in [("", "", true), ("key_", "_key", has_key)] {
            text.line("");
            text.line(&format!(
                "tw_cdr_status {name}_{prefix}to_payload(const {name} *value, tw_cdr_version \
                 version, tw_cdr_writer *w)"
            ));
            text.open("{");
            match is_there {
                true => text.line(&format!(
                    "bool written = tw_cdr_open_payload(w, version, {extensibility}) && \
                     {name}_encode{suffix}(value, w);"
                )),
                false => {
                    text.line("(void)value;");
                    text.line(&format!(
                        "bool written = tw_cdr_open_payload(w, version, {extensibility});"
                    ));
                }
            }
            text.line("return tw_cdr_close_payload(w, written);");
            text.close("}");
            text.line("");
            text.line(&format!(
                "tw_cdr_status {name}_{prefix}from_payload({name} *value, const void *payload, \
                 size_t size)"
            ));
            text.open("{");
            text.line("tw_cdr_reader r;");
            let enter = format!("tw_cdr_enter_payload(&r, payload, size, {extensibility})");
            match is_there {
                true => text.when(&enter, &format!("{name}_decode{suffix}(value, &r);")),
                false => {
                    text.line("(void)value;");
                    text.line(&format!("{enter};"));
                }
            }
            text.line("return r.status;");
            text.close("}");
        }
        text.line("");
        text.line(&format!(
            "const char {name}_type_name[] = {};",
            literal(&definition.full_name)
        ));
        text.line(&format!("const bool {name}_has_key = {has_key};"));
        self.idl_text(text, &format!("const char {name}_idl[]"), id);
    }

    pub(super) fn union(&mut self, id: DefinitionId, definition: &'m Definition, of: &'m Union) {
        for case in &of.cases {
            self.need(&case.member.ty, id);
        }
        self.begin(definition);
        let name = self.names[&id].clone();
        let discriminator = self.declare(&of.discriminator, "_d");
        self.header.open(&format!("struct {name} {{"));
        let note = "Which member there is. A change of it goes by the function select.";
        self.header.doc(note);
        self.header.line(&format!("{discriminator};"));
        self.header.open("union {");
        for case in &of.cases {
            self.member(&case.member);
        }
        self.header.close("} _u;");
        self.header.close("};");
        self.prototypes(&name, of.extensibility, None, true);
        let parameter = self.declare(&of.discriminator, "d");
        self.header
            .line(&format!("bool {name}_select({name} *value, {parameter});"));

        let mut text = Text::default();
        self.union_memory(&mut text, &name, of, &parameter);
        if self.facts.definition_has_texts(id) {
            self.open_empty_texts(&mut text, &name);
            self.switch(&mut text, of, "value->_d", |c, text, member| {
                c.empty_member_texts(text, member, &union_place(member), "return false;");
            });
            text.line("return true;");
            text.close("}");
        }
        for key in [false, true] {
            self.encode_union(&mut text, id, of, key);
            self.decode_union(&mut text, id, of, key);
        }
        self.source.out.push_str(&text.out);
    }

    fn union_memory(&mut self, text: &mut Text, name: &str, of: &'m Union, parameter: &str) {
        let fail = "return false;";
        let (case, label) = initial_case(of);
        text.line("");
        text.line(&format!("bool {name}_init({name} *value)"));
        text.open("{");
        text.line("memset(value, 0, sizeof *value);");
        if let Some(label) = label {
            let label = self.value(label, &of.discriminator);
            text.line(&format!("value->_d = {label};"));
        }
        if let Some(case) = case.and_then(|case| of.cases.get(case)) {
            let at = union_place(&case.member);
            self.init_member(text, &case.member, &at, fail);
        }
        text.line("return true;");
        text.close("}");

        text.line("");
        text.line(&format!("void {name}_free({name} *value)"));
        text.open("{");
        let owns = |c: &Self, member: &Member| c.facts.member_owns(c.model, member);
        let any_owns = of.cases.iter().any(|case| owns(self, &case.member));
        if any_owns {
            self.switch(text, of, "value->_d", |c, text, member| {
                if c.facts.member_owns(c.model, member) {
                    c.free_member(text, member, &union_place(member));
                }
            });
        }
        text.line("memset(value, 0, sizeof *value);");
        text.close("}");

        text.line("");
        text.line(&format!("static int {name}_case({parameter})"));
        text.open("{");
        self.open_switch(text, of, "d");
        for (index, case) in of.cases.iter().enumerate() {
            self.labels(text, of, &case.labels, case.default);
            text.line(&format!("return {};", index + 1));
        }
        if !of.cases.iter().any(|case| case.default) {
            text.label("default:");
            text.line("return 0;");
        }
        text.close("}");
        text.close("}");

        text.line("");
        text.line(&format!("bool {name}_select({name} *value, {parameter})"));
        text.open("{");
        text.open(&format!("if ({name}_case(value->_d) != {name}_case(d)) {{"));
        text.line(&format!("{name}_free(value);"));
        text.line("value->_d = d;");
        let begins = |c: &Self, member: &Member| c.facts.member_begins(c.model, member);
        if of.cases.iter().any(|case| begins(self, &case.member)) {
            self.switch(text, of, "d", |c, text, member| {
                c.init_member(text, member, &union_place(member), fail);
            });
        }
        text.close("}");
        text.line("value->_d = d;");
        text.line("return true;");
        text.close("}");

        text.line("");
        text.line(&format!(
            "bool {name}_copy({name} *to, const struct {name} *from)"
        ));
        text.open("{");
        match any_owns {
            true => {
                text.when(&format!("!{name}_select(to, from->_d)"), fail);
                self.switch(text, of, "from->_d", |c, text, member| {
                    let name = format!("_u.{}", names::member(&member.name));
                    c.copy_member(text, member, &name);
                });
            }
            false => text.line("*to = *from;"),
        }
        text.line("return true;");
        text.close("}");
    }

    /// `switch` over a discriminator, with statements for the member of each case.
    pub(super) fn switch(
        &mut self,
        text: &mut Text,
        of: &'m Union,
        discriminator: &str,
        mut write: impl FnMut(&mut Self, &mut Text, &'m Member),
    ) {
        self.open_switch(text, of, discriminator);
        for case in &of.cases {
            self.labels(text, of, &case.labels, case.default);
            write(self, text, &case.member);
            text.line("break;");
        }
        if !of.cases.iter().any(|case| case.default) {
            text.label("default:");
            text.line("break;");
        }
        text.close("}");
    }

    pub(super) fn open_switch(&self, text: &mut Text, of: &Union, discriminator: &str) {
        let cast = match kind(self.model, &of.discriminator) {
            Kind::Enum(..) => "(int32_t)",
            // It may be signed.
            Kind::Primitive(Primitive::Char) => "(int64_t)(unsigned char)",
            _ => "(int64_t)",
        };
        text.open(&format!("switch ({cast}{discriminator}) {{"));
    }

    pub(super) fn labels(&self, text: &mut Text, of: &Union, labels: &[Value], default: bool) {
        for label in labels {
            let shown = match label {
                Value::Bool(value) => u8::from(*value).to_string(),
                Value::Char(value) => u32::from(*value).to_string(),
                Value::Integer(value) => integer(*value, 4),
                _ => self.value(label, &of.discriminator),
            };
            text.label(&format!("case {shown}:"));
        }
        if default {
            text.label("default:");
        }
    }

    /// Declares a member, below its comment, unit and range.
    fn member(&mut self, member: &Member) {
        let mut doc = member.doc.clone().unwrap_or_default();
        let mut add = |line: String| {
            if !doc.is_empty() {
                doc.push_str("\n\n");
            }
            doc.push_str(&line);
        };
        if let Some(unit) = &member.unit {
            add(format!("Unit: {unit}"));
        }
        let shown = |value: &Value| match value {
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Char(value) => format!("{value:?}"),
            value => format!("{value:?}"),
        };
        match (&member.range.min, &member.range.max) {
            (Some(min), Some(max)) => add(format!("Range: {} to {}", shown(min), shown(max))),
            (Some(min), None) => add(format!("At least {}", shown(min))),
            (None, Some(max)) => add(format!("At most {}", shown(max))),
            (None, None) => {}
        }
        if member.optional {
            add("NULL: absent".to_owned());
        }
        if let Some(bound) = self.bound(&member.ty) {
            add(bound);
        }
        self.header.doc(&doc);
        let name = names::member(&member.name);
        let declarator = match is_pointer(self.model, member) {
            true => format!("*{name}"),
            false => name,
        };
        let declared = self.declare(&member.ty, &declarator);
        self.header.line(&format!("{declared};"));
    }

    /// What C does not say of a type.
    fn bound(&self, ty: &Type) -> Option<String> {
        match kind(self.model, ty) {
            Kind::String(bound @ 1..) => Some(format!("At most {bound} bytes")),
            Kind::WString(bound @ 1..) => Some(format!("At most {bound} units")),
            Kind::Sequence(_, bound @ 1..) => Some(format!("At most {bound} elements")),
            Kind::Map(_, _, bound @ 1..) => Some(format!("At most {bound} entries")),
            _ => None,
        }
    }

    /// Declares the functions; one that is not whole has neither a copy nor a key.
    fn prototypes(
        &mut self,
        name: &str,
        extensibility: Extensibility,
        topic: Option<&Definition>,
        is_whole: bool,
    ) {
        let header = &mut self.header;
        header.line("");
        for (line, is_there) in [
            (format!("bool {name}_init({name} *value);"), true),
            (format!("void {name}_free({name} *value);"), true),
            (
                format!("bool {name}_copy({name} *to, const struct {name} *from);"),
                is_whole,
            ),
            (
                format!("bool {name}_encode(const {name} *value, tw_cdr_writer *w);"),
                true,
            ),
            (
                format!("bool {name}_decode({name} *value, tw_cdr_reader *r);"),
                true,
            ),
            (
                format!("bool {name}_encode_key(const {name} *value, tw_cdr_writer *w);"),
                is_whole,
            ),
            (
                format!("bool {name}_decode_key({name} *value, tw_cdr_reader *r);"),
                is_whole,
            ),
        ] {
            if is_there {
                header.line(&line);
            }
        }
        let Some(definition) = topic else { return };
        let kind = match extensibility {
            Extensibility::Final => "final",
            Extensibility::Appendable => "appendable",
            Extensibility::Mutable => "mutable",
        };
        let full_name = &definition.full_name;
        header.line(&format!("/* The topic type {full_name}, {kind}. */"));
        for key in ["", "key_"] {
            header.line(&format!(
                "tw_cdr_status {name}_{key}to_payload(const {name} *value, tw_cdr_version version, \
                 tw_cdr_writer *w);"
            ));
            header.line(&format!(
                "tw_cdr_status {name}_{key}from_payload({name} *value, const void *payload, size_t \
                 size);"
            ));
        }
        header.line(&format!("extern const char {name}_type_name[];"));
        header.line(&format!("extern const bool {name}_has_key;"));
        header.line(&format!("extern const char {name}_idl[];"));
    }

    /// `"trading::Order.price"`, for errors.
    pub(super) fn path(&self, member: &str) -> String {
        literal(&format!("{}.{member}", self.scope.0))
    }

    /// The structs and unions of a definition, by which functions are called.
    pub(super) fn function(&self, id: DefinitionId, what: &str, key: bool) -> String {
        let suffix = match key && self.facts.definition_is_partial(id) {
            true => "_key",
            false => "",
        };
        format!("{}_{what}{suffix}", self.names[&id])
    }
}

/// Where a member of `value` is.
pub(super) fn place(member: &Member) -> String {
    format!("value->{}", names::member(&member.name))
}

/// The same in a union.
pub(super) fn union_place(member: &Member) -> String {
    format!("value->_u.{}", names::member(&member.name))
}

pub(super) fn extensibility(extensibility: Extensibility) -> &'static str {
    match extensibility {
        Extensibility::Final => "TW_CDR_FINAL",
        Extensibility::Appendable => "TW_CDR_APPENDABLE",
        Extensibility::Mutable => "TW_CDR_MUTABLE",
    }
}
