//! What values begin with, and who frees and copies the memory that they have.

use super::C;
use super::facts::{Kind, is_pointer, is_zero, kind};
use super::text::{Text, literal};
use super::types::Collection;
use crate::model::{Member, Primitive, Type, Value};

impl<'m> C<'m> {
    /// Statements for each element of an array, whose loops this opens and closes.
    pub(super) fn each(
        &mut self,
        text: &mut Text,
        dimensions: &[u32],
        write: impl FnOnce(&mut Self, &mut Text, &str),
    ) {
        let mut index = String::new();
        for length in dimensions {
            let i = self.enter();
            text.open(&format!("for (uint32_t {i} = 0; {i} < {length}; {i}++) {{"));
            index.push_str(&format!("[{i}]"));
        }
        write(self, text, &index);
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

    /// Statements that make zeros in `at` the value that a type begins with; `fail` is what to do
    /// without memory.
    pub(super) fn init(&mut self, text: &mut Text, ty: &'m Type, at: &str, fail: &str) {
        let address = address(at);
        if !self.facts.begins(self.model, ty) {
            return;
        }
        match kind(self.model, ty) {
            Kind::Enum(id, of) => {
                let name = &self.names[&id];
                let literal = of.literals.get(of.default as usize);
                let literal = literal.map_or("", |literal| &literal.name);
                text.line(&format!("{at} = {name}_{literal};"));
            }
            Kind::Array(element, dimensions) => self.each(text, &dimensions, |c, text, index| {
                c.init(text, element, &format!("{at}{index}"), fail);
            }),
            Kind::Struct(id) | Kind::Union(id) => {
                let name = &self.names[&id];
                text.when(&format!("!{name}_init({address})"), fail);
            }
            _ => {}
        }
    }

    pub(super) fn init_member(
        &mut self,
        text: &mut Text,
        member: &'m Member,
        at: &str,
        fail: &str,
    ) {
        if member.optional {
            return;
        }
        let target = match is_pointer(self.model, member) {
            true => {
                let pointer = self.declare(&member.ty, "*");
                text.line(&format!("{at} = ({pointer})calloc(1, sizeof *{at});"));
                text.when(&format!("{at} == NULL"), fail);
                format!("(*{at})")
            }
            false => at.to_owned(),
        };
        match &member.default {
            Some(value) if is_zero(self.model, value, &member.ty) => {}
            Some(value) => self.init_value(text, &member.ty, value, &target, fail),
            None => self.init(text, &member.ty, &target, fail),
        }
    }

    fn init_value(&self, text: &mut Text, ty: &Type, value: &Value, at: &str, fail: &str) {
        let address = address(at);
        match (value, self.model.resolve(ty)) {
            (Value::String(value), Type::WString { .. }) => {
                let units = value.encode_utf16().chain([0]);
                let units: Vec<String> = units.map(|unit| format!("{unit:#06x}")).collect();
                text.open("{");
                text.line(&format!(
                    "static const uint16_t text[] = {{ {} }};",
                    units.join(", ")
                ));
                text.when(&format!("!tw_cdr_set_wide_text({address}, text)"), fail);
                text.close("}");
            }
            (Value::String(value), _) => {
                let value = literal(value);
                text.when(&format!("!tw_cdr_set_text({address}, {value})"), fail);
            }
            _ => text.line(&format!("{at} = {};", self.value(value, ty))),
        }
    }

    /// Statements that free what a value owns.
    pub(super) fn free(&mut self, text: &mut Text, ty: &'m Type, at: &str) {
        let address = address(at);
        if !self.facts.owns(self.model, ty) {
            return;
        }
        match kind(self.model, ty) {
            Kind::String(_) | Kind::WString(_) => {
                text.line(&format!("free({at});"));
                text.line(&format!("{at} = NULL;"));
            }
            Kind::Sequence(..) | Kind::Map(..) => {
                text.line(&format!("{}_free({address});", self.mangle(ty)));
            }
            Kind::Array(element, dimensions) => self.each(text, &dimensions, |c, text, index| {
                c.free(text, element, &format!("{at}{index}"));
            }),
            Kind::Struct(id) | Kind::Union(id) => {
                text.line(&format!("{}_free({address});", self.names[&id]));
            }
            _ => {}
        }
    }

    pub(super) fn free_member(&mut self, text: &mut Text, member: &'m Member, at: &str) {
        if !is_pointer(self.model, member) {
            return self.free(text, &member.ty, at);
        }
        if self.facts.owns(self.model, &member.ty) {
            text.open(&format!("if ({at} != NULL) {{"));
            self.free(text, &member.ty, &format!("(*{at})"));
            text.close("}");
        }
        text.line(&format!("free({at});"));
        text.line(&format!("{at} = NULL;"));
    }

    /// Statements that make a value what it is at first, whatever it is.
    pub(super) fn reset(&mut self, text: &mut Text, ty: &'m Type, at: &str, fail: &str) {
        let address = address(at);
        match kind(self.model, ty) {
            Kind::Struct(id) | Kind::Union(id) => {
                let name = self.names[&id].clone();
                text.line(&format!("{name}_free({address});"));
                text.when(&format!("!{name}_init({address})"), fail);
                self.empty_texts(text, ty, at, fail);
            }
            Kind::Array(element, dimensions) => {
                let simple = !self.facts.owns(self.model, element);
                if simple && !self.facts.begins(self.model, element) {
                    text.line(&format!("memset({at}, 0, sizeof {at});"));
                    return;
                }
                self.each(text, &dimensions, |c, text, index| {
                    c.reset(text, element, &format!("{at}{index}"), fail);
                });
            }
            Kind::Primitive(Primitive::Boolean) => text.line(&format!("{at} = false;")),
            Kind::Primitive(_) | Kind::Bitmask(..) | Kind::Bitset(..) => {
                text.line(&format!("{at} = 0;"));
            }
            Kind::Enum(id, of) => {
                let literal = of.literals.get(of.default as usize);
                let literal = literal.map_or("", |literal| &literal.name);
                text.line(&format!("{at} = {}_{literal};", self.names[&id]));
            }
            Kind::String(_) => text.when(&format!("!tw_cdr_set_text({address}, \"\")"), fail),
            Kind::WString(_) => {
                text.when(&format!("!tw_cdr_set_wide_text({address}, NULL)"), fail);
            }
            Kind::Sequence(..) | Kind::Map(..) => self.free(text, ty, at),
        }
    }

    /// Statements that make strings empty which are NULL: who reads a sample finds no NULL in it, whoever wrote it, but
    /// where it says that something is absent.
    pub(super) fn empty_texts(&mut self, text: &mut Text, ty: &'m Type, at: &str, fail: &str) {
        let address = address(at);
        if !self.facts.has_texts(self.model, ty) {
            return;
        }
        match kind(self.model, ty) {
            Kind::String(_) => {
                let empty = format!("{at} == NULL && !tw_cdr_set_text({address}, \"\")");
                text.when(&empty, fail);
            }
            Kind::WString(_) => {
                let empty = format!("{at} == NULL && !tw_cdr_set_wide_text({address}, NULL)");
                text.when(&empty, fail);
            }
            Kind::Array(element, dimensions) => self.each(text, &dimensions, |c, text, index| {
                c.empty_texts(text, element, &format!("{at}{index}"), fail);
            }),
            Kind::Struct(id) | Kind::Union(id) => {
                let name = &self.names[&id];
                text.when(&format!("!{name}_empty_texts({address})"), fail);
            }
            _ => {}
        }
    }

    /// The same of a member, but for one that may be absent.
    pub(super) fn empty_member_texts(
        &mut self,
        text: &mut Text,
        member: &'m Member,
        at: &str,
        fail: &str,
    ) {
        if member.optional {
            return;
        }
        if !is_pointer(self.model, member) {
            return self.empty_texts(text, &member.ty, at, fail);
        }
        if self.facts.has_texts(self.model, &member.ty) {
            text.open(&format!("if ({at} != NULL) {{"));
            self.empty_texts(text, &member.ty, &format!("(*{at})"), fail);
            text.close("}");
        }
    }

    pub(super) fn reset_member(
        &mut self,
        text: &mut Text,
        member: &'m Member,
        at: &str,
        fail: &str,
    ) {
        if member.optional || is_pointer(self.model, member) {
            self.free_member(text, member, at);
            self.init_member(text, member, at, fail);
            return self.empty_member_texts(text, member, at, fail);
        }
        match &member.default {
            Some(Value::String(value)) if value.is_empty() => {
                self.reset(text, &member.ty, at, fail)
            }
            Some(value) if is_zero(self.model, value, &member.ty) => {
                self.free(text, &member.ty, at);
                if !self.facts.owns(self.model, &member.ty) {
                    text.line(&format!("{at} = {};", self.value(value, &member.ty)));
                }
            }
            Some(value) => self.init_value(text, &member.ty, value, at, fail),
            None => self.reset(text, &member.ty, at, fail),
        }
    }

    /// Statements that replace a value by a copy of another one.
    pub(super) fn copy(&mut self, text: &mut Text, ty: &'m Type, to: &str, from: &str) {
        let (target, source) = (address(to), address(from));
        let fail = "return false;";
        let owns = self.facts.owns(self.model, ty);
        match kind(self.model, ty) {
            Kind::Array(..) if !owns => {
                text.line(&format!("memcpy({to}, {from}, sizeof {to});"));
            }
            Kind::Array(element, dimensions) => self.each(text, &dimensions, |c, text, index| {
                c.copy(
                    text,
                    element,
                    &format!("{to}{index}"),
                    &format!("{from}{index}"),
                );
            }),
            _ if !owns => text.line(&format!("{to} = {from};")),
            Kind::String(_) => {
                text.when(&format!("!tw_cdr_set_text({target}, {from})"), fail);
            }
            Kind::WString(_) => {
                text.when(&format!("!tw_cdr_set_wide_text({target}, {from})"), fail);
            }
            Kind::Sequence(..) | Kind::Map(..) => {
                let name = self.mangle(ty);
                text.when(&format!("!{name}_copy({target}, {source})"), fail);
            }
            Kind::Struct(id) | Kind::Union(id) => {
                let name = &self.names[&id];
                text.when(&format!("!{name}_copy({target}, {source})"), fail);
            }
            _ => {}
        }
    }

    pub(super) fn copy_member(&mut self, text: &mut Text, member: &'m Member, name: &str) {
        let (to, from) = (format!("to->{name}"), format!("from->{name}"));
        if !is_pointer(self.model, member) {
            if !member.optional {
                return self.copy(text, &member.ty, &to, &from);
            }
            text.open(&format!("if ({from} == NULL) {{"));
            self.free_member(text, member, &to);
            text.turn("} else {");
            self.copy(text, &member.ty, &to, &from);
            return text.close("}");
        }
        text.open(&format!("if ({from} == NULL) {{"));
        self.free_member(text, member, &to);
        text.turn("} else {");
        let pointer = self.declare(&member.ty, "*");
        text.open(&format!("if ({to} == NULL) {{"));
        text.line(&format!("{to} = ({pointer})calloc(1, sizeof *{to});"));
        text.when(&format!("{to} == NULL"), "return false;");
        text.close("}");
        self.copy(text, &member.ty, &format!("(*{to})"), &format!("(*{from})"));
        text.close("}");
    }

    /// The functions of all sequences and maps.
    pub(super) fn collection_functions(&mut self) {
        let all = std::mem::take(&mut self.functions);
        if !all.is_empty() {
            self.header.line("");
            let note = "/* Sequences and maps: tickwire/cdr.h says what these do. */";
            self.header.line(note);
        }
        let mut text = Text::default();
        for of in all {
            self.scope.1 = 0;
            self.guard(&of.name, "_functions");
            self.one_collection(&mut text, &of);
            self.header.out.push_str(&std::mem::take(&mut text.out));
            self.unguard(&of.name);
        }
    }

    fn one_collection(&mut self, text: &mut Text, of: &Collection<'m>) {
        let name = &of.name;
        let parts: Vec<(&'m Type, &str)> = match of.value {
            None => vec![(of.element, "")],
            Some(value) => vec![(of.element, ".key"), (value, ".value")],
        };
        let pointer = match of.value {
            None => self.declare(of.element, "*"),
            Some(_) => format!("{name}_entry *"),
        };
        let begins = |c: &Self| parts.iter().any(|(ty, _)| c.facts.begins(c.model, ty));
        let owns = |c: &Self| parts.iter().any(|(ty, _)| c.facts.owns(c.model, ty));

        text.line(&format!(
            "static inline bool {name}_resize({name} *seq, uint32_t length)"
        ));
        text.open("{");
        if begins(self) {
            text.line("uint32_t first = seq->capacity;");
        }
        text.open("if (length > seq->capacity) {");
        text.line(
            "void *grown = tw_cdr_grow(seq->buffer, &seq->capacity, length, sizeof *seq->buffer);",
        );
        text.when("grown == NULL", "return false;");
        text.line(&format!("seq->buffer = ({pointer})grown;"));
        text.close("}");
        if begins(self) {
            text.open("for (; first < seq->capacity; first++) {");
            for (ty, part) in &parts {
                self.init(
                    text,
                    ty,
                    &format!("seq->buffer[first]{part}"),
                    "return false;",
                );
            }
            text.close("}");
        }
        text.line("seq->length = length;");
        text.line("return true;");
        text.close("}");

        text.line("");
        text.line(&format!(
            "static inline bool {name}_copy({name} *to, const {name} *from)"
        ));
        text.open("{");
        text.when(
            &format!("!{name}_resize(to, from->length)"),
            "return false;",
        );
        match owns(self) {
            true => {
                let i = self.enter();
                text.open(&format!(
                    "for (uint32_t {i} = 0; {i} < from->length; {i}++) {{"
                ));
                for (ty, part) in &parts {
                    let (to, from) = (
                        format!("to->buffer[{i}]{part}"),
                        format!("from->buffer[{i}]{part}"),
                    );
                    self.copy(text, ty, &to, &from);
                }
                text.close("}");
                self.scope.1 -= 1;
            }
            false => text.when(
                "from->length > 0",
                "memcpy(to->buffer, from->buffer, from->length * sizeof *to->buffer);",
            ),
        }
        text.line("return true;");
        text.close("}");

        text.line("");
        text.line(&format!("static inline void {name}_free({name} *seq)"));
        text.open("{");
        if owns(self) {
            let i = self.enter();
            text.open(&format!(
                "for (uint32_t {i} = 0; {i} < seq->capacity; {i}++) {{"
            ));
            for (ty, part) in &parts {
                self.free(text, ty, &format!("seq->buffer[{i}]{part}"));
            }
            text.close("}");
            self.scope.1 -= 1;
        }
        text.line("free(seq->buffer);");
        text.line("memset(seq, 0, sizeof *seq);");
        text.close("}");
    }
}

/// A pointer to what an expression names.
pub(super) fn address(of: &str) -> String {
    match of
        .strip_prefix("(*")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        Some(pointer) => pointer.to_owned(),
        None => format!("&{of}"),
    }
}
