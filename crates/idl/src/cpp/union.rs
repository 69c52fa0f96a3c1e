//! Unions: classes of a discriminator and a `std::variant`.

use super::aggregate::of as typed;
use super::{Cpp, names};
use crate::c::facts::{Kind, initial_case, kind};
use crate::model::{Case, DefinitionId, Member, Primitive, Union, Value};

impl<'m> Cpp<'m> {
    pub(super) fn union(&mut self, id: DefinitionId, name: &str, of: &'m Union) {
        let discriminator = self.ty(&of.discriminator);
        let sizes = of.cases.iter().map(|case| self.member_size(&case.member));
        let size = sizes.max().unwrap_or(0).saturating_add(16);
        self.sizes.insert(id, size);
        self.text.open(&format!("class {name} {{"));
        self.text.label("public:");
        self.text.line(&format!("{name}();"));
        self.text.line("");
        self.text
            .doc("Which member there is. A discriminator of another one makes that begin anew.");
        self.text
            .line(&format!("{discriminator} _d() const {{ return _d_; }}"));
        self.text.line(&format!("void _d({discriminator} d);"));
        for (index, case) in of.cases.iter().enumerate() {
            let member = &case.member;
            let (ty, accessor) = (self.member_type(member), names::identifier(&member.name));
            let mut doc = self.doc(member);
            if !doc.is_empty() {
                doc.push_str("\n\n");
            }
            doc.push_str("Throws std::bad_variant_access unless it is the member that there is.");
            let small = self.is_small(member);
            let constant = if small {
                ty.clone()
            } else {
                format!("const {ty} &")
            };
            let text = &mut self.text;
            text.line("");
            text.doc(&doc);
            let get = format!("{{ return std::get<{}>(_u_); }}", index + 1);
            text.line(&format!(
                "{} {get}",
                typed(&constant, &format!("{accessor}() const"))
            ));
            text.line(&format!("{ty} &{accessor}() {get}"));
            text.doc("Makes it the member that there is.");
            if small {
                text.line(&format!("void {accessor}({ty} value);"));
            } else {
                text.line(&format!("void {accessor}(const {ty} &value);"));
                text.line(&format!("void {accessor}({ty} &&value);"));
            }
        }
        let text = &mut self.text;
        text.line("");
        text.line(&format!(
            "friend bool operator==(const {name} &_a, const {name} &_b);"
        ));
        text.line(&format!(
            "friend bool operator!=(const {name} &_a, const {name} &_b);"
        ));
        text.line(&format!("friend void swap({name} &_a, {name} &_b);"));
        text.line("");
        text.label("private:");
        text.line(&format!("static std::size_t _which({discriminator} d);"));
        text.line("void _select(std::size_t which);");
        text.line("");
        let members = of.cases.iter().map(|case| self.member_type(&case.member));
        let members: Vec<String> = members.collect();
        self.text.line(&format!("{discriminator} _d_{{}};"));
        self.text.line(&format!(
            "std::variant<std::monostate, {}> _u_;",
            members.join(", ")
        ));
        self.text.close("};");

        let here = self.namespaces.clone();
        self.enter_functions(&here);
        self.union_functions(name, &discriminator, of);
        self.operators(name, "_a._d() == _b._d() && _a._u_ == _b._u_");
        self.print_union(&self.name(id), of);
        self.union_codec(id, of);
    }

    fn union_functions(&mut self, name: &str, discriminator: &str, of: &'m Union) {
        let (case, label) = initial_case(of);
        let label = label.map(|label| self.value(label, &of.discriminator));
        let text = &mut self.functions;
        text.line("");
        text.open(&format!("inline {name}::{name}() {{"));
        if let Some(label) = label {
            text.line(&format!("_d_ = {label};"));
        }
        text.line(&format!("_select({});", case.map_or(0, |case| case + 1)));
        text.close("}");

        text.line("");
        text.open(&format!(
            "inline std::size_t {name}::_which({discriminator} d) {{"
        ));
        self.open_switch(of, "d");
        for (index, case) in of.cases.iter().enumerate() {
            self.labels(case);
            self.functions.line(&format!("return {};", index + 1));
        }
        if !of.cases.iter().any(|case| case.default) {
            self.functions.label("default:");
            self.functions.line("return 0;");
        }
        self.functions.close("}");
        self.functions.close("}");

        self.functions.line("");
        self.functions.open(&format!(
            "inline void {name}::_select(std::size_t which) {{"
        ));
        self.functions.open("switch (which) {");
        for (index, case) in of.cases.iter().enumerate() {
            let value = self.initial(&case.member).unwrap_or_default();
            let at = index + 1;
            self.functions.label(&format!("case {at}:"));
            self.functions.line(&format!("_u_.emplace<{at}>({value});"));
            self.functions.line("break;");
        }
        self.functions.label("default:");
        self.functions.line("_u_.emplace<0>();");
        self.functions.close("}");
        self.functions.close("}");

        let text = &mut self.functions;
        text.line("");
        text.open(&format!("inline void {name}::_d({discriminator} d) {{"));
        text.when("_which(d) != _u_.index()", "_select(_which(d));");
        text.line("_d_ = d;");
        text.close("}");

        for (index, case) in of.cases.iter().enumerate() {
            let label = case.labels.first().or(of.unlabelled.as_ref());
            let label =
                label.map_or_else(String::new, |label| self.value(label, &of.discriminator));
            self.case_setters(name, &case.member, index + 1, &label);
        }
    }

    /// How a member is set. What is given may be a part of the union, and is taken out before that changes.
    fn case_setters(&mut self, class: &str, member: &Member, at: usize, label: &str) {
        let (ty, name) = (self.member_type(member), names::identifier(&member.name));
        let small = self.is_small(member);
        let choose = format!("if (_u_.index() != {at}) _d({label});");
        let text = &mut self.functions;
        text.line("");
        if small {
            text.line(&format!(
                "inline void {class}::{name}({ty} value) {{ {choose} std::get<{at}>(_u_) = value; }}"
            ));
            return;
        }
        for (parameter, value) in [("const {ty} &", "value"), ("{ty} &&", "std::move(value)")] {
            let parameter = parameter.replace("{ty}", &ty);
            text.open(&format!("inline void {class}::{name}({parameter}value) {{"));
            text.line(&format!("::tickwire::detail::Local<{ty}> taken({value});"));
            text.line(&choose);
            text.line(&format!("std::get<{at}>(_u_) = std::move(*taken);"));
            text.close("}");
        }
    }

    /// `switch` over a discriminator, in functions.
    pub(super) fn open_switch(&mut self, of: &Union, discriminator: &str) {
        let value = match kind(self.model, &of.discriminator) {
            Kind::Enum(..) => format!("static_cast<std::int32_t>({discriminator})"),
            // It may be signed.
            Kind::Primitive(Primitive::Char) => {
                format!("static_cast<unsigned char>({discriminator})")
            }
            _ => format!("static_cast<std::int64_t>({discriminator})"),
        };
        self.functions.open(&format!("switch ({value}) {{"));
    }

    pub(super) fn labels(&mut self, case: &Case) {
        let labels: Vec<String> = case
            .labels
            .iter()
            .map(|it: &Value| self.label(it))
            .collect();
        for label in labels {
            self.functions.label(&format!("case {label}:"));
        }
        if case.default {
            self.functions.label("default:");
        }
    }
}
